//! The records of a packed area, blocks opened.

use core::fmt;

use super::{BlockError, PackedBlock, read};
use crate::shark::Record;

/// Expands LZ4's bytes into a place that they fill, at most; how many bytes it wrote. `None` where the bytes
/// are none of LZ4's or the place is too small.
pub type Expand = fn(stored: &[u8], place: &mut [u8]) -> Option<usize>;

/// Bytes of a packed area that make no record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PackedDamage {
    /// Their offset in the area; of records in a block, the offset behind it.
    pub at: usize,
}

/// Iterator over the records of a packed area, and over what is damaged in it.
///
/// Holds one open block, [`PackedBlock::MOST`] bytes, whatever an area says. A damaged block is one damage, and
/// reading goes on behind it; other damage ends it.
#[derive(Clone)]
pub struct AreaRecords<'a> {
    area: &'a [u8],
    rest: &'a [u8],
    before: u64,
    expand: Option<Expand>,
    open: [u8; PackedBlock::MOST],
    /// What of `open` is not read yet.
    at: usize,
    end: usize,
}

impl fmt::Debug for AreaRecords<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The bytes would drown the rest.
        f.debug_struct("AreaRecords")
            .field("area", &self.area.len())
            .field("rest", &self.rest.len())
            .field("open", &(self.at..self.end))
            .finish()
    }
}

impl<'a> AreaRecords<'a> {
    /// Reads an area from its start. Without `expand` compressed blocks are damage.
    pub const fn new(area: &'a [u8], expand: Option<Expand>) -> Self {
        let open = [0; PackedBlock::MOST];
        Self { area, rest: area, before: 0, expand, open, at: 0, end: 0 }
    }

    fn damage(&self, rest: &[u8]) -> PackedDamage {
        PackedDamage { at: self.area.len() - rest.len() }
    }

    /// The next record of the open block; its bytes that make none are damage of the block.
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
        (self.at, self.end, self.before) = (0, 0, 0);
    }

    /// Opens the block that comes next.
    fn open(&mut self) -> Result<(), PackedDamage> {
        let start = self.rest;
        self.before = 0;
        match PackedBlock::read(start) {
            Ok((block, rest)) => {
                self.rest = rest;
                self.end = self.expand(&block).ok_or(self.damage(start))?;
                Ok(())
            }
            Err(error) => {
                self.rest = match error {
                    BlockError::Head => &[],
                    BlockError::Sum { length } => start.get(length..).unwrap_or_default(),
                };
                Err(self.damage(start))
            }
        }
    }

    /// Puts the packed records of a block into `open`; how many bytes that are.
    fn expand(&mut self, block: &PackedBlock<'_>) -> Option<usize> {
        let unpacked = block.unpacked();
        let place = self.open.get_mut(..unpacked)?;
        if block.is_compressed() {
            let written = self.expand?(block.stored(), place)?;
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
                None | Some(0) => return None,
                Some(&PackedBlock::MARK) => {
                    if let Err(damage) = self.open() {
                        return Some(Err(damage));
                    }
                }
                Some(_) => {
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
