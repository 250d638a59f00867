//! Finds the maximum busy time that a window of given length can contain at any position.
//!
//! When a window moves forwards, its busy time can stop growing in only two ways: the end of the
//! window leaves a busy interval, or the beginning of the window enters one. So at least one of the
//! fullest windows begins together with a busy interval or ends together with one, and only such
//! windows are checked.

use std::collections::VecDeque;

/// Lengths of windows, in nanoseconds.
pub const WINDOWS: [u64; 3] = [1_000_000, 10_000_000, 100_000_000];

/// A busy interval: its beginning and its end.
type Interval = (u64, u64);

/// The fullest window of one length.
#[derive(Clone, Debug)]
struct Window {
    length: u64,
    most: u64,
    /// Intervals that overlap the window that ends with the latest interval, and their total.
    ending: VecDeque<Interval>,
    in_ending: u64,
    /// A window that begins with one of these intervals has not been checked yet.
    beginning: VecDeque<Interval>,
    in_beginning: u64,
}

impl Window {
    fn new(length: u64) -> Self {
        let none = VecDeque::new();
        let (ending, beginning) = (none.clone(), none);
        Self { length, most: 0, ending, in_ending: 0, beginning, in_beginning: 0 }
    }

    fn add(&mut self, interval: Interval) {
        // Windows that end before this interval begins are complete.
        self.check_until(interval.0);
        self.beginning.push_back(interval);
        self.in_beginning += interval.1 - interval.0;
        self.ending.push_back(interval);
        self.in_ending += interval.1 - interval.0;
        let start = interval.1.saturating_sub(self.length);
        // Drop intervals before the window, because later windows begin later.
        while let Some((from, to)) = self.ending.front().filter(|first| first.1 <= start) {
            self.in_ending -= to - from;
            self.ending.pop_front();
        }
        // If the window begins within an interval, only the later part of the interval counts.
        let outside = self.ending.front().map_or(0, |first| start.saturating_sub(first.0));
        self.most = self.most.max(self.in_ending - outside);
    }

    /// Checks the windows that begin with an interval and end at or before `until`.
    fn check_until(&mut self, until: u64) {
        while let Some((from, to)) = self.beginning.front().copied() {
            let end = from.saturating_add(self.length);
            if end > until {
                return;
            }
            // If the window ends within the latest interval, only the earlier part of the interval
            // counts.
            let outside = self.beginning.back().map_or(0, |last| last.1.saturating_sub(end));
            self.most = self.most.max(self.in_beginning - outside);
            self.in_beginning -= to - from;
            self.beginning.pop_front();
        }
    }
}

/// The fullest windows of all lengths.
#[derive(Clone, Debug)]
pub(super) struct Windows {
    each: [Window; WINDOWS.len()],
    /// End of the previous interval.
    end: u64,
}

impl Default for Windows {
    fn default() -> Self {
        Self { each: WINDOWS.map(Window::new), end: 0 }
    }
}

impl Windows {
    /// Adds an interval. If it overlaps the previous interval, the common part counts only once.
    /// Intervals overlap if the clock went back or several cores were busy.
    pub(super) fn add(&mut self, from: u64, to: u64) {
        let from = from.max(self.end);
        self.end = to.max(from);
        let interval = (from, self.end);
        self.each.iter_mut().for_each(|window| window.add(interval));
    }

    /// Returns the maximum busy nanoseconds for each window length; `None` if the length exceeds
    /// `span`, the duration of the trace.
    pub(super) fn finish(&mut self, span: u64) -> [Option<u64>; WINDOWS.len()] {
        self.each.each_mut().map(|window| {
            window.check_until(u64::MAX);
            (window.length <= span).then_some(window.most)
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn most(intervals: &[Interval], length: u64) -> u64 {
        let mut window = Window::new(length);
        intervals.iter().for_each(|interval| window.add(*interval));
        window.check_until(u64::MAX);
        window.most
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
            let intervals: Vec<Interval> = steps.iter().map(|(idle, busy)| {
                let from = at + idle;
                at = from + busy;
                (from, at)
            }).collect();
            let held = |from: u64| -> u64 {
                let within =
                    |(a, b): &Interval| (*b).min(from + length).saturating_sub((*a).max(from));
                intervals.iter().map(within).sum()
            };
            prop_assert_eq!(most(&intervals, length), (0..at).map(held).max().unwrap_or(0));
        }
    }
}
