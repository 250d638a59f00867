//! Converts numbers that grow slowly from line to line, such as times. This is fast because their
//! first digits are kept as text.

use super::{Reservation, ShortText};

/// The leading digits of a range of numbers that begins at `from`.
#[derive(Debug)]
struct CachedPrefix {
    from: u64,
    text: ShortText,
}

impl CachedPrefix {
    /// Returns the digits for numbers that begin at 0.
    fn new(text: &str) -> Self {
        Self { from: 0, text: ShortText::new(text).unwrap_or(ShortText::EMPTY) }
    }

    /// Returns `value - from`. First updates `from` and the digits if they do not fit the value.
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

/// Appends numbers in decimal, each slightly larger than the previous one.
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
    pub fn put<'a>(&mut self, room: Reservation<'a>, value: u64) -> Reservation<'a> {
        const UNIT: u64 = 100_000_000;
        if value < UNIT {
            return room.decimal(value);
        }
        let rest = self.0.rest(value, UNIT, |first| first.to_string());
        room.short(&self.0.text).eight(rest)
    }
}

/// Appends nanoseconds as seconds with nine decimals, right-aligned in a field.
#[derive(Debug)]
pub struct Seconds {
    prefix: CachedPrefix,
    width: usize,
}

impl Seconds {
    /// Prepares a field of `width` characters. A longer number is not cut.
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
    pub fn put<'a>(&mut self, room: Reservation<'a>, nanoseconds: u64) -> Reservation<'a> {
        let width = self.width;
        let rest =
            self.prefix.rest(nanoseconds, 1_000_000_000, |seconds| format!("{seconds:>width$}."));
        room.short(&self.prefix.text).nine(rest)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::TextBuffer;

    proptest! {
        #[test]
        fn numbers_are_written_as_the_standard_library_writes_them(
            start: u64,
            shift in 0..64,
            steps in prop::collection::vec(-2_000_000_000..2_000_000_000_i64, 1..20),
            width in 0..20_usize,
        ) {
            let (mut growing, mut seconds) = (IncrementalDecimal::default(), Seconds::new(width));
            let (mut out, mut expected) = (TextBuffer::default(), String::new());
            let mut value: u64 = start >> shift;
            for step in [0].into_iter().chain(steps) {
                value = value.saturating_add_signed(step);
                let room = growing.put(out.room(3 * Reservation::NUMBER), value).byte(b'\n');
                seconds.put(room, value).byte(b'\n').done();
                let text = format!("{}.{:09}", value / 1_000_000_000, value % 1_000_000_000);
                expected += &format!("{value}\n{text:>width$}\n");
            }
            prop_assert_eq!(std::str::from_utf8(out.as_bytes()), Ok(expected.as_str()));
        }
    }
}
