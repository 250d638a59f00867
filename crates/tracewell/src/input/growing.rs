//! Follows a trace that consists of several files in a folder, while another program writes them.
//!
//! Each reading takes a snapshot of the files. The decoder merges the streams of a snapshot, so two
//! rules keep the snapshot consistent although the files change during the reading:
//!
//! * A recorder completes a file of a stream before it begins the next file. So all files that are
//!   not empty are checked after the last file has been read, and are read again if they have
//!   changed. After that, a file is complete if a later file exists.
//! * A recorder can rename folders. During a renaming, a file may be found neither at its old nor
//!   at its new path. So if a known file is missing, this module discards the snapshot. It uses the
//!   next snapshot even if the file is still missing.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use super::folder::{self, bytes};
use super::{InputError, Reading, Settings, State};
use crate::format::{FORMATS, Format, TraceFile};
use crate::model::{Sink, Trace};

/// Maximum number of snapshots at the end of the reading. The reading ends earlier if no file has
/// changed since the previous snapshot.
const MAX_LAST: usize = 8;

/// A growing trace in a folder.
///
/// ```
/// use std::path::Path;
///
/// use tracewell::input::{Growing, Settings};
/// use tracewell::report::{Report, ReportOptions};
///
/// let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/lttng"));
/// let mut growing = Growing::open(folder, Settings::default())?.expect("a trace in a folder");
/// let mut report = Report::new(Vec::new(), ReportOptions::default());
/// assert!(growing.advance(&mut report)?.is_some());
/// // Nothing has changed since.
/// assert!(growing.advance(&mut report)?.is_none());
/// growing.end(&mut report)?;
/// assert_eq!(growing.trace().events, 205);
/// # Ok::<(), tracewell::input::InputError>(())
/// ```
#[derive(Debug)]
pub struct Growing {
    path: PathBuf,
    format: &'static Format,
    settings: Settings,
    reading: Reading,
    files: Vec<Seen>,
    /// True if a known file was missing in the latest snapshot.
    is_missing: bool,
}

/// A file of the latest snapshot.
#[derive(Clone, Debug)]
struct Seen {
    path: PathBuf,
    version: Version,
    file: TraceFile,
}

/// The size of a file and the time of its last change.
type Version = (u64, Option<SystemTime>);

impl Growing {
    /// Begins to follow the trace at a path. The path is the folder of the trace, which can still
    /// be empty, or a file in this folder. Returns `None` if the path is a trace in a single file.
    ///
    /// # Errors
    /// Returns an error if the path cannot be read, or if the settings do not fit the format.
    pub fn open(path: &Path, settings: Settings) -> Result<Option<Self>, InputError> {
        let named = settings.format.as_deref();
        let mut formats = FORMATS.iter().copied();
        let in_folder = formats
            .find(|format| format.folder.is_some() && named.is_none_or(|name| name == format.name));
        let format = match folder::find(path, &settings) {
            Ok(None) => return Ok(None),
            Ok(Some((format, _))) => format,
            // The recorder may write the file `metadata` later.
            Err(error) => match in_folder.filter(|_| path.is_dir()) {
                Some(format) => format,
                None => return Err(error),
            },
        };
        let reading = Reading::begin(format, &settings)?;
        let (path, files) = (path.to_owned(), Vec::new());
        Ok(Some(Self { path, format, settings, reading, files, is_missing: false }))
    }

    /// Returns the trace as far as it has been decoded.
    pub fn trace(&self) -> &Trace {
        self.reading.trace()
    }

    /// Ends the reading and returns the trace as far as it has been decoded.
    pub fn into_trace(self) -> Trace {
        self.reading.into_trace()
    }

    /// Decodes the data that was written since the last call. Returns `None` if no file has
    /// changed.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read or is not of the format.
    pub fn advance(&mut self, sink: &mut dyn Sink) -> Result<Option<State>, InputError> {
        match self.snapshot()? {
            true => self.decode(sink, false).map(Some),
            false => Ok(None),
        }
    }

    /// Decodes the rest of the files, including data that a reader can decode only at the end of a
    /// file.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read or is not of the format, or if there is no trace.
    pub fn end(&mut self, sink: &mut dyn Sink) -> Result<State, InputError> {
        for _ in 0..MAX_LAST {
            if !self.snapshot()? && !self.is_missing {
                break;
            }
        }
        if self.files.is_empty() {
            folder::find(&self.path, &self.settings)?;
        }
        self.decode(sink, true)
    }

    fn decode(&mut self, sink: &mut dyn Sink, last: bool) -> Result<State, InputError> {
        let files = self.files.iter().map(|seen| seen.file.clone()).collect();
        let state = self.reading.grow(files, sink, last);
        state.map_err(|error| InputError::read(&self.path, error))
    }

    /// Reads the files that have changed. Returns false if no file has changed, or if the files are
    /// being renamed.
    fn snapshot(&mut self) -> Result<bool, InputError> {
        let found = match self.format.folder.map(|find| find(&self.path)) {
            Some(Ok(Some(found))) => found.files,
            Some(Err(error)) if error.kind() != io::ErrorKind::NotFound => {
                return Err(InputError::io(&self.path, error));
            }
            // The folder itself may be missing during a renaming, so this is no error.
            _ => Vec::new(),
        };
        let paths: HashSet<&PathBuf> = found.iter().collect();
        let is_missing = !self.files.iter().all(|seen| paths.contains(&seen.path));
        // The second rule of the module: wait once before accepting that a file is missing.
        if is_missing && !self.is_missing {
            self.is_missing = true;
            return Ok(false);
        }
        self.is_missing = false;
        let known: HashMap<&PathBuf, &Seen> =
            self.files.iter().map(|seen| (&seen.path, seen)).collect();
        let files = found.iter().map(|path| {
            let version = version(path)?;
            // A file that did not change is not read again.
            let known = known.get(path).filter(|seen| seen.version == version);
            known.map_or_else(|| read(path), |seen| Ok((*seen).clone()))
        });
        let files = files.collect::<io::Result<Vec<_>>>();
        let again = files.and_then(|mut files| {
            // The first rule of the module: after all files have been read, check the non-empty
            // files again.
            for seen in files.iter_mut().filter(|seen| seen.version.0 > 0) {
                if version(&seen.path)? != seen.version {
                    *seen = read(&seen.path)?;
                }
            }
            Ok(files)
        });
        match again {
            Ok(files) => {
                let versions = |files: &[Seen]| -> Vec<_> {
                    files.iter().map(|seen| (seen.path.clone(), seen.version)).collect()
                };
                let has_changed = versions(&files) != versions(&self.files);
                self.files = files;
                Ok(has_changed)
            }
            // A file disappeared between the listing and the reading. Its folder is probably being
            // renamed.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.is_missing = true;
                Ok(false)
            }
            Err(error) => Err(InputError::io(&self.path, error)),
        }
    }
}

fn version(path: &Path) -> io::Result<Version> {
    let metadata = fs::metadata(path)?;
    Ok((metadata.len(), metadata.modified().ok()))
}

/// Reads a file. The version is read before the bytes: if the file changes in between, the next
/// call sees another version.
fn read(path: &Path) -> io::Result<Seen> {
    let version = version(path)?;
    let file = TraceFile::new(path.to_owned(), Arc::new(bytes(path)?));
    Ok(Seen { path: path.to_owned(), version, file })
}
