//! Clocks, which convert timestamps to ticks and ticks to time.
//!
//! Ticks are converted only for output. The conversion to nanoseconds is exact: it uses a rational
//! rate and a 128-bit intermediate value, and rounds down once.

use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;

/// A moment, given both as wall-clock time and as a timestamp of the trace's clock.
///
/// ```
/// use tracewell::model::WallClock;
///
/// let started = WallClock::at_start(1_700_000_000_000_000_000, 250).expect("not 0");
/// assert_eq!((started.stamp, started.is_start), (250, true));
/// assert_eq!(WallClock::at_start(0, 250), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WallClock {
    /// Nanoseconds since 1970 UTC.
    pub ns: u64,
    /// Timestamp at the same moment, in ticks of the trace's clock.
    pub stamp: u64,
    /// True if recording began at this moment.
    pub is_start: bool,
}

impl WallClock {
    /// Returns the moment when recording began, or `None` if `ns` is 0. Sources without a wall
    /// clock record 0.
    pub fn at_start(ns: u64, stamp: u64) -> Option<Self> {
        (ns > 0).then_some(Self { ns, stamp, is_start: true })
    }

    /// Returns a moment other than the beginning of recording, or `None` if `ns` is 0.
    pub fn at(ns: u64, stamp: u64) -> Option<Self> {
        (ns > 0).then_some(Self { ns, stamp, is_start: false })
    }
}

/// The direction in which a counter's timestamps change over time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// Later stamps are larger.
    Up,
    /// Later stamps are smaller.
    Down,
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Up => "up",
            Self::Down => "down",
        })
    }
}

/// A counter that wraps: its range and its direction.
///
/// ```
/// use tracewell::model::{Counter, Direction};
///
/// let counter = Counter::of_mask(0xFFFF, Direction::Up);
/// assert_eq!(counter.elapsed(0xFFFE, 0x0003), 5);
/// let timer = Counter::of_mask(0xFFFF, Direction::Down);
/// assert_eq!(timer.elapsed(0x0003, 0xFFFE), 5);
/// assert_eq!(timer.stamp_after(0x0003, 5), 0xFFFE);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Counter {
    /// Valid bits of a raw timestamp.
    pub mask: u64,
    /// The largest value, at which the counter wraps to 0. A counter that counts down wraps from 0
    /// to this value. For a counter of n bits this is 2^n - 1.
    pub last: u64,
    /// The direction in which the counter counts.
    pub direction: Direction,
}

impl Counter {
    /// Returns a counter that uses all bits of `mask`, with modulus `mask + 1`.
    pub const fn of_mask(mask: u64, direction: Direction) -> Self {
        Self { mask, last: mask, direction }
    }

    /// Returns the mask if it consists of the n lowest bits and the modulus is 2^n. For such a
    /// counter, the masked difference of two stamps is the number of ticks between them.
    pub(crate) const fn low_bits(&self) -> Option<u64> {
        let low = self.mask & self.mask.wrapping_add(1) == 0 && self.last == self.mask;
        if low { Some(self.mask) } else { None }
    }

    /// Applies the mask to a raw timestamp. Returns the result modulo the counter's modulus.
    #[inline]
    pub const fn stamp(&self, raw: u64) -> u64 {
        let masked = raw & self.mask;
        if masked <= self.last { masked } else { masked % self.last.wrapping_add(1) }
    }

    /// Returns the ticks from one timestamp to the next, modulo the counter's modulus. If the real
    /// number of ticks is not below the modulus, the result is too small by a multiple of the
    /// modulus. Both timestamps come from [`Counter::stamp`].
    #[inline]
    pub const fn elapsed(&self, earlier: u64, later: u64) -> u64 {
        let (from, to) = match self.direction {
            Direction::Up => (earlier, later),
            Direction::Down => (later, earlier),
        };
        // The counter wrapped once between the two timestamps. Further wraps are not detectable.
        let round = if to < from { self.last.wrapping_add(1) } else { 0 };
        to.wrapping_sub(from).wrapping_add(round)
    }

    /// Returns the timestamp that this counter shows `ticks` ticks after `origin`.
    pub fn stamp_after(&self, origin: u64, ticks: u64) -> u64 {
        let modulus = u128::from(self.last) + 1;
        let advance = u128::from(ticks) % modulus;
        let origin = u128::from(origin) % modulus;
        let stamp = match self.direction {
            Direction::Up => (origin + advance) % modulus,
            Direction::Down => (origin + modulus - advance) % modulus,
        };
        // The modulus is at most 2^64, so the remainder fits.
        stamp as u64
    }
}

