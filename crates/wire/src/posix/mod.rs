//! POSIX trace streams (IEEE Std 1003.1-2001 to -2017, options TRC, TEF, TRI, TRL): the layout of
//! shared memory and of logs.
//!
//! All data are little-endian 64-bit words. Loads and stores of shared memory are atomic.
//!
//! | file | what it defines |
//! |---|---|
//! | `record` | one stored event |
//! | `set` | a set of event types |
//! | `object` | a stream's memory: state, filter, members, packets |
//! | `area` | a process's shared memory: the streams that trace it, the names of its event types |
//! | `log` | the blocks of a log file |
//!
//! `tracewell_record::posix` defines who can store which word, and when. The standard defines the
//! names of the constants and leaves the values to the implementation. Our values are the values in
//! `trace.h`.

pub mod area;
pub mod log;
pub mod object;
mod record;
mod set;

pub use record::{
    FLAG_HIDDEN, FLAG_SYSTEM, FLAG_TRUNCATED, RECORD_WORDS, RecordHeader, record_words,
};
pub use set::{EventSet, Fill};

/// Maximum length of an event type's name in bytes, without NUL (`TRACE_EVENT_NAME_MAX`).
pub const EVENT_NAME_MAX: usize = 63;
/// Maximum length of a stream's name and of the generation version in bytes, with NUL
/// (`TRACE_NAME_MAX`).
pub const NAME_MAX: usize = 64;
/// Maximum number of active streams of a user (`TRACE_SYS_MAX`).
pub const SYS_MAX: usize = 64;
/// Maximum number of named user event types in a name space (`TRACE_USER_EVENT_MAX`).
pub const USER_EVENT_MAX: usize = 1024;
/// Maximum value of max-data-size, in bytes.
pub const DATA_MAX: usize = 65_536;

/// System event: an internal failure. Data: the error number (`int`).
pub const ERROR: u32 = 1;
/// System event: recording began. Data: the current filter.
pub const START: u32 = 2;
/// System event: recording ended. Data: an `int` that is nonzero if the stream stopped by itself.
pub const STOP: u32 = 3;
/// System event: the stream began to lose events.
pub const OVERFLOW: u32 = 4;
/// System event: the stream no longer loses events.
pub const RESUME: u32 = 5;
/// System event: the filter changed. Data: the old set and the new set.
pub const FILTER: u32 = 6;
/// System event: a flush began.
pub const FLUSH_START: u32 = 7;
/// System event: a flush ended.
pub const FLUSH_STOP: u32 = 8;
/// Id of the unnamed user event.
pub const UNNAMED: u32 = 64;
/// Id of the first named user event.
pub const FIRST_USER: u32 = 65;
/// Id of the last named user event.
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

/// Returns the name of an event type that every stream has, or `None` for other ids.
pub fn fixed_name(id: u32) -> Option<&'static str> {
    if id == UNNAMED {
        return Some(UNNAMED_NAME);
    }
    SYSTEM_NAMES.get(id.checked_sub(1)? as usize).copied()
}

/// The policy of a full stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StreamPolicy {
    /// Discards the oldest records.
    Loop,
    /// The stream suspends itself until all events have been read.
    UntilFull,
    /// As with until-full, the stream suspends itself; it then flushes its records to its log.
    Flush,
}

impl StreamPolicy {
    /// Returns the value of `POSIX_TRACE_LOOP`, `POSIX_TRACE_UNTIL_FULL` or `POSIX_TRACE_FLUSH`.
    pub const fn code(self) -> u32 {
        match self {
            Self::Loop => 1,
            Self::UntilFull => 2,
            Self::Flush => 3,
        }
    }

    /// Returns the policy with this value, or `None` if no policy has it.
    pub const fn of_code(code: u32) -> Option<Self> {
        match code {
            1 => Some(Self::Loop),
            2 => Some(Self::UntilFull),
            3 => Some(Self::Flush),
            _ => None,
        }
    }
}

/// The policy of a full log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LogPolicy {
    /// Newer records overwrite the oldest.
    Loop,
    /// The log ends, and its stream stays suspended.
    UntilFull,
    /// The log grows without limit.
    Append,
}

impl LogPolicy {
    /// Returns the value of `POSIX_TRACE_LOOP`, `POSIX_TRACE_UNTIL_FULL` or `POSIX_TRACE_APPEND`.
    pub const fn code(self) -> u32 {
        match self {
            Self::Loop => 1,
            Self::UntilFull => 2,
            Self::Append => 4,
        }
    }

    /// Returns the policy with this value, or `None` if no policy has it.
    pub const fn of_code(code: u32) -> Option<Self> {
        match code {
            1 => Some(Self::Loop),
            2 => Some(Self::UntilFull),
            4 => Some(Self::Append),
            _ => None,
        }
    }
}

/// Encodes text in `N` words, padded with 0. Truncates text that does not fit.
///
/// ```
/// use tracewell_wire::posix::{text_of_words, text_words};
///
/// let words: [u64; 2] = text_words(b"motor");
/// let mut text = [0; 16];
/// let length = text_of_words(&words, &mut text);
/// assert_eq!(&text[..length], b"motor");
/// ```
pub fn text_words<const N: usize>(text: &[u8]) -> [u64; N] {
    let mut words = [0; N];
    for (word, piece) in words.iter_mut().zip(text.chunks(8)) {
        // The last chunk can be shorter; zeros pad its word.
        let mut bytes = [0; 8];
        for (to, byte) in bytes.iter_mut().zip(piece) {
            *to = *byte;
        }
        *word = u64::from_le_bytes(bytes);
    }
    words
}

/// Decodes text from `words` into `to`. Stops at the first NUL, or at the end of `words` or `to`.
/// Returns the length of the text.
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
