//! Converts the values of a trace's clocks to stamps of one clock.
//!
//! If all clocks have the same rate, the common clock has this rate, and no value is rounded.
//! Otherwise the common clock counts nanoseconds. Its origin is a whole second, so that dates are
//! exact.

use super::classes::Clock;
use crate::model::{self, Rate, WallClock};

/// Rate of the common clock if the clocks have different rates.
const NANOSECONDS: u64 = 1_000_000_000;

/// The conversion of one clock's values.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Timing {
    /// Value of the common clock, in cycles, when this clock is 0.
    offset: u64,
    /// The clock's rate and the common rate, if they differ.
    scale: Option<(u64, u64)>,
}

/// The common clock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Common {
    /// Cycles per second; `None` if there are no clocks.
    rate: Option<u64>,
    /// Seconds from the origin of the clocks to stamp 0.
    seconds: i128,
    is_unix: bool,
}

impl Timing {
    /// Returns the stamp for a value of the clock. Saturates.
    #[inline]
    pub(super) fn stamp(self, value: u64) -> u64 {
        let cycles = match self.scale {
            None => value,
            Some((from, to)) => scaled(value, from, to),
        };
        cycles.saturating_add(self.offset)
    }

    /// Returns the conversion to stamps that are later by a number of cycles of the common clock.
    pub(super) const fn later(self, cycles: u64) -> Self {
        Self { offset: self.offset.saturating_add(cycles), ..self }
    }
}

fn scaled(value: u64, from: u64, to: u64) -> u64 {
    let cycles = u128::from(value) * u128::from(to) / u128::from(from.max(1));
    u64::try_from(cycles).unwrap_or(u64::MAX)
}

impl Common {
    /// Returns the common clock of these clocks.
    pub(super) fn new<'c>(clocks: impl Iterator<Item = &'c Clock> + Clone) -> Self {
        let first = clocks.clone().next().map(|clock| clock.frequency);
        let is_one = clocks.clone().all(|clock| Some(clock.frequency) == first);
        let rate = if is_one { first } else { Some(NANOSECONDS) };
        let seconds = clocks.clone().map(|clock| {
            i128::from(clock.offset_seconds)
                + i128::from(clock.offset_cycles).div_euclid(i128::from(clock.frequency.max(1)))
        });
        let is_unix = clocks.clone().any(|clock| clock.is_unix);
        Self { rate, seconds: seconds.min().unwrap_or(0), is_unix }
    }

    /// Returns the conversion of a clock's values to stamps.
    pub(super) fn timing(&self, clock: &Clock) -> Timing {
        let (rate, from) = (self.rate.unwrap_or(clock.frequency), clock.frequency.max(1));
        let scale = (from != rate).then_some((from, rate));
        let seconds = i128::from(clock.offset_seconds) - self.seconds;
        // Metadata can contain offsets whose cycles do not fit into 128 bits.
        let cycles = seconds.checked_mul(i128::from(from));
        let cycles = cycles.and_then(|cycles| cycles.checked_add(i128::from(clock.offset_cycles)));
        let cycles = match scale {
            None => cycles,
            Some((from, to)) => cycles
                .and_then(|cycles| cycles.checked_mul(i128::from(to)))
                .map(|cycles| cycles / i128::from(from)),
        };
        let cycles = cycles.unwrap_or(i128::MAX).max(0);
        Timing { offset: u64::try_from(cycles).unwrap_or(u64::MAX), scale }
    }

    /// Returns the number of cycles that last at least a time. If the rate is unknown, a cycle
    /// counts as 1 ns.
    pub(super) fn cycles(&self, ns: u64) -> u64 {
        let rate = self.rate.unwrap_or(NANOSECONDS);
        let cycles = (u128::from(ns) * u128::from(rate)).div_ceil(u128::from(NANOSECONDS));
        u64::try_from(cycles).unwrap_or(u64::MAX)
    }

    /// Returns the clock of the model.
    pub(super) fn clock(&self) -> model::Clock {
        model::Clock::of_64_bits(self.rate.and_then(|rate| Rate::new(rate, 1)))
    }

    /// Returns a moment as wall-clock time and as a stamp, or `None` if no clock counts from 1970.
    pub(super) fn wall_clock(&self) -> Option<WallClock> {
        let seconds = u64::try_from(self.seconds).ok().filter(|_| self.is_unix)?;
        let ns = |seconds: u64| seconds.checked_mul(NANOSECONDS);
        match seconds {
            // `WallClock::at` rejects the time 0, so use the moment one second later.
            0 => WallClock::at(ns(1)?, self.rate?),
            seconds => WallClock::at(ns(seconds)?, 0),
        }
    }
}

