//! Counts involuntary losses of the processor.
//!
//! The scheduler can replace the running task or, within an interrupt, the task that it chose most
//! recently. The replaced task is preempted in two cases: an interrupt is being served, or the
//! previous event was an activation, an unlock or the end of a device interrupt. In all other cases
//! the task released the processor itself: its job ended, the task ended, or the task waits or
//! sleeps. If the task's server has exhausted its budget since the task last got the processor, the
//! task is throttled, not preempted.

use super::kinds::is_cause;
use super::moments::Moments;
use super::per::{PerContext, PerCore};
use super::step::Step;
use crate::model::{ContextId, Meaning, OnBehalf, Running};

/// A task's involuntary losses of the processor.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Preemptions {
    /// Number of preemptions by another task, or at the end of a time slice.
    pub count: u64,
    /// Number of losses that occurred because the budget of the task's server was exhausted.
    pub throttled: u64,
}

#[derive(Clone, Debug, Default)]
struct Task {
    figures: Preemptions,
    /// The figures before the range.
    before: Preemptions,
    /// True if the task was deleted since it last got the processor.
    ended: bool,
    /// True if the budget of the task's server was exhausted since the task last got the processor.
    exhausted: bool,
}

/// Follows the switches between tasks.
#[derive(Clone, Debug, Default)]
pub(super) struct Switches {
    tasks: PerContext<Task>,
    /// True, for each core, if the next choice would be a preemption.
    preempting: PerCore<bool>,
}

impl Switches {
    /// Handles an event. `before` is the context that ran before the event. If the event reports
    /// that the budget of a server is exhausted, `served` is the task that this server serves.
    pub(super) fn take(
        &mut self,
        step: &Step,
        before: &Running<OnBehalf>,
        served: Option<ContextId>,
        moments: &mut impl Moments,
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
            self.chosen(step, before, moments);
        }
        self.pass(step);
    }

    /// Handles a choice of the scheduler. The event must not be an activation, an unlock or the end
    /// of an interrupt.
    #[inline]
    pub(super) fn choose(
        &mut self,
        step: &Step,
        before: &Running<OnBehalf>,
        moments: &mut impl Moments,
    ) {
        self.chosen(step, before, moments);
        self.pass_cause(step.cpu);
    }

    /// Handles a request, or an unlock if `unlocks` is true. The event does not choose a task.
    #[inline]
    pub(super) fn request(&mut self, cpu: u16, unlocks: bool) {
        *self.preempting.at(cpu) = unlocks;
    }

    /// Handles an event that chooses no task, concerns no budget and ends no task.
    #[inline]
    pub(super) fn pass(&mut self, step: &Step) {
        if is_cause(step.meaning) {
            *self.preempting.at(step.cpu) = makes_preemptions(step);
        }
    }

    /// Handles an event that can cause a choice. Such a choice is not a preemption.
    #[inline(always)]
    pub(super) fn pass_cause(&mut self, cpu: u16) {
        *self.preempting.at(cpu) = false;
    }

    #[inline]
    fn chosen(&mut self, step: &Step, before: &Running<OnBehalf>, moments: &mut impl Moments) {
        // If the scheduler chooses the same task again, no task loses the processor.
        let Some(loser) = before.coming().filter(|loser| step.next != Some(*loser)) else { return };
        let preempting = match step.meaning {
            // The event before a choice is the cause of the choice: an activation, an unlock or the
            // end of an interrupt.
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
            moments.preempted(loser);
        }
    }

    /// Stores that a task got the processor.
    #[inline]
    pub(super) fn dispatched(&mut self, task: ContextId) {
        let task = self.tasks.at(task);
        (task.ended, task.exhausted) = (false, false);
    }

    /// Handles missing events. After the gap, the cause of the next choice is unknown.
    pub(super) fn gap(&mut self) {
        self.preempting.all().for_each(|preempting| *preempting = false);
    }

    /// Returns the figures of a task in the whole trace.
    pub(super) fn of(&mut self, task: ContextId) -> Preemptions {
        self.tasks.at(task).figures
    }

    /// Returns the figures of a task in the range.
    pub(super) fn in_range(&mut self, task: ContextId) -> Preemptions {
        let Task { figures, before, .. } = self.tasks.at(task);
        Preemptions {
            count: figures.count - before.count,
            throttled: figures.throttled - before.throttled,
        }
    }

    /// Begins a range.
    pub(super) fn restart(&mut self) {
        self.tasks.all().for_each(|task| task.before = task.figures);
    }
}

