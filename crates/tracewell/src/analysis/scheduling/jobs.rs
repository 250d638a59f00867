//! When jobs were released, started, done.
//!
//! A job is released by an activation, by a timer, or by both told one after the other before the
//! scheduler chooses again: that is one release, at the earlier moment. Releases of a task wait in a row;
//! a completion (or the end of the task while jobs wait) takes the oldest, and its response is the time between. A
//! completion without a release is an orphan. So is, in a trace that begins in the middle, the first
//! completion of a task that was chosen before any release of it was seen: its job began before.

use std::collections::VecDeque;

use super::execution::nanoseconds;
use super::per::PerContext;
use super::step::Step;
use crate::analysis::Range;
use crate::model::{ContextId, Meaning, Trace};

/// A trace that has its start among so many first events begins at the beginning: filters may be
/// set before.
const START_WITHIN: u64 = 8;

/// Jobs of a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Jobs {
    /// Releases.
    pub activations: u64,
    /// Jobs done, orphans included.
    pub completions: u64,
    /// Completions without a release in the trace.
    pub orphan_completions: u64,
    /// Jobs that were not done where events are missing. Of these nothing more is known; a completion
    /// behind the gap may be an orphan.
    pub across_gaps: u64,
    /// Jobs released and not done at the end of the trace.
    pub pending: u64,
    /// From release to completion, in ticks.
    pub response: Range,
    /// The longest response in nanoseconds; 0 where the clock's rate is not known.
    pub response_max_nanoseconds: u64,
    /// From release to being chosen first while running for itself, in ticks; a job that waits
    /// for an earlier one of its task starts after that.
    pub start_latency: Range,
    /// From a release to the next one, in ticks; [`Range::width`] is the release jitter.
    pub release_gap: Range,
    /// From a completion to the next one, in ticks; [`Range::width`] is the completion jitter.
    pub completion_gap: Range,
    /// Deadlines that passed before the job was done.
    pub deadline_misses: u64,
    /// From the deadline to completion, in ticks, of jobs that were done in the trace.
    pub lateness: Range,
    /// Jobs that took longer than they were said to at most.
    pub wcet_violations: u64,
}

/// What is followed of a task.
#[derive(Debug, Default)]
struct Task {
    jobs: Jobs,
    /// Releases of jobs that are not done, oldest first.
    waiting: VecDeque<u64>,
    /// Whether the oldest of them was chosen yet.
    started: bool,
    /// When the deadline of the oldest of them passed.
    missed: Option<u64>,
    last_release: Option<Release>,
    last_completion: Option<u64>,
    /// What was seen since the trace, or what is behind a gap, began.
    seen: Seen,
}

#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    release: bool,
    completion: bool,
    /// It was chosen before any release.
    chosen_before_release: bool,
}

#[derive(Clone, Copy, Debug)]
struct Release {
    ticks: u64,
    told_as: Meaning,
    /// Choices of the scheduler before it.
    choices: u64,
    /// Whether both ways of telling it were seen.
    told_twice: bool,
}

/// Follows the jobs of all tasks.
#[derive(Debug, Default)]
pub(super) struct Releases {
    tasks: PerContext<Task>,
    choices: u64,
    /// Whether the trace shows its own start.
    from_the_start: bool,
}

/// What an event means for the jobs of its subject.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Change {
    /// Another job waits.
    Released,
    /// The oldest job runs for itself, the first time.
    Started,
    /// The oldest job is done.
    Done,
    /// The deadline of the oldest job passed.
    Missed,
}

impl Releases {
    pub(super) fn take(&mut self, trace: &Trace, step: &Step) -> Option<Change> {
        let (meaning, subject) = (step.meaning?, step.subject?);
        let choices = self.choices;
        let from_the_start = self.from_the_start;
        let task = self.tasks.at(subject);
        match meaning {
            Meaning::TraceStart => {
                self.from_the_start |= step.seq < START_WITHIN;
                None
            }
            Meaning::Activate | Meaning::Release => task.release(step.ticks, meaning, choices),
            Meaning::Complete => task.complete(trace, step.ticks, from_the_start),
            Meaning::Delete if !task.waiting.is_empty() => {
                task.complete(trace, step.ticks, from_the_start)
            }
            Meaning::DeadlineMissed => task.deadline_missed(step.ticks),
            Meaning::WcetExceeded => {
                task.jobs.wcet_violations += 1;
                None
            }
            Meaning::Schedule => {
                self.choices += 1;
                task.chosen(step.ticks, step.next == Some(subject))
            }
            _ => None,
        }
    }

    /// Events are missing: nobody knows which jobs were done in between, so that the trace begins in
    /// the middle once more.
    pub(super) fn gap(&mut self) {
        self.from_the_start = false;
        self.tasks.all().for_each(Task::gap);
    }

    /// Ticks at which the oldest job of a task that is not done was released.
    pub(super) fn oldest(&self, task: ContextId) -> Option<u64> {
        self.tasks.get(task)?.waiting.front().copied()
    }

    pub(super) fn of(&mut self, task: ContextId) -> Jobs {
        let task = self.tasks.at(task);
        Jobs { pending: task.waiting.len() as u64, ..task.jobs }
    }
}

impl Task {
    fn release(&mut self, ticks: u64, told_as: Meaning, choices: u64) -> Option<Change> {
        if let Some(last) = &mut self.last_release {
            if last.told_as != told_as && last.choices == choices && !last.told_twice {
                last.told_twice = true;
                return None;
            }
            self.jobs.release_gap.add(ticks.saturating_sub(last.ticks));
        }
        self.last_release = Some(Release { ticks, told_as, choices, told_twice: false });
        self.jobs.activations += 1;
        self.seen.release = true;
        self.waiting.push_back(ticks);
        Some(Change::Released)
    }

    fn chosen(&mut self, ticks: u64, runs_itself: bool) -> Option<Change> {
        match self.waiting.front() {
            None if !self.seen.release => self.seen.chosen_before_release = true,
            Some(release) if runs_itself && !self.started => {
                self.started = true;
                self.jobs.start_latency.add(ticks.saturating_sub(*release));
                return Some(Change::Started);
            }
            _ => {}
        }
        None
    }

    fn complete(&mut self, trace: &Trace, ticks: u64, from_the_start: bool) -> Option<Change> {
        let first = !std::mem::replace(&mut self.seen.completion, true);
        let began_before = !from_the_start && first && self.seen.chosen_before_release;
        self.jobs.completions += 1;
        if let Some(last) = self.last_completion.replace(ticks) {
            self.jobs.completion_gap.add(ticks.saturating_sub(last));
        }
        let release = if began_before { None } else { self.waiting.pop_front() };
        let Some(release) = release else {
            self.jobs.orphan_completions += 1;
            return None;
        };
        self.started = false;
        self.jobs.response.add(ticks.saturating_sub(release));
        let spent = nanoseconds(trace, release..ticks);
        self.jobs.response_max_nanoseconds = self.jobs.response_max_nanoseconds.max(spent);
        if let Some(missed) = self.missed.take() {
            self.jobs.lateness.add(ticks.saturating_sub(missed));
        }
        Some(Change::Done)
    }

    fn gap(&mut self) {
        self.jobs.across_gaps += self.waiting.len() as u64;
        let jobs = self.jobs;
        *self = Self { jobs, ..Self::default() };
    }

    fn deadline_missed(&mut self, ticks: u64) -> Option<Change> {
        self.jobs.deadline_misses += 1;
        self.waiting.front()?;
        self.missed.get_or_insert(ticks);
        Some(Change::Missed)
    }
}
