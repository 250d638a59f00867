//! Writes the fields of an event as a row of values.
//!
//! Each field at the outermost level of a scope has a slot. If an event has more than 32 such
//! fields, the last slot is a structure with the fields that have no slot of their own.

use std::sync::Arc;

use super::classes::{Encoding, Integer, IntegerKind};
use super::fixed::SlotNumber;
use super::program::{Elements, Field, Output, Place, Shape};
use crate::model::values::{self, HEAD, ListItem, Nesting};

/// Number of bytes of the slots and the head of a short row.
const SHORT: usize = 64;

/// The row of the current event, at the end of the payloads of a batch.
#[derive(Debug)]
pub(super) struct Row<'o> {
    out: &'o mut Vec<u8>,
    /// Position of the row in `out`.
    start: usize,
    present: u32,
    slots: u8,
    nested: Nested<'o>,
    /// The slot of the open nested value, and the position of this value in `out`.
    open: Option<(u8, usize)>,
}

/// The state while nested values are written.
#[derive(Debug)]
struct Nested<'o> {
    /// The fields that have no slot.
    rest: &'o mut Vec<u8>,
    /// Depth of the open value; 0 if none is open.
    depth: u32,
    in_rest: bool,
    /// True if an optional field is open and has no value so far.
    is_absent: bool,
}

impl<'o> Row<'o> {
    /// Begins a row. `rest` is a buffer for the fields that have no slot of their own.
    #[inline]
    pub(super) fn begin(out: &'o mut Vec<u8>, slots: u8, rest: &'o mut Vec<u8>) -> Self {
        let start = out.len();
        let end = start + HEAD + 8 * usize::from(slots);
        // Most rows are not longer than this, so writing their zeros needs no function call.
        out.extend_from_slice(&[0; SHORT]);
        out.resize(end, 0);
        rest.clear();
        let nested = Nested { rest, depth: 0, in_rest: false, is_absent: false };
        Self { out, start, present: 0, slots, nested, open: None }
    }

    /// Ends the row.
    #[inline]
    pub(super) fn finish(mut self, has_rest: bool) {
        if has_rest {
            let from = self.out.len();
            ListItem::Open(Nesting::Structure).write(self.out);
            self.out.extend_from_slice(self.nested.rest);
            ListItem::Close(Nesting::Structure).write(self.out);
            self.set_place(self.slots - 1, from);
        }
        let head = values::head(self.present, u32::from(self.slots)).to_le_bytes();
        if let Some(place) = self.out.get_mut(self.start..self.start + HEAD) {
            place.copy_from_slice(&head);
        }
        let length = self.out.len() - self.start;
        self.out.extend_from_slice(&[0; 8]);
        self.out.truncate(self.start + length.next_multiple_of(8));
    }

    /// Removes the row from the payloads.
    pub(super) fn discard(self) {
        self.out.truncate(self.start);
    }

    /// Returns the number in a slot, or `None` if the slot was not written.
    #[inline]
    pub(super) fn number_in(&self, slot: u8) -> Option<u64> {
        let at = self.start + HEAD + 8 * usize::from(slot);
        let place = self.out.get(at..)?.first_chunk().filter(|_| self.has(slot))?;
        Some(u64::from_le_bytes(*place))
    }

    /// Returns the text in a slot, or `None` if the slot was not written.
    pub(super) fn text_in(&self, slot: u8) -> Option<&[u8]> {
        let row = self.out.get(self.start..)?;
        self.number_in(slot).map(|place| values::bytes(row, place))
    }

    fn has(&self, slot: u8) -> bool {
        self.present >> slot & 1 == 1
    }

    #[inline]
    fn set(&mut self, slot: u8, value: u64) {
        let at = self.start + HEAD + 8 * usize::from(slot);
        if let Some(place) = self.out.get_mut(at..at + 8) {
            place.copy_from_slice(&value.to_le_bytes());
            self.present |= 1 << slot;
        }
    }

    /// Makes a slot refer to the bytes from position `from` of `out` up to the end of `out`.
    fn set_place(&mut self, slot: u8, from: usize) {
        let (start, length) = (from - self.start, self.out.len() - from);
        self.set(slot, values::place(start as u32, length as u32));
    }

    /// Fills a slot with bytes.
    #[inline]
    pub(super) fn put_bytes(&mut self, slot: u8, bytes: &[u8]) {
        let from = self.out.len();
        self.out.extend_from_slice(bytes);
        self.set_place(slot, from);
    }

    /// Fills a slot with an array of numbers of the same kind as `item`.
    #[inline]
    pub(super) fn put_numbers(&mut self, slot: u8, item: ListItem<'_>, numbers: Elements<'_>) {
        let from = self.out.len();
        ListItem::Open(Nesting::Array).write(self.out);
        item.write_numbers(numbers, self.out);
        ListItem::Close(Nesting::Array).write(self.out);
        self.set_place(slot, from);
    }

