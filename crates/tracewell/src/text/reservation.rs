//! Space that is reserved once for several strings.

use super::blocks::Blocks;
use super::conversion::{ASCII_ZEROS, eight_digits, eight_hexadecimal};
use super::literal::{BLOCK, Literal, ShortText};

/// Reserved space for several strings.
///
/// The position of the next string remains in a register while strings are appended. Without a
/// reservation, each append would load and store the position in the buffer, which takes longer
/// than the copy. Appending more than the reserved number of bytes panics. The strings become part
/// of the text when [`Reservation::done`] is called.
///
/// ```
/// use tracewell::text::{Reservation, TextBuffer};
///
/// let mut line = TextBuffer::default();
/// let reserved = line.room(4 + 2 * Reservation::NUMBER);
/// reserved.text(b"cpu ").decimal(1).byte(b' ').right(350, 6).done();
/// assert_eq!(line.as_bytes(), b"cpu 1    350");
/// ```
#[derive(Debug)]
#[must_use = "nothing is appended before `done`"]
pub struct Reservation<'a> {
    pub(super) rest: &'a mut [u8],
    /// Length of the buffer in bytes.
    pub(super) length: usize,
    pub(super) end: &'a mut usize,
}

impl Blocks for Reservation<'_> {
    #[inline(always)]
    fn put<const N: usize>(&mut self, block: [u8; N], length: usize) {
        self.rest[..N].copy_from_slice(&block);
        self.advance(length);
    }
}

impl Reservation<'_> {
    /// Number of bytes to reserve for a number, rounded up to whole blocks.
    pub const NUMBER: usize = BLOCK;

    /// Ends the reservation. The appended strings are then part of the text.
    #[inline(always)]
    pub fn done(self) {
        *self.end = self.length - self.rest.len();
    }

    #[inline(always)]
    fn advance(&mut self, length: usize) {
        self.rest = &mut std::mem::take(&mut self.rest)[length..];
    }

    /// Appends one byte of any value.
    #[inline(always)]
    pub fn byte(mut self, byte: u8) -> Self {
        self.put([byte], 1);
        self
    }

    /// Appends text; it is not escaped.
    #[inline(always)]
    pub fn text(mut self, text: &[u8]) -> Self {
        self.rest[..text.len()].copy_from_slice(text);
        self.advance(text.len());
        self
    }

    /// Appends a prepared text.
    #[inline(always)]
    pub fn literal(mut self, literal: &Literal) -> Self {
        self.put(literal.head, literal.length.min(BLOCK));
        if literal.length > BLOCK { self.text(&literal.rest) } else { self }
    }

    /// Appends a short text.
    #[inline(always)]
    pub fn short(mut self, text: &ShortText) -> Self {
        self.put_short(text);
        self
    }

    /// Appends `count` blanks, which must fit into the reserved room.
    #[inline(always)]
    pub fn blanks(mut self, count: usize) -> Self {
        self.put_blanks(count);
        self
    }

    /// Appends a number in decimal.
    #[inline(always)]
    pub fn decimal(mut self, value: u64) -> Self {
        self.put_decimal(value);
        self
    }

    /// Appends nine digits of a number below 10^9.
    #[inline(always)]
    pub(super) fn nine(mut self, value: u64) -> Self {
        self.put_nine(value);
        self
    }

    /// Appends a number in decimal, right-aligned in a field of `width` characters. A number that
    /// is longer than the field is not cut.
    #[inline(always)]
    pub fn right(mut self, value: u64, width: usize) -> Self {
        self.put_right(value, width);
        self
    }

    /// Appends a point and a number below 1000, as three digits.
    #[inline(always)]
    pub fn thousandths(mut self, value: u64) -> Self {
        self.put_thousandths(value);
        self
    }

    /// Appends a number in upper-case hexadecimal with 8 or 16 digits, without `0x`.
    #[inline(always)]
    pub fn hexadecimal(mut self, value: u64, digits: usize) -> Self {
        self.put_hexadecimal(value, digits);
        self
    }

    /// Appends the low bytes of a number in upper-case hexadecimal, two digits each. `bytes` is the
    /// number of these bytes, from 1 to 8.
    #[inline(always)]
    pub fn hexadecimal_bytes(mut self, value: u64, bytes: usize) -> Self {
        // The digits to append are at the start of the block. The next string overwrites the other
        // digits.
        let value = value << (64 - 8 * bytes);
        self.put(eight_hexadecimal((value >> 32) as u32), (2 * bytes).min(8));
        if bytes > 4 {
            self.put(eight_hexadecimal(value as u32), 2 * bytes - 8);
        }
        self
    }

    /// Appends a number in decimal, left-aligned in a field and followed by at least one space.
    #[inline(always)]
    pub fn left(self, value: u64, width: usize) -> Self {
        let before = self.rest.len();
        self.decimal(value).fill(before, width)
    }

    /// Fills the rest of a field with spaces, at least one. `before` is the length that `rest` had
    /// at the start of the field.
    #[inline(always)]
    fn fill(self, before: usize, width: usize) -> Self {
        let used = before - self.rest.len();
        self.blanks(width.saturating_sub(used).max(1))
    }

    /// Appends nanoseconds as seconds with nine decimals, left-aligned in a field.
    #[inline(always)]
    pub fn seconds_left(self, nanoseconds: u64, width: usize) -> Self {
        let before = self.rest.len();
        self.seconds(nanoseconds, 0).fill(before, width)
    }

    /// Appends nanoseconds as milliseconds with six decimals, left-aligned in a field.
    #[inline(always)]
    pub fn milliseconds_left(self, nanoseconds: u64, width: usize) -> Self {
        let before = self.rest.len();
        let mut room = self.decimal(nanoseconds / 1_000_000).byte(b'.');
        // The first two of the eight digits are always 0. The shift drops them.
        let digits = (eight_digits(nanoseconds % 1_000_000) | ASCII_ZEROS) >> 16;
        room.put(digits.to_le_bytes(), 6);
        room.fill(before, width)
    }

    /// Appends a signed number in decimal.
    #[inline(always)]
    pub fn signed(self, value: i64) -> Self {
        let sign = if value < 0 { self.byte(b'-') } else { self };
        sign.decimal(value.unsigned_abs())
    }

    /// Appends nanoseconds as seconds with nine decimals, right-aligned in a field.
    #[inline(always)]
    pub fn seconds(self, nanoseconds: u64, width: usize) -> Self {
        let (seconds, fraction) = (nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000);
        self.right(seconds, width.saturating_sub(10)).byte(b'.').nine(fraction)
    }
}
