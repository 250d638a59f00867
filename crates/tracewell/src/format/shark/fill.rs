//! Records into rows of the columns: the hot loop.

use tracewell_wire::shark::{Record, ids};

use super::tasks::{self, Tasks};
use crate::model::{Choice, Columns, ContextId, MaybeContext, Running, Told, Trace};

/// What a code does to who runs and which tasks there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Effect {
    None,
    /// Names a task that does something.
    Mention,
    /// Names a task that exists, or starts to.
    Named,
    Ended,
    Start,
    Schedule,
    Inherit,
    Load,
    Enter,
    /// A device interrupt ends.
    Exit,
    /// A timer interrupt ends and names who continues.
    ExitTo,
}

const EFFECTS: [Effect; 256] = {
    let mut effects = [Effect::None; 256];
    let mut code = 0;
    while code < 256 {
        effects[code] = match code as u8 {
            ids::TRACE_START => Effect::Start,
            ids::ID | ids::TASK_CREATE => Effect::Named,
            ids::TASK_END => Effect::Ended,
            ids::TASK_SCHEDULE => Effect::Schedule,
            ids::INHERITANCE => Effect::Inherit,
            ids::CONTEXT_SWITCH => Effect::Load,
            ids::INTERRUPT_START | ids::TIMER_WAKEUP_START => Effect::Enter,
            ids::INTERRUPT_END => Effect::Exit,
            ids::TIMER_WAKEUP_END => Effect::ExitTo,
            code if ids::names_context(code) => Effect::Mention,
            _ => Effect::None,
        };
        code += 1;
    }
    effects
};

/// An interrupt begins.
const ENTERS: u8 = 0x01;
/// An interrupt ends.
const EXITS: u8 = 0x02;
/// The scheduler chose.
const CHOOSES: u8 = 0x04;
/// The first parameter names a task: one that was met before, or the record is looked at closely.
const NAMES: u8 = 0x08;
/// The same for both parameters being the same.
const TWICE: u8 = 0x10;
/// The same for the task that is named being the one that runs.
const RUNS: u8 = 0x20;
/// The record is looked at closely.
const CLOSELY: u8 = 0x40;

/// How a code's records are followed, as a set of the bits above.
const PLANS: [u8; 256] = {
    let mut plans = [0; 256];
    let mut code = 0;
    while code < 256 {
        plans[code] = match EFFECTS[code] {
            Effect::None => 0,
            Effect::Mention => NAMES,
            Effect::Load => NAMES | RUNS,
            Effect::Schedule => CHOOSES | NAMES | TWICE,
            Effect::Enter => ENTERS,
            Effect::Exit => EXITS,
            Effect::ExitTo => EXITS | NAMES,
            Effect::Named | Effect::Ended | Effect::Start | Effect::Inherit => CLOSELY,
        };
        code += 1;
    }
    plans
};

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
    /// Nearly all records are followed without a branch, since their kinds come as the traced
    /// program pleases; those that bring something new are looked at closely.
    pub(super) fn fill<'a>(
        &mut self,
        records: impl ExactSizeIterator<Item = &'a [u8; Record::SIZE]>,
        trace: &mut Trace,
        columns: &mut Columns,
    ) -> usize {
        columns.resize(records.len());
        let rows = columns.ticks.iter_mut().zip(&mut columns.context).zip(&mut columns.id);
        let (first, mut filled) = (self.first, 0);
        let (mut running, mut interrupt) = (self.running, self.interrupt);
        for (record, ((to_ticks, to_context), to_id)) in records.zip(rows) {
            let record = Record::from_bytes(record);
            let code = record.code();
            *to_ticks = record.tsc.wrapping_sub(first);
            *to_id = u32::from(code);
            let plan = PLANS[usize::from(code)];
            let is = |bits: u8| plan & bits != 0;
            let (named, now) = (self.tasks.known(record.par1), running.now());
            let served = running.in_interrupt() | is(ENTERS);
            let by = MaybeContext::either(served, interrupt, now);
            let closely = is(CLOSELY)
                | (by == MaybeContext::NONE)
                | (is(NAMES) & (named == MaybeContext::NONE))
                | (is(RUNS) & (named != now))
                | (is(TWICE) & (record.par2 != u32::from(record.par1)));
            if !closely {
                *to_context = by.or_first();
                let told = Told { enters: is(ENTERS), exits: is(EXITS), chooses: is(CHOOSES) };
                running.take(told, MaybeContext::either(is(NAMES), named, MaybeContext::NONE));
            } else {
                (self.ticks, self.running) = (*to_ticks, running);
                let effect = EFFECTS[usize::from(code)];
                if effect == Effect::Named && filled > 0 && self.replaces(&record) {
                    break;
                }
                *to_context = self.now(trace);
                self.apply(effect, &record, trace, to_context);
                (running, interrupt) = (self.running, self.interrupt);
            }
            filled += 1;
        }
        self.running = running;
        columns.resize(filled);
        self.ticks = columns.ticks.last().copied().unwrap_or(self.ticks);
        filled
    }

    fn replaces(&self, record: &Record) -> bool {
        let created = record.code() == ids::TASK_CREATE;
        !record.is_fast() && self.tasks.replaces(record.par1, record.par2, created)
    }

    /// What a record does; puts right who recorded it where it says so itself.
    #[cold]
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
