//! The list of formats for programs: `tracewell formats --json`.

use serde::Serialize;

use super::{EXPORTS, Export, Output};
use crate::format::{FORMATS, Format, OptionHelp};

/// The version of the JSON document.
pub const SCHEMA: u32 = 1;

/// All formats.
///
/// ```
/// use tracewell::export::list::FormatList;
///
/// let list = FormatList::new();
/// assert!(list.read.iter().any(|format| format.name == "threadx"));
/// assert!(list.write.iter().any(|format| format.name == "csv"));
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FormatList {
    /// The version of this document.
    pub schema: u32,
    /// The formats that can be read.
    pub read: Vec<ReadFormat>,
    /// The formats that can be written.
    pub write: Vec<WriteFormat>,
}

/// A format that can be read.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReadFormat {
    /// Its name on the command line.
    pub name: &'static str,
    /// Description in one line.
    pub description: &'static str,
    /// The way in which files of this format are recognised.
    pub recognised_by: &'static str,
    /// The options of `-O`.
    pub options: Vec<FormatOption>,
}

/// A format that can be written.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WriteFormat {
    /// Its name on the command line.
    pub name: &'static str,
    /// Description in one line.
    pub description: &'static str,
    /// The file name extension that selects it, without the dot.
    pub extension: Option<&'static str>,
    /// True if the output is a folder with several files.
    pub is_folder: bool,
    /// The options of `-T`.
    pub options: Vec<FormatOption>,
}

/// An option of a format.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FormatOption {
    /// Its key on the command line.
    pub key: &'static str,
    /// The form of its value.
    pub value: &'static str,
    /// Description in one line.
    pub help: &'static str,
}

impl FormatList {
    /// Returns the list of all formats that this version can read or write.
    #[expect(clippy::new_without_default, reason = "a list of all formats is not a default value")]
    pub fn new() -> Self {
        let read = FORMATS.iter().map(|format| ReadFormat::of(format)).collect();
        let write = EXPORTS.iter().map(|export| WriteFormat::of(export)).collect();
        Self { schema: SCHEMA, read, write }
    }
}

impl ReadFormat {
    fn of(format: &'static Format) -> Self {
        Self {
            name: format.name,
            description: format.description,
            recognised_by: format.recognised_by,
            options: options(format.options),
        }
    }
}

impl WriteFormat {
    fn of(export: &'static Export) -> Self {
        Self {
            name: export.name,
            description: export.description,
            extension: export.extension,
            is_folder: matches!(export.output, Output::Folder(_)),
            options: options(export.options),
        }
    }
}

fn options(options: &'static [OptionHelp]) -> Vec<FormatOption> {
    let option = |option: &'static OptionHelp| FormatOption {
        key: option.key,
        value: option.value,
        help: option.help,
    };
    options.iter().map(option).collect()
}
