//! Helpers for several integration tests: paths of data, tables, and a sink that stores all events.
#![allow(dead_code, unreachable_pub, reason = "each test crate uses a part of this")]

pub mod board;
pub mod ctf;
pub mod shark;
pub mod switches;
pub mod systemview;

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use tracewell::format::{self, Progress, ReadError};
use tracewell::input::{Input, Settings};
use tracewell::model::{Batch, ContextId, Flow, Loss, Sink, Trace};

/// Returns the folder of real and generated traces with expected answers: `TRACEWELL_SHARED`, or
/// `shared` next to the repository. The folder is not part of the project. If the folder is
/// missing, each test that needs it prints that the test was skipped.
pub fn shared() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let folder = std::env::var_os("TRACEWELL_SHARED").map_or_else(beside, PathBuf::from);
    // A user may have an unrelated folder with this name.
    if folder.join("data/threadx").is_dir() {
        return Some(folder);
    }
    // Bypass the test runner's capture, which hides the output of passing tests.
    let _ = writeln!(std::io::stderr(), "skipped: no folder of shared traces (TRACEWELL_SHARED)");
    None
}

/// Returns the path of a file in the project's own test data.
pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// Returns ThreadX dumps that have a folder of expected results: our own fixtures, and the shared
/// dumps if they are present.
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

/// Reads a tab-separated table with a header line of column names. Returns one map per row.
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

/// Parses a number in the notation of the expected results: decimal, or hexadecimal with `0x`.
pub fn number(text: &str) -> u64 {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).unwrap(),
        None => text.parse().unwrap(),
    }
}

/// One event, with all data that a batch contains about it.
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

/// A sink that stores everything.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct EventLog {
    pub rows: Vec<Row>,
    pub losses: Vec<Loss>,
}

impl Sink for EventLog {
    fn events(&mut self, _: &Trace, batch: &Batch<'_>) -> Flow {
        self.rows.extend(batch.events().map(|event| Row {
            seq: event.seq,
            ticks: event.ticks,
            cpu: event.cpu,
            context: event.context,
            id: event.id,
            priority: event.priority.get(),
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

/// Returns settings with these `key=value` options. `parts=4000,8000` means that the second and
/// third files of the run begin at bytes 4000 and 8000.
pub fn settings(options: &[&str]) -> Settings {
    let mut settings = Settings::default();
    for option in options {
        match option.strip_prefix("parts=") {
            Some(parts) => {
                settings.parts = parts.split(',').map(|part| part.parse().unwrap()).collect();
            }
            None => settings.options.add(option).unwrap(),
        }
    }
    settings
}

/// Reads a whole file.
pub fn read(path: &Path, options: &[&str]) -> (Trace, EventLog) {
    let mut kept = EventLog::default();
    let mut input = Input::open(path, settings(options)).unwrap();
    let trace = input.read(&mut kept).unwrap();
    (trace, kept)
}

/// Decodes bytes that arrive in pieces: with a window that grows by `piece` bytes at a time and
/// drops the bytes that the decoder has consumed.
pub fn in_pieces(
    format: &str,
    settings: &Settings,
    bytes: &[u8],
    piece: usize,
) -> Result<(Trace, EventLog), ReadError> {
    let mut decoder = format::by_name(format).unwrap().decoder(settings).unwrap();
    let (mut trace, mut kept) = (decoder.trace(), EventLog::default());
    let (mut start, mut end) = (0, 0);
    loop {
        end = bytes.len().min(end + piece);
        let last = end == bytes.len();
        let window = format::Input { offset: start as u64, bytes: &bytes[start..end], last };
        match decoder.decode(window, &mut trace, &mut kept)? {
            Progress::Done => return Ok((trace, kept)),
            Progress::More { consumed, wanted } => {
                assert!(!last, "a decoder must end with its input");
                start += consumed;
                assert!(wanted > end - start, "the decoder must request more bytes than it has");
            }
        }
    }
}
