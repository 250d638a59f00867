//! Tracewell's own format: the stream image in memory and the log in a file.
//!
//! Everything is a little-endian 64-bit **word**. Two containers hold the same **packets**:
//!
//! | file | what it defines |
//! |---|---|
//! | `record` | one event: a head word and its fields, a word each |
//! | `packet` | a run of records of one thread, with what is needed to read it alone |
//! | `image` | a stream's memory: header, filters, event types, lanes |
//! | `block` | a log's unit: length, checksum, kind; what each kind holds |
//! | `index` | where in a log which times are |
//! | `event_type` | name, family and fields of an event as text |
//! | `crc` | the checksum of a block, CRC-32C |
//!
//! The whole format is described for other people's readers in `docs/native-format.md`.
//! Who may store which word when, and who may believe it, is said in
//! `tracewell_record::stream`, which records.

pub mod block;
mod crc;
mod event_type;
pub mod image;
mod index;
mod packet;
mod record;

pub use crc::{Crc32c, crc32c};
pub use event_type::{EventTypeText, Field, FieldKind, SPAN_ENTER, SPAN_EXIT, TextError};
pub use index::IndexEntry;
pub use packet::PacketHeader;
pub use record::{REBASE, RecordHead};

/// Version of both containers. A reader refuses a larger one.
pub const VERSION: u32 = 1;

/// Bytes of a word.
pub const WORD: usize = 8;

/// Ids of events lie below this; 0 is the clock's own record ([`REBASE`]).
pub const EVENT_IDS: usize = 2048;

/// Families lie below this: a family is a bit of the gate word, whose last bit means that somebody
/// waits for events.
pub const FAMILIES: u32 = 63;

/// Word number `index` of some bytes; `None` where they end before it does.
#[inline]
pub fn word(bytes: &[u8], index: usize) -> Option<u64> {
    let start = index.checked_mul(WORD)?;
    bytes.get(start..)?.first_chunk().map(|word| u64::from_le_bytes(*word))
}

/// Stores words at the start of some bytes; `None` where they do not fit.
pub fn put_words(bytes: &mut [u8], words: &[u64]) -> Option<()> {
    let room = bytes.get_mut(..words.len().checked_mul(WORD)?)?;
    for (to, word) in room.as_chunks_mut::<WORD>().0.iter_mut().zip(words) {
        *to = word.to_le_bytes();
    }
    Some(())
}

/// Two halves of a word: the low one first.
#[inline]
pub const fn join(low: u32, high: u32) -> u64 {
    low as u64 | (high as u64) << 32
}

/// The low and the high half of a word.
#[inline]
pub const fn split(word: u64) -> (u32, u32) {
    (word as u32, (word >> 32) as u32)
}

/// How a stream's clock counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClockKind {
    /// The processor's counter, which runs at one rate in all states of the processor.
    Counter,
    /// The operating system's monotonic clock, in nanoseconds.
    Monotonic,
    /// Whatever the program gave.
    Custom,
}

impl ClockKind {
    /// The number that stands for it.
    pub const fn code(self) -> u64 {
        match self {
            Self::Counter => 1,
            Self::Monotonic => 2,
            Self::Custom => 3,
        }
    }

    /// What a number stands for; unknown ones are custom clocks.
    pub const fn of_code(code: u64) -> Self {
        match code {
            1 => Self::Counter,
            2 => Self::Monotonic,
            _ => Self::Custom,
        }
    }

    /// The word for it in output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Counter => "processor counter",
            Self::Monotonic => "monotonic clock",
            Self::Custom => "custom",
        }
    }
}

/// What happens when a stream is full.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FullPolicy {
    /// The oldest packet of the thread is overwritten.
    Loop,
    /// Recording stops by itself until everything was read.
    UntilFull,
    /// Packets are written to a log; events that find none empty are lost, and counted.
    Flush,
}

impl FullPolicy {
    /// The number that stands for it.
    pub const fn code(self) -> u64 {
        match self {
            Self::Loop => 1,
            Self::UntilFull => 2,
            Self::Flush => 3,
        }
    }

    /// What a number stands for.
    pub const fn of_code(code: u64) -> Option<Self> {
        match code {
            1 => Some(Self::Loop),
            2 => Some(Self::UntilFull),
            3 => Some(Self::Flush),
            _ => None,
        }
    }

    /// The word for it in output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Loop => "loop",
            Self::UntilFull => "until full",
            Self::Flush => "flush",
        }
    }
}

/// A stream's clock: what a stamp is in time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClockFacts {
    /// Where stamps come from.
    pub kind: ClockKind,
    /// Stamps a second; 0 where nobody knows.
    pub ticks_per_second: u64,
    /// A stamp ...
    pub origin: u64,
    /// ... and the wall clock at that moment: nanoseconds since 1970 UTC.
    pub origin_realtime: u64,
    /// ... and the monotonic clock at that moment, in nanoseconds.
    pub origin_monotonic: u64,
}

impl ClockFacts {
    /// Number of words in either container.
    pub const WORDS: usize = 5;

    /// As words.
    pub const fn words(&self) -> [u64; Self::WORDS] {
        [
            self.kind.code(),
            self.ticks_per_second,
            self.origin,
            self.origin_realtime,
            self.origin_monotonic,
        ]
    }

    /// From words.
    pub const fn of_words(words: [u64; Self::WORDS]) -> Self {
        let [kind, ticks_per_second, origin, origin_realtime, origin_monotonic] = words;
        let kind = ClockKind::of_code(kind);
        Self { kind, ticks_per_second, origin, origin_realtime, origin_monotonic }
    }
}
