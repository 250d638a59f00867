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
    /// The event that reports the missed deadline.
    pub missed: Option<Position>,
}

/// Follows the jobs of all tasks.
#[derive(Clone, Debug, Default)]
pub(super) struct Jobs {
    list: Vec<Job>,
    /// Indices of each task's pending jobs, oldest first.
    pending: HashMap<ContextId, VecDeque<usize>, RandomState>,
}

impl Jobs {
    /// Handles a change. Returns true if it added a job.
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
            JobChange::Missed => {
                let oldest = pending.front().and_then(|index| self.list.get_mut(*index));
                oldest.into_iter().for_each(|job| {
                    job.missed.get_or_insert(at);
                });
            }
        }
        change == JobChange::Released
    }

    /// Handles missing events, which make the completions of pending jobs unknown.
    pub(super) fn gap(&mut self) {
        self.pending.clear();
    }

    pub(super) fn finish(self) -> Vec<Job> {
        self.list
    }
}
