//! Merges the streams of several cores by time.
//!
//! Espressif's tools copy some packets into the streams of all cores. If two streams contain equal
//! packets with equal times, the decoder produces only one event.

use std::collections::VecDeque;

use tracewell_wire::systemview::{Packet, ids};

use super::events::{Events, Place};
use super::lane::Lane;
use super::stream::{Part, Skipped, Source};
use crate::format::Input;
use crate::model::{Severity, Trace};

/// Maximum number of stored packets that have the current time. The merger compares these packets
/// with packets of other cores.
const MAX_COMPARED: usize = 64;

/// The next part of a stream.
#[derive(Clone, Copy, Debug)]
pub(super) enum Next<'a> {
    /// A packet.
    Packet(Packet<'a>, Place),
    /// A packet that another core has also recorded.
    Copy,
    /// Bytes that are not packets.
    Skipped(Skipped),
}

#[derive(Debug)]
struct Branch<'a> {
    lane: Lane,
    source: Source<'a>,
    next: Option<Next<'a>>,
}

/// The streams of several cores.
#[derive(Debug)]
pub(super) struct Merger<'a> {
    branches: Vec<Branch<'a>>,
    /// The stored packets that have the current time.
    compared: VecDeque<(Place, Packet<'a>)>,
}

impl<'a> Merger<'a> {
    /// Creates the streams from the parts of an input. `lanes` contains a lane for each part, and
    /// the part's end as an offset in bytes.
    pub(super) fn new(lanes: Vec<(Lane, u64)>, input: Input<'a>) -> Self {
        let branches = lanes.into_iter().map(|(lane, end)| {
            let end = usize::try_from(end.saturating_sub(input.offset)).unwrap_or(usize::MAX);
            let bytes = input.bytes.get(..end).unwrap_or(input.bytes);
            let source = Source { bytes, offset: input.offset, last: true };
            Branch { lane, source, next: None }
        });
        Self { branches: branches.collect(), compared: VecDeque::new() }
    }

    /// Reads the first part of each stream. Reports streams that do not begin with copies of the
    /// same packet, because the clocks of such streams may have different origins. A stream without
    /// packets has no clock.
    pub(super) fn begin(&mut self, events: &Events, trace: &mut Trace) {
        let begins = self.branches.iter().filter_map(|branch| branch.beginning(events));
        let begins: Vec<_> = begins.collect();
        let first = begins.iter().find_map(|begin| begin.delta);
        for begin in begins.iter().filter(|_| begins.len() > 1) {
            if begin.delta.is_none() || begin.delta != first {
                let message = "the streams do not begin with the same packet: expected one clock, \
                               assumed that all streams began at the same time";
                trace.diagnostics.add(Severity::Warning, begin.offset, message);
            }
        }
        for branch in &mut self.branches {
            branch.advance(events);
        }
    }

    /// Finds the stream whose next part is the earliest. Returns the stream's index and this part.
    /// The caller must then call [`Merger::advance`].
    pub(super) fn earliest(&mut self) -> Option<(usize, Next<'a>)> {
        let nexts = self.branches.iter().enumerate();
        let nexts = nexts.filter_map(|(index, branch)| Some((index, branch.next?)));
        let (index, next) = nexts.min_by_key(|(index, next)| match next {
            Next::Packet(_, place) => (place.ticks, 1, *index),
            Next::Copy | Next::Skipped(_) => (self.branches[*index].lane.ticks, 0, *index),
        })?;
        let Next::Packet(packet, place) = next else { return Some((index, next)) };
        Some((index, if self.is_copy(packet, place) { Next::Copy } else { next }))
    }

    /// Returns a stream.
    pub(super) fn lane(&mut self, index: usize) -> Option<&mut Lane> {
        self.branches.get_mut(index).map(|branch| &mut branch.lane)
    }

    /// Reads the next part of a stream.
    pub(super) fn advance(&mut self, index: usize, events: &Events) {
        if let Some(branch) = self.branches.get_mut(index) {
            branch.advance(events);
        }
    }

    /// Returns true if time advanced in a stream.
    pub(super) fn advanced(&self) -> bool {
        self.branches.iter().any(|branch| branch.lane.advanced)
    }

