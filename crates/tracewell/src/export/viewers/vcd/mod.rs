//! Value change dumps (IEEE 1364), for viewers of signals such as GTKWave and Surfer.
//!
//! | file | purpose |
//! |---|---|
//! | `scale` | the time scale that represents ticks exactly |
//! | `text` | the syntax: identifiers, names, values |
//! | `signals` | the signals of a timeline and their changes |

mod scale;
mod signals;
mod text;

use std::io::{self, Write};

use super::merge::END;
use super::timeline::Timeline;
use crate::analysis::scheduling::Position;
use crate::export::{Export, ExportError, ExportNames, Output};
use crate::format::Options;
use crate::input::Input;
use crate::model::schema::ArgumentKind;
use crate::model::{Event, Meaning, Severity, Trace};
use scale::Scale;
use signals::Signals;
use text::{Value, put_header, put_value};

/// The export `vcd`: the states of a timeline as signals.
///
/// ```
/// use tracewell::export::{ExportNames, viewers};
/// use tracewell::format::Options;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/threadx/tiny.trx");
/// let (options, names) = (Options::default(), ExportNames::default());
/// let mut dump = Vec::new();
/// viewers::VCD.write(&mut tracewell::open(path)?, &options, &names, &mut dump)?;
/// assert!(dump.starts_with(b"$comment"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub static VCD: Export = Export {
    name: "vcd",
    description: "timeline: value change dump for viewers of signals",
    extension: Some("vcd"),
    options: &[],
    output: Output::File(write),
};

fn write(
    input: &mut Input,
    options: &Options,
    names: &ExportNames,
    out: &mut dyn Write,
) -> Result<Trace, ExportError> {
    options.check(&[])?;
    let timeline = Timeline::read(input)?;
    let scale = Scale::of(&timeline.trace.clock, timeline.range.end);
    let signals = Signals::new(&timeline);
    let mut dump = Dump { out, scale, signals, time: None };
    dump.begin(&timeline, &names.input).map_err(ExportError::Write)?;
    timeline.each_event(input, |event, is_selected| {
        let at = Position { ticks: event.ticks(), seq: event.seq() };
        // A dump is in order of time, so the changes up to this event come first.
        dump.write_until(at)?;
        if is_selected && timeline.contains(at) { dump.event(event) } else { Ok(()) }
    })?;
    dump.write_until(END).map_err(ExportError::Write)?;
    dump.end(timeline.range.end).map_err(ExportError::Write)?;
    let remark = scale.remark();
    drop(dump);
    let mut trace = timeline.into_trace();
    if let Some(remark) = remark {
        trace.diagnostics.add(Severity::Note, None, remark);
    }
    Ok(trace)
}

/// The output.
struct Dump<'a, 'o> {
    out: &'o mut dyn Write,
    scale: Scale<'a>,
    signals: Signals<'a>,
    /// The time of the last change.
    time: Option<u64>,
}

impl Dump<'_, '_> {
    /// Writes the header, and the initial value of each signal.
    fn begin(&mut self, timeline: &Timeline, title: &str) -> io::Result<()> {
        let comments = self.scale.remark().into_iter().chain(self.signals.legend(timeline));
        put_header(self.out, title, &self.scale.to_string(), comments, &self.signals.scopes)?;
        self.time(timeline.range.start)?;
        writeln!(self.out, "$dumpvars")?;
        for (index, signal) in self.signals.all() {
            if let Some(unknown) = signal.unknown() {
                put_value(self.out, index, &unknown)?;
            }
        }
        writeln!(self.out, "$end")
    }

    fn time(&mut self, ticks: u64) -> io::Result<()> {
        let time = self.scale.time(ticks);
        if self.time.replace(time) == Some(time) {
            return Ok(());
        }
        writeln!(self.out, "#{time}")
    }

    fn write_until(&mut self, limit: Position) -> io::Result<()> {
        while let Some((at, (signal, value))) = self.signals.changes.next_until(limit) {
            self.time(at.ticks)?;
            put_value(self.out, signal, &value)?;
        }
        Ok(())
    }

    /// Writes an event and, if it records a number, this number.
    fn event(&mut self, event: Event<'_>) -> io::Result<()> {
        self.time(event.ticks())?;
        if let Some(signal) = self.signals.of_event(event.id()) {
            put_value(self.out, signal, &Value::Event)?;
        }
        let means = event.kind().means.filter(|means| means.meaning == Meaning::Value);
        let Some(index) = means.and_then(|means| means.value) else { return Ok(()) };
        let Some(value) = event.argument(index) else { return Ok(()) };
        let kind = event.kind().args.get(index).map(|argument| argument.kind);
        let real = match kind.map(|kind| event.trace.schema.number_kind(kind)) {
            Some(ArgumentKind::Float) => f64::from_bits(value),
            Some(ArgumentKind::Signed) => event.trace.payload.signed(value) as f64,
            _ => value as f64,
        };
        match self.signals.of_values(event.id()) {
            Some(signal) => put_value(self.out, signal, &Value::Real(real)),
            None => Ok(()),
        }
    }

    /// Writes the last time, so that the last states have a length.
    fn end(&mut self, ticks: u64) -> io::Result<()> {
        self.time(ticks)
    }
}
