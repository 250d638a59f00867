//! Converts numbers that grow slowly from line to line, such as times. This is fast because their
//! first digits are kept as text.

use super::blocks::Blocks;
use super::{LineWindow, Reservation, ShortText};

/// The leading digits that all numbers in a range share; the range begins at `from`.
#[derive(Debug)]
struct CachedPrefix {
    from: u64,
    text: ShortText,
}

impl CachedPrefix {
    /// Returns a prefix for numbers from 0 on.
    fn new(text: &str) -> Self {
        Self { from: 0, text: ShortText::new(text).unwrap_or(ShortText::EMPTY) }
    }

    /// Returns `value - from`. If `from` and the digits do not fit the value, updates them first.
    #[inline(always)]
    fn rest(&mut self, value: u64, unit: u64, text: impl FnOnce(u64) -> String) -> u64 {
        if value.wrapping_sub(self.from) >= unit {
            self.renew(value, unit, text);
        }
        value - self.from
    }

    #[cold]
    fn renew(&mut self, value: u64, unit: u64, text: impl FnOnce(u64) -> String) {
        *self = Self { from: value - value % unit, ..Self::new(&text(value / unit)) };
    }
}

/// Appends numbers in decimal, each slightly larger than the previous number.
#[derive(Debug)]
pub struct IncrementalDecimal(CachedPrefix);

impl Default for IncrementalDecimal {
    fn default() -> Self {
        Self(CachedPrefix::new(""))
    }
}

impl IncrementalDecimal {
    /// Appends a number in decimal. Numbers may come in any order, but ascending numbers are
    /// fastest.
    #[inline(always)]
    pub fn put<'a>(&mut self, mut room: Reservation<'a>, value: u64) -> Reservation<'a> {
        self.put_blocks(&mut room, value);
        room
    }

    /// Like [`IncrementalDecimal::put`], for a line of limited length.
    #[inline(always)]
    pub(crate) fn put_line(&mut self, line: &mut LineWindow<'_>, value: u64) {
        self.put_blocks(line, value);
    }

    #[inline(always)]
    fn put_blocks(&mut self, space: &mut impl Blocks, value: u64) {
        if value < EIGHT_DIGITS {
            return space.put_decimal(value);
        }
        let rest = self.0.rest(value, EIGHT_DIGITS, |first| first.to_string());
        space.put_short(&self.0.text);
        space.put_eight(rest);
    }
}

/// Number of values that eight digits can represent.
const EIGHT_DIGITS: u64 = 100_000_000;

/// Appends numbers right-aligned in a field. Each number should be slightly larger than the
/// previous number. With a width of 0, they are not aligned. For each number, only the last
/// `DIGITS` digits, two or eight, are converted.
#[derive(Debug)]
pub(crate) struct IncrementalRight<const DIGITS: u32> {
    prefix: CachedPrefix,
    width: usize,
}

impl<const DIGITS: u32> IncrementalRight<DIGITS> {
    /// Prepares a field of `width` characters, at most 20. A number that is longer than the field
    /// is not cut.
    pub(crate) fn new(width: usize) -> Self {
        Self { prefix: CachedPrefix::new(""), width }
    }

    /// Appends a number right-aligned in the field.
    #[inline(always)]
    pub(crate) fn put(&mut self, line: &mut LineWindow<'_>, value: u64) {
        let unit = const { 10_u64.pow(DIGITS) };
        if value < unit {
            return line.put_right(value, self.width);
        }
        let width = self.width.saturating_sub(DIGITS as usize);
        let rest = self.prefix.rest(value, unit, |first| format!("{first:>width$}"));
        line.short(&self.prefix.text);
        if DIGITS == 2 {
            line.put_two(rest);
        } else {
            line.put_eight(rest);
        }
    }
}

/// Appends nanoseconds as seconds with nine decimals, right-aligned in a field.
#[derive(Debug)]
pub struct Seconds {
    prefix: CachedPrefix,
    width: usize,
}

impl Seconds {
    /// Prepares a field of `width` characters. A number that is longer than the field is not cut.
    ///
    /// # Panics
    /// Panics if the field is wider than 31 characters.
    pub fn new(width: usize) -> Self {
        assert!(width < ShortText::MAX_LEN, "the field is too wide");
        let width = width.saturating_sub(10);
        Self { prefix: CachedPrefix::new(&format!("{:>width$}.", 0)), width }
    }

    /// Appends a time in nanoseconds as seconds, right-aligned in the field.
    #[inline(always)]
    pub fn put<'a>(&mut self, mut room: Reservation<'a>, nanoseconds: u64) -> Reservation<'a> {
        self.put_blocks(&mut room, nanoseconds);
        room
    }

    /// Like [`Seconds::put`], for a line of limited length.
    #[inline(always)]
    pub(crate) fn put_line(&mut self, line: &mut LineWindow<'_>, nanoseconds: u64) {
        self.put_blocks(line, nanoseconds);
    }

    #[inline(always)]
    fn put_blocks(&mut self, space: &mut impl Blocks, nanoseconds: u64) {
        let width = self.width;
        let rest =
            self.prefix.rest(nanoseconds, 1_000_000_000, |seconds| format!("{seconds:>width$}."));
        space.put_short(&self.prefix.text);
        space.put_nine(rest);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::TextBuffer;

    fn eight_digits(width: usize) -> IncrementalRight<8> {
        IncrementalRight::new(width)
    }

    proptest! {
        #[test]
        fn numbers_are_written_as_the_standard_library_writes_them(
            start: u64,
            shift in 0..64,
            steps in prop::collection::vec(-2_000_000_000..2_000_000_000_i64, 1..20),
            width in 0..20_usize,
        ) {
            let (mut growing, mut seconds) = (IncrementalDecimal::default(), Seconds::new(width));
            let (mut two, mut eight) = (IncrementalRight::<2>::new(width), eight_digits(width));
            let (mut out, mut expected) = (TextBuffer::default(), String::new());
            let mut value: u64 = start >> shift;
            for step in [0].into_iter().chain(steps) {
                value = value.saturating_add_signed(step);
                let room = growing.put(out.room(3 * Reservation::NUMBER), value).byte(b'\n');
                seconds.put(room, value).byte(b'\n').done();
                let text = format!("{}.{:09}", value / 1_000_000_000, value % 1_000_000_000);
                let mut line = out.window();
                two.put(&mut line, value);
                eight.put(&mut line, value);
                growing.put_line(&mut line, value);
                seconds.put_line(&mut line, value);
                line.done();
                expected += &format!("{value}\n{text:>width$}\n");
                expected += &format!("{value:>width$}{value:>width$}{value}{text:>width$}");
            }
            prop_assert_eq!(std::str::from_utf8(out.as_bytes()), Ok(expected.as_str()));
        }
    }
}
