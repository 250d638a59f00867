//! Buffers lines before they are written.

use std::io::{self, Write};

use super::TextBuffer;

/// Number of bytes that are buffered before they are written.
const BUFFER_BYTES: usize = 64 * 1024;

/// Buffers lines and writes them in blocks.
///
/// ```
/// use tracewell::text::LineWriter;
///
/// let mut lines = LineWriter::new(Vec::new());
/// lines.buffer().text("tick ");
/// lines.buffer().decimal(7);
/// lines.line_end()?;
/// assert_eq!(lines.into_inner()?, b"tick 7\n");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct LineWriter<W> {
    writer: W,
    buffer: TextBuffer,
    /// Number of bytes that are buffered before they are written.
    limit: usize,
}

impl LineWriter<io::Sink> {
    /// Returns a buffer of any size, whose lines the caller takes with [`LineWriter::swap`].
    pub(crate) fn gathering() -> Self {
        Self { writer: io::sink(), buffer: TextBuffer::default(), limit: usize::MAX }
    }

    /// Exchanges the buffered lines for those of another buffer.
    pub(crate) fn swap(&mut self, text: &mut TextBuffer) {
        std::mem::swap(&mut self.buffer, text);
    }
}

impl<W: Write> LineWriter<W> {
    /// Returns a buffer for a writer.
    pub fn new(writer: W) -> Self {
        Self { writer, buffer: TextBuffer::default(), limit: BUFFER_BYTES }
    }

    /// Returns the buffer to append to. Call [`LineWriter::line_end`] after each line.
    #[inline]
    pub fn buffer(&mut self) -> &mut TextBuffer {
        &mut self.buffer
    }

    /// Ends a line, and writes the buffer if it is full.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    #[inline]
    pub fn line_end(&mut self) -> io::Result<()> {
        self.buffer.byte(b'\n');
        self.write_if_full()
    }

    /// Appends whole lines to the buffer.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    pub fn block(&mut self, lines: &[u8]) -> io::Result<()> {
        // A block as large as the buffer is written directly, without a copy.
        if lines.len() < BUFFER_BYTES {
            self.buffer.text(lines);
            return self.write_if_full();
        }
        self.write()?;
        self.writer.write_all(lines)
    }

    /// Writes the buffer and flushes the writer.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    pub fn flush(&mut self) -> io::Result<()> {
        if !self.buffer.is_empty() {
            self.write()?;
        }
        self.writer.flush()
    }

    /// Writes the buffer and returns the writer.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    pub fn into_inner(mut self) -> io::Result<W> {
        self.flush()?;
        Ok(self.writer)
    }

    /// Writes the buffer if it is full. Call this after each line. The line must already end with a
    /// line feed.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    #[inline(always)]
    pub(crate) fn write_if_full(&mut self) -> io::Result<()> {
        if self.buffer.len() < self.limit { Ok(()) } else { self.write() }
    }

    /// Writes the buffer. It is empty afterwards, even if writing fails.
    #[cold]
    fn write(&mut self) -> io::Result<()> {
        let written = self.writer.write_all(self.buffer.as_bytes());
        self.buffer.truncate(0);
        written
    }
}
