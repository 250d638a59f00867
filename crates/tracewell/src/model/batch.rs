//! Events as columns, with the bytes from which they were decoded.
//!
//! A decoder reuses one [`Columns`]. The decoder lends these columns to the sink as a [`Batch`],
//! together with a view of the source bytes. So no event is copied, and no event needs an
//! allocation.

use std::fmt;
use std::ops::Range;

use super::ContextId;

/// Priority of the context that recorded an event, or [`Priority::NONE`]. A value of this type
/// occupies two bytes, so a column of priorities needs two bytes per event.
///
/// ```
/// use tracewell::model::Priority;
///
/// assert_eq!(Priority::new(31).get(), Some(31));
/// assert_eq!(Priority::NONE.get(), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Priority(u16);

impl Priority {
    /// No priority, because the record contains none.
    pub const NONE: Self = Self(u16::MAX);

    /// Creates a priority from the recorded number. The number 65,535 means no priority; no dialect
    /// uses it as a priority.
    #[inline]
    pub const fn new(priority: u16) -> Self {
        Self(priority)
    }

    /// Returns the number, or `None` if the record contains no priority.
    #[inline]
    pub const fn get(self) -> Option<u16> {
        if self.0 == Self::NONE.0 { None } else { Some(self.0) }
    }
}

impl Default for Priority {
    fn default() -> Self {
        Self::NONE
    }
}

impl fmt::Debug for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

/// The columns of a batch; all have the same length.
///
/// ```
/// use tracewell::model::{Columns, Priority};
///
/// let mut columns = Columns::default();
/// columns.resize(2);
/// assert_eq!(columns.priority, [Priority::NONE, Priority::NONE]);
/// ```
#[derive(Debug, Default)]
pub struct Columns {
    /// Ticks since the first event of the trace. They have 64 bits, and keep growing when the
    /// counter wraps. Within a source, ticks never decrease, unless the clock of the source went
    /// backwards.
    pub ticks: Vec<u64>,
    /// The core that recorded the event; 0 if there is only one.
    pub cpu: Vec<u16>,
    /// The context that recorded the event.
    pub context: Vec<ContextId>,
    /// Event id; the schema has an entry for it.
    pub id: Vec<u32>,
    /// Priority of the context when it recorded the event.
    pub priority: Vec<Priority>,
}

impl Columns {
    /// Replaces all rows by the given rows of other columns.
    fn copy_rows(&mut self, from: &Self, rows: Range<usize>) {
        fn copy<T: Copy>(to: &mut Vec<T>, from: &[T], rows: &Range<usize>) {
            to.clear();
            to.extend_from_slice(from.get(rows.clone()).unwrap_or_default());
        }
        copy(&mut self.ticks, &from.ticks, &rows);
        copy(&mut self.cpu, &from.cpu, &rows);
        copy(&mut self.context, &from.context, &rows);
        copy(&mut self.id, &from.id, &rows);
        copy(&mut self.priority, &from.priority, &rows);
    }

    /// Resizes every column to this number of rows. Existing rows keep their values.
    pub fn resize(&mut self, rows: usize) {
        self.ticks.resize(rows, 0);
        self.cpu.resize(rows, 0);
        self.context.resize(rows, ContextId::default());
        self.id.resize(rows, 0);
        self.priority.resize(rows, Priority::NONE);
    }
}

/// Bounds of one record of variable length, as offsets in the bytes of [`Records`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    /// First byte of the record.
    pub start: u32,
    /// First byte of its payload.
    pub payload: u32,
    /// First byte after the record.
    pub end: u32,
}

/// The bytes from which the events of a batch were decoded.
///
/// ```
/// use tracewell::model::Records;
///
/// // Records of 4 bytes with a head of 1 byte, from offset 100 of the source.
/// let records = Records::fixed(b"abcdefgh", 100, 4, 1);
/// assert_eq!((records.record(1), records.payload(1)), (&b"efgh"[..], &b"fgh"[..]));
/// assert_eq!(records.offset(1), 104);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Records<'a> {
    bytes: &'a [u8],
    offset: u64,
    shape: Shape<'a>,
    /// Offset of each record in the source; empty if the records are contiguous.
    offsets: &'a [u64],
}

