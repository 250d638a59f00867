//! UDP datagrams, and the capture file that keeps them.
//!
//! | offset | size | content |
//! |---|---|---|
//! | 0 | 12 | `TRACER-V1.0` and a NUL |
//! | 12 | 4 | packet number, from 1, running on over all chunks sent since boot |
//! | 16 | 4 | number of records |
//! | 20 | 4 | bytes of the datagram: 24 + 16 for each record |
//! | 24 | | records |
//!
//! A chunk's packets carry 60 records but for its last one. A chunk without records makes one
//! datagram of length 0. Nothing ends a transfer, and nothing lost is sent again.
//!
//! A capture is a row of frames: the length of a datagram as four little-endian bytes, then the
//! datagram.

use core::fmt;

use super::Record;

/// The UDP port of both ends.
pub const PORT: u16 = 20_000;

/// The first 24 bytes of a datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DatagramHeader {
    /// Packet number; the first one since boot is 1.
    pub number: u32,
    /// Number of records.
    pub events: u32,
    /// Bytes of the datagram as its sender counted them.
    pub size: u32,
}

/// Why bytes are not a datagram of the tracer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DatagramError {
    /// They do not begin with [`DatagramHeader::ID`].
    NotATracer,
    /// They are fewer than a header has.
    TooShort {
        /// How many there are.
        found: usize,
    },
    /// Length, number of records and size do not agree.
    Sizes {
        /// The header as it stands there.
        header: DatagramHeader,
        /// Bytes of the datagram.
        found: usize,
    },
}

impl fmt::Display for DatagramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotATracer => write!(f, "expected a datagram that begins with TRACER-V1.0"),
            Self::TooShort { found } => {
                write!(f, "expected a header of {} bytes, found {found}", DatagramHeader::SIZE)
            }
            Self::Sizes { header: DatagramHeader { events, size, .. }, found } => {
                write!(f, "{events} records in {size} bytes announced, found {found} bytes")
            }
        }
    }
}

impl core::error::Error for DatagramError {}

impl DatagramHeader {
    /// Bytes of a header.
    pub const SIZE: usize = 24;

    /// The first 12 bytes.
    pub const ID: [u8; 12] = *b"TRACER-V1.0\0";

    /// The most records of a datagram: the sender adds one only while what it has is shorter than
    /// 1000 bytes with it.
    pub const MOST_EVENTS: u32 = 60;

    /// The header of a datagram with so many records.
    pub const fn new(number: u32, events: u32) -> Self {
        let records = events.wrapping_mul(Record::SIZE as u32);
        Self { number, events, size: records.wrapping_add(Self::SIZE as u32) }
    }

    /// Reads a datagram: its header, and the bytes of its records.
    ///
    /// # Errors
    /// Where it is none of the tracer's, or its length is not what it says.
    pub fn read(datagram: &[u8]) -> Result<(Self, &[u8]), DatagramError> {
        if !datagram.starts_with(&Self::ID) {
            return Err(DatagramError::NotATracer);
        }
        let found = datagram.len();
        let (head, records) =
            datagram.split_first_chunk::<24>().ok_or(DatagramError::TooShort { found })?;
        let [_, _, _, number, events, size] = {
            let mut words = [0; 6];
            let bytes = head.as_chunks::<4>().0;
            words.iter_mut().zip(bytes).for_each(|(word, b)| *word = u32::from_le_bytes(*b));
            words
        };
        let header = Self { number, events, size };
        let agrees = u64::from(size) == found as u64
            && u64::from(events) * Record::SIZE as u64 == records.len() as u64;
        if agrees { Ok((header, records)) } else { Err(DatagramError::Sizes { header, found }) }
    }

    /// Writes the header at the start of `datagram`; `None` where that is too short.
    pub fn write(&self, datagram: &mut [u8]) -> Option<()> {
        let (id, rest) = datagram.get_mut(..Self::SIZE)?.split_at_mut(Self::ID.len());
        id.copy_from_slice(&Self::ID);
        let words = [self.number, self.events, self.size].map(u32::to_le_bytes);
        rest.copy_from_slice(words.as_flattened());
        Some(())
    }
}

/// One frame of a capture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frame<'a> {
    /// The datagram, shorter than announced where the capture ends inside it.
    pub datagram: &'a [u8],
    /// Whether all of it is there.
    pub whole: bool,
    /// What follows.
    pub rest: &'a [u8],
}

impl<'a> Frame<'a> {
    /// Bytes before a datagram.
    pub const PREFIX: usize = 4;

    /// Cuts the next frame off a capture; `None` at its end, where fewer than four bytes are left.
    pub fn read(capture: &'a [u8]) -> Option<Self> {
        let (length, rest) = capture.split_first_chunk()?;
        // A length beyond this machine's addresses is beyond the capture, too.
        let length = usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX);
        match rest.split_at_checked(length) {
            Some((datagram, rest)) => Some(Self { datagram, whole: true, rest }),
            None => Some(Self { datagram: rest, whole: false, rest: &[] }),
        }
    }

    /// The four bytes before a datagram of this length.
    pub const fn prefix(length: u32) -> [u8; 4] {
        length.to_le_bytes()
    }
}
