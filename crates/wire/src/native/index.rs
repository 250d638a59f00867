//! An entry of a log's index: the offset of one packet block, and the times it covers.
//!
//! | word | content |
//! |---|---|
//! | 0 | position of the block in the log, in bytes |
//! | 1 | stamp of the block's first event |
//! | 2 | stamp of the block's last event |
//! | 3 | lane (low half), events (high half) |
//!
//! The index repeats data from the packet headers, so a reader can rebuild the index from the
//! packets.

use super::{join, split, word};

/// An entry of the index, for one packet block.
///
/// ```
/// use tracewell_wire::native::{IndexEntry, put_words};
///
/// let entry = IndexEntry { offset: 4096, first: 100, last: 900, lane: 2, events: 37 };
/// let mut body = [0; 8 * IndexEntry::WORDS];
/// put_words(&mut body, &entry.words()).unwrap();
/// assert_eq!(IndexEntry::read(&body, 0), Some(entry));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IndexEntry {
    /// Offset of the block in the log, in bytes.
    pub offset: u64,
    /// Timestamp of the block's first event.
    pub first: u64,
    /// Timestamp of the block's last event.
    pub last: u64,
    /// Lane of the block's events.
    pub lane: u32,
    /// Number of events in the block.
    pub events: u32,
}

impl IndexEntry {
    /// Length of an entry in words.
    pub const WORDS: usize = 4;

    /// Returns the entry in the form that an index block stores.
    pub const fn words(&self) -> [u64; Self::WORDS] {
        [self.offset, self.first, self.last, join(self.lane, self.events)]
    }

    /// Decodes entry `number` of the body of an index block. Returns `None` if the body does not
    /// contain the whole entry.
    pub fn read(body: &[u8], number: usize) -> Option<Self> {
        let at = number.checked_mul(Self::WORDS)?;
        let (lane, events) = split(word(body, at + 3)?);
        let [offset, first, last] = [word(body, at)?, word(body, at + 1)?, word(body, at + 2)?];
        Some(Self { offset, first, last, lane, events })
    }
}
