//! Fills columns with records, and determines the context of each record.
//!
//! Records do not contain their context. [`Running`] derives it from the scheduler's choices and
//! from interrupts; [`EFFECTS`] defines the effect of each code.

use std::borrow::Borrow;

use tracewell_wire::shark::{Record, ids};

use super::effects::{EFFECTS, Effect};
use super::tasks::{self, Tasks};
use crate::format::names::Names;
use crate::model::{Columns, ContextId, MaybeContext, Running, Trace};

/// The bytes of one record.
pub(super) type Slot = [u8; Record::SIZE];

/// The state that is kept from one record to the next.
#[derive(Debug)]
pub(super) struct State {
    /// Timestamp of the first record, from which ticks count.
    first: u64,
    running: Running<MaybeContext>,
    tasks: Tasks,
    /// The context of interrupts, and the context of records whose task is unknown. Both are added
    /// to the trace when a record needs them.
    interrupt: MaybeContext,
    unknown: MaybeContext,
    manual: u64,
    /// Maximum number of rows of the next batch. It is small after a short batch, because `fill`
    /// prepares this number of rows even if the batch ends early.
    reach: usize,
}

/// Number of rows of the first batch after a batch that ended early.
const MIN_REACH: usize = 64;

impl State {
    /// Returns the state before the first record, whose timestamp is `first`.
    pub(super) fn new(first: u64, tasks: Tasks) -> Self {
        let (interrupt, unknown) = (MaybeContext::NONE, MaybeContext::NONE);
        let (running, reach) = (Running::default(), usize::MAX);
        Self { first, running, tasks, interrupt, unknown, manual: 0, reach }
    }

    /// Handles missing records. The running task after the gap is unknown.
    pub(super) fn gap(&mut self) {
        self.running = Running::default();
    }

    /// Returns the names that the user gave to tasks.
    pub(super) fn names(&self) -> &Names {
        self.tasks.names()
    }

    /// Returns the number of records with a code that only the user manual defines.
    pub(super) fn manual(&self) -> u64 {
        self.manual
    }

    /// Fills columns with records and returns the number of rows filled.
    ///
    /// All events of a batch get the names that are valid when the batch is delivered. So if a
    /// record assigns a context number to another task, the batch ends before this record.
    pub(super) fn fill<S: Borrow<Slot>>(
        &mut self,
        slots: &[S],
        trace: &mut Trace,
        columns: &mut Columns,
    ) -> usize {
        let slots = slots.get(..self.reach).unwrap_or(slots);
        columns.resize(slots.len());
        // A local variable can stay in registers.
        let mut running = self.running;
        let mut by = self.context(&running, trace);
        let mut filled = 0;
        let rows = columns.ticks.iter_mut().zip(&mut columns.id).zip(&mut columns.context);
        for (slot, ((ticks, id), context)) in slots.iter().map(Borrow::borrow).zip(rows) {
            let record = Record::from_bytes(slot);
            (*ticks, *id, *context) = (self.ticks(record), u32::from(record.code()), by);
            match EFFECTS[usize::from(record.code())] {
                // Most records are of these kinds, which do not change the running task.
                Effect::None => {}
                Effect::Mention => _ = self.first_task(slot, trace, true),
                // These effects already apply to the record itself: the record's context is the
                // task or interrupt that the record starts.
                effect @ (Effect::Enter | Effect::Load | Effect::Start) => {
                    self.apply(effect, slot, &mut running, trace);
                    by = self.context(&running, trace);
                    *context = by;
                }
                effect => {
                    // Names apply to whole batches, so a record that changes a name starts the
                    // next batch.
                    if effect == Effect::Named && filled > 0 && self.renames(slot) {
                        break;
                    }
                    self.apply(effect, slot, &mut running, trace);
                    by = self.context(&running, trace);
                }
            }
            filled += 1;
        }
        self.running = running;
        let is_short = filled < slots.len();
        self.reach = if is_short { MIN_REACH } else { self.reach.saturating_mul(2) };
        columns.resize(filled);
        filled
    }

    /// Returns the ticks of a record since the first record.
    #[inline]
    fn ticks(&self, record: Record) -> u64 {
        record.tsc.wrapping_sub(self.first)
    }

    fn renames(&self, slot: &Slot) -> bool {
        let record = Record::from_bytes(slot);
        let created = record.code() == ids::TASK_CREATE;
        !record.is_fast() && self.tasks.replaces(record.par1, record.par2, created)
    }

