//! Reading one trace while it is written, until a signal comes: what `--follow` of several verbs means.

use std::path::Path;

use tracewell::collect::{self, Follow, Options, Source, Stream, View};
use tracewell::model::{Severity, Trace};

use super::collect::{open, stop_signal, tell};
use crate::args::InputArgs;
use crate::outcome::{Failure, Outcome, tell_remarks};
use crate::output;

/// What became of a trace that was followed.
pub(super) struct Followed {
    pub(super) outcome: Outcome,
    /// What describes its events, of its last beginning.
    pub(super) trace: Option<Trace>,
}

/// Follows a file that grows, or standard input for `-`, until it ends or a signal comes. `sink` is called for each
/// beginning: a file may be replaced.
pub(super) fn follow<'a>(
    file: &Path,
    args: &InputArgs,
    sink: impl FnMut() -> Box<dyn Follow + 'a> + Send + 'a,
) -> Result<Followed, Failure> {
    args.inputs(&[file.to_owned()]).refuse_stdout()?;
    let (settings, mut outcome) = args.settings()?;
    let stop = stop_signal().map_err(|error| Failure::io(Path::new("signals"), &error))?;
    let stdin = file == Path::new("-");
    let source = if stdin { Source::Stdin } else { Source::File(file.to_owned()) };
    let view = View { settings, sink: Box::new(sink) };
    let stream = Stream { reader: open(&source)?, raw: None, view: Some(view) };
    let collected = collect::collect(vec![stream], Options::default(), &stop, &tell);
    let mut trace = None;
    for collected in collected {
        if let Some(error) = &collected.unreadable {
            outcome = outcome.max(Failure::io(file, error).tell());
        }
        let Some(shown) = collected.shown else { continue };
        if shown.refused || shown.worst == Some(Severity::Damage) {
            outcome = outcome.max(Outcome::Damaged);
        }
        if let Some(error) = &shown.error {
            outcome = outcome.max(Failure::io(output::stdout_path(), error).tell());
        }
        trace = shown.trace;
    }
    match &trace {
        Some(trace) => outcome = outcome.max(tell_remarks(file, trace, args.verbose)),
        None if outcome == Outcome::Done => {
            let nothing = "no event of a known format came";
            outcome = Failure::damaged(file, &nothing).tell();
        }
        None => {}
    }
    Ok(Followed { outcome, trace })
}
