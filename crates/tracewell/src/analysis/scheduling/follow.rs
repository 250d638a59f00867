//! Passes each event to the parts of the analysis that it concerns.

use super::job_table::Now;
use super::jobs::Change;
use super::kinds::Class;
use super::moments::{Moments, Position, Recorded};
use super::step::Step;
use super::{Known, Scheduling};
use crate::model::{ContextId, ContextKind, Event, Meaning, OnBehalf, Running, Trace};

impl<M: Moments> Scheduling<M> {
    /// Passes an event to the parts of the analysis that its class concerns, and then updates the
    /// running context.
    pub(super) fn follow(&mut self, event: Event<'_>, step: &Step, (kind, facts): &Known<M>) {
        let Event { trace, row } = event;
        let Some(before) = self.cores.get(usize::from(row.cpu)).map(|core| core.running) else {
            return;
        };
        let deletion = self.deletion(event, step);
        let step = deletion.as_ref().unwrap_or(step);
        let is_thread = self.directory.kind(row.context) == Some(ContextKind::Thread);
        let recorded = Recorded {
            trace,
            id: row.id,
            at: Position::of(step),
            cpu: step.cpu,
            meaning: step.meaning,
            context: row.context,
            thread: is_thread.then_some(row.context),
            subject: step.subject,
        };
        self.moments.event(&recorded, facts, |index| event.argument(index));
        self.sanity.take(step, &before, kind.is_known);
        match kind.class {
            Class::Plain | Class::Load => self.pass(step),
            Class::Interrupt => self.interrupt(trace, step),
            Class::Lock | Class::Unlock | Class::Wait => {
                self.requests.take(step, &before, &self.accounts, &mut self.moments);
                self.switches.pass(step);
                self.budgets.pass();
            }
            Class::Choice => self.choice(trace, step, &before),
            Class::Job => self.job(trace, step, &before),
            Class::Other => {
                let served = self.budgets.task_of(step);
                self.requests.take(step, &before, &self.accounts, &mut self.moments);
                self.switches.take(step, &before, served, &mut self.moments);
                self.follow_jobs(trace, step);
                if let Some(task) = deletion.and_then(|step| step.subject) {
                    self.end_jobs(trace, step, task);
                }
                self.budgets.take(trace, step, &before, &self.accounts, &mut self.moments);
                self.brackets.take(trace, step);
                self.follow_times(step);
            }
        }
        self.pairs.iter_mut().for_each(|pair| pair.take(trace, row.id, step, &self.accounts));
        if let Some(task) = deletion.and_then(|step| step.subject) {
            self.pairs.iter_mut().for_each(|pair| pair.deleted(task));
        }
        self.apply(trace, step, &before, Step::apply);
    }

    /// If an event is a deletion, returns its step with the deleted context as the subject, or
    /// without a subject if no context is deleted. The subject of the event itself can be the task
    /// that deletes the object.
    fn deletion(&mut self, event: Event<'_>, step: &Step) -> Option<Step> {
        if step.meaning != Some(Meaning::Delete) {
            return None;
        }
        let subject = match step.object {
            Some(key) => self.directory.object(event, key),
            None => step.subject,
        };
        Some(Step { subject, ..*step })
    }

    /// Handles the beginning or the end of an interrupt.
    #[inline(always)]
    pub(super) fn interrupt(&mut self, trace: &Trace, step: &Step) {
        self.pass(step);
        self.brackets.take(trace, step);
    }

    /// Handles a choice of the scheduler.
    #[inline(always)]
    pub(super) fn choice(&mut self, trace: &Trace, step: &Step, before: &Running<OnBehalf>) {
        self.requests.choose(step, before, &self.accounts, &mut self.moments);
        self.switches.choose(step, before, &mut self.moments);
        // Other choices do not concern jobs.
        if step.meaning == Some(Meaning::Schedule) {
            self.follow_jobs(trace, step);
        }
        self.budgets.pass();
        self.follow_times(step);
    }

    /// Handles the release or the completion of a job.
    #[inline(always)]
    pub(super) fn job(&mut self, trace: &Trace, step: &Step, before: &Running<OnBehalf>) {
        self.requests.pass_step(step, &self.accounts, &mut self.moments);
        self.switches.pass(step);
        self.follow_jobs(trace, step);
        self.budgets.take(trace, step, before, &self.accounts, &mut self.moments);
        self.follow_times(step);
    }

    /// Updates the running context of the event's core with `change`. `before` is the context that
    /// ran before the event.
    #[inline(always)]
    pub(super) fn apply(
        &mut self,
        trace: &Trace,
        step: &Step,
        before: &Running<OnBehalf>,
        change: impl FnOnce(&Step, &mut Running<OnBehalf>),
    ) {
        let cpu = usize::from(step.cpu);
        let Some(core) = self.cores.get_mut(cpu) else { return };
        change(step, &mut core.running);
        let idle_changed = core.note_idle(step.idles);
        let has_changed = core.running != *before;
        if idle_changed || has_changed {
            let at = Position::of(step);
            self.moments.runs(step.cpu, before, &core.running, core.is_idle(), at);
        }
        if has_changed {
            // The interval ends here. Charge the context that ran until now before storing the next
            // one.
            self.executions.charge(trace, step.cpu, before, core.since..step.ticks);
            core.since = step.ticks;
            if before.in_interrupt() && !core.running.in_interrupt() {
                self.brackets.leave(trace, step.cpu, step.ticks);
            }
            if self.times.are_wanted()
                && let Some(task) = core.running.task().filter(|_| !core.running.in_interrupt())
            {
                self.times.runs(task, Position::of(step));
            }
            self.dispatched(before.task(), cpu);
        }
        if !self.budgets.is_empty() {
            let changed = has_changed.then_some(cpu);
            self.budgets.report(&self.cores, changed, Position::of(step), &mut self.moments);
        }
        if has_changed && self.cores.len() > 1 {
            self.leave_other_cores(trace, step);
        }
    }

