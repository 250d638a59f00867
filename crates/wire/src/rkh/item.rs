//! The items of a user event. Each item is a format byte, followed by data.
//!
//! The low half of the format byte is the type. The high half is the width for printing a number
//! (`rkhtrc_record.h`, `RKH_TRC_USR_*`).

use super::Settings;

/// One item of a user event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Item<'a> {
    /// A signed number of 1, 2 or 4 bytes.
    Signed {
        /// The number, sign-extended to 32 bits.
        value: i32,
        /// Size of the number in bytes.
        bytes: u8,
        /// Minimum number of characters, 0 to 15, including a sign. Shorter numbers are padded with
        /// zeros.
        width: u8,
    },
    /// An unsigned number of 1, 2 or 4 bytes.
    Unsigned {
        /// The number, zero-extended to 32 bits.
        value: u32,
        /// Size of the number in bytes.
        bytes: u8,
        /// Minimum number of digits, 0 to 15. Shorter numbers are padded with zeros.
        width: u8,
    },
    /// A number of 4 bytes, shown in hexadecimal.
    Hex {
        /// The number, unsigned in 32 bits.
        value: u32,
        /// Minimum number of digits, 0 to 15. Shorter numbers are padded with zeros.
        width: u8,
    },
    /// A string, without its terminating zero.
    Text(&'a [u8]),
    /// Memory, 0 to 255 bytes.
    Memory(&'a [u8]),
    /// The address of an object.
    Object(u32),
    /// The address of a function.
    Function(u32),
    /// The number of a signal.
    Signal(u32),
}

/// Iterates over the items of a user event. Stops at the first bytes that are not an item.
///
/// ```
/// use tracewell_wire::rkh::{Item, Items, Settings};
///
/// let mut bytes = [0; 8];
/// let item = Item::Unsigned { value: 500, bytes: 2, width: 5 };
/// assert_eq!(item.write(&Settings::default(), &mut bytes), Some(3));
///
/// let mut items = Items::new(&bytes[..3], Settings::default());
/// assert_eq!(items.next(), Some(item));
/// assert!(items.rest().is_empty());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Items<'a> {
    rest: &'a [u8],
    settings: Settings,
}

/// Type codes: the low half of a format byte.
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
    /// Creates an iterator over the arguments of a user event.
    pub const fn new(arguments: &'a [u8], settings: Settings) -> Self {
        Self { rest: arguments, settings }
    }

    /// Returns the bytes that are not read yet. After the last item of an undamaged list, no bytes
    /// are left.
    pub const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    fn read(&self) -> Option<(Item<'a>, &'a [u8])> {
        let (format, rest) = self.rest.split_first()?;
        // Only numbers use the high half of the format byte.
        let width = format >> 4;
        let number = |bytes: u8| number(rest, bytes);
        Some(match format & 15 {
            // Signed and unsigned codes alternate, so code / 2 is the binary logarithm of the size.
            kind @ (code::I8 | code::I16 | code::I32) => {
                let bytes = 1 << (kind >> 1);
                let (value, rest) = number(bytes)?;
                // A left shift, followed by an arithmetic right shift, copies the sign into the
                // unused bits.
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
                // A string without a terminating zero may have been truncated, so it is not an
                // item.
                let end = rest.iter().position(|byte| *byte == 0)?;
                (Item::Text(rest.get(..end)?), rest.get(end + 1..)?)
            }
            code::MEM => {
                let (length, rest) = rest.split_first()?;
                let (memory, rest) = rest.split_at_checked(usize::from(*length))?;
                (Item::Memory(memory), rest)
            }
            code::OBJ => {
                // The target's settings determine the size of addresses and signals; the format
                // byte does not.
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

    /// Returns the next item. Returns `None` if no bytes are left, or if the next bytes are not an
    /// item.
    fn next(&mut self) -> Option<Item<'a>> {
        let (item, rest) = self.read()?;
        self.rest = rest;
        Some(item)
    }
}

/// The parts of a recorded item: a header, and a body that is copied unchanged. A zero follows the
/// body of a string.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ItemParts<'a> {
    head: [u8; 5],
    head_length: u8,
    /// The bytes of a string or of memory; empty for numbers.
    pub body: &'a [u8],
    /// True if a zero follows the body.
    pub zero: bool,
}

impl ItemParts<'_> {
    /// Returns the format byte, followed by a number or by the length of memory.
    pub fn head(&self) -> &[u8] {
        self.head.get(..usize::from(self.head_length)).unwrap_or_default()
    }
}

impl<'a> Item<'a> {
    /// Returns the item in parts, for writers that cannot buffer a whole item. Returns `None` if a
    /// string contains a NUL byte, a memory argument has more than 255 bytes, or a number's size is
    /// not 1, 2 or 4.
    pub fn parts(&self, settings: &Settings) -> Option<ItemParts<'a>> {
        let (format, bytes, value) = match *self {
            Self::Signed { value, bytes, width } => {
                // The inverse of `read`: the code is `I8` for signed or `U8` for unsigned numbers,
                // plus 2 × log2(size).
                ((code::I8 + 2 * size_index(bytes)?) | (width << 4), bytes, value.cast_unsigned())
            }
            Self::Unsigned { value, bytes, width } => {
                ((code::U8 + 2 * size_index(bytes)?) | (width << 4), bytes, value)
            }
            Self::Hex { value, width } => (code::X32 | (width << 4), 4, value),
            Self::Object(value) => (code::OBJ, settings.pointer, value),
            Self::Function(value) => (code::FUN, settings.function, value),
            Self::Signal(value) => (code::SIG, settings.signal, value),
            // A zero would end the string early. Readers would read the remaining bytes as items.
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
        // In little-endian order, the low bytes come first, so `head_length` cuts off only unused
        // bytes.
        let [a, b, c, d] = value.to_le_bytes();
        let head = [format, a, b, c, d];
        Some(ItemParts { head, head_length: 1 + bytes, body: &[], zero: false })
    }

    /// Writes the item at the start of `out` and returns its length. Returns `None` if `out` is too
    /// short or [`Item::parts`] returns `None`.
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

/// Returns 0, 1 or 2 for 1, 2 or 4 bytes.
const fn size_index(bytes: u8) -> Option<u8> {
    match bytes {
        1 => Some(0),
        2 => Some(1),
        4 => Some(2),
        _ => None,
    }
}

/// Splits off a little-endian number of `count` bytes.
fn number(bytes: &[u8], count: u8) -> Option<(u32, &[u8])> {
    let (number, rest) = bytes.split_at_checked(usize::from(count))?;
    let value = number.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte));
    Some((value, rest))
}
