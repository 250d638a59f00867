//! Finds the conversion of a file's ticks to nanoseconds, and converts ticks between the clocks of
//! two files.

use tracewell_wire::aix::TimeConversion;

use super::contents::{Content, Taken, take};
use super::frames::Frames;
use super::stamps::Stamps;
use crate::model::{Rate, greatest_common_divisor};

/// Returns the rate of a clock: nanoseconds = ticks × multiplier / divisor. Returns `None` if the
/// multiplier is 0, or if the numbers are too large.
pub(super) fn rate(conversion: TimeConversion) -> Option<Rate> {
    let TimeConversion { multiplier, divisor } = conversion;
    // Reduce the ratio first, so that large multipliers do not overflow.
    let common = greatest_common_divisor(multiplier, 1_000_000_000);
    let ticks = (1_000_000_000 / common.max(1)).checked_mul(divisor.max(1))?;
    Rate::new(ticks, multiplier / common.max(1))
}

/// Returns the conversion if it determines a rate.
pub(super) fn usable(conversion: TimeConversion) -> Option<TimeConversion> {
    rate(conversion).map(|_| conversion)
}

/// Returns the first usable conversion that an entry of a file contains (hook 00A).
pub(super) fn recorded(mut frames: Frames<'_>) -> Option<TimeConversion> {
    let mut stamps = Stamps::default();
    loop {
        match take(&mut frames, &mut stamps) {
            Taken::Content(Content::Entry { entry, .. }) => {
                let found = TimeConversion::of_entry(&entry).and_then(usable);
                if found.is_some() {
                    return found;
                }
            }
            Taken::Content(Content::Loss(..)) => {}
            Taken::Wanted(_) | Taken::End => return None,
        }
    }
}

/// The ratio that converts ticks of one clock to ticks of another clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Scale {
    numerator: u128,
    denominator: u128,
}

impl Scale {
    /// Returns `None` if both clocks have the same rate. Both conversions must be usable.
    pub(super) fn new(from: TimeConversion, to: TimeConversion) -> Option<Self> {
        let product = |factor: u64, divisor: u64| u128::from(factor) * u128::from(divisor.max(1));
        let numerator = product(from.multiplier, to.divisor);
        let denominator = product(to.multiplier, from.divisor);
        // With a numerator of at most 64 bits, the product with a tick does not overflow. The bits
        // that are cut off are far below the precision of a clock.
        let excess = 64_u32.saturating_sub(numerator.leading_zeros());
        (numerator != denominator).then_some(Self {
            numerator: numerator >> excess,
            denominator: (denominator >> excess).max(1),
        })
    }

    /// Converts a tick, rounded down. The result is at most the largest number.
    pub(super) fn apply(self, tick: u64) -> u64 {
        let scaled = u128::from(tick) * self.numerator / self.denominator;
        u64::try_from(scaled).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn conversion(multiplier: u64, divisor: u64) -> TimeConversion {
        TimeConversion { multiplier, divisor }
    }

    #[test]
    fn a_divisor_of_zero_counts_as_one() {
        assert_eq!(rate(conversion(10, 0)), Rate::new(100_000_000, 1));
        assert_eq!(rate(conversion(10, 3)), Rate::new(300_000_000, 1));
        assert_eq!(rate(conversion(0, 1)), None);
        assert_eq!(Scale::new(conversion(10, 0), conversion(10, 1)), None);
    }

    #[test]
    fn ticks_are_converted_between_clocks() {
        let scaled = |from, to, tick| Scale::new(from, to).map(|scale| scale.apply(tick));
        let (half, third) = (conversion(2, 1), conversion(1, 3));
        assert_eq!(scaled(third, half, 59), Some(9));
        assert_eq!(scaled(half, third, 9), Some(54));
        assert_eq!(scaled(half, third, u64::MAX), Some(u64::MAX));
        assert_eq!(scaled(conversion(1000, 512), conversion(2000, 1024), 5), None);
        // Products of 127 bits, whose quotient is 2.
        let large = |multiplier| conversion(multiplier, u64::MAX >> 1);
        assert_eq!(scaled(large(u64::MAX - 1), large(u64::MAX >> 1), 1 << 40), Some(1 << 41));
    }
}
