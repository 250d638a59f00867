//! Checkpoints of a lake: the sum of all commits up to a number, in one object. A reader reads this
//! object instead of the many small commits, which are then deleted.
//!
//! If a writer creates a commit under the number of a deleted commit, the new commit is not part of
//! the lake. So a program that lists or creates commits looks for a newer checkpoint afterwards. A
//! checkpoint exists before its commits are deleted. So if there is no newer checkpoint, the
//! program has missed no deleted commit. If there is one, the program starts again from it.
//!
//! The content of a checkpoint depends only on its number. So either of two writers may create it,
//! and a writer may stop at any time.

use object_store::path::Path as Key;

use super::commit::Commit;
use super::log::{self, create, key_of, number_of};
use super::{Lake, Place};
use crate::failure::Failure;

/// Folder of the checkpoints.
const FOLDER: &str = "checkpoint";

/// After this number of commits since the last checkpoint, a writer creates a new one.
const MAX_COMMITS: u64 = 64;

/// Number of checkpoints that are kept. A program that lists checkpoints while others create and
/// delete them still finds one of the two newest.
const KEPT: usize = 2;

/// Returns the number of the newest checkpoint, or 0 if there is none.
pub(super) async fn newest(place: &Place) -> Result<u64, Failure> {
    let keys = place.list(&Key::from(FOLDER), None).await?;
    Ok(keys.iter().filter_map(number_of).max().unwrap_or(0))
}

/// Returns the content of a checkpoint, or `None` if newer checkpoints replaced it.
pub(super) async fn read(place: &Place, number: u64) -> Result<Option<Commit>, Failure> {
    log::read(place, &key_of(FOLDER, number), "checkpoint").await
}

impl Lake {
    /// Replaces the commits of the log by a checkpoint if there are many.
    pub(crate) async fn compact_if_long(&mut self) -> Result<(), Failure> {
        match self.commits_after_checkpoint() >= MAX_COMMITS {
            true => self.compact().await,
            false => Ok(()),
        }
    }

    /// Replaces all commits of the log by a checkpoint.
    pub(crate) async fn compact(&mut self) -> Result<(), Failure> {
        self.refresh().await?;
        let number = self.last();
        if self.commits_after_checkpoint() > 0 {
            create(&self.place, &key_of(FOLDER, number), self.content()).await?;
            self.set_checkpoint(number);
        }
        self.remove_replaced(number).await
    }

    /// Deletes the commits that are in a checkpoint, and old checkpoints. This also completes the
    /// deletions of a writer that stopped halfway.
    async fn remove_replaced(&self, number: u64) -> Result<(), Failure> {
        for key in self.place.list(&Key::from(log::FOLDER), None).await? {
            if number_of(&key).is_some_and(|found| found <= number) {
                self.place.delete(&key).await?;
            }
        }
        let mut checkpoints = self.place.list(&Key::from(FOLDER), None).await?;
        checkpoints.retain(|key| number_of(key).is_some_and(|found| found <= number));
        for key in checkpoints.iter().rev().skip(KEPT) {
            self.place.delete(key).await?;
        }
        Ok(())
    }
}
