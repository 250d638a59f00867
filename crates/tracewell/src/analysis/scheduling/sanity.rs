//! What does not fit together in a trace: the reader's grounds for doubt.

use super::step::Step;
use crate::model::{Meaning, OnBehalf, Running};

/// Counts of what does not fit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sanity {
    /// Interrupts that end without having begun, or the other way round.
    pub unmatched_brackets: u64,
    /// Loads of a context other than the one that runs by the scheduler's choices.
    pub disagreeing_loads: u64,
    /// Events that the schema does not know.
    pub unknown_events: u64,
    /// Events whose clock stands before that of the event before.
    pub backward_steps: u64,
    last: u64,
}

impl Sanity {
    pub(super) fn take(&mut self, step: &Step, before: &Running<OnBehalf>, known: bool) {
        let runs = step.meaning == Some(Meaning::Runs) && !step.of_system;
        let loads = runs && !before.in_interrupt();
        let told = before.choices_told && before.task().is_some();
        self.disagreeing_loads += u64::from(loads && told && before.task() != step.subject);
        self.unknown_events += u64::from(!known);
        self.backward_steps += u64::from(step.ticks < self.last);
        self.last = step.ticks;
    }
}
