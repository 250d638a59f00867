//! The lines that an event becomes.

use super::Outcome;
use crate::template::syntax::Level;
use crate::text::TextBuffer;

/// A line of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Line {
    start: usize,
    end: usize,
    level: Level,
}

/// The lines that an event became, without blanks at their ends.
#[derive(Debug, Default)]
pub struct Lines {
    text: TextBuffer,
    lines: Vec<Line>,
    /// Where the line under way begins.
    start: usize,
    level: Level,
    next_level: Level,
    outcome: Outcome,
}

/// A tab goes on to the next multiple of this.
const TAB: usize = 8;

impl Lines {
    /// The lines, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (Level, &[u8])> {
        let bytes = self.text.as_bytes();
        self.lines.iter().map(move |line| (line.level, &bytes[line.start..line.end]))
    }

    /// All lines with line ends between them.
    pub fn text(&self) -> String {
        let lines = self.iter().map(|(_, line)| String::from_utf8_lossy(line));
        lines.collect::<Vec<_>>().join("\n")
    }

    /// What is to be done after the event.
    pub fn outcome(&self) -> Outcome {
        self.outcome
    }

    pub(super) fn begin(&mut self, level: Level) {
        self.text.truncate(0);
        self.lines.clear();
        self.start = 0;
        self.level = level;
        self.next_level = level;
    }

    pub(super) fn end(&mut self, outcome: Outcome) {
        self.new_line();
        self.outcome = outcome;
    }

    /// The column of the lines behind this one.
    pub(super) fn set_level(&mut self, level: Level) {
        self.next_level = level;
    }

    /// Where to print what has no line ends and tabs in it.
    #[inline(always)]
    pub(super) fn buffer(&mut self) -> &mut TextBuffer {
        &mut self.text
    }

    /// Bytes printed so far.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// Number of the line under way, from 1.
    pub(super) fn number(&self) -> usize {
        self.lines.len() + 1
    }

    /// Prints a text with line ends and tabs.
    pub(super) fn text_with_breaks(&mut self, text: &str) {
        for piece in text.split_inclusive(['\n', '\t']) {
            let plain = piece.trim_end_matches(['\n', '\t']);
            self.text.text(plain);
            match piece.as_bytes().last() {
                Some(b'\n') => self.new_line(),
                Some(b'\t') => self.tab(),
                _ => {}
            }
        }
    }

    /// Prints a text without line ends and tabs.
    pub(super) fn put(&mut self, text: &str) {
        self.text.text(text);
    }

    fn new_line(&mut self) {
        let bytes = self.text.as_bytes();
        let line = bytes.get(self.start..).unwrap_or_default();
        let end = self.start + line.trim_ascii_end().len();
        self.lines.push(Line { start: self.start, end, level: self.level });
        self.start = bytes.len();
        self.level = self.next_level;
    }

    fn tab(&mut self) {
        let line = self.text.as_bytes().get(self.start..).unwrap_or_default();
        // Bytes within a character do not count.
        let column = line.iter().filter(|byte| **byte & 0xC0 != 0x80).count();
        self.text.blanks(TAB - column % TAB);
    }
}
