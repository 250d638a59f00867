//! Compares the types that CTF metadata declares with the types that Babeltrace prints, and with
//! expected texts for the fixtures.

mod support;

use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use support::ctf::{Types, metadata_files};
use tracewell::format::ctf::metadata;

/// Returns the text of a file, or of the compressed file next to it.
fn text(folder: &Path, name: &str) -> Option<String> {
    let mut bytes = Vec::new();
    match std::fs::read(folder.join(format!("{name}.gz"))) {
        Ok(compressed) => _ = GzDecoder::new(&compressed[..]).read_to_end(&mut bytes).unwrap(),
        Err(_) => bytes = std::fs::read(folder.join(name)).ok()?,
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the first part of Babeltrace's details, which contains the types. Sorts the labels,
/// because their order differs.
fn answer(details: &str) -> String {
    let mut lines: Vec<&str> = details.lines().take_while(|line| !line.is_empty()).collect();
    let is_label = |line: &&str| line.ends_with(']');
    for chunk in lines.chunk_by_mut(|a, b| is_label(a) && is_label(b)) {
        chunk.sort_unstable();
    }
    lines.into_iter().map(|line| format!("{line}\n")).collect()
}

/// Collects each folder at or below `folder` that contains Babeltrace's details.
fn answered(folder: &Path, found: &mut Vec<std::path::PathBuf>) {
    if text(folder, "details.txt").is_some() {
        found.push(folder.to_owned());
    }
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            answered(&path, found);
        }
    }
}

#[test]
fn types_are_those_that_babeltrace_finds() {
    let Some(shared) = support::shared() else { return };
    let mut folders = Vec::new();
    answered(&shared.join("data/ctf"), &mut folders);
    let mut compared = 0;
    for folder in folders {
        let details = text(&folder, "details.txt").unwrap();
        if !details.starts_with("Trace class:") {
            continue;
        }
        let expected = answer(&details);
        let mut files = metadata_files(&folder.join("trace"));
        if files.len() != 1 {
            continue;
        }
        files.extend(Some(folder.join("ctf2/metadata")).filter(|path| path.exists()));
        for path in files {
            let parsed = metadata::read(&std::fs::read(&path).unwrap()).unwrap();
            let found = Types::of(&parsed.metadata, false);
            assert_eq!(found, expected, "{}", path.display());
            compared += 1;
        }
    }
    assert!(compared >= 40, "{compared}");
}

#[test]
fn both_languages_declare_the_same_types() {
    let Some(shared) = support::shared() else { return };
    let twins = metadata_files(&shared.join("data/ctf"));
    let twins = twins.into_iter().filter(|path| path.parent().unwrap().ends_with("ctf2"));
    let mut compared = 0;
    for path in twins {
        let folder = path.parent().unwrap().with_file_name("trace");
        let other = metadata_files(&folder).remove(0);
        let [found, expected] = [&path, &other].map(|path| {
            let parsed = metadata::read(&std::fs::read(path).unwrap()).unwrap();
            assert_eq!(parsed.warnings, [], "{}", path.display());
            Types::of(&parsed.metadata, true)
        });
        assert_eq!(found, expected, "{}", path.display());
        compared += 1;
    }
    assert_eq!(compared, 8);
}

#[test]
fn a_draft_is_read_as_the_final_language() {
    let Some(shared) = support::shared() else { return };
    let finals = metadata_files(&shared.join("data/ctf"));
    let finals = finals.into_iter().filter(|path| path.parent().unwrap().ends_with("final"));
    let mut compared = 0;
    for path in finals {
        let draft = path.parent().unwrap().with_file_name("trace").join("metadata");
        let [found, expected] = [&draft, &path].map(|path| {
            let parsed = metadata::read(&std::fs::read(path).unwrap()).unwrap();
            Types::of(&parsed.metadata, true)
        });
        assert_eq!(found, expected, "{}", path.display());
        compared += 1;
    }
    assert_eq!(compared, 7);
}

/// The fixtures: one trace of each producer and language.
const FIXTURES: [(&str, &str); 5] = [
    ("lttng", "../../../../../examples/lttng/metadata"),
    ("lttng-ctf2", "lttng-ctf2.metadata"),
    ("odd", "odd/metadata"),
    ("zephyr", "zephyr/metadata"),
    ("classes", "classes/metadata"),
];

#[test]
fn the_types_of_each_producer_are_complete() {
    for (name, path) in FIXTURES {
        let bytes = std::fs::read(support::fixture("ctf").join(path)).unwrap();
        let parsed = metadata::read(&bytes).unwrap();
        assert_eq!(parsed.warnings, [], "{name}");
        let found = Types::of(&parsed.metadata, true);
        let expected = support::fixture(&format!("ctf/{name}.types.txt"));
        if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
            std::fs::write(&expected, &found).unwrap();
        }
        assert_eq!(found, std::fs::read_to_string(expected).unwrap(), "{name}");
    }
}
