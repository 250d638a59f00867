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
    /// What was there before, and behind it the event.
    text: TextBuffer,
    /// All lines but the last one: nearly every event has one only.
    earlier: Vec<Line>,
    last: Option<Line>,
    /// Where the event begins, and the line under way.
    event: usize,
    start: usize,
    level: Level,
    next_level: Level,
    /// A place in the line under way and its column, so that many tabs do not count a long line again.
    counted: (usize, usize),
    outcome: Outcome,
}

/// A tab goes on to the next multiple of this.
const TAB: usize = 8;

impl Lines {
    /// The lines, in order.
    pub fn iter(&self) -> impl Iterator<Item = (Level, &[u8])> {
        let bytes = self.text.as_bytes();
        let lines = self.earlier.iter().chain(&self.last);
        lines.map(move |line| (line.level, bytes.get(line.start..line.end).unwrap_or_default()))
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

    /// The text that events are appended to.
    #[inline(always)]
    pub(crate) fn whole(&mut self) -> &mut TextBuffer {
        &mut self.text
    }

    /// Whether the event became one line; its blanks at the end are dropped then.
    #[inline]
    pub(crate) fn is_one(&mut self) -> bool {
        if let (true, Some(line)) = (self.earlier.is_empty(), self.last) {
            self.text.truncate(line.end);
            return true;
        }
        false
    }

    /// Begins an event whose first bytes, `head` of them, are there already.
    #[inline]
    pub(super) fn begin(&mut self, level: Level, head: usize) {
        self.earlier.clear();
        self.last = None;
        self.event = self.text.len() - head;
        self.start = self.event;
        self.counted = (self.start, 0);
        self.level = level;
        self.next_level = level;
    }

    #[inline]
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

    /// Bytes that the event printed so far.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.text.len() - self.event
    }

    /// Number of the line under way, from 1.
    pub(super) fn number(&self) -> usize {
        self.earlier.len() + usize::from(self.last.is_some()) + 1
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

    #[inline]
    fn new_line(&mut self) {
        let bytes = self.text.as_bytes();
        let mut end = bytes.len();
        while end > self.start && bytes.get(end - 1) == Some(&b' ') {
            end -= 1;
        }
        let line = Line { start: self.start, end, level: self.level };
        self.start = bytes.len();
        if let Some(last) = self.last {
            self.earlier.push(last);
        }
        self.last = Some(line);
        self.level = self.next_level;
    }

    fn tab(&mut self) {
        // A place at or before the start is one of an earlier line.
        let (at, column) =
            Some(self.counted).filter(|(at, _)| *at > self.start).unwrap_or((self.start, 0));
        let behind = self.text.as_bytes().get(at..).unwrap_or_default();
        // Bytes within a character do not count.
        let column = column + behind.iter().filter(|byte| **byte & 0xC0 != 0x80).count();
        let blanks = TAB - column % TAB;
        self.text.blanks(blanks);
        self.counted = (self.text.len(), column + blanks);
    }
}
