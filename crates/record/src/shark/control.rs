//! The chunk table: creates, deletes, selects and links chunks, changes their flags, and switches
//! recording on and off.

use tracewell_wire::shark::ids::flag;

use super::chunk::Chunk;
use super::{Areas, ChunkStatus, ControlError, Drops};
use crate::Refused;
use crate::clock::Clock;
use crate::ticks::Ticks;

/// The tracer: a table of at most 256 chunks, the current chunk, filters, and the on/off state.
///
/// `C` is the clock. Its ticks are unwrapped to 64 bits, so it must be read at least once per
/// period. `CHUNKS` is the size of the table. The tracer uses at most 256 entries. An entry takes
/// 72 bytes on a 64-bit machine and about 50 on a 32-bit machine.
#[derive(Debug)]
pub struct Trace<'m, C, const CHUNKS: usize = 256> {
    pub(super) chunks: [Option<Chunk<'m>>; CHUNKS],
    /// The chunk that records.
    pub(super) current: Option<u8>,
    pub(super) enabled: bool,
    /// One bit per event family; a set bit suppresses the family.
    pub(super) filter: u16,
    pub(super) drops: Drops,
    pub(super) ticks: Ticks<C>,
}

/// Flags that only the tracer sets.
const OWN: u8 = flag::BUSY | flag::COMPRESSED;

impl<'m, C: Clock, const CHUNKS: usize> Trace<'m, C, CHUNKS> {
    /// Creates a tracer that has no chunks, is switched off, and suppresses no family.
    ///
    /// Timestamps have 64 bits. If `clock` is a closure, 32 bits of its readings are valid (see
    /// [`Clock`]). The tracer drops the other bits and counts wraps. If no event is logged for
    /// longer than one period, the later timestamps are too small. For a 64-bit counter, such as a
    /// processor's cycle counter, use [`Masked`](crate::clock::Masked) with the mask `u64::MAX`.
    pub fn new(clock: C) -> Self {
        Self {
            chunks: [const { None }; CHUNKS],
            current: None,
            enabled: false,
            filter: 0,
            drops: Drops::default(),
            ticks: Ticks::new(clock),
        }
    }

    /// Switches recording on (`enable`).
    ///
    /// # Errors
    /// Returns [`ControlError::NoneSelected`] if no chunk is selected.
    pub fn enable(&mut self) -> Result<(), ControlError> {
        self.current.ok_or(ControlError::NoneSelected)?;
        self.enabled = true;
        Ok(())
    }

    /// Switches recording off (`disable`). Chunks, positions and filters remain unchanged.
    pub fn disable(&mut self) {
        self.enabled = false;
    }

    /// Returns true if recording is on.
    pub fn is_on(&self) -> bool {
        self.enabled
    }

    /// Returns the suppressed families: bit `f` for family `f`.
    pub fn filter(&self) -> u16 {
        self.filter
    }

    /// Returns the number of the chunk that is recording, if one is selected.
    pub fn current(&self) -> Option<u8> {
        self.current
    }

    /// Returns, for each cause, how many events were not stored or were overwritten since the
    /// tracer was created.
    pub fn drops(&self) -> Drops {
        self.drops
    }

