//! Feeding a reader from a stream: a window of bytes that have arrived and are not consumed yet.

use std::io::{self, Read};

use super::error::StreamError;
use crate::format::{Decoder, Input, Progress, ReadError};
use crate::model::{Sink, Trace};

/// How much is asked of a stream at a time.
const PIECE: usize = 256 * 1024;

/// Bytes of a stream that have arrived and are not consumed yet.
#[derive(Debug)]
pub(crate) struct Window {
    bytes: Vec<u8>,
    /// Position of the first of them in the stream.
    offset: u64,
    /// How many the decoder wants to see.
    wanted: usize,
}

impl Default for Window {
    fn default() -> Self {
        Self { bytes: Vec::new(), offset: 0, wanted: 1 }
    }
}

impl Window {
    /// The bytes, to add those that have arrived to.
    pub(crate) fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Position in the stream behind the last byte.
    pub(crate) fn end(&self) -> u64 {
        self.offset + self.bytes.len() as u64
    }

    /// Lets a decoder consume what it can; whether it wants nothing more. With `last`, nothing follows.
    pub(crate) fn show(
        &mut self,
        decoder: &mut dyn Decoder,
        trace: &mut Trace,
        sink: &mut dyn Sink,
        last: bool,
    ) -> Result<bool, ReadError> {
        while last || self.bytes.len() >= self.wanted {
            let input = Input { offset: self.offset, bytes: &self.bytes, last };
            match decoder.decode(input, trace, sink)? {
                Progress::Done => return Ok(true),
                Progress::More { consumed, wanted } => {
                    self.bytes.drain(..consumed.min(self.bytes.len()));
                    self.offset += consumed as u64;
                    // A decoder that wants no more than it has would be called for ever.
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

/// Reads a stream to its end, or until the decoder wants no more.
///
/// # Errors
/// Where the stream fails and where the decoder does.
pub(super) fn drive(
    mut stream: impl Read,
    decoder: &mut dyn Decoder,
    trace: &mut Trace,
    sink: &mut dyn Sink,
) -> Result<(), StreamError> {
    let mut window = Window::default();
    loop {
        let last = read_piece(&mut stream, window.bytes())? == 0;
        if window.show(decoder, trace, sink, last)? {
            return Ok(());
        }
    }
}

fn read_piece(stream: &mut impl Read, window: &mut Vec<u8>) -> io::Result<usize> {
    let before = window.len();
    window.resize(before + PIECE, 0);
    let read = loop {
        match stream.read(&mut window[before..]) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => break result,
        }
    };
    window.truncate(before + *read.as_ref().unwrap_or(&0));
    read
}
