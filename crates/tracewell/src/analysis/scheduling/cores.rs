//! Divides the time of each core into tasks, interrupts, idle time and unknown time.

use crate::analysis::total::{Total, total};
use crate::model::{OnBehalf, Running};

/// The use of a core's time, in ticks. The parts add up to the trace's span without its gaps.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CoreTime {
    /// Number of the core.
    pub core: u16,
    /// Ticks in which tasks ran.
    pub tasks: u64,
    /// Ticks in which interrupts were served.
    pub interrupts: u64,
    /// Ticks for which an event reports that no task was ready to run. If the system has an idle
    /// task, the ticks of this task are in `tasks` instead.
    pub idle: u64,
    /// Ticks in which the running context is unknown.
    pub unknown: u64,
}

/// The state of a core.
#[derive(Clone, Debug, Default)]
pub(super) struct Core {
    pub(super) running: Running<OnBehalf>,
    /// The time, in ticks, up to which execution has been charged.
    pub(super) since: u64,
    /// Ticks up to which the accounts have been charged.
    accounted: u64,
    /// True after an event reported that no task is ready to run.
    idle: bool,
    spent: CoreTime,
}

impl Core {
    /// Charges the time up to `now` to the current activity. Returns the number of ticks.
    #[inline(always)]
    pub(super) fn account(&mut self, now: u64) -> u64 {
        let ticks = now.saturating_sub(self.accounted);
        self.accounted = now;
        if self.running.in_interrupt() {
            self.spent.interrupts.charge(ticks);
        } else if self.running.task().is_some() {
            self.spent.tasks.charge(ticks);
        } else if self.idle {
            self.spent.idle.charge(ticks);
        }
        ticks
    }

    /// Returns the ticks up to `now` that have not been charged yet.
    #[inline(always)]
    pub(super) fn uncharged(&self, now: u64) -> u64 {
        now.saturating_sub(self.accounted)
    }

    /// Handles an event. `idles` is true if the event reports that no task is ready to run. Returns
    /// true if the core becomes idle or stops being idle.
    #[inline]
    pub(super) fn note_idle(&mut self, idles: bool) -> bool {
        let idle = (idles || self.idle) && self.running.task().is_none();
        std::mem::replace(&mut self.idle, idle) != idle
    }

    /// Handles evidence that it is unknown whether a task is ready. Returns true if the core was
    /// idle.
    pub(super) fn stop_idle(&mut self) -> bool {
        std::mem::take(&mut self.idle)
    }

    /// Returns true if an event has reported that no task is ready to run.
    pub(super) const fn is_idle(&self) -> bool {
        self.idle
    }

    /// Begins a range at `from`. The core must have been charged up to `from`.
    pub(super) fn restart(&mut self, from: u64) {
        (self.since, self.spent) = (from, CoreTime::default());
    }

    /// Sets the current activity to unknown, because events are missing after `before`.
    pub(super) fn gap(&mut self, before: u64) {
        *self = Self { since: before, accounted: before, spent: self.spent, ..Self::default() };
    }

    /// Returns the time of the core. `known` is the number of ticks outside of gaps.
    pub(super) fn time(&self, core: u16, known: u64) -> CoreTime {
        let CoreTime { tasks, interrupts, idle, .. } = self.spent;
        let unknown = known.saturating_sub(total([tasks, interrupts, idle]));
        CoreTime { core, tasks, interrupts, idle, unknown }
    }
}
