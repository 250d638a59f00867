//! `tracewell record`: runs a program, or attaches to a process, and saves its events.
//!
//! | file | purpose |
//! |---|---|
//! | `abandoned` | removes files that a killed recorder left |
//! | `ending` | the end of the program, in the file and on standard error |
//! | `live` | the progress line |
//! | `memory` | the file that is mapped as a stream's memory |
//! | `place` | replaces an earlier recording at the right time |
//! | `posix` | the trace controller for events of `posix_trace_event` |
//! | `signals` | forwards signals to the program |
//!
//! A program finds Tracewell's stream with `Stream::from_environment` (in C
//! `tw_stream_from_environment`). The program and `record` both map the stream's memory, so
//! committed events survive, however the program ends.

mod abandoned;
mod ending;
mod live;
mod memory;
mod place;
mod posix;
mod signals;

use std::ffi::OsString;
use std::fs;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use tracewell::text::{counted, shown_path};
use tracewell_posix::HeldProcess;
use tracewell_record::stream::{
    Flusher, FullPolicy, Log, STREAM_VARIABLE, Status, Stream, StreamOptions, Take,
};

use self::abandoned::remove_abandoned;
use self::memory::StreamFile;
use self::place::Recording;
use self::posix::PosixTrace;
use self::signals::Passed;
use crate::args::warn_ineffective;
use crate::draft::{Draft, Ending};
use crate::inputs::Inputs;
use crate::outcome::{Failure, Outcome, note, warn};
use crate::progress;

/// Run a program, or attach to a process, and save its events
///
/// Works for programs that call posix_trace_event, and for programs that use Tracewell's recorder.
/// The recorder finds its stream through the environment variable TRACEWELL_STREAM. Events are
/// written while the program runs; the rest is saved when it ends or crashes. The program never
/// waits for the file: events that do not fit into the stream are lost, and the loss is marked. If
/// a program uses both interfaces, there are two files; the file for posix_trace_event has `.posix`
/// appended to its name. An earlier recording is replaced at the first event, so a run without
/// events does not replace it.
///
/// With --pid, the command controls the trace of a running process that calls posix_trace_event,
/// until that process ends, or a signal or --seconds ends the recording.
///
/// The exit status is the program's exit status, or 128 plus the signal number if a signal ended
/// the program. SIGINT, SIGQUIT, SIGTERM and SIGHUP are forwarded to the program; its events are
/// saved in any case. With --pid the status is 0 unless recording fails.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tracewell record ./program --its arguments
  tracewell record -o run.twl --packets 64 -- ./program && tracewell report run.twl
  tracewell record --pid 4711 --seconds 10")]
pub(crate) struct Record {
    /// Write to this file
    #[arg(short, long, value_name = "FILE", default_value = "trace.twl")]
    output: PathBuf,

    /// Set how many threads can record at the same time
    #[arg(long, value_name = "N", default_value_t = StreamOptions::default().lanes, conflicts_with = "pid")]
    lanes: u32,

    /// Set how many packets of 64 KiB a thread can fill before they are saved
    #[arg(long, value_name = "N", default_value_t = StreamOptions::default().packets, conflicts_with = "pid")]
    packets: u32,

    /// Record the events of this running process
    #[arg(long, value_name = "PID", conflicts_with = "program")]
    pid: Option<i32>,

    /// Stop after N seconds
    #[arg(long, value_name = "N", requires = "pid")]
    seconds: Option<u32>,

    /// Show the progress even if the program prints on the same terminal
    #[arg(long, conflicts_with = "no_progress")]
    progress: bool,

    /// The program and its arguments
    #[arg(required_unless_present = "pid", trailing_var_arg = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

impl Record {
    pub(crate) fn run(&self) -> Result<Outcome, Failure> {
        let no_terminal = !io::stderr().is_terminal();
        let why = "standard error is not a terminal";
        warn_ineffective(&[(self.progress && no_terminal, "--progress", why)]);
        match self.pid {
            Some(process) => self.attend(process),
            None => self.record(),
        }
    }

