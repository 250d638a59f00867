//! The descriptor and the recording head. In memory, both precede the areas of a chunk.
//!
//! | offset | size | field | content |
//! |---|---|---|---|
//! | 0 | 4 | id | 0xFFAAFFBB |
//! | 4 | 4 | number | index in the chunk table, 0 to 255 |
//! | 8 | 1 | flags | the copy of the flags that API calls write, then 3 bytes of padding |
//! | 12 | 4 | size | bytes of the normal area |
//! | 16 | 4 | emergency_size | bytes of the emergency area |
//! | 20 | 4 | head | address of the recording head: the descriptor's address + 24 |
//! | 24 | 4 | position | address of the slot to be written next |
//! | 28 | 4 | start | address of the first slot: the head's address + 24 |
//! | 32 | 4 | size | the same number as at offset 12 |
//! | 36 | 4 | emergency_size | the same number as at offset 16 |
//! | 40 | 4 | flags | the copy of the flags that the recorder reads and writes |
//! | 44 | 4 | next | address of the successor's recording head, 0 for none |

use core::fmt;

use super::Record;

/// Descriptor and recording head of a chunk.
///
/// ```
/// use tracewell_wire::shark::{ChunkError, ChunkHeader};
///
/// assert_eq!(ChunkHeader::read(b"junk"), Err(ChunkError::NotAChunk { found: 0x6B6E_756A }));
/// assert_eq!(ChunkHeader::read(&ChunkHeader::ID.to_le_bytes()), Err(ChunkError::TooShort));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ChunkHeader {
    /// Index in the chunk table.
    pub number: u32,
    /// The copy of the flags that API calls modify; see [`super::ids::flag`].
    pub flags: u8,
    /// Size of the normal area in bytes.
    pub size: u32,
    /// Size in bytes of the emergency area, which follows the normal area.
    pub emergency_size: u32,
    /// Address of the recording head.
    pub head: u32,
    /// Address of the slot to be written next.
    pub position: u32,
    /// Address of the first slot.
    pub start: u32,
    /// The copy of the flags that the recorder reads and sets.
    pub recording_flags: u32,
    /// Address of the successor's recording head, 0 for none.
    pub next: u32,
}

/// Error for bytes that are not the descriptor and head of a chunk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChunkError {
    /// There are fewer bytes than [`ChunkHeader::SIZE`].
    TooShort,
    /// The bytes do not begin with [`ChunkHeader::ID`].
    NotAChunk {
        /// The first word of the bytes, little-endian.
        found: u32,
    },
}

impl fmt::Display for ChunkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooShort => write!(f, "a chunk begins with {} bytes", ChunkHeader::SIZE),
            Self::NotAChunk { found } => {
                write!(f, "expected chunk id 0x{:08X}, found 0x{found:08X}", ChunkHeader::ID)
            }
        }
    }
}

impl core::error::Error for ChunkError {}

impl ChunkHeader {
    /// Size of descriptor and head in bytes.
    pub const SIZE: usize = 48;

    /// The first word of every chunk.
    pub const ID: u32 = 0xFFAA_FFBB;

    /// Offset of the recording head in bytes.
    pub const HEAD_OFFSET: u32 = 24;

    /// Reads the descriptor and head at the start of `bytes`. Both the descriptor and the head
    /// contain the sizes. This function uses the sizes in the descriptor.
    ///
    /// # Errors
    /// Returns an error if there are too few bytes, or if they do not begin with the id.
    pub fn read(bytes: &[u8]) -> Result<Self, ChunkError> {
        let (words, _) = bytes.as_chunks::<4>();
        let id = words.first().map(|id| u32::from_le_bytes(*id)).ok_or(ChunkError::TooShort)?;
        if id != Self::ID {
            return Err(ChunkError::NotAChunk { found: id });
        }
        // Check the id first: for a short file of another format, "not a chunk" is the more useful
        // error.
        let words: &[[u8; 4]; Self::SIZE / 4] = words.first_chunk().ok_or(ChunkError::TooShort)?;
        // The skipped words in the middle are the head's copies of the two sizes.
        let [_, number, flags, size, emergency, head, position, start, _, _, recording, next] =
            words.map(u32::from_le_bytes);
        Ok(Self {
            number,
            flags: flags as u8,
            size,
            emergency_size: emergency,
            head,
            position,
            start,
            recording_flags: recording,
            next,
        })
    }

    /// Writes descriptor and head at the start of `bytes`. Returns `None` if the bytes are too few.
    pub fn write(&self, bytes: &mut [u8]) -> Option<()> {
        let (words, _) = bytes.as_chunks_mut::<4>();
        let to: &mut [[u8; 4]; Self::SIZE / 4] = words.first_chunk_mut()?;
        // The descriptor ends here. The head follows and repeats the sizes.
        let (size, emergency) = (self.size, self.emergency_size);
        *to = [
            Self::ID,
            self.number,
            u32::from(self.flags),
            size,
            emergency,
            self.head,
            self.position,
            self.start,
            size,
            emergency,
            self.recording_flags,
            self.next,
        ]
        .map(u32::to_le_bytes);
        Some(())
    }

    /// Writes only the address of the slot to be written next. Returns `None` if the bytes are too
    /// few.
    #[inline]
    pub fn write_position(bytes: &mut [u8], position: u32) -> Option<()> {
        let place = bytes.get_mut(24..)?.first_chunk_mut()?;
        *place = position.to_le_bytes();
        Some(())
    }

    /// Returns true if the areas hold [packed](super::Packer) records.
    pub const fn is_compressed(&self) -> bool {
        self.flags & super::ids::flag::COMPRESSED != 0
    }

    /// Returns the size of both areas in bytes.
    pub const fn area(&self) -> u64 {
        self.size as u64 + self.emergency_size as u64
    }
}

/// Returns the number of slots that the safe path uses in a normal area of `size` bytes. If the
/// slots fill the area exactly, the safe path never uses the last slot.
///
/// ```
/// use tracewell_wire::shark::usable_slots;
///
/// assert_eq!(usable_slots(160), 9);
/// assert_eq!(usable_slots(161), 10);
/// ```
pub const fn usable_slots(size: u32) -> u32 {
    size.saturating_sub(1) / Record::SIZE as u32
}
