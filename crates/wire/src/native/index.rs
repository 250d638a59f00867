//! Where in a log which times are: an entry for each packet block.
//!
//! | word | content |
//! |---|---|
//! | 0 | position of the block in the log, in bytes |
//! | 1 | stamp of its first event |
//! | 2 | stamp of its last event |
//! | 3 | lane (low half), events (high half) |
//!
//! The index says nothing that the blocks themselves do not; it is made again by reading their
//! headers one after the other.

use super::{join, split, word};

/// An entry of the index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IndexEntry {
    /// Position of the block in the log, in bytes.
    pub offset: u64,
    /// Stamp of its first event.
    pub first: u64,
    /// Stamp of its last event.
    pub last: u64,
    /// Its lane.
    pub lane: u32,
    /// How many events it holds.
    pub events: u32,
}

impl IndexEntry {
    /// Number of words.
    pub const WORDS: usize = 4;

    /// As words.
    pub const fn words(&self) -> [u64; Self::WORDS] {
        [self.offset, self.first, self.last, join(self.lane, self.events)]
    }

    /// Entry `number` of the body of an index block.
    pub fn read(body: &[u8], number: usize) -> Option<Self> {
        let at = number.checked_mul(Self::WORDS)?;
        let (lane, events) = split(word(body, at + 3)?);
        let [offset, first, last] = [word(body, at)?, word(body, at + 1)?, word(body, at + 2)?];
        Some(Self { offset, first, last, lane, events })
    }
}
