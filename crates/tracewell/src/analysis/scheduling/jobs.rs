//! Follows the release, start and completion of jobs.
//!
//! A job is released by an activation or by a timer. If both occur before the next choice of the
//! scheduler, they count as one release at the earlier time. Releases of a task form a queue. A
//! completion removes the oldest release. The end of a task with pending jobs counts as a
//! completion. Its other pending jobs are dropped: a later task with the same context does not
//! complete them. The time from release to completion is the response time. A completion without a
//! release is an orphan. If a task was chosen before its first release, its first completion is
//! also an orphan. This does not apply if the trace shows the start of tracing.

use std::collections::VecDeque;

use super::execution::nanoseconds;
use super::missed::{Missed, WorstMisses};
use super::moments::{JobChange, Position};
use super::per::PerContext;
use super::step::Step;
use super::subject::Subject;
use crate::analysis::Range;
use crate::analysis::measured::{Distributions, Measure};
use crate::model::{ContextId, Meaning, Trace};

/// The start of tracing must be recorded within this number of events after the beginning of the
/// trace. Events that set filters may precede it.
const START_WITHIN: u64 = 8;

/// Jobs of a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Jobs {
    /// Number of releases. If an activation and a timer release the same job, they count as one
    /// release.
    pub activations: u64,
    /// Number of completed jobs, including orphans.
    pub completions: u64,
    /// Number of completions whose releases are not in the trace.
    pub orphan_completions: u64,
    /// Number of jobs that were pending when a gap began. Their completions are unknown, and a
    /// completion after the gap may be an orphan.
    pub across_gaps: u64,
    /// Number of jobs that are pending at the end of the trace.
    pub pending: u64,
    /// Response time in ticks, from release to completion.
    pub response: Range,
    /// The longest response time in nanoseconds; 0 if the clock's rate is unknown.
    pub response_max_nanoseconds: u64,
    /// Start latency in ticks: the time from the release until the scheduler first chooses the task
    /// on its own behalf. A job starts after earlier jobs of its task.
    pub start_latency: Range,
    /// Time between releases in ticks. [`Range::width`] is the release jitter.
    pub release_gap: Range,
    /// Time between completions in ticks. [`Range::width`] is the completion jitter.
    pub completion_gap: Range,
    /// Number of deadlines that passed before the completion of their jobs.
    pub deadline_misses: u64,
    /// Lateness in ticks: the time from the deadline to the completion, for late jobs that were
    /// completed in the trace.
    pub lateness: Range,
    /// Number of jobs that exceeded their worst-case execution time.
    pub wcet_violations: u64,
}

/// The state of a task.
#[derive(Clone, Debug, Default)]
struct Task {
    jobs: Jobs,
    /// Releases of pending jobs, oldest first.
    waiting: VecDeque<u64>,
    /// True if the oldest pending job has started.
    started: bool,
    /// Ticks at which the deadline of the oldest pending job passed.
    missed: Option<u64>,
    last_release: Option<Release>,
    last_completion: Option<u64>,
    /// Facts since the beginning of the trace or the latest gap.
    seen: Seen,
}

#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    release: bool,
    completion: bool,
    /// True if the task was chosen before any release.
    chosen_before_release: bool,
}

#[derive(Clone, Copy, Debug)]
struct Release {
    ticks: u64,
    recorded_as: Meaning,
    /// Number of the scheduler's choices before the release.
    choices: u64,
    /// True if an activation event and a timer event have both reported this release.
    seen_twice: bool,
}

/// Follows the jobs of all tasks.
#[derive(Clone, Debug, Default)]
pub(super) struct Releases {
    tasks: PerContext<Task>,
    choices: u64,
    /// True if the trace shows the start of tracing.
    from_the_start: bool,
    distributions: Distributions<Subject>,
    /// The worst missed deadlines, if they are listed.
    misses: Option<WorstMisses>,
}

/// An event's effect on the jobs of its subject.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Change {
    /// A job is released.
    Released,
    /// The oldest job runs for itself for the first time.
    Started,
    /// The oldest job is completed.
    Done,
    /// The oldest job has missed a deadline. The trace need not show this job.
    Missed,
    /// The task was deleted, and its pending jobs will not be completed.
    Dropped,
}

