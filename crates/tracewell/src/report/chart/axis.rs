//! The time axis of a chart: the shown range of time, and the labels above the columns.

use std::ops::Range;

use crate::model::Trace;
use crate::select::Bound;
use crate::text::calendar::Zone;
use crate::text::counted;

/// A unit of time: its name, and its nanoseconds.
const UNITS: [(&str, u64); 4] = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1000), ("ns", 1)];

/// Number of columns between two labels.
const LABEL_COLUMNS: usize = 20;

/// The axis of a chart.
pub(super) struct Axis<'a> {
    trace: &'a Trace,
    ticks: Range<u64>,
    columns: usize,
    /// Name of the labels' unit, its length in nanoseconds, and the number of decimals; `None` for
    /// ticks.
    unit: Option<(&'static str, u64, usize)>,
    /// The form of dates, if the axis shows dates.
    dates: Option<Dates<'a>>,
}

/// The form of dates on an axis.
#[derive(Clone, Copy, Debug)]
struct Dates<'a> {
    zone: &'a Zone,
    /// True if labels have a date, and false if they have only a time of day.
    has_day: bool,
    /// Number of decimals of a second.
    decimals: usize,
}

/// Nanoseconds of a day.
const DAY: u64 = 24 * 3600 * 1_000_000_000;

/// Length of an ISO 8601 date without a time. [`SECOND`] is the length of a date with a time in
/// whole seconds.
const DATE: usize = "2026-03-02".len();
const SECOND: usize = "2026-03-02T09:00:00".len();

/// Returns the ticks of a bound that the user typed. `end` is the first tick after the trace.
pub(super) fn ticks(trace: &Trace, bound: Bound, end: u64) -> u64 {
    // The rate of the clock can change in the trace, so search for the tick.
    let first = |is_before: &dyn Fn(u64) -> bool| {
        let (mut low, mut high) = (0, end);
        while low < high {
            let middle = low + (high - low) / 2;
            if is_before(middle) { low = middle + 1 } else { high = middle }
        }
        low
    };
    match bound {
        Bound::Ticks(ticks) => ticks,
        Bound::Nanoseconds(ns) => first(&|ticks| trace.clock.nanoseconds(ticks) < Some(ns)),
        Bound::WallClock(ns) => first(&|ticks| trace.wall_clock_ns(ticks) < Some(ns)),
    }
}

impl<'a> Axis<'a> {
    /// Creates the axis of a range of ticks. It shows dates in `zone`, or times since the first
    /// event.
    pub(super) fn new(
        trace: &'a Trace,
        ticks: &Range<u64>,
        columns: usize,
        zone: Option<&'a Zone>,
    ) -> Self {
        let at = |ticks| trace.clock.nanoseconds(ticks);
        let unit = at(ticks.start).zip(at(ticks.end)).map(|(from, to)| {
            let (name, size) = unit_of(to - from);
            // Labels have as many decimals as are needed to distinguish them.
            let between = (to - from) / (columns / LABEL_COLUMNS).max(1) as u64;
            let decimals = (0..9).find(|decimals| size / 10_u64.pow(*decimals) <= between.max(1));
            (name, size, decimals.unwrap_or(9) as usize + 1)
        });
        let dates = zone.map(|zone| {
            let length = at(ticks.end).zip(at(ticks.start)).map_or(0, |(to, from)| to - from);
            let between = (length / (columns / LABEL_COLUMNS).max(1) as u64).max(1);
            // Labels that are at least a second apart need no decimals.
            let decimals = match (0..9).find(|digits| 10_u64.pow(9 - *digits) <= between) {
                Some(0) => 0,
                Some(decimals) => decimals as usize + 1,
                None => 9,
            };
            Dates { zone, has_day: length >= DAY, decimals }
        });
        Self { trace, ticks: ticks.clone(), columns, unit, dates }
    }

    /// Returns a time as the axis shows it: as a date, as a time of day, or as a time since the
    /// first event.
    pub(super) fn time(&self, ticks: u64) -> String {
        let Some(dates) = self.dates else { return self.since_first(ticks) };
        let Some(date) = self.date(ticks) else { return "-".to_owned() };
        let second = date.get(..SECOND).unwrap_or(&date);
        match (dates.has_day, dates.decimals) {
            (true, _) => second.to_owned(),
            (false, 0) => second.get(DATE + 1..).unwrap_or_default().to_owned(),
            (false, decimals) => {
                date.get(DATE + 1..SECOND + 1 + decimals).unwrap_or_default().to_owned()
            }
        }
    }

