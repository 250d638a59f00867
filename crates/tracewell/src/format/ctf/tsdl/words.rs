//! Converts the attribute values of types: alignments, and the words for byte orders, bases and
//! encodings.

use tracewell_wire::ByteOrder;

use super::tree::{Attribute, Value as Written};
use crate::format::ctf::declared::fault::Fault;
use crate::format::ctf::declared::limits::checked_alignment;

/// The description of an alignment in messages.
pub(super) const ALIGNMENT: &str = "a power of two up to 65536 as alignment";

pub(super) fn size_of(attribute: &Attribute<'_>) -> Result<u8, Fault> {
    match attribute.unsigned()? {
        size @ 1..=64 => Ok(size as u8),
        _ => Err(attribute.expected("1 to 64 bits")),
    }
}

pub(super) fn alignment_of(attribute: &Attribute<'_>) -> Result<u32, Fault> {
    checked_alignment(attribute.unsigned()?).ok_or_else(|| attribute.expected(ALIGNMENT))
}

/// Returns the byte order for which a word stands.
///
/// # Errors
/// Returns an error if the value is not `le`, `be` or `network`.
pub(super) fn byte_order(attribute: &Attribute<'_>) -> Result<ByteOrder, Fault> {
    match attribute.word() {
        Some("le") => Ok(ByteOrder::Little),
        Some("be" | "network") => Ok(ByteOrder::Big),
        _ => Err(attribute.expected("le or be")),
    }
}

pub(super) fn base_of(attribute: &Attribute<'_>) -> Result<u8, Fault> {
    use Written::Number;
    match (&attribute.value, attribute.word()) {
        (Number(2), _) | (_, Some("b" | "bin" | "binary")) => Ok(2),
        (Number(8), _) | (_, Some("o" | "oct" | "octal")) => Ok(8),
        (Number(10), _) | (_, Some("d" | "i" | "u" | "dec" | "decimal")) => Ok(10),
        (Number(16), _) | (_, Some("x" | "X" | "p" | "hex" | "hexadecimal")) => Ok(16),
        _ => Err(attribute.expected("base 2, 8, 10 or 16")),
    }
}

/// Returns true if this value of the attribute `encoding` means that integers are characters.
pub(super) fn is_text(attribute: &Attribute<'_>) -> Result<bool, Fault> {
    match attribute.word() {
        Some("none") => Ok(false),
        Some("UTF8" | "utf8" | "UTF-8" | "utf-8" | "ASCII" | "ascii") => Ok(true),
        _ => Err(attribute.expected("encoding none, UTF8 or ASCII")),
    }
}
