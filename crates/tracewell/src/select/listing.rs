//! Writes the lines of selected events: all lines, or only the last lines.

use std::collections::VecDeque;
use std::io::{self, Write};

use super::{Selection, Selector};
use crate::model::{Event, Flow, SinkError, Stop, Trace};
use crate::text::{LineWriter, TextBuffer};

/// Writes a line for each selected event.
#[derive(Debug)]
pub struct Listing<W> {
    lines: LineWriter<W>,
    selector: Option<Selector>,
    selection: Selection,
    tail: Option<Tail>,
}

impl Listing<io::Sink> {
    /// Creates a list of all events in a part of a trace. The caller takes the lines out of the
    /// list.
    pub(crate) fn gathering() -> Self {
        let lines = LineWriter::gathering();
        Self { lines, selector: None, selection: Selection::default(), tail: None }
    }

    /// Swaps the lines with another buffer.
    pub(crate) fn swap(&mut self, text: &mut TextBuffer) {
        self.lines.swap(text);
    }
}

impl<W: Write> Listing<W> {
    /// Creates a list of the selected events.
    pub fn new(out: W, selection: Selection) -> Self {
        let tail = selection.tail.map(Tail::new);
        let without_tail = Selection { tail: None, ..selection.clone() };
        let selector = (!without_tail.is_all()).then(|| Selector::new(without_tail));
        Self { lines: LineWriter::new(out), selector, selection, tail }
    }

    /// Checks the selection; see [`Selection::check`]. Call this before writing.
    ///
    /// # Errors
    /// Returns an error if the trace lacks data that the selection needs.
    pub fn check(&self, trace: &Trace) -> Result<(), SinkError> {
        self.selection.check(trace).map_err(SinkError::not_possible)
    }

    /// Returns true if an event is selected. Returns a break if no later event can be selected.
    #[inline]
    pub fn takes(&mut self, event: Event<'_>) -> Flow<bool> {
        match &mut self.selector {
            None => Flow::Continue(true),
            Some(selector) => selector.takes(event),
        }
    }

    /// Returns true if there is no selection, so the line of every event is written at once.
    pub(crate) fn is_whole(&self) -> bool {
        self.selector.is_none() && self.tail.is_none()
    }

    /// Writes whole lines of selected events.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    pub(crate) fn block(&mut self, lines: &[u8]) -> io::Result<()> {
        self.lines.block(lines)
    }

    /// After the line of an event, writes the buffer if it is full. The line must end with a line
    /// feed, and [`Listing::is_whole`] must be true. Breaks if writing fails.
    #[inline(always)]
    pub(crate) fn after_line(&mut self) -> Flow {
        Stop::on_error(self.lines.write_if_full())
    }

    /// Returns the buffer to append a line to.
    #[inline]
    pub fn buffer(&mut self) -> &mut TextBuffer {
        self.lines.buffer()
    }

    /// Ends the line of an event that began at byte `start` of the buffer. Breaks if writing fails.
    #[inline]
    pub fn end_line(&mut self, start: usize) -> Flow {
        self.end_any(start, true)
    }

    /// Ends a line that is not an event but stands between events, such as a loss mark. It does not
    /// count as an event.
    pub fn end_mark(&mut self, start: usize) -> Flow {
        self.end_any(start, false)
    }

    #[inline]
    fn end_any(&mut self, start: usize, is_event: bool) -> Flow {
        if let Some(tail) = &mut self.tail {
            tail.take(self.lines.buffer(), start, is_event);
            return Flow::Continue(());
        }
        Stop::on_error(self.lines.line_end())
    }

    /// Writes a line outside of the list, such as a title.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    pub fn line(&mut self, text: impl AsRef<[u8]>) -> io::Result<()> {
        self.lines.buffer().text(text);
        self.lines.line_end()
    }

    /// Ends the list. If only the last lines were selected, writes them now.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    pub fn end(&mut self) -> io::Result<()> {
        match self.tail.take() {
            Some(tail) => tail.write(&mut self.lines),
            None => Ok(()),
        }
    }

    /// Writes the buffered lines.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    pub fn flush(&mut self) -> io::Result<()> {
        self.lines.flush()
    }

    /// Writes the buffered lines and returns the writer.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    pub fn into_inner(self) -> io::Result<W> {
        self.lines.into_inner()
    }
}

/// The last lines of a list: the lines of up to `max_events` events, and the marks between them.
#[derive(Debug)]
struct Tail {
    /// The kept lines. The flag of a line is true if the line shows an event.
    lines: VecDeque<(Vec<u8>, bool)>,
    events: usize,
    max_events: usize,
}

/// Maximum number of marks per event, so that a trace with only losses cannot fill memory.
const MAX_MARKS_PER_EVENT: usize = 16;

impl Tail {
    fn new(max_events: usize) -> Self {
        Self { lines: VecDeque::new(), events: 0, max_events }
    }

    /// Moves the text of `buffer` after byte `start` to this list as a line. Drops the oldest lines
    /// if there are too many.
    fn take(&mut self, buffer: &mut TextBuffer, start: usize, is_event: bool) {
        let mut line = Vec::new();
        self.events += usize::from(is_event);
        let max_lines = self.max_events.saturating_add(1).saturating_mul(MAX_MARKS_PER_EVENT);
        // Drop the marks of losses together with the event before them.
        while self.events > self.max_events || self.lines.len() >= max_lines {
            let Some((oldest, was_event)) = self.lines.pop_front() else { break };
            self.events -= usize::from(was_event);
            // Reuse the memory of the dropped line.
            line = oldest;
        }
        line.clear();
        if self.max_events > 0 {
            line.extend_from_slice(buffer.as_bytes().get(start..).unwrap_or_default());
            self.lines.push_back((line, is_event));
        } else {
            self.events = 0;
        }
        buffer.truncate(start);
    }

    /// Writes the lines, oldest first.
    fn write<W: Write>(self, lines: &mut LineWriter<W>) -> io::Result<()> {
        for (line, _) in self.lines {
            lines.buffer().text(&line);
            lines.line_end()?;
        }
        Ok(())
    }
}
