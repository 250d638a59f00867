//! The fast paths for most events. A fast path has the same effect as [`Scheduling::event`], which
//! handles every event in every situation. It looks up only what the event's class needs, and skips
//! the parts of the analysis that do not concern this class.
//!
//! On several cores, the charges of one core depend on events of other cores. So fast paths exist
//! only if there is one core. They do not exist within gaps and holes, or if pairs of marks are
//! measured.

use super::Scheduling;
use super::inversions::urgency;
use super::kinds::{Class, Kind};
use super::moments::{Moments, Position};
use super::requests::Ask;
use super::rows::Rows;
use super::step::Step;
use crate::model::{ContextId, ContextKind, Event, Meaning, Priority, Trace};

impl<M: Moments> Scheduling<M> {
    /// Handles the event in a row if a fast path exists for the event. If the event needs
    /// [`Scheduling::event`], returns false and has no effect.
    #[inline(always)]
    pub(super) fn take_short_way(&mut self, rows: &Rows<'_>, row: usize, kind: &Kind) -> bool {
        if rows.cpu(row) != 0 || rows.at(row).ticks < self.gaps.before.ticks {
            return false;
        }
        match kind.class {
            Class::Plain => self.plain(rows, row, kind),
            Class::Request => self.request(rows, row, kind),
            Class::Interrupt | Class::Load | Class::Choice | Class::Job => {
                self.change(rows, row, kind)
            }
            Class::Other => false,
        }
    }

    /// Returns true if an event of a thread shows nothing new about the thread: the thread is
    /// running, is not waiting, and has the same priority as before.
    #[inline(always)]
    fn continues(&mut self, trace: &Trace, thread: ContextId, priority: Priority) -> bool {
        self.steady == Some((thread, priority)) || self.is_steady(trace, thread, priority)
    }

    /// Determines whether a thread is in the state of [`Scheduling::steady`].
    #[inline(never)]
    fn is_steady(&mut self, trace: &Trace, thread: ContextId, priority: Priority) -> bool {
        let urgency = priority.get().map(|priority| urgency(trace, priority));
        let is_steady = self.cores.first().is_some_and(|core| core.running.runs_plainly(thread))
            && !self.requests.waits(thread)
            && urgency.is_none_or(|now| self.requests.has_priority(thread, now));
        if is_steady {
            self.steady = Some((thread, priority));
        }
        is_steady
    }

    /// Handles an event of the class [`Class::Plain`].
    ///
    /// The time since the previous change is not charged here, because no figure needs this charge
    /// before the next change.
    #[inline(always)]
    fn plain(&mut self, rows: &Rows<'_>, row: usize, kind: &Kind) -> bool {
        let by = rows.context(row);
        let by_kind = self.directory.kind(by);
        let is_thread = by_kind == Some(ContextKind::Thread);
        if is_thread && !self.continues(rows.trace, by, rows.priority(row)) {
            return false;
        }
        let recorded_by = is_thread.then_some(by);
        let subject = self.subject(rows, row, kind, recorded_by);
        let is_recorded = is_thread || by_kind == Some(ContextKind::System);
        self.note(rows, row, kind, subject, is_recorded);
        self.requests.pass(0, kind.is_cause);
        if kind.is_cause {
            self.switches.pass_cause(0);
        }
        self.budgets.pass();
        true
    }

    /// Handles an event of the class [`Class::Request`].
    #[inline(always)]
    fn request(&mut self, rows: &Rows<'_>, row: usize, kind: &Kind) -> bool {
        let by = rows.context(row);
        let is_thread = self.directory.kind(by) == Some(ContextKind::Thread);
        if !is_thread || !self.continues(rows.trace, by, rows.priority(row)) {
            return false;
        }
        let at = rows.at(row);
        let subject = self.subject(rows, row, kind, Some(by));
        if subject != Some(by) {
            // A request of another task needs the times of all tasks to be up to date.
            self.charge_until(rows.trace, 0, at.ticks);
        }
        self.note(rows, row, kind, subject, true);
        let key = rows.argument(row, kind.object);
        let unlocks = kind.meaning == Some(Meaning::Unlock);
        match subject {
            Some(task) if !unlocks => {
                let is_mutex = kind.meaning == Some(Meaning::Lock);
                let ask = Ask { task, key, is_mutex, kind: kind.object_kind, from: at };
                // The task has run since the previous charge.
                let uncharged = self.cores.first().map_or(0, |core| core.uncharged(at.ticks));
                self.requests.ask(ask, 0, uncharged, &self.accounts, &mut self.moments);
            }
            _ => {
                let unlocked = subject.zip(key).filter(|_| unlocks);
                self.requests.unlock(unlocked, 0, at, &mut self.moments);
            }
        }
        self.switches.request(0, unlocks);
        self.budgets.pass();
        true
    }

