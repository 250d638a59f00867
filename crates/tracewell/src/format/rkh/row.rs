//! A record's arguments into a row of values.

use tracewell_wire::rkh::{FieldType, Item, Items, Settings};

use super::plan::{FIXED_BYTES, FIXED_SLOTS, Plan, Shape, Slot, number};
use crate::model::values::{self, HEAD, ListItem};

/// Bytes behind the arguments that may be looked at, though they mean nothing: so many that four
/// bytes can be read wherever an argument at a fixed place may begin.
pub(super) const SLACK: usize = FIXED_BYTES + 4;

/// Rows of a batch, one after the other.
#[derive(Debug, Default)]
pub(super) struct Rows {
    words: Vec<[u8; 8]>,
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
        self.words.clear();
    }

    pub(super) fn bytes(&self) -> &[u8] {
        self.words.as_flattened()
    }

    /// Where the next row begins.
    #[inline]
    pub(super) fn end(&self) -> usize {
        8 * self.words.len()
    }

    /// The word in a slot of the row that begins at byte `row`.
    #[inline]
    pub(super) fn value(&self, row: usize, slot: u8) -> u64 {
        let word = self.words.get((row + HEAD) / 8 + usize::from(slot));
        word.map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }

    /// A row without arguments.
    pub(super) fn empty(&mut self) {
        self.words.push(values::head(0, 0).to_le_bytes());
    }

    /// Takes back the rows from byte `end` on.
    pub(super) fn truncate(&mut self, end: usize) {
        self.words.truncate(end / 8);
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
                let mut row = [plan.head.to_le_bytes(); 1 + FIXED_SLOTS];
                for (word, slot) in row.iter_mut().skip(1).zip(slots) {
                    *word = load(bytes, *slot).to_le_bytes();
                }
                let end = self.words.len() + 1 + count;
                self.words.extend_from_slice(&row);
                self.words.truncate(end);
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
        let row = self.words.len();
        self.tail.clear();
        self.words.push(head.to_le_bytes());
        let mut rest = arguments;
        for field in types {
            let value = match field {
                None => Some(0),
                Some(field) => self.read(*field, code, settings, &mut rest, types.len()),
            };
            let Some(value) = value else {
                self.words.truncate(row);
                return None;
            };
            self.words.push(value.to_le_bytes());
        }
        if !rest.is_empty() {
            self.words.truncate(row);
            return None;
        }
        self.tail.resize(self.tail.len().next_multiple_of(8), 0);
        self.words.extend(self.tail.as_chunks().0);
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
