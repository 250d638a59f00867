//! One chunk: the positions of its records and of the slot to write next.
//!
//! The state of the chunk is in private fields. The recorder writes the chunk's memory but does not
//! read it, except for records that it is about to overwrite.

use core::mem;

use tracewell_wire::shark::ids::{self, flag};
use tracewell_wire::shark::{ChunkHeader, Record};

use super::{ChunkStatus, ControlError};

/// Sizes of a chunk's areas, and the address that its image contains.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Areas {
    /// Size of the normal area in bytes, at least 32. Bytes after the last whole slot are unused.
    pub normal: u32,
    /// Size of the emergency area in bytes: 0, or at least 32. This area holds essential records,
    /// which readers need to interpret the other records.
    pub emergency: u32,
    /// The address that the chunk's image contains; `None` if the image contains the low 32 bits
    /// of the actual address.
    pub base_address: Option<u32>,
}

impl Areas {
    /// Returns the sizes rounded down to whole slots.
    ///
    /// # Errors
    /// Returns [`ControlError::Sizes`] if an area is too small, or if the sum of the sizes exceeds
    /// 32 bits.
    pub(super) fn rounded(self) -> Result<Self, ControlError> {
        const MIN_SIZE: u32 = 2 * Record::SIZE as u32;
        let small = self.normal < MIN_SIZE || (1..MIN_SIZE).contains(&self.emergency);
        let round = |size: u32| size & !(Record::SIZE as u32 - 1);
        let rounded = Self { normal: round(self.normal), emergency: round(self.emergency), ..self };
        // Decoders and the kernel add the sizes in 32-bit arithmetic.
        let sum = rounded.normal.checked_add(rounded.emergency);
        let fits = sum.and_then(|sum| sum.checked_add(ChunkHeader::SIZE as u32)).is_some();
        if small || !fits { Err(ControlError::Sizes) } else { Ok(rounded) }
    }

    /// Returns the size of the whole chunk in bytes, or `None` if it overflows.
    pub(super) fn chunk_size(self) -> Option<usize> {
        let normal = usize::try_from(self.normal).ok()?;
        let emergency = usize::try_from(self.emergency).ok()?;
        normal.checked_add(emergency)?.checked_add(ChunkHeader::SIZE)
    }
}

/// The result of storing a record in the normal area.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stored {
    /// The record was stored and replaced the slot's previous content.
    Over(Before),
    /// Nothing was stored: the position is at the end.
    AtEnd,
}

/// The previous content of a slot. If this was a record, the value also states if the record was
/// saved or lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Before {
    Nothing,
    /// A record, which is now lost.
    Lost,
    /// An essential record, which is now in the emergency area.
    Saved,
    /// An essential record, which is now lost.
    EssentialLost,
}

/// A chunk. Offsets are in bytes from the start of the chunk's memory.
#[derive(Debug)]
pub(super) struct Chunk<'m> {
    /// Descriptor, head, normal area, emergency area. Empty while the chunk is being sent.
    memory: &'m mut [u8],
    /// Address and length of the memory, available even while the chunk is being sent.
    place: (usize, usize),
    base: u32,
    pub(super) flags: u8,
    pub(super) next: Option<u8>,
    number: u8,
    laps: u32,
    /// Offset of the next record.
    position: usize,
    /// End of the normal area, start of the emergency area.
    end: usize,
    /// Offset of the next record in the emergency area.
    kept: usize,
}

impl<'m> Chunk<'m> {
    /// Creates an empty chunk in memory that has exactly the size of the header and the areas.
    pub(super) fn new(number: u8, memory: &'m mut [u8], areas: Areas, flags: u8) -> Self {
        let base = areas.base_address.unwrap_or(memory.as_ptr().addr() as u32);
        let end = memory.len() - areas.emergency as usize;
        let (position, kept) = (ChunkHeader::SIZE, end);
        let place = (memory.as_ptr().addr(), memory.len());
        let mut chunk =
            Self { memory, place, base, flags, next: None, number, laps: 0, position, end, kept };
        chunk.clear();
        chunk
    }

    /// Creates a compressed chunk in memory that holds space for a header, then `used` bytes of
    /// packed records.
    pub(super) fn packed(number: u8, memory: &'m mut [u8], used: usize, flags: u8) -> Self {
        let base = memory.as_ptr().addr() as u32;
        let end = memory.len();
        let position = ChunkHeader::SIZE + used;
        let place = (memory.as_ptr().addr(), end);
        Self { memory, place, base, flags, next: None, number, laps: 0, position, end, kept: end }
    }

