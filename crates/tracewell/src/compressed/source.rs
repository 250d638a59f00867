//! A reader that counts the compressed bytes, and the error of a decompressor that cannot continue.

use std::io::{self, BufRead, Read};

/// The reason why the compressed data cannot be read further.
#[derive(Debug)]
pub(super) enum Broken {
    /// Reading failed.
    Io(io::Error),
    /// The file ends inside a member or frame.
    Truncated,
    /// The bytes are not valid.
    Damaged(String),
    /// A member or frame was read to its end, but its checksum differs.
    Checksum,
}

impl From<io::Error> for Broken {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::Truncated,
            _ => Self::Io(error),
        }
    }
}

/// A reader that counts the consumed bytes. It also stores the error of the inner reader, and
/// whether the end was reached.
#[derive(Debug)]
pub(super) struct Source<R> {
    from: R,
    /// Number of bytes that were consumed.
    pub(super) offset: u64,
    /// True if a read reached the end of the file.
    pub(super) ended: bool,
    /// The error of the inner reader. A decompression library would replace it with an error of its
    /// own.
    pub(super) failed: Option<io::Error>,
}

impl<R> Source<R> {
    pub(super) fn new(from: R) -> Self {
        Self { from, offset: 0, ended: false, failed: None }
    }

    pub(super) fn get_mut(&mut self) -> &mut R {
        &mut self.from
    }
}

impl<R: BufRead> BufRead for Source<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        loop {
            match self.from.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    // The decompressor reports only that reading failed, so keep the reason.
                    self.failed = Some(io::Error::new(error.kind(), error.to_string()));
                    return Err(error);
                }
                Ok([]) => {
                    self.ended = true;
                    return Ok(&[]);
                }
                Ok(_) => break,
            }
        }
        // The buffer is filled, so this call does not read. The slice from the loop cannot be
        // returned, because its borrow would last beyond the loop.
        self.from.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.offset += count as u64;
        self.from.consume(count);
    }
}

impl<R: BufRead> Read for Source<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if into.is_empty() {
            return Ok(0);
        }
        let read = self.fill_buf()?.read(into)?;
        self.consume(read);
        Ok(read)
    }
}
