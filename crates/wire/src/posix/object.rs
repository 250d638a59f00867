//! A stream's memory: control words, filter, members, and packets of records.
//!
//! | words | content |
//! |---|---|
//! | 0 | [`MAGIC`], stored last |
//! | 1 | the stream's nonce, which no other stream has |
//! | 2 | words of a packet (low half), number of packets (high half) |
//! | 3 | packets that may be closed and unread (low half), policy (bits 32 to 39), 1 if inherited (bits 40 to 47) |
//! | 4 | largest data of a user event, in bytes |
//! | 5 | when it was made, nanoseconds since 1970 |
//! | 6, 7 | the controller: process, as in an [area](super::area); its start |
//! | 8 | nanoseconds of a tick of the processor's counter, times 2^32; 0 where nobody uses the counter |
//! | 9 | nonce of the name space |
//! | 12 | the latest stamp of the reader's first look, while it takes its second one; else 0 |
//! | 16 | state: 0 suspended, 1 running, 2 suspended because it is full |
//! | 17, 18 | when it became full; when the first event after that was lost; 0 for not |
//! | 19 | 1 if recorders fence before they look for readers that wait, because the kernel refuses a barrier |
//! | 24 | order numbers: one is taken when a packet is opened and when it is closed |
//! | 25 | packets that were ever used lie below this |
//! | 26 | events lost |
//! | 27, 28 | loop: packets displaced; whether one was since the last record was read |
//! | 29, 30 | the packet displaced last: order number of its closing, stamp of its last record |
//! | 31 | the latest stamp in a packet that was closed |
//! | 32, 33 | readers that wait: whether there are any; the word they sleep at |
//! | 34 | the word at which the flushing thread sleeps |
//! | 35 | 1 after a process found no place among the members |
//! | 40 to 57 | the filter |
//! | 64 to 575 | members, two words each: process, as in an area, and start |
//! | 576 to 583 | the stream's name |
//! | 584 | heads of packets, [`HEAD_WORDS`] each |
//! | then | packets |
//!
//! A head:
//!
//! | word | content |
//! |---|---|
//! | 0 | 0 free, 1 open, 2 closed (bits 0 and 1); order number of its opening |
//! | 1 | words of records that are there |
//! | 2 | the writer that has the packet, [`owner`]; 0 for none |
//! | 3 | stamp of the last record, the latest in the packet |
//! | 4 | order number of its closing |

use super::set::EventSet;
use super::{StreamPolicy, record_words};
use crate::native::{join, split};

/// `TWPXSTR1`, read as a little-endian number.
pub const MAGIC: u64 = u64::from_le_bytes(*b"TWPXSTR1");

/// Places of words.
pub mod at {
    /// The magic number.
    pub const MAGIC: usize = 0;
    /// The latest stamp of the reader's first look.
    pub const CUTOFF: usize = 12;
    /// State.
    pub const STATE: usize = 16;
    /// When it became full.
    pub const FULL_STAMP: usize = 17;
    /// When the first event after that was lost.
    pub const FIRST_LOST: usize = 18;
    /// Whether recorders fence.
    pub const FENCES: usize = 19;
    /// Order numbers.
    pub const ORDER: usize = 24;
    /// Packets that were ever used.
    pub const USED: usize = 25;
    /// Events lost.
    pub const LOST: usize = 26;
    /// Packets displaced.
    pub const DISPLACED: usize = 27;
    /// Whether one was displaced since a record was read.
    pub const LOOP_FULL: usize = 28;
    /// Order number of the closing of the packet displaced last.
    pub const GONE_ORDER: usize = 29;
    /// Stamp of its last record.
    pub const GONE_STAMP: usize = 30;
    /// The latest stamp in a packet that was closed.
    pub const CLOSED_STAMP: usize = 31;
    /// Whether a reader waits.
    pub const WAITERS: usize = 32;
    /// Where readers sleep.
    pub const WAKE: usize = 33;
    /// Where the flushing thread sleeps.
    pub const FLUSH_WAKE: usize = 34;
    /// Whether a process found no place among the members.
    pub const UNLISTED: usize = 35;
    /// The filter.
    pub const FILTER: usize = 40;
    /// Members.
    pub const MEMBERS: usize = 64;
    /// The stream's name.
    pub const NAME: usize = 576;
    /// The first head.
    pub const HEADS: usize = 584;
}

