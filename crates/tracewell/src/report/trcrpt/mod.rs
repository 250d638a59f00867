//! Writes reports in the layout of AIX's trcrpt for every dialect. A report has a heading. For each
//! event, it shows the id, the context, the times and the text of the event's template. The level
//! of the text determines its column.
//!
//! | file | content |
//! |---|---|
//! | `options` | options of the report, given by `-O` |
//! | `heading` | the facts of the trace, and the names of the columns |
//! | `facts` | strings that all events of a context or an id share |
//! | `columns` | the columns of context and time |
//! | `entry` | the bytes of an event for its template |
//! | `formatter` | the lines of an event |
//! | `history` | counts instead of events |
//! | `slices` | events that several threads decode and format |
//!
//! If the templates keep no state between events, several threads format a batch. Each thread
//! formats a part, and the parts are written in order. If the decoder passes slices, each thread
//! also decodes them (`slices`).

mod columns;
mod entry;
mod facts;
mod formatter;
mod heading;
mod history;
mod options;
mod slices;

use std::io::{self, Write};

use crate::model::{Batch, Event, Flow, Loss, Meaning, Sink, SinkError, Slices, Stop, Trace};
use crate::select::{Selection, Selector};
use crate::template::{Marks, Program};
pub use crate::text::MAX_THREADS;
use crate::text::{LineWriter, TextBuffers, thread_count};
use columns::Row;
use facts::Facts;
use formatter::{Formatted, Formatter, Shared};
use history::History;
pub use options::{NoWallClock, OptionError, Options, Timestamp};

/// Content and layout of a report.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The columns and their forms.
    pub options: Options,
    /// The events to show.
    pub selection: Selection,
    /// Omits the lines before the first event: system, date, column names.
    pub without_heading: bool,
    /// First line, for example the name of the input.
    pub title: Option<String>,
    /// Name of the trace, for templates that ask for it (`$LOGFILE`).
    pub log: String,
    /// Width of a line in characters; 0 for 200.
    pub width: usize,
    /// Number of threads that format events, at most [`MAX_THREADS`]; 0 for one per processor.
    pub threads: usize,
}

/// Minimum number of events per thread. For fewer events, starting a thread costs more than it
/// saves.
const MIN_EVENTS_PER_THREAD: usize = 512;

/// A sink that writes a report.
///
/// ```
/// use tracewell::report::trcrpt::{Settings, TrcReport};
/// use tracewell::source::Source;
/// use tracewell::template::Program;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/threadx/tiny.trx");
/// let templates = Source::new("empty.fmt", "");
/// let compiled = Program::of(&[templates]);
/// let mut report = TrcReport::new(Vec::new(), &compiled.program, Settings::default());
/// tracewell::open(path)?.read(&mut report)?;
/// let text = String::from_utf8(report.into_inner()?)?;
/// assert!(text.contains("tx_mutex_create"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct TrcReport<'p, W> {
    program: &'p Program,
    settings: Settings,
    out: LineWriter<W>,
    selector: Selector,
    is_whole: bool,
    facts: Facts,
    formatters: Vec<Formatter>,
    buffers: TextBuffers,
    /// The rows of the batch that are shown, and the system call of each row.
    rows: Vec<u32>,
    row_calls: Vec<Option<u64>>,
    /// True if a column or template shows system calls.
    shows_calls: bool,
    shows_offsets: bool,
    calls: Vec<Option<u64>>,
    history: History,
    /// Ticks of the first and of the last event shown.
    first: Option<u64>,
    before: Option<u64>,
    begun: bool,
    page: usize,
}

