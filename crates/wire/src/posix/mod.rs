//! POSIX trace streams (IEEE Std 1003.1-2001 to -2017, options TRC, TEF, TRI, TRL): what lies in shared
//! memory and in logs.
//!
//! Everything is a little-endian 64-bit word; the memory is read and stored as atomic words.
//!
//! | file | what it defines |
//! |---|---|
//! | `record` | one stored event |
//! | `set` | a set of event types |
//! | `object` | a stream's memory: state, filter, members, packets |
//! | `area` | what a process shares: which streams trace it; the names of its event types |
//! | `log` | the blocks of a log file |
//!
//! Who may store which word when is said in `tracewell_record::posix`. The standard fixes names of
//! constants and leaves the numbers to the implementation; these are ours, as in `trace.h`.

pub mod area;
pub mod log;
pub mod object;
mod record;
mod set;

pub use record::{
    FLAG_HIDDEN, FLAG_SYSTEM, FLAG_TRUNCATED, RECORD_WORDS, RecordHead, record_words,
};
pub use set::{EventSet, Fill};

/// Bytes of an event type's name at most, without a null (`TRACE_EVENT_NAME_MAX`).
pub const EVENT_NAME_MAX: usize = 63;
/// Bytes of a stream's name and of the generation version, with a null (`TRACE_NAME_MAX`).
pub const NAME_MAX: usize = 64;
/// Active streams of a user at one time (`TRACE_SYS_MAX`).
pub const SYS_MAX: usize = 64;
/// Named user event types of a name space (`TRACE_USER_EVENT_MAX`).
pub const USER_EVENT_MAX: usize = 1024;
/// Largest max-data-size, in bytes.
pub const DATA_MAX: usize = 65_536;

/// An internal failure; data: its error number (`int`).
pub const ERROR: u32 = 1;
/// Recording began; data: the filter in force.
pub const START: u32 = 2;
/// Recording ended; data: `int`, not 0 when the stream stopped by itself.
pub const STOP: u32 = 3;
/// Events began to be lost.
pub const OVERFLOW: u32 = 4;
/// The loss ended.
pub const RESUME: u32 = 5;
/// The filter changed; data: the old set and the new one.
pub const FILTER: u32 = 6;
/// A flush began.
pub const FLUSH_START: u32 = 7;
/// A flush ended.
pub const FLUSH_STOP: u32 = 8;
/// The user event without a name of its own.
pub const UNNAMED: u32 = 64;
/// The first named user event.
pub const FIRST_USER: u32 = 65;
/// The last named user event.
pub const LAST_USER: u32 = 64 + USER_EVENT_MAX as u32;

/// The names of the system event types, from id 1 on.
pub const SYSTEM_NAMES: [&str; 8] = [
    "posix_trace_error",
    "posix_trace_start",
    "posix_trace_stop",
    "posix_trace_overflow",
    "posix_trace_resume",
    "posix_trace_filter",
    "posix_trace_flush_start",
    "posix_trace_flush_stop",
];
/// The name of [`UNNAMED`].
pub const UNNAMED_NAME: &str = "posix_trace_unnamed_userevent";

/// The name of an event type that every stream has; `None` for all others.
pub fn fixed_name(id: u32) -> Option<&'static str> {
    if id == UNNAMED {
        return Some(UNNAMED_NAME);
    }
    SYSTEM_NAMES.get(id.checked_sub(1)? as usize).copied()
}

/// What happens when a stream is full.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StreamPolicy {
    /// The oldest records go.
    Loop,
    /// The stream suspends itself until it is empty.
    UntilFull,
    /// As until-full, and it flushes itself to its log.
    Flush,
}

impl StreamPolicy {
    /// `POSIX_TRACE_LOOP`, `_UNTIL_FULL` or `_FLUSH`.
    pub const fn code(self) -> u32 {
        match self {
            Self::Loop => 1,
            Self::UntilFull => 2,
            Self::Flush => 3,
        }
    }

    /// The policy of a number.
    pub const fn of_code(code: u32) -> Option<Self> {
        match code {
            1 => Some(Self::Loop),
            2 => Some(Self::UntilFull),
            3 => Some(Self::Flush),
            _ => None,
        }
    }
}

/// What happens when a log is full.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LogPolicy {
    /// The oldest records are replaced.
    Loop,
    /// The log ends there, and its stream stays suspended.
    UntilFull,
    /// The log grows.
    Append,
}

impl LogPolicy {
    /// `POSIX_TRACE_LOOP`, `_UNTIL_FULL` or `_APPEND`.
    pub const fn code(self) -> u32 {
        match self {
            Self::Loop => 1,
            Self::UntilFull => 2,
            Self::Append => 4,
        }
    }

    /// The policy of a number.
    pub const fn of_code(code: u32) -> Option<Self> {
        match code {
            1 => Some(Self::Loop),
            2 => Some(Self::UntilFull),
            4 => Some(Self::Append),
            _ => None,
        }
    }
}

/// Text in words, the rest 0, as much of it as fits.
pub fn text_words<const N: usize>(text: &[u8]) -> [u64; N] {
    let mut words = [0; N];
    for (word, piece) in words.iter_mut().zip(text.chunks(8)) {
        let mut bytes = [0; 8];
        for (to, byte) in bytes.iter_mut().zip(piece) {
            *to = *byte;
        }
        *word = u64::from_le_bytes(bytes);
    }
    words
}

/// The bytes of words, which end before their first null or with them; returns how many there are.
pub fn text_of_words(words: &[u64], to: &mut [u8]) -> usize {
    let bytes = words.iter().flat_map(|word| word.to_le_bytes()).take_while(|byte| *byte != 0);
    to.iter_mut().zip(bytes).map(|(to, byte)| *to = byte).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_survives_words() {
        let words: [u64; 2] = text_words(b"a name of 16 byt");
        let mut bytes = [0; 16];
        assert_eq!(text_of_words(&words, &mut bytes), 16);
        assert_eq!(&bytes, b"a name of 16 byt");
        let words: [u64; 2] = text_words(b"short");
        assert_eq!(text_of_words(&words, &mut bytes), 5);
        assert_eq!(&bytes[..5], b"short");
    }

    #[test]
    fn every_fixed_type_has_its_name() {
        assert_eq!(fixed_name(START), Some("posix_trace_start"));
        assert_eq!(fixed_name(FLUSH_STOP), Some("posix_trace_flush_stop"));
        assert_eq!(fixed_name(UNNAMED), Some(UNNAMED_NAME));
        assert_eq!([0, 9, 63, FIRST_USER].map(fixed_name), [None; 4]);
    }
}
