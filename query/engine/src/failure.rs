//! Failures and exit statuses. The statuses are the same as those of the program `tracewell`.

use std::fmt::{self, Display};
use std::io;
use std::path::Path;

use datafusion::error::DataFusionError;
use datafusion::sql::sqlparser::parser::ParserError;
use tracewell::text::shown_path;
use tracewell_tables::Table;

/// The outcome of a query, in increasing order of severity.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Outcome {
    /// The query was answered from all inputs.
    Done,
    /// The arguments or the SQL cannot be used.
    Usage,
    /// An input is unreadable or damaged. The answer covers its readable part.
    Damaged,
    /// An input or output cannot be opened, read or written.
    Io,
}

impl Outcome {
    /// Returns the exit status.
    pub const fn status(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Usage => 2,
            Self::Damaged => 3,
            Self::Io => 4,
        }
    }

    /// Returns the outcome of a program with these statuses. A program that a signal ended has no
    /// status.
    pub(crate) const fn of_status(status: Option<i32>) -> Self {
        match status {
            Some(0) => Self::Done,
            Some(2) => Self::Usage,
            Some(3) => Self::Damaged,
            _ => Self::Io,
        }
    }
}

/// A failure and its message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    outcome: Outcome,
    message: String,
}

impl Failure {
    /// Returns a failure for arguments or SQL that cannot be used.
    pub fn usage(message: impl Display) -> Self {
        Self { outcome: Outcome::Usage, message: message.to_string() }
    }

    /// Returns a failure for an input that cannot be read as a trace.
    pub(crate) fn damaged(message: impl Display) -> Self {
        Self { outcome: Outcome::Damaged, message: message.to_string() }
    }

    /// Returns a failure for a file that cannot be read or written. A closed pipe counts as
    /// success.
    pub fn io(path: &Path, error: &io::Error) -> Self {
        let outcome = match error.kind() {
            io::ErrorKind::BrokenPipe => Outcome::Done,
            _ => Outcome::Io,
        };
        Self { outcome, message: format!("{}: {error}", shown_path(path)) }
    }

    /// Returns a failure of the storage of a lake, or of a cluster.
    pub fn storage(message: impl Display) -> Self {
        Self { outcome: Outcome::Io, message: message.to_string() }
    }

    /// Returns the outcome of the program after this failure.
    pub const fn outcome(&self) -> Outcome {
        self.outcome
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

impl From<DataFusionError> for Failure {
    /// Returns the failure of the engine. If the engine's error contains a failure of this program,
    /// returns that failure unchanged.
    fn from(error: DataFusionError) -> Self {
        let mut source: Option<&(dyn std::error::Error + 'static)> = Some(&error);
        while let Some(inner) = source {
            if let Some(failure) = inner.downcast_ref::<Self>() {
                return failure.clone();
            }
            source = inner.source();
        }
        let root = error.find_root();
        let outcome = match root {
            DataFusionError::IoError(_) | DataFusionError::ResourcesExhausted(_) => Outcome::Io,
            _ => Outcome::Usage,
        };
        Self { outcome, message: format!("SQL: {}", message(root)) }
    }
}

/// Returns the message of an engine error, without the words with which the engine names the kind
/// of the error.
fn message(error: &DataFusionError) -> String {
    if let DataFusionError::SQL(error, _) = error
        && let ParserError::ParserError(message) | ParserError::TokenizerError(message) = &**error
    {
        return message.clone();
    }
    let message = error.strip_backtrace();
    let kinds = ["Error during planning: ", "Schema error: "];
    let plain = kinds.iter().find_map(|kind| message.strip_prefix(kind)).unwrap_or(&message);
    if let Some(name) = plain.strip_prefix("table 'datafusion.public.")
        && let Some(name) = name.strip_suffix("' not found")
    {
        return unknown_table(name);
    }
    let Some((plain, columns)) = plain.split_once("\nValid fields are ") else {
        return plain.to_owned();
    };
    let columns = columns.trim_end_matches('.').split(", ");
    let columns: Vec<_> =
        columns.map(|name| name.rsplit_once('.').map_or(name, |(_, name)| name)).collect();
    match columns.len() <= MAX_COLUMNS {
        true => format!("{plain} The columns are {}.", columns.join(", ")),
        false => plain.to_owned(),
    }
}

/// Maximum number of column names that are listed in the message about an unknown column. `events`
/// can have hundreds.
const MAX_COLUMNS: usize = 24;

/// Returns the message for a table that does not exist.
fn unknown_table(name: &str) -> String {
    match name.parse::<Table>() {
        Ok(table) => format!(
            "the table {table} has no traces: give files after the SQL, or write {table}('FILE')"
        ),
        Err(_) => {
            let known = Table::ALL.map(Table::name).join(", ");
            format!("no table and no file '{name}'; the tables are {known}")
        }
    }
}

impl From<Failure> for DataFusionError {
    fn from(failure: Failure) -> Self {
        Self::External(Box::new(failure))
    }
}
