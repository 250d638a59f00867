//! Arguments that several verbs share.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Args, Command};
use tracewell::export::{self, EXPORTS, Export};
use tracewell::format::aix::NOT_PUBLIC;
use tracewell::format::{FORMATS, NamesFile, OptionHelp};
use tracewell::input::{Input, InputError, Settings};
use tracewell::select::{Bound, Expression, MomentError, NumberList, NumberListError, Selection};
use tracewell::source::Source;
use tracewell::text::MAX_THREADS;
use tracewell::text::calendar::Zone;
use tracewell::text::shown_path;

use crate::config::{Configs, Project};
use crate::dates::{self, Moment, ZoneArgs};
use crate::file_options::of_file;
use crate::inputs::Inputs;
use crate::outcome::{Failure, Outcome, note, warn};
use crate::{elf, small_file};

/// The option for the number of threads.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct ThreadArgs {
    /// Set the number of threads that decode and format events, at most 256 [default: one per
    /// processor]
    #[arg(
        long,
        alias = "jobs",
        value_name = "N",
        value_parser = clap::value_parser!(u16).range(1..=MAX_THREADS as i64)
    )]
    threads: Option<u16>,
}

impl ThreadArgs {
    /// Returns the number of threads; 0 means one per processor.
    pub(crate) fn number(self) -> usize {
        self.threads.map_or(0, usize::from)
    }
}

/// The options for reading an input.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Input")]
pub(crate) struct InputArgs {
    /// Read the input as this format instead of recognising it
    #[arg(long, value_name = "NAME", value_parser = Suggested::formats())]
    pub(crate) format_in: Option<String>,

    /// Set a fact that the file does not contain, for example rate=100MHz; see `tracewell formats`.
    /// With several files, FILE:KEY=VALUE sets it for one of them
    #[arg(short = 'O', value_name = "[FILE:]KEY=VALUE", hide_possible_values = true)]
    #[arg(value_parser = Suggested::input_options())]
    pub(crate) options: Vec<String>,

    /// Name user events of ThreadX with a file in TraceX's custom event format (.trxc)
    #[arg(long, value_name = "FILE")]
    pub(crate) custom_events: Vec<PathBuf>,

    /// Read names of tasks (shark, by pid) or system calls (aix) from a file: a number and a name
    /// per line
    #[arg(long, value_name = "FILE")]
    pub(crate) names: Option<PathBuf>,

    /// Name events and their arguments, and set their meanings, with a schema file; may be repeated
    #[arg(long, value_name = "FILE")]
    pub(crate) schema: Vec<PathBuf>,

    /// Name threads, objects and addresses after the symbols in the ELF file of the program that
    /// recorded the trace
    #[arg(long, value_name = "FILE")]
    pub(crate) elf: Option<PathBuf>,

    /// Read the files as parts of one run, in this order
    #[arg(long)]
    pub(crate) join: bool,

    /// Ignore the configuration file tracewell.toml
    #[arg(long)]
    pub(crate) no_config: bool,

    /// Print notes about the input in addition to warnings and damage
    #[arg(short, long)]
    pub(crate) verbose: bool,

    /// True if the user expects a log of AIX. An error for other files then explains which logs
    /// Tracewell reads.
    #[arg(skip)]
    pub(crate) expects_aix: bool,
}

impl InputArgs {
    /// Returns all files that are read for these traces: the traces, their sidecar files, and the
    /// files that these arguments name.
    pub(crate) fn inputs(&self, traces: &[PathBuf]) -> Inputs {
        let mut inputs = Inputs::of(traces);
        let mut add_sidecar = |path: &PathBuf| {
            for sidecar in FORMATS.iter().filter_map(|format| format.sidecar) {
                let mut name = path.clone().into_os_string();
                name.push(sidecar.suffix);
                inputs.add([PathBuf::from(name)]);
            }
        };
        traces.iter().for_each(&mut add_sidecar);
        inputs.add(&self.custom_events);
        inputs.add(self.options.iter().filter_map(|option| {
            // If the option is wrong, the error is reported when its setting is used.
            let of_file = of_file(option, traces).ok().flatten();
            custom_events(of_file.map_or(option, |(_, option)| option))
        }));
        inputs.add(&self.names);
        inputs.add(&self.schema);
        inputs.add(&self.elf);
        let mut configs = Configs::default();
        for trace in traces.iter().filter(|_| !self.no_config) {
            // If the configuration is wrong, the error is reported when its settings are used.
            if let Ok(Some(project)) = configs.of(trace) {
                inputs.add(project.files());
            }
        }
        inputs
    }

