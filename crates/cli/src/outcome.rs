//! What became of a verb, and the one place where that becomes an exit status.

use std::fmt::Display;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use tracewell::export::ExportError;
use tracewell::input::InputError;
use tracewell::model::{Severity, Trace};
use tracewell::select::SelectionError;
use tracewell::text::{counted, shown_path};

/// Prints a line on standard error, with nothing in it that changes the terminal. Where nobody reads that any more, the
/// work goes on and keeps its outcome, which `eprintln` would not allow.
macro_rules! tell {
    ($($text:tt)*) => {{
        use std::io::Write;
        let line = format!($($text)*);
        let _ = writeln!(std::io::stderr(), "{}", tracewell::text::shown_lines(&line));
    }};
}
pub(crate) use tell;

/// What became of a verb; the worst of its inputs counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Outcome {
    /// Done.
    Done,
    /// Done, and something that was to be checked is wrong.
    Wrong,
    /// The arguments cannot be used.
    Usage,
    /// An input is unreadable or damaged.
    Damaged,
    /// An input or output cannot be opened, read or written.
    Io,
    /// A program was run, and this is its exit status.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "programs are run on Linux"))]
    Program(u8),
}

impl Outcome {
    /// The exit status of the command-line contract.
    pub(crate) fn exit_code(self) -> ExitCode {
        ExitCode::from(match self {
            Self::Done => 0,
            Self::Wrong => 1,
            Self::Usage => 2,
            Self::Damaged => 3,
            Self::Io => 4,
            Self::Program(status) => status,
        })
    }
}

/// A failure that was put into words.
#[derive(Debug)]
pub(crate) struct Failure {
    outcome: Outcome,
    message: String,
}

impl Failure {
    /// The arguments cannot be used.
    pub(crate) fn usage(message: impl Display) -> Self {
        Self { outcome: Outcome::Usage, message: message.to_string() }
    }

    /// A file cannot be read or written. A closed pipe is no failure.
    pub(crate) fn io(path: &Path, error: &io::Error) -> Self {
        let outcome = match error.kind() {
            io::ErrorKind::BrokenPipe => Outcome::Done,
            _ => Outcome::Io,
        };
        Self { outcome, message: format!("{}: {error}", shown_path(path)) }
    }

    /// A failure that was told already.
    pub(crate) fn told(outcome: Outcome) -> Self {
        Self { outcome, message: String::new() }
    }

    /// A file is not what it should be.
    pub(crate) fn damaged(path: &Path, error: &dyn Display) -> Self {
        Self { outcome: Outcome::Damaged, message: format!("{}: {error}", shown_path(path)) }
    }

    /// Tells the failure and returns what it means.
    pub(crate) fn tell(self) -> Outcome {
        if self.outcome != Outcome::Done && !self.message.is_empty() {
            tell!("tracewell: {}", self.message);
        }
        self.outcome
    }
}

impl From<InputError> for Failure {
    fn from(error: InputError) -> Self {
        let outcome = match &error {
            InputError::Io { source, .. } if source.kind() == io::ErrorKind::InvalidData => {
                Outcome::Damaged
            }
            InputError::Io { .. } => Outcome::Io,
            InputError::Read { .. } | InputError::Unrecognised { .. } => Outcome::Damaged,
            InputError::NoSuchFormat(_) | InputError::Option(_) | InputError::Terminal => {
                Outcome::Usage
            }
        };
        Self { outcome, message: error.to_string() }
    }
}

impl From<SelectionError> for Failure {
    fn from(error: SelectionError) -> Self {
        Self::usage(error)
    }
}

impl Failure {
    /// An export to this path failed.
    pub(crate) fn export(path: &Path, error: ExportError) -> Self {
        match error {
            ExportError::Input(error) => error.into(),
            ExportError::Option(error) => Self::usage(error),
            ExportError::NotPossible(message) => Self::usage(message),
            ExportError::Write(error) => Self::io(path, &error),
        }
    }
}

/// Tells what the reader had to say about an input, and returns what it means.
pub(crate) fn tell_remarks(path: &Path, trace: &Trace, verbose: bool) -> Outcome {
    let least = if verbose { Severity::Note } else { Severity::Warning };
    for remark in trace.diagnostics.iter().filter(|remark| remark.severity >= least) {
        tell!("tracewell: {}: {remark}", shown_path(path));
    }
    match trace.diagnostics.more() {
        0 => {}
        more => tell!("tracewell: {}: and {}", shown_path(path), counted(more, "more remark")),
    }
    match trace.diagnostics.worst() {
        Some(Severity::Damage) => Outcome::Damaged,
        _ => Outcome::Done,
    }
}
