//! Where time stamps come from.
//!
//! A recorder asks its clock once per recorded event and stores what it gets; it never compares,
//! converts or waits. Which unit a tick is, and in which direction it counts, is not recorded by
//! any dialect that needs only this trait: the person who reads the trace has to know.

#[cfg(all(feature = "std", target_os = "linux"))]
pub mod counter;

/// A source of time stamps.
///
/// Every closure `FnMut() -> u64` is a clock of 32 valid bits; [`Masked`] states fewer or more.
/// The reading is done inside the recording call, so it should be a few instructions (a cycle
/// counter's register) and must not record anything itself.
pub trait Clock {
    /// The present tick, raw: bits outside [`Clock::valid_mask`] may be anything.
    fn ticks(&mut self) -> u64;

    /// The bits of a tick that count, normally `2^n - 1`. Asked once, when tracing is enabled.
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

/// A clock with another valid mask.
///
/// ```
/// use tracewell_record::clock::{Clock, Masked};
///
/// let mut timer16 = Masked { clock: || 0xABCD_1234, mask: 0xFFFF };
/// assert_eq!((timer16.ticks(), timer16.valid_mask()), (0xABCD_1234, 0xFFFF));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Masked<C> {
    /// What is read.
    pub clock: C,
    /// Which bits of the reading count.
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

/// The clock of a target without a timer to spare: it counts the events that were recorded.
///
/// Ports of ThreadX that define no time source do this ("simulated time"). Order survives,
/// durations do not.
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
