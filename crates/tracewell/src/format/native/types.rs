//! Converts event types of a stream to entries of the schema.

use std::sync::Arc;

use tracewell_wire::native::{EventTypeText, FieldKind, SPAN_ENTER, SPAN_EXIT};

use super::kernel::KernelEvents;
use super::sites;
use crate::model::schema::{Argument, ArgumentKind, Details, EventType, Instrumentation, Means};
use crate::model::{Meaning, Severity, Trace, unique};
use crate::text::shown;

/// Adds an event type, unless the user supplied a type for the same id.
pub(super) fn define(
    trace: &mut Trace,
    kernel: &mut KernelEvents,
    id: u16,
    text: &[u8],
    offset: u64,
) {
    if trace.schema.defines(u32::from(id)) || kernel.has(id) {
        return;
    }
    let parsed = std::str::from_utf8(text).map_err(|error| error.to_string());
    let means = means(text);
    match parsed.and_then(|text| EventTypeText::parse(text).map_err(|error| error.to_string())) {
        Ok(text) if kernel.define(id, &text, trace) => {}
        Ok(text) => {
            let instrumentation = sites::instrumentation(&text);
            if let Some(role) = instrumentation.span {
                // The decoder replaces the ids of spans in these events by numbers.
                trace.program_spans.declare(id, role);
            }
            let event = event_type(u32::from(id), &text, instrumentation);
            Arc::make_mut(&mut trace.schema).define(EventType { means, ..event });
        }
        Err(error) => {
            let message = format!("event type {id}: {error}");
            trace.diagnostics.add(Severity::Damage, offset, message);
        }
    }
}

/// Returns the meaning of an event type, if its name means the same in every program.
fn means(text: &[u8]) -> Option<Means> {
    let meaning = match str::from_utf8(text).ok()? {
        SPAN_ENTER => Meaning::Call,
        SPAN_EXIT => Meaning::Return,
        _ => return None,
    };
    Some(Means { value: Some(0), ..Means::of(meaning) })
}

fn event_type(id: u32, text: &EventTypeText<'_>, instrumentation: Instrumentation) -> EventType {
    let span_fields = sites::span_fields(instrumentation.span);
    let mut args: Vec<Argument> = Vec::new();
    for field in text.fields() {
        // Programs may give two fields the same name, but consumers need unique names.
        let is_used = |name: &str| args.iter().any(|argument| argument.name == name);
        let name = unique(&shown(field.name), is_used);
        let kind = if args.len() < span_fields { ArgumentKind::Span } else { kind(field.kind) };
        args.push(Argument { name, kind, encoding: String::new(), zero: None });
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
        instrumentation,
    }
}

const fn kind(kind: FieldKind) -> ArgumentKind {
    match kind {
        FieldKind::Signed => ArgumentKind::Signed,
        FieldKind::Hex => ArgumentKind::Hex,
        FieldKind::Float => ArgumentKind::Float,
        FieldKind::Text | FieldKind::Part => ArgumentKind::Text,
        FieldKind::Bytes => ArgumentKind::Bytes,
        FieldKind::Bool => ArgumentKind::Bool,
        FieldKind::Unsigned => ArgumentKind::Unsigned,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_with_equal_names_get_unique_ones() {
        for (text, expected) in [
            ("program/e(a:u64,a_3:u64,a:u64)", ["a", "a_3", "a_2"]),
            ("program/e(a:u64,a:u64,a_2:u64)", ["a", "a_2", "a_2_2"]),
        ] {
            let text = EventTypeText::parse(text).unwrap();
            let args = event_type(70, &text, sites::instrumentation(&text)).args;
            let names: Vec<_> = args.iter().map(|argument| argument.name.as_str()).collect();
            assert_eq!(names, expected);
        }
    }
}
