//! A buffer of whole frames, which drops and counts frames that do not fit.
//!
//! Stored frames never change, so the link sends only whole frames, even if it removes single
//! bytes. A dropped frame uses up its sequence number, so the decoder finds a gap of the exact size
//! at the exact position.

use super::Buffer;
use super::ring::Ring;

/// A ring of whole frames in the caller's memory.
///
/// The memory must be large enough for the longest record; longer records are always dropped.
///
/// ```
/// use tracewell_record::rkh::{Buffer, FrameBuffer, Options, Outcome, Trace};
///
/// let mut memory = [0; 24];
/// let mut trace = Trace::new(Options::default(), FrameBuffer::new(&mut memory), &mut [], || 0);
/// assert_eq!(trace.open(), Outcome::Recorded);
/// assert_eq!(trace.configuration(), Outcome::Dropped);
/// assert_eq!((trace.buffer().dropped(), trace.buffer().len()), (1, 17));
/// ```
#[derive(Debug)]
pub struct FrameBuffer<'m> {
    ring: Ring<'m>,
    /// Number of bytes of the current frame stored so far.
    stored: usize,
    /// True if the current frame does not fit.
    full: bool,
    dropped: u32,
}

impl<'m> FrameBuffer<'m> {
    /// Creates an empty buffer.
    pub fn new(memory: &'m mut [u8]) -> Self {
        Self { ring: Ring::new(memory), stored: 0, full: false, dropped: 0 }
    }

    /// Returns the number of dropped frames, modulo 2^32.
    pub fn dropped(&self) -> u32 {
        self.dropped
    }

    fn discard(&mut self) {
        self.ring.discard(self.stored);
        (self.stored, self.full) = (0, false);
    }
}

impl Buffer for FrameBuffer<'_> {
    fn clear(&mut self) {
        self.ring.clear();
        (self.stored, self.full, self.dropped) = (0, false, 0);
    }

    fn begin(&mut self) {
        self.discard();
    }

    #[inline]
    fn put(&mut self, byte: u8) {
        if self.ring.len() + self.stored < self.ring.capacity() {
            self.ring.store(byte);
            self.stored += 1;
        } else {
            // The frame does not fit. `end` discards it as a whole.
            self.full = true;
        }
    }

    fn end(&mut self) -> bool {
        if self.full {
            self.dropped = self.dropped.wrapping_add(1);
            self.discard();
            return false;
        }
        self.ring.commit(self.stored);
        self.stored = 0;
        true
    }

    /// Removes the current frame. The frame is counted as dropped because it used up a sequence
    /// number.
    fn abort(&mut self) {
        self.full = true;
        self.end();
    }

    fn len(&self) -> usize {
        self.ring.len()
    }

    fn block(&mut self, most: usize) -> &[u8] {
        self.ring.block(most, self.stored)
    }
}
