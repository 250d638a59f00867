//! The time of a stream, which is the sum of the time differences in its packets.

use tracewell_wire::systemview::Packet;

use super::events::Place;
use super::stream::Stream;

/// A stream, and the time that it has reached.
#[derive(Debug)]
pub(super) struct Lane {
    pub(super) stream: Stream,
    pub(super) cpu: u16,
    /// Ticks since the first packet of the stream.
    pub(super) ticks: u64,
    started: bool,
    /// True if time advanced between two packets.
    pub(super) advanced: bool,
}

impl Lane {
    pub(super) fn new(stream: Stream, cpu: u16) -> Self {
        Self { stream, cpu, ticks: 0, started: false, advanced: false }
    }

    /// Returns true if the stream had a packet.
    pub(super) fn has_started(&self) -> bool {
        self.started
    }

    /// Moves the time forwards to the time of a later packet.
    pub(super) fn advance_to(&mut self, ticks: u64) {
        self.advanced |= ticks > self.ticks;
        self.ticks = ticks;
    }

    /// Returns the place of the next packet.
    #[inline]
    pub(super) fn place(&mut self, packet: &Packet<'_>, offset: u64) -> Place {
        // The first difference counts from the start of the recorder or from an earlier recording,
        // so ignore it.
        if std::mem::replace(&mut self.started, true) {
            self.ticks = self.ticks.saturating_add(u64::from(packet.delta));
            self.advanced |= packet.delta > 0;
        }
        let cpu = self.cpu.saturating_add(u16::from(packet.core));
        Place { ticks: self.ticks, cpu, offset, order: self.stream.form.texts }
    }
}