    /// Appends a value within a nested value.
    fn nested(&mut self, field: &Field, item: ListItem<'_>) {
        let begins = field.place == Place::Rest;
        let is_named = matches!(field.place, Place::Rest | Place::Member);
        let out =
            if begins || self.nested.in_rest { &mut *self.nested.rest } else { &mut *self.out };
        if is_named {
            ListItem::Name(field.name.as_bytes()).write(out);
        }
        item.write(out);
        self.nested.is_absent = false;
    }
}

/// Returns a number as an item of a list.
pub(super) fn item(integer: Option<&Arc<Integer>>, value: u64) -> ListItem<'static> {
    match integer {
        Some(integer) if integer.kind == IntegerKind::Signed => {
            ListItem::Signed(value.cast_signed(), 0)
        }
        Some(integer) if integer.base == 16 => ListItem::Hex(value, 0),
        _ => ListItem::Unsigned(value, 0),
    }
}

impl Output for Row<'_> {
    #[inline]
    fn slots(&mut self, numbers: &[SlotNumber], _: &[Field], present: u32, bytes: &[u8]) {
        let row = self.out.get_mut(self.start + HEAD..).unwrap_or_default();
        let (slots, _) = row.as_chunks_mut::<8>();
        for number in numbers {
            if let Some(slot) = slots.get_mut(usize::from(number.slot)) {
                *slot = number.number.read(bytes).to_le_bytes();
            }
        }
        self.present |= present;
    }

    #[inline]
    fn numbers(&mut self, field: &Field, elements: Elements<'_>) {
        if field.place != Place::Element {
            return;
        }
        let out = if self.nested.in_rest { &mut *self.nested.rest } else { &mut *self.out };
        item(field.integer.as_ref(), 0).write_numbers(elements, out);
    }

    #[inline]
    fn number(&mut self, field: &Field, value: u64) {
        match field.place {
            Place::Slot(slot) => self.set(slot, value),
            Place::Hidden => {}
            _ => self.nested(field, item(field.integer.as_ref(), value)),
        }
    }

    fn float(&mut self, field: &Field, value: f64) {
        match field.place {
            Place::Slot(slot) => self.set(slot, value.to_bits()),
            Place::Hidden => {}
            _ => self.nested(field, ListItem::Float(value.to_bits())),
        }
    }

    #[inline]
    fn text(&mut self, field: &Field, text: &[u8], encoding: Encoding) {
        let decoded;
        let text = match decode(text, encoding) {
            Some(text) => {
                decoded = text;
                decoded.as_bytes()
            }
            None => text,
        };
        match field.place {
            Place::Slot(slot) => self.put_bytes(slot, text),
            Place::Hidden => {}
            _ => self.nested(field, ListItem::Text(text)),
        }
    }

    fn blob(&mut self, field: &Field, bytes: &[u8]) {
        match field.place {
            Place::Slot(slot) => self.put_bytes(slot, bytes),
            Place::Hidden => {}
            _ => self.nested(field, ListItem::Bytes(bytes)),
        }
    }

    fn open(&mut self, field: &Field, shape: Shape) {
        let item = ListItem::Open(nesting(shape));
        match field.place {
            Place::Slot(slot) => {
                self.open = Some((slot, self.out.len()));
                if shape != Shape::Optional {
                    item.write(self.out);
                }
            }
            Place::Hidden => return,
            _ => {
                if field.place == Place::Rest {
                    self.nested.in_rest = true;
                }
                if shape != Shape::Optional {
                    self.nested(field, item);
                } else if matches!(field.place, Place::Rest | Place::Member) {
                    let in_rest = self.nested.in_rest;
                    let out = if in_rest { &mut *self.nested.rest } else { &mut *self.out };
                    ListItem::Name(field.name.as_bytes()).write(out);
                }
            }
        }
        self.nested.is_absent = shape == Shape::Optional;
        self.nested.depth += 1;
    }

    fn close(&mut self, shape: Shape) {
        // Hidden fields were never opened, so do not close them.
        let Some(depth) = self.nested.depth.checked_sub(1) else { return };
        self.nested.depth = depth;
        let out = if self.nested.in_rest { &mut *self.nested.rest } else { &mut *self.out };
        let is_absent = std::mem::take(&mut self.nested.is_absent);
        match shape {
            Shape::Optional if is_absent && (depth > 0 || self.nested.in_rest) => {
                ListItem::Absent.write(out);
            }
            Shape::Optional => {}
            _ => ListItem::Close(nesting(shape)).write(out),
        }
        if depth > 0 {
            return;
        }
        self.nested.in_rest = false;
        if let Some((slot, from)) = self.open.take()
            && self.out.len() > from
        {
            self.set_place(slot, from);
        }
    }
}

const fn nesting(shape: Shape) -> Nesting {
    match shape {
        Shape::Array => Nesting::Array,
        Shape::Structure | Shape::Variant | Shape::Optional => Nesting::Structure,
    }
}

/// Converts text to UTF-8. Replaces invalid code units. Returns `None` if the text is already
/// UTF-8.
#[inline]
pub(super) fn decode(text: &[u8], encoding: Encoding) -> Option<String> {
    match encoding {
        Encoding::Utf8 => None,
        _ => Some(recode(text, encoding)),
    }
}