    /// Removes all records.
    pub(super) fn clear(&mut self) {
        self.flags &= !(flag::FULL | flag::COMPRESSED);
        (self.position, self.kept, self.laps) = (ChunkHeader::SIZE, self.end, 0);
        self.memory.fill(0);
    }

    /// Writes descriptor and head; `next` is the address of the successor's head.
    pub(super) fn publish(&mut self, next: u32) {
        let start = self.base.wrapping_add(ChunkHeader::SIZE as u32);
        let header = ChunkHeader {
            number: u32::from(self.number),
            flags: self.flags,
            size: (self.end - ChunkHeader::SIZE) as u32,
            emergency_size: (self.place.1 - self.end) as u32,
            head: self.head(),
            position: self.base.wrapping_add(self.position as u32),
            start,
            recording_flags: u32::from(self.flags),
            next,
        };
        // While the chunk is being sent it has no memory, and nothing is written.
        let _ = header.write(self.memory);
    }

    /// Returns the address of the recording head.
    pub(super) fn head(&self) -> u32 {
        self.base.wrapping_add(ChunkHeader::HEAD_OFFSET)
    }

    #[inline]
    pub(super) fn has(&self, flags: u8) -> bool {
        self.flags & flags != 0
    }

    pub(super) fn mode(&self) -> u8 {
        self.flags & flag::MODE
    }

    /// Stores a record at the current position, unless that is the end of the area.
    #[inline]
    pub(super) fn store(&mut self, record: Record) -> Stored {
        let at = self.position;
        if at >= self.end {
            return Stored::AtEnd;
        }
        // From the second lap on, the slot contains an older record, which may be essential.
        let before = if self.laps == 0 { Before::Nothing } else { self.save(at) };
        let Some(()) = self.memory.get_mut(at..).and_then(|slot| record.write(slot)) else {
            return Stored::AtEnd;
        };
        self.position = at + Record::SIZE;
        self.publish_position();
        Stored::Over(before)
    }

    /// Writes the position, the only word of the header that changes with every record.
    #[inline]
    fn publish_position(&mut self) {
        let position = self.base.wrapping_add(self.position as u32);
        ChunkHeader::write_position(self.memory, position);
    }

    /// Copies the record in the slot at `at` to the emergency area, if it is essential.
    #[cold]
    fn save(&mut self, at: usize) -> Before {
        match self.memory.get(at..).and_then(Record::read) {
            None => Before::Nothing,
            Some(record) if record.is_empty() => Before::Nothing,
            Some(record) if !ids::is_essential(record.code()) => Before::Lost,
            Some(record) if self.keep(record) => Before::Saved,
            Some(_) => Before::EssentialLost,
        }
    }

    /// Stores a record in the emergency area. Returns false if the area is full.
    #[cold]
    pub(super) fn keep(&mut self, record: Record) -> bool {
        let slot = self.memory.get_mut(self.kept..);
        let written = slot.and_then(|slot| record.write(slot)).is_some();
        self.kept += if written { Record::SIZE } else { 0 };
        written
    }

    /// Starts the next lap of a cyclic chunk.
    pub(super) fn begin_again(&mut self) {
        self.position = ChunkHeader::SIZE;
        self.laps = self.laps.saturating_add(1);
    }

    /// Returns header and areas, or nothing while the chunk is being sent.
    pub(super) fn image(&self) -> &[u8] {
        self.memory
    }

    /// Removes the memory from the chunk.
    pub(super) fn take_memory(&mut self) -> &'m mut [u8] {
        mem::take(&mut self.memory)
    }

    /// Returns true if this is the memory that was removed from the chunk.
    pub(super) fn owns(&self, memory: &[u8]) -> bool {
        self.memory.is_empty() && self.place == (memory.as_ptr().addr(), memory.len())
    }

    pub(super) fn give_memory(&mut self, memory: &'m mut [u8]) {
        self.memory = memory;
    }

    pub(super) fn status(&self, current: bool) -> ChunkStatus {
        let size = |from: usize, to: usize| to.saturating_sub(from) as u32;
        ChunkStatus {
            number: self.number,
            flags: self.flags,
            normal: size(ChunkHeader::SIZE, self.end),
            emergency: size(self.end, self.place.1),
            position: size(ChunkHeader::SIZE, self.position),
            kept: size(self.end, self.kept),
            laps: self.laps,
            next: self.next,
            current,
        }
    }
}
