//! Decoders, one folder per dialect, and the list of all formats.
//!
//! A decoder receives bytes and does not open inputs, so the same code decodes mapped files, pipes
//! and fuzzer inputs. Each decoder handles the options, clock, names and gaps of one dialect.
//! `tracewell-wire` defines the byte layouts, and the schema defines the names of events. Decoders
//! are independent of analyses, reports and exports.
//!
//! To add a dialect, add a folder with a [`Format`] and list the format in [`FORMATS`].

pub mod aix;
pub mod arrivals;
mod blocks;
mod copies;
pub mod ctf;
mod decoder;
mod files;
mod kernel;
mod names;
pub mod native;
mod nested;
mod options;
mod order;
mod parts;
pub mod posix;
mod program;
mod recent_contexts;
pub mod rkh;
mod settings;
pub mod shark;
pub mod systemview;
pub mod target;
pub mod threadx;

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::model::schema::{Extension, Rules, Schema, SchemaError};
use crate::model::{Diagnostics, Fact};
use crate::select::{did_you_mean, nearest};
use crate::source::Source;

pub use decoder::{Decoder, Input, Progress, ReadError};
pub use files::{FindFiles, FolderFiles, TraceFile};
use names::Names;
pub use options::{OptionError, OptionHelp, Options};
pub use settings::{DefaultNames, DefaultOption, Defaults, NamesFile, Settings};

/// The confidence that an input has a certain format.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Confidence {
    /// The input may have the format, but it has no magic number.
    Possible,
    /// A magic number or a checksum identifies the format.
    Certain,
}

/// The form in which `report` prints events unless the user chooses another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReportStyle {
    /// One aligned line per event.
    Lines,
    /// Lines printed by templates, in the form of AIX's `trcrpt`.
    Trcrpt,
}

/// A file next to a trace, with further data about this trace.
#[derive(Clone, Copy, Debug)]
pub struct Sidecar {
    /// Suffix that is appended to the file name of the trace.
    pub suffix: &'static str,
    /// Adds the data of the sidecar to the trace. The arguments are the content and path of the
    /// sidecar, and the length of the trace's file.
    pub describe: fn(&[u8], &Path, u64, &mut Diagnostics),
}

/// Copies a stream's memory, if a file contains this memory or refers to it. Otherwise returns
/// `None`.
pub type Snapshot = fn(&Path, &File) -> io::Result<Option<Vec<u8>>>;

/// A note about an input. The note can also describe the current state of the recording system,
/// which a decoder does not know.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Note {
    /// The text of the note, for diagnostics.
    pub message: String,
    /// The current value of a property of the source, if the recorded value is no longer true.
    pub fact: Option<Fact>,
}

/// A format that can be read, with all dialect-specific data and functions that the rest of the
/// program uses.
///
/// A dialect sets the fields that it needs, and takes the other fields from [`Format::new`].
#[derive(Debug)]
pub struct Format {
    /// Name on the command line and in output.
    pub name: &'static str,
    /// Description for `tracewell formats`, at most one line.
    pub description: &'static str,
    /// Description of the bytes that identify the format, for `tracewell formats`, at most one
    /// line.
    pub recognised_by: &'static str,
    /// Returns the event types. If the format has several versions, these are the event types of
    /// the newest version.
    pub schema: fn() -> Arc<Schema>,
    /// The rules for users' schema files.
    pub rules: Rules,
    /// Content of the shipped template file, `templates/NAME.fmt`.
    pub template: Option<&'static str>,
    /// The form in which `report` prints events unless the user chooses another.
    pub report: ReportStyle,
    /// True if the names of contexts and objects can follow the events that refer to them.
    pub names_follow: bool,
    /// Returns true if these bytes are the start of an input that does not grow and is decoded as a
    /// whole.
    pub is_whole: fn(&[u8]) -> bool,
    /// Options for facts that the bytes do not contain.
    pub options: &'static [OptionHelp],
    /// Names of arguments that are left out of reports on a screen, because most users do not need
    /// them.
    pub details: &'static [&'static str],
    /// True if several files of one run can be read as one trace ([`Settings::parts`]).
    pub joins: bool,
    /// The command-line flag for files that assign names to numbers ([`Settings::names`]).
    pub names: Option<&'static str>,
    /// True if the target's datagrams have sequence numbers. In other formats, datagrams are parts
    /// of a stream.
    pub orders_datagrams: bool,
    /// Finds the files of a trace that consists of several files in a folder. The decoder gets them
    /// as [`Settings::files`].
    pub folder: Option<FindFiles>,
    /// Copies memory that is being written, so that the bytes cannot change during decoding.
    pub snapshot: Option<Snapshot>,
    /// Returns a note about an input that begins with these bytes. The trace contains this note in
    /// addition to the decoder's diagnostics.
    pub note: fn(&[u8]) -> Option<Note>,
    /// Set if files of this format are sidecars. A sidecar can be next to a trace of any format.
    pub sidecar: Option<Sidecar>,
    /// Examines the first 64 KiB of an input, or all of a shorter one, and returns the confidence
    /// that the input has this format.
    pub recognise: fn(&[u8]) -> Option<Confidence>,
    /// Returns a decoder. The caller has checked that the format has all the given options. This
    /// function checks their values.
    pub make: fn(&Settings) -> Result<Box<dyn Decoder>, OptionError>,
}

