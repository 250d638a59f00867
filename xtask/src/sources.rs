//! Rules about lines of source files: who may name whom, where unsafe code may be, what every file
//! begins with, and what must not be named anywhere.

use std::fs;
use std::path::{Path, PathBuf};

/// Files below the first folder must not name a module of the second column.
const BORDERS: [(&str, &[&str]); 5] = [
    ("crates/tracewell/src/format", &["crate::analysis", "crate::report", "crate::export"]),
    ("crates/tracewell/src/analysis", &["crate::format", "crate::report", "crate::export"]),
    (
        "crates/tracewell/src/check",
        &["crate::format", "crate::input", "crate::analysis", "crate::report", "crate::export"],
    ),
    (
        "crates/tracewell/src/template",
        &["crate::format", "crate::input", "crate::model", "crate::report", "crate::export"],
    ),
    (
        "crates/tracewell/src/model",
        &["crate::format", "crate::input", "crate::analysis", "crate::report", "crate::export"],
    ),
];

/// The files that may hold unsafe code.
const UNSAFE: &[&str] = &[
    "crates/capi/src/aix.rs",
    "crates/capi/src/aix/channel.rs",
    "crates/capi/src/boundary.rs",
    "crates/capi/src/boundary/hosted.rs",
    "crates/capi/src/firmware.rs",
    "crates/capi/src/flusher.rs",
    "crates/capi/src/log.rs",
    "crates/capi/src/posix/attributes.rs",
    "crates/capi/src/posix/reading.rs",
    "crates/capi/src/posix/types.rs",
    "crates/capi/src/rkh.rs",
    "crates/capi/src/rkh/record.rs",
    "crates/capi/src/shark.rs",
    "crates/capi/src/shark/chunks.rs",
    "crates/capi/src/shark/send.rs",
    "crates/capi/src/stream.rs",
    "crates/capi/src/threadx.rs",
    "crates/capi/src/threadx/block.rs",
    "crates/posix/src/launch.rs",
    "crates/posix/src/local.rs",
    "crates/posix/src/local/attached.rs",
    "crates/posix/src/sys.rs",
    "crates/posix/src/sys/files.rs",
    "crates/posix/src/sys/memory.rs",
    "crates/posix/src/sys/waiting.rs",
    "crates/posix/src/thread.rs",
    "crates/record/src/clock/counter.rs",
    "crates/record/src/stream/map.rs",
    "crates/record/src/stream/sys.rs",
    "crates/record/src/stream/threads.rs",
    "crates/record/src/thread_memory.rs",
    "crates/record/tests/allocations/mod.rs",
    "crates/record/tests/record_paths.rs",
    "crates/record/tests/stream_signals.rs",
    "crates/tracewell/src/format/rkh/avx2.rs",
    "crates/tracewell/src/input/cut.rs",
    "crates/tracewell/src/input/map.rs",
    "examples/cortex-m/src/board.rs",
];

/// A fault for each line that breaks a rule, as `file:line: what`.
pub(crate) fn check(root: &Path) -> Vec<String> {
    let mut files = Vec::new();
    for folder in ["crates", "bench", "fuzz", "xtask", "docs", "schemas", "examples", ".ci"] {
        collect(&root.join(folder), &mut files);
    }
    let mut faults = Vec::new();
    for file in files {
        // Files that are no text (traces, corpora) have no lines.
        let Ok(text) = fs::read_to_string(&file) else { continue };
        let name = file.strip_prefix(root).unwrap_or(&file).to_string_lossy().into_owned();
        faults.extend(check_file(&name, &text));
    }
    faults
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            if path.file_name().is_some_and(|name| name != "target" && name != "found") {
                collect(&path, files);
            }
        } else if path.file_name().is_some_and(|name| name != "Cargo.lock") {
            // Cargo writes its lock files, with the registry's name in them.
            files.push(path);
        }
    }
}

fn check_file(name: &str, text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let is_rust = Path::new(name).extension().is_some_and(|extension| extension == "rs");
    if is_rust && !text.starts_with("//!") {
        faults.push(format!("{name}:1: expected a head comment (//!)"));
    }
    let forbidden = BORDERS.iter().filter(|(folder, _)| name.starts_with(folder));
    let forbidden: Vec<_> = forbidden.flat_map(|(_, modules)| modules.iter()).collect();
    for (number, line) in text.lines().enumerate() {
        let code = line.split("//").next().unwrap_or(line);
        let mut fault = |what: String| faults.push(format!("{name}:{}: {what}", number + 1));
        for module in &forbidden {
            if is_rust && code.contains(**module) {
                fault(format!("must not name {module}"));
            }
        }
        let unsafe_code = code.contains("unsafe {") || code.contains("unsafe fn");
        if is_rust && unsafe_code && !UNSAFE.contains(&name) && !name.starts_with("xtask/") {
            fault("unsafe code is not allowed in this file".to_owned());
        }
        for needle in names_of_machines() {
            if line.contains(&needle) {
                fault(format!("must not name {needle}"));
            }
        }
    }
    faults
}

/// Registry hosts and paths of a machine, put together so that this file does not name them.
fn names_of_machines() -> Vec<String> {
    [["/ho", "me/"], ["/wo", "rk/"], ["crates", ".io"], ["pypi", ".org"], ["npmjs", ".com"]]
        .map(|parts| parts.concat())
        .to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_within_its_borders_has_no_faults() {
        let text = "//! Head.\nuse crate::model::Trace; // not crate::export\n";
        assert_eq!(check_file("crates/tracewell/src/format/new.rs", text), Vec::<String>::new());
    }

    #[test]
    fn each_rule_finds_its_fault() {
        let path = ["/ho", "me/me"].concat();
        let text = format!("use crate::export::X;\nunsafe {{ }}\nlet p = \"{path}\";\n");
        let faults = check_file("crates/tracewell/src/format/new.rs", &text);
        let lines: Vec<_> = faults.iter().map(|f| f.split(": ").next().unwrap_or(f)).collect();
        let name = "crates/tracewell/src/format/new.rs";
        assert_eq!(lines, [1, 1, 2, 3].map(|line| format!("{name}:{line}")));
    }
}
