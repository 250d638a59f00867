//! Assigns file positions to the blocks of a log with the loop policy.
//!
//! A block that is being filled is flushed several times, with more records each time. A flush
//! never overwrites the last copy of the block, so a process that is killed during a write loses no
//! flushed record. Therefore the copies of a block alternate between two slots. If two blocks have
//! the same number, a reader uses the longer block.

use std::collections::VecDeque;

use tracewell_wire::posix::log::LogHeader;

/// The slots of a log that is being written.
#[derive(Debug)]
pub(crate) struct Slots {
    count: u32,
    bytes: u32,
    /// The number of the first slot that was never used.
    pub(crate) used: u32,
    /// Slots of finished blocks, oldest first.
    finished: VecDeque<u32>,
    /// The slot that contains the last flushed copy of the block being filled.
    copy: Option<u32>,
    /// A slot whose content is no longer needed.
    spare: Option<u32>,
    /// Length of the log in bytes, up to its last written byte.
    pub(crate) reach: u64,
}

/// A slot that is about to be written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Slot {
    number: u32,
    /// Byte offset in the log.
    pub(crate) place: u64,
    /// True if the slot contains the oldest records, which are destroyed when it is written.
    pub(crate) has_records: bool,
}

impl Slots {
    /// Creates slots without blocks.
    pub(crate) fn new(header: &LogHeader) -> Self {
        Self {
            count: header.slots,
            bytes: header.slot_bytes,
            used: 0,
            finished: VecDeque::new(),
            copy: None,
            spare: None,
            reach: LogHeader::BLOCK as u64,
        }
    }

    /// Chooses the slot for the next copy of the block being filled.
    pub(crate) fn take(&mut self) -> Slot {
        let (number, has_records) = match self.spare.take() {
            Some(spare) => (spare, false),
            None if self.used < self.count => {
                self.used += 1;
                (self.used - 1, false)
            }
            // All slots are in use and none is spare. At most one contains the copy, so the others
            // contain finished blocks.
            None => (self.finished.pop_front().unwrap_or(0), true),
        };
        let place = LogHeader::BLOCK as u64 + u64::from(number) * u64::from(self.bytes);
        Slot { number, place, has_records }
    }

    /// Updates a slot after a write of `length` bytes. If `written` is false, the write failed and
    /// the slot is empty.
    pub(crate) fn put(&mut self, slot: Slot, length: usize, written: bool) {
        self.reach = self.reach.max(slot.place + length as u64);
        self.spare = if written { self.copy.replace(slot.number) } else { Some(slot.number) };
    }

    /// Marks the block being filled as finished.
    pub(crate) fn finish(&mut self) {
        self.finished.extend(self.copy.take());
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::attributes::Attributes;
    use crate::log_writer::header;
    use tracewell_wire::posix::LogPolicy;

    /// Block number and copy number of the block in each slot.
    type Blocks = Vec<Option<(u32, u32)>>;

    /// Checks that the newest complete blocks are present: one block for each slot, except for the
    /// two slots of the block being filled.
    fn is_whole(blocks: &Blocks, written: &BTreeMap<u32, u32>) {
        let is_there = |(block, copy): (&u32, &u32)| blocks.contains(&Some((*block, *copy)));
        let there = written.iter().rev().take_while(|block| is_there(*block)).count();
        assert!(there >= written.len().min(blocks.len() - 2), "{there} of {written:?}");
    }

    #[test]
    fn a_write_that_stops_halfway_takes_nothing_but_the_oldest_block() {
        let attributes =
            Attributes { log_policy: LogPolicy::Loop, log_size: 8192, ..Attributes::default() };
        let header = header(&attributes, 1);
        let mut slots = Slots::new(&header);
        let mut blocks: Blocks = vec![None; header.slots as usize];
        let mut written = BTreeMap::new();
        for block in 0..1000_u32 {
            for copy in 0..block % 5 + 1 {
                let slot = slots.take();
                blocks[slot.number as usize] = None;
                is_whole(&blocks, &written);
                // Every seventh write fails.
                let fails = (block * 5 + copy) % 7 == 0;
                slots.put(slot, 100, !fails);
                if !fails {
                    blocks[slot.number as usize] = Some((block, copy));
                    written.insert(block, copy);
                    is_whole(&blocks, &written);
                }
            }
            slots.finish();
        }
    }
}
