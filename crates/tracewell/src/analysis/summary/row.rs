//! One row of states: all changes, encoded in blocks, and levels of sums. The first level contains
//! a sum for each block. Each further level contains a sum for each `FAN` sums of the previous
//! level.

use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Range;

use foldhash::fast::RandomState;

use super::encoded::{START, changes, put};
use crate::analysis::stored::{Stored, put_bytes, stored_structs, take_bytes};
use crate::analysis::total::Total;
use crate::analysis::tracks::{Change, Holder, Occupant, Position, Row, State};

/// Number of changes in a block.
const BLOCK: usize = 64;

/// Number of sums that a sum of the next level contains.
const FAN: usize = 8;

/// Number of places in which a row remembers the numbers of states; a power of two.
const PLACES: usize = 64;

/// A state of a row.
pub(super) trait RowState: Copy + Eq + Hash {
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
    states: Vec<S>,
    number_of: HashMap<S, u32, RandomState>,
    /// The numbers of recent states by their hints. Most look-ups need no hash table.
    recent: [u32; PLACES],
    /// The encoded blocks, one after the other, and the end of each block in bytes.
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// The levels of sums, beginning with the sums over blocks.
    levels: Vec<Level>,
    /// The changes after the last block.
    open: Vec<(Position, u32)>,
    /// Sums up blocks; empty between them.
    sum: Sum,
}

/// Sums over consecutive parts of a row.
#[derive(Clone, Debug, Default)]
struct Level {
    /// The first change of each part.
    from: Vec<Position>,
    /// For each part, the index after its last entry in `shares`.
    ends: Vec<usize>,
    /// For each part, its states in the order of their first occurrence, and their ticks.
    shares: Vec<Share>,
}

#[derive(Clone, Copy, Debug)]
struct Share {
    state: u32,
    ticks: u64,
}

stored_structs! {
    Level { from, ends, shares }
    Share { state, ticks }
}

impl Level {
    fn shares(&self, part: usize) -> &[Share] {
        let start = part.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.shares[start..self.ends[part]]
    }

    fn push(&mut self, from: Position, sum: &Sum) {
        self.from.push(from);
        self.shares.extend_from_slice(&sum.shares);
        self.ends.push(self.shares.len());
    }
}

/// Time by state, in the order of the first occurrence.
#[derive(Clone, Debug, Default)]
struct Sum {
    shares: Vec<Share>,
    /// For each state, one more than the index of its share, or 0 if it has no share.
    places: Vec<u32>,
}

impl Sum {
    #[inline]
    fn add(&mut self, state: u32, ticks: u64) {
        let state_index = state as usize;
        if state_index >= self.places.len() {
            self.places.resize(state_index + 1, 0);
        }
        let place = &mut self.places[state_index];
        match place.checked_sub(1) {
            Some(index) => self.shares[index as usize].ticks.charge(ticks),
            None => {
                self.shares.push(Share { state, ticks });
                *place = self.shares.len() as u32;
            }
        }
    }

    /// Removes all times.
    fn clear(&mut self) {
        for share in self.shares.drain(..) {
            self.places[share.state as usize] = 0;
        }
    }
}

impl<S> Default for SummaryRow<S> {
    fn default() -> Self {
        Self {
            states: Vec::new(),
            number_of: HashMap::default(),
            recent: [0; PLACES],
            bytes: Vec::new(),
            ends: Vec::new(),
            levels: Vec::new(),
            open: Vec::new(),
            sum: Sum::default(),
        }
    }
}

impl<S: Stored + RowState> Stored for SummaryRow<S> {
    fn put(&self, out: &mut Vec<u8>) {
        let Self { states, bytes, ends, levels, open, .. } = self;
        states.put(out);
        put_bytes(bytes, out);
        ends.put(out);
        levels.put(out);
        open.put(out);
    }

    /// Takes a row. Returns `None` if the lists of the row do not fit together.
    fn take(input: &mut &[u8]) -> Option<Self> {
        let row = Self {
            states: Stored::take(input)?,
            bytes: take_bytes(input)?.to_vec(),
            ends: Stored::take(input)?,
            levels: Stored::take(input)?,
            open: Stored::take(input)?,
            ..Self::default()
        };
        let number_of = row.states.iter().copied().zip(0..).collect();
        row.is_sound().then_some(Self { number_of, ..row })
    }
}

