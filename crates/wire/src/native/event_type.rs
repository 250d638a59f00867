//! The string that defines an event type: family, name, and fields with their kinds.
//!
//! ```text
//! net/packet_sent(length:u64,queue:hex,urgent:bool)
//! ```
//!
//! Names of families and fields consist of `A-Z a-z 0-9 _ - .`. An event name can contain any
//! character except `(`, NUL and line ends. Only the last field can be of kind `text` or `bytes`.
//! The word of such a field holds a length in bytes. The following words hold the bytes, padded
//! with 0.
//!
//! A record can contain several texts: the bytes of all of them are in its last field. Fields of
//! kind `part` directly precede a last field of kind `text`. Each of them is the length of one
//! text. The first text consists of the first bytes of the last field, and the second text of the
//! bytes after them. The remaining bytes are the text of the last field itself.

use core::fmt;

/// Event type for entering a span. A span is a unit of work that a thread begins or resumes. The
/// number identifies the span. Readers treat the event as a call.
pub const SPAN_ENTER: &str = "span/enter(span:u64)";
/// Event type for leaving a span, whether the span is finished or not. Readers treat the event as
/// the return from the call.
pub const SPAN_EXIT: &str = "span/exit(span:u64)";
/// Event type for the end of a span. No later event refers to this span.
pub const SPAN_CLOSE: &str = "span/close(span:u64)";
/// Name of the event types for values that a program adds to an open span. Their first field is
/// `span:u64`.
pub const SPAN_RECORD: &str = "record";
/// Family of the event types for spans.
pub const SPAN_FAMILY: &str = "span";
/// Families of the event types for `tracing` call sites: one per level, the most severe level
/// first. Readers recognise such a type by its family, its name of the form `TARGET:NAME` and its
/// first field `span:u64`. The type of a new span has a second field `parent:u64`.
pub const LEVEL_FAMILIES: [&str; 5] = ["error", "warn", "info", "debug", "trace"];
/// First field of the event types for spans and call sites: the number of a span, or 0 if there is
/// none.
pub const SPAN_FIELD: &str = "span";
/// Second field of the event type for a new span: the number of its parent span, or 0 if there is
/// none.
pub const PARENT_FIELD: &str = "parent";

/// The type of a field. The type determines the format in which readers show the field's word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FieldKind {
    /// An unsigned number of 64 bits.
    Unsigned,
    /// A signed number in two's complement, 64 bits.
    Signed,
    /// A number shown in hexadecimal, such as an address.
    Hex,
    /// 0 for false, 1 for true.
    Bool,
    /// The bits of a 64-bit IEEE 754 number.
    Float,
    /// A length in bytes, followed by UTF-8 text.
    Text,
    /// A length in bytes, followed by the bytes.
    Bytes,
    /// A length in bytes. The field's text is a part of the last field's bytes.
    Part,
}

impl FieldKind {
    const ALL: [(Self, &str); 8] = [
        (Self::Unsigned, "u64"),
        (Self::Signed, "i64"),
        (Self::Hex, "hex"),
        (Self::Bool, "bool"),
        (Self::Float, "f64"),
        (Self::Text, "text"),
        (Self::Bytes, "bytes"),
        (Self::Part, "part"),
    ];

    /// Returns the kind's name in an event type, such as `u64`.
    pub fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(kind, _)| *kind == self).map_or("", |(_, word)| word)
    }

    fn of_str(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == word).map(|(kind, _)| *kind)
    }
}

/// A field of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Field<'a> {
    /// Name of the field.
    pub name: &'a str,
    /// The kind of the field.
    pub kind: FieldKind,
}

/// The parsed definition of an event type.
///
/// ```
/// use tracewell_wire::native::{EventTypeText, FieldKind};
///
/// let sent = EventTypeText::parse("net/packet_sent(length:u64,urgent:bool)").unwrap();
/// assert_eq!((sent.family, sent.name), ("net", "packet_sent"));
/// let kinds: Vec<FieldKind> = sent.fields().map(|field| field.kind).collect();
/// assert_eq!(kinds, [FieldKind::Unsigned, FieldKind::Bool]);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EventTypeText<'a> {
    /// Name of the group of related events; may be empty.
    pub family: &'a str,
    /// Name of the event; never empty.
    pub name: &'a str,
    fields: &'a str,
}

/// Error for text that is not a valid event type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TextError {
    /// The part that the parser expected, for a message.
    pub expected: &'static str,
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected an event type family/name(field:kind,...): {}", self.expected)
    }
}

