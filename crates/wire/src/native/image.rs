//! A stream's memory, word by word.
//!
//! | words | content | written by |
//! |---|---|---|
//! | 0 | [`MAGIC`] | creator, last |
//! | 1 | version (low half), words of this header (high half) | creator |
//! | 2 | words of the whole image | creator |
//! | 3 | lanes (low half), packets per lane (high half) | creator |
//! | 4 | words per packet (low half), policy (high half) | creator |
//! | 5 | event ids (low half), words per event type (high half) | creator |
//! | 6, 7, 8 | positions of event types, lane headers and packets, in words | creator |
//! | 9 to 13 | the clock ([`ClockFacts`]) | creator |
//! | 14 | process that created the stream | creator |
//! | 16 | state ([`State`]) | controller |
//! | 17 | families that are not recorded, one bit each | controller |
//! | 18 | 1 while a reader waits for events, and else 0 | readers that wait |
//! | 19 | incremented to wake waiting readers (low half, a futex) | recording threads |
//! | 20 | events lost because no lane was free or their type had no id | recording threads |
//! | 21 | events lost while a full stream was suspended | recording threads |
//! | 22 | error number of the first flush that failed, 0 if none | flusher |
//! | 23 | 1 during a flush | flusher |
//! | 24 | events that were in the stream but never reached its log | flusher |
//! | 32 | gate: a set bit stops its family; the last bit requests the slow path | all |
//! | 64 to 95 | ids that the filter stops, one bit each | controller |
//! | 96 to 127 | ids that have an event type, one bit each | definer of the type |
//!
//! Each event id has a slot for its type. Word 0 holds the state (16 bits: 0 free, 1 being written,
//! 2 complete), the family (16 bits) and the length of the text in bytes (high half). The text
//! follows; it contains no NUL. While a slot is being written, its family and length are already
//! final. The words of the text change from 0 to their final values in order, so that another
//! thread can complete the slot.
//!
//! A lane has one writer at a time. The header of a lane:
//!
//! | word | content | written by |
//! |---|---|---|
//! | 0 | owner: process (low half), thread (high half); 0 if free | its next owner |
//! | 1 | committed: end of the last complete record (44 bits), events modulo 2^20 | its writer |
//! | 2 | oldest: position of the oldest packet that is not overwritten | its writer |
//! | 3 | events lost because the lane was full | its writer |
//! | 8 | consumed: position up to which records were taken out | a reader |
//! | 9 | value of word 3 at the last clear | controller |
//!
//! A *position* counts words since the lane began and never decreases. A position refers to word
//! `position % (packets per lane * words per packet)` of the lane's packets.

use super::{ClockFacts, EVENT_IDS, FullPolicy, PacketHeader, VERSION, join, split};

/// `TWSTREAM`, read as a little-endian number.
pub const MAGIC: u64 = u64::from_le_bytes(*b"TWSTREAM");

/// Length of the header in words.
pub const HEADER: usize = 512;
/// Length of an event type's slot in words.
pub const TYPE_WORDS: usize = 64;
/// Maximum length of an event type's definition in bytes.
pub const TYPE_TEXT: usize = (TYPE_WORDS - 1) * 8;
/// Length of a lane header in words: one cache line for the writer, one for the reader that
/// consumes records.
pub const LANE_WORDS: usize = 16;
/// Length in words of a bitmap over all event ids.
pub const BITMAP: usize = EVENT_IDS / 64;

/// Positions of single words in the header.
pub mod at {
    /// Position of [`super::MAGIC`], the image's first word.
    pub const MAGIC: usize = 0;
    /// Positions of the clock's words.
    pub const CLOCK: [usize; 5] = [9, 10, 11, 12, 13];
    /// Position of the id of the process that created the stream.
    pub const PROCESS: usize = 14;
    /// Position of the state.
    pub const STATE: usize = 16;
    /// Position of the word that marks families that are not recorded.
    pub const FAMILIES: usize = 17;
    /// Position of a word that is 1 while a reader waits, and else 0.
    pub const WAITERS: usize = 18;
    /// Position of the word that readers wait on.
    pub const WAKE: usize = 19;
    /// Position of the count of events lost because no lane was free or their type had no id.
    pub const LOST_UNPLACED: usize = 20;
    /// Position of the count of events lost while a full stream was suspended.
    pub const LOST_SUSPENDED: usize = 21;
    /// Position of the error number of the first flush that failed.
    pub const FLUSH_ERROR: usize = 22;
    /// Position of the word that is 1 during a flush.
    pub const FLUSHING: usize = 23;
    /// Position of the count of events that never reached the log.
    pub const LOST_LOG: usize = 24;
    /// Position of the gate.
    pub const GATE: usize = 32;
    /// Position of the first word of the bitmap of ids that the filter stops.
    pub const FILTER: usize = 64;
    /// Position of the first word of the bitmap of ids that have an event type.
    pub const DEFINED: usize = 96;
}

