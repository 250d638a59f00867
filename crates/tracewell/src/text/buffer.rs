//! A buffer of text that is cheap to append to.
//!
//! A line consists of some forty short pieces, and for pieces of a few bytes the price of an
//! append is a call to copy so many bytes as only the processor knows. So short pieces are copied
//! in whole blocks of fixed size, which are a load and a store, and the end is moved on by their
//! real length; the next piece overwrites what was too much. Numbers are made eight digits at a
//! time in one register.

/// Text that is appended again and again, held in a block that can be copied whole.
#[derive(Clone, Debug)]
pub struct Literal {
    head: [u8; BLOCK],
    /// Bytes of the text, more than a block where it is long.
    length: usize,
    rest: Box<[u8]>,
}

const BLOCK: usize = 32;

impl Literal {
    /// Takes a text of any length; up to 32 bytes are fast.
    pub fn new(text: impl AsRef<[u8]>) -> Self {
        let text = text.as_ref();
        let mut head = [b' '; BLOCK];
        let short = text.len().min(BLOCK);
        head[..short].copy_from_slice(&text[..short]);
        Self { head, length: text.len(), rest: text[short..].into() }
    }

    /// Bytes of the text.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The text from byte `start` on, for where it does not begin as it usually does.
    pub fn tail(&self, start: usize) -> Self {
        let head = self.head.get(..self.length.min(BLOCK)).unwrap_or_default();
        let all = [head, &self.rest].concat();
        Self::new(all.get(start..).unwrap_or_default())
    }

    /// Takes a text and pads it with blanks to a width in characters.
    pub fn padded(text: &str, width: usize) -> Self {
        Self::new(format!("{text:<width$}"))
    }
}

/// A text of at most 32 bytes, held in a block that is copied whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShortText {
    block: [u8; BLOCK],
    length: u8,
}

impl ShortText {
    /// The most bytes of such a text.
    pub const MOST: usize = BLOCK;

    /// No text.
    pub const EMPTY: Self = Self { block: BLANKS, length: 0 };
    /// A blank.
    pub const BLANK: Self = Self { block: BLANKS, length: 1 };

    /// Takes a text; `None` where it is too long.
    pub fn new(text: &str) -> Option<Self> {
        let mut block = [b' '; BLOCK];
        block.get_mut(..text.len())?.copy_from_slice(text.as_bytes());
        Some(Self { block, length: text.len() as u8 })
    }
}

/// A growing text.
#[derive(Debug)]
pub struct TextBuffer {
    bytes: Vec<u8>,
    end: usize,
}

/// Blanks to pad with.
const BLANKS: [u8; BLOCK] = [b' '; BLOCK];

/// The most bytes that a number of 64 bits takes, in whole blocks of what is stored at once.
const NUMBER: usize = BLOCK;

impl Default for TextBuffer {
    fn default() -> Self {
        Self { bytes: vec![0; 1024], end: 0 }
    }
}

impl TextBuffer {
    /// The text so far.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.end]
    }

    /// Bytes of the text so far.
    #[inline]
    pub fn len(&self) -> usize {
        self.end
    }

    /// Whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.end == 0
    }

    /// Drops the text from byte `length` on; nothing happens where it is not that long.
    pub fn truncate(&mut self, length: usize) {
        self.end = self.end.min(length);
    }

    /// Room for `room` bytes of pieces behind the text; see [`Room`].
    #[inline(always)]
    pub fn room(&mut self, room: usize) -> Room<'_> {
        if self.bytes.len() < self.end + room + BLOCK {
            self.grow(room + BLOCK);
        }
        let length = self.bytes.len();
        Room { rest: &mut self.bytes[self.end..], length, end: &mut self.end }
    }

    #[cold]
    fn grow(&mut self, more: usize) {
        self.bytes.resize(2 * self.bytes.len() + more, 0);
    }

    /// Appends one byte.
    #[inline]
    pub fn byte(&mut self, byte: u8) {
        self.room(1).byte(byte).done();
    }

    /// Appends any text.
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

    /// Appends blanks.
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

    /// Whether any byte from `start` on is special; blanks are not.
    #[inline]
    pub fn any_from(&mut self, start: usize, special: impl Fn(u8) -> bool) -> bool {
        // In whole blocks of fixed size the compiler looks at many bytes at once; behind the text are blanks.
        self.room(BLOCK).put(BLANKS, 0);
        let end = start + (self.end - start).next_multiple_of(BLOCK);
        let (blocks, _) = self.bytes[start..end].as_chunks::<BLOCK>();
        blocks.iter().flatten().fold(false, |any, &byte| any | special(byte))
    }

    /// Takes blanks from the end.
    #[inline]
    pub fn trim_end(&mut self) {
        while self.end > 0 && self.bytes[self.end - 1] == b' ' {
            self.end -= 1;
        }
    }
}

