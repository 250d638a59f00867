//! Who had the processor, how long, on whose behalf.
//!
//! An interval of a task begins where the scheduler's choice of it takes effect (at once, or at the
//! end of the outermost interrupt) and ends where another choice does or an interrupt begins. Time in which a task runs
//! because another waits for something that it holds is its own execution, and counted apart.

use std::collections::HashMap;
use std::ops::Range;

use foldhash::fast::RandomState;

use super::per::PerContext;
use crate::model::{ContextId, OnBehalf, Running, Trace};

/// Execution of a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Execution {
    /// Ticks for which it had the processor, interrupts left out.
    pub ticks: u64,
    /// The same in nanoseconds; 0 where the clock's rate is not known.
    pub nanoseconds: u64,
    /// Ticks of these that it ran on behalf of another.
    pub for_other_ticks: u64,
    /// How often it got the processor from another, or from nobody.
    pub dispatches: u64,
}

/// Execution of all tasks.
#[derive(Debug, Default)]
pub(super) struct Executions {
    tasks: PerContext<Execution>,
    /// Ticks of tasks on cores other than the first, which has the rest.
    elsewhere: HashMap<(ContextId, u16), u64, RandomState>,
}

impl Executions {
    /// Charges an interval of a core to whoever ran in it.
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
        execution.ticks += ticks;
        execution.nanoseconds += nanoseconds(trace, interval);
        if running.now().of.get() != Some(task) {
            execution.for_other_ticks += ticks;
        }
        if cpu > 0 {
            *self.elsewhere.entry((task, cpu)).or_default() += ticks;
        }
    }

    /// A task got the processor.
    pub(super) fn dispatched(&mut self, task: ContextId) {
        self.tasks.at(task).dispatches += 1;
    }

    /// The ticks of each task on each core that it ran on, in order of both.
    pub(super) fn by_core(&self) -> Vec<(ContextId, u16, u64)> {
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

/// Nanoseconds of an interval: the difference of the times of its ends.
pub(super) fn nanoseconds(trace: &Trace, interval: Range<u64>) -> u64 {
    let at = |ticks| trace.clock.nanoseconds(ticks).unwrap_or(0);
    at(interval.end).saturating_sub(at(interval.start))
}