/// Places of words in a head.
pub mod head {
    /// Tag and order number of the opening.
    pub const STATE: usize = 0;
    /// Words of records.
    pub const COMMITTED: usize = 1;
    /// Owner.
    pub const OWNER: usize = 2;
    /// Stamp of the last record.
    pub const LAST: usize = 3;
    /// Order number of the closing.
    pub const CLOSED: usize = 4;
}

/// Words of a head: a cache line, for each has one writer.
pub const HEAD_WORDS: usize = 8;
/// The process of a member whose words are being stored.
pub const TAKING: u64 = u64::MAX;
/// Members that can be listed.
pub const MEMBERS: usize = 256;
/// Words of a stream's name.
pub const NAME_WORDS: usize = 8;
/// Packets beyond those that hold what was promised. Threads have some of them to themselves; one more is
/// taken for each further thread that is in the middle of a record.
pub const EXTRA_PACKETS: u32 = 256;

/// The word of a writer, never 0: process and thread, which Linux numbers below 2^22, 18 bits of the number of
/// the namespace in which they are the numbers, and the depth of signal handlers, below 4.
pub const fn owner(process: u32, thread: u32, space: u32, depth: u32) -> u64 {
    let (process, thread) = (process as u64 & 0x3F_FFFF, thread as u64 & 0x3F_FFFF);
    process | thread << 22 | (space as u64 & 0x3_FFFF) << 44 | (depth as u64 & 3) << 62
}

/// Process and thread of a writer, and the bits of their namespace.
pub const fn split_owner(word: u64) -> (u32, u32, u32) {
    let space = (word >> 44) as u32 & 0x3_FFFF;
    (word as u32 & 0x3F_FFFF, (word >> 22) as u32 & 0x3F_FFFF, space)
}

/// How a stream stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u64)]
pub enum State {
    /// Does not record.
    Suspended = 0,
    /// Records.
    Running = 1,
    /// Suspended itself because it is full.
    Full = 2,
}

impl State {
    /// The state of a number; others are no state and count as suspended.
    pub const fn of_code(code: u64) -> Self {
        match code {
            1 => Self::Running,
            2 => Self::Full,
            _ => Self::Suspended,
        }
    }
}

/// How large a stream's parts are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Geometry {
    /// Words of a packet.
    pub packet_words: u32,
    /// Number of packets.
    pub packets: u32,
    /// Packets that may be closed and unread.
    pub closed: u32,
}

/// Largest number of packets, and of words of a packet.
const PACKETS_MAX: u32 = 1 << 16;
const PACKET_WORDS: core::ops::RangeInclusive<u32> = 8..=1 << 24;

impl Geometry {
    /// The smallest promise of a stream with this largest data: 8 system records and a user record.
    pub const fn least_promise(max_data: usize) -> usize {
        8 * 8 * record_words(2 * EventSet::BYTES) + 8 * record_words(max_data)
    }

    /// Parts for a promise of so many bytes of records, of which none has more data than
    /// `max_data`; `None` where that is too much.
    ///
    /// A packet is closed when the next record does not fit, so it holds at least its size less the
    /// largest record. Packets have four times the size of that record, so that little is wasted,
    /// and there are at most some hundred of them, for who opens one looks at all.
    pub fn for_promise(promise: usize, max_data: usize) -> Option<Self> {
        let longest = record_words(max_data.max(2 * EventSet::BYTES));
        let words = promise.max(Self::least_promise(max_data)).div_ceil(8);
        let packet =
            (4 * longest).next_power_of_two().max((words / 64).checked_next_power_of_two()?);
        let closed = u32::try_from(words.div_ceil(packet - longest) + 1).ok()?;
        let packets = closed.checked_add(EXTRA_PACKETS)?;
        Self { packet_words: u32::try_from(packet).ok()?, packets, closed }.checked()
    }

    /// The same if its sizes are within their limits.
    pub fn checked(self) -> Option<Self> {
        let sane = PACKET_WORDS.contains(&self.packet_words)
            && (1..=PACKETS_MAX).contains(&self.packets)
            && self.closed <= self.packets
            && self.is_addressable();
        sane.then_some(self)
    }

    /// Returns true if this machine can address the whole, which 32 bits cannot for the largest sizes.
    fn is_addressable(&self) -> bool {
        let heads = u64::from(self.packets) * HEAD_WORDS as u64;
        let words =
            at::HEADS as u64 + heads + u64::from(self.packets) * u64::from(self.packet_words);
        words <= isize::MAX as u64 / 8
    }

