//! Delivers events and losses from a decoder to a sink, and keeps the trace's counts.
//!
//! A decoder creates an [`Emitter`] in each call of `decode` and adds single events with one of
//! three functions. They expect the bytes of the record and of the payload in different places:
//!
//! | function | record | payload |
//! |---|---|---|
//! | [`Emitter::event`] | in the window | the record without its head |
//! | [`Emitter::decoded`] | in the window | appended to [`EventBuffer::payloads`] |
//! | [`Emitter::copied`] | appended to [`EventBuffer::copies`] | appended to [`EventBuffer::payloads`] |
//!
//! If a decoder's hot loop adds many small events, the decoder first calls [`Emitter::room`], which
//! returns a number of events. The decoder then adds up to that many events with [`Emitter::add`],
//! which checks nothing. For events like those of [`Emitter::copied`], it calls
//! [`Emitter::room_for_copied`] and [`Emitter::add_copied`] instead.
//!
//! A decoder whose hot loop fills whole columns uses [`Emitter::columns`] and [`Emitter::batch`].

use std::ops::Range;

use super::{
    Batch, Columns, ContextId, Flow, Loss, LossCause, Priority, Records, Severity, Slices,
};
use super::{Sink, Span, Trace};

/// The events that a decoder has added but not delivered yet.
///
/// A decoder keeps one buffer across calls, so that its memory is allocated once. The buffer is
/// empty between calls, because events point into the window of bytes, and the next call replaces
/// that window.
#[derive(Debug, Default)]
pub struct EventBuffer {
    /// The added events. The columns are filled only at delivery, because growing one vector takes
    /// fewer instructions than growing seven.
    added: Vec<Added>,
    columns: Columns,
    spans: Vec<Span>,
    /// Source offset of each record; used for [`Shape::Copied`] only.
    offsets: Vec<u64>,
    /// Decoded payloads of the added events. Append the payload of the next event here, then call
    /// [`Emitter::decoded`] or [`Emitter::copied`].
    pub payloads: Vec<u8>,
    /// Records that are not contiguous in the window. Append the next record here, then call
    /// [`Emitter::copied`].
    pub copies: Vec<u8>,
    shape: Shape,
    /// The positions in spans of the window count from this offset in the source.
    origin: u64,
    /// Numbers of bytes in `payloads` and in `copies` that belong to added events.
    claimed: (usize, usize),
}

/// An added event with the location of its bytes.
#[derive(Clone, Copy, Debug)]
struct Added {
    event: NewEvent,
    span: Span,
    /// Source offset of the record; used for [`Shape::Copied`] only.
    offset: u64,
}

/// The location of a batch's records and payloads.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Shape {
    #[default]
    InPlace,
    Decoded,
    Copied,
}

/// The columns of one event that has no number yet.
#[derive(Clone, Copy, Debug)]
pub struct NewEvent {
    /// Ticks since the first event of the trace; [`Emitter::ticks`] computes them.
    pub ticks: u64,
    /// The core that recorded the event.
    pub cpu: u16,
    /// The context that recorded the event.
    pub context: ContextId,
    /// Event id; the schema has an entry for it.
    pub id: u32,
    /// Priority of the context.
    pub priority: Priority,
}

impl NewEvent {
    /// Returns an event of core 0 without a priority.
    pub const fn new(ticks: u64, context: ContextId, id: u32) -> Self {
        Self { ticks, cpu: 0, context, id, priority: Priority::NONE }
    }
}

/// The bytes that a decoder currently sees.
#[derive(Clone, Copy, Debug)]
pub struct Window<'a> {
    /// The available bytes, without consumed bytes.
    pub bytes: &'a [u8],
    /// Offset in the source at which `bytes` begins.
    pub offset: u64,
}

