//! Decoded payloads. Each payload is a row: a header, slots for the values, and the bytes to which
//! slots refer.
//!
//! Some dialects pack their records: settings determine sizes, bytes are escaped, or strings
//! precede other arguments. The decoders of such dialects write each event's arguments in this form
//! once. So consumers can find argument `i` without knowledge of the dialect.
//!
//! | offset | bytes | content |
//! |---|---|---|
//! | 0 | 4 | bit `i` is set if value `i` is present |
//! | 4 | 4 | number of slots, at most 32 |
//! | 8 | 8 each | slots: a number; for a string, bytes or a list, its offset and length ([`place`]) |
//! | | | the bytes of texts and lists |
//!
//! All numbers are little-endian. The form exists only in memory and is never stored.

/// Number of bytes before the first slot.
pub const HEAD: usize = 8;

/// Maximum number of slots of a row. Each slot has one bit in the header.
pub const MAX_SLOTS: usize = 32;

/// Returns the first word of a row. Bit `i` of its lower half is set if slot `i` is filled. Its
/// upper half is the number of slots.
#[inline]
pub const fn head(present: u32, slots: u32) -> u64 {
    present as u64 | (slots as u64) << 32
}

/// Returns the slot for a string, for bytes or for a list. The slot contains the position of the
/// data in the row, and the length of the data.
#[inline]
pub const fn place(start: u32, length: u32) -> u64 {
    start as u64 | (length as u64) << 32
}

/// Appends a row to `out`: the header, the slots, and the bytes to which the slots refer. Pads the
/// row to a multiple of 8 bytes.
pub fn put(out: &mut Vec<u8>, present: u32, slots: &[u64], bytes: &[u8]) {
    out.extend(head(present, slots.len() as u32).to_le_bytes());
    out.extend(slots.iter().flat_map(|slot| slot.to_le_bytes()));
    out.extend_from_slice(bytes);
    out.resize(out.len().next_multiple_of(8), 0);
}

/// Returns the value in a slot, or `None` if it is not present.
#[inline]
pub(super) fn value(row: &[u8], index: usize) -> Option<u64> {
    if index >= MAX_SLOTS || word(row, 0)? >> index & 1 == 0 {
        return None;
    }
    word(row, HEAD + 8 * index)
}

/// Returns the number of slots, filled or not.
#[inline]
pub(super) fn slots(row: &[u8]) -> usize {
    word(row, 0).map_or(0, |head| (head >> 32) as usize)
}

/// Returns the bytes to which a slot refers.
#[inline]
pub fn bytes(row: &[u8], slot: u64) -> &[u8] {
    let (start, length) = (slot as u32 as usize, (slot >> 32) as usize);
    row.get(start..start.saturating_add(length)).unwrap_or_default()
}

#[inline]
fn word(row: &[u8], at: usize) -> Option<u64> {
    row.get(at..)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
}

/// The kind of a nested value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Nesting {
    /// Values with names.
    Structure,
    /// Values without names.
    Array,
}