    /// Adds the settings for a trace, which may consist of several files: the options for one of
    /// these files, and the settings from the configuration file. `traces` are all input files.
    pub(crate) fn configured(
        &self,
        mut settings: Settings,
        traces: &[PathBuf],
        run: &[PathBuf],
        configs: &mut Configs,
    ) -> Result<Settings, Failure> {
        for option in &self.options {
            let of_file = of_file(option, traces)?;
            if let Some((_, option)) = of_file.filter(|(file, _)| run.iter().any(|own| own == file))
            {
                add_option(&mut settings, option)?;
            }
        }
        let Some(trace) = run.first().filter(|_| !self.no_config) else { return Ok(settings) };
        let Some(project) = configs.of(trace)? else { return Ok(settings) };
        let added = project.add_to(&mut settings)?;
        if self.verbose {
            let (trace, config) = (shown_path(trace), shown_path(&project.path));
            let added = if added.is_empty() { "nothing".to_owned() } else { added.join(", ") };
            note!("{trace}: {config} sets {added}");
        }
        Ok(settings)
    }

    /// Opens a trace, which may consist of several files.
    pub(crate) fn open(&self, run: &[PathBuf], settings: Settings) -> Result<Input, InputError> {
        Input::open_run(run, settings).map_err(|error| match error {
            InputError::Unrecognised { path, known, found }
                if self.expects_aix && !found.contains(NOT_PUBLIC) =>
            {
                InputError::Unrecognised { path, known, found: format!("{found}; {NOT_PUBLIC}") }
            }
            error => error,
        })
    }

    /// Returns a setting that the configuration files of all traces share. `option` is the argument
    /// that replaces the setting.
    pub(crate) fn shared<T: PartialEq + Default>(
        &self,
        traces: &[PathBuf],
        option: &str,
        of: impl Fn(&Project) -> T,
    ) -> Result<T, Failure> {
        let mut configs = Configs::default();
        let mut found: Option<(T, &PathBuf)> = None;
        // Without configuration files, the setting keeps its default.
        for trace in traces.iter().filter(|_| !self.no_config) {
            let project = configs.of(trace)?;
            // A trace without a configuration file has the default setting, which can differ from
            // that of the other traces.
            let setting = project.as_ref().map_or_else(T::default, &of);
            match &found {
                Some((first, of)) if *first != setting => {
                    let (first, second) = (shown_path(of), shown_path(trace));
                    let message = format!(
                        "{first} and {second} have different settings in tracewell.toml: \
                         give {option}"
                    );
                    return Err(Failure::usage(message));
                }
                Some(_) => {}
                None => {
                    // A note about the first file is enough, because all other files must have the
                    // same setting.
                    if let Some(project) = project.filter(|_| self.verbose)
                        && setting != T::default()
                    {
                        note!("{} sets {option}", shown_path(&project.path));
                    }
                    found = Some((setting, trace));
                }
            }
        }
        Ok(found.map_or_else(T::default, |(setting, _)| setting))
    }

    /// Warns of arguments that have no effect on an input that consists of `files` files.
    pub(crate) fn warn_ineffective(&self, input: &Input, files: usize) {
        let path = input.path().display();
        if self.join && files < 2 {
            warn!("{path}: --join has no effect: there is only one file");
        }
    }

    /// Returns the settings for all of the input files `traces`. Reads the files that contain
    /// names. Fails if an option is for another file.
    pub(crate) fn settings(&self, traces: &[PathBuf]) -> Result<Settings, Failure> {
        let mut settings = Settings { format: self.format_in.clone(), ..Settings::default() };
        for option in &self.options {
            if of_file(option, traces)?.is_none() {
                add_option(&mut settings, option)?;
            }
        }
        for path in &self.custom_events {
            settings.names.push(names_file(CUSTOM_EVENTS, path)?);
        }
        if let Some(path) = &self.names {
            settings.names.push(names_file("--names", path)?);
        }
        for path in &self.schema {
            let file =
                small_file::read_schema(path).map_err(|failure| failure.within("--schema"))?;
            settings.schemas.push(file);
        }
        if let Some(path) = &self.elf {
            let symbols = elf::read(path).map_err(|failure| failure.within("--elf"))?;
            settings.symbols = Some(symbols);
        }
        Ok(settings)
    }
}

/// Adds an option. It can name a file of custom events. The decoder gets the content of the file.
fn add_option(settings: &mut Settings, option: &str) -> Result<(), Failure> {
    match custom_events(option) {
        Some(path) => settings.names.push(names_file(CUSTOM_EVENTS, path)?),
        None => settings.options.add(option).map_err(Failure::usage)?,
    }
    Ok(())
}

