//! Writes arguments that are more than digits: keys of objects, numbers with sign or fraction,
//! strings, bytes and lists. In JSON, keys and bytes are strings of hexadecimal digits, and lists
//! are arrays. In tables, there are no quotes.

use super::EventFormat;
use super::escape::{escape_from, put_text};
use crate::model::Event;
use crate::model::schema::ArgumentKind;
use crate::model::values::{self, ListItem, Nesting};
use crate::text::{Literal, NumberForm, Reservation, TextBuffer, put_bytes, put_shown, put_signed};

/// Returns true if the text of an argument of this kind can contain more than digits.
pub(super) fn is_more_than_digits(kind: ArgumentKind) -> bool {
    use ArgumentKind::{Bool, Bytes, Float, List, Nested, Signed, Text};
    matches!(kind, Bool | Signed | Float | Text | Bytes | List | Nested)
}

/// Returns true if an argument of this kind is a key of an object or an address. All documents
/// contain it in hexadecimal, and JSON documents contain it as a string.
pub(super) fn is_key(kind: ArgumentKind) -> bool {
    matches!(kind, ArgumentKind::Object(_) | ArgumentKind::Address)
}

/// The text before the value of an argument.
#[derive(Clone, Debug)]
pub(super) struct Prefix {
    /// The separator, the name, and the beginning of a key.
    pub(super) text: Literal,
    /// True if the value is a key, which is written in hexadecimal.
    pub(super) is_key: bool,
}

impl Prefix {
    /// Returns the form of a number after this prefix, or `None` if the prefix is too long.
    pub(super) fn number_form(&self, format: EventFormat, digits: usize) -> Option<NumberForm> {
        let before = self.text.bytes();
        if self.is_key {
            let quote = (format == EventFormat::JsonLines).then_some(b'"');
            return NumberForm::hexadecimal(&before, digits, quote);
        }
        NumberForm::decimal(&before)
    }
}

/// Appends the arguments of an event, each after its prefix.
pub(super) fn put(
    out: &mut TextBuffer,
    format: EventFormat,
    event: Event<'_>,
    prefixes: &[Prefix],
) {
    let start = out.len();
    let args = &event.kind().args;
    for (index, (prefix, arg)) in prefixes.iter().zip(args).enumerate() {
        let Some(value) = event.argument(index) else { continue };
        // The first argument that is present has no separator. Arguments before it may be absent.
        if index > 0 && out.len() == start {
            out.literal(&prefix.text.tail(1));
        } else {
            out.literal(&prefix.text);
        }
        put_value(out, format, event, (index, arg.kind), value);
    }
    if format != EventFormat::JsonLines {
        // The cell is escaped as a whole.
        escape_from(format, out, start);
    }
}

/// Appends the value of an argument. If the value is a key, appends the part after `0x`.
fn put_value(
    out: &mut TextBuffer,
    format: EventFormat,
    event: Event<'_>,
    (index, kind): (usize, ArgumentKind),
    value: u64,
) {
    // `bytes` is empty if the argument is a number.
    let bytes = event.bytes(index);
    match event.trace.schema.number_kind(kind) {
        ArgumentKind::Text => quoted(out, format, |out| put_recorded(out, bytes)),
        ArgumentKind::Bytes => quoted(out, format, |out| put_bytes(out, bytes)),
        ArgumentKind::List => {
            out.byte(b'[');
            put_list(out, format, bytes, event.trace.payload.digits());
            out.byte(b']');
        }
        ArgumentKind::Nested => put_list(out, format, bytes, event.trace.payload.digits()),
        ArgumentKind::Bool => out.text(if value == 0 { "false" } else { "true" }),
        ArgumentKind::Signed => put_signed(out, event.trace, value),
        ArgumentKind::Float => put_float(out, format, f64::from_bits(value)),
        kind if is_key(kind) => {
            let room = out.room(Reservation::NUMBER + 1);
            put_key(room, format, value, event.trace.payload.digits()).done();
        }
        _ => out.decimal(value),
    }
}

/// Appends the part of a key after `0x`. In JSON, a quote ends the string.
#[inline(always)]
pub(super) fn put_key(
    room: Reservation<'_>,
    format: EventFormat,
    value: u64,
    digits: usize,
) -> Reservation<'_> {
    let room = room.hexadecimal(value, digits);
    if format == EventFormat::JsonLines { room.byte(b'"') } else { room }
}

