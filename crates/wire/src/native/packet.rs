//! The header of a packet: what is needed to read the records behind it without any other packet.
//!
//! | word | content |
//! |---|---|
//! | 0 | number: in an image, of the packet in its lane from 0; in a log, as it was in the image |
//! | 1 | base: the stamp from which its records count |
//! | 2 | process id, thread id (low and high half) |
//! | 3 | number of its first event in its lane, from 0 |
//! | 4 | events of this lane that were lost before it, in all |
//! | 5 | words in use, this header included (low half; 0 while it is written); lane (high half) |
//! | 6 | stamp of its last record; 0 while it is written |
//! | 7, 8 | name of the thread: at most 16 bytes, the rest 0 |
//! | 9 | in a log, number of the lane's first event that the log is meant to have; in an image 0 |

use super::{join, split, word};

/// The header of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PacketHeader {
    /// Number of the packet in its lane.
    pub number: u64,
    /// The stamp from which its records count.
    pub base: u64,
    /// The process that recorded.
    pub process: u32,
    /// The thread that recorded.
    pub thread: u32,
    /// Number of its first event in its lane.
    pub first_event: u64,
    /// Events of this lane that were lost before it, in all.
    pub lost_before: u64,
    /// Words in use, the header included; 0 while it is written.
    pub used: u32,
    /// The lane.
    pub lane: u32,
    /// Stamp of its last record; 0 while it is written.
    pub last: u64,
    /// Name of the thread, the rest 0.
    pub name: [u8; 16],
    /// Number of the lane's first event that a log is meant to have: earlier ones were taken out
    /// before it began.
    pub covered_from: u64,
}

impl PacketHeader {
    /// Number of words.
    pub const WORDS: usize = 10;
    /// Position of `number`.
    pub const NUMBER: usize = 0;
    /// Position of `used` and `lane`.
    pub const USED: usize = 5;
    /// Position of `last`.
    pub const LAST: usize = 6;

    /// As words.
    pub const fn words(&self) -> [u64; Self::WORDS] {
        let (first, second) = self.name.split_at(8);
        let (Some(first), Some(second)) = (first.first_chunk(), second.first_chunk()) else {
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

    /// From words.
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

    /// From the start of some bytes.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let mut words = [0; Self::WORDS];
        for (index, to) in words.iter_mut().enumerate() {
            *to = word(bytes, index)?;
        }
        Some(Self::of_words(&words))
    }

    /// The name without the bytes that fill it up.
    pub fn name(&self) -> &[u8] {
        let end = self.name.iter().position(|byte| *byte == 0).unwrap_or(self.name.len());
        &self.name[..end]
    }
}
