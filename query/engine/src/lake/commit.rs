//! The content of a commit and of a checkpoint: the traces and the files of a lake.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};

/// Traces that were added together, with the files that contain their rows; or files that replace
/// smaller ones. A checkpoint is the sum of all commits before it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Commit {
    /// The traces.
    pub(crate) traces: Vec<TraceEntry>,
    /// The Parquet files that contain the rows of these traces.
    pub(crate) files: Vec<DataFile>,
    /// Earlier files whose rows are in other files now. Queries that began before may read them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) replaced: Vec<Replaced>,
    /// Keys of replaced files that were deleted. A checkpoint names none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) deleted: Vec<String>,
}

/// A trace in a lake.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct TraceEntry {
    /// SHA-256, as in the column `trace`.
    pub(crate) hash: String,
    /// Path of the trace when it was added.
    pub(crate) path: String,
    /// Labels.
    pub(crate) labels: BTreeMap<String, String>,
}

/// A Parquet file of a lake.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
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

/// A file that was replaced.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Replaced {
    /// Key of the file in the lake.
    pub(crate) key: String,
    /// Time of the replacement, in seconds since 1970.
    pub(crate) at: u64,
}

impl Commit {
    /// Adds another commit.
    pub(super) fn add(&mut self, other: Self) {
        if !other.replaced.is_empty() {
            let replaced: HashSet<_> = other.replaced.iter().map(|file| &file.key).collect();
            self.files.retain(|file| !replaced.contains(&file.key));
        }
        if !other.deleted.is_empty() {
            let deleted: HashSet<_> = other.deleted.iter().collect();
            self.replaced.retain(|file| !deleted.contains(&file.key));
        }
        self.traces.extend(other.traces);
        self.files.extend(other.files);
        self.replaced.extend(other.replaced);
    }

    /// Returns true if this sum of commits has all files that another commit replaces.
    pub(super) fn can_replace(&self, other: &Self) -> bool {
        if other.replaced.is_empty() {
            return true;
        }
        let files: HashSet<_> = self.files.iter().map(|file| &file.key).collect();
        other.replaced.iter().all(|file| files.contains(&file.key))
    }

    /// Returns true if this sum of commits contains another commit. Each writer names its files in
    /// its own way, so one of the commit's files is enough: it may have been replaced, and other
    /// files of the commit may even have been deleted since then.
    pub(super) fn contains(&self, other: &Self) -> bool {
        let replaced = || self.replaced.iter().map(|file| &file.key);
        if !other.files.is_empty() {
            let files: HashSet<_> =
                self.files.iter().map(|file| &file.key).chain(replaced()).collect();
            return other.files.iter().any(|file| files.contains(&file.key));
        }
        let traces: HashSet<_> = self.traces.iter().map(|trace| &trace.hash).collect();
        let deleted: HashSet<_> = other.deleted.iter().collect();
        other.traces.iter().all(|trace| traces.contains(&trace.hash))
            && !replaced().any(|key| deleted.contains(key))
    }
}
