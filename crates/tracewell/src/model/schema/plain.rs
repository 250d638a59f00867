//! Reads the part of TOML in which the schemas of the program are written.
//!
//! Each run of the program reads a schema. A general parser would execute 150 instructions per byte
//! of the schema. The whole schema would then cost more instructions than the report of a small
//! trace. This reader executes about 15 instructions per byte, because it knows only the following:
//!
//! * sections `[[name]]` and `[name.key]`, and lines `key = value`, each at the start of a line,
//! * strings in quotes without escapes, whole numbers in decimal or with `0x`, `true` and `false`,
//! * arrays and inline tables of these, and comments.
//!
//! It refuses everything else. The caller then uses the general parser, which reads the text or
//! reports the position of an error. A test checks that this reader reads each schema of the
//! program as the general parser does.

use std::ops::Range;

use serde::de::value::{BorrowedStrDeserializer, Error};
use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IntoDeserializer, MapAccess, SeqAccess, Visitor,
};
use serde::{Deserialize, forward_to_deserialize_any};
use serde_spanned::de::{SpannedDeserializer, is_spanned};

/// Reads a text.
///
/// # Errors
/// Returns an error if the text is not in the part of TOML that this module knows, or if it does
/// not fit the type. The error has no position.
pub(super) fn read<'de, T: Deserialize<'de>>(text: &'de str) -> Result<T, Error> {
    let (root, sections) = sections(text)?;
    T::deserialize(Document { text, root, sections })
}

/// A section: its name, its key, and the lines after its heading.
struct Section<'de> {
    name: &'de str,
    /// The key of a section `[name.key]`; `None` for `[[name]]`.
    key: Option<&'de str>,
    body: Range<usize>,
}

/// Returns the lines before the first section, and all sections.
fn sections(text: &str) -> Result<(Range<usize>, Vec<Section<'_>>), Error> {
    let mut root = 0..text.len();
    let mut sections: Vec<Section<'_>> = Vec::new();
    let mut at = 0;
    while let Some(start) = next_heading(text, at) {
        let line = text.get(start..).and_then(|rest| rest.split_inclusive('\n').next());
        let line = line.unwrap_or_default();
        at = start + line.len();
        sections.last_mut().map_or(&mut root, |last| &mut last.body).end = start;
        let heading = line.trim_end();
        let list = heading.strip_prefix("[[").and_then(|rest| rest.strip_suffix("]]"));
        let table = heading.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        let (name, key) = match (list, table.and_then(|table| table.split_once('.'))) {
            (Some(name), _) => (name, None),
            (None, Some((name, key))) => (name, Some(key)),
            (None, None) => return Err(unknown()),
        };
        if !is_key(name) || !key.is_none_or(is_key) {
            return Err(unknown());
        }
        sections.push(Section { name, key, body: at..text.len() });
    }
    Ok((root, sections))
}

/// Returns the offset of the next line that begins with a bracket. `from` is the offset of a line.
fn next_heading(text: &str, from: usize) -> Option<usize> {
    let rest = text.as_bytes().get(from..)?;
    if rest.starts_with(b"[") {
        return Some(from);
    }
    rest.windows(2).position(|pair| pair == b"\n[").map(|end| from + end + 1)
}

fn is_key(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(is_of_key)
}

fn is_of_key(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

#[cold]
fn unknown() -> Error {
    Error::custom("not in the known part of TOML")
}

/// A whole text.
struct Document<'de> {
    text: &'de str,
    root: Range<usize>,
    sections: Vec<Section<'de>>,
}

impl<'de> Deserializer<'de> for Document<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let Self { text, root, sections } = self;
        let mut names: Vec<&str> = Vec::new();
        for section in &sections {
            if !names.contains(&section.name) {
                names.push(section.name);
            }
        }
        let root = Lines { cursor: Cursor { text, at: root.start, end: root.end } };
        visitor.visit_map(Fields { root, in_root: true, names: names.into_iter(), sections })
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// The fields of a whole text: those in its first lines, and then one field for each name of a
/// section.
struct Fields<'de> {
    root: Lines<'de>,
    /// True while the lines before the first section are read.
    in_root: bool,
    names: std::vec::IntoIter<&'de str>,
    sections: Vec<Section<'de>>,
}

impl<'de> MapAccess<'de> for Fields<'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        if self.in_root && self.root.is_at_end()? {
            self.in_root = false;
        }
        if self.in_root {
            return self.root.next_key_seed(seed);
        }
        let name = self.names.as_slice().first();
        name.map(|name| seed.deserialize(BorrowedStrDeserializer::new(name))).transpose()
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        if self.in_root {
            return self.root.next_value_seed(seed);
        }
        let name = self.names.next().ok_or_else(unknown)?;
        let text = self.root.cursor.text;
        seed.deserialize(Group { text, name, sections: self.sections.iter() })
    }
}

