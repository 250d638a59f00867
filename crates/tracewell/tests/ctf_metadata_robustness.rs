//! Tests the readers of CTF's metadata on damaged and truncated texts. The checks are the same as
//! in the fuzz target.

mod support;

#[path = "../../../fuzz/src/ctf_metadata.rs"]
#[expect(unreachable_pub, reason = "the fuzz crate also uses this file, and needs it public")]
mod target;

use proptest::prelude::*;
use support::fixture;
use target::ctf_metadata;
use tracewell::format::ctf::metadata;

const FIXTURES: [&str; 4] = [
    "../../../../../examples/lttng/metadata",
    "lttng-ctf2.metadata",
    "odd/metadata",
    "classes/metadata",
];

fn file(name: &str) -> Vec<u8> {
    std::fs::read(fixture(&format!("ctf/{name}"))).unwrap()
}

#[test]
fn every_truncation_is_read_or_refused() {
    for name in FIXTURES {
        let bytes = file(name);
        let step = 1 + bytes.len() / 900;
        for length in (0..=bytes.len()).step_by(step) {
            ctf_metadata(&bytes[..length]);
        }
    }
}

/// The declarations and comments of a text, without the semicolons after blocks. The text contains
/// each kind of block, type, token and comment. Many of its words begin with a keyword.
const PARTS: [&str; 20] = [
    "/* CTF 1.8 */",
    "typealias integer { size = 8; align = 8; } := u8;",
    "trace { major = 1; minor = 010; byte_order = le;
        packet.header := struct { u8 stream_id; } align(0x8); }",
    "/**/",
    "/* ** / * */",
    "env { a = 0x1F; b = 0b11; c = -12; d = +1uLL; e = \"\\x41\\101\\n\\\"\"; f = L'/*'; g.h = 017; }",
    "clock { name = clock_a; freq = 1000000; offset = 12; absolute = true; }",
    "callsite { name = \"a\"; line = 12; ip = 0x40; }",
    "typealias integer { size = 0x10; signed = true; base = hex; } := unsigned short int;",
    "typealias floating_point { exp_dig = 8; mant_dig = 24; align = 32; } := event_t;",
    "typealias integer { size = 32; base = 16; } := u8 *;",
    "typedef u8 struct_t, *pointer, pair[2];",
    "enum labels : u8 { a, b = 5 ... 12, \"c d\" = 0x10 ... 0x1F, enum_e = -0, };",
    "struct structure { u8 length; struct_t values[length]; const u8 last; } align(16);",
    "variant options <labels.a> { u8 a; struct_t b; };",
    "stream { id = 0;
        packet.context := struct { u8 cpu_id; };
        event.header := struct {
            u8 id; integer { size = 8; map = clock.clock_a.value; } timestamp; };
        event.context := struct { pair common; }; }",
    "event { name = first; id = 0; loglevel = 12; model.emf.uri = \"a:b\";
        context := struct { string s; };
        fields := struct { enum labels tag; variant <tag> { u8 a; event_t b; } v; }; }",
    "event { name = \"second\"; id = 1; typealias u8 := inner; ;
        fields := struct { struct structure a; u8 n; u8 m[n][stream.event.header.id][2];
            enum event_e : u8 { x = 1, y, z = 5 ... 6 } e; pointer (p); inner c; }; }",
    "event { name = third; id = 0x10; stream_id = 0; fields := struct { u8 a; } ; }",
    "u8 typedef alias[1];",
];

/// Marks, spaces and comments between the declarations.
const BETWEEN: [&str; 4] = ["", " // a ; { comment }\n", ";\n", "\t;; "];

#[test]
fn each_beginning_of_a_text_keeps_the_declarations_before_its_end() {
    let (mut text, mut whole) = (String::new(), Vec::new());
    for (index, part) in PARTS.iter().enumerate() {
        text += part;
        whole.push(text.len());
        text += BETWEEN[index % BETWEEN.len()];
    }
    let with_trace = whole[2];
    for length in with_trace..=text.len() {
        let beginning = &text[..length];
        let before = whole.iter().filter(|end| **end <= length).count();
        let before = whole[before - 1];
        let read = metadata::read(beginning.as_bytes());
        let read = read.unwrap_or_else(|error| panic!("{error}: {beginning}"));
        let expected = metadata::read(&text.as_bytes()[..before]).unwrap();
        let types = |metadata| format!("{metadata:?}");
        assert_eq!(types(read.metadata), types(expected.metadata), "{beginning}");
        assert_eq!(expected.warnings, [], "{}", &text[..before]);
        let rest = beginning[before..].trim_start_matches([';', ' ', '\t', '\n']);
        let rest = match rest.strip_prefix("//") {
            Some(rest) => rest.split_once('\n').map_or("", |(_, rest)| rest),
            None => rest,
        };
        let warnings: Vec<_> =
            read.warnings.iter().map(|warning| (warning.offset, &*warning.message)).collect();
        let message = "unfinished declaration at the end of the metadata, ignored";
        let expected = [(length - rest.len(), message)];
        assert_eq!(warnings, expected[..usize::from(!rest.is_empty())], "{beginning}");
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
        let mut bytes = file(name);
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
