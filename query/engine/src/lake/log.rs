//! The log of a lake: reads commits and appends them. `checkpoint` shortens the log.

use std::collections::{BTreeSet, HashMap};

use futures::{StreamExt, TryStreamExt};
use object_store::path::Path as Key;
use object_store::{Error, ObjectStore, PutMode, PutOptions};
use serde::{Deserialize, Serialize};
use tracewell_tables::{SCHEMA, Table};

use super::checkpoint;
use super::commit::{Commit, DataFile, Replaced, TraceEntry};
use super::place::Place;
use crate::failure::Failure;

/// The version of the layout of lakes.
const VERSION: u32 = 1;

/// Name of the file that marks a folder as a lake.
pub(super) const MARK: &str = "lake.json";

/// Folder of the commits.
pub(super) const FOLDER: &str = "log";

/// Number of commits that are read at the same time.
const PARALLEL: usize = 16;

/// Number of attempts to read a log that other writers change at the same time. An attempt is
/// repeated if it finds a newer checkpoint or a gap in the commits.
const MAX_ATTEMPTS: u32 = 8;

/// Each commit's number is below this limit.
const MAX_NUMBER: u64 = 1 << 60;

/// The content of [`MARK`].
#[derive(Serialize, Deserialize)]
struct Mark {
    /// Version of the layout.
    tracewell_lake: u32,
    /// Version of the tables.
    tables: u32,
}

/// The state of a lake after the last commit that was read.
#[derive(Debug)]
pub(crate) struct Lake {
    pub(crate) place: Place,
    /// Number of the last commit.
    last: u64,
    /// Number of the last checkpoint that was read or written; 0 if there is none.
    checkpoint: u64,
    /// The sum of all commits.
    content: Commit,
    /// The index of each trace, by its hash.
    by_hash: HashMap<String, usize>,
    /// The names of all labels.
    labels: BTreeSet<String>,
}

