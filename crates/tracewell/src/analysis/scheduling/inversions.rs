//! Measures priority inversion: while a task waits for a mutex, a less urgent task runs without
//! owning the mutex.
//!
//! Urgency is measured by deadlines or by priorities. The caller supplies deadlines
//! ([`super::Expected`]). Some systems record priorities with each event; a smaller number is more
//! urgent. Inversion by deadlines is computed if the waiting task's deadline is known, and
//! inversion by priorities if its priority is known. Time does not count as inversion while the
//! owner runs, or while a task runs on behalf of the waiting task. Such time is bounded, because it
//! ends when the owner releases the mutex.

use super::per::PerContext;
use crate::analysis::total::Total;
use crate::model::{ContextId, Trace};

/// Ticks of priority inversion during a wait; `None` if the urgency of the waiting task is
/// unknown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Inverted {
    pub(super) by_deadline: Option<u64>,
    pub(super) by_priority: Option<u64>,
}

impl Inverted {
    /// Returns the ticks of priority inversion, measured by priorities, or by deadlines if the
    /// task's priority is unknown.
    pub(super) fn ticks(&self) -> u64 {
        self.by_priority.or(self.by_deadline).unwrap_or(0)
    }

    /// Charges `ticks` ticks, in which `runs` was running and `task` was waiting. `helps` is true
    /// if `runs` is the owner or ran on behalf of `task`.
    pub(super) fn charge(
        &mut self,
        task: ContextId,
        runs: ContextId,
        helps: bool,
        ticks: u64,
        urgency: &Urgency,
        deadline: impl Fn(ContextId) -> Option<u64>,
    ) {
        // A running task without a deadline is less urgent than any task with a deadline.
        if let Some(own) = deadline(task) {
            let urgent = deadline(runs).is_some_and(|deadline| deadline < own);
            let inverted = if helps || urgent { 0 } else { ticks };
            self.by_deadline.get_or_insert(0).charge(inverted);
        }
        // If either priority is unknown, no inversion by priorities is charged.
        if let Some(by_priority) = self.by_priority.as_mut().filter(|_| !helps)
            && urgency.is_less(runs, task)
        {
            by_priority.charge(ticks);
        }
    }
}

/// The priority of each task, from the latest event that contains this priority.
#[derive(Clone, Debug, Default)]
pub(super) struct Urgency {
    priorities: PerContext<Option<u16>>,
    known: bool,
}

impl Urgency {
    pub(super) fn note(&mut self, task: ContextId, priority: u16) {
        *self.priorities.at(task) = Some(priority);
        self.known = true;
    }

    /// Returns true if this is already the known priority of the task.
    #[inline(always)]
    pub(super) fn is(&self, task: ContextId, priority: u16) -> bool {
        self.of(task) == Some(priority)
    }

    /// Returns true if the trace contains any priorities.
    pub(super) fn is_known(&self) -> bool {
        self.known
    }

    #[inline]
    fn of(&self, task: ContextId) -> Option<u16> {
        self.priorities.get(task).copied().flatten()
    }

    /// Returns true if one task is known to be less urgent than another.
    fn is_less(&self, task: ContextId, other: ContextId) -> bool {
        self.of(task).zip(self.of(other)).is_some_and(|(task, other)| task > other)
    }

    /// Returns true if the owner is known to be less urgent than the waiting task.
    pub(super) fn inverts(&self, task: ContextId, owner: Option<ContextId>) -> bool {
        owner.is_some_and(|owner| self.is_less(owner, task))
    }

    /// Returns the inversion at the start of a wait.
    pub(super) fn inverted(&self, task: ContextId) -> Inverted {
        Inverted { by_deadline: None, by_priority: self.of(task).map(|_| 0) }
    }
}

/// Returns a priority in the form in which requests compare it: a smaller number is more urgent.
#[inline(always)]
pub(super) fn urgency(trace: &Trace, priority: u16) -> u16 {
    if trace.larger_is_urgent { u16::MAX - priority } else { priority }
}
