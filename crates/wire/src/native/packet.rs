//! The header of a packet. A reader needs only this header to decode the packet's records.
//!
//! | word | content |
//! |---|---|
//! | 0 | number of the packet in its lane, from 0; in a log the same number as in the image |
//! | 1 | base: the timestamp to which the ticks of the packet's records are relative |
//! | 2 | process id (low half), thread id (high half) |
//! | 3 | number of the packet's first event, counted from 0 in its lane |
//! | 4 | events of this lane lost before the packet, in total |
//! | 5 | words in use, this header included (low half; 0 while being written); lane (high half) |
//! | 6 | timestamp of the packet's last record; 0 while the packet is being written |
//! | 7, 8 | name of the thread: at most 16 bytes, padded with 0 |
//! | 9 | in a log, number of the lane's first event that the log should contain; in an image 0 |

use super::{join, split, word};

/// The header of a packet.
///
/// ```
/// use tracewell_wire::native::{PacketHeader, put_words};
///
/// let header = PacketHeader { number: 3, base: 1000, lane: 2, ..PacketHeader::default() };
/// let mut bytes = [0; 8 * PacketHeader::WORDS];
/// put_words(&mut bytes, &header.words()).unwrap();
/// assert_eq!(PacketHeader::read(&bytes), Some(header));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PacketHeader {
    /// Number of the packet in its lane, from 0.
    pub number: u64,
    /// Base timestamp of the packet's records, in ticks.
    pub base: u64,
    /// Id of the process that recorded the events.
    pub process: u32,
    /// Id of the thread that recorded the events.
    pub thread: u32,
    /// Number of the packet's first event, counted from 0 in its lane.
    pub first_event: u64,
    /// Total number of events of this lane that were lost before the packet.
    pub lost_before: u64,
    /// Number of words in use, including this header; 0 while the packet is being written.
    pub used: u32,
    /// Number of the packet's lane.
    pub lane: u32,
    /// Timestamp of the packet's last record, in ticks; 0 while the packet is being written.
    pub last: u64,
    /// Name of the thread, padded with 0.
    pub name: [u8; 16],
    /// Number of the lane's first event that the log should contain. Readers had already consumed
    /// the lower-numbered events when the log began.
    pub covered_from: u64,
}

impl PacketHeader {
    /// Length of a header in words.
    pub const WORDS: usize = 10;
    /// Position of the word with `number`.
    pub const NUMBER: usize = 0;
    /// Position of the word with `used` and `lane`.
    pub const USED: usize = 5;
    /// Position of the word with `last`.
    pub const LAST: usize = 6;

    /// Returns the words of the header. They precede the packet's records.
    pub const fn words(&self) -> [u64; Self::WORDS] {
        let (first, second) = self.name.split_at(8);
        let (Some(first), Some(second)) = (first.first_chunk(), second.first_chunk()) else {
            // The name always has 16 bytes, but the type of `first_chunk` does not express that.
            unreachable!()
        };
        [
            self.number,
            self.base,
            join(self.process, self.thread),
            self.first_event,
            self.lost_before,
            join(self.used, self.lane),
            self.last,
            u64::from_le_bytes(*first),
            u64::from_le_bytes(*second),
            self.covered_from,
        ]
    }

    /// Decodes the words that [`PacketHeader::words`] returns.
    pub fn of_words(words: &[u64; Self::WORDS]) -> Self {
        let (process, thread) = split(words[2]);
        let (used, lane) = split(words[5]);
        let mut name = [0; 16];
        name[..8].copy_from_slice(&words[7].to_le_bytes());
        name[8..].copy_from_slice(&words[8].to_le_bytes());
        Self {
            number: words[0],
            base: words[1],
            process,
            thread,
            first_event: words[3],
            lost_before: words[4],
            used,
            lane,
            last: words[6],
            name,
            covered_from: words[9],
        }
    }

    /// Decodes the header at the start of `bytes`, or returns `None` if `bytes` is too short.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let mut words = [0; Self::WORDS];
        for (index, to) in words.iter_mut().enumerate() {
            *to = word(bytes, index)?;
        }
        Some(Self::of_words(&words))
    }

    /// Returns the thread's name without its padding.
    pub fn name(&self) -> &[u8] {
        let end = self.name.iter().position(|byte| *byte == 0).unwrap_or(self.name.len());
        &self.name[..end]
    }
}
