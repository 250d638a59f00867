//! What several integration tests need: where data lies, tables, a sink that keeps everything.
#![allow(dead_code, unreachable_pub, reason = "each test crate uses a part of this")]

pub mod shark;

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use tracewell::input::{Input, Settings};
use tracewell::model::{Batch, ContextId, Flow, Loss, Sink, Trace};

/// The folder of real and generated traces with expected answers, which is not part of the
/// project: `TRACEWELL_SHARED`, or `shared` beside the repository. A test that needs it and does
/// not find it says that it was skipped.
pub fn shared() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let folder = std::env::var_os("TRACEWELL_SHARED").map_or_else(beside, PathBuf::from);
    // A user may have a folder of this name with something else in it.
    if folder.join("data/threadx").is_dir() {
        return Some(folder);
    }
    // Past the test runner's capture, which shows nothing of tests that pass.
    let _ = writeln!(std::io::stderr(), "skipped: no folder of shared traces (TRACEWELL_SHARED)");
    None
}

/// A file among the project's own test data.
pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// ThreadX dumps with a folder of answers beside them: our own fixtures, and the shared ones where
/// they are there.
pub fn dumps() -> Vec<(PathBuf, PathBuf)> {
    let shared = shared().into_iter().map(|shared| shared.join("data/threadx"));
    let sets = shared.flat_map(|threadx| ["linux", "real"].map(|set| threadx.join(set)));
    let mut dumps: Vec<_> = std::iter::once(fixture("threadx"))
        .chain(sets)
        .flat_map(|folder| std::fs::read_dir(&folder).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "trx"))
        .map(|path| (path.clone(), path.with_extension("")))
        .filter(|(_, answers)| answers.is_dir())
        .collect();
    dumps.sort();
    assert!(!dumps.is_empty());
    dumps
}

/// A table with a line of column names, tab-separated: one map a row.
pub fn table(path: &Path) -> Vec<HashMap<String, String>> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut lines = text.lines();
    let names: Vec<_> = lines.next().unwrap_or_default().split('\t').collect();
    lines
        .map(|line| {
            names.iter().map(|n| (*n).to_owned()).zip(line.split('\t').map(str::to_owned)).collect()
        })
        .collect()
}

/// A number as the expected answers write it: decimal, or hexadecimal with `0x`.
pub fn number(text: &str) -> u64 {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).unwrap(),
        None => text.parse().unwrap(),
    }
}

/// One event with everything that a batch says about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row {
    pub seq: u64,
    pub ticks: u64,
    pub cpu: u16,
    pub context: ContextId,
    pub id: u32,
    pub priority: Option<u16>,
    pub payload: Vec<u8>,
    pub record: Vec<u8>,
}

/// A sink that keeps everything.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Kept {
    pub rows: Vec<Row>,
    pub losses: Vec<Loss>,
}

impl Sink for Kept {
    fn events(&mut self, _: &Trace, batch: &Batch<'_>) -> Flow {
        self.rows.extend(batch.events().map(|event| Row {
            seq: event.seq,
            ticks: event.ticks,
            cpu: event.cpu,
            context: event.context,
            id: event.id,
            priority: event.priority,
            payload: event.payload.to_vec(),
            record: event.record.to_vec(),
        }));
        Flow::Continue(())
    }

    fn loss(&mut self, _: &Trace, loss: &Loss) -> Flow {
        self.losses.push(*loss);
        Flow::Continue(())
    }
}

/// Settings with these `key=value` options.
pub fn settings(options: &[&str]) -> Settings {
    let mut settings = Settings::default();
    for option in options {
        settings.options.add(option).unwrap();
    }
    settings
}

/// Reads a whole file.
pub fn read(path: &Path, options: &[&str]) -> (Trace, Kept) {
    let mut kept = Kept::default();
    let mut input = Input::open(path, settings(options)).unwrap();
    let trace = input.read(&mut kept).unwrap();
    (trace, kept)
}