impl<S: RowState> SummaryRow<S> {
    /// Returns true if all indices are valid.
    fn is_sound(&self) -> bool {
        let Self { states, bytes, ends, levels, open, .. } = self;
        let is_state = |state: u32| (state as usize) < states.len();
        let mut parts = ends.len();
        let fits = |level: &Level| {
            let Level { from, ends, shares } = level;
            let has_parts = from.len() == parts && ends.len() == parts;
            parts /= FAN;
            // Each part has at least one state.
            let mut start = 0;
            let rise = ends.iter().all(|end| std::mem::replace(&mut start, *end) < *end);
            let are_states = shares.iter().all(|share| is_state(share.state));
            has_parts && rise && start == shares.len() && are_states
        };
        ends.is_sorted()
            && ends.last().is_none_or(|end| *end == bytes.len())
            && levels.iter().all(fits)
            && (ends.is_empty() || !open.is_empty() && !levels.is_empty())
            && open.iter().all(|(_, state)| is_state(*state))
    }

    /// Adds changes that follow the existing changes of the row.
    pub(super) fn extend(&mut self, changes: impl Iterator<Item = Change<S>>) {
        for Change { at, state } in changes {
            if self.open.len() == BLOCK {
                self.close(at);
            }
            let number = self.number(state);
            self.open.push((at, number));
        }
    }

    /// Returns the number of a state.
    #[inline]
    fn number(&mut self, state: S) -> u32 {
        let recent = &mut self.recent[state.hint() % PLACES];
        if self.states.get(*recent as usize) != Some(&state) {
            let next = self.states.len() as u32;
            *recent = *self.number_of.entry(state).or_insert(next);
            if *recent == next {
                self.states.push(state);
            }
        }
        *recent
    }

    /// Encodes the open changes as a block, which ends with a change at `end`.
    fn close(&mut self, end: Position) {
        let sum = &mut self.sum;
        let mut last = START;
        for (index, (at, state)) in self.open.iter().enumerate() {
            put(&mut self.bytes, last, *at, *state);
            let until = self.open.get(index + 1).map_or(end, |(next, _)| *next);
            sum.add(*state, until.ticks.saturating_sub(at.ticks));
            last = *at;
        }
        let mut from = self.open[0].0;
        self.ends.push(self.bytes.len());
        self.open.clear();
        for number in 0.. {
            if number == self.levels.len() {
                self.levels.push(Level::default());
            }
            let level = &mut self.levels[number];
            level.push(from, sum);
            sum.clear();
            let parts = level.from.len();
            if !parts.is_multiple_of(FAN) {
                return;
            }
            // The group is complete, so its sum is added to the next level.
            for part in parts - FAN..parts {
                level.shares(part).iter().for_each(|share| sum.add(share.state, share.ticks));
            }
            from = level.from[parts - FAN];
        }
    }

    /// Returns the number of changes.
    pub(super) fn count(&self) -> u64 {
        (self.ends.len() * BLOCK + self.open.len()) as u64
    }

    /// Returns the part of the row that overlaps a range, at a resolution; see
    /// [`super::Summary::tracks`]. `last` is the change that follows the changes of the row, if
    /// there is one.
    pub(super) fn row(
        &self,
        range: &Range<u64>,
        resolution: u64,
        last: Option<&Change<S>>,
    ) -> Row<S> {
        let mut view = View {
            row: self,
            range,
            resolution,
            shown: Vec::new(),
            sum: Sum::default(),
            from: START,
            length: 0,
            is_complete: false,
        };
        // Each level contains only the sums of complete groups. The levels below contain the rest.
        let mut summed = 0;
        for (number, level) in self.levels.iter().enumerate().rev() {
            (summed..level.from.len()).for_each(|part| view.part(number, part));
            summed = level.from.len() * FAN;
        }
        for (index, (at, state)) in self.open.iter().enumerate() {
            let next = self.open.get(index + 1).map(|(next, _)| *next);
            match next.or(last.map(|last| last.at)) {
                Some(next) => view.span(*at, next, *state),
                None => view.last(*at, self.states[*state as usize]),
            }
        }
        if let Some(Change { at, state }) = last {
            view.last(*at, *state);
        }
        Row::of(view.shown)
    }

