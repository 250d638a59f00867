//! The report of AIX's trcrpt, for every dialect: a heading, then for each event its id, who it is of,
//! when it was, and what its template makes of it, in the column of its level.
//!
//! | file | what it settles |
//! |---|---|
//! | `options` | what `-O` can say |
//! | `heading` | the facts of the trace, and the names of the columns |
//! | `facts` | what is the same for all events of a context or an id |
//! | `entry` | the bytes of an event as a template sees them |
//! | `formatter` | one event as lines |
//! | `history` | counts instead of events |
//!
//! Events whose templates remember nothing from one to the next are formatted on several threads, each
//! a stretch of a batch; the stretches are written in order.

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
use crate::text::{LineWriter, TextBuffer};
use facts::Facts;
use formatter::{Formatted, Formatter, Row};
use history::History;
pub use options::{OptionError, Options, Timestamp};

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
    /// Threads that format, 0 for as many as there are processors.
    pub threads: usize,
}

/// Events of a stretch below which a thread is not worth it.
const WORTH_A_THREAD: usize = 512;

/// A sink that writes a report.
#[derive(Debug)]
pub struct TrcReport<'p, W> {
    program: &'p Program,
    settings: Settings,
    out: LineWriter<W>,
    selector: Selector,
    facts: Facts,
    formatters: Vec<Formatter>,
    stretches: Vec<TextBuffer>,
    rows: Vec<Row>,
    /// System call that each context is in.
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
            settings.threads
        } else {
            std::thread::available_parallelism().map_or(1, usize::from)
        };
        let threads =
            if program.remembers() || settings.options.page_size > 0 { 1 } else { threads };
        let formatters = (0..threads).map(|_| Formatter::default()).collect();
        Self {
            program,
            settings,
            out: LineWriter::new(out),
            selector,
            facts: Facts::default(),
            formatters,
            stretches: Vec::new(),
            rows: Vec::new(),
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
        for (index, event) in batch.events().enumerate() {
            let call = self.call(trace, &event);
            match self.selector.takes(trace, &event) {
                Flow::Continue(true) => {}
                Flow::Continue(false) => continue,
                Flow::Break(()) => return Flow::Break(()),
            }
            let ticks = event.ticks;
            let first = *self.first.get_or_insert(ticks);
            let before = self.before.replace(ticks).unwrap_or(ticks);
            self.rows.push(Row { index, call, first, before });
        }
        Flow::Continue(())
    }

    /// The system call that an event's context is in: that which the event itself enters or leaves, too.
    fn call(&mut self, trace: &Trace, event: &EventRef<'_>) -> Option<u64> {
        if !self.settings.options.svc && !self.program.asks_for_calls() {
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
        let (program, settings, facts) = (self.program, &self.settings, &self.facts);
        let threads = self.formatters.len().min(self.rows.len() / WORTH_A_THREAD).max(1);
        if threads == 1 {
            return self.format_here(trace, batch);
        }
        self.stretches.resize_with(threads, TextBuffer::default);
        let length = self.rows.len().div_ceil(threads);
        let work = self.rows.chunks(length).zip(&mut self.formatters).zip(&mut self.stretches);
        std::thread::scope(|scope| {
            let format = |rows: &[Row], formatter: &mut Formatter, out: &mut TextBuffer| {
                for row in rows {
                    let Some(event) = batch.event(row.index) else { continue };
                    formatter.event(program, settings, facts, trace, &event, *row, out);
                }
            };
            let mut work = work.map(|((rows, formatter), out)| (rows, formatter, out));
            let own = work.next();
            for (rows, formatter, out) in work {
                scope.spawn(move || format(rows, formatter, out));
            }
            // The first stretch is formatted here.
            if let Some((rows, formatter, out)) = own {
                format(rows, formatter, out);
            }
        });
        for stretch in &mut self.stretches {
            let written = self.out.block(stretch.as_bytes());
            stretch.truncate(0);
            if !written {
                return Flow::Break(());
            }
        }
        Flow::Continue(())
    }

    /// Formats the chosen events one after the other, as templates with a memory need it.
    fn format_here(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        let rows = std::mem::take(&mut self.rows);
        let flow = self.each_row(trace, batch, &rows);
        self.rows = rows;
        flow
    }

    fn each_row(&mut self, trace: &Trace, batch: &Batch<'_>, rows: &[Row]) -> Flow {
        // Where events are skipped, the one before is the one that was shown.
        let mut shown = rows.first().map(|row| row.before);
        for row in rows {
            let Some(event) = batch.event(row.index) else { continue };
            self.page(trace);
            let before =
                if self.program.skips() { shown.unwrap_or(row.before) } else { row.before };
            let row = Row { before, ..*row };
            let (program, settings, facts) = (self.program, &self.settings, &self.facts);
            let Some(formatter) = self.formatters.first_mut() else { continue };
            let out = self.out.buffer();
            match formatter.event(program, settings, facts, trace, &event, row, out) {
                Formatted::Shown(lines) => {
                    shown = Some(event.ticks);
                    self.page += lines;
                }
                Formatted::Skipped => {}
                Formatted::Stop => return Flow::Break(()),
            }
            if !self.out.full() {
                return Flow::Break(());
            }
        }
        if let Some(shown) = shown.filter(|_| self.program.skips()) {
            self.before = Some(shown);
        }
        Flow::Continue(())
    }

    /// Writes the names of the columns again where a page is full.
    fn page(&mut self, trace: &Trace) {
        let size = self.settings.options.page_size;
        if size > 0 && self.page >= size {
            self.page = 0;
            self.line("");
            self.column_names(trace);
        }
    }
}

impl<W: Write> Sink for TrcReport<'_, W> {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        if self.settings.selection.check(trace).is_err() {
            return Flow::Break(());
        }
        self.begin(trace);
        let chosen = self.choose(trace, batch);
        if self.settings.options.history {
            for row in &self.rows {
                self.history.count(batch.columns.id.get(row.index).copied().unwrap_or(0));
            }
            return chosen;
        }
        let shown = self.rows.iter().filter_map(|row| batch.event(row.index));
        self.facts.prepare(trace, self.program, &self.settings, shown);
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
