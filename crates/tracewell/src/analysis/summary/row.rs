//! One row of states: all changes, encoded in blocks, and levels of sums. The first level contains
//! a sum for each block. Each further level contains one sum for every `FAN` sums of the previous
//! level.
//!
//! Blocks and the sums of each level are stored in segments. The sums or the blocks of a complete
//! segment form one record of the pool. Only the segments that are not complete stay in memory.

use std::collections::HashMap;
use std::hash::Hash;

use foldhash::fast::RandomState;

use super::encoded::{MAX_CHANGE, START, put};
use super::level::{Classed, FAN, SEGMENT, Sum, Sums};
use super::pool::{Pool, Record};
use crate::analysis::stored::{Stored, put_bytes, take_bytes};
use crate::analysis::tracks::{Change, Holder, Occupant, Position, State};

/// Number of changes in a block. In tests, blocks are small, so that even a short row has several.
pub(super) const BLOCK: usize = if cfg!(test) { 8 } else { 64 };

/// Number of places for recent states; a power of two.
const PLACES: usize = 256;

/// A state of a row.
pub(super) trait RowState: Copy + Eq + Hash + Classed {
    /// Returns a number that differs between all states. Implementations avoid branches that depend
    /// on the state, because the order of the states in a row is not predictable.
    fn bits(self) -> u128;
}

/// Combines the variant of a state and the contents of the variant into one number.
#[inline(always)]
pub(super) fn bits(variant: u8, high: u32, low: u32) -> u128 {
    u128::from(variant) << 64 | u128::from(high) << 32 | u128::from(low)
}

impl RowState for State {
    #[inline(always)]
    fn bits(self) -> u128 {
        let variant = match self {
            Self::Unknown => 0,
            Self::Running(_) => 1,
            Self::Interrupted => 2,
            Self::Preempted => 3,
            Self::Ready => 4,
            Self::Blocked(_) => 5,
            Self::Sleeping => 6,
            Self::Done => 7,
            Self::Off => 8,
            Self::Deleted => 9,
        };
        let of = if let Self::Running(of) = self { of.bits() } else { 0 };
        let reason = if let Self::Blocked(reason) = self { reason } else { 0 };
        let content = of | reason;
        bits(variant, 0, content)
    }
}

impl RowState for Occupant {
    #[inline(always)]
    fn bits(self) -> u128 {
        match self {
            Self::Unknown => bits(0, 0, 0),
            Self::Idle => bits(1, 0, 0),
            Self::Task { runs, of } => bits(2, runs.0, of.bits()),
            Self::Interrupt { number, depth } => {
                bits(3 + u8::from(number.is_some()), u32::from(depth), number.unwrap_or(0))
            }
        }
    }
}

impl RowState for Holder {
    #[inline(always)]
    fn bits(self) -> u128 {
        match self {
            Self::Unknown => bits(0, 0, 0),
            Self::Free => bits(1, 0, 0),
            Self::Context(context) => bits(2, 0, context.0),
        }
    }
}

/// Returns the place of a state in [`SummaryRow::recent`].
#[inline(always)]
fn place(bits: u128) -> usize {
    // Shift the variant, because contents are small numbers like the variants. The highest bits of
    // the product depend on all bits of the state.
    let folded = bits as u64 ^ ((bits >> 64) as u64) << 24;
    (folded.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - PLACES.ilog2())) as usize % PLACES
}

/// A row of a summary. States are numbered in the order of their first occurrence.
#[derive(Clone, Debug)]
pub(super) struct SummaryRow<S> {
    pub(super) states: Vec<S>,
    /// For each state, the number of the first state of its class.
    pub(super) classes: Vec<u32>,
    number_of: HashMap<S, u32, RandomState>,
    class_of: HashMap<u64, u32, RandomState>,
    /// The bits of each state.
    bits: Vec<u128>,
    /// The numbers of recent states; 0 is also the value of an empty place. Most look-ups need no
    /// hash table.
    recent: [u32; PLACES],
    /// The sums of each level. The first level exists if there are blocks.
    pub(super) levels: Vec<Sums>,
    /// The records of the complete segments. Each record contains the blocks of one segment.
    pub(super) sealed: Vec<Record>,
    /// The blocks after the complete segments.
    pub(super) blocks: Blocks,
    /// The changes after the last block.
    pub(super) open: Vec<(Position, u32)>,
    /// Empty, except while a block is being closed.
    sum: Sum,
}

