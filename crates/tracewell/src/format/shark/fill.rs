//! Records into rows of the columns: the hot loop.
//!
//! Records are taken in groups: first everything that hangs on no other record, for all of them and
//! without a branch ([`survey`](State::survey)); then who ran, from the sets of records that change
//! it ([`pass`](State::pass)). What a set does not tell is looked at closely, record by record.

use std::borrow::Borrow;

use tracewell_wire::shark::Record;

use super::marks::{ALIKE, GROUP, KINDS, Marks, WORD, below, members};
use super::passed::Passed;
use super::tasks::Tasks;
use crate::model::{Columns, ContextId, MaybeContext, Running, Trace};

/// The bytes of a record.
pub(super) type Slot = [u8; Record::SIZE];

/// Rows that are filled at once: nearly all stretches between two changes are shorter, and no
/// branch has to foresee how long they are.
const AT_ONCE: usize = 16;

/// The contexts of a group's rows, with room behind the last for those that are filled at once.
type Rows = [ContextId; GROUP + AT_ONCE];

/// Fills rows, and perhaps some behind the last one.
#[inline(always)]
fn fill_rows(rows: &mut Rows, from: usize, to: usize, context: ContextId) {
    if let Some(first) = rows.get_mut(from..).and_then(|rows| rows.first_chunk_mut::<AT_ONCE>()) {
        *first = [context; AT_ONCE];
    }
    if to > from + AT_ONCE {
        rows.get_mut(from + AT_ONCE..to).unwrap_or_default().fill(context);
    }
}

/// What goes from one record to the next.
#[derive(Debug)]
pub(super) struct State {
    first: u64,
    pub(super) ticks: u64,
    pub(super) running: Running<MaybeContext>,
    pub(super) tasks: Tasks,
    pub(super) interrupt: MaybeContext,
    pub(super) unknown: MaybeContext,
    /// Records by a code that only the user manual has.
    pub(super) manual: u64,
}

/// A group, and what stands out in it.
struct Group<'a, S> {
    slots: &'a [S],
    marks: Marks,
}