/// Ticks per second as an exact ratio.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rate {
    ticks: NonZeroU64,
    seconds: NonZeroU64,
    /// Nanoseconds per tick if this number is a whole number, otherwise 0.
    whole: u64,
    /// 2^64 / `ticks`, rounded down, or `u64::MAX` if `ticks` is 1.
    reciprocal: u64,
}

impl Rate {
    /// Returns a rate of `ticks` per `seconds` seconds, or `None` if one of them is 0.
    pub fn new(ticks: u64, seconds: u64) -> Option<Self> {
        let (ticks, seconds) = (NonZeroU64::new(ticks)?, NonZeroU64::new(seconds)?);
        let nanoseconds = u128::from(seconds.get()) * 1_000_000_000;
        // For rates such as 1 MHz, a tick is a whole number of nanoseconds, so one multiplication
        // converts ticks.
        let whole = match nanoseconds % u128::from(ticks.get()) {
            0 => u64::try_from(nanoseconds / u128::from(ticks.get())).unwrap_or(0),
            _ => 0,
        };
        let reciprocal =
            u64::try_from((1_u128 << 64) / u128::from(ticks.get())).unwrap_or(u64::MAX);
        Some(Self { ticks, seconds, whole, reciprocal })
    }

    /// Returns the ratio as (ticks, seconds).
    pub const fn ratio(self) -> (u64, u64) {
        (self.ticks.get(), self.seconds.get())
    }

    /// Returns the duration of `ticks` in nanoseconds, rounded down; `u64::MAX` if it exceeds 584
    /// years.
    #[inline]
    pub fn nanoseconds(self, ticks: u64) -> u64 {
        if self.whole > 0
            && let Some(nanoseconds) = ticks.checked_mul(self.whole)
        {
            return nanoseconds;
        }
        self.divided(ticks)
    }

    /// Like [`Rate::nanoseconds`], for rates at which a tick is not a whole number of nanoseconds.
    fn divided(self, ticks: u64) -> u64 {
        // Use 64-bit multiplications if nothing overflows, because divisions would take most of the
        // time in which a report writes an event.
        if let Some(product) = ticks.checked_mul(self.seconds.get())
            && self.ticks.get() <= u64::MAX / 1_000_000_000
        {
            let (seconds, rest) = self.divide(product);
            if let Some(whole) = seconds.checked_mul(1_000_000_000) {
                return whole.saturating_add(self.divide(rest * 1_000_000_000).0);
            }
        }
        let (ticks, denominator) = (u128::from(ticks), u128::from(self.ticks.get()));
        let product = ticks * u128::from(self.seconds.get());
        // Whole seconds and the remainder are converted separately, because otherwise a product
        // could exceed 128 bits.
        let whole = (product / denominator).saturating_mul(1_000_000_000);
        let rest = product % denominator * 1_000_000_000 / denominator;
        u64::try_from(whole.saturating_add(rest)).unwrap_or(u64::MAX)
    }

    /// Divides a number by `ticks`. Returns the quotient and the remainder.
    #[inline]
    fn divide(self, number: u64) -> (u64, u64) {
        let ticks = self.ticks.get();
        // The reciprocal is at most 1 below 2^64 / ticks. So the product divided by 2^64 is at most
        // number / ticks, and differs from it by less than 1. Rounded down, the result is the
        // quotient or 1 less.
        let quotient = ((u128::from(number) * u128::from(self.reciprocal)) >> 64) as u64;
        let rest = number - quotient * ticks;
        if rest < ticks { (quotient, rest) } else { (quotient + 1, rest - ticks) }
    }

    /// Returns the duration of `ticks` in nanoseconds, rounded up; `u64::MAX` if it exceeds 584
    /// years.
    fn nanoseconds_up(self, ticks: u64) -> u64 {
        let (ticks, denominator) = (u128::from(ticks), u128::from(self.ticks.get()));
        let product = ticks * u128::from(self.seconds.get());
        let whole = (product / denominator).saturating_mul(1_000_000_000);
        let rest = (product % denominator * 1_000_000_000).div_ceil(denominator);
        u64::try_from(whole.saturating_add(rest)).unwrap_or(u64::MAX)
    }

