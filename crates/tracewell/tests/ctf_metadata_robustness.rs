//! Tests the readers of CTF's metadata on damaged and truncated texts. The checks are the same as
//! in the fuzz target.

mod support;

#[path = "../../../fuzz/src/ctf_metadata.rs"]
#[expect(unreachable_pub, reason = "the fuzz crate also uses this file, and needs it public")]
mod target;

use proptest::prelude::*;
use support::fixture;
use target::ctf_metadata;

const FIXTURES: [&str; 4] = [
    "../../../../../examples/lttng/metadata",
    "lttng-ctf2.metadata",
    "odd/metadata",
    "classes/metadata",
];

fn metadata(name: &str) -> Vec<u8> {
    std::fs::read(fixture(&format!("ctf/{name}"))).unwrap()
}

#[test]
fn every_truncation_is_read_or_refused() {
    for name in FIXTURES {
        let bytes = metadata(name);
        let step = 1 + bytes.len() / 900;
        for length in (0..=bytes.len()).step_by(step) {
            ctf_metadata(&bytes[..length]);
        }
    }
}

/// A change to a text.
#[derive(Clone, Debug)]
enum Edit {
    /// Replaces a byte.
    Byte(u8),
    /// Removes this number of bytes.
    Remove(usize),
    /// Repeats this number of bytes.
    Repeat(usize),
    /// Inserts a word of either language.
    Insert(&'static str),
}

const WORDS: [&str; 16] = [
    "struct {",
    "};",
    "variant <id> {",
    "[n]",
    "align(8)",
    "enum : u8 {",
    "...",
    "\"",
    "/*",
    ":=",
    "18446744073709551615",
    "-",
    "\u{1e}{",
    "null",
    "[[0, 5]]",
    "stream.event.header.id",
];

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        any::<u8>().prop_map(Edit::Byte),
        (1..200_usize).prop_map(Edit::Remove),
        (1..200_usize).prop_map(Edit::Repeat),
        prop::sample::select(&WORDS[..]).prop_map(Edit::Insert),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn changed_texts_are_read_or_refused(
        name in prop::sample::select(&FIXTURES[..]),
        edits in prop::collection::vec((any::<prop::sample::Index>(), edit()), 1..6),
    ) {
        let mut bytes = metadata(name);
        for (place, edit) in edits {
            let at = place.index(bytes.len().max(1)).min(bytes.len());
            let end = |length: usize| (at + length).min(bytes.len());
            match edit {
                Edit::Byte(byte) if at < bytes.len() => bytes[at] = byte,
                Edit::Byte(_) => {}
                Edit::Remove(length) => drop(bytes.drain(at..end(length))),
                Edit::Repeat(length) => {
                    let part = bytes[at..end(length)].to_vec();
                    drop(bytes.splice(at..at, part));
                }
                Edit::Insert(word) => drop(bytes.splice(at..at, word.bytes())),
            }
        }
        ctf_metadata(&bytes);
    }
}
