//! Where lines go: a buffer in front of a writer.

use std::io::{self, Write};

use super::TextBuffer;

/// Bytes that are collected before they are written.
const ENOUGH: usize = 64 * 1024;

/// A buffer of text in front of a writer. The first error is kept and given back at the end.
#[derive(Debug)]
pub struct LineWriter<W> {
    writer: W,
    buffer: TextBuffer,
    error: Option<io::Error>,
}

impl<W: Write> LineWriter<W> {
    /// Puts a buffer in front of a writer.
    pub fn new(writer: W) -> Self {
        Self { writer, buffer: TextBuffer::default(), error: None }
    }

    /// The buffer to append to. Call [`LineWriter::line_end`] after each line.
    #[inline]
    pub fn buffer(&mut self) -> &mut TextBuffer {
        &mut self.buffer
    }

    /// Ends a line; false when writing has failed and nothing more is wanted.
    #[inline]
    pub fn line_end(&mut self) -> bool {
        self.buffer.byte(b'\n');
        self.buffer.len() < ENOUGH || self.flush()
    }

    /// Writes whole lines behind what has been collected; false when writing has failed and nothing
    /// more is wanted.
    pub fn block(&mut self, lines: &[u8]) -> bool {
        if lines.len() < ENOUGH {
            self.buffer.text(lines);
            return self.full();
        }
        if self.flush()
            && let Err(error) = self.writer.write_all(lines)
        {
            self.error = Some(error);
        }
        self.error.is_none()
    }

    /// Writes what has been collected, if it is enough; false when writing has failed.
    #[inline]
    pub fn full(&mut self) -> bool {
        self.buffer.len() < ENOUGH || self.flush()
    }

    /// Gives everything out at once, for somebody who watches.
    ///
    /// # Errors
    /// Where writing has failed; [`LineWriter::finish`] gives the error itself.
    pub fn show(&mut self) -> io::Result<()> {
        if !self.buffer.is_empty() {
            self.flush();
        }
        match &self.error {
            Some(error) => Err(error.kind().into()),
            None => self.writer.flush(),
        }
    }

    fn flush(&mut self) -> bool {
        if self.error.is_none()
            && let Err(error) = self.writer.write_all(self.buffer.as_bytes())
        {
            self.error = Some(error);
        }
        self.buffer.truncate(0);
        self.error.is_none()
    }

    /// Writes what is left and gives the writer back.
    ///
    /// # Errors
    /// The first error of the writer, whenever it came.
    pub fn finish(mut self) -> io::Result<W> {
        self.flush();
        match self.error {
            Some(error) => Err(error),
            None => self.writer.flush().map(|()| self.writer),
        }
    }
}
