//! Merges small Parquet files of a lake into large ones, because each file costs a query some
//! requests. Each merge is a commit that replaces files. Their rows stay in the same order.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use datafusion::execution::context::SessionContext;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::SessionConfig;
use futures::TryStreamExt;
use object_store::path::Path as Key;
use tracewell_tables::{Table, UnknownTable};
use uuid::Uuid;

use super::batch::upload;
use super::parquet::Writer;
use crate::failure::Failure;
use crate::lake::{Appended, Commit, DataFile, Lake, Replaced, Stores, table_of_files};

/// Files from this size in bytes on stay as they are.
const LARGE: u64 = 32 << 20;

/// Maximum total size in bytes of the files that are merged into one.
const MAX_BYTES: u64 = 256 << 20;

/// Files of this size and smaller files count equally when [`small_files`] compares sizes.
const TINY: u64 = 1 << 20;

/// The numbers of files that were merged, and of files with their rows.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Merged {
    pub(super) from: usize,
    pub(super) to: usize,
}

/// Deletes the files that were replaced at least `kept_seconds` ago, and merges small files.
/// Several writers can do this at the same time.
pub(super) async fn merge(lake: &mut Lake, kept_seconds: u64) -> Result<Merged, Failure> {
    lake.refresh().await?;
    delete_replaced(lake, kept_seconds).await?;
    let mut merged = Merged::default();
    while let Some(files) = small_files(lake.all_files()) {
        let file = write(lake, &files).await?;
        let key = Key::from(file.key.as_str());
        let at = now();
        let replaced = files.iter().map(|file| Replaced { key: file.key.clone(), at });
        let replaced = replaced.collect();
        let commit = Commit { files: vec![file], replaced, ..Commit::default() };
        match lake.append(&commit).await? {
            Appended::Done => {
                merged.from += files.len();
                merged.to += 1;
                lake.compact_if_long().await?;
            }
            // Another writer merged some of the files.
            Appended::Conflict => lake.place.delete(&key).await?,
        }
    }
    Ok(merged)
}

async fn delete_replaced(lake: &mut Lake, kept_seconds: u64) -> Result<(), Failure> {
    let now = now();
    let is_old = |file: &&Replaced| file.at.saturating_add(kept_seconds) <= now;
    let deleted = lake.replaced().iter().filter(is_old).map(|file| file.key.clone());
    let deleted: Vec<String> = deleted.collect();
    for key in &deleted {
        lake.place.delete(&Key::from(key.as_str())).await?;
    }
    // If this program stops before it writes the commit, the next one deletes them again.
    if !deleted.is_empty() {
        lake.append(&Commit { deleted, ..Commit::default() }).await?;
    }
    Ok(())
}

/// Returns seconds since 1970.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

/// Returns the first small files that are worth merging: at least two of the same table and folder.
/// A file is not worth it if it is larger than all others together. So each row is rewritten only a
/// few times, even if every run adds a small file and merges.
fn small_files(files: &[DataFile]) -> Option<Vec<DataFile>> {
    let mut folders: BTreeMap<&str, (u64, Vec<&DataFile>)> = BTreeMap::new();
    for file in files.iter().filter(|file| file.bytes < LARGE) {
        let (bytes, found) = folders.entry(folder(file)).or_default();
        // A set that is full stays as it is until it is merged.
        if *bytes + file.bytes <= MAX_BYTES {
            *bytes += file.bytes;
            found.push(file);
        }
    }
    let mut sets = folders.into_values().map(|(_, found)| worthwhile(found));
    let found = sets.find(|found| found.len() > 1)?;
    Some(found.into_iter().cloned().collect())
}

/// Removes the files that are larger than all others together.
fn worthwhile(mut files: Vec<&DataFile>) -> Vec<&DataFile> {
    let size = |file: &DataFile| file.bytes.max(TINY);
    loop {
        let sum: u64 = files.iter().map(|file| size(file)).sum();
        match files.iter().position(|file| 2 * size(file) > sum) {
            Some(large) => files.remove(large),
            None => return files,
        };
    }
}

/// Returns the folder of a file: its table and the values of its labels.
fn folder(file: &DataFile) -> &str {
    file.key.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Writes the rows of files to a new file.
async fn write(lake: &Lake, files: &[DataFile]) -> Result<DataFile, Failure> {
    let Some(first) = files.first() else { return Err(Failure::storage("no files to merge")) };
    let table: Table =
        first.table.parse().map_err(|error: UnknownTable| Failure::damaged(error.to_string()))?;
    let provider = table_of_files(lake, table, files)?;
    let mut writer = Writer::new(table, provider.schema())?;
    // One part, so that the rows stay in order.
    let config = SessionConfig::new().with_target_partitions(1);
    let stores = Arc::new(Stores::default());
    let runtime = RuntimeEnvBuilder::new().with_object_store_registry(stores).build_arc()?;
    let context = SessionContext::new_with_config_rt(config, runtime);
    let mut rows = context.read_table(provider)?.execute_stream().await?;
    while let Some(batch) = rows.try_next().await? {
        writer.write(&batch)?;
    }
    let expected: u64 = files.iter().map(|file| file.rows).sum();
    match writer.finish()? {
        Some(written) if written.rows == expected => {
            let key = format!("{}/{}.parquet", folder(first), Uuid::new_v4());
            upload(&lake.place, key, &written).await
        }
        written => {
            let found = written.map_or(0, |written| written.rows);
            let message = format!("expected {expected} rows in its files, found {found}");
            Err(Failure::damaged(format!("{}/{}: {message}", lake.place.name, folder(first))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(key: &str, bytes: u64) -> DataFile {
        DataFile { key: key.to_owned(), bytes, ..DataFile::default() }
    }

    #[test]
    fn small_files_of_a_folder_are_merged() {
        let merged = |files: &[DataFile]| {
            let found = small_files(files)?;
            Some(found.into_iter().map(|file| file.key).collect::<Vec<_>>())
        };
        let files = [
            file("data/a/x=1/1.parquet", 1),
            file("data/a/x=2/2.parquet", 1),
            file("data/b/x=2/3.parquet", 1),
            file("data/b/x=2/4.parquet", LARGE),
        ];
        assert_eq!(merged(&files), None);
        let with = |bytes: u64| [&files[..], &[file("data/b/x=2/5.parquet", bytes)]].concat();
        let expected = ["data/b/x=2/3.parquet", "data/b/x=2/5.parquet"].map(str::to_owned);
        assert_eq!(merged(&with(TINY)), Some(expected.to_vec()));
        assert_eq!(merged(&with(TINY + 1)), None);
        let sizes = [8 * TINY, 3 * TINY, 5 * TINY, 20 * TINY];
        let names = ["1", "2", "3", "4"].map(|name| format!("data/a/{name}.parquet"));
        let files: Vec<_> = names.iter().zip(sizes).map(|(key, bytes)| file(key, bytes)).collect();
        assert_eq!(merged(&files), Some(names[..3].to_vec()));
        let many = vec![file("data/a/1.parquet", LARGE - 1); 20];
        assert_eq!(merged(&many).unwrap().len() as u64, MAX_BYTES / (LARGE - 1));
    }
}
