//! A stream of what a process records by `posix_trace_event`, kept in a log.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use tracewell::input::{Input, Settings};
use tracewell::model::{Batch, Flow, Loss, Sink, Trace};
use tracewell_posix::{Attributes, LogPolicy, Stream, UNNAMED};

use crate::outcome::Failure;

/// Room for records that the log has not taken yet, in bytes.
const ROOM: usize = 16 << 20;
/// Most data of an event: as much as a stream may allow.
const LONGEST: usize = 65_536;

/// A stream with its log, of which this process is the controller.
pub(super) struct PosixTrace {
    stream: Stream,
    output: PathBuf,
}

impl PosixTrace {
    /// Begins to trace a process, and its children.
    pub(super) fn begin(process: i32, output: &Path) -> Result<Self, Failure> {
        let at = |error: &io::Error| Failure::io(output, error);
        let file = File::create(output).map_err(|error| at(&error))?;
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
            super::remove_empty(output);
            Failure::io(Path::new(&format!("process {process}")), &error.into())
        })?;
        stream.core().start();
        Ok(Self { stream, output: output.to_owned() })
    }

    /// Whether no process that is traced lives any more.
    pub(super) fn is_abandoned(&self) -> bool {
        self.stream.core().is_abandoned()
    }

    /// Ends the stream and its log; whether a program recorded anything.
    pub(super) fn finish(self) -> Result<bool, Failure> {
        let status = self.stream.take_status();
        let at = |error: &io::Error| Failure::io(&self.output, error);
        self.stream.shutdown().map_err(|error| at(&error.into()))?;
        if status.overrun || status.log_overrun {
            eprintln!("tracewell: {}: events found no room", self.output.display());
        }
        let mut seen = Seen(false);
        let input = Input::open(&self.output, Settings::default());
        let read = input.and_then(|mut input| input.read(&mut seen));
        read.map_err(|error| at(&io::Error::other(error)))?;
        Ok(seen.0)
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
