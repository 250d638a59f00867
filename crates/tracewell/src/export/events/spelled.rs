//! Arguments that are not all numbers: text, and numbers with fractions.

use super::escape::put_text;
use super::{EventFormat, EventPlan};
use crate::model::schema::{ArgumentKind, EventType};
use crate::model::{EventRef, Trace};
use crate::text::TextBuffer;

/// The kinds of an event's arguments, where one of them is no plain number.
pub(super) fn kinds(event: &EventType) -> Option<Vec<ArgumentKind>> {
    let special = |kind| matches!(kind, ArgumentKind::Float | ArgumentKind::Text);
    let kinds: Vec<_> = event.args.iter().map(|argument| argument.kind).collect();
    kinds.iter().any(|kind| special(*kind)).then_some(kinds)
}

/// Appends all arguments. Words behind the last one are the bytes of its text.
#[cold]
pub(super) fn put(
    format: EventFormat,
    out: &mut TextBuffer,
    trace: &Trace,
    event: &EventRef<'_>,
    plan: &EventPlan,
) {
    let mut column = TextBuffer::default();
    let kinds = plan.kinds.iter().flatten();
    for ((index, prefix), kind) in plan.args.iter().enumerate().zip(kinds) {
        let Some(value) = trace.payload.argument(event.payload, index) else { break };
        column.literal(prefix);
        match kind {
            ArgumentKind::Float => put_float(format, &mut column, f64::from_bits(value)),
            ArgumentKind::Text => {
                let bytes = trace.payload.bytes_behind(event.payload, index);
                put_bytes(format, &mut column, bytes);
            }
            _ => column.decimal(value),
        }
    }
    match format {
        EventFormat::JsonLines => out.text(column.as_bytes()),
        // A column is escaped as a whole.
        EventFormat::Tsv | EventFormat::Csv => put_text(format, out, column.as_bytes()),
    }
}

/// JSON has no infinities.
fn put_float(format: EventFormat, column: &mut TextBuffer, value: f64) {
    if value.is_finite() || format != EventFormat::JsonLines {
        column.text(value.to_string());
    } else {
        column.text("null");
    }
}

fn put_bytes(format: EventFormat, column: &mut TextBuffer, bytes: &[u8]) {
    let escaped;
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(_) => {
            escaped = bytes.escape_ascii().to_string();
            &escaped
        }
    };
    if format == EventFormat::JsonLines {
        column.byte(b'"');
        put_text(format, column, text.as_bytes());
        column.byte(b'"');
    } else {
        column.text(text);
    }
}
