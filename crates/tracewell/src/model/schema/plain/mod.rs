//! Reads the part of TOML in which the schemas of the program are written.
//!
//! Each run of the program reads a schema. A general parser would execute 150 instructions per byte
//! of the schema. The whole schema would then cost more instructions than the report of a small
//! trace. This reader executes about 30 instructions per byte, because it knows only the following:
//!
//! * sections `[[name]]` and `[name.key]`, and lines `key = value`, each at the start of a line,
//! * strings in quotes without escapes, whole numbers in decimal or with `0x`, `true` and `false`,
//! * arrays and inline tables of these, and comments.
//!
//! It refuses everything else. The caller then uses the general parser, which reads the text or
//! reports the position of an error. A test checks that both parsers return the same result for
//! each built-in schema. The reader can also find sections without reading them.

mod lines;

use std::ops::Range;

use memchr::memmem;
use serde::de::value::{BorrowedStrDeserializer, Error};
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, forward_to_deserialize_any};

use self::lines::Lines;
use super::file::Head;

/// Reads a text, but skips its sections `[[name]]`. Also returns the lines of each skipped section.
///
/// # Errors
/// Returns an error if the text is not in the part of TOML that this module knows, or if it does
/// not fit the type. The error has no position.
pub(super) fn read_without<'de, T: Deserialize<'de>>(
    text: &'de str,
    name: &str,
) -> Result<(T, Vec<Range<usize>>), Error> {
    let (root, mut sections) = sections(text, name)?;
    let is_table = |section: &Section<'_>| section.name == name && section.key.is_some();
    if sections.iter().any(is_table) {
        return Err(unknown());
    }
    let named = sections.extract_if(.., |section| section.name == name);
    let bodies = named.map(|section| section.body).collect();
    Ok((T::deserialize(Document { text, root, sections })?, bodies))
}

/// Reads the lines of one section.
///
/// # Errors
/// See [`read_without`].
pub(super) fn section<'de, T: Deserialize<'de>>(text: &'de str) -> Result<T, Error> {
    T::deserialize(Lines::new(text, 0..text.len()))
}

/// Reads the keys of an event that determine its id. If the schema has no versions, stops after the
/// key `id`.
///
/// # Errors
/// See [`read_without`].
pub(super) fn head(text: &str, has_versions: bool) -> Result<Head, Error> {
    let mut head = Head::default();
    // Nearly all events begin with a decimal id.
    if let (false, Some(rest)) = (has_versions, text.strip_prefix("id = ")) {
        head.id = rest.split('\n').next().and_then(|id| id.parse().ok());
    }
    let mut lines = Lines::new(text, 0..text.len());
    while has_versions || head.id.is_none() {
        match lines.next_key()? {
            Some("id") => head.id = lines.next_value()?,
            Some("ids") => head.ids = lines.next_value()?,
            Some("since") => head.since = lines.next_value()?,
            Some("until") => head.until = lines.next_value()?,
            Some(_) => lines.skip_value(),
            None => break,
        }
    }
    Ok(head)
}

/// The places of words in a text. One search of a whole text is much faster than a search of each
/// section.
#[derive(Debug)]
pub(super) struct Places(Vec<usize>);

impl Places {
    pub(super) fn of<W: AsRef<[u8]>>(text: &str, words: &[W]) -> Self {
        let found = words.iter().flat_map(|word| memmem::find_iter(text.as_bytes(), word));
        let mut places: Vec<_> = found.collect();
        places.sort_unstable();
        Self(places)
    }

    /// Returns true if a word begins in these lines.
    pub(super) fn are_in(&self, lines: &Range<usize>) -> bool {
        let next = self.0.partition_point(|place| *place < lines.start);
        self.0.get(next).is_some_and(|place| *place < lines.end)
    }
}

/// A section: its name, its key, and the lines after its heading.
struct Section<'de> {
    name: &'de str,
    /// The key of a section `[name.key]`; `None` for `[[name]]`.
    key: Option<&'de str>,
    body: Range<usize>,
}

