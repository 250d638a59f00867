//! Recognises the event types that `tracewell-tracing` defines for call sites and spans, and
//! numbers the spans of a program. `tracewell_wire::native` defines the names of families and
//! fields.

use tracewell_wire::native::{
    EventTypeText, FieldKind, LEVEL_FAMILIES, PARENT_FIELD, SPAN_FAMILY, SPAN_FIELD, SPAN_RECORD,
    WORD,
};

use super::run::Record;
use crate::model::schema::{CallSite, Instrumentation, Level, SpanRole};
use crate::model::{ContextId, ProgramSpans};
use crate::text::shown;

/// The target of all records that `tracing-log` passes on from the crate `log`, and the name of the
/// field with the original target.
const FORWARDED: (&str, &str) = ("log", "log.target");

/// Returns the call site of an event type and its role in a span. If the bytes of the last argument
/// contain the texts of several arguments, also returns the indices of the first and the last of
/// these arguments.
pub(super) fn instrumentation(text: &EventTypeText<'_>) -> Instrumentation {
    let has_span = text
        .fields()
        .next()
        .is_some_and(|field| (field.name, field.kind) == (SPAN_FIELD, FieldKind::Unsigned));
    let site = if has_span { call_site(text) } else { None };
    let span = match (&site, has_span && text.family == SPAN_FAMILY) {
        (Some(_), _) if has_parent(text) => Some(SpanRole::Begins),
        (Some(_), _) => Some(SpanRole::Inside),
        (None, true) => role(text),
        (None, false) => None,
    };
    let first = text.fields().position(|field| field.kind == FieldKind::Part);
    let parts = first.map(|first| (first, text.fields().count().saturating_sub(1)));
    Instrumentation { site, span, parts }
}

fn has_parent(text: &EventTypeText<'_>) -> bool {
    let second = text.fields().nth(1);
    second.is_some_and(|field| (field.name, field.kind) == (PARENT_FIELD, FieldKind::Unsigned))
}

/// Returns the role of an event that belongs to the family of spans.
fn role(text: &EventTypeText<'_>) -> Option<SpanRole> {
    let has_values = text.fields().count() > 1;
    Some(match (text.name, has_values) {
        ("enter", false) => SpanRole::Enters,
        ("exit", false) => SpanRole::Leaves,
        ("close", false) => SpanRole::Ends,
        (SPAN_RECORD, _) => SpanRole::Records,
        _ => return None,
    })
}

/// Returns the call site of an event type whose family is a level. Its name has the form
/// `TARGET:NAME`. A target is a path such as `app::net`, so only a single colon ends it.
fn call_site(text: &EventTypeText<'_>) -> Option<CallSite> {
    let level = LEVEL_FAMILIES.iter().position(|family| *family == text.family)?;
    let level = *Level::ALL.get(level)?;
    let (target, name) = split(text.name)?;
    let forwarded = (target == FORWARDED.0)
        .then(|| text.fields().position(|field| field.name == FORWARDED.1))
        .flatten();
    let [target, name] = [target, name].map(|text| shown(text).into_owned());
    Some(CallSite { level, target, name, forwarded })
}

/// Splits a text at the first colon that has no other colon next to it.
fn split(text: &str) -> Option<(&str, &str)> {
    let mut at = 0;
    while let Some(colon) = text.get(at..)?.find(':').map(|found| at + found) {
        let colons = text[colon..].bytes().take_while(|byte| *byte == b':').count();
        if colons == 1 {
            return Some((&text[..colon], &text[colon + 1..]));
        }
        at = colon + colons;
    }
    None
}

/// Returns the number of arguments that refer to spans. These arguments precede all others.
pub(super) const fn span_fields(role: Option<SpanRole>) -> usize {
    match role {
        None => 0,
        Some(SpanRole::Begins) => 2,
        Some(_) => 1,
    }
}

/// Appends the arguments of an event to `out`, and replaces the ids of spans by their numbers.
pub(super) fn number_spans(
    role: SpanRole,
    (record, context): (Record, ContextId),
    arguments: &[u8],
    (spans, out): (&mut ProgramSpans, &mut Vec<u8>),
) {
    let fields = span_fields(Some(role)) * WORD;
    let (ids, others) = arguments.split_at_checked(fields).unwrap_or((&[], arguments));
    for (index, id) in ids.as_chunks::<WORD>().0.iter().enumerate() {
        let number = match (u64::from_le_bytes(*id), role) {
            // The id 0 means that there is no span.
            (0, _) => 0,
            // The first field is the span that begins. A second field is its parent.
            (id, SpanRole::Begins) if index == 0 => spans.begin(context, id, u32::from(record.id)),
            (id, SpanRole::Ends) => spans.end(context, id),
            (id, _) => spans.number(context, id),
        };
        out.extend_from_slice(&number.to_le_bytes());
    }
    out.extend_from_slice(others);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(text: &str) -> Option<(Level, String, String)> {
        let site = instrumentation(&EventTypeText::parse(text).unwrap()).site?;
        Some((site.level, site.target, site.name))
    }

    #[test]
    fn a_single_colon_ends_the_target() {
        let of = |target: &str, name: &str| Some((Level::Info, target.into(), name.into()));
        assert_eq!(site("info/app::net:17(span:u64)"), of("app::net", "17"));
        assert_eq!(site("info/app:a::b:c(span:u64)"), of("app", "a::b:c"));
        assert_eq!(site("info/app::net(span:u64)"), None);
        assert_eq!(site("info/a:::b(span:u64)"), None);
        assert_eq!(site("info/app:(span:u64)"), of("app", ""));
    }

    #[test]
    fn only_levels_with_a_span_are_call_sites() {
        assert_eq!(site("info/app:1(length:u64)"), None);
        assert_eq!(site("info/app:1(span:hex)"), None);
        assert_eq!(site("net/app:1(span:u64)"), None);
        assert_eq!(site("error/app:1(span:u64)").unwrap().0, Level::Error);
        assert_eq!(site("trace/app:1(span:u64)").unwrap().0, Level::Trace);
    }

    #[test]
    fn roles_follow_from_family_and_fields() {
        let role = |text| instrumentation(&EventTypeText::parse(text).unwrap()).span;
        for (text, expected) in [
            ("info/app:work(span:u64,parent:u64,n:u64)", Some(SpanRole::Begins)),
            ("info/app:1(span:u64,n:u64,parent:u64)", Some(SpanRole::Inside)),
            ("span/enter(span:u64)", Some(SpanRole::Enters)),
            ("span/exit(span:u64)", Some(SpanRole::Leaves)),
            ("span/close(span:u64)", Some(SpanRole::Ends)),
            ("span/record(span:u64,answer:u64)", Some(SpanRole::Records)),
            ("span/enter(span:u64,n:u64)", None),
            ("span/other(span:u64)", None),
            ("net/enter(span:u64)", None),
        ] {
            assert_eq!(role(text), expected, "{text}");
        }
    }
}
