//! The checksum, one byte. Before stuffing, the bytes of a frame and the checksum add up to 0
//! modulo 256.
//!
//! ```
//! use tracewell_wire::rkh::checksum;
//!
//! let frame = [0x69, 7, 0xF0];
//! let whole = [0x69, 7, 0xF0, checksum::of(&frame)];
//! assert!(checksum::holds(&whole));
//! ```

const EVEN: u64 = 0x00FF_00FF_00FF_00FF;

/// Returns the sum of the bytes modulo 256.
#[inline]
pub fn sum(bytes: &[u8]) -> u8 {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut lanes = 0_u64;
    for word in words {
        lanes = add(lanes, pairs(u64::from_le_bytes(*word)));
    }
    match bytes.last_chunk::<8>() {
        // Load the last eight bytes and shift out the bytes that were already counted.
        Some(last) if !rest.is_empty() => {
            let last = u64::from_le_bytes(*last) >> (64 - 8 * rest.len());
            lanes = add(lanes, pairs(last));
        }
        Some(_) => {}
        // There are fewer than eight bytes in total.
        None => lanes = rest.iter().fold(0, |sum, byte| sum + u64::from(*byte)),
    }
    total(lanes)
}

/// Returns the sums of four pairs of bytes, each in a lane of 16 bits.
#[inline]
const fn pairs(word: u64) -> u64 {
    (word & EVEN) + ((word >> 8) & EVEN)
}

/// Adds four sums to four lanes, each modulo 256.
#[inline]
const fn add(lanes: u64, pairs: u64) -> u64 {
    // Lanes have 16 bits, so the sum of a 9-bit and an 8-bit number cannot carry into the next
    // lane.
    (lanes & EVEN) + pairs
}

/// Returns the sum of the four lanes modulo 256.
#[inline]
const fn total(lanes: u64) -> u8 {
    (lanes.wrapping_mul(0x0001_0001_0001_0001) >> 48) as u8
}

/// Returns the checksum byte of a frame.
#[inline]
pub fn of(frame: &[u8]) -> u8 {
    sum(frame).wrapping_neg()
}

/// Returns true if the sum of a frame, including its checksum, is 0 modulo 256.
#[inline]
pub fn holds(frame_with_checksum: &[u8]) -> bool {
    sum(frame_with_checksum) == 0
}
