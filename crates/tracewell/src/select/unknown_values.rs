//! Finds unknown names in conditions: misspelt names of contexts, objects and events, and misspelt
//! words of enumerations.
//!
//! Values of other fields are not checked: a trace may contain any text and any number.

use super::expression::syntax::{Comparison, Condition, Field, Property, Text, Wanted};
use super::names::argument;
use super::pattern::like;
use super::unknown_names::trailing_id;
use crate::model::schema::{ArgumentKind, EventType};
use crate::model::{Trace, did_you_mean, nearest};

/// Returns a message for each name in a condition if nothing in the trace has this name.
///
/// `events` are the events to which the condition applies. `of` is the trace or the part of it that
/// was read, in words.
pub(crate) fn unknown_values(
    (field, condition): (&Field, &Condition),
    events: &[&EventType],
    trace: &Trace,
    of: &str,
) -> Vec<String> {
    if !matches!(condition.comparison, Comparison::Equal | Comparison::Different) {
        return Vec::new();
    }
    let texts = condition.values.iter().filter_map(|value| match value {
        Wanted::Text(text) => Some(text),
        Wanted::Number(..) | Wanted::Variable(_) => None,
    });
    if let Field::Property(property @ (Property::Id | Property::Cpu | Property::Priority)) = field {
        let name = property.name();
        let words = texts.map(written).filter(|text| !text.contains(['*', '?']));
        return words.map(|text| format!("@{name} is a number, found the name '{text}'")).collect();
    }
    let Some((what, known)) = known_names(field, events, trace) else { return Vec::new() };
    let is_known = |text: &Text| match text {
        // If several ids share a label, the id follows the label.
        _ if what == "event" && trailing_id(written(text), &trace.schema).is_some() => true,
        Text::Like(pattern) => known.iter().any(|name| like(pattern, name)),
        Text::Exactly(wanted) => known.contains(&wanted.as_str()),
    };
    let unknown = texts.filter(|text| !is_known(text)).map(written);
    let message = |text: &str| {
        let meant = did_you_mean(nearest(text, &known));
        format!("no {what} named '{}' in {of}{meant}", text.escape_debug())
    };
    unknown.map(message).collect()
}

fn written(text: &Text) -> &str {
    let (Text::Like(written) | Text::Exactly(written)) = text;
    written
}

/// Returns the names that a field can have, and their kind in words. Returns `None` if the field
/// can contain any other text.
fn known_names<'t>(
    field: &Field,
    events: &[&EventType],
    trace: &'t Trace,
) -> Option<(&'static str, Vec<&'t str>)> {
    let contexts = || trace.contexts.iter().map(|(_, context)| context.name.as_str());
    let objects = || trace.objects.iter().map(|(_, object)| object.label.as_str());
    let entries = || trace.schema.events().iter().chain(trace.schema.ranges());
    match field {
        Field::Property(Property::Context) => Some(("context", contexts().collect())),
        // An object may be a context too.
        Field::Property(Property::Object) => {
            Some(("object", objects().chain(contexts()).collect()))
        }
        Field::Property(Property::Name) => {
            Some(("event", entries().map(|event| event.name.as_str()).collect()))
        }
        Field::Property(Property::Label) => {
            Some(("event", entries().map(|event| event.label.as_str()).collect()))
        }
        Field::Property(Property::Family) => {
            Some(("family", entries().map(|event| event.family.as_str()).collect()))
        }
        Field::Property(_) => None,
        Field::Argument(name) => {
            let places = events.iter().filter_map(|event| {
                argument(name, &event.args).and_then(|index| event.args.get(index))
            });
            let kinds: Vec<_> = places.map(|argument| argument.kind).collect();
            let all = |is: fn(&ArgumentKind) -> bool| !kinds.is_empty() && kinds.iter().all(is);
            if all(|kind| matches!(kind, ArgumentKind::Object(_))) {
                // An argument may refer to no object. In that case its text is its number.
                return Some(("object", objects().chain(contexts()).collect()));
            }
            if !all(|kind| matches!(kind, ArgumentKind::Enum(_))) {
                return None;
            }
            let words = kinds.iter().flat_map(|kind| match kind {
                ArgumentKind::Enum(table) => Some(trace.schema.flags(*table)),
                _ => None,
            });
            Some(("value", words.flatten().map(|(_, name)| name).collect()))
        }
    }
}