    /// Removes the task that now runs on the event's core from all other cores. The event that took
    /// the task from its previous core is missing or follows later, so it is unknown what that core
    /// runs.
    #[inline(never)]
    fn leave_other_cores(&mut self, trace: &Trace, step: &Step) {
        let now = self.cores.get(usize::from(step.cpu)).and_then(|core| core.running.task());
        let is_thread = |task| self.directory.kind(task) == Some(ContextKind::Thread);
        let Some(task) = now.filter(|task| is_thread(*task)) else { return };
        // At most one other core runs the task, because this function removes it from all others.
        let mut others = (0..=u16::MAX).zip(&self.cores).filter(|(cpu, _)| *cpu != step.cpu);
        let left = others.find(|(_, core)| core.running.task() == Some(task));
        if let Some((cpu, _)) = left {
            self.lose_track(trace, cpu, Running::lose, Position::of(step));
        }
    }

    /// Handles the ends of recordings before the tick `until` that were not handled before.
    pub(super) fn end_cores(&mut self, trace: &Trace, until: u64) {
        let ends = trace.core_ends.get(self.core_ends..).unwrap_or_default();
        for end in ends.iter().take_while(|end| end.ticks < until) {
            self.core_ends += 1;
            let Position { seq, ticks } = self.gaps.before;
            let at = Position { seq, ticks: end.ticks.max(ticks) };
            self.recorder = None;
            self.lose_track(trace, end.cpu, |running| *running = Running::default(), at);
        }
    }

    /// Handles evidence that it is unknown what a core runs from `at` on. `change` removes what it
    /// seemed to run.
    pub(super) fn lose_track(
        &mut self,
        trace: &Trace,
        cpu: u16,
        change: impl FnOnce(&mut Running<OnBehalf>),
        at: Position,
    ) {
        let index = usize::from(cpu);
        self.charge_until(trace, index, at.ticks);
        let Some(core) = self.cores.get_mut(index) else { return };
        let before = core.running;
        change(&mut core.running);
        if !core.stop_idle() && core.running == before {
            return;
        }
        self.executions.charge(trace, cpu, &before, core.since..at.ticks);
        core.since = at.ticks;
        if !core.running.in_interrupt() {
            self.brackets.close(trace, cpu, at.ticks);
        }
        self.moments.runs(cpu, &before, &core.running, false, at);
        if !self.budgets.is_empty() {
            self.budgets.report(&self.cores, Some(index), at, &mut self.moments);
        }
    }

    /// Updates the parts of the analysis that every event concerns. The event must not be a request
    /// or a choice, and must not concern a job, a server or the end of a task.
    #[inline]
    pub(super) fn pass(&mut self, step: &Step) {
        self.requests.pass_step(step, &self.accounts, &mut self.moments);
        self.switches.pass(step);
        self.budgets.pass();
    }

    fn follow_jobs(&mut self, trace: &Trace, step: &Step) {
        // A completion removes the release from the queue, so the release is looked up first.
        let release = step.subject.and_then(|task| self.releases.oldest(task));
        if let Some(change) = self.releases.take(trace, step) {
            self.job_changed(trace, step, change, release);
        }
    }

    /// Handles the deletion of a task, after its oldest pending job is done.
    fn end_jobs(&mut self, trace: &Trace, step: &Step, task: ContextId) {
        if self.releases.deleted(task, step.ticks) {
            self.job_changed(trace, step, Change::Dropped, None);
        }
        self.timings.deleted(task);
    }

    #[inline(always)]
    fn follow_times(&mut self, step: &Step) {
        if self.times.are_wanted() {
            self.take_times(step);
        }
    }

    fn take_times(&mut self, step: &Step) {
        let cores = &self.cores;
        self.times.take(step, |task| cores.iter().any(|core| core.running.task() == Some(task)));
    }

    /// Handles a change of a job; the step's subject is the job's task. `release` is the tick at
    /// which the task's oldest job was released.
    fn job_changed(&mut self, trace: &Trace, step: &Step, change: Change, release: Option<u64>) {
        let Some(context) = step.subject else { return };
        if let Some(change) = change.moment() {
            self.moments.job(context, change, Position::of(step));
        }
        self.times.job(context, change, Position::of(step), &self.accounts);
        if let Some(jobs) = &mut self.jobs {
            let preemptions = self.switches.of(context).count;
            let accounts = &self.accounts;
            jobs.take(change, &Now { context, ticks: step.ticks, accounts, preemptions });
        }
        if !self.timings.is_empty()
            && let Some(now) = trace.clock.nanoseconds(step.ticks)
        {
            let released = release.and_then(|ticks| trace.clock.nanoseconds(ticks));
            let response = released.map(|released| now.saturating_sub(released));
            let response = response.filter(|_| change == Change::Done);
            self.timings.take(trace, context, change, now, response, Position::of(step));
        }
    }

    #[inline]
    fn dispatched(&mut self, before: Option<ContextId>, cpu: usize) {
        let now = self.cores.get(cpu).and_then(|core| core.running.task());
        if let Some(task) = now.filter(|_| now != before) {
            self.executions.dispatched(task);
            self.switches.dispatched(task);
        }
    }
}
