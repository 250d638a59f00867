//! The time of each core: tasks, interrupts, idle time, unknown time.

use crate::model::{OnBehalf, Running};

/// The time of a core in ticks. All parts together are the trace's span without its gaps.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CoreTime {
    /// Its number.
    pub core: u16,
    /// Tasks ran.
    pub tasks: u64,
    /// Interrupts were served.
    pub interrupts: u64,
    /// No task was ready to run, by an event. A system with an idle task has that task instead.
    pub idle: u64,
    /// No event says what ran.
    pub unknown: u64,
}

/// The state of a core while events come.
#[derive(Debug, Default)]
pub(super) struct Core {
    pub(super) running: Running<OnBehalf>,
    /// Ticks from which on what runs has not been charged to its execution yet.
    pub(super) since: u64,
    /// The same for the accounts.
    accounted: u64,
    /// True after an event said that no task is ready to run.
    idle: bool,
    spent: CoreTime,
}

impl Core {
    /// Charges the time up to now to what the core does; returns how many ticks it was.
    pub(super) fn account(&mut self, now: u64) -> u64 {
        let ticks = now.saturating_sub(self.accounted);
        self.accounted = now;
        if self.running.in_interrupt() {
            self.spent.interrupts += ticks;
        } else if self.running.task().is_some() {
            self.spent.tasks += ticks;
        } else if self.idle {
            self.spent.idle += ticks;
        }
        ticks
    }

    /// Notes an event that was followed; `idles`: it says that no task is ready to run.
    pub(super) fn note_idle(&mut self, idles: bool) {
        self.idle = (idles || self.idle) && self.running.task().is_none();
    }

    /// Forgets what the core does: events are missing after this time.
    pub(super) fn gap(&mut self, before: u64) {
        *self = Self { since: before, accounted: before, spent: self.spent, ..Self::default() };
    }

    /// Returns the time of the core, of which `known` ticks are known.
    pub(super) fn time(&self, core: u16, known: u64) -> CoreTime {
        let CoreTime { tasks, interrupts, idle, .. } = self.spent;
        let unknown = known.saturating_sub(tasks + interrupts + idle);
        CoreTime { core, tasks, interrupts, idle, unknown }
    }
}
