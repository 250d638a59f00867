//! A stream's memory, word by word.
//!
//! | words | content | written by |
//! |---|---|---|
//! | 0 | [`MAGIC`] | who makes it, last |
//! | 1 | version (low half), words of this header (high half) | who makes it |
//! | 2 | words of the whole image | |
//! | 3 | lanes (low), packets of a lane (high) | |
//! | 4 | words of a packet (low), policy (high) | |
//! | 5 | event ids (low), words of an event type (high) | |
//! | 6, 7, 8 | where event types, lane heads and packets begin, in words | |
//! | 9 to 13 | the clock ([`ClockFacts`]) | |
//! | 14 | process that made it | |
//! | 16 | state ([`State`]) | who controls it |
//! | 17 | families that are not recorded, a bit each | who controls it |
//! | 18 | how many wait for events | who waits |
//! | 19 | counts up when events came while somebody waited (low half, a futex) | recording threads |
//! | 20 | events lost because no lane was free, or of no id | recording threads |
//! | 21 | events lost while a full stream was suspended | recording threads |
//! | 22 | first error of the flushes (an error number), 0 for none | who flushes |
//! | 23 | 1 while a flush is under way | who flushes |
//! | 24 | events that were in the stream and never reached its log | who flushes |
//! | 32 | gate: a set bit stops its family; the last one says that somebody waits or the stream is full | all |
//! | 64 to 95 | ids that the filter stops, a bit each | who controls it |
//! | 96 to 127 | ids that have an event type | who defines one |
//!
//! An event type has a slot for each id: word 0 is its state (16 bits: 0 free, 1 being written, 2
//! there), its family (16 bits) and the number of bytes of its text (high half); the text follows, which has no NUL.
//! While the text is being written, family and number of bytes are there, and its words, 0 before, become what they
//! are in order: so another thread can complete it.
//!
//! A lane has one writer at a time. Its head:
//!
//! | word | content | written by |
//! |---|---|---|
//! | 0 | owner: process (low), thread (high); 0 for none | who takes it |
//! | 1 | committed: position behind the last complete record (44 bits), events modulo 2^20 | its writer |
//! | 2 | oldest: position of the oldest packet that is not overwritten | its writer |
//! | 3 | events lost for want of room | its writer |
//! | 8 | consumed: position up to which records were taken out | who takes them out |
//! | 9 | events lost, as word 3 was at the last clear | who clears |
//!
//! A *position* counts words since the lane began and never goes back; the word lies at
//! `position % (packets * words of a packet)` of the lane's packets.

use super::{ClockFacts, EVENT_IDS, FullPolicy, PacketHeader, VERSION, join, split};

/// `TWSTREAM`, read as a little-endian number.
pub const MAGIC: u64 = u64::from_le_bytes(*b"TWSTREAM");

/// Words of the header.
pub const HEADER: usize = 512;
/// Words of an event type's slot.
pub const TYPE_WORDS: usize = 64;
/// Longest text of an event type, in bytes.
pub const TYPE_TEXT: usize = (TYPE_WORDS - 1) * 8;
/// Words of a lane's head: two cache lines, one for its writer and one for who takes records out.
pub const LANE_WORDS: usize = 16;
/// Words of a bitmap of all event ids.
pub const BITMAP: usize = EVENT_IDS / 64;

/// Positions of single words in the header.
pub mod at {
    /// [`super::MAGIC`].
    pub const MAGIC: usize = 0;
    /// The clock.
    pub const CLOCK: [usize; 5] = [9, 10, 11, 12, 13];
    /// The process that made the stream.
    pub const PROCESS: usize = 14;
    /// State of the stream.
    pub const STATE: usize = 16;
    /// Families that are not recorded.
    pub const FAMILIES: usize = 17;
    /// How many wait for events.
    pub const WAITERS: usize = 18;
    /// What they wait at.
    pub const WAKE: usize = 19;
    /// Events lost because no lane was free, or of no id.
    pub const LOST_UNPLACED: usize = 20;
    /// Events lost while a full stream was suspended.
    pub const LOST_SUSPENDED: usize = 21;
    /// First error of the flushes.
    pub const FLUSH_ERROR: usize = 22;
    /// Whether a flush is under way.
    pub const FLUSHING: usize = 23;
    /// Events that never reached the log.
    pub const LOST_LOG: usize = 24;
    /// The gate.
    pub const GATE: usize = 32;
    /// Ids that the filter stops.
    pub const FILTER: usize = 64;
    /// Ids that have an event type.
    pub const DEFINED: usize = 96;
}

