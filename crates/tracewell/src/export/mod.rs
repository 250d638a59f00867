//! Writes traces in other formats, and lists these formats.
//!
//! An export reads an input, possibly twice, and writes bytes. Text for people is written by
//! [`crate::report`].
//!
//! To add a format, add a file with an [`Export`] to this folder, and list the export in
//! [`EXPORTS`].
//!
//! ```
//! use tracewell::export::{ExportNames, by_name};
//! use tracewell::format::Options;
//! use tracewell::input::{Input, Settings};
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/threadx/tiny.trx").as_ref();
//! let mut input = Input::open(path, Settings::default())?;
//! let mut csv = Vec::new();
//! let export = by_name("csv").expect("csv is in the list");
//! export.write(&mut input, &Options::default(), &ExportNames::default(), &mut csv)?;
//! assert!(csv.starts_with(b"seq,ticks,time_ns,cpu,context,"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod aix;
pub mod ctf;
pub mod diagram;
pub mod events;
pub mod list;
pub mod page;
mod shown_part;
pub mod threadx;
pub mod tracex;
pub mod viewers;

use std::io::{self, Write};
use std::path::Path;

use crate::format::{OptionError, OptionHelp, Options};
use crate::input::{Input, InputError};
use crate::model::{SinkError, Trace};

/// A format that can be written.
#[derive(Debug)]
pub struct Export {
    /// Name on the command line.
    pub name: &'static str,
    /// Description in one line.
    pub description: &'static str,
    /// The file name extension, without the dot, that selects the format.
    pub extension: Option<&'static str>,
    /// The options of `-T`.
    pub options: &'static [OptionHelp],
    /// Reads the input and writes it in this format.
    pub output: Output,
}

/// The function that writes a format.
#[derive(Clone, Copy, Debug)]
pub enum Output {
    /// Writes one file.
    File(fn(&mut Input, &Options, &ExportNames, &mut dyn Write) -> Result<Trace, ExportError>),
    /// Writes files into an empty folder.
    Folder(fn(&mut Input, &Options, &ExportNames, &Path) -> Result<Trace, ExportError>),
}

impl Export {
    /// Reads the input and writes it as one file in this format.
    ///
    /// # Errors
    /// Returns an error if the output of this format is a folder, if an option is wrong, if the
    /// trace lacks data, or if reading or writing fails.
    pub fn write(
        &self,
        input: &mut Input,
        options: &Options,
        names: &ExportNames,
        out: &mut dyn Write,
    ) -> Result<Trace, ExportError> {
        match self.output {
            Output::File(write) => write(input, options, names, out),
            Output::Folder(_) => {
                let message = format!("{} is a folder, not a file", self.name);
                Err(ExportError::NotPossible(message))
            }
        }
    }

    /// Reads the input and writes it into an empty folder in this format.
    ///
    /// # Errors
    /// Returns an error if the output of this format is a single file, if the folder is not empty,
    /// if an option is wrong, if the trace lacks data, or if reading or writing fails.
    pub fn write_folder(
        &self,
        input: &mut Input,
        options: &Options,
        names: &ExportNames,
        folder: &Path,
    ) -> Result<Trace, ExportError> {
        match self.output {
            Output::Folder(write) => {
                // The folder must be empty, because a format can remove all its files in order to
                // write them again.
                if std::fs::read_dir(folder).map_err(ExportError::Write)?.next().is_some() {
                    let message = "expected an empty folder, found a folder with content";
                    return Err(ExportError::NotPossible(message.to_owned()));
                }
                write(input, options, names, folder)
            }
            Output::File(_) => {
                let message = format!("{} is a file, not a folder", self.name);
                Err(ExportError::NotPossible(message))
            }
        }
    }
}

/// Names of the input and output files. Some formats contain these names. For example,
/// `tracex-dump` has them in its heading.
#[derive(Clone, Debug, Default)]
pub struct ExportNames {
    /// Name of the input.
    pub input: String,
    /// Name of the output.
    pub output: String,
}

/// Error of an export.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The input cannot be read.
    #[error(transparent)]
    Input(InputError),
    /// An option is unknown or has an invalid value.
    #[error(transparent)]
    Option(OptionError),
    /// The trace lacks data that the format requires.
    #[error("{0}")]
    NotPossible(String),
    /// The output cannot be written.
    #[error(transparent)]
    Write(io::Error),
}

impl From<OptionError> for ExportError {
    /// Returns an error that names the option with `-T`, the flag for options of outputs.
    fn from(error: OptionError) -> Self {
        Self::Option(error.of_output())
    }
}

impl From<InputError> for ExportError {
    fn from(error: InputError) -> Self {
        match error {
            InputError::Sink(SinkError::Write(error)) => Self::Write(error),
            InputError::Sink(SinkError::NotPossible(error)) => Self::NotPossible(error.to_string()),
            error => Self::Input(error),
        }
    }
}

/// All formats that can be written.
pub static EXPORTS: &[&Export] = &[
    &threadx::EXPORT,
    &aix::EXPORT,
    &ctf::CTF,
    &tracex::EXPORT,
    &events::JSON_LINES,
    &events::TSV,
    &events::CSV,
    &diagram::MERMAID,
    &diagram::PLANTUML,
    &diagram::SVG,
    &page::HTML,
    &viewers::PERFETTO,
    &viewers::VCD,
];

/// Returns the format with this name.
///
/// ```
/// use tracewell::export::by_name;
///
/// assert_eq!(by_name("threadx").and_then(|export| export.extension), Some("trx"));
/// assert!(by_name("word").is_none());
/// ```
pub fn by_name(name: &str) -> Option<&'static Export> {
    EXPORTS.iter().copied().find(|export| export.name == name)
}

/// Returns the format that a file name extension selects. Case is ignored.
///
/// ```
/// use tracewell::export::by_extension;
///
/// assert_eq!(by_extension("SVG").map(|export| export.name), Some("svg"));
/// ```
pub fn by_extension(extension: &str) -> Option<&'static Export> {
    let asks = |export: &Export| {
        export.extension.is_some_and(|known| known.eq_ignore_ascii_case(extension))
    };
    EXPORTS.iter().copied().find(|export| asks(export))
}

/// Escapes text for XML and HTML. Special characters become entities, and characters that XML
/// cannot contain become U+FFFD.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // XML 1.0 does not allow these two characters.
            '\u{FFFE}' | '\u{FFFF}' => escaped.push('\u{FFFD}'),
            _ if c.is_control() => escaped.push('\u{FFFD}'),
            _ => escaped.push(c),
        }
    }
    escaped
}
