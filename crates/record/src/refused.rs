//! Error for calls that take memory from the caller.

use core::error::Error;
use core::fmt;

/// Error of a call that takes memory. It contains the reason, and gives the memory back unchanged.
///
/// ```
/// use tracewell_record::Refused;
/// use tracewell_record::threadx::{Context, Options, Status, Trace};
///
/// let mut memory = [0; 8];
/// let mut trace = Trace::new(|| 0);
/// let Refused { reason, memory } = trace
///     .enable(&mut memory, 4, &Options::default(), [], Context::INITIALIZATION)
///     .unwrap_err();
/// assert_eq!((reason, memory.len()), (Status::SizeError, 8));
/// ```
#[derive(PartialEq, Eq)]
pub struct Refused<'m, E> {
    /// The reason why the call did nothing.
    pub reason: E,
    /// The memory that the caller passed, returned for another use.
    pub memory: &'m mut [u8],
}

impl<E: fmt::Debug> fmt::Debug for Refused<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Printing all bytes of the memory would obscure the reason.
        f.debug_struct("Refused")
            .field("reason", &self.reason)
            .field("memory_size", &self.memory.len())
            .finish()
    }
}

impl<E: fmt::Display> fmt::Display for Refused<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "refused {} bytes of memory: {}", self.memory.len(), self.reason)
    }
}

impl<E: Error> Error for Refused<'_, E> {}
