//! The gaps of a stream: events and packets that are missing, and bytes that cannot be read.
//!
//! `decoding` reports gaps as losses and diagnostics.

use super::Stream;
use crate::format::ctf::bits::ones;
use crate::format::ctf::packets::Packet;
use crate::format::ctf::position::{Fault, FaultKind};

/// A gap, or another irregularity, before an event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::format::ctf) struct Gap {
    pub(in crate::format::ctf) kind: GapKind,
    /// The values of the clock before and after the missing events, if known.
    pub(in crate::format::ctf) between: Option<(u64, u64)>,
    /// Offset in the file, in bytes.
    pub(in crate::format::ctf) offset: u64,
}

/// The kind of a gap.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::format::ctf) enum GapKind {
    /// The recorder discarded events and counted them. `count` is the number of events that were
    /// discarded since the previous packet. It is `None` if the recorder's count went back, and in
    /// the first packet that was read, unless this packet is the first of the stream. `first` is
    /// the recorder's count in the first packet that was read, and 0 in later packets.
    Events { count: Option<u64>, first: u64 },
    /// This number of packets is missing.
    Packets(u64),
    /// Bytes that cannot be read, with the reason.
    Damage(String),
    /// Zeros after the last event of a memory image.
    Padding(u64),
    /// The clock went back by this number of cycles.
    Backwards(u64),
    /// The next packet has the UUID of another trace.
    OtherTrace([u8; 16]),
    /// Events were written after later events of other streams had been delivered. The stamps of
    /// the packet's events from this position on are increased by this number of cycles of the
    /// common clock.
    Late(u64),
    /// The index lists this number of packets beyond the end of the file.
    Listed(u64),
    /// The index file disagrees with a packet, and is not used any more. The value is the
    /// difference.
    Index(String),
}

/// The facts about the previous packet that are needed to find gaps and repeated packets.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Previous {
    pub(super) begin: Option<u64>,
    pub(super) end: Option<u64>,
    pub(super) discarded: Option<(u64, u8)>,
    pub(super) number: Option<(u64, u8)>,
    pub(super) size: usize,
}

impl<'a> Stream<'a> {
    /// Removes the next element, which is a gap.
    pub(in crate::format::ctf) fn take_gap(&mut self) -> Option<Gap> {
        self.gaps.pop_front()
    }

    /// Drops the rest of the packet after an event that cannot be read. The stream then has a gap.
    #[cold]
    pub(in crate::format::ctf) fn lose_body(&mut self, fault: Fault) {
        if !self.holds(Some(fault.kind)) {
            self.lose(format!("expected an event, {fault}"));
        }
    }

    /// If the files can grow and may then contain the whole event, keeps the packet at this event
    /// and returns true. If `fault` is `None`, the event is unknown, but the metadata may grow and
    /// then describe the event.
    #[cold]
    pub(super) fn holds(&mut self, fault: Option<FaultKind>) -> bool {
        let Some(packet) = self.packet.filter(|_| self.growing.grows) else { return false };
        let is_last = self.part + 1 >= self.parts.len();
        let can_grow = match fault {
            None => true,
            Some(FaultKind::Beyond | FaultKind::Unterminated) => is_last && !packet.has_size(),
            Some(_) => false,
        };
        if can_grow {
            self.bits.at = self.event_at;
            self.forget_lateness();
            (self.held, self.packet) = (Some(packet), None);
        }
        can_grow
    }

    /// Drops the rest of the packet if the next event cannot be read and [`Stream::holds`] returns
    /// false. This rest can be padding. `fault` is the fault in the event's header, or `None` if
    /// the event is merely unknown.
    #[cold]
    pub(super) fn lose_event(&mut self, fault: Option<FaultKind>, message: String) {
        if self.holds(fault) {
            return;
        }
        let Some(packet) = self.packet.filter(|_| self.is_padding()) else {
            return self.lose(message);
        };
        let bytes = packet.bytes.len() as u64 - self.event_at / 8;
        self.gap(GapKind::Padding(bytes), None, self.event_at);
        self.packet = None;
    }

    /// Drops the rest of the packet.
    #[cold]
    pub(super) fn lose(&mut self, message: String) {
        self.gap(GapKind::Damage(message), None, self.event_at);
        self.packet = None;
    }

    /// Returns true if packets have no size field and the rest of the packet consists of zeros.
    #[cold]
    pub(super) fn is_padding(&self) -> bool {
        let Some(packet) = self.packet else { return false };
        let rest = packet.bytes.get((self.event_at / 8) as usize..).unwrap_or_default();
        !packet.has_size() && rest.iter().all(|byte| *byte == 0)
    }

    /// Adds a gap at a position in the current packet.
    pub(super) fn gap(&mut self, kind: GapKind, between: Option<(u64, u64)>, at: u64) {
        let offset = self.packet.map_or(self.at as u64, |packet| packet.offset + at / 8);
        self.gaps.push_back(Gap { kind, between, offset });
    }

    /// Finds the events and packets that are missing before a packet.
    pub(super) fn gaps_before(&mut self, packet: &Packet<'a>) {
        let numbers = packet.numbers;
        let offset = packet.offset;
        let end = numbers.end.or(numbers.begin);
        let previous_end = self.previous.and_then(|previous| previous.end.or(previous.begin));
        let first_number = numbers.number.is_none_or(|(number, _)| number == 0);
        if let Some((count, bits)) = numbers.discarded {
            let known = self.previous.and_then(|previous| previous.discarded);
            let missing = known.map(|(before, _)| count.wrapping_sub(before) & ones(bits));
            let (lost, first) = match (missing, count) {
                // A large increase is a step back: the recorder restarted, or the count is damaged.
                (Some(missing), _) => (Some(missing).filter(|_| missing <= ones(bits) / 2), 0),
                (None, count) if first_number => (Some(count), count),
                (None, count) => (None, count),
            };
            if missing.unwrap_or(count) > 0 {
                let from = if first > 0 { numbers.begin } else { previous_end.or(numbers.begin) };
                let between = from.zip(end);
                let kind = GapKind::Events { count: lost, first };
                self.gaps.push_back(Gap { kind, between, offset });
            }
        }
        if let Some((number, bits)) = numbers.number
            && let Some((before, _)) = self.previous.and_then(|previous| previous.number)
        {
            let missing = number.wrapping_sub(before).wrapping_sub(1) & ones(bits);
            if missing > 0 && missing < ones(bits) / 2 {
                let between = previous_end.zip(numbers.begin);
                self.gaps.push_back(Gap { kind: GapKind::Packets(missing), between, offset });
            }
        }
    }
}
