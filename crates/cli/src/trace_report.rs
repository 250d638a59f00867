//! Prints the reports of the commands `report` and `trcrpt` in the layout of AIX's trcrpt.

use std::io::Write;
use std::path::{Path, PathBuf};

use tracewell::format::Format;
use tracewell::input::Input;
use tracewell::model::Trace;
use tracewell::report::trcrpt::{Options, Settings, TrcReport};
use tracewell::select::{Bound, Selection, did_you_mean, nearest};
use tracewell::template::{Marks, Program};
use tracewell::text::shown_path;

use crate::args::InputArgs;
use crate::inputs::Inputs;
use crate::outcome::{Failure, Outcome, warn};
use crate::verbs::{Made, for_each_file, read_selected, title, write_files};
use crate::{output, screen, shipped, sources};

/// The request for a report.
#[derive(Debug, Default)]
pub(crate) struct Request {
    pub(crate) files: Vec<PathBuf>,
    pub(crate) templates: Vec<PathBuf>,
    pub(crate) options: Options,
    pub(crate) selection: Selection,
    pub(crate) without_heading: bool,
    pub(crate) threads: usize,
    pub(crate) output: Option<PathBuf>,
    /// All files that the command reads, except a template file that the column option `tmplt`
    /// names.
    pub(crate) inputs: Inputs,
}

/// Width of the lines of a report in a file, in characters.
const WIDTH_OF_FILES: usize = 200;

impl Request {
    /// Returns true if an option selects the layout trcrpt, regardless of the format.
    pub(crate) fn is_special(&self) -> bool {
        !self.templates.is_empty() || self.options != Options::default() || self.without_heading
    }

    /// Prints the report of each trace.
    pub(crate) fn run(mut self, input: &InputArgs) -> Outcome {
        if let Some(template) = self.options.template.take() {
            self.inputs.add([&template]);
            self.templates.push(template.into());
        }
        let sources = match sources::read_all(&self.templates) {
            Ok(sources) => sources,
            Err(failure) => return failure.report(),
        };
        let (program, wrong) = sources::compile(&sources);
        let outcome = self.write(|out| {
            for_each_file(&self.files, input, |trace| self.print(trace, input, &program, out))
        });
        outcome.max(wrong)
    }

    /// Runs `run`, which writes the reports to the output.
    pub(crate) fn write(&self, run: impl FnOnce(&mut dyn Write) -> Made) -> Outcome {
        write_files(self.output.as_deref(), &self.inputs, |out| {
            let mut out = output::Folding::new(out, self.width());
            let made = run(&mut out);
            let flushed = out.flush().map_err(|error| Failure::io(self.output_path(), &error));
            let flushed = flushed.map_or_else(Failure::report, |()| Outcome::Done);
            Made { outcome: made.outcome.max(flushed), ..made }
        })
    }

    /// Prints the report of one trace with the templates in `program`, or with those of the trace's
    /// format if the request names no template files.
    pub(crate) fn print(
        &self,
        input: &mut Input,
        args: &InputArgs,
        program: &Program,
        out: &mut dyn Write,
    ) -> Result<Trace, Failure> {
        // If the user names templates, use only these, without the templates of the format.
        let own = if self.templates.is_empty() { input.format().shipped_template() } else { None };
        let own = own.map(|source| Program::of(&[source]).program);
        let program = own.as_ref().unwrap_or(program);
        let mut selection = self.selection.clone();
        // The times in --columns apply only if --from and --to are not given.
        let at = |ns: Option<u64>| ns.map(Bound::Nanoseconds);
        selection.from = selection.from.or(at(self.options.start_ns));
        selection.to = selection.to.or(at(self.options.end_ns));
        let selection = input.without_tail(selection)?;
        let settings = Settings {
            options: self.options.clone(),
            selection: selection.clone(),
            without_heading: self.without_heading,
            title: title(&self.files, args, input.path()),
            log: shown_path(input.path()).to_string(),
            width: self.width().unwrap_or(WIDTH_OF_FILES),
            threads: self.threads,
        };
        for other in self.shipped().iter().filter(|format| format.name != input.format().name) {
            let (path, other, own) = (shown_path(input.path()), other.name, input.format().name);
            warn!("{path}: @{other} is for traces of format {other}; this trace has format {own}");
        }
        input.set_threads(self.threads);
        let mut report = TrcReport::new(out, program, settings);
        // A selection by name needs all names, and a trace can define a name even at its end.
        let read = read_selected(input, &mut report, &selection);
        let mut trace = read.map_err(|error| Failure::reading(error, self.output_path()))?;
        selection.remark(&mut trace);
        warn_marks(input.path(), report.marks());
        // A shipped template covers all versions of its format, so it can name events that this
        // trace's schema lacks.
        if own.is_none() {
            warn_unknown_names(input.path(), &trace, program, &self.shipped());
        }
        Ok(trace)
    }

    /// Returns the formats whose shipped templates are requested.
    fn shipped(&self) -> Vec<&'static Format> {
        self.templates.iter().filter_map(|path| shipped::format(path)).collect()
    }

    /// Returns the output path, for messages.
    pub(crate) fn output_path(&self) -> &Path {
        self.output.as_deref().unwrap_or(output::stdout_path())
    }

    /// Returns the width of the screen; `None` if lines are not folded.
    pub(crate) fn width(&self) -> Option<usize> {
        // The width of this screen does not apply to a report in a file.
        if self.output.is_some() { screen::chosen_width() } else { screen::width() }
    }
}

/// Warns of templates that name no event of the trace's schema and can therefore never be used.
/// Templates in shipped files are not reported: they cover all versions of their format.
fn warn_unknown_names(path: &Path, trace: &Trace, program: &Program, shipped: &[&Format]) {
    let shipped: Vec<_> = shipped.iter().filter_map(|format| format.shipped_template()).collect();
    let shipped = Program::of(&shipped).program;
    let unknown = |name: &&str| {
        trace.schema.events().all(|event| event.name != *name)
            && shipped.names().all(|of_shipped| of_shipped != *name)
    };
    let unknown: Vec<_> = program.names().filter(unknown).collect();
    if let [first, ..] = unknown[..] {
        let (path, names) = (shown_path(path), unknown.join(", "));
        let events = trace.schema.events();
        let hint = did_you_mean(nearest(first, events.map(|event| event.name.as_str())));
        let format = trace.format;
        warn!("{path}: format {format} has no events of these names: {names}{hint}");
    }
}

/// Warns of marks that templates left in the report.
fn warn_marks(path: &Path, marks: Marks) {
    let warn = |count: u64, what: &str| {
        if count > 0 {
            warn!("{}: {count} {what}", shown_path(path));
        }
    };
    warn(marks.truncated, "events have less data than their templates read (<TRUNCATED>)");
    warn(marks.missing, "calls of missing templates or functions (<NO TEMPLATE>, <NO FUNCTION>)");
    warn(marks.limits, "times a template reached a limit (marked in the report)");
}
