//! Clocks: the sources of timestamps.
//!
//! A recorder reads its clock once per event and never waits for the clock. The recorders for
//! ThreadX and RKH store the reading, or its low bits. The recorders for AIX and S.Ha.R.K. also
//! count the wraps of the clock, and store 64-bit timestamps. Some dialects record neither the unit
//! of a tick nor the direction of the clock. The user of such a trace must know both.

#[cfg(all(feature = "std", target_os = "linux"))]
pub mod counter;

/// A source of timestamps.
///
/// Every closure `FnMut() -> u64` is a clock with 32 valid bits; use [`Masked`] for other widths.
/// The recording call reads the clock. A reading should take a few instructions, such as loading a
/// cycle counter register, and must not itself record an event.
///
/// ```
/// use tracewell_record::clock::Clock;
///
/// let mut cycles = 0;
/// let mut clock = || { cycles += 5; cycles };
/// assert_eq!((clock.ticks(), clock.ticks()), (5, 10));
/// assert_eq!(clock.valid_mask(), 0xFFFF_FFFF);
/// ```
pub trait Clock {
    /// Returns the current tick. Bits outside [`Clock::valid_mask`] are undefined.
    fn ticks(&mut self) -> u64;

    /// Returns the mask of valid bits in a tick, normally `2^n - 1`. Recorders read the mask only
    /// once, when the trace is created or enabled.
    fn valid_mask(&self) -> u64 {
        0xFFFF_FFFF
    }
}

impl<F: FnMut() -> u64> Clock for F {
    #[inline]
    fn ticks(&mut self) -> u64 {
        self()
    }
}

/// A clock with another mask of valid bits.
///
/// ```
/// use tracewell_record::clock::{Clock, Masked};
///
/// let mut timer16 = Masked { clock: || 0xABCD_1234, mask: 0xFFFF };
/// assert_eq!((timer16.ticks(), timer16.valid_mask()), (0xABCD_1234, 0xFFFF));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Masked<C> {
    /// The underlying clock. All bits of the mask must be valid in its readings.
    pub clock: C,
    /// The mask of valid bits in a reading.
    pub mask: u64,
}

impl<C: Clock> Clock for Masked<C> {
    #[inline]
    fn ticks(&mut self) -> u64 {
        self.clock.ticks()
    }

    fn valid_mask(&self) -> u64 {
        self.mask
    }
}

/// A clock for targets without a spare timer: it counts the recorded events, from 1.
///
/// ThreadX ports without a time source count events in the same way ("simulated time"). The trace
/// preserves the order of events but not their durations.
///
/// ```
/// use tracewell_record::clock::{Clock, EventCounter};
///
/// let mut clock = EventCounter::default();
/// assert_eq!((clock.ticks(), clock.ticks()), (1, 2));
/// ```
#[derive(Clone, Copy, Default, Debug)]
pub struct EventCounter {
    count: u32,
}

impl Clock for EventCounter {
    #[inline]
    fn ticks(&mut self) -> u64 {
        self.count = self.count.wrapping_add(1);
        u64::from(self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_counter_starts_at_one_and_wraps_at_32_bits() {
        let mut counter = EventCounter::default();
        assert_eq!((counter.ticks(), counter.ticks()), (1, 2));
        counter.count = u32::MAX;
        assert_eq!(counter.ticks(), 0);
    }
}
