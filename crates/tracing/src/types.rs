//! Event types of call sites: their texts, and defining them at the first event.

use std::fmt::Write;

use tracewell_record::stream::{DefineError, Family, Stream};
use tracewell_wire::native::{SPAN_ENTER, SPAN_EXIT};
use tracing_core::Metadata;

use crate::FIRST_FAMILY;
use crate::layer::level_family;
use crate::sites::{Key, Sites};
use crate::values::{Fields, Names};

/// The family of what happens to spans.
pub(crate) const SPAN: Family = Family::new(FIRST_FAMILY, "span");

/// Event types by call site and shape of the values.
#[derive(Debug)]
pub(crate) struct Types {
    pub(crate) enter: u16,
    pub(crate) exit: u16,
    pub(crate) close: u16,
    known: Sites,
}

impl Types {
    pub(crate) fn new(stream: &Stream) -> Self {
        let of_span = |text| stream.define_text(None, SPAN, text).unwrap_or(0);
        Self {
            enter: of_span(SPAN_ENTER),
            exit: of_span(SPAN_EXIT),
            close: of_span("span/close(span:u64)"),
            known: Sites::new(),
        }
    }

    /// The id of a call site's events of this shape; 0 if the type has no place, so that the stream
    /// counts its events as lost.
    #[inline]
    pub(crate) fn of_site<const N: usize>(
        &self,
        stream: &Stream,
        metadata: &'static Metadata<'static>,
        shape: [u64; 2],
        before: impl FnOnce() -> [&'static str; N],
        fields: &impl Fields,
    ) -> u16 {
        self.known.find(Key::new(metadata, shape), || {
            let family = level_family(*metadata.level());
            let text = text(family, &name(metadata), &Names::of(fields, &before()));
            match stream.define_text(None, family, &text) {
                Err(DefineError::NoIdLeft) => None,
                defined => Some(defined.unwrap_or(0)),
            }
        })
    }

    /// The id of values that a span gets later; 0 as above. The layer is not told the span's call site, so it
    /// asks the stream each time.
    pub(crate) fn of_span(&self, stream: &Stream, fields: &impl Fields) -> u16 {
        let text = text(SPAN, "record", &Names::of(fields, &["span"]));
        stream.define_text(None, SPAN, &text).unwrap_or(0)
    }
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
fn text(family: Family, name: &str, names: &Names) -> String {
    let plain = |c: char| if matches!(c, '(' | '\0' | '\n' | '\r') { '_' } else { c };
    let mut text = String::from(family.name());
    text.push('/');
    text.extend(name.chars().map(plain));
    let mut separator = '(';
    for (field, kind) in names.fields() {
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
