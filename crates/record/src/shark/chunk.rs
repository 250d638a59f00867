//! One chunk: where its records lie, and which slot is written next.
//!
//! What is decided here stands in private fields; the memory is only written, apart from the codes of slots
//! that are about to be overwritten.

use core::mem;

use tracewell_wire::shark::ids::{self, flag};
use tracewell_wire::shark::{ChunkHeader, Record};

use super::{ChunkStatus, ControlError};

/// Sizes of a chunk's areas, and what its image says of its place.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Areas {
    /// Bytes for records, at least 32; what is left over behind the last whole slot is not used.
    pub normal: u32,
    /// Bytes for records without which the others cannot be read: 0, or at least 32.
    pub emergency: u32,
    /// Address that the image says it lies at; `None` for the low 32 bits of the memory's own.
    pub base_address: Option<u32>,
}

impl Areas {
    /// The same in whole slots.
    pub(super) fn rounded(self) -> Result<Self, ControlError> {
        const LEAST: u32 = 2 * Record::SIZE as u32;
        let small = self.normal < LEAST || (1..LEAST).contains(&self.emergency);
        let round = |size: u32| size & !(Record::SIZE as u32 - 1);
        let rounded = Self { normal: round(self.normal), emergency: round(self.emergency), ..self };
        // A reader adds the sizes up in 32 bits, as the kernel does.
        let sum = rounded.normal.checked_add(rounded.emergency);
        let fits = sum.and_then(|sum| sum.checked_add(ChunkHeader::SIZE as u32)).is_some();
        if small || !fits { Err(ControlError::Sizes) } else { Ok(rounded) }
    }

    /// Bytes of the chunk.
    pub(super) fn chunk_size(self) -> Option<usize> {
        let normal = usize::try_from(self.normal).ok()?;
        let emergency = usize::try_from(self.emergency).ok()?;
        normal.checked_add(emergency)?.checked_add(ChunkHeader::SIZE)
    }
}

/// What became of a record that looked for a slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stored {
    /// In the normal area, over what was in the slot before.
    Over(Before),
    /// Nowhere: the position is at the end.
    AtEnd,
}

/// What a slot held before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Before {
    Nothing,
    /// A record that is gone.
    Lost,
    /// An essential one that is now in the emergency area.
    Saved,
    /// An essential one that is gone.
    EssentialLost,
}

/// A chunk. Offsets are bytes of its memory; positions within it are multiples of a slot from the start.
#[derive(Debug)]
pub(super) struct Chunk<'m> {
    /// Descriptor, head, normal area, emergency area; empty while the chunk is being sent.
    memory: &'m mut [u8],
    /// Address and length of the memory, which it has also while it is away.
    place: (usize, usize),
    base: u32,
    pub(super) flags: u8,
    pub(super) next: Option<u8>,
    number: u8,
    laps: u32,
    /// Where the next record goes.
    position: usize,
    /// End of the normal area, start of the emergency area.
    end: usize,
    /// Where the next kept record goes.
    kept: usize,
}

impl<'m> Chunk<'m> {
    /// A chunk without records in memory that holds exactly header and areas.
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

    /// A compressed chunk in memory that has room for a header and then `used` bytes of packed
    /// records.
    pub(super) fn packed(number: u8, memory: &'m mut [u8], used: usize, flags: u8) -> Self {
        let base = memory.as_ptr().addr() as u32;
        let end = memory.len();
        let position = ChunkHeader::SIZE + used;
        let place = (memory.as_ptr().addr(), end);
        Self { memory, place, base, flags, next: None, number, laps: 0, position, end, kept: end }
    }

    /// Takes all records out.
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
        // Nothing is written while the memory is away.
        let _ = header.write(self.memory);
    }

    /// Address of the recording head.
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

    /// Stores a record at the position, if that is not at the end.
    #[inline]
    pub(super) fn store(&mut self, record: Record) -> Stored {
        let at = self.position;
        if at >= self.end {
            return Stored::AtEnd;
        }
        let before = if self.laps == 0 { Before::Nothing } else { self.save(at) };
        let Some(()) = self.memory.get_mut(at..).and_then(|slot| record.write(slot)) else {
            return Stored::AtEnd;
        };
        self.position = at + Record::SIZE;
        self.publish_position();
        Stored::Over(before)
    }

    /// The word of the header that changes with every record.
    #[inline]
    fn publish_position(&mut self) {
        let position = self.base.wrapping_add(self.position as u32);
        ChunkHeader::write_position(self.memory, position);
    }

    /// Moves what the slot at `at` holds to the emergency area, if it is essential.
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

    /// Stores a record in the emergency area; whether there was room.
    #[cold]
    pub(super) fn keep(&mut self, record: Record) -> bool {
        let slot = self.memory.get_mut(self.kept..);
        let written = slot.and_then(|slot| record.write(slot)).is_some();
        self.kept += if written { Record::SIZE } else { 0 };
        written
    }

    /// Goes on at the start.
    pub(super) fn begin_again(&mut self) {
        self.position = ChunkHeader::SIZE;
        self.laps = self.laps.saturating_add(1);
    }

    /// Header and areas; empty while the chunk is being sent.
    pub(super) fn image(&self) -> &[u8] {
        self.memory
    }

    /// The memory, which leaves the chunk without any.
    pub(super) fn take_memory(&mut self) -> &'m mut [u8] {
        mem::take(&mut self.memory)
    }

    /// Whether this is the memory that was taken.
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
