//! A stream's memory: control words, filter, members, and packets of records.
//!
//! | words | content |
//! |---|---|
//! | 0 | [`MAGIC`], stored last |
//! | 1 | the stream's nonce, different from that of every other stream |
//! | 2 | words per packet (low half), number of packets (high half) |
//! | 3 | low half: maximum number of closed unread packets; bits 32 to 39: policy |
//! | 3 | bits 40 to 47: 1 if the stream is inherited |
//! | 4 | maximum data length of a user event, in bytes |
//! | 5 | time of creation, nanoseconds since 1970 |
//! | 6, 7 | the controller: process and start time, as in an [area](super::area) |
//! | 8 | nanoseconds per tick of the processor's counter, times 2^32; 0 if the counter is unused |
//! | 9 | nonce of the name space |
//! | 12 | cutoff: latest timestamp that a reader saw in its first pass; 0 if no second pass runs |
//! | 16 | state: 0 suspended, 1 running, 2 suspended because it is full |
//! | 17 | time when the stream became full; 0 if it did not |
//! | 18 | time of the first event lost after the stream became full; 0 if there is none |
//! | 19 | 1 if the kernel refuses barriers, so recorders must fence before they look for readers |
//! | 24 | order number: incremented when a packet is opened and when it is closed |
//! | 25 | number of packets that were ever used |
//! | 26 | events lost |
//! | 27 | number of displaced packets |
//! | 28 | 1 if a packet was displaced since the last record was read |
//! | 29 | order number that the last displaced packet got when it was closed |
//! | 30 | timestamp of that packet's last record |
//! | 31 | the latest timestamp in any closed packet |
//! | 32, 33 | 1 if readers wait; the word on which they sleep |
//! | 34 | the word on which the flushing thread sleeps |
//! | 35 | 1 if a process found no free member slot |
//! | 40 to 57 | the filter |
//! | 64 to 575 | members, two words each: process and start time, as in an area |
//! | 576 to 583 | the stream's name |
//! | 584 | packet headers, [`HEAD_WORDS`] each |
//! | then | packets |
//!
//! A packet header:
//!
//! | word | content |
//! |---|---|
//! | 0 | bits 0, 1: 0 free, 1 open, 2 closed; rest: order number that the packet got when opened |
//! | 1 | low half: words in complete records; high half: low 32 bits of word 0's order number |
//! | 2 | the packet's writer ([`owner`]); 0 if none |
//! | 3 | timestamp of the last record, the latest in the packet |
//! | 4 | the order number that the packet got when it was closed |

use super::set::EventSet;
use super::{StreamPolicy, record_words};
use crate::native::{join, split};

/// `TWPXSTR1`, read as a little-endian number.
pub const MAGIC: u64 = u64::from_le_bytes(*b"TWPXSTR1");

/// Positions of words in a stream's memory.
pub mod at {
    /// Position of the magic number.
    pub const MAGIC: usize = 0;
    /// Position of the cutoff: the latest timestamp that the reader saw in its first pass.
    pub const CUTOFF: usize = 12;
    /// Position of the state.
    pub const STATE: usize = 16;
    /// Position of the time when the stream became full.
    pub const FULL_STAMP: usize = 17;
    /// Position of the time of the first event that was lost after the stream became full.
    pub const FIRST_LOST: usize = 18;
    /// Position of the word that is 1 if recorders must fence.
    pub const FENCES: usize = 19;
    /// Position of the order number.
    pub const ORDER: usize = 24;
    /// Position of the number of packets that were ever used.
    pub const USED: usize = 25;
    /// Position of the count of lost events.
    pub const LOST: usize = 26;
    /// Position of the count of displaced packets.
    pub const DISPLACED: usize = 27;
    /// Position of the word that is 1 if a packet was displaced since the last record was read.
    pub const LOOP_FULL: usize = 28;
    /// Position of the order number that the last displaced packet got when it was closed.
    pub const GONE_ORDER: usize = 29;
    /// Position of the timestamp of the last record in the last displaced packet.
    pub const GONE_STAMP: usize = 30;
    /// Position of the latest timestamp in any closed packet.
    pub const CLOSED_STAMP: usize = 31;
    /// Position of the word that is 1 if readers wait.
    pub const WAITERS: usize = 32;
    /// Position of the word on which readers sleep.
    pub const WAKE: usize = 33;
    /// Position of the word on which the flushing thread sleeps.
    pub const FLUSH_WAKE: usize = 34;
    /// Position of the word that is 1 if a process found no free member slot.
    pub const UNLISTED: usize = 35;
    /// Position of the filter.
    pub const FILTER: usize = 40;
    /// Position of the first member.
    pub const MEMBERS: usize = 64;
    /// Position of the stream's name.
    pub const NAME: usize = 576;
    /// Position of the first packet header.
    pub const HEADS: usize = 584;
}

