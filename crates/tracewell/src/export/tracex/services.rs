//! Counts the calls of each service, in TraceX's order.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use tracewell_wire::threadx::ids;

use super::trace::{Event, Trace};

impl Trace {
    /// Returns each event id except RUNNING, with its number of occurrences.
    pub fn popular_services(&self) -> Vec<(u16, u64)> {
        popular(self.events.iter().filter(|event| event.id() != ids::RUNNING))
    }
}

fn popular<'a>(events: impl Iterator<Item = &'a Event>) -> Vec<(u16, u64)> {
    let mut position: HashMap<u16, usize, RandomState> = HashMap::default();
    let mut counts: Vec<(u16, u64)> = Vec::new();
    for event in events {
        let at = *position.entry(event.id()).or_insert(counts.len());
        match counts.get_mut(at) {
            Some((_, count)) => *count += 1,
            None => counts.push((event.id(), 1)),
        }
    }
    // This sort is not stable. It swaps the same pairs as TraceX, so ids with equal counts have the
    // same order as in TraceX.
    for i in 0..counts.len() {
        for j in i + 1..counts.len() {
            if counts[i].1 < counts[j].1 {
                counts.swap(i, j);
            }
        }
    }
    counts
}
