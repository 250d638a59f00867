//! A frame into a buffer: every byte is added to the sum and escaped as it goes.

use tracewell_wire::rkh::{ESCAPE, FLAG, turned};

/// Where frames go until the link takes them.
///
/// The trait is for buffers of other kinds, too: one that hands each frame on, for example.
pub trait Buffer {
    /// Empties it and sets its counts to 0 (`rkh_trc_init`).
    fn clear(&mut self);
    /// A frame begins. One that was begun before and not ended is forgotten or given up.
    fn begin(&mut self);
    /// A byte as it goes over the link.
    fn put(&mut self, byte: u8);
    /// The frame is whole; false where it was left out.
    fn end(&mut self) -> bool;
    /// The frame that was begun is given up.
    fn abort(&mut self);
    /// Bytes that can be taken out.
    fn len(&self) -> usize;
    /// Takes out the oldest bytes, `most` at most; empty if there are none (`rkh_trc_get_block`).
    ///
    /// The bytes lie together, so there may be more behind them: ask until the answer is empty.
    fn block(&mut self, most: usize) -> &[u8];

    /// Whether nothing can be taken out.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes out the oldest byte (`rkh_trc_get`).
    fn get(&mut self) -> Option<u8> {
        self.block(1).first().copied()
    }

    /// Takes out as many bytes as there are and fit; how many (`rkh_trc_getWholeBlock`).
    fn read(&mut self, out: &mut [u8]) -> usize {
        let mut count = 0;
        while let Some(room) = out.get_mut(count..).filter(|room| !room.is_empty()) {
            let block = self.block(room.len());
            if block.is_empty() {
                break;
            }
            let length = block.len();
            room[..length].copy_from_slice(block);
            count += length;
        }
        count
    }

    /// Hands everything to the link, block by block (`rkh_trc_flush`).
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

/// The frame that is being written.
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

    /// The low `size` bytes of a number, 4 at most.
    #[inline]
    pub(super) fn number(&mut self, buffer: &mut impl Buffer, number: u32, size: u8) {
        let bytes = number.to_le_bytes();
        self.bytes(buffer, bytes.get(..usize::from(size)).unwrap_or(&bytes));
    }

    /// Checksum and flag; false where the buffer left the frame out.
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
