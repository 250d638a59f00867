//! The fast paths for most events. A fast path has the same effect as [`Scheduling::event`], which
//! handles every event in every situation. It looks up only what the event's class needs, and skips
//! the parts of the analysis that do not concern this class.
//!
//! On several cores, the charges of one core depend on events of other cores. So fast paths are
//! used only if there is one core. They are not used within gaps and holes, or if pairs of marks
//! are measured.
//!
//! Most events do not change who runs. Such events are counted later: see [`super::recorders`]. The
//! time since the previous change is not charged at these events either, because no figure needs
//! this charge before the next change.

use std::ops::Range;

use super::inversions::urgency;
use super::kinds::{Class, Kind};
use super::moments::Moments;
use super::mutexes::releases;
use super::recorders::Recorder;
use super::requests::Ask;
use super::rows::Rows;
use super::step::Step;
use super::{Known, Scheduling, known_of};
use crate::model::{ContextId, ContextKind, Meaning, OfSchema};

impl<M: Moments> Scheduling<M> {
    /// Handles the events of a stretch ([`Rows::stretch`]) until an event needs
    /// [`Scheduling::event`]. Returns the number of events before this event, or the number of all
    /// events if no event needs it.
    pub(super) fn take_short_ways(
        &mut self,
        rows: &Rows<'_>,
        stretch: Range<usize>,
        kinds: &mut OfSchema<'_, Known<M>>,
    ) -> usize {
        let rows = &rows.part(stretch);
        let latest = self.gaps.before.ticks.max(self.sanity.last());
        if rows.ids.is_empty() || rows.at(0).ticks < latest {
            return 0;
        }
        // The first row that is still to be counted.
        let mut run = 0;
        for (row, id) in rows.ids.iter().enumerate() {
            let known = kinds.get(*id, known_of::<M>);
            if !self.take_short_way(rows, row, known, &mut run) {
                self.count_run(rows, run..row);
                return row;
            }
        }
        self.count_run(rows, run..rows.ids.len());
        rows.ids.len()
    }

    /// Handles the event in a row if a fast path exists for the event. If the event needs
    /// [`Scheduling::event`], returns false and has no effect.
    #[inline(always)]
    fn take_short_way(
        &mut self,
        rows: &Rows<'_>,
        row: usize,
        known: &Known<M>,
        run: &mut usize,
    ) -> bool {
        match known.0.class {
            Class::Plain => self.plain(rows, row, known, run),
            Class::Lock => self.request(rows, row, known, run, Meaning::Lock),
            Class::Unlock => self.request(rows, row, known, run, Meaning::Unlock),
            Class::Wait => self.request(rows, row, known, run, Meaning::Wait),
            Class::Choice => self.change(rows, row, known, run, Class::Choice),
            Class::Job => self.change(rows, row, known, run, Class::Job),
            Class::Load => self.change(rows, row, known, run, Class::Load),
            Class::Interrupt => self.change(rows, row, known, run, Class::Interrupt),
            Class::Other => false,
        }
    }

    /// Handles an event of the class [`Class::Plain`].
    #[inline(always)]
    fn plain(&mut self, rows: &Rows<'_>, row: usize, known: &Known<M>, run: &mut usize) -> bool {
        let (kind, _) = known;
        let Some(recorder) = self.recorder(rows, row, run) else { return false };
        let subject = self.subject(rows, row, kind, recorder, run);
        self.note(rows, row, known, (subject, recorder.task), recorder.is_counted);
        self.requests.pass(0, kind.is_cause);
        if kind.is_cause {
            self.switches.pass_cause(0);
        }
        self.budgets.pass();
        true
    }

    /// Handles a request, or the release of a mutex. `meaning` is the meaning of the event.
    #[inline(always)]
    fn request(
        &mut self,
        rows: &Rows<'_>,
        row: usize,
        known: &Known<M>,
        run: &mut usize,
        meaning: Meaning,
    ) -> bool {
        let (kind, _) = known;
        let Some(recorder) = self.recorder(rows, row, run) else { return false };
        let Some(by) = recorder.task else { return false };
        let at = rows.at(row);
        let subject = self.subject(rows, row, kind, recorder, run);
        if subject != Some(by) {
            // If the subject is not the recording task, all tasks must be charged up to this event.
            self.charge_until(rows.trace, 0, at.ticks);
        }
        self.note(rows, row, known, (subject, Some(by)), true);
        let key = rows.argument(row, kind.object);
        let holds = rows.argument(row, kind.holds);
        let unlocks = meaning == Meaning::Unlock;
        match subject {
            Some(task) if !unlocks => {
                let is_mutex = meaning == Meaning::Lock;
                let ask = Ask { task, key, is_mutex, kind: kind.object_kind, from: at, holds };
                // The task has run since the previous charge.
                let uncharged = self.cores.first().map_or(0, |core| core.uncharged(at.ticks));
                self.requests.ask(ask, 0, uncharged, &self.accounts, &mut self.moments);
            }
            _ => {
                let unlocked = subject.zip(key).filter(|_| unlocks && releases(holds));
                self.requests.unlock(unlocked, 0, at, &mut self.moments);
            }
        }
        self.switches.request(0, unlocks);
        self.budgets.pass();
        true
    }

    /// Returns the subject of an event. If the event names its subject, counts the event now.
    #[inline(always)]
    fn subject(
        &mut self,
        rows: &Rows<'_>,
        row: usize,
        kind: &Kind,
        recorder: Recorder,
        run: &mut usize,
    ) -> Option<ContextId> {
        if kind.subject.is_none() {
            return recorder.task;
        }
        self.count_run(rows, std::mem::replace(run, row + 1)..row);
        let argument = rows.argument(row, kind.subject);
        let subject = self.directory.subject(rows.trace, kind, recorder.task, argument);
        self.count(rows.at(row), recorder.context, subject, recorder.is_counted);
        subject
    }

    /// Handles an event that can change who runs. `class` is its class.
    #[inline(always)]
    fn change(
        &mut self,
        rows: &Rows<'_>,
        row: usize,
        known: &Known<M>,
        run: &mut usize,
        class: Class,
    ) -> bool {
        let (kind, _) = known;
        self.count_run(rows, std::mem::replace(run, row + 1)..row);
        self.recorder = None;
        let trace = rows.trace;
        let (at, by) = (rows.at(row), rows.context(row));
        let by_kind = self.directory.kind(by);
        let recorded_by = (by_kind == Some(ContextKind::Thread)).then_some(by);
        let argument = rows.argument(row, kind.subject);
        let subject = self.directory.subject(trace, kind, recorded_by, argument);
        let next = rows.argument(row, kind.next);
        // Only interrupts need the value.
        let value = rows.argument(row, kind.value.filter(|_| class == Class::Interrupt));
        let step = Step {
            value: value.map(|value| value.wrapping_add(kind.offset)),
            next: next.and_then(|key| self.directory.find(trace, key)),
            names_next: kind.next.is_some(),
            idles: next == Some(0),
            of_system: class == Class::Load
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
        let is_counted = recorded_by.is_some() || by_kind == Some(ContextKind::System);
        self.count(at, by, subject, is_counted);
        self.note(rows, row, known, (subject, recorded_by), is_counted);
        let Some(before) = self.cores.first().map(|core| core.running) else { return true };
        match class {
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
                self.interrupt(trace, &step);
                self.apply(trace, &step, &before, Step::apply_interrupt);
            }
        }
        true
    }
}
