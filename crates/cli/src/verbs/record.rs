//! `tracewell record`: runs a program and saves what it records while it runs.
//!
//! The program's side is `Stream::from_environment` (in C `tw_stream_from_environment`). The stream's
//! memory is a file that both map; what the program committed is there when it ends, however it ends.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::thread;

use clap::Args;
use rustix::process::{Pid, Signal, getpgrp, kill_process};
use rustix::termios::tcgetpgrp;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;
use tracewell_record::stream::{
    Flusher, FullPolicy, Log, STREAM_VARIABLE, Status, Stream, StreamOptions, Take,
};

use crate::outcome::{Failure, Outcome};

/// Run a program and save what it records
///
/// For programs that use Tracewell's recorder: they find the stream by the environment variable
/// TRACEWELL_STREAM. Events go to the file while the program runs; what is left is saved when it ends
/// or crashes. The program never waits for that: what finds no room is lost, and counted in its place.
///
/// The exit status is the program's, 128 and the signal's number where a signal ended it. Signals that
/// would end `record` (INT, QUIT, TERM, HUP) go to the program; what it recorded is saved in any case.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tracewell record -- ./program --its arguments
  tracewell record -o run.twl --packets 64 -- ./program && tracewell report run.twl")]
pub(crate) struct Record {
    /// Where to write
    #[arg(short, long, value_name = "FILE", default_value = "trace.twl")]
    output: PathBuf,

    /// Threads that can record at a time
    #[arg(long, value_name = "N", default_value_t = StreamOptions::default().lanes)]
    lanes: u32,

    /// Packets of 64 KiB that a thread can be ahead of the saving
    #[arg(long, value_name = "N", default_value_t = StreamOptions::default().packets)]
    packets: u32,

    /// The program and its arguments
    #[arg(required = true, last = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

impl Record {
    pub(crate) fn run(&self) -> Outcome {
        self.record().unwrap_or_else(Failure::tell)
    }

    fn record(&self) -> Result<Outcome, Failure> {
        let file = StreamFile::new();
        let stream = Arc::new(self.stream(&file.path)?);
        let at_output = |error: &io::Error| Failure::io(&self.output, error);
        let output = File::create(&self.output).map_err(|error| at_output(&error))?;
        let passed = Passed::new().map_err(|error| Failure::io(self.name(), &error))?;
        let child = self.start(&file.path)?;
        let flusher = Flusher::start(Arc::clone(&stream), Log::new(output, Take::Out))
            .map_err(|error| at_output(&error))?;
        let status = passed.wait(child).map_err(|error| Failure::io(self.name(), &error))?;
        let saved = flusher.stop();
        self.remark(&stream.image().status());
        match saved {
            Ok(_) => Ok(passed_on(status)),
            Err(failed) => {
                Failure::io(&self.output, &io::Error::other(failed)).tell();
                Ok(if status.success() { Outcome::Io } else { passed_on(status) })
            }
        }
    }

    fn stream(&self, path: &Path) -> Result<Stream, Failure> {
        let options = StreamOptions {
            policy: FullPolicy::Flush,
            lanes: self.lanes,
            packets: self.packets,
            ..StreamOptions::default()
        };
        let stream = Stream::create(path, &options).map_err(|error| match error.kind() {
            io::ErrorKind::InvalidInput => Failure::usage(format!("--lanes, --packets: {error}")),
            _ => Failure::io(path, &error),
        })?;
        stream.start();
        Ok(stream)
    }

    fn start(&self, stream: &Path) -> Result<Child, Failure> {
        let mut command = Command::new(self.name());
        command.args(&self.program[1..]).env(STREAM_VARIABLE, stream);
        command.spawn().map_err(|error| {
            // Made by this run, and empty.
            let _ = fs::remove_file(&self.output);
            Failure::io(self.name(), &error)
        })
    }

    /// The program; clap sees to it that there is one.
    fn name(&self) -> &Path {
        self.program.first().map_or(Path::new(""), Path::new)
    }

    fn remark(&self, status: &Status) {
        let lost = status.lost + status.lost_unplaced + status.lost_suspended + status.lost_log;
        if lost > 0 {
            eprintln!("tracewell: {}: {lost} events found no room", self.output.display());
        }
        if status.lanes == 0 {
            let program = self.name().display();
            eprintln!("tracewell: {program} recorded nothing: does it open {STREAM_VARIABLE}?");
        }
    }
}

/// The file that is the stream's memory; gone when this run is.
struct StreamFile {
    path: PathBuf,
}

impl StreamFile {
    fn new() -> Self {
        let shared = Path::new("/dev/shm");
        let folder = if shared.is_dir() { shared.to_owned() } else { std::env::temp_dir() };
        Self { path: folder.join(format!("tracewell-record-{}", std::process::id())) }
    }
}

impl Drop for StreamFile {
    fn drop(&mut self) {
        // Not there if it was never made; nothing more can be done if it stays.
        let _ = fs::remove_file(&self.path);
    }
}

/// Signals that end a program, which the program that is run gets in this one's place.
struct Passed {
    signals: Signals,
}

impl Passed {
    /// From here on they do not end this process. Those that whoever started it ignores (`nohup`) stay
    /// ignored, here and in the program.
    fn new() -> io::Result<Self> {
        let ignored = ignored();
        let wanted = [SIGINT, SIGQUIT, SIGTERM, SIGHUP];
        let heeded = wanted.into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
        Ok(Self { signals: Signals::new(heeded)? })
    }

    /// Waits for the program.
    fn wait(self, mut child: Child) -> io::Result<ExitStatus> {
        let Self { mut signals } = self;
        let handle = signals.handle();
        let program = Pid::from_child(&child);
        let passing = thread::spawn(move || {
            for signal in signals.forever() {
                if let Some(signal) = Signal::from_named_raw(signal).filter(|s| !is_there(*s)) {
                    // It has ended where this fails.
                    let _ = kill_process(program, signal);
                }
            }
        });
        let status = child.wait();
        handle.close();
        // A panic there would have been told.
        let _ = passing.join();
        status
    }
}

/// Whether the program has the signal as well: what a terminal's keys send goes to all processes in its
/// foreground, and a program that gets Ctrl-C twice may think that its user is in a hurry.
fn is_there(signal: Signal) -> bool {
    let by_keys = matches!(signal, Signal::INT | Signal::QUIT);
    let terminal = || File::open("/dev/tty").ok();
    let foreground = || tcgetpgrp(terminal()?).ok();
    by_keys && foreground() == Some(getpgrp())
}

/// The signals that this process ignores, a bit each from the lowest for signal 1.
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

fn passed_on(status: ExitStatus) -> Outcome {
    let signal = || status.signal().map_or(1, |signal| 128 + signal);
    Outcome::Program(status.code().unwrap_or_else(signal) as u8)
}
