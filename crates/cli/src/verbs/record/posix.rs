//! Controls a POSIX trace stream of a process and stores it in a log.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

use tracewell::format::posix::FORMAT;
use tracewell::input::{Input, Settings};
use tracewell::model::{Batch, Flow, Sink, Stop, Trace};
use tracewell::text::shown_path;
use tracewell_posix::{Attributes, Controller, LogPolicy, UNNAMED, registry_fault};
use tracewell_record::stream::ProgramEnd;

use crate::draft::Draft;
use crate::outcome::{Failure, note, warn};

/// Size of the stream in bytes. The stream contains the records that are not in the log yet.
const STREAM_SIZE: usize = 16 << 20;
/// Maximum number of bytes of data in an event. This is the largest limit that a stream can have.
const MAX_DATA: usize = 65_536;

/// A stream and its log, controlled by this process.
pub(super) struct PosixTrace {
    controller: Controller,
    /// The log as a file.
    pub(super) draft: Draft,
    /// The open log. The open file stays valid when the file is renamed.
    log: File,
    /// Length of the log at the last check, in bytes.
    length: u64,
}

impl PosixTrace {
    /// Begins to trace a process and its children.
    pub(super) fn begin(process: i32, (draft, file): (Draft, File)) -> Result<Self, Failure> {
        let mut attributes = Attributes {
            stream_size: STREAM_SIZE,
            // The same stream traces the children.
            inherited: true,
            log_policy: LogPolicy::Append,
            ..Attributes::default()
        };
        attributes.set_name(b"tracewell record");
        let controller = attributes
            .set_max_data(MAX_DATA)
            .and_then(|()| Controller::create_with_log(process, &attributes, file.as_raw_fd()));
        let controller = controller.map_err(|error| {
            let error = io::Error::from(error);
            // A permission error does not name the folder that caused the error.
            let error = match registry_fault(process) {
                Some(fault) if error.kind() == io::ErrorKind::PermissionDenied => {
                    io::Error::other(format!("{error}: {fault}"))
                }
                _ => error,
            };
            Failure::io(Path::new(&format!("process {process}")), &error)
        })?;
        controller.stream().start();
        Ok(Self { controller, draft, log: file, length: 0 })
    }

    /// Returns true if no traced process is alive.
    pub(super) fn is_abandoned(&self) -> bool {
        self.controller.stream().is_abandoned()
    }

    /// Returns the open log, so that the caller can read its length.
    pub(super) fn log(&self) -> Option<File> {
        self.log.try_clone().ok()
    }

    /// Prints the path of the file that contains the events while the program runs.
    pub(super) fn print_place(&self) {
        let path = shown_path(self.draft.path());
        note!("until the program ends, events of posix_trace_event are in {path}");
    }

    /// Returns the number of events of programs that were stored in the log.
    pub(super) fn events(&self) -> u64 {
        self.controller.logged_events()
    }

    /// Stores how the program ended, for the end of the log.
    pub(super) fn program_ended(&self, end: ProgramEnd) {
        self.controller.program_ended(end);
    }

    /// Ends the stream and its log.
    pub(super) fn finish(&self) -> Result<(), Failure> {
        let status = self.controller.take_status();
        let ended = self.controller.shutdown().map_err(io::Error::from);
        if status.overrun || status.log_overrun {
            warn!("{}: events lost: the stream was full", shown_path(self.draft.target()));
        }
        if self.controller.stream().is_cut() {
            let message = "another process truncated the memory of the stream: events are lost";
            return Err(Failure::io(self.draft.target(), &io::Error::other(message)));
        }
        let written = match status.flush_error {
            0 => ended,
            error => Err(io::Error::from_raw_os_error(error)),
        };
        written.map_err(|error| Failure::io(self.draft.target(), &error))
    }

    /// Returns true if the log has grown since the last call.
    pub(super) fn has_grown(&mut self) -> bool {
        let length = std::fs::metadata(self.draft.path()).map_or(0, |log| log.len());
        std::mem::replace(&mut self.length, length) < length
    }

    /// Returns true if the log contains events of a program, or if it cannot be read again.
    pub(super) fn has_events(&self) -> bool {
        has_events(self.draft.path())
    }
}

/// Returns true if a recording contains events of a program, or if it cannot be read.
pub(super) fn has_events(path: &Path) -> bool {
    if !super::is_file(path) {
        return true;
    }
    let mut seen = Seen(false);
    let input = Input::open(path, Settings::default());
    let read = input.and_then(|mut input| input.read(&mut seen));
    seen.0 || read.is_err()
}

/// A sink that stores `true` at the first event of a program.
struct Seen(bool);

impl Sink for Seen {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        // In logs of POSIX streams, lower ids are events of the stream itself.
        let first = if trace.format == FORMAT.name { UNNAMED } else { 0 };
        self.0 = batch.columns.id.iter().any(|id| *id >= first);
        if self.0 { Flow::Break(Stop::Complete) } else { Flow::Continue(()) }
    }
}
