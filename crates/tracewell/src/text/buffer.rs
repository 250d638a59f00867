//! A text buffer with fast appends.
//!
//! A line consists of about forty short strings. `blocks` describes how these strings are copied.
//! `reservation` and `window` reserve space for several strings.

use std::borrow::Cow;

use super::Reservation;
use super::blocks::Blocks;
use super::literal::{BLANKS, BLOCK, Literal};
use super::window::{LineWindow, WINDOW};

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

/// Number of bytes that are reserved for a 64-bit number.
const NUMBER: usize = Reservation::NUMBER;

/// Initial number of bytes of a buffer that `default` creates.
const MIN_CAPACITY: usize = 1024;

impl Default for TextBuffer {
    fn default() -> Self {
        Self { bytes: vec![0; MIN_CAPACITY], end: 0 }
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

    /// Returns the text so far. Bytes that are not UTF-8 become U+FFFD. The functions that append a
    /// trace's strings escape such bytes.
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

    /// Returns the first `N` bytes of the buffer. `N` is at most 1024, the initial size of a
    /// default buffer. Bytes after the text can have any value.
    #[inline(always)]
    pub(super) fn first_block<const N: usize>(&self) -> &[u8; N] {
        const { assert!(N <= MIN_CAPACITY) };
        let block = self.bytes.first_chunk();
        block.unwrap_or_else(|| unreachable!("the buffer never becomes smaller"))
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

    /// Reserves a window of fixed size after the text for a line; see [`LineWindow`].
    #[inline(always)]
    pub(crate) fn window(&mut self) -> LineWindow<'_> {
        if self.bytes.len() < self.end + WINDOW {
            self.grow(WINDOW);
        }
        let rest = self.bytes.get_mut(self.end..).and_then(<[u8]>::first_chunk_mut);
        let Some(window) = rest else { unreachable!("the buffer has room for a window") };
        LineWindow::new(window, &mut self.end)
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

    /// Appends `count` blanks. Allocates memory if the buffer is full.
    #[inline]
    pub fn blanks(&mut self, count: usize) {
        self.room(count).blanks(count).done();
    }

    /// Appends a number in decimal.
    #[inline]
    pub fn decimal(&mut self, value: u64) {
        self.room(NUMBER).decimal(value).done();
    }

    /// Appends a number in decimal, right-aligned in a field of `width` characters. A number that
    /// is longer than the field is not cut.
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
