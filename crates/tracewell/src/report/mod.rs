//! Writes reports for people: one aligned line per event, marks at the positions of missing events,
//! and a summary.
//!
//! | column | content |
//! |---|---|
//! | SEQ | number of the event in the trace |
//! | TIME or TICKS | time since the first event in seconds, or in ticks if the clock's rate is unknown |
//! | DATE | date of the event; replaces the time if [`TimeForm`] requests dates |
//! | DELTA | time since the previous line in microseconds or ticks |
//! | CPU | number of the core; only if more than one core recorded |
//! | CONTEXT | the context that recorded the event; `>` marks a context that took over the core |
//! | PRI | priority of the context |
//! | LEVEL | level of the call site; only for instrumented programs |
//! | EVENT | label of the event |
//! | ARGUMENTS | decoded arguments |
//!
//! If an event takes a message from a queue, `rt` is the time in ticks for which the message waited
//! in the queue, and `nseq` is the message's number among the messages to the same receiver.
//!
//! For a screen ([`Layout::width`]), columns are narrow, columns without content are left
//! out, and arguments that do not fit continue below their event.
//!
//! Exports for programs are in [`crate::export`].

pub mod analyses;
pub mod chart;
pub mod check;
mod columns;
pub mod compare;
pub mod critical_path;
pub mod distributions;
pub mod document;
mod figures;
pub mod info;
mod kept_lines;
mod layout;
pub mod machines;
pub mod measures;
pub mod scheduling;
mod screen;
mod sections;
mod slices;
pub mod spans;
mod summary;
mod table;
mod times;
pub mod trcrpt;

use std::io::{self, Write};

use crate::analysis::machines::{Response, Responses};
use crate::format;
use crate::model::{
    Batch, ContextId, Event, Flow, Loss, LossCause, Losses, NumberRows, Priority, SeenContexts,
    Sink, SinkError, Slices, Stop, Trace,
};
use crate::select::{Listing, Selection};
use crate::text::calendar::Dates;
use crate::text::style::{HEADING, LOSS, of_context, styled};
use crate::text::{
    Describer, Literal, PerEvent, Reservation, TimeForm, WideText, counted, display_width, padded,
    plural, shortened,
};
use columns::{Columns, GAP};
use kept_lines::KeptLines;
pub use layout::Layout;
use screen::Screen;
use slices::Parts;
use times::Times;

/// Layout and content of a report.
#[derive(Clone, Debug, Default)]
pub struct ReportOptions {
    /// Width and colours. Without a width, the widths of the columns depend only on the format, and
    /// on the names of contexts that are known at the first event.
    pub layout: Layout,
    /// First line, for example the name of the input.
    pub title: Option<String>,
    /// The events to show.
    pub selection: Selection,
    /// The form of times.
    pub times: TimeForm,
    /// True if reports on a screen also show the arguments in [`Format::details`].
    ///
    /// [`Format::details`]: crate::format::Format::details
    pub shows_details: bool,
}

/// A sink that writes a line for each selected event.
///
/// ```
/// use tracewell::report::{Report, ReportOptions};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/threadx/tiny.trx");
/// let mut report = Report::new(Vec::new(), ReportOptions::default());
/// tracewell::open(path)?.rate("1MHz".parse()?).read(&mut report)?;
/// let text = String::from_utf8(report.into_inner()?)?;
/// assert!(text.contains("tx_mutex_create             mutex=plain mutex, inheritance=none"));
/// assert!(text.contains("events  197 read, 197 selected"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Report<W> {
    lines: Listing<W>,
    options: ReportOptions,
    columns: Option<(Columns, Times)>,
    contexts: Vec<ContextCell>,
    seen_contexts: SeenContexts,
    labels: PerEvent<Literal>,
    describer: Describer,
    kept: KeptLines,
    /// The response times; `None` if the dialect does not record messages.
    responses: Option<Responses>,
    shown: Shown,
    screen: Option<Screen>,
    /// True if reading stopped before the end of the trace, because no later event can be selected.
    broke_off: bool,
    parts: Parts,
}

