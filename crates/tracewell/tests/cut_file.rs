//! Tests files that another program truncates while they are read. The result is an error, never a
//! signal that ends the process.
#![cfg(unix)]

use std::fs::File;
use std::path::{Path, PathBuf};

use tracewell::input::{Input, Settings};
use tracewell::model::{Batch, Flow, Sink, Trace};

/// Truncates a file when the first events arrive.
struct Cutter<'a> {
    path: &'a Path,
    to: u64,
    is_done: bool,
}

impl Sink for Cutter<'_> {
    fn events(&mut self, _: &Trace, _: &Batch<'_>) -> Flow {
        if !self.is_done {
            File::options().write(true).open(self.path).unwrap().set_len(self.to).unwrap();
            self.is_done = true;
        }
        Flow::Continue(())
    }
}

/// A stream of some megabytes.
fn long_stream() -> (tempfile::TempDir, PathBuf) {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/rkh/ahsm-a.bin");
    let bytes = std::fs::read(fixture).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.rkh");
    std::fs::write(&path, bytes.repeat((4 << 20) / bytes.len())).unwrap();
    (folder, path)
}

#[test]
fn a_file_that_is_cut_while_it_is_read_is_an_error() {
    for to in [0, 100, 100_000, 1_000_001] {
        let (_folder, path) = long_stream();
        let mut input = Input::open(&path, Settings::default()).unwrap();
        let mut cutter = Cutter { path: &path, to, is_done: false };
        let error = input.read(&mut cutter).unwrap_err().to_string();
        let said = format!("bytes to {to} while it was read");
        assert!(error.starts_with(&path.display().to_string()) && error.contains(&said), "{error}");
    }
}

#[test]
fn files_are_read_again_after_one_was_cut() {
    let (_folder, path) = long_stream();
    let mut cutter = Cutter { path: &path, to: 4096, is_done: false };
    Input::open(&path, Settings::default()).unwrap().read(&mut cutter).unwrap_err();
    let (_folder, path) = long_stream();
    let mut nothing = Cutter { path: &path, to: 0, is_done: true };
    let trace = Input::open(&path, Settings::default()).unwrap().read(&mut nothing).unwrap();
    assert!(trace.events > 1000);
}
