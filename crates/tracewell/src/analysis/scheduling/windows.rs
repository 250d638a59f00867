//! Finds the maximum busy time that a window of given length can contain at any position.
//!
//! A window that moves forwards gains busy time at its end and loses busy time at its beginning.
//! While its end is within a busy interval, it gains at least as much as it loses. While its end is
//! between two busy intervals, it gains nothing. So one of the fullest windows ends together with a
//! busy interval, and only such windows are checked.
//!
//! Each new interval increases the busy time of the latest window by at most the length of the
//! interval. So the code skips windows until the new intervals could raise the maximum.

use std::collections::VecDeque;

/// Lengths of windows, in nanoseconds.
pub const WINDOWS: [u64; 3] = [1_000_000, 10_000_000, 100_000_000];

/// Unneeded intervals are removed only if at least this number of intervals is stored.
const FIRST_REMOVAL: usize = 1024;

/// A busy interval.
#[derive(Clone, Copy, Debug)]
struct Interval {
    from: u64,
    to: u64,
    /// The total length of all earlier intervals.
    before: u64,
}

/// The window with the most busy time, among all windows of one length.
#[derive(Clone, Debug)]
struct Window {
    length: u64,
    most: u64,
    /// Ticks at which the first window with this busy time ends.
    at: u64,
    /// The busy time that new intervals can add before a window can exceed `most`.
    spare: u64,
    /// Index of the first interval that ends within the window that was checked last. Later windows
    /// do not overlap the intervals before this one.
    first: usize,
}

impl Window {
    fn new(length: u64) -> Self {
        Self { length, most: 0, at: 0, spare: 0, first: 0 }
    }

    /// Checks the window that ends with the latest interval, which ends at `to`, or `at` in ticks.
    /// `total` is the total length of all intervals.
    #[inline(never)]
    fn check(&mut self, to: u64, at: u64, total: u64, intervals: &VecDeque<Interval>) {
        let start = to.saturating_sub(self.length);
        while intervals.get(self.first).is_some_and(|interval| interval.to <= start) {
            self.first += 1;
        }
        let busy = intervals.get(self.first).map_or(0, |first| {
            // If the window begins within an interval, only the later part of the interval counts.
            total - first.before - start.saturating_sub(first.from)
        });
        if busy > self.most {
            (self.most, self.at) = (busy, at);
        }
        self.spare = self.most - busy;
    }
}

/// The fullest windows of all lengths.
#[derive(Clone, Debug)]
pub(super) struct Windows {
    each: [Window; WINDOWS.len()],
    /// The intervals that windows still need, in order of time.
    intervals: VecDeque<Interval>,
    /// When this number of intervals is stored, `add` removes those that no window needs.
    removal: usize,
    /// The total length of all intervals, including removed ones.
    total: u64,
    /// End of the previous interval, and its ticks.
    end: u64,
    at: u64,
}

impl Default for Windows {
    fn default() -> Self {
        let (each, intervals) = (WINDOWS.map(Window::new), VecDeque::new());
        Self { each, intervals, removal: FIRST_REMOVAL, total: 0, end: 0, at: 0 }
    }
}

impl Windows {
    /// Adds an interval, which ends at `at` in ticks. If it overlaps the previous interval, the
    /// common part counts only once. Intervals overlap if the clock went back or several cores were
    /// busy.
    #[inline]
    pub(super) fn add(&mut self, from: u64, to: u64, at: u64) {
        let from = from.max(self.end);
        self.end = to.max(from);
        let busy = self.end - from;
        if busy == 0 {
            return;
        }
        if self.intervals.len() >= self.removal {
            self.remove();
        }
        self.intervals.push_back(Interval { from, to: self.end, before: self.total });
        self.total += busy;
        self.at = at;
        for window in &mut self.each {
            match window.spare.checked_sub(busy) {
                Some(spare) => window.spare = spare,
                None => window.check(self.end, at, self.total, &self.intervals),
            }
        }
    }

    /// Removes the intervals that no later window can overlap.
    #[cold]
    #[inline(never)]
    fn remove(&mut self) {
        let Self { each, intervals, at, .. } = self;
        let Some(to) = intervals.back().map(|last| last.to) else { return };
        each.iter_mut().for_each(|window| window.check(to, *at, self.total, intervals));
        let outside = each.iter().map(|window| window.first).min().unwrap_or(0);
        intervals.drain(..outside);
        each.iter_mut().for_each(|window| window.first -= outside);
        self.removal = FIRST_REMOVAL.max(2 * intervals.len());
    }

    /// Returns the maximum busy nanoseconds for each window length; `None` if the length exceeds
    /// `span`, the duration of the trace.
    pub(super) fn finish(&self, span: u64) -> [Option<u64>; WINDOWS.len()] {
        self.each.each_ref().map(|window| (window.length <= span).then_some(window.most))
    }

    /// Returns the ticks at which the fullest window of each length ends.
    pub(super) fn ends(&self) -> [u64; WINDOWS.len()] {
        self.each.each_ref().map(|window| window.at)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn most(intervals: &[(u64, u64)], length: u64) -> u64 {
        // Of the two other windows, the shorter one needs fewer intervals and the longer one needs
        // more.
        let lengths = [length / 2, length, 3 * length];
        let mut windows = Windows { each: lengths.map(Window::new), ..Windows::default() };
        for (number, (from, to)) in intervals.iter().enumerate() {
            windows.add(*from, *to, *to);
            if number % 3 == 0 {
                windows.remove();
            }
        }
        windows.finish(u64::MAX)[1].unwrap_or(0)
    }

    #[test]
    fn the_end_of_the_first_fullest_window_is_kept() {
        let mut windows = Windows { each: [2, 10, 20].map(Window::new), ..Windows::default() };
        for (from, to) in [(0, 3), (10, 14), (18, 20), (60, 64), (68, 70)] {
            windows.add(from, to, 1000 + to);
        }
        assert_eq!(windows.ends(), [1003, 1020, 1020]);
        windows.remove();
        assert_eq!(windows.ends(), [1003, 1020, 1020]);
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
