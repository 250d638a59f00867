//! The outcome of a verb. Only this file converts an outcome into an exit status.

use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;
use std::process::{ExitCode, ExitStatus};

use tracewell::export::ExportError;
use tracewell::input::InputError;
use tracewell::model::{Diagnostic, Diagnostics, Severity, SinkError};
use tracewell::text::style::{ERROR, HEADING, WARNING, styled};
use tracewell::text::{counted, shown_lines, shown_path};

/// Prints `warning: ` and a message on standard error. The message begins with its subject: a file
/// and a position, or an option.
macro_rules! warn_line {
    ($($text:tt)*) => {
        $crate::outcome::print_message(&format!("warning: {}", format_args!($($text)*)))
    };
}
pub(crate) use warn_line as warn;

/// Prints a note. The arguments are the same as for [`warn!`], but a note requires no action by the
/// user.
macro_rules! note_line {
    ($($text:tt)*) => {
        $crate::outcome::print_message(&format!("note: {}", format_args!($($text)*)))
    };
}
pub(crate) use note_line as note;

/// Prints lines on standard error, in colours on a terminal. Escapes control characters. If
/// standard error is closed, the command continues with the same outcome. `eprintln` would panic in
/// this case.
pub(crate) fn print_message(message: &str) {
    let _cleared = crate::progress::clear();
    let mut shown = shown_lines(message).into_owned();
    if crate::screen::has_color_in_messages() {
        let words = [("error:", ERROR), ("warning:", WARNING), ("note:", HEADING)];
        let found = words.iter().filter_map(|(word, style)| Some((shown.find(word)?, word, style)));
        // Colour only the first of these words: if another of them follows, it is part of the
        // message.
        if let Some((_, word, style)) = found.min_by_key(|(at, ..)| *at) {
            shown = shown.replacen(word, &styled(word, *style, true), 1);
        }
    }
    let _ = writeln!(io::stderr(), "{shown}");
}

/// The outcome of a verb, which is the worst outcome of its inputs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Outcome {
    /// All inputs were read completely.
    Done,
    /// A rule was violated, or a template has errors.
    Wrong,
    /// The arguments cannot be used.
    Usage,
    /// An input is unreadable or damaged.
    Damaged,
    /// An input or output cannot be opened, read or written.
    Io,
    /// The exit status of the program that was run.
    Program(u8),
}

impl Outcome {
    /// Returns the outcome of a program that was run: its status, or 128 plus the number of the
    /// signal that ended it.
    pub(crate) fn of_program(status: ExitStatus) -> Self {
        #[cfg(unix)]
        let signal = std::os::unix::process::ExitStatusExt::signal(&status);
        #[cfg(not(unix))]
        let signal = None::<i32>;
        let status = status.code().unwrap_or_else(|| signal.map_or(1, |signal| 128 + signal));
        Self::Program(u8::try_from(status).unwrap_or(u8::MAX))
    }

    /// Returns the exit status that docs/command-line.md documents.
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

/// A failure and its message.
#[derive(Debug)]
pub(crate) struct Failure {
    outcome: Outcome,
    message: String,
}

impl Failure {
    /// Returns a failure for arguments that cannot be used.
    pub(crate) fn usage(message: impl Display) -> Self {
        Self { outcome: Outcome::Usage, message: message.to_string() }
    }

    /// Returns a failure for a violated rule or a template with errors.
    pub(crate) fn wrong(message: impl Display) -> Self {
        Self { outcome: Outcome::Wrong, message: message.to_string() }
    }

    /// Returns a failure for a file that cannot be read or written. A closed pipe counts as
    /// success.
    pub(crate) fn io(path: &Path, error: &io::Error) -> Self {
        let outcome = match error.kind() {
            io::ErrorKind::BrokenPipe => Outcome::Done,
            _ => Outcome::Io,
        };
        Self { outcome, message: format!("{}: {error}", shown_path(path)) }
    }

    /// Returns a failure that has already been reported.
    pub(crate) fn reported(outcome: Outcome) -> Self {
        Self { outcome, message: String::new() }
    }