const CUSTOM_EVENTS: &str = "--custom-events";

/// Returns the path in an option `names=FILE.trxc`, which is equivalent to `--custom-events`.
fn custom_events(option: &str) -> Option<&Path> {
    let (key, value) = option.split_once('=')?;
    let path = Path::new(value.trim());
    let is_trxc = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("trxc"));
    (key.trim() == "names" && is_trxc).then_some(path)
}

fn names_file(flag: &'static str, path: &Path) -> Result<NamesFile, Failure> {
    let text = small_file::read(path)?;
    Ok(NamesFile { flag, path: path.display().to_string(), text })
}

/// The options that select events. They are the same in all verbs that read traces.
#[derive(Debug, Args)]
#[command(next_help_heading = "Selection")]
pub(crate) struct SelectionArgs {
    /// Select events of this context: a name (`*` matches any text) or a key; may be repeated
    #[arg(long, value_name = "NAME")]
    context: Vec<String>,

    /// Select events of this name, label or id; may be repeated
    #[arg(long, value_name = "NAME")]
    event: Vec<String>,

    /// Select events with an argument that refers to this object: a name or an address
    #[arg(long, value_name = "NAME")]
    object: Vec<String>,

    /// Select events whose arguments meet an expression such as 'sig == 3 && ao == "motor"'; if
    /// repeated, all must be met
    #[arg(long = "where", value_name = "EXPR")]
    expressions: Vec<String>,

    /// Select events of these processors: 0,2-3 or all
    #[arg(short = 'C', long, value_name = "LIST")]
    cpu: Option<String>,

    /// Skip events before this time: ticks since the first event, or 1.5s, 20ms, 7us, 300ns, or a
    /// date such as 2026-03-02T09:00
    #[arg(long, value_name = "TIME", group = "beginning", value_parser = dates::moment)]
    from: Option<Moment>,

    /// Skip events after this time
    #[arg(long, value_name = "TIME", group = "ending", value_parser = end_time)]
    to: Option<EndTime>,

    /// Select at most the first N of the events that the other options select
    #[arg(long, value_name = "N")]
    head: Option<u64>,

    /// Select at most the last N of the events that the other options select
    #[arg(long, value_name = "N")]
    tail: Option<usize>,

    #[command(flatten)]
    zone: ZoneArgs,
}

/// The value of `--to`.
#[derive(Clone, Debug)]
enum EndTime {
    Time(Moment),
    /// The name of an output format. In earlier versions, the option `--to` of `convert` selected
    /// the format.
    Format(&'static Export),
}

fn end_time(text: &str) -> Result<EndTime, MomentError> {
    let format = |error| export::by_name(text).map(EndTime::Format).ok_or(error);
    dates::moment(text).map(EndTime::Time).or_else(format)
}

impl SelectionArgs {
    /// Returns true if events before a time are skipped.
    pub(crate) fn starts(&self) -> bool {
        self.from.is_some()
    }

    /// Returns true if events after a time are skipped.
    pub(crate) fn ends(&self) -> bool {
        matches!(self.to, Some(EndTime::Time(_)))
    }

    /// Returns true if any of these options is given.
    pub(crate) fn is_any(&self) -> bool {
        let lists = [&self.context, &self.event, &self.object, &self.expressions];
        let bounds = self.starts() || self.ends() || self.cpu.is_some();
        bounds || self.head.is_some() || self.tail.is_some() || lists.iter().any(|l| !l.is_empty())
    }

    /// Returns the names of the given options that select single events. Options that select times,
    /// contexts or processors are not included.
    pub(crate) fn of_single_events(&self) -> Vec<&'static str> {
        let options = [
            ("--event", !self.event.is_empty()),
            ("--object", !self.object.is_empty()),
            ("--where", !self.expressions.is_empty()),
            ("--head", self.head.is_some()),
            ("--tail", self.tail.is_some()),
        ];
        options.into_iter().filter(|(_, is_given)| *is_given).map(|(option, _)| option).collect()
    }

