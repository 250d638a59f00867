//! The three forms of a request for a mutex or a semaphore. `Ask` is a request that an event
//! contains. `Asked` is an open request: no event has shown yet whether it is granted. `Request` is
//! a blocked request. `locks` follows requests.

use super::accounts::Split;
use super::inversions::Inverted;
use super::moments::{Position, Wait};
use super::resources::Number;
use super::step::Step;
use crate::model::{ContextId, Meaning};

/// A request that an event contains.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ask {
    pub(super) task: ContextId,
    pub(super) key: Option<u64>,
    pub(super) is_mutex: bool,
    pub(super) kind: Option<u32>,
    pub(super) from: Position,
    /// How often the mutex is held, if the event says so.
    pub(super) holds: Option<u64>,
}

impl Ask {
    /// Returns the request of an event, or `None` if the event is no request of a known task.
    pub(super) fn of(step: &Step) -> Option<Self> {
        let is_mutex = match step.meaning? {
            Meaning::Lock => true,
            Meaning::Wait => false,
            _ => return None,
        };
        let (task, from) = (step.subject?, Position::of(step));
        let Step { object: key, object_kind: kind, holds, .. } = *step;
        Some(Self { task, key, is_mutex, kind, from, holds })
    }
}

/// A request. No event has shown yet whether it is granted or blocked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub(super) task: ContextId,
    pub(super) key: Option<u64>,
    pub(super) is_mutex: bool,
    pub(super) kind: Option<u32>,
    pub(super) from: Position,
    pub(super) totals: Split,
    /// The requested object, if the event names it.
    pub(super) resource: Option<Number>,
}

/// A blocked request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub(super) asked: Asked,
    pub(super) owner: Option<ContextId>,
    /// Ticks that the owner had run before the request; `None` if the owner is unknown, or if the
    /// trace shows on whose behalf tasks run.
    pub(super) owner_ran: Option<u64>,
    pub(super) inverted: Inverted,
    /// True if the owner had a lower priority when the wait began.
    pub(super) inverts: bool,
}

impl Asked {
    /// Returns true if the scheduler's choice does not show yet whether the request is blocked. The
    /// scheduler makes such a choice after a priority change of another task, and the requesting
    /// task continues.
    #[inline]
    pub(super) fn outlasts(&self, step: &Step) -> bool {
        matches!(step.meaning, Some(Meaning::Blocks | Meaning::Ready))
            && step.subject != Some(self.task)
            && (step.recorded_by, step.next) == (Some(self.task), Some(self.task))
    }
}

impl Request {
    /// Returns this wait in the form that consumers of moments receive.
    pub(super) fn wait(&self) -> Wait {
        let Asked { task, key, kind, is_mutex, from, .. } = self.asked;
        Wait { task, key, kind, is_mutex, owner: self.owner, from }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kernel changes the priority of the owner and records a choice for it, before it blocks
    /// the requesting task.
    #[test]
    fn only_a_choice_for_another_task_leaves_a_request_open() {
        let [task, other] = [0, 1].map(ContextId);
        let ask = Step { object: Some(7), ..Step::about(Meaning::Lock, task) };
        let Ask { task, key, is_mutex, kind, from, .. } = Ask::of(&ask).unwrap();
        let (totals, resource) = Default::default();
        let asked = Asked { task, key, is_mutex, kind, from, totals, resource };
        for meaning in [Meaning::Blocks, Meaning::Ready] {
            let (recorded_by, next) = (Some(task), Some(task));
            let step = Step { recorded_by, next, ..Step::about(meaning, other) };
            assert!(asked.outlasts(&step));
            assert!(!asked.outlasts(&Step { subject: Some(task), ..step }), "it blocks itself");
            assert!(!asked.outlasts(&Step { next: Some(other), ..step }), "it loses the processor");
            assert!(!asked.outlasts(&Step { recorded_by: None, ..step }), "an interrupt");
            assert!(!asked.outlasts(&Step { recorded_by: Some(other), ..step }), "another task");
            assert!(!asked.outlasts(&Step { meaning: Some(Meaning::Schedule), ..step }));
        }
    }
}
