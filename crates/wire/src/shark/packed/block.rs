//! A block of a packed area: packed records, compressed in LZ4 block format or stored uncompressed.
//!
//! | offset | size | content |
//! |---|---|---|
//! | 0 | 1 | 0xFF |
//! | 1 | 2 | number of bytes of the packed records, 1 to 4096 |
//! | 3 | 2 | number of stored bytes: less than the number above if compressed, otherwise equal to it |
//! | 5 | 4 | CRC-32C of the sizes (offsets 1 to 4) and the stored bytes |
//! | 9 | | the stored bytes |
//!
//! Blocks are independent. No record crosses the end of a block. The first record of a block and
//! the first record after the block have full timestamps.
//!
//! The caller supplies the library that compresses or decompresses LZ4 data.

use crate::native::Crc32c;

/// A block.
///
/// ```
/// use tracewell_wire::shark::PackedBlock;
///
/// let block = PackedBlock::new(4, b"\x02\0\0\0").unwrap();
/// assert!(!block.is_compressed());
/// let bytes = [block.head().as_slice(), block.stored(), b"rest"].concat();
/// assert_eq!(PackedBlock::read(&bytes), Ok((block, &b"rest"[..])));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PackedBlock<'a> {
    unpacked: u16,
    stored: &'a [u8],
}

/// Error for bytes that are not a valid block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BlockError {
    /// The header is truncated or contains invalid sizes.
    Head,
    /// The checksum is wrong.
    Sum {
        /// Length of the block in bytes according to its header. The next block can begin after
        /// that many bytes.
        length: usize,
    },
}

const HEAD: usize = 9;

impl<'a> PackedBlock<'a> {
    /// The first byte of every block.
    pub const MARK: u8 = 0xFF;
    /// Size of the header in bytes.
    pub const HEAD: usize = HEAD;
    /// Maximum number of bytes of packed records in a block. A recorder keeps this many bytes on
    /// its stack.
    pub const MAX_LEN: usize = 4096;

    /// Returns a block with the bytes `stored`, which contain `unpacked` bytes of packed records.
    /// Returns `None` if a block cannot have these sizes.
    pub fn new(unpacked: usize, stored: &'a [u8]) -> Option<Self> {
        // Equal sizes mean that the records are not compressed. A writer never stores a result that
        // compression made longer.
        let sizes =
            (1..=Self::MAX_LEN).contains(&unpacked) && (1..=unpacked).contains(&stored.len());
        let unpacked = u16::try_from(unpacked).ok().filter(|_| sizes)?;
        Some(Self { unpacked, stored })
    }

    /// Returns the size of the packed records in bytes.
    pub fn unpacked(&self) -> usize {
        usize::from(self.unpacked)
    }

    /// Returns the stored bytes.
    pub fn stored(&self) -> &'a [u8] {
        self.stored
    }

    /// Returns true if the stored bytes are compressed.
    pub fn is_compressed(&self) -> bool {
        self.stored.len() < self.unpacked()
    }

    /// Returns the bytes that precede the stored bytes: marker, sizes and checksum.
    pub fn head(&self) -> [u8; HEAD] {
        let [u0, u1] = self.unpacked.to_le_bytes();
        // The length is at most `unpacked`, so it fits into 16 bits (see `new`).
        let [s0, s1] = (self.stored.len() as u16).to_le_bytes();
        let sizes = [u0, u1, s0, s1];
        let [c0, c1, c2, c3] = sum(sizes, self.stored).to_le_bytes();
        [Self::MARK, u0, u1, s0, s1, c0, c1, c2, c3]
    }

    /// Reads the block at the start of `bytes`. Returns the block and the bytes after the block.
    ///
    /// # Errors
    /// Returns an error if the bytes are not a block, or if the checksum is wrong.
    pub fn read(bytes: &'a [u8]) -> Result<(Self, &'a [u8]), BlockError> {
        let (head, rest) = bytes.split_first_chunk::<HEAD>().ok_or(BlockError::Head)?;
        let [mark, u0, u1, s0, s1, c0, c1, c2, c3] = *head;
        let [unpacked, stored] = [[u0, u1], [s0, s1]].map(u16::from_le_bytes).map(usize::from);
        let (stored, rest) = rest.split_at_checked(stored).ok_or(BlockError::Head)?;
        // The marker or a size is invalid, so the start of the next block is unknown.
        let block = Self::new(unpacked, stored).filter(|_| mark == Self::MARK);
        let block = block.ok_or(BlockError::Head)?;
        if sum([u0, u1, s0, s1], stored) != u32::from_le_bytes([c0, c1, c2, c3]) {
            return Err(BlockError::Sum { length: Self::HEAD + stored.len() });
        }
        Ok((block, rest))
    }
}

fn sum(sizes: [u8; 4], stored: &[u8]) -> u32 {
    // The checksum also covers the sizes, so it detects a damaged size.
    Crc32c::default().with(&sizes).with(stored).value()
}