impl<'p, W: Write> TrcReport<'p, W> {
    /// Prepares a report. Nothing is written before the first event.
    pub fn new(out: W, program: &'p Program, settings: Settings) -> Self {
        let selector = Selector::new(settings.selection.clone());
        let is_whole = settings.selection.is_all();
        // Timers, `$SKIP`, `$STOP` and pages depend on earlier events, so one thread formats all
        // events.
        let in_order = program.remembers() || settings.options.page_size > 0;
        let threads = if in_order { 1 } else { thread_count(settings.threads) };
        let shows_calls = settings.options.svc || program.asks_for_calls();
        let formatters = (0..threads).map(|_| Formatter::default()).collect();
        Self {
            program,
            settings,
            out: LineWriter::new(out),
            is_whole,
            selector,
            facts: Facts::default(),
            formatters,
            buffers: TextBuffers::default(),
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

    /// Returns the number of marks of each kind so far.
    pub fn marks(&self) -> Marks {
        self.formatters.iter().map(Formatter::marks).fold(Marks::default(), Marks::sum)
    }

    /// Returns the writer.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    pub fn into_inner(self) -> io::Result<W> {
        self.out.into_inner()
    }

    /// Checks that the trace has the data that the report needs.
    fn check(&self, trace: &Trace) -> Result<(), SinkError> {
        self.settings.selection.check(trace).map_err(SinkError::not_possible)?;
        self.settings.options.check(trace).map_err(SinkError::not_possible)
    }

    fn line(&mut self, line: &str) -> io::Result<()> {
        self.out.buffer().text(line);
        self.out.line_end()
    }

    /// Writes title and heading if they have not been written yet.
    fn begin(&mut self, trace: &Trace) -> io::Result<()> {
        if std::mem::replace(&mut self.begun, true) {
            return Ok(());
        }
        if let Some(title) = self.settings.title.take() {
            self.line(&title)?;
        }
        if self.settings.without_heading {
            return Ok(());
        }
        for line in heading::facts(trace, &self.settings.options) {
            self.line(&line)?;
        }
        if !self.settings.options.history {
            let names = heading::columns(trace, &self.settings.options);
            self.line(&names)?;
            self.line("")?;
        }
        Ok(())
    }

    /// Selects which events of a batch to show. Returns a break if no later event can be selected.
    fn choose(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        self.rows.clear();
        self.row_calls.clear();
        // Usual case: all events are shown.
        if self.is_whole && !self.shows_calls {
            self.rows.extend(0..batch.len() as u32);
            return Flow::Continue(());
        }
        for (index, row) in batch.events().enumerate() {
            let event = Event::new(trace, &row);
            // Follow system calls through all events, because a call may begin before the
            // selection.
            let call = self.call(event);
            match self.selector.takes(event) {
                Flow::Continue(true) => {
                    self.rows.push(index as u32);
                    self.row_calls.push(call);
                }
                Flow::Continue(false) => {}
                Flow::Break(stop) => return Flow::Break(stop),
            }
        }
        Flow::Continue(())
    }

    /// Returns the system call in progress in the event's context. The events that enter and leave
    /// a call belong to the call.
    fn call(&mut self, event: Event<'_>) -> Option<u64> {
        if !self.shows_calls {
            return None;
        }
        let context = event.row.context.index();
        if context >= self.calls.len() {
            self.calls.resize(context + 1, None);
        }
        let means = event.kind().means;
        let value = means.and_then(|means| event.argument(means.value?));
        match means.map(|means| means.meaning) {
            Some(Meaning::Call) => {
                self.calls[context] = value;
                value
            }
            // The event that ends the call belongs to the call.
            Some(Meaning::Return) => self.calls[context].take().or(value),
            _ => self.calls[context],
        }
    }

    /// Formats the chosen events, on several threads if there are enough events.
    fn format(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        let ticks = |row: Option<&u32>| row.and_then(|row| batch.columns.ticks.get(*row as usize));
        let Some(earliest) = ticks(self.rows.first()).copied() else { return Flow::Continue(()) };
        let first = *self.first.get_or_insert(earliest);
        let before = self.before.unwrap_or(earliest);
        // The ticks of all events are known here, so each thread can look up the time of the line
        // before its first line.
        self.before = ticks(self.rows.last()).copied();
        let (settings, facts) = (&self.settings, &self.facts);
        let shared = Shared { program: self.program, settings, facts, trace };
        let shows_offsets = self.shows_offsets;
        let part = BatchPart { shared, batch, calls: &self.row_calls, first, shows_offsets };
        let threads = self.formatters.len().min(self.rows.len() / MIN_EVENTS_PER_THREAD).max(1);
        if threads == 1 {
            let names = settings.options.page_size > 0 && !settings.without_heading;
            let names = names.then(|| heading::columns(trace, &settings.options));
            let size = settings.options.page_size;
            let mut page = Page { size, lines: self.page, names };
            let Some(formatter) = self.formatters.first_mut() else { return Flow::Continue(()) };
            let mut before = before;
            for (number, rows) in self.rows.chunks(MIN_EVENTS_PER_THREAD).enumerate() {
                // Chunks are small, so the text of a chunk fits into the cache.
                let at = number * MIN_EVENTS_PER_THREAD;
                let ended = part.format(formatter, rows, at, before, &mut page);
                before = ended.last.unwrap_or(before);
                // Write the text while it is in the first-level cache.
                Stop::on_error(self.out.block(formatter.text().as_bytes()))?;
                formatter.text().truncate(0);
                if ended.stopped {
                    return Flow::Break(Stop::Complete);
                }
            }
            // Templates may have omitted the last events. DELTA refers to the last event shown.
            self.before = Some(before);
            self.page = page.lines;
            return Flow::Continue(());
        }
        // Each thread formats a contiguous part, and the parts are written in order.
        let length = self.rows.len().div_ceil(threads);
        std::thread::scope(|scope| {
            let mut before = before;
            let rows = self.rows.chunks(length).enumerate();
            for ((number, rows), formatter) in rows.zip(&mut self.formatters) {
                let (part, earlier) = (&part, before);
                before = ticks(rows.last()).copied().unwrap_or(before);
                let at = number * length;
                scope.spawn(move || {
                    part.format(formatter, rows, at, earlier, &mut Page::default());
                });
            }
        });
        for formatter in &mut self.formatters {
            Stop::on_error(self.out.block(formatter.text().as_bytes()))?;
            formatter.text().truncate(0);
        }
        Flow::Continue(())
    }
}

/// Events that one thread formats in order.
#[derive(Clone, Copy)]
struct BatchPart<'a> {
    shared: Shared<'a>,
    batch: &'a Batch<'a>,
    /// System calls of all chosen events; empty if no column or template shows them.
    calls: &'a [Option<u64>],
    /// Ticks of the first event of the report.
    first: u64,
    /// True if a template shows offsets.
    shows_offsets: bool,
}

