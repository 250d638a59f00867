//! JSON values with positions, in the order of the text.
//!
//! `serde_json` parses. Values that borrow their text say where they are.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::format::ctf::metadata::fault::{Fault, fault};
use crate::format::ctf::metadata::{MAX_DEPTH, MAX_FIELDS};

/// A JSON value and its position.
#[derive(Debug)]
pub(super) struct Value {
    /// Offset of the value in the metadata.
    pub(super) at: u32,
    /// The content.
    pub(super) kind: Kind,
}

/// The content of a value.
#[derive(Debug)]
pub(super) enum Kind {
    Null,
    Boolean(bool),
    /// A number without fraction and exponent.
    Integer(i128),
    /// Another number.
    Real,
    Text(String),
    List(Vec<Value>),
    /// Properties in the order of the text.
    Object(Vec<(String, Value)>),
}

impl Value {
    /// Returns the error for a value of another kind.
    pub(super) fn expected(&self, expected: &str) -> Fault {
        let found = match &self.kind {
            Kind::Null => "null".to_owned(),
            Kind::Boolean(boolean) => boolean.to_string(),
            Kind::Integer(number) => number.to_string(),
            Kind::Real => "a number with a fraction or an exponent".to_owned(),
            Kind::Text(text) => format!("\"{}\"", text.escape_debug()),
            Kind::List(_) => "an array".to_owned(),
            Kind::Object(_) => "an object".to_owned(),
        };
        fault(self.at, format!("expected {expected}, found {found}"))
    }

    /// Returns a string.
    pub(super) fn text(&self) -> Result<&str, Fault> {
        match &self.kind {
            Kind::Text(text) => Ok(text),
            _ => Err(self.expected("a string")),
        }
    }

    /// Returns an array.
    pub(super) fn list(&self) -> Result<&[Self], Fault> {
        match &self.kind {
            Kind::List(values) => Ok(values),
            _ => Err(self.expected("an array")),
        }
    }

    /// Returns an unsigned number.
    pub(super) fn unsigned(&self) -> Result<u64, Fault> {
        match self.kind {
            Kind::Integer(number) => u64::try_from(number).ok(),
            _ => None,
        }
        .ok_or_else(|| self.expected("an integer from 0"))
    }

    /// Returns a signed number.
    pub(super) fn signed(&self) -> Result<i64, Fault> {
        match self.kind {
            Kind::Integer(number) => i64::try_from(number).ok(),
            _ => None,
        }
        .ok_or_else(|| self.expected("an integer from -2^63 to 2^63 - 1"))
    }
}

/// Parses one JSON text, which begins at offset `start` of the metadata.
///
/// # Errors
/// Returns the position of the first error.
pub(super) fn parse(text: &str, start: u32) -> Result<Value, Fault> {
    let raw: &RawValue = serde_json::from_str(text).map_err(|error| {
        let lines = text.split_inclusive('\n').take(error.line().saturating_sub(1));
        let before: usize = lines.map(str::len).sum();
        let column = error.column().saturating_sub(1);
        let message = message(&error);
        Fault { is_end: error.is_eof(), ..fault(start + (before + column) as u32, message) }
    })?;
    Parser { text, start, left: MAX_FIELDS }.value(raw, 1)
}

/// Returns the message of an error without its position.
fn message(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let end = message.find(" at line ").unwrap_or(message.len());
    format!("expected JSON, found: {}", &message[..end])
}

struct Parser<'a> {
    text: &'a str,
    start: u32,
    /// Number of values that may follow.
    left: u64,
}

impl<'a> Parser<'a> {
    fn value(&mut self, raw: &'a RawValue, depth: u32) -> Result<Value, Fault> {
        let raw = raw.get();
        // The value borrows its text from the fragment.
        let at = self.start + (raw.as_ptr().addr() - self.text.as_ptr().addr()) as u32;
        if depth > MAX_DEPTH {
            return Err(fault(at, format!("expected JSON with at most {MAX_DEPTH} levels")));
        }
        let left = self.left.checked_sub(1);
        self.left = left.ok_or_else(|| {
            fault(at, format!("expected at most {MAX_FIELDS} values in a fragment, found more"))
        })?;
        let wrong = |error: serde_json::Error| fault(at, message(&error));
        let kind = match raw.as_bytes().first() {
            Some(b'{') => {
                let Properties(properties) = serde_json::from_str(raw).map_err(wrong)?;
                let mut values = Vec::with_capacity(properties.len());
                for (name, value) in properties {
                    values.push((name, self.value(value, depth + 1)?));
                }
                Kind::Object(values)
            }
            Some(b'[') => {
                let elements: Vec<&RawValue> = serde_json::from_str(raw).map_err(wrong)?;
                let values = elements.into_iter().map(|value| self.value(value, depth + 1));
                Kind::List(values.collect::<Result<_, _>>()?)
            }
            Some(b'"') => Kind::Text(serde_json::from_str(raw).map_err(wrong)?),
            Some(b't') => Kind::Boolean(true),
            Some(b'f') => Kind::Boolean(false),
            Some(b'n') => Kind::Null,
            _ => raw.parse().map_or(Kind::Real, Kind::Integer),
        };
        Ok(Value { at, kind })
    }
}

/// The properties of an object, in the order of the text.
struct Properties<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Properties<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(entries)
            }
        }
        deserializer.deserialize_map(Entries).map(Properties)
    }
}