/// Positions of words in a packet header.
pub mod head {
    /// Position of the word with the state (free, open or closed) and with the order number that
    /// the packet got when it was opened.
    pub const STATE: usize = 0;
    /// Position of a word with two halves. The low half is the number of words in complete records.
    /// The high half holds the low 32 bits of the order number in [`STATE`].
    pub const COMMITTED: usize = 1;
    /// Position of the owner.
    pub const OWNER: usize = 2;
    /// Position of the timestamp of the last record.
    pub const LAST: usize = 3;
    /// Position of the order number that the packet got when it was closed.
    pub const CLOSED: usize = 4;
}

/// Length of a packet header in words: a cache line, because each header has its own writer.
pub const HEAD_WORDS: usize = 8;
/// Temporary value of a member's first word, while a process stores the member's two words.
pub const TAKING: u64 = u64::MAX;
/// Maximum number of members.
pub const MEMBERS: usize = 256;
/// Length of a stream's name in words.
pub const NAME_WORDS: usize = 8;
/// Number of packets in addition to the packets for the guaranteed records. Some threads own an
/// additional packet permanently. Every other thread takes an additional packet while it stores a
/// record.
pub const EXTRA_PACKETS: u32 = 256;

/// Returns the word that identifies a writer; never 0.
///
/// The word holds four numbers: the process id and the thread id, which Linux keeps below 2^22; the
/// low 18 bits of their namespace's number; and the depth of nested signal handlers, below 4.
///
/// ```
/// use tracewell_wire::posix::object::{owner, split_owner};
///
/// let word = owner(4711, 4712, 1, 2);
/// assert_eq!(split_owner(word), (4711, 4712, 1));
/// ```
pub const fn owner(process: u32, thread: u32, space: u32, depth: u32) -> u64 {
    let (process, thread) = (process as u64 & 0x3F_FFFF, thread as u64 & 0x3F_FFFF);
    process | thread << 22 | (space as u64 & 0x3_FFFF) << 44 | (depth as u64 & 3) << 62
}

/// Returns process, thread, and the low 18 bits of their namespace's number.
pub const fn split_owner(word: u64) -> (u32, u32, u32) {
    let space = (word >> 44) as u32 & 0x3_FFFF;
    (word as u32 & 0x3F_FFFF, (word >> 22) as u32 & 0x3F_FFFF, space)
}

/// State of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u64)]
pub enum State {
    /// Not started yet, or stopped.
    Suspended = 0,
    /// Started: events are recorded.
    Running = 1,
    /// The stream suspended itself, because it is full.
    Full = 2,
}

impl State {
    /// Returns the state that `code` encodes. Unknown numbers count as suspended.
    pub const fn of_code(code: u64) -> Self {
        match code {
            1 => Self::Running,
            2 => Self::Full,
            _ => Self::Suspended,
        }
    }
}

/// The sizes of a stream's parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Geometry {
    /// Length of a packet in words.
    pub packet_words: u32,
    /// Number of packets in the stream's memory.
    pub packets: u32,
    /// Maximum number of packets that are closed and unread.
    pub closed: u32,
}

/// Maximum number of packets.
const MAX_PACKETS: u32 = 1 << 16;
/// Allowed numbers of words per packet.
const PACKET_WORDS: core::ops::RangeInclusive<u32> = 8..=1 << 24;

impl Geometry {
    /// Returns the smallest size in bytes that a stream can guarantee if its user records have at
    /// most `max_data` bytes of data. This size suffices for 8 system records and one user record.
    pub const fn min_promise(max_data: usize) -> usize {
        8 * 8 * record_words(2 * EventSet::BYTES) + 8 * record_words(max_data)
    }

