//! Follows the packets of each core in order: finds restarts of the target and gaps in the packet
//! numbers, and merges several cores by time.
//!
//! The decoder delivers the events of a line in order of time. So it delivers the earliest event
//! only while it holds packets of every core. If a core sends nothing for a long time, the other
//! cores do not wait forever: the decoder holds at most about [`MAX_HELD`] bytes of packets.

use std::collections::VecDeque;

use tracewell_wire::target::packet::HEADER;
use tracewell_wire::target::{Header, Packet, events};

use super::recent::{Old, Recent};
use super::rows;
use crate::format::kernel::Kernel;
use crate::format::order::Order;
use crate::model::{Emitter, Flow, LossCause, Severity};

/// If held packets have at least this total number of bytes, the decoder does not wait for silent
/// cores.
const MAX_HELD: usize = 1 << 16;

/// Events that are missing before a packet.
#[derive(Clone, Copy, Debug)]
struct Missing {
    events: Option<u64>,
    cause: LossCause,
    offset: u64,
}

/// A packet that has not been delivered yet, and the losses before this packet.
#[derive(Debug)]
struct Held {
    missing: Vec<Missing>,
    restart: bool,
    /// The time of the previous event. Before the first event, this is the time in the header. A
    /// restart does not reset this time.
    time: u64,
    payload: Vec<u8>,
    /// Offset of the payload in the source.
    offset: u64,
}

/// A core.
#[derive(Debug, Default)]
struct Lane {
    held: VecDeque<Held>,
    /// Position of the next event in the payload of the first held packet.
    at: usize,
    /// The expected numbers of the next packet and of its first event.
    expected: Option<(u32, u32)>,
    recent: Recent,
    session: u8,
    /// Number of target restarts that the packets of this core have shown.
    restarts: u64,
    /// Number of ticks to add to the core's recorded times since its latest restart.
    base: u64,
    /// The recorded time of the core's latest event.
    last: u64,
}

/// The origin of the packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Origin {
    /// A line: missing packets were lost on the way, or were sent before the reader joined.
    Line,
    /// A ring: the first packets were overwritten.
    Ring,
}

/// The packets of all cores.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    lanes: Vec<Lane>,
    /// Number of cores according to the latest header.
    cores: usize,
    held: usize,
    restarts: u64,
    /// The session after the latest restart.
    session: u8,
    /// Number of ticks to add to recorded times after the latest restart.
    base: u64,
    /// The largest time so far, including the ticks that are added after restarts.
    latest: u64,
    /// Offset and cause of the first damage that has not been reported as a loss yet.
    damage: Option<(u64, LossCause)>,
    order: Order,
    pub(super) packets: u64,
    /// Number of packets that were late, repeated, or older than the packets before them.
    pub(super) out_of_order: u64,
}

impl Lanes {
    /// Handles bytes that do not belong to a packet. Before the first packet, such bytes are the
    /// rest of a packet whose beginning the reader missed. `is_cut` is true if the bytes are the
    /// beginning of a packet at the end of the input.
    pub(super) fn skipped(&mut self, offset: u64, is_cut: bool, out: &mut Emitter<'_>) {
        let (severity, cause, message) = match self.packets {
            0 => (Severity::Note, LossCause::Truncated, "the input begins within a packet"),
            _ if is_cut => (Severity::Note, LossCause::Truncated, "the input ends within a packet"),
            _ => (Severity::Damage, LossCause::Damaged, "expected a packet with a valid checksum"),
        };
        out.trace.diagnostics.add(severity, offset, message);
        self.damage.get_or_insert((offset, cause));
    }

    /// Delivers all held events, and reports damage after the last packet.
    pub(super) fn finish(&mut self, kernel: &mut Kernel, out: &mut Emitter<'_>) -> Flow {
        self.deliver(true, kernel, out)?;
        match self.damage.take() {
            Some((offset, cause)) => out.loss(None, cause, offset),
            None => Flow::Continue(()),
        }
    }

