//! Creates a stream in a file that a previous run may have left: keeps the older streams under
//! numbered names, and never touches a stream that a live process uses.
//!
//! The new stream is complete before it gets its name, so no other process sees an incomplete
//! stream. The locks in `sys` show if a process uses a stream. A process that moves streams to
//! their next names holds a lock on the newest stream, so two processes never move files at the
//! same time.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::vec::Vec;
use std::{format, process};

use tracewell_wire::native::WORD;
use tracewell_wire::native::image::ImageHeader;

use super::named::at;
use super::stream::{Stream, StreamOptions};
use super::sys;

impl Stream {
    /// Creates a stream in a file. If an ended process left a stream there, this function renames
    /// it to `PATH.1`, an earlier `PATH.1` to `PATH.2`, and so on. After a crash, the next start of
    /// a program therefore leaves the events before the crash in `PATH.1`.
    ///
    /// The stream stops when the returned value is dropped, so that `tracewell info` can
    /// distinguish the end of the program from a crash. The stream does not stop if the value is
    /// dropped during a panic or in a forked child. If [`StreamOptions::inherited`] is set, it
    /// never stops in this way, because children may still record.
    ///
    /// At most `keep` older streams are kept; if there are more, the oldest is removed. If `keep`
    /// is 0, no older stream is kept. A process that is killed during this call leaves at most one
    /// temporary file, `PATH.PROCESS-NUMBER.partial`.
    ///
    /// # Errors
    /// Every error names the file. Returns an error
    ///
    /// * of the kind `ResourceBusy` if a live process uses the stream at `PATH`, or a stream that
    ///   would have to be renamed. A forked child uses the streams of its parent;
    /// * of the kind `AlreadyExists` if a file that would be renamed is not a stream;
    /// * if the folder does not exist or allows no change, if its file system has no hard links or
    ///   no locks, or if a size is out of range.
    ///
    /// ```
    /// use tracewell_record::stream::{Stream, StreamOptions};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("recorder");
    /// let options = StreamOptions::default();
    /// let first = Stream::create_or_rotate(&path, &options, 2)?;
    /// // The stream is in use, so it is not renamed.
    /// assert!(Stream::create_or_rotate(&path, &options, 2).is_err());
    /// drop(first);
    /// let _second = Stream::create_or_rotate(&path, &options, 2)?;
    /// assert!(folder.path().join("recorder.1").exists());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn create_or_rotate(path: &Path, options: &StreamOptions, keep: u32) -> io::Result<Self> {
        let partial = Partial(unused_name(path));
        let mut stream = Self::create_as(&partial.0, path, options)?;
        stream.stops_on_drop = !options.inherited;
        // A hard link fails if the name exists. So if several processes start at once, exactly one
        // of them gets the name.
        loop {
            match fs::hard_link(&partial.0, path) {
                Ok(()) => return Ok(stream),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => rotate(path, keep)?,
                Err(error) => return Err(at(path, error)),
            }
        }
    }
}

/// The temporary name of a stream. Dropping this value removes the name.
struct Partial(PathBuf);

impl Drop for Partial {
    fn drop(&mut self) {
        // If this fails, the file remains.
        let _ = fs::remove_file(&self.0);
    }
}

/// Returns a name in the same folder that no other starter (caller of `create_or_rotate`) uses.
fn unused_name(path: &Path) -> PathBuf {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    with_suffix(path, &format!(".{}-{number}.partial", process::id()))
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

/// Moves the stream at `path` and the older streams to their next names. Does nothing if another
/// starter has moved it in the meantime.
fn rotate(path: &Path, keep: u32) -> io::Result<()> {
    let Some(newest) = ended(path)? else { return Ok(()) };
    sys::lock_for_starter(&newest).map_err(|error| at(path, error))?;
    // Another starter may have moved the stream before this one got the lock. The caller tries
    // again.
    if !is_at(&newest, path) {
        return Ok(());
    }
    let numbered = |number: u32| with_suffix(path, &format!(".{number}"));
    // Rename the streams up to the first free name. If no name is free, remove the oldest stream.
    let mut moved = Vec::new();
    for number in 1..=keep {
        let name = numbered(number);
        if ended(&name)?.is_none() {
            break;
        }
        moved.push((name, numbered(number + 1)));
    }
    if moved.len() == keep as usize {
        moved.pop();
    }
    for (from, to) in moved.into_iter().rev() {
        fs::rename(&from, to).map_err(|error| at(&from, error))?;
    }
    let result = if keep == 0 { fs::remove_file(path) } else { fs::rename(path, numbered(1)) };
    result.map_err(|error| at(path, error))
}

/// Opens a file with a stream that no live process uses. Returns `None` if there is no file.
fn ended(path: &Path) -> io::Result<Option<File>> {
    let mut options = OpenOptions::new();
    // Exclusive locks need write access. Do not follow links, which could lead to the stream of
    // another program, and do not wait when opening a pipe.
    options.read(true).write(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let file = match options.open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(at(path, error)),
    };
    let Some(header) = header(&file).map_err(|error| at(path, error))? else {
        let reason = "exists and is not a stream, so no stream is created in its place";
        return Err(at(path, io::Error::new(io::ErrorKind::AlreadyExists, reason)));
    };
    if sys::is_recorded(&file).map_err(|error| at(path, error))? {
        let reason = format!(
            "a live process uses this stream, which process {} created; \
             stop it, or choose another path",
            header.process
        );
        return Err(at(path, io::Error::new(io::ErrorKind::ResourceBusy, reason)));
    }
    Ok(Some(file))
}

/// Returns the header of a stream, or `None` if the file contains none.
fn header(mut file: &File) -> io::Result<Option<ImageHeader>> {
    if !file.metadata()?.is_file() {
        return Ok(None);
    }
    let mut bytes = [0; ImageHeader::WORDS * WORD];
    match file.read_exact(&mut bytes) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        result => result?,
    }
    let mut words = [0; ImageHeader::WORDS];
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks::<WORD>().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    Ok(ImageHeader::of_words(&words).ok())
}

/// Returns true if this file has the name `path`.
fn is_at(file: &File, path: &Path) -> bool {
    let place = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    let (open, named) = (file.metadata().map(place), fs::symlink_metadata(path).map(place));
    matches!((open, named), (Ok(open), Ok(named)) if open == named)
}
