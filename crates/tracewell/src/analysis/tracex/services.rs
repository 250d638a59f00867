//! How often each service was called, in the order in which TraceX lists them.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use tracewell_wire::threadx::ids;

use super::trace::{Event, Trace};

impl Trace {
    /// Event ids and how often they occur in the whole system, RUNNING left out.
    pub fn popular_services(&self) -> Vec<(u16, u64)> {
        popular(self.events.iter().filter(|event| event.id() != ids::RUNNING))
    }

    /// The same for each thread, RUNNING included.
    pub fn popular_services_of_threads(&self) -> Vec<Vec<(u16, u64)>> {
        let mut by_address: HashMap<u32, Vec<&Event>, RandomState> = HashMap::default();
        for event in &self.events {
            by_address.entry(event.context).or_default().push(event);
        }
        let of = |address| by_address.get(&address).map_or(&[][..], Vec::as_slice);
        self.thread_objects().map(|object| popular(of(object.address).iter().copied())).collect()
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
    // Not a sort by count: the order of equal counts follows from these very exchanges.
    for i in 0..counts.len() {
        for j in i + 1..counts.len() {
            if counts[i].1 < counts[j].1 {
                counts.swap(i, j);
            }
        }
    }
    counts
}