    /// Records a running process.
    fn attend(&self, process: i32) -> Result<Outcome, Failure> {
        // Create the output before the signal handlers are installed: opening a pipe waits for a
        // reader, and a signal must be able to end this wait.
        let draft = Draft::create(&self.output, &Inputs::default(), Ending::Handled)?;
        remove_abandoned(draft.0.target());
        let mut passed = Passed::new().map_err(|error| Failure::io(&self.output, &error))?;
        let mut trace = PosixTrace::begin(process, draft)?;
        let mut failures = Failures::default();
        // If there is no earlier recording, rename the log now, so that other programs can read it
        // while it grows.
        if !trace.draft.replaces() {
            failures.note(trace.draft.commit_or_keep());
        }
        let seconds = self.seconds.map(|seconds| Duration::from_secs(seconds.into()));
        let end = seconds.and_then(|seconds| Instant::now().checked_add(seconds));
        let mut line = live::Line::new(None, trace.log());
        let attend = || {
            while !passed.arrived()
                && !trace.is_abandoned()
                && end.is_none_or(|end| Instant::now() < end)
            {
                // A user does not notice a delay of 20 ms, and the cost of 50 checks per second is
                // negligible.
                std::thread::sleep(Duration::from_millis(20));
                // An empty log must not replace an earlier recording, so wait for the first event.
                if trace.draft.replaces() && trace.has_grown() && trace.has_events() {
                    failures.note(trace.draft.commit_or_keep());
                }
            }
        };
        let shows = live::shows_beside_process(self.progress, process);
        progress::during(shows, |elapsed| vec![line.at(elapsed)], attend);
        failures.note(trace.finish());
        let events = trace.events();
        if trace.draft.replaces() {
            if !trace.has_events() {
                self.warn_unchanged();
                return Ok(failures.0);
            }
            failures.note(trace.draft.commit_or_keep());
        }
        ending::print(Path::new(""), None, Some((events, self.output.as_path())));
        Ok(failures.0)
    }

    fn record(&self) -> Result<Outcome, Failure> {
        let (file, stream) = self.stream()?;
        // Create the output before the signal handlers are installed: opening a pipe waits for a
        // reader, and a signal must be able to end this wait.
        let inputs = Inputs::of(self.executable());
        let (output, log) = Draft::create(&self.output, &inputs, Ending::Handled)?;
        // If the file `beside` cannot be created, only events of posix_trace_event are lost.
        let beside = output.target().with_added_extension("posix");
        remove_abandoned(output.target());
        remove_abandoned(&beside);
        let beside = Draft::create(&beside, &inputs, Ending::Handled);
        let beside = beside.map_err(Failure::report).ok();
        let at_program = |error: &io::Error| Failure::io(self.name(), error);
        let passed = Passed::new().map_err(|error| at_program(&error))?;
        // The new process waits before it executes the program, so that the streams exist before
        // the program's first event.
        let held = self.start(file.path())?;
        let begin =
            |beside| PosixTrace::begin(held.process(), beside).map_err(Failure::report).ok();
        let posix = beside.and_then(begin);
        let child = held.release().map_err(|error| at_program(&error))?;
        let process = child.id();
        // The program records from now on, so report failures, but continue until the program ends.
        let mut failures = Failures::default();
        let recording = Recording::new(output, log, &stream);
        let place = recording.place();
        let flusher = Flusher::start(Arc::clone(&stream), Log::new(recording, Take::Out));
        let log = posix.as_ref().and_then(PosixTrace::log);
        if let Some(posix) = &posix {
            posix.print_place();
        }
        let mut line = live::Line::new(Some(&stream), log);
        let shows = live::shows_beside_program(self.progress);
        let status =
            progress::during(shows, |elapsed| vec![line.at(elapsed)], || passed.wait(child));
        // Stop the stream first. The log's end block then states that the recording has ended.
        stream.stop();
        let end = status.as_ref().ok().map(|status| ending::of_program(process, *status));
        let saved = flusher.and_then(|flusher| flusher.stop_after(end).map_err(io::Error::other));
        failures.note(saved.map(drop).map_err(|error| Failure::io(&self.output, &error)));
        let of_stream = stream.image().status();
        let mut place = place::lock(&place);
        // If there is no lane, no thread has recorded an event, so keep an earlier recording.
        if of_stream.lanes > 0 {
            place.commit();
        }
        failures.add(&place.failures);
        let mut events = stream.image().recorded();
        let traced = posix.is_some_and(|posix| {
            if let Some(end) = end {
                posix.program_ended(end);
            }
            // Write the end of the log first, because `has_events` reads the file.
            failures.note(posix.finish());
            posix.has_events() && {
                // Count the events of the output file. If the events of posix_trace_event are in a
                // second file, `keep` prints a note that names it.
                events = if of_stream.lanes == 0 { posix.events() } else { events };
                failures.note(keep(posix, &place.draft, of_stream.lanes == 0));
                true
            }
        });
        self.warn_lost(&of_stream, traced, place.draft.replaces());
        let recorded = of_stream.lanes > 0 || traced;
        ending::print(self.name(), end, recorded.then_some((events, self.output.as_path())));
        Ok(failures.combined_with(status.map_err(|error| at_program(&error))?))
    }

