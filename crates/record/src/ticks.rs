//! Time stamps of 64 bits from a clock that may have fewer.
//!
//! Dialects with wide stamps keep them unwrapped, and only who reads the clock knows how wide it is. As AIX
//! does for its 4-byte stamps (our decision), a stamp below the one before is one period later.

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
            // 0 for a clock of 64 bits, which does not come round.
            self.base = self.base.wrapping_add(self.mask.wrapping_add(1));
        }
        self.last = raw;
        self.base.wrapping_add(raw)
    }
}