    /// Returns the position at which a part of a level ends.
    fn end(&self, level: usize, part: usize) -> Position {
        let mut next = part + 1;
        for level in self.levels[..=level].iter().rev() {
            if let Some(from) = level.from.get(next) {
                return *from;
            }
            next *= FAN;
        }
        // A block is closed when another change follows it.
        self.open.first().map_or(START, |(at, _)| *at)
    }
}

/// A row of a view under construction.
struct View<'a, S> {
    row: &'a SummaryRow<S>,
    range: &'a Range<u64>,
    resolution: u64,
    shown: Vec<Change<S>>,
    /// The combined states that have not been shown, their beginning, and their total length.
    sum: Sum,
    from: Position,
    length: u64,
    /// True if the change after the range has been shown.
    is_complete: bool,
}

impl<S: RowState> View<'_, S> {
    /// Adds a part of a level: the whole part if it is short enough, otherwise its parts in the
    /// level below.
    fn part(&mut self, number: usize, part: usize) {
        let level = &self.row.levels[number];
        let (from, end) = (level.from[part], self.row.end(number, part));
        let shares = level.shares(part);
        if self.is_outside(from, end, shares[0].state) {
            return;
        }
        let length = end.ticks.saturating_sub(from.ticks);
        if self.resolution > 0 && length <= self.resolution {
            self.make_room(from, length);
            shares.iter().for_each(|share| self.sum.add(share.state, share.ticks));
            return;
        }
        let Some(below) = number.checked_sub(1) else { return self.block(part, end) };
        (part * FAN..(part + 1) * FAN).for_each(|part| self.part(below, part));
    }

    fn block(&mut self, block: usize, end: Position) {
        let start = block.checked_sub(1).map_or(0, |before| self.row.ends[before]);
        let mut spans = changes(&self.row.bytes[start..self.row.ends[block]]).peekable();
        while let Some((at, state)) = spans.next() {
            let until = spans.peek().map_or(end, |(next, _)| *next);
            self.span(at, until, state);
        }
    }

    /// Adds a state that begins at `at` and ends at `end`.
    fn span(&mut self, at: Position, end: Position, state: u32) {
        if self.is_outside(at, end, state) {
            return;
        }
        let length = end.ticks.saturating_sub(at.ticks);
        if length > self.resolution || self.resolution == 0 {
            self.show_sum();
            self.show(at, self.state(state));
        } else {
            self.make_room(at, length);
            self.sum.add(state, length);
        }
    }

    /// Adds the last state of the row, which lasts to the end of the trace.
    fn last(&mut self, at: Position, state: S) {
        if !self.is_complete {
            self.show_sum();
            self.show(at, state);
        }
    }

    /// Returns the state with a number.
    fn state(&self, number: u32) -> S {
        self.row.states[number as usize]
    }

    /// Returns true if a part lies outside the range. Shows the first change after the range.
    fn is_outside(&mut self, from: Position, end: Position, state: u32) -> bool {
        if from.ticks > self.range.end {
            self.last(from, self.state(state));
            self.is_complete = true;
        }
        // States that begin and end at the start of the range are within it.
        self.is_complete || from.ticks < self.range.start && end.ticks <= self.range.start
    }

    /// Shows the combined states if they would be too long together with another state of this
    /// length.
    fn make_room(&mut self, at: Position, length: u64) {
        if self.length.saturating_add(length) > self.resolution {
            self.show_sum();
        }
        if self.sum.shares.is_empty() {
            self.from = at;
        }
        self.length += length;
    }

    /// Shows the combined states, one after the other.
    fn show_sum(&mut self) {
        let Position { mut ticks, seq } = self.from;
        for index in 0..self.sum.shares.len() {
            let Share { state, ticks: length } = self.sum.shares[index];
            if length > 0 {
                self.show(Position { ticks, seq }, self.state(state));
                ticks += length;
            }
        }
        self.sum.clear();
        self.length = 0;
    }

    fn show(&mut self, at: Position, state: S) {
        if self.shown.last().is_none_or(|last| last.state != state) {
            self.shown.push(Change { at, state });
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns a row and its summary. Each change is given by the length of the previous state, and
    /// the new state.
    fn rows(changes: &[(u64, u8)]) -> (Row<u8>, SummaryRow<u8>, u64) {
        let mut ticks = 0;
        let mut all: Vec<Change<u8>> = Vec::new();
        for (seq, (length, state)) in (0..).zip(changes) {
            ticks += length;
            if all.last().is_none_or(|last| last.state != *state) {
                all.push(Change { at: Position { ticks, seq }, state: *state });
            }
        }
        let mut summary = SummaryRow::default();
        summary.extend(all.iter().copied());
        (Row::of(all), summary, ticks + 10)
    }

    /// Returns the time in each state within a range.
    fn times(row: &Row<u8>, range: &Range<u64>, end: u64) -> Vec<u64> {
        (0..5).map(|state| row.time(range.clone(), end, |of| of == state)).collect()
    }

    fn lengths() -> impl Strategy<Value = Vec<(u64, u8)>> {
        let length = prop_oneof![4 => 0..20_u64, 1 => 0..5000_u64];
        let different = prop::collection::vec((length, 0..5_u8), 1..1500);
        // Changes within one tick that fill whole blocks.
        let equal = prop::collection::vec((Just(0), 0..5_u8), BLOCK..10 * BLOCK);
        let parts = prop::collection::vec(prop_oneof![2 => different, 1 => equal], 1..4);
        parts.prop_map(|parts| parts.concat())
    }

    impl RowState for u8 {
        fn hint(self) -> usize {
            usize::from(self)
        }
    }

    #[test]
    fn a_sum_has_each_state_once_in_the_order_of_the_first_occurrence() {
        let mut sum = Sum::default();
        for _ in 0..2 {
            for ticks in 1..=3 {
                (0..1000).rev().for_each(|state| sum.add(state, ticks));
            }
            let shares: Vec<_> =
                sum.shares.iter().map(|share| (share.state, share.ticks)).collect();
            assert_eq!(shares, (0..1000).rev().map(|state| (state, 6)).collect::<Vec<_>>());
            sum.clear();
        }
    }

    #[test]
    fn states_with_the_same_hint_have_different_numbers() {
        let mut row = SummaryRow::default();
        let states = [0, 64, 0, 128, 64, 64, 0_u8];
        assert_eq!(states.map(|state| row.number(state)), [0, 1, 0, 2, 1, 1, 0]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn without_a_resolution_the_row_is_exact(changes in lengths(), part in 0.0..1.0) {
            let (row, summary, end) = rows(&changes);
            let shown = summary.row(&(0..end), 0, None);
            prop_assert_eq!(shown.changes(), row.changes());
            let range = (end as f64 * part / 2.0) as u64..(end as f64 * part) as u64;
            let shown = summary.row(&range, 0, None);
            prop_assert_eq!(times(&shown, &range, end), times(&row, &range, end));
            let spans = |row: &Row<u8>| row.spans(range.clone(), end).collect::<Vec<_>>();
            prop_assert_eq!(spans(&shown), spans(&row));
        }

        #[test]
        fn sums_are_exact_at_every_resolution(changes in lengths(), resolution in 1..100_000_u64) {
            let (row, summary, end) = rows(&changes);
            let shown = summary.row(&(0..end), resolution, None);
            prop_assert_eq!(times(&shown, &(0..end), end), times(&row, &(0..end), end));
            // The view shows each long state at its own position.
            let is_long = |span: &crate::analysis::tracks::Span<u8>| span.ticks() > resolution;
            for long in row.spans(0..end, end).filter(is_long) {
                let at = long.from.ticks;
                let here = shown.spans(at..at + 1, end).find(|span| span.state == long.state);
                prop_assert!(here.is_some_and(|here| here.end >= long.end), "{long:?} is missing");
            }
            // No state has moved by more than the resolution.
            for cut in (0..end).step_by((end as usize / 7).max(1)) {
                let range = 0..cut;
                for (a, b) in times(&shown, &range, end).iter().zip(times(&row, &range, end)) {
                    prop_assert!(a.abs_diff(b) <= resolution, "until {cut}: {a} and {b}");
                }
            }
        }

        #[test]
        fn a_coarse_row_is_short(changes in lengths(), pixels in 1..200_u64) {
            let (_, summary, end) = rows(&changes);
            let shown = summary.row(&(0..end), (end / pixels).max(1), None);
            // Two consecutive parts are together longer than the resolution, or one of them is a
            // long state. Each part has at most five states.
            prop_assert!(shown.changes().len() as u64 <= 5 * (3 * pixels + 3));
        }
    }
}
