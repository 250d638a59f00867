//! The blocks of a log of a POSIX trace stream.
//!
//! [`frame`] defines the frame of a block. The magic number of these blocks is [`MAGIC`]. A log
//! begins with a header block.
//!
//! | kind | number | body |
//! |---|---|---|
//! | header | 1 | [`LogHeader`] |
//! | name | 2 | event id; length of the name in bytes; the name, padded with 0 |
//! | records | 3 | records as in `record`, oldest first, none of them hidden |
//! | end | 4 | [`LogStatus`] |
//! | program end | 5 | a [`ProgramEnd`](crate::ProgramEnd) |
//!
//! Record blocks are numbered from 0, in the order of their records.
//!
//! With the policies until-full and append, all blocks follow each other, and the name of an event
//! type precedes the first records of that type.
//!
//! With the policy loop, `slots` slots of `slot_bytes` bytes follow the header block. A slot holds
//! one record block, or is empty. If a block is flushed several times, it alternates between
//! two slots. If two blocks have the same number, the longer block is newer. (In version 1, block
//! `n` is always in slot `n` modulo `slots`.) The other blocks begin at `tail`. If some slots were
//! never used, closing the log moves `tail` to the end of the last records.
//!
//! A log that was not closed has no end block.

use super::{
    LogPolicy, NAME_MAX, RECORD_WORDS, RecordHeader, StreamPolicy, text_of_words, text_words,
};
use crate::frame;
use crate::native::{WORD, join, split, word};

/// `TWPX`, read as a little-endian number.
pub const MAGIC: u32 = u32::from_le_bytes(*b"TWPX");
/// Version of the format. A reader rejects later versions. Logs without slots have version 1.
pub const VERSION: u32 = 2;

/// The kind of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Describes the log. This is the first block of every log.
    Header,
    /// Names an event type.
    Name,
    /// Holds records of events.
    Records,
    /// Ends a log that was closed.
    End,
    /// Says how the traced program ended.
    ProgramEnd,
}

impl Kind {
    const ALL: [Self; 5] = [Self::Header, Self::Name, Self::Records, Self::End, Self::ProgramEnd];

    /// Returns the number that encodes the kind in the format.
    pub const fn code(self) -> u32 {
        match self {
            Self::Header => 1,
            Self::Name => 2,
            Self::Records => 3,
            Self::End => 4,
            Self::ProgramEnd => 5,
        }
    }

    /// Returns the kind that `code` encodes, or `None` if it is unknown.
    pub fn of_code(code: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.code() == code)
    }
}

/// Writes the header of a block. The body must already be in place. Returns `None` if the block has
/// an invalid length; see [`frame::seal`].
pub fn seal(block: &mut [u8], kind: Kind, number: u64) -> Option<()> {
    frame::seal(block, MAGIC, kind.code(), number)
}

/// The body of a header block, which describes the log.
///
/// ```
/// use tracewell_wire::native::put_words;
/// use tracewell_wire::posix::log::LogHeader;
/// use tracewell_wire::posix::{LogPolicy, NAME_MAX, StreamPolicy};
///
/// let header = LogHeader {
///     stream_policy: StreamPolicy::Flush,
///     log_policy: LogPolicy::Append,
///     inherited: false,
///     max_data: 128,
///     stream_size: 1 << 20,
///     log_size: 1 << 24,
///     created: 1_700_000_000_000_000_000,
///     resolution: 1,
///     process: 4711,
///     slot_bytes: 0,
///     slots: 0,
///     tail: 0,
///     name: [0; NAME_MAX],
///     version: [0; NAME_MAX],
/// };
/// let mut body = [0; 8 * LogHeader::WORDS];
/// put_words(&mut body, &header.words()).unwrap();
/// assert_eq!(LogHeader::read(&body), Some(header));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LogHeader {
    /// Policy for a full stream.
    pub stream_policy: StreamPolicy,
    /// Policy for a full log.
    pub log_policy: LogPolicy,
    /// True if child processes of the traced process are traced as well.
    pub inherited: bool,
    /// Maximum data length of a user event, in bytes.
    pub max_data: u64,
    /// The attribute stream-min-size, in bytes.
    pub stream_size: u64,
    /// The attribute log-max-size, in bytes.
    pub log_size: u64,
    /// Time when the stream was created, in nanoseconds since 1970.
    pub created: u64,
    /// Resolution of the clock, in nanoseconds.
    pub resolution: u64,
    /// Id of the traced process.
    pub process: u64,
    /// Length of a slot in bytes; 0 if the log has no slots.
    pub slot_bytes: u32,
    /// Number of slots; 0 if the log has none.
    pub slots: u32,
    /// Offset of the blocks that are not in slots, in bytes from the start of the log.
    pub tail: u64,
    /// Name of the stream, NUL-terminated.
    pub name: [u8; NAME_MAX],
    /// The generation version, NUL-terminated.
    pub version: [u8; NAME_MAX],
}

