//! Converts numbers to digits, eight at a time in one register.

/// The character `0` in each byte.
pub(super) const ASCII_ZEROS: u64 = 0x3030_3030_3030_3030;
/// The bit in which `0` differs from a space, in each byte.
pub(super) const DIGIT_BITS: u64 = 0x1010_1010_1010_1010;

/// Returns the number of decimal digits of a number below 10^8, at least 1.
///
/// The position of the next string depends only on this number. So the processor can append the
/// next strings while it still converts the digits.
#[inline]
pub(super) fn length(value: u64) -> usize {
    // Numbers with the same highest bit have at most two different lengths. If the number is at
    // least the power of ten between them, the sum carries into the upper half.
    let bits = (value as u32 | 1).ilog2() as usize;
    ((value + LENGTHS[bits]) >> 32) as usize
}

/// The numbers that [`length`] adds to a value, indexed by the value's highest bit.
const LENGTHS: [u64; 32] = {
    let mut lengths = [0; 32];
    let mut bit = 0;
    while bit < 32 {
        // The smallest number with this highest bit has `digits` digits. Numbers of at least
        // 10^`digits` have one more digit.
        let digits = (1_u64 << bit).ilog10() as u64 + 1;
        lengths[bit] = ((digits + 1) << 32) - 10_u64.pow(digits as u32);
        bit += 1;
    }
    lengths
};

/// Returns the eight digits of a number below 10^8, one per byte, the most significant one in the
/// lowest byte.
///
/// Each step splits every group in the register into two halves: first into groups of four digits,
/// then of two, then of one. 10486/2^20 and 103/2^10 are exact replacements for 1/100 and 1/10 for
/// all values that occur.
#[inline]
pub(super) fn eight_digits(value: u64) -> u64 {
    let fours = (value / 10_000) | ((value % 10_000) << 32);
    let hundreds = ((fours * 10_486) >> 20) & 0x0000_007F_0000_007F;
    let twos = hundreds | ((fours - 100 * hundreds) << 16);
    let tens = ((twos * 103) >> 10) & 0x000F_000F_000F_000F;
    tens | ((twos - 10 * tens) << 8)
}

/// Returns the eight upper-case hexadecimal digits of a number.
#[inline]
pub(super) fn eight_hexadecimal(value: u32) -> [u8; 8] {
    // Spread the nibbles to bytes, the most significant one first in memory.
    let spread = u64::from(value);
    let spread = ((spread & 0xFFFF) << 32) | (spread >> 16);
    let spread = ((spread & 0x0000_00FF_0000_00FF) << 16) | ((spread >> 8) & 0x0000_00FF_0000_00FF);
    let nibbles = ((spread & 0x000F_000F_000F_000F) << 8) | ((spread >> 4) & 0x000F_000F_000F_000F);
    // Adding 6 to a nibble carries into bit 4 if the nibble is at least 10. Such nibbles become
    // letters.
    let letters = ((nibbles + 0x0606_0606_0606_0606) >> 4) & 0x0101_0101_0101_0101;
    (nibbles + ASCII_ZEROS + letters * 7).to_le_bytes()
}
