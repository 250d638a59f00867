//! Writes a frame into a buffer. Adds every byte to the checksum and escapes the byte if
//! necessary.

use tracewell_wire::rkh::{ESCAPE, FLAG, turned};

/// A buffer that stores frames until the link sends them.
///
/// Programs can implement other kinds of buffers, for example one that forwards each frame
/// immediately.
pub trait Buffer {
    /// Empties the buffer and sets its counters to 0 (`rkh_trc_init`).
    fn clear(&mut self);
    /// Begins a frame. If the previous frame has not ended, this function removes or aborts it.
    fn begin(&mut self);
    /// Stores a byte in its transmitted (escaped) form.
    fn put(&mut self, byte: u8);
    /// Ends the frame. Returns false if the frame was dropped.
    fn end(&mut self) -> bool;
    /// Ends the frame so that decoders discard it.
    fn abort(&mut self);
    /// Returns the number of bytes that can be removed.
    fn len(&self) -> usize;
    /// Removes and returns the oldest bytes, at most `most`. Returns an empty slice if there are
    /// none (`rkh_trc_get_block`).
    ///
    /// The returned bytes are contiguous in memory, so more bytes may be waiting: call this until
    /// the result is empty.
    fn block(&mut self, most: usize) -> &[u8];

    /// Returns true if no bytes can be removed.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes and returns the oldest byte (`rkh_trc_get`).
    fn get(&mut self) -> Option<u8> {
        self.block(1).first().copied()
    }

    /// Moves bytes to `out` until it is full or no bytes are left, and returns their number
    /// (`rkh_trc_getWholeBlock`).
    fn read(&mut self, out: &mut [u8]) -> usize {
        let mut count = 0;
        // A block ends at the end of the buffer's memory, so a stream that wraps has two blocks.
        while let Some(free) = out.get_mut(count..).filter(|free| !free.is_empty()) {
            let block = self.block(free.len());
            if block.is_empty() {
                break;
            }
            let length = block.len();
            free[..length].copy_from_slice(block);
            count += length;
        }
        count
    }

    /// Passes all bytes to the link, block by block (`rkh_trc_flush`).
    fn flush(&mut self, mut link: impl FnMut(&[u8]))
    where
        Self: Sized,
    {
        loop {
            let block = self.block(usize::MAX);
            if block.is_empty() {
                return;
            }
            link(block);
        }
    }
}

/// A frame that is being written.
#[derive(Debug, Default)]
pub(super) struct Frame {
    sum: u8,
}

impl Frame {
    pub(super) fn begin(buffer: &mut impl Buffer) -> Self {
        buffer.begin();
        Self::default()
    }

    #[inline]
    pub(super) fn byte(&mut self, buffer: &mut impl Buffer, byte: u8) {
        self.sum = self.sum.wrapping_add(byte);
        escaped(buffer, byte);
    }

    #[inline]
    pub(super) fn bytes(&mut self, buffer: &mut impl Buffer, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.byte(buffer, *byte));
    }

    /// Writes the low `size` bytes of a number; `size` is at most 4.
    #[inline]
    pub(super) fn number(&mut self, buffer: &mut impl Buffer, number: u32, size: u8) {
        let bytes = number.to_le_bytes();
        self.bytes(buffer, bytes.get(..usize::from(size)).unwrap_or(&bytes));
    }

    /// Writes the checksum and the flag. Returns false if the buffer dropped the frame.
    pub(super) fn end(self, buffer: &mut impl Buffer, with_checksum: bool) -> bool {
        if with_checksum {
            escaped(buffer, self.sum.wrapping_neg());
        }
        buffer.put(FLAG);
        buffer.end()
    }
}

#[inline]
fn escaped(buffer: &mut impl Buffer, byte: u8) {
    match turned(byte) {
        None => buffer.put(byte),
        Some(turned) => {
            buffer.put(ESCAPE);
            buffer.put(turned);
        }
    }
}
