//! A buffer that is filled once, and a pair of alternating buffers.
//!
//! A buffer reserves bytes at its end for the entries that close a trace: a hook 006 if entries
//! were missed, and TRACE OFF.

use core::ops::Range;

use super::record::{OWN_1_SIZE, OWN_2_SIZE};

/// Number of bytes reserved at the end of a buffer for the entries that close a trace.
pub(super) const TAIL: usize = OWN_1_SIZE + OWN_2_SIZE;
/// Length in bytes of hooks 005 and 006 at the start of a buffer.
pub(super) const MARKS: usize = OWN_1_SIZE + OWN_2_SIZE;

/// A memory range that is filled from its start. All offsets are relative to the start of the
/// channel's memory.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Buffer {
    start: usize,
    end: usize,
    next: usize,
    /// True if the buffer's first entry is the first entry after the log wrapped.
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

    /// Returns true if a frame of `size` bytes fits without using the tail.
    #[inline]
    pub(super) fn has_room(&self, size: usize) -> bool {
        size + TAIL <= self.end - self.next
    }

    /// Reserves `size` bytes for a frame without using the tail, and returns their offset.
    #[inline]
    pub(super) fn reserve(&mut self, size: usize) -> Option<usize> {
        self.has_room(size).then(|| self.take(size))?
    }

    /// Reserves `size` bytes for a frame that closes the trace, and returns their offset. The frame
    /// can use the tail.
    pub(super) fn take(&mut self, size: usize) -> Option<usize> {
        let at = self.next;
        if size > self.end - at {
            return None;
        }
        self.next += size;
        Some(at)
    }
}

/// Two buffers: one is filled while the other is drained.
#[derive(Debug)]
pub(super) struct Pair {
    buffers: [Buffer; 2],
    filling: usize,
    /// True if the other buffer is full and has not been drained yet.
    waiting: bool,
}

impl Pair {
    /// Creates a pair by splitting `length` bytes in half.
    pub(super) fn new(length: usize) -> Self {
        let half = (length / 2) & !7;
        let buffers = [Buffer::new(0..half), Buffer::new(half..2 * half)];
        Self { buffers, filling: 0, waiting: false }
    }

    pub(super) fn filling(&mut self) -> &mut Buffer {
        &mut self.buffers[self.filling]
    }

    /// Returns true if the other buffer is empty.
    pub(super) fn can_turn(&self) -> bool {
        !self.waiting
    }

    /// Switches to the other buffer, which must be empty.
    pub(super) fn turn(&mut self) {
        self.filling = 1 - self.filling;
        self.waiting = true;
    }

    /// Returns the buffer to be drained: the full buffer if there is one, otherwise the last
    /// buffer of a stopped channel.
    pub(super) fn waiting(&self, stopped: bool) -> Option<&Buffer> {
        let last = &self.buffers[self.filling];
        match self.waiting {
            true => Some(&self.buffers[1 - self.filling]),
            false => (stopped && !last.filled().is_empty()).then_some(last),
        }
    }

    /// Empties the buffer that [`Pair::waiting`] returned.
    pub(super) fn drained(&mut self) {
        let which = if self.waiting { 1 - self.filling } else { self.filling };
        self.buffers[which].clear();
        self.waiting = false;
    }
}
