//! A stream of what a process records by `posix_trace_event`, kept in a log.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

use tracewell::input::{Input, Settings};
use tracewell::model::{Batch, Flow, Loss, Sink, Trace};
use tracewell::text::shown_path;
use tracewell_posix::{Attributes, LogPolicy, Stream, UNNAMED, registry_fault};

use crate::draft::Draft;
use crate::outcome::{Failure, tell};

/// Room for records that the log has not taken yet, in bytes.
const ROOM: usize = 16 << 20;
/// Most data of an event: as much as a stream may allow.
const LONGEST: usize = 65_536;

/// A stream with its log, of which this process is the controller.
pub(super) struct PosixTrace {
    stream: Stream,
    /// The log.
    pub(super) draft: Draft,
    /// Its length when it was looked at last.
    length: u64,
}

impl PosixTrace {
    /// Begins to trace a process, and its children.
    pub(super) fn begin(process: i32, (draft, file): (Draft, File)) -> Result<Self, Failure> {
        let mut attributes = Attributes {
            stream_size: ROOM,
            inherited: true,
            log_policy: LogPolicy::Append,
            ..Attributes::default()
        };
        attributes.set_name(b"tracewell record");
        let stream = attributes
            .set_max_data(LONGEST)
            .and_then(|()| Stream::create_with_log(process, &attributes, file.as_raw_fd()));
        let stream = stream.map_err(|error| {
            let error = io::Error::from(error);
            let error = match registry_fault(process) {
                Some(fault) if error.kind() == io::ErrorKind::PermissionDenied => {
                    io::Error::other(format!("{error}: {fault}"))
                }
                _ => error,
            };
            Failure::io(Path::new(&format!("process {process}")), &error)
        })?;
        stream.core().start();
        Ok(Self { stream, draft, length: 0 })
    }

    /// Whether no process that is traced lives any more.
    pub(super) fn is_abandoned(&self) -> bool {
        self.stream.core().is_abandoned()
    }

    /// Ends the stream and its log.
    pub(super) fn finish(&self) -> Result<(), Failure> {
        let status = self.stream.take_status();
        let ended = self.stream.shutdown().map_err(io::Error::from);
        if status.overrun || status.log_overrun {
            tell!("tracewell: {}: events found no room", shown_path(self.draft.target()));
        }
        let written = match status.flush_error {
            0 => ended,
            error => Err(io::Error::from_raw_os_error(error)),
        };
        written.map_err(|error| Failure::io(self.draft.target(), &error))
    }

    /// Whether the log has grown since this was asked last.
    pub(super) fn has_grown(&mut self) -> bool {
        let length = std::fs::metadata(self.draft.path()).map_or(0, |log| log.len());
        std::mem::replace(&mut self.length, length) < length
    }

    /// Whether the log may have events of a program: what cannot be read again may.
    pub(super) fn has_events(&self) -> bool {
        if !super::is_file(self.draft.path()) {
            return true;
        }
        let mut seen = Seen(false);
        let input = Input::open(self.draft.path(), Settings::default());
        let read = input.and_then(|mut input| input.read(&mut seen));
        seen.0 || read.is_err()
    }
}

/// Whether there is an event of a program.
struct Seen(bool);

impl Sink for Seen {
    fn events(&mut self, _: &Trace, batch: &Batch<'_>) -> Flow {
        self.0 = batch.columns.id.iter().any(|id| *id >= UNNAMED);
        if self.0 { Flow::Break(()) } else { Flow::Continue(()) }
    }

    fn loss(&mut self, _: &Trace, _: &Loss) -> Flow {
        Flow::Continue(())
    }
}