    /// Converts nanoseconds to ticks, rounded up. [`Rate::nanoseconds`] of the result is at least
    /// the given number of nanoseconds.
    pub fn ticks(self, nanoseconds: u64) -> u64 {
        let denominator = u128::from(self.seconds.get()) * 1_000_000_000;
        let product = u128::from(nanoseconds).checked_mul(u128::from(self.ticks.get()));
        let ticks = product.map(|product| product.div_ceil(denominator));
        ticks.and_then(|ticks| u64::try_from(ticks).ok()).unwrap_or(u64::MAX)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ratio() {
            (ticks, 1) => write!(f, "{ticks}"),
            (ticks, seconds) => write!(f, "{ticks}/{seconds}"),
        }
    }
}

/// Error for text that is not a valid rate.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "expected ticks per second such as 1000000, 80MHz, 32.768kHz or 1000000/3, found '{found}'"
)]
pub struct RateError {
    found: String,
}

impl FromStr for Rate {
    type Err = RateError;

    /// Parses ticks per second: `1000000`, `32.768kHz`, `80MHz`, `1 GHz`, or a ratio `1000000/3`.
    fn from_str(text: &str) -> Result<Self, RateError> {
        rate(text.trim()).ok_or_else(|| RateError { found: text.to_owned() })
    }
}

fn rate(text: &str) -> Option<Rate> {
    if let Some((ticks, seconds)) = text.split_once('/') {
        return Rate::new(ticks.trim().parse().ok()?, seconds.trim().parse().ok()?);
    }
    let lower = text.to_ascii_lowercase();
    let units = [("khz", 3), ("mhz", 6), ("ghz", 9), ("hz", 0)];
    let (number, power) = units
        .iter()
        .find_map(|(unit, power)| Some((lower.strip_suffix(unit)?.trim_end(), *power)))
        .unwrap_or((lower.as_str(), 0));
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = format!("{whole}{fraction}");
    if fraction.len() > 9 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let ticks = digits.parse::<u64>().ok()?.checked_mul(10_u64.pow(power))?;
    let seconds = 10_u64.pow(u32::try_from(fraction.len()).ok()?);
    // A rate with decimals is stored as whole ticks per 10^n seconds, so no rate is rounded.
    let divisor = greatest_common_divisor(ticks, seconds);
    Rate::new(ticks.checked_div(divisor)?, seconds / divisor)
}

/// Returns the greatest common divisor. If one number is 0, returns the other.
pub(crate) fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// A change of a clock's rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RateChange {
    /// Ticks since the first event.
    pub ticks: u64,
    /// Nanoseconds from the first event to that moment.
    pub nanoseconds: u64,
    /// The rate from that moment on.
    pub rate: Rate,
}

impl RateChange {
    /// Returns nanoseconds since the first event, rounded down. The result is also valid for ticks
    /// before this change.
    fn nanoseconds(&self, ticks: u64) -> u64 {
        match ticks.checked_sub(self.ticks) {
            Some(after) => self.nanoseconds.saturating_add(self.rate.nanoseconds(after)),
            None => self.nanoseconds.saturating_sub(self.rate.nanoseconds_up(self.ticks - ticks)),
        }
    }
}

/// The clock of a trace, which converts timestamps to ticks, and ticks to nanoseconds.
///
/// ```
/// use tracewell::model::{Clock, Rate};
///
/// let mut clock = Clock::of_64_bits(Rate::new(1_000_000, 1));
/// assert_eq!(clock.nanoseconds(5), Some(5_000));
/// // From tick 1000 on, the clock runs twice as fast.
/// clock.change_rate(1_000, Rate::new(2_000_000, 1).unwrap());
/// assert_eq!(clock.nanoseconds(1_004), Some(1_002_000));
/// assert_eq!(clock.nanoseconds(5), Some(5_000));
/// assert_eq!(Clock::of_64_bits(None).nanoseconds(5), None);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Clock {
    /// Ticks per second, if known. If the rate changes, this is the first rate.
    pub rate: Option<Rate>,
    /// All rates in the order of time, each with its beginning; empty if `rate` never changes. Each
    /// rate begins at a whole number of nanoseconds. If no rate was known before a change,
    /// `nanoseconds` of this change is rounded up. Otherwise it is rounded down.
    pub changes: Vec<RateChange>,
    /// The counter that produced the timestamps.
    pub counter: Counter,
    /// The counter's timestamp at the first event.
    pub first_stamp: u64,
}

