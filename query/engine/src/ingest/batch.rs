//! Adds the traces of one commit.

use std::collections::BTreeMap;
use std::fs::File;
use std::ops::AddAssign;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use object_store::ObjectStore;
use object_store::buffered::BufWriter;
use object_store::path::Path as Key;
use tokio::io::AsyncWriteExt;
use tracewell::text::shown_path;
use tracewell_tables::{Kind, Source, Table};
use uuid::Uuid;

use super::parquet::{self, Written};
use crate::columns::lake_fields;
use crate::failure::Failure;
use crate::files::TraceFile;
use crate::lake::{Appended, Commit, DataFile, Lake, Place, TraceEntry};
use crate::run::print_message;
use crate::sources::Sources;

/// The numbers of traces, rows and bytes that a run added.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Added {
    /// Number of traces.
    pub(super) traces: usize,
    /// Number of traces that the lake already contained.
    pub(super) known: usize,
    /// Number of rows in all tables.
    pub(super) rows: u64,
    /// Number of bytes of all Parquet files.
    pub(super) bytes: u64,
}

impl AddAssign for Added {
    fn add_assign(&mut self, other: Self) {
        self.traces += other.traces;
        self.known += other.known;
        self.rows += other.rows;
        self.bytes += other.bytes;
    }
}

/// Options for the traces of a commit.
pub(super) struct Batch<'a> {
    /// The folder for the Parquet files, such as `firmware=1.2/`. The name comes from the labels of
    /// the traces. It is empty or ends with a slash.
    pub(super) folder: &'a str,
    pub(super) tables: &'a [Table],
    pub(super) keep_raw: bool,
    /// True if the table `events` has the column `text`.
    pub(super) with_text: bool,
}

/// A trace with its hash.
struct Hashed {
    trace: Arc<TraceFile>,
    source: Source,
    hash: String,
}

impl Batch<'_> {
    /// Adds traces in one commit. If another writer adds some of these traces at the same time,
    /// writes the remaining traces again.
    pub(super) async fn add(
        &self,
        traces: Vec<Arc<TraceFile>>,
        lake: &mut Lake,
        sources: &Arc<Sources>,
    ) -> Result<Added, Failure> {
        let mut added = Added::default();
        let mut traces = hashed(traces, sources)?;
        loop {
            let before = traces.len();
            take_new(&mut traces, lake);
            added.known += before - traces.len();
            if traces.is_empty() {
                return Ok(added);
            }
            let commit = self.write(&traces, &lake.place, sources).await?;
            match lake.append(&commit).await? {
                Appended::Done => {
                    added.traces += traces.len();
                    added.rows += commit.files.iter().map(|file| file.rows).sum::<u64>();
                    added.bytes += commit.files.iter().map(|file| file.bytes).sum::<u64>();
                    return Ok(added);
                }
                Appended::Conflict => {
                    for file in &commit.files {
                        lake.place.delete(&Key::from(file.key.as_str())).await?;
                    }
                }
            }
        }
    }

    /// Writes all files of a commit.
    async fn write(
        &self,
        traces: &[Hashed],
        place: &Place,
        sources: &Arc<Sources>,
    ) -> Result<Commit, Failure> {
        let id = Uuid::new_v4();
        let mut commit = Commit::default();
        for written in self.write_tables(traces, sources)? {
            let table = written.table;
            let key = format!("data/{table}/{}{id}.parquet", self.folder);
            commit.files.push(upload(place, key, &written).await?);
        }
        for Hashed { trace, source, hash } in traces {
            if self.keep_raw {
                keep(source, hash, place).await?;
            }
            commit.traces.push(TraceEntry {
                hash: hash.clone(),
                path: trace.path.to_string_lossy().into_owned(),
                labels: trace.labels.iter().cloned().collect(),
            });
        }
        Ok(commit)
    }

    /// Writes tables on several threads. Tables without rows have no file.
    fn write_tables(
        &self,
        traces: &[Hashed],
        sources: &Arc<Sources>,
    ) -> Result<Vec<Written>, Failure> {
        let traces: Vec<_> = traces.iter().map(|hashed| Arc::clone(&hashed.trace)).collect();
        let written = in_parallel(self.tables, |table| {
            parquet::write(*table, &traces, sources, self.with_text)
        });
        let written: Vec<Option<Written>> = written.into_iter().collect::<Result<_, _>>()?;
        Ok(written.into_iter().flatten().collect())
    }
}

