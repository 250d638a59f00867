//! UDP datagrams, and capture files that contain them.
//!
//! | offset | size | content |
//! |---|---|---|
//! | 0 | 12 | `TRACER-V1.0` and a NUL |
//! | 12 | 4 | packet number since boot, from 1, across all chunks |
//! | 16 | 4 | number of records |
//! | 20 | 4 | size of the datagram in bytes: 24 + 16 per record |
//! | 24 | | records |
//!
//! All packets of a chunk except the last carry 60 records. A chunk without records becomes one
//! datagram of length 0. The protocol has no end marker and no retransmission.
//!
//! A capture is a sequence of frames: the length of a datagram as four little-endian bytes, then
//! the datagram.

use core::fmt;

use super::Record;

/// The UDP port that the sender and the receiver use.
pub const PORT: u16 = 20_000;

/// The first 24 bytes of a datagram.
///
/// ```
/// use tracewell_wire::shark::{DatagramHeader, Record};
///
/// let record = Record { code_word: 0x82, par1: 0x100, tsc: 1 << 33, par2: 0 };
/// let header = DatagramHeader::new(1, 1);
/// let mut datagram = [0; DatagramHeader::SIZE + Record::SIZE];
/// header.write(&mut datagram).unwrap();
/// record.write(&mut datagram[DatagramHeader::SIZE..]).unwrap();
/// let (read, records) = DatagramHeader::read(&datagram).unwrap();
/// assert_eq!((read, Record::read(records)), (header, Some(record)));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DatagramHeader {
    /// Packet number; 1 for the first packet since boot.
    pub number: u32,
    /// Number of records in the datagram.
    pub events: u32,
    /// Size of the datagram in bytes, according to the sender.
    pub size: u32,
}

/// Error for bytes that are not a tracer datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DatagramError {
    /// The bytes do not begin with [`DatagramHeader::ID`].
    NotATracer,
    /// The bytes end inside the header.
    TooShort {
        /// Length of the datagram in bytes.
        found: usize,
    },
    /// The length of the datagram, its number of records and its size field disagree.
    Sizes {
        /// The header with the inconsistent sizes.
        header: DatagramHeader,
        /// Length of the datagram in bytes.
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
    /// Size of a header in bytes.
    pub const SIZE: usize = 24;

    /// The first 12 bytes.
    pub const ID: [u8; 12] = *b"TRACER-V1.0\0";

    /// Maximum number of records in a datagram. The sender adds records only as long as the
    /// datagram stays below 1000 bytes.
    pub const MAX_EVENTS: u32 = 60;

    /// Returns the header of a datagram with `events` records.
    pub const fn new(number: u32, events: u32) -> Self {
        let records = events.wrapping_mul(Record::SIZE as u32);
        Self { number, events, size: records.wrapping_add(Self::SIZE as u32) }
    }

    /// Reads a datagram. Returns the datagram's header and the bytes of its records.
    ///
    /// # Errors
    /// Returns an error if the bytes are not a tracer datagram, or if the length disagrees with the
    /// header.
    pub fn read(datagram: &[u8]) -> Result<(Self, &[u8]), DatagramError> {
        if !datagram.starts_with(&Self::ID) {
            return Err(DatagramError::NotATracer);
        }
        let found = datagram.len();
        let (head, records) =
            datagram.split_first_chunk::<24>().ok_or(DatagramError::TooShort { found })?;
        // The first three words are the id.
        let [_, _, _, number, events, size] = {
            let mut words = [0; 6];
            let bytes = head.as_chunks::<4>().0;
            words.iter_mut().zip(bytes).for_each(|(word, b)| *word = u32::from_le_bytes(*b));
            words
        };
        let header = Self { number, events, size };
        // Compute in 64 bits, so that a huge number of records does not wrap to a plausible size.
        let agrees = u64::from(size) == found as u64
            && u64::from(events) * Record::SIZE as u64 == records.len() as u64;
        if agrees { Ok((header, records)) } else { Err(DatagramError::Sizes { header, found }) }
    }

    /// Writes the header at the start of `datagram`. Returns `None` if `datagram` is too short.
    pub fn write(&self, datagram: &mut [u8]) -> Option<()> {
        let (id, rest) = datagram.get_mut(..Self::SIZE)?.split_at_mut(Self::ID.len());
        id.copy_from_slice(&Self::ID);
        let words = [self.number, self.events, self.size].map(u32::to_le_bytes);
        rest.copy_from_slice(words.as_flattened());
        Some(())
    }
}

/// One frame of a capture.
///
/// ```
/// use tracewell_wire::shark::Frame;
///
/// let frame = Frame::read(b"\x02\0\0\0abcd").unwrap();
/// assert_eq!((frame.datagram, frame.whole, frame.rest), (&b"ab"[..], true, &b"cd"[..]));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frame<'a> {
    /// The datagram. It is shorter than the length prefix specifies if the capture ends inside it.
    pub datagram: &'a [u8],
    /// True if the capture contains the whole datagram.
    pub whole: bool,
    /// The bytes of the capture after this frame.
    pub rest: &'a [u8],
}

impl<'a> Frame<'a> {
    /// Size of the length prefix of a datagram, in bytes.
    pub const PREFIX: usize = 4;

    /// Reads the first frame of a capture. Returns `None` if fewer than four bytes are left.
    pub fn read(capture: &'a [u8]) -> Option<Self> {
        let (length, rest) = capture.split_first_chunk()?;
        // A length that does not fit `usize` also exceeds the capture.
        let length = usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX);
        match rest.split_at_checked(length) {
            Some((datagram, rest)) => Some(Self { datagram, whole: true, rest }),
            None => Some(Self { datagram: rest, whole: false, rest: &[] }),
        }
    }

    /// Returns the length prefix of a datagram of this length.
    pub const fn prefix(length: u32) -> [u8; 4] {
        length.to_le_bytes()
    }
}
