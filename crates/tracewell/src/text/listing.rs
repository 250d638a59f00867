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
    selection: Selection,
    tail: Option<Tail>,
}

impl<W: Write> Listing<W> {
    /// Makes a list of the selected events.
    pub fn new(out: W, selection: Selection) -> Self {
        let tail = selection.tail.map(Tail::new);
        let selector = Selector::new(selection.clone());
        let selector = (!selector.takes_all()).then_some(selector);
        Self { lines: LineWriter::new(out), selector, selection, tail }
    }

    /// Breaks where the selection cannot be applied to the trace, before anything is written; see
    /// [`Selection::check`].
    pub fn begin(&self, trace: &Trace) -> Flow {
        match self.selection.check(trace) {
            Ok(()) => Flow::Continue(()),
            Err(_) => Flow::Break(()),
        }
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

    /// Ends the line of an event, which began at byte `start` of the buffer; breaks when writing has
    /// failed.
    #[inline]
    pub fn end_line(&mut self, start: usize) -> Flow {
        self.end_any(start, true)
    }

    /// Ends a line that stands between events, and does not count as one.
    pub fn end_mark(&mut self, start: usize) -> Flow {
        self.end_any(start, false)
    }

    #[inline]
    fn end_any(&mut self, start: usize, is_event: bool) -> Flow {
        if let Some(tail) = &mut self.tail {
            tail.take(self.lines.buffer(), start, is_event);
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

    /// Gives out the lines so far.
    ///
    /// # Errors
    /// Where writing has failed.
    pub fn show(&mut self) -> io::Result<()> {
        self.lines.show()
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

/// The last lines of a list, kept until it ends: those of so many events and the marks among them.
#[derive(Debug)]
struct Tail {
    lines: VecDeque<(Vec<u8>, bool)>,
    events: usize,
    most: usize,
}

/// Marks kept at most for each event: a trace of nothing but losses must not fill memory.
const MARKS: usize = 16;

impl Tail {
    /// Keeps the lines of at most so many events.
    fn new(most: usize) -> Self {
        Self { lines: VecDeque::new(), events: 0, most }
    }

    /// Takes the text of `buffer` from byte `start` on as a line, dropping the oldest if need be.
    fn take(&mut self, buffer: &mut TextBuffer, start: usize, is_event: bool) {
        let mut line = Vec::new();
        self.events += usize::from(is_event);
        let room = self.most.saturating_add(1).saturating_mul(MARKS);
        while self.events > self.most || self.lines.len() >= room {
            let Some((oldest, was_event)) = self.lines.pop_front() else { break };
            self.events -= usize::from(was_event);
            line = oldest;
        }
        line.clear();
        if self.most > 0 {
            line.extend_from_slice(buffer.as_bytes().get(start..).unwrap_or_default());
            self.lines.push_back((line, is_event));
        } else {
            self.events = 0;
        }
        buffer.truncate(start);
    }

    /// Gives the lines out, oldest first.
    fn put<W: Write>(self, lines: &mut LineWriter<W>) {
        for (line, _) in self.lines {
            lines.buffer().text(&line);
            if !lines.line_end() {
                return;
            }
        }
    }
}
