//! Jobs against what is known of their task from outside: its period and its deadline.
//!
//! The jitter for a period T is the greatest distance of a release (or a completion) from the first one's time plus
//! as many periods as jobs came between. A response is late if it is longer than the deadline, which counts from the
//! release: records of misses exist only where the kernel was told to check.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::jobs::Change;
use super::per::PerContext;
use crate::model::{ContextId, Trace};

/// What is known of a task, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Expected {
    /// From a release to the next one.
    pub period: Option<u64>,
    /// From a release to when its job has to be done.
    pub deadline: Option<u64>,
}

/// How a task kept to what is known of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Timing {
    /// What that is.
    pub expected: Expected,
    /// Greatest distance of a release from its period, in nanoseconds.
    pub release_jitter: Option<u64>,
    /// The same of completions.
    pub completion_jitter: Option<u64>,
    /// Jobs whose response was longer than the deadline.
    pub late: u64,
}

/// Times that should come once a period.
#[derive(Clone, Copy, Debug, Default)]
struct Series {
    /// The next one, if all keep to the period of the first.
    next: Option<u64>,
    jitter: Option<u64>,
}

impl Series {
    fn add(&mut self, at: u64, period: u64) {
        let expected = self.next.unwrap_or(at);
        self.jitter = Some(self.jitter.unwrap_or(0).max(at.abs_diff(expected)));
        self.next = Some(expected.saturating_add(period));
    }
}

#[derive(Debug, Default)]
struct Task {
    /// `None` until it is looked for.
    expected: Option<Expected>,
    releases: Series,
    completions: Series,
    late: u64,
}

/// Follows the tasks of which something is known.
#[derive(Debug, Default)]
pub(super) struct Timings {
    by_name: HashMap<String, Expected, RandomState>,
    tasks: PerContext<Task>,
}

impl Timings {
    pub(super) fn new(by_name: HashMap<String, Expected, RandomState>) -> Self {
        Self { by_name, tasks: PerContext::default() }
    }

    /// Whether nothing is known of any task.
    pub(super) fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// A job was released, or done after so many nanoseconds; `now` is nanoseconds, too.
    pub(super) fn take(
        &mut self,
        trace: &Trace,
        context: ContextId,
        change: Change,
        now: u64,
        response: Option<u64>,
    ) {
        let by_name = &self.by_name;
        let task = self.tasks.at(context);
        let expected = *task.expected.get_or_insert_with(|| look_up(trace, context, by_name));
        let series = match change {
            Change::Released => &mut task.releases,
            Change::Done => &mut task.completions,
            Change::Started | Change::Missed => return,
        };
        if let Some(period) = expected.period {
            series.add(now, period);
        }
        let late = expected.deadline.zip(response).is_some_and(|(most, took)| took > most);
        task.late += u64::from(late);
    }

    /// A task's deadline.
    pub(super) fn deadline(&self, context: ContextId) -> Option<u64> {
        self.tasks.get(context)?.expected?.deadline
    }

    /// Events are missing: the next release is a first one.
    pub(super) fn gap(&mut self) {
        for task in self.tasks.all() {
            (task.releases.next, task.completions.next) = (None, None);
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

/// What is known of a task, by its name or its key.
fn look_up(
    trace: &Trace,
    context: ContextId,
    by_name: &HashMap<String, Expected, RandomState>,
) -> Expected {
    let Some(context) = trace.contexts.get(context) else { return Expected::default() };
    let known = by_name.get(&context.name).or_else(|| by_name.get(&context.key_text));
    known.copied().unwrap_or_default()
}
