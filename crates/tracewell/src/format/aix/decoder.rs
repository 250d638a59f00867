//! The reader: header, then frame by frame into batches. One file is read as it arrives, several are
//! merged when all are there.

use std::sync::Arc;

use tracewell_wire::ByteOrder;
use tracewell_wire::aix::{
    Entry, FileHeader, Frame, FrameHead, ReadError as WireError, TimeConversion, ids,
};

use super::frames::Frames;
use super::merge::{Item, Merge, Missing, Part, Taken, What, take};
use super::processes::Processes;
use super::{FORMAT, OPTIONS, row};
use crate::format::{Decoder, Input, Names, OptionError, Options, Progress, ReadError, parts_of};
use crate::model::schema::{ArgumentKind, Schema};
use crate::model::{
    Batch, Clock, Columns, Fact, FactForm, Flow, Loss, LossCause, NO_PRIORITY, PayloadLayout,
    Processor, Rate, Records, Severity, Sink, Span, Trace,
};
use crate::text::shown;

/// Events of a batch: their columns and rows stay in the second-level cache.
const BATCH: usize = 4096;
/// Bytes of rows of a batch, at most.
const ROWS: usize = 1 << 20;

#[derive(Debug)]
struct AixDecoder {
    parts: Vec<usize>,
    /// The events, with the names that the user gave.
    schema: Arc<Schema>,
    /// Byte order of the file, when its header was read.
    order: Option<ByteOrder>,
    state: State,
}

/// What goes on from batch to batch.
#[derive(Debug)]
struct State {
    processes: Processes,
    /// Tick of the first event.
    first: Option<u64>,
    /// Last stamp of each processor, for those of 32 bits that wrap.
    stamps: Vec<u64>,
    columns: Columns,
    rows: Vec<u8>,
    spans: Vec<Span>,
    /// Frames of the batch.
    frames: Vec<u8>,
    /// Where each is in the source.
    offsets: Vec<u64>,
    /// Their byte order.
    order: ByteOrder,
}

/// Makes a reader with the options of this format.
pub(super) fn new(options: &Options) -> Result<Box<dyn Decoder>, OptionError> {
    options.check(OPTIONS)?;
    let parts = parts_of(options)?;
    let schema = schema(options)?;
    Ok(Box::new(AixDecoder { parts, schema, order: None, state: State::new() }))
}

/// The hook that a system call is entered with.
const SYSTEM_CALL: u32 = 0x1010;

/// The events, with the names of system calls that the user gave.
fn schema(options: &Options) -> Result<Arc<Schema>, OptionError> {
    let Some(text) = options.get("names") else { return Ok(Schema::aix()) };
    let names = Names::parse(text, "", "the number of a system call");
    let names = names.map_err(|message| OptionError::new("names", message))?;
    let mut schema = Schema::clone(&Schema::aix());
    let call = schema.event(SYSTEM_CALL).args.iter().find_map(|arg| match arg.kind {
        ArgumentKind::Enum(table) => Some(table),
        _ => None,
    });
    if let Some(table) = call {
        schema.name_values(table, names.all());
    }
    Ok(Arc::new(schema))
}

impl Decoder for AixDecoder {
    fn trace(&self) -> Trace {
        let payload = PayloadLayout::Values { digits: 16 };
        let trace = Trace::new(FORMAT.name, self.schema.clone(), payload, Clock::of_64_bits(None));
        // Until a dispatch is seen: which hooks are recorded is the choice of who starts the trace.
        Trace { processor: Processor::Recorders { needed: "the hooks 106 and 10C" }, ..trace }
    }

