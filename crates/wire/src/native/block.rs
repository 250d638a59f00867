//! The unit of a log: a head of three words, then what its kind says.
//!
//! | word | content |
//! |---|---|
//! | 0 | [`MAGIC`] (low half), kind (high half) |
//! | 1 | bytes of the block, its head included, a multiple of 8 (low); CRC-32C of the block with this half as 0 (high) |
//! | 2 | number of the block in its log, from 0 |
//!
//! | kind | number | body |
//! |---|---|---|
//! | start | 1 | version and policy (low and high half); the clock, 5 words; process |
//! | type | 2 | event id (16 bits), family (16 bits), bytes of its text (high half); the text, filled up with 0 |
//! | packet | 3 | a packet header with `used` and `last` set; records |
//! | status | 4 | the [`StatusWords`] |
//! | index | 5 | where the index block before it begins, in bytes, 0 for none; [`IndexEntry`](super::IndexEntry) after entry |
//! | end | 6 | where the last index block begins, in bytes, 0 for none |
//!
//! A log begins with a start block. Blocks behind each other touch. A reader that finds no block
//! where one should be looks for the next [`MAGIC`] at a multiple of 8 whose checksum is right.

use super::image::TypeHead;
use super::{ClockFacts, FullPolicy, VERSION, WORD, join, split, word};
use crate::frame;

/// `TWB1`, read as a little-endian number.
pub const MAGIC: u32 = u32::from_le_bytes(*b"TWB1");

pub use crate::frame::{HEAD, LONGEST};

/// What a block holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// What the log is.
    Start,
    /// An event type.
    Type,
    /// Records.
    Packet,
    /// Counts and a time up to which everything is there.
    Status,
    /// Where which times are.
    Index,
    /// The end of a log that was closed.
    End,
}

impl Kind {
    const ALL: [Self; 6] =
        [Self::Start, Self::Type, Self::Packet, Self::Status, Self::Index, Self::End];

    /// The number that stands for it.
    pub const fn code(self) -> u32 {
        match self {
            Self::Start => 1,
            Self::Type => 2,
            Self::Packet => 3,
            Self::Status => 4,
            Self::Index => 5,
            Self::End => 6,
        }
    }

    /// What a number stands for.
    pub fn of_code(code: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.code() == code)
    }
}

/// A block whose checksum is right.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Block<'a> {
    /// What it holds; `None` for a kind of the future, to be skipped.
    pub kind: Option<Kind>,
    /// Its number in the log.
    pub number: u64,
    /// What stands behind its head.
    pub body: &'a [u8],
}

/// What stands where a block should be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Found<'a> {
    /// A block.
    Block(Block<'a>),
    /// The beginning of one; this many bytes are needed to say more.
    Part(usize),
    /// Something else, or a damaged block.
    Damage,
}

/// Looks for a block at the start of some bytes.
pub fn find(bytes: &[u8]) -> Found<'_> {
    match frame::find(bytes, MAGIC) {
        frame::Found::Block { kind, number, body } => {
            Found::Block(Block { kind: Kind::of_code(kind), number, body })
        }
        frame::Found::Part(bytes) => Found::Part(bytes),
        frame::Found::Damage => Found::Damage,
    }
}

/// Writes the head of a block whose body is in its place already; `None` where the block is too
/// short for a head, too long, or no multiple of 8.
pub fn seal(block: &mut [u8], kind: Kind, number: u64) -> Option<()> {
    frame::seal(block, MAGIC, kind.code(), number)
}

/// The body of a start block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Start {
    /// Version of the format.
    pub version: u32,
    /// The stream's policy.
    pub policy: FullPolicy,
    /// The stream's clock.
    pub clock: ClockFacts,
    /// The process that made the stream.
    pub process: u32,
}

impl Start {
    /// Number of words.
    pub const WORDS: usize = 2 + ClockFacts::WORDS;

    /// As words, in this version.
    pub fn words(&self) -> [u64; Self::WORDS] {
        let mut words = [0; Self::WORDS];
        words[0] = join(VERSION, self.policy.code() as u32);
        words[1..=ClockFacts::WORDS].copy_from_slice(&self.clock.words());
        words[Self::WORDS - 1] = u64::from(self.process);
        words
    }

    /// From a body; `None` where it is too short or names no policy.
    pub fn read(body: &[u8]) -> Option<Self> {
        let (version, policy) = split(word(body, 0)?);
        let mut clock = [0; ClockFacts::WORDS];
        for (index, to) in clock.iter_mut().enumerate() {
            *to = word(body, 1 + index)?;
        }
        let process = word(body, Self::WORDS - 1)? as u32;
        let policy = FullPolicy::of_code(u64::from(policy))?;
        Some(Self { version, policy, clock: ClockFacts::of_words(clock), process })
    }
}

/// The body of a status block: how things stand after the blocks before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StatusWords {
    /// Every record with an earlier stamp is in a block before this one, unless its thread was
    /// held up between reading the clock and storing the record.
    pub complete_before: u64,
    /// State of the stream (a number of [`super::image::State`]).
    pub state: u64,
    /// Events lost for want of room in their lane, over all lanes.
    pub lost: u64,
    /// Events lost because no lane was free, or of no id.
    pub lost_unplaced: u64,
    /// Events lost while a full stream was suspended.
    pub lost_suspended: u64,
    /// Events that were in the stream and never reached the log.
    pub lost_log: u64,
    /// First error of the flushes (an error number), 0 for none.
    pub flush_error: u64,
}

impl StatusWords {
    /// Number of words.
    pub const WORDS: usize = 7;

    /// As words.
    pub const fn words(&self) -> [u64; Self::WORDS] {
        [
            self.complete_before,
            self.state,
            self.lost,
            self.lost_unplaced,
            self.lost_suspended,
            self.lost_log,
            self.flush_error,
        ]
    }

    /// From a body; `None` where it is too short.
    pub fn read(body: &[u8]) -> Option<Self> {
        Some(Self {
            complete_before: word(body, 0)?,
            state: word(body, 1)?,
            lost: word(body, 2)?,
            lost_unplaced: word(body, 3)?,
            lost_suspended: word(body, 4)?,
            lost_log: word(body, 5)?,
            flush_error: word(body, 6)?,
        })
    }
}

/// The body of a type block: event id, family, text.
pub fn event_type(body: &[u8]) -> Option<(u16, u16, &[u8])> {
    // The same word as in an image, with the id in the place of the state.
    let head = TypeHead::unpack(word(body, 0)?);
    Some((head.state, head.family, body.get(WORD..)?.get(..head.length as usize)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_found_whole_in_part_or_damaged() {
        let mut block = [0xA5; 48];
        seal(&mut block, Kind::Status, 7).unwrap();
        let body = &[0xA5; 24][..];
        let whole = Found::Block(Block { kind: Some(Kind::Status), number: 7, body });
        assert_eq!(find(&block), whole);
        assert_eq!(find(&block[..47]), Found::Part(48));
        assert_eq!(find(&block[..3]), Found::Part(24));
        for byte in 0..48 {
            let mut damaged = block;
            damaged[byte] ^= 0x10;
            assert!(!matches!(find(&damaged), Found::Block(_)), "{byte}");
        }
    }
}
