//! The circular buffer: new entries overwrite the oldest, in whole frames.
//!
//! ```text
//! | mark | newer frames .. next | gap | oldest .. older frames .. lap_end | unused |
//! ```
//!
//! A frame is never split. If a frame does not fit between the newest frame and the end of the
//! buffer, the frame is stored at the start of the buffer. There, new frames overwrite the old
//! frames one by one. Space at the front is reserved for the loss mark, a hook 006 that reports how
//! many entries were lost before the oldest frame.

use core::ops::Range;

use tracewell_wire::ByteOrder;
use tracewell_wire::aix::Frame;

use super::record::OWN_2_SIZE;

#[derive(Debug)]
pub(super) struct Ring {
    order: ByteOrder,
    end: usize,
    next: usize,
    /// The remaining frames of the previous lap; empty during the first lap.
    older: Range<usize>,
    pub(super) overwritten: u64,
    pub(super) laps: u64,
    /// Number of entries that were too large for the ring; set when the channel stops.
    pub(super) missed: u64,
    /// Number of parts that were drained after the stop. The parts are the loss mark, the older
    /// frames and the newer frames, in this order.
    drained: usize,
}

/// Offset of the first frame.
const FIRST: usize = OWN_2_SIZE;

impl Ring {
    /// Creates a ring in `length` bytes, which begin with the loss mark.
    pub(super) fn new(length: usize, order: ByteOrder) -> Self {
        let end = length & !7;
        let older = FIRST..FIRST;
        Self { order, end, next: FIRST, older, overwritten: 0, laps: 0, missed: 0, drained: 0 }
    }

    pub(super) fn capacity_of(length: usize) -> usize {
        (length & !7).saturating_sub(FIRST)
    }

    /// Reserves `size` bytes for a frame and returns their offset. Discards at most 2 * `size`
    /// bytes of older frames, plus one frame.
    pub(super) fn reserve(&mut self, memory: &[u8], size: usize) -> Option<usize> {
        if size > self.end - FIRST {
            return None;
        }
        if size > self.end - self.next {
            // The ring stores the positions of frames of at most two laps. A third lap begins
            // here, so discard the remaining frames of the first lap.
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

    /// Discards older frames that begin before an offset.
    fn overwrite(&mut self, memory: &[u8], up_to: usize) {
        while !self.older.is_empty() && self.older.start < up_to {
            let frame = memory.get(self.older.clone()).unwrap_or_default();
            // The ring can always read its own frames. An unreadable frame means that other code
            // wrote to the memory, so discard all frames.
            let rest = self.older.len();
            self.older.start += Frame::read(self.order, frame).map_or(rest, |(_, size)| size);
            self.overwritten += 1;
        }
    }

    /// Returns the oldest frame. The loss mark gets the timestamp of this frame.
    pub(super) fn oldest<'m>(&self, memory: &'m [u8]) -> Option<Frame<'m>> {
        let at = if self.older.is_empty() { FIRST } else { self.older.start };
        Frame::read(self.order, memory.get(at..)?).ok().map(|(frame, _)| frame)
    }

    /// Returns the number of entries that can no longer be read, for the loss mark.
    pub(super) fn lost(&self) -> u64 {
        self.overwritten + self.missed
    }

    fn parts(&self) -> [Range<usize>; 3] {
        let mark = if self.lost() > 0 { 0..FIRST } else { 0..0 };
        [mark, self.older.clone(), FIRST..self.next]
    }

    /// Returns the part of a stopped channel that must be drained next.
    pub(super) fn waiting(&self) -> Option<Range<usize>> {
        self.parts().into_iter().skip(self.drained).find(|part| !part.is_empty())
    }

    /// Releases the part that [`Ring::waiting`] returned.
    pub(super) fn drained(&mut self) {
        let parts = self.parts();
        let shown = (self.drained..parts.len()).find(|&part| !parts[part].is_empty());
        self.drained = shown.map_or(parts.len(), |part| part + 1);
    }
}
