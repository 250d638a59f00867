//! The file that is the memory of a recording's stream: made, locked, removed.
//!
//! `record` holds a lock of its file for as long as it lives, and the kernel releases the lock of a killed
//! process. So a later `record` finds the files that killed ones left, and removes them.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::OFlags;
use rustix::process::geteuid;
use tracewell_record::stream::{Stream, StreamOptions};

/// What the names of these files begin with.
const PREFIX: &str = "tracewell-record-";

/// The file of a stream; gone when this run is.
#[derive(Debug)]
pub(super) struct StreamFile {
    path: PathBuf,
    locked: File,
}

impl StreamFile {
    /// Makes a stream in a file of its own, and removes the files of recorders that were killed.
    ///
    /// # Errors
    /// The path, and why no stream can be made there.
    pub(super) fn create(options: &StreamOptions) -> Result<(Self, Stream), (PathBuf, io::Error)> {
        let shared = Path::new("/dev/shm");
        let folder = if shared.is_dir() { shared.to_owned() } else { std::env::temp_dir() };
        remove_left(&folder);
        loop {
            // A killed run may have left its file, and its number may come again.
            let start = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let (process, start) = (std::process::id(), start.as_nanos());
            let path = folder.join(format!("{PREFIX}{process}-{start:x}"));
            match Self::make(path.clone(), options) {
                Ok(Some(made)) => return Ok(made),
                // Another recorder removed it before it was locked.
                Ok(None) => {}
                Err(error) => return Err((path, error)),
            }
        }
    }

    fn make(path: PathBuf, options: &StreamOptions) -> io::Result<Option<(Self, Stream)>> {
        let stream = Stream::create(&path, options)?;
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

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for StreamFile {
    fn drop(&mut self) {
        // Nothing more can be done if it stays.
        let _ = fs::remove_file(&self.path);
    }
}

/// Removes the files of this user's recorders that no longer live.
fn remove_left(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(PREFIX) && is_left(&entry.path()) {
            // Another recorder may have been faster.
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn is_left(path: &Path) -> bool {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path);
    let Ok(file) = file else { return false };
    let own = |data: fs::Metadata| data.is_file() && data.uid() == geteuid().as_raw();
    file.metadata().is_ok_and(own) && file.try_lock().is_ok()
}
