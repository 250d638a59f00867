//! Runs the console blocks of the guide's page about queries. In these blocks, `tracewell` is a
//! script that starts `tracewell-query` or `tracewell-ingest`, as the real program does.
#![cfg(unix)]

#[path = "../../../crates/cli/tests/console/mod.rs"]
mod console;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

/// Minimum number of commands. A smaller number of commands means that the test did not find all of
/// them.
const MIN_COMMANDS: usize = 16;

#[test]
fn commands_print_what_the_page_shows() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    symlink(root.join("examples"), at("examples")).unwrap();
    fs::create_dir(at("bin")).unwrap();
    let script = "#!/bin/sh\nverb=$1\nshift\nexec tracewell-$verb \"$@\"\n";
    fs::write(at("bin/tracewell"), script).unwrap();
    fs::set_permissions(at("bin/tracewell"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink(env!("CARGO_BIN_EXE_tracewell-query"), at("bin/tracewell-query")).unwrap();
    symlink(env!("CARGO_BIN_EXE_tracewell-ingest"), at("bin/tracewell-ingest")).unwrap();
    let count = console::run_page(&root.join("docs/query.md"), folder.path());
    assert!(count >= MIN_COMMANDS, "{count} commands");
}