#[derive(Clone, Copy, Debug)]
enum Shape<'a> {
    Fixed { size: usize, payload: usize },
    Variable(&'a [Span]),
    Decoded { spans: &'a [Span], payloads: &'a [u8] },
}

impl<'a> Records<'a> {
    /// Creates contiguous records of `size` bytes. The payload of each record extends from byte
    /// `payload` to the end of the record. `offset` is the offset of `bytes` in the source.
    pub fn fixed(bytes: &'a [u8], offset: u64, size: usize, payload: usize) -> Self {
        Self { bytes, offset, shape: Shape::Fixed { size, payload }, offsets: &[] }
    }

    /// Creates records of different lengths, with one span each.
    pub fn variable(bytes: &'a [u8], offset: u64, spans: &'a [Span]) -> Self {
        Self { bytes, offset, shape: Shape::Variable(spans), offsets: &[] }
    }

    /// Creates records of different lengths. Each record has a span and a decoded payload. The
    /// field `payload` of a span is an offset in `payloads`. A payload ends where the next payload
    /// begins.
    pub fn decoded(bytes: &'a [u8], offset: u64, spans: &'a [Span], payloads: &'a [u8]) -> Self {
        Self { bytes, offset, shape: Shape::Decoded { spans, payloads }, offsets: &[] }
    }

    /// Sets the offset of each record in the source.
    #[must_use]
    pub fn from_places(self, offsets: &'a [u64]) -> Self {
        Self { offsets, ..self }
    }

    /// Returns the bytes, the length of a record and the offset of its payload, or `None` if the
    /// records have different lengths.
    pub(super) fn fixed_size(&self) -> Option<(&'a [u8], usize, usize)> {
        match self.shape {
            Shape::Fixed { size, payload } => Some((self.bytes, size, payload)),
            Shape::Variable(_) | Shape::Decoded { .. } => None,
        }
    }

    /// Returns the records from row `row` on.
    fn starting_at(self, row: usize) -> Self {
        let offsets = self.offsets.get(row..).unwrap_or_default();
        let shape = match self.shape {
            Shape::Fixed { size, payload } => {
                let bytes = self.bytes.get(row.saturating_mul(size)..).unwrap_or_default();
                let offset = self.offset + (self.bytes.len() - bytes.len()) as u64;
                return Self { bytes, offset, shape: Shape::Fixed { size, payload }, offsets };
            }
            Shape::Variable(spans) => Shape::Variable(spans.get(row..).unwrap_or_default()),
            Shape::Decoded { spans, payloads } => {
                Shape::Decoded { spans: spans.get(row..).unwrap_or_default(), payloads }
            }
        };
        Self { shape, offsets, ..self }
    }

