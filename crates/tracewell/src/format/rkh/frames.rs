//! Bytes to frames, frames to events and losses.
//!
//! Bytes before the first flag belong to nothing. From there on every flag ends a frame, so that
//! damage costs the frame it is in and no other: decoding goes on behind the next flag. Nothing in
//! a frame with a bad checksum is believed. Without checksums a frame is believed if its id is
//! known and its arguments end where it ends.

use std::ops::ControlFlow;
use std::sync::Arc;

use tracewell_wire::rkh::{
    Configuration, Cut, Cutter, Dialect, Form, LONGEST_FRAME, Settings, Unstuffed, checksum, ids,
    unstuff,
};

use super::decoder::{RkhDecoder, schema};
use super::plan::{Plan, Plans, Step};
use super::row::{Rows, SLACK};
use super::session::Order;
use super::symbols::SymbolPlan;
use crate::model::schema::Schema;
use crate::model::{
    Batch, Columns, Flow, Loss, LossCause, NO_PRIORITY, Rate, Records, Severity, Sink, Span, Trace,
};

/// Events of a batch.
const BATCH: usize = 4096;

/// Added to an id that has no one-byte form: no event's id is so large.
const NO_CODE: u32 = 1 << 16;

/// Room for the longest frame and what may be looked at behind it.
type Scratch = [u8; LONGEST_FRAME + SLACK];

/// Some bytes of the stream, and where what they say goes.
pub(super) struct Piece<'a> {
    pub(super) state: &'a mut RkhDecoder,
    pub(super) bytes: &'a [u8],
    /// Position of `bytes` in the source.
    pub(super) offset: u64,
    pub(super) trace: &'a mut Trace,
    pub(super) sink: &'a mut dyn Sink,
}

/// Events that were not given to the sink yet.
#[derive(Debug, Default)]
pub(super) struct Pending {
    columns: Columns,
    spans: Vec<Span>,
    rows: Rows,
}

/// A frame without its escapes.
#[derive(Clone, Copy)]
struct Frame<'a> {
    /// Its bytes, and [`SLACK`] more that mean nothing.
    bytes: &'a [u8],
    /// How many bytes it has, its checksum among them.
    length: usize,
    cut: Cut,
}

/// What stands before the arguments.
#[derive(Clone, Copy)]
struct Header {
    id: u32,
    number: Option<u8>,
    stamp: Option<u32>,
    /// Its bytes.
    length: usize,
}

/// Why a frame is not believed.
#[derive(Clone, Copy)]
enum Fault {
    Aborted,
    Oversize,
    BadChecksum,
    Short,
    UnknownId,
    BadArguments,
}

impl Fault {
    const fn message(self) -> &'static str {
        match self {
            Self::Aborted => "a frame was given up: an escape stands before its flag",
            Self::Oversize => "expected a flag within 1024 bytes, found none",
            Self::BadChecksum => "the bytes of a frame do not add up to 0",
            Self::Short => "a frame is shorter than its header",
            Self::UnknownId => "a frame has an unknown id and no checksum that would vouch for it",
            Self::BadArguments => "the arguments of a frame do not end where it ends",
        }
    }
}

