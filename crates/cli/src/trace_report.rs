//! A report in the manner of trcrpt: what `report` and `trcrpt` ask for, and how it is made.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use tracewell::input::Input;
use tracewell::model::Trace;
use tracewell::report::trcrpt::{Options, Settings, TrcReport};
use tracewell::select::{
    Bound, Group, IdOrName, IdPattern, Selection, did_you_mean, groups, nearest,
};
use tracewell::template::{Marks, Program, shipped};
use tracewell::text::{shown, shown_path};

use crate::args::InputArgs;
use crate::inputs::Inputs;
use crate::outcome::{Failure, Outcome, tell};
use crate::verbs::{Made, for_each_file, read_named, title};
use crate::{output, small_file, templates};

/// What a report is asked for.
#[derive(Debug, Default)]
pub(crate) struct Request {
    pub(crate) files: Vec<PathBuf>,
    pub(crate) templates: Vec<PathBuf>,
    pub(crate) options: Options,
    pub(crate) selection: Selection,
    pub(crate) without_heading: bool,
    pub(crate) width: usize,
    pub(crate) threads: usize,
    pub(crate) output: Option<PathBuf>,
    /// All files that are read, but a template that an option of the report names.
    pub(crate) inputs: Inputs,
}

/// Lines of a report in a file have so many columns at most.
const WIDTH_OF_FILES: usize = 200;

impl Request {
    /// Whether the events are wanted in this manner, whatever the format is.
    pub(crate) fn is_special(&self) -> bool {
        !self.templates.is_empty() || self.options != Options::default() || self.without_heading
    }

    /// Prints the report of each trace.
    pub(crate) fn run(mut self, input: &InputArgs) -> Outcome {
        if let Some(template) = self.options.template.take() {
            self.inputs.add([&template]);
            self.templates.push(template.into());
        }
        let sources = match templates::sources(&self.templates) {
            Ok(sources) => sources,
            Err(failure) => return failure.tell(),
        };
        let (program, wrong) = templates::compile(&sources);
        let outcome = self.write(|out| {
            for_each_file(&self.files, input, |trace| self.one(trace, input, &program, out))
        });
        outcome.max(wrong)
    }

    /// Lets `run` write the reports to where they go. A file that is there already stays if no trace
    /// could be read.
    pub(crate) fn write(&self, run: impl FnOnce(&mut dyn Write) -> Made) -> Outcome {
        let Some(path) = &self.output else {
            return run(&mut output::stdout()).outcome;
        };
        let whole = |out: &mut dyn Write| match run(out) {
            Made { files: 0, outcome } => Err(Failure::told(outcome)),
            Made { outcome, .. } => Ok(outcome),
        };
        output::write_whole(path, &self.inputs, whole).unwrap_or_else(Failure::tell)
    }

    fn one(
        &self,
        input: &mut Input,
        args: &InputArgs,
        program: &Program,
        out: &mut dyn Write,
    ) -> Result<Trace, Failure> {
        let own = if self.templates.is_empty() { shipped(input.format().name) } else { None };
        let own = own.map(|source| Program::of(&[source]).program);
        let program = own.as_ref().unwrap_or(program);
        let mut selection = self.selection.clone();
        let at = |ns: Option<u64>| ns.map(Bound::Nanoseconds);
        selection.from = selection.from.or(at(self.options.start_ns));
        selection.to = selection.to.or(at(self.options.end_ns));
        let settings = Settings {
            options: self.options.clone(),
            selection: selection.clone(),
            without_heading: self.without_heading,
            title: title(&self.files, args, input.path()),
            log: shown_path(input.path()).to_string(),
            width: if self.width > 0 { self.width } else { self.usual_width() },
            threads: self.threads,
        };
        let mut report = TrcReport::new(out, program, settings);
        let mut trace = read_named(input, &mut report, selection.has_names())?;
        selection.check(&trace)?;
        selection.remark(&mut trace);
        self.options.check(&trace).map_err(Failure::usage)?;
        let written = report.finish(&trace);
        let (_, marks) = written.map_err(|error| Failure::io(self.output_path(), &error))?;
        tell_marks(input.path(), marks);
        if own.is_none() {
            tell_names(input.path(), &trace, program);
        }
        Ok(trace)
    }

    fn output_path(&self) -> &Path {
        self.output.as_deref().unwrap_or(output::stdout_path())
    }

    fn usual_width(&self) -> usize {
        if self.output.is_some() || !std::io::stdout().is_terminal() {
            return WIDTH_OF_FILES;
        }
        let size = terminal_size::terminal_size();
        size.map_or(WIDTH_OF_FILES, |(width, _)| usize::from(width.0))
    }
}

/// Tells which templates name no event of the trace's schema: they can never be used.
fn tell_names(path: &Path, trace: &Trace, program: &Program) {
    let unknown = |name: &&str| trace.schema.events().iter().all(|event| event.name != *name);
    let unknown: Vec<_> = program.names().filter(unknown).collect();
    if let [first, ..] = unknown[..] {
        let (path, names) = (shown_path(path), unknown.join(", "));
        let events = trace.schema.events().iter();
        let meant = did_you_mean(nearest(first, events.map(|event| event.name.as_str())));
        tell!(
            "tracewell: {path}: no such events in traces of format {}: {names}{meant}",
            trace.format
        );
    }
}

