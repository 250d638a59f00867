//! Errors of reading tables.

use std::io;
use std::path::PathBuf;

use arrow_schema::ArrowError;
use tracewell::input::InputError;
use tracewell::text::shown_path;

/// Error for a table that cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The trace cannot be opened or read. Damage is not an error: the table `losses` and the
    /// diagnostics of the trace list it.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The trace is a stream, such as a pipe: it can be read only once, but a table may need
    /// several readings.
    #[error("{}: expected a file or a folder, found a stream; save it first", shown_path(.0))]
    Stream(PathBuf),
    /// The request has a column that the table does not have.
    #[error("no column {column}: the table {table} of this trace has {columns} columns")]
    NoColumn {
        /// Name of the table.
        table: &'static str,
        /// Position in the request, from 0.
        column: usize,
        /// Number of columns of the table.
        columns: usize,
    },
    /// The bytes of the trace cannot be read again.
    #[error("{}: {source}", shown_path(path))]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The rows do not form a batch; this can only be caused by a bug in this crate.
    #[error("cannot make a batch of rows: {0}")]
    Arrow(#[from] ArrowError),
}
