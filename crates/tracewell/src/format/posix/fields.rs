//! Fields in the data of user events, as a user's schema file describes them.
//!
//! The standard leaves the data of a user event to the program, so the stream contains only bytes.
//! An argument such as `"speed: unsigned as u16"` is a little-endian number of 2 bytes. Such
//! arguments follow each other without padding, from the first byte of the data.

use crate::model::schema::EventType;

/// The encodings of numbers, with their lengths in bytes.
const ENCODINGS: [(&str, usize); 8] =
    [("u8", 1), ("u16", 2), ("u32", 4), ("u64", 8), ("i8", 1), ("i16", 2), ("i32", 4), ("i64", 8)];

/// Returns a message if there is no such encoding.
pub(super) fn check_encoding(encoding: &str) -> Result<(), String> {
    if encoding.is_empty() || length(encoding).is_some() {
        return Ok(());
    }
    let known = ENCODINGS.map(|(name, _)| name).join(", ");
    Err(format!("unknown encoding '{encoding}'; expected one of {known}"))
}

fn length(encoding: &str) -> Option<usize> {
    ENCODINGS.iter().find(|(name, _)| *name == encoding).map(|(_, length)| *length)
}

/// Returns true if a schema file describes fields in the data of this event.
pub(super) fn are_described(event: &EventType) -> bool {
    event.args.first().is_some_and(|argument| !argument.encoding.is_empty())
}

/// Returns the value of each argument of the event that is a field of its data; `None` for a field
/// after the end of the data.
pub(super) fn values<'d>(
    event: &'d EventType,
    mut data: &'d [u8],
) -> impl Iterator<Item = Option<u64>> + 'd {
    let encodings = event.args.iter().map(|argument| argument.encoding.as_str());
    encodings.map_while(|encoding| Some((encoding, length(encoding)?))).map(
        move |(encoding, length)| {
            let Some((field, rest)) = data.split_at_checked(length) else {
                data = &[];
                return None;
            };
            data = rest;
            let mut bytes = [0; 8];
            bytes[..length].copy_from_slice(field);
            let unused = 64 - 8 * length as u32;
            let value = u64::from_le_bytes(bytes);
            let is_signed = encoding.starts_with('i');
            let signed = (value << unused).cast_signed() >> unused;
            Some(if is_signed { signed.cast_unsigned() } else { value })
        },
    )
}
