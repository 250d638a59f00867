//! Jobs from release to completion.

use std::collections::{HashMap, VecDeque};

use foldhash::fast::RandomState;

use super::Position;
use crate::analysis::scheduling::JobChange;
use crate::model::ContextId;

/// A job of a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Job {
    /// The task whose job it is.
    pub context: ContextId,
    /// The event that released it.
    pub from: Position,
    /// Its completion; `None` if the trace does not show it.
    pub until: Option<Position>,
    /// The event that first reports a missed deadline.
    pub missed: Option<Position>,
}

/// A missed deadline.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Miss {
    /// The task that missed the deadline.
    pub context: ContextId,
    /// The release of the oldest pending job, or `at` if the trace shows no pending job.
    pub from: Position,
    /// The event that reports the missed deadline.
    pub at: Position,
    /// The end of the job; `None` if the trace does not show it.
    pub until: Option<Position>,
    /// True if the job missed an earlier deadline, or if the trace does not show the job.
    pub is_further: bool,
}

/// Follows the jobs of all tasks.
#[derive(Clone, Debug, Default)]
pub(super) struct Jobs {
    list: Vec<Job>,
    /// For each missed deadline, the index of the job, and the event that reports it.
    misses: Vec<(ContextId, Option<usize>, Position)>,
    /// Indices of each task's pending jobs, oldest first.
    pending: HashMap<ContextId, VecDeque<usize>, RandomState>,
}

impl Jobs {
    /// Handles a change. Returns true if it added a job or a missed deadline.
    pub(super) fn take(&mut self, context: ContextId, change: JobChange, at: Position) -> bool {
        let pending = self.pending.entry(context).or_default();
        match change {
            JobChange::Released => {
                pending.push_back(self.list.len());
                self.list.push(Job { context, from: at, until: None, missed: None });
            }
            JobChange::Done => {
                // The jobs of a task complete in the order of their releases.
                let done = pending.pop_front().and_then(|index| self.list.get_mut(index));
                done.into_iter().for_each(|job| job.until = Some(at));
            }
            JobChange::Dropped => pending.clear(),
            JobChange::Missed => {
                let oldest = pending.front().copied();
                self.misses.push((context, oldest, at));
                if let Some(job) = oldest.and_then(|index| self.list.get_mut(index)) {
                    job.missed.get_or_insert(at);
                }
            }
        }
        matches!(change, JobChange::Released | JobChange::Missed)
    }

    /// Handles missing events, which make the completions of pending jobs unknown.
    pub(super) fn gap(&mut self) {
        self.pending.clear();
    }

    /// Returns the jobs in the order of their releases, and the missed deadlines in the order of
    /// their events.
    pub(super) fn finish(self) -> (Vec<Job>, Vec<Miss>) {
        let Self { list, misses, .. } = self;
        let miss = |(context, job, at): (ContextId, Option<usize>, Position)| match job
            .and_then(|index| list.get(index))
        {
            Some(job) => {
                let is_further = job.missed != Some(at);
                Miss { context, from: job.from, at, until: job.until, is_further }
            }
            None => Miss { context, from: at, at, until: Some(at), is_further: true },
        };
        let misses = misses.into_iter().map(miss).collect();
        (list, misses)
    }
}
