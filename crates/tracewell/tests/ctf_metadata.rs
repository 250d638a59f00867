//! Metadata of CTF: all shared traces are read, and the cases of a public test suite agree.

mod support;

use std::path::{Path, PathBuf};

use tracewell::format::ctf::metadata;

/// Returns all files named `metadata` below a folder.
fn metadata_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            metadata_files(&path, files);
        } else if path.file_name().is_some_and(|name| name == "metadata") {
            files.push(path);
        }
    }
}

#[test]
fn the_metadata_of_all_shared_traces_is_read() {
    let Some(shared) = support::shared() else { return };
    let mut files = Vec::new();
    metadata_files(&shared.join("data/ctf"), &mut files);
    assert!(files.len() > 50);
    for path in files {
        match metadata::read(&std::fs::read(&path).unwrap()) {
            Ok(parsed) => {
                let events: usize = parsed.metadata.streams.iter().map(|s| s.events.len()).sum();
                println!("{} ok {} {}", path.display(), parsed.metadata.streams.len(), events);
                for w in parsed.warnings {
                    println!("  W {}:{} {}", w.line, w.column, w.message);
                }
            }
            Err(error) => println!("{}: {error}", path.display()),
        }
    }
}

#[test]
fn the_cases_of_a_public_test_suite_agree() {
    let Some(shared) = support::shared() else { return };
    let cases = std::fs::read_to_string(shared.join("data/ctf/cases/metadata.jsonl")).unwrap();
    for line in cases.lines() {
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        let name = case["name"].as_str().unwrap();
        let text = case["metadata"].as_str().unwrap();
        let result = metadata::read(text.as_bytes());
        if result.is_ok() != case["accept"].as_bool().unwrap() {
            println!(
                "{name}: B {} Y {} {:?}",
                case["babeltrace2"],
                case["error"].as_str().unwrap_or("").trim().lines().last().unwrap_or(""),
                result.map(|p| p.warnings).map_err(|e| e.to_string())
            );
        } else if let Err(e) = result {
            println!(
                "{name}: AGREE {e} | {}",
                case["error"].as_str().unwrap_or("").trim().lines().last().unwrap_or("")
            );
        }
    }
}
