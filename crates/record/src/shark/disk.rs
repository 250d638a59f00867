//! Writes chunks to files, one file per chunk.

use std::borrow::ToOwned;
use std::ffi::OsString;
use std::format;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::{Dump, Sender};

/// Writes chunks to files `0NAME`, `1NAME`, … in the order in which they are sent.
///
/// A file gets this name only after the whole file is on the disk. Until then its name is
/// `.0NAME.partial`, in the same folder. If writing fails, the file is removed. (The kernel writes
/// its files at shutdown. With n chunks, it writes all n files n times.)
#[derive(Debug)]
pub struct DiskWriter {
    folder: PathBuf,
    name: OsString,
    sent: u64,
}

impl DiskWriter {
    /// Maximum length of a file name in common file systems, in bytes, including the number.
    const MAX_LEN: usize = 255;
    /// Maximum number of bytes that `.0NAME.partial` adds to NAME: the number, `.` and `.partial`.
    const ADDED: usize = 20 + ".partial".len() + 1;

    /// Creates a writer for files in the parent folder of `path`. Their names end with the file
    /// name of `path`.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidInput`] if the path has no file name, or a file name of more than
    /// 226 bytes; [`io::ErrorKind::NotADirectory`] if the parent of `path` is not a folder.
    pub fn new(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref();
        let invalid = |message| io::Error::new(io::ErrorKind::InvalidInput, message);
        let name = path.file_name().ok_or_else(|| invalid("the path has no file name"))?;
        if name.len() > Self::MAX_LEN - Self::ADDED {
            return Err(invalid("the file name is too long"));
        }
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let folder = parent.unwrap_or(Path::new(".")).to_owned();
        if !fs::metadata(&folder)?.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok(Self { folder, name: name.to_owned(), sent: 0 })
    }

    /// Returns the path of the next chunk's file.
    pub fn next_path(&self) -> PathBuf {
        let mut name = OsString::from(format!("{}", self.sent));
        name.push(&self.name);
        self.folder.join(name)
    }

    fn partial_path(&self) -> PathBuf {
        let mut name = OsString::from(format!(".{}", self.sent));
        name.push(&self.name);
        name.push(".partial");
        self.folder.join(name)
    }

    /// Writes a chunk's records to `to` and returns their number.
    ///
    /// # Errors
    /// Returns the errors of the writer. It may already have written some records.
    pub fn write(dump: &Dump<'_>, to: &mut impl Write) -> io::Result<u64> {
        let mut records = 0;
        for record in dump.records() {
            to.write_all(&record.to_bytes())?;
            records += 1;
        }
        Ok(records)
    }
}

impl Sender for DiskWriter {
    type Error = io::Error;

    /// Writes the next file. After a failure, the next call uses the same name again.
    fn send(&mut self, dump: &Dump<'_>) -> io::Result<()> {
        let partial = self.partial_path();
        let written = write_through(&partial, dump);
        let placed = written.and_then(|()| fs::rename(&partial, self.next_path()));
        if placed.is_err() {
            // Report the first error, even if removing the file also fails.
            let _ = fs::remove_file(&partial);
            return placed;
        }
        self.sent += 1;
        // Synchronise the folder, so that the name is on the disk. Some systems cannot synchronise
        // folders; ignore this, because the file itself is complete.
        File::open(&self.folder).and_then(|folder| folder.sync_all()).or(Ok(()))
    }
}

fn write_through(path: &Path, dump: &Dump<'_>) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    DiskWriter::write(dump, &mut file)?;
    file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
}
