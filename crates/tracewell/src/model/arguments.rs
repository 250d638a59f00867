//! Reads the arguments of a batch's events. This is for code that needs single arguments of many
//! events.

use tracewell_wire::ByteOrder;

use super::{Batch, PayloadLayout, Records, Trace};

/// The arguments of the events of a batch, by row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arguments<'a> {
    layout: PayloadLayout,
    records: Records<'a>,
    /// The records, if each has the same number of four-byte words. If so, arguments are read
    /// without computing the bounds of each payload.
    words: Option<Words<'a>>,
}

/// Records of equal length, as words of four bytes.
#[derive(Clone, Copy, Debug)]
struct Words<'a> {
    order: ByteOrder,
    /// The words of all whole records, from the first payload on.
    words: &'a [[u8; 4]],
    /// Number of words in a record.
    size: usize,
    /// Number of words in the payload.
    count: usize,
}

impl<'a> Arguments<'a> {
    pub(crate) fn new(trace: &Trace, batch: &Batch<'a>) -> Self {
        let (layout, records) = (trace.payload, batch.records);
        let words = match (layout, records.fixed_size()) {
            (PayloadLayout::Words { order, bytes: 4 }, Some((bytes, size, payload)))
                // If records consist of whole words, `get` computes the index of a word, and does
                // not slice records.
                if payload <= size && size > 0 && (size | payload).is_multiple_of(4) =>
            {
                let (words, _) = bytes[..bytes.len() / size * size].as_chunks();
                let (size, before) = (size / 4, payload / 4);
                let words = words.get(before..).unwrap_or_default();
                Some(Words { order, words, size, count: size - before })
            }
            _ => None,
        };
        Self { layout, records, words }
    }

    /// Returns an argument of an event, like [`super::Event::argument`].
    #[inline(always)]
    pub(crate) fn get(&self, row: usize, index: usize) -> Option<u64> {
        let Some(words) = &self.words else { return self.in_payload(row, index) };
        if index >= words.count {
            return None;
        }
        // `words` ends with the last whole record.
        let word = words.words.get(row * words.size + index)?;
        Some(u64::from(words.order.u32(*word)))
    }

    /// Returns an argument of any payload. The function is not inlined, so that hot loops that read
    /// several arguments stay small.
    #[inline(never)]
    fn in_payload(&self, row: usize, index: usize) -> Option<u64> {
        self.layout.argument(self.records.payload(row), index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::schema::Schema;
    use crate::model::{Clock, Columns};

    #[test]
    fn arguments_are_those_of_the_events() {
        let bytes: Vec<u8> = (0..70).collect();
        for order in [ByteOrder::Little, ByteOrder::Big] {
            for (word, size, payload) in [
                (4, 16, 8),
                (4, 16, 7),
                (8, 24, 8),
                (4, 16, 16),
                (4, 9, 12),
                (4, 10, 4),
                (4, 12, 0),
            ] {
                let layout = PayloadLayout::Words { order, bytes: word };
                let trace = Trace::new("test", Schema::empty(), layout, Clock::of_64_bits(None));
                let columns = Columns::default();
                let records = Records::fixed(&bytes, 0, size, payload);
                let batch = Batch { first: 0, columns: &columns, records };
                let arguments = Arguments::new(&trace, &batch);
                for (row, index) in (0..9).flat_map(|row| (0..5).map(move |index| (row, index))) {
                    let expected = layout.argument(records.payload(row), index);
                    assert_eq!(
                        arguments.get(row, index),
                        expected,
                        "{size} {payload} {row} {index}"
                    );
                }
            }
        }
    }
}
