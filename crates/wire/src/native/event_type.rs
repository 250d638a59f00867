//! What an event id means, as text: `family`, `name` and fields with their kinds.
//!
//! ```text
//! net/packet_sent(length:u64,queue:hex,urgent:bool)
//! ```
//!
//! Names of families and fields have the characters `A-Z a-z 0-9 _ - .`; an event's name may have
//! any but `(`, NUL and line ends. A field of kind `text` or `bytes` is the last one: its word is a
//! number of bytes, and the words behind it hold them, filled up with 0.

use core::fmt;

/// The event type of entering a span: work of a thread that begins or goes on, and that others may interrupt.
/// A reader takes it as a call. The number tells one span from another.
pub const SPAN_ENTER: &str = "span/enter(span:u64)";
/// The event type of leaving a span, for good or not: the return from the call.
pub const SPAN_EXIT: &str = "span/exit(span:u64)";

/// How the word of a field is to be shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FieldKind {
    /// A number.
    Unsigned,
    /// A number in two's complement of 64 bits.
    Signed,
    /// Bits.
    Hex,
    /// 0 or 1.
    Bool,
    /// The bits of an IEEE 754 number of 64 bits.
    Float,
    /// A length, and as many bytes of UTF-8 behind it.
    Text,
    /// A length, and as many bytes behind it.
    Bytes,
}

impl FieldKind {
    const ALL: [(Self, &str); 7] = [
        (Self::Unsigned, "u64"),
        (Self::Signed, "i64"),
        (Self::Hex, "hex"),
        (Self::Bool, "bool"),
        (Self::Float, "f64"),
        (Self::Text, "text"),
        (Self::Bytes, "bytes"),
    ];

    /// The word for it in an event type's text.
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
    /// Its name.
    pub name: &'a str,
    /// How it is shown.
    pub kind: FieldKind,
}

/// The text of an event type, taken apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EventTypeText<'a> {
    /// Group of events that belong together; may be empty.
    pub family: &'a str,
    /// The event's name.
    pub name: &'a str,
    fields: &'a str,
}

/// A text is no event type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TextError {
    /// What was expected.
    pub expected: &'static str,
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected an event type family/name(field:kind,...): {}", self.expected)
    }
}

impl core::error::Error for TextError {}

impl<'a> EventTypeText<'a> {
    /// Takes a text apart; what this accepts, [`EventTypeText::fields`] reads to its end.
    ///
    /// # Errors
    /// Where it is not of the form above.
    pub fn parse(text: &'a str) -> Result<Self, TextError> {
        let error = |expected| TextError { expected };
        if text.contains(['\0', '\n', '\r']) {
            return Err(error("no line ends or NULs"));
        }
        let (head, fields) = text.split_once('(').ok_or(error("a list of fields"))?;
        let fields = fields.strip_suffix(')').ok_or(error("a closing parenthesis"))?;
        let (family, name) = head.split_once('/').ok_or(error("a slash behind the family"))?;
        if !family.bytes().all(plain) || name.is_empty() {
            return Err(error("names of letters, digits, '_', '-' and '.'"));
        }
        let parsed = Self { family, name, fields };
        let parts = if fields.is_empty() { 0 } else { fields.split(',').count() };
        if parsed.fields().count() != parts {
            return Err(error("fields name:kind"));
        }
        let before_last = parsed.fields().take(parts.saturating_sub(1));
        if before_last.into_iter().any(|field| field.kind.is_long()) {
            return Err(error("text or bytes in the last place"));
        }
        Ok(parsed)
    }

    /// The fields in order.
    pub fn fields(&self) -> impl Iterator<Item = Field<'a>> + use<'a> {
        self.fields.split(',').filter_map(|field| {
            let (name, kind) = field.split_once(':')?;
            let kind = FieldKind::of_str(kind)?;
            (!name.is_empty() && name.bytes().all(plain)).then_some(Field { name, kind })
        })
    }
}

impl FieldKind {
    /// Whether its word is a length and bytes follow.
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
        ] {
            assert!(EventTypeText::parse(bad).is_err(), "{bad}");
        }
    }
}
