//! The worst missed deadlines of a trace. `jobs` finds them.

use super::jobs::Change;
use crate::model::ContextId;

/// A job whose deadline passed before its completion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Missed {
    /// The task of the job.
    pub context: ContextId,
    /// Ticks of the release; `None` if the trace does not show the job.
    pub released: Option<u64>,
    /// Ticks of the event that reports the missed deadline; the first one if there are several.
    pub missed: u64,
    /// Ticks of the completion; `None` if the trace does not show it.
    pub until: Option<u64>,
}

/// A number of missed deadlines: those of the jobs that were late for the longest time.
#[derive(Clone, Debug)]
pub(super) struct WorstMisses {
    most: usize,
    /// The latest first, with the ticks for which they were late as far as the trace shows.
    /// Equally late ones are in the order in which they were added.
    list: Vec<(u64, Missed)>,
}

impl WorstMisses {
    pub(super) fn new(most: usize) -> Self {
        Self { most, list: Vec::new() }
    }

    pub(super) fn restart(&mut self) {
        self.list.clear();
    }

    /// Handles an event at `now` with this effect on the jobs of a task. `job` contains the release
    /// of the oldest pending job, and the time of its first missed deadline, before the event.
    pub(super) fn take(
        &mut self,
        context: ContextId,
        now: u64,
        change: Option<Change>,
        job: (Option<u64>, Option<u64>),
    ) {
        match (change, job) {
            (Some(Change::Done), (released, Some(missed))) => {
                let until = Some(now);
                self.offer(now, Missed { context, released, missed, until });
            }
            (Some(Change::Missed), (None, _)) => {
                self.offer(now, Missed { context, released: None, missed: now, until: None });
            }
            _ => {}
        }
    }

    /// Adds a missed deadline if it is one of the worst. The job was late until `until`, or longer.
    pub(super) fn offer(&mut self, until: u64, missed: Missed) {
        let late = until.saturating_sub(missed.missed);
        let rank = self.list.partition_point(|(known, _)| *known >= late);
        if rank < self.most {
            self.list.truncate(self.most - 1);
            self.list.insert(rank, (late, missed));
        }
    }

    /// Returns the missed deadlines, the latest first.
    pub(super) fn finish(&mut self) -> Vec<Missed> {
        std::mem::take(&mut self.list).into_iter().map(|(_, missed)| missed).collect()
    }
}
