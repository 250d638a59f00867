//! Converts and checks the values of attributes.

use std::collections::HashSet;

use foldhash::fast::RandomState;

use super::tree::{Attribute, Value};
use crate::format::ctf::declared::fault::{Fault, Log, fault};

/// Checks that the names of attributes differ.
///
/// # Errors
/// Returns an error at the second attribute with the same name.
pub(super) fn check_names<'t>(
    attributes: impl Iterator<Item = &'t Attribute<'t>>,
) -> Result<(), Fault> {
    let mut names = HashSet::with_hasher(RandomState::default());
    for attribute in attributes {
        if !names.insert(&*attribute.name) {
            let message = format!("expected each attribute once, found '{}' again", attribute.name);
            return Err(fault(attribute.at, message));
        }
    }
    Ok(())
}

impl Attribute<'_> {
    /// Adds a warning that the attribute is unknown.
    pub(crate) fn warn_unknown(&self, log: &mut Log) {
        log.warn(self.at, || format!("unknown attribute '{}', ignored", self.name));
    }

    /// Returns the error for a value of another kind.
    pub(crate) fn expected(&self, expected: &str) -> Fault {
        let found = match &self.value {
            Value::Number(number) => number.to_string(),
            Value::Text(text) => format!("\"{}\"", text.escape_debug()),
            Value::Path(words) => format!("'{}'", words.join(".")),
        };
        fault(self.value_at, format!("expected {expected} for '{}', found {found}", self.name))
    }

    /// Returns an unsigned number.
    pub(crate) fn unsigned(&self) -> Result<u64, Fault> {
        match self.value {
            Value::Number(number) => u64::try_from(number).ok(),
            _ => None,
        }
        .ok_or_else(|| self.expected("a number from 0"))
    }

    /// Returns a signed number.
    pub(crate) fn signed(&self) -> Result<i64, Fault> {
        match self.value {
            Value::Number(number) => i64::try_from(number).ok(),
            _ => None,
        }
        .ok_or_else(|| self.expected("a number from -2^63 to 2^63 - 1"))
    }

    /// Returns a string.
    pub(crate) fn text(&self) -> Result<String, Fault> {
        match &self.value {
            Value::Text(text) => Ok(text.clone()),
            _ => Err(self.expected("a string")),
        }
    }

    /// Returns a string, or the text of a path.
    pub(crate) fn name(&self) -> Result<String, Fault> {
        match &self.value {
            Value::Text(text) => Ok(text.clone()),
            Value::Path(words) => Ok(words.join(".")),
            Value::Number(_) => Err(self.expected("a string or a word")),
        }
    }

    /// Returns a string or a single word; `None` for other values.
    pub(crate) fn word(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            Value::Path(words) if words.len() == 1 => Some(words[0]),
            _ => None,
        }
    }

    /// Returns a Boolean.
    pub(crate) fn boolean(&self) -> Result<bool, Fault> {
        match (&self.value, self.word()) {
            (Value::Number(1), _) | (_, Some("true" | "TRUE")) => Ok(true),
            (Value::Number(0), _) | (_, Some("false" | "FALSE")) => Ok(false),
            _ => Err(self.expected("true or false")),
        }
    }

    /// Returns a UUID.
    pub(crate) fn uuid(&self) -> Result<[u8; 16], Fault> {
        let uuid = match &self.value {
            Value::Text(text) => uuid(text),
            _ => None,
        };
        uuid.ok_or_else(|| self.expected("a UUID of the form \"8-4-4-4-12\""))
    }
}

/// Parses hexadecimal digits in groups of 8, 4, 4, 4 and 12.
fn uuid(text: &str) -> Option<[u8; 16]> {
    let groups: Vec<&str> = text.split('-').collect();
    let has_lengths = groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12]);
    let digits = groups.concat();
    if !has_lengths || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    Some(u128::from_str_radix(&digits, 16).ok()?.to_be_bytes())
}
