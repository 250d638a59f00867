//! Decompresses gzip and zstd files while they are read.
//!
//! A gzip file needs 32 KiB of memory. A zstd file needs the window of a frame, which has at most
//! 128 MiB.

use std::fmt;
use std::io::{self, BufRead, Read};

use super::Compression;
use super::gzip::Members;
use super::source::{Broken, Source};
use super::zstd::Frames;

/// Number of faults after which the rest of a file is not read.
const MAX_FAULTS: usize = 100;

/// A position in a compressed file at which data is damaged or missing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// Offset in the compressed file, in bytes.
    pub offset: u64,
    /// True if the file ends in the middle of its data.
    pub is_truncated: bool,
    /// Number of bytes in the file that were not read because of this fault.
    pub unread: u64,
    compression: Compression,
    message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { offset, message, .. } = self;
        write!(f, "{} data at byte {offset} of the file: {message}", self.compression.name())?;
        match self.unread {
            0 => Ok(()),
            1 => write!(f, "; the last byte of the file was not read"),
            unread => write!(f, "; the last {unread} bytes of the file were not read"),
        }
    }
}

enum Decoder {
    Gzip(Members),
    Zstd(Box<Frames>),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The position is before a member or frame.
    Between,
    /// The position is within a member or frame.
    Inside,
    /// No more bytes follow.
    Ended,
}

/// A reader that decompresses the bytes of another reader.
///
/// If the data is damaged or truncated, the reader delivers the bytes before the fault and then
/// ends. If only a checksum is wrong, the reader continues with the next member or frame.
/// [`Decompressor::faults`] returns the faults.
///
/// ```
/// use std::io::Read;
///
/// use tracewell::compressed::Compression;
/// use tracewell::compressed::reader::Decompressor;
///
/// // "abc", compressed by gzip, without its last byte.
/// let file = b"\x1F\x8B\x08\0\0\0\0\0\0\x03KLJ\x06\0\xC2A\x245\x03\0\0";
/// let mut reader = Decompressor::new(Compression::Gzip, file.as_slice());
/// let mut text = String::new();
/// reader.read_to_string(&mut text)?;
/// assert_eq!(text, "abc");
/// let [fault] = &reader.faults()[..] else { panic!("one fault") };
/// assert_eq!((fault.offset, fault.is_truncated), (22, true));
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Decompressor<R> {
    compression: Compression,
    decoder: Decoder,
    source: Source<R>,
    stage: Stage,
    faults: Vec<Fault>,
    /// Number of faults so far, including those that [`Decompressor::faults`] has already returned.
    found: usize,
}

impl<R> fmt::Debug for Decompressor<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { compression, faults, .. } = self;
        f.debug_struct("Decompressor")
            .field("compression", compression)
            .field("faults", faults)
            .finish_non_exhaustive()
    }
}

impl<R> Decompressor<R> {
    /// Returns a reader that decompresses the bytes of `from`.
    pub fn new(compression: Compression, from: R) -> Self {
        let decoder = match compression {
            Compression::Gzip => Decoder::Gzip(Members::new()),
            Compression::Zstd => Decoder::Zstd(Box::new(Frames::new())),
        };
        let source = Source::new(from);
        Self { compression, decoder, source, stage: Stage::Between, faults: Vec::new(), found: 0 }
    }

    /// Returns the faults that were found since the last call.
    pub fn faults(&mut self) -> Vec<Fault> {
        std::mem::take(&mut self.faults)
    }

    /// Returns the reader of the compressed bytes.
    pub fn get_mut(&mut self) -> &mut R {
        self.source.get_mut()
    }
}

impl<R: BufRead> Decompressor<R> {
    /// Decompresses into `into`. Returns the number of bytes, which is 0 before the first and after
    /// the last byte of a member or frame.
    fn step(&mut self, into: &mut [u8]) -> Result<usize, Broken> {
        let source = &mut self.source;
        if self.stage == Stage::Between {
            let begins = match &mut self.decoder {
                Decoder::Gzip(members) => members.begin(source)?,
                Decoder::Zstd(frames) => frames.begin(source)?,
            };
            self.stage = if begins { Stage::Inside } else { Stage::Ended };
            return Ok(0);
        }
        let read = match &mut self.decoder {
            Decoder::Gzip(members) => members.read(source, into)?,
            Decoder::Zstd(frames) => frames.read(source, into)?,
        };
        if read == 0 {
            self.stage = Stage::Between;
        }
        Ok(read)
    }

    /// Stores a fault. After a wrong checksum, reading continues with the next member or frame.
    fn note(&mut self, broken: Broken) -> io::Result<()> {
        let offset = self.source.offset;
        let is_truncated = matches!(broken, Broken::Truncated);
        let continues = matches!(broken, Broken::Checksum);
        let message = match broken {
            Broken::Io(error) => return Err(error),
            Broken::Truncated => "the file ends in the middle of its data".to_owned(),
            Broken::Damaged(message) => message,
            Broken::Checksum => "the checksum before this byte does not match its data".to_owned(),
        };
        self.found += 1;
        let ends = !continues || self.found >= MAX_FAULTS;
        // Read and count the remaining bytes. If the input is a pipe, its writer can then finish.
        let unread = if ends { io::copy(&mut self.source, &mut io::sink())? } else { 0 };
        self.stage = if ends { Stage::Ended } else { Stage::Between };
        let compression = self.compression;
        self.faults.push(Fault { offset, is_truncated, unread, compression, message });
        Ok(())
    }
}

impl<R: BufRead> Read for Decompressor<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if into.is_empty() {
            return Ok(0);
        }
        while self.stage != Stage::Ended {
            match self.step(into) {
                Ok(0) => {}
                Ok(read) => return Ok(read),
                Err(broken) => self.note(broken)?,
            }
        }
        Ok(0)
    }
}
