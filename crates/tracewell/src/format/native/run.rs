//! A run: consecutive records of one lane, and an iterator over them.

use std::ops::Range;

use tracewell_wire::native::{PacketHeader, REBASE, RecordHeader, WORD, word};

/// Number of bytes of a record before its payload.
pub(super) const HEAD: u32 = 8;

/// Adjacent records of one lane.
#[derive(Clone, Debug)]
pub(super) struct RecordRun {
    /// The header of the packet that contains the records.
    pub(super) header: PacketHeader,
    /// The range of bytes that the records occupy in the source.
    pub(super) records: Range<u64>,
    /// True if events are missing before these records because bytes were damaged.
    pub(super) after_damage: bool,
}

/// An iterator over the records of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Walk {
    /// Offset of the next record in the source.
    pub(super) at: u64,
    end: u64,
    base: u64,
}

/// A record, with its position in the source.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    /// The timestamp in units of the recorder's clock.
    pub(super) stamp: u64,
    /// The id of the record's event type.
    pub(super) id: u16,
    /// Offset of its first byte in the source.
    pub(super) start: u64,
    /// Offset of the first byte after the record.
    pub(super) end: u64,
}

/// The result of one step of the iteration.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    Record(Record),
    /// The run has no further record.
    End,
    /// A record that extends past the end of its run, or a rebase record without a timestamp. The
    /// records after such a record cannot be found.
    Damage,
}

impl Walk {
    pub(super) fn of(run: &RecordRun) -> Self {
        Self { at: run.records.start, end: run.records.end, base: run.header.base }
    }

    /// Returns the next record. `bytes` is the window, which begins at `offset` in the source.
    #[inline]
    pub(super) fn next(&mut self, bytes: &[u8], offset: u64) -> Step {
        loop {
            if self.at >= self.end {
                return Step::End;
            }
            let Some(here) = bytes.get((self.at.wrapping_sub(offset)) as usize..) else {
                return Step::Damage;
            };
            let Some(head) = word(here, 0).map(RecordHeader::unpack) else { return Step::Damage };
            let start = self.at;
            let end = start + (WORD + usize::from(head.words) * WORD) as u64;
            // A record that extends past the run is damaged, even if the window contains its bytes.
            if end > self.end {
                return Step::Damage;
            }
            self.at = end;
            if head.id != REBASE {
                let stamp = self.base.wrapping_add(u64::from(head.delta));
                return Step::Record(Record { stamp, id: head.id, start, end });
            }
            // A rebase record sets the base time. Later records contain differences from this time.
            let Some(base) = word(here, 1).filter(|_| head.words > 0) else { return Step::Damage };
            self.base = base;
        }
    }
}
