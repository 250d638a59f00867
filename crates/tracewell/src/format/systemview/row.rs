//! Builds rows of values from the fields of events.

use tracewell_wire::systemview::number;

use crate::model::values::{self, ListItem, MAX_SLOTS};

/// Appends a row of numbers to the payloads of a batch.
#[inline]
pub(super) fn put<const SLOTS: usize>(out: &mut Vec<u8>, numbers: [u64; SLOTS]) {
    let present = (1 << SLOTS) - 1;
    out.extend_from_slice(&values::head(present, SLOTS as u32).to_le_bytes());
    out.extend_from_slice(numbers.map(u64::to_le_bytes).as_flattened());
}

/// The row of one event.
#[derive(Debug)]
pub(super) struct Row {
    slots: [u64; MAX_SLOTS],
    count: usize,
    present: u32,
    /// The slots that refer to bytes in `tail`.
    places: u32,
    tail: Vec<u8>,
}

impl Default for Row {
    fn default() -> Self {
        Self { slots: [0; MAX_SLOTS], count: 0, present: 0, places: 0, tail: Vec::new() }
    }
}

impl Row {
    /// Removes all arguments.
    #[inline]
    pub(super) fn clear(&mut self) {
        (self.count, self.present, self.places) = (0, 0, 0);
        self.tail.clear();
    }

    fn push(&mut self, value: Option<u64>, is_place: bool) {
        if let Some(slot) = self.slots.get_mut(self.count) {
            *slot = value.unwrap_or(0);
            self.present |= u32::from(value.is_some()) << self.count;
            self.places |= u32::from(is_place) << self.count;
            self.count += 1;
        }
    }

    /// Adds a number.
    #[inline]
    pub(super) fn number(&mut self, value: impl Into<u64>) {
        self.push(Some(value.into()), false);
    }

    /// Adds a number that may be absent.
    pub(super) fn optional(&mut self, value: Option<impl Into<u64>>) {
        self.push(value.map(Into::into), false);
    }

    /// Adds a string, bytes or a list.
    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        // The length is at most the length of a packet's payload.
        let place = values::place(self.tail.len() as u32, bytes.len() as u32);
        self.tail.extend_from_slice(bytes);
        self.push(Some(place), true);
    }

    /// Adds a list of the numbers in `payload`. If some bytes are not a number, these and all later
    /// bytes are added as bytes. If the payload is empty, the argument is absent.
    pub(super) fn list(&mut self, payload: &[u8]) {
        if payload.is_empty() {
            return self.push(None, false);
        }
        let mut list = Vec::new();
        let mut rest = payload;
        while !rest.is_empty() {
            let Ok((value, length)) = number::read(rest) else {
                ListItem::Bytes(rest).write(&mut list);
                break;
            };
            ListItem::Unsigned(u64::from(value), 0).write(&mut list);
            rest = rest.get(length..).unwrap_or_default();
        }
        self.bytes(&list);
    }

    /// Appends the row to the payloads of a batch.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let start = values::HEAD + 8 * self.count;
        let from = out.len();
        out.resize(from + start, 0);
        let row = out.get_mut(from..).unwrap_or_default();
        if let ([head, places @ ..], _) = row.as_chunks_mut::<8>() {
            *head = values::head(self.present, self.count as u32).to_le_bytes();
            for (index, (place, slot)) in places.iter_mut().zip(&self.slots).enumerate() {
                // In `slots`, a place is an offset in the tail. In the row, it is an offset from
                // the row's start.
                let is_place = self.places >> index & 1 == 1;
                *place = (slot + if is_place { start as u64 } else { 0 }).to_le_bytes();
            }
        }
        if !self.tail.is_empty() {
            out.extend_from_slice(&self.tail);
            // Every row begins at a multiple of 8 bytes.
            out.resize(out.len().next_multiple_of(8), 0);
        }
    }
}
