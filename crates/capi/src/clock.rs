//! Clocks that C brings to the recorders in its memory.

use core::ffi::{c_int, c_void};

use tracewell_record::clock::Clock;

/// Where time stamps come from.
///
/// `read` is called once for each recorded event, in the context of the call that records; it must not
/// record. Null counts the events instead of time.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct tw_clock {
    /// Returns the present tick. `context` is handed to it.
    pub read: Option<extern "C" fn(context: *mut c_void) -> u64>,
    /// What `read` is given; may be null.
    pub context: *mut c_void,
    /// The bits of a tick that count, normally 2^n - 1; 0 for the dialect's usual width (ThreadX that
    /// of its words, the others 64 bits).
    pub valid_mask: u64,
}

/// A C clock.
pub(crate) struct CallerClock {
    clock: tw_clock,
    count: u64,
}

impl CallerClock {
    pub(crate) fn new(clock: tw_clock, usual_mask: u64) -> Self {
        let valid_mask = if clock.valid_mask == 0 { usual_mask } else { clock.valid_mask };
        Self { clock: tw_clock { valid_mask, ..clock }, count: 0 }
    }
}

impl Clock for CallerClock {
    #[inline]
    fn ticks(&mut self) -> u64 {
        match self.clock.read {
            Some(read) => read(self.clock.context),
            None => {
                self.count = self.count.wrapping_add(1);
                self.count
            }
        }
    }

    fn valid_mask(&self) -> u64 {
        self.clock.valid_mask
    }
}

/// C's truth.
pub(crate) const fn truth(value: bool) -> c_int {
    value as c_int
}
