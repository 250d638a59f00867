//! Texts that people write (templates, rules), places in them, and what is wrong there.

mod finding;
mod kind;

use std::ops::Range;
use std::sync::OnceLock;

pub use finding::{Finding, MAX_FINDINGS, Severity};
pub use kind::{NotText, check_text};

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
    /// Where its lines begin, found when the first place in it is asked for.
    lines: OnceLock<Vec<u32>>,
}

impl Source {
    /// The longest text that is taken, in bytes: places are counted in 32 bits.
    pub const LONGEST: usize = u32::MAX as usize;

    /// Names a text.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), text: text.into(), lines: OnceLock::new() }
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
        let (number, start) = self.line_start(offset);
        let before = self.text.get(start as usize..offset as usize);
        let column = before.map_or(0, |before| before.chars().count()) + 1;
        Position { line: number + 1, column }
    }

    /// The line that a byte is in, without its end.
    pub fn line(&self, offset: u32) -> &str {
        let (_, start) = self.line_start(offset);
        let rest = self.text.get(start as usize..).unwrap_or_default();
        rest.lines().next().unwrap_or_default()
    }

    /// The number of the line that a byte is in, from 0, and where that line begins.
    fn line_start(&self, offset: u32) -> (usize, u32) {
        let lines = self.lines.get_or_init(|| {
            let ends = self.text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
            std::iter::once(0).chain(ends.map(|(at, _)| at as u32 + 1)).collect()
        });
        let number = lines.partition_point(|start| *start <= offset).saturating_sub(1);
        (number, lines.get(number).copied().unwrap_or(0))
    }
}
