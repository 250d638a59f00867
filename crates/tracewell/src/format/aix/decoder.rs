//! Decodes an AIX trace. A single file is decoded while its bytes arrive. Several files are merged
//! after all files have arrived.

use std::sync::Arc;

use tracewell_wire::ByteOrder;
use tracewell_wire::aix::{
    Damage, Entry, FileHeader, Frame, FrameHeader, ReadError as WireError, TimeConversion, ids,
};

use super::clock::{self, Scale};
use super::contents::{Content, Taken, take};
use super::frames::Frames;
use super::merge::{Located, Merge, Part};
use super::processes::Processes;
use super::stamps::Stamps;
use super::{FORMAT, Header, NOT_PUBLIC, row};
use crate::format::names::Names;
use crate::format::parts;
use crate::format::{Decoder, Input, OptionError, Progress, ReadError, Settings};
use crate::model::schema::{ArgumentKind, Schema};
use crate::model::{
    Clock, Emitter, Fact, FactForm, Flow, LossCause, NewEvent, PayloadLayout, Processor, Severity,
    Trace, WallClock,
};

#[derive(Debug)]
struct AixDecoder {
    parts: Vec<usize>,
    /// The schema, including the names of system calls that the user supplied.
    schema: Arc<Schema>,
    /// Byte order of the file; `None` until its header has been read.
    order: Option<ByteOrder>,
    state: State,
}

/// The state that is kept between batches.
#[derive(Debug)]
struct State {
    processes: Processes,
    stamps: Stamps,
    /// Byte order of the copied frames: the byte order of the first readable file.
    order: ByteOrder,
    /// The conversion of ticks that was found last.
    conversion: TimeConversion,
    /// The names of system calls that the user supplied.
    calls: Names,
}

/// Creates a decoder with the options of this format.
pub(super) fn new(settings: &Settings) -> Result<Box<dyn Decoder>, OptionError> {
    let names = settings.numbered_names("", "the number of a system call")?;
    let schema = FORMAT.with_schemas(schema(&names), settings)?;
    let parts = settings.parts.clone();
    Ok(Box::new(AixDecoder { parts, schema, order: None, state: State::new(names) }))
}

/// The id of the hook for entry into a system call.
const SYSTEM_CALL: u32 = 0x1010;

/// The id of the hook for the return from a system call.
const SYSTEM_CALL_RETURN: u32 = 0x1040;

/// Returns the schema, including the names of system calls that the user specified.
fn schema(names: &Names) -> Arc<Schema> {
    // Without names, all traces share one schema.
    if names.is_empty() {
        return crate::format::aix::schema();
    }
    let mut schema = Schema::clone(&crate::format::aix::schema());
    let call = schema.event(SYSTEM_CALL).args.iter().find_map(|arg| match arg.kind {
        ArgumentKind::Enum(table) => Some(table),
        _ => None,
    });
    if let Some(table) = call {
        schema.name_values(table, names.clone().all());
    }
    Arc::new(schema)
}

impl Decoder for AixDecoder {
    fn trace(&self) -> Trace {
        let payload = PayloadLayout::Values { digits: 16 };
        let trace = Trace::new(FORMAT.name, self.schema.clone(), payload, Clock::of_64_bits(None));
        // The first dispatch event changes `processor`. The trace may contain no dispatch event,
        // because users choose which hooks to record.
        Trace { processor: Processor::Recorders { needed: "the hooks 106 and 10C" }, ..trace }
    }

    fn decode_to(
        &mut self,
        input: Input<'_>,
        out: &mut Emitter<'_>,
    ) -> Result<Progress, ReadError> {
        if !self.parts.is_empty() {
            if !input.last {
                return Ok(Progress::More { consumed: 0, wanted: input.bytes.len() + 1 });
            }
            self.several(input.bytes, out)?;
            return Ok(Progress::Done);
        }
        let mut at = 0;
        let order = match self.order {
            Some(order) => order,
            None => match read_header(input.bytes, input.offset, input.last)? {
                Ok((header, length)) => {
                    self.state.begin(out.trace, &header);
                    at = length;
                    *self.order.insert(header.order)
                }
                Err(wanted) => return Ok(Progress::More { consumed: 0, wanted }),
            },
        };
        let frames = Frames { bytes: input.bytes, order, last: input.last, at };
        let mut delivery = Delivery { state: &mut self.state, out };
        // If the sink stopped, `Reading` has stored the reason.
        Ok(delivery.stream(frames).continue_value().unwrap_or(Progress::Done))
    }
}