    /// Returns a failure for a file with wrong content.
    pub(crate) fn damaged(path: &Path, error: &dyn Display) -> Self {
        Self { outcome: Outcome::Damaged, message: format!("{}: {error}", shown_path(path)) }
    }

    /// Returns the message, without the word `error`.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// Returns the same failure, with a place added before the message.
    pub(crate) fn within(self, place: &str) -> Self {
        Self { message: format!("{place}: {}", self.message), ..self }
    }

    /// Returns the outcome.
    pub(crate) const fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// Prints the failure on standard error and returns its outcome.
    pub(crate) fn report(self) -> Outcome {
        if self.outcome != Outcome::Done && !self.message.is_empty() {
            print_message(&format!("error: {}", self.message));
        }
        self.outcome
    }
}

impl From<InputError> for Failure {
    /// Returns the failure for an error in a command that writes to standard output.
    fn from(error: InputError) -> Self {
        let outcome = match &error {
            InputError::Sink(error) => return Self::sink(stdout_path(), error),
            InputError::Io { source, .. } if source.kind() == io::ErrorKind::InvalidData => {
                Outcome::Damaged
            }
            InputError::Io { .. } => Outcome::Io,
            InputError::Read { .. }
            | InputError::Compressed { .. }
            | InputError::Unrecognised { .. } => Outcome::Damaged,
            InputError::NoSuchFormat(_) | InputError::Option(_) | InputError::Terminal => {
                Outcome::Usage
            }
        };
        Self { outcome, message: error.to_string() }
    }
}

impl Failure {
    /// Returns the failure for an error from an input or from its sink. The sink writes to `path`.
    pub(crate) fn reading(error: InputError, path: &Path) -> Self {
        match error {
            InputError::Sink(error) => Self::sink(path, &error),
            error => error.into(),
        }
    }

    /// Returns a failure for a sink that writes to `path`.
    pub(crate) fn sink(path: &Path, error: &SinkError) -> Self {
        match error {
            SinkError::Write(error) => Self::io(path, error),
            SinkError::NotPossible(error) => Self::usage(error),
        }
    }

    /// Returns a failure for an export to this path.
    pub(crate) fn export(path: &Path, error: ExportError) -> Self {
        match error {
            ExportError::Input(error) => error.into(),
            ExportError::Option(error) => Self::usage(error),
            ExportError::NotPossible(message) => Self::usage(message),
            ExportError::Write(error) => Self::io(path, &error),
        }
    }
}

/// Prints the diagnostics of an input on standard error: all of them if `verbose`, otherwise all
/// except notes. Returns [`Outcome::Damaged`] if the input is damaged.
pub(crate) fn report_diagnostics(path: &Path, diagnostics: &Diagnostics, verbose: bool) -> Outcome {
    let least = if verbose { Severity::Note } else { Severity::Hint };
    for diagnostic in diagnostics.iter().filter(|diagnostic| diagnostic.severity >= least) {
        print_diagnostic(path, diagnostic);
    }
    match diagnostics.more() {
        0 => {}
        more => note!("{}: and {}", shown_path(path), counted(more, "more diagnostic")),
    }
    match diagnostics.worst() {
        Some(Severity::Damage) => Outcome::Damaged,
        _ => Outcome::Done,
    }
}

/// Prints a diagnostic with the prefix for its severity. Damage is an error.
fn print_diagnostic(path: &Path, diagnostic: &Diagnostic) {
    let Diagnostic { severity, file, message, .. } = diagnostic;
    // If the diagnostic names a file other than the trace, the message begins with that file
    // instead of the trace's path.
    let (path, damaged) = match file {
        Some(_) => (String::new(), ""),
        None => (format!("{}: ", shown_path(path)), "damaged: "),
    };
    let place = diagnostic.place();
    match severity {
        Severity::Note | Severity::Hint => note!("{path}{place}{message}"),
        Severity::Warning => warn!("{path}{place}{message}"),
        Severity::Damage => print_message(&format!("error: {path}{damaged}{place}{message}")),
    }
}

/// Returns the name that messages use for standard output.
pub(crate) fn stdout_path() -> &'static Path {
    Path::new("standard output")
}
