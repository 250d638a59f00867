//! One row of states: all changes, encoded in blocks, and levels of sums. The first level contains
//! a sum for each block. Each further level contains a sum for each `FAN` sums of the previous
//! level.
//!
//! Blocks and the first level are stored in segments. A complete segment consists of two records of
//! the pool. The further levels stay in memory: they have about one sum for 500 changes.

use std::collections::HashMap;
use std::hash::Hash;

use foldhash::fast::RandomState;

use super::encoded::{START, put};
use super::level::{Classed, Level, Sum};
use super::pool::{Pool, Record};
use crate::analysis::stored::{Stored, put_bytes, stored_structs, take_bytes};
use crate::analysis::tracks::{Change, Holder, Occupant, Position, State};

/// Number of changes in a block. In tests, blocks and segments are small, so that even a short row
/// has several.
pub(super) const BLOCK: usize = if cfg!(test) { 8 } else { 64 };

/// Number of sums that are combined into one sum of the next level.
pub(super) const FAN: usize = 8;

/// Number of blocks in a segment: a power of `FAN`.
pub(super) const SEGMENT: usize = if cfg!(test) { FAN } else { FAN * FAN * FAN };

/// Number of places for the numbers of recent states; a power of two.
const PLACES: usize = 64;

/// A state of a row.
pub(super) trait RowState: Copy + Eq + Hash + Classed {
    /// Returns a number that usually differs between the states of a row.
    fn hint(self) -> usize;
}

impl RowState for State {
    fn hint(self) -> usize {
        match self {
            Self::Unknown => 0,
            // A context usually runs for itself.
            Self::Running(_) => 1,
            Self::Interrupted => 2,
            Self::Preempted => 3,
            Self::Ready => 4,
            Self::Sleeping => 5,
            Self::Done => 6,
            Self::Off => 7,
            Self::Deleted => 8,
            Self::Blocked(reason) => 9 + reason as usize,
        }
    }
}

impl RowState for Occupant {
    fn hint(self) -> usize {
        match self {
            Self::Unknown => 0,
            Self::Idle => 1,
            Self::Interrupt { depth, .. } => 2 + usize::from(depth & 3),
            Self::Task { runs, .. } => 6 + runs.index(),
        }
    }
}

impl RowState for Holder {
    fn hint(self) -> usize {
        match self {
            Self::Unknown => 0,
            Self::Free => 1,
            Self::Context(context) => 2 + context.index(),
        }
    }
}

/// A row of a summary. States are numbered in the order of their first occurrence.
#[derive(Clone, Debug)]
pub(super) struct SummaryRow<S> {
    pub(super) states: Vec<S>,
    /// For each state, the number of the first state of its class.
    pub(super) classes: Vec<u32>,
    number_of: HashMap<S, u32, RandomState>,
    class_of: HashMap<u64, u32, RandomState>,
    /// The numbers of recent states, each at the place that the state's hint determines. Most
    /// look-ups need no hash table.
    recent: [u32; PLACES],
    pub(super) sealed: Vec<Sealed>,
    /// The blocks after the sealed segments.
    pub(super) segment: Segment,
    /// The sums of each level after the first.
    pub(super) levels: Vec<Level>,
    /// The changes after the last block.
    pub(super) open: Vec<(Position, u32)>,
}

/// Blocks and their sums.
#[derive(Clone, Debug, Default)]
pub(super) struct Segment {
    /// The encoded blocks, one after the other, and the end of each block in bytes.
    bytes: Vec<u8>,
    ends: Vec<usize>,
    pub(super) sums: Level,
}

/// A segment in the pool: one record with its sums, and one with its blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sealed {
    pub(super) sums: Record,
    pub(super) blocks: Record,
}

stored_structs! {
    Sealed { sums, blocks }
}

impl Segment {
    /// Returns the encoded changes of a block.
    pub(super) fn block(&self, block: usize) -> &[u8] {
        let start = block.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[block]]
    }

    fn put_blocks(&self, out: &mut Vec<u8>) {
        put_bytes(&self.bytes, out);
        self.ends.put(out);
    }

    /// Reads this number of blocks, without their sums, from the input. Returns `None` if their
    /// ends are not valid.
    pub(super) fn take_blocks(input: &mut &[u8], blocks: usize) -> Option<Self> {
        let (bytes, ends) = (take_bytes(input)?.to_vec(), Vec::<usize>::take(input)?);
        let is_sound = ends.len() == blocks
            && ends.is_sorted()
            && ends.last().copied().unwrap_or(0) == bytes.len();
        is_sound.then_some(Self { bytes, ends, sums: Level::default() })
    }

    /// Writes the segment to the pool, and clears it.
    fn seal(&mut self, pool: &mut Pool) -> Sealed {
        let mut record = Vec::new();
        self.sums.put(&mut record);
        let sums = pool.push(&record);
        record.clear();
        self.put_blocks(&mut record);
        let blocks = pool.push(&record);
        *self = Self::default();
        Sealed { sums, blocks }
    }
}

impl<S> Default for SummaryRow<S> {
    fn default() -> Self {
        Self {
            states: Vec::new(),
            classes: Vec::new(),
            number_of: HashMap::default(),
            class_of: HashMap::default(),
            recent: [0; PLACES],
            sealed: Vec::new(),
            segment: Segment::default(),
            levels: Vec::new(),
            open: Vec::new(),
        }
    }
}

impl<S: Stored + RowState> Stored for SummaryRow<S> {
    fn put(&self, out: &mut Vec<u8>) {
        let Self { states, sealed, segment, levels, open, .. } = self;
        states.put(out);
        sealed.put(out);
        segment.ends.len().put(out);
        segment.put_blocks(out);
        segment.sums.put(out);
        levels.put(out);
        open.put(out);
    }

