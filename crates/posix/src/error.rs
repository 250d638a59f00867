//! What failed: an error number of the system, as the standard's functions return it.

use std::fmt;
use std::io;

/// An error number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Error(pub(crate) i32);

impl Error {
    pub(crate) const INVALID: Self = Self(libc::EINVAL);

    /// The number, above 0.
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
