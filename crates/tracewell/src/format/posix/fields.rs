//! Fields in the data of user events, as a user's schema file describes them.
//!
//! The standard leaves the data of a user event to the program, so the stream contains only bytes.
//! An argument such as `"speed: unsigned as u16"` is a little-endian number of 2 bytes. Such
//! arguments follow each other without padding, from the first byte of the data.

use crate::model::schema::{ArgumentKind, EventType};

/// The encodings of numbers.
const NUMBERS: [(&str, Encoding); 10] = [
    ("u8", Encoding::Unsigned(1)),
    ("u16", Encoding::Unsigned(2)),
    ("u32", Encoding::Unsigned(4)),
    ("u64", Encoding::Unsigned(8)),
    ("i8", Encoding::Signed(1)),
    ("i16", Encoding::Signed(2)),
    ("i32", Encoding::Signed(4)),
    ("i64", Encoding::Signed(8)),
    ("f32", Encoding::Float(4)),
    ("f64", Encoding::Float(8)),
];

/// Maximum number of bytes of a field `char[N]`: the maximum size of an event's data.
const MAX_CHARS: usize = 65_536;

/// The encoding of a field, and the length of the field in bytes.
#[derive(Clone, Copy, Debug)]
enum Encoding {
    Unsigned(usize),
    Signed(usize),
    /// An IEEE 754 number.
    Float(usize),
    /// An array of bytes. A string ends before the first null byte.
    Chars(usize),
}

impl Encoding {
    fn parse(text: &str) -> Option<Self> {
        if let Some((_, encoding)) = NUMBERS.iter().find(|(name, _)| *name == text) {
            return Some(*encoding);
        }
        let length = text.strip_prefix("char[")?.strip_suffix(']')?.parse().ok()?;
        (1..=MAX_CHARS).contains(&length).then_some(Self::Chars(length))
    }

    fn length(self) -> usize {
        let (Self::Unsigned(length)
        | Self::Signed(length)
        | Self::Float(length)
        | Self::Chars(length)) = self;
        length
    }

    /// Returns the value of the field that begins at `offset` in the data.
    fn value(self, field: &[u8], offset: usize, kind: ArgumentKind) -> FieldValue {
        match self {
            Self::Chars(length) => {
                // A field of the kind `text` ends at its first zero byte. A field of the kind
                // `bytes` may contain zeros.
                let null = field.iter().position(|byte| *byte == 0);
                let end = null.filter(|_| kind == ArgumentKind::Text).unwrap_or(length);
                FieldValue::Bytes { offset, length: end }
            }
            Self::Float(4) => {
                let bits = field.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
                FieldValue::Number(f64::from(f32::from_bits(bits)).to_bits())
            }
            Self::Unsigned(length) | Self::Float(length) => {
                FieldValue::Number(unsigned(field, length))
            }
            Self::Signed(length) => {
                // Shifting the sign bit to bit 63 and back copies it to all higher bits.
                let unused = 64 - 8 * length as u32;
                let value = (unsigned(field, length) << unused).cast_signed() >> unused;
                FieldValue::Number(value.cast_unsigned())
            }
        }
    }
}

fn unsigned(field: &[u8], length: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes[..length].copy_from_slice(&field[..length]);
    u64::from_le_bytes(bytes)
}

/// Checks the encoding of an argument.
///
/// # Errors
/// Returns a message if there is no such encoding, or if the encoding does not fit the argument's
/// kind.
pub(super) fn check_encoding(encoding: &str, kind: ArgumentKind) -> Result<(), String> {
    use ArgumentKind::{Bytes, Float, List, Text, Unnamed};

    if encoding.is_empty() {
        return Ok(());
    }
    let expected = match (Encoding::parse(encoding), kind) {
        (None, _) => {
            let known = NUMBERS.map(|(name, _)| name).join(", ");
            return Err(format!("unknown encoding '{encoding}'; expected one of {known}, char[N]"));
        }
        (_, Unnamed)
        | (Some(Encoding::Float(_)), Float)
        | (Some(Encoding::Chars(_)), Text | Bytes) => return Ok(()),
        (Some(Encoding::Float(_)), _) => "the kind 'float'",
        (Some(Encoding::Chars(_)), _) => "the kind 'text' or 'bytes'",
        (Some(_), Float) => "the encoding f32 or f64 of a float",
        (Some(_), Text | Bytes | List) => "an encoding of text or bytes, such as char[8]",
        (Some(_), _) => return Ok(()),
    };
    Err(format!("expected {expected}, found 'as {encoding}'"))
}

