//! The settings that a user specifies for an input.

use std::sync::Arc;

use super::{Names, OptionError, Options, TraceFile, by_name};
use crate::model::SymbolTable;
use crate::model::schema::Extension;

/// The settings that a user specifies for an input. By default, everything is inferred from the
/// input's bytes.
///
/// ```
/// use tracewell::input::{Input, Settings};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/threadx/tiny.trx").as_ref();
/// let mut settings = Settings::default();
/// settings.options.add("rate=1MHz")?;
/// assert_eq!(Input::open(path, settings.clone())?.format().name, "threadx");
///
/// // An option of another format is an error.
/// settings.format = Some("aix".to_owned());
/// let mut input = Input::open(path, settings)?;
/// assert!(input.read(&mut tracewell::analysis::scheduling::Scheduling::default()).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Name of the format; `None` if it should be recognised from the bytes.
    pub format: Option<String>,
    /// Options of the form `-O key=value`.
    pub options: Options,
    /// Files that assign names to numbers in the trace.
    pub names: Vec<NamesFile>,
    /// Schema files of the user, which add to the schema of the format and override it. A later
    /// file overrides earlier ones.
    pub schemas: Vec<Arc<Extension>>,
    /// The symbols of the program that recorded the trace.
    pub symbols: Option<Arc<SymbolTable>>,
    /// If the input consists of several files of one run, the offsets at which the second and all
    /// later files begin, in increasing order. Otherwise the list is empty.
    pub parts: Vec<usize>,
    /// The files of the trace, if it consists of several files in a folder ([`Format::folder`]).
    /// [`Input`](crate::input::Input) sets them.
    ///
    /// [`Format::folder`]: super::Format::folder
    pub files: Arc<[TraceFile]>,
    /// Number of threads that may decode and format events; 0 for one per processor. Outputs do not
    /// depend on it.
    pub threads: usize,
    /// True if another process was writing the source when it was opened. In this case, decoders do
    /// not report the missing end block of a log as a loss. [`Input`](crate::input::Input) sets
    /// this.
    pub is_growing: bool,
    /// Number of events after which the sink will stop; `None` if it wants all events. Some
    /// decoders read a whole trace before they deliver its first event, because later events give
    /// names to earlier ones. With this setting, they read only these first events, so names can
    /// differ from those in the whole trace.
    pub only_first: Option<usize>,
    /// Settings from a configuration file.
    pub defaults: Defaults,
}

/// Settings of a configuration file, for several formats. Each setting applies to inputs of its
/// format, unless the [`Settings`] contain the same setting.
///
/// ```
/// use tracewell::format::DefaultOption;
/// use tracewell::input::{Input, Settings};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/threadx/tiny.trx").as_ref();
/// let mut settings = Settings::default();
/// settings.defaults.options.push(DefaultOption {
///     format: "threadx",
///     key: "rate".to_owned(),
///     value: "1MHz".to_owned(),
///     place: "settings:1:1".to_owned(),
/// });
/// let trace = Input::open(path, settings.clone())?.for_each(|_| ())?;
/// assert_eq!(trace.clock.nanoseconds(1), Some(1_000));
///
/// settings.options.add("rate=1kHz")?;
/// let trace = Input::open(path, settings)?.for_each(|_| ())?;
/// assert_eq!(trace.clock.nanoseconds(1), Some(1_000_000));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Defaults {
    /// Options. If several options have the same key, the last one applies.
    pub options: Vec<DefaultOption>,
    /// Files of names. If several files are for the same format, the last one applies.
    pub names: Vec<DefaultNames>,
    /// Schema files of any format. A later file overrides an earlier one.
    pub schemas: Vec<Arc<Extension>>,
}

/// An option of a configuration file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DefaultOption {
    /// Name of the format that has the option.
    pub format: &'static str,
    /// Key of the option, as the user would type it after `-O`.
    pub key: String,
    /// Value of the option, as the user would type it after `-O KEY=`.
    pub value: String,
    /// The place of the option in the file, for messages.
    pub place: String,
}

/// The entry for a file of names in a configuration file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DefaultNames {
    /// Name of the format that reads the file.
    pub format: &'static str,
    /// The file of names.
    pub file: NamesFile,
    /// For messages: the place in the configuration file that refers to the file of names.
    pub place: String,
}

/// A file with names, read into memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamesFile {
    /// The flag before the file: `--names` or `--custom-events`. A format reads only the files with
    /// its own flag, [`Format::names`](super::Format::names).
    pub flag: &'static str,
    /// Path of the file, for messages.
    pub path: String,
    /// Content of the file.
    pub text: Vec<u8>,
}

impl Settings {
    /// Returns the settings for a format, with the defaults for settings that the user did not
    /// give. In the result, the field `defaults` contains only the defaults that apply.
    pub(super) fn of_format(&self, format: &str) -> Self {
        // The new value lists all fields, so the compiler reports a field that is not copied.
        let Self { format: name, options, names, schemas, symbols, parts, files, .. } = self;
        let Self { threads, is_growing, only_first, defaults, .. } = self;
        let mut all = Self {
            format: name.clone(),
            options: options.clone(),
            names: names.clone(),
            schemas: schemas.clone(),
            symbols: symbols.clone(),
            parts: parts.clone(),
            files: files.clone(),
            threads: *threads,
            is_growing: *is_growing,
            only_first: *only_first,
            defaults: Defaults::default(),
        };
        all.defaults.schemas.extend(self.default_schemas(format).cloned());
        for option in defaults.options.iter().filter(|option| option.format == format) {
            if options.get(&option.key).is_none() {
                all.options.set(&option.key, option.value.as_str());
                all.defaults.options.push(option.clone());
            }
        }
        // If the defaults contain several files of names for this format, the last file applies.
        let default_names = defaults.names.iter().rev().find(|names| names.format == format);
        if names.is_empty() && options.get("names").is_none() {
            all.names.extend(default_names.map(|names| names.file.clone()));
            all.defaults.names.extend(default_names.cloned());
        }
        all
    }