    /// Adds a packet of events that begins at `offset` in the source. If the bytes come from a
    /// line, also delivers the events that are ready.
    pub(super) fn add(
        &mut self,
        packet: &Packet<'_>,
        offset: u64,
        origin: Origin,
        kernel: &mut Kernel,
        out: &mut Emitter<'_>,
    ) -> Flow {
        let Packet { header, payload } = *packet;
        let index = usize::from(header.core);
        self.cores = usize::from(header.cores).max(1);
        if index >= self.lanes.len() {
            self.lanes.resize_with(index + 1, Lane::default);
        }
        let lane = &mut self.lanes[index];
        if let Some(old) = lane.recent.relation(packet) {
            self.out_of_order += 1;
            old.report(&header, offset, out);
            return Flow::Continue(());
        }
        let Some(restart) = lane.follows(&header) else {
            self.out_of_order += 1;
            let lost = events(payload).filter(Result::is_ok).count() as u64;
            let message = format!(
                "packet {} of core {} is older than the packets before it",
                header.number, header.core
            );
            out.trace.diagnostics.add(Severity::Damage, offset, message);
            return out.loss(Some(lost), LossCause::Damaged, offset);
        };
        let mut missing = Vec::new();
        missing.extend(self.damage.take().map(|(offset, cause)| Missing {
            // The numbers in the next packet show how many events the damaged packets contained.
            events: Some(0),
            cause,
            offset,
        }));
        lane.missing(&header, restart, origin, offset, &mut missing);
        if lane.expected.is_none() && header.session == self.session {
            (lane.restarts, lane.base) = (self.restarts, self.base);
        }
        let mut is_first = false;
        if restart {
            lane.restarts += 1;
            // The first core with a packet after a restart determines the origin of time for all
            // cores.
            is_first = lane.restarts > self.restarts;
            if is_first {
                (self.restarts, self.session) = (lane.restarts, header.session);
                self.base = self.latest.saturating_sub(header.time);
            }
            lane.base = self.base;
        }
        let (mut count, mut end) = (0_u32, header.time);
        for event in events(payload) {
            match event {
                Ok(event) => {
                    count = count.wrapping_add(1);
                    end = end.saturating_add(event.ticks);
                }
                Err(at) => {
                    let at = offset + (packet.len() - payload.len() + at) as u64;
                    let message = "expected an event, found a part of one";
                    out.trace.diagnostics.add(Severity::Damage, at, message);
                }
            }
        }
        lane.expected = Some((header.number.wrapping_add(1), header.first.wrapping_add(count)));
        lane.recent.add(packet);
        lane.session = header.session;
        lane.last = end;
        self.latest = self.latest.max(lane.base.saturating_add(end));
        self.held += packet.len();
        self.packets += 1;
        lane.held.push_back(Held {
            missing,
            restart: is_first,
            time: lane.base.saturating_add(header.time),
            payload: payload.to_vec(),
            offset: offset + (packet.len() - payload.len()) as u64,
        });
        match origin {
            Origin::Line => self.deliver(false, kernel, out),
            // Wait for all packets, because a ring contains the packets of one core after those of
            // another.
            Origin::Ring => Flow::Continue(()),
        }
    }

    /// Delivers the held events in order of time. Unless `all` is set, stops if a core without held
    /// packets may still send an earlier event.
    fn deliver(&mut self, all: bool, kernel: &mut Kernel, out: &mut Emitter<'_>) -> Flow {
        loop {
            let begun = self.lanes.iter().filter(|lane| !lane.held.is_empty()).count();
            let waits = begun < self.cores;
            if begun == 0 || (waits && !all && self.held < MAX_HELD) {
                return Flow::Continue(());
            }
            let times = self
                .lanes
                .iter()
                .enumerate()
                .filter_map(|(core, lane)| lane.next_time().map(|time| (time, core)));
            let Some((_, core)) = times.min() else { return Flow::Continue(()) };
            self.next(core, kernel, out)?;
        }
    }

