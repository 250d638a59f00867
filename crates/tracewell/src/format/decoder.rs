//! The trait of all decoders.

use std::fmt;
use std::sync::Arc;

use super::TraceFile;
use crate::model::{Emitter, EventBuffer, Sink, Trace, Window};

/// The bytes of a source that have arrived and have not been consumed yet.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// Offset of `bytes` in the source.
    pub offset: u64,
    /// The bytes that have arrived. If the source is a mapped file, the first call passes the whole
    /// file.
    pub bytes: &'a [u8],
    /// True if the source ends after these bytes.
    pub last: bool,
}

impl<'a> Input<'a> {
    /// Returns the available bytes and their offset.
    pub const fn window(&self) -> Window<'a> {
        Window { bytes: self.bytes, offset: self.offset }
    }
}

/// The result of a call to a decoder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Progress {
    /// The decoder has finished with the first `consumed` bytes. Call again when at least `wanted`
    /// bytes follow them, or when the input has ended.
    More {
        /// Number of bytes that the caller does not need to pass again.
        consumed: usize,
        /// Minimum number of bytes that the next call needs.
        wanted: usize,
    },
    /// The decoder needs no more bytes, because the trace ended or the sink stopped.
    Done,
}

/// Error for an input that cannot be decoded at all.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReadError {
    /// Offset in the source, in bytes.
    pub offset: u64,
    /// The message: what was expected, and what was found.
    pub message: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {}: {}", self.offset, self.message)
    }
}

impl std::error::Error for ReadError {}

/// Decodes bytes to events.
///
/// The caller passes a window of the source. New bytes are appended at the end of the window, and
/// consumed bytes are dropped at its start; see [`Input`]. A decoder of a framed stream consumes
/// one whole frame after another. A decoder of a ring consumes bytes only when the whole ring has
/// arrived. Decoders do not buffer bytes, and batches borrow from the window.
///
/// Decoders never panic, whatever the input. Allocated memory is proportional to the size of the
/// window.
pub trait Decoder: Send {
    /// Returns the initial trace, as it is before decoding begins. It contains the format, the
    /// schema, and the facts that options specify.
    fn trace(&self) -> Trace;

    /// Decodes as much of `input` as possible into `out`, and updates the trace of `out`. If
    /// `input.last` is set, delivers everything readable and returns [`Progress::Done`]. Also
    /// returns [`Progress::Done`] if the sink needs no further events. The caller must flush the
    /// emitter afterwards, because otherwise the events in the emitter are lost.
    ///
    /// # Errors
    /// Returns an error if the input does not have this format. Damage after a readable start is
    /// not an error: the trace gets losses and diagnostics.
    fn decode_to(&mut self, input: Input<'_>, out: &mut Emitter<'_>)
    -> Result<Progress, ReadError>;

    /// Replaces the files of a trace that consists of several files in a folder
    /// ([`Settings::files`]). The caller does this when files have grown, or when further files
    /// exist. The next call of [`Decoder::decode_to`] decodes the new parts of these files. Only
    /// decoders of such traces implement this function; by default, it does nothing.
    ///
    /// [`Settings::files`]: super::Settings::files
    fn grow(&mut self, _files: Arc<[TraceFile]>) {}

    /// Informs the decoder that no bytes have arrived for a while. Some decoders infer settings
    /// from the first bytes. At the next call of [`Decoder::decode_to`], such a decoder infers them
    /// from the bytes that have arrived, if these suffice. By default, does nothing.
    fn pause(&mut self) {}

    /// Decodes as much of `input` as possible into `sink`, and updates `trace`, like
    /// [`Decoder::decode_to`]. Callers that decode many small windows should keep an
    /// [`EventBuffer`] and call `decode_to`, which saves allocations.
    ///
    /// # Errors
    /// Returns the errors of [`Decoder::decode_to`].
    fn decode(
        &mut self,
        input: Input<'_>,
        trace: &mut Trace,
        sink: &mut dyn Sink,
    ) -> Result<Progress, ReadError> {
        let mut buffer = EventBuffer::default();
        self.decode_to(input, &mut Emitter::new(&mut buffer, input.window(), trace, sink))
    }
}