/// Tells where templates reached limits; the report has marks in those places.
fn tell_marks(path: &Path, marks: Marks) {
    let tell = |count: u64, what: &str| {
        if count > 0 {
            tell!("tracewell: {}: {count} {what}", shown_path(path));
        }
    };
    tell(marks.truncated, "events have less data than their templates read (<TRUNCATED>)");
    tell(marks.missing, "times a template called what is not there (<NO TEMPLATE>, <NO FUNCTION>)");
    tell(marks.limits, "times a template reached a limit (marked in the report)");
}

/// The elements of a list, separated by commas or blanks. One that names a file stands for the list
/// in that file.
pub(crate) fn list(text: &str) -> Result<Vec<String>, Failure> {
    let mut all = Vec::new();
    for element in elements(text) {
        let path = Path::new(element);
        if path.is_file() {
            let file = small_file::read_text(path)?;
            all.extend(elements(&file).map(str::to_owned));
        } else {
            all.push(element.to_owned());
        }
    }
    Ok(all)
}

fn elements(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c == ',' || c.is_whitespace()).filter(|element| !element.is_empty())
}

/// The files that elements of lists name.
pub(crate) fn files_in(lists: &[String]) -> Vec<PathBuf> {
    let all = lists.iter().flat_map(|list| elements(list)).map(PathBuf::from);
    all.filter(|path| path.is_file()).collect()
}

/// A list of hook ids.
pub(crate) fn ids(lists: &[String]) -> Result<Vec<IdOrName>, Failure> {
    let id = |element: String| element.parse::<IdPattern>().map_err(Failure::usage);
    lists_of(lists)?.into_iter().map(|element| id(element).map(IdOrName::from)).collect()
}

/// A list of hook ids, other ids and names of events.
pub(crate) fn events(lists: &[String]) -> Result<Vec<IdOrName>, Failure> {
    Ok(lists_of(lists)?.iter().map(|element| IdOrName::from(element.as_str())).collect())
}

fn lists_of(lists: &[String]) -> Result<Vec<String>, Failure> {
    let lists: Result<Vec<_>, _> = lists.iter().map(|text| list(text)).collect();
    Ok(lists?.concat())
}

/// The ids of named groups.
pub(crate) fn ids_of_groups(names: &[String], known: &[Group]) -> Result<Vec<IdOrName>, Failure> {
    let mut all = Vec::new();
    for name in names.iter().flat_map(|names| elements(names)) {
        match known.iter().find(|group| group.name == name) {
            Some(group) => all.extend(group.ids.iter().copied().map(IdOrName::from)),
            None => {
                let meant = nearest(name, known.iter().map(|group| group.name.as_str()));
                let meant = did_you_mean(meant);
                let message = format!("no group '{name}'; -G lists those that there are{meant}");
                return Err(Failure::usage(message));
            }
        }
    }
    Ok(all)
}

/// The groups of a file, or those that come with the program.
pub(crate) fn known_groups(file: Option<&Path>) -> Result<Vec<Group>, Failure> {
    let (name, text) = match file {
        None => ("templates/groups".into(), include_str!("../../../templates/groups").to_owned()),
        Some(path) => (shown_path(path).to_string(), small_file::read_text(path)?),
    };
    let (groups, errors) = groups(&text);
    for (line, error) in errors {
        tell!("tracewell: {name}:{line}: {error}");
    }
    Ok(groups)
}

/// Prints groups, one a line as they are written.
pub(crate) fn print_groups(groups: &[Group]) -> Outcome {
    let mut text = String::new();
    for group in groups {
        let ids: Vec<_> = group.ids.iter().map(ToString::to_string).collect();
        let (name, description) = (shown(&group.name), shown(&group.description));
        text.push_str(&format!("{name}: {description}: {}\n", ids.join(",")));
    }
    print(&text)
}

/// Prints a text on standard output.
pub(crate) fn print(text: &str) -> Outcome {
    match output::stdout().write_all(text.as_bytes()) {
        Ok(()) => Outcome::Done,
        Err(error) => Failure::io(output::stdout_path(), &error).tell(),
    }
}

/// Processors: `all`, or numbers and ranges such as `0,2-3`.
pub(crate) fn cpus(text: &str) -> Result<Vec<std::ops::RangeInclusive<u16>>, Failure> {
    if text == "all" {
        return Ok(Vec::new());
    }
    let range = |element: &str| {
        let (first, last) = element.split_once('-').unwrap_or((element, element));
        Some(first.parse().ok()?..=last.parse().ok()?)
    };
    let read = |element| {
        let message = || format!("expected processors such as 0,2-3 or all, found '{element}'");
        range(element).ok_or_else(|| Failure::usage(message()))
    };
    elements(text).map(read).collect()
}

/// A date `mmddhhmmssyy`, in Greenwich time.
pub(crate) fn date(text: &str) -> Result<Bound, String> {
    use tracewell::text::calendar::Date;
    let error = || format!("expected a date mmddhhmmssyy, found '{text}'");
    if text.len() != 12 || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(error());
    }
    let part = |at: usize| text[at..at + 2].parse::<u64>().unwrap_or(0);
    let [month, day, hour, minute, second, year] = [0, 2, 4, 6, 8, 10].map(part);
    // As everywhere in UNIX: 69 to 99 are of the last century.
    let year = if year < 69 { 2000 + year } else { 1900 + year };
    let days = Date { year, month, day }.days().ok_or_else(error)?;
    if hour > 23 || minute > 59 || second > 60 {
        return Err(error());
    }
    let seconds = 86_400 * days + 3600 * hour + 60 * minute + second;
    Ok(Bound::WallClock(seconds * 1_000_000_000))
}
