//! 64-bit timestamps from a clock that may have fewer bits.
//!
//! Dialects with wide timestamps store unwrapped values, and only the code that reads the clock
//! knows how many bits the clock has. If a timestamp is less than the previous timestamp, the
//! recorder assumes that the clock wrapped once. We adopted this rule from AIX's 4-byte timestamps.

use crate::clock::Clock;

#[derive(Debug)]
pub(crate) struct Ticks<C> {
    pub(crate) clock: C,
    mask: u64,
    last: u64,
    base: u64,
}

impl<C: Clock> Ticks<C> {
    pub(crate) fn new(clock: C) -> Self {
        let mask = clock.valid_mask();
        Self { clock, mask, last: 0, base: 0 }
    }

    #[inline]
    pub(crate) fn now(&mut self) -> u64 {
        let raw = self.clock.ticks() & self.mask;
        if raw < self.last {
            // One period; 0 for a 64-bit clock, which does not wrap.
            self.base = self.base.wrapping_add(self.mask.wrapping_add(1));
        }
        self.last = raw;
        self.base.wrapping_add(raw)
    }
}
