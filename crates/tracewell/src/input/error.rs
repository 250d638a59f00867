//! Why an input cannot be read.

use std::io;
use std::path::{Path, PathBuf};

use crate::format::{FORMATS, OptionError, ReadError};
use crate::model::Diagnostics;
use crate::select::{did_you_mean, nearest};
use crate::text::{counted, shown_path};

/// Remarks that an error repeats: what encoding a text was taken for, and its first faults.
const REMARKS: usize = 3;

/// Why an input cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// The operating system says so.
    #[error("{}: {source}", shown_path(path))]
    Io {
        /// The input.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Its format cannot read it.
    #[error("{}: {source}", shown_path(path))]
    Read {
        /// The input.
        path: PathBuf,
        /// Where and why.
        source: ReadError,
    },
    /// No known format is recognised in it.
    #[error("{}: at byte 0: expected one of the formats {known}, found {found}", shown_path(path))]
    Unrecognised {
        /// The input.
        path: PathBuf,
        /// Names of the known formats.
        known: String,
        /// Its first bytes, and what was said of the text that they come from.
        found: String,
    },
    /// There is no format of this name.
    #[error("there is no format '{0}'; `tracewell formats` lists them{meant}", meant = meant(.0))]
    NoSuchFormat(String),
    /// An option does not fit the format.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// Standard input is a terminal.
    #[error("standard input is a terminal: give it a trace, as in `tracewell info - <FILE`")]
    Terminal,
}

impl InputError {
    pub(super) fn io(path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }

    /// A file was cut while it was read.
    pub(super) fn cut(path: &Path, from: u64, to: u64) -> Self {
        let from = counted(from, "byte");
        let message = format!(
            "it was cut from {from} to {to} while it was read: what was shown is not to be trusted"
        );
        Self::io(path, io::Error::other(message))
    }

    pub(super) fn read(path: &Path, source: ReadError) -> Self {
        Self::Read { path: path.to_owned(), source }
    }

    pub(super) fn unrecognised(path: &Path, start: &[u8], remarks: &Diagnostics) -> Self {
        let known: Vec<_> = FORMATS.iter().map(|format| format.name).collect();
        let shown: Vec<_> = start.iter().take(8).map(|byte| format!("{byte:02X}")).collect();
        let found = match start.len() {
            0 => "an empty input".to_owned(),
            length if length < 4 => {
                format!("only {length} bytes (too short): {}", shown.join(" "))
            }
            _ => format!("bytes {}", shown.join(" ")),
        };
        let said = remarks.iter().take(REMARKS).map(|remark| format!("; {}", remark.message));
        let found = found + &said.collect::<String>();
        Self::Unrecognised { path: path.to_owned(), known: known.join(", "), found }
    }
}

/// The format that was meant, if a name is nearly its own.
fn meant(name: &str) -> String {
    did_you_mean(nearest(name, FORMATS.iter().map(|format| format.name)))
}

/// Why a stream cannot be read, before its name is added.
#[derive(Debug, thiserror::Error)]
pub(super) enum StreamError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    Read(#[from] ReadError),
}

impl StreamError {
    pub(super) fn at(self, path: &Path) -> InputError {
        match self {
            Self::Io(source) => InputError::io(path, source),
            Self::Read(source) => InputError::read(path, source),
        }
    }
}
