//! Where the blocks of a looping log go.
//!
//! A block that is being filled is flushed many times, longer each time. It never goes where its last copy is:
//! a process that is killed while it writes leaves what was flushed before. So two slots take turns, and the
//! reader goes by the longer one of two blocks with the same number.

use std::collections::VecDeque;

use tracewell_wire::posix::log::LogHeader;

/// The slots of a log that is being written.
#[derive(Debug)]
pub(crate) struct Slots {
    count: u32,
    bytes: u32,
    /// Slots that were ever used lie below this.
    pub(crate) used: u32,
    /// Those of blocks that are finished, oldest first.
    finished: VecDeque<u32>,
    /// The one that has the block that is being filled, as it was flushed last.
    copy: Option<u32>,
    /// One that has nothing that is needed.
    spare: Option<u32>,
    /// Bytes of the log that have something.
    pub(crate) reach: u64,
}

/// A slot that is about to be written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Slot {
    number: u32,
    /// Where it begins in the log.
    pub(crate) place: u64,
    /// Returns true if it has the oldest records, which go.
    pub(crate) has_records: bool,
}

impl Slots {
    /// Slots without blocks.
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

    /// The slot that the block that is being filled goes to now.
    pub(crate) fn take(&mut self) -> Slot {
        let (number, has_records) = match self.spare.take() {
            Some(spare) => (spare, false),
            None if self.used < self.count => {
                self.used += 1;
                (self.used - 1, false)
            }
            // There are more slots than the one with the copy, so a finished block has one.
            None => (self.finished.pop_front().unwrap_or(0), true),
        };
        let place = LogHeader::BLOCK as u64 + u64::from(number) * u64::from(self.bytes);
        Slot { number, place, has_records }
    }

    /// Notes that so many bytes were written to a slot, or that it has nothing because writing failed.
    pub(crate) fn put(&mut self, slot: Slot, length: usize, written: bool) {
        self.reach = self.reach.max(slot.place + length as u64);
        self.spare = if written { self.copy.replace(slot.number) } else { Some(slot.number) };
    }

    /// Notes that nothing more comes into the block that is being filled.
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

    /// What a log has in its slots: number and copy of blocks.
    type Blocks = Vec<Option<(u32, u32)>>;

    /// The blocks that were written whole are there but for the oldest, and there are as many as have room
    /// beside the two slots of the block that is being filled.
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
                // Each seventh write fails.
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
