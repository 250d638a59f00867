//! Writes losses to a separate output, so that the table of events contains only events. Also
//! formats the cell that describes a loss in the table of events.

use std::io::Write;

use super::EventFormat;
use crate::model::{Batch, Flow, Loss, Sink, SinkError, Stop, Trace};
use crate::text::LineWriter;

/// A sink that writes losses, and passes events to another sink. The fields of a loss:
///
/// | field | content |
/// |---|---|
/// | `before_seq` | number of the first event after the loss |
/// | `lost` | number of missing events; if unknown, null, or in tables an empty cell |
/// | `cause` | `overwritten`, `truncated`, `damaged`, `buffer full` or `missing` |
/// | `offset` | position in the input in bytes |
///
/// ```
/// use tracewell::export::events::{EventFormat, EventWriter, LossesApart};
/// use tracewell::input::{Input, Settings};
/// use tracewell::select::Selection;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/threadx/tiny.trx").as_ref();
/// let mut losses = Vec::new();
/// let mut events = EventWriter::new(Vec::new(), EventFormat::Csv, Selection::default());
/// let mut both = LossesApart::new(&mut losses, EventFormat::Csv, &mut events);
/// Input::open(path, Settings::default())?.read(&mut both)?;
/// assert!(losses.starts_with(b"before_seq,lost,cause,offset\n"));
/// # Ok::<(), tracewell::input::InputError>(())
/// ```
#[derive(Debug)]
pub struct LossesApart<W, S> {
    losses: LineWriter<W>,
    format: EventFormat,
    events: S,
    begun: bool,
    /// Number of the event that follows the last event passed on.
    next: u64,
}

impl<W: Write, S: Sink> LossesApart<W, S> {
    /// Creates a sink that writes losses to `losses`.
    pub fn new(losses: W, format: EventFormat, events: S) -> Self {
        Self { losses: LineWriter::new(losses), format, events, begun: false, next: 0 }
    }

    /// Writes a row of a table.
    fn row(&mut self, cells: [String; 4]) -> std::io::Result<()> {
        let separator = if self.format == EventFormat::Csv { "," } else { "\t" };
        self.losses.buffer().text(cells.join(separator));
        self.losses.line_end()
    }

    /// Writes the names of a table's columns unless they have been written.
    fn begin(&mut self) -> std::io::Result<()> {
        if std::mem::replace(&mut self.begun, true) || self.format == EventFormat::JsonLines {
            return Ok(());
        }
        self.row(["before_seq", "lost", "cause", "offset"].map(str::to_owned))
    }

    fn write(&mut self, loss: &Loss) -> std::io::Result<()> {
        self.begin()?;
        let (next, cause, offset) = (self.next, loss.cause.as_str(), loss.offset);
        let lost = loss.events.map(|events| events.to_string());
        if self.format != EventFormat::JsonLines {
            let cells = [next.to_string(), lost.unwrap_or_default(), cause.to_owned()];
            let [next, lost, cause] = cells;
            return self.row([next, lost, cause, offset.to_string()]);
        }
        let lost = lost.as_deref().unwrap_or("null");
        self.losses.buffer().text(format!(
            r#"{{"before_seq":{next},"lost":{lost},"cause":"{cause}","offset":{offset}}}"#
        ));
        self.losses.line_end()
    }
}

impl<W: Write, S: Sink> Sink for LossesApart<W, S> {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        if let Some(last) = batch.events().last() {
            self.next = last.seq + 1;
        }
        self.events.events(trace, batch)
    }

    fn loss(&mut self, _: &Trace, loss: &Loss) -> Flow {
        Stop::on_error(self.write(loss))
    }

    fn flush(&mut self) -> Result<(), SinkError> {
        self.losses.flush()?;
        self.events.flush()
    }

    fn finish(&mut self, trace: &Trace) -> Result<(), SinkError> {
        self.begin()?;
        self.losses.flush()?;
        self.events.finish(trace)
    }
}

/// Returns the cell that describes a loss.
pub(super) fn loss_text(loss: &Loss) -> String {
    let lost = loss.events.map_or_else(String::new, |events| format!("lost={events} "));
    format!("{lost}cause={} offset={}", loss.cause.as_str(), loss.offset)
}
