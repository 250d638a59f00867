//! The one trait of all readers.

use std::fmt;

use crate::model::{Sink, Trace};

/// The bytes of a source that a decoder has not consumed yet, as far as they have arrived.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// Position of `bytes` in the source.
    pub offset: u64,
    /// What has arrived. A mapped file is here as a whole from the first call on.
    pub bytes: &'a [u8],
    /// Whether nothing will follow.
    pub last: bool,
}

/// What a decoder did with its input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Progress {
    /// It is done with the first `consumed` bytes and wants to be called again when at least
    /// `wanted` bytes follow them, or when no more will come.
    More {
        /// Bytes that need not be shown again.
        consumed: usize,
        /// Bytes that must be there for the next call to get further; more may be given.
        wanted: usize,
    },
    /// It wants nothing more: the trace ended, or its sink did.
    Done,
}

/// An input cannot be read at all.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReadError {
    /// Where in the source, in bytes.
    pub offset: u64,
    /// What was expected and what was found.
    pub message: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {}: {}", self.offset, self.message)
    }
}

impl std::error::Error for ReadError {}

/// Turns bytes into events.
///
/// The caller shows a window of the source that only grows at its end and shrinks at its start, as
/// the decoder allows; see [`Input`]. So a decoder of a framed stream consumes frame by frame and
/// a decoder of a ring that must be seen whole consumes nothing until it is; neither keeps bytes
/// of its own, and batches borrow from the window.
///
/// No input makes a decoder panic, or allocate more than in proportion to the bytes it was shown.
pub trait Decoder: Send {
    /// The trace before the first byte: format, schema, what the options say.
    fn trace(&self) -> Trace;

    /// Decodes what it can of `input` into `sink`, keeping `trace` up to date. With `input.last`
    /// set, everything readable is delivered and the answer is [`Progress::Done`].
    ///
    /// # Errors
    /// Where the input is not of this format at all. Damage behind a readable start is no error:
    /// it goes into the trace as losses and diagnostics.
    fn decode(
        &mut self,
        input: Input<'_>,
        trace: &mut Trace,
        sink: &mut dyn Sink,
    ) -> Result<Progress, ReadError>;
}
