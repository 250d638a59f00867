//! The log of a lake: reads commits and appends them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use futures::{StreamExt, TryStreamExt};
use object_store::path::Path as Key;
use object_store::{Error, ObjectStore, PutMode, PutOptions};
use serde::{Deserialize, Serialize};
use tracewell_tables::{SCHEMA, Table};

use super::Place;
use crate::failure::Failure;

/// The version of the layout of lakes.
const VERSION: u32 = 1;

/// Name of the file that marks a folder as a lake.
pub(super) const MARK: &str = "lake.json";

/// Number of commits that are read at the same time.
const PARALLEL: usize = 16;

/// The content of [`MARK`].
#[derive(Serialize, Deserialize)]
struct Mark {
    /// Version of the layout.
    tracewell_lake: u32,
    /// Version of the tables.
    tables: u32,
}

/// A commit: traces that were added together.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Commit {
    /// The traces.
    pub(crate) traces: Vec<TraceEntry>,
    /// The Parquet files with their rows.
    pub(crate) files: Vec<DataFile>,
}

/// A trace in a lake.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct TraceEntry {
    /// SHA-256, as in the column `trace`.
    pub(crate) hash: String,
    /// Path as given.
    pub(crate) path: String,
    /// Labels.
    pub(crate) labels: BTreeMap<String, String>,
}

/// A Parquet file of a lake.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct DataFile {
    /// Name of the table.
    pub(crate) table: String,
    /// Key of the file in the lake.
    pub(crate) key: String,
    /// Number of rows.
    pub(crate) rows: u64,
    /// Size in bytes.
    pub(crate) bytes: u64,
    /// Names and types of the columns that some files lack: arguments, labels and `text`.
    pub(crate) columns: BTreeMap<String, String>,
}

/// The state of a lake after the last commit that was read.
#[derive(Debug)]
pub(crate) struct Lake {
    pub(crate) place: Place,
    /// Number of the last commit.
    last: u64,
    /// The path of each trace, by its hash.
    traces: HashMap<String, String>,
    files: Vec<DataFile>,
    /// The names of all labels.
    labels: BTreeSet<String>,
}

/// The result of appending a commit.
pub(crate) enum Appended {
    /// The commit is part of the lake.
    Done,
    /// Another writer added some of the traces in the meantime.
    Conflict,
}

impl Lake {
    /// Opens a lake, or returns `None` if the place contains no lake.
    ///
    /// # Errors
    ///
    /// Fails if the storage fails or the lake has another version.
    pub(crate) async fn open(place: Place) -> Result<Option<Self>, Failure> {
        let Some(mark) = place.get(&Key::from(MARK)).await? else { return Ok(None) };
        let mark: Mark = serde_json::from_slice(&mark)
            .map_err(|error| Failure::damaged(format!("{}/{MARK}: {error}", place.name)))?;
        if (mark.tracewell_lake, mark.tables) != (VERSION, SCHEMA) {
            let message = format!(
                "{}: a lake of version {} with tables of version {}; this program reads {VERSION} \
                 and {SCHEMA}",
                place.name, mark.tracewell_lake, mark.tables
            );
            return Err(Failure::usage(message));
        }
        let (traces, files, labels) = Default::default();
        let mut lake = Self { place, last: 0, traces, files, labels };
        lake.refresh().await?;
        Ok(Some(lake))
    }

    /// Opens a lake. If the place contains no lake, it becomes an empty lake.
    ///
    /// # Errors
    ///
    /// Fails like [`Lake::open`], and if the place contains other files.
    pub(crate) async fn open_or_create(place: Place) -> Result<Self, Failure> {
        if let Some(lake) = Self::open(place.clone()).await? {
            return Ok(lake);
        }
        let found = place.store.list(None).next().await.transpose();
        if let Some(found) = found.map_err(|error| place.failure(&error))? {
            // Another writer may have created it in the meantime.
            if let Some(lake) = Self::open(place.clone()).await? {
                return Ok(lake);
            }
            let message = format!(
                "{}: is not a lake and has other files, such as {}: name a new or empty folder",
                place.name, found.location
            );
            return Err(Failure::usage(message));
        }
        let mark = Mark { tracewell_lake: VERSION, tables: SCHEMA };
        create(&place, MARK, &mark).await?;
        Self::open(place.clone()).await?.ok_or_else(|| {
            Failure::storage(format!("{}: {MARK} was created and is not there", place.name))
        })
    }

