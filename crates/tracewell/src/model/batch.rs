//! Events as columns, with the bytes they came from.
//!
//! A decoder fills one [`Columns`] again and again and lends it out as a [`Batch`] together with a
//! view of the source bytes, so that nothing is copied and nothing is allocated for an event.

use super::ContextId;

/// The value of the priority column where an event carries none.
pub const NO_PRIORITY: u16 = u16::MAX;

/// The columns of a batch; all have the same length.
#[derive(Debug, Default)]
pub struct Columns {
    /// Ticks since the first event of the trace, unwrapped to 64 bits; never decreasing within a
    /// source unless its clock did.
    pub ticks: Vec<u64>,
    /// The core that recorded the event, 0 where there is one core.
    pub cpu: Vec<u16>,
    /// Who was running.
    pub context: Vec<ContextId>,
    /// Event id, to be looked up in the schema.
    pub id: Vec<u32>,
    /// Priority of the context at that moment, or [`NO_PRIORITY`].
    pub priority: Vec<u16>,
}

impl Columns {
    /// Gives every column this many rows. Old values stay in rows that were there before.
    pub fn resize(&mut self, rows: usize) {
        self.ticks.resize(rows, 0);
        self.cpu.resize(rows, 0);
        self.context.resize(rows, ContextId::default());
        self.id.resize(rows, 0);
        self.priority.resize(rows, NO_PRIORITY);
    }
}

/// Where one record of variable length lies: byte positions within the bytes of [`Records`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    /// First byte of the record.
    pub start: u32,
    /// First byte of its payload.
    pub payload: u32,
    /// Byte after its last one.
    pub end: u32,
}

/// The source bytes of a batch's events.
#[derive(Clone, Copy, Debug)]
pub struct Records<'a> {
    bytes: &'a [u8],
    offset: u64,
    shape: Shape<'a>,
    /// Where each record is in the source, where they were put together from several places.
    offsets: &'a [u64],
}

#[derive(Clone, Copy, Debug)]
enum Shape<'a> {
    Fixed { size: usize, payload: usize },
    Variable(&'a [Span]),
    Decoded { spans: &'a [Span], payloads: &'a [u8] },
}

impl<'a> Records<'a> {
    /// Records of `size` bytes, one after the other; the payload of each begins at byte `payload`
    /// of the record and goes to its end. `offset` is the position of `bytes` in the source.
    pub fn fixed(bytes: &'a [u8], offset: u64, size: usize, payload: usize) -> Self {
        Self { bytes, offset, shape: Shape::Fixed { size, payload }, offsets: &[] }
    }

    /// Records of different lengths, one span each.
    pub fn variable(bytes: &'a [u8], offset: u64, spans: &'a [Span]) -> Self {
        Self { bytes, offset, shape: Shape::Variable(spans), offsets: &[] }
    }

    /// Records of different lengths whose payloads the decoder has made: one span each, in which
    /// `payload` is a position in `payloads`. A payload goes to the beginning of the next one.
    pub fn decoded(bytes: &'a [u8], offset: u64, spans: &'a [Span], payloads: &'a [u8]) -> Self {
        Self { bytes, offset, shape: Shape::Decoded { spans, payloads }, offsets: &[] }
    }

    /// The same records, which come from these places of the source.
    #[must_use]
    pub fn from_places(self, offsets: &'a [u64]) -> Self {
        Self { offsets, ..self }
    }

    /// The whole record of event `row` as it lies in the source; empty where there is no such row.
    #[inline]
    pub fn record(&self, row: usize) -> &'a [u8] {
        let (start, _, end) = self.bounds(row);
        self.bytes.get(start..end).unwrap_or_default()
    }

    /// The payload of event `row`: the bytes that the schema's arguments describe.
    #[inline]
    pub fn payload(&self, row: usize) -> &'a [u8] {
        if let Shape::Decoded { spans, payloads } = self.shape {
            let start = |row: usize| spans.get(row).map(|span| span.payload as usize);
            let Some(payload) = start(row) else { return &[] };
            let end = start(row + 1).unwrap_or(payloads.len());
            return payloads.get(payload..end).unwrap_or_default();
        }
        let (_, payload, end) = self.bounds(row);
        self.bytes.get(payload..end).unwrap_or_default()
    }

    /// Position of the record of event `row` in the source, in bytes.
    #[inline]
    pub fn offset(&self, row: usize) -> u64 {
        if let Some(offset) = self.offsets.get(row) {
            return *offset;
        }
        self.offset + self.bounds(row).0 as u64
    }

    #[inline]
    fn bounds(&self, row: usize) -> (usize, usize, usize) {
        match self.shape {
            Shape::Fixed { size, payload } => {
                let start = row.saturating_mul(size);
                (start, start.saturating_add(payload), start.saturating_add(size))
            }
            Shape::Variable(spans) | Shape::Decoded { spans, .. } => {
                spans.get(row).map_or((0, 0, 0), |span| {
                    (span.start as usize, span.payload as usize, span.end as usize)
                })
            }
        }
    }
}

/// Some thousands of events, borrowed from a decoder for the time of one call.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// Number of the first event, counted from 0 over the whole trace.
    pub first: u64,
    /// One row an event.
    pub columns: &'a Columns,
    /// The bytes that the events were decoded from.
    pub records: Records<'a>,
}

/// One event of a batch.
#[derive(Clone, Copy, Debug)]
pub struct EventRef<'a> {
    /// Number of the event within the trace, from 0.
    pub seq: u64,
    /// Ticks since the first event.
    pub ticks: u64,
    /// The core that recorded it.
    pub cpu: u16,
    /// Who was running.
    pub context: ContextId,
    /// Event id.
    pub id: u32,
    /// Priority of the context, where the event carries one.
    pub priority: Option<u16>,
    /// The bytes that the schema's arguments describe.
    pub payload: &'a [u8],
    /// The whole record as it lies in the source.
    pub record: &'a [u8],
}

impl<'a> Batch<'a> {
    /// Number of events.
    pub fn len(&self) -> usize {
        self.columns.ticks.len()
    }

    /// Whether there is no event.
    pub fn is_empty(&self) -> bool {
        self.columns.ticks.is_empty()
    }

    /// The event in row `row`, or `None` behind the last one.
    #[inline(always)]
    pub fn event(&self, row: usize) -> Option<EventRef<'a>> {
        let columns = self.columns;
        let priority = *columns.priority.get(row)?;
        Some(EventRef {
            seq: self.first + row as u64,
            ticks: *columns.ticks.get(row)?,
            cpu: *columns.cpu.get(row)?,
            context: *columns.context.get(row)?,
            id: *columns.id.get(row)?,
            priority: (priority != NO_PRIORITY).then_some(priority),
            payload: self.records.payload(row),
            record: self.records.record(row),
        })
    }

    /// All events, in order.
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

    /// Always inlined: what a loop does not look at of an event is then not looked up for it, and the rest stays in
    /// registers.
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
    fn fixed_records_end_with_the_bytes() {
        let records = Records::fixed(b"abcdef", 7, 3, 2);
        assert_eq!((records.record(1), records.payload(1)), (&b"def"[..], &b"f"[..]));
        assert_eq!(records.offset(1), 10);
        assert_eq!(records.record(2), b"");
    }
}
