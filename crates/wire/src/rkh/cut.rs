//! Cuts a stream into frames.
//!
//! The cutter converts a block of 64 bytes into two 64-bit masks, one of flags and one of escapes.
//! A frame ends at the lowest bit of the flag mask. Each frame costs only one branch that a
//! processor cannot predict: the test for another flag in the block.

use super::{ESCAPE, FLAG};

/// The position of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cut {
    /// Index of the first byte.
    pub start: usize,
    /// Index of the flag, which follows the last byte.
    pub end: usize,
    /// True if the frame contains an escape.
    pub escaped: bool,
}

/// Iterates over the frames in `bytes`. The first byte must be the first byte of a frame.
///
/// Skips empty frames (two flags in a row). Bytes after the last flag are an incomplete frame.
/// [`Cutter::rest`] returns the index of its first byte.
///
/// ```
/// use tracewell_wire::rkh::Cutter;
///
/// let bytes = [1, 2, 0x7E, 0x7E, 3, 0x7D, 0x5E, 0x7E, 4];
/// let mut cutter = Cutter::new(&bytes);
/// let frames: Vec<_> = cutter.by_ref().map(|cut| (cut.start, cut.end, cut.escaped)).collect();
/// assert_eq!(frames, [(0, 2, false), (4, 7, true)]);
/// assert_eq!(cutter.rest(), 8);
/// ```
#[derive(Clone, Debug)]
pub struct Cutter<'a> {
    bytes: &'a [u8],
    /// Index of the first byte after the last flag that was found.
    start: usize,
    /// Index of the first byte of the block that the masks describe.
    block: usize,
    /// Flags of the block that are not processed yet.
    flags: u64,
    /// Escapes of the block at or after `start`.
    escapes: u64,
    /// True if an earlier block contains an escape at or after `start`.
    escaped: bool,
}

/// Bytes per block. Each byte has one bit in a mask.
pub const BLOCK: usize = 64;

impl<'a> Cutter<'a> {
    /// Creates a cutter that treats byte 0 as the first byte of a frame.
    pub fn new(bytes: &'a [u8]) -> Self {
        let (flags, escapes) = masks_at(bytes, 0);
        Self { bytes, start: 0, block: 0, flags, escapes, escaped: false }
    }

    /// Returns the index of the first byte after the last flag found.
    #[inline]
    pub const fn rest(&self) -> usize {
        self.start
    }

    /// Skips to the byte after the next flag. Returns false if there is no further flag.
    pub fn skip_to_flag(&mut self) -> bool {
        self.flag().is_some()
    }

    /// Returns the position of the frame that ends at the next flag, or `None` if there is no
    /// further flag. The frame may be empty.
    #[inline(always)]
    fn flag(&mut self) -> Option<Cut> {
        while self.flags == 0 {
            // The remaining escapes of this block belong to a frame that ends in a later block.
            self.escaped |= self.escapes != 0;
            self.block += BLOCK;
            if self.block >= self.bytes.len() {
                // Stay at this position in case the caller calls `next` again.
                self.block = self.bytes.len();
                self.escapes = 0;
                return None;
            }
            (self.flags, self.escapes) = masks_at(self.bytes, self.block);
        }
        let bit = self.flags.trailing_zeros();
        // Only escapes before the flag belong to this frame.
        let before = (1 << bit) - 1;
        let escaped = self.escaped | (self.escapes & before != 0);
        let cut = Cut { start: self.start, end: self.block + bit as usize, escaped };
        // Clears the lowest set bit, the flag just found.
        self.flags &= self.flags - 1;
        self.escapes &= !before;
        self.escaped = false;
        self.start = cut.end + 1;
        Some(cut)
    }
}

impl Iterator for Cutter<'_> {
    type Item = Cut;

    #[inline]
    fn next(&mut self) -> Option<Cut> {
        loop {
            let cut = self.flag()?;
            // Flags often come in pairs: one ends a frame, and the next starts another.
            if cut.start < cut.end {
                return Some(cut);
            }
        }
    }
}

/// Returns the masks of flags and escapes of the block at `at`.
#[inline]
fn masks_at(bytes: &[u8], at: usize) -> (u64, u64) {
    let rest = bytes.get(at..).unwrap_or_default();
    match rest.first_chunk::<BLOCK>() {
        Some(block) => masks(block),
        None => masks_of_last(rest),
    }
}

#[cold]
fn masks_of_last(rest: &[u8]) -> (u64, u64) {
    // Zeros are neither flags nor escapes, so the padding sets no bits.
    let mut block = [0; BLOCK];
    for (to, from) in block.iter_mut().zip(rest) {
        *to = *from;
    }
    masks(&block)
}

/// Returns the masks of flags and escapes of a block. Each mask has one bit per byte; bit 0 stands
/// for the first byte.
#[inline]
pub fn masks(block: &[u8; BLOCK]) -> (u64, u64) {
    (mask(block, FLAG), mask(block, ESCAPE))
}

/// Returns a mask of the bytes that equal `byte`.
#[inline]
fn mask(block: &[u8; BLOCK], byte: u8) -> u64 {
    // Compilers turn this into comparisons of 16 or more bytes at a time.
    let equal = block.map(|other| u8::from(other == byte));
    let (words, _) = equal.as_chunks::<8>();
    let bits = words.iter().enumerate();
    bits.fold(0, |mask, (index, word)| mask | gather(u64::from_le_bytes(*word)) << (8 * index))
}

const LOW_BITS: u64 = 0x7F7F_7F7F_7F7F_7F7F;

/// Marks the bytes of `word` that equal `byte`. In the result, the highest bit of each such byte is
/// 1, and all other bits are 0. Each byte is computed independently of the others.
#[inline]
pub(super) const fn equal(word: u64, byte: u8) -> u64 {
    // After the XOR, equal bytes are 0.
    let differs = word ^ (byte as u64 * 0x0101_0101_0101_0101);
    // Adding 0x7F to the low seven bits of a byte sets the highest bit of the byte, unless the
    // seven bits are 0.
    !(((differs & LOW_BITS) + LOW_BITS) | differs | LOW_BITS)
}

/// Gathers the lowest bits of eight bytes into the eight lowest bits. All other bits of `low_bits`
/// must be 0.
#[inline]
const fn gather(low_bits: u64) -> u64 {
    // The product of bit 8i and bit 56-7i is bit 56+i. No other product reaches the top byte.
    low_bits.wrapping_mul(0x0102_0408_1020_4080) >> 56
}
