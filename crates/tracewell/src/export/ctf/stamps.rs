//! The stamps that the output contains: cycles of the output's clock since the first event in the
//! input.
//!
//! | rate of the input | cycles per second | stamp |
//! |---|---|---|
//! | t ticks in s seconds | t | ticks times s |
//! | several rates | 10^9 | nanoseconds, rounded down |
//! | unknown | 10^9 | the ticks |

use crate::model::{Clock, Rate, Trace};

const NANOSECONDS: u64 = 1_000_000_000;

/// Converts ticks to stamps.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Stamps {
    clock: Clock,
}

impl Stamps {
    /// Creates the conversion to stamps for the clock of a trace.
    pub(super) fn new(clock: &Clock) -> Self {
        Self { clock: clock.clone() }
    }

    /// Returns true if another clock has the same rates as this clock.
    pub(super) fn fits(&self, clock: &Clock) -> bool {
        (self.clock.rate, &self.clock.changes) == (clock.rate, &clock.changes)
    }

    /// Returns true if the rate is known.
    pub(super) fn is_timed(&self) -> bool {
        self.clock.rate.is_some() || !self.clock.changes.is_empty()
    }

    /// Returns the constant rate of the input, if it is known.
    fn constant(&self) -> Option<Rate> {
        self.clock.rate.filter(|_| self.clock.changes.is_empty())
    }

    /// Returns the cycles per second.
    pub(super) fn rate(&self) -> u64 {
        self.constant().map_or(NANOSECONDS, |rate| rate.ratio().0)
    }

    /// Returns the stamp of an event.
    pub(super) fn stamp(&self, ticks: u64) -> u64 {
        match self.constant() {
            Some(rate) => ticks.saturating_mul(rate.ratio().1),
            None => self.clock.nanoseconds(ticks).unwrap_or(ticks),
        }
    }

    /// Returns the time from 1970 to the first event in seconds and cycles, with the cycles rounded
    /// up. Returns `None` if the trace has no wall-clock time.
    pub(super) fn offset(&self, trace: &Trace) -> Option<(u64, u64)> {
        let first = trace.wall_clock_ns(0)?;
        let rest = u128::from(first % NANOSECONDS) * u128::from(self.rate());
        // The quotient is at most the number of cycles per second.
        Some((first / NANOSECONDS, rest.div_ceil(u128::from(NANOSECONDS)) as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamps(rate: Option<&str>) -> Stamps {
        Stamps::new(&Clock::of_64_bits(rate.map(|rate| rate.parse().unwrap())))
    }

    #[test]
    fn ticks_are_cycles_of_a_whole_rate() {
        let whole = stamps(Some("32.768kHz"));
        assert_eq!((whole.rate(), whole.stamp(5)), (32_768, 5));
        let third = stamps(Some("1000000/3"));
        assert_eq!((third.rate(), third.stamp(5)), (1_000_000, 15));
        let unknown = stamps(None);
        assert_eq!((unknown.rate(), unknown.stamp(5)), (1_000_000_000, 5));
    }

    #[test]
    fn a_clock_with_several_rates_has_nanoseconds() {
        let mut clock = Clock::of_64_bits(Rate::new(1_000_000, 1));
        clock.change_rate(1_000, Rate::new(2_000_000, 1).unwrap());
        let stamps = Stamps::new(&clock);
        assert_eq!((stamps.rate(), stamps.stamp(1_004)), (1_000_000_000, 1_002_000));
    }
}
