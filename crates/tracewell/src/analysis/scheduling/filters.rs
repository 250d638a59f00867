//! Which kinds of events were not recorded, and when: filters as the trace tells of them.

use std::collections::BTreeMap;

use super::step::Step;
use crate::model::Meaning;

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
}

impl Filters {
    pub(super) fn take(&mut self, id: u32, step: &Step) {
        if step.meaning != Some(Meaning::Hides) {
            return;
        }
        if step.value != Some(0) {
            self.since.entry(id).or_insert(step.ticks);
        } else if let Some(from) = self.since.remove(&id) {
            self.keep(Hidden { id, from, until: step.ticks });
        }
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
