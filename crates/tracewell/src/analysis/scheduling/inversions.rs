//! Priority inversion: a task waits for a mutex while one runs that is less urgent and does not own it.
//!
//! Deadlines, which come from outside ([`super::Expected`]), say which of two tasks is more urgent; so do their
//! priorities, which some systems record with each event; a smaller number is more urgent. Both are reckoned, each if it
//! is known of the task that waits. While the owner runs, or another on behalf of the task that waits, nothing is
//! inverted: that time is bounded by what the owner does with the mutex.

use super::per::PerContext;
use crate::model::ContextId;

/// Ticks for which a wait was inverted; `None` if how urgent its task is, is not known.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Inverted {
    pub(super) by_deadline: Option<u64>,
    pub(super) by_priority: Option<u64>,
}

impl Inverted {
    /// So many ticks passed in which `runs` ran while `task` waits; `helps`: as the owner, or on its behalf.
    pub(super) fn charge(
        &mut self,
        task: ContextId,
        runs: ContextId,
        helps: bool,
        ticks: u64,
        urgency: &Urgency,
        deadline: impl Fn(ContextId) -> Option<u64>,
    ) {
        if let Some(own) = deadline(task) {
            let urgent = deadline(runs).is_some_and(|deadline| deadline < own);
            let inverted = if helps || urgent { 0 } else { ticks };
            *self.by_deadline.get_or_insert(0) += inverted;
        }
        if let Some(by_priority) = self.by_priority.as_mut().filter(|_| !helps)
            && urgency.is_less(runs, task)
        {
            *by_priority += ticks;
        }
    }
}

/// The priorities of tasks, from their last events.
#[derive(Debug, Default)]
pub(super) struct Urgency {
    priorities: PerContext<Option<u16>>,
    known: bool,
}

impl Urgency {
    pub(super) fn note(&mut self, task: ContextId, priority: u16) {
        *self.priorities.at(task) = Some(priority);
        self.known = true;
    }

    /// Returns true if any priority is recorded.
    pub(super) fn is_known(&self) -> bool {
        self.known
    }

    fn of(&self, task: ContextId) -> Option<u16> {
        self.priorities.get(task).copied().flatten()
    }

    /// Returns true if one task is known to be less urgent than another.
    fn is_less(&self, task: ContextId, other: ContextId) -> bool {
        self.of(task).zip(self.of(other)).is_some_and(|(task, other)| task > other)
    }

    /// Returns true if the owner is known to be less urgent than the task that waits.
    pub(super) fn inverts(&self, task: ContextId, owner: Option<ContextId>) -> bool {
        owner.is_some_and(|owner| self.is_less(owner, task))
    }

    /// A wait of a task that begins.
    pub(super) fn inverted(&self, task: ContextId) -> Inverted {
        Inverted { by_deadline: None, by_priority: self.of(task).map(|_| 0) }
    }
}