/// Encoded blocks, one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Blocks {
    bytes: Vec<u8>,
    /// The end of each block in bytes.
    ends: Vec<usize>,
}

impl Blocks {
    /// Returns the encoded changes of a block.
    pub(super) fn block(&self, block: usize) -> &[u8] {
        let start = block.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[block]]
    }

    fn put(&self, out: &mut Vec<u8>) {
        put_bytes(&self.bytes, out);
        self.ends.put(out);
    }

    /// Reads this number of blocks from the input. Returns `None` if their ends are not valid.
    pub(super) fn take(input: &mut &[u8], blocks: usize) -> Option<Self> {
        let (bytes, ends) = (take_bytes(input)?.to_vec(), Vec::<usize>::take(input)?);
        let is_sound = ends.len() == blocks
            && ends.is_sorted()
            && ends.last().copied().unwrap_or(0) == bytes.len();
        is_sound.then_some(Self { bytes, ends })
    }

    /// If the segment is complete, writes it to the pool and begins the next one.
    fn seal(&mut self, pool: &mut Pool) -> Option<Record> {
        if self.ends.len() < SEGMENT {
            return None;
        }
        let record = pool.push(|out| self.put(out));
        // Keep the memory for the next segment.
        self.bytes.clear();
        self.ends.clear();
        Some(record)
    }
}

impl<S> Default for SummaryRow<S> {
    fn default() -> Self {
        Self {
            states: Vec::new(),
            classes: Vec::new(),
            number_of: HashMap::default(),
            class_of: HashMap::default(),
            bits: Vec::new(),
            recent: [0; PLACES],
            levels: Vec::new(),
            sealed: Vec::new(),
            blocks: Blocks::default(),
            open: Vec::new(),
            sum: Sum::default(),
        }
    }
}

impl<S: Stored + RowState> Stored for SummaryRow<S> {
    fn put(&self, out: &mut Vec<u8>) {
        let Self { states, levels, sealed, blocks, open, .. } = self;
        states.put(out);
        levels.put(out);
        sealed.put(out);
        blocks.ends.len().put(out);
        blocks.put(out);
        open.put(out);
    }

    /// Takes a row. Returns `None` if the lists of the row do not fit together.
    fn take(input: &mut &[u8]) -> Option<Self> {
        let mut row = Self::default();
        for state in Vec::take(input)? {
            row.number(state);
        }
        row.levels = Stored::take(input)?;
        row.sealed = Stored::take(input)?;
        let blocks = usize::take(input)?;
        row.blocks = Blocks::take(input, blocks)?;
        row.open = Stored::take(input)?;
        row.is_sound().then_some(row)
    }
}

impl<S: RowState> SummaryRow<S> {
    /// Returns true if all indices are valid.
    fn is_sound(&self) -> bool {
        let Self { states, levels, sealed, blocks, open, .. } = self;
        let Some(all) = sealed.len().checked_mul(SEGMENT) else { return false };
        let mut parts = all + blocks.ends.len();
        let has_blocks = parts > 0;
        let fits = |level: &Sums| {
            let is_sound = level.is_sound(parts, states.len());
            parts /= FAN;
            is_sound
        };
        blocks.ends.len() < SEGMENT
            && levels.iter().all(fits)
            && parts == 0
            && (!has_blocks || !open.is_empty())
            && open.iter().all(|(_, state)| (*state as usize) < states.len())
    }

    /// Returns true if the pool contains all records of the row.
    pub(super) fn is_in(&self, pool: &Pool) -> bool {
        self.sealed.iter().all(|record| pool.has(record))
            && self.levels.iter().all(|level| level.is_in(pool))
    }

