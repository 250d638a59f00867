//! The verbs, one file each. A verb's doc comment is its help.

pub(crate) mod analyze;
pub(crate) mod check;
pub(crate) mod collect;
pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod events;
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

use crate::args::InputArgs;
use crate::outcome::{Failure, Outcome, tell_remarks};
use crate::progress::Progress;

/// Runs `work` for each file, or once for all of them where they are joined. One bad file does not stop the others; the worst outcome counts.
pub(crate) fn for_each_file(
    files: &[PathBuf],
    args: &InputArgs,
    mut work: impl FnMut(&mut Input) -> Result<Trace, Failure>,
) -> Outcome {
    let (settings, mut worst) = match args.settings() {
        Ok(made) => made,
        Err(failure) => return failure.tell(),
    };
    let each = if args.join { files.len() } else { 1 };
    for run in files.chunks(each.max(1)) {
        let mut done = || {
            let mut input = Input::open_run(run, settings.clone())?;
            let trace = work(&mut input)?;
            Ok(tell_remarks(input.path(), &trace, args.verbose))
        };
        worst = worst.max(done().unwrap_or_else(Failure::tell));
    }
    worst
}

/// Reads an input into a sink, with progress on a terminal.
pub(crate) fn read(input: &mut Input, sink: &mut dyn Sink) -> Result<Trace, Failure> {
    let size = input.size();
    Ok(input.read(&mut Progress::new(sink, size))?)
}

/// A title for output about several traces.
pub(crate) fn title(files: &[PathBuf], args: &InputArgs, path: &Path) -> Option<String> {
    (files.len() > 1 && !args.join).then(|| format!("==> {} <==", path.display()))
}