impl Clock {
    /// Creates a clock without a first timestamp, with a constant rate if the rate is known.
    pub const fn new(rate: Option<Rate>, counter: Counter) -> Self {
        Self { rate, changes: Vec::new(), counter, first_stamp: 0 }
    }

    /// Returns a clock with a 64-bit counter that counts up.
    pub fn of_64_bits(rate: Option<Rate>) -> Self {
        Self::new(rate, Counter::of_mask(u64::MAX, Direction::Up))
    }

    /// Returns nanoseconds since the first event, or `None` if the rate is unknown.
    #[inline]
    pub fn nanoseconds(&self, ticks: u64) -> Option<u64> {
        if !self.changes.is_empty() {
            return self.piecewise(ticks);
        }
        self.rate.map(|rate| rate.nanoseconds(ticks))
    }

    /// Returns true if the rate is known, so that [`Clock::nanoseconds`] returns a time.
    #[inline]
    pub(crate) fn is_known(&self) -> bool {
        self.rate.is_some() || !self.changes.is_empty()
    }

    fn piecewise(&self, ticks: u64) -> Option<u64> {
        // Nearly all conversions are for ticks after the last change.
        let after = match self.changes.last() {
            Some(last) if last.ticks <= ticks => self.changes.len(),
            _ => self.changes.partition_point(|change| change.ticks <= ticks),
        };
        // Ticks before the first change use the rate of that change.
        Some(self.changes.get(after.saturating_sub(1))?.nanoseconds(ticks))
    }