    /// Delivers the next event of a core. If the core's packet contains no further events, drops
    /// the packet.
    fn next(&mut self, core: usize, kernel: &mut Kernel, out: &mut Emitter<'_>) -> Flow {
        let lane = &mut self.lanes[core];
        let Some(held) = lane.held.front_mut() else { return Flow::Continue(()) };
        let number = core as u8;
        // The losses precede the first event of the packet, and must be delivered once only.
        for missing in std::mem::take(&mut held.missing) {
            kernel.gap(number);
            out.loss(missing.events, missing.cause, missing.offset)?;
        }
        if std::mem::take(&mut held.restart) {
            let message = "the target restarted here: its clock begins again";
            out.trace.diagnostics.add(Severity::Note, held.offset, message);
            // The restart ends all tasks, so first deliver the events before it.
            out.flush()?;
            kernel.restart();
        }
        let rest = held.payload.get(lane.at..).unwrap_or_default();
        // Events have no length field, so the events after a damaged one cannot be found.
        let Some(Ok(event)) = events(rest).next() else {
            self.held = self.held.saturating_sub(HEADER + held.payload.len());
            lane.held.pop_front();
            lane.at = 0;
            return Flow::Continue(());
        };
        held.time = held.time.saturating_add(event.ticks);
        let offset = held.offset + lane.at as u64;
        lane.at += event.bytes.len();
        let position = rows::Position { core: number, time: held.time, offset };
        let ticks = out.ticks(position.time);
        self.order.watch(ticks, offset, out, "a core was silent for long");
        rows::add(kernel, &event, position, out)
    }
}

impl Old {
    /// Reports a packet that the decoder ignores.
    fn report(self, header: &Header, offset: u64, out: &mut Emitter<'_>) {
        let (severity, what) = match self {
            // The decoder reported a gap here when the packet after the gap arrived.
            Self::Late => (Severity::Damage, "is late: its events count as missing"),
            Self::Repeated => (Severity::Note, "is repeated"),
        };
        let message = format!("packet {} of core {} {what}", header.number, header.core);
        out.trace.diagnostics.add(severity, offset, message);
    }
}

impl Lane {
    /// Returns true if the packet is the first one after a restart, false if it follows the earlier
    /// packets, and `None` if it is older than these.
    fn follows(&self, header: &Header) -> Option<bool> {
        let Some((number, _)) = self.expected else { return Some(false) };
        if header.session != self.session {
            return Some(true);
        }
        let ahead = header.number.wrapping_sub(number);
        match ahead < 1 << 31 {
            true => Some(false),
            // If a restart clears the memory, the recorder begins with packet 0 at time 0 again.
            false if header.time < self.last => Some(true),
            false => None,
        }
    }

    /// Finds the events that are missing before a packet.
    fn missing(
        &self,
        header: &Header,
        restart: bool,
        origin: Origin,
        offset: u64,
        list: &mut Vec<Missing>,
    ) {
        // After a restart, event numbers begin at 0 again. If the memory survived the restart,
        // packet numbers continue, so they show whether the last packets before the restart are
        // missing.
        if let Some((number, _)) =
            self.expected.filter(|_| restart && header.session != self.session)
            && header.number != number
        {
            list.push(Missing { events: None, cause: LossCause::Missing, offset });
        }
        let known = self.expected.filter(|_| !restart);
        let missing = header.first.wrapping_sub(known.map_or(0, |(_, first)| first));
        let refused = u32::from(header.refused).min(missing);
        let cause = match (known, origin) {
            (None, Origin::Ring) => LossCause::Overwritten,
            _ => LossCause::Missing,
        };
        for (events, cause) in [(missing - refused, cause), (refused, LossCause::BufferFull)] {
            if events > 0 {
                list.push(Missing { events: Some(u64::from(events)), cause, offset });
            }
        }
    }

    /// Returns the time of the packet's next event.
    fn next_time(&self) -> Option<u64> {
        let held = self.held.front()?;
        let rest = held.payload.get(self.at..)?;
        let ticks = events(rest).next().and_then(Result::ok).map_or(0, |event| event.ticks);
        Some(held.time.saturating_add(ticks))
    }
}