    /// Returns the whole record of event `row` in the source; empty if there is no such row.
    #[inline]
    pub fn record(&self, row: usize) -> &'a [u8] {
        match self.shape {
            Shape::Fixed { size, .. } => self.fixed_record(row, size),
            Shape::Variable(spans) | Shape::Decoded { spans, .. } => {
                let span = spans.get(row).map(|span| span.start as usize..span.end as usize);
                span.and_then(|span| self.bytes.get(span)).unwrap_or_default()
            }
        }
    }

    /// Returns the payload of event `row`: the bytes that the schema's arguments describe.
    #[inline]
    pub fn payload(&self, row: usize) -> &'a [u8] {
        match self.shape {
            Shape::Fixed { size, payload } => {
                self.fixed_record(row, size).get(payload..).unwrap_or_default()
            }
            Shape::Variable(spans) => {
                let span = spans.get(row).map(|span| span.payload as usize..span.end as usize);
                span.and_then(|span| self.bytes.get(span)).unwrap_or_default()
            }
            // The length of a decoded payload is not stored: the payload ends where the next
            // event's payload begins.
            Shape::Decoded { spans, payloads } => {
                let start = |row: usize| spans.get(row).map(|span| span.payload as usize);
                let Some(payload) = start(row) else { return &[] };
                let end = start(row + 1).unwrap_or(payloads.len());
                payloads.get(payload..end).unwrap_or_default()
            }
        }
    }

    /// Returns the record and the payload of event `row`.
    #[inline(always)]
    pub(crate) fn record_and_payload(&self, row: usize) -> (&'a [u8], &'a [u8]) {
        if let Shape::Fixed { size, payload } = self.shape {
            let record = self.fixed_record(row, size);
            return (record, record.get(payload..).unwrap_or_default());
        }
        (self.record(row), self.payload(row))
    }

    /// Returns the record of a row of a batch in which all records have `size` bytes. Returns an
    /// empty slice if there is no such row.
    #[inline(always)]
    fn fixed_record(&self, row: usize, size: usize) -> &'a [u8] {
        let start = row.saturating_mul(size);
        self.bytes.get(start..).and_then(|rest| rest.get(..size)).unwrap_or_default()
    }

    /// Returns the byte offset, in the source, of the record of event `row`.
    #[inline]
    pub fn offset(&self, row: usize) -> u64 {
        if let Some(offset) = self.offsets.get(row) {
            return *offset;
        }
        let start = match self.shape {
            Shape::Fixed { size, .. } => row.saturating_mul(size),
            Shape::Variable(spans) | Shape::Decoded { spans, .. } => {
                spans.get(row).map_or(0, |span| span.start as usize)
            }
        };
        self.offset + start as u64
    }
}

/// A batch of up to some thousands of events, borrowed from a decoder for one call.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// Number of the first event, counted from 0 over the whole trace.
    pub first: u64,
    /// One row per event.
    pub columns: &'a Columns,
    /// The bytes from which the events were decoded.
    pub records: Records<'a>,
}

/// One event of a batch.
#[derive(Clone, Copy, Debug)]
pub struct EventRef<'a> {
    /// Number of the event within the trace, from 0.
    pub seq: u64,
    /// Ticks since the first event.
    pub ticks: u64,
    /// The core that recorded the event.
    pub cpu: u16,
    /// The context that recorded the event.
    pub context: ContextId,
    /// Event id; the schema has an entry for it.
    pub id: u32,
    /// Priority of the context when it recorded the event.
    pub priority: Priority,
    /// The bytes that the schema's arguments describe.
    pub payload: &'a [u8],
    /// The bytes of the whole record in the source.
    pub record: &'a [u8],
}

impl<'a> Batch<'a> {
    /// Returns the number of events.
    pub fn len(&self) -> usize {
        self.columns.ticks.len()
    }

    /// Returns true if there are no events.
    pub fn is_empty(&self) -> bool {
        self.columns.ticks.is_empty()
    }

    /// Returns some consecutive events as a separate batch. The events keep their numbers. This
    /// function copies the columns of the events to `columns`.
    ///
    /// ```
    /// use tracewell::model::{Batch, Columns, Records};
    ///
    /// let columns = Columns { ticks: vec![10, 20, 30], ..Columns::default() };
    /// let records = Records::fixed(b"abcdef", 0, 2, 1);
    /// let batch = Batch { first: 7, columns: &columns, records };
    /// let mut copy = Columns::default();
    /// let part = batch.part(1..3, &mut copy);
    /// assert_eq!((part.first, part.columns.ticks.as_slice()), (8, &[20, 30][..]));
    /// assert_eq!(part.records.record(0), b"cd");
    /// ```
    pub fn part<'b>(&self, rows: Range<usize>, columns: &'b mut Columns) -> Batch<'b>
    where
        'a: 'b,
    {
        let (first, records) =
            (self.first + rows.start as u64, self.records.starting_at(rows.start));
        columns.copy_rows(self.columns, rows);
        Batch { first, columns, records }
    }

    /// Returns the event in row `row`, or `None` if the batch has no such row.
    #[inline(always)]
    pub fn event(&self, row: usize) -> Option<EventRef<'a>> {
        let columns = self.columns;
        let (record, payload) = self.records.record_and_payload(row);
        Some(EventRef {
            seq: self.first + row as u64,
            ticks: *columns.ticks.get(row)?,
            cpu: *columns.cpu.get(row)?,
            context: *columns.context.get(row)?,
            id: *columns.id.get(row)?,
            priority: *columns.priority.get(row)?,
            payload,
            record,
        })
    }

    /// Returns all events in order.
    pub fn events(&self) -> Events<'a> {
        Events { batch: *self, row: 0 }
    }
}