impl Change {
    /// Returns the change in the form that consumers of moments receive. Returns `None` for a
    /// start, because they receive no starts.
    pub(super) const fn moment(self) -> Option<JobChange> {
        match self {
            Self::Released => Some(JobChange::Released),
            Self::Started => None,
            Self::Done => Some(JobChange::Done),
            Self::Missed => Some(JobChange::Missed),
            Self::Dropped => Some(JobChange::Dropped),
        }
    }
}

impl Releases {
    /// Lists the worst missed deadlines.
    pub(super) fn keep_worst(&mut self, most: usize) {
        self.misses = Some(WorstMisses::new(most));
    }

    /// Returns the worst missed deadlines. `until` is the end of the trace or of the range, in
    /// ticks. A job that is still late at this time counts as late until then.
    pub(super) fn worst(&mut self, until: u64) -> Vec<Missed> {
        let Some(misses) = &mut self.misses else { return Vec::new() };
        for (index, task) in (0..).zip(self.tasks.rows()) {
            if let Some(missed) = task.missed {
                let (context, released) = (ContextId(index), task.waiting.front().copied());
                misses.offer(until, Missed { context, released, missed, until: None });
            }
        }
        misses.finish()
    }

    pub(super) fn take(&mut self, trace: &Trace, step: &Step) -> Option<Change> {
        let Some(subject) = step.subject.filter(|_| self.misses.is_some()) else {
            return self.follow(trace, step);
        };
        let task = self.tasks.at(subject);
        let job = (task.waiting.front().copied(), task.missed);
        let change = self.follow(trace, step);
        if let Some(misses) = &mut self.misses {
            misses.take(subject, step.ticks, change.and_then(Change::moment), job);
        }
        change
    }

    fn follow(&mut self, trace: &Trace, step: &Step) -> Option<Change> {
        let (meaning, subject) = (step.meaning?, step.subject?);
        let choices = self.choices;
        let from_the_start = self.from_the_start;
        let (task, distributions) = (self.tasks.at(subject), &mut self.distributions);
        let add = |measure, ticks| {
            distributions.add(measure, Subject::Task(subject), ticks, Position::of(step));
        };
        match meaning {
            Meaning::TraceStart => {
                self.from_the_start |= step.seq < START_WITHIN;
                None
            }
            Meaning::Activate | Meaning::Release => task.release(step.ticks, meaning, choices, add),
            Meaning::Complete => task.complete(trace, step.ticks, from_the_start, add),
            Meaning::Delete if !task.waiting.is_empty() => {
                task.complete(trace, step.ticks, from_the_start, add)
            }
            Meaning::DeadlineMissed => task.deadline_missed(step.ticks),
            Meaning::WcetExceeded => {
                task.jobs.wcet_violations += 1;
                None
            }
            Meaning::Schedule => {
                self.choices += 1;
                task.chosen(step.ticks, step.next == Some(subject), add)
            }
            _ => None,
        }
    }

    pub(super) fn distributions(&mut self) -> &mut Distributions<Subject> {
        &mut self.distributions
    }

    /// Begins a range: forgets the figures and keeps the pending jobs.
    pub(super) fn restart(&mut self) {
        self.tasks.all().for_each(|task| task.jobs = Jobs::default());
        self.misses.iter_mut().for_each(WorstMisses::restart);
    }

    /// Handles missing events. Afterwards, completions may lack their releases, as in a trace that
    /// begins while the system runs.
    pub(super) fn gap(&mut self) {
        self.from_the_start = false;
        self.tasks.all().for_each(Task::gap);
    }

    /// Handles the deletion of a task, after its oldest pending job is done. A later task with the
    /// same context has no pending jobs. Returns true if jobs are dropped.
    pub(super) fn deleted(&mut self, context: ContextId, now: u64) -> bool {
        let task = self.tasks.at(context);
        let dropped = task.deleted();
        if let (Some(misses), Some(missed)) = (&mut self.misses, dropped.missed) {
            let released = dropped.waiting.front().copied();
            misses.offer(now, Missed { context, released, missed, until: None });
        }
        !dropped.waiting.is_empty()
    }

