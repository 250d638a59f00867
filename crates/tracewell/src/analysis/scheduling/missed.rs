//! The worst missed deadlines of a trace. `jobs` finds them.

use super::moments::JobChange;
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
        change: Option<JobChange>,
        job: (Option<u64>, Option<u64>),
    ) {
        match (change, job) {
            (Some(JobChange::Done), (released, Some(missed))) => {
                let until = Some(now);
                self.offer(now, Missed { context, released, missed, until });
            }
            (Some(JobChange::Missed), (None, _)) => {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_jobs_that_were_late_for_the_longest_time_are_kept_in_order() {
        let mut worst = WorstMisses::new(2);
        let task = ContextId(1);
        for (released, missed, until) in [(10, 20, 25), (30, 40, 60), (70, 80, 81), (90, 100, 120)]
        {
            worst.take(task, until, Some(JobChange::Done), (Some(released), Some(missed)));
        }
        // A missed deadline without a job is late for no time that the trace shows.
        worst.take(task, 130, Some(JobChange::Missed), (None, None));
        // Jobs in time, and the first of several missed deadlines of a pending job, add nothing.
        worst.take(task, 140, Some(JobChange::Done), (Some(135), None));
        worst.take(task, 150, Some(JobChange::Missed), (Some(145), None));
        let found = worst.finish();
        let found: Vec<_> = found.iter().map(|each| (each.released, each.until)).collect();
        assert_eq!(found, [(Some(30), Some(60)), (Some(90), Some(120))]);
    }
}
