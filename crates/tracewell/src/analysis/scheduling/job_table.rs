//! Each job by itself: when it was released, started and done, and what its response was spent on.
//!
//! A job whose release and completion the trace shows, with no gap between, has a row. Its response is made
//! of its execution, that of earlier jobs of its task which were not done when it was released, blocking (others
//! ran on its task's behalf), each other task's execution, interrupts, and time in which nobody ran: to
//! the tick. On several cores there is no such sum, for others run beside it; then a row has no parts.

use std::collections::VecDeque;

use super::accounts::{Accounts, Moment, Parts};
use super::jobs::Change;
use super::per::PerContext;
use crate::model::ContextId;

/// A job.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Job {
    /// Whose.
    pub context: ContextId,
    /// Which one of those that were done: 0 is the first.
    pub number: u64,
    /// Ticks of its release.
    pub release: u64,
    /// Ticks at which it ran for itself, the first time.
    pub start: Option<u64>,
    /// Ticks of its completion.
    pub completion: u64,
    /// Ticks for which it ran.
    pub execution: u64,
    /// Ticks for which earlier jobs of its task ran while it waited.
    pub earlier: u64,
    /// How often its task was preempted while it was the task's oldest job.
    pub preemptions: u64,
    /// What its response was spent on; `own` is `execution` and `earlier` together.
    pub parts: Option<Parts>,
    /// Ticks at which its deadline passed, where it did.
    pub missed: Option<u64>,
}

impl Job {
    /// From release to completion, in ticks.
    pub fn response(&self) -> u64 {
        self.completion.saturating_sub(self.release)
    }
}

/// Numbers that are kept of jobs that are not done; those released beyond have no parts.
const ROOM: usize = 1 << 22;

/// A job that is not done.
#[derive(Debug, Default)]
struct Open {
    release: u64,
    released: Option<Moment>,
    start: Option<u64>,
    missed: Option<u64>,
}

#[derive(Debug, Default)]
struct Task {
    waiting: VecDeque<Open>,
    done: u64,
    /// What its execution and preemptions were when its oldest job became that.
    ran: u64,
    preemptions: u64,
}

/// The rows of all jobs.
#[derive(Debug, Default)]
pub(super) struct JobTable {
    tasks: PerContext<Task>,
    /// Numbers that are kept of jobs that are not done.
    kept: usize,
    rows: Vec<Job>,
    /// Jobs that are kept one by one.
    room: usize,
    /// Jobs that found no room in `rows`.
    more: u64,
}

/// What is known of the subject of an event when it comes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Now<'a> {
    pub(super) context: ContextId,
    pub(super) ticks: u64,
    pub(super) accounts: &'a Accounts,
    /// Preemptions of the subject.
    pub(super) preemptions: u64,
}

impl JobTable {
    /// A table of at most so many jobs.
    pub(super) fn new(most: usize) -> Self {
        Self { room: most, ..Self::default() }
    }

    pub(super) fn take(&mut self, change: Change, now: &Now<'_>) {
        let task = self.tasks.at(now.context);
        match change {
            Change::Released => {
                let moment = now.accounts.moment(now.context).filter(|_| self.kept < ROOM);
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

    /// Events are missing: jobs that were not done have no rows.
    pub(super) fn gap(&mut self) {
        self.tasks.all().for_each(|task| task.waiting.clear());
        self.kept = 0;
    }

    /// The rows in order of completion; without parts where there were several cores.
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
        if self.waiting.is_empty() {
            self.next(now);
        }
        self.waiting.push_back(Open { release: now.ticks, released, ..Open::default() });
    }

    /// Another job is the oldest from here on.
    fn next(&mut self, now: &Now<'_>) {
        self.ran = now.accounts.ran(now.context);
        self.preemptions = now.preemptions;
    }

    fn done(&mut self, job: &Open, now: &Now<'_>) -> Job {
        let parts = job.released.as_ref().map(|moment| now.accounts.since(moment, now.context));
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