/// The result of appending a commit.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum Appended {
    /// The commit is part of the lake.
    Done,
    /// Another writer added some of the traces, or replaced some of the files, in the meantime.
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
        let (content, by_hash, labels) = Default::default();
        let mut lake = Self { place, last: 0, checkpoint: 0, content, by_hash, labels };
        lake.start_from(checkpoint::newest(&lake.place).await?).await?;
        lake.refresh().await?;
        Ok(Some(lake))
    }

    /// Opens a lake. If the place contains no lake, it becomes an empty lake.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Lake::open`], and an error if the place contains other files.
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
        create(&place, &Key::from(MARK), &mark).await?;
        Self::open(place.clone()).await?.ok_or_else(|| {
            Failure::storage(format!("{}: {MARK} was created and is not there", place.name))
        })
    }

    /// Reads the commits after the last commit that was read.
    pub(crate) async fn refresh(&mut self) -> Result<(), Failure> {
        for _ in 0..MAX_ATTEMPTS {
            let (commits, is_all) = self.list().await?;
            let newest = checkpoint::newest(&self.place).await?;
            if newest > self.last {
                self.start_from(newest).await?;
                continue;
            }
            commits.into_iter().for_each(|commit| self.add(commit));
            if is_all {
                return Ok(());
            }
        }
        let (name, missing) = (&self.place.name, key_of(FOLDER, self.last + 1));
        let message = format!("{name}: {missing} is missing, and later commits exist");
        Err(Failure::damaged(message))
    }

    /// Reads the commits that follow the last one already read, up to the first gap in their
    /// numbers. Also returns true if there is no gap. There can be a gap if other programs add or
    /// delete commits at the same time.
    async fn list(&self) -> Result<(Vec<Commit>, bool), Failure> {
        let (place, last) = (&self.place, self.last);
        let mut keys = place.list(&Key::from(FOLDER), Some(&key_of(FOLDER, last))).await?;
        if let Some(key) = keys.iter().find(|key| number_of(key).is_none()) {
            let message = "not a commit of a lake: its name is not a number";
            return Err(Failure::damaged(format!("{}/{key}: {message}", place.name)));
        }
        let listed = keys.len();
        let follows = |(key, number): &(&Key, u64)| number_of(key) == Some(*number);
        keys.truncate(keys.iter().zip(last + 1..).take_while(follows).count());
        let commits = futures::stream::iter(&keys).map(|key| read(place, key, "commit"));
        let commits: Vec<Option<Commit>> = commits.buffered(PARALLEL).try_collect().await?;
        let commits: Vec<Commit> = commits.into_iter().map_while(|commit| commit).collect();
        let is_all = commits.len() == listed;
        Ok((commits, is_all))
    }

    /// Replaces the state by a checkpoint, unless the checkpoint no longer exists.
    async fn start_from(&mut self, number: u64) -> Result<(), Failure> {
        if number == 0 {
            return Ok(());
        }
        if let Some(content) = checkpoint::read(&self.place, number).await? {
            (self.last, self.checkpoint) = (number - 1, number);
            (self.content, self.by_hash, self.labels) = Default::default();
            self.add(content);
        }
        Ok(())
    }

    /// Adds the next commit or a checkpoint to the state.
    fn add(&mut self, commit: Commit) {
        self.last += 1;
        for (index, trace) in (self.content.traces.len()..).zip(&commit.traces) {
            self.labels.extend(trace.labels.keys().cloned());
            self.by_hash.insert(trace.hash.clone(), index);
        }
        self.content.add(commit);
    }

    /// Returns the number of the last commit.
    pub(super) const fn last(&self) -> u64 {
        self.last
    }

    /// Returns the number of commits after the last checkpoint.
    pub(super) const fn commits_after_checkpoint(&self) -> u64 {
        self.last - self.checkpoint
    }

    /// Stores the number of a checkpoint that was written.
    pub(super) const fn set_checkpoint(&mut self, number: u64) {
        self.checkpoint = number;
    }

    /// Returns the sum of all commits.
    pub(super) const fn content(&self) -> &Commit {
        &self.content
    }

    /// Returns the path of the trace with this hash, if the lake contains it.
    pub(crate) fn path_of(&self, hash: &str) -> Option<&str> {
        let index = *self.by_hash.get(hash)?;
        self.content.traces.get(index).map(|trace| trace.path.as_str())
    }

    /// Returns the number of traces.
    pub(crate) fn len(&self) -> usize {
        self.content.traces.len()
    }

    /// Returns the names of the labels of all traces.
    pub(crate) fn labels(&self) -> impl Iterator<Item = &str> {
        self.labels.iter().map(String::as_str)
    }

    /// Returns the files of a table.
    pub(crate) fn files(&self, table: Table) -> impl Iterator<Item = &DataFile> {
        self.content.files.iter().filter(move |file| file.table == table.name())
    }

    /// Returns all files.
    pub(crate) fn all_files(&self) -> &[DataFile] {
        &self.content.files
    }

    /// Returns the files that were replaced and not deleted.
    pub(crate) fn replaced(&self) -> &[Replaced] {
        &self.content.replaced
    }

    /// Appends a commit after the last commit, unless another writer has already added one of the
    /// commit's traces, or replaced one of the files that the commit replaces.
    pub(crate) async fn append(&mut self, commit: &Commit) -> Result<Appended, Failure> {
        loop {
            let has_trace = |trace: &TraceEntry| self.by_hash.contains_key(&trace.hash);
            if commit.traces.iter().any(has_trace) || !self.content.can_replace(commit) {
                return Ok(Appended::Conflict);
            }
            let key = key_of(FOLDER, self.last + 1);
            if create(&self.place, &key, commit).await? {
                let newest = checkpoint::newest(&self.place).await?;
                if newest <= self.last {
                    self.add(commit.clone());
                    return Ok(Appended::Done);
                }
                // Either the checkpoint contains this commit, or this commit has the number of a
                // deleted one.
                self.refresh().await?;
                if self.content.contains(commit) {
                    return Ok(Appended::Done);
                }
                self.place.delete(&key).await?;
            } else {
                self.refresh().await?;
                // A storage can create the object and fail nevertheless. Then the repeated request
                // finds the object of the first one.
                if self.content.contains(commit) {
                    return Ok(Appended::Done);
                }
            }
        }
    }
}

/// Returns the key of a numbered object. All keys have the same length, so that their order is the
/// order of the numbers.
pub(super) fn key_of(folder: &str, number: u64) -> Key {
    Key::from(format!("{folder}/{number:020}.json"))
}

/// Returns the number of an object, or `None` if its name is not a number.
pub(super) fn number_of(key: &Key) -> Option<u64> {
    let number = key.filename()?.strip_suffix(".json")?.parse().ok();
    number.filter(|number| *number < MAX_NUMBER)
}

/// Reads a commit or a checkpoint. Returns `None` if the object does not exist.
pub(super) async fn read(place: &Place, key: &Key, what: &str) -> Result<Option<Commit>, Failure> {
    let Some(content) = place.get(key).await? else { return Ok(None) };
    let content = serde_json::from_slice(&content).map_err(|error| {
        Failure::damaged(format!("{}/{key}: not a {what} of a lake: {error}", place.name))
    });
    content.map(Some)
}

/// Creates an object, which no reader ever sees incomplete. Returns false if it already exists.
pub(super) async fn create(
    place: &Place,
    key: &Key,
    content: &impl Serialize,
) -> Result<bool, Failure> {
    let text = serde_json::to_vec(content)
        .map_err(|error| Failure::storage(format!("{}/{key}: {error}", place.name)))?;
    let options = PutOptions::from(PutMode::Create);
    match place.store.put_opts(key, text.into(), options).await {
        Ok(_) => Ok(true),
        Err(Error::AlreadyExists { .. }) => Ok(false),
        Err(error) => Err(place.failure(&error)),
    }
}
