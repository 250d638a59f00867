//! Opens traces that consist of several files in a folder.
//!
//! The format finds the files. This module maps large files and copies small files, and passes
//! their bytes to the decoder through [`Settings::files`].

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::content::{Content, RECOGNISED_BY};
use super::{Bytes, Input, InputError, Settings};
use crate::format::{self, Confidence, FORMATS, FolderFiles, Format, TraceFile};

/// Maximum length in bytes of a file that is copied. Larger files are mapped, but mapping a small
/// file costs more than copying it.
const MAX_READ: u64 = 64 * 1024;

/// The files of a trace in a folder.
#[derive(Debug, Default)]
pub(super) struct Members(Vec<(PathBuf, Arc<Bytes>)>);

impl Members {
    /// Returns the total size of all files in bytes, or `None` if the trace is a single file.
    pub(super) fn size(&self) -> Option<u64> {
        let sizes = self.0.iter().map(|(_, bytes)| bytes.len() as u64);
        (!self.0.is_empty()).then(|| sizes.sum())
    }

    /// Checks that no file was truncated during reading.
    pub(super) fn check(&self) -> Result<(), InputError> {
        let cut = self.0.iter().find_map(|(path, bytes)| Some((path, bytes, bytes.is_cut()?)));
        match cut {
            Some((path, bytes, length)) => Err(InputError::cut(path, bytes.len() as u64, length)),
            None => Ok(()),
        }
    }
}

/// The files of a trace, and its format.
pub(super) type Found = (&'static Format, FolderFiles);

/// Finds the files of the trace at a path. Returns `None` if the path is a single file with a whole
/// trace.
pub(super) fn find(path: &Path, settings: &Settings) -> Result<Option<Found>, InputError> {
    let is_folder = path.is_dir();
    for format in FORMATS {
        let named = settings.format.as_deref();
        let Some(files) = format.folder.filter(|_| named.is_none_or(|name| name == format.name))
        else {
            continue;
        };
        let Some(found) = files(path).transpose() else { continue };
        // Such a file is a complete trace, even if a file `metadata` is beside it. This test comes
        // last, because recognising a file takes longer than the tests above.
        if !is_folder && named.is_none() && is_certain(path, format) {
            continue;
        }
        return Ok(Some((format, found.map_err(|source| InputError::io(path, source))?)));
    }
    if is_folder {
        let message =
            "expected a trace, found a folder without a file `metadata` in it or below it";
        return Err(InputError::io(path, io::Error::other(message)));
    }
    Ok(None)
}

/// Returns the files of the trace at a path: the files in the folder, or only the path itself.
///
/// ```
/// use std::path::Path;
///
/// use tracewell::input::{Settings, paths};
///
/// let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/lttng"));
/// assert_eq!(paths(folder, &Settings::default()).len(), 5);
/// ```
pub fn paths(path: &Path, settings: &Settings) -> Vec<PathBuf> {
    match find(path, settings) {
        Ok(Some((_, found))) => found.files,
        _ => vec![path.to_owned()],
    }
}

/// Returns true if the first bytes of a file certainly belong to a format other than this one, or
/// if the path is not a readable regular file.
fn is_certain(path: &Path, format: &Format) -> bool {
    if !path.metadata().is_ok_and(|data| data.is_file()) {
        return true;
    }
    let mut start = Vec::new();
    let read =
        File::open(path).and_then(|file| file.take(RECOGNISED_BY as u64).read_to_end(&mut start));
    read.is_err()
        || format::recognise_with(&start, Confidence::Certain)
            .is_some_and(|found| found.name != format.name)
}

impl Input {
    /// Opens the files of a trace in a folder.
    pub(super) fn open_folder(
        path: &Path,
        (format, files): &Found,
        mut settings: Settings,
    ) -> Result<Self, InputError> {
        let mut members = Vec::new();
        for file in &files.files {
            let bytes = bytes(file).map_err(|source| InputError::io(file, source))?;
            members.push((file.clone(), Arc::new(bytes)));
        }
        let shared = members.iter().map(|(path, bytes)| {
            let bytes: Arc<dyn AsRef<[u8]> + Send + Sync> = bytes.clone();
            TraceFile::new(path.clone(), bytes)
        });
        settings.files = shared.collect();
        settings.format = Some(format.name.to_owned());
        let main = bytes(&files.main).map_err(|source| InputError::io(&files.main, source))?;
        let mut input = Self::recognise(path.to_owned(), Content::Whole(main), settings)?;
        input.members = Members(members);
        Ok(input)
    }
}

/// Returns the bytes of a file.
pub(super) fn bytes(path: &Path) -> io::Result<Bytes> {
    let mut file = File::open(path)?;
    if file.metadata()?.len() > MAX_READ {
        return Bytes::map(file).map(Bytes::close);
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(Bytes::Owned(bytes))
}
