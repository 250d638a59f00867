//! One buffer that fills once, and the pair of them that takes turns.
//!
//! A buffer keeps room at its end for what closes a trace: a hook 006, if entries were missed, and
//! TRACE OFF.

use core::ops::Range;

use super::record::{OWN_1_SIZE, OWN_2_SIZE};

/// Bytes at the end of a buffer for the entries that close a trace.
pub(super) const TAIL: usize = OWN_1_SIZE + OWN_2_SIZE;
/// Bytes at the start of a buffer for hooks 005 and 006.
pub(super) const MARKS: usize = OWN_1_SIZE + OWN_2_SIZE;

/// A stretch of memory that fills from its start; offsets are those of the channel's memory.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Buffer {
    start: usize,
    end: usize,
    next: usize,
    /// Its first entry is the first of a log that starts over.
    pub(super) starts_over: bool,
}

impl Buffer {
    pub(super) fn new(range: Range<usize>) -> Self {
        let Range { start, end } = range;
        Self { start, end, next: start, starts_over: false }
    }

    pub(super) fn capacity(&self) -> usize {
        self.end - self.start
    }

    pub(super) fn filled(&self) -> Range<usize> {
        self.start..self.next
    }

    pub(super) fn clear(&mut self) {
        *self = Self::new(self.start..self.end);
    }

    /// Whether frames of so many bytes leave the tail free.
    #[inline]
    pub(super) fn has_room(&self, size: usize) -> bool {
        size + TAIL <= self.end - self.next
    }

    /// A place for a frame that leaves the tail free; where it is.
    #[inline]
    pub(super) fn reserve(&mut self, size: usize) -> Option<usize> {
        self.has_room(size).then(|| self.take(size))?
    }

    /// A place for a frame that closes the trace, in the tail if need be.
    pub(super) fn take(&mut self, size: usize) -> Option<usize> {
        let at = self.next;
        if size > self.end - at {
            return None;
        }
        self.next += size;
        Some(at)
    }
}

/// Two buffers, one of which fills while the other is drained.
#[derive(Debug)]
pub(super) struct Pair {
    buffers: [Buffer; 2],
    filling: usize,
    /// The other one is full and not drained yet.
    waiting: bool,
}

impl Pair {
    /// Splits so many bytes in the middle.
    pub(super) fn new(length: usize) -> Self {
        let half = (length / 2) & !7;
        let buffers = [Buffer::new(0..half), Buffer::new(half..2 * half)];
        Self { buffers, filling: 0, waiting: false }
    }

    pub(super) fn filling(&mut self) -> &mut Buffer {
        &mut self.buffers[self.filling]
    }

    /// Whether the other buffer can be filled.
    pub(super) fn can_turn(&self) -> bool {
        !self.waiting
    }

    /// Fills the other buffer from now on, which is empty.
    pub(super) fn turn(&mut self) {
        self.filling = 1 - self.filling;
        self.waiting = true;
    }

    /// What can be drained: the full one, or the last one of a stopped channel.
    pub(super) fn waiting(&self, stopped: bool) -> Option<&Buffer> {
        let last = &self.buffers[self.filling];
        match self.waiting {
            true => Some(&self.buffers[1 - self.filling]),
            false => (stopped && !last.filled().is_empty()).then_some(last),
        }
    }

    /// The buffer that [`Pair::waiting`] shows is drained.
    pub(super) fn drained(&mut self) {
        let which = if self.waiting { 1 - self.filling } else { self.filling };
        self.buffers[which].clear();
        self.waiting = false;
    }
}
