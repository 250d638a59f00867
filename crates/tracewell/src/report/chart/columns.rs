//! The columns of a chart, and the time of each activity in each column.

use std::ops::Range;

use super::symbols::{ACTIVITIES, Activity, Legend, Symbols};
use crate::analysis::total::{Total, total};

/// Columns that stand for equal durations.
#[derive(Clone, Debug)]
pub(super) struct Scale {
    ticks: Range<u64>,
    /// Number of columns.
    pub(super) count: usize,
}

impl Scale {
    pub(super) const fn new(ticks: Range<u64>, count: usize) -> Self {
        Self { ticks, count }
    }

    /// Returns the ticks of all columns.
    pub(super) const fn ticks(&self) -> Range<u64> {
        self.ticks.start..self.ticks.end
    }

    const fn length(&self) -> u64 {
        self.ticks.end - self.ticks.start
    }

    /// Returns the tick at which a column begins.
    pub(super) fn start(&self, column: usize) -> u64 {
        let offset = u128::from(self.length()) * column as u128 / self.count as u128;
        self.ticks.start + offset as u64
    }

    /// Returns the column of a tick within the range.
    fn column(&self, tick: u64) -> usize {
        let offset = u128::from(tick.saturating_sub(self.ticks.start));
        // The last column that begins at this tick or before it.
        let column = ((offset + 1) * self.count as u128 - 1) / u128::from(self.length());
        (column as usize).min(self.count - 1)
    }

    /// Returns the columns that an interval overlaps. An interval without length overlaps one
    /// column.
    pub(super) fn columns_of(&self, ticks: Range<u64>) -> Range<usize> {
        if ticks.start >= self.ticks.end || ticks.end < self.ticks.start {
            return 0..0;
        }
        let first = self.column(ticks.start.max(self.ticks.start));
        let last = self.column(ticks.end.min(self.ticks.end).saturating_sub(1).max(ticks.start));
        first..last.max(first) + 1
    }

    /// Returns the columns that an interval overlaps, with the ticks of each overlap.
    pub(super) fn overlaps(&self, ticks: Range<u64>) -> impl Iterator<Item = (usize, u64)> {
        self.columns_of(ticks.clone()).map(move |column| {
            let (start, end) = (self.start(column), self.start(column + 1));
            let overlap = ticks.end.min(end).saturating_sub(ticks.start.max(start));
            // A column may be shorter than a tick, and an interval may have no length.
            (column, overlap.max(1))
        })
    }
}

/// For each column of a row: the times of the activities, and the number of marks.
#[derive(Debug)]
pub(super) struct Columns {
    scale: Scale,
    /// Ticks of each activity, by column.
    times: Vec<[u64; ACTIVITIES]>,
    /// Number of marks, by column.
    marks: Vec<u64>,
}

impl Columns {
    pub(super) fn new(scale: Scale) -> Self {
        let count = scale.count;
        Self { scale, times: vec![[0; ACTIVITIES]; count], marks: vec![0; count] }
    }

    /// Adds an interval with an activity. A part outside of the range is ignored.
    pub(super) fn add(&mut self, ticks: Range<u64>, activity: Activity) {
        for (column, overlap) in self.scale.overlaps(ticks) {
            self.times[column][activity as usize].charge(overlap);
        }
    }

    /// Adds an event. Events outside of the range are ignored.
    pub(super) fn mark(&mut self, tick: u64) {
        if self.scale.ticks.contains(&tick) {
            let column = self.scale.column(tick);
            self.marks[column] += 1;
        }
    }

    /// Returns true if an activity takes time in at least one column.
    pub(super) fn has(&self, activity: Activity) -> bool {
        self.times.iter().any(|times| times[activity as usize] > 0)
    }

    /// Returns the number of marks in the column with the most marks.
    pub(super) fn most_marks(&self) -> u64 {
        self.marks.iter().copied().max().unwrap_or(0)
    }

    /// Returns the cells of the row. If a context runs in a column, the cell shows the share of the
    /// column's time for which it runs. Any other column shows the activity with the most time. A
    /// marked column shows `marked` instead.
    pub(super) fn cells(
        &self,
        symbols: &Symbols,
        legend: &mut Legend,
        marked: Option<Activity>,
    ) -> String {
        let cell = |(times, marks): (&[u64; ACTIVITIES], &u64)| {
            let whole = total(times.iter().copied());
            let running = times[Activity::Running as usize];
            // If several activities have the same time, the one with the smallest index is shown.
            let most = (0..ACTIVITIES).max_by_key(|index| (times[*index], ACTIVITIES - index));
            let activity = match marked.filter(|_| *marks > 0) {
                Some(marked) => marked,
                None if whole == 0 => return ' ',
                // Execution is shown even if it takes the smaller part of the column: it matters
                // most.
                None if running > 0 => Activity::Running,
                None => Activity::of(most.unwrap_or(0)),
            };
            legend.uses(activity);
            match activity {
                Activity::Running => symbols.share(running, whole),
                activity => symbols.most(activity),
            }
        };
        self.times.iter().zip(&self.marks).map(cell).collect()
    }

    /// Returns a row that shows the number of marks in each column as a share of `most`.
    pub(super) fn densities(&self, most: u64, symbols: &Symbols) -> String {
        let cell = |marks: &u64| if *marks == 0 { ' ' } else { symbols.share(*marks, most) };
        self.marks.iter().map(cell).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(columns: &Columns) -> String {
        columns.cells(&Symbols::new(true), &mut Legend::default(), Some(Activity::Missed))
    }

    #[test]
    fn a_column_shows_its_share_or_what_takes_most_time() {
        let mut columns = Columns::new(Scale::new(0..40, 4));
        columns.add(0..10, Activity::Running);
        columns.add(10..12, Activity::Running);
        columns.add(12..20, Activity::Blocked);
        columns.add(20..24, Activity::Ready);
        columns.add(24..30, Activity::Sleeping);
        assert_eq!(row(&columns), "#+z ");
        columns.mark(39);
        columns.mark(40);
        assert_eq!(row(&columns), "#+zX");
    }

    #[test]
    fn every_tick_has_the_column_that_begins_before_it() {
        for (length, count) in [(1, 3), (7, 3), (10, 10), (u64::MAX - 5, 7), (100, 3)] {
            let columns = Scale::new(5..5 + length, count);
            for tick in [5, 5 + length / 3, 5 + length / 2, 4 + length] {
                let column = columns.column(tick);
                assert!(columns.start(column) <= tick, "{length} {count} {tick}");
                let next = column + 1;
                assert!(next == count || columns.start(next) > tick, "{length} {count} {tick}");
            }
        }
    }

    #[test]
    fn times_outside_of_the_range_have_no_column() {
        let columns = Scale::new(100..200, 10);
        assert_eq!(columns.columns_of(0..100), 0..1);
        assert_eq!(columns.columns_of(0..99), 0..0);
        assert_eq!(columns.columns_of(200..300), 0..0);
        assert_eq!(columns.columns_of(0..300), 0..10);
        assert_eq!(columns.columns_of(150..150), 5..6);
    }
}