    /// Returns true if another core has recorded the same packet at the same time.
    fn is_copy(&mut self, packet: Packet<'a>, place: Place) -> bool {
        if !is_copied(packet.id) {
            return false;
        }
        // Packets arrive in order of time, so packets with an earlier time have no further copies.
        self.compared.retain(|(other, _)| other.ticks == place.ticks);
        let found = self.compared.iter().position(|(other, known)| {
            other.cpu != place.cpu && known.id == packet.id && known.payload == packet.payload
        });
        if let Some(found) = found {
            self.compared.remove(found);
            return true;
        }
        if self.compared.len() == MAX_COMPARED {
            self.compared.pop_front();
        }
        self.compared.push_back((place, packet));
        false
    }
}

/// Returns true if Espressif's tools copy the packets of this event into all streams.
fn is_copied(id: u32) -> bool {
    matches!(
        id,
        ids::OVERFLOW
            | ids::TASK_START_READY
            | ids::TASK_INFO
            | ids::TRACE_START
            | ids::TRACE_STOP
            | ids::SYSTIME_CYCLES
            | ids::SYSTIME_US
            | ids::SYSDESC
            | ids::STACK_INFO
            | ids::MODULEDESC
            | ids::INIT
            | ids::NUMMODULES
    )
}

/// The beginning of a stream that contains packets.
struct Beginning {
    /// The ticks in the first packet, which is TRACE_START. `None` if bytes before this packet were
    /// skipped, because the stream then lacks its beginning.
    delta: Option<u32>,
    /// Offset of the first packet, or the end of the skipped bytes.
    offset: u64,
}

impl<'a> Branch<'a> {
    /// Returns the beginning of the stream, or `None` if the stream contains no packet.
    fn beginning(&self, events: &Events) -> Option<Beginning> {
        // The stream itself must not advance, because its parts are not yet to be delivered.
        let mut stream = self.lane.stream.clone();
        let mut skipped = None;
        loop {
            match stream.next(self.source, events) {
                Part::Packet(packet, offset) => {
                    let delta = skipped.is_none().then_some(packet.delta);
                    return Some(Beginning { delta, offset: skipped.unwrap_or(offset) });
                }
                Part::Skipped(bytes) => skipped = Some(bytes.until),
                Part::More(_) | Part::End => return None,
            }
        }
    }

    fn advance(&mut self, events: &Events) {
        self.next = match self.lane.stream.next(self.source, events) {
            Part::Packet(packet, offset) => {
                let place = self.lane.place(&packet, offset);
                Some(Next::Packet(packet, place))
            }
            Part::Skipped(skipped) => Some(Next::Skipped(skipped)),
            // The whole stream has arrived.
            Part::More(_) | Part::End => None,
        };
    }
}

#[cfg(test)]
mod tests {
    use tracewell_wire::systemview::TextOrder;

    use super::*;

    #[test]
    fn an_equal_packet_of_another_core_at_the_same_time_is_a_copy() {
        let mut merger = Merger { branches: Vec::new(), compared: VecDeque::new() };
        let mut is_copy = |id: u32, cpu: u16, ticks: u64, payload: &'static [u8]| {
            let packet = Packet { core: 0, id, payload, delta: 0, length: payload.len() };
            let place = Place { ticks, cpu, offset: 0, order: TextOrder::default() };
            merger.is_copy(packet, place)
        };
        assert!(!is_copy(ids::TASK_INFO, 0, 10, &[1]));
        // A single core can record equal packets.
        assert!(!is_copy(ids::TASK_INFO, 0, 10, &[1]));
        assert!(!is_copy(ids::TASK_INFO, 1, 10, &[2]));
        assert!(!is_copy(ids::STACK_INFO, 1, 10, &[1]));
        assert!(is_copy(ids::TASK_INFO, 1, 10, &[1]));
        // Each packet has at most one copy in another stream.
        assert!(is_copy(ids::TASK_INFO, 1, 10, &[1]));
        assert!(!is_copy(ids::TASK_INFO, 1, 10, &[1]));
        // An equal packet at a different time is a different event.
        assert!(!is_copy(ids::TASK_INFO, 2, 11, &[2]));
        // For all other events, each stream has packets of its own.
        assert!(!is_copy(ids::NOP, 0, 12, &[]));
        assert!(!is_copy(ids::NOP, 1, 12, &[]));
    }
}
