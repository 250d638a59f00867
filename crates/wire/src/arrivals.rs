//! Arrival times of a captured byte stream: the sidecar file that a collector writes next to the
//! raw bytes.
//!
//! All numbers are little-endian. The file begins with a header of 16 bytes:
//!
//! | offset | size | content |
//! |---|---|---|
//! | 0 | 8 | `TWARRIVE` |
//! | 8 | 4 | version, 1 |
//! | 12 | 4 | length of an entry in bytes, 16 |
//!
//! Entries follow, oldest first:
//!
//! | offset | size | content |
//! |---|---|---|
//! | 0 | 8 | nanoseconds since 1970, by the host's clock |
//! | 8 | 4 | number of bytes |
//! | 12 | 4 | kind: [`ArrivalKind`] |
//!
//! Entries do not store their offset in the raw file. The offset of an entry is the sum of the byte
//! counts of all earlier entries of kind 1. A file that ends within an entry is truncated; all
//! complete entries are valid.

/// The first 16 bytes of the file.
pub const HEADER: [u8; 16] = *b"TWARRIVE\x01\0\0\0\x10\0\0\0";

/// The kind of an entry. The number of each kind is part of the format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArrivalKind {
    /// 1: bytes were received and appended to the raw file.
    Bytes,
    /// 2: bytes were received but dropped because the buffer was full. The raw file does not
    /// contain these bytes.
    Dropped,
    /// 3: the target connected, or the source was opened.
    Opened,
    /// 4: the connection ended.
    Closed,
    /// 5: the source started over, because the file that the collector follows was truncated or
    /// replaced.
    Restarted,
}

impl ArrivalKind {
    /// Returns the number that encodes the kind in the file.
    pub const fn code(self) -> u32 {
        match self {
            Self::Bytes => 1,
            Self::Dropped => 2,
            Self::Opened => 3,
            Self::Closed => 4,
            Self::Restarted => 5,
        }
    }

    const fn from_code(code: u32) -> Option<Self> {
        Some(match code {
            1 => Self::Bytes,
            2 => Self::Dropped,
            3 => Self::Opened,
            4 => Self::Closed,
            5 => Self::Restarted,
            _ => return None,
        })
    }
}

/// One entry: an event in the life of the stream, and its time.
///
/// ```
/// use tracewell_wire::arrivals::{Arrival, ArrivalKind};
///
/// let kind = ArrivalKind::Bytes;
/// let arrival = Arrival { time_ns: 1_700_000_000_000_000_000, bytes: 512, kind };
/// assert_eq!(Arrival::from_bytes(&arrival.to_bytes()), Some(arrival));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrival {
    /// Nanoseconds since 1970, by the host's clock.
    pub time_ns: u64,
    /// Number of bytes received or dropped; 0 for the other kinds.
    pub bytes: u32,
    /// Kind of the entry.
    pub kind: ArrivalKind,
}

impl Arrival {
    /// Length of an entry in bytes.
    pub const SIZE: usize = 16;

    /// Returns the entry in the form that the file stores.
    pub fn to_bytes(self) -> [u8; Self::SIZE] {
        let mut entry = [0; Self::SIZE];
        let (time, rest) = entry.split_at_mut(8);
        time.copy_from_slice(&self.time_ns.to_le_bytes());
        let words = [self.bytes, self.kind.code()].map(u32::to_le_bytes);
        rest.copy_from_slice(words.as_flattened());
        entry
    }

    /// Decodes an entry. Returns `None` if the entry has an unknown kind.
    pub fn from_bytes(entry: &[u8; Self::SIZE]) -> Option<Self> {
        let (time, rest) = entry.split_first_chunk()?;
        let (bytes, code) = rest.split_first_chunk()?;
        let code = u32::from_le_bytes(*code.first_chunk()?);
        Some(Self {
            time_ns: u64::from_le_bytes(*time),
            bytes: u32::from_le_bytes(*bytes),
            kind: ArrivalKind::from_code(code)?,
        })
    }
}

/// Iterator over the entries of a file, each with its offset in the raw file.
///
/// ```
/// use tracewell_wire::arrivals::{Arrival, Arrivals, HEADER, ArrivalKind};
///
/// let mut file = HEADER.to_vec();
/// for bytes in [100, 20] {
///     file.extend(Arrival { time_ns: 0, bytes, kind: ArrivalKind::Bytes }.to_bytes());
/// }
/// let positions: Vec<u64> = Arrivals::new(&file).unwrap().map(|(at, _)| at).collect();
/// assert_eq!(positions, [0, 100]);
/// ```
#[derive(Clone, Debug)]
pub struct Arrivals<'a> {
    entries: core::slice::Iter<'a, [u8; Arrival::SIZE]>,
    position: u64,
}

impl<'a> Arrivals<'a> {
    /// Iterates over a whole file. Returns `None` if it does not begin with [`HEADER`].
    pub fn new(file: &'a [u8]) -> Option<Self> {
        let entries = file.strip_prefix(&HEADER)?.as_chunks().0.iter();
        Some(Self { entries, position: 0 })
    }
}

impl Iterator for Arrivals<'_> {
    /// Offset in the raw file, and the entry. The iterator skips entries of unknown kinds.
    type Item = (u64, Arrival);

    fn next(&mut self) -> Option<Self::Item> {
        let arrival = self.entries.find_map(Arrival::from_bytes)?;
        let position = self.position;
        if arrival.kind == ArrivalKind::Bytes {
            self.position = position.saturating_add(u64::from(arrival.bytes));
        }
        Some((position, arrival))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [ArrivalKind; 5] = [
        ArrivalKind::Bytes,
        ArrivalKind::Dropped,
        ArrivalKind::Opened,
        ArrivalKind::Closed,
        ArrivalKind::Restarted,
    ];

    #[test]
    fn an_entry_lies_as_the_table_says() {
        let arrival =
            Arrival { time_ns: 0x0102_0304_0506_0708, bytes: 0x0A0B, kind: ArrivalKind::Dropped };
        let expected = [8, 7, 6, 5, 4, 3, 2, 1, 0x0B, 0x0A, 0, 0, 2, 0, 0, 0];
        assert_eq!(arrival.to_bytes(), expected);
        for kind in ALL {
            let arrival = Arrival { kind, ..arrival };
            assert_eq!(Arrival::from_bytes(&arrival.to_bytes()), Some(arrival));
        }
    }

    #[test]
    fn positions_are_sums_of_what_arrived() {
        let entry = |bytes, kind| Arrival { time_ns: 7, bytes, kind };
        let told = [
            entry(0, ArrivalKind::Opened),
            entry(10, ArrivalKind::Bytes),
            entry(99, ArrivalKind::Dropped),
            entry(5, ArrivalKind::Bytes),
            entry(0, ArrivalKind::Closed),
        ];
        let mut file = [0; 16 * 7 + 3];
        file[..16].copy_from_slice(&HEADER);
        for (room, arrival) in file[16..].as_chunks_mut().0.iter_mut().zip(told) {
            *room = arrival.to_bytes();
        }
        // The last complete entry has an unknown kind, and a truncated one follows.
        let read = Arrivals::new(&file).unwrap();
        let positions = [0, 0, 10, 10, 15];
        assert!(read.eq(positions.into_iter().zip(told)));
        assert!(Arrivals::new(&file[1..]).is_none() && Arrivals::new(b"").is_none());
    }
}