    /// Returns the number of blocks.
    pub(super) fn count_blocks(&self) -> usize {
        self.levels.first().map_or(0, Sums::len)
    }

    /// Returns the number that identifies a state in this row.
    #[inline]
    pub(super) fn number(&mut self, state: S) -> u32 {
        let bits = state.bits();
        let number = self.recent[place(bits)];
        match self.bits.get(number as usize) {
            Some(known) if *known == bits => number,
            _ => self.find_number(state, bits),
        }
    }

    #[inline(never)]
    fn find_number(&mut self, state: S, bits: u128) -> u32 {
        let next = self.states.len() as u32;
        let number = *self.number_of.entry(state).or_insert(next);
        if number == next {
            self.states.push(state);
            self.bits.push(bits);
            self.classes.push(*self.class_of.entry(state.class()).or_insert(next));
        }
        self.recent[place(bits)] = number;
        number
    }

    /// Adds changes that follow the existing changes of the row.
    pub(super) fn extend(&mut self, mut changes: &[Change<S>], pool: &mut Pool) {
        while let [next, ..] = changes {
            if self.open.len() == BLOCK {
                self.close(next.at, pool);
            }
            let room = BLOCK.saturating_sub(self.open.len()).clamp(1, changes.len());
            let (fitting, rest) = changes.split_at(room);
            let mut open = std::mem::take(&mut self.open);
            open.extend(fitting.iter().map(|change| (change.at, self.number(change.state))));
            (self.open, changes) = (open, rest);
        }
    }

    /// Encodes the open changes as a block. The state of the last change lasts until `end`.
    fn close(&mut self, end: Position, pool: &mut Pool) {
        let Self { classes, blocks, open, sum, .. } = self;
        let from = open[0].0;
        let (mut last, mut length) = (START, blocks.bytes.len());
        blocks.bytes.resize(length + open.len() * MAX_CHANGE, 0);
        open.push((end, 0));
        for pair in open.windows(2) {
            let [(at, state), (until, _)] = [pair[0], pair[1]];
            length += put(&mut blocks.bytes[length..], last, at, state);
            sum.add(classes[state as usize], state, until.ticks.saturating_sub(at.ticks));
            last = at;
        }
        blocks.bytes.truncate(length);
        blocks.ends.push(length);
        open.clear();
        self.raise(from, pool);
        self.sealed.extend(self.blocks.seal(pool));
    }

    /// Adds the sum of a block to the first level. If this completes a group in a level, adds the
    /// group's sum to the next level.
    fn raise(&mut self, from: Position, pool: &mut Pool) {
        let Self { classes, levels, sum, .. } = self;
        let mut next = Some(from);
        for number in 0.. {
            let Some(from) = next else { return };
            if number == levels.len() {
                levels.push(Sums::default());
            }
            next = levels[number].push(from, sum, classes, pool);
        }
    }

    /// Returns the number of changes.
    pub(super) fn count(&self) -> u64 {
        (self.count_blocks() * BLOCK + self.open.len()) as u64
    }

