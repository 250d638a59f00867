//! Draws a distribution as a histogram: one line per interval of times, with a bar.
//!
//! The bounds of the intervals are round numbers. If the longest time is less than [`GROWS_FROM`]
//! times the shortest, all intervals have the same width. Otherwise the bounds are 1, 2, 5, 10, 20
//! and so on.

use std::ops::Range;

use super::{NamedTimes, heading};
use crate::analysis::{Bucket, Distribution, Worst};
use crate::model::Trace;
use crate::report::Layout;
use crate::report::figures::has_time;
use crate::text::{counted, display_width, spoken_time};

/// Width of lines if the output is not a screen.
const WIDTH: usize = 80;
/// Minimum width of the longest bar.
const MIN_BAR: usize = 10;
/// Maximum number of intervals of the same width.
const MAX_INTERVALS: u64 = 16;
/// If the ratio of the longest to the shortest time is at least this number, the width of the
/// intervals grows.
const GROWS_FROM: u64 = 20;

/// The unit of the times in a histogram.
#[derive(Clone, Copy)]
struct Unit<'a> {
    trace: &'a Trace,
    is_time: bool,
}

impl Unit<'_> {
    /// Converts ticks to nanoseconds, unless the histogram is in ticks.
    fn of(&self, ticks: u64) -> u64 {
        let rate = self.trace.clock.rate.filter(|_| self.is_time);
        rate.map_or(ticks, |rate| rate.nanoseconds(ticks))
    }

    fn shown(&self, time: u64) -> String {
        if self.is_time { spoken_time(time) } else { counted(time, "tick") }
    }
}

/// The intervals of a histogram: their lower bounds, and the number of times in each.
struct Intervals<'a> {
    unit: Unit<'a>,
    /// Nanoseconds, or ticks.
    bounds: Vec<u64>,
    counts: Vec<u64>,
}

impl<'a> Intervals<'a> {
    /// Returns the intervals of a distribution, or `None` if it has no times.
    fn of(trace: &'a Trace, times: &Distribution) -> Option<Self> {
        let unit = Unit { trace, is_time: has_time(trace) };
        let (min, max) = (times.min()?, times.max()?);
        let bounds = bounds(unit.of(min)..unit.of(max));
        let mut intervals = Self { unit, counts: vec![0; bounds.len()], bounds };
        for Bucket { to, count, .. } in times.buckets() {
            let of_bucket = intervals.of_bucket(to.min(max));
            intervals.counts[of_bucket] += count;
        }
        Some(intervals)
    }

    /// Returns the index of the interval that counts the times of a bucket. This is the interval
    /// that contains the bucket's highest time, `ticks`, so that the histogram and the quantiles
    /// agree.
    fn of_bucket(&self, ticks: u64) -> usize {
        containing(&self.bounds, self.unit.of(ticks))
    }
}

/// Returns the index of the interval that contains a time. `bounds` are the lower bounds.
fn containing(bounds: &[u64], time: u64) -> usize {
    bounds.partition_point(|bound| *bound <= time).saturating_sub(1)
}

/// Appends the histogram of a distribution after a blank line.
pub(super) fn put(text: &mut String, trace: &Trace, row: &NamedTimes<'_>, layout: Layout) {
    let Some(Intervals { unit, bounds, counts }) = Intervals::of(trace, row.times) else { return };
    let (name, all) = (heading(row.measure).to_lowercase(), layout.count(row.times.count()));
    let heading = format!("{name} {}: {all}", row.of);
    text.push_str(&format!("\n{}\n", layout.fold(&heading, 2)));
    put_lines(text, &bounds, &counts, unit, layout);
}

/// An interval with its longest time.
pub(super) struct Bar {
    /// The lower bound as text.
    pub(super) from: String,
    pub(super) count: u64,
    /// `None` if the interval is empty, or if the distribution stores no places.
    pub(super) longest: Option<Worst>,
}

/// Returns the intervals as bars, with the longest time of each.
pub(super) fn bars(trace: &Trace, times: &Distribution) -> Vec<Bar> {
    let Some(intervals) = Intervals::of(trace, times) else { return Vec::new() };
    let mut bars: Vec<_> = intervals
        .bounds
        .iter()
        .zip(&intervals.counts)
        .map(|(bound, count)| Bar {
            from: intervals.unit.shown(*bound),
            count: *count,
            longest: None,
        })
        .collect();
    let max = times.max().unwrap_or(0);
    // The buckets are in ascending order, so the last one of a bar has its longest time.
    for (Bucket { to, .. }, place) in times.buckets().iter().zip(times.places()) {
        bars[intervals.of_bucket((*to).min(max))].longest = Some(place);
    }
    bars
}