/// The cell of a context.
#[derive(Debug)]
struct ContextCell {
    text: Literal,
    /// The priority in `kept`; `None` if nothing is kept.
    kept_for: Option<Priority>,
    /// The cells of context and priority, for the latest event; `None` if they are too long.
    kept: Option<WideText>,
}

/// Counts of the events that the report has shown so far, and the latest context of each core.
#[derive(Debug, Default)]
struct Shown {
    events: u64,
    by_context: Vec<u64>,
    /// Context of the previous event on each core.
    running: Vec<Option<ContextId>>,
}

/// Maximum length in bytes of the columns of a line, without the names: five numbers with spaces, a
/// date, and marks.
const COLUMN_BYTES: usize = 5 * 2 * Reservation::NUMBER + Dates::ROOM;

impl<W: Write> Report<W> {
    /// Prepares a report. Nothing is written before the first event.
    pub fn new(out: W, options: ReportOptions) -> Self {
        Self::of(Listing::new(out, options.selection.clone()), options)
    }

    fn of(lines: Listing<W>, options: ReportOptions) -> Self {
        Self {
            lines,
            options,
            columns: None,
            contexts: Vec::new(),
            seen_contexts: SeenContexts::default(),
            labels: PerEvent::default(),
            describer: Describer::default(),
            kept: KeptLines::new(0),
            responses: None,
            shown: Shown::default(),
            screen: None,
            broke_off: false,
            parts: Parts::default(),
        }
    }