    /// Where a packet's head begins.
    #[inline]
    pub const fn head(&self, packet: usize) -> usize {
        at::HEADS + packet * HEAD_WORDS
    }

    /// Where a packet begins.
    #[inline]
    pub const fn packet(&self, packet: usize) -> usize {
        self.head(self.packets as usize) + packet * self.packet_words as usize
    }

    /// Words of the whole.
    pub const fn total(&self) -> usize {
        self.packet(self.packets as usize)
    }
}

/// What is said of a stream when it is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ObjectHeader {
    /// Differs from that of every other stream.
    pub nonce: u64,
    /// Its parts.
    pub geometry: Geometry,
    /// What happens when it is full.
    pub policy: StreamPolicy,
    /// Whether children are traced in it.
    pub inherited: bool,
    /// Largest data of a user event.
    pub max_data: u32,
    /// When it was made, nanoseconds since 1970.
    pub created: u64,
    /// The controller's process and its start.
    pub controller: (u64, u64),
    /// Nanoseconds of a counter's tick, times 2^32; 0 for no counter.
    pub tick: u64,
    /// The name space of its members.
    pub names: u64,
}

impl ObjectHeader {
    /// Number of words.
    pub const WORDS: usize = 10;

    /// As words.
    pub fn words(&self) -> [u64; Self::WORDS] {
        let Geometry { packet_words, packets, closed } = self.geometry;
        let kind = self.policy.code() | u32::from(self.inherited) << 8;
        let (controller, start) = self.controller;
        [
            MAGIC,
            self.nonce,
            join(packet_words, packets),
            join(closed, kind),
            u64::from(self.max_data),
            self.created,
            controller,
            start,
            self.tick,
            self.names,
        ]
    }

    /// From words that may say anything; `None` where they are no header.
    pub fn of_words(words: &[u64; Self::WORDS]) -> Option<Self> {
        let [magic, nonce, sizes, kind, max_data, created, process, start, tick, names] = *words;
        let (packet_words, packets) = split(sizes);
        let (closed, kind) = split(kind);
        let geometry = Geometry { packet_words, packets, closed }.checked()?;
        let max_data = u32::try_from(max_data).ok()?;
        let fits = record_words(max_data as usize) <= packet_words as usize;
        (magic == MAGIC && max_data as usize <= super::DATA_MAX && fits).then_some(())?;
        Some(Self {
            nonce,
            geometry,
            policy: StreamPolicy::of_code(kind & 0xFF)?,
            inherited: kind >> 8 & 1 == 1,
            max_data,
            created,
            controller: (process, start),
            tick,
            names,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_survives_its_words() {
        let geometry = Geometry::for_promise(65_536, 4096).unwrap();
        let header = ObjectHeader {
            nonce: 7,
            geometry,
            policy: StreamPolicy::UntilFull,
            inherited: true,
            max_data: 4096,
            created: 1_700_000_000_000_000_000,
            controller: (17, 4711),
            tick: 1 << 31,
            names: 9,
        };
        assert_eq!(ObjectHeader::of_words(&header.words()), Some(header));
        let mut foreign = header.words();
        foreign[0] ^= 1;
        assert_eq!(ObjectHeader::of_words(&foreign), None);
    }

    #[test]
    fn processes_and_threads_survive_their_words() {
        let most = (1 << 22) - 1;
        assert_eq!(split_owner(owner(most, 7, 5, 3)), (most, 7, 5));
        assert_eq!(
            split_owner(owner(7, most, 4_026_531_836, 0)),
            (7, most, 4_026_531_836 & 0x3_FFFF)
        );
        assert_ne!(owner(7, 8, 1, 0), owner(7, 8, 1, 1));
    }

    #[test]
    fn closed_packets_hold_what_is_promised() {
        // A promise of 1 GiB takes more than the half of 32 bits of addresses that a slice may have.
        let large = if cfg!(target_pointer_width = "64") { 1 << 30 } else { 1 << 28 };
        for (promise, data) in [(0, 0), (65_536, 4096), (large, 16), (300_000, 65_536)] {
            let geometry = Geometry::for_promise(promise, data).unwrap();
            let longest = record_words(data.max(2 * EventSet::BYTES));
            let least = (geometry.packet_words as usize - longest) * 8 * geometry.closed as usize;
            assert!(least > promise, "{promise} {data}");
            assert!(geometry.packets <= 1024, "{promise} {data}");
        }
        assert_eq!(Geometry::for_promise(usize::MAX, 4096), None);
    }
}