    /// Reads the commits after the last commit that was read.
    pub(crate) async fn refresh(&mut self) -> Result<(), Failure> {
        let from = Key::from(name_of(self.last));
        let folder = Key::from("log");
        let listed = self.place.store.list_with_offset(Some(&folder), &from);
        let listed: Result<Vec<_>, _> = listed.try_collect().await;
        let listed = listed.map_err(|error| self.place.failure(&error))?;
        let mut keys: Vec<Key> = listed.into_iter().map(|object| object.location).collect();
        keys.sort();
        let place = &self.place;
        let commits = futures::stream::iter(&keys).map(|key| read(place, key));
        let commits: Vec<(u64, Commit)> = commits.buffered(PARALLEL).try_collect().await?;
        for (number, commit) in commits {
            self.last = number;
            self.add(commit);
        }
        Ok(())
    }

    fn add(&mut self, commit: Commit) {
        for trace in commit.traces {
            self.labels.extend(trace.labels.into_keys());
            self.traces.insert(trace.hash, trace.path);
        }
        self.files.extend(commit.files);
    }

    /// Returns the path of the trace with this hash, if the lake contains it.
    pub(crate) fn path_of(&self, hash: &str) -> Option<&str> {
        self.traces.get(hash).map(String::as_str)
    }

    /// Returns the number of traces.
    pub(crate) fn len(&self) -> usize {
        self.traces.len()
    }

    /// Returns the names of the labels of all traces.
    pub(crate) fn labels(&self) -> impl Iterator<Item = &str> {
        self.labels.iter().map(String::as_str)
    }

    /// Returns the files of a table.
    pub(crate) fn files(&self, table: Table) -> impl Iterator<Item = &DataFile> {
        self.files.iter().filter(move |file| file.table == table.name())
    }

    /// Appends a commit after the last commit, unless another writer added one of its traces.
    pub(crate) async fn append(&mut self, commit: &Commit) -> Result<Appended, Failure> {
        loop {
            if commit.traces.iter().any(|trace| self.traces.contains_key(&trace.hash)) {
                return Ok(Appended::Conflict);
            }
            if create(&self.place, &name_of(self.last + 1), commit).await? {
                self.last += 1;
                self.add(commit.clone());
                return Ok(Appended::Done);
            }
            self.refresh().await?;
        }
    }
}

/// Returns the key of a commit. All keys have the same length, so that their order is the order of
/// the numbers.
fn name_of(number: u64) -> String {
    format!("log/{number:020}.json")
}

/// Reads a commit, and returns it with its number.
async fn read(place: &Place, key: &Key) -> Result<(u64, Commit), Failure> {
    let damaged = |what: &dyn std::fmt::Display| {
        Failure::damaged(format!("{}/{key}: not a commit of a lake: {what}", place.name))
    };
    let number = key.filename().and_then(|name| name.strip_suffix(".json"));
    let number = number.and_then(|name| name.parse().ok());
    let number = number.ok_or_else(|| damaged(&"its name is not a number"))?;
    let content = place.get(key).await?.unwrap_or_default();
    let commit = serde_json::from_slice(&content).map_err(|error| damaged(&error))?;
    Ok((number, commit))
}

/// Creates an object whole. Returns false if it exists.
async fn create(place: &Place, key: &str, content: &impl Serialize) -> Result<bool, Failure> {
    let text = serde_json::to_vec(content)
        .map_err(|error| Failure::storage(format!("{}/{key}: {error}", place.name)))?;
    let options = PutOptions::from(PutMode::Create);
    match place.store.put_opts(&Key::from(key), text.into(), options).await {
        Ok(_) => Ok(true),
        Err(Error::AlreadyExists { .. }) => Ok(false),
        Err(error) => Err(place.failure(&error)),
    }
}