impl LogHeader {
    const NUMBERS: usize = 10;
    const TEXT: usize = NAME_MAX / WORD;
    /// Length of the body in words.
    pub const WORDS: usize = Self::NUMBERS + 2 * Self::TEXT;
    /// Length of a header block in bytes.
    pub const BLOCK: usize = frame::HEAD + Self::WORDS * WORD;

    /// Returns the body in the form that a log stores, including the strings.
    pub fn words(&self) -> [u64; Self::WORDS] {
        let kind = self.log_policy.code() | u32::from(self.inherited) << 8;
        // Logs without slots have the layout of version 1, so readers of that version can still
        // read them.
        let version = if self.slots > 0 { VERSION } else { 1 };
        let numbers = [
            join(version, kind),
            u64::from(self.stream_policy.code()),
            self.max_data,
            self.stream_size,
            self.log_size,
            self.created,
            self.resolution,
            self.process,
            join(self.slot_bytes, self.slots),
            self.tail,
        ];
        let (name, version): ([u64; 8], [u64; 8]) =
            (text_words(&self.name), text_words(&self.version));
        let mut words = [0; Self::WORDS];
        let all = numbers.into_iter().chain(name).chain(version);
        words.iter_mut().zip(all).for_each(|(to, word)| *to = word);
        words
    }

    /// Decodes a body. Returns `None` if the body is too short, has a later version or an unknown
    /// policy, or states sizes that no recorder writes.
    pub fn read(body: &[u8]) -> Option<Self> {
        let at = |index| word(body, index);
        let (version, kind) = split(at(0)?);
        let (slot_bytes, slots) = split(at(8)?);
        // The limit on slots keeps a damaged header from making readers allocate gigabytes.
        (version <= VERSION && slots as usize <= 1 << 24).then_some(())?;
        // Programs compute the sizes of records from the maximum data size, so reject a size that
        // is too large.
        let max_data = at(2)?;
        (max_data <= super::DATA_MAX as u64).then_some(())?;
        let text = |from: usize| {
            let mut words = [0; Self::TEXT];
            for (index, to) in words.iter_mut().enumerate() {
                *to = at(from + index)?;
            }
            let mut text = [0; NAME_MAX];
            // The name is shorter than the array, so that it always ends with a NUL.
            text_of_words(&words, &mut text[..NAME_MAX - 1]);
            Some(text)
        };
        Some(Self {
            stream_policy: StreamPolicy::of_code(at(1)? as u32)?,
            log_policy: LogPolicy::of_code(kind & 0xFF)?,
            inherited: kind >> 8 & 1 == 1,
            max_data,
            stream_size: at(3)?,
            log_size: at(4)?,
            created: at(5)?,
            resolution: at(6)?,
            process: at(7)?,
            slot_bytes,
            slots,
            tail: at(9)?,
            name: text(Self::NUMBERS)?,
            version: text(Self::NUMBERS + Self::TEXT)?,
        })
    }
}

/// The body of an end block: the state of the stream when its log was closed. Each value is 0 or 1,
/// except the error number.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LogStatus {
    /// 1 if the stream was full.
    pub full: u64,
    /// 1 if events were lost since the user last read the stream's status.
    pub overrun: u64,
    /// Error number of the first flush that failed since the user last read the status; 0 if none.
    pub flush_error: u64,
    /// 1 if some events of the stream are not in the log.
    pub log_overrun: u64,
    /// 1 if the log was full.
    pub log_full: u64,
}

impl LogStatus {
    /// Length of the body in words.
    pub const WORDS: usize = 5;

    /// Returns the body in the form that a log stores.
    pub const fn words(&self) -> [u64; Self::WORDS] {
        [self.full, self.overrun, self.flush_error, self.log_overrun, self.log_full]
    }

    /// Decodes a body, or returns `None` if it is too short.
    pub fn read(body: &[u8]) -> Option<Self> {
        let at = |index| word(body, index);
        Some(Self {
            full: at(0)?,
            overrun: at(1)?,
            flush_error: at(2)?,
            log_overrun: at(3)?,
            log_full: at(4)?,
        })
    }
}

/// Decodes the body of a name block: event id and name. Returns `None` if the body is damaged.
pub fn name(body: &[u8]) -> Option<(u32, &[u8])> {
    let id = u32::try_from(word(body, 0)?).ok()?;
    let length = usize::try_from(word(body, 1)?).ok()?;
    // A longer name indicates damage, even if the body contains that many bytes.
    let fits = length <= super::EVENT_NAME_MAX;
    fits.then_some((id, body.get(2 * WORD..)?.get(..length)?))
}

