//! Appends numbers and short strings to a text. The trait [`Blocks`] adds these functions to any
//! type that can copy blocks of fixed size.
//!
//! If the length of a copy is not constant, the compiler calls a function. For a few bytes, the
//! call takes longer than the copy. So strings are copied in blocks of fixed size, each with a load
//! and a store. The end advances only by the actual length, so the next string overwrites the rest
//! of the block. Numbers are converted eight digits at a time in one register.

use super::conversion::{ASCII_ZEROS, DIGIT_BITS, eight_digits, eight_hexadecimal, length};
use super::literal::{BLANKS, BLOCK, ShortText};

/// Numbers of at least this value have more than eight digits.
const NINE_DIGITS: u64 = 100_000_000;

/// The free space after a text. The functions for numbers are always inlined, so that the write
/// position remains in a register.
pub(super) trait Blocks {
    /// Copies a block. Its first `length` bytes, at most `N`, become part of the text.
    fn put<const N: usize>(&mut self, block: [u8; N], length: usize);

    /// Appends a short text.
    #[inline(always)]
    fn put_short(&mut self, text: &ShortText) {
        self.put(text.block, usize::from(text.length));
    }

    /// Appends `count` blanks.
    #[inline(always)]
    fn put_blanks(&mut self, mut count: usize) {
        // The copy after the loop adds the remaining blanks, at most a whole block.
        while count > BLOCK {
            self.put(BLANKS, BLOCK);
            count -= BLOCK;
        }
        self.put(BLANKS, count);
    }

    /// Appends a number in decimal.
    #[inline(always)]
    fn put_decimal(&mut self, value: u64) {
        // Most numbers in a report are small: cores, enumerations, counts.
        if value < 10 {
            self.put([b'0' + value as u8], 1);
        } else if value < NINE_DIGITS {
            let length = length(value);
            let digits = eight_digits(value) | ASCII_ZEROS;
            self.put((digits >> (64 - 8 * length)).to_le_bytes(), length);
        } else if value < 10_000_000_000 {
            // Ticks of long traces have nine or ten digits.
            let high = (value / NINE_DIGITS) as u8;
            let two = u16::from_le_bytes([b'0' + high / 10, b'0' + high % 10]);
            let length = 1 + usize::from(high >= 10);
            self.put((two >> (16 - 8 * length)).to_le_bytes(), length);
            self.put_eight(value % NINE_DIGITS);
        } else {
            let (digits, length) = long_decimal(value);
            self.put(digits, length);
        }
    }

    /// Appends two digits of a number below 100.
    #[inline(always)]
    fn put_two(&mut self, value: u64) {
        self.put([b'0' + (value / 10) as u8, b'0' + (value % 10) as u8], 2);
    }

    /// Appends eight digits of a number below 10^8.
    #[inline(always)]
    fn put_eight(&mut self, value: u64) {
        self.put((eight_digits(value) | ASCII_ZEROS).to_le_bytes(), 8);
    }

    /// Appends nine digits of a number below 10^9.
    #[inline(always)]
    fn put_nine(&mut self, value: u64) {
        self.put([b'0' + (value / NINE_DIGITS) as u8], 1);
        self.put_eight(value % NINE_DIGITS);
    }

    /// Appends a number in decimal, right-aligned in a field of `width` characters. A number that
    /// is longer than the field is not cut.
    #[inline(always)]
    fn put_right(&mut self, value: u64, width: usize) {
        // Numbers in common columns have at most eight digits.
        let length = if value < NINE_DIGITS { length(value) } else { usize::MAX };
        if length > width || width > 8 + BLOCK {
            let digits = value.checked_ilog10().unwrap_or(0) as usize + 1;
            self.put_blanks(width.saturating_sub(digits));
            return self.put_decimal(value);
        }
        // Clearing one bit turns leading zeros into spaces: a space is 0x20, '0' is 0x30.
        let leading = (1_u64 << (64 - 8 * length)) - 1;
        let text = (eight_digits(value) | ASCII_ZEROS) & !(leading & DIGIT_BITS);
        if width < 8 {
            self.put((text >> (64 - 8 * width)).to_le_bytes(), width);
        } else {
            self.put(BLANKS, width - 8);
            self.put(text.to_le_bytes(), 8);
        }
    }

    /// Appends a point and a number below 1000, as three digits.
    #[inline(always)]
    fn put_thousandths(&mut self, value: u64) {
        let (hundreds, rest) = (value / 100, value % 100);
        let digits = [hundreds, rest / 10, rest % 10].map(|digit| b'0' + digit as u8);
        self.put([b'.', digits[0], digits[1], digits[2]], 4);
    }

    /// Appends a number in upper-case hexadecimal with 8 or 16 digits, without `0x`.
    #[inline(always)]
    fn put_hexadecimal(&mut self, value: u64, digits: usize) {
        if digits > 8 {
            self.put(eight_hexadecimal((value >> 32) as u32), 8);
        }
        self.put(eight_hexadecimal(value as u32), 8);
    }
}

/// Returns the digits of a number that has 9 to 20 digits, and the number of digits.
///
/// The function returns a block instead of appending it. If the function took the space as an
/// argument, the compiler would have to keep the write position in memory.
#[inline(never)]
fn long_decimal(value: u64) -> ([u8; BLOCK], usize) {
    // Three parts of eight digits are enough for the 20 digits of 64 bits.
    let parts = [value / (NINE_DIGITS * NINE_DIGITS), value / NINE_DIGITS, value];
    let [high, middle, low] = parts.map(|part| eight_digits(part % NINE_DIGITS) | ASCII_ZEROS);
    let mut all = [b'0'; 3 * 8];
    for (place, digits) in all.chunks_exact_mut(8).zip([high, middle, low]) {
        place.copy_from_slice(&digits.to_le_bytes());
    }
    let length = value.checked_ilog10().unwrap_or(0) as usize + 1;
    let mut block = BLANKS;
    block[..length].copy_from_slice(&all[all.len() - length..]);
    (block, length)
}