impl AixDecoder {
    /// Decodes all files and merges their events by time.
    fn several(&mut self, bytes: &[u8], out: &mut Emitter<'_>) -> Result<(), ReadError> {
        let (mut files, mut unreadable) = (Vec::new(), Vec::new());
        for range in parts::ranges(&self.parts, bytes.len()) {
            let start = range.start;
            let part = bytes.get(range).unwrap_or_default();
            match read_header(part, start as u64, true) {
                Ok(Ok((header, at))) => {
                    let frames = Frames { bytes: part, order: header.order, last: true, at };
                    files.push(File { header, frames, offset: start });
                }
                Ok(Err(_)) => {}
                Err(error) => unreadable.push(error),
            }
        }
        // An unreadable file costs only its own events, unless no file is readable.
        let Some(first) = files.first() else {
            return unreadable.into_iter().next().map_or(Ok(()), Err);
        };
        for error in unreadable {
            out.trace.diagnostics.add(Severity::Damage, error.offset, error.message);
        }
        let conversions: Vec<_> = files.iter().map(File::conversion).collect();
        // The clock of the merged trace is that of the first file. If the first file does not
        // contain its rate, all files probably have the same clock.
        let clock = conversions.iter().flatten().next().copied();
        let conversion = clock.unwrap_or(first.header.conversion);
        self.state.begin(out.trace, &FileHeader { conversion, ..first.header });
        let start = first.header.start_tick;
        let mut parts = Vec::new();
        for (File { header, frames, offset }, own) in files.into_iter().zip(conversions) {
            let cpus = u16::try_from(header.cpus).unwrap_or(u16::MAX);
            out.trace.cpus = out.trace.cpus.max(cpus);
            let scale = own.zip(clock).and_then(|(own, clock)| Scale::new(own, clock));
            // The tick at the start of the trace counts for each file with the same clock.
            let stamps = Stamps::new(if scale.is_none() { start } else { header.start_tick });
            parts.push(Part::new(frames, offset, stamps, scale));
        }
        let mut delivery = Delivery { state: &mut self.state, out };
        // If the sink stopped, `Reading` has stored the reason.
        let _ = delivery.merged(Merge::new(parts));
        Ok(())
    }
}

/// One of several files, with a valid header.
struct File<'a> {
    header: FileHeader<'a>,
    frames: Frames<'a>,
    /// Offset of the file in the input.
    offset: usize,
}

impl File<'_> {
    /// Returns the conversion of the file's ticks, if the file contains a usable one.
    fn conversion(&self) -> Option<TimeConversion> {
        clock::usable(self.header.conversion).or_else(|| clock::recorded(self.frames))
    }
}

/// Returns the header and its length, or the number of bytes needed to read the header.
#[allow(clippy::type_complexity, reason = "a header, a request for bytes, or an error")]
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
        Err(error @ WireError::Damaged(Damage::Magic { .. })) => {
            Err(ReadError { offset, message: format!("{error}; {NOT_PUBLIC}") })
        }
        Err(error) => Err(ReadError { offset, message: error.to_string() }),
    }
}

/// Stores the facts of a header in the trace.
fn note_header(trace: &mut Trace, header: &FileHeader<'_>) {
    let decimal = |name, value| Fact { name, value, form: FactForm::Decimal };
    let (order, code) = match header.order {
        ByteOrder::Little => ("little", 1),
        ByteOrder::Big => ("big", 2),
    };
    let TimeConversion { multiplier, divisor } = header.conversion;
    trace.wall_clock = WallClock::at_start(header.wall_clock_ns, header.start_tick);
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
    let owned = Header::new(header);
    trace.texts = vec![
        ("system", owned.system.clone()),
        ("node", owned.node.clone()),
        ("machine", owned.machine.clone()),
        ("address", owned.address.clone()),
        ("command", owned.command.clone()),
        ("buffering", owned.buffering.clone()),
    ];
    trace.dialect = Some(Box::new(owned));
    trace.clock.rate = clock::rate(header.conversion);
}

/// Turns frames into events and losses.
struct Delivery<'a, 'b> {
    state: &'a mut State,
    out: &'a mut Emitter<'b>,
}

