//! Where time went: totals that only grow, so that what a time was spent on is the difference of the totals at
//! its ends.
//!
//! Every tick of a core is in exactly one total: of a task that ran for itself, of one that ran on
//! behalf of another, of interrupts, or of nobody (idle where idling is no task, or not known).

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::per::PerContext;
use crate::model::{ContextId, OnBehalf, Running};

/// Tasks of which each is looked at for every job. Systems have some hundreds; damage makes more.
const MOST_TASKS: usize = 4096;

/// The totals of all tasks.
#[derive(Debug, Default)]
pub(super) struct Accounts {
    ran: PerContext<u64>,
    /// For each task those that ran on its behalf.
    behalf: PerContext<HashMap<ContextId, u64, RandomState>>,
    /// The same for all of these together.
    blocked: PerContext<u64>,
    interrupts: u64,
    nobody: u64,
}

/// What a time was spent on, as seen by a task, all other tasks taken together.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Split {
    /// Ticks for which the task ran.
    pub own: u64,
    /// Ticks for which others ran on its behalf, for they hold what it waits for.
    pub blocking: u64,
    /// Ticks for which others ran, but on its behalf.
    pub interference: u64,
    /// Ticks of interrupts.
    pub interrupts: u64,
    /// Ticks for which nobody ran, or nothing tells who did.
    pub nobody: u64,
}

impl Split {
    pub(super) fn add(&mut self, other: Self) {
        self.own += other.own;
        self.blocking += other.blocking;
        self.interference += other.interference;
        self.interrupts += other.interrupts;
        self.nobody += other.nobody;
    }
}

/// The totals that matter to a task, at one moment.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Moment {
    ran: Vec<u64>,
    behalf: HashMap<ContextId, u64, RandomState>,
    interrupts: u64,
    nobody: u64,
}

impl Moment {
    /// Numbers that it holds.
    pub(super) fn size(&self) -> usize {
        self.ran.len() + self.behalf.len()
    }
}

/// What a time was spent on, in ticks, as seen by a task: the parts make the whole.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Parts {
    /// The task ran, for itself or for others.
    pub own: u64,
    /// Others ran on its behalf, for they hold what it waits for.
    pub blocking: u64,
    /// Other tasks ran, in order of their numbers; those without a tick are left out.
    pub others: Vec<(ContextId, u64)>,
    /// Interrupts were served.
    pub interrupts: u64,
    /// Nobody ran, or nothing tells who did.
    pub nobody: u64,
}

impl Parts {
    /// Ticks in which other tasks ran, but on its behalf.
    pub fn interference(&self) -> u64 {
        self.others.iter().map(|(_, ticks)| ticks).sum()
    }

    /// All parts together.
    pub fn whole(&self) -> u64 {
        self.own + self.blocking + self.interference() + self.interrupts + self.nobody
    }
}

impl Accounts {
    /// Charges so many ticks to whoever ran.
    pub(super) fn charge(&mut self, running: &Running<OnBehalf>, ticks: u64) {
        if running.in_interrupt() {
            self.interrupts += ticks;
            return;
        }
        let Some(task) = running.task() else {
            self.nobody += ticks;
            return;
        };
        *self.ran.at(task) += ticks;
        if let Some(of) = running.now().of.get().filter(|of| *of != task) {
            *self.behalf.at(of).entry(task).or_default() += ticks;
            *self.blocked.at(of) += ticks;
        }
    }

    /// Ticks for which a task ran.
    pub(super) fn ran(&self, task: ContextId) -> u64 {
        self.ran.get(task).copied().unwrap_or(0)
    }

    /// Ticks for which a task ran, or another ran on its behalf.
    pub(super) fn served(&self, task: ContextId) -> u64 {
        self.ran(task) + self.blocked.get(task).copied().unwrap_or(0)
    }

    /// The totals now as a task sees them, what interferes with it left to [`Accounts::split`].
    pub(super) fn totals(&self, task: ContextId) -> Split {
        let blocking = self.blocked.get(task).copied().unwrap_or(0);
        let (own, interrupts, nobody) = (self.ran(task), self.interrupts, self.nobody);
        Split { own, blocking, interference: 0, interrupts, nobody }
    }

    /// What so many ticks were spent on, at whose beginning the totals were these.
    pub(super) fn split(&self, task: ContextId, before: Split, ticks: u64) -> Split {
        let now = self.totals(task);
        let (own, blocking) = (now.own - before.own, now.blocking - before.blocking);
        let (interrupts, nobody) = (now.interrupts - before.interrupts, now.nobody - before.nobody);
        let interference = ticks.saturating_sub(own + blocking + interrupts + nobody);
        Split { own, blocking, interference, interrupts, nobody }
    }

    /// The totals now, as far as they matter to a task, one by one; none where there are too many tasks
    /// to be looked at for every job.
    pub(super) fn moment(&self, task: ContextId) -> Option<Moment> {
        let ran = self.ran.rows();
        let behalf = self.behalf.get(task).cloned().unwrap_or_default();
        let (interrupts, nobody) = (self.interrupts, self.nobody);
        (ran.len() <= MOST_TASKS).then(|| Moment { ran: ran.to_vec(), behalf, interrupts, nobody })
    }

    /// What the time since a moment was spent on, as seen by a task.
    pub(super) fn since(&self, moment: &Moment, task: ContextId) -> Parts {
        let mut parts = Parts {
            interrupts: self.interrupts - moment.interrupts,
            nobody: self.nobody - moment.nobody,
            ..Parts::default()
        };
        let behalf = self.behalf.get(task);
        for (index, ran) in self.ran.rows().iter().enumerate() {
            let other = ContextId(index as u32);
            let ran = ran - moment.ran.get(index).copied().unwrap_or(0);
            let for_it = behalf.and_then(|by| by.get(&other)).copied().unwrap_or(0);
            let for_it = for_it - moment.behalf.get(&other).copied().unwrap_or(0);
            parts.blocking += for_it;
            match ran - for_it {
                _ if other == task => parts.own = ran,
                0 => {}
                ticks => parts.others.push((other, ticks)),
            }
        }
        parts
    }
}
