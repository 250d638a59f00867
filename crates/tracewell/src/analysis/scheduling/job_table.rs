//! Lists jobs with release, start and completion, and the parts of the response time.
//!
//! A job has a row if the trace shows its release and its completion, without a gap between them.
//! On one core, each tick of its response time belongs to exactly one part. The part depends on
//! what ran in this tick:
//!
//! - the job itself
//! - an earlier pending job of the same task
//! - another task on behalf of the job's task (blocking)
//! - another task, but not on behalf of the job's task (each such task has its own part)
//! - an interrupt
//! - no task or an unknown task
//!
//! On several cores, tasks run in parallel, so a row has no parts.

use std::collections::VecDeque;

use super::accounts::{Accounts, Moment, Parts};
use super::jobs::Change;
use super::per::PerContext;
use crate::model::ContextId;

/// A job whose release and completion are in the trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Job {
    /// The task that ran it.
    pub context: ContextId,
    /// Number of the job among the completed jobs of the task, counted from 0.
    pub number: u64,
    /// Ticks of its release.
    pub release: u64,
    /// Ticks at which the job first ran for itself.
    pub start: Option<u64>,
    /// Ticks of its completion.
    pub completion: u64,
    /// Ticks for which the job ran.
    pub execution: u64,
    /// Ticks for which its task executed earlier jobs while this job was pending.
    pub earlier: u64,
    /// Number of preemptions of the task while this was its oldest job.
    pub preemptions: u64,
    /// The parts of its response time; `own` is the sum of `execution` and `earlier`.
    pub parts: Option<Parts>,
    /// Ticks at which the deadline passed, if the job missed it.
    pub missed: Option<u64>,
}

impl Job {
    /// Returns the time from release to completion, in ticks.
    pub fn response(&self) -> u64 {
        self.completion.saturating_sub(self.release)
    }
}

/// Maximum number of totals that are stored for all pending jobs together. If a job is released
/// after the limit was reached, its row has no parts.
const MAX_TOTALS: usize = 1 << 22;

/// A job that is not completed yet.
#[derive(Clone, Debug, Default)]
struct Open {
    release: u64,
    released: Option<Moment>,
    start: Option<u64>,
    missed: Option<u64>,
}

#[derive(Clone, Debug, Default)]
struct Task {
    waiting: VecDeque<Open>,
    done: u64,
    /// The task's execution and preemptions up to the time when the current job became the oldest.
    ran: u64,
    preemptions: u64,
}

/// The rows of all jobs.
#[derive(Clone, Debug, Default)]
pub(super) struct JobTable {
    tasks: PerContext<Task>,
    /// Number of totals that are stored for the pending jobs.
    kept: usize,
    rows: Vec<Job>,
    /// Maximum number of rows.
    room: usize,
    /// Number of jobs for which the table has no row.
    more: u64,
}

/// The state of the event's subject when the event occurred.
#[derive(Clone, Copy, Debug)]
pub(super) struct Now<'a> {
    pub(super) context: ContextId,
    pub(super) ticks: u64,
    pub(super) accounts: &'a Accounts,
    /// Preemptions of the subject.
    pub(super) preemptions: u64,
}

impl JobTable {
    /// Creates a table of at most `most` jobs.
    pub(super) fn new(most: usize) -> Self {
        Self { room: most, ..Self::default() }
    }

    /// Begins a range: forgets the completed jobs.
    pub(super) fn restart(&mut self) {
        self.rows.clear();
        self.more = 0;
    }

    pub(super) fn take(&mut self, change: Change, now: &Now<'_>) {
        let task = self.tasks.at(now.context);
        match change {
            Change::Released => {
                // A moment contains a copy of the totals of all tasks. The limit prevents endless
                // releases in a damaged trace from filling memory.
                let moment = now.accounts.moment(now.context).filter(|_| self.kept < MAX_TOTALS);
                self.kept += moment.as_ref().map_or(0, Moment::size);
                task.released(moment, now);
            }
            Change::Started => {
                if let Some(job) = task.waiting.front_mut() {
                    job.start = Some(now.ticks);
                }
            }
            Change::Missed => {
                if let Some(job) = task.waiting.front_mut() {
                    job.missed.get_or_insert(now.ticks);
                }
            }
            Change::Dropped => {
                let dropped = task.waiting.drain(..).filter_map(|job| job.released);
                self.kept -= dropped.map(|moment| moment.size()).sum::<usize>();
            }
            Change::Done => {
                let Some(job) = task.waiting.pop_front() else { return };
                self.kept -= job.released.as_ref().map_or(0, Moment::size);
                let row = task.done(&job, now);
                if self.rows.len() < self.room {
                    self.rows.push(row);
                } else {
                    self.more += 1;
                }
            }
        }
    }