impl Piece<'_> {
    /// Reads all whole frames; how many bytes are done with. With `last`, what follows the last
    /// flag is done with, too.
    pub(super) fn read(mut self, last: bool) -> ControlFlow<(), usize> {
        let mut cutter = Cutter::new(self.bytes);
        if self.state.hunting && !self.found_flag(&mut cutter) {
            return ControlFlow::Continue(self.bytes.len());
        }
        let mut scratch = [0; LONGEST_FRAME + SLACK];
        for cut in cutter.by_ref() {
            match unstuffed(self.bytes, cut, &mut scratch) {
                Ok(frame) => self.frame(frame)?,
                Err(fault) => self.fault(fault, cut)?,
            }
        }
        let rest = self.unfinished(cutter.rest(), last, &mut scratch)?;
        self.flush()?;
        ControlFlow::Continue(rest)
    }

    /// Drops bytes up to a flag; false where there is none.
    fn found_flag(&mut self, cutter: &mut Cutter<'_>) -> bool {
        let found = cutter.skip_to_flag();
        let dropped = if found { cutter.rest() - 1 } else { self.bytes.len() };
        self.state.counts.dropped_bytes += dropped as u64;
        self.state.hunting = !found;
        found
    }

    /// What follows the last flag: the start of a frame, or too much to be one. Returns how many
    /// bytes are done with.
    fn unfinished(
        &mut self,
        start: usize,
        last: bool,
        scratch: &mut Scratch,
    ) -> ControlFlow<(), usize> {
        let cut = Cut { start, end: self.bytes.len(), escaped: true };
        match unstuffed(self.bytes, cut, scratch) {
            Err(Fault::Oversize) => {
                self.fault(Fault::Oversize, cut)?;
                self.state.hunting = true;
                // Those behind the limit belong to nothing.
                ControlFlow::Continue(cut.end)
            }
            _ if last => {
                self.state.counts.tail_bytes += (cut.end - start) as u64;
                ControlFlow::Continue(cut.end)
            }
            _ => ControlFlow::Continue(start),
        }
    }

    #[inline]
    fn frame(&mut self, frame: Frame<'_>) -> Flow {
        let whole = frame.bytes.get(..frame.length).unwrap_or_default();
        if let Some(configuration) = Configuration::recognise(whole) {
            self.configure(&configuration)?;
            if configuration.form == Form::Thirteen {
                let header = Header::bare(&self.state.settings, frame.bytes);
                return self.event(frame, header);
            }
        }
        if self.state.settings.checksum && !checksum::holds(whole) {
            return self.fault(Fault::BadChecksum, frame.cut);
        }
        let header = Header::read(&self.state.settings, frame.bytes);
        self.event(frame, header)
    }

    /// A frame that its checksum, if it has one, vouches for.
    #[inline]
    fn event(&mut self, frame: Frame<'_>, header: Header) -> Flow {
        let settings = self.state.settings;
        let end = frame.length.checked_sub(usize::from(settings.checksum));
        let Some(length) = end.and_then(|end| end.checked_sub(header.length)) else {
            return self.fault(Fault::Short, frame.cut);
        };
        let bytes = frame.bytes.get(header.length..).unwrap_or_default();
        let arguments = Arguments { bytes, length };
        let code = ids::code(header.id, settings.id, self.state.dialect.has_groups());
        if !settings.checksum
            && let Err(fault) = self.state.check(code, arguments)
        {
            return self.fault(fault, frame.cut);
        }
        if let Some(number) = header.number {
            let order = self.state.session.number(number, header.stamp);
            if order != Order::Next {
                self.out_of_order(order, frame.cut)?;
            }
        }
        if let Some(stamp) = header.stamp {
            self.state.session.stamp(stamp);
            if !self.state.stamped {
                self.state.stamped = true;
                self.trace.clock.first_stamp = u64::from(stamp);
            }
        }
        self.push(frame.cut, header.id, code, arguments)
    }

    /// Adds an event to the batch.
    #[inline]
    fn push(&mut self, cut: Cut, id: u32, code: Option<u8>, arguments: Arguments<'_>) -> Flow {
        let state = &mut *self.state;
        let rows = &mut state.pending.rows;
        let row = rows.end();
        let added = add(&state.plans, rows, &state.settings, code, arguments);
        let (step, symbol) = added.map_or((Step::Elsewhere, None), |p| (p.step, p.symbol));
        let context = match step {
            Step::Elsewhere => state.running.unwrap_or(state.framework),
            Step::Of(slot) | Step::Ends(slot) => {
                let context = state.symbols.active_object(self.trace, rows.value(row, slot));
                state.running = matches!(step, Step::Of(_)).then_some(context);
                context
            }
        };
        let id = match code {
            Some(code) => state.base + u32::from(code),
            None => id.saturating_add(NO_CODE),
        };
        let fault = added.err();
        // A piece is shorter than 2^32 bytes, and so are the rows of a batch.
        let [start, end, payload] = [cut.start, cut.end, row].map(|at| at as u32);
        state.pending.columns.ticks.push(state.session.ticks());
        state.pending.columns.context.push(context);
        state.pending.columns.id.push(id);
        state.pending.spans.push(Span { start, payload, end });
        state.counts.good += u64::from(fault.is_none());
        if let Some(fault) = fault {
            self.state.pending.rows.empty();
            self.not_understood(fault, cut, id);
        }
        if let Some(symbol) = symbol {
            return self.name(&symbol, row);
        }
        if self.state.pending.spans.len() >= BATCH { self.flush() } else { Flow::Continue(()) }
    }

    /// Notes what the last event, whose row begins at byte `row`, says of a name.
    #[cold]
    fn name(&mut self, symbol: &SymbolPlan, row: usize) -> Flow {
        let row = self.state.pending.rows.bytes().get(row..).unwrap_or_default().to_vec();
        // Events before this one keep what their addresses were called then.
        self.flush()?;
        let ticks = self.state.session.ticks();
        self.state.symbols.add(self.trace, symbol, &row, ticks);
        Flow::Continue(())
    }

    /// A frame that is whole, but not what its id says, or of an unknown id.
    #[cold]
    fn not_understood(&mut self, fault: Fault, cut: Cut, id: u32) {
        let offset = self.offset + cut.start as u64;
        let state = &mut *self.state;
        let message = match fault {
            Fault::BadArguments => {
                state.counts.bad_args += 1;
                format!("{}: {}", self.trace.schema.event(id).label, fault.message())
            }
            _ => {
                state.counts.unknown_id += 1;
                format!("event id {id} is unknown in dialect {}", state.dialect)
            }
        };
        let hint = "; is another dialect or are other sizes right? (-O dialect=, -O sig=, ...)";
        let hint = if std::mem::replace(&mut state.warned, true) { "" } else { hint };
        self.trace.diagnostics.add(Severity::Warning, offset, format!("{message}{hint}"));
    }

    /// A frame that is not believed.
    #[cold]
    fn fault(&mut self, fault: Fault, cut: Cut) -> Flow {
        let counts = &mut self.state.counts;
        let count = match fault {
            Fault::Aborted => &mut counts.aborted,
            Fault::Oversize => &mut counts.oversize,
            Fault::BadChecksum => &mut counts.bad_checksum,
            Fault::Short => &mut counts.short,
            Fault::UnknownId => &mut counts.unknown_id,
            Fault::BadArguments => &mut counts.bad_args,
        };
        *count += 1;
        let offset = self.offset + cut.start as u64;
        self.trace.diagnostics.add(Severity::Damage, offset, fault.message());
        // Where frames are numbered, the next good one tells how many are missing.
        let events = self.state.settings.sequence.then_some(0);
        self.lose(events, LossCause::Damaged, cut)
    }

    #[cold]
    fn out_of_order(&mut self, order: Order, cut: Cut) -> Flow {
        let offset = self.offset + cut.start as u64;
        match order {
            Order::Next => Flow::Continue(()),
            Order::Restarted => {
                self.flush()?;
                self.state.counts.restarts += 1;
                self.state.session.restart();
                self.state.running = None;
                let message = "the target has started again: numbers and stamps begin anew";
                self.trace.diagnostics.add(Severity::Note, offset, message);
                Flow::Continue(())
            }
            Order::Gap(missing) => {
                self.state.counts.sequence_gaps += 1;
                self.state.counts.lost_frames += u64::from(missing);
                self.state.running = None;
                if missing == u8::MAX {
                    let message = "a frame has the number of the one before: twice, or 255 lost";
                    self.trace.diagnostics.add(Severity::Warning, offset, message);
                }
                self.lose(Some(u64::from(missing)), LossCause::Missing, cut)
            }
        }
    }

    fn lose(&mut self, events: Option<u64>, cause: LossCause, cut: Cut) -> Flow {
        self.flush()?;
        let offset = self.offset + cut.start as u64;
        let loss = Loss { before: self.trace.events, events, cause, offset };
        self.trace.losses.add(&loss);
        self.sink.loss(self.trace, &loss)
    }

    /// Gives the events at hand to the sink.
    fn flush(&mut self) -> Flow {
        let pending = &mut self.state.pending;
        if pending.spans.is_empty() {
            return Flow::Continue(());
        }
        pending.columns.cpu.resize(pending.spans.len(), 0);
        pending.columns.priority.resize(pending.spans.len(), NO_PRIORITY);
        let (spans, payloads) = (&pending.spans, pending.rows.bytes());
        let records = Records::decoded(self.bytes, self.offset, spans, payloads);
        let batch = Batch { first: self.trace.events, columns: &pending.columns, records };
        self.trace.events += spans.len() as u64;
        self.trace.span = self.state.session.ticks();
        let flow = self.sink.events(self.trace, &batch);
        let Columns { ticks, context, id, .. } = &mut pending.columns;
        (ticks.clear(), context.clear(), id.clear());
        pending.spans.clear();
        pending.rows.clear();
        flow
    }

    /// Takes what a configuration record says. Names end here: the target may have started again.
    #[cold]
    fn configure(&mut self, configuration: &Configuration) -> Flow {
        self.flush()?;
        let state = &mut *self.state;
        let Some(dialect) = configuration.dialect() else { return Flow::Continue(()) };
        state.symbols.forget(self.trace, state.session.ticks());
        state.version = configuration.version;
        state.settings = configuration.settings;
        state.settings.function = state.known.function.unwrap_or(state.settings.pointer);
        if dialect != state.dialect {
            state.dialect = dialect;
            if state.own_schema {
                self.trace.schema = state.schema_with(dialect, self.trace);
            }
        }
        state.session.configure(&state.settings);
        state.plan(self.trace);
        let trace = &mut *self.trace;
        trace.clock.counter = state.session.counter();
        let announced = Rate::new(u64::from(configuration.stamps_per_second), 1);
        trace.clock.rate = state.known.rate.or(announced).or(trace.clock.rate);
        Flow::Continue(())
    }
}

