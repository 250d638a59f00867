//! When the bytes of a stream came: the file beside the raw bytes that a collector keeps.
//!
//! All numbers are little-endian. A header of 16 bytes:
//!
//! | offset | size | content |
//! |---|---|---|
//! | 0 | 8 | `TWARRIVE` |
//! | 8 | 4 | version, 1 |
//! | 12 | 4 | bytes of an entry, 16 |
//!
//! Then entries in the order in which things happened:
//!
//! | offset | size | content |
//! |---|---|---|
//! | 0 | 8 | nanoseconds since 1970, by the host's clock |
//! | 8 | 4 | number of bytes |
//! | 12 | 4 | what happened: [`What`] |
//!
//! Positions in the raw file are not written: they are the sums of what has arrived before. A file that ends
//! within an entry was cut there, and everything before holds.

/// The first bytes of the file.
pub const HEADER: [u8; 16] = *b"TWARRIVE\x01\0\0\0\x10\0\0\0";

/// What happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    /// 1: so many bytes came, and follow those before in the raw file.
    Bytes,
    /// 2: so many bytes came here that there was no room for; they are not in the raw file.
    Dropped,
    /// 3: the target was connected, or the source opened.
    Opened,
    /// 4: the connection ended.
    Closed,
    /// 5: the source began anew: a file that was followed was cut or replaced.
    Restarted,
}

impl What {
    /// The number that stands for it.
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

/// Something that happened, and when.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrival {
    /// Nanoseconds since 1970, by the host's clock.
    pub time_ns: u64,
    /// How many bytes; 0 where none came.
    pub bytes: u32,
    /// What happened.
    pub what: What,
}

impl Arrival {
    /// Bytes of an entry.
    pub const SIZE: usize = 16;

    /// The entry.
    pub fn to_bytes(self) -> [u8; Self::SIZE] {
        let mut entry = [0; Self::SIZE];
        let (time, rest) = entry.split_at_mut(8);
        time.copy_from_slice(&self.time_ns.to_le_bytes());
        let words = [self.bytes, self.what.code()].map(u32::to_le_bytes);
        rest.copy_from_slice(words.as_flattened());
        entry
    }

    /// Reads an entry; `None` where it says something unknown.
    pub fn from_bytes(entry: &[u8; Self::SIZE]) -> Option<Self> {
        let (time, rest) = entry.split_first_chunk()?;
        let (bytes, code) = rest.split_first_chunk()?;
        let code = u32::from_le_bytes(*code.first_chunk()?);
        Some(Self {
            time_ns: u64::from_le_bytes(*time),
            bytes: u32::from_le_bytes(*bytes),
            what: What::from_code(code)?,
        })
    }
}

/// The entries of a file, each with its position in the raw file.
#[derive(Clone, Debug)]
pub struct Arrivals<'a> {
    entries: core::slice::Iter<'a, [u8; Arrival::SIZE]>,
    position: u64,
}

impl<'a> Arrivals<'a> {
    /// Reads a file; `None` where it begins differently.
    pub fn new(file: &'a [u8]) -> Option<Self> {
        let entries = file.strip_prefix(&HEADER)?.as_chunks().0.iter();
        Some(Self { entries, position: 0 })
    }
}

impl Iterator for Arrivals<'_> {
    /// Where in the raw file, and what. Entries of an unknown kind are left out.
    type Item = (u64, Arrival);

    fn next(&mut self) -> Option<Self::Item> {
        let arrival = self.entries.find_map(Arrival::from_bytes)?;
        let position = self.position;
        if arrival.what == What::Bytes {
            self.position = position.saturating_add(u64::from(arrival.bytes));
        }
        Some((position, arrival))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [What; 5] =
        [What::Bytes, What::Dropped, What::Opened, What::Closed, What::Restarted];

    #[test]
    fn an_entry_lies_as_the_table_says() {
        let arrival =
            Arrival { time_ns: 0x0102_0304_0506_0708, bytes: 0x0A0B, what: What::Dropped };
        let expected = [8, 7, 6, 5, 4, 3, 2, 1, 0x0B, 0x0A, 0, 0, 2, 0, 0, 0];
        assert_eq!(arrival.to_bytes(), expected);
        for what in ALL {
            let arrival = Arrival { what, ..arrival };
            assert_eq!(Arrival::from_bytes(&arrival.to_bytes()), Some(arrival));
        }
    }

    #[test]
    fn positions_are_sums_of_what_arrived() {
        let entry = |bytes, what| Arrival { time_ns: 7, bytes, what };
        let told = [
            entry(0, What::Opened),
            entry(10, What::Bytes),
            entry(99, What::Dropped),
            entry(5, What::Bytes),
            entry(0, What::Closed),
        ];
        let mut file = [0; 16 * 7 + 3];
        file[..16].copy_from_slice(&HEADER);
        for (room, arrival) in file[16..].as_chunks_mut().0.iter_mut().zip(told) {
            *room = arrival.to_bytes();
        }
        // The last whole entry is of no known kind, and a cut one follows.
        let read = Arrivals::new(&file).unwrap();
        let positions = [0, 0, 10, 10, 15];
        assert!(read.eq(positions.into_iter().zip(told)));
        assert!(Arrivals::new(&file[1..]).is_none() && Arrivals::new(b"").is_none());
    }
}
