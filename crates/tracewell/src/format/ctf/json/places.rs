//! Finds the positions of the values in a JSON text, and limits their number and nesting.
//!
//! The text need not be valid JSON: `value` parses it afterwards and reports faults.

use crate::format::ctf::declared::fault::{Fault, fault};
use crate::format::ctf::declared::limits::{MAX_DEPTH, MAX_FIELDS};

/// Returns the offset of each value in the metadata, in ascending order. Names of properties do not
/// count as values. The text begins at offset `start` of the metadata.
///
/// # Errors
/// Returns an error if there are too many values, or if they are nested too deeply.
pub(super) fn places(text: &str, start: u32) -> Result<Vec<u32>, Fault> {
    let bytes = text.as_bytes();
    let mut places = Vec::new();
    let mut depth = 0;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let place = start + at as u32;
        let length = match byte {
            b'"' => string_length(&bytes[at..]),
            b'{' | b'[' => {
                depth += 1;
                if depth > MAX_DEPTH {
                    let message = format!("expected JSON with at most {MAX_DEPTH} levels");
                    return Err(fault(place, message));
                }
                1
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                at += 1;
                continue;
            }
            b' ' | b'\t' | b'\r' | b'\n' | b',' | b':' => {
                at += 1;
                continue;
            }
            _ => word_length(&bytes[at..]),
        };
        at += length;
        let rest = bytes[at..].iter().find(|byte| !byte.is_ascii_whitespace());
        if *byte == b'"' && rest == Some(&b':') {
            continue;
        }
        if places.len() as u64 == MAX_FIELDS {
            let message = format!("expected at most {MAX_FIELDS} values in a fragment, found more");
            return Err(fault(place, message));
        }
        places.push(place);
    }
    Ok(places)
}

/// Returns the length in bytes of the string at the start, with its quotes.
fn string_length(bytes: &[u8]) -> usize {
    let mut length = 1;
    while let Some(byte) = bytes.get(length) {
        match byte {
            b'"' => return length + 1,
            b'\\' => length += 2,
            _ => length += 1,
        }
    }
    bytes.len()
}

/// Returns the length in bytes of the number or word at the start, at least 1.
fn word_length(bytes: &[u8]) -> usize {
    let ends = |byte: &u8| byte.is_ascii_whitespace() || b"\"{}[],:".contains(byte);
    bytes.iter().position(ends).unwrap_or(bytes.len()).max(1)
}
