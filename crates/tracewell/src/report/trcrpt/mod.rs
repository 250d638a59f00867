//! The report of AIX's trcrpt, for every dialect: a heading, then for each event its id, who it is of,
//! when it was, and what its template makes of it, in the column of its level.
//!
//! | file | what it settles |
//! |---|---|
//! | `options` | what `-O` can say |
//! | `heading` | the facts of the trace, and the names of the columns |
//! | `facts` | what is the same for all events of a context or an id |
//! | `columns` | who an event is of and when it was, before its text |
//! | `entry` | the bytes of an event as a template sees them |
//! | `formatter` | one event as lines |
//! | `history` | counts instead of events |
//!
//! Events whose templates remember nothing from one to the next are formatted on several threads, each
//! a stretch of a batch; the stretches are written in order.

mod columns;
mod entry;
mod facts;
mod formatter;
mod heading;
mod history;
mod options;

use std::io::{self, Write};
use std::ops::ControlFlow;

use crate::model::{Batch, EventRef, Flow, Loss, Meaning, Sink, Trace};
use crate::select::{Selection, Selector};
use crate::template::{Marks, Program};
use crate::text::LineWriter;
use facts::Facts;
use formatter::{Formatted, Formatter, Row, Shared};
use history::History;
pub use options::{NoWallClock, OptionError, Options, Timestamp};

/// What is in a report and how it is made.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The columns and their forms.
    pub options: Options,
    /// Which events are shown.
    pub selection: Selection,
    /// Whether the heading is left out.
    pub without_heading: bool,
    /// A line to begin with: the input's name, say.
    pub title: Option<String>,
    /// What to call the trace where a template asks (`$LOGFILE`).
    pub log: String,
    /// Columns of a line, 0 for the usual 200.
    pub width: usize,
    /// Threads that format, 0 for as many as there are processors; at most [`MAX_THREADS`].
    pub threads: usize,
}

/// Threads that format, at most: more than any machine has use for.
pub const MAX_THREADS: usize = 256;

/// Events of a stretch below which a thread is not worth it.
const WORTH_A_THREAD: usize = 512;

/// A sink that writes a report.
#[derive(Debug)]
pub struct TrcReport<'p, W> {
    program: &'p Program,
    settings: Settings,
    out: LineWriter<W>,
    selector: Selector,
    takes_all: bool,
    facts: Facts,
    formatters: Vec<Formatter>,
    /// Events of the batch that are shown, and the system calls that they are in.
    rows: Vec<u32>,
    row_calls: Vec<Option<u64>>,
    /// Whether anything shows which system call an event is in, and that of each context.
    shows_calls: bool,
    shows_offsets: bool,
    calls: Vec<Option<u64>>,
    history: History,
    /// Time of the first event shown, and of the last one.
    first: Option<u64>,
    before: Option<u64>,
    begun: bool,
    page: usize,
}

impl<'p, W: Write> TrcReport<'p, W> {
    /// Makes a report; nothing is written before the first event.
    pub fn new(out: W, program: &'p Program, settings: Settings) -> Self {
        let selector = Selector::new(settings.selection.clone());
        let threads = if settings.threads > 0 {
            settings.threads.min(MAX_THREADS)
        } else {
            std::thread::available_parallelism().map_or(1, usize::from)
        };
        let threads =
            if program.remembers() || settings.options.page_size > 0 { 1 } else { threads };
        let shows_calls = settings.options.svc || program.asks_for_calls();
        let formatters = (0..threads).map(|_| Formatter::default()).collect();
        Self {
            program,
            settings,
            out: LineWriter::new(out),
            takes_all: selector.takes_all(),
            selector,
            facts: Facts::default(),
            formatters,
            rows: Vec::new(),
            row_calls: Vec::new(),
            shows_calls,
            shows_offsets: program.asks_for_offsets(),
            calls: Vec::new(),
            history: History::default(),
            first: None,
            before: None,
            begun: false,
            page: 0,
        }
    }

