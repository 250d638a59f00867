//! Collects the lines of a formatted event.

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

/// The lines of an event, without blanks at their ends.
///
/// # Examples
///
/// ```
/// use tracewell::template::syntax::Level;
/// use tracewell::template::{Entry, EventContext, Machine, Program, Source};
///
/// let text = r#"0AA 1.0 L=SVC "@e" "one" L=INT \n "two""#;
/// let program = Program::of(&[Source::new("my.fmt", text)]).program;
/// let mut machine = Machine::default();
/// let entry = Entry::hook32(&[0x0A, 0xA1, 0, 0])?;
/// let lines = machine.format(&program, &entry, &EventContext::default());
/// assert!(lines.iter().eq([(Level::Svc, &b"one"[..]), (Level::Int, &b"two"[..])]));
/// # Ok::<(), tracewell::template::EntryError>(())
/// ```
#[derive(Debug, Default)]
pub struct Lines {
    /// The earlier output, followed by the text of the current event.
    text: TextBuffer,
    /// All lines except the last line. Nearly every event has only one line.
    earlier: Vec<Line>,
    last: Option<Line>,
    /// Offset of the event, and of the current line.
    event: usize,
    start: usize,
    level: Level,
    next_level: Level,
    /// A byte offset in the current line, and the column at this offset. The next tab counts
    /// columns from this offset, not from the start of the line.
    counted: (usize, usize),
    outcome: Outcome,
}

/// Number of columns between tab stops.
const TAB: usize = 8;

impl Lines {
    /// Returns the lines, in order.
    pub fn iter(&self) -> impl Iterator<Item = (Level, &[u8])> {
        let bytes = self.text.as_bytes();
        let lines = self.earlier.iter().chain(&self.last);
        lines.map(move |line| (line.level, bytes.get(line.start..line.end).unwrap_or_default()))
    }

    /// Returns all lines, separated by line ends.
    pub fn text(&self) -> String {
        let lines = self.iter().map(|(_, line)| String::from_utf8_lossy(line));
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Returns the action that the caller takes after the event.
    pub fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// Returns the text that events are appended to.
    #[inline(always)]
    pub(crate) fn whole(&mut self) -> &mut TextBuffer {
        &mut self.text
    }

    /// Returns true if the event is one line. If so, also removes the spaces at the end of this
    /// line.
    #[inline]
    pub(crate) fn is_one(&mut self) -> bool {
        if let (true, Some(line)) = (self.earlier.is_empty(), self.last) {
            self.text.truncate(line.end);
            return true;
        }
        false
    }

    /// Starts an event whose first `head` bytes are already in the buffer.
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

    /// Sets the column of the lines after the current line.
    pub(super) fn set_level(&mut self, level: Level) {
        self.next_level = level;
    }

    /// Returns the buffer to which text without line ends and tabs is printed.
    #[inline(always)]
    pub(super) fn buffer(&mut self) -> &mut TextBuffer {
        &mut self.text
    }

    /// Returns the number of bytes printed for the event so far.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.text.len() - self.event
    }

    /// Returns the number of the current line, from 1.
    pub(super) fn number(&self) -> usize {
        self.earlier.len() + usize::from(self.last.is_some()) + 1
    }

    /// Prints a string that may contain line ends and tabs.
    pub(super) fn text_with_breaks(&mut self, text: &str) {
        for piece in text.split_inclusive(['\n', '\t']) {
            // Only the last character of a piece can be a line end or a tab.
            let plain = piece.trim_end_matches(['\n', '\t']);
            self.text.text(plain);
            match piece.as_bytes().last() {
                Some(b'\n') => self.new_line(),
                Some(b'\t') => self.tab(),
                _ => {}
            }
        }
    }

    /// Prints a string without line ends and tabs.
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
        // The last line is stored separately, so that events of one line do not use the list.
        if let Some(last) = self.last {
            self.earlier.push(last);
        }
        self.last = Some(line);
        self.level = self.next_level;
    }

    fn tab(&mut self) {
        // If the stored offset is not after the start of this line, it belongs to an earlier line.
        let (at, column) =
            Some(self.counted).filter(|(at, _)| *at > self.start).unwrap_or((self.start, 0));
        let after = self.text.as_bytes().get(at..).unwrap_or_default();
        // Continuation bytes of a character are not counted.
        let column = column + after.iter().filter(|byte| **byte & 0xC0 != 0x80).count();
        let blanks = TAB - column % TAB;
        self.text.blanks(blanks);
        self.counted = (self.text.len(), column + blanks);
    }
}