    /// Returns the writer.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    pub fn into_inner(self) -> io::Result<W> {
        self.lines.into_inner()
    }

    /// Checks that the trace has the data that the report and its selection need.
    fn check(&self, trace: &Trace) -> Result<(), SinkError> {
        self.options.times.check(trace).map_err(SinkError::not_possible)?;
        self.lines.check(trace)
    }

    /// Writes title and column names if they have not been written yet. `batch` contains the first
    /// events.
    fn begin(&mut self, trace: &Trace, batch: Option<&Batch<'_>>) -> io::Result<()> {
        if self.columns.is_some() {
            return Ok(());
        }
        let mut columns = match self.options.layout.width {
            Some(_) => Columns::of_screen(trace, batch),
            None => Columns::of(trace),
        };
        columns.show_times(&self.options.times);
        // If there are symbols, show the details too: the names of addresses are worth the space.
        let is_short = !self.options.shows_details && trace.symbols.is_none();
        if self.options.layout.width.is_some() && is_short {
            let format = format::by_name(trace.format);
            self.describer = Describer::without(format.map_or(&[], |format| format.details));
        }
        let title = self.options.title.take();
        for line in title.into_iter().chain([heading(trace), String::new()]) {
            self.line_of_text(&line)?;
        }
        self.columns = Some((columns, Times::new(columns, &self.options.times)));
        self.kept = KeptLines::new(columns.seq);
        self.responses = Responses::are_recorded(&trace.schema).then(Responses::default);
        self.names()
    }

    /// Writes the column names again if this batch needs additional columns.
    fn widen(&mut self, trace: &Trace, batch: &Batch<'_>) -> io::Result<()> {
        let columns = self.columns.as_mut().map(|(columns, _)| columns);
        if columns.is_some_and(|columns| columns.widen(trace, batch)) {
            // The cells of events depend on the columns.
            self.labels = PerEvent::default();
            self.kept.forget_labels();
            self.parts = Parts::default();
            self.contexts.iter_mut().for_each(|context| context.kept_for = None);
            return self.names();
        }
        Ok(())
    }

    /// Writes the column names.
    fn names(&mut self) -> io::Result<()> {
        let Some((columns, _)) = &self.columns else { return Ok(()) };
        let screen = self.options.layout.width.map(|width| Screen::new(width, columns));
        let names = styled(&columns.names(), HEADING, self.options.layout.color);
        // The escape sequence before the names has bytes, but no width on the screen.
        let style = names.find('m').filter(|_| self.options.layout.color).map_or(0, |end| end + 1);
        let event = style + columns.before_event();
        let out = self.lines.buffer();
        let start = out.len();
        out.text(&names);
        if let Some(screen) = &screen {
            screen.fold(out, start, start + event);
        }
        self.screen = screen;
        self.lines.line("")
    }

    /// Writes a line that is not an event.
    fn line_of_text(&mut self, line: &str) -> io::Result<()> {
        self.lines.line(self.options.layout.fold(line, 2).as_bytes())
    }

    #[inline]
    fn line(&mut self, event: Event<'_>, response: Option<Response>) -> Flow {
        let Event { trace, row } = event;
        let Some((columns, times)) = &mut self.columns else { return Flow::Continue(()) };
        let changed = self.shown.note(row.context, row.cpu);
        let context = self.contexts.get(row.context.index());
        let label = self.labels.get(row.id, || label(trace, row.id, *columns));
        let out = self.lines.buffer();
        let start = out.len();
        // The columns before the arguments are written without further checks of the capacity.
        let room = out.room(COLUMN_BYTES + context.map_or(0, |cell| cell.text.len()) + label.len());
        let mut room = times.put(room.right(row.seq, columns.seq), trace, row.ticks);
        if columns.cpu > 0 {
            room = room.right(u64::from(row.cpu), columns.cpu);
        }
        room = room.text(if changed { b"  >" } else { b"   " });
        if let Some(context) = context {
            room = room.literal(&context.text);
        }
        room = match row.priority.get() {
            Some(priority) => room.right(u64::from(priority), columns.priority),
            None => room.text(columns.no_priority()),
        };
        room.literal(label).done();
        let labelled = out.len();
        self.describer.put(out, event);
        if let Some(Response { waited, number }) = response {
            let mut room = out.room(4 * Reservation::NUMBER);
            if let Some(waited) = waited {
                room = room.text(b", rt=").decimal(waited);
            }
            room.text(b", nseq=").decimal(number).done();
        }
        out.trim_end();
        if let Some(screen) = &self.screen {
            // Fold before the blanks that precede the label.
            screen.fold(out, start, labelled - label.len() + GAP);
        }
        self.lines.end_line(start)
    }

    fn summary(&mut self, trace: &Trace) -> io::Result<()> {
        let layout = self.options.layout;
        let number = |count| layout.count(count);
        let mut lines = vec![String::new()];
        let ticks = plural(trace.span, "tick");
        let span = match trace.clock.nanoseconds(trace.span) {
            Some(ns) => format!("{} {ticks} ({} s)", number(trace.span), seconds(ns)),
            None => format!("{} {ticks}", number(trace.span)),
        };
        let selected = number(self.shown.events);
        let shown = match self.options.selection.tail {
            Some(tail) if (tail as u64) < self.shown.events => format!(", the last {tail} shown"),
            _ => String::new(),
        };
        if self.broke_off {
            // The rest of the trace was not read, so facts about the whole trace are unknown.
            lines.push(format!("events  {selected} selected{shown}; the rest was not read"));
        } else {
            let read = number(trace.events);
            lines.push(format!("events  {read} read, {selected} selected{shown}"));
            lines.push(format!("span    {span}"));
            let lost = lost(&trace.losses);
            let color = layout.color && trace.losses.iter().next().is_some();
            lines.push(styled(&format!("lost    {lost}"), LOSS, color));
        }
        lines.push(String::new());
        lines.extend(self.shown.contexts(trace, number));
        lines.iter().try_for_each(|line| self.line_of_text(line))
    }
}

