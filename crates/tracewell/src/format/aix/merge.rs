//! Several files of one trace in order of time: by nanoseconds, then processor, then place of the file.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tracewell_wire::aix::{Entry, FrameHead, TimeConversion};

use super::frames::{Frames, Next};

/// Something of a file.
#[derive(Debug)]
pub(super) struct Item<'a> {
    /// Where in the input its bytes begin.
    pub(super) offset: usize,
    pub(super) what: What<'a>,
}

/// What it is.
#[derive(Debug)]
pub(super) enum What<'a> {
    /// A good entry.
    Entry(FrameHead, Entry<'a>, &'a [u8]),
    /// Something is missing; why, and of how many events where that is known.
    Loss(String, Option<u64>, Missing),
}

/// Why something is missing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Missing {
    /// Bytes are not what they should be.
    Damaged,
    /// The file ends too early.
    Cut,
}

/// A file in the input.
#[derive(Debug)]
pub(super) struct Part<'a> {
    frames: Frames<'a>,
    /// Where the bytes of `frames` begin in the input.
    offset: usize,
    conversion: TimeConversion,
    item: Option<Item<'a>>,
}

impl<'a> Part<'a> {
    pub(super) fn new(frames: Frames<'a>, offset: usize, conversion: TimeConversion) -> Self {
        let mut part = Self { frames, offset, conversion, item: None };
        part.advance();
        part
    }

    fn advance(&mut self) {
        let offset = self.offset + self.frames.at;
        self.item = match take(&mut self.frames) {
            Taken::What(what) => Some(Item { offset, what }),
            // All of the file is here.
            Taken::Wanted(_) | Taken::End => None,
        };
    }

    /// Nanoseconds and processor of what comes next; a loss comes at once, for when it happened is
    /// not known and what is before it has passed.
    fn key(&self) -> Option<(u128, u16)> {
        Some(match &self.item.as_ref()?.what {
            What::Entry(head, ..) => (self.conversion.nanoseconds(head.tick), head.cpu),
            What::Loss(..) => (0, 0),
        })
    }
}

/// What was taken from a file.
pub(super) enum Taken<'a> {
    /// This.
    What(What<'a>),
    /// Nothing: so many bytes must be there.
    Wanted(usize),
    /// Nothing: it has ended.
    End,
}

/// Takes the next thing from a file.
pub(super) fn take<'a>(frames: &mut Frames<'a>) -> Taken<'a> {
    Taken::What(match frames.next() {
        Next::Entry(head, entry, bytes) => What::Entry(head, entry, bytes),
        Next::BadEntry(error) => What::Loss(error.to_string(), Some(1), Missing::Damaged),
        Next::NoFrame(message, further) => {
            frames.at = further.map_or(frames.bytes.len(), |bytes| frames.at + bytes);
            What::Loss(message, None, Missing::Damaged)
        }
        Next::Cut(bytes) => {
            frames.at = frames.bytes.len();
            let message = format!("expected a whole frame, found {bytes} bytes and the end");
            What::Loss(message, Some(1), Missing::Cut)
        }
        Next::Wanted(bytes) => return Taken::Wanted(bytes),
        Next::End => return Taken::End,
    })
}

/// The items of several files in order of time.
#[derive(Debug)]
pub(super) struct Merge<'a> {
    parts: Vec<Part<'a>>,
    order: BinaryHeap<Reverse<((u128, u16), usize)>>,
}

impl<'a> Merge<'a> {
    pub(super) fn new(parts: Vec<Part<'a>>) -> Self {
        let keys = parts.iter().enumerate();
        let order =
            keys.filter_map(|(number, part)| Some(Reverse((part.key()?, number)))).collect();
        Self { parts, order }
    }
}

impl<'a> Iterator for Merge<'a> {
    type Item = Item<'a>;

    fn next(&mut self) -> Option<Item<'a>> {
        let Reverse((_, number)) = self.order.pop()?;
        let part = self.parts.get_mut(number)?;
        let item = part.item.take();
        part.advance();
        if let Some(key) = part.key() {
            self.order.push(Reverse((key, number)));
        }
        item
    }
}
