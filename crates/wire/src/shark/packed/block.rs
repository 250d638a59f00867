//! A block of a packed area: packed records in the block format of LZ4, or as they are.
//!
//! | offset | size | content |
//! |---|---|---|
//! | 0 | 1 | 0xFF |
//! | 1 | 2 | bytes of the packed records, 1 to 4096 |
//! | 3 | 2 | bytes that are stored: fewer, and compressed, or as many, and not |
//! | 5 | 4 | CRC-32C of offsets 1 to 4 and the stored bytes |
//! | 9 | | the stored bytes |
//!
//! Each block is whole by itself: no record lies across its end, and the stamp before its first record is 0.
//! So is that before a record behind it.
//!
//! What LZ4's bytes mean is not here: who reads or writes them brings a library.

use crate::native::Crc32c;

/// A block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PackedBlock<'a> {
    unpacked: u16,
    stored: &'a [u8],
}

/// Why bytes make no block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BlockError {
    /// The head is cut, or its sizes cannot be.
    Head,
    /// The checksum is another one. What follows the block begins this many bytes behind its start.
    Sum {
        /// Bytes of the block, if its head is right.
        length: usize,
    },
}

const HEAD: usize = 9;

impl<'a> PackedBlock<'a> {
    /// What a block begins with.
    pub const MARK: u8 = 0xFF;
    /// Bytes before the stored ones.
    pub const HEAD: usize = HEAD;
    /// The most bytes of packed records in a block: what a recorder has room for on its stack.
    pub const MOST: usize = 4096;

    /// A block of bytes that are stored for `unpacked` bytes of packed records; `None` for sizes that no block
    /// has.
    pub fn new(unpacked: usize, stored: &'a [u8]) -> Option<Self> {
        let sizes = (1..=Self::MOST).contains(&unpacked) && (1..=unpacked).contains(&stored.len());
        let unpacked = u16::try_from(unpacked).ok().filter(|_| sizes)?;
        Some(Self { unpacked, stored })
    }

    /// Bytes of the packed records.
    pub fn unpacked(&self) -> usize {
        usize::from(self.unpacked)
    }

    /// What is stored.
    pub fn stored(&self) -> &'a [u8] {
        self.stored
    }

    /// Whether the stored bytes are compressed.
    pub fn is_compressed(&self) -> bool {
        self.stored.len() < self.unpacked()
    }

    /// The bytes before the stored ones.
    pub fn head(&self) -> [u8; HEAD] {
        let [u0, u1] = self.unpacked.to_le_bytes();
        // Not more than `unpacked`, see `new`.
        let [s0, s1] = (self.stored.len() as u16).to_le_bytes();
        let sizes = [u0, u1, s0, s1];
        let [c0, c1, c2, c3] = sum(sizes, self.stored).to_le_bytes();
        [Self::MARK, u0, u1, s0, s1, c0, c1, c2, c3]
    }

    /// Reads a block and what follows it.
    ///
    /// # Errors
    /// See [`BlockError`].
    pub fn read(bytes: &'a [u8]) -> Result<(Self, &'a [u8]), BlockError> {
        let (head, rest) = bytes.split_first_chunk::<HEAD>().ok_or(BlockError::Head)?;
        let [mark, u0, u1, s0, s1, c0, c1, c2, c3] = *head;
        let [unpacked, stored] = [[u0, u1], [s0, s1]].map(u16::from_le_bytes).map(usize::from);
        let (stored, rest) = rest.split_at_checked(stored).ok_or(BlockError::Head)?;
        let block = Self::new(unpacked, stored).filter(|_| mark == Self::MARK);
        let block = block.ok_or(BlockError::Head)?;
        if sum([u0, u1, s0, s1], stored) != u32::from_le_bytes([c0, c1, c2, c3]) {
            return Err(BlockError::Sum { length: Self::HEAD + stored.len() });
        }
        Ok((block, rest))
    }
}

fn sum(sizes: [u8; 4], stored: &[u8]) -> u32 {
    Crc32c::default().with(&sizes).with(stored).value()
}
