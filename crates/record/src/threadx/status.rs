//! The kernel's status codes, as far as the trace services return them.

use core::fmt;

/// Why a trace service did nothing.
///
/// The kernel's third code, `TX_FEATURE_NOT_ENABLED` (0xFF), is what a kernel built without tracing
/// returns from all of them; a program without tracing has no [`Trace`](super::Trace) at all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// `TX_SIZE_ERROR`: the memory does not hold the header, the registry and one event.
    SizeError,
    /// `TX_NOT_DONE`: tracing is already on (enable) or off (everything else).
    NotDone,
}

impl Status {
    /// The code of success, which in Rust is `Ok` (`TX_SUCCESS`).
    pub const SUCCESS: u32 = 0x00;

    /// The number that the kernel's service of the same name returns.
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
            Self::NotDone => "tracing is already in the wanted state, or off (0x20)",
        })
    }
}

impl core::error::Error for Status {}

/// An enable that was refused: the reason, and the memory back, untouched.
#[derive(PartialEq, Eq)]
pub struct Refused<'m> {
    /// Why.
    pub status: Status,
    /// What was passed.
    pub memory: &'m mut [u8],
}

impl fmt::Debug for Refused<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The memory's bytes would drown the reason.
        f.debug_struct("Refused")
            .field("status", &self.status)
            .field("memory_size", &self.memory.len())
            .finish()
    }
}

impl fmt::Display for Refused<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "trace not enabled with {} bytes: {}", self.memory.len(), self.status)
    }
}

impl core::error::Error for Refused<'_> {}
