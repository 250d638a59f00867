//! Writes AIX trace entries into one container (TWX1), in the order of the trace: the files of several
//! processors become one. Entries stay as recorded; only traces of such entries can be written.

use std::io::{self, Write};

use tracewell_wire::ByteOrder;
use tracewell_wire::aix::{Env, FileHeader, TimeConversion};

use super::{Export, ExportError, ExportNames};
use crate::format::{Options, aix};
use crate::input::Input;
use crate::model::{Batch, Flow, Sink, Trace};

/// The export's entry in the list.
pub static EXPORT: Export = Export {
    name: "aix",
    description: "AIX trace entries in Tracewell's container TWX1",
    extension: Some("twx"),
    options: &[],
    write,
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
            format!("traces of format {format} have no hook words; only aix traces can be written");
        return Err(ExportError::NotPossible(message));
    }
    let mut log = Log { out, begun: false, error: None };
    let trace = input.read(&mut log)?;
    log.begin(&trace);
    match log.error {
        Some(error) => Err(ExportError::Write(error)),
        None => Ok(trace),
    }
}

struct Log<'a> {
    out: &'a mut dyn Write,
    begun: bool,
    error: Option<io::Error>,
}

impl Log<'_> {
    fn put(&mut self, bytes: &[u8]) {
        if self.error.is_none() {
            self.error = self.out.write_all(bytes).err();
        }
    }

    /// Writes the header before the first frame.
    fn begin(&mut self, trace: &Trace) {
        if std::mem::replace(&mut self.begun, true) {
            return;
        }
        let fact = |name| trace.fact(name).unwrap_or(0);
        let narrow = |name| u32::try_from(fact(name)).unwrap_or(u32::MAX);
        let text = |name| trace.text(name).as_bytes();
        let header = FileHeader {
            order: if fact("byte_order") == 1 { ByteOrder::Little } else { ByteOrder::Big },
            env: if fact("environment") == 64 { Env::Bits64 } else { Env::Bits32 },
            per_cpu: false,
            circular: fact("circular") != 0,
            wall_clock_ns: fact("wall_clock_ns"),
            start_tick: fact("start_tick"),
            conversion: TimeConversion { multiplier: fact("multiplier"), divisor: fact("divisor") },
            cpus: narrow("cpus"),
            cpus_traced: narrow("cpus_traced"),
            channel: narrow("channel"),
            texts: tracewell_wire::aix::Texts {
                system: text("system"),
                node: text("node"),
                machine: text("machine"),
                address: text("address"),
                command: text("command"),
                buffering: text("buffering"),
            },
        };
        let mut bytes = vec![0; header.length()];
        let length = header.write(&mut bytes).unwrap_or(0);
        self.put(bytes.get(..length).unwrap_or_default());
    }
}

impl Sink for Log<'_> {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        self.begin(trace);
        for event in batch.events() {
            self.put(event.record);
            let padding = event.record.len().next_multiple_of(8) - event.record.len();
            self.put(&[0; 8][..padding]);
        }
        if self.error.is_some() { Flow::Break(()) } else { Flow::Continue(()) }
    }
}
