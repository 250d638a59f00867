//! Findings: parts of the trace that deserve attention.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::{Miss, Position};
use crate::analysis::scheduling::Wait;
use crate::analysis::total::{Total, total};
use crate::model::ContextId;

/// Kind of a finding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FindingKind {
    /// While a context waited for a mutex, less urgent contexts ran without holding the mutex.
    PriorityInversion {
        /// Ticks of the inversion.
        ticks: u64,
    },
    /// A job was not complete at its deadline.
    DeadlineMissed,
}

impl FindingKind {
    /// Returns the words that the output shows.
    pub const fn name(self) -> &'static str {
        match self {
            Self::PriorityInversion { .. } => "priority inversion",
            Self::DeadlineMissed => "deadline missed",
        }
    }
}

/// A part of the trace that deserves attention.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The reason for the finding.
    pub kind: FindingKind,
    /// The context that was delayed.
    pub context: ContextId,
    /// The request for the mutex, or the release of the job. If the trace shows no job, the event
    /// that reports the missed deadline.
    pub from: Position,
    /// The end of the wait, or the event that reports the missed deadline.
    pub until: Position,
    /// The context that caused most of an inversion; `None` if the trace does not show it.
    pub culprit: Option<ContextId>,
}

/// Collects inversions.
#[derive(Clone, Debug, Default)]
pub(super) struct Inversions {
    /// For each waiting context, the ticks of priority inversion that each other context caused.
    open: HashMap<ContextId, HashMap<ContextId, u64, RandomState>, RandomState>,
    list: Vec<Finding>,
}

impl Inversions {
    pub(super) fn charge(&mut self, task: ContextId, runs: ContextId, ticks: u64) {
        self.open.entry(task).or_default().entry(runs).or_default().charge(ticks);
    }

    /// Handles the end of a wait. Returns true if it added a finding.
    pub(super) fn wait_ended(&mut self, wait: &Wait, at: Position) -> bool {
        let Some(by) = self.open.remove(&wait.task).filter(|_| wait.is_mutex) else { return false };
        // If contexts caused equal amounts, name the one with the lower number.
        let culprit = by.iter().max_by_key(|(id, ticks)| (**ticks, std::cmp::Reverse(**id)));
        self.list.push(Finding {
            kind: FindingKind::PriorityInversion { ticks: total(by.values().copied()) },
            context: wait.task,
            from: wait.from,
            until: at,
            culprit: culprit.map(|(id, _)| *id),
        });
        true
    }

    /// Handles missing events, which make the ends of open waits unknown.
    pub(super) fn gap(&mut self) {
        self.open.clear();
    }

    /// Returns all findings in the order of their ends. Omits inversions on several cores, because
    /// there a less urgent context can run at the same time without delaying the waiting context.
    pub(super) fn finish(mut self, misses: &[Miss], cores: usize) -> Vec<Finding> {
        if cores > 1 {
            self.list.clear();
        }
        self.list.extend(misses.iter().map(|miss| Finding {
            kind: FindingKind::DeadlineMissed,
            context: miss.context,
            from: miss.from,
            until: miss.at,
            culprit: None,
        }));
        self.list.sort_by_key(|finding| finding.until);
        self.list
    }
}
