//! Reads the frames of a file in order.
//!
//! If only the entry in a frame is damaged, the reader skips the frame, because the frame's length
//! is known. The frame itself is damaged if its header is invalid, or if the frame is longer than
//! its hook word requires. It is also damaged if its length reaches past the end of the file, but
//! good frames follow its header. If the frame itself is damaged, the reader searches every
//! multiple of 8 bytes for the next good frame. A frame is good if it is valid, and if another
//! valid frame or the end of the file follows it.

use tracewell_wire::ByteOrder;
use tracewell_wire::aix::{Entry, EntryError, Frame, FrameHeader, ReadError};

/// The next content of a file.
#[derive(Debug)]
pub(super) enum Next<'a> {
    /// A valid entry with its header and bytes.
    Entry(FrameHeader, Entry<'a>, &'a [u8]),
    /// A frame with an invalid entry.
    BadEntry(EntryError),
    /// Bytes that are not a frame, with a message and the distance in bytes to the next good frame.
    /// The distance is `None` if no good frame follows.
    NoFrame(String, Option<usize>),
    /// The number of bytes that are needed to continue.
    Wanted(usize),
    /// The last frame is truncated after this number of bytes.
    Cut(usize),
    /// The end of the file.
    End,
}

/// Reads the frames of a window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frames<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) order: ByteOrder,
    /// True if the source ends after these bytes.
    pub(super) last: bool,
    /// Offset of the next frame in the window.
    pub(super) at: usize,
}

/// Maximum number of bytes to request for the search for a good frame.
const SEARCHED: usize = 1 << 20;

impl<'a> Frames<'a> {
    fn rest(&self, at: usize) -> &'a [u8] {
        self.bytes.get(at..).unwrap_or_default()
    }

    /// Returns the next content. Moves past the content only if it is [`Next::Entry`] or
    /// [`Next::BadEntry`].
    pub(super) fn next(&mut self) -> Next<'a> {
        let rest = self.rest(self.at);
        if rest.is_empty() && self.last {
            return Next::End;
        }
        let (frame, size) = match Frame::read(self.order, rest) {
            Ok(read) => read,
            Err(ReadError::Incomplete { needed }) if !self.last => return Next::Wanted(needed),
            Err(ReadError::Incomplete { needed }) => {
                // A damaged length can point past the end. The file is truncated only if no good
                // frame follows.
                return match self.search() {
                    SearchResult::At(place) => {
                        let found = rest.len();
                        let message = format!("expected {needed} bytes of a frame, found {found}");
                        Next::NoFrame(message, Some(place))
                    }
                    _ => Next::Cut(rest.len()),
                };
            }
            Err(error) => return self.behind_damage(error.to_string()),
        };
        match Entry::read(frame.head.env, frame.entry) {
            // If the length is damaged and too large, the frame seems to include the frames after
            // it.
            Ok(entry) if frame.entry.len() > entry.length() => {
                let (expected, found) = (entry.length(), frame.entry.len());
                self.behind_damage(format!(
                    "the hook word requires an entry of {expected} bytes, the frame has {found}"
                ))
            }
            Ok(entry) => {
                self.at += size;
                Next::Entry(frame.head, entry, frame.entry)
            }
            Err(error) => {
                self.at += size;
                Next::BadEntry(error)
            }
        }
    }

    fn behind_damage(&self, message: String) -> Next<'a> {
        match self.search() {
            SearchResult::At(place) => Next::NoFrame(message, Some(place)),
            SearchResult::Nothing => Next::NoFrame(message, None),
            SearchResult::Wanted(bytes) => Next::Wanted(bytes),
        }
    }

    /// Searches for the next good frame after the current position.
    fn search(&self) -> SearchResult {
        let length = self.rest(self.at).len();
        for place in (8..length).step_by(8) {
            match self.is_good(self.at + place) {
                Some(true) => return SearchResult::At(place),
                Some(false) => {}
                // Do not let the window grow without limit, because the damage may extend to the
                // end of the file.
                None if length >= SEARCHED => return SearchResult::At(place),
                None => return SearchResult::Wanted(length + 1),
            }
        }
        match self.last {
            true => SearchResult::Nothing,
            false => SearchResult::Wanted(length + 1),
        }
    }

    /// Returns true if a valid frame begins here and another valid frame or the end follows it.
    /// Returns `None` if more bytes are needed to decide.
    fn is_good(&self, at: usize) -> Option<bool> {
        match self.good(at)? {
            Some(size) if self.last && at + size == self.bytes.len() => Some(true),
            Some(size) => Some(self.good(at + size)?.is_some()),
            None => Some(false),
        }
    }

    /// Returns the size of the valid frame at this position, or `Some(None)` if there is no valid
    /// frame. Returns `None` if more bytes are needed to decide.
    fn good(&self, at: usize) -> Option<Option<usize>> {
        match Frame::read(self.order, self.rest(at)) {
            Ok((frame, size)) => Some(match Entry::read(frame.head.env, frame.entry) {
                Ok(entry) if frame.entry.len() <= entry.length() => Some(size),
                _ => None,
            }),
            Err(ReadError::Incomplete { .. }) if !self.last => None,
            Err(_) => Some(None),
        }
    }
}

/// The result of a search for a good frame.
#[derive(Debug)]
enum SearchResult {
    /// A good frame begins this number of bytes later.
    At(usize),
    /// The file has no further good frame.
    Nothing,
    /// This number of bytes is needed to decide.
    Wanted(usize),
}