/// Delivers events and losses to a sink during one call.
///
/// Every event and loss passes through the emitter, which therefore maintains the event numbers,
/// the loss counts, the length of the trace and the number of cores.
///
/// ```
/// use std::sync::Arc;
///
/// use tracewell::model::schema::Schema;
/// use tracewell::model::{
///     Batch, Clock, ContextId, Emitter, EventBuffer, Flow, LossCause, NewEvent, PayloadLayout,
///     Rate, Sink, Trace, Window,
/// };
///
/// struct Print;
///
/// impl Sink for Print {
///     fn events(&mut self, _: &Trace, batch: &Batch<'_>) -> Flow {
///         batch.events().for_each(|event| println!("{} {:?}", event.ticks, event.payload));
///         Flow::Continue(())
///     }
/// }
///
/// let schema = Arc::new(Schema::parse("", "toy").unwrap());
/// let clock = Clock::of_64_bits(Rate::new(1_000, 1));
/// let mut trace = Trace::new("toy", schema, PayloadLayout::Fields(&[]), clock);
/// let window = Window { bytes: b"abcd", offset: 0 };
/// let (mut buffer, mut sink) = (EventBuffer::default(), Print);
/// let mut out = Emitter::new(&mut buffer, window, &mut trace, &mut sink);
/// let ticks = out.ticks(500);
/// let _ = out.event(NewEvent::new(ticks, ContextId(0), 1), 0..2, 1);
/// let ticks = out.ticks(507);
/// let _ = out.event(NewEvent::new(ticks, ContextId(0), 2), 2..4, 1);
/// let _ = out.loss(Some(3), LossCause::Overwritten, 4);
/// let _ = out.flush();
///
/// assert_eq!((trace.events, trace.span), (2, 7));
/// assert_eq!(trace.losses.events(), Some(3));
/// ```
#[allow(missing_debug_implementations, reason = "sinks have none")]
pub struct Emitter<'a> {
    /// The trace that the events belong to.
    pub trace: &'a mut Trace,
    /// The events added so far.
    pub buffer: &'a mut EventBuffer,
    /// The bytes to which the positions of records refer.
    pub window: Window<'a>,
    sink: &'a mut dyn Sink,
}

impl<'a> Emitter<'a> {
    /// Number of events after which a batch is delivered. The columns, rows and records of a batch
    /// together fit into the second-level cache.
    pub const EVENTS: usize = 4096;

    /// Number of bytes of payloads or copied records after which a batch is delivered.
    pub const BYTES: usize = 1 << 20;

    /// Returns an emitter for the records in `window`. Clears the buffer.
    pub fn new(
        buffer: &'a mut EventBuffer,
        window: Window<'a>,
        trace: &'a mut Trace,
        sink: &'a mut dyn Sink,
    ) -> Self {
        buffer.clear();
        Self { trace, buffer, sink, window }
    }

    /// Returns the ticks from the first event to a timestamp. The first timestamp becomes the
    /// origin of the clock.
    #[inline]
    pub fn ticks(&mut self, stamp: u64) -> u64 {
        if self.trace.events == 0 && self.buffer.added.is_empty() {
            self.trace.clock.first_stamp = stamp;
        }
        stamp.saturating_sub(self.trace.clock.first_stamp)
    }

    /// Returns the ticks of the event added last; 0 before the first event.
    #[inline]
    pub fn last_ticks(&self) -> u64 {
        let delivered = || self.buffer.columns.ticks.last().copied();
        let last = self.buffer.added.last().map(|added| added.event.ticks).or_else(delivered);
        last.unwrap_or(self.trace.span)
    }

    /// Adds an event. The event's record is the byte range `record` of the source. The event's
    /// payload is the record without the first `head` bytes.
    #[inline]
    pub fn event(&mut self, event: NewEvent, record: Range<u64>, head: u32) -> Flow {
        let span = self.place(record, Shape::InPlace)?;
        self.push(event, Span { payload: span.start + head, ..span }, 0);
        Flow::Continue(())
    }

    /// Adds an event. The event's record is the byte range `record` of the source. The caller has
    /// appended the event's payload to [`EventBuffer::payloads`] since the previous event.
    #[inline]
    pub fn decoded(&mut self, event: NewEvent, record: Range<u64>) -> Flow {
        let span = self.place(record, Shape::Decoded)?;
        let payload = self.buffer.claimed.0 as u32;
        self.push(event, Span { payload, ..span }, 0);
        Flow::Continue(())
    }

    /// Reserves room for events of the kind that [`Emitter::decoded`] adds. Their records are
    /// within `records`. Returns the number of events for which there is room, at least 1;
    /// [`Emitter::add`] adds them. The limit for the bytes of payloads is checked only here, so
    /// these payloads must be small.
    #[inline]
    pub fn room(&mut self, records: Range<u64>) -> Flow<usize> {
        self.place(records, Shape::Decoded)?;
        Flow::Continue(Self::EVENTS - self.buffer.added.len())
    }

