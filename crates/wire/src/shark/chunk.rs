//! What lies before the areas of a chunk in memory: its descriptor and its recording head.
//!
//! | offset | size | field | content |
//! |---|---|---|---|
//! | 0 | 4 | id | 0xFFAAFFBB |
//! | 4 | 4 | number | own index in the chunk table, 0 to 255 |
//! | 8 | 1 | flags | the copy that API calls write; 3 bytes of padding |
//! | 12 | 4 | size | bytes of the normal area |
//! | 16 | 4 | emergency_size | bytes of the emergency area |
//! | 20 | 4 | head | address of the recording head, 24 bytes behind the descriptor's |
//! | 24 | 4 | position | address of the slot that is written next |
//! | 28 | 4 | start | address of the first slot, 24 bytes behind the head's |
//! | 32 | 4 | size | the same again |
//! | 36 | 4 | emergency_size | the same again |
//! | 40 | 4 | flags | the copy that recording reads and writes |
//! | 44 | 4 | next | address of the successor's recording head, 0 for none |

use core::fmt;

use super::Record;

/// Descriptor and recording head of a chunk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ChunkHeader {
    /// Own index in the chunk table.
    pub number: u32,
    /// The copy of the flags that API calls write; see [`super::ids::flag`].
    pub flags: u8,
    /// Bytes of the normal area.
    pub size: u32,
    /// Bytes of the emergency area behind it.
    pub emergency_size: u32,
    /// Address of the recording head.
    pub head: u32,
    /// Address of the slot that is written next.
    pub position: u32,
    /// Address of the first slot.
    pub start: u32,
    /// The copy of the flags that recording reads and sets.
    pub recording_flags: u32,
    /// Address of the successor's recording head, 0 for none.
    pub next: u32,
}

/// Why bytes are not the descriptor and head of a chunk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChunkError {
    /// They are fewer than [`ChunkHeader::SIZE`].
    TooShort,
    /// They begin with another number than [`ChunkHeader::ID`].
    NotAChunk {
        /// The first word.
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
    /// Bytes of descriptor and head.
    pub const SIZE: usize = 48;

    /// The first word.
    pub const ID: u32 = 0xFFAA_FFBB;

    /// Bytes of the descriptor, behind which the recording head lies.
    pub const HEAD_OFFSET: u32 = 24;

    /// Reads descriptor and head at the start of `bytes`. Sizes and flags that are there twice are
    /// taken where the API wrote them (sizes) or from both places (flags).
    ///
    /// # Errors
    /// Where the bytes are too few or do not begin with the id.
    pub fn read(bytes: &[u8]) -> Result<Self, ChunkError> {
        let (words, _) = bytes.as_chunks::<4>();
        let id = words.first().map(|id| u32::from_le_bytes(*id)).ok_or(ChunkError::TooShort)?;
        if id != Self::ID {
            return Err(ChunkError::NotAChunk { found: id });
        }
        let words: &[[u8; 4]; Self::SIZE / 4] = words.first_chunk().ok_or(ChunkError::TooShort)?;
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

    /// Writes descriptor and head at the start of `bytes`; `None` where they are too few.
    pub fn write(&self, bytes: &mut [u8]) -> Option<()> {
        let (words, _) = bytes.as_chunks_mut::<4>();
        let to: &mut [[u8; 4]; Self::SIZE / 4] = words.first_chunk_mut()?;
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

    /// Writes the address of the slot that is written next alone; `None` where the bytes are too few.
    #[inline]
    pub fn write_position(bytes: &mut [u8], position: u32) -> Option<()> {
        let place = bytes.get_mut(24..)?.first_chunk_mut()?;
        *place = position.to_le_bytes();
        Some(())
    }

    /// Whether the areas hold [packed](super::Packer) records.
    pub const fn is_compressed(&self) -> bool {
        self.flags & super::ids::flag::COMPRESSED != 0
    }

    /// Bytes of both areas.
    pub const fn area(&self) -> u64 {
        self.size as u64 + self.emergency_size as u64
    }
}

/// Slots that the safe path uses of a normal area of so many bytes: its test for the end leaves the
/// last whole slot free.
pub const fn usable_slots(size: u32) -> u32 {
    size.saturating_sub(1) / Record::SIZE as u32
}
