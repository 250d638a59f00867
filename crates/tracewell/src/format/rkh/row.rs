//! A record's arguments into a row of values.

use tracewell_wire::rkh::{FieldType, Item, Items, Settings};

use super::plan::{FIXED_BYTES, FIXED_SLOTS, Plan, Shape, Slot, number};
use crate::model::values::{self, HEAD, ListItem};

/// Bytes behind the arguments that may be looked at, though they mean nothing: so many that four
/// bytes can be read wherever an argument at a fixed place may begin.
pub(super) const SLACK: usize = FIXED_BYTES + 4;

/// The most words of a row whose arguments are at fixed places.
pub(super) const FIXED_ROW: usize = 1 + FIXED_SLOTS;

/// Rows of a batch, one after the other.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// Those of the rows, and room for more: it is never given back, so that it need not be cleared.
    words: Vec<[u8; 8]>,
    /// Words that are in use.
    end: usize,
    /// Texts and lists of the row at hand.
    tail: Vec<u8>,
}

/// The type codes of objects that items of user events name.
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

    /// Where the next row begins.
    #[inline]
    pub(super) fn end(&self) -> usize {
        8 * self.end
    }

    /// Room for so many rows of fixed places, and how many words are before it.
    #[inline]
    pub(super) fn room(&mut self, rows: usize) -> (&mut [[u8; 8]], usize) {
        let wanted = self.end + rows * FIXED_ROW;
        if self.words.len() < wanted {
            self.words.resize(wanted, [0; 8]);
        }
        (&mut self.words, self.end)
    }

    /// The words up to `end` are in use.
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

    /// The word in a slot of the row that begins at byte `row`.
    #[inline]
    pub(super) fn value(&self, row: usize, slot: u8) -> u64 {
        let word = self.words.get((row + HEAD) / 8 + usize::from(slot));
        word.map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }

    /// A row without arguments.
    pub(super) fn empty(&mut self) {
        self.push(values::head(0, 0).to_le_bytes());
    }

    /// Takes back the rows from byte `end` on.
    pub(super) fn truncate(&mut self, end: usize) {
        self.end = end / 8;
    }

    /// Adds the row of a record with `length` bytes of arguments at the start of `bytes`, behind
    /// which there are [`SLACK`] more; false where they are not what the plan says.
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
                let (words, end) = self.room(1);
                let room = words.get_mut(end..).and_then(|words| words.first_chunk_mut());
                let Some([head, row @ ..]): Option<&mut [[u8; 8]; FIXED_ROW]> = room else {
                    return false;
                };
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

    /// Kept out of the way of the usual case.
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
            let Some(value) = value else {
                self.end = row;
                return None;
            };
            self.push(value.to_le_bytes());
        }
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

    /// The word of an argument; what it leaves of `rest`.
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
        let start = HEAD + 8 * slots + before;
        let length = self.tail.len() - before;
        Some(values::place(u32::try_from(start).ok()?, u32::try_from(length).ok()?))
    }
}

/// The number in a slot, 0 in an empty one.
#[inline]
fn load(bytes: &[u8; SLACK], slot: Slot) -> u64 {
    // The remainder changes nothing, but shows that no place is out of bounds.
    let at = usize::from(slot.offset) % FIXED_BYTES;
    let word = u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    u64::from(word & slot.mask)
}

/// An item in the model's words.
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
