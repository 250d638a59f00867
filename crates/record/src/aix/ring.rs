//! The circular buffer: newest entries over oldest, whole frames only.
//!
//! ```text
//! | mark | newer frames .. next | gap | oldest .. older frames .. lap_end | unused |
//! ```
//!
//! A frame is never split: one that does not fit behind the last goes to the start, and what lies
//! there is overwritten frame by frame. The mark in front is a place for the hook 006 that tells a
//! reader what was lost before the oldest frame.

use core::ops::Range;

use tracewell_wire::ByteOrder;
use tracewell_wire::aix::Frame;

use super::record::OWN_2_SIZE;

#[derive(Debug)]
pub(super) struct Ring {
    order: ByteOrder,
    end: usize,
    next: usize,
    /// Frames of the lap before that are still there; empty in the first lap.
    older: Range<usize>,
    pub(super) overwritten: u64,
    pub(super) laps: u64,
    /// Entries that were too large for the ring; set at the stop.
    pub(super) missed: u64,
    /// Parts that were drained after the stop: mark, older frames, newer frames.
    drained: usize,
}

/// Offset of the first frame.
const FIRST: usize = OWN_2_SIZE;

impl Ring {
    /// A ring in so many bytes, of which the first are the mark.
    pub(super) fn new(length: usize, order: ByteOrder) -> Self {
        let end = length & !7;
        let older = FIRST..FIRST;
        Self { order, end, next: FIRST, older, overwritten: 0, laps: 0, missed: 0, drained: 0 }
    }

    pub(super) fn capacity_of(length: usize) -> usize {
        (length & !7).saturating_sub(FIRST)
    }

    /// A place for a frame; where it is. At most as many frames are overwritten as fit into its
    /// size twice.
    pub(super) fn reserve(&mut self, memory: &[u8], size: usize) -> Option<usize> {
        if size > self.end - FIRST {
            return None;
        }
        if size > self.end - self.next {
            self.overwrite(memory, usize::MAX);
            self.older = FIRST..self.next;
            self.next = FIRST;
            self.laps += 1;
        }
        self.overwrite(memory, self.next + size);
        let at = self.next;
        self.next += size;
        Some(at)
    }

    /// Gives up older frames that begin before an offset.
    fn overwrite(&mut self, memory: &[u8], up_to: usize) {
        while !self.older.is_empty() && self.older.start < up_to {
            let frame = memory.get(self.older.clone()).unwrap_or_default();
            // The ring's own frames can be read; if memory was tampered with, all are given up.
            let rest = self.older.len();
            self.older.start += Frame::read(self.order, frame).map_or(rest, |(_, size)| size);
            self.overwritten += 1;
        }
    }

    /// The oldest frame, from which the mark takes its time.
    pub(super) fn oldest<'m>(&self, memory: &'m [u8]) -> Option<Frame<'m>> {
        let at = if self.older.is_empty() { FIRST } else { self.older.start };
        Frame::read(self.order, memory.get(at..)?).ok().map(|(frame, _)| frame)
    }

    /// Entries that nobody will see, for the mark.
    pub(super) fn lost(&self) -> u64 {
        self.overwritten + self.missed
    }

    fn parts(&self) -> [Range<usize>; 3] {
        let mark = if self.lost() > 0 { 0..FIRST } else { 0..0 };
        [mark, self.older.clone(), FIRST..self.next]
    }

    /// What can be drained next of a stopped channel.
    pub(super) fn waiting(&self) -> Option<Range<usize>> {
        self.parts().into_iter().skip(self.drained).find(|part| !part.is_empty())
    }

    /// The part that [`Ring::waiting`] shows is drained.
    pub(super) fn drained(&mut self) {
        let parts = self.parts();
        let shown = (self.drained..parts.len()).find(|&part| !parts[part].is_empty());
        self.drained = shown.map_or(parts.len(), |part| part + 1);
    }
}