/// The arguments of a record.
#[derive(Clone, Copy)]
struct Arguments<'a> {
    /// They, and [`SLACK`] bytes more.
    bytes: &'a [u8],
    length: usize,
}

impl RkhDecoder {
    /// Whether a record is what its id says.
    fn check(&mut self, code: Option<u8>, arguments: Arguments<'_>) -> Result<(), Fault> {
        let rows = &mut self.pending.rows;
        let row = rows.end();
        add(&self.plans, rows, &self.settings, code, arguments)?;
        rows.truncate(row);
        Ok(())
    }

    /// The schema of a stream that changes its dialect: ids of a second one get a place of their
    /// own behind those of the first, for events of both may be in one trace.
    fn schema_with(&mut self, dialect: Dialect, trace: &Trace) -> Arc<Schema> {
        if trace.events == 0 {
            self.bases = vec![dialect];
        }
        let known = self.bases.iter().position(|known| *known == dialect);
        let position = known.unwrap_or(self.bases.len());
        self.base = 256 * position as u32;
        if known.is_some() && trace.events > 0 {
            return trace.schema.clone();
        }
        if position == 0 {
            return schema(dialect);
        }
        self.bases.push(dialect);
        let mut both = Schema::clone(&trace.schema);
        both.adopt(&schema(dialect), self.base);
        Arc::new(both)
    }
}