/// Appends the value of one argument as the cell of a table, without escapes. Returns false if the
/// event lacks this argument.
pub(super) fn put_cell(
    out: &mut TextBuffer,
    format: EventFormat,
    event: Event<'_>,
    index: usize,
) -> bool {
    let Some(value) = event.argument(index) else { return false };
    let kind = event.kind().args.get(index).map_or(ArgumentKind::Unnamed, |arg| arg.kind);
    if is_key(kind) {
        out.text(b"0x");
    }
    put_value(out, format, event, (index, kind), value);
    true
}

/// Appends the value at a path in a nested argument as the cell of a table. Returns false if the
/// argument has no value at this path.
pub(super) fn put_cell_within(
    out: &mut TextBuffer,
    format: EventFormat,
    event: Event<'_>,
    index: usize,
    path: &[String],
) -> bool {
    let Some(list) = values::single_item(event.bytes(index), path) else { return false };
    put_list(out, format, &list, event.trace.payload.digits());
    true
}

/// Returns the number of arguments of an event, including the words that the schema does not name.
pub(in crate::export) fn count(event: Event<'_>) -> usize {
    let args = &event.kind().args;
    let is_long = |kind| is_more_than_digits(kind) && kind != ArgumentKind::Bool;
    // A string can occupy several words, so the number of words is not the number of arguments.
    if args.iter().any(|arg| is_long(arg.kind)) {
        return args.len();
    }
    event.trace.payload.arguments(event.row.payload).max(args.len())
}

/// Appends recorded text, escaped for the format. Bytes that are not UTF-8 are written as `\xff`.
fn put_recorded(out: &mut TextBuffer, text: &[u8]) {
    match std::str::from_utf8(text) {
        Ok(text) => out.text(text),
        Err(_) => put_shown(out, text),
    }
}

/// Appends a number. JSON has no infinities and no NaN, so `null` is appended for them there.
fn put_float(out: &mut TextBuffer, format: EventFormat, value: f64) {
    if value.is_finite() || format != EventFormat::JsonLines {
        out.text(value.to_string());
    } else {
        out.text("null");
    }
}

/// Appends a nested value in the form of JSON.
pub(in crate::export) fn put_nested_json(out: &mut TextBuffer, list: &[u8], digits: usize) {
    put_list(out, EventFormat::JsonLines, list, digits);
}

/// Appends the items of a list, or a nested value.
fn put_list(out: &mut TextBuffer, format: EventFormat, list: &[u8], digits: usize) {
    let mut before = "";
    for item in values::list_items(list) {
        if !matches!(item, ListItem::Close(_)) {
            out.text(before);
        }
        before = if matches!(item, ListItem::Open(_) | ListItem::Name(_)) { "" } else { "," };
        match item {
            ListItem::Signed(value, _) => out.text(value.to_string()),
            ListItem::Unsigned(value, _) | ListItem::Hex(value, _) => out.decimal(value),
            ListItem::Object(value, _) => quoted(out, format, |out| {
                out.text(b"0x");
                out.hexadecimal(value, digits);
            }),
            ListItem::Text(text) => quoted(out, format, |out| put_recorded(out, text)),
            ListItem::Bytes(bytes) => quoted(out, format, |out| put_bytes(out, bytes)),
            ListItem::Float(bits) => put_float(out, format, f64::from_bits(bits)),
            ListItem::Absent => out.text("null"),
            ListItem::Name(name) => {
                quoted(out, format, |out| put_recorded(out, name));
                out.byte(b':');
            }
            ListItem::Open(Nesting::Structure) => out.byte(b'{'),
            ListItem::Open(Nesting::Array) => out.byte(b'['),
            ListItem::Close(Nesting::Structure) => out.byte(b'}'),
            ListItem::Close(Nesting::Array) => out.byte(b']'),
        }
    }
}

/// Appends a value; in JSON, the value is in quotes.
fn quoted(out: &mut TextBuffer, format: EventFormat, put: impl FnOnce(&mut TextBuffer)) {
    if format != EventFormat::JsonLines {
        return put(out);
    }
    let mut value = TextBuffer::default();
    put(&mut value);
    out.byte(b'"');
    // Escape the value here and not at the end, because the quotes and brackets around it must not
    // be escaped.
    put_text(format, out, value.as_bytes());
    out.byte(b'"');
}

/// Appends all arguments as `name=value`, without escapes.
pub(super) fn put_arguments(out: &mut TextBuffer, format: EventFormat, event: Event<'_>) {
    let args = &event.kind().args;
    let start = out.len();
    for index in 0..count(event) {
        let before = out.len();
        if before > start {
            out.byte(b' ');
        }
        match args.get(index) {
            Some(arg) => out.text(&arg.name),
            None => out.text(format!("arg{}", index + 1)),
        }
        out.byte(b'=');
        if !put_cell(out, format, event, index) {
            out.truncate(before);
        }
    }
}
