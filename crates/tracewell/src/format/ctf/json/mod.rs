//! Reads metadata of CTF 2: a sequence of JSON texts, each after the byte 0x1E.
//!
//! | file | task |
//! |---|---|
//! | `places` | positions of JSON values |
//! | `value` | JSON to values with positions |
//! | `object` | checked properties of objects |
//! | `classes` | field classes to types |
//! | `fragments` | fragments to the declarations of a trace |
//!
//! Traces of a draft of the specification (release candidate 7) are read too. The words that only
//! the draft has are in `classes` and `fragments`.

mod classes;
mod fragments;
mod object;
mod places;
mod value;

use super::declared::fault::{Fault, Log, fault};
use super::declared::trace::Declared;

/// The byte before each JSON text.
const SEPARATOR: u8 = 0x1E;

/// Returns the declarations of a text.
///
/// # Errors
/// Returns the position of the first error, what was expected and what was found.
pub(super) fn declared(text: &[u8], log: &mut Log) -> Result<Declared, Fault> {
    let text = std::str::from_utf8(text)
        .map_err(|error| fault(error.valid_up_to() as u32, "expected UTF-8, found other bytes"))?;
    let mut reader = fragments::Reader::new(log);
    let mut start = 0;
    for fragment in text.split(char::from(SEPARATOR)) {
        if !fragment.trim_start().is_empty() {
            match value::parse(fragment, start) {
                Ok(value) => reader.fragment(&value)?,
                // A recording that still runs can end inside a fragment.
                Err(error) if error.is_end && start as usize + fragment.len() == text.len() => {
                    reader.unfinished(error)?;
                }
                Err(error) => return Err(error),
            }
        }
        start += fragment.len() as u32 + 1;
    }
    reader.finish()
}
