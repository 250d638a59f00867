//! Reads metadata of CTF 2: a sequence of JSON texts, each after the byte 0x1E.
//!
//! | file | task |
//! |---|---|
//! | `places` | positions of JSON values |
//! | `value` | parses JSON into values with positions |
//! | `object` | checks the properties of objects |
//! | `classes` | converts field classes to types |
//! | `fragments` | converts fragments to the declarations of a trace |
//!
//! This module also reads traces that follow a draft of the specification (release candidate 7).
//! `object`, `classes` and `fragments` contain the words that only the draft uses.

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
                // The metadata of a recording that is still running can end inside a fragment.
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
