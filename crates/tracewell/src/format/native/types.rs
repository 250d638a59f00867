//! Event types of a stream as entries of the schema.

use std::sync::Arc;

use tracewell_wire::native::{EventTypeText, FieldKind, SPAN_ENTER, SPAN_EXIT};

use crate::model::schema::{Argument, ArgumentKind, Details, EventType, Means, Schema};
use crate::model::{Meaning, Severity, Trace};
use crate::text::shown;

/// A schema without events.
pub(super) fn empty_schema() -> Arc<Schema> {
    match Schema::parse("", "native") {
        Ok(schema) => Arc::new(schema),
        // No text is a schema without entries, and a test reads it.
        Err(error) => unreachable!("{error}"),
    }
}

/// Adds an event type; one that the user gave for the same id stays.
pub(super) fn define(trace: &mut Trace, id: u16, text: &[u8], offset: u64) {
    if trace.schema.defines(u32::from(id)) {
        return;
    }
    let parsed = std::str::from_utf8(text).map_err(|error| error.to_string());
    let means = means(text);
    match parsed.and_then(|text| EventTypeText::parse(text).map_err(|error| error.to_string())) {
        Ok(text) => {
            Arc::make_mut(&mut trace.schema)
                .define(EventType { means, ..event_type(u32::from(id), &text) });
        }
        Err(error) => {
            let message = format!("event type {id}: {error}");
            trace.diagnostics.add(Severity::Damage, offset, message);
        }
    }
}

/// What an event type means that has a meaning for every program.
fn means(text: &[u8]) -> Option<Means> {
    let meaning = match str::from_utf8(text).ok()? {
        SPAN_ENTER => Meaning::Call,
        SPAN_EXIT => Meaning::Return,
        _ => return None,
    };
    Some(Means { meaning, subject: None, object: None, next: None, value: Some(0) })
}

fn event_type(id: u32, text: &EventTypeText<'_>) -> EventType {
    let mut args: Vec<Argument> = Vec::new();
    for field in text.fields() {
        let taken = args.iter().any(|argument| argument.name == field.name);
        let name =
            if taken { format!("{}_{}", field.name, args.len() + 1) } else { field.name.into() };
        let name = shown(&name).into_owned();
        args.push(Argument { name, kind: kind(field.kind), encoding: String::new(), zero: None });
    }
    EventType {
        id,
        name: shown(text.name).into_owned(),
        label: shown(text.name).into_owned(),
        family: shown(text.family).into_owned(),
        filter: 0,
        args,
        means: None,
        details: Details::default(),
    }
}

const fn kind(kind: FieldKind) -> ArgumentKind {
    match kind {
        FieldKind::Signed => ArgumentKind::Signed,
        FieldKind::Hex => ArgumentKind::Hex,
        FieldKind::Float => ArgumentKind::Float,
        FieldKind::Text => ArgumentKind::Text,
        FieldKind::Bytes => ArgumentKind::Bytes,
        FieldKind::Unsigned | FieldKind::Bool => ArgumentKind::Unsigned,
    }
}
