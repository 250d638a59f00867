//! Builds the row of a view: combines the states that are too short to be seen.

use std::io;
use std::ops::Range;
use std::rc::Rc;

use super::encoded::{START, changes};
use super::level::{FAN, Level, SEGMENT, Share, Sum};
use super::pool::{Pool, damaged};
use super::row::{Blocks, RowState, SummaryRow};
use crate::analysis::stored::Stored;
use crate::analysis::tracks::{Change, Position, Row};

impl<S: RowState> SummaryRow<S> {
    /// Returns the part of the row that overlaps a range, at a resolution; see
    /// [`super::Summary::tracks`]. `last` is the change that follows the changes of the row, if
    /// there is one.
    ///
    /// # Errors
    /// Returns an error if the pool cannot be read or is damaged.
    pub(super) fn row(
        &self,
        range: &Range<u64>,
        resolution: u64,
        last: Option<&Change<S>>,
        pool: &Pool,
    ) -> io::Result<Row<S>> {
        self.row_in_windows(range, resolution, 0, last, pool)
    }

    /// Like [`Self::row`], but combines no states across the beginning of a window. Windows begin
    /// at multiples of `window` ticks. If `window` is 0, there are no windows.
    pub(super) fn row_in_windows(
        &self,
        range: &Range<u64>,
        resolution: u64,
        window: u64,
        last: Option<&Change<S>>,
        pool: &Pool,
    ) -> io::Result<Row<S>> {
        let mut view = View {
            row: self,
            pool,
            range,
            resolution,
            window,
            shown: Vec::new(),
            sum: Sum::default(),
            from: START,
            length: 0,
            is_complete: false,
            sums: vec![None; self.levels.len()],
            blocks: None,
        };
        // Each level contains only the sums of complete groups. The levels below contain the rest.
        let mut summed = 0;
        for (number, level) in self.levels.iter().enumerate().rev() {
            view.parts(number, summed..level.len())?;
            summed = level.len() * FAN;
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
        Ok(Row::of(view.shown))
    }
}

/// A row of a view under construction.
struct View<'a, S> {
    row: &'a SummaryRow<S>,
    pool: &'a Pool,
    range: &'a Range<u64>,
    resolution: u64,
    window: u64,
    shown: Vec<Change<S>>,
    /// The combined states that have not been shown yet, their beginning, and their total length.
    sum: Sum,
    from: Position,
    length: u64,
    /// True if the change after the range has been shown.
    is_complete: bool,
    /// For each level, the most recently read segment: its number and its sums.
    sums: Vec<Option<(usize, Rc<Level>)>>,
    /// The most recently read segment of blocks: its number and its blocks.
    blocks: Option<(usize, Rc<Blocks>)>,
}

