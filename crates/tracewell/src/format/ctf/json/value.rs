//! JSON values with their positions, in the order of the text.
//!
//! `serde_json` parses the text. It does not report the positions of values, so `places` finds
//! these positions first.

use std::fmt;
use std::vec::IntoIter;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::places::places;
use crate::format::ctf::declared::fault::{Fault, fault};

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
    /// A number of at most 64 bits without fraction and exponent.
    Integer(i128),
    /// Any other number.
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
            Kind::Real => {
                "a number with a fraction, with an exponent or with over 64 bits".to_owned()
            }
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
    let places = places(text, start)?;
    let wrong = |error: serde_json::Error| {
        let lines = text.split_inclusive('\n').take(error.line().saturating_sub(1));
        let before: usize = lines.map(str::len).sum();
        let column = error.column().saturating_sub(1);
        let message = message(&error);
        Fault { is_end: error.is_eof(), ..fault(start + (before + column) as u32, message) }
    };
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let mut places = places.into_iter();
    let value = Next(&mut places).deserialize(&mut deserializer).map_err(wrong)?;
    deserializer.end().map_err(wrong)?;
    Ok(value)
}

/// Returns the message of an error without its position.
fn message(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let end = message.find(" at line ").unwrap_or(message.len());
    format!("expected JSON, found: {}", &message[..end])
}

/// Deserialises the next value. The iterator returns the position of this value.
struct Next<'p>(&'p mut IntoIter<u32>);

impl<'de> DeserializeSeed<'de> for Next<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        let at = self.0.next().unwrap_or_default();
        let kind = deserializer.deserialize_any(Content(self.0))?;
        Ok(Value { at, kind })
    }
}

/// Deserialises the content of a value. The positions of the values within the content come next in
/// the list.
struct Content<'p>(&'p mut IntoIter<u32>);

impl<'de> Visitor<'de> for Content<'_> {
    type Value = Kind;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Kind, E> {
        Ok(Kind::Null)
    }

    fn visit_bool<E>(self, boolean: bool) -> Result<Kind, E> {
        Ok(Kind::Boolean(boolean))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Kind, E> {
        Ok(Kind::Integer(number.into()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Kind, E> {
        Ok(Kind::Integer(number.into()))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Kind, E> {
        Ok(Kind::Real)
    }

    fn visit_str<E>(self, text: &str) -> Result<Kind, E> {
        Ok(Kind::Text(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Kind, E> {
        Ok(Kind::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Kind, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = elements.next_element_seed(Next(self.0))? {
            values.push(value);
        }
        Ok(Kind::List(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut properties: A) -> Result<Kind, A::Error> {
        let mut values = Vec::new();
        while let Some(name) = properties.next_key()? {
            values.push((name, properties.next_value_seed(Next(self.0))?));
        }
        Ok(Kind::Object(values))
    }
}
