//! The last packets of a core. They show whether a packet with an earlier number is late or
//! repeated. If it is neither, it can be the first one after a restart of the target; `lanes`
//! decides this.

use std::collections::VecDeque;
use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use tracewell_wire::target::{Header, Packet};

/// Number of packets that the decoder remembers for each core.
const REMEMBERED: usize = 16;

/// The last packets of a core, by their numbers. Hashes of their payloads are stored too, because
/// the first packets of two runs have the same header.
#[derive(Debug, Default)]
pub(super) struct Recent(VecDeque<(Header, u64)>);

/// The relation of a packet to the packets before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Old {
    /// It belongs between two of these packets.
    Late,
    /// It repeats one of these packets.
    Repeated,
}

impl Recent {
    /// Adds a packet that follows the others, or that is the first one after a restart.
    pub(super) fn add(&mut self, packet: &Packet<'_>) {
        let continues = |(last, _): &(Header, u64)| is_less(last.number, packet.header.number);
        if !self.0.back().is_some_and(continues) {
            self.0.clear();
        }
        if self.0.len() == REMEMBERED {
            self.0.pop_front();
        }
        self.0.push_back((packet.header, hash(packet)));
    }

    /// Returns the relation of a packet to these packets, or `None` if it is neither late nor
    /// repeated.
    pub(super) fn relation(&self, packet: &Packet<'_>) -> Option<Old> {
        let header = &packet.header;
        let at = self.0.partition_point(|(known, _)| is_less(known.number, header.number));
        let (after, payload) = self.0.get(at)?;
        if after.number == header.number {
            return (after == header && *payload == hash(packet)).then_some(Old::Repeated);
        }
        let (before, _) = self.0.get(at.checked_sub(1)?)?;
        // Times and event numbers of different runs are not comparable.
        let of_run = |other: &Header| other.session == header.session;
        let is_between = (!of_run(before) || in_order(before, header))
            && (!of_run(after) || in_order(header, after))
            && (of_run(before) || of_run(after));
        is_between.then_some(Old::Late)
    }
}

/// Returns true if the first number precedes the second one. Numbers wrap.
const fn is_less(first: u32, second: u32) -> bool {
    first.wrapping_sub(second).cast_signed() < 0
}

/// Returns true if the first packet can precede the second one in the same run.
const fn in_order(first: &Header, second: &Header) -> bool {
    first.time <= second.time && !is_less(second.first, first.first)
}

fn hash(packet: &Packet<'_>) -> u64 {
    FixedState::default().hash_one(packet.payload)
}
