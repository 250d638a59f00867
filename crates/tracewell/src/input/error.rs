//! Errors of inputs.

use std::io;
use std::path::{Path, PathBuf};

use super::foreign;
use crate::compressed::reader::Fault;
use crate::format::{FORMATS, OptionError, Options, ReadError};
use crate::model::{Diagnostics, SinkError};
use crate::select::{did_you_mean, nearest};
use crate::text::{counted, shown_path};

/// Maximum number of remarks in an error. The remarks are the detected encoding and the first
/// faults of the text.
const REMARKS: usize = 3;

/// Error for an input that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// The operating system refused to open or read the input.
    #[error("{}: {source}", shown_path(path))]
    Io {
        /// Path of the input.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The bytes are not a trace of the format.
    #[error("{}: {source}", shown_path(path))]
    Read {
        /// Path of the input.
        path: PathBuf,
        /// Byte offset and message.
        source: ReadError,
    },
    /// No known format was recognised.
    #[error("{}: at byte 0: expected one of the formats {known}, found {found}", shown_path(path))]
    Unrecognised {
        /// Path of the input.
        path: PathBuf,
        /// Names of the known formats.
        known: String,
        /// The kind of file, if it is known; the first bytes; the faults in the text, if a text
        /// encodes the bytes; and a hint.
        found: String,
    },
    /// The input is compressed in a format that Tracewell does not decompress.
    #[error(
        "{path}: at byte 0: expected a trace, or one compressed with gzip, zstd or compress; found \
         {compression} data; try: {command} {path} | tracewell info -",
        path = shown_path(path)
    )]
    Compressed {
        /// Path of the input.
        path: PathBuf,
        /// Name of the compression.
        compression: &'static str,
        /// Command that decompresses a file to standard output.
        command: &'static str,
    },
    /// The settings name a format that does not exist.
    #[error("there is no format '{0}'; `tracewell formats` lists them{meant}", meant = meant(.0))]
    NoSuchFormat(String),
    /// The format has no such option, or the option has no such value.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// The sink failed to write, or cannot use this trace.
    #[error(transparent)]
    Sink(SinkError),
    /// Standard input is a terminal.
    #[error("standard input is a terminal: give it a trace, as in `tracewell info - <FILE`")]
    Terminal,
}

impl InputError {
    pub(super) fn io(path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }

    /// Returns the error to report for a file that was truncated from `from` to `to` bytes while it
    /// was read.
    pub(super) fn cut(path: &Path, from: u64, to: u64) -> Self {
        let from = counted(from, "byte");
        let message = format!(
            "the file was truncated from {from} to {to} while it was read: do not trust the output"
        );
        Self::io(path, io::Error::other(message))
    }

    pub(super) fn read(path: &Path, source: ReadError) -> Self {
        Self::Read { path: path.to_owned(), source }
    }

    /// Returns the error to report for bytes that are not a trace, perhaps because of faults in the
    /// compressed data.
    pub(super) fn unreadable(path: &Path, source: ReadError, faults: &[Fault]) -> Self {
        let Some(fault) = faults.first() else { return Self::read(path, source) };
        let message = format!("{source}; {fault}");
        Self::io(path, io::Error::new(io::ErrorKind::InvalidData, message))
    }

    /// Returns the error for bytes that are not a trace of a known format. `options` are the format
    /// options that the user set.
    pub(super) fn unrecognised(
        path: &Path,
        start: &[u8],
        remarks: &Diagnostics,
        options: &Options,
    ) -> Self {
        let known: Vec<_> = FORMATS.iter().map(|format| format.name).collect();
        let shown: Vec<_> = start.iter().take(8).map(|byte| format!("{byte:02X}")).collect();
        let found = match start.len() {
            0 => "an empty input".to_owned(),
            length if length < 4 => {
                format!("only {} (too short): {}", counted(length as u64, "byte"), shown.join(" "))
            }
            _ if start.iter().all(|byte| *byte == 0) => {
                let bytes = counted(start.len() as u64, "byte");
                format!("only zeros in the first {bytes}: a trace buffer that was never enabled?")
            }
            _ => match foreign::kind(start) {
                Some(kind) => format!("{kind}: bytes {}", shown.join(" ")),
                None => format!("bytes {}", shown.join(" ")),
            },
        };
        // A damaged text image is often the reason, so also show its first faults.
        let said = remarks.iter().take(REMARKS).map(|remark| format!("; {}", remark.message));
        let hint = foreign::hint(path).map_or_else(String::new, |hint| format!("; {hint}"));
        let found = found + &said.collect::<String>() + &hint + &format_with(options);
        Self::Unrecognised { path: path.to_owned(), known: known.join(", "), found }
    }
}

/// Returns a suggestion to name the format, if the user set an option that few formats have.
fn format_with(options: &Options) -> String {
    let with = |key: &str| -> Vec<_> {
        let formats = FORMATS.iter();
        let formats =
            formats.filter(|format| format.options.iter().any(|option| option.key == key));
        formats.map(|format| format.name).collect()
    };
    let found = options.keys().map(|key| (key, with(key))).find(|(_, formats)| !formats.is_empty());
    found.map_or_else(String::new, |(key, formats)| {
        format!("; for -O {key}, name the format: --format-in {}", formats.join(" or "))
    })
}

/// Returns a suggestion if a name resembles the name of a format.
fn meant(name: &str) -> String {
    did_you_mean(nearest(name, FORMATS.iter().map(|format| format.name)))
}
