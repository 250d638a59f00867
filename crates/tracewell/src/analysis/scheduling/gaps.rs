//! Positions at which events are missing. After a gap, the running context is unknown until an
//! event shows it.

use super::Scheduling;
use super::job_table::JobTable;
use super::moments::{Moments, Position};
use super::passages::Pair;
use crate::model::{Loss, Trace};

/// The gaps: the positions at which events are missing.
#[derive(Clone, Debug, Default)]
pub(super) struct Gaps {
    pub(super) count: u64,
    /// Ticks in all gaps.
    pub(super) ticks: u64,
    /// True if the next event is the first after a gap.
    pub(super) open: bool,
    /// True if the latest gap was a hole, and no event has shown the running context since then.
    pub(super) hole: bool,
    /// The previous event.
    pub(super) before: Position,
}

impl<M: Moments> Scheduling<M> {
    /// Handles missing events. The running context is unknown after the gap, and everything in
    /// progress ends.
    pub(super) fn gap(&mut self, trace: &Trace, loss: Option<&Loss>) {
        let before = self.gaps.before.ticks;
        self.charge_cores(trace, before);
        (self.calm, self.recorder) = (false, None);
        for (cpu, core) in (0..=u16::MAX).zip(&mut self.cores) {
            self.executions.charge(trace, cpu, &core.running, core.since..before);
            core.gap(before);
        }
        self.releases.gap();
        self.requests.gap();
        self.switches.gap();
        self.budgets.gap();
        self.brackets.gap(trace, before);
        self.timings.gap();
        self.times.gap();
        self.jobs.iter_mut().for_each(JobTable::gap);
        self.pairs.iter_mut().for_each(Pair::gap);
        self.gaps.count += u64::from(!self.gaps.open);
        self.gaps.open = true;
        self.moments.gap(self.gaps.before, loss);
    }
}