/// The state of the current page.
#[derive(Default)]
struct Page {
    /// Lines per page; 0 for no pages.
    size: usize,
    /// Lines on the current page.
    lines: usize,
    /// Column names at the top of a page.
    names: Option<String>,
}

/// The result of formatting a part of a batch.
struct Ended {
    /// A template ended the report.
    stopped: bool,
    /// Ticks of the last event shown.
    last: Option<u64>,
}

impl BatchPart<'_> {
    /// Formats rows. `at` is the index of the first row among all chosen rows, and `before`
    /// contains the ticks of the event shown before that row.
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
            match formatter.event(&self.shared, Event::new(self.shared.trace, &event), row) {
                Formatted::Shown(lines) => page.lines += lines,
                // Omitted events do not affect DELTA.
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
    /// Begins a new page if the current page is full.
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
        Stop::on_error(self.check(trace))?;
        Stop::on_error(self.begin(trace))?;
        // If the selection ends in this batch, show the chosen events before stopping.
        let chosen = self.choose(trace, batch);
        if self.settings.options.history {
            for row in &self.rows {
                self.history.count(batch.columns.id.get(*row as usize).copied().unwrap_or(0));
            }
            return chosen;
        }
        self.facts.prepare(trace, self.program, &self.settings, batch, &self.rows);
        self.format(trace, batch)?;
        chosen
    }

    fn loss(&mut self, trace: &Trace, loss: &Loss) -> Flow {
        Stop::on_error(self.begin(trace))?;
        if self.settings.options.history {
            return Flow::Continue(());
        }
        Stop::on_error(self.line(&super::loss_line(trace, loss)))
    }

    fn takes_slices(&self, trace: &Trace) -> bool {
        self.can_be_split(trace)
    }

    fn slices(&mut self, trace: &Trace, slices: &dyn Slices) -> Flow {
        Stop::on_error(self.write_slices(trace, slices))
    }

    fn flush(&mut self) -> Result<(), SinkError> {
        Ok(self.out.flush()?)
    }

    fn finish(&mut self, trace: &Trace) -> Result<(), SinkError> {
        self.check(trace)?;
        self.begin(trace)?;
        if self.settings.options.history {
            for line in self.history.lines(trace, self.program) {
                self.line(&line)?;
            }
        }
        self.flush()
    }
}
