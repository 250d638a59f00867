//! Sending chunks to files, one each.

use std::borrow::ToOwned;
use std::ffi::OsString;
use std::format;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::{Dump, Sender};

/// Writes chunks to files `0NAME`, `1NAME`, … in the order in which they are sent.
///
/// A file appears under its name when all of it is on the disk; until then it is `.NAME.partial` beside
/// that, which a failure removes. (The kernel writes at its end, each file as often as there are chunks.)
#[derive(Debug)]
pub struct DiskWriter {
    folder: PathBuf,
    name: OsString,
    sent: u64,
}

impl DiskWriter {
    /// The most bytes of a file name, digits and all: what common file systems take.
    const LONGEST: usize = 255;
    /// What a number and the name of an unfinished file add to a name at most.
    const ADDED: usize = 20 + ".partial".len() + 1;

    /// Writes files whose names end like `path` does, in its folder.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidInput`] where the path has no file name, or too long a one (more than
    /// 226 bytes); [`io::ErrorKind::NotADirectory`] where its folder is none.
    pub fn new(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref();
        let invalid = |message| io::Error::new(io::ErrorKind::InvalidInput, message);
        let name = path.file_name().ok_or_else(|| invalid("the path has no file name"))?;
        if name.len() > Self::LONGEST - Self::ADDED {
            return Err(invalid("the file name is too long"));
        }
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let folder = parent.unwrap_or(Path::new(".")).to_owned();
        if !fs::metadata(&folder)?.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok(Self { folder, name: name.to_owned(), sent: 0 })
    }

    /// The file that the next chunk goes to.
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

    /// Writes a chunk's records to any writer; how many.
    ///
    /// # Errors
    /// Of the writer; what it took before stays there.
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

    /// Writes the next file. After a failure the next chunk, or the same again, gets the same name.
    fn send(&mut self, dump: &Dump<'_>) -> io::Result<()> {
        let partial = self.partial_path();
        let written = write_through(&partial, dump);
        let placed = written.and_then(|()| fs::rename(&partial, self.next_path()));
        if placed.is_err() {
            // Nothing more can be done where even this fails.
            let _ = fs::remove_file(&partial);
            return placed;
        }
        self.sent += 1;
        // The name is on the disk when its folder is; where folders cannot be synced there is no more to do.
        File::open(&self.folder).and_then(|folder| folder.sync_all()).or(Ok(()))
    }
}

fn write_through(path: &Path, dump: &Dump<'_>) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    DiskWriter::write(dump, &mut file)?;
    file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
}