    /// Adds an event as [`Emitter::decoded`] does. [`Emitter::room`] must have made room for it.
    #[inline]
    pub fn add(&mut self, event: NewEvent, record: Range<u64>) {
        let from_origin = |position: u64| position.wrapping_sub(self.buffer.origin) as u32;
        let payload = self.buffer.claimed.0 as u32;
        let (start, end) = (from_origin(record.start), from_origin(record.end));
        self.push(event, Span { start, payload, end }, 0);
    }

    /// Adds an event. Since the previous event, the caller has appended the new event's record to
    /// [`EventBuffer::copies`], and the payload of this record to [`EventBuffer::payloads`].
    /// `offset` is the offset of the record in the source.
    #[inline]
    pub fn copied(&mut self, event: NewEvent, offset: u64) -> Flow {
        self.make_room(Shape::Copied)?;
        self.add_copied(event, offset);
        Flow::Continue(())
    }

    /// Makes room for events of the kind that [`Emitter::copied`] adds. Returns the number of
    /// events for which there is room, at least 1; [`Emitter::add_copied`] adds them. Only this
    /// function checks the limit on the bytes of payloads and copies, so call it again after each
    /// large record.
    #[inline]
    pub fn room_for_copied(&mut self) -> Flow<usize> {
        self.make_room(Shape::Copied)?;
        Flow::Continue(Self::EVENTS - self.buffer.added.len())
    }

    /// Adds an event as [`Emitter::copied`] does. [`Emitter::room_for_copied`] must have made room
    /// for it.
    #[inline]
    pub fn add_copied(&mut self, event: NewEvent, offset: u64) {
        let (payload, start) = self.buffer.claimed;
        // Copies and payloads are far smaller than 4 GiB: `make_room` limits them, and a record has
        // at most 64 MiB.
        let [start, payload, end] =
            [start, payload, self.buffer.copies.len()].map(|position| position as u32);
        self.push(event, Span { start, payload, end }, offset);
    }

    /// Makes room for a record in the batch, and returns the span of the record in the window.
    #[inline]
    fn place(&mut self, record: Range<u64>, shape: Shape) -> Flow<Span> {
        // The positions in a span have 32 bits and are relative to the origin. So a record before
        // the origin, or more than 4 GiB after it, needs a new batch.
        let far = record.start < self.buffer.origin
            || record.end - self.buffer.origin > u64::from(u32::MAX);
        if far && !self.buffer.added.is_empty() {
            self.flush()?;
        }
        self.make_room(shape)?;
        if self.buffer.added.is_empty() {
            self.buffer.origin = record.start;
        }
        let from_origin = |position: u64| (position - self.buffer.origin) as u32;
        let start = from_origin(record.start);
        Flow::Continue(Span { start, payload: start, end: from_origin(record.end) })
    }

    /// Delivers the batch if it is full, or if its records do not have this shape.
    #[inline]
    fn make_room(&mut self, shape: Shape) -> Flow {
        let EventBuffer { added, claimed, .. } = &*self.buffer;
        let full = added.len() >= Self::EVENTS || claimed.0.max(claimed.1) >= Self::BYTES;
        if full || shape != self.buffer.shape {
            self.flush()?;
            self.buffer.shape = shape;
        }
        Flow::Continue(())
    }

    #[inline]
    fn push(&mut self, event: NewEvent, span: Span, offset: u64) {
        let EventBuffer { added, payloads, copies, claimed, .. } = &mut *self.buffer;
        added.push(Added { event, span, offset });
        *claimed = (payloads.len(), copies.len());
    }

    /// Delivers the events that were added. Call this after the last event of a window, and before
    /// the trace gets names that apply only to later events.
    pub fn flush(&mut self) -> Flow {
        let buffer = &mut *self.buffer;
        if buffer.added.is_empty() {
            return Flow::Continue(());
        }
        buffer.fill_columns();
        let start = buffer.origin.wrapping_sub(self.window.offset) as usize;
        let window = self.window.bytes.get(start..).unwrap_or_default();
        let payloads = buffer.payloads.get(..buffer.claimed.0).unwrap_or_default();
        let records = match buffer.shape {
            Shape::InPlace => Records::variable(window, buffer.origin, &buffer.spans),
            Shape::Decoded => Records::decoded(window, buffer.origin, &buffer.spans, payloads),
            Shape::Copied => Records::decoded(&buffer.copies, 0, &buffer.spans, payloads)
                .from_places(&buffer.offsets),
        };
        // Events of one batch can be slightly out of order, so the length of the trace is the
        // maximum.
        self.trace.span = buffer.columns.ticks.iter().copied().fold(self.trace.span, u64::max);
        let flow = deliver(self.trace, self.sink, &buffer.columns, records);
        buffer.remove_delivered();
        flow
    }

