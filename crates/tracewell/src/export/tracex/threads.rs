//! Computes priorities, preemption thresholds and event counts of each thread.
//!
//! TraceX derives the threshold range from the first event with a threshold and from inserted
//! events; a correct range would use all events.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::trace::{Event, Trace};

/// A range from the numerically largest (least urgent) value to the smallest; `None` if it is
/// unknown.
type Range = Option<(u32, u32)>;

/// Figures of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ThreadSummary {
    /// Lowest and highest priority: numerically largest and smallest.
    pub priority: Range,
    /// Lowest and highest preemption threshold.
    pub threshold: Range,
    /// Number of events, including those that TraceX inserted.
    pub events: u64,
}

impl Trace {
    /// Returns the position of the first thread that has the given address.
    pub(super) fn thread_at(&self, address: u32) -> Option<usize> {
        let object = self.object_at(address).filter(|object| self.objects[*object].is_thread())?;
        self.threads.binary_search(&object).ok()
    }

    /// Returns the figures of each thread. If several threads have the same address, all events of
    /// this address are counted for each of them.
    pub fn thread_summaries(&self) -> Vec<ThreadSummary> {
        let mut by_address: HashMap<u32, Vec<usize>, RandomState> = HashMap::default();
        let mut summaries = Vec::new();
        for (position, object) in self.thread_objects().enumerate() {
            by_address.entry(object.address).or_default().push(position);
            // If the top bit is set, the reserved bytes hold the priority in 10 bits.
            let flagged = object.reserved1 & 0x80 != 0;
            let registered = (u32::from(object.reserved1 & 3) << 8) | u32::from(object.reserved2);
            summaries.push(ThreadSummary {
                priority: flagged.then_some((registered, registered)),
                ..ThreadSummary::default()
            });
        }
        let mut count = |inserted: bool| {
            for event in self.events.iter().filter(|event| event.inserted == inserted) {
                let threads = by_address.get(&event.context).map_or(&[][..], Vec::as_slice);
                threads.iter().for_each(|thread| summaries[*thread].events += 1);
                // All events of this address are in the event counts of all its threads. Their
                // priorities and thresholds count only for the first thread.
                if let Some(first) = threads.first() {
                    summaries[*first].widen(event);
                }
            }
        };
        // TraceX loads all events before it inserts others.
        count(false);
        count(true);
        summaries
    }
}

impl ThreadSummary {
    fn widen(&mut self, event: &Event) {
        self.priority = widened(self.priority, event.priority);
        match (event.threshold, event.inserted) {
            // TraceX inserted this event with the values of the thread's creation. In these values,
            // a threshold of 0 means that the threshold is unknown.
            (Some(0), true) => {}
            (Some(threshold), true) => self.threshold = widened(self.threshold, threshold),
            (Some(threshold), false) => {
                self.threshold = self.threshold.or(Some((threshold, threshold)));
            }
            (None, false) => self.threshold = None,
            (None, true) => {}
        }
    }
}

fn widened(range: Range, value: u32) -> Range {
    let (low, high) = range.unwrap_or((value, value));
    Some((low.max(value), high.min(value)))
}
