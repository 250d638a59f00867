//! Builds the event types of call sites, and defines them at the first event.

use std::fmt::Write;

use tracewell_record::stream::{DefineError, Family, Stream};
use tracewell_wire::native::image::TYPE_TEXT;
use tracewell_wire::native::{
    SPAN_CLOSE, SPAN_ENTER, SPAN_EXIT, SPAN_FAMILY, SPAN_FIELD, SPAN_RECORD,
};
use tracing_core::Metadata;

use crate::FIRST_FAMILY;
use crate::levels::level_family;
use crate::sites::{Key, Sites};
use crate::values::{Fields, Names};

/// The family of events about spans: later values, enter, exit and close.
pub(crate) const SPAN: Family = Family::new(FIRST_FAMILY, SPAN_FAMILY);

/// The ids of event types, by call site and shape of the values.
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
            close: of_span(SPAN_CLOSE),
            known: Sites::new(),
        }
    }

    /// Returns the id for events of a call site with this shape, and defines the type at the first
    /// event. Returns 0 if the type cannot be defined or the table of known types is full. The
    /// stream counts events with the id 0 as lost.
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

    /// Returns the id for later values of a span; returns 0 in the same cases as
    /// [`Types::of_site`].
    ///
    /// `tracing` does not pass the span's call site to the layer, so this function looks up the
    /// type's definition in the stream each time. The lookup allocates.
    pub(crate) fn of_span(&self, stream: &Stream, fields: &impl Fields) -> u16 {
        let text = text(SPAN, SPAN_RECORD, &Names::of(fields, &[SPAN_FIELD]));
        stream.define_text(None, SPAN, &text).unwrap_or(0)
    }
}

/// Returns the name of a call site. The default name that `tracing` gives an event contains the
/// path of the file. The target and the line are shorter and more specific.
fn name(metadata: &Metadata<'_>) -> String {
    let (target, name) = (metadata.target(), metadata.name());
    match metadata.line() {
        Some(line) if metadata.is_event() && name.starts_with("event ") => {
            format!("{target}:{line}")
        }
        _ => format!("{target}:{name}"),
    }
}

/// Maximum lengths of an event's name and of a field's name, in bytes. If a definition is too long
/// for the stream, the next pair applies.
const MAX_NAMES: [(usize, usize); 4] = [(usize::MAX, usize::MAX), (160, 24), (160, 12), (160, 4)];

/// Returns the definition of an event type. Replaces each character that a definition cannot
/// contain with `_`. Shortens names if the definition would be too long for the stream.
fn text(family: Family, name: &str, names: &Names) -> String {
    let texts = MAX_NAMES.into_iter().map(|limits| text_within(limits, family, name, names));
    let mut shortest = String::new();
    for text in texts {
        shortest = text;
        if shortest.len() <= TYPE_TEXT {
            break;
        }
    }
    shortest
}

fn text_within(
    (max_name, max_field): (usize, usize),
    family: Family,
    name: &str,
    names: &Names,
) -> String {
    let plain = |c: char| if matches!(c, '(' | '\0' | '\n' | '\r') { '_' } else { c };
    let mut text = String::from(family.name());
    text.push('/');
    text.extend(name[..name.floor_char_boundary(max_name)].chars().map(plain));
    let mut separator = '(';
    for (field, kind) in names.fields() {
        let allowed = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        text.push(separator);
        text.extend(field.chars().take(max_field).map(|c| if allowed(c) { c } else { '_' }));
        // Writing to a String cannot fail.
        let _ = write!(text, ":{}", kind.as_str());
        separator = ',';
    }
    text.push(')');
    text
}