impl<W: Write> Sink for Report<W> {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        Stop::on_error(self.check(trace))?;
        Stop::on_error(self.begin(trace, Some(batch)))?;
        Stop::on_error(self.widen(trace, batch))?;
        let width = self.columns.as_ref().map_or(0, |(columns, _)| columns.context);
        let (color, is_screen) = (self.options.layout.color, self.options.layout.width.is_some());
        trace.contexts.update(&mut self.contexts, &mut self.seen_contexts, |_, context| {
            let shown =
                if is_screen { shortened(&context.name, width) } else { (&context.name).into() };
            let cell = styled(&padded(&shown, width), of_context(&context.name), color);
            ContextCell { text: Literal::new(cell), kept_for: None, kept: None }
        });
        self.columns.iter_mut().for_each(|(_, times)| times.begin(&trace.clock));
        if self.has_usual_lines()
            && let Some(rows) = NumberRows::of(trace, batch)
        {
            return self.kept_lines(&rows);
        }
        for row in batch.events() {
            let event = Event::new(trace, &row);
            // Process events outside of the selection, too, because they may post messages.
            let responses = self.responses.as_mut();
            let response = responses.and_then(|responses| responses.take(event));
            match self.lines.takes(event) {
                Flow::Continue(true) => self.line(event, response)?,
                Flow::Continue(false) => {}
                Flow::Break(stop) => {
                    self.broke_off = true;
                    return Flow::Break(stop);
                }
            }
        }
        Flow::Continue(())
    }

    fn loss(&mut self, trace: &Trace, loss: &Loss) -> Flow {
        // The missing events may have taken messages, so the content of queues is unknown after
        // them.
        self.responses.iter_mut().for_each(Responses::gap);
        Stop::on_error(self.begin(trace, None))?;
        let line = styled(&loss_line(trace, loss), LOSS, self.options.layout.color);
        let start = self.lines.buffer().len();
        self.lines.buffer().text(line);
        if let Some(screen) = &self.screen {
            screen.fold(self.lines.buffer(), start, start);
        }
        self.lines.end_mark(start)
    }

    fn takes_slices(&self, trace: &Trace) -> bool {
        self.can_be_split(trace)
    }

    fn slices(&mut self, trace: &Trace, slices: &dyn Slices) -> Flow {
        Stop::on_error(self.write_slices(trace, slices))
    }

    fn flush(&mut self) -> Result<(), SinkError> {
        Ok(self.lines.flush()?)
    }

    fn finish(&mut self, trace: &Trace) -> Result<(), SinkError> {
        self.check(trace)?;
        self.begin(trace, None)?;
        self.lines.end()?;
        self.summary(trace)?;
        self.flush()
    }
}

impl Shown {
    /// Counts an event. Returns true if the event's context took over the core.
    #[inline]
    fn note(&mut self, context: ContextId, cpu: u16) -> bool {
        let (index, cpu) = (context.index(), usize::from(cpu));
        // Contexts appear while reading, so the tables grow on demand.
        if index >= self.by_context.len() || cpu >= self.running.len() {
            self.widen(index, cpu);
        }
        self.by_context[index] += 1;
        self.events += 1;
        self.running[cpu].replace(context) != Some(context)
    }

    /// Returns true if the context of the next event takes over the core.
    #[inline]
    fn takes_over(&self, context: ContextId, cpu: u16) -> bool {
        self.running.get(usize::from(cpu)) != Some(&Some(context))
    }

    #[cold]
    fn widen(&mut self, context: usize, cpu: usize) {
        self.by_context.resize(self.by_context.len().max(context + 1), 0);
        self.running.resize(self.running.len().max(cpu + 1), None);
    }