/// Positions of words in a lane header.
pub mod lane {
    /// Position of the owner: process and thread.
    pub const OWNER: usize = 0;
    /// Position of the word with the end of the last complete record and the event count.
    pub const COMMITTED: usize = 1;
    /// Position of the word `oldest`, which holds the position of the oldest packet.
    pub const OLDEST: usize = 2;
    /// Position of the count of events lost because the lane was full.
    pub const LOST: usize = 3;
    /// Position of the word `consumed`; a reader has consumed all records before the position in
    /// this word.
    pub const CONSUMED: usize = 8;
    /// Position of the count of lost events at the last clear.
    pub const LOST_CLEARED: usize = 9;
}

/// Word 0 of an event type's slot.
///
/// ```
/// use tracewell_wire::native::image::TypeHeader;
///
/// let head = TypeHeader { state: TypeHeader::READY, family: 3, length: 24 };
/// assert_eq!(TypeHeader::unpack(head.pack()), head);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TypeHeader {
    /// 0 if free, else [`TypeHeader::CLAIMED`] or [`TypeHeader::READY`].
    pub state: u16,
    /// Number of the family, below [`FAMILIES`](super::FAMILIES).
    pub family: u16,
    /// Length of the definition in bytes.
    pub length: u32,
}

impl TypeHeader {
    /// State of a slot that is being written.
    pub const CLAIMED: u16 = 1;
    /// State of a complete slot.
    pub const READY: u16 = 2;

    /// Returns the header as one word, so that a single atomic store publishes it.
    pub const fn pack(self) -> u64 {
        self.state as u64 | (self.family as u64) << 16 | (self.length as u64) << 32
    }

    /// Returns the header that [`TypeHeader::pack`] encoded in this word.
    pub const fn unpack(word: u64) -> Self {
        Self { state: word as u16, family: (word >> 16) as u16, length: (word >> 32) as u32 }
    }
}

/// Number of bits of a position in the word `committed`; the remaining bits count events.
pub const POSITION_BITS: u32 = 44;

/// The word `committed`: a position, and a number of events modulo 2^20.
///
/// ```
/// use tracewell_wire::native::image::Committed;
///
/// let committed = Committed::new(640, 1_000_007);
/// assert_eq!(committed.position(), 640);
/// assert_eq!(committed.events_since(1_000_000), 7);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Committed(pub u64);

impl Committed {
    /// For each event, the writer adds this number and the event's number of words to the word
    /// `committed`.
    pub const EVENT: u64 = 1 << POSITION_BITS;

    /// Combines a position and a number of events.
    #[inline]
    pub const fn new(position: u64, events: u64) -> Self {
        Self(position & (Self::EVENT - 1) | events << POSITION_BITS)
    }

    /// Returns the position, without the number of events.
    #[inline]
    pub const fn position(self) -> u64 {
        self.0 & (Self::EVENT - 1)
    }

    /// Returns the number of events since the event count was `earlier`. `earlier` is a full count,
    /// not a count modulo 2^20. The result is correct for fewer than 2^20 events.
    #[inline]
    pub const fn events_since(self, earlier: u64) -> u64 {
        // The word holds only the low 20 bits, so the difference is correct modulo 2^20.
        (self.0 >> POSITION_BITS).wrapping_sub(earlier) & ((1 << (64 - POSITION_BITS)) - 1)
    }
}

/// State of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// Not started yet, or stopped.
    Suspended,
    /// Started: events are recorded.
    Running,
    /// The stream stopped itself, because it is full.
    Full,
}

impl State {
    /// Returns the number that encodes the state in the format.
    pub const fn code(self) -> u64 {
        match self {
            Self::Suspended => 0,
            Self::Running => 1,
            Self::Full => 2,
        }
    }

    /// Returns the state that `code` encodes. Unknown numbers count as suspended.
    pub const fn of_code(code: u64) -> Self {
        match code {
            1 => Self::Running,
            2 => Self::Full,
            _ => Self::Suspended,
        }
    }

    /// Returns the state's name for output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Suspended => "suspended",
            Self::Running => "running",
            Self::Full => "suspended, full",
        }
    }
}

/// The sizes of an image's parts.
///
/// ```
/// use tracewell_wire::native::image::Geometry;
///
/// let geometry = Geometry { lanes: 4, packets: 16, packet_words: 1024 };
/// assert_eq!(geometry.checked(), Some(geometry));
/// assert_eq!(geometry.total(), geometry.data() + 4 * 16 * 1024);
/// assert_eq!(Geometry { lanes: 0, ..geometry }.checked(), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Geometry {
    /// Number of lanes, 1 to 4096.
    pub lanes: u32,
    /// Packets per lane, 2 to 65536.
    pub packets: u32,
    /// Words per packet, 64 to 131072.
    pub packet_words: u32,
}

impl Geometry {
    /// Returns the geometry if its sizes are within their limits.
    pub const fn checked(self) -> Option<Self> {
        let lanes = matches!(self.lanes, 1..=4096);
        let packets = matches!(self.packets, 2..=65536);
        let sane = lanes && packets && matches!(self.packet_words, 64..=131_072);
        if sane && self.is_addressable() { Some(self) } else { None }
    }

