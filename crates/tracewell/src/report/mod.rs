//! Text for people: one aligned line an event, marks where events are missing, a summary.
//!
//! | column | content |
//! |---|---|
//! | SEQ | number of the event in the trace |
//! | TIME or TICKS | since the first event: seconds where the clock's rate is known, else ticks |
//! | DELTA | since the line before: microseconds or ticks |
//! | CPU | only where more than one core recorded |
//! | CONTEXT | who was running; `>` before it where it took over the core |
//! | PRI | priority of the context |
//! | EVENT | what it did |
//! | ARGUMENTS | with decoded values |
//!
//! Where a message is taken from a queue, `rt` is the time that it waited there in ticks and `nseq` its number among those
//! posted to the same receiver.
//!
//! What programs read is an export ([`crate::export`]).

pub mod check;
mod columns;
mod figures;
pub mod info;
pub mod machines;
pub mod scheduling;
mod times;
pub mod trcrpt;

use std::io::{self, Write};

use crate::analysis::machines::{Response, Responses};
use crate::model::{
    Batch, ContextId, EventRef, Flow, Loss, LossCause, Losses, SeenContexts, Sink, Trace,
};
use crate::select::Selection;
use crate::text::{Describer, Listing, Literal, PerEvent, Room, counted};
use columns::Columns;
use times::Times;

/// What a report looks like and what is in it.
#[derive(Clone, Debug, Default)]
pub struct ReportOptions {
    /// Whether contexts that take over and losses are coloured (ANSI escapes).
    pub color: bool,
    /// A line to begin with: the input's name, say.
    pub title: Option<String>,
    /// Which events are shown.
    pub selection: Selection,
}

/// A sink that writes a line for each selected event.
#[derive(Debug)]
pub struct Report<W> {
    lines: Listing<W>,
    options: ReportOptions,
    columns: Option<(Columns, Times)>,
    contexts: Vec<Literal>,
    seen_contexts: SeenContexts,
    labels: PerEvent<Literal>,
    describer: Describer,
    /// `None` where the trace tells of no messages.
    responses: Option<Responses>,
    shown: Shown,
    /// Whether the selection ended before the trace did.
    broke_off: bool,
}

/// What was shown so far.
#[derive(Debug, Default)]
struct Shown {
    events: u64,
    by_context: Vec<u64>,
    /// Context of the line before of each core.
    running: Vec<Option<ContextId>>,
}

/// Bytes that the columns of a line take at most, but for names: five numbers with blanks before them, and marks.
const ROOM: usize = 5 * 2 * Room::NUMBER;

impl<W: Write> Report<W> {
    /// Makes a report; nothing is written before the first event.
    pub fn new(out: W, options: ReportOptions) -> Self {
        Self {
            lines: Listing::new(out, options.selection.clone()),
            options,
            columns: None,
            contexts: Vec::new(),
            seen_contexts: SeenContexts::default(),
            labels: PerEvent::default(),
            describer: Describer::default(),
            responses: None,
            shown: Shown::default(),
            broke_off: false,
        }
    }

    /// Gives out the lines so far, for somebody who watches.
    ///
    /// # Errors
    /// Where writing has failed.
    pub fn show(&mut self) -> io::Result<()> {
        self.lines.show()
    }

    /// Writes the summary and gives the writer back.
    ///
    /// # Errors
    /// The first error of the writer, whenever it came.
    pub fn finish(mut self, trace: &Trace) -> io::Result<W> {
        self.begin(trace);
        self.lines.end();
        self.summary(trace);
        self.lines.finish()
    }

    /// Writes title and column names once.
    fn begin(&mut self, trace: &Trace) {
        if self.columns.is_some() {
            return;
        }
        let columns = Columns::of(trace);
        let title = self.options.title.take();
        for line in title.into_iter().chain([heading(trace), String::new(), columns.names()]) {
            self.lines.line(line);
        }
        self.columns = Some((columns, Times::new(columns)));
        self.responses = Responses::are_told(&trace.schema).then(Responses::default);
    }

    /// Writes the column names again, with one for cores, where a second core turns up late.
    fn widen(&mut self, trace: &Trace) {
        if let Some((before, _)) = &mut self.columns
            && before.cpu < Columns::of_cpu(trace)
        {
            before.cpu = Columns::of_cpu(trace);
            let names = before.names();
            self.lines.line(names);
        }
    }

    #[inline]
    fn line(&mut self, trace: &Trace, event: &EventRef<'_>, response: Option<Response>) -> Flow {
        let Some((columns, times)) = &mut self.columns else { return Flow::Continue(()) };
        let changed = self.shown.note(event);
        let context = self.contexts.get(event.context.index());
        let label = self.labels.get(event.id, || label(trace, event.id, *columns));
        let bold = self.options.color && changed;
        let out = self.lines.buffer();
        let start = out.len();
        let room = out.room(ROOM + context.map_or(0, Literal::len) + label.len());
        let mut room = times.put(room.right(event.seq, columns.seq), &trace.clock, event.ticks);
        if columns.cpu > 0 {
            room = room.right(u64::from(event.cpu), columns.cpu);
        }
        room = room.text(if changed { b"  >" } else { b"   " });
        if bold {
            room = room.text(b"\x1b[1m");
        }
        if let Some(context) = context {
            room = room.literal(context);
        }
        if bold {
            room = room.text(b"\x1b[0m");
        }
        room = match event.priority {
            Some(priority) => room.right(u64::from(priority), columns.priority),
            None => room.text(b"    -"),
        };
        room.literal(label).done();
        self.describer.put(out, trace, event);
        if let Some(Response { waited, number }) = response {
            let mut room = out.room(4 * Room::NUMBER);
            if let Some(waited) = waited {
                room = room.text(b", rt=").decimal(waited);
            }
            room.text(b", nseq=").decimal(number).done();
        }
        out.trim_end();
        self.lines.end_line(start)
    }

