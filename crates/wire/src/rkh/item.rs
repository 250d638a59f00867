//! The items of a user event: a format byte each, and the data.
//!
//! The low half of the format byte is the type, the high half the width to print a number with
//! (`rkhtrc_record.h`, `RKH_TRC_USR_*`).

use super::Settings;

/// One item of a user event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Item<'a> {
    /// A signed number of 1, 2 or 4 bytes.
    Signed {
        /// The number.
        value: i32,
        /// Its bytes.
        bytes: u8,
        /// Characters to print, the sign among them; zeros fill up. 0 to 15.
        width: u8,
    },
    /// An unsigned number of 1, 2 or 4 bytes.
    Unsigned {
        /// The number.
        value: u32,
        /// Its bytes.
        bytes: u8,
        /// Digits to print; zeros fill up. 0 to 15.
        width: u8,
    },
    /// A number of 4 bytes to be shown in hexadecimal.
    Hex {
        /// The number.
        value: u32,
        /// Digits to print; zeros fill up. 0 to 15.
        width: u8,
    },
    /// A text, without the zero that ends it.
    Text(&'a [u8]),
    /// Memory, 0 to 255 bytes.
    Memory(&'a [u8]),
    /// An object's address.
    Object(u32),
    /// A function's address.
    Function(u32),
    /// A signal.
    Signal(u32),
}

/// The items of a user event, one after the other.
#[derive(Clone, Copy, Debug)]
pub struct Items<'a> {
    rest: &'a [u8],
    settings: Settings,
}

/// Codes of the types.
mod code {
    pub(super) const I8: u8 = 0;
    pub(super) const U8: u8 = 1;
    pub(super) const I16: u8 = 2;
    pub(super) const U16: u8 = 3;
    pub(super) const I32: u8 = 4;
    pub(super) const U32: u8 = 5;
    pub(super) const X32: u8 = 6;
    pub(super) const STR: u8 = 7;
    pub(super) const MEM: u8 = 8;
    pub(super) const OBJ: u8 = 9;
    pub(super) const FUN: u8 = 10;
    pub(super) const SIG: u8 = 11;
}

impl<'a> Items<'a> {
    /// The items in the arguments of a user event.
    pub const fn new(arguments: &'a [u8], settings: Settings) -> Self {
        Self { rest: arguments, settings }
    }

    /// The bytes that were not read: empty after the last item of a whole list.
    pub const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    fn read(&self) -> Option<(Item<'a>, &'a [u8])> {
        let (format, rest) = self.rest.split_first()?;
        let width = format >> 4;
        let number = |bytes: u8| number(rest, bytes);
        Some(match format & 15 {
            kind @ (code::I8 | code::I16 | code::I32) => {
                let bytes = 1 << (kind >> 1);
                let (value, rest) = number(bytes)?;
                let unused = 32 - 8 * u32::from(bytes);
                let value = (value << unused).cast_signed() >> unused;
                (Item::Signed { value, bytes, width }, rest)
            }
            kind @ (code::U8 | code::U16 | code::U32) => {
                let bytes = 1 << (kind >> 1);
                let (value, rest) = number(bytes)?;
                (Item::Unsigned { value, bytes, width }, rest)
            }
            code::X32 => number(4).map(|(value, rest)| (Item::Hex { value, width }, rest))?,
            code::STR => {
                let end = rest.iter().position(|byte| *byte == 0)?;
                (Item::Text(rest.get(..end)?), rest.get(end + 1..)?)
            }
            code::MEM => {
                let (length, rest) = rest.split_first()?;
                let (memory, rest) = rest.split_at_checked(usize::from(*length))?;
                (Item::Memory(memory), rest)
            }
            code::OBJ => {
                number(self.settings.pointer).map(|(value, rest)| (Item::Object(value), rest))?
            }
            code::FUN => {
                number(self.settings.function).map(|(value, rest)| (Item::Function(value), rest))?
            }
            code::SIG => {
                number(self.settings.signal).map(|(value, rest)| (Item::Signal(value), rest))?
            }
            _ => return None,
        })
    }
}

impl<'a> Iterator for Items<'a> {
    type Item = Item<'a>;

    /// The next item; `None` at the end and where the bytes are no item.
    fn next(&mut self) -> Option<Item<'a>> {
        let (item, rest) = self.read()?;
        self.rest = rest;
        Some(item)
    }
}

/// An item as it is written: the head, what follows it as it is, and perhaps a zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ItemParts<'a> {
    head: [u8; 5],
    head_length: u8,
    /// A text or memory.
    pub body: &'a [u8],
    /// Whether a zero ends it.
    pub zero: bool,
}

impl ItemParts<'_> {
    /// The format byte, and a number or the length of memory.
    pub fn head(&self) -> &[u8] {
        self.head.get(..usize::from(self.head_length)).unwrap_or_default()
    }
}

impl<'a> Item<'a> {
    /// The item in pieces, for those who have no room to put it together; `None` where a text has a
    /// zero in it, memory more than 255 bytes, or a number other than 1, 2 or 4 bytes.
    pub fn parts(&self, settings: &Settings) -> Option<ItemParts<'a>> {
        let (format, bytes, value) = match *self {
            Self::Signed { value, bytes, width } => {
                ((code::I8 + 2 * size_index(bytes)?) | (width << 4), bytes, value.cast_unsigned())
            }
            Self::Unsigned { value, bytes, width } => {
                ((code::U8 + 2 * size_index(bytes)?) | (width << 4), bytes, value)
            }
            Self::Hex { value, width } => (code::X32 | (width << 4), 4, value),
            Self::Object(value) => (code::OBJ, settings.pointer, value),
            Self::Function(value) => (code::FUN, settings.function, value),
            Self::Signal(value) => (code::SIG, settings.signal, value),
            Self::Text(text) if text.contains(&0) => return None,
            Self::Text(body) => {
                let head = [code::STR, 0, 0, 0, 0];
                return Some(ItemParts { head, head_length: 1, body, zero: true });
            }
            Self::Memory(body) => {
                let head = [code::MEM, u8::try_from(body.len()).ok()?, 0, 0, 0];
                return Some(ItemParts { head, head_length: 2, body, zero: false });
            }
        };
        let [a, b, c, d] = value.to_le_bytes();
        let head = [format, a, b, c, d];
        Some(ItemParts { head, head_length: 1 + bytes, body: &[], zero: false })
    }

    /// Writes the item at the start of `out`; how many bytes it took, `None` where they are too
    /// few, or as [`Item::parts`].
    pub fn write(&self, settings: &Settings, out: &mut [u8]) -> Option<usize> {
        let parts = self.parts(settings)?;
        let (head, body) = (parts.head(), parts.body);
        let end = head.len() + body.len();
        out.get_mut(..head.len())?.copy_from_slice(head);
        out.get_mut(head.len()..end)?.copy_from_slice(body);
        if parts.zero {
            *out.get_mut(end)? = 0;
        }
        Some(end + usize::from(parts.zero))
    }
}

/// 0, 1 or 2 for 1, 2 or 4 bytes.
const fn size_index(bytes: u8) -> Option<u8> {
    match bytes {
        1 => Some(0),
        2 => Some(1),
        4 => Some(2),
        _ => None,
    }
}

/// A little-endian number of 1, 2 or 4 bytes, and what follows it.
fn number(bytes: &[u8], count: u8) -> Option<(u32, &[u8])> {
    let (number, rest) = bytes.split_at_checked(usize::from(count))?;
    let value = number.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte));
    Some((value, rest))
}
