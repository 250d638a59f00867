//! Figures for a range of a trace. At the beginning of the range, the state reflects all earlier
//! events; only the figures start from zero.
//!
//! Sums, such as execution times, cover exactly the range. If a trace is divided into ranges, the
//! sums of the ranges add up to the sum of the whole trace. A duration, such as a response time,
//! belongs completely to the range in which it ends.

use super::moments::Moments;
use super::per::PerContext;
use super::{JobTable, Pair, Scheduling};
use crate::model::Trace;

impl<M: Moments> Scheduling<M> {
    /// Begins the range of the figures at a tick: forgets all figures so far and keeps the state.
    pub fn begin(&mut self, trace: &Trace, from: u64) {
        self.end_cores(trace, from);
        self.charge_cores(trace, from);
        self.cores.iter_mut().for_each(|core| core.restart(from));
        self.executions.restart();
        self.seen = PerContext::default();
        self.brackets.restart(from);
        self.releases.restart();
        self.jobs.iter_mut().for_each(JobTable::restart);
        self.timings.restart();
        self.restart_times();
        self.pairs.iter_mut().for_each(Pair::restart);
        self.switches.restart();
        self.requests.restart();
        self.budgets.restart(from);
        self.stacks.restart();
        self.filters.restart(from);
        self.sanity.restart();
        // If a gap has not ended yet, it is the first gap of the range.
        (self.gaps.count, self.gaps.ticks) = (u64::from(self.gaps.open), 0);
        self.gaps.before.ticks = from;
        (self.events, self.from) = (0, from);
    }

    /// Ends the range of the figures before a tick; `None` is the end of the trace.
    pub fn end(&mut self, until: Option<u64>) {
        self.until = until;
    }

    /// Charges budgets and cores up to the end of the range.
    pub(super) fn account_last(&mut self, until: u64) {
        for core in &mut self.cores {
            let ticks = core.account(until);
            self.budgets.charge(&core.running, ticks, until);
        }
    }
}
