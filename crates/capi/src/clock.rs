//! Clocks that C code provides for the recorders.

use core::ffi::{c_int, c_void};

use tracewell_record::clock::Clock;

/// A source of timestamps.
///
/// `read` is called once per recorded event, from within the recording call, and must not record.
/// If it is null, events are numbered instead of timed.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct tw_clock {
    /// Returns the current tick. Its argument is `context`.
    pub read: Option<extern "C" fn(context: *mut c_void) -> u64>,
    /// The argument passed to `read`; may be null.
    pub context: *mut c_void,
    /// Mask of the valid bits of a tick, normally 2^n - 1. 0 selects the default: the word size for
    /// ThreadX, 64 bits for the other dialects.
    pub valid_mask: u64,
}

/// A clock of the caller, in the form that the recorders need.
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

/// Returns 1 for true and 0 for false.
pub(crate) const fn truth(value: bool) -> c_int {
    value as c_int
}
