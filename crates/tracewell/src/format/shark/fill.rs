//! Records into rows of the columns: the hot loop.

use tracewell_wire::shark::{Record, ids};

use super::tasks::{self, Tasks};
use crate::model::{Columns, ContextId, Running, Trace};

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

/// What goes from one record to the next.
#[derive(Debug)]
pub(super) struct State {
    first: u64,
    ticks: u64,
    running: Running<ContextId>,
    tasks: Tasks,
    interrupt: Option<ContextId>,
    unknown: Option<ContextId>,
}

impl State {
    /// Before the first record, whose stamp is `first`.
    pub(super) fn new(first: u64, tasks: Tasks) -> Self {
        let running = Running::default();
        Self { first, ticks: 0, running, tasks, interrupt: None, unknown: None }
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
    pub(super) fn fill<'a>(
        &mut self,
        records: impl ExactSizeIterator<Item = &'a [u8; Record::SIZE]>,
        trace: &mut Trace,
        columns: &mut Columns,
    ) -> usize {
        columns.resize(records.len());
        let rows = columns.ticks.iter_mut().zip(&mut columns.context).zip(&mut columns.id);
        let mut filled = 0;
        let mut context = self.now(trace);
        for (record, ((to_ticks, to_context), to_id)) in records.zip(rows) {
            let record = Record::from_bytes(record);
            let code = record.code();
            *to_ticks = record.tsc.wrapping_sub(self.first);
            *to_id = u32::from(code);
            *to_context = context;
            let effect = EFFECTS[usize::from(code)];
            let named = self.tasks.known(record.par1);
            // One branch for all records that change nothing: which kind comes next cannot be foreseen.
            let quiet = (effect == Effect::None)
                | ((effect == Effect::Mention) & named.is_some())
                | ((effect == Effect::Load) & (named == self.running.task()) & named.is_some());
            if !quiet {
                match self.usual(effect, &record, context) {
                    Some((by, next)) => (*to_context, context) = (by, next),
                    None => {
                        self.ticks = *to_ticks;
                        if effect == Effect::Named && filled > 0 && self.replaces(&record) {
                            break;
                        }
                        context = self.apply(effect, &record, trace, to_context);
                    }
                }
            }
            filled += 1;
        }
        columns.resize(filled);
        self.ticks = columns.ticks.last().copied().unwrap_or(self.ticks);
        filled
    }

    /// What [`State::apply`] does, where the tasks are known and nothing is new: who recorded this
    /// record and who records the next one.
    #[inline(always)]
    fn usual(
        &mut self,
        effect: Effect,
        record: &Record,
        context: ContextId,
    ) -> Option<(ContextId, ContextId)> {
        match effect {
            Effect::Schedule if record.par2 == u32::from(record.par1) => {
                let task = self.tasks.known(record.par1)?;
                self.running.choose(task, task);
                Some((context, if self.running.in_interrupt() { context } else { task }))
            }
            Effect::Enter => {
                let interrupt = self.interrupt?;
                self.running.enter();
                Some((interrupt, interrupt))
            }
            Effect::Exit | Effect::ExitTo => {
                let continues = match effect {
                    Effect::ExitTo => Some(self.tasks.known(record.par1)?),
                    _ => None,
                };
                // Once somebody runs, somebody does after every interrupt.
                self.running.task()?;
                self.running.exit(continues);
                let task = self.running.task()?;
                Some((context, if self.running.in_interrupt() { context } else { task }))
            }
            _ => None,
        }
    }

    fn replaces(&self, record: &Record) -> bool {
        let created = record.code() == ids::TASK_CREATE;
        !record.is_fast() && self.tasks.replaces(record.par1, record.par2, created)
    }

    /// What a record does; puts right who recorded it where it says so itself. Returns who records
    /// the next one.
    fn apply(
        &mut self,
        effect: Effect,
        record: &Record,
        trace: &mut Trace,
        by: &mut ContextId,
    ) -> ContextId {
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
                let chosen = self.second(record, trace).or(runs);
                if let (Some(runs), Some(chosen)) = (runs, chosen) {
                    self.running.choose(runs, chosen);
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
        self.now(trace)
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
            *self.interrupt.get_or_insert_with(|| tasks::interrupt(trace))
        } else {
            match self.running.task() {
                Some(task) => task,
                None => *self.unknown.get_or_insert_with(|| tasks::unknown(trace)),
            }
        }
    }
}
