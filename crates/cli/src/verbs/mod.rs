//! The verbs, one file each. A verb's doc comment is its help.

pub(crate) mod analyze;
pub(crate) mod check;
pub(crate) mod collect;
pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod events;
mod follow;
pub(crate) mod formats;
pub(crate) mod info;
pub(crate) mod man;
#[cfg(target_os = "linux")]
pub(crate) mod record;
pub(crate) mod report;
pub(crate) mod template;
pub(crate) mod trcrpt;

use std::path::{Path, PathBuf};

use tracewell::input::Input;
use tracewell::model::{Sink, Trace};
use tracewell::text::shown_path;

use crate::args::InputArgs;
use crate::outcome::{Failure, Outcome, tell_remarks};
use crate::progress::Progress;

/// What became of the files of a command.
#[must_use]
pub(crate) struct Made {
    /// Files, or runs of joined ones, that were read and whose work is done.
    pub(crate) files: usize,
    /// The worst outcome.
    pub(crate) outcome: Outcome,
}

/// Runs `work` for each file, or once for all of them if they are joined. One bad file does not stop the others; the worst outcome counts.
pub(crate) fn for_each_file(
    files: &[PathBuf],
    args: &InputArgs,
    mut work: impl FnMut(&mut Input) -> Result<Trace, Failure>,
) -> Made {
    let mut made = Made { files: 0, outcome: Outcome::Done };
    let settings = args.inputs(files).refuse_stdout().and_then(|()| args.settings());
    let settings = match settings {
        Ok((settings, outcome)) => {
            made.outcome = outcome;
            settings
        }
        Err(failure) => return Made { outcome: failure.tell(), ..made },
    };
    let each = if args.join { files.len() } else { 1 };
    for run in files.chunks(each.max(1)) {
        let mut done = || {
            let mut input = Input::open_run(run, settings.clone())?;
            args.tell_ineffective(&mut input, run.len());
            let trace = work(&mut input)?;
            made.files += 1;
            Ok(tell_remarks(input.path(), &trace, args.verbose))
        };
        let outcome = done().unwrap_or_else(Failure::tell);
        made.outcome = made.outcome.max(outcome);
    }
    made
}

/// Reads an input into a sink, with progress on a terminal.
pub(crate) fn read(input: &mut Input, sink: &mut dyn Sink) -> Result<Trace, Failure> {
    let size = input.size();
    Ok(input.read(&mut Progress::new(sink, size))?)
}

/// Reads an input into a sink that compares names: with those of the whole input if `named`.
pub(crate) fn read_named(
    input: &mut Input,
    sink: &mut dyn Sink,
    named: bool,
) -> Result<Trace, Failure> {
    if !named {
        return read(input, sink);
    }
    let size = input.size();
    Ok(input.read_named(&mut Progress::new(sink, size))?)
}

/// A title for output about several traces.
pub(crate) fn title(files: &[PathBuf], args: &InputArgs, path: &Path) -> Option<String> {
    (files.len() > 1 && !args.join).then(|| format!("==> {} <==", shown_path(path)))
}