/// Returns the lines before the first section, and all sections. Most of them are sections
/// `[[usual]]`.
fn sections<'de>(text: &'de str, usual: &str) -> Result<(Range<usize>, Vec<Section<'de>>), Error> {
    let usual_heading = format!("[[{usual}]]\n");
    let mut root = 0..text.len();
    let mut sections: Vec<Section<'_>> = Vec::new();
    for start in headings(text) {
        // A section ends where the next one begins.
        sections.last_mut().map_or(&mut root, |last| &mut last.body).end = start;
        let rest = text.get(start..).unwrap_or_default();
        // Nearly all headings are `usual_heading`. Comparing the whole line costs less than parsing
        // it.
        if rest.starts_with(&usual_heading) {
            let name = rest.get(2..usual.len() + 2).unwrap_or_default();
            let body = start + usual_heading.len()..text.len();
            sections.push(Section { name, key: None, body });
            continue;
        }
        let line = rest.split_inclusive('\n').next().unwrap_or_default();
        let at = start + line.len();
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

/// Returns the offsets of the lines that begin with a bracket.
fn headings(text: &str) -> impl Iterator<Item = usize> + '_ {
    let first = text.starts_with('[').then_some(0);
    let others = memmem::find_iter(text.as_bytes(), b"\n[").map(|end| end + 1);
    first.into_iter().chain(others)
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
        let root = Lines::new(text, root);
        visitor.visit_map(Fields { root, in_root: true, names: names.into_iter(), sections })
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// The fields of a whole text: first those before the sections, then one field per section name.
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
        Some((section, Lines::new(self.text, section.body.clone())))
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

#[cfg(test)]
mod tests {
    use super::super::Schema;
    use super::super::file::File;
    use super::*;
    use crate::model::Meaning;

    /// Reads a whole text.
    fn read<'de, T: Deserialize<'de>>(text: &'de str) -> Result<T, Error> {
        let (root, sections) = sections(text, "event")?;
        T::deserialize(Document { text, root, sections })
    }

    /// The built-in schemas that describe whole dialects.
    const SCHEMAS: [&str; 9] = [
        include_str!("../../../../schemas/aix.toml"),
        include_str!("../../../../schemas/arrivals.toml"),
        include_str!("../../../../schemas/ctf.toml"),
        include_str!("../../../../schemas/posix.toml"),
        include_str!("../../../../schemas/rkh.toml"),
        include_str!("../../../../schemas/shark.toml"),
        include_str!("../../../../schemas/systemview.toml"),
        include_str!("../../../../schemas/target.toml"),
        include_str!("../../../../schemas/threadx.toml"),
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

    /// Compares the events of all schemas and versions, first in order, and then from the last
    /// event to the first.
    #[test]
    fn events_that_are_parsed_later_are_those_of_the_general_parser() {
        let mut compared = 0;
        for text in SCHEMAS {
            let versions = toml::from_str::<File>(text).unwrap().versions;
            let versions = versions.iter().map(|version| Some(version.as_str())).chain([None]);
            for version in versions {
                let ours = Schema::built_in_version(text, "ours", version);
                let theirs = Schema::parse_version(text, "theirs", version).unwrap();
                assert!(ours.events().eq(theirs.events()));
                let backwards = Schema::built_in_version(text, "ours", version);
                for event in theirs.events().rev() {
                    assert_eq!(backwards.event(event.id), event);
                    compared += 1;
                }
                assert_eq!(ours.ranges, theirs.ranges);
                assert_eq!((&ours.kinds, &ours.tables), (&theirs.kinds, &theirs.tables));
                assert_eq!((&ours.hides, ours.hooks), (&theirs.hides, theirs.hooks));
                for meaning in [Meaning::Create, Meaning::Lock, Meaning::Send, Meaning::Release] {
                    let again = Schema::built_in_version(text, "ours", version);
                    assert_eq!(again.has_meaning(meaning), theirs.has_meaning(meaning));
                }
            }
        }
        assert!(compared > 1000, "{compared} events");
    }

    #[test]
    fn a_text_in_another_form_is_parsed_at_once() {
        let event = "name = \"A\"\nlabel = \"a\"\nfamily = \"f\"\n";
        // The heading of the section or the id is in a form that `plain` does not read.
        for (id, lines) in [(7, "[[ event ]]\nid = 7\n"), (8, "[[event]]\nid = 0b1000\n")] {
            let text: &str = Box::leak(format!("{lines}{event}").into_boxed_str());
            assert!(read_without::<File>(text, "event").is_err() || head(text, false).is_err());
            assert_eq!(Schema::built_in(text, "other.toml").event(id).name, "A");
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
