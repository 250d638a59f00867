//! Error numbers of the system, which the standard's functions return.

use std::fmt;
use std::io;

/// An error number, such as EINVAL.
///
/// ```
/// use tracewell_posix::{Attributes, Error};
///
/// let error: Error = Attributes::default().set_max_data(1 << 20).unwrap_err();
/// assert_eq!(error.number(), 22);
/// assert_eq!(std::io::Error::from(error).kind(), std::io::ErrorKind::InvalidInput);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Error(pub(crate) i32);

impl Error {
    pub(crate) const INVALID: Self = Self(libc::EINVAL);

    /// Returns the number, which is positive.
    pub const fn number(self) -> i32 {
        self.0
    }
}

impl From<i32> for Error {
    fn from(number: i32) -> Self {
        Self(number)
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        Self::from_raw_os_error(error.0)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        io::Error::from(*self).fmt(f)
    }
}

impl std::error::Error for Error {}