    /// Returns the position at which a part of a level begins. `part` must be the first part of a
    /// complete segment, any part after the complete segments, or the next part to be added. If the
    /// level does not contain the part yet, returns the beginning of the corresponding part in the
    /// level below.
    pub(super) fn start(&self, level: usize, part: usize) -> Position {
        let here = self.levels.get(level).and_then(|level| level.start(part));
        here.unwrap_or_else(|| match level.checked_sub(1) {
            Some(below) => self.start(below, part * FAN),
            // The last block is closed when another change follows it.
            None => self.open.first().map_or(START, |(at, _)| *at),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ContextId, MaybeContext};

    /// Number of blocks that fill whole segments of blocks and one segment of sums.
    const BLOCKS: usize = SEGMENT * FAN;

    #[test]
    fn different_states_have_different_bits() {
        fn assert_differ<S: RowState + PartialEq + std::fmt::Debug>(states: &[S]) {
            for (index, state) in states.iter().enumerate() {
                for other in &states[..index] {
                    assert_ne!(state.bits(), other.bits(), "{state:?} {other:?}");
                }
            }
        }
        let numbers = [0, 1, u32::MAX];
        let mut states = vec![
            State::Unknown,
            State::Interrupted,
            State::Preempted,
            State::Ready,
            State::Sleeping,
            State::Done,
            State::Off,
            State::Deleted,
        ];
        states.extend(numbers.map(State::Blocked));
        assert_differ(&states);
        let task = |runs: u32| Occupant::Task { runs: ContextId(runs), of: MaybeContext::NONE };
        let mut occupants = vec![Occupant::Unknown, Occupant::Idle];
        occupants.extend(numbers.map(task));
        for depth in [0, 1] {
            occupants.push(Occupant::Interrupt { number: None, depth });
            occupants.extend(numbers.map(|n| Occupant::Interrupt { number: Some(n), depth }));
        }
        assert_differ(&occupants);
        let mut holders = vec![Holder::Unknown, Holder::Free];
        holders.extend(numbers.map(|context| Holder::Context(ContextId(context))));
        assert_differ(&holders);
    }

    /// Returns a row with this number of blocks and with two open changes, and its records.
    fn filled(blocks: usize) -> (SummaryRow<Holder>, Pool) {
        let (mut row, mut pool) = (SummaryRow::default(), Pool::default());
        let changes = (0..blocks * BLOCK + 2).map(|index| {
            let at = Position { ticks: 10 * index as u64, seq: index as u64 };
            Change { at, state: if index % 2 == 0 { Holder::Free } else { Holder::Unknown } }
        });
        row.extend(&changes.collect::<Vec<_>>(), &mut pool);
        (row, pool)
    }

    fn again(row: &SummaryRow<Holder>) -> Option<SummaryRow<Holder>> {
        let mut bytes = Vec::new();
        row.put(&mut bytes);
        SummaryRow::take(&mut bytes.as_slice())
    }

    #[test]
    fn a_row_is_the_same_after_reading() {
        let (row, pool) = filled(BLOCKS + 3);
        let read = again(&row).unwrap();
        assert!(read.is_in(&pool) && !read.is_in(&Pool::default()));
        assert_eq!((read.count(), &read.open), (row.count(), &row.open));
        let range = 0..u64::MAX;
        let shown = |row: &SummaryRow<Holder>| row.row(&range, 0, None, &pool).unwrap();
        assert_eq!(shown(&read), shown(&row));
        let empty = SummaryRow::default();
        assert_eq!(again(&empty).unwrap().count(), 0);
    }

    #[test]
    fn a_row_whose_lists_do_not_fit_together_is_not_read() {
        let is_read = |change: &dyn Fn(&mut SummaryRow<Holder>)| {
            let (mut row, _) = filled(BLOCKS + 3);
            change(&mut row);
            again(&row).is_some()
        };
        assert!(is_read(&|_| {}));
        assert!(!is_read(&|row| row.open.clear()), "the last block has no end");
        assert!(!is_read(&|row| row.open[0].1 = 2), "there is no state 2");
        assert!(!is_read(&|row| row.states.truncate(1)), "there is no state 1");
        assert!(!is_read(&|row| _ = row.levels.pop()), "the last level is missing");
        assert!(!is_read(&|row| _ = row.levels.remove(0)), "the first level is missing");
        assert!(!is_read(&|row| _ = row.sealed.pop()), "a segment is missing");
        assert!(!is_read(&|row| _ = row.blocks.ends.pop()), "a block has no end");
        assert!(!is_read(&|row| row.blocks.ends.swap(0, 1)), "a block ends before it begins");
        assert!(!is_read(&|row| row.blocks.bytes.push(0)), "there is a byte too much");
        // These lists agree, but the blocks of a complete segment must be a record.
        let (mut row, _) = filled(BLOCKS);
        row.blocks.ends = vec![0; SEGMENT];
        row.sealed.pop();
        assert!(again(&row).is_none());
    }
}