    /// Calls `fill` with the columns of the next batch, which still contain the rows of the
    /// previous batch. Call [`Emitter::batch`] afterwards.
    pub fn columns<T>(&mut self, fill: impl FnOnce(&mut Trace, &mut Columns) -> T) -> T {
        fill(self.trace, &mut self.buffer.columns)
    }

    /// Delivers the columns with the records from which they were decoded. The ticks must not
    /// decrease.
    pub fn batch(&mut self, records: Records<'_>) -> Flow {
        let last = self.buffer.columns.ticks.last().copied().unwrap_or(0);
        self.trace.span = self.trace.span.max(last);
        deliver(self.trace, self.sink, &self.buffer.columns, records)
    }

    /// Returns true if the sink receives slices instead of batches; see [`Emitter::slices`].
    pub fn takes_slices(&self) -> bool {
        self.trace.events > 0 && self.sink.takes_slices(self.trace)
    }

    /// Delivers `events` events as slices. Call this only if [`Emitter::takes_slices`] returns
    /// true. The ticks must not decrease.
    pub fn slices(&mut self, slices: &dyn Slices, events: u64) -> Flow {
        self.sink.slices(self.trace, slices)?;
        let last = slices.before(self.trace, slices.count());
        self.trace.events += events;
        self.trace.span = self.trace.span.max(last.ticks);
        Flow::Continue(())
    }

    /// Delivers the events that were added, then reports a loss.
    pub fn loss(&mut self, events: Option<u64>, cause: LossCause, offset: u64) -> Flow {
        self.flush()?;
        let loss = Loss { before: self.trace.events, events, cause, offset };
        self.trace.losses.add(&loss);
        self.sink.loss(self.trace, &loss)
    }

    /// Adds a diagnostic about damaged bytes, then reports the loss as [`Emitter::loss`] does.
    pub fn damage(
        &mut self,
        message: impl Into<String>,
        (events, cause): (Option<u64>, LossCause),
        offset: u64,
    ) -> Flow {
        self.trace.diagnostics.add(Severity::Damage, offset, message);
        self.loss(events, cause, offset)
    }
}

/// Gives numbers to the events of a batch, and passes the batch to the sink.
fn deliver(
    trace: &mut Trace,
    sink: &mut dyn Sink,
    columns: &Columns,
    records: Records<'_>,
) -> Flow {
    let batch = Batch { first: trace.events, columns, records };
    trace.events += batch.len() as u64;
    let core = columns.cpu.iter().copied().fold(0, u16::max);
    trace.cpus = trace.cpus.max(core.saturating_add(1));
    sink.events(trace, &batch)
}

impl EventBuffer {
    /// Number of added events in a group. Each group is moved to all columns before the next group.
    /// A group fits into the first-level cache, so the loop for each further column finds the
    /// events there.
    const CACHED: usize = 128;

    fn clear(&mut self) {
        self.payloads.clear();
        self.copies.clear();
        self.claimed = (0, 0);
        self.remove_delivered();
    }

    /// Moves the added events to the columns, which must be empty.
    fn fill_columns(&mut self) {
        let Self { added, columns, spans, offsets, .. } = self;
        for added in added.chunks(Self::CACHED) {
            let events = || added.iter().map(|added| &added.event);
            columns.ticks.extend(events().map(|event| event.ticks));
            columns.cpu.extend(events().map(|event| event.cpu));
            columns.context.extend(events().map(|event| event.context));
            columns.id.extend(events().map(|event| event.id));
            columns.priority.extend(events().map(|event| event.priority));
            spans.extend(added.iter().map(|added| added.span));
            if self.shape == Shape::Copied {
                offsets.extend(added.iter().map(|added| added.offset));
            }
        }
        added.clear();
    }

    /// Empties the batch, but keeps the bytes that the caller has already appended for the next
    /// event.
    fn remove_delivered(&mut self) {
        self.added.clear();
        self.columns.resize(0);
        self.spans.clear();
        self.offsets.clear();
        let (payloads, copies) = std::mem::take(&mut self.claimed);
        self.payloads.drain(..payloads);
        self.copies.drain(..copies);
    }
}
