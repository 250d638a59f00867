//! Strings that are prepared once and appended often.

use super::padded;

/// A string that is appended often. It is stored in a block of fixed size that is copied as a
/// whole.
#[derive(Clone, Debug)]
pub struct Literal {
    pub(super) head: [u8; BLOCK],
    /// Length of the string in bytes. `rest` contains the part that does not fit into the block.
    pub(super) length: usize,
    pub(super) rest: Box<[u8]>,
}

/// Number of bytes that are copied at once.
pub(super) const BLOCK: usize = 32;

impl Literal {
    /// Prepares a string of any length. Strings of up to 32 bytes are fastest.
    pub fn new(text: impl AsRef<[u8]>) -> Self {
        let text = text.as_ref();
        let mut head = [b' '; BLOCK];
        let short = text.len().min(BLOCK);
        head[..short].copy_from_slice(&text[..short]);
        Self { head, length: text.len(), rest: text[short..].into() }
    }

    /// Returns the length in bytes.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.length
    }

    /// Returns true if the string is empty.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Returns the string without its first `start` bytes.
    pub fn tail(&self, start: usize) -> Self {
        Self::new(self.bytes().get(start..).unwrap_or_default())
    }

    /// Returns the bytes of the string.
    pub fn bytes(&self) -> Vec<u8> {
        let head = self.head.get(..self.length.min(BLOCK)).unwrap_or_default();
        [head, &self.rest].concat()
    }

    /// Prepares a string that is padded with blanks to a width in cells of a screen.
    pub fn padded(text: &str, width: usize) -> Self {
        Self::new(padded(text, width))
    }
}

/// A string of at most 32 bytes. It is stored in a block of fixed size that is copied as a whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShortText {
    pub(super) block: [u8; BLOCK],
    pub(super) length: u8,
}

impl ShortText {
    /// Maximum length in bytes.
    pub const MAX_LEN: usize = BLOCK;

    /// The empty string, which has 0 bytes.
    pub const EMPTY: Self = Self { block: BLANKS, length: 0 };
    /// A single space, as printed between fields.
    pub const BLANK: Self = Self { block: BLANKS, length: 1 };

    /// Prepares a string. Returns `None` if it is too long.
    pub fn new(text: &str) -> Option<Self> {
        let mut block = [b' '; BLOCK];
        block.get_mut(..text.len())?.copy_from_slice(text.as_bytes());
        Some(Self { block, length: text.len() as u8 })
    }

    /// Prepares the start of a string. Returns it with the remaining bytes.
    pub(super) fn split(text: &[u8]) -> (Self, &[u8]) {
        let (start, rest) = text.split_at(text.len().min(BLOCK));
        let mut block = BLANKS;
        block[..start.len()].copy_from_slice(start);
        (Self { block, length: start.len() as u8 }, rest)
    }

    /// Returns the length in bytes.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        usize::from(self.length)
    }
}

/// A block of spaces.
pub(super) const BLANKS: [u8; BLOCK] = [b' '; BLOCK];