/// Appends what `format_args!` makes, without a string in between.
pub fn put(out: &mut TextBuffer, text: std::fmt::Arguments<'_>) {
    // Appending to memory does not fail.
    let _ = std::fmt::Write::write_fmt(out, text);
}

/// So that `write!` appends without a string in between.
impl std::fmt::Write for TextBuffer {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.text(text);
        Ok(())
    }
}

/// Room for several pieces, asked for once.
///
/// Where the next piece goes is kept in a register while pieces are appended: within a buffer it
/// would be stored and loaded for each, which for forty pieces a line takes longer than the pieces.
/// More than the room asked for panics; [`Room::done`] makes the pieces part of the text.
#[derive(Debug)]
#[must_use = "nothing is appended before `done`"]
pub struct Room<'a> {
    rest: &'a mut [u8],
    /// Bytes of the buffer.
    length: usize,
    end: &'a mut usize,
}

impl Room<'_> {
    /// Bytes of room that a number takes.
    pub const NUMBER: usize = NUMBER;

    /// Makes the pieces part of the text.
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

    /// Appends one byte.
    #[inline(always)]
    pub fn byte(mut self, byte: u8) -> Self {
        self.put([byte], 1);
        self
    }

    /// Appends any text.
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

    /// Appends blanks.
    #[inline(always)]
    pub fn blanks(mut self, mut count: usize) -> Self {
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
        if value < 10 {
            self.put([b'0' + value as u8], 1);
        } else if value < 100_000_000 {
            let length = length(value);
            let digits = eight_digits(value) | ASCII_ZEROS;
            self.put((digits >> (64 - 8 * length)).to_le_bytes(), length);
        } else if value < 10_000_000_000 {
            // Ticks of long traces: one or two digits before the last eight.
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
        let length = if value < 100_000_000 { length(value) } else { usize::MAX };
        if length > width || width > 8 + BLOCK {
            let length = put_wide(self.rest, value, width);
            self.advance(length);
            return self;
        }
        // Of leading zeros one bit goes: a blank is 0x20, '0' is 0x30.
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
        // The digits that are wanted stand in front of the block; the next piece covers the others.
        let value = value << (64 - 8 * bytes);
        self.put(eight_hexadecimal((value >> 32) as u32), (2 * bytes).min(8));
        if bytes > 4 {
            self.put(eight_hexadecimal(value as u32), 2 * bytes - 8);
        }
        self
    }

    /// Appends a number in decimal on the left of a field, with a blank behind it at least.
    #[inline(always)]
    pub fn left(self, value: u64, width: usize) -> Self {
        let before = self.rest.len();
        self.decimal(value).fill(before, width)
    }

    /// Fills a field, before which there were so many bytes of room, with blanks, with one at least.
    #[inline(always)]
    fn fill(self, before: usize, width: usize) -> Self {
        let used = before - self.rest.len();
        self.blanks(width.saturating_sub(used).max(1))
    }

    /// Appends nanoseconds as seconds with nine decimals on the left of a field.
    #[inline(always)]
    pub fn seconds_left(self, nanoseconds: u64, width: usize) -> Self {
        let before = self.rest.len();
        self.seconds(nanoseconds, 0).fill(before, width)
    }

    /// Appends nanoseconds as milliseconds with six decimals on the left of a field.
    #[inline(always)]
    pub fn milliseconds_left(self, nanoseconds: u64, width: usize) -> Self {
        let before = self.rest.len();
        let mut room = self.decimal(nanoseconds / 1_000_000).byte(b'.');
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

/// Puts a number of more than ten digits at the beginning of some room; returns how many bytes it takes.
///
/// It is not given the [`Room`] itself, which would have to lie in memory for that.
#[inline(never)]
fn put_long(rest: &mut [u8], value: u64) -> usize {
    let (length, mut end) = (rest.len(), 0);
    let room = Room { rest, length, end: &mut end };
    room.decimal(value / 100_000_000).eight(value % 100_000_000).done();
    end
}

/// Puts a number to the right of a field that is wide, or that it does not fit into, as [`put_long`].
#[cold]
fn put_wide(rest: &mut [u8], value: u64, width: usize) -> usize {
    let digits = value.checked_ilog10().unwrap_or(0) as usize + 1;
    let (length, mut end) = (rest.len(), 0);
    let room = Room { rest, length, end: &mut end };
    room.blanks(width.saturating_sub(digits)).decimal(value).done();
    end
}

const ASCII_ZEROS: u64 = 0x3030_3030_3030_3030;
const DIGIT_BITS: u64 = 0x1010_1010_1010_1010;

/// Decimal digits of a number below 10^8, at least 1.
///
/// Where the next piece goes hangs on this alone, so it is made without the digits, which may then
/// be worked out while the next pieces are under way.
#[inline]
fn length(value: u64) -> usize {
    // A number of so many bits has one of two lengths: the sum carries into the upper half from the
    // power of ten on that divides them.
    let bits = (value as u32 | 1).ilog2() as usize;
    ((value + LENGTHS[bits]) >> 32) as usize
}

/// For numbers whose highest bit is this one.
const LENGTHS: [u64; 32] = {
    let mut lengths = [0; 32];
    let mut bit = 0;
    while bit < 32 {
        // Digits of the smallest such number, and where numbers of one digit more begin.
        let digits = (1_u64 << bit).ilog10() as u64 + 1;
        lengths[bit] = ((digits + 1) << 32) - 10_u64.pow(digits as u32);
        bit += 1;
    }
    lengths
};

/// The eight digits of a number below 10^8, one a byte, the most significant in the lowest byte.
///
/// The number is halved into groups of four, two and one digits, all groups of a step side by side
/// in one register; 10486/2^20 and 103/2^10 are 1/100 and 1/10 for all values that come.
#[inline]
fn eight_digits(value: u64) -> u64 {
    let fours = (value / 10_000) | ((value % 10_000) << 32);
    let hundreds = ((fours * 10_486) >> 20) & 0x0000_007F_0000_007F;
    let twos = hundreds | ((fours - 100 * hundreds) << 16);
    let tens = ((twos * 103) >> 10) & 0x000F_000F_000F_000F;
    tens | ((twos - 10 * tens) << 8)
}

#[inline]
fn eight_hexadecimal(value: u32) -> [u8; 8] {
    // Spread the nibbles to bytes, the most significant first in memory.
    let spread = u64::from(value);
    let spread = ((spread & 0xFFFF) << 32) | (spread >> 16);
    let spread = ((spread & 0x0000_00FF_0000_00FF) << 16) | ((spread >> 8) & 0x0000_00FF_0000_00FF);
    let nibbles = ((spread & 0x000F_000F_000F_000F) << 8) | ((spread >> 4) & 0x000F_000F_000F_000F);
    // Adding 6 carries into bit 4 for the nibbles from 10 on, which are letters.
    let letters = ((nibbles + 0x0606_0606_0606_0606) >> 4) & 0x0101_0101_0101_0101;
    (nibbles + ASCII_ZEROS + letters * 7).to_le_bytes()
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
                let shown = text(|b| b.room(Room::NUMBER).hexadecimal_bytes(value, bytes).done());
                let low = value & (u64::MAX >> (64 - 8 * bytes));
                prop_assert_eq!(shown, format!("{low:0width$X}", width = 2 * bytes));
            }
            let signed = value as i64;
            prop_assert_eq!(text(|b| b.room(Room::NUMBER).signed(signed).done()), signed.to_string());
            let seconds = format!("{}.{:09}", value / 1_000_000_000, value % 1_000_000_000);
            prop_assert_eq!(text(|b| b.seconds(value, width)), format!("{seconds:>width$}"));
        }
    }
}
