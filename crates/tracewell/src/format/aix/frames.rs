//! The frames of a file, one after the other.
//!
//! A frame whose entry is damaged is stepped over: its length says where the next one begins. A
//! damaged frame says nothing, nor does one that is longer than its hook word asks for, or ends behind
//! the file with good frames in it. So the next one is searched for: at every place where one can begin
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
    NoFrame(String, Option<usize>),
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
            Err(ReadError::Incomplete { needed }) => {
                return match self.search() {
                    Found::At(place) => {
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
            Ok(entry) if frame.entry.len() > entry.length() => {
                let (expected, found) = (entry.length(), frame.entry.len());
                self.behind_damage(format!(
                    "the hook word asks for an entry of {expected} bytes, the frame has {found}"
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
            Found::At(place) => Next::NoFrame(message, Some(place)),
            Found::Nothing => Next::NoFrame(message, None),
            Found::Wanted(bytes) => Next::Wanted(bytes),
        }
    }

    /// Searches for the next good frame.
    fn search(&self) -> Found {
        let length = self.rest(self.at).len();
        for place in (8..length).step_by(8) {
            match self.is_good(self.at + place) {
                Some(true) => return Found::At(place),
                Some(false) => {}
                // A window of damage without end must not grow without end.
                None if length >= SEARCHED => return Found::At(place),
                None => return Found::Wanted(length + 1),
            }
        }
        match self.last {
            true => Found::Nothing,
            false => Found::Wanted(length + 1),
        }
    }

    /// Whether a good frame is here, and another good one or the end behind it; `None` where more bytes
    /// must be there to tell.
    fn is_good(&self, at: usize) -> Option<bool> {
        match self.good(at)? {
            Some(size) if self.last && at + size == self.bytes.len() => Some(true),
            Some(size) => Some(self.good(at + size)?.is_some()),
            None => Some(false),
        }
    }

    /// Bytes of the good frame that is here, if one is.
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

/// Where the next good frame is.
#[derive(Debug)]
enum Found {
    /// So many bytes behind.
    At(usize),
    /// Nowhere.
    Nothing,
    /// So many bytes must be there to tell.
    Wanted(usize),
}
