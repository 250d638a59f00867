//! The unit of a log: a header of three words and a body.
//!
//! | word | content |
//! |---|---|
//! | 0 | [`MAGIC`] (low half), kind (high half) |
//! | 1 | length of the block in bytes, a multiple of 8 (low half); checksum (high half) |
//! | 2 | number of the block in its log, from 0 |
//!
//! The length of a block includes its header. The checksum is the CRC-32C of the block with the
//! checksum field set to 0.
//!
//! | kind | number | body |
//! |---|---|---|
//! | start | 1 | version and policy (low and high half); the clock, 5 words; process |
//! | type | 2 | event id and family (16 bits each), length of the text (high half); the text |
//! | packet | 3 | a packet header with `used` and `last` set; records |
//! | status | 4 | the [`StatusWords`] |
//! | index | 5 | byte position of the previous index block, 0 if none; index entries |
//! | end | 6 | byte position of the last index block, 0 if none |
//! | program end | 7 | a [`ProgramEnd`](crate::ProgramEnd) |
//!
//! Strings are padded with 0. [`IndexEntry`](super::IndexEntry) describes the entries of an index.
//!
//! A log begins with a start block. There are no gaps between blocks. After damage, a reader looks
//! for [`MAGIC`] at each further multiple of 8 bytes, and resumes at the first block with a valid
//! checksum.

use super::image::TypeHeader;
use super::{ClockFacts, FullPolicy, VERSION, WORD, join, split, word};
use crate::frame;

/// `TWB1`, read as a little-endian number.
pub const MAGIC: u32 = u32::from_le_bytes(*b"TWB1");

pub use crate::frame::{HEAD, MAX_LEN};

/// The kind of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Describes the log. This is the first block of every log.
    Start,
    /// Defines an event type.
    Type,
    /// Holds records of one packet.
    Packet,
    /// Holds loss counts, and the time before which the log is complete.
    Status,
    /// Lists packet blocks with their times.
    Index,
    /// Ends a log that was closed.
    End,
    /// Says how the recorded program ended.
    ProgramEnd,
}

impl Kind {
    const ALL: [Self; 7] = [
        Self::Start,
        Self::Type,
        Self::Packet,
        Self::Status,
        Self::Index,
        Self::End,
        Self::ProgramEnd,
    ];

    /// Returns the number that encodes the kind in the format.
    pub const fn code(self) -> u32 {
        match self {
            Self::Start => 1,
            Self::Type => 2,
            Self::Packet => 3,
            Self::Status => 4,
            Self::Index => 5,
            Self::End => 6,
            Self::ProgramEnd => 7,
        }
    }

    /// Returns the kind that `code` encodes, or `None` if it is unknown.
    pub fn of_code(code: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.code() == code)
    }
}

/// A block with a valid checksum.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Block<'a> {
    /// The block's kind. `None` for a kind that a later version has added; readers skip such
    /// blocks.
    pub kind: Option<Kind>,
    /// Number of the block in its log, from 0.
    pub number: u64,
    /// The bytes after the header.
    pub body: &'a [u8],
}

/// Result of looking for a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lookup<'a> {
    /// A block with a valid checksum.
    Block(Block<'a>),
    /// The bytes can be the start of a block. The reader needs at least this many bytes to decide.
    Incomplete(usize),
    /// Not a block, or a damaged block.
    Damaged,
}

/// Looks for a block at the start of `bytes`.
///
/// ```
/// use tracewell_wire::native::block::{self, Lookup, Kind};
///
/// let mut bytes = [0; block::HEAD + 8];
/// block::seal(&mut bytes, Kind::End, 12).unwrap();
///
/// let Lookup::Block(found) = block::find(&bytes) else { panic!("no block") };
/// assert_eq!((found.kind, found.number, found.body), (Some(Kind::End), 12, &[0; 8][..]));
/// ```
pub fn find(bytes: &[u8]) -> Lookup<'_> {
    match frame::find(bytes, MAGIC) {
        frame::Lookup::Block { kind, number, body } => {
            Lookup::Block(Block { kind: Kind::of_code(kind), number, body })
        }
        frame::Lookup::Incomplete(bytes) => Lookup::Incomplete(bytes),
        frame::Lookup::Damaged => Lookup::Damaged,
    }
}