/// Positions of words in a lane's head.
pub mod lane {
    /// Process and thread that own the lane.
    pub const OWNER: usize = 0;
    /// Position behind the last complete record, and events.
    pub const COMMITTED: usize = 1;
    /// Position of the oldest packet.
    pub const OLDEST: usize = 2;
    /// Events lost for want of room.
    pub const LOST: usize = 3;
    /// Position up to which records were taken out.
    pub const CONSUMED: usize = 8;
    /// Events lost at the last clear.
    pub const LOST_CLEARED: usize = 9;
}

/// Word 0 of an event type's slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TypeHead {
    /// 0 free, 1 being written, 2 there.
    pub state: u16,
    /// Its family, a bit of the gate.
    pub family: u16,
    /// Bytes of its text.
    pub length: u32,
}

impl TypeHead {
    /// The state of a slot that somebody fills.
    pub const CLAIMED: u16 = 1;
    /// The state of a slot that can be read.
    pub const READY: u16 = 2;

    /// As a word.
    pub const fn pack(self) -> u64 {
        self.state as u64 | (self.family as u64) << 16 | (self.length as u64) << 32
    }

    /// From a word.
    pub const fn unpack(word: u64) -> Self {
        Self { state: word as u16, family: (word >> 16) as u16, length: (word >> 32) as u32 }
    }
}

/// Bits of a position in the word `committed`; the others count events.
pub const POSITION_BITS: u32 = 44;

/// The word `committed`: a position and a number of events modulo 2^20.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Committed(pub u64);

impl Committed {
    /// What one more event adds to the word, beside its words.
    pub const EVENT: u64 = 1 << POSITION_BITS;

    /// Puts the two parts together.
    #[inline]
    pub const fn new(position: u64, events: u64) -> Self {
        Self(position & (Self::EVENT - 1) | events << POSITION_BITS)
    }

    /// The position.
    #[inline]
    pub const fn position(self) -> u64 {
        self.0 & (Self::EVENT - 1)
    }

    /// Events between an earlier number of events, which is known in full, and this word; right for
    /// fewer than 2^20.
    #[inline]
    pub const fn events_since(self, earlier: u64) -> u64 {
        (self.0 >> POSITION_BITS).wrapping_sub(earlier) & ((1 << (64 - POSITION_BITS)) - 1)
    }
}

/// Whether a stream records.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// It was not started, or was stopped.
    Suspended,
    /// It records.
    Running,
    /// It stopped itself because it is full.
    Full,
}

impl State {
    /// The number that stands for it.
    pub const fn code(self) -> u64 {
        match self {
            Self::Suspended => 0,
            Self::Running => 1,
            Self::Full => 2,
        }
    }

    /// What a number stands for.
    pub const fn of_code(code: u64) -> Self {
        match code {
            1 => Self::Running,
            2 => Self::Full,
            _ => Self::Suspended,
        }
    }

    /// The word for it in output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Suspended => "suspended",
            Self::Running => "running",
            Self::Full => "suspended, full",
        }
    }
}

/// How large the parts of an image are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Geometry {
    /// Lanes, 1 to 4096.
    pub lanes: u32,
    /// Packets of a lane, 2 to 65536.
    pub packets: u32,
    /// Words of a packet, 64 to 131072.
    pub packet_words: u32,
}

impl Geometry {
    /// The geometry itself if it is within the limits above.
    pub const fn checked(self) -> Option<Self> {
        let lanes = matches!(self.lanes, 1..=4096);
        let packets = matches!(self.packets, 2..=65536);
        let sane = lanes && packets && matches!(self.packet_words, 64..=131_072);
        if sane && self.is_addressable() { Some(self) } else { None }
    }

    /// Returns true if this machine can address the whole, which 32 bits cannot for the largest sizes.
    const fn is_addressable(self) -> bool {
        let words = self.data() as u64 + self.lanes as u64 * self.lane_words();
        words <= isize::MAX as u64 / 8
    }

    /// Where event types begin.
    pub const fn types(self) -> usize {
        HEADER
    }

    /// Where lane heads begin.
    pub const fn heads(self) -> usize {
        HEADER + EVENT_IDS * TYPE_WORDS
    }

    /// The head of a lane.
    pub const fn head(self, lane: usize) -> usize {
        self.heads() + lane * LANE_WORDS
    }

    /// Where packets begin: at a page.
    pub const fn data(self) -> usize {
        (self.heads() + self.lanes as usize * LANE_WORDS).next_multiple_of(512)
    }

    /// Words of a lane's packets.
    pub const fn lane_words(self) -> u64 {
        self.packets as u64 * self.packet_words as u64
    }

    /// The packets of a lane.
    pub const fn lane(self, lane: usize) -> usize {
        self.data() + lane * self.lane_words() as usize
    }

