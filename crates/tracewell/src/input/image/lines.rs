//! Iterates over the lines of a text. Skips blank lines and removes spaces around the text of a
//! line.

use super::diagnostic::Place;

/// The UTF-8 byte order mark, which some editors put at the start of a text.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Returns the length of the byte order mark at the start of a text, or 0.
pub(super) fn mark_length(text: &[u8]) -> usize {
    if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 }
}

/// One trimmed line. It is never empty.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    pub(super) text: &'a [u8],
    first: Place,
}

impl Line<'_> {
    /// Returns the position of the character at this index of the trimmed text.
    pub(super) fn place(&self, index: usize) -> Place {
        let Place { line, column } = self.first;
        Place { line, column: column + index as u64 }
    }
}

/// Iterator over the lines of a text. A line ends at LF. A CR before the LF counts as a space.
#[derive(Clone, Debug)]
pub(super) struct Lines<'a> {
    text: &'a [u8],
    next: usize,
    number: u64,
    end: Place,
}

impl<'a> Lines<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        let end = Place { line: 1, column: 1 };
        Self { text, next: mark_length(text), number: 0, end }
    }

    /// Returns the position after the last character. This function must be called after the last
    /// line.
    pub(super) fn end(&self) -> Place {
        self.end
    }

    /// Returns the next line with its line end. The line may be blank.
    fn take(&mut self) -> Option<&'a [u8]> {
        let rest = self.text.get(self.next..).filter(|rest| !rest.is_empty())?;
        let line_end = rest.iter().position(|&character| character == b'\n');
        self.number += 1;
        // The last line may lack a line end.
        let length = line_end.map_or(rest.len(), |at| at + 1);
        self.next += length;
        (self.end.line, self.end.column) = if line_end.is_some() {
            (self.number + 1, 1)
        } else {
            (self.number, length as u64 + 1)
        };
        Some(&rest[..length])
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        loop {
            let whole = self.take()?;
            let unindented = whole.trim_ascii_start();
            let text = unindented.trim_ascii_end();
            if text.is_empty() {
                continue;
            }
            let indent = whole.len() - unindented.len();
            let first = Place { line: self.number, column: indent as u64 + 1 };
            return Some(Line { text, first });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(text: &[u8]) -> Vec<(u64, u64, &[u8])> {
        let lines = Lines::new(text);
        lines.map(|l| (l.first.line, l.first.column, l.text)).collect()
    }

    #[test]
    fn blank_lines_count_but_are_not_handed_out() {
        let expected: Vec<(u64, u64, &[u8])> = vec![(2, 3, b"a b"), (5, 1, b"c")];
        assert_eq!(places(b"\r\n  a b \t\r\n\n \nc"), expected);
    }

    #[test]
    fn a_byte_order_mark_is_passed_over() {
        assert_eq!(places(b"\xEF\xBB\xBFa"), [(1, 1, &b"a"[..])]);
    }

    #[test]
    fn the_end_is_after_the_last_character() {
        for (text, line, column) in [(&b""[..], 1, 1), (b"ab", 1, 3), (b"ab\n", 2, 1)] {
            let mut lines = Lines::new(text);
            lines.by_ref().count();
            assert_eq!(lines.end(), Place { line, column });
        }
    }
}
