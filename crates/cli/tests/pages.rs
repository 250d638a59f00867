//! Runs every console block of the README and of `docs/` and compares the output, so that pages
//! show what the program prints. `console` describes the blocks. The blocks of a page run in a
//! folder. Its subfolder `examples` is that of the repository, and its subfolder `templates`
//! contains the shipped templates.
#![cfg(unix)]

mod console;
mod program;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use program::root;

/// Minimum number of commands. If the test finds fewer commands, it has missed some.
const MIN_COMMANDS: usize = 30;

/// Pages whose commands need `tracewell-query`. A test of the workspace `query` runs them.
const OF_QUERY: [&str; 1] = ["query.md"];

/// The README and all other pages, in order of their names.
fn pages() -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join("docs")).unwrap();
    let mut pages: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    pages.retain(|page| page.extension().is_some_and(|extension| extension == "md"));
    pages.retain(|page| OF_QUERY.iter().all(|other| !page.ends_with(other)));
    pages.push(root().join("README.md"));
    pages.sort();
    pages
}

/// A folder in which the commands of a page run.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    symlink(root().join("examples"), folder.path().join("examples")).unwrap();
    symlink(root().join("crates/tracewell/templates"), folder.path().join("templates")).unwrap();
    fs::create_dir(folder.path().join("bin")).unwrap();
    for name in ["tracewell", "trcrpt", "trcupdate"] {
        symlink(env!("CARGO_BIN_EXE_tracewell"), folder.path().join("bin").join(name)).unwrap();
    }
    folder
}

#[test]
fn commands_print_what_the_pages_show() {
    let run = |page: PathBuf| console::run_page(&page, folder().path());
    let count: usize = pages().into_iter().map(run).sum();
    assert!(count >= MIN_COMMANDS, "{count} commands");
}
