//! Finds periods in which events of one kind were not recorded: either a filter hid these events,
//! or tracing was stopped.
//!
//! On request, the analysis treats these periods as unknown and calls them holes. A filter causes a
//! hole if it hides events that figures need. Events recorded during a hole are ignored.

use std::collections::BTreeMap;

use super::step::Step;
use crate::model::{Meaning, Trace};

/// Maximum number of listed periods. Users set few filters, but damaged traces may contain any
/// number.
const MAX_HIDDEN: usize = 1000;

/// A period in which events of one kind were not recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hidden {
    /// Id of the event that set the filter. Its label names the hidden kind.
    pub id: u32,
    /// Ticks at which hiding began.
    pub from: u64,
    /// Ticks at which recording resumed, or at which the trace ends.
    pub until: u64,
}

/// The active filters, and the periods of earlier filters.
#[derive(Clone, Debug, Default)]
pub(super) struct Filters {
    since: BTreeMap<u32, u64>,
    hidden: Vec<Hidden>,
    /// Number of filters that hide events needed by figures.
    needed: u32,
    stopped: bool,
}

impl Filters {
    pub(super) fn take(&mut self, trace: &Trace, id: u32, step: &Step) {
        match step.meaning {
            Some(Meaning::Hides) => {}
            Some(Meaning::TraceStop) => return self.stopped = true,
            Some(Meaning::TraceStart) => return self.stopped = false,
            _ => return,
        }
        let sets = step.value != Some(0);
        let bits = trace.schema.hides(id);
        if !sets {
            self.needed &= !bits;
        } else if hides_needed(trace, bits) {
            self.needed |= bits;
        }
        if sets {
            // If a filter is already set, keep the time at which it was first set.
            self.since.entry(id).or_insert(step.ticks);
        } else if let Some(from) = self.since.remove(&id) {
            self.keep(Hidden { id, from, until: step.ticks });
        }
    }

    /// Begins a range at `from`: forgets the periods that ended before it.
    pub(super) fn restart(&mut self, from: u64) {
        self.hidden.clear();
        self.since.values_mut().for_each(|since| *since = from.max(*since));
    }

    /// Returns true if the current time is in a hole.
    pub(super) fn is_hole(&self) -> bool {
        self.stopped || self.needed != 0
    }

    fn keep(&mut self, hidden: Hidden) {
        if self.hidden.len() < MAX_HIDDEN {
            self.hidden.push(hidden);
        }
    }

    /// Returns all periods, for a trace that ends at `end`.
    pub(super) fn finish(&mut self, end: u64) -> Vec<Hidden> {
        for (id, from) in std::mem::take(&mut self.since) {
            self.keep(Hidden { id, from, until: end });
        }
        std::mem::take(&mut self.hidden)
    }
}

/// Returns true if a filter hides events needed by figures.
fn hides_needed(trace: &Trace, bits: u32) -> bool {
    let needed = |meaning| {
        !matches!(
            meaning,
            Meaning::Mark
                | Meaning::Value
                | Meaning::StackUsed
                | Meaning::StackFree
                | Meaning::TimerSet
                | Meaning::TimerCancelled
        )
    };
    let mut events = trace.schema.events().filter(|event| event.filter & bits != 0);
    events.any(|event| event.means.is_some_and(|means| needed(means.meaning)))
}
