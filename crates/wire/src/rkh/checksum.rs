//! The checksum: with it, all bytes of a frame before stuffing add up to 0 modulo 256.

const EVEN: u64 = 0x00FF_00FF_00FF_00FF;

/// The sum of some bytes modulo 256.
#[inline]
pub fn sum(bytes: &[u8]) -> u8 {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut lanes = 0_u64;
    for word in words {
        lanes = add(lanes, pairs(u64::from_le_bytes(*word)));
    }
    match bytes.last_chunk::<8>() {
        // The last word again, without those of its bytes that were counted already.
        Some(last) if !rest.is_empty() => {
            let last = u64::from_le_bytes(*last) >> (64 - 8 * rest.len());
            lanes = add(lanes, pairs(last));
        }
        Some(_) => {}
        None => lanes = rest.iter().fold(0, |sum, byte| sum + u64::from(*byte)),
    }
    total(lanes)
}

/// Four sums of two bytes each.
#[inline]
const fn pairs(word: u64) -> u64 {
    (word & EVEN) + ((word >> 8) & EVEN)
}

/// Adds four sums, modulo 256 each.
#[inline]
const fn add(lanes: u64, pairs: u64) -> u64 {
    // A lane has 16 bits, so two sums of nine and eight bits do not reach the next one.
    (lanes & EVEN) + pairs
}

/// The sum of four sums modulo 256.
#[inline]
const fn total(lanes: u64) -> u8 {
    (lanes.wrapping_mul(0x0001_0001_0001_0001) >> 48) as u8
}

/// The checksum byte of a frame.
#[inline]
pub fn of(frame: &[u8]) -> u8 {
    sum(frame).wrapping_neg()
}

/// Whether a frame with its checksum is whole.
#[inline]
pub fn holds(frame_with_checksum: &[u8]) -> bool {
    sum(frame_with_checksum) == 0
}
