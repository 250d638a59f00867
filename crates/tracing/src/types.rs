//! Event types of call sites: defined at the first event, found again by call site and shape.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::{PoisonError, RwLock};

use tracewell_record::stream::{Family, Stream};
use tracewell_wire::native::{SPAN_ENTER, SPAN_EXIT};
use tracing_core::Metadata;
use tracing_core::callsite::Identifier;

use crate::values::Values;
use crate::{FIRST_FAMILY, level_family};

/// The family of what happens to spans.
pub(crate) const SPAN: Family = Family::new(FIRST_FAMILY, "span");

/// Event types by call site and shape of the values.
#[derive(Debug)]
pub(crate) struct Types {
    pub(crate) enter: u16,
    pub(crate) exit: u16,
    pub(crate) close: u16,
    known: RwLock<HashMap<(Identifier, u128), u16>>,
}

impl Types {
    pub(crate) fn new(stream: &Stream) -> Self {
        let of_span = |text| define(stream, SPAN, text);
        Self {
            enter: of_span(SPAN_ENTER),
            exit: of_span(SPAN_EXIT),
            close: of_span("span/close(span:u64)"),
            known: RwLock::default(),
        }
    }

    /// The id of a call site's events of this shape.
    pub(crate) fn of_site(
        &self,
        stream: &Stream,
        metadata: &'static Metadata<'static>,
        values: &Values,
    ) -> u16 {
        let key = (metadata.callsite(), values.shape());
        // A map is whole also where a thread panicked over it.
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner).get(&key).copied();
        known.unwrap_or_else(|| {
            let family = level_family(*metadata.level());
            let id = define(stream, family, &text(family, &name(metadata), values));
            self.known.write().unwrap_or_else(PoisonError::into_inner).insert(key, id);
            id
        })
    }

    /// The id of values that a span gets later. Who says which span says not which call site, so the
    /// stream is asked each time.
    pub(crate) fn of_span(&self, stream: &Stream, values: &Values) -> u16 {
        define(stream, SPAN, &text(SPAN, "record", values))
    }
}

/// The id; 0 where the type has no place, so that the stream counts its events as lost.
fn define(stream: &Stream, family: Family, text: &str) -> u16 {
    stream.define_text(None, family, text).unwrap_or(0)
}

/// What a call site is called: events without a name of their own have one with a path in it, which is
/// long and says less than target and line.
fn name(metadata: &Metadata<'_>) -> String {
    let (target, name) = (metadata.target(), metadata.name());
    match metadata.line() {
        Some(line) if metadata.is_event() && name.starts_with("event ") => {
            format!("{target}:{line}")
        }
        _ => format!("{target}:{name}"),
    }
}

/// The text of an event type, with other characters where a name has what a text cannot.
fn text(family: Family, name: &str, values: &Values) -> String {
    let plain = |c: char| if matches!(c, '(' | '\0' | '\n' | '\r') { '_' } else { c };
    let mut text = String::from(family.name());
    text.push('/');
    text.extend(name.chars().map(plain));
    let mut separator = '(';
    for (field, kind) in values.fields() {
        let allowed = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        text.push(separator);
        text.extend(field.chars().map(|c| if allowed(c) { c } else { '_' }));
        // Writing to a String never fails.
        let _ = write!(text, ":{}", kind.as_str());
        separator = ',';
    }
    text.push(')');
    text
}
