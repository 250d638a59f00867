//! A lake: traces as Parquet files in a folder or in object storage.
//!
//! ```text
//! LAKE/
//!   lake.json                      version of this layout and of the tables
//!   log/00000000000000000001.json  what the first commit changed; commits are never changed
//!   checkpoint/….json              the sum of all commits up to a number; replaces these commits
//!   data/events/firmware=1.2/….parquet
//!   raw/HASH/FILE                  the traces themselves, if they were kept
//! ```
//!
//! A writer first writes data under names that no other writer uses. Then it creates the next file
//! of the log. This step fails if the file exists. So of two writers, one succeeds, and the other
//! reads the new commit before it tries the next number. A file that no commit names is not part of
//! the lake, so a writer may stop at any time.
//!
//! A commit can also replace small files by a large one with the same rows. The small files are
//! deleted much later, because queries that began before read them.
//!
//! `place` finds the storage, `commit` is the content of a commit, `log` reads and appends commits,
//! `checkpoint` shortens the log, `table` makes the tables of a query, and `stores` finds the
//! storage of these tables.

mod checkpoint;
mod commit;
mod log;
mod place;
mod stores;
mod table;
#[cfg(test)]
mod tests;

use std::path::Path;

use crate::failure::Failure;

pub(crate) use commit::{Commit, DataFile, Replaced, TraceEntry};
pub(crate) use log::{Appended, Lake};
pub(crate) use place::{Place, is_url};
pub use stores::Stores;
pub(crate) use table::{LakeTables, Words, is_table_of_lake, table_of_files};
pub use table::{decode_table, encode_table};

/// Returns true for the address of object storage, and for a folder that is a lake.
pub(crate) fn is_lake(text: &str) -> bool {
    is_url(text) || Path::new(text).join(log::MARK).is_file()
}

/// Opens a lake to read it.
///
/// # Errors
///
/// Fails if the storage fails, or if it contains no lake.
pub(crate) async fn open(name: &str) -> Result<LakeTables, Failure> {
    match Lake::open(Place::find(name)?).await? {
        Some(lake) => Ok(LakeTables::new(lake)),
        None => {
            let message = format!("{name}: no lake: tracewell ingest makes one");
            Err(Failure::usage(message))
        }
    }
}