impl core::error::Error for TextError {}

impl<'a> EventTypeText<'a> {
    /// Parses the definition of an event type. After success, [`EventTypeText::fields`] yields
    /// every field.
    ///
    /// # Errors
    /// Returns an error if the text is not of the form `family/name(field:kind,...)`.
    pub fn parse(text: &'a str) -> Result<Self, TextError> {
        let error = |expected| TextError { expected };
        // Stored definitions are padded with NULs, and listings show one definition per line.
        if text.contains(['\0', '\n', '\r']) {
            return Err(error("no line ends or NULs"));
        }
        let (head, fields) = text.split_once('(').ok_or(error("a list of fields"))?;
        let fields = fields.strip_suffix(')').ok_or(error("a closing parenthesis"))?;
        let (family, name) = head.split_once('/').ok_or(error("a slash after the family"))?;
        if !family.bytes().all(plain) || name.is_empty() {
            return Err(error("names of letters, digits, '_', '-' and '.'"));
        }
        let parsed = Self { family, name, fields };
        // `split` yields one empty part for an empty string.
        let parts = if fields.is_empty() { 0 } else { fields.split(',').count() };
        // `fields` skips fields that it cannot parse. If the two counts differ, there is an invalid
        // field.
        if parsed.fields().count() != parts {
            return Err(error("fields name:kind"));
        }
        // A `text` or `bytes` field extends to the end of the record, so no field can follow it.
        let before_last = parsed.fields().take(parts.saturating_sub(1));
        if before_last.into_iter().any(|field| field.kind.is_long()) {
            return Err(error("text or bytes as the last field only"));
        }
        // Readers find the bytes of a part by adding the lengths of the parts before it.
        let mut kinds = parsed.fields().map(|field| field.kind);
        let first = kinds.by_ref().position(|kind| kind == FieldKind::Part);
        let after = kinds.position(|kind| kind != FieldKind::Part);
        let last = parsed.fields().last().map(|field| field.kind);
        let ends = after.is_some_and(|after| first.map_or(0, |first| first + 2) + after == parts);
        if first.is_some() && !(ends && last == Some(FieldKind::Text)) {
            return Err(error("part fields only directly before a last text field"));
        }
        Ok(parsed)
    }

    /// Returns the fields in order.
    pub fn fields(&self) -> impl Iterator<Item = Field<'a>> + use<'a> {
        self.fields.split(',').filter_map(|field| {
            let (name, kind) = field.split_once(':')?;
            let kind = FieldKind::of_str(kind)?;
            (!name.is_empty() && name.bytes().all(plain)).then_some(Field { name, kind })
        })
    }
}

impl FieldKind {
    /// Returns true if the field has a word with a length, followed by that many bytes.
    pub const fn is_long(self) -> bool {
        matches!(self, Self::Text | Self::Bytes)
    }
}

const fn plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_taken_apart() {
        let text = EventTypeText::parse("net/packet sent(length:u64,to:hex,why:text)").unwrap();
        assert_eq!((text.family, text.name), ("net", "packet sent"));
        let mut fields = text.fields().map(|field| (field.name, field.kind.as_str()));
        assert_eq!(fields.next(), Some(("length", "u64")));
        assert_eq!(fields.next(), Some(("to", "hex")));
        assert_eq!(fields.next(), Some(("why", "text")));
        assert_eq!(fields.next(), None);
        assert_eq!(EventTypeText::parse("/x()").unwrap().fields().count(), 0);
        let parts = EventTypeText::parse("a/b(n:u64,x:part,y:part,z:text)").unwrap();
        assert_eq!(parts.fields().filter(|field| field.kind == FieldKind::Part).count(), 2);
        assert!(EventTypeText::parse("a/b(x:part,z:text)").is_ok());
    }

    #[test]
    fn other_texts_are_refused() {
        for bad in [
            "",
            "a",
            "a/b",
            "a/b(",
            "ab()",
            "a/()",
            "a b/c()",
            "a/b(x)",
            "a/b(x:u65)",
            "a/b(:u64)",
            "a/b(x:u64,)",
            "a/b(t:text,x:u64)",
            "a/b(x:u64)\n",
            "a/b(x y:u64)",
            "a/b(x:part)",
            "a/b(x:part,y:bytes)",
            "a/b(x:part,y:u64,z:text)",
            "a/b(x:part,y:u64)",
        ] {
            assert!(EventTypeText::parse(bad).is_err(), "{bad}");
        }
    }
}