/// All sections with the same name: either a list or a table.
struct Group<'s, 'de> {
    text: &'de str,
    name: &'de str,
    sections: std::slice::Iter<'s, Section<'de>>,
}

impl<'s, 'de> Group<'s, 'de> {
    fn next(&mut self) -> Option<(&'s Section<'de>, Lines<'de>)> {
        let section = self.sections.by_ref().find(|section| section.name == self.name)?;
        let Range { start: at, end } = section.body;
        Some((section, Lines { cursor: Cursor { text: self.text, at, end } }))
    }
}

impl<'de> Deserializer<'de> for Group<'_, 'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let mut all = self.sections.clone().filter(|section| section.name == self.name);
        let is_list = all.clone().all(|section| section.key.is_none());
        if is_list {
            visitor.visit_seq(self)
        } else if all.all(|section| section.key.is_some()) {
            visitor.visit_map(Tables { group: self, next: None })
        } else {
            Err(unknown())
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl<'de> SeqAccess<'de> for Group<'_, 'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error> {
        self.next().map(|(_, lines)| seed.deserialize(lines)).transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.sections.clone().filter(|section| section.name == self.name).count())
    }
}

/// The sections `[name.key]` with the same name.
struct Tables<'s, 'de> {
    group: Group<'s, 'de>,
    next: Option<Lines<'de>>,
}

impl<'de> MapAccess<'de> for Tables<'_, 'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        let Some((section, lines)) = self.group.next() else { return Ok(None) };
        self.next = Some(lines);
        let key = section.key.ok_or_else(unknown)?;
        seed.deserialize(BorrowedStrDeserializer::new(key)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        seed.deserialize(self.next.take().ok_or_else(unknown)?)
    }
}

/// Lines `key = value`.
struct Lines<'de> {
    cursor: Cursor<'de>,
}

impl Lines<'_> {
    /// Skips comments. Returns true if no line follows.
    fn is_at_end(&mut self) -> Result<bool, Error> {
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
struct Cursor<'de> {
    text: &'de str,
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
    /// `end`. Returns false if the end follows.
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

#[cfg(test)]
mod tests {
    use super::super::file::File;
    use super::*;

    /// Those schemas of the program that describe whole dialects.
    const SCHEMAS: [&str; 9] = [
        include_str!("../../../schemas/aix.toml"),
        include_str!("../../../schemas/arrivals.toml"),
        include_str!("../../../schemas/ctf.toml"),
        include_str!("../../../schemas/posix.toml"),
        include_str!("../../../schemas/rkh.toml"),
        include_str!("../../../schemas/shark.toml"),
        include_str!("../../../schemas/systemview.toml"),
        include_str!("../../../schemas/target.toml"),
        include_str!("../../../schemas/threadx.toml"),
    ];

    #[test]
    fn schemas_of_the_program_are_read_as_by_the_general_parser() {
        for text in SCHEMAS {
            let first = text.lines().next();
            let ours =
                read::<toml::Table>(text).unwrap_or_else(|error| panic!("{first:?}: {error}"));
            assert_eq!(ours, toml::from_str::<toml::Table>(text).unwrap(), "{first:?}");
            let (ours, theirs) =
                (read::<File>(text).unwrap(), toml::from_str::<File>(text).unwrap());
            let starts = |file: &File| {
                let all = file.event.iter().flat_map(|event| {
                    let args = event.args.iter().map(|arg| arg.span().start);
                    args.chain([event.name.span().start])
                });
                all.collect::<Vec<_>>()
            };
            assert_eq!(starts(&ours), starts(&theirs), "{first:?}");
        }
    }

    #[test]
    fn other_texts_are_refused() {
        let known = "hooks = true # comment\n[enum.a]\nnames = [[0x1_F, \"b\"], [2, \"\"],]\n";
        let file = read::<File>(known).unwrap();
        assert!(file.hooks);
        assert_eq!(file.enums["a"].names, [(31, "b".to_owned()), (2, String::new())]);
        let others = [
            "hooks = yes",
            "hooks = truefalse",
            "hooks = true true",
            "hooks = true\nhooks = true",
            "hooks",
            "hooks =",
            "unknown = 1",
            "versions = [\"a\" \"b\"]",
            "versions = [\"a\"",
            "versions = [\"\\u0041\"]",
            "versions = ['a']",
            "versions = [\"\"\"a\"\"\"]",
            "versions = [1]",
            "versions = [\"a\"]]",
            "[enum]",
            "[enum.a.b]\nnames = []",
            "[enum.a]\nnames = [[-1, \"b\"]]",
            "[enum.a]\nnames = [[1__0, \"b\"]]",
            "[enum.a]\nnames = [[0x_1, \"b\"]]",
            "[enum.a]\nnames = [[1, \"b\", 2]]",
            "[enum.a]\nnames = []\n[[enum]]\nnames = []",
        ];
        for text in others {
            assert!(read::<File>(text).is_err(), "{text}");
        }
        for length in 0..known.len() {
            let _ = read::<File>(&known[..length]);
        }
    }
}
