//! Records into rows of the columns: the hot loop.

use std::borrow::Borrow;

use tracewell_wire::shark::{Record, ids};

use super::effects::{CHOOSES, CLOSELY, EFFECTS, ENTERS, EXITS, Effect, NAMES, PLANS, RUNS, TWICE};
use super::tasks::{self, Tasks};
use crate::model::{Choice, Columns, ContextId, MaybeContext, Running, Told, Trace};

/// The bytes of a record.
type Slot = [u8; Record::SIZE];

/// Records of a group: one for each bit of a number.
const GROUP: usize = 64;

/// Rows that are filled ahead of being needed: nearly all stretches between two changes are
/// shorter, and no branch has to foresee how long they are.
const AHEAD: usize = 4;

/// Fills the next few rows.
#[inline(always)]
fn ahead(contexts: &mut [ContextId], from: usize, context: ContextId) {
    if let Some(rows) = contexts.get_mut(from..).and_then(|rows| rows.first_chunk_mut::<AHEAD>()) {
        *rows = [context; AHEAD];
    } else {
        contexts.get_mut(from..).unwrap_or_default().fill(context);
    }
}

/// Fills the rows up to a change that [`ahead`] has not filled.
#[inline(always)]
fn fill_between(contexts: &mut [ContextId], from: usize, to: usize, context: ContextId) {
    if to > from + AHEAD {
        contexts.get_mut(from + AHEAD..to).unwrap_or_default().fill(context);
    }
}

/// What goes from one record to the next.
#[derive(Debug)]
pub(super) struct State {
    first: u64,
    ticks: u64,
    running: Running<MaybeContext>,
    tasks: Tasks,
    interrupt: MaybeContext,
    unknown: MaybeContext,
}

impl State {
    /// Before the first record, whose stamp is `first`.
    pub(super) fn new(first: u64, tasks: Tasks) -> Self {
        let running = Running::default();
        let none = MaybeContext::NONE;
        Self { first, ticks: 0, running, tasks, interrupt: none, unknown: none }
    }

    /// Records are missing: who runs behind the gap is not known.
    pub(super) fn gap(&mut self) {
        self.running = Running::default();
    }

    /// Ticks of the last record.
    pub(super) fn ticks(&self) -> u64 {
        self.ticks
    }

    /// Fills columns with records, up to one that makes a context number name another task. Returns
    /// how many were filled.
    ///
    /// Records are taken in groups: first everything that hangs on no other record, for all of
    /// them and without a branch; then only those that change who runs.
    pub(super) fn fill<S: Borrow<Slot>>(
        &mut self,
        slots: &[S],
        trace: &mut Trace,
        columns: &mut Columns,
    ) -> usize {
        columns.resize(slots.len());
        let mut filled = 0;
        while let Some(group) = slots.get(filled..).filter(|rest| !rest.is_empty()) {
            let group = group.get(..GROUP).unwrap_or(group);
            let rows = filled..filled + group.len();
            let ticks = columns.ticks.get_mut(rows.clone()).unwrap_or_default();
            let ids = columns.id.get_mut(rows.clone()).unwrap_or_default();
            let contexts = columns.context.get_mut(rows).unwrap_or_default();
            let changes = self.survey(group, ticks, ids);
            let done = self.follow(group, changes, ticks, contexts, filled == 0, trace);
            filled += done;
            if done == 0 {
                break;
            }
        }
        columns.resize(filled);
        self.ticks = columns.ticks.last().copied().unwrap_or(self.ticks);
        filled
    }

    /// Fills ticks and ids of a group; returns a bit for each record that may change who runs, or
    /// that brings something new.
    #[inline(always)]
    fn survey<S: Borrow<Slot>>(&self, group: &[S], ticks: &mut [u64], ids: &mut [u32]) -> u64 {
        let mut changes = 0;
        for (index, ((slot, ticks), id)) in group.iter().zip(ticks).zip(ids).enumerate() {
            let record = Record::from_bytes(slot.borrow());
            *ticks = record.tsc.wrapping_sub(self.first);
            *id = u32::from(record.code());
            let plan = PLANS[usize::from(record.code())];
            let new = (plan & NAMES != 0) & (self.tasks.known(record.par1) == MaybeContext::NONE);
            changes |= u64::from((plan & !NAMES != 0) | new) << index;
        }
        changes
    }

    /// Fills the contexts of a group; returns for how many records, up to one that was looked at
    /// closely, behind which the survey has to be made anew. 0 where the first one begins a batch.
    #[inline(always)]
    fn follow<S: Borrow<Slot>>(
        &mut self,
        group: &[S],
        mut changes: u64,
        ticks: &[u64],
        contexts: &mut [ContextId],
        first: bool,
        trace: &mut Trace,
    ) -> usize {
        let mut running = self.running;
        let interrupt = self.interrupt;
        let mut context = self.now(trace);
        let mut filled = 0;
        ahead(contexts, 0, context);
        while changes != 0 {
            let index = changes.trailing_zeros() as usize;
            changes &= changes - 1;
            fill_between(contexts, filled, index, context);
            let (Some(slot), Some(by)) = (group.get(index), contexts.get_mut(index)) else { break };
            let record = Record::from_bytes(slot.borrow());
            let plan = PLANS[usize::from(record.code())];
            let is = |bits: u8| plan & bits != 0;
            let (named, now) = (self.tasks.known(record.par1), running.now());
            let served = running.in_interrupt() | is(ENTERS);
            let recorded_by = MaybeContext::either(served, interrupt, now);
            let closely = is(CLOSELY)
                | (recorded_by == MaybeContext::NONE)
                | (is(NAMES) & (named == MaybeContext::NONE))
                | (is(RUNS) & (named != now))
                | (is(TWICE) & (record.par2 != u32::from(record.par1)));
            if closely {
                self.running = running;
                self.ticks = ticks.get(index).copied().unwrap_or(self.ticks);
                let Some(found) = self.closely(slot.borrow(), trace, first && index == 0) else {
                    return index;
                };
                *by = found;
                return index + 1;
            }
            *by = recorded_by.or_first();
            let told = Told { enters: is(ENTERS), exits: is(EXITS), chooses: is(CHOOSES) };
            running.take(told, MaybeContext::either(is(NAMES), named, MaybeContext::NONE));
            let next = MaybeContext::either(running.in_interrupt(), interrupt, running.now());
            context = next.or_first();
            filled = index + 1;
            ahead(contexts, filled, context);
        }
        fill_between(contexts, filled, group.len(), context);
        self.running = running;
        group.len()
    }

    /// What a record does; who recorded it. `None` where it makes a context number name another task
    /// and is not the first of its batch.
    #[cold]
    #[inline(never)]
    fn closely(&mut self, slot: &Slot, trace: &mut Trace, first: bool) -> Option<ContextId> {
        let record = Record::from_bytes(slot);
        let effect = EFFECTS[usize::from(record.code())];
        if effect == Effect::Named && !first && self.replaces(&record) {
            return None;
        }
        let mut by = self.now(trace);
        self.apply(effect, &record, trace, &mut by);
        Some(by)
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
                if let Some(task) = self.subject(record, trace, true) {
                    self.running.load(task);
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
        let served = self.running.in_interrupt();
        let known = if served { None } else { self.running.task() };
        known.unwrap_or_else(|| {
            let (special, make): (_, fn(&mut Trace) -> ContextId) = match served {
                true => (&mut self.interrupt, tasks::interrupt),
                false => (&mut self.unknown, tasks::unknown),
            };
            special.get().unwrap_or_else(|| {
                let context = make(trace);
                *special = context.into();
                context
            })
        })
    }
}
