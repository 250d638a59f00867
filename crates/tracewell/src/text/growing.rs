//! Numbers that grow by little from one line to the next, such as times: of those most digits stay, and are kept
//! as text.

use super::{Room, ShortText};

/// What is kept: the first digits of numbers from `from` on.
#[derive(Debug)]
struct Kept {
    from: u64,
    text: ShortText,
}

impl Kept {
    /// Of the numbers from 0 on.
    fn new(text: &str) -> Self {
        Self { from: 0, text: ShortText::new(text).unwrap_or(ShortText::EMPTY) }
    }

    /// How far a number is behind the first whose first digits are kept, which are renewed where it has others.
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

/// Appends a number in decimal again and again.
#[derive(Debug)]
pub struct Growing(Kept);

impl Default for Growing {
    fn default() -> Self {
        Self(Kept::new(""))
    }
}

impl Growing {
    /// Appends it.
    #[inline(always)]
    pub fn put<'a>(&mut self, room: Room<'a>, value: u64) -> Room<'a> {
        const UNIT: u64 = 100_000_000;
        if value < UNIT {
            return room.decimal(value);
        }
        let rest = self.0.rest(value, UNIT, |first| first.to_string());
        room.short(&self.0.text).eight(rest)
    }
}

/// Appends nanoseconds as seconds with nine decimals again and again, right-aligned in a field.
#[derive(Debug)]
pub struct Seconds {
    kept: Kept,
    width: usize,
}

impl Seconds {
    /// For a field of so many characters; a longer number is not cut.
    ///
    /// # Panics
    /// Where it is wider than 31 characters.
    pub fn new(width: usize) -> Self {
        assert!(width < ShortText::MOST, "a text that is kept is not so long");
        let width = width.saturating_sub(10);
        Self { kept: Kept::new(&format!("{:>width$}.", 0)), width }
    }

    /// Appends them.
    #[inline(always)]
    pub fn put<'a>(&mut self, room: Room<'a>, nanoseconds: u64) -> Room<'a> {
        let width = self.width;
        let rest =
            self.kept.rest(nanoseconds, 1_000_000_000, |seconds| format!("{seconds:>width$}."));
        room.short(&self.kept.text).nine(rest)
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
            start: u64, shift in 0..64, steps in prop::collection::vec(-2_000_000_000..2_000_000_000_i64, 1..20),
            width in 0..20_usize,
        ) {
            let (mut growing, mut seconds) = (Growing::default(), Seconds::new(width));
            let (mut out, mut expected) = (TextBuffer::default(), String::new());
            let mut value: u64 = start >> shift;
            for step in [0].into_iter().chain(steps) {
                value = value.saturating_add_signed(step);
                let room = growing.put(out.room(3 * Room::NUMBER), value).byte(b'\n');
                seconds.put(room, value).byte(b'\n').done();
                let text = format!("{}.{:09}", value / 1_000_000_000, value % 1_000_000_000);
                expected += &format!("{value}\n{text:>width$}\n");
            }
            prop_assert_eq!(std::str::from_utf8(out.as_bytes()), Ok(expected.as_str()));
        }
    }
}