/// Converts text from UTF-16 or UTF-32 to UTF-8.
#[cold]
fn recode(text: &[u8], encoding: Encoding) -> String {
    match encoding {
        Encoding::Utf8 => String::from_utf8_lossy(text).into_owned(),
        Encoding::Utf16(order) => {
            let units = text.chunks_exact(2).filter_map(|unit| unit.first_chunk());
            let decoded = char::decode_utf16(units.map(|unit| order.u16(*unit)));
            decoded.map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
        }
        Encoding::Utf32(order) => {
            let units = text.chunks_exact(4).filter_map(|unit| unit.first_chunk());
            let decoded = units.map(|unit| char::from_u32(order.u32(*unit)));
            decoded.map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
        }
    }
}

/// The values of a packet's context. They are read once and written to the row of each event.
#[derive(Debug, Default)]
pub(super) struct PacketRow {
    /// The values of the fields, in order. The second element of each pair is the position in
    /// `bytes` at which the content of the value ends.
    values: Vec<(Value, usize)>,
    bytes: Vec<u8>,
    depth: u32,
}

#[derive(Clone, Copy, Debug)]
enum Value {
    /// A number, and the same number as an item of a nested value.
    Number(u64, ListItem<'static>),
    Text,
    Blob,
    /// A nested value.
    Nested,
}

impl PacketRow {
    /// Removes all values.
    pub(super) fn clear(&mut self) {
        self.values.clear();
        self.bytes.clear();
        self.depth = 0;
    }

    fn end(&mut self, value: Value) {
        self.values.push((value, self.bytes.len()));
    }

    fn nested(&mut self, field: &Field, item: ListItem<'_>) {
        if field.place == Place::Member {
            ListItem::Name(field.name.as_bytes()).write(&mut self.bytes);
        }
        item.write(&mut self.bytes);
    }

    /// Writes each value to its place in a row. `names` are the names of the fields.
    #[inline]
    pub(super) fn put<'n>(
        &self,
        row: &mut Row<'_>,
        places: &[Place],
        names: impl Iterator<Item = &'n Arc<str>>,
    ) {
        let mut from = 0;
        for (((value, end), place), name) in self.values.iter().zip(places).zip(names) {
            let bytes = self.bytes.get(from..*end).unwrap_or_default();
            from = *end;
            match (place, value) {
                (Place::Slot(slot), Value::Number(value, _)) => row.set(*slot, *value),
                (Place::Slot(slot), _) => row.put_bytes(*slot, bytes),
                (_, value) => {
                    let rest = &mut *row.nested.rest;
                    ListItem::Name(name.as_bytes()).write(rest);
                    match value {
                        Value::Number(_, item) => item.write(rest),
                        Value::Text => ListItem::Text(bytes).write(rest),
                        Value::Blob => ListItem::Bytes(bytes).write(rest),
                        Value::Nested => rest.extend_from_slice(bytes),
                    }
                }
            }
        }
    }
}

/// Returns true if a field is the processor number; this number is not an argument.
fn is_hidden(field: &Field) -> bool {
    let is_processor =
        |integer: &Arc<Integer>| integer.roles.contains(&super::classes::Role::Processor);
    field.place == Place::Hidden || field.integer.as_ref().is_some_and(is_processor)
}

impl Output for PacketRow {
    fn number(&mut self, field: &Field, value: u64) {
        if self.depth > 0 {
            self.nested(field, item(field.integer.as_ref(), value));
        } else if !is_hidden(field) {
            self.end(Value::Number(value, item(field.integer.as_ref(), value)));
        }
    }

    fn float(&mut self, field: &Field, value: f64) {
        let item = ListItem::Float(value.to_bits());
        match self.depth {
            0 => self.end(Value::Number(value.to_bits(), item)),
            _ => self.nested(field, item),
        }
    }

    fn text(&mut self, field: &Field, text: &[u8], encoding: Encoding) {
        let decoded = decode(text, encoding);
        let text = decoded.as_ref().map_or(text, |text| text.as_bytes());
        if self.depth > 0 {
            return self.nested(field, ListItem::Text(text));
        }
        self.bytes.extend_from_slice(text);
        self.end(Value::Text);
    }

    fn blob(&mut self, field: &Field, bytes: &[u8]) {
        if self.depth > 0 {
            return self.nested(field, ListItem::Bytes(bytes));
        }
        self.bytes.extend_from_slice(bytes);
        self.end(Value::Blob);
    }

    fn open(&mut self, field: &Field, shape: Shape) {
        let item = ListItem::Open(nesting(shape));
        if self.depth > 0 {
            self.nested(field, item);
        } else {
            item.write(&mut self.bytes);
        }
        self.depth += 1;
    }

    fn close(&mut self, shape: Shape) {
        ListItem::Close(nesting(shape)).write(&mut self.bytes);
        self.depth = self.depth.saturating_sub(1);
        if self.depth == 0 {
            self.end(Value::Nested);
        }
    }
}
