//! Reading what is written meanwhile, until a signal comes: streams, and files that grow (`--follow` of several verbs).

use std::cell::OnceCell;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tracewell::collect::{self, Follow, Options, Source, Stream, View};
use tracewell::format;
use tracewell::input::{Input, InputError};
use tracewell::model::{Severity, Trace};
use tracewell::text::shown_path;

use super::collect::{open, stop_signal, tell};
use crate::args::InputArgs;
use crate::outcome::{Failure, Outcome, tell, tell_remarks};
use crate::output;

/// The end of streams by a signal: Ctrl-C or a request to terminate ends the reading of a stream, and the command goes
/// on with what came until then. Any other time, and for the second time, it ends the command.
#[derive(Default)]
pub(super) struct StreamEnd {
    flag: OnceCell<Arc<AtomicBool>>,
}

impl StreamEnd {
    /// Runs `read` on an input, which a signal ends if it is a stream.
    pub(super) fn by_signal(
        &self,
        input: &mut Input,
        read: impl FnOnce(&mut Input) -> Result<Trace, Failure>,
    ) -> Result<Trace, Failure> {
        if input.size().is_some() {
            return read(input);
        }
        let flag = match self.flag.get() {
            Some(flag) => {
                flag.store(false, Ordering::Relaxed);
                flag
            }
            None => {
                let flag = stop_signal().map_err(signals_failed)?;
                self.flag.get_or_init(|| flag)
            }
        };
        input.end_with(Arc::clone(flag));
        let trace = read(input);
        // While the flag is set, a signal ends the command.
        if flag.swap(true, Ordering::Relaxed) {
            tell_ended(input.path());
        }
        trace
    }
}

fn tell_ended(path: &Path) {
    let path = shown_path(path);
    tell!("tracewell: {path}: a signal ended the reading: the results are of what came until then");
}

fn signals_failed(error: io::Error) -> Failure {
    Failure::io(Path::new("signals"), &error)
}

/// What became of a trace that was followed.
pub(super) struct Followed {
    pub(super) outcome: Outcome,
    /// What describes its events, of its last beginning.
    pub(super) trace: Option<Trace>,
}

/// Follows a file that grows, or standard input for `-`, until it ends or a signal comes. `sink` is called for each
/// beginning: a file may be replaced.
pub(super) fn follow<'a>(
    files: &[PathBuf],
    args: &InputArgs,
    sink: impl FnMut() -> Box<dyn Follow + 'a> + Send + 'a,
) -> Result<Followed, Failure> {
    let file = followable(files, args)?;
    args.inputs(files).refuse_stdout()?;
    let (settings, mut outcome) = args.settings()?;
    let stop = stop_signal().map_err(signals_failed)?;
    let source = if is_stdin(file) { Source::Stdin } else { Source::File(file.to_owned()) };
    let view = View { settings, only_growing: true, sink: Box::new(sink) };
    let stream = Stream { reader: open(&source)?, raw: None, view: Some(view) };
    let collected = collect::collect(vec![stream], Options::default(), &stop, &tell);
    if stop.load(Ordering::Relaxed) {
        tell_ended(file);
    }
    let mut trace = None;
    for collected in collected {
        if let Some(error) = &collected.unreadable {
            outcome = outcome.max(Failure::io(file, error).tell());
        }
        let Some(shown) = collected.shown else { continue };
        if let Some(format) = shown.whole {
            let file = shown_path(file);
            return Err(Failure::usage(format!(
                "--follow: {file}: this {format} trace is read as a whole and does not grow: leave --follow out"
            )));
        }
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

fn is_stdin(file: &Path) -> bool {
    file == Path::new("-")
}

/// The one file that is to be followed; fails if these arguments name what cannot be.
fn followable<'f>(files: &'f [PathBuf], args: &InputArgs) -> Result<&'f Path, Failure> {
    let [file] = files else {
        return Err(Failure::usage("--follow: one trace can be followed, several are named"));
    };
    if args.join {
        return Err(Failure::usage("--join: one file that grows has no parts"));
    }
    if !args.custom_events.is_empty() {
        let message = "--custom-events: they name events of ThreadX, whose traces do not grow";
        return Err(Failure::usage(message));
    }
    if let Some(name) = args.format_in.as_ref().filter(|name| format::by_name(name).is_none()) {
        return Err(InputError::NoSuchFormat(name.clone()).into());
    }
    if is_stdin(file) && io::stdin().is_terminal() {
        return Err(InputError::Terminal.into());
    }
    Ok(file)
}
