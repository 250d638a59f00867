//! Errors of files, with the path.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Error of an operation on a file, with the file's path. The system's error is its source.
struct FileError {
    path: PathBuf,
    error: io::Error,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.error)
    }
}

/// Writes the message, because a program prints this form if its `main` returns the error.
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
