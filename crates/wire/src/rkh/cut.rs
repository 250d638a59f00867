//! Cutting a stream into frames.
//!
//! Bytes are looked at in blocks of 64: flags and escapes become two 64-bit masks, and a frame's
//! end is the lowest bit of one of them. So the only branch per frame that a processor cannot
//! foresee is the one that asks whether the block has another flag.

use super::{ESCAPE, FLAG};

/// Where a frame lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cut {
    /// First byte.
    pub start: usize,
    /// Its flag: the byte after its last one.
    pub end: usize,
    /// Whether there is an escape in it.
    pub escaped: bool,
}

/// Gives the frames of some bytes, from a place where a frame begins.
///
/// Frames without a byte (a flag after a flag) are left out. Bytes after the last flag are no
/// frame: [`Cutter::rest`] says where they begin.
#[derive(Clone, Debug)]
pub struct Cutter<'a> {
    bytes: &'a [u8],
    /// First byte after the last flag.
    start: usize,
    /// First byte of the block that the masks speak of.
    block: usize,
    /// Flags of the block that were not used yet.
    flags: u64,
    /// Escapes of the block from `start` on.
    escapes: u64,
    /// Whether an earlier block has an escape from `start` on.
    escaped: bool,
}

/// Bytes that are looked at together: one bit each in a mask.
pub const BLOCK: usize = 64;

impl<'a> Cutter<'a> {
    /// Begins with byte 0 as the first byte of a frame.
    pub fn new(bytes: &'a [u8]) -> Self {
        let (flags, escapes) = masks_at(bytes, 0);
        Self { bytes, start: 0, block: 0, flags, escapes, escaped: false }
    }

    /// First byte after the last flag that was seen.
    #[inline]
    pub const fn rest(&self) -> usize {
        self.start
    }

    /// Leaves out what stands before the next flag; false where there is no flag any more.
    pub fn skip_to_flag(&mut self) -> bool {
        self.flag().is_some()
    }

    /// The next flag, with whether an escape stands between it and the one before.
    #[inline(always)]
    fn flag(&mut self) -> Option<Cut> {
        while self.flags == 0 {
            self.escaped |= self.escapes != 0;
            self.block += BLOCK;
            if self.block >= self.bytes.len() {
                self.block = self.bytes.len();
                self.escapes = 0;
                return None;
            }
            (self.flags, self.escapes) = masks_at(self.bytes, self.block);
        }
        let bit = self.flags.trailing_zeros();
        let before = (1 << bit) - 1;
        let escaped = self.escaped | (self.escapes & before != 0);
        let cut = Cut { start: self.start, end: self.block + bit as usize, escaped };
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
            if cut.start < cut.end {
                return Some(cut);
            }
        }
    }
}

/// Flags and escapes of the block at `at`, one bit a byte.
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
    let mut block = [0; BLOCK];
    for (to, from) in block.iter_mut().zip(rest) {
        *to = *from;
    }
    masks(&block)
}

/// Flags and escapes of a block, one bit a byte from the lowest on.
#[inline]
pub fn masks(block: &[u8; BLOCK]) -> (u64, u64) {
    (mask(block, FLAG), mask(block, ESCAPE))
}

/// The bytes of a block that equal `byte`, one bit each.
#[inline]
fn mask(block: &[u8; BLOCK], byte: u8) -> u64 {
    // Compilers turn this into comparisons of 16 bytes and more at a time.
    let equal = block.map(|other| u8::from(other == byte));
    let (words, _) = equal.as_chunks::<8>();
    let bits = words.iter().enumerate();
    bits.fold(0, |mask, (index, word)| mask | gather(u64::from_le_bytes(*word)) << (8 * index))
}

const LOW_BITS: u64 = 0x7F7F_7F7F_7F7F_7F7F;

/// The highest bit of each byte of the word that equals `byte`; exact, no carry between bytes.
#[inline]
pub(super) const fn equal(word: u64, byte: u8) -> u64 {
    let differs = word ^ (byte as u64 * 0x0101_0101_0101_0101);
    !(((differs & LOW_BITS) + LOW_BITS) | differs | LOW_BITS)
}

/// The lowest bits of the eight bytes, of which no other is set, as the eight lowest bits.
#[inline]
const fn gather(low_bits: u64) -> u64 {
    // Bit 8i times bit 56-7i lands on bit 56+i, and no other product reaches the top byte.
    low_bits.wrapping_mul(0x0102_0408_1020_4080) >> 56
}
