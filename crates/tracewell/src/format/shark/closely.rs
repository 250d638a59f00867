//! What a record does that the hot loop does not see through, or that brings something new: one at a
//! time, and plainly.

use tracewell_wire::shark::{Record, ids};

use super::effects::{EFFECTS, Effect};
use super::fill::{Slot, State};
use super::tasks;
use crate::model::{ContextId, Trace};

/// What was found of a record.
pub(super) struct Found {
    /// Who recorded it.
    pub(super) by: ContextId,
    /// Whether context numbers may name other tasks behind it.
    pub(super) may_rename: bool,
}

impl State {
    /// What a record does. `None` where it makes a context number name another task and is not the
    /// first of its batch.
    #[cold]
    #[inline(never)]
    pub(super) fn closely(&mut self, slot: &Slot, trace: &mut Trace, first: bool) -> Option<Found> {
        let record = Record::from_bytes(slot);
        let effect = EFFECTS[usize::from(record.code())];
        if effect == Effect::Named && !first && self.replaces(&record) {
            return None;
        }
        let mut by = self.now(trace);
        self.apply(effect, &record, trace, &mut by);
        Some(Found { by, may_rename: effect == Effect::Named })
    }

    fn replaces(&self, record: &Record) -> bool {
        let created = record.code() == ids::TASK_CREATE;
        !record.is_fast() && self.tasks.replaces(record.par1, record.par2, created)
    }

    /// What a record does; puts right who recorded it where it says so itself.
    fn apply(&mut self, effect: Effect, record: &Record, trace: &mut Trace, by: &mut ContextId) {
        match effect {
            Effect::None => {}
            Effect::Enter => {
                self.running.enter();
                *by = self.now(trace);
            }
            Effect::Exit => self.running.exit(None),
            Effect::ExitTo => {
                let continues = self.subject(record, trace, true);
                self.running.exit(continues);
            }
            Effect::Schedule => {
                let runs = self.subject(record, trace, true);
                self.second(record, trace);
                if let Some(runs) = runs {
                    self.running.choose(runs.into());
                }
            }
            Effect::Load => {
                match self.subject(record, trace, true) {
                    Some(kernel) if record.par1 == ids::context::KERNEL => {
                        self.running.load_system(kernel);
                    }
                    Some(task) => self.running.load(task),
                    None => {}
                }
                *by = self.now(trace);
            }
            Effect::Start => {
                if let Some(task) = self.subject(record, trace, false) {
                    self.running.start(task);
                }
                *by = self.now(trace);
            }
            Effect::Inherit => {
                self.subject(record, trace, true);
                self.second(record, trace);
            }
            Effect::Manual => {
                self.manual += 1;
                self.subject(record, trace, true);
            }
            Effect::Mention => {
                self.subject(record, trace, true);
            }
            Effect::Named => self.named(record, trace),
            Effect::Ended => self.tasks.ended(trace, record.par1, self.ticks),
        }
    }

    fn named(&mut self, record: &Record, trace: &mut Trace) {
        if record.is_fast() {
            self.subject(record, trace, false);
        } else {
            let created = (record.code() == ids::TASK_CREATE).then_some(self.ticks);
            self.tasks.named(trace, record.par1, record.par2, created);
        }
    }

    /// The task that the first parameter names; 0 names none.
    fn subject(&mut self, record: &Record, trace: &mut Trace, used: bool) -> Option<ContextId> {
        (record.par1 != 0).then(|| self.tasks.met(trace, record.par1, used))
    }

    /// The task that the second parameter names.
    fn second(&mut self, record: &Record, trace: &mut Trace) -> Option<ContextId> {
        let number = u16::try_from(record.par2).ok().filter(|number| *number != 0)?;
        (!record.is_fast()).then(|| self.tasks.met(trace, number, true))
    }

    /// Who records, as far as is known.
    fn now(&mut self, trace: &mut Trace) -> ContextId {
        if self.running.in_interrupt() {
            return self.interrupt.get().unwrap_or_else(|| {
                let context = tasks::interrupt(trace);
                self.interrupt = context.into();
                context
            });
        }
        self.running.task().unwrap_or_else(|| self.unknown(trace))
    }

    /// The context of records of which nothing says who ran.
    pub(super) fn unknown(&mut self, trace: &mut Trace) -> ContextId {
        self.unknown.get().unwrap_or_else(|| {
            let context = tasks::unknown(trace);
            self.unknown = context.into();
            context
        })
    }
}
