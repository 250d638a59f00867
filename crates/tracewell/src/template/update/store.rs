//! Replaces files atomically: at any time, and after any interruption, either the old or the new
//! file exists.
//!
//! The new file is written next to the old file, flushed to disk, and renamed. After that the
//! directory is flushed. The undo file is complete before the template file changes, so a user can
//! undo an update as soon as it takes effect.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::compressed::lzw::{CompressError, compress, decompress, is_compressed};
use crate::text::shown_path;

/// A template file and its text.
#[derive(Clone, Debug)]
pub struct TemplateFile {
    /// The path that the caller gave.
    pub name: PathBuf,
    /// The path of the file, with links resolved.
    path: PathBuf,
    /// The content of the file, decompressed if the file is compressed.
    pub text: Vec<u8>,
    compressed: bool,
}

/// Error for a template file that cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Reading or writing failed.
    #[error("{}: {source}", shown_path(path))]
    Io {
        /// The path of the file.
        path: PathBuf,
        /// The error that the system returned.
        source: io::Error,
    },
    /// The file is compressed and damaged.
    #[error("{}: {source}", shown_path(path))]
    Compressed {
        /// The path of the file.
        path: PathBuf,
        /// The kind of damage.
        source: CompressError,
    },
}

fn io_error(path: &Path) -> impl FnOnce(io::Error) -> StoreError {
    |source| StoreError::Io { path: path.to_owned(), source }
}

/// Maximum length of a template file in bytes.
const MAX_LENGTH: u64 = 64 << 20;

/// Reads a file. Returns an error if the file is too long, because a device can deliver bytes
/// without end.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_LENGTH + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_LENGTH {
        let message = format!("expected at most {} MiB of templates", MAX_LENGTH >> 20);
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    }
    Ok(bytes)
}

/// The last completed step of replacing a file. The option `-v` prints it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// The new file exists next to the old file and is empty.
    Created,
    /// Half of the new file is written.
    HalfWritten,
    /// The whole new file is written.
    Written,
    /// The new file is on disk.
    Synced,
    /// The new file has the name of the old file.
    Renamed,
    /// The directory is also on disk.
    Done,
}

impl TemplateFile {
    /// Reads a template file, plain or compressed.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or decompressed.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let name = path.to_owned();
        // If the path is a link, replace the file that it refers to, not the link.
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

    /// Replaces the text. The file keeps its compression and its permissions.
    ///
    /// # Errors
    /// Returns an error in the same cases as the function [`replace`].
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

/// Creates or replaces a file.
///
/// # Errors
/// Returns an error if writing, renaming or flushing the new file fails. In that case the old file
/// is unchanged, and the new file is deleted. Also returns an error if flushing the directory
/// fails. In that case the new file has already replaced the old one.
pub fn replace(
    path: &Path,
    bytes: &[u8],
    step: &mut dyn FnMut(&Path, Step),
) -> Result<(), StoreError> {
    let partial = partial_path(path);
    let written = write_beside(path, &partial, bytes, step).and_then(|()| {
        fs::rename(&partial, path)?;
        step(path, Step::Renamed);
        // The rename changes the directory, which is flushed separately.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
        step(path, Step::Done);
        Ok(())
    });
    written.map_err(|source| {
        // Ignore an error here, because the first error is the one to report.
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
    // The name of this file contains the id of this process. If the file exists, an interrupted
    // process with the same id left it.
    let _ = fs::remove_file(partial);
    let mut file = OpenOptions::new().write(true).create_new(true).open(partial)?;
    // While the new file is still empty, give it the permissions of the old file.
    if let Ok(there) = fs::metadata(path) {
        file.set_permissions(there.permissions())?;
    }
    step(path, Step::Created);
    let (first, second) = bytes.split_at(bytes.len() / 2);
    file.write_all(first)?;
    step(path, Step::HalfWritten);
    file.write_all(second)?;
    step(path, Step::Written);
    // Flush before the rename, because otherwise the name could refer to an empty file after a
    // crash.
    file.sync_all()?;
    step(path, Step::Synced);
    Ok(())
}

fn partial_path(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.partial", std::process::id()));
    path.with_file_name(name)
}
