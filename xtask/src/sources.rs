//! Applies the rules for source files. This file checks head comments and unsafe code; `borders`
//! checks imports, and `words` checks language.

use std::fs;
use std::path::{Path, PathBuf};

use crate::book;
use crate::borders::Crate;
use crate::links;
use crate::rust;
use crate::words;

/// The folder with the sources of the crate whose modules have tiers.
const LIBRARY: &str = "crates/tracewell/src";

/// Crates in which imports between files must not form a circle.
const WITHOUT_CIRCLES: &[&str] = &[
    "crates/wire/src",
    "crates/record/src",
    "crates/posix/src",
    "crates/capi/src",
    "crates/rtos-trace/src",
    "crates/tracing/src",
    "crates/cli/src",
    "crates/collect/src",
    "crates/web/src",
    LIBRARY,
];

/// The files that may contain unsafe code.
const UNSAFE: [&str; 48] = [
    "crates/capi/src/aix/channel.rs",
    "crates/capi/src/aix/mod.rs",
    "crates/capi/src/boundary/hosted.rs",
    "crates/capi/src/boundary/mod.rs",
    "crates/capi/src/code.rs",
    "crates/capi/src/firmware.rs",
    "crates/capi/src/flusher.rs",
    "crates/capi/src/log.rs",
    "crates/capi/src/posix/attributes.rs",
    "crates/capi/src/posix/reading.rs",
    "crates/capi/src/posix/sets.rs",
    "crates/capi/src/posix/streams.rs",
    "crates/capi/src/posix/types.rs",
    "crates/capi/src/rkh.rs",
    "crates/capi/src/rkh/filter.rs",
    "crates/capi/src/rkh/record.rs",
    "crates/capi/src/shark/chunks.rs",
    "crates/capi/src/shark/mod.rs",
    "crates/capi/src/shark/send.rs",
    "crates/capi/src/stream.rs",
    "crates/capi/src/threadx/block.rs",
    "crates/capi/src/threadx/mod.rs",
    "crates/posix/src/launch.rs",
    "crates/posix/src/local/attached.rs",
    "crates/posix/src/local/inheritance.rs",
    "crates/posix/src/local/mod.rs",
    "crates/posix/src/sys/files.rs",
    "crates/posix/src/sys/guard.rs",
    "crates/posix/src/sys/memory.rs",
    "crates/posix/src/sys/mod.rs",
    "crates/posix/src/sys/waiting.rs",
    "crates/posix/src/thread.rs",
    "crates/record/src/clock/counter.rs",
    "crates/record/src/nesting.rs",
    "crates/record/src/stream/map.rs",
    "crates/record/src/stream/sys.rs",
    "crates/record/src/stream/threads.rs",
    "crates/record/src/thread_memory.rs",
    "crates/record/tests/allocations/mod.rs",
    "crates/record/tests/no_std/src/lib.rs",
    "crates/record/tests/record_paths.rs",
    "crates/record/tests/stream_signals.rs",
    "crates/tracewell/src/format/rkh/simd/avx2.rs",
    "crates/tracewell/src/input/cut.rs",
    "crates/tracewell/src/input/map.rs",
    "crates/web/src/abi.rs",
    "examples/cortex-m/src/board.rs",
    "fuzz/src/target_twin.rs",
];

/// Returns a fault for each line that breaks a rule, as `file:line: reason`.
pub(crate) fn check(root: &Path) -> Vec<String> {
    let mut paths = Vec::new();
    for folder in ["crates", "bench", "fuzz", "xtask", "query", "docs", "examples", ".ci"] {
        collect(&root.join(folder), &mut paths);
    }
    for page in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"] {
        paths.push(root.join(page));
    }
    // Ignore binary files (traces, corpora).
    let read = |path: &PathBuf| {
        let name = path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned();
        Some((name, fs::read_to_string(path).ok()?))
    };
    let files: Vec<(String, String)> = paths.iter().filter_map(read).collect();
    let named = || files.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    let mut faults: Vec<String> = named()
        .flat_map(|(name, text)| [check_file(name, text), words::check(name, text)].concat())
        .collect();
    faults.extend(unneeded_permissions(&files));
    faults.extend(links::check(root, &files));
    faults.extend(book::check(&files));
    for folder in WITHOUT_CIRCLES {
        let krate = Crate::new(folder, named());
        faults.extend(krate.circle_faults());
        if *folder == LIBRARY {
            faults.extend(krate.tier_faults());
        }
    }
    faults
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            if path
                .file_name()
                .is_some_and(|name| name != "target" && name != "found" && name != "node_modules")
            {
                collect(&path, files);
            }
        } else {
            files.push(path);
        }
    }
}