    /// Returns the release time of a task's oldest pending job, in ticks.
    pub(super) fn oldest(&self, task: ContextId) -> Option<u64> {
        self.tasks.get(task)?.waiting.front().copied()
    }

    pub(super) fn of(&mut self, task: ContextId) -> Jobs {
        let task = self.tasks.at(task);
        Jobs { pending: task.waiting.len() as u64, ..task.jobs }
    }
}

impl Task {
    fn release(
        &mut self,
        ticks: u64,
        recorded_as: Meaning,
        choices: u64,
        mut add: impl FnMut(Measure, u64),
    ) -> Option<Change> {
        if let Some(last) = &mut self.last_release {
            // A timer event and an activation release the same job if no choice of the scheduler
            // occurs between these two events.
            if last.recorded_as != recorded_as && last.choices == choices && !last.seen_twice {
                last.seen_twice = true;
                return None;
            }
            let period = ticks.saturating_sub(last.ticks);
            self.jobs.release_gap.add(period);
            add(Measure::Period, period);
        }
        self.last_release = Some(Release { ticks, recorded_as, choices, seen_twice: false });
        self.jobs.activations += 1;
        self.seen.release = true;
        self.waiting.push_back(ticks);
        Some(Change::Released)
    }

    fn chosen(
        &mut self,
        ticks: u64,
        runs_itself: bool,
        mut add: impl FnMut(Measure, u64),
    ) -> Option<Change> {
        match self.waiting.front() {
            None if !self.seen.release => self.seen.chosen_before_release = true,
            Some(release) if runs_itself && !self.started => {
                self.started = true;
                let latency = ticks.saturating_sub(*release);
                self.jobs.start_latency.add(latency);
                add(Measure::StartLatency, latency);
                return Some(Change::Started);
            }
            _ => {}
        }
        None
    }

    fn complete(
        &mut self,
        trace: &Trace,
        ticks: u64,
        from_the_start: bool,
        mut add: impl FnMut(Measure, u64),
    ) -> Option<Change> {
        let first = !std::mem::replace(&mut self.seen.completion, true);
        // The job that was running when the trace began completes first. Its release is not in the
        // trace, so the oldest pending release belongs to a later job.
        let began_before = !from_the_start && first && self.seen.chosen_before_release;
        self.jobs.completions += 1;
        if let Some(last) = self.last_completion.replace(ticks) {
            let period = ticks.saturating_sub(last);
            self.jobs.completion_gap.add(period);
            add(Measure::CompletionPeriod, period);
        }
        let release = if began_before { None } else { self.waiting.pop_front() };
        let Some(release) = release else {
            self.jobs.orphan_completions += 1;
            return None;
        };
        self.started = false;
        let response = ticks.saturating_sub(release);
        self.jobs.response.add(response);
        add(Measure::Response, response);
        let spent = nanoseconds(trace, release..ticks);
        self.jobs.response_max_nanoseconds = self.jobs.response_max_nanoseconds.max(spent);
        if let Some(missed) = self.missed.take() {
            let lateness = ticks.saturating_sub(missed);
            self.jobs.lateness.add(lateness);
            add(Measure::Lateness, lateness);
        }
        Some(Change::Done)
    }

    fn gap(&mut self) {
        self.jobs.across_gaps += self.waiting.len() as u64;
        let jobs = self.jobs;
        *self = Self { jobs, ..Self::default() };
    }

    /// Removes and returns the state of a deleted task.
    fn deleted(&mut self) -> Self {
        let jobs = self.jobs;
        // A later task with the same context begins in the trace, so its first job does, too.
        let seen = Seen { completion: true, ..Seen::default() };
        std::mem::replace(self, Self { jobs, seen, ..Self::default() })
    }

    fn deadline_missed(&mut self, ticks: u64) -> Option<Change> {
        self.jobs.deadline_misses += 1;
        // The missed deadline of an orphan is counted, but no job exists that could store it.
        if !self.waiting.is_empty() {
            self.missed.get_or_insert(ticks);
        }
        Some(Change::Missed)
    }
}
