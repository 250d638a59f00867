//! Bytes of a channel that the caller must write to the log. The module `drain` specifies when
//! they are ready.

/// Whole frames for the log, oldest first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Chunk<'a> {
    /// The bytes of the frames.
    pub bytes: &'a [u8],
    /// True if the log has reached its size limit and wraps: truncate the log to its header before
    /// writing these frames. AIX overwrites the start of the log instead. Our frames have
    /// different sizes, so we decided to truncate.
    pub starts_over: bool,
}