/// Appends a line for each interval. Several intervals without times share a line.
fn put_lines(text: &mut String, bounds: &[u64], counts: &[u64], unit: Unit<'_>, layout: Layout) {
    let names: Vec<_> = bounds.iter().map(|bound| unit.shown(*bound)).collect();
    let numbers: Vec<_> = counts.iter().map(|count| layout.count(*count)).collect();
    let widest = |texts: &[String]| texts.iter().map(|text| display_width(text)).max().unwrap_or(0);
    let (name_width, number_width) = (widest(&names), widest(&numbers));
    let before_bar = 2 + "from ".len() + name_width + 2 + number_width + 2;
    let bar = layout.width.unwrap_or(WIDTH).saturating_sub(before_bar).max(MIN_BAR);
    let most = counts.iter().copied().max().unwrap_or(0);
    let mut is_empty = false;
    for ((name, number), count) in names.iter().zip(&numbers).zip(counts) {
        if *count == 0 {
            if !is_empty {
                text.push_str("  ...\n");
            }
            is_empty = true;
            continue;
        }
        is_empty = false;
        // Rounded up, so that every interval with times has a visible bar.
        let length = (u128::from(*count) * bar as u128).div_ceil(u128::from(most.max(1)));
        let bar = "#".repeat(usize::try_from(length).unwrap_or(bar));
        text.push_str(&format!("  from {name:>name_width$}  {number:>number_width$}  {bar}\n"));
    }
}

/// Returns the lower bounds of intervals that contain all times from `start` to `end`, including
/// `end`. The first bound is at most `start`.
fn bounds(times: Range<u64>) -> Vec<u64> {
    let Range { start, end } = times;
    if end / start.max(1) >= GROWS_FROM {
        return growing(start, end);
    }
    let mut steps = round_numbers().chain([u64::MAX]);
    let fits = |step: &u64| (end / step) - (start / step) < MAX_INTERVALS;
    let step = steps.find(fits).unwrap_or(u64::MAX);
    (start / step..=end / step).map(|number| number * step).collect()
}

/// Returns the round numbers in a range. The first is the largest round number that does not exceed
/// `start`, and the last is the largest that does not exceed `end`.
fn growing(start: u64, end: u64) -> Vec<u64> {
    let numbers: Vec<_> = [0].into_iter().chain(round_numbers()).collect();
    let last_at_most = |limit: u64| numbers.partition_point(|number| *number <= limit);
    numbers[last_at_most(start).saturating_sub(1)..last_at_most(end)].to_vec()
}

/// Returns 1, 2, 5, 10, 20, 50, …
fn round_numbers() -> impl Iterator<Item = u64> {
    let powers = std::iter::successors(Some(1_u64), |power| power.checked_mul(10));
    powers.flat_map(|power| [1, 2, 5].map(|digit| power.checked_mul(digit))).flatten()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn intervals_begin_at_round_times() {
        assert_eq!(bounds(0..0), [0]);
        assert_eq!(bounds(7..7), [7]);
        assert_eq!(bounds(100..131), (50..66).map(|half| 2 * half).collect::<Vec<_>>());
        assert_eq!(bounds(100..171), (20..35).map(|fifth| 5 * fifth).collect::<Vec<_>>());
        assert_eq!(bounds(3..70), [2, 5, 10, 20, 50]);
        assert_eq!(bounds(0..20), [0, 1, 2, 5, 10, 20]);
    }

    proptest! {
        #[test]
        fn every_time_has_one_interval(
            first in any::<u64>(), second in any::<u64>(), shift in 0..64_u32,
        ) {
            let (start, end) = (first.min(second) >> shift, first.max(second));
            let bounds = bounds(start..end);
            prop_assert!(bounds.is_sorted_by(|bound, next| bound < next));
            prop_assert!(bounds.len() <= 61, "{}", bounds.len());
            prop_assert!(bounds[0] <= start && *bounds.last().unwrap() <= end);
            prop_assert_eq!(containing(&bounds, start), 0);
            prop_assert_eq!(containing(&bounds, end), bounds.len() - 1);
            let middle = start + (end - start) / 2;
            let found = containing(&bounds, middle);
            prop_assert!(bounds[found] <= middle);
            prop_assert!(bounds.get(found + 1).is_none_or(|next| *next > middle));
        }
    }
}