    fn decode(
        &mut self,
        input: Input<'_>,
        trace: &mut Trace,
        sink: &mut dyn Sink,
    ) -> Result<Progress, ReadError> {
        if !self.parts.is_empty() {
            if !input.last {
                return Ok(Progress::More { consumed: 0, wanted: input.bytes.len() + 1 });
            }
            self.several(input.bytes, trace, sink)?;
            return Ok(Progress::Done);
        }
        let mut at = 0;
        let order = match self.order {
            Some(order) => order,
            None => match read_header(input.bytes, input.offset, input.last)? {
                Ok((header, length)) => {
                    note_header(trace, &header);
                    at = length;
                    self.state.order = header.order;
                    *self.order.insert(header.order)
                }
                Err(wanted) => return Ok(Progress::More { consumed: 0, wanted }),
            },
        };
        let frames = Frames { bytes: input.bytes, order, last: input.last, at };
        let mut delivery = Delivery { state: &mut self.state, trace, sink, offset: input.offset };
        Ok(delivery.stream(frames))
    }
}

impl AixDecoder {
    /// Reads all parts, merged.
    fn several(
        &mut self,
        bytes: &[u8],
        trace: &mut Trace,
        sink: &mut dyn Sink,
    ) -> Result<(), ReadError> {
        let inner = self.parts.iter().copied().filter(|part| *part > 0 && *part < bytes.len());
        let mut starts: Vec<_> = std::iter::once(0).chain(inner).collect();
        starts.dedup();
        let ends = starts.iter().skip(1).copied().chain([bytes.len()]);
        let mut parts = Vec::new();
        for (start, end) in starts.iter().copied().zip(ends) {
            let part = bytes.get(start..end).unwrap_or_default();
            match read_header(part, start as u64, true) {
                Ok(Ok((header, at))) => {
                    if start == 0 {
                        note_header(trace, &header);
                        self.state.order = header.order;
                    }
                    trace.cpus = trace.cpus.max(u16::try_from(header.cpus).unwrap_or(u16::MAX));
                    let (order, conversion) = (header.order, header.conversion);
                    let frames = Frames { bytes: part, order, last: true, at };
                    parts.push(Part::new(frames, start, conversion));
                }
                // The first file says what all of them are; one of the others can be left out.
                Err(error) if start > 0 => {
                    trace.diagnostics.add(Severity::Damage, error.offset, error.message);
                }
                Err(error) => return Err(error),
                Ok(Err(_)) => {}
            }
        }
        let mut delivery = Delivery { state: &mut self.state, trace, sink, offset: 0 };
        // A broken-off merge has delivered what its sink wanted.
        let _ = delivery.merged(Merge::new(parts));
        Ok(())
    }
}

/// The header and its length, or how many bytes must be there to read it.
#[allow(clippy::type_complexity, reason = "two ways to go on and one to fail")]
fn read_header(
    bytes: &[u8],
    offset: u64,
    last: bool,
) -> Result<Result<(FileHeader<'_>, usize), usize>, ReadError> {
    match FileHeader::read(bytes) {
        Ok(read) => Ok(Ok(read)),
        Err(WireError::Incomplete { needed }) if !last => Ok(Err(needed)),
        Err(WireError::Incomplete { needed }) => {
            let message = format!("expected a header of {needed} bytes, found {}", bytes.len());
            Err(ReadError { offset, message })
        }
        Err(error) => Err(ReadError { offset, message: error.to_string() }),
    }
}

/// Takes over what the header of the first file says.
fn note_header(trace: &mut Trace, header: &FileHeader<'_>) {
    let decimal = |name, value| Fact { name, value, form: FactForm::Decimal };
    let (order, code) = match header.order {
        ByteOrder::Little => ("little", 1),
        ByteOrder::Big => ("big", 2),
    };
    let TimeConversion { multiplier, divisor } = header.conversion;
    trace.facts = vec![
        Fact { name: "byte_order", value: code, form: FactForm::Text(order) },
        decimal("environment", u64::from(header.env.bits())),
        decimal("wall_clock_ns", header.wall_clock_ns),
        decimal("start_tick", header.start_tick),
        decimal("multiplier", multiplier),
        decimal("divisor", divisor),
        decimal("cpus", u64::from(header.cpus)),
        decimal("cpus_traced", u64::from(header.cpus_traced)),
        decimal("channel", u64::from(header.channel)),
        decimal("circular", u64::from(header.circular)),
    ];
    let text = |bytes: &[u8]| shown(bytes).into_owned();
    let texts = &header.texts;
    trace.texts = vec![
        ("system", text(texts.system)),
        ("node", text(texts.node)),
        ("machine", text(texts.machine)),
        ("address", text(texts.address)),
        ("command", text(texts.command)),
        ("buffering", text(texts.buffering)),
    ];
    set_rate(trace, header.conversion);
}