    /// Applies the effect of a record on the tasks and on the running task.
    // This function and the functions below run for each record, so they are inlined into the loop.
    #[inline(always)]
    fn apply(
        &mut self,
        effect: Effect,
        slot: &Slot,
        running: &mut Running<MaybeContext>,
        trace: &mut Trace,
    ) {
        match effect {
            Effect::None => {}
            Effect::Enter => running.enter(),
            Effect::Exit => running.exit(None),
            Effect::ExitTo => running.exit(self.first_task(slot, trace, true)),
            Effect::Schedule => {
                // Look up both tasks even if the first one is unknown, because a lookup adds a new
                // task to the trace.
                let runs = self.first_task(slot, trace, true);
                self.second_task(slot, trace);
                if let Some(runs) = runs {
                    running.choose(runs.into());
                }
            }
            Effect::Load => match self.first_task(slot, trace, true) {
                // The kernel is not a task that the scheduler chooses.
                Some(kernel) if Record::from_bytes(slot).par1 == ids::context::KERNEL => {
                    running.load_system(kernel);
                }
                Some(task) => running.load(task),
                None => {}
            },
            Effect::Start => {
                if let Some(task) = self.first_task(slot, trace, false) {
                    running.start(task);
                }
            }
            Effect::Inherit => {
                self.first_task(slot, trace, true);
                self.second_task(slot, trace);
            }
            Effect::Manual => {
                self.manual += 1;
                self.first_task(slot, trace, true);
            }
            Effect::Mention => _ = self.first_task(slot, trace, true),
            Effect::Named => self.named(slot, trace),
            Effect::Ended => {
                let record = Record::from_bytes(slot);
                self.tasks.ended(trace, record.par1, self.ticks(record));
            }
        }
    }

    fn named(&mut self, slot: &Slot, trace: &mut Trace) {
        let record = Record::from_bytes(slot);
        if record.is_fast() {
            self.first_task(slot, trace, false);
        } else {
            let created = (record.code() == ids::TASK_CREATE).then(|| self.ticks(record));
            self.tasks.named(trace, record.par1, record.par2, created);
        }
    }

    /// Returns the task to which the first parameter refers. The value 0 names no task.
    #[inline(always)]
    fn first_task(&mut self, slot: &Slot, trace: &mut Trace, used: bool) -> Option<ContextId> {
        let number = Record::from_bytes(slot).par1;
        match self.tasks.used(number).get() {
            Some(task) => Some(task),
            None => (number != 0).then(|| self.tasks.met(trace, number, used)),
        }
    }

    /// Adds the task to which the second parameter refers. The kernel's fast path does not write
    /// this parameter.
    #[inline(always)]
    fn second_task(&mut self, slot: &Slot, trace: &mut Trace) {
        let record = Record::from_bytes(slot);
        if let Ok(number) = u16::try_from(record.par2)
            && self.tasks.used(number) == MaybeContext::NONE
            && number != 0
            && !record.is_fast()
        {
            self.tasks.met(trace, number, true);
        }
    }

    /// Returns the context of the current record. This is the current interrupt, the running task,
    /// or the context for records whose task is unknown.
    #[inline(always)]
    fn context(&mut self, running: &Running<MaybeContext>, trace: &mut Trace) -> ContextId {
        let task = if running.in_interrupt() { self.interrupt } else { running.now() };
        task.get().unwrap_or_else(|| self.special(running.in_interrupt(), trace))
    }

    /// Returns the context of interrupts or the context of unknown tasks. If this context is new,
    /// adds it to the trace.
    fn special(&mut self, in_interrupt: bool, trace: &mut Trace) -> ContextId {
        if in_interrupt {
            let context = tasks::interrupt(trace);
            self.interrupt = context.into();
            return context;
        }
        let context = self.unknown.get().unwrap_or_else(|| tasks::unknown(trace));
        self.unknown = context.into();
        context
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{Settings, by_name};

    #[test]
    fn a_batch_ends_only_before_a_record_that_renames_a_task() {
        let mut trace = by_name("shark").unwrap().decoder(&Settings::default()).unwrap().trace();
        let mut state = State::new(0, Tasks::new(Names::default()));
        let mut fill = |records: &[(u8, u32)]| {
            let slot = |(code, pid): &(u8, u32)| {
                Record { code_word: (*code).into(), par1: 0x100, tsc: 1, par2: *pid }.to_bytes()
            };
            let slots: Vec<_> = records.iter().map(slot).collect();
            state.fill(&slots, &mut trace, &mut Columns::default())
        };
        let [same, other, created] = [(ids::ID, 4), (ids::ID, 5), (ids::TASK_CREATE, 5)];
        assert_eq!(fill(&[same; 100]), 100);
        assert_eq!(fill(&[same, same, other]), 2);
        // After a short batch, the next batch is limited. The limit doubles with each full batch.
        for limit in [MIN_REACH, 2 * MIN_REACH, 4 * MIN_REACH] {
            assert_eq!(fill(&[other; 1000]), limit);
        }
        assert_eq!(fill(&[created, created]), 1);
        assert_eq!(fill(&[created, other]), 2);
    }
}
