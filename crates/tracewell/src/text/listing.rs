//! A list of events as lines: only those selected, all of them or the last few.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::ops::ControlFlow;

use super::{LineWriter, TextBuffer};
use crate::model::{EventRef, Flow, Trace};
use crate::select::{Selection, Selector};

/// Lines of events in front of a writer.
#[derive(Debug)]
pub struct Listing<W> {
    lines: LineWriter<W>,
    selector: Option<Selector>,
    tail: Option<Tail>,
}

impl<W: Write> Listing<W> {
    /// Makes a list of the selected events.
    pub fn new(out: W, selection: Selection) -> Self {
        let tail = selection.tail.map(Tail::new);
        let selector = Selector::new(selection);
        let selector = (!selector.takes_all()).then_some(selector);
        Self { lines: LineWriter::new(out), selector, tail }
    }

    /// Whether an event is to be in the list; breaks when no later one will be.
    #[inline]
    pub fn takes(&mut self, trace: &Trace, event: &EventRef<'_>) -> ControlFlow<(), bool> {
        match &mut self.selector {
            None => ControlFlow::Continue(true),
            Some(selector) => selector.takes(trace, event),
        }
    }

    /// The buffer to append a line to.
    #[inline]
    pub fn buffer(&mut self) -> &mut TextBuffer {
        self.lines.buffer()
    }

    /// Ends the line that began at byte `start` of the buffer; breaks when writing has failed.
    #[inline]
    pub fn end_line(&mut self, start: usize) -> Flow {
        if let Some(tail) = &mut self.tail {
            tail.take(self.lines.buffer(), start);
            return Flow::Continue(());
        }
        if self.lines.line_end() { Flow::Continue(()) } else { Flow::Break(()) }
    }

    /// Writes a line that is not of the list: a title, a summary.
    pub fn line(&mut self, text: impl AsRef<[u8]>) {
        self.lines.buffer().text(text);
        self.lines.line_end();
    }

    /// Ends the list: its last lines are written, if only they are wanted.
    pub fn end(&mut self) {
        if let Some(tail) = self.tail.take() {
            tail.put(&mut self.lines);
        }
    }

    /// Writes what is left and gives the writer back.
    ///
    /// # Errors
    /// The first error of the writer, whenever it came.
    pub fn finish(mut self) -> io::Result<W> {
        self.end();
        self.lines.finish()
    }
}

/// The last lines of a list, kept until it ends.
#[derive(Debug)]
struct Tail {
    lines: VecDeque<Vec<u8>>,
    most: usize,
}

impl Tail {
    /// Keeps at most so many lines.
    fn new(most: usize) -> Self {
        Self { lines: VecDeque::new(), most }
    }

    /// Takes the text of `buffer` from byte `start` on as a line, dropping the oldest if need be.
    fn take(&mut self, buffer: &mut TextBuffer, start: usize) {
        let mut line = Vec::new();
        if self.lines.len() >= self.most {
            line = self.lines.pop_front().unwrap_or_default();
            line.clear();
        }
        if self.most > 0 {
            line.extend_from_slice(buffer.as_bytes().get(start..).unwrap_or_default());
            self.lines.push_back(line);
        }
        buffer.truncate(start);
    }

    /// Gives the lines out, oldest first.
    fn put<W: Write>(self, lines: &mut LineWriter<W>) {
        for line in self.lines {
            lines.buffer().text(&line);
            if !lines.line_end() {
                return;
            }
        }
    }
}