    fn stream(&self) -> Result<(StreamFile, Arc<Stream>), Failure> {
        let options = StreamOptions {
            policy: FullPolicy::Flush,
            lanes: self.lanes,
            packets: self.packets,
            ..StreamOptions::default()
        };
        let made = StreamFile::create(&options);
        let (file, stream) = made.map_err(|(path, error)| match error.kind() {
            io::ErrorKind::InvalidInput => Failure::usage(format!("--lanes, --packets: {error}")),
            _ => Failure::io(&path, &error),
        })?;
        stream.start();
        Ok((file, Arc::new(stream)))
    }

    /// Creates the process of the program, which waits before it executes the program.
    fn start(&self, stream: &Path) -> Result<HeldProcess, Failure> {
        let mut command = Command::new(self.name());
        command.args(&self.program[1..]).env(STREAM_VARIABLE, stream);
        HeldProcess::start(command).map_err(|error| Failure::io(self.name(), &error))
    }

    /// Returns the program; clap guarantees that it is given.
    fn name(&self) -> &Path {
        self.program.first().map_or(Path::new(""), Path::new)
    }

    /// Returns the path of the program's file; a recording must not replace this file.
    fn executable(&self) -> Option<PathBuf> {
        let name = self.name();
        if name.components().count() > 1 || name.is_absolute() {
            return Some(name.to_owned());
        }
        let folders = std::env::var_os("PATH")?;
        std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| path.is_file())
    }

    /// Warns that this run recorded nothing, so the earlier recording was kept.
    fn warn_unchanged(&self) {
        warn!("{}: nothing was recorded, the file is unchanged", shown_path(&self.output));
    }

    fn warn_lost(&self, status: &Status, traced: bool, unchanged: bool) {
        let lost = live::lost(status);
        if lost > 0 {
            let lost = counted(lost, "event");
            warn!("{}: {lost} lost: the stream was full", shown_path(&self.output));
        }
        if status.lanes == 0 && !traced {
            let program = shown_path(self.name());
            warn!(
                "{program} recorded nothing: it must open the stream in {STREAM_VARIABLE} or call \
                 posix_trace_event"
            );
            if unchanged {
                self.warn_unchanged();
            }
        }
    }
}

/// Stores the events of `posix_trace_event` in the output file if there are no other events
/// (`alone`), otherwise in a second file.
fn keep(posix: PosixTrace, output: &Draft, alone: bool) -> Result<(), Failure> {
    let mut draft = posix.draft;
    if alone && is_file(output.path()) && is_file(draft.path()) {
        return draft.commit_as(output.target());
    }
    draft.commit_or_keep()?;
    let (output, beside) = (shown_path(output.target()), shown_path(draft.target()));
    note!("{output}: events of posix_trace_event are in {beside}");
    Ok(())
}

/// Returns true for a regular file. A pipe or device existed before the recording, and is never
/// removed or replaced.
fn is_file(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|there| there.is_file())
}

/// The failures of a recording. Each failure is reported, and the remaining events are saved
/// nevertheless.
struct Failures(Outcome);

impl Default for Failures {
    fn default() -> Self {
        Self(Outcome::Done)
    }
}

impl Failures {
    fn note(&mut self, result: Result<(), Failure>) {
        if let Err(failure) = result {
            self.0 = self.0.max(failure.report());
        }
    }

    /// Adds failures that were reported elsewhere.
    fn add(&mut self, other: &Self) {
        self.0 = self.0.max(other.0);
    }

    /// Combines failures with the program's status. The program's status has priority unless the
    /// program succeeded.
    fn combined_with(self, status: ExitStatus) -> Outcome {
        if status.success() && self.0 != Outcome::Done {
            self.0
        } else {
            Outcome::of_program(status)
        }
    }
}