impl Delivery<'_, '_> {
    /// Decodes the part of a single file that has arrived.
    fn stream(&mut self, mut frames: Frames<'_>) -> Flow<Progress> {
        loop {
            let offset = frames.at;
            match take(&mut frames, &mut self.state.stamps) {
                Taken::Content(content) => self.content(Located { offset, content })?,
                Taken::Wanted(wanted) => {
                    self.out.flush()?;
                    return Flow::Continue(Progress::More { consumed: offset, wanted });
                }
                Taken::End => {
                    self.end()?;
                    return Flow::Continue(Progress::Done);
                }
            }
        }
    }

    fn merged(&mut self, merge: Merge<'_>) -> Flow {
        for located in merge {
            self.content(located)?;
        }
        self.end()
    }

    fn end(&mut self) -> Flow {
        let Self { state, out } = self;
        state.calls.remark("system call", &mut out.trace.diagnostics);
        // A later entry can contain the rate, so only the end shows that the rate is unknown.
        if out.trace.clock.rate.is_none() {
            let TimeConversion { multiplier, divisor } = state.conversion;
            let divisor = divisor.max(1);
            let message = format!("unusable clock: nanoseconds = ticks × {multiplier} / {divisor}");
            out.trace.diagnostics.add(Severity::Warning, None, message);
        }
        out.flush()
    }

    fn content(&mut self, Located { offset, content }: Located<'_>) -> Flow {
        let offset = self.out.window.offset + offset as u64;
        match content {
            Content::Entry { head, tick, entry, bytes } => {
                self.entry(head, tick, (&entry, bytes), offset)
            }
            Content::Loss(message, events, cause) => {
                self.out.damage(message, (events, cause), offset)
            }
        }
    }

    fn entry(
        &mut self,
        head: FrameHeader,
        tick: u64,
        (entry, bytes): (&Entry<'_>, &[u8]),
        offset: u64,
    ) -> Flow {
        let Self { state, out } = self;
        let ticks = out.ticks(tick);
        let known = out.trace.contexts.len();
        let context = state.processes.context(out.trace, &head, ticks);
        // Keys are reused, so a batch must end before a context is created.
        if out.trace.contexts.len() > known {
            out.flush()?;
        }
        // Files of a run may differ in byte order. Copies have the byte order of the first file,
        // because all events of a batch have the same byte order.
        let copies = &mut out.buffer.copies;
        let start = copies.len();
        copies.resize(start + Frame::size(bytes.len()), 0);
        if let Some(place) = head.write(state.order, bytes.len(), &mut copies[start..]) {
            place.copy_from_slice(bytes);
        }
        // A frame is padded to 8 bytes. The record excludes the padding.
        copies.truncate(start + FrameHeader::LENGTH + bytes.len());
        row::write(entry, &mut out.buffer.payloads);
        let event = NewEvent::new(ticks, context, u32::from(entry.id().0));
        out.copied(NewEvent { cpu: head.cpu, ..event }, offset)?;
        state.processes.follow(out.trace, &head, entry, ticks);
        self.after(entry, offset)
    }

    /// Handles hooks that describe the trace itself: lost entries and the clock's rate. Also looks
    /// up the names of system calls. So the decoder knows at the end which names had no effect.
    fn after(&mut self, entry: &Entry<'_>, offset: u64) -> Flow {
        let out = &mut *self.out;
        if matches!(u32::from(entry.id().0), SYSTEM_CALL | SYSTEM_CALL_RETURN) {
            entry.word(1).and_then(|call| self.state.calls.of(call));
        }
        let missed = entry.word(2).unwrap_or(0);
        if entry.id() == ids::BUFFER_WRAP && missed > 0 {
            // Word 2 is the number of entries that the recorder could not store for lack of room.
            return out.loss(Some(missed), LossCause::BufferFull, offset);
        }
        if entry.id() == ids::TRACE_UTILITY
            && let Some(conversion) = TimeConversion::of_entry(entry)
            && out.trace.clock.rate.is_none()
        {
            self.state.conversion = conversion;
            out.trace.clock.rate = clock::rate(conversion);
        }
        Flow::Continue(())
    }
}

impl State {
    fn new(calls: Names) -> Self {
        Self {
            processes: Processes::default(),
            stamps: Stamps::default(),
            order: ByteOrder::Big,
            conversion: TimeConversion::NANOSECONDS,
            calls,
        }
    }

    /// Stores the facts of the header of the first readable file.
    fn begin(&mut self, trace: &mut Trace, header: &FileHeader<'_>) {
        self.order = header.order;
        self.stamps = Stamps::new(header.start_tick);
        self.conversion = header.conversion;
        note_header(trace, header);
    }
}
