//! Who asked for a mutex and had to wait.
//!
//! A request that the scheduler answers by running another task on behalf of the one that asked is
//! blocked; the wait ends when that one is run next. Two requests of a task for the same mutex with nothing
//! between are one: some protocols log it twice.

use super::is_cause;
use super::per::PerContext;
use super::step::Step;
use crate::analysis::Range;
use crate::model::{ContextId, Meaning, OnBehalf, Running};

/// Requests of a task for mutexes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Locks {
    /// Requests.
    pub requests: u64,
    /// Requests that had to wait.
    pub blocks: u64,
    /// From a request to being run again, in ticks, of waits that ended in the trace.
    pub wait: Range,
}

#[derive(Debug, Default)]
struct Task {
    figures: Locks,
    /// When it asked for what it waits for.
    waits_since: Option<u64>,
}

/// Follows requests for mutexes.
#[derive(Debug, Default)]
pub(super) struct Requests {
    tasks: PerContext<Task>,
    /// The event before, if it was a request: whose, and for what.
    before: Option<(ContextId, Option<u64>)>,
    /// The last event that can be why the scheduler chooses, if it was a request: whose, and when.
    last: Option<(ContextId, u64)>,
}

impl Requests {
    pub(super) fn take(&mut self, step: &Step, before: &Running<OnBehalf>) {
        let request = match (step.meaning, step.subject) {
            (Some(Meaning::Lock), Some(task)) => Some((task, step.object)),
            _ => None,
        };
        let again = request.is_some() && self.before == request;
        self.before = request;
        if again {
            return;
        }
        if let Some((task, _)) = request {
            self.tasks.at(task).figures.requests += 1;
        }
        if step.chooses() {
            self.chosen(step, before);
        }
        if is_cause(step.meaning) {
            self.last = request.map(|(task, _)| (task, step.ticks));
        }
    }

    fn chosen(&mut self, step: &Step, before: &Running<OnBehalf>) {
        if let Some(next) = step.next {
            let task = self.tasks.at(next);
            if let Some(since) = task.waits_since.take() {
                task.figures.wait.add(step.ticks.saturating_sub(since));
            }
        }
        let Some((asked, ticks)) = self.last else { return };
        let waits = step.subject == Some(asked) && step.next != Some(asked);
        if waits && before.task() == Some(asked) {
            let task = self.tasks.at(asked);
            task.figures.blocks += 1;
            task.waits_since = Some(ticks);
        }
    }

    /// Events are missing: waits have no known end.
    pub(super) fn gap(&mut self) {
        self.tasks.all().for_each(|task| task.waits_since = None);
        (self.before, self.last) = (None, None);
    }

    pub(super) fn of(&mut self, task: ContextId) -> Locks {
        self.tasks.at(task).figures
    }
}
