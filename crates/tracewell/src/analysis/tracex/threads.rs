//! Priorities, thresholds, events, suspensions and resumptions of each thread.
//!
//! TraceX's threshold range is made from the first event with a threshold and the events it made up;
//! a correct one would be taken over all events. Suspensions and resumptions are those that the
//! thread performed, on itself or another.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use tracewell_wire::threadx::ids;

use super::trace::{Event, Trace};

/// A range from the numerically largest (least urgent) to the smallest; `None` is unknown.
type Range = Option<(u32, u32)>;

/// Figures of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ThreadSummary {
    /// Lowest and highest priority: numerically largest and smallest.
    pub priority: Range,
    /// Lowest and highest preemption threshold.
    pub threshold: Range,
    /// Events without those that TraceX made up; 0 for a thread that is not the first at its
    /// address.
    pub recorded: u64,
    /// Events with them.
    pub events: u64,
    /// Suspensions that it performed.
    pub suspensions: u64,
    /// Resumptions that it performed.
    pub resumptions: u64,
}

impl Trace {
    /// Position of the first thread with an address.
    pub(super) fn thread_at(&self, address: u32) -> Option<usize> {
        let object = self.object_at(address).filter(|object| self.objects[*object].is_thread())?;
        self.threads.binary_search(&object).ok()
    }

    /// Figures of each thread. Threads at the same address are each credited with all events.
    pub fn thread_summaries(&self) -> Vec<ThreadSummary> {
        let mut by_address: HashMap<u32, Vec<usize>, RandomState> = HashMap::default();
        let mut summaries = Vec::new();
        for (position, object) in self.thread_objects().enumerate() {
            by_address.entry(object.address).or_default().push(position);
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
                threads.iter().for_each(|thread| summaries[*thread].count(event));
                // Ranges are those of the first thread at the address.
                if let Some(first) = threads.first() {
                    summaries[*first].widen(event);
                }
            }
        };
        // TraceX loads all events before it makes some up.
        count(false);
        count(true);
        summaries
    }
}

impl ThreadSummary {
    fn count(&mut self, event: &Event) {
        self.events += 1;
        self.suspensions += u64::from(event.id() == ids::THREAD_SUSPEND);
        self.resumptions += u64::from(event.id() == ids::THREAD_RESUME);
    }

    fn widen(&mut self, event: &Event) {
        self.recorded += u64::from(!event.inserted);
        self.priority = widened(self.priority, event.priority);
        match (event.threshold, event.inserted) {
            // A threshold of 0 is that of an event made up from the thread's creation, which does not
            // know it.
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