    /// Returns true if this machine can address the whole image. A 32-bit machine cannot address
    /// the largest sizes.
    const fn is_addressable(self) -> bool {
        // Compute in 64 bits, because the products can overflow `usize` on a 32-bit machine.
        let words = self.data() as u64 + self.lanes as u64 * self.lane_words();
        words <= isize::MAX as u64 / 8
    }

    /// Returns the position of the first event type.
    pub const fn types(self) -> usize {
        HEADER
    }

    /// Returns the position of the first lane header.
    pub const fn heads(self) -> usize {
        HEADER + EVENT_IDS * TYPE_WORDS
    }

    /// Returns the position of a lane's header.
    pub const fn head(self, lane: usize) -> usize {
        self.heads() + lane * LANE_WORDS
    }

    /// Returns the position of the first packet, a multiple of 512 words (a page of 4 KiB).
    pub const fn data(self) -> usize {
        (self.heads() + self.lanes as usize * LANE_WORDS).next_multiple_of(512)
    }

    /// Returns the number of words of a lane's packets.
    pub const fn lane_words(self) -> u64 {
        self.packets as u64 * self.packet_words as u64
    }

    /// Returns the position of a lane's first packet.
    pub const fn lane(self, lane: usize) -> usize {
        self.data() + lane * self.lane_words() as usize
    }

    /// Returns the number of words of the whole image.
    pub const fn total(self) -> usize {
        self.lane(self.lanes as usize)
    }

    /// Returns the maximum length of one record in words. The record must fit into an empty packet
    /// after the packet header and a [`REBASE`](super::REBASE) record.
    pub const fn max_record_words(self) -> usize {
        let room = self.packet_words as usize - PacketHeader::WORDS - 2;
        // The record header has 16 bits for the number of words.
        if room > u16::MAX as usize { u16::MAX as usize } else { room }
    }
}

/// The words of an image's header that never change.
///
/// ```
/// use tracewell_wire::native::image::{Geometry, ImageError, ImageHeader};
/// use tracewell_wire::native::{ClockFacts, ClockKind, FullPolicy};
///
/// let clock = ClockFacts {
///     kind: ClockKind::Counter,
///     ticks_per_second: 2_100_000_000,
///     origin: 1_000_000,
///     origin_realtime: 1_700_000_000_000_000_000,
///     origin_monotonic: 5_000_000_000,
/// };
/// let geometry = Geometry { lanes: 4, packets: 16, packet_words: 1024 };
/// let header = ImageHeader { geometry, policy: FullPolicy::Loop, clock, process: 42 };
///
/// let mut words = header.words();
/// assert_eq!(ImageHeader::of_words(&words), Ok(header));
/// words[0] = 0;
/// assert_eq!(ImageHeader::of_words(&words), Err(ImageError::NoImage));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ImageHeader {
    /// Sizes of the image's parts.
    pub geometry: Geometry,
    /// Policy for a full stream.
    pub policy: FullPolicy,
    /// The clock that counts the ticks of the stream.
    pub clock: ClockFacts,
    /// Id of the process that created the stream.
    pub process: u32,
}

/// Error for words that are not the header of an image.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ImageError {
    /// The first word is not [`MAGIC`].
    NoImage,
    /// The format version is not supported.
    Version(u32),
    /// This word of the header has an impossible value.
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

    /// Returns the header in the form that is stored at the start of an image.
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
            // Words 9 to 13 describe the clock; the code below stores them.
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

    /// Decodes a header. Checks that all sizes are within their limits, and that every position
    /// agrees with the sizes.
    ///
    /// # Errors
    /// Returns an error if the words are not a valid header of this version.
    pub fn of_words(words: &[u64; Self::WORDS]) -> Result<Self, ImageError> {
        if words[0] != MAGIC {
            return Err(ImageError::NoImage);
        }
        // Check the version first: a later version can give all other words another meaning.
        let (version, header) = split(words[1]);
        if version != VERSION {
            return Err(ImageError::Version(version));
        }
        let (lanes, packets) = split(words[3]);
        let (packet_words, policy) = split(words[4]);
        let geometry = Geometry { lanes, packets, packet_words };
        // The limits on the sizes keep the sums below from overflowing.
        let geometry = geometry.checked().ok_or(ImageError::Word(3))?;
        let policy = FullPolicy::of_code(u64::from(policy)).ok_or(ImageError::Word(4))?;
        // The geometry determines these words. Check every word, because a writer and a reader that
        // computed different positions would corrupt each other's memory.
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
    fn the_longest_record_fits_in_a_packet_and_its_length_in_16_bits() {
        let longest =
            |packet_words| Geometry { lanes: 1, packets: 2, packet_words }.max_record_words();
        // Besides the record, a packet contains its header and a rebase record of two words.
        assert_eq!(longest(512), 512 - PacketHeader::WORDS - 2);
        assert_eq!(longest(1 << 17), 0xFFFF);
    }

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
