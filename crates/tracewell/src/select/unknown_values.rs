//! Finds unknown names in conditions: misspelt names of contexts, objects and events, and misspelt
//! words of enumerations.
//!
//! Values of other fields are not checked: a trace may contain any text and any number.

use super::expression::syntax::{Comparison, Condition, Field, Property, Text, Wanted};
use super::names::argument;
use super::pattern::like;
use super::unknown_names::trailing_id;
use crate::model::schema::{ArgumentKind, EventType, Level, SpanRole};
use crate::model::{Trace, did_you_mean, nearest};

/// For each name in a condition, returns a message if nothing in the trace has this name.
///
/// `events` are the events to which the condition applies. `of` describes the trace, or the part of
/// it that was read, such as "this trace".
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
    if let Some(messages) = span_names(field, events, texts.clone()) {
        return messages;
    }
    let Some((what, known)) = known_names(field, events, trace) else { return Vec::new() };
    let is_known = |text: &Text| match text {
        // If several ids share a label, the id follows the label.
        _ if what == "event" && trailing_id(written(text), &trace.schema).is_some() => true,
        Text::Like(pattern) => known.iter().any(|name| like(pattern, name)),
        Text::Exactly(wanted) => known.contains(&wanted.as_str()),
    };
    let message = |text: &Text| {
        let name = written(text);
        let is_pattern = matches!(text, Text::Exactly(_)) && name.contains(['*', '?']);
        let hint = match nearest(name, &known) {
            _ if is_pattern && known.iter().any(|known| like(name, known)) => {
                format!(
                    "; * and ? are wildcards only without quotation marks: {}",
                    name.escape_debug()
                )
            }
            Some(meant) => did_you_mean(Some(meant)),
            None if matches!(what, "level" | "target" | "span") => listed(&known),
            None => String::new(),
        };
        format!("no {what} named '{}' in {of}{hint}", name.escape_debug())
    };
    texts.filter(|text| !is_known(text)).map(message).collect()
}

/// Maximum number of names in a message.
const MAX_NAMES: usize = 6;

/// Returns the end of a message: the names that a trace has.
fn listed(known: &[&str]) -> String {
    let mut names = known.to_vec();
    names.sort_unstable();
    names.dedup();
    let shown: Vec<_> = names.iter().take(MAX_NAMES).map(|name| name.escape_debug()).collect();
    let shown = shown.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    match (names.len(), names.len().saturating_sub(MAX_NAMES)) {
        (0, _) => "; it has none".to_owned(),
        (_, 0) => format!("; it has {shown}"),
        (_, more) => format!("; it has {shown} and {more} more"),
    }
}

/// If the field identifies a span, returns a message for each name without a span number. Such a
/// field is shown as name and number, so the name alone never equals it. Returns `None` for any
/// other field.
fn span_names<'a>(
    field: &Field,
    events: &[&EventType],
    texts: impl Iterator<Item = &'a Text>,
) -> Option<Vec<String>> {
    let Field::Argument(name) = field else { return None };
    let kinds = events.iter().filter_map(|event| {
        argument(name, &event.args).and_then(|index| event.args.get(index)).map(|arg| arg.kind)
    });
    let mut kinds = kinds.peekable();
    kinds.peek()?;
    // If the field also has other kinds, the text may equal one of their values.
    if !kinds.all(|kind| kind == ArgumentKind::Span) {
        return None;
    }
    let names = texts.map(written).filter(|text| !text.contains(['#', '*', '?']));
    let message = |text: &str| {
        let text = text.escape_debug();
        let all = match name.as_str() {
            "span" => format!("@span = {text}"),
            _ => format!("{name} = {text}?*"),
        };
        format!("'{name}' is shown as NAME#NUMBER; for all spans named '{text}', write {all}")
    };
    Some(names.map(message).collect())
}

fn written(text: &Text) -> &str {
    let (Text::Like(written) | Text::Exactly(written)) = text;
    written
}

/// Returns a word such as "context" for the kind of names that a field can contain, and all these
/// names. Returns `None` if the field can contain any other text.
fn known_names<'t>(
    field: &Field,
    events: &[&EventType],
    trace: &'t Trace,
) -> Option<(&'static str, Vec<&'t str>)> {
    let contexts = || trace.contexts.iter().map(|(_, context)| context.name.as_str());
    let objects = || trace.objects.iter().map(|(_, object)| object.label.as_str());
    let entries = || trace.schema.events().chain(trace.schema.ranges());
    match field {
        Field::Property(Property::Context) => Some(("context", contexts().collect())),
        // An argument for an object can also refer to a context.
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
        Field::Property(Property::Level) => Some(("level", Level::ALL.map(Level::as_str).into())),
        // A bridge passes on the targets of another logger, which may be any text.
        Field::Property(Property::Target) => {
            let sites = || entries().filter_map(|event| event.instrumentation.site.as_ref());
            let has_others = sites().any(|site| site.forwarded.is_some());
            (!has_others).then(|| ("target", sites().map(|site| site.target.as_str()).collect()))
        }
        Field::Property(Property::Span) => {
            let begin = |event: &&EventType| event.instrumentation.span == Some(SpanRole::Begins);
            let sites =
                entries().filter(begin).filter_map(|event| event.instrumentation.site.as_ref());
            Some(("span", sites.map(|site| site.name.as_str()).collect()))
        }
        Field::Property(_) => None,
        Field::Argument(name) => {
            let places = events.iter().filter_map(|event| {
                argument(name, &event.args).and_then(|index| event.args.get(index))
            });
            let kinds: Vec<_> = places.map(|argument| argument.kind).collect();
            let all = |is: fn(&ArgumentKind) -> bool| !kinds.is_empty() && kinds.iter().all(is);
            if all(|kind| matches!(kind, ArgumentKind::Object(_))) {
                // If the argument refers to no object, its text is a number.
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
