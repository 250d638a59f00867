//! Converts ticks to nanoseconds. Keeps the latest results, because a change of the running context
//! ends one interval and begins another, so the same ticks are converted several times.

use std::ops::Range;

use crate::model::Trace;

/// Number of results that are kept; a power of two.
const SLOTS: usize = 16;

/// The latest conversions: ticks and nanoseconds.
#[derive(Clone, Debug, Default)]
pub(super) struct Conversions {
    slots: [Option<(u64, u64)>; SLOTS],
}

impl Conversions {
    /// Forgets the results, because the clock may have changed.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Returns nanoseconds since the first event, or `None` if the rate of the clock is unknown.
    #[inline]
    pub(super) fn nanoseconds(&mut self, trace: &Trace, ticks: u64) -> Option<u64> {
        if !trace.clock.is_known() {
            return None;
        }
        let slot = &mut self.slots[ticks as usize % SLOTS];
        match slot {
            Some((known, nanoseconds)) if *known == ticks => Some(*nanoseconds),
            _ => {
                let nanoseconds = trace.clock.nanoseconds(ticks)?;
                *slot = Some((ticks, nanoseconds));
                Some(nanoseconds)
            }
        }
    }

    /// Returns the duration of an interval in nanoseconds: the time at its end minus the time at
    /// its beginning. Returns 0 if the rate of the clock is unknown.
    #[inline]
    pub(super) fn duration(&mut self, trace: &Trace, interval: Range<u64>) -> u64 {
        if !trace.clock.is_known() {
            return 0;
        }
        let mut at = |ticks| self.nanoseconds(trace, ticks).unwrap_or(0);
        at(interval.end).saturating_sub(at(interval.start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::schema::Schema;
    use crate::model::{Clock, PayloadLayout, Rate};
    use tracewell_wire::ByteOrder;

    #[test]
    fn kept_conversions_are_those_of_the_clock() {
        let layout = PayloadLayout::Words { order: ByteOrder::Little, bytes: 4 };
        let clock = Clock::of_64_bits(Rate::new(1_000_000, 1));
        let mut trace = Trace::new("test", Schema::empty(), layout, clock);
        let mut conversions = Conversions::default();
        let ticks = [0, 16, 0, 3, 19, 3, 16, 0];
        let mut convert = |trace: &Trace| ticks.map(|ticks| conversions.nanoseconds(trace, ticks));
        assert_eq!(convert(&trace), ticks.map(|ticks| trace.clock.nanoseconds(ticks)));
        assert_eq!(conversions.duration(&trace, 3..19), 16_000);
        trace.clock = Clock::of_64_bits(None);
        assert_eq!(conversions.duration(&trace, 3..19), 0);
    }
}
