//! Turns figures into cells of tables, and makes the shares of a whole add up to 100 %. `table`
//! draws the cells.

use super::table::Cell;
use crate::analysis::Range;
use crate::model::Trace;
use crate::text::{counted, spoken_time};

/// Returns true if the clock has one known rate. Durations can then be shown in units of time
/// instead of ticks.
pub(super) fn has_time(trace: &Trace) -> bool {
    // With several rates, the same number of ticks may have different durations.
    trace.clock.rate.is_some() && trace.clock.changes.len() < 2
}

/// Returns a duration as time, or as ticks if the clock's rate is unknown or changes.
pub(super) fn duration(trace: &Trace, ticks: u64) -> Cell {
    match trace.clock.rate {
        Some(rate) if has_time(trace) => Cell::Time(rate.nanoseconds(ticks)),
        _ => Cell::Ticks(ticks),
    }
}

/// Returns a duration with its unit, for a sentence.
pub(super) fn spoken(trace: &Trace, ticks: u64) -> String {
    match duration(trace, ticks) {
        Cell::Time(nanoseconds) => spoken_time(nanoseconds),
        _ => counted(ticks, "tick"),
    }
}

/// Returns a time since the first event.
pub(super) fn moment(trace: &Trace, ticks: u64) -> Cell {
    match trace.clock.nanoseconds(ticks) {
        Some(nanoseconds) if has_time(trace) => Cell::Time(nanoseconds),
        _ => Cell::Ticks(ticks),
    }
}

/// Returns a figure of a range as a duration, or an unknown value if the range is empty.
pub(super) fn optional(trace: &Trace, range: Range, figure: u64) -> Cell {
    some(range, figure).map(|ticks| duration(trace, ticks)).into()
}

pub(super) fn some<T>(range: Range, figure: T) -> Option<T> {
    (range.count > 0).then_some(figure)
}

/// Returns the nanoseconds if the clock's rate is known.
pub(super) fn timed(trace: &Trace, nanoseconds: u64) -> Option<u64> {
    trace.clock.rate.map(|_| nanoseconds)
}

/// Returns the share that a part has in a whole, rounded down.
pub(super) fn share(part: u64, whole: u64) -> Cell {
    // Use 128 bits, because ticks times 10000 may exceed 64 bits.
    let hundredths = (u128::from(part) * WHOLE).checked_div(u128::from(whole)).unwrap_or(0);
    Cell::Share(u64::try_from(hundredths).unwrap_or(u64::MAX))
}

/// The number of hundredths of a percent in a whole.
const WHOLE: u128 = 10_000;

/// Returns the share that each part has in the whole. The shares are rounded so that they add up to
/// exactly 100 %: the parts with the largest remainders are rounded up.
pub(super) fn shares(parts: &[u64]) -> Vec<Cell> {
    let whole = parts.iter().map(|part| u128::from(*part)).sum::<u128>();
    if whole == 0 {
        return vec![Cell::Share(0); parts.len()];
    }
    let exact = parts.iter().map(|part| u128::from(*part) * WHOLE);
    let mut rounded: Vec<_> = exact.clone().map(|part| part / whole).collect();
    let remainders: Vec<_> = exact.map(|part| part % whole).collect();
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|index| std::cmp::Reverse(remainders[*index]));
    let missing = WHOLE - rounded.iter().sum::<u128>();
    // Rounding down removed less than one unit from each part, so the number of missing units is
    // below the number of parts.
    order.into_iter().zip(0..missing).for_each(|(index, _)| rounded[index] += 1);
    rounded.into_iter().map(|share| Cell::Share(share as u64)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn hundredths(parts: &[u64]) -> Vec<u64> {
        let share = |cell| match cell {
            Cell::Share(share) => share,
            other => panic!("{other:?}"),
        };
        shares(parts).into_iter().map(share).collect()
    }

    #[test]
    fn the_largest_remainders_are_rounded_up() {
        assert_eq!(hundredths(&[1, 1, 1]), [3334, 3333, 3333]);
        assert_eq!(hundredths(&[0, 2, 1]), [0, 6667, 3333]);
        assert_eq!(hundredths(&[u64::MAX, u64::MAX, 0]), [5000, 5000, 0]);
        assert_eq!(hundredths(&[0, 0]), [0, 0]);
        assert_eq!(hundredths(&[]), [0; 0]);
    }

    proptest! {
        #[test]
        fn shares_add_up_to_the_whole_and_are_off_by_less_than_a_unit(
            parts in prop::collection::vec(any::<u64>(), 1..40),
        ) {
            let whole: u128 = parts.iter().map(|part| u128::from(*part)).sum();
            prop_assume!(whole > 0);
            let shares = hundredths(&parts);
            prop_assert_eq!(shares.iter().sum::<u64>(), 10_000);
            for (part, share) in parts.iter().zip(shares) {
                let exact = u128::from(*part) * WHOLE / whole;
                prop_assert!(u128::from(share) == exact || u128::from(share) == exact + 1);
            }
        }
    }
}