    /// Handles an event of any other class but [`Class::Other`].
    #[inline(always)]
    fn change(&mut self, rows: &Rows<'_>, row: usize, kind: &Kind) -> bool {
        let trace = rows.trace;
        let (at, by) = (rows.at(row), rows.context(row));
        let by_kind = self.directory.kind(by);
        let recorded_by = (by_kind == Some(ContextKind::Thread)).then_some(by);
        let subject = self.subject(rows, row, kind, recorded_by);
        let next = rows.argument(row, kind.next);
        // Only interrupts need the value.
        let is_interrupt = kind.class == Class::Interrupt;
        let value = rows.argument(row, kind.value.filter(|_| is_interrupt));
        let step = Step {
            value: value.map(|value| value.wrapping_add(kind.offset)),
            next: next.and_then(|key| self.directory.find(trace, key)),
            names_next: kind.next.is_some(),
            idles: next == Some(0),
            of_system: kind.class == Class::Load
                && subject.and_then(|id| self.directory.kind(id)) == Some(ContextKind::System),
            ..Step::at(at, kind.meaning, subject, recorded_by)
        };
        if let Some(next) = step.next {
            self.name(next, at.ticks).last_ticks = at.ticks;
        }
        if let (Some(thread), Some(priority)) = (recorded_by, rows.priority(row).get()) {
            self.note_priority(trace, thread, urgency(trace, priority));
        }
        self.charge_until(trace, 0, at.ticks);
        self.steady = None;
        let is_recorded = recorded_by.is_some() || by_kind == Some(ContextKind::System);
        self.note(rows, row, kind, subject, is_recorded);
        let Some(before) = self.cores.first().map(|core| core.running) else { return true };
        match kind.class {
            Class::Choice => {
                self.choice(trace, &step, &before);
                self.apply(trace, &step, &before, Step::apply_choice);
            }
            Class::Job => {
                self.job(trace, &step, &before);
                self.apply(trace, &step, &before, Step::apply_choice);
            }
            Class::Load => {
                self.sanity.load(&step, &before);
                self.pass(&step);
                self.apply(trace, &step, &before, Step::apply_load);
            }
            _ => {
                self.interrupt(trace, &step, &before);
                self.apply(trace, &step, &before, Step::apply_interrupt);
            }
        }
        true
    }

    #[inline(always)]
    fn subject(
        &mut self,
        rows: &Rows<'_>,
        row: usize,
        kind: &Kind,
        recorded_by: Option<ContextId>,
    ) -> Option<ContextId> {
        let argument = rows.argument(row, kind.subject);
        self.directory.subject(rows.trace, kind, recorded_by, argument)
    }

    /// Stores an event and its participants. `is_recorded` is true if the context that recorded the
    /// event is a task.
    #[inline(always)]
    fn note(
        &mut self,
        rows: &Rows<'_>,
        row: usize,
        kind: &Kind,
        subject: Option<ContextId>,
        is_recorded: bool,
    ) {
        let (at, by): (Position, _) = (rows.at(row), rows.context(row));
        if let Some(subject) = subject {
            let seen = self.name(subject, at.ticks);
            seen.last_ticks = at.ticks;
            seen.events += u64::from(is_recorded && subject == by);
        }
        if is_recorded {
            if subject != Some(by) {
                self.name(by, at.ticks).events += 1;
            }
            if kind.stack_pointer.is_some() {
                let pointer = rows.argument(row, kind.stack_pointer);
                self.stacks.take(rows.trace, by, pointer, at);
            }
        }
        self.gaps.before = at;
        self.moments.event(Event::new(rows.trace, &rows.event(row)), subject);
        self.sanity.pass(at.ticks, kind.is_known);
    }
}
