//! The window of a stream, which contains the bytes that have arrived and that the decoder has not
//! consumed yet.

use std::io::{self, Read};

use crate::format::{Decoder, Input, Progress, ReadError};
use crate::model::{self, Emitter, EventBuffer, Sink, Trace};

/// Number of bytes requested from a stream in one read.
const READ_BYTES: usize = 256 * 1024;

/// Bytes of a stream that the decoder has not consumed yet.
#[derive(Debug)]
pub(super) struct Window {
    bytes: Vec<u8>,
    /// Position of the first byte in the stream.
    offset: u64,
    /// The decoder waits until the window has this many bytes.
    wanted: usize,
    /// A buffer that is kept so that its memory is allocated only once. Empty between calls.
    buffer: EventBuffer,
}

impl Default for Window {
    fn default() -> Self {
        Self { bytes: Vec::new(), offset: 0, wanted: 1, buffer: EventBuffer::default() }
    }
}

impl Window {
    /// Returns the bytes that have not been consumed.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Appends bytes that have arrived.
    pub(super) fn append(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Passes the bytes to the decoder at the next call of [`Self::show`], even if there are fewer
    /// bytes than the decoder requested.
    pub(super) fn retry(&mut self) {
        self.wanted = self.bytes.len().min(self.wanted).max(1);
    }

    /// Reads from the stream once, and appends the bytes. Returns false at the end of the stream.
    pub(super) fn append_from(&mut self, stream: &mut impl Read) -> io::Result<bool> {
        let before = self.bytes.len();
        self.bytes.resize(before + READ_BYTES, 0);
        let read = loop {
            match stream.read(&mut self.bytes[before..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => break result,
            }
        };
        self.bytes.truncate(before + *read.as_ref().unwrap_or(&0));
        Ok(read? > 0)
    }

    /// Returns an emitter for bytes outside the window. The emitter uses the window's buffer for
    /// events.
    pub(super) fn emitter<'a>(
        &'a mut self,
        bytes: model::Window<'a>,
        trace: &'a mut Trace,
        sink: &'a mut dyn Sink,
    ) -> Emitter<'a> {
        Emitter::new(&mut self.buffer, bytes, trace, sink)
    }

    /// Returns the position in the stream after the last byte.
    pub(super) fn end(&self) -> u64 {
        self.offset + self.bytes.len() as u64
    }

    /// Passes the bytes of the window to the decoder. Returns true when the decoder is done. `last`
    /// is true if no bytes follow.
    pub(super) fn show(
        &mut self,
        decoder: &mut dyn Decoder,
        trace: &mut Trace,
        sink: &mut dyn Sink,
        last: bool,
    ) -> Result<bool, ReadError> {
        // At the end of the stream, the decoder gets the remaining bytes even if it requested more.
        while last || self.bytes.len() >= self.wanted {
            let input = Input { offset: self.offset, bytes: &self.bytes, last };
            let mut out = Emitter::new(&mut self.buffer, input.window(), trace, sink);
            match decoder.decode_to(input, &mut out)? {
                Progress::Done => return Ok(true),
                Progress::More { consumed, wanted } => {
                    // Decoders consume most of the window; therefore only a few bytes must be
                    // moved.
                    self.bytes.drain(..consumed.min(self.bytes.len()));
                    self.offset += consumed as u64;
                    // Pass at least one new byte next time. Otherwise a decoder that consumes
                    // nothing and requests nothing would be called forever.
                    self.wanted = wanted.max(if consumed == 0 { self.bytes.len() + 1 } else { 1 });
                }
            }
            if last && self.bytes.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