/// One record of a log.
///
/// ```
/// use tracewell_wire::native::put_words;
/// use tracewell_wire::posix::RecordHeader;
/// use tracewell_wire::posix::log::LogRecord;
///
/// let head = RecordHeader { length: 2, id: 65, flags: 0, process: 4711 };
/// let mut bytes = [0; 48];
/// let data = u64::from_le_bytes(*b"ok\0\0\0\0\0\0");
/// put_words(&mut bytes, &[head.pack(), 1_000, 0x40_1000, 7, data]).unwrap();
///
/// let (record, rest) = LogRecord::read(&bytes).unwrap();
/// assert_eq!((record.stamp, record.thread, record.data), (1_000, 7, &b"ok"[..]));
/// assert_eq!(rest.len(), 8);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LogRecord<'a> {
    /// The length of the data, the event id, the flags and the process.
    pub head: RecordHeader,
    /// Timestamp in nanoseconds since 1970.
    pub stamp: u64,
    /// Return address of the call that generated the event; 0 for a system event.
    pub address: u64,
    /// Thread (`pthread_t`); 0 for a system event.
    pub thread: u64,
    /// Data of the event.
    pub data: &'a [u8],
}

impl<'a> LogRecord<'a> {
    /// Decodes the record at the start of `bytes`. Returns the record and the bytes after the
    /// record, or `None` if the record is incomplete.
    pub fn read(bytes: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let head = RecordHeader::unpack(word(bytes, 0)?);
        // The record is padded to whole words; `length` counts only the data.
        let (record, rest) = bytes.split_at_checked(head.words() * WORD)?;
        let data = record.get(RECORD_WORDS * WORD..)?.get(..head.length as usize)?;
        let at = |index| word(record, index);
        Some((Self { head, stamp: at(1)?, address: at(2)?, thread: at(3)?, data }, rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::put_words;

    #[test]
    fn a_header_survives_its_block() {
        let mut name = [0; NAME_MAX];
        name[..5].copy_from_slice(b"motor");
        let header = LogHeader {
            stream_policy: StreamPolicy::Flush,
            log_policy: LogPolicy::Append,
            inherited: true,
            max_data: 100,
            stream_size: 65_536,
            log_size: 1 << 20,
            created: 1_700_000_000_000_000_000,
            resolution: 1,
            process: 4711,
            slot_bytes: 0,
            slots: 0,
            tail: 0,
            name,
            version: [0; NAME_MAX],
        };
        let mut block = [0; LogHeader::BLOCK];
        put_words(&mut block[frame::HEAD..], &header.words()).unwrap();
        seal(&mut block, Kind::Header, 0).unwrap();
        let frame::Lookup::Block { kind, body, .. } = frame::find(&block, MAGIC) else {
            panic!("no block")
        };
        assert_eq!(Kind::of_code(kind), Some(Kind::Header));
        assert_eq!(LogHeader::read(body), Some(header));
        assert_eq!(LogHeader::read(&body[..body.len() - 8]), None);
        for (max_data, is_read) in [(65_536, true), (65_537, false), (u64::MAX, false)] {
            let mut body = [0; LogHeader::WORDS * WORD];
            put_words(&mut body, &LogHeader { max_data, ..header }.words()).unwrap();
            assert_eq!(LogHeader::read(&body).is_some(), is_read, "{max_data}");
        }
    }

    #[test]
    fn a_name_has_at_most_63_bytes() {
        let mut body = [b'x'; 2 * WORD + 64];
        for length in [63, 64] {
            put_words(&mut body, &[7, length]).unwrap();
            let expected = (length == 63).then_some((7, &[b'x'; 63][..]));
            assert_eq!(name(&body), expected, "{length}");
        }
    }

    #[test]
    fn records_follow_each_other() {
        let head = RecordHeader { length: 3, id: 65, flags: 0, process: 7 };
        let mut bytes = [0; 2 * 40];
        for at in [0, 40] {
            put_words(&mut bytes[at..], &[head.pack(), 1, 2, 3, 0x00CC_BBAA]).unwrap();
        }
        let (first, rest) = LogRecord::read(&bytes).unwrap();
        assert_eq!((first.data, first.stamp), (&[0xAA, 0xBB, 0xCC][..], 1));
        let (second, rest) = LogRecord::read(rest).unwrap();
        assert_eq!((second, rest), (first, &[][..]));
        assert!((0..40).all(|length| LogRecord::read(&bytes[..length]).is_none()));
    }
}
