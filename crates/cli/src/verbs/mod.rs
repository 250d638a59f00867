//! The verbs, one file each. A verb's doc comment is its help.

pub(crate) mod analyze;
mod babeltrace;
pub(crate) mod check;
pub(crate) mod collect;
mod companion;
pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod diff;
pub(crate) mod events;
mod follow;
pub(crate) mod formats;
pub(crate) mod info;
pub(crate) mod ingest;
pub(crate) mod man;
pub(crate) mod query;
#[cfg(target_os = "linux")]
pub(crate) mod record;
pub(crate) mod report;
pub(crate) mod serve;
mod sources;
pub(crate) mod template;
pub(crate) mod trcrpt;
pub(crate) mod view;

use std::io::Write;
use std::path::{Path, PathBuf};

use tracewell::input::{Input, InputError};
use tracewell::model::{Sink, Trace};
use tracewell::select::Selection;
use tracewell::text::shown_path;

use crate::args::InputArgs;
use crate::config::Configs;
use crate::inputs::Inputs;
use crate::outcome::{Failure, Outcome, report_diagnostics};
use crate::{output, progress};

/// The result of a command for all of its files.
#[must_use]
pub(crate) struct Made {
    /// Number of files, or of joined runs, that were read successfully.
    pub(crate) files: usize,
    /// The worst outcome of all files.
    pub(crate) outcome: Outcome,
    /// The first file of each failed run, and the message of the failure.
    pub(crate) failures: Vec<(PathBuf, String)>,
}

/// Runs `run`, which writes the results of several traces to a file or to standard output. An
/// existing file is kept if no trace could be read.
pub(crate) fn write_files(
    path: Option<&Path>,
    inputs: &Inputs,
    run: impl FnOnce(&mut dyn Write) -> Made,
) -> Outcome {
    let Some(path) = path else {
        return run(&mut output::stdout()).outcome;
    };
    let whole = |out: &mut dyn Write| match run(out) {
        // After an error, `write_whole` removes the new file and keeps an existing file.
        Made { files: 0, outcome, .. } => Err(Failure::reported(outcome)),
        Made { outcome, .. } => Ok(outcome),
    };
    output::write_whole(path, inputs, whole).unwrap_or_else(Failure::report)
}

/// Runs `work` for each file, or, if the files are joined, once for all of them. After an
/// unreadable file, continues with the others. Returns the worst outcome.
pub(crate) fn for_each_file(
    files: &[PathBuf],
    args: &InputArgs,
    mut work: impl FnMut(&mut Input) -> Result<Trace, Failure>,
) -> Made {
    let mut made = Made { files: 0, outcome: Outcome::Done, failures: Vec::new() };
    let settings = args.inputs(files).refuse_stdout().and_then(|()| args.settings(files));
    let settings = match settings {
        Ok(settings) => settings,
        Err(failure) => return Made { outcome: failure.report(), ..made },
    };
    let mut configs = Configs::default();
    let each = if args.join { files.len() } else { 1 };
    // Use at least 1, because `files` can be empty, and `chunks` panics for 0.
    for run in files.chunks(each.max(1)) {
        // Use a closure, so that `?` ends the work on this file and not the loop.
        let mut done = || {
            let settings = args.configured(settings.clone(), files, run, &mut configs)?;
            let mut input = args.open(run, settings)?;
            args.warn_ineffective(&input, run.len());
            progress::watch(&mut input);
            let trace = work(&mut input)?;
            made.files += 1;
            Ok(report_diagnostics(input.path(), &trace.diagnostics, args.verbose))
        };
        let outcome = done().unwrap_or_else(|failure: Failure| {
            let first = run.first().cloned().unwrap_or_default();
            made.failures.push((first, failure.message().to_owned()));
            failure.report()
        });
        made.outcome = made.outcome.max(outcome);
    }
    made
}

/// Reads an input into a sink that applies a selection. If the selection contains names, all names
/// of the input are known when the sink gets the first event.
pub(crate) fn read_selected(
    input: &mut Input,
    sink: &mut dyn Sink,
    selection: &Selection,
) -> Result<Trace, InputError> {
    if selection.has_events() {
        input.note_ids();
    }
    if selection.has_names() { input.read_named(sink) } else { input.read(sink) }
}

/// Returns the title that separates the output of several traces.
pub(crate) fn title(files: &[PathBuf], args: &InputArgs, path: &Path) -> Option<String> {
    (files.len() > 1 && !args.join).then(|| format!("==> {} <==", shown_path(path)))
}