    /// Takes a row. Returns `None` if the lists of the row do not fit together.
    fn take(input: &mut &[u8]) -> Option<Self> {
        let mut row = Self::default();
        for state in Vec::take(input)? {
            row.number(state);
        }
        row.sealed = Stored::take(input)?;
        let blocks = usize::take(input)?;
        row.segment = Segment::take_blocks(input, blocks)?;
        row.segment.sums = Stored::take(input)?;
        row.levels = Stored::take(input)?;
        row.open = Stored::take(input)?;
        row.is_sound().then_some(row)
    }
}

impl<S: RowState> SummaryRow<S> {
    /// Returns true if all indices are valid.
    fn is_sound(&self) -> bool {
        let Self { states, segment, levels, open, .. } = self;
        let mut parts = self.blocks();
        let fits = |level: &Level| {
            parts /= FAN;
            level.is_sound(parts, states.len())
        };
        segment.ends.len() < SEGMENT
            && segment.sums.is_sound(segment.ends.len(), states.len())
            && levels.iter().all(fits)
            && parts < FAN
            && (self.blocks() == 0 || !open.is_empty())
            && open.iter().all(|(_, state)| (*state as usize) < states.len())
    }

    /// Returns true if the pool contains all records of the row.
    pub(super) fn is_in(&self, pool: &Pool) -> bool {
        self.sealed.iter().all(|sealed| pool.has(&sealed.sums) && pool.has(&sealed.blocks))
    }

    /// Returns the number of blocks.
    pub(super) fn blocks(&self) -> usize {
        self.sealed.len() * SEGMENT + self.segment.ends.len()
    }

    /// Returns the number that identifies a state in this row.
    #[inline]
    pub(super) fn number(&mut self, state: S) -> u32 {
        let recent = &mut self.recent[state.hint() % PLACES];
        if self.states.get(*recent as usize) != Some(&state) {
            let next = self.states.len() as u32;
            *recent = *self.number_of.entry(state).or_insert(next);
            if *recent == next {
                self.states.push(state);
                self.classes.push(*self.class_of.entry(state.class()).or_insert(next));
            }
        }
        *recent
    }

    /// Adds changes that follow the existing changes of the row.
    pub(super) fn extend(&mut self, changes: impl Iterator<Item = Change<S>>, pool: &mut Pool) {
        for Change { at, state } in changes {
            if self.open.len() == BLOCK {
                self.close(at, pool);
            }
            let number = self.number(state);
            self.open.push((at, number));
        }
    }

    /// Encodes the open changes as a block, which ends with a change at `end`.
    fn close(&mut self, end: Position, pool: &mut Pool) {
        let Self { classes, segment, open, .. } = self;
        let mut sum = Sum::default();
        let mut last = START;
        for (index, (at, state)) in open.iter().enumerate() {
            put(&mut segment.bytes, last, *at, *state);
            let until = open.get(index + 1).map_or(end, |(next, _)| *next);
            let ticks = until.ticks.saturating_sub(at.ticks);
            sum.add(classes[*state as usize], *state, ticks);
            last = *at;
        }
        segment.sums.push(open[0].0, &sum);
        segment.ends.push(segment.bytes.len());
        open.clear();
        self.raise();
        if self.segment.ends.len() == SEGMENT {
            let sealed = self.segment.seal(pool);
            self.sealed.push(sealed);
        }
    }

    /// If the last block completed groups, adds the sums of these groups to the further levels.
    fn raise(&mut self) {
        let Self { classes, segment, levels, .. } = self;
        let mut group = Some(group_of(&segment.sums, classes));
        for number in 0.. {
            let Some((from, sum)) = group.take().flatten() else { return };
            if number == levels.len() {
                levels.push(Level::default());
            }
            levels[number].push(from, &sum);
            group = Some(group_of(&levels[number], classes));
        }
    }

    /// Returns the number of changes.
    pub(super) fn count(&self) -> u64 {
        (self.blocks() * BLOCK + self.open.len()) as u64
    }

    /// Returns the position at which a block begins, if the block is the first of a group or is not
    /// sealed. A block begins where the block before it ends.
    pub(super) fn start(&self, block: usize) -> Position {
        let first = || self.levels.first()?.from.get(block / FAN);
        let first = if block.is_multiple_of(FAN) { first() } else { None };
        let unsealed =
            || self.segment.sums.from.get(block.checked_sub(self.sealed.len() * SEGMENT)?);
        // The last block is closed when another change follows it.
        let open = || self.open.first().map(|(at, _)| at);
        first.or_else(unsealed).or_else(open).copied().unwrap_or(START)
    }

    /// Returns the position at which a part of a level ends. Level 0 consists of the blocks.
    pub(super) fn end(&self, level: usize, part: usize) -> Position {
        let mut next = part + 1;
        for level in self.levels[..level].iter().rev() {
            if let Some(from) = level.from.get(next) {
                return *from;
            }
            next *= FAN;
        }
        self.start(next)
    }
}

/// If the last part of a level completes a group of `FAN` parts, returns the position of the
/// group's first change, and the sum of the group.
fn group_of(level: &Level, classes: &[u32]) -> Option<(Position, Sum)> {
    let parts = level.len();
    if !parts.is_multiple_of(FAN) {
        return None;
    }
    let mut sum = Sum::default();
    for part in parts - FAN..parts {
        level.shares(part).iter().for_each(|share| {
            sum.add(classes[share.state as usize], share.state, share.ticks);
        });
    }
    Some((level.from[parts - FAN], sum))
}