fn check_file(name: &str, text: &str) -> Vec<String> {
    if Path::new(name).extension().is_none_or(|extension| extension != "rs") {
        return Vec::new();
    }
    let mut faults = Vec::new();
    if !text.starts_with("//!") {
        faults.push(format!("{name}:1: expected a head comment (//!)"));
    }
    for (number, line) in rust::lines(text).iter().enumerate() {
        if is_unsafe(line) && !UNSAFE.contains(&name) {
            faults.push(format!("{name}:{}: unsafe code is not allowed in this file", number + 1));
        }
    }
    faults
}

/// Returns true if the code of a line contains the keyword `unsafe`. Every form of unsafe code
/// contains this keyword: blocks, functions, traits, implementations, foreign items, attributes.
fn is_unsafe(line: &rust::Line) -> bool {
    line.code.split(|char| !rust::is_word(char)).any(|word| word == "unsafe")
}

/// Returns a fault for each file in the list that does not exist or contains no unsafe code.
fn unneeded_permissions(files: &[(String, String)]) -> Vec<String> {
    let is_needed = |permitted: &&&str| {
        let mut texts = files.iter().filter(|(name, _)| name == **permitted);
        texts.any(|(_, text)| rust::lines(text).iter().any(is_unsafe))
    };
    let unneeded = UNSAFE.iter().filter(|permitted| !is_needed(permitted));
    unneeded.map(|name| format!("{name}:1: expected unsafe code, as `UNSAFE` lists it")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_with_a_head_has_no_faults() {
        let text = "//! Head.\nuse crate::model::Trace; // unsafe { }\n";
        assert_eq!(check_file("crates/tracewell/src/format/new.rs", text), Vec::<String>::new());
    }

    #[test]
    fn a_missing_head_and_unsafe_code_are_faults() {
        let faults = check_file("crates/new.rs", "fn a() {}\nunsafe { }\n");
        let lines: Vec<_> = faults.iter().map(|f| f.split(": ").next().unwrap_or(f)).collect();
        assert_eq!(lines, ["crates/new.rs:1", "crates/new.rs:2"]);
    }

    #[test]
    fn each_form_of_unsafe_code_is_a_fault() {
        let code = "//! Head: unsafe.\n\
                    #[deny(unsafe_code)]\n\
                    unsafe impl Send for A {}\n\
                    unsafe trait B {}\n\
                    unsafe extern \"C\" {}\n\
                    #[unsafe(no_mangle)]\n\
                    fn c() { unsafe\n\
                    { d(\"unsafe {\") } }\n";
        let faults = check_file("crates/new.rs", code);
        let lines: Vec<_> = faults.iter().filter_map(|fault| fault.split(':').nth(1)).collect();
        assert_eq!(lines, ["3", "4", "5", "6", "7"]);
    }

    #[test]
    fn a_permission_without_unsafe_code_is_a_fault() {
        let files = |text: &str| UNSAFE.map(|name| (name.to_owned(), text.to_owned()));
        assert_eq!(unneeded_permissions(&files("unsafe impl A for B {}")), Vec::<String>::new());
        assert_eq!(unneeded_permissions(&files("// unsafe")).len(), UNSAFE.len());
        assert_eq!(unneeded_permissions(&[]).len(), UNSAFE.len());
    }
}