    /// Words of everything.
    pub const fn total(self) -> usize {
        self.lane(self.lanes as usize)
    }

    /// Most words of one record.
    pub const fn longest_record(self) -> usize {
        let room = self.packet_words as usize - PacketHeader::WORDS - 2;
        if room > u16::MAX as usize { u16::MAX as usize } else { room }
    }
}

/// What never changes in the header of an image.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ImageHeader {
    /// Sizes.
    pub geometry: Geometry,
    /// What happens when it is full.
    pub policy: FullPolicy,
    /// Its clock.
    pub clock: ClockFacts,
    /// The process that made it.
    pub process: u32,
}

/// Why words are not the header of an image.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ImageError {
    /// They do not begin with the magic.
    NoImage,
    /// The version is one of the future.
    Version(u32),
    /// A word holds what it cannot.
    Word(usize),
}

impl core::fmt::Display for ImageError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::NoImage => f.write_str("expected TWSTREAM at its start"),
            Self::Version(found) => write!(f, "expected version 1, found {found}"),
            Self::Word(word) => write!(f, "word {word} of the header is damaged"),
        }
    }
}

impl core::error::Error for ImageError {}

impl ImageHeader {
    /// Number of words that never change.
    pub const WORDS: usize = 15;

    /// As words.
    pub fn words(&self) -> [u64; Self::WORDS] {
        let Geometry { lanes, packets, packet_words } = self.geometry;
        let mut words = [
            MAGIC,
            join(VERSION, HEADER as u32),
            self.geometry.total() as u64,
            join(lanes, packets),
            join(packet_words, self.policy.code() as u32),
            join(EVENT_IDS as u32, TYPE_WORDS as u32),
            self.geometry.types() as u64,
            self.geometry.heads() as u64,
            self.geometry.data() as u64,
            0,
            0,
            0,
            0,
            0,
            u64::from(self.process),
        ];
        for (index, word) in at::CLOCK.into_iter().zip(self.clock.words()) {
            words[index] = word;
        }
        words
    }

    /// From words. Every size in the result is within its limits.
    ///
    /// # Errors
    /// Where a word cannot be what it is.
    pub fn of_words(words: &[u64; Self::WORDS]) -> Result<Self, ImageError> {
        if words[0] != MAGIC {
            return Err(ImageError::NoImage);
        }
        let (version, header) = split(words[1]);
        if version != VERSION {
            return Err(ImageError::Version(version));
        }
        let (lanes, packets) = split(words[3]);
        let (packet_words, policy) = split(words[4]);
        let geometry = Geometry { lanes, packets, packet_words };
        let geometry = geometry.checked().ok_or(ImageError::Word(3))?;
        let policy = FullPolicy::of_code(u64::from(policy)).ok_or(ImageError::Word(4))?;
        let expected = [
            (1, join(version, header), join(VERSION, HEADER as u32)),
            (2, words[2], geometry.total() as u64),
            (5, words[5], join(EVENT_IDS as u32, TYPE_WORDS as u32)),
            (6, words[6], geometry.types() as u64),
            (7, words[7], geometry.heads() as u64),
            (8, words[8], geometry.data() as u64),
        ];
        if let Some((word, _, _)) = expected.iter().find(|(_, found, wanted)| found != wanted) {
            return Err(ImageError::Word(*word));
        }
        let clock = ClockFacts::of_words(at::CLOCK.map(|index| words[index]));
        Ok(Self { geometry, policy, clock, process: words[at::PROCESS] as u32 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn position_and_events_share_a_word() {
        let committed = Committed::new(0x123_4567_89AB, (1 << 20) + 5);
        assert_eq!(committed.position(), 0x123_4567_89AB);
        assert_eq!(committed.events_since((1 << 20) - 1), 6);
        let later = Committed(committed.0.wrapping_add(Committed::EVENT + 3));
        assert_eq!((later.position(), later.events_since(5)), (0x123_4567_89AE, 1));
    }

    #[test]
    fn an_image_that_this_machine_cannot_address_is_refused() {
        let largest = Geometry { lanes: 4096, packets: 65536, packet_words: 131_072 };
        assert_eq!(largest.checked().is_some(), cfg!(target_pointer_width = "64"));
        let small = Geometry { lanes: 64, packets: 16, packet_words: 8192 };
        assert_eq!(small.checked(), Some(small));
    }

    #[test]
    fn bitmaps_do_not_overlap() {
        assert_eq!(at::FILTER + BITMAP, at::DEFINED);
        const { assert!(at::DEFINED + BITMAP <= HEADER) };
    }
}
