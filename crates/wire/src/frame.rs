//! The frame of a log block: a header of three words, followed by a body. Two log formats use this
//! frame.
//!
//! | word | content |
//! |---|---|
//! | 0 | magic number of the format (low half), kind (high half) |
//! | 1 | length of the block in bytes, a multiple of 8 (low half); checksum (high half) |
//! | 2 | number of the block in its log |
//!
//! The length of a block includes its header. The checksum is the CRC-32C of the block with the
//! checksum field set to 0.
//!
//! [`native::block`](crate::native::block) and [`posix::log`](crate::posix::log) define the kinds.

use crate::native::{Crc32c, WORD, crc32c, join, put_words, split, word};

/// Length of a block header in bytes.
pub const HEAD: usize = 3 * WORD;

/// Longest block that a reader accepts, in bytes: 16 MiB.
pub const MAX_LEN: usize = 1 << 24;

/// Result of looking for a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lookup<'a> {
    /// A block with a valid checksum.
    Block {
        /// Number that encodes the kind of the block.
        kind: u32,
        /// Number of the block in its log.
        number: u64,
        /// The bytes after the header.
        body: &'a [u8],
    },
    /// The bytes can be the start of a block. The reader needs at least this many bytes to decide.
    Incomplete(usize),
    /// Not a block, or a damaged block.
    Damaged,
}

/// Looks for a block at the start of `bytes`.
///
/// ```
/// use tracewell_wire::frame::{self, Lookup};
///
/// const MAGIC: u32 = u32::from_le_bytes(*b"DEMO");
///
/// let mut block = [0; frame::HEAD + 8];
/// block[frame::HEAD..].copy_from_slice(b"contents");
/// frame::seal(&mut block, MAGIC, 3, 0).unwrap();
///
/// let body = b"contents";
/// assert_eq!(frame::find(&block, MAGIC), Lookup::Block { kind: 3, number: 0, body });
/// assert_eq!(frame::find(&block[..30], MAGIC), Lookup::Incomplete(32));
///
/// block[30] ^= 1;
/// assert_eq!(frame::find(&block, MAGIC), Lookup::Damaged);
/// ```
pub fn find(bytes: &[u8], magic: u32) -> Lookup<'_> {
    let (Some(first), Some(second), Some(number)) =
        (word(bytes, 0), word(bytes, 1), word(bytes, 2))
    else {
        // The bytes are too short for a header. They can be the start of a block only if they match
        // the start of the magic number.
        let begins = bytes.iter().zip(magic.to_le_bytes()).all(|(found, wanted)| *found == wanted);
        return if begins { Lookup::Incomplete(HEAD) } else { Lookup::Damaged };
    };
    let (found, kind) = split(first);
    let (length, sum) = split(second);
    let length = length as usize;
    // Check the limit before requesting more bytes. Otherwise a damaged length would make a reader
    // wait for 4 GiB.
    if found != magic || !length.is_multiple_of(WORD) || !(HEAD..=MAX_LEN).contains(&length) {
        return Lookup::Damaged;
    }
    let Some(block) = bytes.get(..length) else { return Lookup::Incomplete(length) };
    if checksum(block) != Some(sum) {
        return Lookup::Damaged;
    }
    Lookup::Block { kind, number, body: &block[HEAD..] }
}

fn checksum(block: &[u8]) -> Option<u32> {
    let (first, rest) = block.split_at_checked(12)?;
    let rest = rest.get(4..)?;
    // The writer computed the checksum with zeros in the checksum field.
    Some(Crc32c::default().with(first).with(&[0; 4]).with(rest).value())
}

/// Writes the header of a block, including the checksum. The body must already be in place.
///
/// Returns `None` if the block is shorter than a header or longer than [`MAX_LEN`], or if its
/// length is not a multiple of 8.
pub fn seal(block: &mut [u8], magic: u32, kind: u32, number: u64) -> Option<()> {
    let length = block.len();
    if length > MAX_LEN || !length.is_multiple_of(WORD) {
        return None;
    }
    // The checksum covers the header with a checksum field of 0.
    put_words(block, &[join(magic, kind), join(length as u32, 0), number])?;
    let sum = crc32c(block);
    put_words(block.get_mut(WORD..)?, &[join(length as u32, sum)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_have_at_most_16_mebibytes() {
        let find_length = |length: u32| {
            let mut head = [0; HEAD];
            put_words(&mut head, &[join(1, 2), join(length, 0), 3]).unwrap();
            matches!(find(&head, 1), Lookup::Incomplete(wanted) if wanted == length as usize)
        };
        assert!(find_length(16 << 20));
        assert!(!find_length((16 << 20) + 8));
    }
}
