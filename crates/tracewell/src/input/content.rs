//! The bytes of an input: a file in memory, a stream, or a compressed file.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::error::InputError;
use super::incoming::Incoming;
use super::map::Bytes;
use crate::compressed::Compression;
use crate::compressed::reader::{Decompressor, Fault};
use crate::format::{self, Confidence, FORMATS};
use crate::model::{Diagnostics, Severity};

/// Number of bytes at the start of an input that are used to recognise its format.
pub const RECOGNISED_BY: usize = 64 * 1024;

/// Maximum length in bytes of a decompressed text that encodes a memory image. A file of a few
/// kilobytes can expand to any size.
const MAX_TEXT: u64 = 256 << 20;

/// The bytes of an input.
pub(super) enum Content {
    /// All bytes, in memory.
    Whole(Bytes),
    /// A stream, which can be read only once. `start` contains the bytes that have been read, and
    /// `rest` reads the others.
    Stream { start: Vec<u8>, rest: Rest },
    /// A compressed file, with its first decompressed bytes. Each reading decompresses the file
    /// again.
    Compressed { start: Vec<u8>, compression: Compression, file: Bytes },
}

/// The bytes of a stream that have not been read yet.
pub(super) enum Rest {
    Plain(Incoming),
    Compressed(Box<Decompressor<Replayed>>),
}

/// A compressed stream. The first bytes of this stream were read to recognise the format, and this
/// reader returns them again.
type Replayed = BufReader<io::Chain<Cursor<Vec<u8>>, Incoming>>;

/// A reader that may find faults in the compressed data that it decompresses.
pub(super) trait Faulty: Read {
    /// Returns the faults that were found since the last call.
    fn faults(&mut self) -> Vec<Fault>;
}

impl std::fmt::Debug for Content {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Whole(bytes) => write!(f, "Whole({} bytes)", bytes.len()),
            Self::Stream { start, .. } => write!(f, "Stream({} bytes so far)", start.len()),
            Self::Compressed { file, .. } => write!(f, "Compressed({} bytes)", file.len()),
        }
    }
}

impl Content {
    /// Returns the first bytes, at most [`RECOGNISED_BY`].
    pub(super) fn start(&self) -> &[u8] {
        match self {
            Self::Whole(bytes) => bytes.get(..RECOGNISED_BY).unwrap_or(bytes),
            Self::Stream { start, .. } | Self::Compressed { start, .. } => start,
        }
    }

    /// Reads the input to its end. Adds faults of compressed data to the remarks.
    pub(super) fn into_bytes(
        self,
        path: &Path,
        remarks: &mut Diagnostics,
    ) -> Result<Bytes, InputError> {
        let bytes = match self {
            Self::Whole(bytes) => return Ok(bytes),
            Self::Stream { start, rest: Rest::Plain(mut rest) } => {
                let mut bytes = start;
                rest.read_to_end(&mut bytes).map(|_| bytes)
            }
            Self::Stream { start, rest: Rest::Compressed(mut rest) } => {
                whole(start, &mut rest, remarks)
            }
            Self::Compressed { compression, file, .. } => {
                let mut reader = Decompressor::new(compression, &*file);
                whole(Vec::new(), &mut reader, remarks)
            }
        };
        bytes.map(Bytes::Owned).map_err(|source| InputError::io(path, source))
    }
}

/// Reads decompressed bytes to their end, up to [`MAX_TEXT`].
fn whole(
    mut bytes: Vec<u8>,
    reader: &mut impl Faulty,
    remarks: &mut Diagnostics,
) -> io::Result<Vec<u8>> {
    reader.by_ref().take(MAX_TEXT).read_to_end(&mut bytes)?;
    // A small compressed file can have an enormous content, so limit it.
    if bytes.len() as u64 >= MAX_TEXT {
        let message = format!("more than {} MiB when decompressed", MAX_TEXT >> 20);
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    }
    for fault in reader.faults() {
        remarks.add(Severity::Damage, bytes.len() as u64, fault.to_string());
    }
    Ok(bytes)
}

impl Rest {
    /// Ends the stream when the flag is set.
    pub(super) fn end_with(&mut self, flag: Arc<AtomicBool>) {
        match self {
            Self::Plain(rest) => rest.end_with(flag),
            Self::Compressed(rest) => rest.get_mut().get_mut().get_mut().1.end_with(flag),
        }
    }
}

impl Read for Rest {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(rest) => rest.read(buffer),
            Self::Compressed(rest) => rest.read(buffer),
        }
    }
}

impl Faulty for Rest {
    fn faults(&mut self) -> Vec<Fault> {
        match self {
            Self::Plain(_) => Vec::new(),
            Self::Compressed(rest) => rest.faults(),
        }
    }
}

impl<R: io::BufRead> Faulty for Decompressor<R> {
    fn faults(&mut self) -> Vec<Fault> {
        Decompressor::faults(self)
    }
}

impl<F: Faulty> Faulty for Box<F> {
    fn faults(&mut self) -> Vec<Fault> {
        F::faults(self)
    }
}

/// Opens a file: maps a regular file, and begins to read any other kind of file.
pub(super) fn open(path: &Path) -> io::Result<Content> {
    let mut file = File::open(path)?;
    let kind = file.metadata()?.file_type();
    if kind.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !kind.is_file() {
        return stream(Incoming::of_file(file));
    }
    // The memory of a live stream changes while it is decoded, so it is copied instead of mapped.
    for snapshot in FORMATS.iter().filter_map(|format| format.snapshot) {
        if let Some(bytes) = snapshot(path, &file)? {
            return Ok(Content::Whole(Bytes::Owned(bytes)));
        }
    }
    if file.metadata()?.len() > 0 {
        return Ok(Content::Whole(Bytes::map(file)?));
    }
    // Files that the system generates while they are read (`/proc`) report a length of 0, as empty
    // files do.
    file.rewind()?;
    match stream(Incoming::of_file(file))? {
        Content::Stream { start, .. } if start.is_empty() => {
            Ok(Content::Whole(Bytes::Owned(start)))
        }
        stream => Ok(stream),
    }
}

/// Begins to read a stream.
pub(super) fn stream(mut rest: Incoming) -> io::Result<Content> {
    let is_known = |start: &[u8]| {
        Compression::recognise(start).is_some()
            || format::recognise_with(start, Confidence::Certain).is_some()
    };
    let start = first(&mut rest, is_known)?;
    Ok(Content::Stream { start, rest: Rest::Plain(rest) })
}

/// Reads the start of a stream. Stops when `is_known` returns true for the bytes, after
/// [`RECOGNISED_BY`] bytes, or at the end of the stream. A live stream may send nothing for a long
/// time, so this function does not wait for bytes that it does not need.
pub(super) fn first(rest: &mut impl Read, is_known: fn(&[u8]) -> bool) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    while start.len() < RECOGNISED_BY && !is_known(&start) {
        let before = start.len();
        // Read directly into the vector, and truncate it to the bytes that arrived.
        start.resize(RECOGNISED_BY, 0);
        let read = match rest.read(&mut start[before..]) {
            // A signal is not the end of the stream.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(None),
            read => read.map(Some),
        };
        start.truncate(before + read.as_ref().map_or(0, |read| read.unwrap_or(0)));
        if read? == Some(0) {
            break;
        }
    }
    Ok(start)
}