/// Writes the header of a block, including the checksum. The body must already be in place.
///
/// Returns `None` if the block is shorter than a header or longer than [`MAX_LEN`], or if its
/// length is not a multiple of 8.
pub fn seal(block: &mut [u8], kind: Kind, number: u64) -> Option<()> {
    frame::seal(block, MAGIC, kind.code(), number)
}

/// The body of a start block, which describes the log.
///
/// ```
/// use tracewell_wire::native::block::Start;
/// use tracewell_wire::native::{ClockFacts, ClockKind, FullPolicy, VERSION, put_words};
///
/// let clock = ClockFacts {
///     kind: ClockKind::Monotonic,
///     ticks_per_second: 1_000_000_000,
///     origin: 0,
///     origin_realtime: 1_700_000_000_000_000_000,
///     origin_monotonic: 0,
/// };
/// let start = Start { version: VERSION, policy: FullPolicy::Flush, clock, process: 42 };
/// let mut body = [0; 8 * Start::WORDS];
/// put_words(&mut body, &start.words()).unwrap();
/// assert_eq!(Start::read(&body), Some(start));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Start {
    /// Version of the format.
    pub version: u32,
    /// Policy for a full stream.
    pub policy: FullPolicy,
    /// The clock that counts the ticks of the stream.
    pub clock: ClockFacts,
    /// Id of the process that created the stream.
    pub process: u32,
}

impl Start {
    /// Length of the body in words.
    pub const WORDS: usize = 2 + ClockFacts::WORDS;

    /// Encodes the body, with the current [`VERSION`].
    pub fn words(&self) -> [u64; Self::WORDS] {
        let mut words = [0; Self::WORDS];
        words[0] = join(VERSION, self.policy.code() as u32);
        words[1..=ClockFacts::WORDS].copy_from_slice(&self.clock.words());
        words[Self::WORDS - 1] = u64::from(self.process);
        words
    }

    /// Decodes a body. Returns `None` if it is too short or has an unknown policy.
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

/// The body of a status block: the state of the stream after all earlier blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StatusWords {
    /// Every record with an earlier timestamp is in an earlier block, unless a thread was delayed
    /// between reading the clock and storing its record.
    pub complete_before: u64,
    /// State of the stream: the code of a [`State`](super::image::State).
    pub state: u64,
    /// Total number of events that were lost because their lanes were full.
    pub lost: u64,
    /// Number of events that were lost because no lane was free, or because their event type had no
    /// id.
    pub lost_unplaced: u64,
    /// Number of events that were lost while a full stream was suspended.
    pub lost_suspended: u64,
    /// Number of events that were in the stream but never reached the log.
    pub lost_log: u64,
    /// Error number of the first flush that failed; 0 if none.
    pub flush_error: u64,
}

impl StatusWords {
    /// Length of the body in words.
    pub const WORDS: usize = 7;

    /// Returns the body in the form that a log stores.
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

    /// Decodes a body, or returns `None` if it is too short.
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

/// Decodes the body of a type block: event id, family and definition. Returns `None` if the body is
/// too short.
pub fn event_type(body: &[u8]) -> Option<(u16, u16, &[u8])> {
    // The first word has the layout of a `TypeHeader`, with the event id in place of the state.
    let head = TypeHeader::unpack(word(body, 0)?);
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
        let whole = Lookup::Block(Block { kind: Some(Kind::Status), number: 7, body });
        assert_eq!(find(&block), whole);
        assert_eq!(find(&block[..47]), Lookup::Incomplete(48));
        assert_eq!(find(&block[..3]), Lookup::Incomplete(24));
        for byte in 0..48 {
            let mut damaged = block;
            damaged[byte] ^= 0x10;
            assert!(!matches!(find(&damaged), Lookup::Block(_)), "{byte}");
        }
    }
}
