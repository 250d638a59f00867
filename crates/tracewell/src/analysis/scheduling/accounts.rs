//! Adds up times in running totals. The parts of an interval are the totals at its end minus the
//! totals at its beginning.
//!
//! Every tick of a core is in exactly one total. In each tick, either a task ran for itself, a task
//! ran on behalf of another, an interrupt ran, or none of these ran. If none of these ran, the core
//! was idle without an idle task, or the trace does not show which context ran.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::per::PerContext;
use crate::analysis::total::{Total, total};
use crate::model::{ContextId, OnBehalf, Running};

/// Maximum number of tasks. If a system has more tasks, the parts of jobs are not determined.
/// Systems have some hundreds of tasks; only damaged traces have more.
const MAX_TASKS: usize = 4096;

/// The totals of all tasks.
#[derive(Clone, Debug, Default)]
pub(super) struct Accounts {
    ran: PerContext<u64>,
    /// Per task, the ticks of tasks that ran on its behalf.
    behalf: PerContext<HashMap<ContextId, u64, RandomState>>,
    /// Per task, the sum of these ticks.
    blocked: PerContext<u64>,
    interrupts: u64,
    unattributed: u64,
}

/// The parts of an interval, in ticks, from the point of view of one task. In contrast to
/// [`Parts`], the other tasks are not listed one by one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Split {
    /// Ticks in which the task ran.
    pub own: u64,
    /// Ticks in which other tasks ran on behalf of the task. These tasks hold an object for which
    /// the task waits.
    pub blocking: u64,
    /// Ticks in which other tasks ran, but not on behalf of the task.
    pub interference: u64,
    /// Ticks in which interrupts were served.
    pub interrupts: u64,
    /// Ticks in which no task ran, or in which the running task is unknown.
    pub unattributed: u64,
}

impl Split {
    pub(super) fn add(&mut self, other: Self) {
        self.own.charge(other.own);
        self.blocking.charge(other.blocking);
        self.interference.charge(other.interference);
        self.interrupts.charge(other.interrupts);
        self.unattributed.charge(other.unattributed);
    }
}

/// A copy of the totals at a point in time, from the point of view of one task.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Moment {
    ran: Vec<u64>,
    behalf: HashMap<ContextId, u64, RandomState>,
    interrupts: u64,
    unattributed: u64,
}

impl Moment {
    /// Returns the number of stored totals.
    pub(super) fn size(&self) -> usize {
        self.ran.len() + self.behalf.len()
    }
}

/// The parts of an interval, in ticks, from the point of view of one task. They add up to the whole
/// interval.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Parts {
    /// Ticks in which the task ran for itself or on behalf of others.
    pub own: u64,
    /// Ticks in which other tasks ran on behalf of the task. These tasks hold an object for which
    /// the task waits.
    pub blocking: u64,
    /// The other tasks that ran and the ticks of each, in order of context ids.
    pub others: Vec<(ContextId, u64)>,
    /// Ticks in which interrupts were served.
    pub interrupts: u64,
    /// Ticks in which no task ran, or in which the running task is unknown.
    pub unattributed: u64,
}

impl Parts {
    /// Returns the ticks in which other tasks ran, but not on behalf of this task.
    pub fn interference(&self) -> u64 {
        total(self.others.iter().map(|(_, ticks)| *ticks))
    }

    /// Returns the sum of all parts.
    pub fn whole(&self) -> u64 {
        let Self { own, blocking, interrupts, unattributed, .. } = *self;
        total([own, blocking, self.interference(), interrupts, unattributed])
    }
}

impl Accounts {
    /// Charges `ticks` to the task or interrupt that ran.
    #[inline(always)]
    pub(super) fn charge(&mut self, running: &Running<OnBehalf>, ticks: u64) {
        if running.in_interrupt() {
            self.interrupts.charge(ticks);
            return;
        }
        let Some(task) = running.task() else {
            self.unattributed.charge(ticks);
            return;
        };
        self.ran.at(task).charge(ticks);
        // If a task runs on behalf of another task, the ticks are charged as execution of the
        // running task and as blocking of the other task.
        if let Some(of) = running.now().of.get().filter(|of| *of != task) {
            self.charge_behalf(task, of, ticks);
        }
    }

    #[inline(never)]
    fn charge_behalf(&mut self, task: ContextId, of: ContextId, ticks: u64) {
        self.behalf.at(of).entry(task).or_default().charge(ticks);
        self.blocked.at(of).charge(ticks);
    }

    /// Returns the ticks for which a task ran.
    #[inline]
    pub(super) fn ran(&self, task: ContextId) -> u64 {
        self.ran.get(task).copied().unwrap_or(0)
    }

    /// Returns the ticks for which a task ran, or for which another task ran on its behalf.
    pub(super) fn served(&self, task: ContextId) -> u64 {
        self.ran(task).saturating_add(self.blocked.get(task).copied().unwrap_or(0))
    }

    /// Returns the current totals from the point of view of a task. [`Accounts::split`] adds
    /// interference.
    #[inline]
    pub(super) fn totals(&self, task: ContextId) -> Split {
        let blocking = self.blocked.get(task).copied().unwrap_or(0);
        let (own, interrupts, unattributed) = (self.ran(task), self.interrupts, self.unattributed);
        Split { own, blocking, interference: 0, interrupts, unattributed }
    }

    /// Divides an interval of `ticks` ticks into its parts. `before` holds the totals at the
    /// beginning of the interval.
    pub(super) fn split(&self, task: ContextId, before: Split, ticks: u64) -> Split {
        let now = self.totals(task);
        let (own, blocking) = (now.own - before.own, now.blocking - before.blocking);
        let (interrupts, unattributed) =
            (now.interrupts - before.interrupts, now.unattributed - before.unattributed);
        // On several cores, the parts can exceed the whole, because tasks ran at the same time.
        let interference = ticks.saturating_sub(total([own, blocking, interrupts, unattributed]));
        Split { own, blocking, interference, interrupts, unattributed }
    }

    /// Returns the current totals for a task, or `None` if there are too many tasks.
    pub(super) fn moment(&self, task: ContextId) -> Option<Moment> {
        let ran = self.ran.rows();
        let behalf = self.behalf.get(task).cloned().unwrap_or_default();
        let (interrupts, unattributed) = (self.interrupts, self.unattributed);
        (ran.len() <= MAX_TASKS).then(|| Moment {
            ran: ran.to_vec(),
            behalf,
            interrupts,
            unattributed,
        })
    }

    /// Returns the parts of the time since `moment` from the point of view of a task.
    pub(super) fn since(&self, moment: &Moment, task: ContextId) -> Parts {
        let mut parts = Parts {
            interrupts: self.interrupts - moment.interrupts,
            unattributed: self.unattributed - moment.unattributed,
            ..Parts::default()
        };
        let behalf = self.behalf.get(task);
        for (index, ran) in self.ran.rows().iter().enumerate() {
            let other = ContextId(index as u32);
            // If a task has no totals at `moment`, it had not run by then.
            let ran = ran - moment.ran.get(index).copied().unwrap_or(0);
            let for_it = behalf.and_then(|by| by.get(&other)).copied().unwrap_or(0);
            let for_it = for_it - moment.behalf.get(&other).copied().unwrap_or(0);
            parts.blocking.charge(for_it);
            // `own` includes the ticks in which the task ran on behalf of others.
            match ran.saturating_sub(for_it) {
                _ if other == task => parts.own = ran,
                0 => {}
                ticks => parts.others.push((other, ticks)),
            }
        }
        parts
    }
}