    /// Writes what is left; gives the writer back, and how often limits were reached.
    ///
    /// # Errors
    /// The first error of the writer, whenever it came.
    pub fn finish(mut self, trace: &Trace) -> io::Result<(W, Marks)> {
        self.begin(trace);
        if self.settings.options.history {
            for line in self.history.lines(trace, self.program) {
                self.line(&line);
            }
        }
        let marks = self.formatters.iter().map(Formatter::marks).fold(Marks::default(), Marks::sum);
        Ok((self.out.finish()?, marks))
    }

    fn line(&mut self, line: &str) {
        self.out.buffer().text(line);
        self.out.line_end();
    }

    fn begin(&mut self, trace: &Trace) {
        if std::mem::replace(&mut self.begun, true) {
            return;
        }
        if let Some(title) = self.settings.title.take() {
            self.line(&title);
        }
        if self.settings.without_heading {
            return;
        }
        for line in heading::facts(trace, &self.settings.options) {
            self.line(&line);
        }
        self.column_names(trace);
    }

    fn column_names(&mut self, trace: &Trace) {
        if !self.settings.options.history {
            let names = heading::columns(trace, &self.settings.options);
            self.line(&names);
            self.line("");
        }
    }

    /// Chooses the events of a batch that are shown; breaks when no later one will be.
    fn choose(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        self.rows.clear();
        self.row_calls.clear();
        if self.takes_all && !self.shows_calls {
            self.rows.extend(0..batch.len() as u32);
            return Flow::Continue(());
        }
        for (index, event) in batch.events().enumerate() {
            let call = self.call(trace, &event);
            match self.selector.takes(trace, &event) {
                Flow::Continue(true) => {
                    self.rows.push(index as u32);
                    self.row_calls.push(call);
                }
                Flow::Continue(false) => {}
                Flow::Break(()) => return Flow::Break(()),
            }
        }
        Flow::Continue(())
    }

    /// The system call that an event's context is in: that which the event itself enters or leaves, too.
    fn call(&mut self, trace: &Trace, event: &EventRef<'_>) -> Option<u64> {
        if !self.shows_calls {
            return None;
        }
        let context = event.context.index();
        if context >= self.calls.len() {
            self.calls.resize(context + 1, None);
        }
        let means = trace.schema.event(event.id).means;
        let value = means.and_then(|means| trace.payload.argument(event.payload, means.value?));
        match means.map(|means| means.meaning) {
            Some(Meaning::Call) => {
                self.calls[context] = value;
                value
            }
            Some(Meaning::Return) => self.calls[context].take().or(value),
            _ => self.calls[context],
        }
    }

    /// Formats the chosen events on as many threads as are worth it.
    fn format(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        let ticks = |row: Option<&u32>| row.and_then(|row| batch.columns.ticks.get(*row as usize));
        let Some(earliest) = ticks(self.rows.first()).copied() else { return Flow::Continue(()) };
        let first = *self.first.get_or_insert(earliest);
        let before = self.before.unwrap_or(earliest);
        self.before = ticks(self.rows.last()).copied();
        let (settings, facts) = (&self.settings, &self.facts);
        let shared = Shared { program: self.program, settings, facts, trace };
        let shows_offsets = self.shows_offsets;
        let stretch = Stretch { shared, batch, calls: &self.row_calls, first, shows_offsets };
        let threads = self.formatters.len().min(self.rows.len() / WORTH_A_THREAD).max(1);
        if threads == 1 {
            let names = settings.options.page_size > 0 && !settings.without_heading;
            let names = names.then(|| heading::columns(trace, &settings.options));
            let size = settings.options.page_size;
            let mut page = Page { size, lines: self.page, names };
            let Some(formatter) = self.formatters.first_mut() else { return Flow::Break(()) };
            let mut before = before;
            for (number, rows) in self.rows.chunks(WORTH_A_THREAD).enumerate() {
                let at = number * WORTH_A_THREAD;
                let ended = stretch.format(formatter, rows, at, before, &mut page);
                before = ended.last.unwrap_or(before);
                // Text that is written while it is still in the nearest cache.
                let written = self.out.block(formatter.text().as_bytes());
                formatter.text().truncate(0);
                if ended.stopped || !written {
                    return Flow::Break(());
                }
            }
            self.before = Some(before);
            self.page = page.lines;
            return Flow::Continue(());
        }
        let length = self.rows.len().div_ceil(threads);
        rayon_core::scope(|scope| {
            let mut before = before;
            let rows = self.rows.chunks(length).enumerate();
            for ((number, rows), formatter) in rows.zip(&mut self.formatters) {
                let (stretch, earlier) = (&stretch, before);
                before = ticks(rows.last()).copied().unwrap_or(before);
                let at = number * length;
                scope.spawn(move |_| {
                    stretch.format(formatter, rows, at, earlier, &mut Page::default());
                });
            }
        });
        for formatter in &mut self.formatters {
            let written = self.out.block(formatter.text().as_bytes());
            formatter.text().truncate(0);
            if !written {
                return Flow::Break(());
            }
        }
        Flow::Continue(())
    }
}

