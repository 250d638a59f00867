//! The S.Ha.R.K. data sets: their locations and expected results.

use std::path::{Path, PathBuf};

use tracewell::format::NamesFile;
use tracewell::input::{Input, Settings};
use tracewell::model::Trace;

use super::{EventLog, shared, table};

/// Returns the folders of sets: our own fixtures, and the shared sets if they are present.
pub fn folders() -> Vec<PathBuf> {
    let others = shared().map(|shared| shared.join("data/shark"));
    std::iter::once(super::fixture("shark")).chain(others).collect()
}

/// A set: a trace with expected results.
#[derive(Clone, Debug)]
pub struct Set {
    pub folder: PathBuf,
    pub name: String,
    meta: Vec<(String, String)>,
}

impl Set {
    /// Returns a figure of the set's description.
    pub fn meta(&self, key: &str) -> &str {
        self.meta.iter().find(|(k, _)| k == key).map_or("", |(_, value)| value)
    }

    /// Returns the files of the set's run, in order.
    pub fn files(&self) -> Vec<PathBuf> {
        self.meta("files").split(',').map(|file| self.folder.join(file)).collect()
    }

    /// Returns the path of a file of expected results.
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
