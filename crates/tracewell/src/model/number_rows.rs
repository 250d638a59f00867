//! The events of batches whose records have a fixed size and whose payloads are rows of numbers.
//!
//! Text outputs write such events without a check for each argument. All other batches take
//! [`Batch::events`].

use tracewell_wire::ByteOrder;

use super::{Batch, ContextDetail, ContextId, EventRef, PayloadLayout, Priority, Trace};

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
}

/// Maximum number of arguments.
pub(crate) const MAX_NUMBERS: usize = 6;

/// An event and its arguments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NumberRow {
    /// Row in the batch.
    pub(crate) row: usize,
    /// Number of the event within the trace.
    pub(crate) seq: u64,
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
    /// The arguments, followed by zeros.
    pub(crate) numbers: [u64; MAX_NUMBERS],
    /// The detail of the context, if the record has one.
    pub(crate) detail: Option<ContextDetail>,
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
        fits.then_some(Self { trace, batch: *batch, bytes, size, payload, count })
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

    /// Returns all events in order. An event that lacks an argument is an error with its row.
    #[inline(always)]
    pub(crate) fn iter(&self) -> impl Iterator<Item = Result<NumberRow, usize>> {
        let columns = self.batch.columns;
        let rows = columns.ticks.iter().zip(&columns.id).zip(&columns.cpu);
        let rows = rows.zip(&columns.context).zip(&columns.priority);
        let rows = rows.zip(self.bytes.chunks_exact(self.size)).enumerate();
        rows.map(move |(row, (((((ticks, id), cpu), context), priority), record))| {
            let numbers = self.numbers(record).ok_or(row)?;
            Ok(NumberRow {
                row,
                seq: self.batch.first + row as u64,
                ticks: *ticks,
                id: *id,
                cpu: *cpu,
                context: *context,
                priority: *priority,
                numbers,
                detail: self.trace.details.as_ref().and_then(|details| details.detail(record)),
            })
        })
    }

    #[inline(always)]
    fn numbers(&self, record: &[u8]) -> Option<[u64; MAX_NUMBERS]> {
        let payload = record.get(self.payload..)?;
        let mut numbers = [0; MAX_NUMBERS];
        match (self.trace.payload, payload.first_chunk::<16>()) {
            // Nearly all dumps of ThreadX have four words of this kind.
            (PayloadLayout::Words { order: ByteOrder::Little, bytes: 4 }, Some(words))
                if self.count == 4 =>
            {
                let (words, _) = words.as_chunks::<4>();
                for (number, word) in numbers.iter_mut().zip(words) {
                    *number = u64::from(u32::from_le_bytes(*word));
                }
            }
            (layout, _) => {
                for (index, number) in numbers.iter_mut().enumerate().take(self.count) {
                    *number = layout.argument(payload, index)?;
                }
            }
        }
        Some(numbers)
    }
}
