//! The kernel's status codes that the trace services return.

use core::fmt;

/// The reason why a trace service did nothing.
///
/// The kernel's third code, `TX_FEATURE_NOT_ENABLED` (0xFF), has no counterpart here. All services
/// of a kernel that was built without tracing return this code, but a program without tracing has
/// no [`Trace`](super::Trace).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// `TX_SIZE_ERROR`: the memory is too small for the header, the registry and one event.
    SizeError,
    /// `TX_NOT_DONE`: tracing is already on (`enable`), or is off (all other services).
    NotDone,
}

impl Status {
    /// The kernel's code for success (`TX_SUCCESS`), which corresponds to `Ok`.
    pub const SUCCESS: u32 = 0x00;

    /// Returns the kernel's number for this status.
    ///
    /// ```
    /// use tracewell_record::threadx::Status;
    ///
    /// assert_eq!((Status::SizeError.code(), Status::NotDone.code()), (0x05, 0x20));
    /// ```
    pub const fn code(self) -> u32 {
        match self {
            Self::SizeError => 0x05,
            Self::NotDone => 0x20,
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SizeError => "the memory is too small for header, registry and one event (0x05)",
            Self::NotDone => "tracing is already on, or already off (0x20)",
        })
    }
}

impl core::error::Error for Status {}
