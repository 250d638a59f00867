//! The framework's buffer: a ring of bytes that knows no frames.
//!
//! When it is full, each byte that comes overwrites the oldest one. So after an overrun it holds the
//! newest bytes, and what is taken out next begins anywhere, even between an escape and the byte
//! behind it. The reader finds one broken frame (the rest of one, or two that were glued together)
//! and a gap in the numbers, or, where the cut fell between frames, a gap alone.

use tracewell_wire::rkh::{ESCAPE, FLAG};

use super::Buffer;
use super::ring::Ring;

/// A ring of bytes in memory of the caller, as the framework's (`rkhtrc_stream.c`).
///
/// RKH takes 1 to 2048 bytes (`RKH_CFG_TRC_SIZEOF_STREAM`); here any number does. In an empty one
/// every byte is lost.
#[derive(Debug)]
pub struct StreamBuffer<'m> {
    ring: Ring<'m>,
    overwritten: u32,
}

impl<'m> StreamBuffer<'m> {
    /// An empty buffer.
    pub fn new(memory: &'m mut [u8]) -> Self {
        Self { ring: Ring::new(memory), overwritten: 0 }
    }

    /// Bytes that were lost because newer ones came, modulo 2^32. The framework does not count them.
    pub fn overwritten(&self) -> u32 {
        self.overwritten
    }
}

impl Buffer for StreamBuffer<'_> {
    fn clear(&mut self) {
        self.ring.clear();
        self.overwritten = 0;
    }

    fn begin(&mut self) {}

    #[inline]
    fn put(&mut self, byte: u8) {
        self.overwritten = self.overwritten.wrapping_add(u32::from(self.ring.push(byte)));
    }

    fn end(&mut self) -> bool {
        true
    }

    /// What was written of the frame may have left already: readers count it as given up.
    fn abort(&mut self) {
        self.put(ESCAPE);
        self.put(FLAG);
    }

    fn len(&self) -> usize {
        self.ring.len()
    }

    fn block(&mut self, most: usize) -> &[u8] {
        self.ring.block(most, 0)
    }
}
