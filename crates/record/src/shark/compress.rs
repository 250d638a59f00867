//! Compresses a chunk, so that its records need less memory.

use tracewell_wire::shark::ids::flag;
use tracewell_wire::shark::{ChunkHeader, Record};

use super::chunk::Chunk;
use super::send::{DumpRecords, records_of};
use super::{ControlError, Trace, pack};
use crate::Refused;
use crate::clock::Clock;

impl<'m, C: Clock, const CHUNKS: usize> Trace<'m, C, CHUNKS> {
    /// Returns the size in bytes of the compressed chunk: the header and at least two whole slots.
    ///
    /// # Errors
    /// Returns the errors of [`Trace::compress_chunk`], except those for flags and memory.
    pub fn compressed_size(&self, number: u8) -> Result<usize, ControlError> {
        Ok(ChunkHeader::SIZE + area_for(packed_size(self.compressible(number)?)))
    }

    /// Packs a chunk's records into `memory`, and returns the memory that the chunk used before
    /// (`compress_chunk`).
    ///
    /// The chunk keeps its number and gets `new_flags` with COMPR and without FREE. If the chunk is
    /// sent, the receiver gets the same records as without compression. The chunk's image has the
    /// flag COMPR, and the decoder unpacks it. The call packs all records twice; the first pass
    /// determines the size. The published kernel's compressor is an empty stub.
    ///
    /// Each record is packed in a few bytes, as the difference from the previous record. With the
    /// feature `lz4`, blocks of packed records are also compressed with LZ4, which needs 17 KiB of
    /// stack.
    ///
    /// # Errors
    /// Returns [`ControlError::NoSuchChunk`], [`ControlError::Flags`],
    /// [`ControlError::MemoryTooSmall`], [`ControlError::Current`], [`ControlError::Busy`],
    /// [`ControlError::Linked`] or [`ControlError::Compressed`]. After an error, the chunk is
    /// unchanged.
    pub fn compress_chunk(
        &mut self,
        number: u8,
        new_flags: u8,
        memory: &'m mut [u8],
    ) -> Result<&'m mut [u8], Refused<'m, ControlError>> {
        let needed = match self.check_compress(number, new_flags, memory.len()) {
            Ok(needed) => needed,
            Err(reason) => return Err(Refused { reason, memory }),
        };
        // The chunk uses only the part that it needs, so that its image has the exact size.
        let (memory, _) = memory.split_at_mut(needed);
        memory.fill(0);
        let old = self.chunk(number).map(Chunk::image).unwrap_or_default();
        let used = pack_into(records_of(old, false), memory.get_mut(ChunkHeader::SIZE..));
        // BUSY describes a transmission in progress. The caller cannot set it.
        let flags = new_flags & !(flag::FREE | flag::BUSY) | flag::COMPRESSED;
        let mut packed = Chunk::packed(number, memory, used, flags);
        let slot = self.chunks.get_mut(usize::from(number)).and_then(Option::as_mut);
        let old = slot.map_or(&mut [][..], |slot| {
            // The chunk keeps its place in the list of linked chunks.
            packed.next = slot.next;
            core::mem::replace(slot, packed).take_memory()
        });
        self.publish(number);
        Ok(old)
    }

    fn check_compress(&self, number: u8, flags: u8, memory: usize) -> Result<usize, ControlError> {
        let needed = self.compressed_size(number)?;
        match () {
            () if !super::control::are_settable(flags) => Err(ControlError::Flags),
            () if memory < needed => Err(ControlError::MemoryTooSmall { needed }),
            () => Ok(needed),
        }
    }

    fn compressible(&self, number: u8) -> Result<DumpRecords<'_>, ControlError> {
        self.check_unused(number)?;
        let chunk = self.chunk(number)?;
        if chunk.has(flag::COMPRESSED) {
            return Err(ControlError::Compressed);
        }
        Ok(records_of(chunk.image(), false))
    }
}

/// Returns the size in bytes of the smallest area that holds `packed` bytes. An area consists of
/// whole slots, at least two.
fn area_for(packed: usize) -> usize {
    packed.next_multiple_of(Record::SIZE).max(2 * Record::SIZE)
}

fn packed_size(records: DumpRecords<'_>) -> usize {
    let mut size = 0;
    pack::pack(records, |bytes| size += bytes.len());
    size
}

/// Packs records into an area that is large enough. Returns the number of bytes used.
fn pack_into(records: DumpRecords<'_>, area: Option<&mut [u8]>) -> usize {
    let area = area.unwrap_or_default();
    let mut used = 0;
    pack::pack(records, |bytes| {
        if let Some(target) = area.get_mut(used..used + bytes.len()) {
            target.copy_from_slice(bytes);
            used += bytes.len();
        }
    });
    used
}
