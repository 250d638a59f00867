//! Source texts that users write (templates, rules), positions in them, and errors and warnings
//! about them.
//!
//! ```
//! use tracewell::source::{Position, Source};
//!
//! let source = Source::new("my.rules", "never QUE_FULL\nSM_TRN\n");
//! assert_eq!(source.position(15), Position { line: 2, column: 1 });
//! assert_eq!(source.line(15), "SM_TRN");
//! ```

#[cfg(test)]
pub(crate) mod editor_words;
mod finding;
mod kind;

use std::ops::Range;
use std::sync::OnceLock;

pub use finding::{Finding, MAX_FINDINGS};
pub use kind::{NotText, check_text};

/// A range of bytes in a text.
///
/// # Examples
///
/// ```
/// use tracewell::source::{Source, Span};
///
/// let source = Source::new("my.rules", "never QUE_FULL");
/// let (keyword, name) = (Span { start: 0, end: 5 }, Span { start: 6, end: 14 });
/// assert_eq!(source.slice(name), "QUE_FULL");
/// assert_eq!(source.slice(keyword.to(name)), "never QUE_FULL");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset after the last byte.
    pub end: u32,
}

impl Span {
    /// Returns the span from the start of this span to the end of `last`.
    #[must_use]
    pub const fn to(self, last: Self) -> Self {
        Self { start: self.start, end: last.end }
    }

    /// Returns the span as a range of byte offsets.
    pub const fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A position in a text. As in editors, lines and columns are counted from 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Position {
    /// Line number, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

/// A text with a name.
#[derive(Clone, Debug)]
pub struct Source {
    /// The name shown in messages, usually a path.
    pub name: String,
    /// The complete text of the file.
    pub text: String,
    /// Offsets of the line starts, computed when the first position is requested.
    lines: OnceLock<Vec<u32>>,
}

impl Source {
    /// Maximum length of a source text in bytes, because positions are 32-bit.
    pub const MAX_LEN: usize = u32::MAX as usize;

    /// Creates a source from a name and a text.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), text: text.into(), lines: OnceLock::new() }
    }

    /// Creates a source from bytes. Old template files use other encodings. So bytes that are not
    /// UTF-8 are accepted, and become U+FFFD.
    pub fn from_bytes(name: impl Into<String>, bytes: &[u8]) -> Self {
        Self::new(name, String::from_utf8_lossy(bytes))
    }

    /// Returns the text of a span, or an empty string if the span is out of range.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or_default()
    }

    /// Returns the line and the column of a byte offset.
    pub fn position(&self, offset: u32) -> Position {
        let (number, start) = self.line_start(offset);
        let before = self.text.get(start as usize..offset as usize);
        let column = before.map_or(0, |before| before.chars().count()) + 1;
        Position { line: number + 1, column }
    }

    /// Returns the line that contains a byte, without its line end.
    pub fn line(&self, offset: u32) -> &str {
        let (_, start) = self.line_start(offset);
        let rest = self.text.get(start as usize..).unwrap_or_default();
        rest.lines().next().unwrap_or_default()
    }

    /// Returns the number of the line that contains a byte, and the offset of the line's start. The
    /// first line has number 0.
    fn line_start(&self, offset: u32) -> (usize, u32) {
        let lines = self.lines.get_or_init(|| {
            let ends = self.text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
            std::iter::once(0).chain(ends.map(|(at, _)| at as u32 + 1)).collect()
        });
        let number = lines.partition_point(|start| *start <= offset).saturating_sub(1);
        (number, lines.get(number).copied().unwrap_or(0))
    }
}