    /// Returns the schema files for a format: first the defaults, and then all others, which
    /// override the defaults. The defaults are selected by their format; the other files may be for
    /// any format.
    pub(crate) fn all_schemas(&self, format: &str) -> Vec<Arc<Extension>> {
        self.default_schemas(format).chain(&self.schemas).cloned().collect()
    }

    /// Returns the default schema files for a format. Also returns default files for formats that
    /// do not exist, because such files cause an error.
    fn default_schemas(&self, format: &str) -> impl Iterator<Item = &Arc<Extension>> {
        let files = self.defaults.schemas.iter();
        files.filter(move |file| file.format() == format || by_name(file.format()).is_none())
    }

    /// Adds the place of a default setting to an error, if this default caused the error.
    pub(super) fn placed(&self, format: &str, error: OptionError) -> OptionError {
        let Defaults { options, names, .. } = &self.defaults;
        // A setting that the user typed replaces the default, so no default caused the error.
        let is_typed = self.options.get(error.key()).is_some() || !self.names.is_empty();
        let option = options
            .iter()
            .rev()
            .find(|option| option.format == format && option.key == error.key());
        let names = names
            .iter()
            .rev()
            .find(|names| names.format == format && error.is_of_flag(names.file.flag));
        match (option, names) {
            _ if is_typed => error,
            (Some(DefaultOption { place, .. }), _) | (None, Some(DefaultNames { place, .. })) => {
                error.at(place)
            }
            (None, None) => error,
        }
    }

    /// Returns the names that `--names` or the option `names` assigns to numbers. `prefix` can
    /// precede a number. `what` says what the numbers are, such as `a pid`.
    ///
    /// # Errors
    /// Returns an error for the first entry that begins with a number but has no name.
    pub(super) fn numbered_names(&self, prefix: &str, what: &str) -> Result<Names, OptionError> {
        // Defaults apply to many traces, so it is not a mistake if a trace contains none of the
        // numbers.
        let Defaults { options, names, .. } = &self.defaults;
        let is_default = !names.is_empty() || options.iter().any(|option| option.key == "names");
        let mut names = if is_default { Names::of_many_traces() } else { Names::default() };
        if let Some(text) = self.options.get("names") {
            let added = names.add(text, ',', prefix, what);
            added.map_err(|message| OptionError::new("names", message))?;
        }
        for file in &self.names {
            // Bytes of a name that are not valid UTF-8 are replaced.
            let text = String::from_utf8_lossy(&file.text);
            let added = names.add(&text, '\n', prefix, what);
            added.map_err(|message| OptionError::of_flag(file.flag, message))?;
        }
        Ok(names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Diagnostics;

    #[test]
    fn typed_names_replace_the_default_file() {
        let file = |path: &str| NamesFile { flag: "--names", path: path.to_owned(), text: vec![] };
        let mut settings = Settings::default();
        for (format, path) in [("aix", "first"), ("aix", "second"), ("native", "other")] {
            let default = DefaultNames { format, file: file(path), place: String::new() };
            settings.defaults.names.push(default);
        }
        let names = |settings: &Settings| settings.of_format("aix").names;
        assert_eq!(names(&settings), [file("second")]);
        let typed = Settings { names: vec![file("typed")], ..settings.clone() };
        assert_eq!(names(&typed), [file("typed")]);
        settings.options.set("names", "1=read");
        assert_eq!(names(&settings), []);
    }

    /// A user who lists names in a configuration file reads many traces with them.
    #[test]
    fn only_typed_names_cause_a_warning_if_the_trace_contains_none_of_their_numbers() {
        let file = NamesFile { flag: "--names", path: "names".to_owned(), text: b"5=tau".to_vec() };
        let warnings = |settings: &Settings| {
            let mut diagnostics = Diagnostics::default();
            settings.numbered_names("", "a pid").unwrap().remark("pid", &mut diagnostics);
            diagnostics.iter().count()
        };
        let typed = Settings { names: vec![file.clone()], ..Settings::default() };
        let mut default = Settings::default();
        let place = String::new();
        default.defaults.names.push(DefaultNames { format: "aix", file, place });
        assert_eq!((warnings(&typed), warnings(&default.of_format("aix"))), (1, 0));
        let option = |key: &str, value: &str| {
            let mut settings = Settings::default();
            settings.defaults.options.push(DefaultOption {
                format: "aix",
                key: key.to_owned(),
                value: value.to_owned(),
                place: String::new(),
            });
            settings
        };
        assert_eq!(warnings(&option("names", "5=tau").of_format("aix")), 0);
        let mut typed = option("rate", "1MHz");
        typed.options.set("names", "5=tau");
        assert_eq!(warnings(&typed.of_format("aix")), 1);
    }
}