/// Checks the kind of an argument without an encoding. `number` is the number of earlier arguments
/// without an encoding. The first argument without an encoding contains the whole data.
///
/// # Errors
/// Returns a message if `number` is 0, and the argument has a name but is neither text nor bytes.
pub(super) fn check_unencoded(number: usize, kind: Option<ArgumentKind>) -> Result<(), String> {
    match kind {
        Some(ArgumentKind::Text | ArgumentKind::Bytes | ArgumentKind::Unnamed) => Ok(()),
        _ if number > 0 => Ok(()),
        _ => Err("expected ' as ' and an encoding such as 'as u16'; \
                  or the kind 'bytes' or 'text', for all bytes of the data"
            .to_owned()),
    }
}

/// Returns true if a schema file describes the fields in this event's data, or hides the data by
/// means of an unnamed argument.
pub(super) fn are_described(event: &EventType) -> bool {
    event.args.first().is_some_and(|argument| {
        !argument.encoding.is_empty() || argument.kind == ArgumentKind::Unnamed
    })
}

/// The value of a field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FieldValue {
    Number(u64),
    /// A part of the data.
    Bytes {
        offset: usize,
        length: usize,
    },
}

/// Returns the value of each argument that is a field of the event's data. The value is `None` if
/// the data ends before the field does.
pub(super) fn values<'d>(
    event: &'d EventType,
    data: &'d [u8],
) -> impl Iterator<Item = Option<FieldValue>> + 'd {
    // Fields come first in the list of arguments. They end at the first argument without an
    // encoding.
    let fields = event.args.iter().map_while(|argument| {
        Encoding::parse(&argument.encoding).map(|encoding| (encoding, argument.kind))
    });
    let mut offset = 0_usize;
    fields.map(move |(encoding, kind)| {
        let start = offset;
        offset = start.saturating_add(encoding.length());
        data.get(start..offset).map(|field| encoding.value(field, start, kind))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_ends_at_its_first_zero_and_bytes_at_their_length() {
        let length_of = |field: &[u8], kind| match Encoding::Chars(4).value(field, 7, kind) {
            FieldValue::Bytes { offset: 7, length } => length,
            other => panic!("{other:?}"),
        };
        assert_eq!(length_of(b"ab\0c", ArgumentKind::Text), 2);
        assert_eq!(length_of(b"\0abc", ArgumentKind::Text), 0);
        assert_eq!(length_of(b"abcd", ArgumentKind::Text), 4);
        assert_eq!(length_of(b"ab\0c", ArgumentKind::Bytes), 4);
    }

    #[test]
    fn an_encoding_must_fit_the_kind() {
        let check = |encoding, kind| check_encoding(encoding, kind).unwrap_err();
        let float = "expected the kind 'float', found 'as f32'";
        assert_eq!(check("f32", ArgumentKind::Unsigned), float);
        let number = "expected the encoding f32 or f64 of a float, found 'as u32'";
        assert_eq!(check("u32", ArgumentKind::Float), number);
        let text = "expected the kind 'text' or 'bytes', found 'as char[8]'";
        assert_eq!(check("char[8]", ArgumentKind::Hex), text);
        for unknown in ["char[0]", "char[65537]", "char[]", "char", "f16"] {
            assert!(
                check(unknown, ArgumentKind::Text).starts_with("unknown encoding"),
                "{unknown}"
            );
        }
        assert_eq!(check_encoding("char[65536]", ArgumentKind::Bytes), Ok(()));
    }
}