/// An item of a list: a value with its type.
///
/// An argument of the type [`Nested`](super::schema::ArgumentKind::Nested) is a list with one
/// value. If the value is a structure or an array, [`ListItem::Open`] and [`ListItem::Close`]
/// enclose the values in it. In a structure, a [`ListItem::Name`] precedes each value.
///
/// ```
/// use tracewell::model::values::{ListItem, list_items};
///
/// let mut list = Vec::new();
/// ListItem::Text(b"left").write(&mut list);
/// ListItem::Signed(-3, 0).write(&mut list);
/// let items: Vec<_> = list_items(&list).collect();
/// assert_eq!(items, [ListItem::Text(b"left"), ListItem::Signed(-3, 0)]);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ListItem<'a> {
    /// A number shown in decimal, with this minimum number of characters, including the sign.
    Signed(i64, u8),
    /// A number shown in decimal, with this minimum number of digits.
    Unsigned(u64, u8),
    /// Bits shown in hexadecimal, with this minimum number of digits.
    Hex(u64, u8),
    /// Text in an unspecified encoding.
    Text(&'a [u8]),
    /// Bytes, shown in hexadecimal.
    Bytes(&'a [u8]),
    /// The key of an object, and its type code; 0 for any type.
    Object(u64, u8),
    /// The bits of an `f64`.
    Float(u64),
    /// A field that the record does not contain.
    Absent,
    /// The name of the next value.
    Name(&'a [u8]),
    /// The beginning of a structure or an array.
    Open(Nesting),
    /// The end of a structure or an array.
    Close(Nesting),
}

impl ListItem<'_> {
    /// Appends the item to the bytes of a list.
    #[inline]
    pub fn write(&self, list: &mut Vec<u8>) {
        let (kind, detail, value, bytes): (u8, u8, u64, &[u8]) = match *self {
            Self::Signed(value, width) => (0, width, value.cast_unsigned(), &[]),
            Self::Unsigned(value, width) => (1, width, value, &[]),
            Self::Hex(value, width) => (2, width, value, &[]),
            Self::Text(text) => (3, 0, text.len() as u64, text),
            Self::Bytes(bytes) => (4, 0, bytes.len() as u64, bytes),
            Self::Object(key, kind) => (5, kind, key, &[]),
            Self::Float(bits) => (6, 0, bits, &[]),
            Self::Absent => (7, 0, 0, &[]),
            Self::Name(name) => (8, 0, name.len() as u64, name),
            Self::Open(nesting) => (9, nesting as u8, 0, &[]),
            Self::Close(nesting) => (10, nesting as u8, 0, &[]),
        };
        list.extend_from_slice(&head_of_item(kind, detail, value));
        if !bytes.is_empty() {
            list.extend_from_slice(bytes);
        }
    }

    /// Appends several numbers of the same kind as this item. Appends nothing unless this item is
    /// `Signed`, `Unsigned` or `Hex`.
    #[inline]
    pub(crate) fn write_numbers(&self, numbers: impl Iterator<Item = u64>, list: &mut Vec<u8>) {
        let (kind, detail) = match *self {
            Self::Signed(_, width) => (0, width),
            Self::Unsigned(_, width) => (1, width),
            Self::Hex(_, width) => (2, width),
            _ => return,
        };
        for number in numbers {
            list.extend_from_slice(&head_of_item(kind, detail, number));
        }
    }
}

/// Returns the first bytes of an item: its kind, a detail, and its value or the length of its
/// content.
#[inline(always)]
fn head_of_item(kind: u8, detail: u8, value: u64) -> [u8; 10] {
    let mut head = [kind, detail, 0, 0, 0, 0, 0, 0, 0, 0];
    head[2..].copy_from_slice(&value.to_le_bytes());
    head
}

/// Iterates over the items of a list. Stops at bytes that are not an item.
pub fn list_items(bytes: &[u8]) -> impl Iterator<Item = ListItem<'_>> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let ([kind, detail], after) = rest.split_first_chunk()?;
        let (value, after) = after.split_first_chunk()?;
        let value = u64::from_le_bytes(*value);
        // Content follows the value only for strings, bytes and names. The value is then the length
        // of the content.
        let inline = if matches!(kind, 3 | 4 | 8) { usize::try_from(value).ok()? } else { 0 };
        let (inline, after) = after.split_at_checked(inline)?;
        rest = after;
        Some(match kind {
            0 => ListItem::Signed(value.cast_signed(), *detail),
            1 => ListItem::Unsigned(value, *detail),
            2 => ListItem::Hex(value, *detail),
            3 => ListItem::Text(inline),
            4 => ListItem::Bytes(inline),
            5 => ListItem::Object(value, *detail),
            6 => ListItem::Float(value),
            7 => ListItem::Absent,
            8 => ListItem::Name(inline),
            9 => ListItem::Open(nesting(*detail)),
            10 => ListItem::Close(nesting(*detail)),
            _ => return None,
        })
    })
}

const fn nesting(detail: u8) -> Nesting {
    if detail == Nesting::Structure as u8 { Nesting::Structure } else { Nesting::Array }
}

