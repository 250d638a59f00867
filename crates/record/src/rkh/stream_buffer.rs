//! The framework's buffer: a ring of bytes that ignores frame boundaries.
//!
//! When the ring is full, each new byte overwrites the oldest byte. After an overrun, the ring
//! contains the newest bytes, and the link continues at an arbitrary position, possibly between an
//! escape and the byte after it. The decoder then finds a gap in the sequence numbers. It also
//! finds one damaged frame, unless only whole frames were overwritten.

use tracewell_wire::rkh::{ESCAPE, FLAG};

use super::Buffer;
use super::ring::Ring;

/// A ring of bytes in the caller's memory, as in the framework (`rkhtrc_stream.c`).
///
/// RKH allows 1 to 2048 bytes (`RKH_CFG_TRC_SIZEOF_STREAM`); here, any size is possible. If the
/// size is 0, every byte is lost.
///
/// ```
/// use tracewell_record::rkh::{Buffer, StreamBuffer};
///
/// let mut memory = [0; 4];
/// let mut buffer = StreamBuffer::new(&mut memory);
/// (1..=6).for_each(|byte| buffer.put(byte));
/// assert_eq!((buffer.get(), buffer.overwritten()), (Some(3), 2));
/// ```
#[derive(Debug)]
pub struct StreamBuffer<'m> {
    ring: Ring<'m>,
    overwritten: u32,
}

impl<'m> StreamBuffer<'m> {
    /// Creates an empty buffer.
    pub fn new(memory: &'m mut [u8]) -> Self {
        Self { ring: Ring::new(memory), overwritten: 0 }
    }

    /// Returns the number of overwritten bytes, modulo 2^32. The framework itself does not count
    /// overwritten bytes.
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

    /// Marks the frame as aborted, because the link may already have sent its first bytes.
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
