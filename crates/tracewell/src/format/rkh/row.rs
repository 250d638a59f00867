//! Rows of values: the decoded arguments of records.

use tracewell_wire::rkh::{FieldType, Item, Items, Settings};

use super::plan::{FIXED_BYTES, FIXED_SLOTS, Plan, Shape, Slot, number};
use crate::model::values::{self, HEAD, ListItem};

/// Number of bytes that must exist after the arguments, because reading an argument may also read
/// these bytes. Their values do not matter. This number is enough to load four bytes from any
/// position in the arguments.
pub(super) const SLACK: usize = FIXED_BYTES + 4;

/// Maximum number of words in a record's row, if all arguments have fixed positions.
pub(super) const FIXED_ROW: usize = 1 + FIXED_SLOTS;

/// The rows of a batch, one after the other.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// The words of the rows, followed by unused words. The vector never shrinks, so each word is
    /// set to zero only once.
    words: Vec<[u8; 8]>,
    /// Number of words in use, in all rows together.
    end: usize,
    /// Strings and lists of the current row.
    tail: Vec<u8>,
}

/// Type codes of the objects to which arguments of user events refer.
mod kind {
    pub(super) const ANY: u8 = 0;
    pub(super) const FUNCTION: u8 = 6;
    pub(super) const SIGNAL: u8 = 9;
}

impl Rows {
    pub(super) fn clear(&mut self) {
        self.end = 0;
    }

    pub(super) fn bytes(&self) -> &[u8] {
        self.words.get(..self.end).unwrap_or_default().as_flattened()
    }

    /// Returns the byte at which the next row begins.
    #[inline]
    pub(super) fn end(&self) -> usize {
        8 * self.end
    }

    /// Makes room for `rows` further rows of fixed size. Returns all words, and the number of words
    /// in use.
    #[inline]
    pub(super) fn reserve(&mut self, rows: usize) -> (&mut [[u8; 8]], usize) {
        let wanted = self.end + rows * FIXED_ROW;
        if self.words.len() < wanted {
            self.words.resize(wanted, [0; 8]);
        }
        (&mut self.words, self.end)
    }

    /// Marks the words up to `end` as used.
    #[inline]
    pub(super) fn fill_to(&mut self, end: usize) {
        self.end = end.min(self.words.len());
    }

    fn push(&mut self, word: [u8; 8]) {
        if self.end == self.words.len() {
            self.words.push(word);
        } else {
            self.words[self.end] = word;
        }
        self.end += 1;
    }

    /// Returns the word in a slot of a row, or 0 if the row has no such slot. The row begins at
    /// byte `row`.
    #[inline]
    pub(super) fn value(&self, row: usize, slot: u8) -> u64 {
        let word = self.words.get((row + HEAD) / 8 + usize::from(slot));
        word.map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }

    /// Removes the rows that begin at byte `end` or after it.
    pub(super) fn truncate(&mut self, end: usize) {
        self.end = end / 8;
    }

    /// Adds the row of a record. Its arguments are the first `length` bytes of `bytes`, and
    /// [`SLACK`] bytes follow them. Returns false if the arguments do not match the plan.
    #[inline]
    pub(super) fn add(
        &mut self,
        plan: &Plan,
        code: u8,
        settings: &Settings,
        bytes: &[u8],
        length: usize,
    ) -> bool {
        match &plan.shape {
            Shape::Fixed { bytes: expected, count, slots } => {
                let bytes = bytes.first_chunk();
                let Some(bytes) = bytes.filter(|_| length == *expected) else { return false };
                let (words, end) = self.reserve(1);
                let free = words.get_mut(end..).and_then(|words| words.first_chunk_mut());
                let Some([head, row @ ..]): Option<&mut [[u8; 8]; FIXED_ROW]> = free else {
                    return false;
                };
                // All slots are written, whether they are used or not. The next row overwrites the
                // unused ones.
                *head = plan.head.to_le_bytes();
                for (word, slot) in row.iter_mut().zip(slots) {
                    *word = load(bytes, *slot).to_le_bytes();
                }
                self.fill_to(end + 1 + count);
                true
            }
            Shape::Sequence(types) => {
                let arguments = bytes.get(..length).unwrap_or_default();
                self.sequence(plan.head, types, code, settings, arguments).is_some()
            }
        }
    }

