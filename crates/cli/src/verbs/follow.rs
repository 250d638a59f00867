//! Reads streams and growing files until a signal arrives, for `--follow` of several verbs.

use std::cell::OnceCell;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use tracewell::format;
use tracewell::input::{Growing, Input, InputError, Settings, State};
use tracewell::model::{Severity, Sink, Stop, Trace};
use tracewell::select::Selection;
use tracewell::text::shown_path;
use tracewell_collect::{Options, Source, Stream, View};

use super::sources::{open, print_notice, stop_signal};
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

/// Follows a growing file, or standard input for `-`, until it ends or a signal arrives. Gets a
/// sink from `sink` when the stream begins, and another one if the file is replaced. Each sink must
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
    let settings = args.configured(args.settings(files)?, files, files, &mut Configs::default())?;
    let mut outcome = Outcome::Done;
    let stop = stop_signal().map_err(signals_failed)?;
    if let Some(growing) = folder(file, &settings)? {
        let mut sink = sink;
        return follow_folder(file, growing, args, selection, &stop, sink().as_mut());
    }
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

/// Time between two checks of the files in a folder.
const PAUSE: Duration = Duration::from_millis(100);

/// If the files have grown this many times without a new event, a note explains the delay.
const MAX_HELD: u32 = 10;

/// If the path is a folder with a trace of several files, opens this trace.
pub(super) fn folder(file: &Path, settings: &Settings) -> Result<Option<Growing>, Failure> {
    match is_stdin(file) || !file.exists() {
        true => Ok(None),
        false => Ok(Growing::open(file, settings.clone())?),
    }
}

/// Follows a trace in a folder until a signal arrives, or until the sink needs no more events.
pub(super) fn follow_folder(
    path: &Path,
    mut growing: Growing,
    args: &InputArgs,
    selection: &Selection,
    stop: &AtomicBool,
    sink: &mut (dyn Sink + Send),
) -> Result<Outcome, Failure> {
    pager::allow(false);
    let mut held = 0;
    let read = loop {
        let before = growing.trace().events;
        // Check the flag first, so that the last check of the files happens after the signal.
        let is_last = stop.load(Ordering::Relaxed);
        let state = match is_last {
            true => growing.end(sink).map(Some),
            false => growing.advance(sink),
        };
        match state {
            Ok(Some(State::Wanting)) if growing.trace().events > before => held = 0,
            Ok(Some(State::Wanting)) => held += 1,
            Ok(Some(_)) | Err(_) => break state,
            Ok(None) => {}
        }
        if held == MAX_HELD {
            held += 1;
            let path = shown_path(path);
            note!(
                "{path}: events are shown when all streams have reached their time; some streams \
                 do not grow. -O wait=1s limits the wait: see docs/ctf.md"
            );
        }
        sink.flush().map_err(|error| Failure::sink(output::stdout_path(), &error))?;
        thread::sleep(PAUSE);
    };
    if stop.load(Ordering::Relaxed) {
        warn_ended(path);
    }
    let mut outcome = match read {
        Ok(Some(State::Stopped(Stop::Failed(error)))) => {
            return Err(Failure::sink(output::stdout_path(), &error));
        }
        Ok(_) => Outcome::Done,
        Err(error) => Failure::from(error).report(),
    };
    if let Err(error) = sink.finish(growing.trace()) {
        outcome = outcome.max(Failure::sink(output::stdout_path(), &error).report());
    }
    let mut trace = growing.into_trace();
    selection.remark(&mut trace);
    Ok(outcome.max(report_diagnostics(path, &trace.diagnostics, args.verbose)))
}

fn is_stdin(file: &Path) -> bool {
    file == Path::new("-")
}

/// Returns the file to follow. Fails if these arguments cannot be combined with `--follow`.
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