/// Ticks times multiplier by divisor are nanoseconds.
fn set_rate(trace: &mut Trace, conversion: TimeConversion) {
    let TimeConversion { multiplier, divisor } = conversion;
    let divisor = divisor.max(1);
    let common = crate::model::greatest_common_divisor(multiplier, 1_000_000_000);
    let ticks = (1_000_000_000 / common.max(1)).checked_mul(divisor);
    trace.clock.rate = ticks.and_then(|ticks| Rate::new(ticks, multiplier / common.max(1)));
    if trace.clock.rate.is_none() {
        let message = format!("no clock: ticks times {multiplier} by {divisor} are nanoseconds");
        trace.diagnostics.add(Severity::Warning, None, message);
    }
}

/// Gives events and losses to the sink.
struct Delivery<'a> {
    state: &'a mut State,
    trace: &'a mut Trace,
    sink: &'a mut dyn Sink,
    /// Where the bytes of the window begin in the source.
    offset: u64,
}

impl Delivery<'_> {
    /// Reads what is there of one file.
    fn stream(&mut self, mut frames: Frames<'_>) -> Progress {
        loop {
            let offset = frames.at;
            let done = match take(&mut frames) {
                Taken::What(what) => self.item(Item { offset, what }),
                Taken::Wanted(wanted) => {
                    return match self.flush() {
                        Flow::Continue(()) => Progress::More { consumed: offset, wanted },
                        Flow::Break(()) => Progress::Done,
                    };
                }
                Taken::End => {
                    let _ = self.flush();
                    return Progress::Done;
                }
            };
            if done.is_break() {
                return Progress::Done;
            }
        }
    }

    fn merged(&mut self, merge: Merge<'_>) -> Flow {
        for item in merge {
            self.item(item)?;
        }
        self.flush()
    }

    fn item(&mut self, item: Item<'_>) -> Flow {
        let offset = self.offset + item.offset as u64;
        match item.what {
            What::Entry(head, entry, bytes) => self.entry(head, &entry, bytes, offset)?,
            What::Loss(message, events, missing) => {
                self.trace.diagnostics.add(Severity::Damage, offset, message);
                let cause = match missing {
                    Missing::Damaged => LossCause::Damaged,
                    Missing::Cut => LossCause::Truncated,
                };
                self.loss(events, cause, offset)?;
            }
        }
        let state = &self.state;
        if state.spans.len() >= BATCH || state.rows.len() + state.frames.len() >= ROWS {
            return self.flush();
        }
        Flow::Continue(())
    }

    fn loss(&mut self, events: Option<u64>, cause: LossCause, offset: u64) -> Flow {
        self.flush()?;
        let loss = Loss { before: self.trace.events, events, cause, offset };
        self.trace.losses.add(&loss);
        self.sink.loss(self.trace, &loss)
    }

    fn entry(&mut self, head: FrameHead, entry: &Entry<'_>, bytes: &[u8], offset: u64) -> Flow {
        let tick = self.state.unwrapped(head.cpu, head.tick);
        let first = *self.state.first.get_or_insert(tick);
        if self.trace.events == 0 && self.state.spans.is_empty() {
            self.trace.clock.first_stamp = tick;
        }
        let ticks = tick.saturating_sub(first);
        let known = self.trace.contexts.len();
        let context = self.state.processes.context(self.trace, &head, ticks);
        // Keys are used again: a batch is all before or all behind that.
        if self.trace.contexts.len() > known {
            self.flush()?;
        }
        let state = &mut *self.state;
        let columns = &mut state.columns;
        columns.ticks.push(ticks);
        columns.cpu.push(head.cpu);
        columns.context.push(context);
        columns.id.push(u32::from(entry.id().0));
        columns.priority.push(NO_PRIORITY);
        // Less than 2 MiB of both.
        let (start, payload) = (state.frames.len(), state.rows.len() as u32);
        // All files in the byte order of the first.
        state.frames.resize(start + Frame::size(bytes.len()), 0);
        if let Some(place) = head.write(state.order, bytes.len(), &mut state.frames[start..]) {
            place.copy_from_slice(bytes);
        }
        let end = (start + FrameHead::LENGTH + bytes.len()) as u32;
        state.spans.push(Span { start: start as u32, payload, end });
        state.offsets.push(offset);
        row::write(entry, &mut state.rows);
        self.trace.cpus = self.trace.cpus.max(head.cpu.saturating_add(1));
        state.processes.follow(self.trace, &head, entry, ticks);
        self.wraps(entry, offset)
    }

    /// A hook tells that the recorder had no room for entries here.
    fn wraps(&mut self, entry: &Entry<'_>, offset: u64) -> Flow {
        let missed = entry.word(2).unwrap_or(0);
        if entry.id() == ids::BUFFER_WRAP && missed > 0 {
            return self.loss(Some(missed), LossCause::NoRoom, offset);
        }
        if entry.id() == ids::TRACE_UTILITY
            && let Some(conversion) = TimeConversion::of_entry(entry)
            && self.trace.clock.rate.is_none()
        {
            set_rate(self.trace, conversion);
        }
        Flow::Continue(())
    }

    /// Gives the events so far to the sink.
    fn flush(&mut self) -> Flow {
        let state = &mut *self.state;
        if state.spans.is_empty() {
            return Flow::Continue(());
        }
        let records = Records::decoded(&state.frames, self.offset, &state.spans, &state.rows)
            .from_places(&state.offsets);
        let batch = Batch { first: self.trace.events, columns: &state.columns, records };
        self.trace.events += state.spans.len() as u64;
        let last = state.columns.ticks.iter().max().copied().unwrap_or(0);
        self.trace.span = self.trace.span.max(last);
        let flow = self.sink.events(self.trace, &batch);
        state.columns.resize(0);
        state.rows.clear();
        state.spans.clear();
        state.frames.clear();
        state.offsets.clear();
        flow
    }
}

/// Processors whose last stamp is remembered; a damaged number must not fill memory.
const MOST_PROCESSORS: usize = 4096;

impl State {
    fn new() -> Self {
        Self {
            processes: Processes::default(),
            first: None,
            stamps: Vec::new(),
            columns: Columns::default(),
            rows: Vec::new(),
            spans: Vec::new(),
            frames: Vec::new(),
            offsets: Vec::new(),
            order: ByteOrder::Big,
        }
    }

    /// A stamp of 32 bits that goes back within a processor has wrapped: 2^32 is added from there on.
    fn unwrapped(&mut self, cpu: u16, tick: u64) -> u64 {
        const ROUND: u64 = 1 << 32;
        let cpu = usize::from(cpu);
        if cpu >= MOST_PROCESSORS || tick >= ROUND {
            return tick;
        }
        if cpu >= self.stamps.len() {
            self.stamps.resize(cpu + 1, 0);
        }
        let before = self.stamps[cpu];
        let mut unwrapped = before / ROUND * ROUND + tick;
        if unwrapped < before && before - unwrapped > ROUND / 2 {
            unwrapped += ROUND;
        }
        self.stamps[cpu] = unwrapped;
        unwrapped
    }
}
