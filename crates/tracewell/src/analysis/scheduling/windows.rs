//! Finds the maximum busy time that a window of given length can contain at any position.
//!
//! When a window moves forwards, its busy time can stop growing in only two ways: the end of the
//! window leaves a busy interval, or the beginning of the window enters one. So at least one of the
//! fullest windows begins together with a busy interval or ends together with one, and only such
//! windows are checked.

use std::collections::VecDeque;

/// Lengths of windows, in nanoseconds.
pub const WINDOWS: [u64; 3] = [1_000_000, 10_000_000, 100_000_000];

/// A busy interval.
#[derive(Clone, Copy, Debug)]
struct Interval {
    from: u64,
    to: u64,
    /// The total length of all earlier intervals.
    before: u64,
}

/// The intervals that windows still need, in order of time. Intervals have numbers from 0.
#[derive(Clone, Debug, Default)]
struct Intervals {
    list: VecDeque<Interval>,
    /// Number of removed intervals; all of them precede the intervals in the list.
    removed: usize,
    /// The total length of all intervals, including removed ones.
    total: u64,
}

impl Intervals {
    fn get(&self, number: usize) -> Option<&Interval> {
        self.list.get(number - self.removed)
    }

    /// Returns the total length of the intervals from `first` to the latest one.
    fn total_from(&self, first: Option<&Interval>) -> u64 {
        first.map_or(0, |first| self.total - first.before)
    }

    fn push(&mut self, from: u64, to: u64) {
        self.list.push_back(Interval { from, to, before: self.total });
        self.total += to - from;
    }

    /// Removes the intervals before a number.
    fn remove_before(&mut self, number: usize) {
        while self.removed < number {
            self.list.pop_front();
            self.removed += 1;
        }
    }
}

/// The fullest window of one length.
#[derive(Clone, Debug)]
struct Window {
    length: u64,
    most: u64,
    /// The first interval that overlaps the current window; this window ends with the latest
    /// interval.
    ending: usize,
    /// The first interval that begins a window that has not been checked yet.
    beginning: usize,
}

impl Window {
    fn new(length: u64) -> Self {
        Self { length, most: 0, ending: 0, beginning: 0 }
    }

    /// Checks the window that ends with the latest interval, which ends at `to`.
    fn check_ending(&mut self, to: u64, intervals: &Intervals) {
        let start = to.saturating_sub(self.length);
        // Skip intervals before the window, because later windows begin later.
        while intervals.get(self.ending).is_some_and(|first| first.to <= start) {
            self.ending += 1;
        }
        let first = intervals.get(self.ending);
        // If the window begins within an interval, only the later part of the interval counts.
        let outside = first.map_or(0, |first| start.saturating_sub(first.from));
        self.most = self.most.max(intervals.total_from(first) - outside);
    }

    /// Checks the windows that begin with an interval and end at or before `until`.
    fn check_until(&mut self, until: u64, intervals: &Intervals) {
        while let Some(first) = intervals.get(self.beginning) {
            let end = first.from.saturating_add(self.length);
            if end > until {
                return;
            }
            // If the window ends within the latest interval, only the earlier part of the interval
            // counts.
            let outside = intervals.list.back().map_or(0, |last| last.to.saturating_sub(end));
            self.most = self.most.max(intervals.total_from(Some(first)) - outside);
            self.beginning += 1;
        }
    }
}

/// The fullest windows of all lengths.
#[derive(Clone, Debug)]
pub(super) struct Windows {
    each: [Window; WINDOWS.len()],
    intervals: Intervals,
    /// End of the previous interval.
    end: u64,
}

impl Default for Windows {
    fn default() -> Self {
        Self { each: WINDOWS.map(Window::new), intervals: Intervals::default(), end: 0 }
    }
}

impl Windows {
    /// Adds an interval. If it overlaps the previous interval, the common part counts only once.
    /// Intervals overlap if the clock went back or several cores were busy.
    pub(super) fn add(&mut self, from: u64, to: u64) {
        let from = from.max(self.end);
        self.end = to.max(from);
        // Windows that end before this interval begins are complete.
        for window in &mut self.each {
            window.check_until(from, &self.intervals);
        }
        self.intervals.push(from, self.end);
        for window in &mut self.each {
            window.check_ending(self.end, &self.intervals);
        }
        let needed = self.each.iter().map(|window| window.ending.min(window.beginning));
        self.intervals.remove_before(needed.min().unwrap_or(0));
    }

    /// Returns the maximum busy nanoseconds for each window length; `None` if the length exceeds
    /// `span`, the duration of the trace.
    pub(super) fn finish(&mut self, span: u64) -> [Option<u64>; WINDOWS.len()] {
        let Self { each, intervals, .. } = self;
        each.each_mut().map(|window| {
            window.check_until(u64::MAX, intervals);
            (window.length <= span).then_some(window.most)
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn most(intervals: &[(u64, u64)], length: u64) -> u64 {
        // One of the other windows is shorter and needs fewer intervals; the other is longer and
        // needs more.
        let lengths = [length / 2, length, 3 * length];
        let mut windows = Windows { each: lengths.map(Window::new), ..Windows::default() };
        intervals.iter().for_each(|(from, to)| windows.add(*from, *to));
        windows.finish(u64::MAX)[1].unwrap_or(0)
    }

    #[test]
    fn the_fullest_window_may_begin_or_end_anywhere() {
        assert_eq!(most(&[(0, 3), (10, 14), (18, 20)], 10), 6);
        assert_eq!(most(&[(0, 100)], 10), 10);
        assert_eq!(most(&[(5, 6)], 10), 1);
    }

    proptest! {
        #[test]
        fn windows_agree_with_trying_all(
            steps in prop::collection::vec((0..9_u64, 1..9_u64), 1..20), length in 1..30_u64,
        ) {
            let mut at = 0;
            let intervals: Vec<(u64, u64)> = steps.iter().map(|(idle, busy)| {
                let from = at + idle;
                at = from + busy;
                (from, at)
            }).collect();
            let held = |from: u64| -> u64 {
                let within =
                    |(a, b): &(u64, u64)| (*b).min(from + length).saturating_sub((*a).max(from));
                intervals.iter().map(within).sum()
            };
            prop_assert_eq!(most(&intervals, length), (0..at).map(held).max().unwrap_or(0));
        }
    }
}
