//! The frames of a file, one after the other.
//!
//! A frame whose entry is damaged is stepped over: its length says where the next one begins. A
//! damaged frame says nothing, so the next one is searched for: at every place where one can begin
//! (frames are multiples of 8 bytes) until a good frame with another good one, or the end, behind it.

use tracewell_wire::ByteOrder;
use tracewell_wire::aix::{Entry, EntryError, Frame, FrameHead, ReadError};

/// What comes next in a file.
#[derive(Debug)]
pub(super) enum Next<'a> {
    /// A good entry, and its bytes.
    Entry(FrameHead, Entry<'a>, &'a [u8]),
    /// A frame whose entry cannot be what it says.
    BadEntry(EntryError),
    /// Bytes that are no frame; `None` where no good one follows.
    NoFrame(ReadError, Option<usize>),
    /// So many bytes must be there to go on.
    Wanted(usize),
    /// The last frame is not whole.
    Cut(usize),
    /// The end of the file.
    End,
}

/// Reads the frames of a window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frames<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) order: ByteOrder,
    /// Whether nothing follows the bytes.
    pub(super) last: bool,
    /// Where the next frame begins.
    pub(super) at: usize,
}

/// Bytes that are searched for a good frame before more are asked for.
const SEARCHED: usize = 1 << 20;

impl<'a> Frames<'a> {
    fn rest(&self, at: usize) -> &'a [u8] {
        self.bytes.get(at..).unwrap_or_default()
    }

    /// What comes next; only [`Next::Entry`] and [`Next::BadEntry`] step over it.
    pub(super) fn next(&mut self) -> Next<'a> {
        let rest = self.rest(self.at);
        if rest.is_empty() && self.last {
            return Next::End;
        }
        let (frame, size) = match Frame::read(self.order, rest) {
            Ok(read) => read,
            Err(ReadError::Incomplete { needed }) if !self.last => return Next::Wanted(needed),
            Err(ReadError::Incomplete { .. }) => return Next::Cut(rest.len()),
            Err(error) => return self.search(error),
        };
        self.at += size;
        match Entry::read(frame.head.env, frame.entry) {
            Ok(entry) => Next::Entry(frame.head, entry, frame.entry),
            Err(error) => Next::BadEntry(error),
        }
    }

    /// Searches for the next good frame.
    fn search(&self, error: ReadError) -> Next<'a> {
        let rest = self.rest(self.at);
        let places = (8..rest.len()).step_by(8);
        match places.clone().find(|place| self.is_good(self.at + place)) {
            Some(place) => Next::NoFrame(error, Some(place)),
            None if self.last => Next::NoFrame(error, None),
            // A window of damage without end must not grow without end.
            None if rest.len() >= SEARCHED => {
                Next::NoFrame(error, Some((rest.len() / 2).next_multiple_of(8)))
            }
            None => Next::Wanted(rest.len() + 1),
        }
    }

    /// Whether a good frame is here, and another good one or the end behind it.
    fn is_good(&self, at: usize) -> bool {
        let good = |at: usize| match Frame::read(self.order, self.rest(at)) {
            Ok((frame, size)) => Entry::read(frame.head.env, frame.entry).ok().map(|_| size),
            Err(_) => None,
        };
        good(at).is_some_and(|size| at + size == self.bytes.len() || good(at + size).is_some())
    }
}