/// Adds the row of a record; which plan it followed.
#[inline]
fn add<'a>(
    plans: &'a Option<Plans>,
    rows: &mut Rows,
    settings: &Settings,
    code: Option<u8>,
    arguments: Arguments<'_>,
) -> Result<&'a Plan, Fault> {
    let plans = plans.as_ref();
    let Some((code, plan)) = code.and_then(|code| Some((code, plans?.get(code)?))) else {
        return Err(Fault::UnknownId);
    };
    let Arguments { bytes, length } = arguments;
    if rows.add(plan, code, settings, bytes, length) { Ok(plan) } else { Err(Fault::BadArguments) }
}

impl Header {
    #[inline]
    fn read(settings: &Settings, bytes: &[u8]) -> Self {
        let mut header = Self::bare(settings, bytes);
        if settings.sequence {
            header.number = bytes.get(header.length).copied();
            header.length += 1;
        }
        if settings.stamp > 0 {
            header.stamp = Some(number(bytes, header.length, settings.stamp));
            header.length += usize::from(settings.stamp);
        }
        header
    }

    /// An id alone.
    #[inline]
    fn bare(settings: &Settings, bytes: &[u8]) -> Self {
        let id = number(bytes, 0, settings.id);
        Self { id, number: None, stamp: None, length: usize::from(settings.id) }
    }
}

/// The little-endian number of 1, 2 or 4 bytes at a place; 0 where there is none.
#[inline]
fn number(bytes: &[u8], at: usize, size: u8) -> u32 {
    let word = bytes.get(at..).and_then(|bytes| bytes.first_chunk());
    let word = word.map_or(0, |bytes| u32::from_le_bytes(*bytes));
    match size {
        1 => word & 0xFF,
        2 => word & 0xFFFF,
        _ => word,
    }
}

/// A frame without its escapes: where it lies if it has none, in `scratch` if it has.
#[inline]
fn unstuffed<'a>(bytes: &'a [u8], cut: Cut, scratch: &'a mut Scratch) -> Result<Frame<'a>, Fault> {
    let length = cut.end - cut.start;
    if !cut.escaped
        && length <= LONGEST_FRAME
        && let Some(bytes) = bytes.get(cut.start..cut.end + SLACK)
    {
        return Ok(Frame { bytes, length, cut });
    }
    let stuffed = bytes.get(cut.start..cut.end).unwrap_or_default();
    let (room, _) = scratch.split_at_mut(LONGEST_FRAME);
    match unstuff(stuffed, room) {
        Unstuffed::Frame(length) => {
            let bytes = scratch.get(..length + SLACK).unwrap_or_default();
            Ok(Frame { bytes, length, cut })
        }
        Unstuffed::Aborted => Err(Fault::Aborted),
        Unstuffed::TooLong => Err(Fault::Oversize),
    }
}
