//! One record of 16 bytes, which is the same in a chunk, a file and a datagram.
//!
//! | offset | size | content |
//! |---|---|---|
//! | 0 | 2 | code word: event code in bits 0-7, bit 15 set by the fast path |
//! | 2 | 2 | parameter 1 |
//! | 4 | 4 | time stamp counter, bits 63-32 |
//! | 8 | 4 | time stamp counter, bits 31-0 |
//! | 12 | 4 | parameter 2 |
//!
//! The high half of the timestamp comes first, although every word is little-endian.

/// A record.
///
/// ```
/// use tracewell_wire::shark::Record;
///
/// let code_word = 0x82 | Record::FAST;
/// let record = Record { code_word, par1: 0x108, tsc: 0x1_0000_0002, par2: 0 };
/// let bytes = record.to_bytes();
/// assert_eq!(bytes[4..12], [1, 0, 0, 0, 2, 0, 0, 0]);
/// assert_eq!(Record::read(&bytes), Some(record));
/// assert_eq!((record.code(), record.is_fast()), (0x82, true));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Record {
    /// The event code, and [`Record::FAST`] if the fast path wrote the record; 0 in an unused slot.
    pub code_word: u16,
    /// First parameter; its meaning depends on the code.
    pub par1: u16,
    /// Timestamp: the processor's cycle counter.
    pub tsc: u64,
    /// Second parameter; its meaning depends on the code. If the fast path wrote the record, this
    /// field still has its value from an earlier use of the slot.
    pub par2: u32,
}

impl Record {
    /// Size of a record in bytes.
    pub const SIZE: usize = 16;

    /// Bit that is set in the code word of records of the fast path. The fast path does not write
    /// the second parameter.
    pub const FAST: u16 = 0x8000;

    /// A slot that was never written.
    pub const EMPTY: Self = Self { code_word: 0, par1: 0, tsc: 0, par2: 0 };

    /// Returns the event code.
    #[inline]
    pub const fn code(&self) -> u8 {
        self.code_word as u8
    }

    /// Returns true if the fast path wrote the record. The second parameter of such a record has no
    /// meaning.
    #[inline]
    pub const fn is_fast(&self) -> bool {
        self.code_word & Self::FAST != 0
    }

    /// Returns true if the slot was never written.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.code_word == 0
    }

    /// Returns the bits of the code word that no writer sets.
    #[inline]
    pub const fn unexpected_code_bits(&self) -> u16 {
        self.code_word & 0x7F00
    }

    /// Reads a record from its bytes.
    #[inline]
    pub const fn from_bytes(bytes: &[u8; Self::SIZE]) -> Self {
        let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = *bytes;
        Self {
            code_word: u16::from_le_bytes([a, b]),
            par1: u16::from_le_bytes([c, d]),
            // Reading both halves at once and swapping them needs the fewest instructions.
            tsc: u64::from_le_bytes([e, f, g, h, i, j, k, l]).rotate_left(32),
            par2: u32::from_le_bytes([m, n, o, p]),
        }
    }

    /// Returns the bytes of the record.
    #[inline]
    pub const fn to_bytes(&self) -> [u8; Self::SIZE] {
        let [a, b] = self.code_word.to_le_bytes();
        let [c, d] = self.par1.to_le_bytes();
        // The target stores the counter's high half first, each half little-endian.
        let [e, f, g, h] = ((self.tsc >> 32) as u32).to_le_bytes();
        let [i, j, k, l] = (self.tsc as u32).to_le_bytes();
        let [m, n, o, p] = self.par2.to_le_bytes();
        [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p]
    }

    /// Reads the record at the start of `bytes`. Returns `None` if the bytes are too few.
    #[inline]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        bytes.first_chunk().map(Self::from_bytes)
    }

    /// Writes the record at the start of `bytes`. Returns `None` if the bytes are too few.
    #[inline]
    pub fn write(&self, bytes: &mut [u8]) -> Option<()> {
        *bytes.first_chunk_mut()? = self.to_bytes();
        Some(())
    }
}