/// Returns true if a choice directly after this event is a preemption. If the end of an interrupt
/// names the task that continues, the choice was made earlier.
fn makes_preemptions(step: &Step) -> bool {
    match step.meaning {
        Some(Meaning::InterruptExit) => !step.names_next,
        Some(Meaning::Activate | Meaning::Unlock) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Choice;

    const RUNS: ContextId = ContextId(0);
    const OTHER: ContextId = ContextId(1);

    /// Returns the losses of the task `RUNS`, which runs. The events occur one after the other, and
    /// then the scheduler chooses another task.
    fn losses(mut switches: Switches, events: &[Step]) -> (u64, u64) {
        let mut running = Running::default();
        running.choose(OnBehalf::of(RUNS.into()));
        let before = switches.of(RUNS);
        for step in events.iter().chain([&Step::about(Meaning::Schedule, OTHER)]) {
            switches.take(step, &running, None, &mut ());
        }
        let after = switches.of(RUNS);
        (after.count - before.count, after.throttled - before.throttled)
    }

    #[test]
    fn a_choice_is_a_preemption_if_the_event_before_it_caused_it() {
        use Meaning as M;
        let after = |meanings: &[M]| {
            let events: Vec<_> = meanings.iter().map(|is| Step::about(*is, OTHER)).collect();
            losses(Switches::default(), &events).0
        };
        for cause in [M::Activate, M::Unlock] {
            assert_eq!(after(&[cause]), 1, "{cause:?}");
            assert_eq!(after(&[cause, M::Post]), 0, "{cause:?}");
            // These events accompany the cause of a choice.
            for accompanies in [
                M::TimerSet,
                M::TimerCancelled,
                M::Release,
                M::ServerActive,
                M::BudgetReplenished,
                M::WcetExceeded,
                M::DeadlineMissed,
                M::Inherit,
            ] {
                assert_eq!(after(&[cause, accompanies]), 1, "{accompanies:?}");
            }
        }
        let end = Step { names_next: false, ..Step::about(M::InterruptExit, OTHER) };
        assert_eq!(losses(Switches::default(), &[end]).0, 1);
        let names_next = Step { names_next: true, ..end };
        assert_eq!(losses(Switches::default(), &[names_next]).0, 0);
        assert_eq!(after(&[]), 0);
    }

    #[test]
    fn the_cause_of_the_first_choice_after_a_gap_is_unknown() {
        let mut switches = Switches::default();
        switches.pass(&Step::about(Meaning::Activate, OTHER));
        assert_eq!(losses(switches.clone(), &[]), (1, 0));
        switches.gap();
        assert_eq!(losses(switches, &[]), (0, 0));
    }

    #[test]
    fn a_task_without_budget_is_throttled_until_it_gets_the_processor_again() {
        let exhausts = Step::about(Meaning::BudgetExhausted, OTHER);
        let activates = Step::about(Meaning::Activate, OTHER);
        let mut switches = Switches::default();
        assert_eq!(losses(switches.clone(), &[exhausts, activates]), (0, 1));
        switches.tasks.at(RUNS).exhausted = true;
        assert_eq!(losses(switches.clone(), &[activates]), (0, 1));
        switches.dispatched(RUNS);
        assert_eq!(losses(switches, &[activates]), (1, 0));
    }

    #[test]
    fn a_task_that_ended_is_not_preempted() {
        let ends = Step::about(Meaning::Delete, RUNS);
        let activates = Step::about(Meaning::Activate, OTHER);
        assert_eq!(losses(Switches::default(), &[ends, activates]), (0, 0));
        for begins in [Meaning::Create, Meaning::Exists] {
            let begins = Step::about(begins, RUNS);
            assert_eq!(losses(Switches::default(), &[ends, begins, activates]), (1, 0));
        }
    }
}
