//! Entries to events.

use tracewell_wire::arrivals::{Arrival, HEADER, What};

use super::FORMAT;
use crate::format::order::Order;
use crate::format::{Decoder, Input, OptionError, Options, Progress, ReadError};
use crate::model::schema::Schema;
use crate::model::{
    Batch, Clock, Columns, Context, ContextKind, Fact, FactForm, Flow, Loss, LossCause,
    PayloadLayout, Rate, Records, Severity, Sink, Span, Trace, values,
};

/// Events of a batch.
const BATCH: usize = 4096;

/// Bytes of a row: its head and two numbers.
const ROW: usize = 24;

/// Makes a reader; there are no options.
pub(super) fn new(options: &Options) -> Result<Box<dyn Decoder>, OptionError> {
    options.check(FORMAT.options)?;
    Ok(Box::<ArrivalsDecoder>::default())
}

#[derive(Debug, Default)]
struct ArrivalsDecoder {
    /// Position in the file of bytes.
    position: u64,
    order: Order,
    columns: Columns,
    spans: Vec<Span>,
    rows: Vec<u8>,
}

impl Decoder for ArrivalsDecoder {
    fn trace(&self) -> Trace {
        let rate = Rate::new(1_000_000_000, 1);
        let clock = Clock::of_64_bits(rate);
        let payload = PayloadLayout::Values { digits: 16 };
        Trace::new(FORMAT.name, Schema::arrivals(), payload, clock)
    }

    fn decode(
        &mut self,
        input: Input<'_>,
        trace: &mut Trace,
        sink: &mut dyn Sink,
    ) -> Result<Progress, ReadError> {
        let mut consumed = 0;
        if input.offset == 0 {
            if input.bytes.len() < HEADER.len() && !input.last {
                return Ok(Progress::More { consumed: 0, wanted: HEADER.len() });
            }
            consumed = self.begin(&input, trace)?;
        }
        let (entries, rest) = input.bytes.get(consumed..).unwrap_or_default().as_chunks();
        for batch in entries.chunks(BATCH) {
            if self.batch(batch, input.offset + consumed as u64, trace, sink).is_break() {
                return Ok(Progress::Done);
            }
            consumed += batch.as_flattened().len();
        }
        if !input.last {
            return Ok(Progress::More { consumed, wanted: Arrival::SIZE });
        }
        if !rest.is_empty() {
            let message =
                format!("expected an entry of {} bytes, found {}", Arrival::SIZE, rest.len());
            let _ =
                lose(LossCause::Truncated, message, input.offset + consumed as u64, trace, sink);
        }
        Ok(Progress::Done)
    }
}

impl ArrivalsDecoder {
    /// Checks the header; how many bytes it has.
    fn begin(&self, input: &Input<'_>, trace: &mut Trace) -> Result<usize, ReadError> {
        if !input.bytes.starts_with(&HEADER) {
            let found: Vec<_> = input.bytes.iter().take(HEADER.len()).copied().collect();
            let message = format!(
                "expected the header {}, found {}",
                HEADER.escape_ascii(),
                found.escape_ascii()
            );
            return Err(ReadError { offset: 0, message });
        }
        let (key_text, name) = ("-".to_owned(), "collector".to_owned());
        let kind = ContextKind::System;
        trace.contexts.add(Context { key: 0, key_text, kind, name, object: None });
        Ok(HEADER.len())
    }

    /// Gives some entries to the sink; `offset` is the position of the first one.
    fn batch(
        &mut self,
        entries: &[[u8; Arrival::SIZE]],
        offset: u64,
        trace: &mut Trace,
        sink: &mut dyn Sink,
    ) -> Flow {
        self.clear();
        for (index, entry) in entries.iter().enumerate() {
            let start = index * Arrival::SIZE;
            match Arrival::from_bytes(entry) {
                Some(arrival) => self.add(arrival, start as u32, offset, trace),
                None => {
                    self.flush(entries, offset, trace, sink)?;
                    let message = "expected what happened as 1 to 5, found another number";
                    let at = offset + start as u64;
                    lose(LossCause::Damaged, message.to_owned(), at, trace, sink)?;
                }
            }
        }
        self.flush(entries, offset, trace, sink)
    }

    fn add(&mut self, arrival: Arrival, start: u32, offset: u64, trace: &mut Trace) {
        let Arrival { time_ns, bytes, what } = arrival;
        if trace.facts.is_empty() {
            trace.clock.first_stamp = time_ns;
            let fact = |name| Fact { name, value: time_ns, form: FactForm::Decimal };
            trace.facts = ["wall_clock_ns", "start_tick"].map(fact).to_vec();
        }
        let ticks = time_ns.saturating_sub(trace.clock.first_stamp);
        let why = "the collector's clock never goes back; the file is damaged, or of several runs";
        self.order.watch(&self.columns, ticks, offset + u64::from(start), trace, why);
        self.columns.ticks.push(ticks);
        self.columns.id.push(what.code());
        let payload = self.rows.len() as u32;
        self.spans.push(Span { start, payload, end: start + Arrival::SIZE as u32 });
        let row = [values::head(0b11, 2), u64::from(bytes), self.position];
        self.rows.extend(row.map(u64::to_le_bytes).as_flattened());
        if what == What::Bytes {
            self.position = self.position.saturating_add(u64::from(bytes));
        }
    }

    fn flush(
        &mut self,
        entries: &[[u8; Arrival::SIZE]],
        offset: u64,
        trace: &mut Trace,
        sink: &mut dyn Sink,
    ) -> Flow {
        let rows = self.rows.len() / ROW;
        let Some(latest) = self.columns.ticks.iter().max() else { return Flow::Continue(()) };
        trace.span = trace.span.max(*latest);
        self.columns.resize(rows);
        let bytes = entries.as_flattened();
        let records = Records::decoded(bytes, offset, &self.spans, &self.rows);
        let batch = Batch { first: trace.events, columns: &self.columns, records };
        trace.events += rows as u64;
        let flow = sink.events(trace, &batch);
        self.clear();
        flow
    }

    fn clear(&mut self) {
        self.columns.resize(0);
        self.spans.clear();
        self.rows.clear();
    }
}

fn lose(
    cause: LossCause,
    message: String,
    offset: u64,
    trace: &mut Trace,
    sink: &mut dyn Sink,
) -> Flow {
    trace.diagnostics.add(Severity::Damage, offset, message);
    let loss = Loss { before: trace.events, events: Some(1), cause, offset };
    trace.losses.add(&loss);
    sink.loss(trace, &loss)
}
