//! Tracewell's own format: the stream image in memory and the log in a file.
//!
//! Image and log consist of little-endian 64-bit **words**, and hold the same **packets**:
//!
//! | file | what it defines |
//! |---|---|
//! | `record` | one event: a header word and one word per field |
//! | `packet` | a run of records of one thread, readable without any other packet |
//! | `image` | a stream's memory: header, filters, event types, lanes |
//! | `block` | the unit of a log: length, checksum, kind, and the body of each kind |
//! | `index` | where a log contains the events of a time span |
//! | `event_type` | name, family and fields of an event as text |
//! | `kernel` | the event types with which kernels and executors record what they do |
//! | `crc` | CRC-32C, the checksum of a block |
//!
//! `docs/native-format.md` describes the format for independent implementations.
//! `tracewell_record::stream` defines the rules for shared memory: who can store which word, when,
//! and which words a reader can trust.

pub mod block;
mod crc;
mod event_type;
pub mod image;
mod index;
pub mod kernel;
mod packet;
mod record;

pub use crc::{Crc32c, crc32c};
pub use event_type::{
    EventTypeText, Field, FieldKind, LEVEL_FAMILIES, PARENT_FIELD, SPAN_CLOSE, SPAN_ENTER,
    SPAN_EXIT, SPAN_FAMILY, SPAN_FIELD, SPAN_RECORD, TextError,
};
pub use index::IndexEntry;
pub use packet::PacketHeader;
pub use record::{REBASE, RecordHeader};

/// Version of image and log. A reader rejects later versions.
pub const VERSION: u32 = 1;

/// Length of a word in bytes.
pub const WORD: usize = 8;

/// Number of event ids. Id 0 is the clock's own record ([`REBASE`]).
pub const EVENT_IDS: usize = 2048;

/// Number of event families. Each family has a bit in the gate word. The last bit of the gate word
/// is set while a reader waits for events.
pub const FAMILIES: u32 = 63;

/// Returns word `index` of `bytes`, or `None` if `bytes` does not contain the whole word.
///
/// ```
/// use tracewell_wire::native::{put_words, word};
///
/// let mut bytes = [0; 16];
/// put_words(&mut bytes, &[7, 8]).unwrap();
/// assert_eq!((word(&bytes, 1), word(&bytes, 2)), (Some(8), None));
/// ```
#[inline]
pub fn word(bytes: &[u8], index: usize) -> Option<u64> {
    let start = index.checked_mul(WORD)?;
    bytes.get(start..)?.first_chunk().map(|word| u64::from_le_bytes(*word))
}

/// Stores words at the start of `bytes`. Returns `None`, and stores nothing, if the words do not
/// fit.
pub fn put_words(bytes: &mut [u8], words: &[u64]) -> Option<()> {
    let room = bytes.get_mut(..words.len().checked_mul(WORD)?)?;
    for (to, word) in room.as_chunks_mut::<WORD>().0.iter_mut().zip(words) {
        *to = word.to_le_bytes();
    }
    Some(())
}

/// Joins two halves into a word; the first argument is the low half. [`split`] is the inverse.
///
/// ```
/// use tracewell_wire::native::{join, split};
///
/// assert_eq!(join(1, 2), 0x2_0000_0001);
/// assert_eq!(split(join(1, 2)), (1, 2));
/// ```
#[inline]
pub const fn join(low: u32, high: u32) -> u64 {
    low as u64 | (high as u64) << 32
}

/// Returns the low and the high half of a word.
#[inline]
pub const fn split(word: u64) -> (u32, u32) {
    (word as u32, (word >> 32) as u32)
}

/// The source of a stream's timestamps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClockKind {
    /// The processor's cycle counter. Power states of the processor do not change the counter's
    /// rate.
    Counter,
    /// The operating system's monotonic clock, in nanoseconds.
    Monotonic,
    /// A clock that the program supplies.
    Custom,
}

impl ClockKind {
    /// Returns the number that encodes the kind in the format.
    pub const fn code(self) -> u64 {
        match self {
            Self::Counter => 1,
            Self::Monotonic => 2,
            Self::Custom => 3,
        }
    }

    /// Returns the kind of clock that `code` encodes. Unknown numbers count as custom clocks.
    pub const fn of_code(code: u64) -> Self {
        match code {
            1 => Self::Counter,
            2 => Self::Monotonic,
            _ => Self::Custom,
        }
    }

    /// Returns the name of the clock kind for output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Counter => "processor counter",
            Self::Monotonic => "monotonic clock",
            Self::Custom => "custom",
        }
    }
}

/// The policy of a full stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FullPolicy {
    /// Overwrites the oldest packet of the thread.
    Loop,
    /// Stops recording until all events have been read.
    UntilFull,
    /// Writes packets to a log. Events that arrive while no packet is empty are lost and counted.
    Flush,
}

impl FullPolicy {
    /// Returns the number that encodes the policy in the format.
    pub const fn code(self) -> u64 {
        match self {
            Self::Loop => 1,
            Self::UntilFull => 2,
            Self::Flush => 3,
        }
    }

    /// Returns the policy that `code` encodes, or `None` if there is none.
    pub const fn of_code(code: u64) -> Option<Self> {
        match code {
            1 => Some(Self::Loop),
            2 => Some(Self::UntilFull),
            3 => Some(Self::Flush),
            _ => None,
        }
    }

    /// Returns the policy's name for output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Loop => "loop",
            Self::UntilFull => "until full",
            Self::Flush => "flush",
        }
    }
}

/// A stream's clock, which relates its timestamps to time.
///
/// The three origins are readings of three clocks at one moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClockFacts {
    /// Source of the timestamps.
    pub kind: ClockKind,
    /// Rate in ticks per second; 0 if unknown.
    pub ticks_per_second: u64,
    /// Timestamp at the origin, in ticks.
    pub origin: u64,
    /// Wall clock at the origin, in nanoseconds since 1970 UTC.
    pub origin_realtime: u64,
    /// Monotonic clock at the origin, in nanoseconds.
    pub origin_monotonic: u64,
}

impl ClockFacts {
    /// Length in words, in image and log.
    pub const WORDS: usize = 5;

    /// Returns the words that an image or a log stores.
    pub const fn words(&self) -> [u64; Self::WORDS] {
        [
            self.kind.code(),
            self.ticks_per_second,
            self.origin,
            self.origin_realtime,
            self.origin_monotonic,
        ]
    }

    /// Decodes the words that [`ClockFacts::words`] returns.
    pub const fn of_words(words: [u64; Self::WORDS]) -> Self {
        let [kind, ticks_per_second, origin, origin_realtime, origin_monotonic] = words;
        let kind = ClockKind::of_code(kind);
        Self { kind, ticks_per_second, origin, origin_realtime, origin_monotonic }
    }
}
