//! Reads lines `key = value`, and the values in them.

use std::ops::Range;

use serde::de::value::{BorrowedStrDeserializer, Error};
use serde::de::{DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;
use serde_spanned::de::{SpannedDeserializer, is_spanned};

use super::{is_of_key, unknown};

/// Lines `key = value`.
pub(super) struct Lines<'de> {
    pub(super) cursor: Cursor<'de>,
}

impl<'de> Lines<'de> {
    pub(super) fn new(text: &'de str, Range { start: at, end }: Range<usize>) -> Self {
        Self { cursor: Cursor { text, at, end } }
    }

    /// Skips a value, and everything else before the next line that begins with a key. Elements of
    /// an array may be on lines of their own, but must be indented there.
    pub(super) fn skip_value(&mut self) {
        let Cursor { text, at, end } = &mut self.cursor;
        while let Some(length) = text.get(*at..*end).and_then(|rest| rest.find('\n')) {
            *at += length + 1;
            if text.as_bytes().get(*at).copied().is_some_and(is_of_key) {
                return;
            }
        }
        *at = *end;
    }

    /// Skips comments. Returns true if no line follows.
    pub(super) fn is_at_end(&mut self) -> Result<bool, Error> {
        self.cursor.skip_gap();
        Ok(self.cursor.peek().is_none())
    }
}

impl<'de> MapAccess<'de> for Lines<'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        if self.is_at_end()? {
            return Ok(None);
        }
        seed.deserialize(BorrowedStrDeserializer::new(self.cursor.key()?)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        let value = seed.deserialize(&mut self.cursor)?;
        self.cursor.skip_blanks();
        match self.cursor.peek() {
            None | Some(b'\n' | b'\r' | b'#') => Ok(value),
            Some(_) => Err(unknown()),
        }
    }
}

impl<'de> Deserializer<'de> for Lines<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_map(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// A position in the text.
pub(super) struct Cursor<'de> {
    pub(super) text: &'de str,
    at: usize,
    /// End of the lines that are read.
    end: usize,
}

impl<'de> Cursor<'de> {
    #[inline]
    fn peek(&self) -> Option<u8> {
        if self.at < self.end { self.text.as_bytes().get(self.at).copied() } else { None }
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
    }

    /// Skips blanks, ends of lines and comments.
    fn skip_gap(&mut self) {
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' => self.at += 1,
                b'#' => {
                    let rest = self.text.get(self.at..self.end).unwrap_or_default();
                    self.at += rest.find('\n').unwrap_or(rest.len());
                }
                _ => break,
            }
        }
    }

    fn expect(&mut self, byte: u8) -> Result<(), Error> {
        if self.peek() != Some(byte) {
            return Err(unknown());
        }
        self.at += 1;
        Ok(())
    }

    /// Reads a key and the `=` after it.
    fn key(&mut self) -> Result<&'de str, Error> {
        let start = self.at;
        while self.peek().is_some_and(is_of_key) {
            self.at += 1;
        }
        let key = self.text.get(start..self.at).filter(|key| !key.is_empty());
        self.skip_blanks();
        self.expect(b'=')?;
        self.skip_blanks();
        key.ok_or_else(unknown)
    }

    /// Reads a string in quotes.
    fn string(&mut self) -> Result<&'de str, Error> {
        self.expect(b'"')?;
        let rest = self.text.get(self.at..self.end).unwrap_or_default();
        let ends = |byte: &u8| *byte == b'"' || *byte == b'\\' || byte.is_ascii_control();
        let length = rest.as_bytes().iter().position(ends).ok_or_else(unknown)?;
        self.at += length;
        self.expect(b'"')?;
        rest.get(..length).ok_or_else(unknown)
    }

    /// Reads a number. `_` may be between two digits.
    fn number(&mut self) -> Result<u64, Error> {
        let start = self.at;
        while self.peek().is_some_and(is_of_key) {
            self.at += 1;
        }
        let digits = self.text.get(start..self.at).unwrap_or_default();
        let (digits, radix) = digits.strip_prefix("0x").map_or((digits, 10), |hex| (hex, 16));
        let number = match digits.contains('_') {
            false => u64::from_str_radix(digits, radix),
            // As in TOML, `_` needs a digit on each side.
            true if digits.split('_').any(str::is_empty) => return Err(unknown()),
            true => u64::from_str_radix(&digits.replace('_', ""), radix),
        };
        number.map_err(|_| unknown())
    }

    /// Reads the word `true` or `false`.
    fn boolean(&mut self) -> Result<bool, Error> {
        let rest = self.text.get(self.at..self.end).unwrap_or_default();
        let value = rest.starts_with("true");
        if !value && !rest.starts_with("false") {
            return Err(unknown());
        }
        self.at += if value { "true".len() } else { "false".len() };
        Ok(value)
    }

    /// Skips the separator before the next element of an array or inline table that ends with
    /// `end`. Returns false if there is no further element.
    fn has_element(&mut self, is_first: bool, end: u8) -> Result<bool, Error> {
        self.skip_gap();
        if !is_first && self.peek() != Some(end) {
            self.expect(b',')?;
            self.skip_gap();
        }
        Ok(self.peek() != Some(end))
    }

    /// Reads the end of an array or inline table.
    fn close(&mut self, end: u8) -> Result<(), Error> {
        self.has_element(false, end)?;
        self.expect(end)
    }
}

impl<'de> Deserializer<'de> for &mut Cursor<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.peek().ok_or_else(unknown)? {
            b'"' => visitor.visit_borrowed_str(self.string()?),
            b't' | b'f' => visitor.visit_bool(self.boolean()?),
            b'0'..=b'9' => visitor.visit_u64(self.number()?),
            b'[' => {
                self.at += 1;
                let value = visitor.visit_seq(Elements { cursor: self, is_first: true })?;
                self.close(b']').map(|()| value)
            }
            b'{' => {
                self.at += 1;
                let value = visitor.visit_map(Elements { cursor: self, is_first: true })?;
                self.close(b'}').map(|()| value)
            }
            _ => Err(unknown()),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        if is_spanned(name) {
            // Messages use only the position of a value's start.
            let at = self.at;
            return visitor.visit_map(SpannedDeserializer::new(self, at..at));
        }
        self.deserialize_any(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_enum(BorrowedStrDeserializer::new(self.string()?))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf unit
        unit_struct newtype_struct seq tuple tuple_struct map identifier ignored_any
    }
}

impl<'de> IntoDeserializer<'de, Error> for &mut Cursor<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// The elements of an array or of an inline table.
struct Elements<'c, 'de> {
    cursor: &'c mut Cursor<'de>,
    is_first: bool,
}

impl<'de> SeqAccess<'de> for Elements<'_, 'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error> {
        if !self.cursor.has_element(std::mem::take(&mut self.is_first), b']')? {
            return Ok(None);
        }
        seed.deserialize(&mut *self.cursor).map(Some)
    }
}

impl<'de> MapAccess<'de> for Elements<'_, 'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        if !self.cursor.has_element(std::mem::take(&mut self.is_first), b'}')? {
            return Ok(None);
        }
        seed.deserialize(BorrowedStrDeserializer::new(self.cursor.key()?)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        seed.deserialize(&mut *self.cursor)
    }
}
