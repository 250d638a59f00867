//! A text buffer with fast appends.
//!
//! A line consists of about forty short strings. To copy a few bytes with their exact length, the
//! compiler calls a function, which takes longer than the copy. So short strings are copied in
//! blocks of fixed size, with a load and a store. The end moves by the actual length, and the next
//! string overwrites the excess. Numbers are converted eight digits at a time in one register.

use std::borrow::Cow;

use super::conversion::{ASCII_ZEROS, DIGIT_BITS, eight_digits, eight_hexadecimal, length};
use super::literal::{BLANKS, BLOCK, Literal, ShortText};

/// A growing string.
///
/// ```
/// use tracewell::text::TextBuffer;
///
/// let mut line = TextBuffer::default();
/// line.right(7, 4);
/// line.text(" ticks, ");
/// line.hexadecimal(0xBEEF, 8);
/// assert_eq!(line.as_bytes(), b"   7 ticks, 0000BEEF");
/// ```
#[derive(Debug)]
pub struct TextBuffer {
    bytes: Vec<u8>,
    end: usize,
}

/// Bytes reserved for a 64-bit number, in whole blocks.
const NUMBER: usize = BLOCK;

impl Default for TextBuffer {
    fn default() -> Self {
        Self { bytes: vec![0; 1024], end: 0 }
    }
}

impl TextBuffer {
    /// Creates a buffer for a short text of about `length` bytes. It grows if the text is longer.
    pub(crate) fn with_room(length: usize) -> Self {
        Self { bytes: vec![0; length + BLOCK], end: 0 }
    }

    /// Returns the text so far.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.end]
    }

    /// Returns the text so far. Bytes that are not UTF-8 become U+FFFD. The functions that append
    /// strings of a trace escape such bytes.
    ///
    /// ```
    /// use tracewell::text::TextBuffer;
    ///
    /// let mut line = TextBuffer::default();
    /// line.text("id ");
    /// line.byte(0xFF);
    /// assert_eq!(line.as_text(), "id \u{FFFD}");
    /// ```
    pub fn as_text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(self.as_bytes())
    }

    /// Returns the length of the text so far, in bytes.
    #[inline]
    pub fn len(&self) -> usize {
        self.end
    }

    /// Returns true if the buffer is empty.
    pub fn is_empty(&self) -> bool {
        self.end == 0
    }

    /// Cuts the text to `length` bytes. Does nothing if it is shorter.
    pub fn truncate(&mut self, length: usize) {
        self.end = self.end.min(length);
    }

    /// Reserves `room` bytes after the text for several strings; see [`Reservation`].
    #[inline(always)]
    pub fn room(&mut self, room: usize) -> Reservation<'_> {
        if self.bytes.len() < self.end + room + BLOCK {
            self.grow(room + BLOCK);
        }
        let length = self.bytes.len();
        Reservation { rest: &mut self.bytes[self.end..], length, end: &mut self.end }
    }

    #[cold]
    fn grow(&mut self, more: usize) {
        self.bytes.resize(2 * self.bytes.len() + more, 0);
    }

    /// Appends one byte of any value.
    #[inline]
    pub fn byte(&mut self, byte: u8) {
        self.room(1).byte(byte).done();
    }

    /// Appends text; it is not escaped.
    #[inline]
    pub fn text(&mut self, text: impl AsRef<[u8]>) {
        let text = text.as_ref();
        self.room(text.len()).text(text).done();
    }

    /// Appends a prepared text.
    #[inline]
    pub fn literal(&mut self, literal: &Literal) {
        self.room(literal.length).literal(literal).done();
    }

    /// Appends as many blanks as `count` says.
    #[inline]
    pub fn blanks(&mut self, count: usize) {
        self.room(count).blanks(count).done();
    }

    /// Appends a number in decimal.
    #[inline]
    pub fn decimal(&mut self, value: u64) {
        self.room(NUMBER).decimal(value).done();
    }

    /// Appends a number in decimal, right-aligned in a field; a longer number is not cut.
    #[inline]
    pub fn right(&mut self, value: u64, width: usize) {
        self.room(NUMBER + width).right(value, width).done();
    }

    /// Appends a number in upper-case hexadecimal with 8 or 16 digits, without `0x`.
    #[inline]
    pub fn hexadecimal(&mut self, value: u64, digits: usize) {
        self.room(NUMBER).hexadecimal(value, digits).done();
    }

    /// Appends nanoseconds as seconds with nine decimals, right-aligned in a field.
    #[inline]
    pub fn seconds(&mut self, nanoseconds: u64, width: usize) {
        self.room(NUMBER + width).seconds(nanoseconds, width).done();
    }

    /// Returns true if any byte at or after `start` is special. `special` must return false for a
    /// space.
    #[inline]
    pub fn any_from(&mut self, start: usize, special: impl Fn(u8) -> bool) -> bool {
        // The compiler vectorises loops over blocks of fixed size, so the last block is filled with
        // spaces. The spaces are after the end of the text and do not become part of it.
        self.room(BLOCK).put(BLANKS, 0);
        let end = start + (self.end - start).next_multiple_of(BLOCK);
        let (blocks, _) = self.bytes[start..end].as_chunks::<BLOCK>();
        blocks.iter().flatten().fold(false, |any, &byte| any | special(byte))
    }

    /// Removes spaces from the end.
    #[inline]
    pub fn trim_end(&mut self) {
        while self.end > 0 && self.bytes[self.end - 1] == b' ' {
            self.end -= 1;
        }
    }
}

