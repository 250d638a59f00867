//! Writes AIX trace entries into one container (TWX1), in the order of the trace. So the files of
//! several processors become one file. Entries stay as recorded. Traces of other formats cannot be
//! written.

use std::io::{self, Write};

use tracewell_wire::aix::FileHeader;

use super::{Export, ExportError, ExportNames, Output};
use crate::format::{Options, aix};
use crate::input::Input;
use crate::model::{Batch, Flow, Sink, SinkError, Stop, Trace};

/// The export `aix`, for traces of the dialect `aix` only.
pub static EXPORT: Export = Export {
    name: "aix",
    description: "AIX trace entries in Tracewell's container TWX1",
    extension: Some("twx"),
    options: &[],
    output: Output::File(write),
};

fn write(
    input: &mut Input,
    options: &Options,
    _: &ExportNames,
    out: &mut dyn Write,
) -> Result<Trace, ExportError> {
    options.check(EXPORT.options)?;
    if input.format().name != aix::FORMAT.name {
        let format = input.format().name;
        let message =
            format!("a trace of format {format} has no hook words: only aix traces can be written");
        return Err(ExportError::NotPossible(message));
    }
    Ok(input.read(&mut Log { out, begun: false })?)
}

struct Log<'a> {
    out: &'a mut dyn Write,
    begun: bool,
}

impl Log<'_> {
    /// Writes the header before the first frame.
    fn begin(&mut self, trace: &Trace) -> io::Result<()> {
        // The header is written with the first batch, because its values are known only after the
        // reader has seen the input's headers.
        if std::mem::replace(&mut self.begun, true) {
            return Ok(());
        }
        // A trace without a header has no frames.
        let Some(header) = aix::Header::of(trace) else { return Ok(()) };
        let header = FileHeader { per_cpu: false, ..header.file_header() };
        let mut bytes = vec![0; header.length()];
        let length = header.write(&mut bytes).unwrap_or(0);
        self.out.write_all(bytes.get(..length).unwrap_or_default())
    }

    /// Writes a frame, padded to a multiple of 8 bytes.
    fn frame(&mut self, frame: &[u8]) -> io::Result<()> {
        let padding = frame.len().next_multiple_of(8) - frame.len();
        self.out.write_all(frame)?;
        self.out.write_all(&[0; 8][..padding])
    }
}

impl Sink for Log<'_> {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        Stop::on_error(self.begin(trace))?;
        for event in batch.events() {
            Stop::on_error(self.frame(event.record))?;
        }
        Flow::Continue(())
    }

    fn finish(&mut self, trace: &Trace) -> Result<(), SinkError> {
        Ok(self.begin(trace)?)
    }
}
