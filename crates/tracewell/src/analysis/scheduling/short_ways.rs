//! Short ways, which are fast paths for events that do not change which context runs. Most events
//! of a trace are of this kind. A short way has the same effect as [`Scheduling::event`], which
//! handles every event.
//!
//! On several cores, the charges of one core depend on events of other cores. So short ways exist
//! only if there is one core.

use super::kinds::{Class, Kind};
use super::moments::{Moments, Position};
use super::step::Step;
use super::{Scheduling, urgency};
use crate::model::{Batch, ContextId, ContextKind, Event, Trace};

impl<M: Moments> Scheduling<M> {
    /// Handles the event in a row of a batch if a short way exists for the event. If the event
    /// needs [`Scheduling::event`], returns false and has no effect.
    #[inline(always)]
    pub(super) fn take_short_way(
        &mut self,
        trace: &Trace,
        batch: &Batch<'_>,
        row: usize,
        kind: &Kind,
    ) -> bool {
        let Some(row) = batch.event(row).filter(|_| kind.class.has_short_way()) else {
            return false;
        };
        let event = Event::new(trace, &row);
        if self.cores.len() != 1 || row.cpu != 0 || row.ticks < self.gaps.before.ticks {
            return false;
        }
        match kind.class {
            Class::Plain => self.plain(event, kind),
            Class::Request => self.request(event, kind),
            Class::Interrupt | Class::Choice | Class::Other => false,
        }
    }

    /// Returns true if an event of a thread shows nothing new about the thread: the thread runs,
    /// does not wait, and has the same priority as before.
    #[inline(always)]
    fn continues(&self, event: Event<'_>, thread: ContextId) -> bool {
        let priority = event.row.priority.get().map(|priority| urgency(event.trace, priority));
        self.cores.first().is_some_and(|core| core.running.runs_plainly(thread))
            && !self.requests.waits(thread)
            && priority.is_none_or(|now| self.requests.has_priority(thread, now))
    }

    /// Handles an event of the class [`Class::Plain`].
    ///
    /// The time since the previous change is not charged here, because no figure needs this charge
    /// before the next change.
    #[inline(always)]
    fn plain(&mut self, event: Event<'_>, kind: &Kind) -> bool {
        let by = event.row.context;
        let by_kind = self.directory.kind(by);
        let is_thread = by_kind == Some(ContextKind::Thread);
        if is_thread && !self.continues(event, by) {
            return false;
        }
        let subject = self.directory.subject(event, kind, is_thread.then_some(by));
        let is_recorded = is_thread || by_kind == Some(ContextKind::System);
        self.note(event, kind, subject, is_recorded);
        self.requests.pass(0, kind.is_cause);
        if kind.is_cause {
            self.switches.pass_cause(0);
        }
        self.budgets.pass();
        true
    }

    /// Handles an event of the class [`Class::Request`].
    #[inline(always)]
    fn request(&mut self, event: Event<'_>, kind: &Kind) -> bool {
        let (row, by) = (event.row, event.row.context);
        let is_thread = self.directory.kind(by) == Some(ContextKind::Thread);
        if !is_thread || !self.continues(event, by) {
            return false;
        }
        let subject = self.directory.subject(event, kind, Some(by));
        let means = kind.means.as_ref();
        let step = Step {
            seq: row.seq,
            ticks: row.ticks,
            cpu: row.cpu,
            meaning: means.map(|means| means.meaning),
            subject,
            next: None,
            names_next: false,
            idles: false,
            object: means.and_then(|means| event.argument(means.object?)),
            object_kind: kind.object_kind,
            value: means.and_then(|means| event.value_of(means)),
            recorded_by: Some(by),
            of_system: false,
        };
        if subject != Some(by) {
            // A request of another task needs the times of all tasks to be up to date.
            self.charge_until(event.trace, 0, row.ticks);
        }
        self.note(event, kind, subject, true);
        // The task has run since the previous charge.
        let uncharged = self.cores.first().map_or(0, |core| core.uncharged(row.ticks));
        self.requests.act(&step, uncharged, &self.accounts, &mut self.moments);
        self.switches.pass(&step);
        self.budgets.pass();
        true
    }

    /// Stores an event and its participants. `is_recorded` is true if the context that recorded the
    /// event is a task.
    #[inline(always)]
    fn note(
        &mut self,
        event: Event<'_>,
        kind: &Kind,
        subject: Option<ContextId>,
        is_recorded: bool,
    ) {
        let row = event.row;
        if let Some(subject) = subject {
            self.name(subject, row.ticks).last_ticks = row.ticks;
        }
        if is_recorded {
            self.recorded(event, kind);
        }
        self.gaps.before = Position { ticks: row.ticks, seq: row.seq };
        self.moments.event(event, subject);
        self.sanity.pass(row.ticks, kind.is_known);
    }
}
