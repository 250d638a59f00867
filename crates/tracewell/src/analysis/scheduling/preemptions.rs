//! Who lost the processor without giving it up.
//!
//! When the scheduler chooses another task than the one that runs (or, within an interrupt, was chosen last), that
//! one is preempted if an interrupt is being served, or if the event before was the end of a
//! device interrupt, an activation or an unlock. Otherwise it gave the processor up itself: its job
//! or it ended, it waits, it sleeps. A task whose server's budget was used up since it last got the
//! processor is throttled, not preempted.

use super::is_cause;
use super::per::{PerContext, PerCore};
use super::step::Step;
use crate::model::{ContextId, Meaning, OnBehalf, Running};

/// How a task lost the processor against its will.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Preemptions {
    /// To another task that became ready, or an end of its time slice.
    pub count: u64,
    /// Because its server's budget was used up.
    pub throttled: u64,
}

#[derive(Debug, Default)]
struct Task {
    figures: Preemptions,
    ended: bool,
    /// Whether its server's budget was used up since it last got the processor.
    exhausted: bool,
}

/// Follows the switches between tasks.
#[derive(Debug, Default)]
pub(super) struct Switches {
    tasks: PerContext<Task>,
    /// For each core: true if the last event that can be why the scheduler chooses again makes that a preemption.
    preempting: PerCore<bool>,
}

impl Switches {
    /// Takes an event with who ran before it; `served` is the task of the server whose budget it
    /// says is used up.
    pub(super) fn take(
        &mut self,
        step: &Step,
        before: &Running<OnBehalf>,
        served: Option<ContextId>,
    ) {
        match (step.meaning, step.subject) {
            (Some(Meaning::Delete), Some(task)) => self.tasks.at(task).ended = true,
            (Some(Meaning::Create | Meaning::Exists), Some(task)) => {
                self.tasks.at(task).ended = false;
            }
            (Some(Meaning::BudgetExhausted), _) => {
                if let Some(task) = before.now().of.get().or(served) {
                    self.tasks.at(task).exhausted = true;
                }
            }
            _ => {}
        }
        if step.chooses() {
            self.chosen(step, before);
        }
        if is_cause(step.meaning) {
            *self.preempting.at(step.cpu) = makes_preemptions(step);
        }
    }

    fn chosen(&mut self, step: &Step, before: &Running<OnBehalf>) {
        let Some(loser) = before.coming().filter(|loser| step.next != Some(*loser)) else { return };
        let preempting = match step.meaning {
            Some(Meaning::Schedule) => before.in_interrupt() || *self.preempting.at(step.cpu),
            Some(Meaning::Ready | Meaning::SliceExpired) => true,
            _ => false,
        };
        let task = self.tasks.at(loser);
        if !preempting || task.ended {
            return;
        }
        if task.exhausted {
            task.figures.throttled += 1;
        } else {
            task.figures.count += 1;
        }
    }

    /// A task got the processor.
    pub(super) fn dispatched(&mut self, task: ContextId) {
        self.tasks.at(task).exhausted = false;
    }

    /// Events are missing: why the next choice is made is not known.
    pub(super) fn gap(&mut self) {
        self.preempting.all().for_each(|preempting| *preempting = false);
    }

    pub(super) fn of(&mut self, task: ContextId) -> Preemptions {
        self.tasks.at(task).figures
    }
}

/// Whether a choice right after this event takes the processor from a task that wants it. An end of
/// an interrupt that names who continues has been chosen for before.
fn makes_preemptions(step: &Step) -> bool {
    match step.meaning {
        Some(Meaning::InterruptExit) => !step.tells_next,
        Some(Meaning::Activate | Meaning::Unlock) => true,
        _ => false,
    }
}
