//! Feeding a reader from a stream: a window of bytes that have arrived and are not consumed yet.

use std::io::{self, Read};

use super::error::StreamError;
use crate::format::{Decoder, Input, Progress};
use crate::model::{Sink, Trace};

/// How much is asked of a stream at a time.
const PIECE: usize = 256 * 1024;

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
    let mut window = Vec::new();
    let mut offset = 0;
    let mut wanted = 1;
    let mut last = false;
    loop {
        while window.len() < wanted && !last {
            last = read_piece(&mut stream, &mut window)? == 0;
        }
        match decoder.decode(Input { offset, bytes: &window, last }, trace, sink)? {
            Progress::Done => return Ok(()),
            Progress::More { consumed, wanted: more } => {
                window.drain(..consumed.min(window.len()));
                offset += consumed as u64;
                // A decoder that wants no more than it has would be called for ever.
                wanted = more.max(if consumed == 0 { window.len() + 1 } else { 1 });
            }
        }
        if last && window.is_empty() {
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