/// Appends formatted text without an intermediate string.
///
/// ```
/// use tracewell::text::{TextBuffer, put};
///
/// let mut line = TextBuffer::default();
/// put(&mut line, format_args!("{:.1} %", 12.5));
/// assert_eq!(line.as_bytes(), b"12.5 %");
/// ```
pub fn put(out: &mut TextBuffer, text: std::fmt::Arguments<'_>) {
    // Appending to memory does not fail.
    let _ = std::fmt::Write::write_fmt(out, text);
}

/// Lets `write!` append without an intermediate string.
impl std::fmt::Write for TextBuffer {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.text(text);
        Ok(())
    }
}

/// Reserved space for several strings.
///
/// The position of the next string remains in a register while strings are appended. Without a
/// reservation, each append would load and store the position in the buffer, which takes longer
/// than the copy. Appending more than the reserved number of bytes panics. [`Reservation::done`]
/// makes the strings part of the text.
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
    rest: &'a mut [u8],
    /// Length of the buffer in bytes.
    length: usize,
    end: &'a mut usize,
}

impl Reservation<'_> {
    /// Number of bytes to reserve for a number.
    pub const NUMBER: usize = NUMBER;

    /// Makes the appended strings part of the text.
    #[inline(always)]
    pub fn done(self) {
        *self.end = self.length - self.rest.len();
    }

    #[inline(always)]
    fn put<const N: usize>(&mut self, block: [u8; N], length: usize) {
        self.rest[..N].copy_from_slice(&block);
        self.advance(length);
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
        self.put(text.block, usize::from(text.length));
        self
    }

    /// Appends as many blanks as `count` says.
    #[inline(always)]
    pub fn blanks(mut self, mut count: usize) -> Self {
        // The copy after the loop adds the remaining blanks, up to a whole block.
        while count > BLOCK {
            self.put(BLANKS, BLOCK);
            count -= BLOCK;
        }
        self.put(BLANKS, count);
        self
    }

    /// Appends a number in decimal.
    #[inline(always)]
    pub fn decimal(mut self, value: u64) -> Self {
        // Most numbers of a report are small: cores, enumerations, counts.
        if value < 10 {
            self.put([b'0' + value as u8], 1);
        } else if value < 100_000_000 {
            let length = length(value);
            let digits = eight_digits(value) | ASCII_ZEROS;
            self.put((digits >> (64 - 8 * length)).to_le_bytes(), length);
        } else if value < 10_000_000_000 {
            // Ticks of long traces have one or two digits before the last eight.
            let high = (value / 100_000_000) as u8;
            let two = u16::from_le_bytes([b'0' + high / 10, b'0' + high % 10]);
            let length = 1 + usize::from(high >= 10);
            self.put((two >> (16 - 8 * length)).to_le_bytes(), length);
            return self.eight(value % 100_000_000);
        } else {
            let length = put_long(self.rest, value);
            self.advance(length);
        }
        self
    }

    /// Appends nine digits of a number below 10^9.
    #[inline(always)]
    pub(super) fn nine(self, value: u64) -> Self {
        self.byte(b'0' + (value / 100_000_000) as u8).eight(value % 100_000_000)
    }

    /// Appends eight digits of a number below 10^8.
    #[inline(always)]
    pub(super) fn eight(mut self, value: u64) -> Self {
        self.put((eight_digits(value) | ASCII_ZEROS).to_le_bytes(), 8);
        self
    }

    /// Appends a number in decimal, right-aligned in a field; a longer number is not cut.
    #[inline(always)]
    pub fn right(mut self, value: u64, width: usize) -> Self {
        // Numbers in common columns have at most eight digits. Larger numbers take the slower path.
        let length = if value < 100_000_000 { length(value) } else { usize::MAX };
        if length > width || width > 8 + BLOCK {
            let length = put_wide(self.rest, value, width);
            self.advance(length);
            return self;
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
        self
    }

    /// Appends a point and three digits of a number below 1000.
    #[inline(always)]
    pub fn thousandths(mut self, value: u64) -> Self {
        let (hundreds, rest) = (value / 100, value % 100);
        let digits = [hundreds, rest / 10, rest % 10].map(|digit| b'0' + digit as u8);
        self.put([b'.', digits[0], digits[1], digits[2]], 4);
        self
    }

    /// Appends a number in upper-case hexadecimal with 8 or 16 digits, without `0x`.
    #[inline(always)]
    pub fn hexadecimal(mut self, value: u64, digits: usize) -> Self {
        if digits > 8 {
            self.put(eight_hexadecimal((value >> 32) as u32), 8);
        }
        self.put(eight_hexadecimal(value as u32), 8);
        self
    }

    /// Appends the low `bytes` (1 to 8) of a number in upper-case hexadecimal, two digits each.
    #[inline(always)]
    pub fn hexadecimal_bytes(mut self, value: u64, bytes: usize) -> Self {
        // The wanted digits are at the start of the block. The next string overwrites the other
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

    /// Fills a field with at least one space. `before` is the length that `rest` had at the start
    /// of the field.
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

/// Writes a number of more than ten digits to the start of `rest` and returns its length.
///
/// The function takes `rest` instead of the [`Reservation`]. If it took the reservation, the
/// compiler would have to keep the reservation in memory.
#[inline(never)]
fn put_long(rest: &mut [u8], value: u64) -> usize {
    let (length, mut end) = (rest.len(), 0);
    let room = Reservation { rest, length, end: &mut end };
    room.decimal(value / 100_000_000).eight(value % 100_000_000).done();
    end
}

/// Writes a number right-aligned in a wide field, or a number that does not fit; see [`put_long`].
#[cold]
fn put_wide(rest: &mut [u8], value: u64, width: usize) -> usize {
    let digits = value.checked_ilog10().unwrap_or(0) as usize + 1;
    let (length, mut end) = (rest.len(), 0);
    let room = Reservation { rest, length, end: &mut end };
    room.blanks(width.saturating_sub(digits)).decimal(value).done();
    end
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(put: impl Fn(&mut TextBuffer)) -> String {
        let mut buffer = TextBuffer::default();
        put(&mut buffer);
        String::from_utf8(buffer.as_bytes().to_vec()).unwrap()
    }

    #[test]
    fn fields_are_as_wide_as_asked_and_never_cut() {
        assert_eq!(text(|b| b.right(42, 5)), "   42");
        assert_eq!(text(|b| b.right(0, 8)), "       0");
        assert_eq!(text(|b| b.right(123_456_789, 3)), "123456789");
        assert_eq!(text(|b| b.blanks(77)), " ".repeat(77));
        assert_eq!(text(|b| b.literal(&Literal::padded("a\u{e4}", 4))), "a\u{e4}  ");
    }

    #[test]
    fn long_literals_are_whole_and_short_ones_leave_no_trace() {
        let long = "x".repeat(100);
        assert_eq!(text(|b| b.literal(&Literal::new(&long))), long);
        let short = |b: &mut TextBuffer| {
            b.literal(&Literal::new("ab"));
            b.byte(b'c');
        };
        assert_eq!(text(short), "abc");
    }

    #[test]
    fn the_buffer_grows() {
        let many = |b: &mut TextBuffer| (0..5000).for_each(|_| b.decimal(1));
        assert_eq!(text(many), "1".repeat(5000));
    }

    proptest! {
        #[test]
        fn numbers_are_written_as_the_standard_library_writes_them(
            value: u64, shift in 0..64, width in 0..40_usize,
        ) {
            let value = value >> shift;
            prop_assert_eq!(text(|b| b.decimal(value)), value.to_string());
            prop_assert_eq!(text(|b| b.right(value, width)), format!("{value:>width$}"));
            prop_assert_eq!(text(|b| b.hexadecimal(value, 16)), format!("{value:016X}"));
            let low = value as u32;
            prop_assert_eq!(text(|b| b.hexadecimal(value, 8)), format!("{low:08X}"));
            for bytes in 1..=8 {
                let room = Reservation::NUMBER;
                let shown = text(|b| b.room(room).hexadecimal_bytes(value, bytes).done());
                let low = value & (u64::MAX >> (64 - 8 * bytes));
                prop_assert_eq!(shown, format!("{low:0width$X}", width = 2 * bytes));
            }
            let signed = value as i64;
            let shown = text(|b| b.room(Reservation::NUMBER).signed(signed).done());
            prop_assert_eq!(shown, signed.to_string());
            let seconds = format!("{}.{:09}", value / 1_000_000_000, value % 1_000_000_000);
            prop_assert_eq!(text(|b| b.seconds(value, width)), format!("{seconds:>width$}"));
        }
    }
}