impl Format {
    /// Creates a format from a name, a function that recognises it, and a decoder. By default, the
    /// format has no predefined events and no options, and its input can grow.
    pub const fn new(
        name: &'static str,
        recognise: fn(&[u8]) -> Option<Confidence>,
        make: fn(&Settings) -> Result<Box<dyn Decoder>, OptionError>,
    ) -> Self {
        Self {
            name,
            description: "",
            recognised_by: "",
            schema: Schema::empty,
            rules: Rules::WORDS,
            template: None,
            report: ReportStyle::Lines,
            names_follow: false,
            is_whole: |_| false,
            options: &[],
            details: &[],
            joins: false,
            names: None,
            orders_datagrams: false,
            folder: None,
            snapshot: None,
            note: |_| None,
            sidecar: None,
            recognise,
            make,
        }
    }

    /// Returns the shipped template file, if the format has one.
    ///
    /// ```
    /// let source = tracewell::format::by_name("rkh").unwrap().shipped_template().unwrap();
    /// assert_eq!(source.name, "templates/rkh.fmt");
    /// ```
    pub fn shipped_template(&self) -> Option<Source> {
        self.template.map(|text| Source::new(format!("templates/{}.fmt", self.name), text))
    }

    /// Returns a decoder with these settings.
    ///
    /// ```
    /// use tracewell::format::{Settings, by_name};
    ///
    /// let format = by_name("rkh").unwrap();
    /// let mut settings = Settings::default();
    /// settings.options.add("oldest=3")?;
    /// let error = format.decoder(&settings).err().unwrap();
    /// assert!(error.is_unknown());
    /// assert!(error.to_string().starts_with("-O oldest: unknown option; this format has "));
    /// # Ok::<(), tracewell::format::OptionError>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the format does not have one of the given options, or if an option's
    /// value is invalid. Also returns an error if there are name files that the format cannot read,
    /// a schema file that does not fit the format's schema, or several input files that it cannot
    /// join.
    pub fn decoder(&self, settings: &Settings) -> Result<Box<dyn Decoder>, OptionError> {
        let decoder = self.decoder_with(&settings.of_format(self.name));
        decoder.map_err(|error| settings.placed(self.name, error))
    }

    fn decoder_with(&self, settings: &Settings) -> Result<Box<dyn Decoder>, OptionError> {
        settings.options.check(self.options)?;
        if !settings.parts.is_empty() && !self.joins {
            let message = format!("traces of format {} cannot be joined", self.name);
            return Err(OptionError::of_flag("--join", message));
        }
        if let Some(file) = settings.names.iter().find(|file| self.names != Some(file.flag)) {
            let readers = FORMATS.iter().filter(|format| format.names == Some(file.flag));
            let readers: Vec<_> = readers.map(|format| format.name).collect();
            let hint = self.names.map_or(String::new(), |flag| format!("; try {flag}"));
            let message = format!(
                "this flag is for traces of format {}, and this is a trace of {}{hint}",
                readers.join(" or "),
                self.name
            );
            return Err(OptionError::of_flag(file.flag, message));
        }
        // Check the user's schema files against the newest version of the format's schema. The
        // decoder applies the files again to the schema that it uses.
        self.with_schemas((self.schema)(), settings)?;
        (self.make)(settings)
    }

