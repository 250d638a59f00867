//! The blocks of a log of a POSIX trace stream.
//!
//! Their frame is [`frame`], with the magic [`MAGIC`]. A log begins with a header block.
//!
//! | kind | number | body |
//! |---|---|---|
//! | header | 1 | [`LogHeader`] |
//! | name | 2 | event id; bytes of the name; the name, filled up with 0 |
//! | records | 3 | records as `record` has them, oldest first, none of them hidden |
//! | end | 4 | [`LogStatus`] |
//!
//! The numbers of records blocks count up from 0, in the order of their records.
//!
//! With the policies until-full and append all blocks follow each other, the name of an event type before the
//! first records of that type. With the policy loop the header
//! says where `slots` slots of `slot_bytes` begin, of which each holds a records block or nothing. A block that
//! is flushed several times is written to two slots in turn: of two blocks with the same number the longer
//! one is the newer. (In version 1 the block with number `n` lies in slot `n` modulo `slots`, alone.) The other
//! blocks begin at `tail`; where not all slots were used, closing the log puts them right behind the last records.
//! A log that was not closed has no end block.

use super::{
    LogPolicy, NAME_MAX, RECORD_WORDS, RecordHead, StreamPolicy, text_of_words, text_words,
};
use crate::frame;
use crate::native::{WORD, join, split, word};

/// `TWPX`, read as a little-endian number.
pub const MAGIC: u32 = u32::from_le_bytes(*b"TWPX");
/// Version of the format. A reader refuses a larger one. Logs without slots are of version 1.
pub const VERSION: u32 = 2;

/// What a block holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// What the log is.
    Header,
    /// The name of an event type.
    Name,
    /// Records.
    Records,
    /// The end of a log that was closed.
    End,
}

impl Kind {
    const ALL: [Self; 4] = [Self::Header, Self::Name, Self::Records, Self::End];

    /// The number that stands for it.
    pub const fn code(self) -> u32 {
        match self {
            Self::Header => 1,
            Self::Name => 2,
            Self::Records => 3,
            Self::End => 4,
        }
    }

    /// What a number stands for.
    pub fn of_code(code: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.code() == code)
    }
}

/// Writes the head of a block whose body is in its place; `None` where its size is no block's.
pub fn seal(block: &mut [u8], kind: Kind, number: u64) -> Option<()> {
    frame::seal(block, MAGIC, kind.code(), number)
}

/// What a log is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LogHeader {
    /// What happens when the stream is full.
    pub stream_policy: StreamPolicy,
    /// What happens when the log is full.
    pub log_policy: LogPolicy,
    /// Whether children are traced.
    pub inherited: bool,
    /// Largest data of a user event, in bytes.
    pub max_data: u64,
    /// stream-min-size, in bytes.
    pub stream_size: u64,
    /// log-max-size, in bytes.
    pub log_size: u64,
    /// When the stream was made, nanoseconds since 1970.
    pub created: u64,
    /// Resolution of the clock, in nanoseconds.
    pub resolution: u64,
    /// The process that was traced.
    pub process: u64,
    /// Bytes of a slot; 0 where blocks follow each other.
    pub slot_bytes: u32,
    /// Number of slots.
    pub slots: u32,
    /// Where the other blocks begin that follow the slots, in bytes from the start of the log.
    pub tail: u64,
    /// The stream's name, with a null.
    pub name: [u8; NAME_MAX],
    /// The generation version, with a null.
    pub version: [u8; NAME_MAX],
}

impl LogHeader {
    const NUMBERS: usize = 10;
    const TEXT: usize = NAME_MAX / WORD;
    /// Number of words.
    pub const WORDS: usize = Self::NUMBERS + 2 * Self::TEXT;
    /// Bytes of the header's block.
    pub const BLOCK: usize = frame::HEAD + Self::WORDS * WORD;

    /// As words.
    pub fn words(&self) -> [u64; Self::WORDS] {
        let kind = self.log_policy.code() | u32::from(self.inherited) << 8;
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

    /// From a block's body; `None` where it is too short, of a later version, or names no policy.
    pub fn read(body: &[u8]) -> Option<Self> {
        let at = |index| word(body, index);
        let (version, kind) = split(at(0)?);
        let (slot_bytes, slots) = split(at(8)?);
        (version <= VERSION && slots as usize <= 1 << 24).then_some(())?;
        let text = |from: usize| {
            let mut words = [0; Self::TEXT];
            for (index, to) in words.iter_mut().enumerate() {
                *to = at(from + index)?;
            }
            let mut text = [0; NAME_MAX];
            text_of_words(&words, &mut text[..NAME_MAX - 1]);
            Some(text)
        };
        Some(Self {
            stream_policy: StreamPolicy::of_code(at(1)? as u32)?,
            log_policy: LogPolicy::of_code(kind & 0xFF)?,
            inherited: kind >> 8 & 1 == 1,
            max_data: at(2)?,
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

/// How the stream stood when its log was closed; each is 0 or 1 but for the error number.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LogStatus {
    /// The stream was full.
    pub full: u64,
    /// Events were lost that nobody had asked about.
    pub overrun: u64,
    /// First error of the flushes that nobody had asked about; 0 for none.
    pub flush_error: u64,
    /// Events of the stream are not in the log.
    pub log_overrun: u64,
    /// The log was full.
    pub log_full: u64,
}

impl LogStatus {
    /// Number of words.
    pub const WORDS: usize = 5;

    /// As words.
    pub const fn words(&self) -> [u64; Self::WORDS] {
        [self.full, self.overrun, self.flush_error, self.log_overrun, self.log_full]
    }

    /// From a block's body; `None` where it is too short.
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

/// The body of a name block: event id and name; `None` where it is none.
pub fn name(body: &[u8]) -> Option<(u32, &[u8])> {
    let id = u32::try_from(word(body, 0)?).ok()?;
    let length = usize::try_from(word(body, 1)?).ok()?;
    let fits = length <= super::EVENT_NAME_MAX;
    fits.then_some((id, body.get(2 * WORD..)?.get(..length)?))
}

/// One record of a log, and the bytes behind it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LogRecord<'a> {
    /// Id, flags, length, process.
    pub head: RecordHead,
    /// Nanoseconds since 1970.
    pub stamp: u64,
    /// Where it was generated.
    pub address: u64,
    /// Thread (`pthread_t`).
    pub thread: u64,
    /// Its data.
    pub data: &'a [u8],
}

impl<'a> LogRecord<'a> {
    /// The record at the start of some bytes, and what follows it; `None` where none is whole.
    pub fn read(bytes: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let head = RecordHead::unpack(word(bytes, 0)?);
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
        let frame::Found::Block { kind, body, .. } = frame::find(&block, MAGIC) else {
            panic!("no block")
        };
        assert_eq!(Kind::of_code(kind), Some(Kind::Header));
        assert_eq!(LogHeader::read(body), Some(header));
        assert_eq!(LogHeader::read(&body[..body.len() - 8]), None);
    }

    #[test]
    fn records_follow_each_other() {
        let head = RecordHead { length: 3, id: 65, flags: 0, process: 7 };
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