impl State {
    /// Before the first record, whose stamp is `first`.
    pub(super) fn new(first: u64, tasks: Tasks) -> Self {
        let running = Running::default();
        let none = MaybeContext::NONE;
        Self { first, ticks: 0, running, tasks, interrupt: none, unknown: none, manual: 0 }
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
    pub(super) fn fill<S: Borrow<Slot>>(
        &mut self,
        slots: &[S],
        trace: &mut Trace,
        columns: &mut Columns,
    ) -> usize {
        columns.resize(slots.len());
        let mut filled = 0;
        while let Some(slots) = slots.get(filled..).filter(|rest| !rest.is_empty()) {
            let slots = slots.get(..GROUP).unwrap_or(slots);
            let rows = filled..filled + slots.len();
            let ticks = columns.ticks.get_mut(rows.clone()).unwrap_or_default();
            let ids = columns.id.get_mut(rows.clone()).unwrap_or_default();
            let group = Group { slots, marks: self.survey(slots, ticks, ids) };
            let contexts = columns.context.get_mut(rows).unwrap_or_default();
            let done = self.follow(&group, ticks, contexts, filled == 0, trace);
            filled += done;
            if done == 0 {
                break;
            }
        }
        columns.resize(filled);
        self.ticks = columns.ticks.last().copied().unwrap_or(self.ticks);
        filled
    }

    /// Fills ticks and ids of a group; returns what stands out in it.
    #[inline(always)]
    fn survey<S: Borrow<Slot>>(&self, slots: &[S], ticks: &mut [u64], ids: &mut [u32]) -> Marks {
        let mut words = [0; GROUP / WORD];
        for (slots, word) in slots.chunks(WORD).zip(&mut words) {
            let kinds = slots.iter().fold(0, |word, slot| self.collect(word, slot.borrow()));
            *word = kinds >> (WORD - slots.len());
        }
        for ((slot, ticks), id) in slots.iter().zip(ticks).zip(ids) {
            let record = Record::from_bytes(slot.borrow());
            *ticks = record.tsc.wrapping_sub(self.first);
            *id = u32::from(record.code());
        }
        Marks::of(words, slots.len())
    }

    /// Puts the kinds of a record to those of the records before it.
    #[inline(always)]
    fn collect(&self, word: u64, slot: &Slot) -> u64 {
        let record = Record::from_bytes(slot);
        let first = self.tasks.met_before(record.par1);
        let second = if record.par2 == u32::from(record.par1) { ALIKE } else { 0 };
        (word >> 1) | KINDS[usize::from(record.code())] | first | second
    }

    /// Fills the contexts of a group; returns for how many records: up to one behind which the
    /// survey has to be made anew. 0 where the first one begins a batch.
    #[inline(always)]
    fn follow<S: Borrow<Slot>>(
        &mut self,
        group: &Group<'_, S>,
        ticks: &[u64],
        contexts: &mut [ContextId],
        first: bool,
        trace: &mut Trace,
    ) -> usize {
        let mut rows = [self.unknown(trace); GROUP + AT_ONCE];
        // Rows of interrupts; those have their contexts beneath.
        let mut served = 0;
        let mut done = self.pass(group, 0, &mut rows, &mut served);
        while let Some(slot) = group.slots.get(done) {
            self.ticks = ticks.get(done).copied().unwrap_or(self.ticks);
            let Some(found) = self.closely(slot.borrow(), trace, first && done == 0) else { break };
            rows[done] = found.by;
            done += 1;
            if found.may_rename {
                break;
            }
            done = self.pass(group, done, &mut rows, &mut served);
        }
        let contexts = contexts.get_mut(..done).unwrap_or_default();
        choose(contexts, &rows, served, self.interrupt.or_first());
        done
    }

    /// Fills the rows of records from one on of which the sets tell everything; returns the first one
    /// behind them.
    #[inline(always)]
    fn pass<S: Borrow<Slot>>(
        &mut self,
        Group { slots, marks }: &Group<'_, S>,
        from: usize,
        rows: &mut Rows,
        interrupts: &mut u64,
    ) -> usize {
        let passed = Passed::new(&self.running, marks, from, slots.len(), self.stops(marks));
        *interrupts |= passed.inside | passed.exits;
        let named = |index: usize| {
            let slot = slots.get(index).map(|slot| Record::from_bytes(slot.borrow()));
            slot.map_or(MaybeContext::NONE, |record| self.tasks.known(record.par1))
        };
        let shown = |task: MaybeContext| {
            if task == MaybeContext::NONE { self.unknown.or_first() } else { task.or_first() }
        };
        let mut now = passed.now_at_first(&self.running);
        let mut at = from;
        for index in members(passed.changes & below(passed.open)) {
            fill_rows(rows, at, index + 1, shown(now));
            now = named(index);
            at = index + 1;
        }
        fill_rows(rows, at, passed.to, shown(now));
        let chosen = match passed.last_choice() {
            Some(index) => named(index),
            None => passed.chosen_at_last(&self.running),
        };
        self.running = Running {
            now,
            chosen,
            depth: self.running.depth - u64::from(passed.served) + u64::from(passed.is_open),
            choices_told: self.running.choices_told | (passed.chooses != 0),
        };
        passed.to
    }

    /// Records that sets do not tell enough of as things are.
    #[inline(always)]
    fn stops(&self, marks: &Marks) -> u64 {
        let mut stops = marks.closely;
        if self.running.depth > 1 {
            stops |= marks.enters | marks.exits | marks.chooses;
        }
        if self.interrupt == MaybeContext::NONE {
            stops |= marks.enters;
        }
        // Systems log loads of some switches only; where choices are told, loads tell nothing.
        if !self.running.choices_told || self.running.now == MaybeContext::NONE {
            stops |= marks.loads;
        }
        stops
    }
}

/// For each set of four rows, all bits of its members.
const FOUR: [[u32; 4]; 16] = {
    let mut four = [[0; 4]; 16];
    let mut set = 0;
    while set < 16 {
        let mut row = 0;
        while row < 4 {
            four[set][row] = if set >> row & 1 == 1 { u32::MAX } else { 0 };
            row += 1;
        }
        set += 1;
    }
    four
};

/// Copies contexts, but for those of a set, which is given another.
#[inline(always)]
fn choose(to: &mut [ContextId], from: &Rows, mut set: u64, context: ContextId) {
    let (fours, _) = from.as_chunks::<4>();
    let one = |four: &[ContextId; 4], set: u64| {
        let mask = FOUR[set as usize % 16];
        std::array::from_fn(|row| ContextId((four[row].0 & !mask[row]) | (context.0 & mask[row])))
    };
    let (to, rest) = to.as_chunks_mut::<4>();
    for (to, four) in to.iter_mut().zip(fours) {
        *to = one(four, set);
        set >>= 4;
    }
    if let Some(four) = fours.get(to.len()) {
        let last: [_; 4] = one(four, set);
        rest.iter_mut().zip(last).for_each(|(to, context)| *to = context);
    }
}