/// The events of a batch.
#[derive(Clone, Debug)]
pub struct Events<'a> {
    batch: Batch<'a>,
    row: usize,
}

impl<'a> Iterator for Events<'a> {
    type Item = EventRef<'a>;

    /// The function is always inlined, so that a loop loads only the columns that it uses and keeps
    /// their values in registers.
    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let event = self.batch.event(self.row)?;
        self.row += 1;
        Some(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variable_records_are_cut_by_their_spans() {
        let spans = [Span { start: 0, payload: 1, end: 3 }, Span { start: 3, payload: 3, end: 4 }];
        let records = Records::variable(b"abcd", 100, &spans);
        assert_eq!((records.record(0), records.payload(0)), (&b"abc"[..], &b"bc"[..]));
        assert_eq!((records.record(1), records.payload(1)), (&b"d"[..], &b"d"[..]));
        assert_eq!(records.offset(1), 103);
        assert_eq!(records.record(2), b"");
    }

    #[test]
    fn decoded_payloads_go_to_the_beginning_of_the_next() {
        let spans = [Span { start: 1, payload: 0, end: 3 }, Span { start: 3, payload: 2, end: 4 }];
        let records = Records::decoded(b"abcd", 100, &spans, b"12345");
        assert_eq!((records.record(0), records.payload(0)), (&b"bc"[..], &b"12"[..]));
        assert_eq!((records.record(1), records.payload(1)), (&b"d"[..], &b"345"[..]));
        assert_eq!((records.offset(1), records.payload(2)), (103, &b""[..]));
    }

    #[test]
    fn a_part_of_a_batch_has_the_records_of_its_rows() {
        let spans = [
            Span { start: 1, payload: 0, end: 3 },
            Span { start: 3, payload: 2, end: 4 },
            Span { start: 4, payload: 3, end: 6 },
        ];
        let plain = spans.map(|span| Span { payload: span.start, ..span });
        let all = [
            Records::fixed(b"abcdef", 7, 2, 1),
            Records::fixed(b"abcdef", 7, 2, 1).from_places(&[90, 80, 70]),
            Records::variable(b"abcdef", 100, &plain),
            Records::decoded(b"abcdef", 100, &spans, b"12345"),
        ];
        for records in all {
            let columns = Columns { ticks: vec![0, 1, 2], ..Columns::default() };
            let mut copy = Columns::default();
            let part = Batch { first: 5, columns: &columns, records }.part(1..2, &mut copy);
            assert_eq!((part.first, part.len(), part.columns.ticks[0]), (6, 1, 1));
            assert_eq!(part.records.record(0), records.record(1), "{records:?}");
            assert_eq!(part.records.payload(0), records.payload(1), "{records:?}");
            assert_eq!(part.records.offset(0), records.offset(1), "{records:?}");
        }
    }

    #[test]
    fn fixed_records_end_with_the_bytes() {
        let records = Records::fixed(b"abcdef", 7, 3, 2);
        assert_eq!((records.record(1), records.payload(1)), (&b"def"[..], &b"f"[..]));
        assert_eq!(records.offset(1), 10);
        assert_eq!(records.record(2), b"");
    }
}