    /// Creates a chunk and returns its number, the lowest unused number (`chunk_create`).
    ///
    /// The chunk uses the first 48 bytes of `memory` for its header and the following bytes for
    /// both areas. This call sets all these bytes to 0. FULL in `flags` has no effect. A chunk
    /// without [`flag::FREE`] can be neither selected nor linked until it gets that flag.
    ///
    /// # Errors
    /// Returns [`ControlError::Sizes`], [`ControlError::MemoryTooSmall`] or
    /// [`ControlError::TableFull`]. Returns [`ControlError::Flags`] if `flags` contains both mode
    /// bits, BUSY, COMPR or an unknown bit. After an error, the tracer is unchanged.
    pub fn chunk_create(
        &mut self,
        memory: &'m mut [u8],
        areas: Areas,
        flags: u8,
    ) -> Result<u8, Refused<'m, ControlError>> {
        let (place, areas, size) = match self.place_for(memory.len(), areas, flags) {
            Ok(found) => found,
            Err(reason) => return Err(Refused { reason, memory }),
        };
        let (memory, _) = memory.split_at_mut(size);
        if let Some(slot) = self.chunks.get_mut(usize::from(place)) {
            *slot = Some(Chunk::new(place, memory, areas, flags));
        }
        self.publish(place);
        Ok(place)
    }

    fn place_for(
        &self,
        memory: usize,
        areas: Areas,
        flags: u8,
    ) -> Result<(u8, Areas, usize), ControlError> {
        let areas = areas.rounded()?;
        if !are_settable(flags) || flags & OWN != 0 {
            return Err(ControlError::Flags);
        }
        let needed = areas.chunk_size().ok_or(ControlError::Sizes)?;
        if memory < needed {
            return Err(ControlError::MemoryTooSmall { needed });
        }
        let place = self.chunks.iter().position(Option::is_none);
        let place = place.and_then(|place| u8::try_from(place).ok());
        Ok((place.ok_or(ControlError::TableFull)?, areas, needed))
    }

    /// Removes a chunk from the table and returns its memory, which still contains the records
    /// (`chunk_delete`). Does nothing and returns `None` if the chunk has [`flag::NO_DELETE`].
    ///
    /// # Errors
    /// Returns [`ControlError::NoSuchChunk`], [`ControlError::Current`], [`ControlError::Busy`] or
    /// [`ControlError::Linked`].
    pub fn chunk_delete(&mut self, number: u8) -> Result<Option<&'m mut [u8]>, ControlError> {
        if self.chunk(number)?.has(flag::NO_DELETE) {
            return Ok(None);
        }
        self.check_unused(number)?;
        let slot = self.chunks.get_mut(usize::from(number)).and_then(Option::take);
        Ok(slot.map(|mut chunk| chunk.take_memory()))
    }

    /// Replaces a chunk's flags, except BUSY and COMPR (`set_chunk_flags`).
    ///
    /// Setting FREE removes all records from the chunk and clears FULL and COMPR.
    ///
    /// # Errors
    /// Returns [`ControlError::NoSuchChunk`], [`ControlError::Flags`] or [`ControlError::Busy`]. If
    /// the call would set FREE, it returns [`ControlError::Current`] for the current chunk, and
    /// [`ControlError::Linked`] for a linked chunk.
    pub fn set_chunk_flags(&mut self, number: u8, flags: u8) -> Result<(), ControlError> {
        let chunk = self.chunk(number)?;
        let frees = flags & flag::FREE != 0 && !chunk.has(flag::FREE);
        if !are_settable(flags) {
            return Err(ControlError::Flags);
        }
        if chunk.has(flag::BUSY) {
            return Err(ControlError::Busy);
        }
        if frees {
            self.check_unused(number)?;
        }
        self.replace_flags(number, flags, frees);
        Ok(())
    }

    /// Replaces flags that have been checked.
    pub(super) fn replace_flags(&mut self, number: u8, flags: u8, empties: bool) {
        let Ok(chunk) = self.chunk_mut(number) else { return };
        chunk.flags = flags & !OWN | chunk.flags & OWN;
        if empties {
            chunk.clear();
        }
        self.publish(number);
    }

    /// Returns a chunk's flags, including FULL and BUSY (`get_chunk_flags`).
    ///
    /// # Errors
    /// [`ControlError::NoSuchChunk`].
    pub fn get_chunk_flags(&self, number: u8) -> Result<u8, ControlError> {
        Ok(self.chunk(number)?.flags)
    }

    /// Selects a free chunk as the current chunk, and clears the flag FREE of this chunk
    /// (`actual_chunk_select`).
    ///
    /// # Errors
    /// Returns [`ControlError::NoSuchChunk`], [`ControlError::Busy`], [`ControlError::Compressed`]
    /// or [`ControlError::NotFree`].
    pub fn chunk_select(&mut self, number: u8) -> Result<(), ControlError> {
        self.check_free(number)?;
        self.chunk_mut(number)?.flags &= !flag::FREE;
        self.current = Some(number);
        self.publish(number);
        Ok(())
    }

    /// Links chunk `to` as the successor of `from` (`chunk_link`). Recording continues in `to` when
    /// [`Trace::next_chunk`] is called, and in jump mode also when `from` is full. Clears FREE of
    /// `to`. A jump removes the link.
    ///
    /// Returns the chunk that was the successor of `from` before, if any. That chunk is no longer
    /// linked, and is not FREE.
    ///
    /// # Errors
    /// Returns the errors of [`Trace::chunk_select`] for `to`. Returns
    /// [`ControlError::NoSuchChunk`] or [`ControlError::Busy`] for `from`. Returns
    /// [`ControlError::Circle`] if the successors of `to` lead back to `from`.
    pub fn chunk_link(&mut self, from: u8, to: u8) -> Result<Option<u8>, ControlError> {
        if self.chunk(from)?.has(flag::BUSY) {
            return Err(ControlError::Busy);
        }
        self.check_free(to)?;
        if self.leads(to, from) {
            return Err(ControlError::Circle);
        }
        self.chunk_mut(to)?.flags &= !flag::FREE;
        let before = self.chunk_mut(from)?.next.replace(to);
        self.publish(from);
        self.publish(to);
        Ok(before)
    }

    /// Returns the first chunk whose flags match `mask` (`get_first_chunk`).
    ///
    /// If `mask` contains a mode bit, the chunk must have this mode. If `mask` contains other
    /// flags, the chunk must have at least one of them. A mask of 0 finds the first cyclic chunk;
    /// any other mask without mode bits finds chunks of all modes.
    pub fn get_first_chunk(&self, mask: u8) -> Option<u8> {
        let (mode, others) = (mask & flag::MODE, mask & !flag::MODE);
        let asks_mode = mode != 0 || others == 0;
        let fits = |chunk: &ChunkStatus| {
            (others == 0 || chunk.flags & others != 0)
                && (!asks_mode || chunk.flags & flag::MODE == mode)
        };
        self.get_chunk_table().find(fits).map(|chunk| chunk.number)
    }

    /// Returns the status of each chunk, in the order of their numbers (`get_chunk_table`).
    pub fn get_chunk_table(&self) -> impl Iterator<Item = ChunkStatus> {
        let number = |chunk: &Chunk<'_>| chunk.status(false).number;
        let current = self.current;
        let present = self.chunks.iter().flatten();
        present.map(move |chunk| chunk.status(current == Some(number(chunk))))
    }

    /// Returns a chunk's memory, which the decoder can read. The result is empty while the chunk is
    /// being sent.
    ///
    /// # Errors
    /// [`ControlError::NoSuchChunk`].
    pub fn image(&self, number: u8) -> Result<&[u8], ControlError> {
        Ok(self.chunk(number)?.image())
    }

    /// Returns the clock, and any other state that the caller keeps in it.
    pub fn clock(&mut self) -> &mut C {
        &mut self.ticks.clock
    }

    pub(super) fn chunk(&self, number: u8) -> Result<&Chunk<'m>, ControlError> {
        let slot = self.chunks.get(usize::from(number)).and_then(Option::as_ref);
        slot.ok_or(ControlError::NoSuchChunk)
    }

    pub(super) fn chunk_mut(&mut self, number: u8) -> Result<&mut Chunk<'m>, ControlError> {
        let slot = self.chunks.get_mut(usize::from(number)).and_then(Option::as_mut);
        slot.ok_or(ControlError::NoSuchChunk)
    }

    #[inline]
    pub(super) fn current_chunk(&mut self) -> Option<&mut Chunk<'m>> {
        self.chunks.get_mut(usize::from(self.current?))?.as_mut()
    }

    fn check_free(&self, number: u8) -> Result<(), ControlError> {
        let chunk = self.chunk(number)?;
        match () {
            () if chunk.has(flag::BUSY) => Err(ControlError::Busy),
            () if chunk.has(flag::COMPRESSED) => Err(ControlError::Compressed),
            () if !chunk.has(flag::FREE) => Err(ControlError::NotFree),
            () => Ok(()),
        }
    }

    /// Returns an error if a chunk is current, linked or being sent.
    pub(super) fn check_unused(&self, number: u8) -> Result<(), ControlError> {
        if self.current == Some(number) {
            return Err(ControlError::Current);
        }
        if self.chunk(number)?.has(flag::BUSY) {
            return Err(ControlError::Busy);
        }
        if self.is_linked(number) { Err(ControlError::Linked) } else { Ok(()) }
    }

    pub(super) fn is_linked(&self, number: u8) -> bool {
        self.chunks.iter().flatten().any(|chunk| chunk.next == Some(number))
    }

    /// Returns true if `to` is `from`, or if the links lead from `from` to `to`. Links never form a
    /// cycle.
    fn leads(&self, from: u8, to: u8) -> bool {
        let next = |number: &u8| self.chunk(*number).ok().and_then(|chunk| chunk.next);
        core::iter::successors(Some(from), next).any(|number| number == to)
    }

    /// Writes a chunk's descriptor and head.
    pub(super) fn publish(&mut self, number: u8) {
        let next = self.chunk(number).ok().and_then(|chunk| chunk.next);
        let head = next.and_then(|next| self.chunk(next).ok()).map_or(0, Chunk::head);
        if let Ok(chunk) = self.chunk_mut(number) {
            chunk.publish(head);
        }
    }

    pub(super) fn publish_current(&mut self) {
        if let Some(current) = self.current {
            self.publish(current);
        }
    }
}

/// Returns true if all flags are known and the mode bits are valid.
pub(super) fn are_settable(flags: u8) -> bool {
    flags & flag::MODE != flag::MODE && flags & 0x80 == 0
}