/// Opens traces and reads their hashes. If a trace cannot be read, adds a finding.
fn hashed(traces: Vec<Arc<TraceFile>>, sources: &Sources) -> Result<Vec<Hashed>, Failure> {
    let opened = in_parallel(&traces, |trace| {
        let Some(source) = sources.open(trace)? else { return Ok(None) };
        match source.hash() {
            Ok(hash) => Ok(Some(Hashed { trace: Arc::clone(trace), source, hash })),
            Err(error) => {
                sources.findings.fail(&trace.path, &Failure::from(error));
                Ok(None)
            }
        }
    });
    let opened: Vec<Option<Hashed>> = opened.into_iter().collect::<Result<_, Failure>>()?;
    Ok(opened.into_iter().flatten().collect())
}

/// Removes the traces that the lake already contains, and all but the first of equal traces.
fn take_new(traces: &mut Vec<Hashed>, lake: &Lake) {
    let mut seen: BTreeMap<String, String> = BTreeMap::new();
    traces.retain(|Hashed { trace, hash, .. }| {
        let path = shown_path(&trace.path).to_string();
        let known = lake.path_of(hash).or_else(|| seen.get(hash).map(String::as_str));
        match known {
            Some(known) => {
                print_message(&format!("note: {path}: not added: the lake has it as {known}"));
                false
            }
            None => {
                seen.insert(hash.clone(), path);
                true
            }
        }
    });
}

/// Uploads a file of a table, and returns its entry in the log.
pub(super) async fn upload(
    place: &Place,
    key: String,
    written: &Written,
) -> Result<DataFile, Failure> {
    put(place, &key, &written.file).await?;
    let columns = more_columns(written)?;
    let (table, rows, bytes) = (written.table.to_string(), written.rows, written.bytes);
    Ok(DataFile { table, key, rows, bytes, columns })
}

/// Returns the columns that some files of the table lack, with their types.
fn more_columns(written: &Written) -> Result<BTreeMap<String, String>, Failure> {
    let fixed = lake_fields(written.table);
    let is_fixed = |name: &str| fixed.iter().any(|field| field.name() == name);
    let more = written.schema.fields().iter().filter(|field| !is_fixed(field.name()));
    let more = more.map(|field| {
        let kind = Kind::of_data_type(field.data_type()).ok_or_else(|| {
            Failure::storage(format!("{}: unknown type {}", field.name(), field.data_type()))
        })?;
        Ok((field.name().clone(), kind.name().to_owned()))
    });
    more.collect()
}

/// Puts the files of a trace beside the tables.
async fn keep(source: &Source, hash: &str, place: &Place) -> Result<(), Failure> {
    for path in source.files() {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let file = File::open(path).map_err(|error| Failure::io(path, &error))?;
        put(place, &format!("raw/{hash}/{name}"), &file).await?;
    }
    Ok(())
}

/// Uploads a file to the storage, where it appears only when it is complete.
async fn put(place: &Place, key: &str, file: &File) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::storage(format!("{}/{key}: {error}", place.name));
    let store: Arc<dyn ObjectStore> = Arc::clone(&place.store);
    let mut to = BufWriter::new(store, Key::from(key));
    let mut from = tokio::fs::File::from_std(file.try_clone().map_err(failed)?);
    tokio::io::copy(&mut from, &mut to).await.map_err(failed)?;
    to.shutdown().await.map_err(failed)
}

/// Calls a function for each item, on as many threads as the machine has cores. The results are in
/// the order of the items.
fn in_parallel<T: Sync, R: Send>(items: &[T], each: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::new());
    let threads = thread::available_parallelism().map_or(1, usize::from).min(items.len());
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let index = next.fetch_add(1, Ordering::Relaxed)
                    && let Some(item) = items.get(index)
                {
                    let result = each(item);
                    let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
                    results.push((index, result));
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}
