//! Texts that people write (templates, rules), places in them, and what is wrong there.

mod finding;

use std::ops::Range;

pub use finding::{Finding, Severity};

/// A stretch of a text, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Span {
    /// Where it starts.
    pub start: u32,
    /// Where the text behind it starts.
    pub end: u32,
}

impl Span {
    /// The stretch from the start of this one to the end of another.
    #[must_use]
    pub const fn to(self, last: Self) -> Self {
        Self { start: self.start, end: last.end }
    }

    /// As a range of bytes.
    pub const fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A place as people count: the first line and the first column are 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Position {
    /// Line of the file.
    pub line: usize,
    /// Column in characters.
    pub column: usize,
}

/// A named text.
#[derive(Clone, Debug)]
pub struct Source {
    /// What to call it in messages: a path.
    pub name: String,
    /// The text.
    pub text: String,
}

impl Source {
    /// The longest text that is taken, in bytes: places are counted in 32 bits.
    pub const LONGEST: usize = u32::MAX as usize;

    /// Names a text.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), text: text.into() }
    }

    /// Names bytes; what is no UTF-8 becomes U+FFFD (old template files are in other encodings).
    pub fn from_bytes(name: impl Into<String>, bytes: &[u8]) -> Self {
        Self::new(name, String::from_utf8_lossy(bytes))
    }

    /// The text of a stretch.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or_default()
    }

    /// Where a byte is.
    pub fn position(&self, offset: u32) -> Position {
        let before = self.text.get(..offset as usize).unwrap_or(&self.text);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Position {
            line: before.bytes().filter(|byte| *byte == b'\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }

    /// The line that a byte is in, without its end.
    pub fn line(&self, offset: u32) -> &str {
        let offset = (offset as usize).min(self.text.len());
        let start = self.text.get(..offset).and_then(|t| t.rfind('\n')).map_or(0, |at| at + 1);
        let rest = self.text.get(start..).unwrap_or_default();
        rest.lines().next().unwrap_or_default()
    }
}