    fn summary(&mut self, trace: &Trace) {
        let mut lines = vec![String::new()];
        let span = match trace.clock.nanoseconds(trace.span) {
            Some(ns) => format!("{} ({} s)", counted(trace.span, "tick"), seconds(ns)),
            None => counted(trace.span, "tick"),
        };
        let selected = self.shown.events;
        let shown = match self.options.selection.tail {
            Some(tail) if (tail as u64) < selected => format!(", the last {tail} shown"),
            _ => String::new(),
        };
        if self.broke_off {
            // What follows was not read: nothing is said of the trace as a whole.
            lines.push(format!("events  {selected} selected{shown}; the rest was not read"));
        } else {
            lines.push(format!("events  {} read, {selected} selected{shown}", trace.events));
            lines.push(format!("span    {span}"));
            lines.push(format!("lost    {}", lost(&trace.losses)));
        }
        lines.push(String::new());
        lines.extend(self.shown.contexts(trace));
        for line in lines {
            self.lines.line(line);
        }
    }
}

impl<W: Write> Sink for Report<W> {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        self.lines.begin(trace)?;
        self.begin(trace);
        self.widen(trace);
        let width = self.columns.as_ref().map_or(0, |(columns, _)| columns.context);
        trace.contexts.update(&mut self.contexts, &mut self.seen_contexts, |_, context| {
            Literal::padded(&context.name, width)
        });
        self.columns.iter_mut().for_each(|(_, times)| times.begin(&trace.clock));
        for event in batch.events() {
            let responses = self.responses.as_mut();
            let response = responses.and_then(|responses| responses.take(trace, &event));
            match self.lines.takes(trace, &event) {
                Flow::Continue(true) => self.line(trace, &event, response)?,
                Flow::Continue(false) => {}
                Flow::Break(()) => {
                    self.broke_off = true;
                    return Flow::Break(());
                }
            }
        }
        Flow::Continue(())
    }

    fn loss(&mut self, trace: &Trace, loss: &Loss) -> Flow {
        self.responses.iter_mut().for_each(Responses::gap);
        self.begin(trace);
        let line = loss_line(loss);
        let (before, after) = if self.options.color { ("\x1b[31m", "\x1b[0m") } else { ("", "") };
        let start = self.lines.buffer().len();
        self.lines.buffer().text(format!("{before}{line}{after}"));
        self.lines.end_mark(start)
    }
}

impl Shown {
    /// Counts an event; whether its context took over its core.
    #[inline]
    fn note(&mut self, event: &EventRef<'_>) -> bool {
        let (context, cpu) = (event.context.index(), usize::from(event.cpu));
        if context >= self.by_context.len() || cpu >= self.running.len() {
            self.widen(context, cpu);
        }
        self.by_context[context] += 1;
        self.events += 1;
        self.running[cpu].replace(event.context) != Some(event.context)
    }

    #[cold]
    fn widen(&mut self, context: usize, cpu: usize) {
        self.by_context.resize(self.by_context.len().max(context + 1), 0);
        self.running.resize(self.running.len().max(cpu + 1), None);
    }

    /// Lines of a table of contexts and their events, most events first.
    fn contexts(&self, trace: &Trace) -> Vec<String> {
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
            format!("{events:>9}  {:<width$}  {}", context.key_text, context.name)
        };
        std::iter::once(heading).chain(rows.iter().map(row)).collect()
    }
}

/// Columns of a context's key: of an address, or of the longest key where those are no addresses alone.
fn key_width(trace: &Trace) -> usize {
    let keys = trace.contexts.iter().map(|(_, context)| context.key_text.len());
    keys.fold(trace.payload.digits() + 2, usize::max)
}

/// The mark of a gap.
fn loss_line(loss: &Loss) -> String {
    let how_many = match (loss.events, loss.cause) {
        // The numbers around it count what it was.
        (Some(0), _) => "a record".to_owned(),
        (Some(events), _) => counted(events, "event"),
        (None, LossCause::Overwritten) => "earlier events".to_owned(),
        (None, _) => "an unknown number of events".to_owned(),
    };
    let (cause, offset) = (loss.cause.as_str(), loss.offset);
    format!("-------- lost here: {how_many}, {cause}, at byte {offset} --------")
}

/// The column of an event's name; one that is too long still ends before the arguments.
fn label(trace: &Trace, id: u32, columns: Columns) -> Literal {
    let label = trace.schema.label(id);
    let behind = if label.chars().count() < columns.event { "" } else { "  " };
    Literal::new(format!("  {label:<width$}{behind}", width = columns.event))
}

fn seconds(nanoseconds: u64) -> String {
    format!("{}.{:09}", nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000)
}

/// A line on the format and its clock.
fn heading(trace: &Trace) -> String {
    format!("{} trace, {}", trace.format, heading_of_clock(trace))
}

fn heading_of_clock(trace: &Trace) -> String {
    let clock = &trace.clock;
    let rate = match clock.rate {
        Some(rate) => format!("{rate} ticks per second"),
        None => "rate unknown (-O rate=TICKS_PER_SECOND)".to_owned(),
    };
    format!("counter 0..{} counting {}, {rate}", clock.counter.last, clock.counter.direction)
}

/// What is missing, in a line.
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