    /// Returns the complete date, if the axis shows dates and the date fits into 64 bits.
    fn date(&self, ticks: u64) -> Option<String> {
        Some(self.dates?.zone.date(self.trace.wall_clock_ns(ticks)?))
    }

    /// Returns a time since the first event as text in the unit of the axis.
    fn since_first(&self, ticks: u64) -> String {
        let Some((unit, size, decimals)) = self.unit else { return counted(ticks, "tick") };
        let nanoseconds = self.trace.clock.nanoseconds(ticks).unwrap_or(0);
        format!("{} {unit}", decimal(nanoseconds, size, decimals))
    }

    /// Returns a line with the range of time that the chart shows, and with the time per column.
    /// `span` is the length of the trace.
    pub(super) fn summary(&self, span: u64) -> String {
        let whole_time = |ticks| self.date(ticks).unwrap_or_else(|| self.time(ticks));
        let (from, to) = (whole_time(self.ticks.start), whole_time(self.ticks.end - 1));
        let length = self.ticks.end - 1 - self.ticks.start;
        let column = match self.trace.clock.nanoseconds(self.ticks.end) {
            Some(end) => {
                let start = self.trace.clock.nanoseconds(self.ticks.start).unwrap_or(0);
                let nanoseconds = (end - start) / self.columns as u64;
                let (unit, size) = unit_of(nanoseconds);
                format!("{} {unit}", decimal(nanoseconds, size, 2))
            }
            None => counted((length + 1).div_ceil(self.columns as u64), "tick"),
        };
        let whole =
            if length == span { String::new() } else { format!(" of {}", self.since_first(span)) };
        format!("{from} to {to}{whole}, {column} in a column")
    }

    /// Returns the labels and the line below them. Columns begin at character `indent`.
    pub(super) fn lines(&self, indent: usize, ascii: bool) -> [String; 2] {
        let (tick, line) = if ascii { ('+', '-') } else { ('┬', '─') };
        let mut labels = " ".repeat(indent);
        let mut ruler = " ".repeat(indent);
        for column in 0..self.columns {
            let labelled = column % LABEL_COLUMNS == 0;
            ruler.push(if labelled { tick } else { line });
            let offset = u128::from(self.ticks.end - self.ticks.start) * column as u128;
            let ticks = self.ticks.start + (offset / self.columns as u128) as u64;
            let label = self.time(ticks);
            let fits = column + label.chars().count() <= self.columns;
            if labelled && fits && label.chars().count() < LABEL_COLUMNS {
                let blanks = (indent + column).saturating_sub(labels.chars().count());
                labels.push_str(&" ".repeat(blanks));
                labels.push_str(&label);
            }
        }
        [labels, ruler]
    }
}

/// Returns the largest unit that is not longer than a time.
fn unit_of(nanoseconds: u64) -> (&'static str, u64) {
    *UNITS.iter().find(|(_, size)| nanoseconds >= *size).unwrap_or(&UNITS[3])
}

/// Returns nanoseconds in units of `size`, rounded to `decimals` decimals. Decimals below a
/// nanosecond are omitted.
fn decimal(nanoseconds: u64, size: u64, decimals: usize) -> String {
    let decimals = decimals.min(size.ilog10() as usize);
    let last = size / 10_u64.pow(decimals as u32);
    let nanoseconds = nanoseconds.saturating_add(last / 2);
    let whole = nanoseconds / size;
    if decimals == 0 {
        return whole.to_string();
    }
    let fraction = nanoseconds % size / last;
    format!("{whole}.{fraction:0decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_end_at_nanoseconds() {
        assert_eq!(decimal(1_234_567, 1_000_000, 2), "1.23");
        assert_eq!(decimal(1_234_567, 1000, 5), "1234.567");
        assert_eq!(decimal(1_050, 1000, 2), "1.05");
        assert_eq!(decimal(58_760_950, 1_000_000, 1), "58.8");
        assert_eq!(decimal(1_999_999, 1_000_000, 1), "2.0");
        assert_eq!(decimal(7, 1, 3), "7");
        assert_eq!(unit_of(999), ("ns", 1));
        assert_eq!(unit_of(1_000_000), ("ms", 1_000_000));
    }
}
