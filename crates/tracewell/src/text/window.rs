//! A window of fixed size for one line.
//!
//! Each append masks the position with the maximum length of a line minus 1, so it needs no
//! capacity check and cannot panic. The code that appends a line must therefore know its maximum
//! length.

use super::blocks::Blocks;
use super::literal::{BLOCK, ShortText};

/// Maximum length of a line in bytes; a power of two. A longer line would overwrite its beginning.
pub(crate) const MAX_LINE: usize = 2048;
/// Maximum length of a [`WideText`] in bytes. No block is larger.
const WIDE: usize = 96;
/// Size of a window in bytes: room for a line of maximum length, and for a last block that extends
/// beyond it.
pub(super) const WINDOW: usize = MAX_LINE + WIDE;

const _: () = assert!(MAX_LINE.is_power_of_two());

/// A window after the text of a [`super::TextBuffer`], in which a line is written. The line becomes
/// part of the text when [`LineWindow::done`] is called.
#[derive(Debug)]
pub(crate) struct LineWindow<'a> {
    bytes: &'a mut [u8; WINDOW],
    position: usize,
    end: &'a mut usize,
}

impl Blocks for LineWindow<'_> {
    #[inline(always)]
    fn put<const N: usize>(&mut self, block: [u8; N], length: usize) {
        const { assert!(N <= WIDE) };
        let start = self.position & (MAX_LINE - 1);
        self.bytes[start..start + N].copy_from_slice(&block);
        self.position = start + length;
    }
}

impl<'a> LineWindow<'a> {
    #[inline(always)]
    pub(super) fn new(bytes: &'a mut [u8; WINDOW], end: &'a mut usize) -> Self {
        Self { bytes, position: 0, end }
    }

    /// Ends the line, which is then part of the text.
    #[inline(always)]
    pub(crate) fn done(self) {
        debug_assert!(self.position <= MAX_LINE, "the line is longer than its window");
        *self.end += self.position;
    }

    /// Appends a short text.
    #[inline(always)]
    pub(crate) fn short(&mut self, text: &ShortText) {
        self.put_short(text);
    }

    /// Appends a string of up to 16 bytes, such as the key of a field.
    #[inline(always)]
    pub(crate) fn key(&mut self, key: &KeyText) {
        self.put(key.block, key.length);
    }

    /// Appends a mark of a few bytes.
    #[inline(always)]
    pub(crate) fn mark<const N: usize>(&mut self, mark: &[u8; N]) {
        self.put(*mark, N);
    }

    /// Appends a wide text.
    #[inline(always)]
    pub(crate) fn wide(&mut self, text: &WideText) {
        // Most of these texts are short.
        match text.block.first_chunk::<{ WIDE / 2 }>() {
            Some(block) if text.length <= block.len() => self.put(*block, text.length),
            _ => self.put(text.block, text.length),
        }
    }

    /// Appends the first bytes of a block.
    #[inline(always)]
    pub(super) fn block<const N: usize>(&mut self, block: &[u8; N], length: usize) {
        self.put(*block, length);
    }

    /// Appends a string of any length up to [`WideText::MAX_LEN`]. If the string is longer, appends
    /// nothing and returns false.
    #[inline(always)]
    pub(super) fn text(&mut self, text: &[u8]) -> bool {
        let start = self.position & (MAX_LINE - 1);
        let place = self.bytes.get_mut(start..start + text.len());
        let Some(place) = place.filter(|place| place.len() <= WIDE) else { return false };
        place.copy_from_slice(text);
        self.position = start + text.len();
        true
    }

    /// Appends a number in decimal, right-aligned in a field of `width` characters. A number that
    /// is longer than the field is not cut.
    #[inline(always)]
    pub(crate) fn right(&mut self, value: u64, width: usize) {
        self.put_right(value, width);
    }

    /// Appends a point and a number below 1000, as three digits.
    #[inline(always)]
    pub(crate) fn thousandths(&mut self, value: u64) {
        self.put_thousandths(value);
    }

    /// Removes spaces from the end.
    #[inline(always)]
    pub(crate) fn trim_end(&mut self) {
        while self.position > 0 && self.bytes[(self.position - 1) & (MAX_LINE - 1)] == b' ' {
            self.position -= 1;
        }
    }
}

/// A text of up to 16 bytes that is copied as a whole.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyText {
    block: [u8; BLOCK / 2],
    length: usize,
}

impl KeyText {
    /// Prepares a text. Returns `None` if it is too long.
    pub(crate) fn new(text: &[u8]) -> Option<Self> {
        let mut block = [b' '; BLOCK / 2];
        block.get_mut(..text.len())?.copy_from_slice(text);
        Some(Self { block, length: text.len() })
    }
}

/// A text of up to 96 bytes that is copied as a whole.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WideText {
    block: [u8; WIDE],
    length: usize,
}

impl WideText {
    /// Maximum length in bytes.
    pub(crate) const MAX_LEN: usize = WIDE;

    /// Prepares a text. Returns `None` if it is too long.
    pub(crate) fn new(text: &[u8]) -> Option<Self> {
        let mut block = [b' '; WIDE];
        block.get_mut(..text.len())?.copy_from_slice(text);
        Some(Self { block, length: text.len() })
    }
}
