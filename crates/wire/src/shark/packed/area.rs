//! Reads the records of a packed area and of the blocks in it.

use core::fmt;

use super::{BlockError, PackedBlock, read};
use crate::shark::Record;

/// Decompresses the LZ4 block data in `stored` into `place`. Returns the number of bytes written,
/// or `None` if the data are invalid or `place` is too small.
pub type Expand = fn(stored: &[u8], place: &mut [u8]) -> Option<usize>;

/// Bytes of a packed area that are not a valid record or block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PackedDamage {
    /// Offset of the bytes in the area. For damage in the records of a block, this is the offset of
    /// the first byte after the block.
    pub at: usize,
}

/// Iterator over the records of a packed area, and over damage in it.
///
/// The iterator holds one decompressed block of at most [`PackedBlock::MAX_LEN`] bytes, regardless
/// of the sizes in the area. After a damaged block the iterator continues with the next block. Any
/// other damage ends the iteration.
#[derive(Clone)]
pub struct AreaRecords<'a> {
    area: &'a [u8],
    rest: &'a [u8],
    before: u64,
    expand: Option<Expand>,
    open: [u8; PackedBlock::MAX_LEN],
    /// Start and end of the unread part of `open`.
    at: usize,
    end: usize,
}

impl fmt::Debug for AreaRecords<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Omit the bytes of the block, because they would obscure the other fields.
        f.debug_struct("AreaRecords")
            .field("area", &self.area.len())
            .field("rest", &self.rest.len())
            .field("open", &(self.at..self.end))
            .finish()
    }
}

impl<'a> AreaRecords<'a> {
    /// Creates an iterator over an area. Without `expand`, compressed blocks count as damage.
    pub const fn new(area: &'a [u8], expand: Option<Expand>) -> Self {
        let open = [0; PackedBlock::MAX_LEN];
        Self { area, rest: area, before: 0, expand, open, at: 0, end: 0 }
    }

    fn damage(&self, rest: &[u8]) -> PackedDamage {
        PackedDamage { at: self.area.len() - rest.len() }
    }

    /// Returns the next record of the open block. After an invalid record, the rest of the block
    /// counts as damage.
    fn next_open(&mut self) -> Option<Result<Record, PackedDamage>> {
        let bytes = self.open.get(self.at..self.end).filter(|bytes| !bytes.is_empty())?;
        let Some((record, rest)) = read(bytes, self.before).filter(|(r, _)| !r.is_empty()) else {
            self.close();
            return Some(Err(self.damage(self.rest)));
        };
        (self.at, self.before) = (self.end - rest.len(), record.tsc);
        Some(Ok(record))
    }

    fn close(&mut self) {
        // The first record of each block, and the first record after a block, has a full timestamp.
        (self.at, self.end, self.before) = (0, 0, 0);
    }

    /// Opens the next block.
    fn open(&mut self) -> Result<(), PackedDamage> {
        let start = self.rest;
        // The first record of a block has a full timestamp, so that the block can be read alone.
        self.before = 0;
        match PackedBlock::read(start) {
            Ok((block, rest)) => {
                self.rest = rest;
                self.end = self.expand(&block).ok_or(self.damage(start))?;
                Ok(())
            }
            Err(error) => {
                self.rest = match error {
                    // Without a valid header, the end of the block is unknown, so no later record
                    // can be found.
                    BlockError::Head => &[],
                    // The sizes are plausible, so reading continues after the damaged block.
                    BlockError::Sum { length } => start.get(length..).unwrap_or_default(),
                };
                Err(self.damage(start))
            }
        }
    }

    /// Decompresses a block into `open`. Returns the number of bytes.
    fn expand(&mut self, block: &PackedBlock<'_>) -> Option<usize> {
        let unpacked = block.unpacked();
        let place = self.open.get_mut(..unpacked)?;
        if block.is_compressed() {
            let written = self.expand?(block.stored(), place)?;
            // A shorter result would leave records of the previous block in the buffer.
            return (written == unpacked).then_some(unpacked);
        }
        place.copy_from_slice(block.stored());
        Some(unpacked)
    }
}

impl Iterator for AreaRecords<'_> {
    type Item = Result<Record, PackedDamage>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(next) = self.next_open() {
                return Some(next);
            }
            if self.end > 0 {
                self.close();
            }
            match self.rest.first() {
                // No record or block begins with 0, so the rest of the area is unused.
                None | Some(0) => return None,
                Some(&PackedBlock::MARK) => {
                    if let Err(damage) = self.open() {
                        return Some(Err(damage));
                    }
                }
                Some(_) => {
                    // A record outside a block. If the record is damaged, reading ends here,
                    // because no marker shows where the next record begins.
                    let start = core::mem::take(&mut self.rest);
                    let Some((record, rest)) = read(start, self.before) else {
                        return Some(Err(self.damage(start)));
                    };
                    (self.rest, self.before) = (rest, record.tsc);
                    return Some(Ok(record));
                }
            }
        }
    }
}
