//! One record: 16 bytes, the same in a chunk, a file and a datagram.
//!
//! | offset | size | content |
//! |---|---|---|
//! | 0 | 2 | code word: event code in bits 0-7, bit 15 set by the fast path |
//! | 2 | 2 | parameter 1 |
//! | 4 | 4 | time stamp counter, bits 63-32 |
//! | 8 | 4 | time stamp counter, bits 31-0 |
//! | 12 | 4 | parameter 2 |
//!
//! The high half of the stamp comes first although every word is little-endian.

/// A record as it lies in a slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Record {
    /// The event code, with [`Record::FAST`] set by the fast path; 0 in a slot never written.
    pub code_word: u16,
    /// First parameter, by code.
    pub par1: u16,
    /// The processor's cycle counter.
    pub tsc: u64,
    /// Second parameter, by code; left over from an older record where the fast path wrote this one.
    pub par2: u32,
}

impl Record {
    /// Bytes of a record.
    pub const SIZE: usize = 16;

    /// Set in the code word of records of the fast path, which does not write the second parameter.
    pub const FAST: u16 = 0x8000;

    /// A slot that was never written.
    pub const EMPTY: Self = Self { code_word: 0, par1: 0, tsc: 0, par2: 0 };

    /// The event code.
    #[inline]
    pub const fn code(&self) -> u8 {
        self.code_word as u8
    }

    /// Whether the fast path wrote it, so that the second parameter says nothing.
    #[inline]
    pub const fn is_fast(&self) -> bool {
        self.code_word & Self::FAST != 0
    }

    /// Whether the slot was never written.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.code_word == 0
    }

    /// The bits of the code word that no writer sets.
    #[inline]
    pub const fn unexpected_code_bits(&self) -> u16 {
        self.code_word & 0x7F00
    }

    /// Reads a slot.
    #[inline]
    pub const fn from_bytes(bytes: &[u8; Self::SIZE]) -> Self {
        let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = *bytes;
        Self {
            code_word: u16::from_le_bytes([a, b]),
            par1: u16::from_le_bytes([c, d]),
            // Both halves at once, then the other way round: the fewest instructions.
            tsc: u64::from_le_bytes([e, f, g, h, i, j, k, l]).rotate_left(32),
            par2: u32::from_le_bytes([m, n, o, p]),
        }
    }

    /// The bytes of a slot that holds this record.
    #[inline]
    pub const fn to_bytes(&self) -> [u8; Self::SIZE] {
        let [a, b] = self.code_word.to_le_bytes();
        let [c, d] = self.par1.to_le_bytes();
        let [e, f, g, h] = ((self.tsc >> 32) as u32).to_le_bytes();
        let [i, j, k, l] = (self.tsc as u32).to_le_bytes();
        let [m, n, o, p] = self.par2.to_le_bytes();
        [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p]
    }

    /// Reads the slot at the start of `bytes`; `None` where they are too few.
    #[inline]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        bytes.first_chunk().map(Self::from_bytes)
    }

    /// Writes the slot at the start of `bytes`; `None` where they are too few.
    #[inline]
    pub fn write(&self, bytes: &mut [u8]) -> Option<()> {
        *bytes.first_chunk_mut()? = self.to_bytes();
        Some(())
    }
}