impl<S: RowState> View<'_, S> {
    /// Adds consecutive parts of a level. If a part is too long, adds the corresponding parts of
    /// the level below instead. If a part of the first level is too long, adds the changes of its
    /// block.
    fn parts(&mut self, number: usize, parts: Range<usize>) -> io::Result<()> {
        let (row, mut next) = (self.row, parts.start);
        while next < parts.end && !self.is_complete {
            let segment = next / SEGMENT;
            let end = parts.end.min((segment + 1) * SEGMENT);
            let level = &row.levels[number];
            if segment == level.sealed.len() {
                self.parts_of(&level.open, number, next..end)?;
            } else {
                let sums = self.sums_of(number, segment)?;
                self.parts_of(&sums, number, next..end)?;
            }
            next = end;
        }
        Ok(())
    }

    /// Adds parts of a segment; `sums` contains the sums of the segment's parts.
    fn parts_of(&mut self, sums: &Level, number: usize, parts: Range<usize>) -> io::Result<()> {
        for part in parts {
            if self.is_complete {
                break;
            }
            let Some(end) = self.summed(sums, number, part) else { continue };
            if let Some(below) = number.checked_sub(1) {
                self.parts(below, part * FAN..(part + 1) * FAN)?;
            } else if part / SEGMENT == self.row.sealed.len() {
                self.block(self.row.blocks.block(part % SEGMENT), end)?;
            } else {
                let blocks = self.blocks_of(part / SEGMENT)?;
                self.block(blocks.block(part % SEGMENT), end)?;
            }
        }
        Ok(())
    }

    /// Adds a part if it is short enough. `sums` are the sums of its segment. If the part is too
    /// long, returns its end instead, and the caller divides the part.
    fn summed(&mut self, sums: &Level, number: usize, part: usize) -> Option<Position> {
        let index = part % SEGMENT;
        let from = sums.from[index];
        let next = sums.from.get(index + 1).copied();
        let end = next.unwrap_or_else(|| self.row.start(number, part + 1));
        if self.is_before(from, end) {
            return None;
        }
        if self.combines(from, end) {
            self.combine(from, end, sums.shares(index));
            return None;
        }
        Some(end)
    }

    /// Adds the changes of a block.
    fn block(&mut self, bytes: &[u8], end: Position) -> io::Result<()> {
        let mut spans = changes(bytes).peekable();
        while let Some((at, state)) = spans.next() {
            if state as usize >= self.row.states.len() {
                return Err(damaged("a state is not in its list"));
            }
            let until = spans.peek().map_or(end, |(next, _)| *next);
            self.span(at, until, state);
        }
        Ok(())
    }

    /// Returns the sums of a complete segment of a level.
    fn sums_of(&mut self, number: usize, segment: usize) -> io::Result<Rc<Level>> {
        if let Some((_, sums)) = self.sums[number].as_ref().filter(|(last, _)| *last == segment) {
            return Ok(Rc::clone(sums));
        }
        let record = self.pool.read(&self.row.levels[number].sealed[segment].record)?;
        let sums = Level::take(&mut record.as_ref());
        let states = self.row.states.len();
        let sums = sums.filter(|sums| sums.is_sound(SEGMENT, states));
        let sums = Rc::new(sums.ok_or_else(|| damaged("sums are not valid"))?);
        self.sums[number] = Some((segment, Rc::clone(&sums)));
        Ok(sums)
    }

    /// Returns the blocks of a complete segment.
    fn blocks_of(&mut self, segment: usize) -> io::Result<Rc<Blocks>> {
        if let Some((_, blocks)) = self.blocks.as_ref().filter(|(number, _)| *number == segment) {
            return Ok(Rc::clone(blocks));
        }
        let record = self.pool.read(&self.row.sealed[segment])?;
        let blocks = Blocks::take(&mut record.as_ref(), SEGMENT);
        let blocks = Rc::new(blocks.ok_or_else(|| damaged("blocks are not valid"))?);
        self.blocks = Some((segment, Rc::clone(&blocks)));
        Ok(blocks)
    }

    /// Returns true if a part is so short that it is combined with its neighbours.
    ///
    /// A part after the range is never combined, because the view needs the state at its first
    /// change, and sums do not contain this state.
    fn combines(&self, from: Position, end: Position) -> bool {
        let is_short = end.ticks.saturating_sub(from.ticks) <= self.resolution;
        self.resolution > 0
            && is_short
            && !self.is_after(from)
            && self.is_in_one_window(from.ticks, end.ticks)
    }

    /// Returns true if no window begins within an interval.
    fn is_in_one_window(&self, from: u64, end: u64) -> bool {
        self.window == 0 || end <= from || from / self.window == (end - 1) / self.window
    }

    /// Adds the shares of a part to the combined states.
    fn combine(&mut self, from: Position, end: Position, shares: &[Share]) {
        self.make_room(from, end.ticks.saturating_sub(from.ticks));
        shares.iter().for_each(|share| self.add(share.state, share.ticks));
    }

    fn add(&mut self, state: u32, ticks: u64) {
        self.sum.add(self.row.classes[state as usize], state, ticks);
    }

    /// Adds a state that begins at `at` and ends at `end`.
    fn span(&mut self, at: Position, end: Position, state: u32) {
        if self.is_complete || self.is_before(at, end) {
            return;
        }
        if self.is_after(at) {
            self.last(at, self.state(state));
            self.is_complete = true;
            return;
        }
        let length = end.ticks.saturating_sub(at.ticks);
        let is_long = length > self.resolution || self.resolution == 0;
        if is_long || !self.is_in_one_window(at.ticks, end.ticks) {
            self.show_sum();
            self.show(at, self.state(state));
        } else {
            self.make_room(at, length);
            self.add(state, length);
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

    /// Returns true if a part ends before the range. States that begin and end at the start of the
    /// range are within it.
    fn is_before(&self, from: Position, end: Position) -> bool {
        from.ticks < self.range.start && end.ticks <= self.range.start
    }

    /// Returns true if a part begins after the range.
    fn is_after(&self, from: Position) -> bool {
        from.ticks > self.range.end
    }

    /// Makes room for a further part of this length among the combined states. If the combined
    /// states would become too long with this part, or would not be in one window, shows them
    /// first.
    fn make_room(&mut self, at: Position, length: u64) {
        let end = at.ticks.saturating_add(length);
        let is_long = self.length.saturating_add(length) > self.resolution;
        if is_long || !(self.sum.is_empty() || self.is_in_one_window(self.from.ticks, end)) {
            self.show_sum();
        }
        if self.sum.is_empty() {
            self.from = at;
        }
        self.length += length;
    }

    /// Shows the combined states, one after the other.
    fn show_sum(&mut self) {
        let Position { mut ticks, seq } = self.from;
        let mut sum = std::mem::take(&mut self.sum);
        for Share { state, ticks: length } in sum.drain() {
            if length > 0 {
                self.show(Position { ticks, seq }, self.state(state));
                ticks += length;
            }
        }
        self.sum = sum;
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

    use super::super::level::Classed;
    use super::super::row::BLOCK;
    use super::*;

    impl RowState for u8 {
        fn bits(self) -> u128 {
            u128::from(self)
        }
    }

    /// States from 4 on are one class; each other state is a class of its own.
    impl Classed for u8 {
        fn class(self) -> u64 {
            u64::from(self.min(4))
        }
    }

    /// Returns a row and its summary. Each change consists of the length of the previous state, and
    /// the new state.
    fn rows(changes: &[(u64, u8)]) -> (Row<u8>, SummaryRow<u8>, u64, Pool) {
        let mut ticks = 0;
        let mut all: Vec<Change<u8>> = Vec::new();
        for (seq, (length, state)) in (0..).zip(changes) {
            ticks += length;
            if all.last().is_none_or(|last| last.state != *state) {
                all.push(Change { at: Position { ticks, seq }, state: *state });
            }
        }
        let (mut summary, mut pool) = (SummaryRow::default(), Pool::default());
        summary.extend(&all, &mut pool);
        (Row::of(all), summary, ticks + 10, pool)
    }

    /// Returns the time in each class of states within a range.
    fn times(row: &Row<u8>, range: &Range<u64>, end: u64) -> Vec<u64> {
        (0..5).map(|class| row.time(range.clone(), end, |of| of.class() == class)).collect()
    }

    fn lengths() -> impl Strategy<Value = Vec<(u64, u8)>> {
        let length = prop_oneof![4 => 0..20_u64, 1 => 0..5000_u64];
        let different = prop::collection::vec((length, 0..6_u8), 1..1500);
        // Changes within one tick that fill whole blocks.
        let equal = prop::collection::vec((Just(0), 0..6_u8), BLOCK..10 * BLOCK);
        let parts = prop::collection::vec(prop_oneof![2 => different, 1 => equal], 1..4);
        parts.prop_map(|parts| parts.concat())
    }

    #[test]
    fn states_with_the_same_place_have_different_numbers() {
        let mut row = SummaryRow::default();
        let states: Vec<u8> = (0..=u8::MAX).chain((0..=u8::MAX).rev()).collect();
        let numbers: Vec<_> = states.iter().map(|state| row.number(*state)).collect();
        let expected: Vec<_> = states.iter().map(|state| u32::from(*state)).collect();
        assert_eq!(numbers, expected);
    }

    /// The first state after the range is in another block. The sum of that block does not name
    /// this state. It names the state at the end of the range. Both states are in the same class.
    #[test]
    fn the_last_state_of_a_view_ends_where_it_ends_in_the_trace() {
        let first_block = (0..BLOCK as u8).map(|index| (10, if index % 2 == 0 { 0 } else { 4 }));
        // The next block begins with state 5 for one tick. Its sum names state 4.
        let next_block = [(10, 5), (1, 4), (500, 0)].into_iter();
        let rest = (0..BLOCK as u8).map(|index| (10, 1 + index % 2));
        let changes: Vec<_> = first_block.chain(next_block).chain(rest).collect();
        let (row, summary, end, pool) = rows(&changes);
        let at = 10 * BLOCK as u64 + 5;
        for resolution in [0, 1] {
            let shown = summary.row(&(at..at + 1), resolution, None, &pool).unwrap();
            let spans = |row: &Row<u8>| row.spans(at..at + 1, end).collect::<Vec<_>>();
            assert_eq!(spans(&shown), spans(&row), "{resolution}");
        }
    }

    #[test]
    fn a_block_with_an_unknown_state_is_damaged() {
        let changes: Vec<_> = (0..3 * BLOCK as u8).map(|index| (10, index % 2)).collect();
        let (_, mut summary, end, pool) = rows(&changes);
        assert!(summary.row(&(0..end), 0, None, &pool).is_ok());
        summary.states.truncate(1);
        let error = summary.row(&(0..end), 0, None, &pool).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn the_time_of_each_class_in_each_window_is_exact(
            changes in lengths(),
            resolution in 1..400_u64,
            factor in 1..9_u64,
        ) {
            let (row, summary, end, pool) = rows(&changes);
            let window = factor * resolution;
            let shown = summary.row_in_windows(&(0..end), resolution, window, None, &pool).unwrap();
            for from in (0..end).step_by(window as usize) {
                let range = from..from + window;
                prop_assert_eq!(times(&shown, &range, end), times(&row, &range, end));
            }
            let least = summary.row(&(0..end), resolution, None, &pool).unwrap().changes().len();
            // At most the combined states of each window, and one state at its beginning, are more.
            let more = (end / window + 1) as usize * 8;
            prop_assert!(shown.changes().len() <= least + more);
        }

        #[test]
        fn without_a_resolution_the_row_is_exact(changes in lengths(), part in 0.0..1.0) {
            let (row, summary, end, pool) = rows(&changes);
            let shown = summary.row(&(0..end), 0, None, &pool).unwrap();
            prop_assert_eq!(shown.changes(), row.changes());
            let range = (end as f64 * part / 2.0) as u64..(end as f64 * part) as u64;
            let shown = summary.row(&range, 0, None, &pool).unwrap();
            prop_assert_eq!(times(&shown, &range, end), times(&row, &range, end));
            let spans = |row: &Row<u8>| row.spans(range.clone(), end).collect::<Vec<_>>();
            prop_assert_eq!(spans(&shown), spans(&row));
            // Outside the range, the row contains only the change before it and the one after it.
            let changes = shown.changes();
            let before = changes.iter().filter(|change| change.at.ticks < range.start).count();
            let after = changes.iter().filter(|change| change.at.ticks > range.end).count();
            prop_assert!(before <= 1 && after <= 1, "{before} {after}");
        }

        #[test]
        fn sums_are_exact_at_every_resolution(changes in lengths(), resolution in 1..100_000_u64) {
            let (row, summary, end, pool) = rows(&changes);
            let shown = summary.row(&(0..end), resolution, None, &pool).unwrap();
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
            let (_, summary, end, pool) = rows(&changes);
            let shown = summary.row(&(0..end), (end / pixels).max(1), None, &pool).unwrap();
            // Two consecutive parts are together longer than the resolution, or one of them is a
            // long state. Each part has at most five states.
            prop_assert!(shown.changes().len() as u64 <= 5 * (3 * pixels + 3));
        }
    }
}
