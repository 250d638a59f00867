//! Reads the contents of one file in their order: entries with unwrapped timestamps, and losses.

use tracewell_wire::aix::{Entry, FrameHeader};

use super::frames::{Frames, Next};
use super::stamps::Stamps;
use crate::model::LossCause;

/// An entry or a loss.
#[derive(Debug)]
pub(super) enum Content<'a> {
    /// A valid entry: header, unwrapped timestamp, content and bytes.
    Entry { head: FrameHeader, tick: u64, entry: Entry<'a>, bytes: &'a [u8] },
    /// A loss: a message, the number of lost events if known, and the cause.
    Loss(String, Option<u64>, LossCause),
}

/// The result of reading the next content of a file.
pub(super) enum Taken<'a> {
    /// An entry or a loss.
    Content(Content<'a>),
    /// The next content of the file has not arrived completely. This number of bytes is needed.
    Wanted(usize),
    /// The file has ended.
    End,
}

/// Reads the next content of a file and moves past it.
pub(super) fn take<'a>(frames: &mut Frames<'a>, stamps: &mut Stamps) -> Taken<'a> {
    Taken::Content(match frames.next() {
        Next::Entry(head, entry, bytes) => {
            let tick = stamps.unwrapped(head.cpu, head.tick);
            Content::Entry { head, tick, entry, bytes }
        }
        Next::BadEntry(error) => Content::Loss(error.to_string(), Some(1), LossCause::Damaged),
        Next::NoFrame(message, further) => {
            // Without a further frame, the rest of the file is lost.
            frames.at = further.map_or(frames.bytes.len(), |bytes| frames.at + bytes);
            Content::Loss(message, None, LossCause::Damaged)
        }
        Next::Cut(bytes) => {
            frames.at = frames.bytes.len();
            let message = format!("expected a whole frame, found {bytes} bytes and the end");
            Content::Loss(message, Some(1), LossCause::Truncated)
        }
        Next::Wanted(bytes) => return Taken::Wanted(bytes),
        Next::End => return Taken::End,
    })
}
