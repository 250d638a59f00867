//! `tracewell record`: runs a program and saves what it records while it runs, or what another process
//! records.
//!
//! | file | what it holds |
//! |---|---|
//! | `memory` | the file that is a stream's memory |
//! | `place` | when a recording takes the place of an earlier one |
//! | `posix` | what is recorded by `posix_trace_event`, of which this is the trace controller |
//! | `signals` | signals that would end this process |
//!
//! For our own streams the program's side is `Stream::from_environment` (in C `tw_stream_from_environment`). The stream's
//! memory is a file that both map; what the program committed is there when it ends, however it ends.

mod memory;
mod place;
mod posix;
mod signals;

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use tracewell::text::{counted, shown_path};
use tracewell_posix::Held;
use tracewell_record::stream::{
    Flusher, FullPolicy, Log, STREAM_VARIABLE, Status, Stream, StreamOptions, Take,
};

use self::memory::StreamFile;
use self::place::Recording;
use self::posix::PosixTrace;
use self::signals::Passed;
use crate::draft::{Draft, Ending};
use crate::inputs::Inputs;
use crate::outcome::{Failure, Outcome, tell};

/// Save what a program or another process records
///
/// For programs that use Tracewell's recorder, which find their stream by the environment variable
/// TRACEWELL_STREAM, and for those that call posix_trace_event, which need nothing. Events go to the file
/// while the program runs; what is left is saved when it ends or crashes. The program never waits for that:
/// what finds no room is lost, and told in its place. A program that does both leaves two files, the one of
/// posix_trace_event with `.posix` behind its name. An earlier recording is replaced when the first event
/// was recorded: a run that records nothing replaces nothing.
///
/// With --pid it is a trace controller of a process that runs already and calls posix_trace_event, until that
/// one ends, or a signal or --seconds ends the recording.
///
/// The exit status is the program's, 128 and the signal's number where a signal ended it. Signals that
/// would end `record` (INT, QUIT, TERM, HUP) go to the program; what it recorded is saved in any case. With
/// --pid the status is 0, or says what went wrong here.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tracewell record ./program --its arguments
  tracewell record -o run.twl --packets 64 -- ./program && tracewell report run.twl
  tracewell record --pid 4711 --seconds 10")]
pub(crate) struct Record {
    /// Where to write
    #[arg(short, long, value_name = "FILE", default_value = "trace.twl")]
    output: PathBuf,

    /// Threads that can record at a time
    #[arg(long, value_name = "N", default_value_t = StreamOptions::default().lanes, conflicts_with = "pid")]
    lanes: u32,

    /// Packets of 64 KiB that a thread can be ahead of the saving
    #[arg(long, value_name = "N", default_value_t = StreamOptions::default().packets, conflicts_with = "pid")]
    packets: u32,

    /// Record what this process traces by posix_trace_event
    #[arg(long, value_name = "PID", conflicts_with = "program")]
    pid: Option<i32>,

    /// End after so many seconds
    #[arg(long, value_name = "SECONDS", requires = "pid")]
    seconds: Option<u32>,

    /// The program and its arguments
    #[arg(required_unless_present = "pid", trailing_var_arg = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

impl Record {
    pub(crate) fn run(&self) -> Outcome {
        let outcome = match self.pid {
            Some(process) => self.attend(process),
            None => self.record(),
        };
        outcome.unwrap_or_else(Failure::tell)
    }

    /// Records a process that runs already.
    fn attend(&self, process: i32) -> Result<Outcome, Failure> {
        // First: a pipe is waited for here, and signals are to end that.
        let draft = Draft::create(&self.output, &Inputs::default(), Ending::Handled)?;
        let mut passed = Passed::new().map_err(|error| Failure::io(&self.output, &error))?;
        let mut trace = PosixTrace::begin(process, draft)?;
        let mut failures = Failures::default();
        if !trace.draft.replaces() {
            failures.note(trace.draft.put_or_leave());
        }
        let seconds = self.seconds.map(|seconds| Duration::from_secs(seconds.into()));
        let end = seconds.and_then(|seconds| Instant::now().checked_add(seconds));
        while !passed.came() && !trace.is_abandoned() && end.is_none_or(|end| Instant::now() < end)
        {
            std::thread::sleep(Duration::from_millis(20));
            if trace.draft.replaces() && trace.has_grown() && trace.has_events() {
                failures.note(trace.draft.put_or_leave());
            }
        }
        failures.note(trace.finish());
        if trace.draft.replaces() {
            match trace.has_events() {
                true => failures.note(trace.draft.put_or_leave()),
                false => self.tell_unchanged(),
            }
        }
        Ok(failures.0)
    }

