//! Decodes the entries of an arrival file into events.

use std::sync::Arc;

use tracewell_wire::arrivals::{Arrival, ArrivalKind, HEADER};

use super::FORMAT;
use crate::format::order::Order;
use crate::format::{Decoder, Input, OptionError, Progress, ReadError, Settings};
use crate::model::schema::Schema;
use crate::model::{
    Clock, Context, ContextId, ContextKind, Emitter, Fact, FactForm, Flow, LossCause, NewEvent,
    PayloadLayout, Rate, Trace, WallClock, values,
};

/// Returns a decoder. This format has no options.
pub(super) fn new(settings: &Settings) -> Result<Box<dyn Decoder>, OptionError> {
    let schema = FORMAT.with_schemas(super::schema(), settings)?;
    Ok(Box::new(ArrivalsDecoder { schema, position: 0, order: Order::default() }))
}

#[derive(Debug)]
struct ArrivalsDecoder {
    schema: Arc<Schema>,
    /// Offset of the next received byte in the file that contains the saved bytes.
    position: u64,
    order: Order,
}

impl Decoder for ArrivalsDecoder {
    fn trace(&self) -> Trace {
        let rate = Rate::new(1_000_000_000, 1);
        let clock = Clock::of_64_bits(rate);
        let payload = PayloadLayout::Values { digits: 16 };
        Trace::new(FORMAT.name, self.schema.clone(), payload, clock)
    }

    fn decode_to(
        &mut self,
        input: Input<'_>,
        out: &mut Emitter<'_>,
    ) -> Result<Progress, ReadError> {
        let mut consumed = 0;
        if input.offset == 0 {
            if input.bytes.len() < HEADER.len() && !input.last {
                return Ok(Progress::More { consumed: 0, wanted: HEADER.len() });
            }
            consumed = begin(&input, out.trace)?;
        }
        // If the sink stopped, `Reading` has stored the reason.
        Ok(self.entries(&input, consumed, out).continue_value().unwrap_or(Progress::Done))
    }
}

impl ArrivalsDecoder {
    /// Decodes the entries that begin at byte `consumed` of the input.
    fn entries(
        &mut self,
        input: &Input<'_>,
        mut consumed: usize,
        out: &mut Emitter<'_>,
    ) -> Flow<Progress> {
        // Only whole entries are decoded. The rest stays in the input until more bytes arrive.
        let (entries, rest) = input.bytes.get(consumed..).unwrap_or_default().as_chunks();
        for entry in entries {
            let offset = input.offset + consumed as u64;
            // All entries have the same length, so decoding continues after a damaged one.
            match Arrival::from_bytes(entry) {
                Some(arrival) => self.add(arrival, offset, out)?,
                None => {
                    let message = "expected a kind of entry from 1 to 5, found another number";
                    out.damage(message, (Some(1), LossCause::Damaged), offset)?;
                }
            }
            consumed += Arrival::SIZE;
        }
        out.flush()?;
        if !input.last {
            return Flow::Continue(Progress::More { consumed, wanted: Arrival::SIZE });
        }
        if !rest.is_empty() {
            let message =
                format!("expected an entry of {} bytes, found {}", Arrival::SIZE, rest.len());
            let offset = input.offset + consumed as u64;
            out.damage(message, (Some(1), LossCause::Truncated), offset)?;
        }
        Flow::Continue(Progress::Done)
    }

    fn add(&mut self, arrival: Arrival, offset: u64, out: &mut Emitter<'_>) -> Flow {
        let Arrival { time_ns, bytes, kind } = arrival;
        // The clock counts from the first arrival, which is at tick 0.
        if out.trace.facts.is_empty() {
            let fact = |name| Fact { name, value: time_ns, form: FactForm::Decimal };
            out.trace.wall_clock = WallClock::at_start(time_ns, time_ns);
            out.trace.facts = ["wall_clock_ns", "start_tick"].map(fact).to_vec();
        }
        let ticks = out.ticks(time_ns);
        let why = "a collector's clock only increases; the file is damaged or has several runs";
        self.order.watch(ticks, offset, out, why);
        let row = [values::head(0b11, 2), u64::from(bytes), self.position];
        out.buffer.payloads.extend(row.map(u64::to_le_bytes).as_flattened());
        // Only received bytes are in the file of saved bytes. All other entries, for example for
        // dropped bytes, have a position in that file, but add no bytes to it.
        if kind == ArrivalKind::Bytes {
            self.position = self.position.saturating_add(u64::from(bytes));
        }
        let event = NewEvent::new(ticks, ContextId::default(), kind.code());
        out.decoded(event, offset..offset + Arrival::SIZE as u64)
    }
}

/// Checks the header and returns its length in bytes.
fn begin(input: &Input<'_>, trace: &mut Trace) -> Result<usize, ReadError> {
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