/// Returns the nanoseconds from the origin of a clock as Babeltrace 2 computes them: with the
/// precision of a double, and with offset and value rounded down separately.
pub(super) fn babeltrace_nanoseconds(clock: &Clock, value: u64) -> i128 {
    let rate = i128::from(clock.frequency.max(1));
    let seconds =
        i128::from(clock.offset_seconds) + i128::from(clock.offset_cycles).div_euclid(rate);
    let cycles = i128::from(clock.offset_cycles).rem_euclid(rate);
    let of_cycles = |cycles: u64| match clock.frequency {
        NANOSECONDS => i128::from(cycles),
        frequency => (1e9 * cycles as f64 / frequency.max(1) as f64) as i128,
    };
    let offset = of_cycles(u64::try_from(cycles).unwrap_or(0));
    seconds * i128::from(NANOSECONDS) + offset + of_cycles(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(frequency: u64, offset_seconds: i64, offset_cycles: i64) -> Clock {
        Clock {
            name: "c".to_owned(),
            uid: None,
            description: String::new(),
            frequency,
            offset_seconds,
            offset_cycles,
            precision: None,
            is_unix: true,
        }
    }

    #[test]
    fn times_count_from_the_origin() {
        // 1/3 s of the offset and 4/3 s of the value are rounded down separately.
        assert_eq!(babeltrace_nanoseconds(&clock(3, 10, 4), 4), 12_666_666_666);
        assert_eq!(babeltrace_nanoseconds(&clock(1000, 0, -1), 2), 1_000_000);
        assert_eq!(babeltrace_nanoseconds(&clock(1, 0, 0), 2), 2_000_000_000);
        assert_eq!(babeltrace_nanoseconds(&clock(NANOSECONDS, 0, 1 << 60), 7), (1 << 60) + 7);
    }

    #[test]
    fn clocks_of_one_rate_keep_their_cycles() {
        let clocks = [clock(1000, 5, 300), clock(1000, 7, 0)];
        let common = Common::new(clocks.iter());
        let stamps = clocks.each_ref().map(|clock| common.timing(clock).stamp(1));
        assert_eq!(stamps, [301, 2001]);
        assert_eq!(common.wall_clock(), WallClock::at(5_000_000_000, 0));
    }

    #[test]
    fn a_clock_that_begins_in_1970_has_the_second_after_as_its_moment() {
        let common = Common::new([clock(1000, 0, 0)].iter());
        assert_eq!(common.wall_clock(), WallClock::at(NANOSECONDS, 1000));
    }

    #[test]
    fn a_name_does_not_give_a_clock_dates() {
        let clock = Clock { name: "monotonic".to_owned(), is_unix: false, ..clock(1000, 5, 0) };
        assert_eq!(Common::new([clock].iter()).wall_clock(), None);
    }

    #[test]
    fn offsets_beyond_all_stamps_are_clamped() {
        let (low, high) = (i64::MIN, i64::MAX);
        for (first, second) in [(u64::MAX, u64::MAX), (1 << 60, 1 << 60), (u64::MAX, 1)] {
            let clocks = [clock(first, low, low), clock(second, high, high)];
            let common = Common::new(clocks.iter());
            assert_eq!(common.timing(&clocks[1]).stamp(1), u64::MAX);
        }
    }

    #[test]
    fn clocks_of_several_rates_count_nanoseconds() {
        let clocks = [clock(1000, 5, 0), clock(1_000_000, 4, 500_000), clock(1, 4, 0)];
        let common = Common::new(clocks.iter());
        let stamps = clocks.each_ref().map(|clock| common.timing(clock).stamp(1));
        assert_eq!(stamps, [1_001_000_000, 500_001_000, 1_000_000_000]);
    }

    #[test]
    fn the_cycles_of_the_common_clock_last_at_least_the_time() {
        for (rate, expected) in [
            (1, [0, 1, 1, 1, 3]),
            (1000, [0, 1, 900, 1000, 2500]),
            (NANOSECONDS, [0, 1, 900_000_000, NANOSECONDS, 2_500_000_000]),
            (u64::MAX, [0, u64::MAX / NANOSECONDS + 1, u64::MAX / 10 * 9 + 5, u64::MAX, u64::MAX]),
        ] {
            let common = Common::new([clock(rate, 0, 0)].iter());
            let times = [0, 1, 900_000_000, NANOSECONDS, 2_500_000_000];
            assert_eq!(times.map(|ns| common.cycles(ns)), expected, "{rate}");
        }
        assert_eq!(Common::new([].iter()).cycles(2_500_000_000), 2_500_000_000);
    }

    #[test]
    fn later_stamps_differ_by_cycles_of_the_common_clock() {
        let clocks = [clock(1000, 0, 0), clock(4, 1, 0)];
        let common = Common::new(clocks.iter());
        for clock in &clocks {
            let timing = common.timing(clock);
            assert_eq!(timing.later(7).stamp(5), timing.stamp(5) + 7);
            assert_eq!(timing.later(u64::MAX).stamp(5), u64::MAX);
        }
    }
}