    /// Returns a schema of this format, extended by the schema files of the user. Skips files for
    /// other formats. Returns the schema itself if there are no files.
    ///
    /// # Errors
    /// Returns an error if a file names no format, or does not fit the schema.
    pub fn extended(
        &self,
        schema: Arc<Schema>,
        files: &[Arc<Extension>],
    ) -> Result<Arc<Schema>, SchemaError> {
        if let Some(file) = files.iter().find(|file| by_name(file.format()).is_none()) {
            return Err(no_format(file));
        }
        let (schema, errors) = self.extended_by_fitting(schema, files);
        errors.into_iter().next().map_or(Ok(schema), Err)
    }

    /// Like [`Format::extended`], but skips files that do not fit the schema. Stores their errors
    /// in the schema. A decoder uses this function if it learns only while it reads which schema
    /// applies, because such a file must not end the decoding.
    fn extended_if_possible(&self, schema: Arc<Schema>, files: &[Arc<Extension>]) -> Arc<Schema> {
        let (mut schema, errors) = self.extended_by_fitting(schema, files);
        for error in errors {
            Arc::make_mut(&mut schema).add_fault(error);
        }
        schema
    }

    /// Returns a schema of this format, extended by those files that fit it, and the errors of the
    /// other files.
    fn extended_by_fitting(
        &self,
        schema: Arc<Schema>,
        files: &[Arc<Extension>],
    ) -> (Arc<Schema>, Vec<SchemaError>) {
        let of_this = files.iter().filter(|file| file.format() == self.name);
        let (mut schema, mut errors) = (schema, Vec::new());
        for file in of_this.clone() {
            // A file that does not fit must leave no traces in the schema.
            let mut extended = Schema::clone(&schema);
            let added = extended.extend(file, self.rules);
            match added.and_then(|()| extended.check_tables(file, of_this.clone(), self.rules)) {
                Ok(()) => schema = Arc::new(extended),
                Err(error) => errors.push(error),
            }
        }
        (schema, errors)
    }

    /// Returns the schema of a decoder with these settings.
    fn with_schemas(
        &self,
        schema: Arc<Schema>,
        settings: &Settings,
    ) -> Result<Arc<Schema>, OptionError> {
        let extended = self.extended(schema, &settings.all_schemas(self.name));
        let flag = if settings.schemas.is_empty() { "schemas" } else { "--schema" };
        extended.map_err(|error| OptionError::of_flag(flag, error.to_string()))
    }
}

/// Returns the error for a schema file whose format does not exist.
fn no_format(file: &Extension) -> SchemaError {
    let names: Vec<_> = FORMATS.iter().map(|format| format.name).collect();
    let meant = did_you_mean(nearest(file.format(), names.iter()));
    let known = names.join(", ");
    let message = format!("no format named '{}'{meant}; expected one of {known}", file.format());
    file.format_error(message)
}

/// Every format that can be read.
pub static FORMATS: &[&Format] = &[
    &threadx::FORMAT,
    &aix::FORMAT,
    &native::FORMAT,
    &posix::FORMAT,
    &rkh::FORMAT,
    &shark::FORMAT,
    &systemview::FORMAT,
    &target::FORMAT,
    &ctf::FORMAT,
    &arrivals::FORMAT,
];

/// Returns the format with this name.
///
/// ```
/// assert!(tracewell::format::by_name("threadx").is_some_and(|format| format.joins));
/// assert!(tracewell::format::by_name("nothing").is_none());
/// ```
pub fn by_name(name: &str) -> Option<&'static Format> {
    FORMATS.iter().copied().find(|format| format.name == name)
}

/// Returns the format with the highest confidence for these first bytes of an input.
///
/// ```
/// let format = tracewell::format::recognise(b"TWARRIVE\0\0\0\0\0\0\0\0").unwrap();
/// assert_eq!(format.name, "arrivals");
/// ```
pub fn recognise(start: &[u8]) -> Option<&'static Format> {
    recognise_with(start, Confidence::Possible)
}

/// Returns the format with the highest confidence for these first bytes, if this confidence is at
/// least `least`.
pub fn recognise_with(start: &[u8], least: Confidence) -> Option<&'static Format> {
    most_confident(start).filter(|(_, confidence)| *confidence >= least).map(|(format, _)| format)
}

/// Returns the format with the highest confidence for these first bytes, and this confidence.
pub(crate) fn most_confident(start: &[u8]) -> Option<(&'static Format, Confidence)> {
    FORMATS
        .iter()
        .copied()
        .filter_map(|format| Some((format, (format.recognise)(start)?)))
        .max_by_key(|(_, confidence)| *confidence)
}
