//! Writing a trace in another format, one file a format, and the list of them.
//!
//! An export reads an input and writes bytes; it may read the input twice. What people read by
//! themselves is a report ([`crate::report`]).
//!
//! To add a format, add a file here with an [`Export`] in it and put that into [`EXPORTS`].

pub mod aix;
pub mod diagram;
pub mod events;
pub mod threadx;
pub mod tracex_dump;

use std::io::{self, Write};

use crate::format::{OptionError, OptionHelp, Options};
use crate::input::{Input, InputError};
use crate::model::Trace;

/// A format that can be written.
#[derive(Debug)]
pub struct Export {
    /// Name on the command line.
    pub name: &'static str,
    /// What it is, in a line.
    pub description: &'static str,
    /// The extension of a file name that asks for it.
    pub extension: Option<&'static str>,
    /// What can be chosen.
    pub options: &'static [OptionHelp],
    /// Reads the input and writes it.
    pub write: fn(&mut Input, &Options, &ExportNames, &mut dyn Write) -> Result<Trace, ExportError>,
}

/// File names that some formats tell inside.
#[derive(Clone, Debug, Default)]
pub struct ExportNames {
    /// Name of the input.
    pub input: String,
    /// Name of the output.
    pub output: String,
}

/// Why an export failed.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The input cannot be read.
    #[error(transparent)]
    Input(#[from] InputError),
    /// An option does not fit.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// The trace does not have what the format needs.
    #[error("{0}")]
    NotPossible(String),
    /// The output cannot be written.
    #[error(transparent)]
    Write(io::Error),
}

/// Every format that can be written.
pub static EXPORTS: &[&Export] = &[
    &threadx::EXPORT,
    &aix::EXPORT,
    &tracex_dump::EXPORT,
    &events::JSON_LINES,
    &events::TSV,
    &events::CSV,
    &diagram::MERMAID,
    &diagram::PLANTUML,
    &diagram::SVG,
];

/// The format of this name.
pub fn by_name(name: &str) -> Option<&'static Export> {
    EXPORTS.iter().copied().find(|export| export.name == name)
}

/// The format that a file name with this extension asks for.
pub fn by_extension(extension: &str) -> Option<&'static Export> {
    let asks = |export: &Export| {
        export.extension.is_some_and(|known| known.eq_ignore_ascii_case(extension))
    };
    EXPORTS.iter().copied().find(|export| asks(export))
}