    /// Returns the output format that `--to` names.
    pub(crate) fn format(&self) -> Option<&'static Export> {
        match &self.to {
            Some(EndTime::Format(export)) => Some(export),
            _ => None,
        }
    }

    /// Returns the arguments for the time zone of dates.
    pub(crate) fn zone(&self) -> &ZoneArgs {
        &self.zone
    }

    /// Returns the selection that these arguments describe. Fails if `--to` names a format. Warns
    /// if a time zone is given but no date uses it.
    pub(crate) fn selection(&self) -> Result<Selection, Failure> {
        self.selection_showing(false)
    }

    /// Does the same as [`Self::selection`]; `dates` is true if the command's output contains
    /// dates.
    pub(crate) fn selection_showing(&self, dates: bool) -> Result<Selection, Failure> {
        if let Some(Export { name, .. }) = self.format() {
            let message =
                format!("--to {name}: expected a time; the output format is --format {name}");
            return Err(Failure::usage(message));
        }
        self.limited(dates)
    }

    /// Does the same as [`Self::selection`], but ignores `--to` if it names a format.
    pub(crate) fn without_format(&self) -> Result<Selection, Failure> {
        self.limited(false)
    }

    fn limited(&self, shows_dates: bool) -> Result<Selection, Failure> {
        let (from, to) = self.bounds(shows_dates)?;
        Ok(Selection {
            contexts: self.context.clone(),
            events: self.event.clone(),
            objects: self.object.clone(),
            expressions: self.expressions.iter().map(expression).collect::<Result<_, _>>()?,
            cpus: self
                .cpu
                .as_deref()
                .map_or(Ok(NumberList::default()), |list| cpus("--cpu", list))?,
            from,
            to,
            head: self.head,
            tail: self.tail,
            ..Selection::default()
        })
    }

    /// Returns the times of `--from` and `--to`.
    fn bounds(&self, shows_dates: bool) -> Result<(Option<Bound>, Option<Bound>), Failure> {
        let to = match &self.to {
            Some(EndTime::Time(moment)) => Some(moment),
            _ => None,
        };
        let is_date = |moment: &Moment| matches!(moment, Moment::Date(_));
        let has_date = self.from.iter().chain(to).any(is_date);
        self.zone.check(has_date || shows_dates)?;
        // Only dates need the time zone, so a wrong time zone of the system is an error only for
        // dates.
        let zone = if has_date { self.zone.zone()? } else { Zone::utc() };
        let from = self.from.as_ref().map(|from| from.bound("--from", &zone)).transpose()?;
        let to = to.map(|to| to.bound("--to", &zone)).transpose()?;
        Ok((from, to))
    }
}

/// Parses an expression. Prints its errors.
fn expression(text: &String) -> Result<Expression, Failure> {
    let source = Source::new("where", text);
    Expression::parse(&source).map_err(|findings| {
        crate::sources::report(&source, &findings);
        Failure::reported(Outcome::Usage)
    })
}

/// Parses the processors of an option: `all`, or numbers and ranges such as `0,2-3`. For `all`,
/// returns an empty list, which selects every processor.
pub(crate) fn cpus(option: &str, text: &str) -> Result<NumberList, Failure> {
    if text == "all" {
        return Ok(NumberList::default());
    }
    text.parse().map_err(|error: NumberListError| {
        let found = error.found();
        Failure::usage(format!(
            "{option}: expected processors such as 0,2-3 or all, found '{found}'"
        ))
    })
}

/// A parser that accepts every text, and suggests values for completions and the help. The verb
/// reports an unknown value, with the nearest name.
#[derive(Clone)]
pub(crate) struct Suggested(Vec<&'static str>);

impl Suggested {
    /// Suggests the formats that can be read.
    pub(crate) fn formats() -> Self {
        Self(FORMATS.iter().map(|format| format.name).collect())
    }

    /// Suggests the formats that can be written.
    pub(crate) fn exports() -> Self {
        Self(EXPORTS.iter().map(|export| export.name).collect())
    }

    /// Suggests the keys of `-O`.
    pub(crate) fn input_options() -> Self {
        Self::keys(FORMATS.iter().flat_map(|format| format.options))
    }

    /// Suggests the keys of `-T`.
    pub(crate) fn export_options() -> Self {
        Self::keys(EXPORTS.iter().flat_map(|export| export.options))
    }

    fn keys(options: impl Iterator<Item = &'static OptionHelp>) -> Self {
        let keys: BTreeSet<&'static str> = options.map(|option| option.key).collect();
        Self(keys.into_iter().collect())
    }
}

impl TypedValueParser for Suggested {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.0.iter().map(PossibleValue::new)))
    }
}

/// Warns of each given option that has no effect. Each element of `options` contains three values:
/// true if the option is given, the name of the option, and the reason.
pub(crate) fn warn_ineffective(options: &[(bool, &str, &str)]) {
    for (_, option, why) in options.iter().filter(|(is_given, ..)| *is_given) {
        warn!("{option} has no effect: {why}");
    }
}
