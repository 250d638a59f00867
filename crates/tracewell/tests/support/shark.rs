//! The S.Ha.R.K. data sets: their locations and expected results.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use tracewell::format::NamesFile;
use tracewell::input::{Input, Settings};
use tracewell::model::Trace;
use tracewell_wire::shark::{DatagramHeader, Frame, Record, ids};

use super::{EventLog, shared, table};

/// Returns the folders of sets: our own fixtures, and the shared sets if they are present.
pub fn folders() -> Vec<PathBuf> {
    let others = shared().map(|shared| shared.join("data/shark"));
    std::iter::once(super::fixture("shark")).chain(others).collect()
}

/// Returns the frame of a packet of records.
pub fn packet(number: u32, records: &[Record]) -> Vec<u8> {
    let mut datagram = vec![0; DatagramHeader::SIZE];
    DatagramHeader::new(number, records.len() as u32).write(&mut datagram).unwrap();
    records.iter().for_each(|record| datagram.extend(record.to_bytes()));
    framed(&datagram)
}

/// Returns the frame of a datagram.
pub fn framed(datagram: &[u8]) -> Vec<u8> {
    let mut frame = Frame::prefix(datagram.len() as u32).to_vec();
    frame.extend(datagram);
    frame
}

/// A set: a trace with expected results.
#[derive(Clone, Debug)]
pub struct Set {
    pub folder: PathBuf,
    pub name: String,
    meta: Vec<(String, String)>,
}

impl Set {
    /// Returns a value from the set's description.
    pub fn meta(&self, key: &str) -> &str {
        self.meta.iter().find(|(k, _)| k == key).map_or("", |(_, value)| value)
    }

    /// Returns the files of the set's run, in order.
    pub fn files(&self) -> Vec<PathBuf> {
        self.meta("files").split(',').map(|file| self.folder.join(file)).collect()
    }

    /// Returns the rows of a table of expected results, for example of the table `events`.
    pub fn expected(&self, what: &str) -> Vec<std::collections::HashMap<String, String>> {
        table(&self.folder.join(format!("{}.{what}.tsv", self.name)))
    }

    /// Returns the options of the set: the clock, and the names in its description.
    pub fn settings(&self) -> Settings {
        let mut settings = Settings::default();
        let rate = format!("rate={}/1", 1000 * super::number(self.meta("clk_per_msec_initial")));
        settings.options.add(&rate).unwrap();
        let description = self.folder.join(format!("{}.meta.tsv", self.name));
        let text = std::fs::read(&description).unwrap();
        let path = description.display().to_string();
        settings.names.push(NamesFile { flag: "--names", path, text });
        settings
    }

    /// Reads the set from the files of one run.
    pub fn read(&self, files: &[PathBuf]) -> (Trace, EventLog) {
        let mut kept = EventLog::default();
        let trace = self.open(files).read(&mut kept).unwrap();
        (trace, kept)
    }

    /// Opens the files of one run.
    pub fn open(&self, files: &[PathBuf]) -> Input {
        Input::open_run(files, self.settings()).unwrap()
    }
}

/// Returns all sets whose folders are present.
pub fn sets() -> Vec<Set> {
    let sets: Vec<_> = folders().iter().flat_map(|folder| sets_of(folder)).collect();
    assert!(!sets.is_empty());
    sets
}

fn sets_of(folder: &Path) -> Vec<Set> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut sets: Vec<_> = files
        .filter_map(|path| {
            let name = path.file_name()?.to_str()?.strip_suffix(".meta.tsv")?.to_owned();
            let row = |row: &std::collections::HashMap<String, String>| {
                (row["key"].clone(), row["value"].clone())
            };
            let meta = table(&path).iter().map(row).collect();
            Some(Set { folder: folder.to_owned(), name, meta })
        })
        .collect();
    sets.sort_by(|a, b| a.name.cmp(&b.name));
    sets
}

/// The contexts of the tasks of random traces.
pub const TASKS: [u16; 4] = [0x100, 0x108, 0x110, 0x118];

/// Returns random records of a kernel: choices, activations, jobs, a mutex, interrupts and marks.
pub fn any_records() -> impl Strategy<Value = Vec<Record>> {
    let task = || prop::sample::select(TASKS.to_vec());
    let choice = |task: u16| (ids::TASK_SCHEDULE, task, task);
    let phrase = prop_oneof![
        (task(), task()).prop_map(|(runs, of)| vec![(ids::TASK_SCHEDULE, runs, of)]),
        (task(), task())
            .prop_map(move |(task, next)| { vec![(ids::SET_MUTEX_LOCK, task, 7), choice(next)] }),
        task().prop_map(|task| vec![(ids::SET_MUTEX_UNLOCK, task, 7)]),
        task().prop_map(|task| vec![(ids::TASK_ACTIVATE, task, 0)]),
        (task(), task())
            .prop_map(move |(task, next)| { vec![(ids::TASK_END_CYCLE, task, 1), choice(next)] }),
        (task(), task()).prop_map(move |(woken, next)| {
            vec![
                (ids::INTERRUPT_START, 5, 0),
                (ids::TASK_ACTIVATE, woken, 0),
                choice(next),
                (ids::INTERRUPT_END, 5, 0),
            ]
        }),
        (0..2_u16).prop_map(|number| vec![(ids::IPOINT, number, 0)]),
    ];
    prop::collection::vec((phrase, 0..9_u64), 1..120).prop_map(|phrases| {
        let mut tsc = 1;
        let code_word = ids::TRACE_START.into();
        let mut records = vec![Record { code_word, par1: TASKS[0], tsc, par2: 1000 }];
        for (phrase, gap) in phrases {
            for (code, par1, par2) in phrase {
                tsc += gap;
                records.push(Record { code_word: code.into(), par1, tsc, par2: par2.into() });
            }
        }
        records
    })
}
