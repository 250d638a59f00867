//! Arguments that are more than a row of digits: numbers with a sign or a fraction, texts, bytes and lists. In
//! JSON the latter three are strings, strings of hexadecimal digits and arrays; in tables the same
//! without quotes.

use super::EventFormat;
use super::escape::{escape_from, put_text};
use crate::model::schema::ArgumentKind;
use crate::model::values::{self, ListItem};
use crate::model::{EventRef, Trace};
use crate::text::{Literal, TextBuffer, put_bytes, put_shown, put_signed};

/// Whether an argument of this kind is more than a row of digits.
pub(super) fn is_more_than_digits(kind: ArgumentKind) -> bool {
    use ArgumentKind::{Bytes, Float, List, Signed, Text};
    matches!(kind, Signed | Float | Text | Bytes | List)
}

/// Appends the arguments of an event, each behind its prefix.
pub(super) fn put(
    out: &mut TextBuffer,
    format: EventFormat,
    trace: &Trace,
    event: &EventRef<'_>,
    prefixes: &[Literal],
) {
    let start = out.len();
    let args = &trace.schema.event(event.id).args;
    for (index, (prefix, arg)) in prefixes.iter().zip(args).enumerate() {
        let Some(value) = trace.payload.argument(event.payload, index) else { continue };
        // A separator stands before all but the first one; those before this may be absent.
        if index > 0 && out.len() == start {
            out.literal(&prefix.tail(1));
        } else {
            out.literal(prefix);
        }
        let bytes = trace.payload.bytes(event.payload, index);
        match arg.kind {
            ArgumentKind::Text => quoted(out, format, |out| put_recorded(out, bytes)),
            ArgumentKind::Bytes => quoted(out, format, |out| put_bytes(out, bytes)),
            ArgumentKind::List => put_list(out, format, bytes),
            ArgumentKind::Signed => put_signed(out, trace, value),
            ArgumentKind::Float => put_float(out, format, f64::from_bits(value)),
            _ => out.decimal(value),
        }
    }
    if format != EventFormat::JsonLines {
        // A cell is escaped as a whole.
        escape_from(format, out, start);
    }
}

/// A text as recorded, which is escaped as the format wants it; bytes that are no UTF-8 are written out.
fn put_recorded(out: &mut TextBuffer, text: &[u8]) {
    match std::str::from_utf8(text) {
        Ok(text) => out.text(text),
        Err(_) => put_shown(out, text),
    }
}

/// JSON has no infinities.
fn put_float(out: &mut TextBuffer, format: EventFormat, value: f64) {
    if value.is_finite() || format != EventFormat::JsonLines {
        out.text(value.to_string());
    } else {
        out.text("null");
    }
}

fn put_list(out: &mut TextBuffer, format: EventFormat, list: &[u8]) {
    out.byte(b'[');
    for (index, item) in values::list_items(list).enumerate() {
        if index > 0 {
            out.byte(b',');
        }
        match item {
            ListItem::Signed(value, _) => out.text(value.to_string()),
            ListItem::Unsigned(value, _) | ListItem::Hex(value, _) | ListItem::Object(value, _) => {
                out.decimal(value);
            }
            ListItem::Text(text) => quoted(out, format, |out| put_recorded(out, text)),
            ListItem::Bytes(bytes) => quoted(out, format, |out| put_bytes(out, bytes)),
        }
    }
    out.byte(b']');
}

/// Appends a value between quotes in JSON, as it is in a table.
fn quoted(out: &mut TextBuffer, format: EventFormat, put: impl FnOnce(&mut TextBuffer)) {
    if format != EventFormat::JsonLines {
        return put(out);
    }
    let mut value = TextBuffer::default();
    put(&mut value);
    out.byte(b'"');
    put_text(format, out, value.as_bytes());
    out.byte(b'"');
}