    /// Returns the sizes for a stream that is guaranteed to hold `promise` bytes of records, each
    /// with at most `max_data` bytes of data. Returns `None` if the stream would be too large.
    ///
    /// A writer closes a packet when the next record does not fit, so a closed packet holds at
    /// least its size minus the longest record. A packet that is four times as long as the longest
    /// record wastes little. The number of packets is limited to a few hundred, because opening a
    /// packet examines all of them.
    ///
    /// ```
    /// use tracewell_wire::posix::object::Geometry;
    ///
    /// let geometry = Geometry::for_promise(1 << 20, 128).unwrap();
    /// let bytes = geometry.closed as usize * geometry.packet_words as usize * 8;
    /// assert!(bytes > 1 << 20);
    /// assert_eq!(Geometry::for_promise(usize::MAX, 128), None);
    /// ```
    pub fn for_promise(promise: usize, max_data: usize) -> Option<Self> {
        let longest = record_words(max_data.max(2 * EventSet::BYTES));
        let words = promise.max(Self::min_promise(max_data)).div_ceil(8);
        let packet =
            (4 * longest).next_power_of_two().max((words / 64).checked_next_power_of_two()?);
        let closed = u32::try_from(words.div_ceil(packet - longest) + 1).ok()?;
        let packets = closed.checked_add(EXTRA_PACKETS)?;
        Self { packet_words: u32::try_from(packet).ok()?, packets, closed }.checked()
    }

    /// Returns the geometry if its sizes are within their limits.
    pub fn checked(self) -> Option<Self> {
        let sane = PACKET_WORDS.contains(&self.packet_words)
            && (1..=MAX_PACKETS).contains(&self.packets)
            && self.closed <= self.packets
            && self.is_addressable();
        sane.then_some(self)
    }

    /// Returns true if this machine can address the whole memory. A 32-bit machine cannot address
    /// the largest sizes.
    fn is_addressable(&self) -> bool {
        // Compute in 64 bits, because the products can overflow `usize` on a 32-bit machine.
        let heads = u64::from(self.packets) * HEAD_WORDS as u64;
        let words =
            at::HEADS as u64 + heads + u64::from(self.packets) * u64::from(self.packet_words);
        // No slice is longer than `isize::MAX` bytes.
        words <= isize::MAX as u64 / 8
    }

    /// Returns the position of a packet's header in words.
    #[inline]
    pub const fn head(&self, packet: usize) -> usize {
        at::HEADS + packet * HEAD_WORDS
    }

    /// Returns the position of a packet in words.
    #[inline]
    pub const fn packet(&self, packet: usize) -> usize {
        self.head(self.packets as usize) + packet * self.packet_words as usize
    }

    /// Returns the size of the whole memory in words.
    pub const fn total(&self) -> usize {
        self.packet(self.packets as usize)
    }
}

/// The properties of a stream that are fixed when it is created.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ObjectHeader {
    /// A number that no other stream has.
    pub nonce: u64,
    /// Sizes of the stream's parts.
    pub geometry: Geometry,
    /// Policy for a full stream.
    pub policy: StreamPolicy,
    /// True if child processes of a traced process are traced as well.
    pub inherited: bool,
    /// Maximum data length of a user event, in bytes.
    pub max_data: u32,
    /// Time of creation, in nanoseconds since 1970.
    pub created: u64,
    /// The controller: its process, and the start time of that process.
    pub controller: (u64, u64),
    /// Number of nanoseconds per tick of the processor's counter, times 2^32; 0 if the counter is
    /// not used.
    pub tick: u64,
    /// Nonce of the members' name space.
    pub names: u64,
}

impl ObjectHeader {
    /// Length of the header in words.
    pub const WORDS: usize = 10;

    /// Returns the header in the form that is stored at the start of the stream's memory.
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

    /// Decodes a header from untrusted words. Returns `None` if they are not a valid header.
    pub fn of_words(words: &[u64; Self::WORDS]) -> Option<Self> {
        let [magic, nonce, sizes, kind, max_data, created, process, start, tick, names] = *words;
        let (packet_words, packets) = split(sizes);
        let (closed, kind) = split(kind);
        // Another process may have written these words, so every size is checked before it is used.
        let geometry = Geometry { packet_words, packets, closed }.checked()?;
        let max_data = u32::try_from(max_data).ok()?;
        // The longest record must fit into a packet; otherwise it could never be stored.
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
        // A stream with a guaranteed size of 1 GiB needs more than 2 GiB. On a 32-bit machine, no
        // slice is that long.
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
