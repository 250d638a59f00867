//! Finds the maximum busy time that a window of given length can contain at any position.
//!
//! A window that moves forwards gains busy time at its end and loses busy time at its beginning.
//! While its end is within a busy interval, it gains at least as much as it loses. While its end is
//! between two busy intervals, it gains nothing. So one of the fullest windows ends together with a
//! busy interval, and only such windows are checked.
//!
//! Each new interval increases the busy time of the latest window by at most the time that it adds.
//! So the code skips windows until the new intervals could raise the maximum.
//!
//! On several cores, intervals can overlap. They arrive in the order of their ends, so a new
//! interval overlaps only the latest ones. It replaces these by one interval. A window that ends
//! within this interval contains no more busy time than the one that ends together with it.

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
    /// End of the last interval that was removed.
    removed: u64,
    /// The total length of all intervals, including removed ones.
    total: u64,
    /// End of the previous interval, and its ticks.
    end: u64,
    at: u64,
}

impl Default for Windows {
    fn default() -> Self {
        let (each, intervals) = (WINDOWS.map(Window::new), VecDeque::new());
        Self { each, intervals, removal: FIRST_REMOVAL, removed: 0, total: 0, end: 0, at: 0 }
    }
}

impl Windows {
    /// Adds an interval, which ends at `at` in ticks. The time that it has in common with earlier
    /// intervals counts only once. If it ends before an earlier one, the clock went back, and the
    /// interval is ignored.
    #[inline]
    pub(super) fn add(&mut self, from: u64, to: u64, at: u64) {
        if from >= to || to < self.end {
            return;
        }
        if self.intervals.len() >= self.removal {
            self.remove();
        }
        let known = self.total;
        let from = if from < self.end { self.join(from) } else { from };
        self.intervals.push_back(Interval { from, to, before: self.total });
        self.total += to - from;
        (self.end, self.at) = (to, at);
        let added = self.total - known;
        for window in &mut self.each {
            match window.spare.checked_sub(added) {
                Some(spare) => window.spare = spare,
                None => window.check(to, at, self.total, &self.intervals),
            }
        }
    }

    /// Takes out the intervals that end after `from`. Returns the beginning of the interval that
    /// replaces them.
    #[cold]
    #[inline(never)]
    fn join(&mut self, from: u64) -> u64 {
        // No later window contains the time before this end, and a part of it is counted already.
        let mut from = from.max(self.removed);
        while let Some(last) = self.intervals.pop_back_if(|last| last.to > from) {
            self.total = last.before;
            from = from.min(last.from);
        }
        let stored = self.intervals.len();
        self.each.iter_mut().for_each(|window| window.first = window.first.min(stored));
        from
    }

    /// Removes the intervals that no later window can overlap.
    #[cold]
    #[inline(never)]
    fn remove(&mut self) {
        let Self { each, intervals, at, removed, .. } = self;
        let Some(to) = intervals.back().map(|last| last.to) else { return };
        each.iter_mut().for_each(|window| window.check(to, *at, self.total, intervals));
        let outside = each.iter().map(|window| window.first).min().unwrap_or(0);
        *removed = intervals.drain(..outside).next_back().map_or(*removed, |last| last.to);
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

    #[test]
    fn time_in_several_intervals_counts_once() {
        // The short interval of one core ends before the long interval of another core.
        assert_eq!(most(&[(900, 950), (100, 1000)], 1000), 900);
        assert_eq!(most(&[(0, 3), (10, 12), (8, 14), (11, 14), (12, 20)], 10), 10);
        // The clock went back.
        assert_eq!(most(&[(10, 20), (5, 8), (19, 17)], 100), 10);
    }

    proptest! {
        #[test]
        fn windows_agree_with_trying_all(
            // The time from the previous end to the end of an interval, and its length.
            steps in prop::collection::vec((0..9_u64, 1..9_u64, 1..4_u64), 1..20),
            length in 1..30_u64,
        ) {
            let mut end = 20;
            let intervals: Vec<(u64, u64)> = steps.iter().map(|(later, busy, times)| {
                end += later;
                (end.saturating_sub(busy * times), end)
            }).collect();
            let is_busy = |at: u64| intervals.iter().any(|(from, to)| (*from..*to).contains(&at));
            let busy: Vec<bool> = (0..end).map(is_busy).collect();
            let held = |from: usize| {
                let window = &busy[from..busy.len().min(from + length as usize)];
                window.iter().filter(|busy| **busy).count() as u64
            };
            prop_assert_eq!(most(&intervals, length), (0..busy.len()).map(held).max().unwrap_or(0));
        }
    }
}
