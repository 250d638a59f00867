//! A buffer that holds whole frames: one that does not fit is left out and counted.
//!
//! What is in the buffer stays as it is, so every frame that leaves it is whole, however few bytes
//! are taken at a time. A frame that was left out has used its number, so that the reader finds a gap
//! of exactly as many frames, in its place.

use super::Buffer;
use super::ring::Ring;

/// A ring of whole frames in memory of the caller.
///
/// It must hold the longest record at least; one that is longer never gets in.
#[derive(Debug)]
pub struct FrameBuffer<'m> {
    ring: Ring<'m>,
    /// Bytes of the frame that is being written.
    stored: usize,
    /// Whether the frame that is being written has found no room.
    full: bool,
    dropped: u32,
}

impl<'m> FrameBuffer<'m> {
    /// An empty buffer.
    pub fn new(memory: &'m mut [u8]) -> Self {
        Self { ring: Ring::new(memory), stored: 0, full: false, dropped: 0 }
    }

    /// Frames that were left out, modulo 2^32.
    pub fn dropped(&self) -> u32 {
        self.dropped
    }

    fn take_back(&mut self) {
        self.ring.take_back(self.stored);
        (self.stored, self.full) = (0, false);
    }
}

impl Buffer for FrameBuffer<'_> {
    fn clear(&mut self) {
        self.ring.clear();
        (self.stored, self.full, self.dropped) = (0, false, 0);
    }

    fn begin(&mut self) {
        self.take_back();
    }

    #[inline]
    fn put(&mut self, byte: u8) {
        if self.ring.len() + self.stored < self.ring.capacity() {
            self.ring.store(byte);
            self.stored += 1;
        } else {
            self.full = true;
        }
    }

    fn end(&mut self) -> bool {
        if self.full {
            self.dropped = self.dropped.wrapping_add(1);
            self.take_back();
            return false;
        }
        self.ring.commit(self.stored);
        self.stored = 0;
        true
    }

    /// Nothing of the frame is ever seen; it counts as left out, for its number is used.
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
