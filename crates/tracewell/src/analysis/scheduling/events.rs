//! Handles any event in any situation. `short_ways` handles most events faster.

use super::cores::Core;
use super::figures::Seen;
use super::inversions::urgency;
use super::kinds::Kind;
use super::moments::{Moments, Position};
use super::step::Step;
use super::{Known, Scheduling};
use crate::analysis::total::Total;
use crate::model::{Batch, ContextId, ContextKind, Event, Meaning, OnBehalf, Running, Trace};

impl<M: Moments> Scheduling<M> {
    /// Handles the event in a row of a batch. The function is not inlined, so that the loop over a
    /// batch loads only the data that the fast paths need.
    #[inline(never)]
    pub(super) fn take_row(
        &mut self,
        trace: &Trace,
        batch: &Batch<'_>,
        row: usize,
        known: &Known<M>,
    ) {
        if let Some(row) = batch.event(row) {
            self.event(Event::new(trace, &row), known);
        }
    }

    #[inline(always)]
    fn event(&mut self, event: Event<'_>, known: &Known<M>) {
        let (kind, _) = known;
        let Event { trace, row } = event;
        let mut step = Step::of(event, kind, &mut self.directory);
        self.recorder = None;
        // An event shows that its subject and the next task exist, even if these tasks record no
        // events.
        for named in [step.subject, step.next].into_iter().flatten() {
            self.name(named, step.ticks).last_ticks = step.ticks;
        }
        if let Some(Meaning::StackUsed | Meaning::StackFree) = step.meaning {
            self.stacks.report(trace, &step);
        }
        let by_kind = self.directory.kind(row.context);
        if matches!(by_kind, Some(ContextKind::Thread | ContextKind::System)) {
            let pointer = kind.stack_pointer.and_then(|index| event.argument(index));
            self.recorded(trace, row.context, Position::of(&step), kind, pointer);
        }
        if let (Some(ContextKind::Thread), Some(priority)) = (by_kind, row.priority.get()) {
            let priority = urgency(trace, priority);
            self.note_priority(trace, row.context, priority);
        }
        let hole = self.is_hole(trace, row.id, &step);
        // Events within a hole are ignored.
        if hole && self.gaps.open {
            return;
        }
        if std::mem::take(&mut self.gaps.open) {
            self.gaps.ticks.charge(step.ticks.saturating_sub(self.gaps.before.ticks));
        }
        self.account(trace, &step, usize::from(row.cpu));
        self.gaps.before = Position::of(&step);
        self.gaps.hole |= hole;
        if hole || step.meaning == Some(Meaning::Lost) {
            return self.gap(trace, None);
        }
        if self.gaps.hole {
            // The decoder does not know of holes, so the context that it specifies may date from
            // before the hole.
            step.recorded_by = None;
        }
        self.follow(event, &step, known);
        self.gaps.hole &= self.cores.iter().all(|core| core.running.task().is_none());
        let in_hole = self.gaps.hole || (self.holes && self.filters.is_hole());
        let is_one_core = self.cores.len() == 1;
        self.calm = is_one_core && self.pairs.is_empty() && !self.gaps.open && !in_hole;
        #[cfg(test)]
        {
            self.calm &= self.takes_short_ways;
        }
    }

    /// Counts an event for its recording context, and measures the stack of this context.
    /// `pointer` is the stack pointer, if the event contains it.
    #[inline(always)]
    pub(super) fn recorded(
        &mut self,
        trace: &Trace,
        context: ContextId,
        at: Position,
        kind: &Kind,
        pointer: Option<u64>,
    ) {
        self.name(context, at.ticks).events += 1;
        if kind.stack_pointer.is_some() {
            self.stacks.take(trace, context, pointer, at);
        }
    }

    /// Stores that an event refers to a context.
    #[inline(always)]
    pub(super) fn name(&mut self, context: ContextId, ticks: u64) -> &mut Seen {
        let seen = Seen { events: 0, first_ticks: ticks, last_ticks: ticks };
        self.seen.at(context).get_or_insert(seen)
    }

    /// Stores the priority of a task.
    #[inline(always)]
    pub(super) fn note_priority(&mut self, trace: &Trace, task: ContextId, priority: u16) {
        if !self.requests.has_priority(task, priority) {
            self.change_priority(trace, task, priority);
        }
    }

    #[inline(never)]
    fn change_priority(&mut self, trace: &Trace, task: ContextId, priority: u16) {
        // The task had the earlier priority until this event.
        self.settle(trace);
        self.requests.note_priority(task, priority);
    }

    /// Returns true if recording was off after this event. In this case, it is unknown which
    /// context ran after the event.
    fn is_hole(&mut self, trace: &Trace, id: u32, step: &Step) -> bool {
        self.filters.take(trace, id, step);
        self.holes && self.filters.is_hole()
    }

    /// Charges the time since the previous event of this core.
    fn account(&mut self, trace: &Trace, step: &Step, cpu: usize) {
        if cpu >= self.cores.len() || step.ticks < self.gaps.before.ticks {
            self.settle(trace);
        }
        if cpu >= self.cores.len() {
            self.cores.resize_with(cpu + 1, Core::default);
        }
        self.charge_until(trace, cpu, step.ticks);
    }

    /// Charges the time that the fast paths have not charged, up to the previous event.
    pub(super) fn settle(&mut self, trace: &Trace) {
        if self.cores.len() == 1 {
            self.charge_until(trace, 0, self.gaps.before.ticks);
        }
    }

    /// Charges the time of all cores up to `now`.
    pub(super) fn charge_cores(&mut self, trace: &Trace, now: u64) {
        for cpu in 0..self.cores.len() {
            self.charge_until(trace, cpu, now);
        }
    }

    /// Charges the time of a core up to `now`.
    #[inline(always)]
    pub(super) fn charge_until(&mut self, trace: &Trace, cpu: usize, now: u64) {
        let Some(core) = self.cores.get_mut(cpu) else { return };
        let ticks = core.account(now);
        if ticks == 0 {
            return;
        }
        let running = core.running;
        self.accounts.charge(&running, ticks);
        self.budgets.charge(&running, ticks, now);
        if self.requests.has_blocked() {
            self.charge_blocked(trace, &running, ticks);
        }
    }

    /// Charges `ticks`, the time for which a context ran, to the tasks that were waiting for a
    /// mutex.
    #[inline(never)]
    fn charge_blocked(&mut self, trace: &Trace, running: &Running<OnBehalf>, ticks: u64) {
        if self.timings.is_empty() {
            return self.requests.charge(running, ticks, |_| None, &mut self.moments);
        }
        let (timings, releases) = (&self.timings, &self.releases);
        let deadline = |task| {
            let deadline = timings.deadline(task)?;
            let release = trace.clock.nanoseconds(releases.oldest(task)?)?;
            Some(release.saturating_add(deadline))
        };
        self.requests.charge(running, ticks, deadline, &mut self.moments);
    }
}
