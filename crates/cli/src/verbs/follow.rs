//! Reads streams and growing files until a signal arrives, for `--follow` of several verbs.

use std::cell::OnceCell;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tracewell::format;
use tracewell::input::{Input, InputError};
use tracewell::model::{Severity, Sink, Trace};
use tracewell::select::Selection;
use tracewell::text::shown_path;
use tracewell_collect::{Options, Source, Stream, View};

use super::collect::{open, print_notice, stop_signal};
use crate::args::InputArgs;
use crate::config::Configs;
use crate::outcome::{Failure, Outcome, note, report_diagnostics};
use crate::{output, pager};

/// Ends the reading of a stream at SIGINT or SIGTERM; the command continues with the data read so
/// far. A second signal ends the command, as does a signal that arrives while no stream is being
/// read.
#[derive(Default)]
pub(super) struct StreamEnd {
    flag: OnceCell<Arc<AtomicBool>>,
}

impl StreamEnd {
    /// Runs `read` on an input. If the input is a stream, a signal ends the reading.
    pub(super) fn by_signal(
        &self,
        input: &mut Input,
        read: impl FnOnce(&mut Input) -> Result<Trace, Failure>,
    ) -> Result<Trace, Failure> {
        // Reading a file takes little time, so a signal keeps its default action: it ends the whole
        // command.
        if !input.is_stream() {
            return read(input);
        }
        let flag = match self.flag.get() {
            Some(flag) => {
                // The flag is still set from the previous stream; see below.
                flag.store(false, Ordering::Relaxed);
                flag
            }
            None => {
                // Install the handler only now, so that commands that read no stream have no
                // handler.
                let flag = stop_signal().map_err(signals_failed)?;
                self.flag.get_or_init(|| flag)
            }
        };
        input.end_with(Arc::clone(flag));
        // With a pager, Ctrl-C would end this command while the pager continues to run.
        pager::allow(false);
        let trace = read(input);
        // Set the flag, so that the next signal ends the command.
        if flag.swap(true, Ordering::Relaxed) {
            warn_ended(input.path());
        }
        trace
    }
}

fn warn_ended(path: &Path) {
    let path = shown_path(path);
    note!("{path}: reading was stopped by a signal: the results cover what was read until then");
}

fn signals_failed(error: io::Error) -> Failure {
    Failure::io(Path::new("signals"), &error)
}

/// Follows a growing file, or standard input for `-`, until it ends or a signal arrives. Calls
/// `sink` for a new sink when the stream begins, and again if the file is replaced. Each sink must
/// select the events itself.
pub(super) fn follow<'a>(
    files: &[PathBuf],
    args: &InputArgs,
    selection: &Selection,
    sink: impl FnMut() -> Box<dyn Sink + Send + 'a> + Send + 'a,
) -> Result<Outcome, Failure> {
    if selection.tail.is_some() {
        let message = "--tail: a growing file has no last events: omit --tail or --follow";
        return Err(Failure::usage(message));
    }
    let file = followable(files, args)?;
    // Refuse to write the output into the followed file, because the command would then never end.
    args.inputs(files).refuse_stdout()?;
    let settings = args.configured(args.settings()?, files, &mut Configs::default())?;
    let mut outcome = Outcome::Done;
    let stop = stop_signal().map_err(signals_failed)?;
    let source = if is_stdin(file) { Source::Stdin } else { Source::File(file.to_owned()) };
    let view = View { settings, only_growing: true, sink: Box::new(sink) };
    let stream = Stream { reader: open(&source)?, raw: None, view: Some(view) };
    let collected =
        tracewell_collect::collect(vec![stream], Options::default(), &stop, &print_notice);
    if stop.load(Ordering::Relaxed) {
        warn_ended(file);
    }
    let mut trace = None;
    for collected in collected {
        if let Some(error) = &collected.unreadable {
            outcome = outcome.max(Failure::io(file, error).report());
        }
        let Some(shown) = collected.shown else { continue };
        if let Some(format) = shown.whole {
            let file = shown_path(file);
            return Err(Failure::usage(format!(
                "--follow: {file}: a trace of format {format} is read as a whole and does not grow: omit --follow"
            )));
        }
        if shown.refused || shown.worst == Some(Severity::Damage) {
            outcome = outcome.max(Outcome::Damaged);
        }
        if let Some(error) = &shown.error {
            outcome = outcome.max(Failure::sink(output::stdout_path(), error).report());
        }
        // There is only one source, so this runs once.
        trace = shown.trace;
    }
    if let Some(trace) = &mut trace {
        selection.remark(trace);
    }
    match &trace {
        Some(trace) => {
            outcome = outcome.max(report_diagnostics(file, &trace.diagnostics, args.verbose))
        }
        // If there is no trace and no error, the file was empty or its format is unknown.
        None if outcome == Outcome::Done => {
            let nothing = "no event of a known format was received";
            outcome = Failure::damaged(file, &nothing).report();
        }
        None => {}
    }
    Ok(outcome)
}

fn is_stdin(file: &Path) -> bool {
    file == Path::new("-")
}

/// Returns the file to follow. Fails if these arguments cannot be combined with following.
fn followable<'f>(files: &'f [PathBuf], args: &InputArgs) -> Result<&'f Path, Failure> {
    let [file] = files else {
        return Err(Failure::usage("--follow: expected one trace, found several"));
    };
    if args.join {
        return Err(Failure::usage("--join: a growing file cannot be joined with others"));
    }
    if !args.custom_events.is_empty() {
        let message =
            "--custom-events: the option is for traces of format threadx, and these do not grow";
        return Err(Failure::usage(message));
    }
    // Check this before the first bytes arrive, because they may never arrive.
    if let Some(name) = args.format_in.as_ref().filter(|name| format::by_name(name).is_none()) {
        return Err(InputError::NoSuchFormat(name.clone()).into());
    }
    if is_stdin(file) && io::stdin().is_terminal() {
        return Err(InputError::Terminal.into());
    }
    Ok(file)
}
