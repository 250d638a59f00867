//! The events of batches whose records have a fixed size and whose payloads are rows of numbers.
//!
//! Text outputs write such events without checking each argument. They use [`Batch::events`] for
//! all other batches.

use tracewell_wire::ByteOrder;

use super::{
    Batch, ContextDetail, ContextId, EventRef, PayloadLayout, Priority, RecordedDetails, Trace,
};

/// A batch in which every payload has the same number of arguments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NumberRows<'a> {
    trace: &'a Trace,
    batch: Batch<'a>,
    bytes: &'a [u8],
    /// Length of a record in bytes.
    size: usize,
    /// Offset of the payload in the record.
    payload: usize,
    count: usize,
    /// True if payloads have four little-endian words of 32 bits, as in nearly all ThreadX dumps.
    has_four_words: bool,
}

/// Maximum number of arguments.
pub(crate) const MAX_NUMBERS: usize = 6;

/// The columns and the record of an event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NumberRow<'a> {
    /// Row in the batch.
    pub(crate) row: usize,
    /// Ticks since the first event.
    pub(crate) ticks: u64,
    /// Event id.
    pub(crate) id: u32,
    /// The core that recorded the event.
    pub(crate) cpu: u16,
    /// The context that recorded the event.
    pub(crate) context: ContextId,
    /// Priority of the context.
    pub(crate) priority: Priority,
    /// The detail of the context, if the record contains one.
    pub(crate) detail: Option<ContextDetail>,
    record: &'a [u8],
}

/// The zipped columns of an event: ticks, id, core, context, priority, record.
type Cells<'a> = (((((&'a u64, &'a u32), &'a u16), &'a ContextId), &'a Priority), &'a [u8]);

impl<'a> NumberRow<'a> {
    #[inline(always)]
    fn of((row, cells): (usize, Cells<'a>), details: Option<&dyn RecordedDetails>) -> Self {
        let (((((ticks, id), cpu), context), priority), record) = cells;
        Self {
            row,
            ticks: *ticks,
            id: *id,
            cpu: *cpu,
            context: *context,
            priority: *priority,
            detail: details.and_then(|details| details.detail(record)),
            record,
        }
    }
}

impl<'a> NumberRows<'a> {
    /// Returns the rows of a batch, or `None` if its records have different lengths, or if its
    /// payloads do not consist of a few numbers.
    pub(crate) fn of(trace: &'a Trace, batch: &Batch<'a>) -> Option<Self> {
        let (bytes, size, payload) = batch.records.fixed_size()?;
        let count = match trace.payload {
            PayloadLayout::Words { bytes, .. } => size.checked_sub(payload)? / usize::from(bytes),
            PayloadLayout::Fields(fields) => fields.len(),
            PayloadLayout::Values { .. } => return None,
        };
        let bytes = bytes.get(..size.checked_mul(batch.len())?)?;
        let fits = count <= MAX_NUMBERS && payload <= size && size > 0;
        let is_usual = PayloadLayout::Words { order: ByteOrder::Little, bytes: 4 };
        let has_four_words = count == 4 && trace.payload == is_usual;
        fits.then_some(Self { trace, batch: *batch, bytes, size, payload, count, has_four_words })
    }

    /// Returns the trace.
    pub(crate) fn trace(&self) -> &'a Trace {
        self.trace
    }

    /// Returns the number of arguments of each event.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Returns the event of a row.
    pub(crate) fn event(&self, row: usize) -> Option<EventRef<'a>> {
        self.batch.event(row)
    }

    /// Returns the sequence number of a row's event.
    #[inline(always)]
    pub(crate) fn seq(&self, row: &NumberRow<'_>) -> u64 {
        self.batch.first + row.row as u64
    }

    /// Returns all rows in order. The loop needs no bounds check for each column, because all
    /// slices have the same length and share one index.
    #[inline(always)]
    pub(crate) fn iter(&self) -> impl Iterator<Item = NumberRow<'a>> + use<'a> {
        let columns = self.batch.columns;
        let rows = columns.ticks.iter().zip(&columns.id).zip(&columns.cpu);
        let rows = rows.zip(&columns.context).zip(&columns.priority);
        let rows = rows.zip(self.bytes.chunks_exact(self.size)).enumerate();
        let details = self.trace.details.as_deref();
        rows.map(move |cells| NumberRow::of(cells, details))
    }

    /// Returns the arguments of an event, followed by zeros. Returns `None` if an argument is
    /// missing.
    #[inline(always)]
    pub(crate) fn numbers(&self, row: &NumberRow<'_>) -> Option<[u64; MAX_NUMBERS]> {
        let payload = row.record.get(self.payload..)?;
        let mut numbers = [0; MAX_NUMBERS];
        if !self.has_four_words {
            for (index, number) in numbers.iter_mut().enumerate().take(self.count) {
                *number = self.trace.payload.argument(payload, index)?;
            }
            return Some(numbers);
        }
        // This is the most frequent layout. Its fixed size needs only one check.
        let (words, _) = payload.first_chunk::<16>()?.as_chunks::<4>();
        for (number, word) in numbers.iter_mut().zip(words) {
            *number = u64::from(u32::from_le_bytes(*word));
        }
        Some(numbers)
    }
}