    /// Handles missing events. The jobs that are pending now do not get rows.
    pub(super) fn gap(&mut self) {
        self.tasks.all().for_each(|task| task.waiting.clear());
        self.kept = 0;
    }

    /// Returns the rows in order of completion. On several cores, rows have no parts.
    pub(super) fn finish(&mut self, cores: usize) -> (Vec<Job>, u64) {
        let mut rows = std::mem::take(&mut self.rows);
        if cores > 1 {
            rows.iter_mut().for_each(|job| job.parts = None);
        }
        (rows, self.more)
    }
}

impl Task {
    fn released(&mut self, released: Option<Moment>, now: &Now<'_>) {
        // No earlier job is pending, so execution is charged to this job from now on.
        if self.waiting.is_empty() {
            self.next(now);
        }
        self.waiting.push_back(Open { release: now.ticks, released, ..Open::default() });
    }

    /// Stores the current execution and preemptions. The figures of the next job, which is now the
    /// oldest, are counted from here.
    fn next(&mut self, now: &Now<'_>) {
        self.ran = now.accounts.ran(now.context);
        self.preemptions = now.preemptions;
    }

    fn done(&mut self, job: &Open, now: &Now<'_>) -> Job {
        let parts = job.released.as_ref().map(|moment| now.accounts.since(moment, now.context));
        // Jobs of a task run in order, so all execution since this job became the oldest belongs to
        // this job.
        let execution = now.accounts.ran(now.context) - self.ran;
        let row = Job {
            context: now.context,
            number: self.done,
            release: job.release,
            start: job.start,
            completion: now.ticks,
            execution,
            earlier: parts.as_ref().map_or(0, |parts| parts.own.saturating_sub(execution)),
            preemptions: now.preemptions - self.preemptions,
            parts,
            missed: job.missed,
        };
        self.done += 1;
        self.next(now);
        row
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{OnBehalf, Running};

    #[test]
    fn jobs_have_parts_until_the_stored_totals_reach_a_limit() {
        let [context, other] = [0, 1].map(ContextId);
        let mut running = Running::default();
        running.choose(OnBehalf { runs: other.into(), of: context.into() });
        let mut accounts = Accounts::default();
        accounts.charge(&running, 5);
        // These totals are stored: the execution of `context`, the execution of `other`, and the
        // execution of `other` on behalf of `context`.
        const TOTALS: usize = 3;
        for (kept, stored) in [(0, TOTALS), (MAX_TOTALS - 1, TOTALS), (MAX_TOTALS, 0)] {
            let mut table = JobTable { kept, ..JobTable::new(1) };
            let now = Now { context, ticks: 7, accounts: &accounts, preemptions: 0 };
            table.take(Change::Released, &now);
            assert_eq!(table.kept, kept + stored);
            table.take(Change::Done, &now);
            assert_eq!(table.kept, kept);
            let (rows, _) = table.finish(1);
            assert_eq!(rows[0].parts.is_some(), stored > 0);
        }
    }

    #[test]
    fn jobs_on_several_cores_have_no_parts() {
        let accounts = Accounts::default();
        for (cores, has_parts) in [(1, true), (2, false)] {
            let mut table = JobTable::new(1);
            let context = ContextId(0);
            let now = Now { context, ticks: 7, accounts: &accounts, preemptions: 0 };
            table.take(Change::Released, &now);
            table.take(Change::Done, &now);
            assert_eq!(table.finish(cores).0[0].parts.is_some(), has_parts);
        }
    }

    #[test]
    fn jobs_beyond_the_room_for_them_are_counted() {
        let mut table = JobTable::new(2);
        let accounts = Accounts::default();
        for ticks in 0..3 {
            let context = ContextId(0);
            let now = Now { context, ticks, accounts: &accounts, preemptions: 0 };
            table.take(Change::Released, &now);
            table.take(Change::Done, &now);
        }
        let (rows, more) = table.finish(1);
        assert_eq!((rows.len(), more), (2, 1));
    }
}