    /// Returns the table of contexts and their events, most events first.
    fn contexts(&self, trace: &Trace, number: impl Fn(u64) -> String) -> Vec<String> {
        let mut rows: Vec<_> = trace
            .contexts
            .iter()
            .filter_map(|(id, context)| Some((*self.by_context.get(id.index())?, context)))
            .filter(|(events, _)| *events > 0)
            .collect();
        rows.sort_by_key(|(events, _)| std::cmp::Reverse(*events));
        if rows.is_empty() {
            return Vec::new();
        }
        let width = key_width(trace);
        let heading = format!("{:>9}  {:<width$}  CONTEXT", "EVENTS", "KEY");
        let row = |(events, context): &(u64, &crate::model::Context)| {
            format!("{:>9}  {:<width$}  {}", number(*events), context.key_text, context.name)
        };
        std::iter::once(heading).chain(rows.iter().map(row)).collect()
    }
}

/// Returns the key of an object as it is written in events and reports: in hexadecimal, with as
/// many digits as the target's addresses.
pub(super) fn key_text(trace: &Trace, key: u64) -> String {
    format!("0x{key:0digits$X}", digits = trace.payload.digits())
}

/// Returns the width of the column of context keys. It is the width of an address, or of the
/// longest key if that is wider.
fn key_width(trace: &Trace) -> usize {
    let keys = trace.contexts.iter().map(|(_, context)| context.key_text.len());
    keys.fold(trace.payload.digits() + 2, usize::max)
}

/// Returns the mark of a loss.
fn loss_line(trace: &Trace, loss: &Loss) -> String {
    let how_many = match (loss.events, loss.cause) {
        // The sequence numbers of the source already include these missing events.
        (Some(0), _) => "a record".to_owned(),
        (Some(events), _) => counted(events, "event"),
        (None, LossCause::Overwritten) => "earlier events".to_owned(),
        (None, _) => "an unknown number of events".to_owned(),
    };
    let (cause, place) = (loss.cause.as_str(), trace.place(loss.offset));
    format!("-------- lost here: {how_many}, {cause}, at byte {place} --------")
}

/// Returns the columns of an event's level and label. Two spaces follow a label that is too long
/// for its column.
fn label(trace: &Trace, id: u32, columns: Columns) -> Literal {
    let label = trace.schema.label(id);
    let gap = if display_width(&label) < columns.event { "" } else { "  " };
    let site = trace.schema.event(id).instrumentation.site.as_ref();
    let level = site.map_or("", |site| site.level.as_str());
    let label = padded(&label, columns.event);
    Literal::new(format!("{:GAP$}{level:<width$}{label}{gap}", "", width = columns.level))
}

fn seconds(nanoseconds: u64) -> String {
    format!("{}.{:09}", nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000)
}

/// Returns the line about format and clock.
fn heading(trace: &Trace) -> String {
    format!("{} trace, {}", trace.format, heading_of_clock(trace))
}

fn heading_of_clock(trace: &Trace) -> String {
    let clock = &trace.clock;
    let rate = match clock.rate {
        Some(rate) if rate.ratio() == (1, 1) => "1 tick per second".to_owned(),
        Some(rate) => format!("{rate} ticks per second"),
        None => "rate unknown (-O rate=TICKS_PER_SECOND)".to_owned(),
    };
    let first = if clock.changes.len() > 1 { " at first" } else { "" };
    format!("counter 0..{} counting {}, {rate}{first}", clock.counter.last, clock.counter.direction)
}

/// Returns the line about losses.
fn lost(losses: &Losses) -> String {
    let causes = losses.iter().map(|(cause, count)| {
        let known = count.events;
        match (count.events, count.unknown) {
            (0, 0) => format!("{} {}", counted(count.gaps, "record"), cause.as_str()),
            (0, _) => format!("unknown number {}", cause.as_str()),
            (_, 0) => format!("{known} {}", cause.as_str()),
            _ => format!("{known} and more {}", cause.as_str()),
        }
    });
    let causes: Vec<_> = causes.collect();
    if causes.is_empty() { "nothing".to_owned() } else { causes.join(", ") }
}