/// Returns the value at a path of names in a nested value, such as `["a", "b"]`. An element of an
/// array, or a member of a structure, can also be named by its index, from 0. Returns `None` if
/// there is no such value.
///
/// ```
/// use tracewell::model::values::{ListItem, Nesting, value_at};
///
/// let mut list = Vec::new();
/// ListItem::Open(Nesting::Structure).write(&mut list);
/// ListItem::Name(b"a").write(&mut list);
/// ListItem::Unsigned(3, 0).write(&mut list);
/// ListItem::Close(Nesting::Structure).write(&mut list);
/// assert_eq!(value_at(&list, &["a"]), Some(ListItem::Unsigned(3, 0)));
/// assert_eq!(value_at(&list, &["b"]), None);
/// ```
pub fn value_at<'l>(list: &'l [u8], path: &[impl AsRef<str>]) -> Option<ListItem<'l>> {
    let mut path = path.iter().map(AsRef::as_ref);
    let mut wanted = path.next();
    // The depth at which to search for the next name, and the depth of the current item.
    let (mut inside, mut depth) = (0, 0);
    let (mut is_named, mut index) = (false, 0_u64);
    for item in list_items(list) {
        if let ListItem::Close(_) = item {
            depth -= 1;
            if depth < inside {
                return None;
            }
            continue;
        }
        if depth == inside && !matches!(item, ListItem::Name(_)) {
            let Some(name) = wanted.filter(|_| depth > 0) else {
                // The outermost value has no name.
                if wanted.is_none() {
                    return Some(item);
                }
                inside += 1;
                depth += 1;
                if !matches!(item, ListItem::Open(_)) {
                    return None;
                }
                index = 0;
                continue;
            };
            let is_element = name.parse() == Ok(index);
            index += 1;
            if std::mem::take(&mut is_named) || is_element {
                wanted = path.next();
                if wanted.is_none() {
                    return Some(item);
                }
                if !matches!(item, ListItem::Open(_)) {
                    return None;
                }
                inside += 1;
                index = 0;
            }
        }
        match item {
            ListItem::Open(_) => depth += 1,
            ListItem::Name(name) if depth == inside => {
                is_named = wanted.is_some_and(|wanted| wanted.as_bytes() == name);
            }
            _ => {}
        }
    }
    None
}

/// Returns the value at a path as a list with a single item. Returns `None` if there is no such
/// value, or if it is a structure or an array; see [`value_at`].
pub(crate) fn single_item(list: &[u8], path: &[String]) -> Option<Vec<u8>> {
    let item = value_at(list, path).filter(|item| !matches!(item, ListItem::Open(_)))?;
    let mut single = Vec::new();
    item.write(&mut single);
    Some(single)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_that_is_not_filled_has_no_value() {
        let row: Vec<_> = [head(0b101, 3), 7, 8, place(32, 2)]
            .into_iter()
            .flat_map(u64::to_le_bytes)
            .chain(*b"hi!")
            .collect();
        assert_eq!(
            [0, 1, 2, 3].map(|index| value(&row, index).is_some()),
            [true, false, true, false]
        );
        assert_eq!((value(&row, 0), slots(&row)), (Some(7), 3));
        assert_eq!(bytes(&row, value(&row, 2).unwrap()), b"hi");
        assert_eq!(bytes(&row, place(34, 2)), b"");
    }

    #[test]
    fn lists_come_back_as_written() {
        let items = [
            ListItem::Signed(-3, 4),
            ListItem::Unsigned(u64::MAX, 0),
            ListItem::Hex(0xBEEF, 8),
            ListItem::Text(b"text"),
            ListItem::Bytes(&[0, 255]),
            ListItem::Object(0x2000_0000, 2),
            ListItem::Open(Nesting::Structure),
            ListItem::Name(b"name"),
            ListItem::Float(1.5_f64.to_bits()),
            ListItem::Open(Nesting::Array),
            ListItem::Absent,
            ListItem::Close(Nesting::Array),
            ListItem::Close(Nesting::Structure),
        ];
        let mut list = Vec::new();
        items.iter().for_each(|item| item.write(&mut list));
        assert_eq!(list_items(&list).collect::<Vec<_>>(), items);
        assert_eq!(list_items(&list[..list.len() - 1]).count(), items.len() - 1);
    }

    #[test]
    fn a_path_leads_to_a_value() {
        use ListItem::{Close, Name, Open, Unsigned};
        use Nesting::{Array, Structure};
        // { a = 1, b = [ 2, { c = 3 } ], d = { } }
        let items = [
            Open(Structure),
            Name(b"a"),
            Unsigned(1, 0),
            Name(b"b"),
            Open(Array),
            Unsigned(2, 0),
            Open(Structure),
            Name(b"c"),
            Unsigned(3, 0),
            Close(Structure),
            Close(Array),
            Name(b"d"),
            Open(Structure),
            Close(Structure),
            Close(Structure),
        ];
        let mut list = Vec::new();
        items.iter().for_each(|item| item.write(&mut list));
        let at = |path: &str| {
            let path: Vec<_> = path.split('.').filter(|name| !name.is_empty()).collect();
            value_at(&list, &path)
        };
        assert_eq!(at("a"), Some(Unsigned(1, 0)));
        assert_eq!(at("b"), Some(Open(Array)));
        assert_eq!(at("b.0"), Some(Unsigned(2, 0)));
        assert_eq!(at("b.1.c"), Some(Unsigned(3, 0)));
        assert_eq!(at("d"), Some(Open(Structure)));
        assert_eq!(at(""), Some(Open(Structure)));
        for path in ["c", "a.x", "b.2", "b.1.d", "d.e", "b.c"] {
            assert_eq!(at(path), None, "{path}");
        }
    }
}
