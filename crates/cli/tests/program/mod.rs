//! Runs the program, and returns its output.
#![allow(dead_code, reason = "each test uses a part of this")]

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Returns the root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Returns a command that runs the program in a folder, without an input.
pub(crate) fn program(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tracewell"));
    command.current_dir(folder).stdin(Stdio::null());
    command
}

/// Runs the program in a folder.
pub(crate) fn run_in(folder: &Path, arguments: &[impl AsRef<OsStr>]) -> Output {
    program(folder).args(arguments).output().unwrap()
}

/// Runs the program in the root of the repository, so that messages name short paths.
pub(crate) fn run(arguments: &[impl AsRef<OsStr>]) -> Output {
    run_in(&root(), arguments)
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

pub(crate) fn status(output: &Output) -> Option<i32> {
    output.status.code()
}
