//! Errors of operations on files. Their messages contain the path.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Error of an operation on a file. Contains the file's path and the system's error.
struct FileError {
    path: PathBuf,
    error: io::Error,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.error)
    }
}

/// Writes the same text as `Display`, because a program prints the `Debug` form of an error that
/// its `main` returns.
impl fmt::Debug for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error for FileError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.error)
    }
}

/// Returns an error of the same kind whose message begins with the path.
pub(super) fn at(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), FileError { path: path.to_path_buf(), error })
}
