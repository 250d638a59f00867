//! Measures the execution time of tasks, including execution on behalf of other tasks.
//!
//! A task's interval begins when the scheduler's choice takes effect: immediately, or at the end of
//! the outermost interrupt. It ends when another choice takes effect or an interrupt begins. If a
//! task waits for an object, the holder of the object may run on behalf of the waiting task. This
//! time counts as execution of the running task, and is also added up separately.

use std::collections::HashMap;
use std::ops::Range;

use foldhash::fast::RandomState;

use super::per::PerContext;
use crate::analysis::total::Total;
use crate::model::{ContextId, OnBehalf, Running, Trace};

/// Execution of a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Execution {
    /// Ticks for which the task had the processor, excluding interrupts.
    pub ticks: u64,
    /// Nanoseconds for which the task had the processor; 0 if the clock's rate is unknown.
    pub nanoseconds: u64,
    /// The part of `ticks` in which the task ran on behalf of another task.
    pub for_other_ticks: u64,
    /// Number of times that the task got the processor.
    pub dispatches: u64,
}

/// Execution of all tasks.
#[derive(Clone, Debug, Default)]
pub(super) struct Executions {
    tasks: PerContext<Execution>,
    /// Ticks of tasks on cores other than core 0. The other ticks of a task are on core 0.
    elsewhere: HashMap<(ContextId, u16), u64, RandomState>,
}

impl Executions {
    /// Charges an interval of a core to the task that ran on the core in this interval.
    #[inline(always)]
    pub(super) fn charge(
        &mut self,
        trace: &Trace,
        cpu: u16,
        running: &Running<OnBehalf>,
        interval: Range<u64>,
    ) {
        let Some(task) = running.task().filter(|_| !running.in_interrupt()) else { return };
        let ticks = interval.end.saturating_sub(interval.start);
        let execution = self.tasks.at(task);
        execution.ticks.charge(ticks);
        execution.nanoseconds.charge(nanoseconds(trace, interval));
        if running.now().of.get() != Some(task) {
            execution.for_other_ticks.charge(ticks);
        }
        if cpu > 0 {
            self.elsewhere.entry((task, cpu)).or_default().charge(ticks);
        }
    }

    /// Begins a range. All tasks must have been charged up to its beginning.
    pub(super) fn restart(&mut self) {
        *self = Self::default();
    }

    /// Counts a dispatch of a task.
    #[inline]
    pub(super) fn dispatched(&mut self, task: ContextId) {
        self.tasks.at(task).dispatches += 1;
    }

    /// Returns the ticks of each task on each core on which it ran, in order of task and core.
    pub(super) fn by_core(&self) -> Vec<(ContextId, u16, u64)> {
        // The table contains only ticks on cores other than core 0, so a trace of one core needs no
        // table. All other ticks of a task were on core 0.
        let mut first: HashMap<ContextId, u64, RandomState> = HashMap::default();
        for (index, execution) in self.tasks.rows().iter().enumerate() {
            first.insert(ContextId(index as u32), execution.ticks);
        }
        let mut rows = Vec::with_capacity(first.len() + self.elsewhere.len());
        for ((task, cpu), ticks) in &self.elsewhere {
            let rest = first.entry(*task).or_default();
            *rest = rest.saturating_sub(*ticks);
            rows.push((*task, *cpu, *ticks));
        }
        rows.extend(first.into_iter().map(|(task, ticks)| (task, 0, ticks)));
        rows.retain(|(_, _, ticks)| *ticks > 0);
        rows.sort_unstable();
        rows
    }

    pub(super) fn of(&mut self, task: ContextId) -> &Execution {
        self.tasks.at(task)
    }
}

/// Returns the duration of an interval in nanoseconds: the time at its end minus the time at its
/// beginning.
#[inline]
pub(super) fn nanoseconds(trace: &Trace, interval: Range<u64>) -> u64 {
    if !trace.clock.is_known() {
        return 0;
    }
    let at = |ticks| trace.clock.nanoseconds(ticks).unwrap_or(0);
    at(interval.end).saturating_sub(at(interval.start))
}
