//! Creates, locks and removes the file that is mapped as a stream's memory.
//!
//! `record` holds a lock on its file while it runs, and the kernel releases the lock of a killed
//! process. Therefore a later `record` can find and remove the files of killed processes.

use std::error::Error;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::OFlags;
use rustix::process::geteuid;
use tracewell_record::stream::{Stream, StreamOptions};

/// Prefix of the names of these files.
const PREFIX: &str = "tracewell-record-";

/// The file of a stream, removed on drop.
#[derive(Debug)]
pub(super) struct StreamFile {
    path: PathBuf,
    locked: File,
}

impl StreamFile {
    /// Creates a stream in a new file, and removes the files of killed recorders.
    ///
    /// # Errors
    /// On failure, returns the path and the reason why no stream can be created there.
    pub(super) fn create(options: &StreamOptions) -> Result<(Self, Stream), (PathBuf, io::Error)> {
        let shared = Path::new("/dev/shm");
        let folder = if shared.is_dir() { shared.to_owned() } else { std::env::temp_dir() };
        Self::create_in(&folder, options)
    }

    fn create_in(
        folder: &Path,
        options: &StreamOptions,
    ) -> Result<(Self, Stream), (PathBuf, io::Error)> {
        remove_stale(folder);
        loop {
            let path = folder.join(unused_name());
            match Self::make(path.clone(), options) {
                Ok(Some(made)) => return Ok(made),
                // Another recorder removed the file before this process locked it.
                Ok(None) => {}
                // A process with the same id in another PID namespace took the name.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err((path, error)),
            }
        }
    }

    fn make(path: PathBuf, options: &StreamOptions) -> io::Result<Option<(Self, Stream)>> {
        let stream = Stream::create(&path, options).map_err(without_path)?;
        let locked = match File::open(&path) {
            Ok(locked) => locked,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let file = Self { path, locked };
        file.locked.lock()?;
        let there = file.locked.metadata()?.nlink() > 0;
        Ok(there.then_some((file, stream)))
    }

    /// Returns the path of the file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for StreamFile {
    fn drop(&mut self) {
        // If the removal fails, nothing more can be done.
        let _ = fs::remove_file(&self.path);
    }
}

/// Returns an error whose message does not contain the path, because the caller adds the path to
/// every error.
fn without_path(error: io::Error) -> io::Error {
    let reason = error.get_ref().and_then(Error::source).map(ToString::to_string);
    match reason {
        Some(reason) => io::Error::new(error.kind(), reason),
        None => error,
    }
}

/// Returns a name that no other stream of this process has had.
///
/// The time makes the name different from the names that a killed process with the same id used.
/// The number makes the name different from the names of this process's other streams. The time
/// alone would not be enough, because two readings of the clock can be equal.
fn unused_name() -> String {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    format!("{PREFIX}{}-{time:x}-{number}", std::process::id())
}

/// Removes the files of this user's recorders that have ended.
fn remove_stale(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(PREFIX) {
            remove_if_stale(&entry.path());
        }
    }
}

/// Removes the file if no recorder holds its lock.
///
/// A recorder creates its file first and locks it afterwards. If this function holds the lock
/// between these steps, the recorder waits, and then sees that its file no longer has a name.
/// Without the lock, a recorder could lock its file after the check, and this function would still
/// remove the file.
fn remove_if_stale(path: &Path) {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path);
    let Ok(file) = file else { return };
    let own = |data: fs::Metadata| data.is_file() && data.uid() == geteuid().as_raw();
    if file.metadata().is_ok_and(own) && file.try_lock().is_ok() {
        // Another recorder may have already removed it.
        let _ = fs::remove_file(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two readings of a clock can be equal, so the time alone does not make a name unique.
    #[test]
    fn names_differ_when_the_clock_stands_still() {
        let names: Vec<String> = (0..10_000).map(|_| unused_name()).collect();
        let distinct: std::collections::HashSet<&String> = names.iter().collect();
        assert_eq!(distinct.len(), names.len());
    }

    /// Other recorders start at any time, and each removes the files that seem abandoned.
    #[test]
    fn a_living_recorder_keeps_its_file_while_others_start() {
        let folder = tempfile::tempdir().unwrap();
        let options = StreamOptions { lanes: 1, ..StreamOptions::default() };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..100 {
                        let (file, _stream) =
                            StreamFile::create_in(folder.path(), &options).unwrap();
                        remove_stale(folder.path());
                        assert!(file.path().exists());
                    }
                });
            }
        });
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