    /// Adds the row of a record in which each argument begins where the previous one ends. This is
    /// rare, so the function is not inlined.
    #[inline(never)]
    fn sequence(
        &mut self,
        head: u64,
        types: &[Option<FieldType>],
        code: u8,
        settings: &Settings,
        arguments: &[u8],
    ) -> Option<()> {
        let row = self.end;
        self.tail.clear();
        self.push(head.to_le_bytes());
        let mut rest = arguments;
        for field in types {
            let value = match field {
                None => Some(0),
                Some(field) => self.read(*field, code, settings, &mut rest, types.len()),
            };
            // Remove the incomplete row of a record that ends early.
            let Some(value) = value else {
                self.end = row;
                return None;
            };
            self.push(value.to_le_bytes());
        }
        // If bytes remain after the last argument, the settings or the dialect are wrong.
        if !rest.is_empty() {
            self.end = row;
            return None;
        }
        self.tail.resize(self.tail.len().next_multiple_of(8), 0);
        for index in 0..self.tail.len() / 8 {
            self.push(self.tail.as_chunks().0[index]);
        }
        Some(())
    }

    /// Decodes an argument at the start of `rest` and removes it from `rest`. Returns the
    /// argument's word in the row. Strings and lists are appended to the tail.
    fn read(
        &mut self,
        field: FieldType,
        code: u8,
        settings: &Settings,
        rest: &mut &[u8],
        slots: usize,
    ) -> Option<u64> {
        let before = self.tail.len();
        match field {
            FieldType::Number => return Some(number(code)),
            FieldType::HighHalf => return Some(u64::from(rest.first()? >> 4)),
            FieldType::LowHalf => {
                let (byte, after) = rest.split_first()?;
                *rest = after;
                return Some(u64::from(byte & 15));
            }
            FieldType::Text => {
                let end = rest.iter().position(|byte| *byte == 0)?;
                self.tail.extend(rest.get(..end)?);
                *rest = rest.get(end + 1..)?;
            }
            FieldType::Rest => self.tail.extend(std::mem::take(rest)),
            FieldType::Items => {
                let mut items = Items::new(std::mem::take(rest), *settings);
                items.by_ref().for_each(|item| list_item(item).write(&mut self.tail));
                if !items.rest().is_empty() {
                    return None;
                }
            }
            _ => {
                let (number, after) = rest.split_at_checked(usize::from(field.bytes(settings)?))?;
                *rest = after;
                let value = number.iter().rev();
                return Some(value.fold(0, |value, byte| value << 8 | u64::from(*byte)));
            }
        }
        // Positions of strings are offsets from the start of the row. The tail is appended later.
        let start = HEAD + 8 * slots + before;
        let length = self.tail.len() - before;
        Some(values::place(u32::try_from(start).ok()?, u32::try_from(length).ok()?))
    }
}

/// Returns the number in a slot, or 0 if the slot is empty.
#[inline]
fn load(bytes: &[u8; SLACK], slot: Slot) -> u64 {
    // The remainder operation does not change the value, but lets the compiler omit bounds checks.
    let at = usize::from(slot.offset) % FIXED_BYTES;
    let word = u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    u64::from(word & slot.mask)
}

/// Converts an item of a recorded list to an item of the model.
fn list_item(item: Item<'_>) -> ListItem<'_> {
    match item {
        Item::Signed { value, width, .. } => ListItem::Signed(i64::from(value), width),
        Item::Unsigned { value, width, .. } => ListItem::Unsigned(u64::from(value), width),
        Item::Hex { value, width } => ListItem::Hex(u64::from(value), width),
        Item::Text(text) => ListItem::Text(text),
        Item::Memory(memory) => ListItem::Bytes(memory),
        Item::Object(address) => ListItem::Object(u64::from(address), kind::ANY),
        Item::Function(address) => ListItem::Object(u64::from(address), kind::FUNCTION),
        Item::Signal(signal) => ListItem::Object(u64::from(signal), kind::SIGNAL),
    }
}
