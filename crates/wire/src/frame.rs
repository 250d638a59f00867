//! The frame of a log's blocks, whatever they hold: a head of three words, then a body.
//!
//! | word | content |
//! |---|---|
//! | 0 | magic of the format (low half), kind (high half) |
//! | 1 | bytes of the block, its head included, a multiple of 8 (low); CRC-32C of the block with this half as 0 (high) |
//! | 2 | number of the block in its log |
//!
//! [`native::block`](crate::native::block) and [`posix::log`](crate::posix::log) say what kinds there are.

use crate::native::{Crc32c, WORD, crc32c, join, put_words, split, word};

/// Bytes of a block's head.
pub const HEAD: usize = 3 * WORD;

/// Longest block that a reader believes in, in bytes: 16 MiB.
pub const LONGEST: usize = 1 << 24;

/// What stands where a block should be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Found<'a> {
    /// A block whose checksum is right.
    Block {
        /// The number of its kind.
        kind: u32,
        /// Its number in the log.
        number: u64,
        /// What stands behind its head.
        body: &'a [u8],
    },
    /// The beginning of one; this many bytes are needed to say more.
    Part(usize),
    /// Something else, or a damaged block.
    Damage,
}

/// Looks for a block of a format at the start of some bytes.
pub fn find(bytes: &[u8], magic: u32) -> Found<'_> {
    let (Some(first), Some(second), Some(number)) =
        (word(bytes, 0), word(bytes, 1), word(bytes, 2))
    else {
        let begins = bytes.iter().zip(magic.to_le_bytes()).all(|(found, wanted)| *found == wanted);
        return if begins { Found::Part(HEAD) } else { Found::Damage };
    };
    let (found, kind) = split(first);
    let (length, sum) = split(second);
    let length = length as usize;
    if found != magic || !length.is_multiple_of(WORD) || !(HEAD..=LONGEST).contains(&length) {
        return Found::Damage;
    }
    let Some(block) = bytes.get(..length) else { return Found::Part(length) };
    if checksum(block) != Some(sum) {
        return Found::Damage;
    }
    Found::Block { kind, number, body: &block[HEAD..] }
}

fn checksum(block: &[u8]) -> Option<u32> {
    let (first, rest) = block.split_at_checked(12)?;
    let rest = rest.get(4..)?;
    Some(Crc32c::default().with(first).with(&[0; 4]).with(rest).value())
}

/// Writes the head of a block whose body is in its place already; `None` where the block is too
/// short for a head, too long, or no multiple of 8.
pub fn seal(block: &mut [u8], magic: u32, kind: u32, number: u64) -> Option<()> {
    let length = block.len();
    if length > LONGEST || !length.is_multiple_of(WORD) {
        return None;
    }
    put_words(block, &[join(magic, kind), join(length as u32, 0), number])?;
    let sum = crc32c(block);
    put_words(block.get_mut(WORD..)?, &[join(length as u32, sum)])
}
