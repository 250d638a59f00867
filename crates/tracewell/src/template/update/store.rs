//! Files that are replaced whole: whoever looks, at any moment and after any interruption, finds the
//! old file or the new one.
//!
//! A new file is written beside the old one, brought to the disk, and renamed over it; then the folder
//! is brought to the disk. The undo file is complete before the template file changes, so that an
//! update can be undone from the moment on when it is there.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::compress::{CompressError, compress, decompress, is_compressed};
use crate::text::shown_path;

/// A template file as it was found.
#[derive(Clone, Debug)]
pub struct TemplateFile {
    /// What it was asked for as.
    pub name: PathBuf,
    /// Where it is; links are followed.
    path: PathBuf,
    /// Its text, decompressed.
    pub text: Vec<u8>,
    compressed: bool,
}

/// A template file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Reading or writing failed.
    #[error("{}: {source}", shown_path(path))]
    Io {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is compressed and damaged.
    #[error("{}: {source}", shown_path(path))]
    Compressed {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: CompressError,
    },
}

fn io_error(path: &Path) -> impl FnOnce(io::Error) -> StoreError {
    |source| StoreError::Io { path: path.to_owned(), source }
}

/// Bytes of a template file, at most.
const MAX_LENGTH: u64 = 64 << 20;

/// Reads a file of limited length: a device may never end.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_LENGTH + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_LENGTH {
        let message = format!("expected at most {} MiB of templates", MAX_LENGTH >> 20);
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    }
    Ok(bytes)
}

/// What was just done; `-v` shows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// The new file is there, empty, beside the old one.
    Created,
    /// Half of it is written.
    HalfWritten,
    /// All of it is written.
    Written,
    /// It is on the disk.
    Synced,
    /// It has the name of the old one.
    Renamed,
    /// The folder is on the disk, too.
    Done,
}

impl TemplateFile {
    /// Reads a template file, plain or compressed.
    ///
    /// # Errors
    /// Where it cannot be read or decompressed.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let name = path.to_owned();
        let path = fs::canonicalize(path).map_err(io_error(path))?;
        let bytes = read(&path).map_err(io_error(&path))?;
        let compressed = is_compressed(&bytes);
        let text = if compressed {
            let error = |source| StoreError::Compressed { path: path.clone(), source };
            decompress(&bytes).map_err(error)?
        } else {
            bytes
        };
        Ok(Self { name, path, text, compressed })
    }

    /// Puts a new text in its place, compressed as it was, with the same permissions.
    ///
    /// # Errors
    /// Where writing fails; the old file is there then.
    pub fn replace(
        &self,
        text: &[u8],
        step: &mut dyn FnMut(&Path, Step),
    ) -> Result<(), StoreError> {
        if self.compressed {
            replace(&self.path, &compress(text), step)
        } else {
            replace(&self.path, text, step)
        }
    }
}

/// Puts a file in the place of the one that is there, or of none.
///
/// # Errors
/// Where writing fails; what was there is there then, and nothing is left beside it.
pub fn replace(
    path: &Path,
    bytes: &[u8],
    step: &mut dyn FnMut(&Path, Step),
) -> Result<(), StoreError> {
    let partial = partial_path(path);
    let written = write_beside(path, &partial, bytes, step).and_then(|()| {
        fs::rename(&partial, path)?;
        step(path, Step::Renamed);
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
        step(path, Step::Done);
        Ok(())
    });
    written.map_err(|source| {
        // Nothing more can be done where even this fails.
        let _ = fs::remove_file(&partial);
        io_error(path)(source)
    })
}

fn write_beside(
    path: &Path,
    partial: &Path,
    bytes: &[u8],
    step: &mut dyn FnMut(&Path, Step),
) -> io::Result<()> {
    // What an interrupted run left; its number is that of a process that is gone.
    let _ = fs::remove_file(partial);
    let mut file = OpenOptions::new().write(true).create_new(true).open(partial)?;
    if let Ok(there) = fs::metadata(path) {
        file.set_permissions(there.permissions())?;
    }
    step(path, Step::Created);
    let (first, second) = bytes.split_at(bytes.len() / 2);
    file.write_all(first)?;
    step(path, Step::HalfWritten);
    file.write_all(second)?;
    step(path, Step::Written);
    file.sync_all()?;
    step(path, Step::Synced);
    Ok(())
}

fn partial_path(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.partial", std::process::id()));
    path.with_file_name(name)
}
