//! Counts contradictions in a trace. If there are any contradictions, the figures may be wrong.

use super::step::Step;
use crate::model::{Meaning, OnBehalf, Running};

/// Numbers of contradictions, by kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sanity {
    /// Number of interrupts for which the trace contains only the beginning or only the end.
    pub unmatched_brackets: u64,
    /// Number of context loads that contradict the scheduler's choice.
    pub disagreeing_loads: u64,
    /// Number of events that the schema does not define.
    pub unknown_events: u64,
    /// Number of events that have an earlier time than the previous event.
    pub backward_steps: u64,
    last: u64,
}

impl Sanity {
    /// Begins a range.
    pub(super) fn restart(&mut self) {
        *self = Self { last: self.last, ..Self::default() };
    }

    pub(super) fn take(&mut self, step: &Step, before: &Running<OnBehalf>, known: bool) {
        self.load(step, before);
        self.pass(step.ticks, known);
    }

    /// Compares the load of a context with the scheduler's choice.
    #[inline]
    pub(super) fn load(&mut self, step: &Step, before: &Running<OnBehalf>) {
        let runs = step.meaning == Some(Meaning::Runs) && !step.of_system;
        let loads = runs && !before.in_interrupt();
        let recorded = before.choices_recorded && before.task().is_some();
        self.disagreeing_loads += u64::from(loads && recorded && before.task() != step.subject);
    }

    /// Returns the time of the latest event.
    pub(super) const fn last(&self) -> u64 {
        self.last
    }

    /// Handles events that do not go back in time. `ticks` is the time of the last of them.
    #[inline(always)]
    pub(super) fn pass_until(&mut self, ticks: u64) {
        self.last = ticks;
    }

    /// Counts an event whose type the schema does not define. `known` is true if the schema defines
    /// it.
    #[inline(always)]
    pub(super) fn pass_kind(&mut self, known: bool) {
        self.unknown_events += u64::from(!known);
    }

    /// Handles an event that does not load a context.
    fn pass(&mut self, ticks: u64, known: bool) {
        self.pass_kind(known);
        self.backward_steps += u64::from(ticks < self.last);
        self.last = ticks;
    }
}
