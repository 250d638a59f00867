//! Which kinds of events were not recorded, and when: filters as the trace tells of them, and times between
//! a stop of tracing and the next start.
//!
//! On request these are holes: of such a time nothing is known. A filter makes one if it hides events that figures
//! rest on; what happens to be recorded within is left out.

use std::collections::BTreeMap;

use super::step::Step;
use crate::model::{Meaning, Trace};

/// Times beyond these are not kept: filters are set by hand, damage sets them without end.
const KEPT: usize = 1000;

/// A time in which a kind of events was not recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hidden {
    /// Id of the event that tells of the filter: its label names what was hidden.
    pub id: u32,
    /// Ticks from which on they were hidden.
    pub from: u64,
    /// Ticks at which they were recorded again, or at which the trace ends.
    pub until: u64,
}

/// Follows filters.
#[derive(Debug, Default)]
pub(super) struct Filters {
    since: BTreeMap<u32, u64>,
    hidden: Vec<Hidden>,
    /// Filters that hide what figures rest on.
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
            self.since.entry(id).or_insert(step.ticks);
        } else if let Some(from) = self.since.remove(&id) {
            self.keep(Hidden { id, from, until: step.ticks });
        }
    }

    /// Whether nothing is known of what happens now.
    pub(super) fn is_hole(&self) -> bool {
        self.stopped || self.needed != 0
    }

    fn keep(&mut self, hidden: Hidden) {
        if self.hidden.len() < KEPT {
            self.hidden.push(hidden);
        }
    }

    /// All of them, where the trace ends at `end`.
    pub(super) fn finish(&mut self, end: u64) -> Vec<Hidden> {
        for (id, from) in std::mem::take(&mut self.since) {
            self.keep(Hidden { id, from, until: end });
        }
        std::mem::take(&mut self.hidden)
    }
}

/// Whether a filter hides events that figures rest on.
fn hides_needed(trace: &Trace, bits: u32) -> bool {
    let needed = |meaning| {
        !matches!(
            meaning,
            Meaning::Mark | Meaning::Value | Meaning::TimerSet | Meaning::TimerCancelled
        )
    };
    let mut events = trace.schema.events().iter().filter(|event| event.filter & bits != 0);
    events.any(|event| event.means.is_some_and(|means| needed(means.meaning)))
}
