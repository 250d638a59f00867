//! The checksum: with it, all bytes of a frame before stuffing add up to 0 modulo 256.

const EVEN: u64 = 0x00FF_00FF_00FF_00FF;

/// The sum of some bytes modulo 256.
#[inline]
pub fn sum(bytes: &[u8]) -> u8 {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut total = 0_u8;
    for word in words {
        total = total.wrapping_add(sum_of_word(u64::from_le_bytes(*word)));
    }
    rest.iter().fold(total, |total, byte| total.wrapping_add(*byte))
}

/// The sum of eight bytes modulo 256: four sums of two below 512, then those four.
#[inline]
const fn sum_of_word(word: u64) -> u8 {
    let pairs = (word & EVEN) + ((word >> 8) & EVEN);
    (pairs.wrapping_mul(0x0001_0001_0001_0001) >> 48) as u8
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