/// Events that are formatted one after the other.
#[derive(Clone, Copy)]
struct Stretch<'a> {
    shared: Shared<'a>,
    batch: &'a Batch<'a>,
    /// System calls of all chosen events; empty where nothing shows them.
    calls: &'a [Option<u64>],
    /// Ticks of the first event of the report.
    first: u64,
    /// Whether any template tells where an event is.
    shows_offsets: bool,
}

/// Where a page ends.
#[derive(Default)]
struct Page {
    /// Lines of a page; 0 where there are none.
    size: usize,
    /// Lines of the page under way.
    lines: usize,
    /// What a new page begins with.
    names: Option<String>,
}

/// How a stretch ended.
struct Ended {
    /// A template said that the report ends here.
    stopped: bool,
    /// Ticks of the last event that was shown.
    last: Option<u64>,
}

impl Stretch<'_> {
    /// Formats rows; `at` is the place of the first among all that are chosen, `before` the ticks of
    /// the event shown before it.
    fn format(
        &self,
        formatter: &mut Formatter,
        rows: &[u32],
        at: usize,
        before: u64,
        page: &mut Page,
    ) -> Ended {
        let mut before = before;
        let mut last = None;
        let mut stopped = false;
        for (number, row) in rows.iter().enumerate() {
            let Some(event) = self.batch.event(*row as usize) else { continue };
            page.turn(formatter);
            let call = self.calls.get(at + number).copied().flatten();
            let offset =
                if self.shows_offsets { self.batch.records.offset(*row as usize) } else { 0 };
            let row = Row { call, first: self.first, before, offset };
            match formatter.event(&self.shared, &event, row) {
                Formatted::Shown(lines) => page.lines += lines,
                Formatted::Skipped => continue,
                Formatted::Stop => stopped = true,
            }
            before = event.ticks;
            last = Some(before);
            if stopped {
                break;
            }
        }
        Ended { stopped, last }
    }
}

impl Page {
    /// Begins a new page where one is full.
    #[inline]
    fn turn(&mut self, formatter: &mut Formatter) {
        if self.size > 0 && self.lines >= self.size {
            self.lines = 0;
            if let Some(names) = &self.names {
                formatter.text().text(format!("\n{names}\n\n"));
            }
        }
    }
}

impl<W: Write> Sink for TrcReport<'_, W> {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        if self.settings.selection.check(trace).is_err()
            || self.settings.options.check(trace).is_err()
        {
            return Flow::Break(());
        }
        self.begin(trace);
        let chosen = self.choose(trace, batch);
        if self.settings.options.history {
            for row in &self.rows {
                self.history.count(batch.columns.id.get(*row as usize).copied().unwrap_or(0));
            }
            return chosen;
        }
        self.facts.prepare(trace, self.program, &self.settings, batch, &self.rows);
        match self.format(trace, batch) {
            ControlFlow::Continue(()) => chosen,
            ControlFlow::Break(()) => ControlFlow::Break(()),
        }
    }

    fn loss(&mut self, trace: &Trace, loss: &Loss) -> Flow {
        self.begin(trace);
        if self.settings.options.history {
            return Flow::Continue(());
        }
        let line = super::loss_line(loss);
        self.line(&line);
        Flow::Continue(())
    }
}
