//! Compares jobs with the known period and deadline of their task.
//!
//! For a period T, release number n, counted from 0, is expected n × T after release number 0. The
//! same applies to completions. The jitter is the largest distance from the expected time. A
//! response is late if it is longer than the deadline, which is relative to the release. Kernels
//! record missed deadlines only if they are configured to check them.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::jobs::Change;
use super::moments::Position;
use super::per::PerContext;
use super::subject::Subject;
use crate::analysis::measured::{Distributions, Measure};
use crate::model::{ContextId, Trace};

/// The known period and deadline of a task, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Expected {
    /// Time between releases, in nanoseconds.
    pub period: Option<u64>,
    /// Time from a release to the latest allowed completion.
    pub deadline: Option<u64>,
}

/// The result of comparing a task with its known timing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Timing {
    /// The known timing with which the task was compared.
    pub expected: Expected,
    /// Release jitter in nanoseconds: the largest distance from the expected time.
    pub release_jitter: Option<u64>,
    /// Completion jitter, in nanoseconds.
    pub completion_jitter: Option<u64>,
    /// Number of jobs whose response time exceeded the deadline.
    pub late: u64,
}

/// The times of an event that should occur once per period, compared with the expected times.
#[derive(Clone, Copy, Debug, Default)]
struct Series {
    /// The next expected time, which is the first time plus a whole number of periods.
    next: Option<u64>,
    jitter: Option<u64>,
}

impl Series {
    /// Adds a time. Returns the difference between this time and the expected time.
    fn add(&mut self, at: u64, period: u64) -> u64 {
        let expected = self.next.unwrap_or(at);
        let distance = at.abs_diff(expected);
        self.jitter = Some(self.jitter.unwrap_or(0).max(distance));
        self.next = Some(expected.saturating_add(period));
        distance
    }
}

#[derive(Clone, Debug, Default)]
struct Task {
    /// `None` until it is looked up.
    expected: Option<Expected>,
    releases: Series,
    completions: Series,
    late: u64,
}

/// Follows the tasks with known timing.
#[derive(Clone, Debug, Default)]
pub(super) struct Timings {
    by_name: HashMap<String, Expected, RandomState>,
    tasks: PerContext<Task>,
    distributions: Distributions<Subject>,
}

impl Timings {
    pub(super) fn new(by_name: HashMap<String, Expected, RandomState>) -> Self {
        Self { by_name, ..Self::default() }
    }

    /// Returns true if no task has known timing.
    pub(super) fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// Handles the release of a job, or its completion after `response` nanoseconds. `now` is the
    /// time of the event in nanoseconds, and `at` is its position.
    pub(super) fn take(
        &mut self,
        trace: &Trace,
        context: ContextId,
        change: Change,
        now: u64,
        response: Option<u64>,
        at: Position,
    ) {
        let by_name = &self.by_name;
        let task = self.tasks.at(context);
        let expected = *task.expected.get_or_insert_with(|| look_up(trace, context, by_name));
        let series = match change {
            Change::Released => &mut task.releases,
            Change::Done => &mut task.completions,
            Change::Started | Change::Missed | Change::Dropped => return,
        };
        if let Some(period) = expected.period {
            let distance = series.add(now, period);
            if let Some(rate) = trace.clock.rate.filter(|_| change == Change::Released) {
                let ticks = rate.ticks(distance);
                self.distributions.add(Measure::Jitter, Subject::Task(context), ticks, at);
            }
        }
        // Without a release in the trace, it is unknown whether a response is late.
        let late = expected.deadline.zip(response).is_some_and(|(most, took)| took > most);
        task.late += u64::from(late);
    }

    /// Returns a task's deadline in nanoseconds after the release, or `None` if it is unknown.
    pub(super) fn deadline(&self, context: ContextId) -> Option<u64> {
        self.tasks.get(context)?.expected?.deadline
    }

    pub(super) fn distributions(&mut self) -> &mut Distributions<Subject> {
        &mut self.distributions
    }

    /// Begins a range: forgets the figures and keeps the expected times.
    pub(super) fn restart(&mut self) {
        for task in self.tasks.all() {
            (task.releases.jitter, task.completions.jitter, task.late) = (None, None, 0);
        }
    }

    /// Handles missing events. The next release counts as the first.
    pub(super) fn gap(&mut self) {
        self.tasks.all().for_each(Task::restart);
    }

    /// Handles the deletion of a task. The first release of a later task with the same context
    /// counts as the first.
    pub(super) fn deleted(&mut self, context: ContextId) {
        if !self.is_empty() {
            self.tasks.at(context).restart();
        }
    }

    pub(super) fn of(&self, context: ContextId) -> Timing {
        let Some(task) = self.tasks.get(context) else { return Timing::default() };
        Timing {
            expected: task.expected.unwrap_or_default(),
            release_jitter: task.releases.jitter,
            completion_jitter: task.completions.jitter,
            late: task.late,
        }
    }
}

impl Task {
    /// Lets the next release and the next completion count as the first.
    fn restart(&mut self) {
        (self.releases.next, self.completions.next) = (None, None);
    }
}

/// Looks up the known timing of a task by the task's name or, if the name is not found, by its key.
fn look_up(
    trace: &Trace,
    context: ContextId,
    by_name: &HashMap<String, Expected, RandomState>,
) -> Expected {
    let Some(context) = trace.contexts.get(context) else { return Expected::default() };
    let known = by_name.get(&context.name).or_else(|| by_name.get(&context.key_text));
    known.copied().unwrap_or_default()
}