    /// Sets the rate from `ticks` on. `ticks` must not be less than the ticks of an earlier change.
    pub fn change_rate(&mut self, ticks: u64, rate: Rate) {
        let nanoseconds = match (self.rate, self.changes.is_empty()) {
            (Some(known), true) if known == rate => return,
            (Some(first), true) if ticks > 0 => {
                self.changes.push(RateChange { ticks: 0, nanoseconds: 0, rate: first });
                first.nanoseconds(ticks)
            }
            (_, true) => {
                self.rate = Some(rate);
                rate.nanoseconds_up(ticks)
            }
            (_, false) => self.nanoseconds(ticks).unwrap_or(0),
        };
        self.changes.push(RateChange { ticks, nanoseconds, rate });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_rate_is_read_from_what_people_write() {
        let read = |text: &str| text.parse::<Rate>().map(Rate::ratio).ok();
        assert_eq!(read("1000000"), Some((1_000_000, 1)));
        assert_eq!(read("32.768kHz"), Some((32_768, 1)));
        assert_eq!(read(" 80 MHz "), Some((80_000_000, 1)));
        assert_eq!(read("0.5"), Some((1, 2)));
        assert_eq!(read("1000000/3"), Some((1_000_000, 3)));
        assert_eq!(read("0.000000001GHz"), Some((1, 1)));
        assert_eq!(read("1.123456789"), Some((1_123_456_789, 1_000_000_000)));
        for bad in
            ["", "0", "MHz", "1/0", "-5", "+5", "1e6", "99999999999999999999", "1.1234567890"]
        {
            assert_eq!(read(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_down_counter_of_sixteen_bits_wraps() {
        let counter = Counter::of_mask(0xFFFF, Direction::Down);
        assert_eq!(counter.elapsed(5, 3), 2);
        assert_eq!(counter.elapsed(3, 0xFFFF), 4);
        assert_eq!(counter.stamp(0xAB_1234), 0x1234);
    }

    #[test]
    fn a_modulus_need_not_be_a_power_of_two() {
        let counter =
            Counter { mask: u64::from(u32::MAX), last: 999_999_999, direction: Direction::Up };
        assert_eq!(counter.elapsed(999_999_990, 10), 20);
        assert_eq!(counter.stamp(1_000_000_007), 7);
    }

    #[test]
    fn conversion_is_exact_where_floats_are_not() {
        let rate = Rate::new(3, 1).unwrap();
        assert_eq!(rate.nanoseconds(u64::MAX / 1_000_000_000), 6_148_914_691_000_000_000);
        assert_eq!(rate.nanoseconds(1), 333_333_333);
        assert_eq!(Rate::new(1_000_000_000, 1).unwrap().nanoseconds(u64::MAX), u64::MAX);
    }

    proptest! {
        #[test]
        fn nanoseconds_are_exact_for_every_rate(
            ticks in 0_u64..1 << 60,
            per in 1_u64..=u64::MAX,
            seconds in 1_u64..1 << 30,
            shift in 0..64_u32,
        ) {
            let rate = Rate::new((per >> shift).max(1), seconds).unwrap();
            let nanoseconds = u128::from(ticks) * u128::from(seconds) * 1_000_000_000;
            let expected = nanoseconds / u128::from(rate.ratio().0);
            prop_assert_eq!(rate.nanoseconds(ticks), u64::try_from(expected).unwrap_or(u64::MAX));
        }
    }

    #[test]
    fn a_change_of_a_known_rate_keeps_the_times_before_it() {
        let mut clock = Clock::of_64_bits(Rate::new(1_000_000, 1));
        let before = [0, 5, 999, 1_000].map(|ticks| clock.nanoseconds(ticks));
        clock.change_rate(1_000, Rate::new(2_000_000, 1).unwrap());
        assert_eq!([0, 5, 999, 1_000].map(|ticks| clock.nanoseconds(ticks)), before);
        assert_eq!(clock.nanoseconds(1_002), Some(1_001_000));
        // At the first event, the new rate is the first one.
        let mut clock = Clock::of_64_bits(Rate::new(1_000_000, 1));
        clock.change_rate(0, Rate::new(3, 1).unwrap());
        assert_eq!((clock.rate, clock.nanoseconds(6)), (Rate::new(3, 1), Some(2_000_000_000)));
        // The same rate is no change.
        let mut clock = Clock::of_64_bits(Rate::new(3_000_000, 1));
        clock.change_rate(10, Rate::new(3_000_000, 1).unwrap());
        assert_eq!((clock.nanoseconds(9), clock.changes.len()), (Some(3_000), 0));
    }

    #[test]
    fn a_rate_that_changes_makes_times_in_pieces() {
        let counter = Counter::of_mask(u64::MAX, Direction::Up);
        let mut clock = Clock::new(None, counter);
        assert_eq!(clock.nanoseconds(5), None);
        // At three ticks per microsecond, tick 10 is 3333.3 ns after the first event; this is
        // rounded up to 3334.
        clock.change_rate(10, Rate::new(3_000_000, 1).unwrap());
        assert_eq!(
            [0, 1, 9, 10, 11].map(|t| clock.nanoseconds(t).unwrap()),
            [0, 334, 3000, 3334, 3667]
        );
        clock.change_rate(14, Rate::new(1_000_000, 1).unwrap());
        assert_eq!([13, 14, 15].map(|t| clock.nanoseconds(t).unwrap()), [4334, 4667, 5667]);
        assert_eq!(clock.rate.unwrap().ratio(), (3_000_000, 1));
    }

    proptest! {
        #[test]
        fn whole_nanoseconds_of_a_tick_give_what_division_does(
            ticks in 1..=2_000_000_000_u64, seconds in 1..4_u64, nanoseconds in 1..=1_000_000_u64,
            count: u64, shift in 0..64,
        ) {
            let rates = [Rate::new(ticks, seconds), Rate::new(1_000_000_000, nanoseconds)];
            for rate in rates.into_iter().flatten() {
                prop_assert_eq!(rate.nanoseconds(count >> shift), rate.divided(count >> shift));
            }
        }

        #[test]
        fn stamp_after_undoes_elapsed(
            last in 0..=u64::MAX, a: u64, b: u64, down: bool,
        ) {
            let direction = if down { Direction::Down } else { Direction::Up };
            let counter = Counter { mask: u64::MAX, last, direction };
            let (a, b) = (counter.stamp(a), counter.stamp(b));
            prop_assert_eq!(counter.stamp_after(a, counter.elapsed(a, b)), b);
        }

        #[test]
        fn ticks_of_a_time_are_not_before_it(
            ticks in 1..=u64::from(u32::MAX), seconds in 1..1000_u64, ns in 0..=u64::from(u32::MAX),
        ) {
            let rate = Rate::new(ticks, seconds).unwrap();
            prop_assert!(rate.nanoseconds(rate.ticks(ns)) >= ns);
        }
    }
}