    fn record(&self) -> Result<Outcome, Failure> {
        let (file, stream) = self.stream()?;
        // First: a pipe is waited for here, and signals are to end that.
        let inputs = Inputs::of(self.executable());
        let (output, log) = Draft::create(&self.output, &inputs, Ending::Handled)?;
        // A program of our own streams does not miss this.
        let beside = output.target().with_added_extension("posix");
        let beside = Draft::create(&beside, &inputs, Ending::Handled);
        let beside = beside.map_err(Failure::tell).ok();
        let at_program = |error: &io::Error| Failure::io(self.name(), error);
        let passed = Passed::new().map_err(|error| at_program(&error))?;
        let held = self.start(file.path())?;
        let begin = |beside| PosixTrace::begin(held.process(), beside).map_err(Failure::tell).ok();
        let posix = beside.and_then(begin);
        let child = held.release().map_err(|error| at_program(&error))?;
        // From here on something is recorded: what fails is told, and nothing ends before the program does.
        let mut failures = Failures::default();
        let recording = Recording::new(output, log, &stream);
        let place = recording.place();
        let flusher = Flusher::start(Arc::clone(&stream), Log::new(recording, Take::Out));
        let status = passed.wait(child);
        let saved = flusher.and_then(|flusher| flusher.stop().map_err(io::Error::other));
        failures.note(saved.map(drop).map_err(|error| Failure::io(&self.output, &error)));
        let of_stream = stream.image().status();
        let mut place = place::lock(&place);
        if of_stream.lanes > 0 {
            place.put();
        }
        failures.add(&place.failures);
        let traced = posix.is_some_and(|posix| {
            failures.note(posix.finish());
            posix.has_events() && {
                failures.note(keep(posix, &place.draft, of_stream.lanes == 0));
                true
            }
        });
        self.remark(&of_stream, traced, place.draft.replaces());
        Ok(failures.beside(status.map_err(|error| at_program(&error))?))
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

    /// The process of the program, before it is the program.
    fn start(&self, stream: &Path) -> Result<Held, Failure> {
        let mut command = Command::new(self.name());
        command.args(&self.program[1..]).env(STREAM_VARIABLE, stream);
        Held::start(command).map_err(|error| Failure::io(self.name(), &error))
    }

    /// The program; clap sees to it that there is one.
    fn name(&self) -> &Path {
        self.program.first().map_or(Path::new(""), Path::new)
    }

    /// The file of the program, which a recording must not replace.
    fn executable(&self) -> Option<PathBuf> {
        let name = self.name();
        if name.components().count() > 1 || name.is_absolute() {
            return Some(name.to_owned());
        }
        let folders = std::env::var_os("PATH")?;
        std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| path.is_file())
    }

    /// Tells that an earlier recording is still there, for nothing was recorded.
    fn tell_unchanged(&self) {
        tell!("tracewell: {}: nothing was recorded, it stays as it was", shown_path(&self.output));
    }

    fn remark(&self, status: &Status, traced: bool, unchanged: bool) {
        let lost = status.lost + status.lost_unplaced + status.lost_suspended + status.lost_log;
        if lost > 0 {
            let lost = counted(lost, "event");
            tell!("tracewell: {}: {lost} found no room", shown_path(&self.output));
        }
        if status.lanes == 0 && !traced {
            let program = shown_path(self.name());
            tell!(
                "tracewell: {program} recorded nothing: does it open {STREAM_VARIABLE}, or call \
                 posix_trace_event?"
            );
            if unchanged {
                self.tell_unchanged();
            }
        }
    }
}

/// Sees to it that what was recorded by `posix_trace_event` is where it is looked for: `alone` if it is all.
fn keep(posix: PosixTrace, output: &Draft, alone: bool) -> Result<(), Failure> {
    let mut draft = posix.draft;
    if alone && is_file(output.path()) && is_file(draft.path()) {
        return draft.put_or_leave_as(output.target());
    }
    draft.put_or_leave()?;
    let (output, beside) = (shown_path(output.target()), shown_path(draft.target()));
    tell!("tracewell: {output}: what was recorded by posix_trace_event is in {beside}");
    Ok(())
}

/// Whether a path is a regular file: a pipe or a device was there before, and is never removed or replaced.
fn is_file(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|there| there.is_file())
}

/// What went wrong while something was recorded: it is told, and keeps nothing else from being saved.
struct Failures(Outcome);

impl Default for Failures {
    fn default() -> Self {
        Self(Outcome::Done)
    }
}

impl Failures {
    fn note(&mut self, result: Result<(), Failure>) {
        if let Err(failure) = result {
            self.0 = self.0.max(failure.tell());
        }
    }

    /// Adds what went wrong elsewhere, which was told there.
    fn add(&mut self, other: &Self) {
        self.0 = self.0.max(other.0);
    }

    /// The program's status is worth more, unless that says that all is well.
    fn beside(self, status: ExitStatus) -> Outcome {
        if status.success() && self.0 != Outcome::Done { self.0 } else { passed_on(status) }
    }
}

fn passed_on(status: ExitStatus) -> Outcome {
    let signal = || status.signal().map_or(1, |signal| 128 + signal);
    Outcome::Program(status.code().unwrap_or_else(signal) as u8)
}
