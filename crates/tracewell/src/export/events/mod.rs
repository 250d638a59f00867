//! Writes every event with typed arguments for programs, as JSON lines or as tab- or
//! comma-separated values.
//!
//! The fields of a JSON line, in this order:
//!
//! | field | content |
//! |---|---|
//! | `seq` | sequence number |
//! | `ticks` | ticks since the first event, unwrapped |
//! | `time_ns` | the same in nanoseconds, if the clock's rate is known |
//! | `time` | with [`EventWriter::with_times`]: seconds since the first or the previous event, or the date, a string |
//! | `cpu` | core |
//! | `context`, `context_name` | key as recorded, name |
//! | `priority` | if the event has one |
//! | `id`, `name` | event id and name |
//! | `level`, `target` | of the call site, if an instrumented program recorded the event: `ERROR`, `WARN`, `INFO`, `DEBUG` or `TRACE`, and the part of the program; `target` follows `text` if a bridge passed the event on from another logger |
//! | `args` | argument names and values, in recorded order: numbers, strings (keys of objects and addresses in hexadecimal with `0x`, text, or bytes in hexadecimal), arrays; words that the schema does not name are `arg1`, `arg2`, … |
//! | `text` | the arguments as a report prints them |
//! | `span` | name of the span that the event begins, enters, leaves or ends, or else of the innermost span around it; null if the trace does not contain its beginning |
//!
//! A gap has its own line: `{"lost":N or null,"cause":…,"offset":…}`.
//!
//! Tables have the same fields as columns, except `level`, `target`, `span` and `text`. [`Columns`]
//! can add these. A field that a JSON line omits is empty.
//! `args` are `name=value`, separated by spaces. In the row of a gap, `seq` is empty, `name` is
//! `lost`, and `args` has `lost=` (if the number is known), `cause=` and `offset=`.
//! [`LossesApart`] writes the gaps to an output of their own.
//!
//! Building a JSON value tree per event would take longer than everything else, so the text of a
//! line is written directly. A test compares it with the result of a JSON parser.

mod apart;
mod columns;
mod escape;
mod keys;
mod slices;
mod times;
mod values;

use std::io::{self, Write};

use super::{Export, ExportError, ExportNames, Output};
use crate::format::Options;
use crate::input::Input;
use crate::model::{
    Batch, ContextDetail, ContextId, Event, Flow, Loss, SeenContexts, Severity, Sink, SinkError,
    Slices, Stop, Trace,
};
use crate::select::{Listing, Selection};
use crate::text::{
    Describer, IncrementalDecimal, Literal, PerEvent, Reservation, TextBuffer, TimeForm,
};
pub use apart::LossesApart;
use apart::loss_text;
use columns::Cells;
pub use columns::{ArgumentNames, ColumnError, Columns};
use escape::{escape_from, is_special, put_text};
use keys::{Absent, Keys};
use times::Times;
use values::Prefix;
pub(in crate::export) use values::{count as argument_count, put_nested_json};

/// The export `jsonl`: one JSON object per line and event.
pub static JSON_LINES: Export = Export {
    name: "jsonl",
    description: "events as JSON lines",
    extension: Some("jsonl"),
    options: &[],
    output: Output::File(|input, options, names, out| {
        write(EventFormat::JsonLines, input, options, names, out)
    }),
};

/// The export `tsv`: one line per event, fields separated by tabs.
pub static TSV: Export = Export {
    name: "tsv",
    description: "events as tab-separated values with a line of column names",
    extension: Some("tsv"),
    options: &[],
    output: Output::File(|input, options, names, out| {
        write(EventFormat::Tsv, input, options, names, out)
    }),
};

/// The export `csv`: one line per event, quoted as in RFC 4180.
pub static CSV: Export = Export {
    name: "csv",
    description: "events as comma-separated values with a line of column names",
    extension: Some("csv"),
    options: &[],
    output: Output::File(|input, options, names, out| {
        write(EventFormat::Csv, input, options, names, out)
    }),
};

fn write(
    format: EventFormat,
    input: &mut Input,
    options: &Options,
    _: &ExportNames,
    out: &mut dyn Write,
) -> Result<Trace, ExportError> {
    options.check(&[])?;
    let mut writer = EventWriter::new(out, format, Selection::default());
    Ok(input.read(&mut writer)?)
}

/// The format of the lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EventFormat {
    /// One JSON object per line.
    JsonLines,
    /// Columns separated by tabs. Tabs, line ends and backslashes in text are escaped with `\`.
    Tsv,
    /// Columns separated by commas. Cells are quoted if RFC 4180 requires it, and no cell is a
    /// formula (see `escape`).
    Csv,
}

const COLUMNS: [&str; 10] =
    ["seq", "ticks", "time_ns", "cpu", "context", "context_name", "priority", "id", "name", "args"];

/// Number of columns before that of a chosen form of times.
const AFTER_TIME_NS: usize = 3;

/// Number of columns before `name`, without that of a chosen form of times.
const BEFORE_NAME: usize = 8;

/// A sink that writes every selected event.
///
/// ```
/// use tracewell::export::events::{EventFormat, EventWriter};
/// use tracewell::input::{Input, Settings};
/// use tracewell::select::Selection;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/threadx/tiny.trx").as_ref();
/// let selection = Selection { head: Some(1), ..Selection::default() };
/// let mut writer = EventWriter::new(Vec::new(), EventFormat::JsonLines, selection);
/// Input::open(path, Settings::default())?.read(&mut writer)?;
/// let lines = String::from_utf8(writer.into_inner()?)?;
/// assert!(lines.starts_with(r#"{"seq":0,"ticks":0,"#) && lines.lines().count() == 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct EventWriter<W> {
    lines: Listing<W>,
    begun: bool,
    format: EventFormat,
    keys: Keys,
    contexts: Vec<Literal>,
    seen_contexts: SeenContexts,
    events: PerEvent<EventPlan>,
    ticks: IncrementalDecimal,
    time: IncrementalDecimal,
    describer: Describer,
    /// Keys of a preemption threshold and of an interrupted thread, which follow the arguments.
    details: [Prefix; 2],
    /// Chosen columns instead of the usual ones.
    cells: Option<Cells>,
    /// The form of times, if the user chose it.
    form: Option<TimeForm>,
    times: Times,
    /// True if lines have the decoded arguments, too.
    decoded: bool,
    /// True if losses have no lines.
    without_losses: bool,
}

/// The constant parts of the lines of an event id.
#[derive(Debug)]
struct EventPlan {
    /// The part from the id to the first argument.
    head: Literal,
    /// Separator and name of each argument in the schema.
    args: Vec<Prefix>,
    /// True if an argument may contain more than digits, or if its name needs escapes. The cell is
    /// then escaped as a whole.
    more_than_digits: bool,
    /// Maximum length of all parts and numbers in bytes.
    room: usize,
}

impl<W: Write> EventWriter<W> {
    /// Creates a writer. Tables begin with a line of column names.
    pub fn new(out: W, format: EventFormat, selection: Selection) -> Self {
        Self::of(Listing::new(out, selection), format)
    }

    fn of(lines: Listing<W>, format: EventFormat) -> Self {
        Self {
            lines,
            begun: false,
            format,
            keys: Keys::of(format),
            contexts: Vec::new(),
            seen_contexts: SeenContexts::default(),
            events: PerEvent::default(),
            ticks: IncrementalDecimal::default(),
            time: IncrementalDecimal::default(),
            describer: Describer::default(),
            details: [("preemption_threshold", false), ("interrupted", true)]
                .map(|(name, is_key)| argument_plan(format, 1, Some(name), is_key)),
            cells: None,
            form: None,
            times: Times::new(TimeForm::Relative),
            decoded: false,
            without_losses: false,
        }
    }

    /// Writes a table with these columns. JSON lines keep their keys.
    ///
    /// ```
    /// use tracewell::export::events::{EventFormat, EventWriter};
    /// use tracewell::input::{Input, Settings};
    /// use tracewell::select::Selection;
    ///
    /// # let path = "tests/fixtures/threadx/tiny.trx".as_ref();
    /// let selection = Selection { events: vec!["tx_mutex_create".into()], ..Default::default() };
    /// let mut writer = EventWriter::new(Vec::new(), EventFormat::Csv, selection)
    ///     .with_columns("seq,event,arg:mutex_ptr,text:mutex_ptr".parse()?);
    /// Input::open(path, Settings::default())?.read(&mut writer)?;
    /// let table = String::from_utf8(writer.into_inner()?)?;
    /// assert_eq!(table.lines().nth(1), Some("11,tx_mutex_create,0x565DE800,plain mutex"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_columns(self, columns: Columns) -> Self {
        Self { cells: Some(Cells::new(columns)), ..self }
    }

    /// Adds the field `time` after `time_ns`. With nine decimals, it is the number of seconds since
    /// the first event or since the previous written event. Otherwise it is the date, a string in
    /// JSON. A chosen column `time` has the same form.
    ///
    /// ```
    /// use tracewell::export::events::{EventFormat, EventWriter};
    /// use tracewell::select::Selection;
    /// use tracewell::text::TimeForm;
    ///
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/threadx/tiny.trx");
    /// let selection = Selection { head: Some(3), ..Selection::default() };
    /// let mut writer = EventWriter::new(Vec::new(), EventFormat::JsonLines, selection)
    ///     .with_times(TimeForm::Delta);
    /// tracewell::open(path)?.rate("1MHz".parse()?).read(&mut writer)?;
    /// let lines = String::from_utf8(writer.into_inner()?)?;
    /// assert!(lines.lines().all(|line| line.contains(r#","time":0.000"#)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Reading fails if `form` is a date and the trace has no wall clock.
    pub fn with_times(self, form: TimeForm) -> Self {
        Self { times: Times::new(form.clone()), form: Some(form), ..self }
    }

    /// Adds the object `args_text` to JSON lines: each argument as reports show it. Tables
    /// do not change; [`Columns`] have decoded arguments.
    pub fn with_decoded_arguments(self) -> Self {
        Self { decoded: self.format == EventFormat::JsonLines, ..self }
    }

    /// Writes no lines for losses.
    pub fn without_losses(self) -> Self {
        Self { without_losses: true, ..self }
    }

    /// Adds a warning to a trace for each chosen column of an argument that no written event has,
    /// and for a form of times without effect. Call this after reading.
    pub fn remark(&self, trace: &mut Trace) {
        let unknown = self.cells.as_ref().map_or_else(Vec::new, |cells| cells.unknown(trace));
        for warning in unknown {
            trace.diagnostics.add(Severity::Warning, None, warning);
        }
        if self.form.is_some() {
            self.times.remark(trace);
        }
    }

    /// Returns the writer.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    pub fn into_inner(self) -> io::Result<W> {
        self.lines.into_inner()
    }

    /// Writes the names of a table's columns unless they have been written.
    fn begin(&mut self) -> io::Result<()> {
        let separator = match self.format {
            _ if std::mem::replace(&mut self.begun, true) => return Ok(()),
            EventFormat::JsonLines => return Ok(()),
            EventFormat::Tsv => "\t",
            EventFormat::Csv => ",",
        };
        if let Some(cells) = &self.cells {
            cells.put_heading(self.lines.buffer(), self.format);
            return self.lines.line("");
        }
        let mut columns = COLUMNS.to_vec();
        if self.form.is_some() {
            columns.insert(AFTER_TIME_NS, "time");
        }
        self.lines.line(columns.join(separator))
    }

    /// Checks that the trace has the times of the selection and of the lines.
    fn check(&self, trace: &Trace) -> Flow {
        Stop::on_error(self.lines.check(trace))?;
        Stop::on_error(self.check_times(trace))?;
        Flow::Continue(())
    }

    fn check_times(&self, trace: &Trace) -> Result<(), SinkError> {
        let checked = self.form.as_ref().map_or(Ok(()), |form| form.check(trace));
        checked.map_err(SinkError::not_possible)
    }

    fn line(&mut self, event: Event<'_>) -> Flow {
        let start = self.lines.buffer().len();
        match &mut self.cells {
            Some(cells) if self.format != EventFormat::JsonLines => {
                let times = &mut self.times;
                cells.put(self.lines.buffer(), self.format, (&self.details, times), event);
            }
            _ => self.values(event),
        }
        if self.format == EventFormat::JsonLines {
            self.text(event);
        }
        self.lines.end_line(start)
    }

    /// Writes all parts up to the last named argument. Reserves the buffer once.
    fn values(&mut self, event: Event<'_>) {
        let Event { trace, row } = event;
        let format = self.format;
        // Contexts may get their names while reading. Rebuild only those that changed.
        trace.contexts.update(&mut self.contexts, &mut self.seen_contexts, |id, _| {
            context_plan(format, trace, id)
        });
        let Some(context) = self.contexts.get(row.context.index()) else { return };
        let plan = self.events.get(row.id, || event_plan(format, trace, row.id));
        let keys = &self.keys;
        let out = self.lines.buffer();
        let time = trace.clock.nanoseconds(row.ticks);
        let mut room = out
            .room(keys.room + context.len() + plan.room)
            .literal(&keys.seq)
            .decimal(row.seq)
            .literal(&keys.ticks);
        room = self.ticks.put(room, row.ticks);
        room = match time {
            Some(time) => self.time.put(room.literal(&keys.time_ns), time),
            None => absent(room, &keys.time_ns, keys.absent),
        };
        if self.form.is_some() {
            room.done();
            self.times.put_field(out, (format, &keys.time, keys.absent), event);
            room = out.room(keys.room + context.len() + plan.room);
        }
        room = room.literal(&keys.cpu).decimal(u64::from(row.cpu)).literal(context);
        room = match row.priority.get() {
            Some(priority) => room.literal(&keys.priority).decimal(u64::from(priority)),
            None => absent(room, &keys.priority, keys.absent),
        };
        room = room.literal(&plan.head);
        // Strings, lists and negative numbers need escapes and more room than was reserved.
        if plan.more_than_digits {
            room.done();
            values::put(out, format, event, &plan.args);
            return put_detail(out, format, &self.details, event);
        }
        let mut first = true;
        let digits = trace.payload.digits();
        for (index, prefix) in plan.args.iter().enumerate() {
            let Some(value) = trace.payload.argument(row.payload, index) else { continue };
            // The first argument that is present has no separator. Arguments before it may be
            // absent.
            let separated = index == 0 || !first;
            let text = &prefix.text;
            room = if separated { room.literal(text) } else { room.literal(&text.tail(1)) };
            room = if prefix.is_key {
                put_key(room, format, value, digits)
            } else {
                room.decimal(value)
            };
            first = false;
        }
        room.done();
        // Also show words that the schema does not describe, so that no recorded data is omitted.
        for index in plan.args.len()..trace.payload.arguments(row.payload) {
            let value = trace.payload.argument(row.payload, index).unwrap_or(0);
            out.literal(&argument_plan(format, index, None, false).text);
            out.decimal(value);
        }
        put_detail(out, format, &self.details, event);
    }

    fn text(&mut self, event: Event<'_>) {
        if self.decoded {
            self.decoded_arguments(event);
        }
        let out = self.lines.buffer();
        out.literal(&self.keys.text);
        let start = out.len();
        self.describer.put(out, event);
        escape_from(self.format, out, start);
        match event.kind().instrumentation.span {
            Some(_) => put_span(out, self.format, event),
            None => out.literal(&self.keys.end),
        }
    }

    fn decoded_arguments(&mut self, event: Event<'_>) {
        let out = self.lines.buffer();
        out.text(br#"},"args_text":{"#);
        let first = out.len();
        for (index, argument) in event.kind().args.iter().enumerate() {
            let before = out.len();
            if before > first {
                out.byte(b',');
            }
            out.byte(b'"');
            put_text(self.format, out, argument.name.as_bytes());
            out.text(br#"":""#);
            let start = out.len();
            if !self.describer.put_value(out, event, index) {
                out.truncate(before);
                continue;
            }
            escape_from(self.format, out, start);
            out.byte(b'"');
        }
    }
}

impl<W: Write> Sink for EventWriter<W> {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        self.check(trace)?;
        Stop::on_error(self.begin())?;
        for row in batch.events() {
            let event = Event::new(trace, &row);
            if self.lines.takes(event)? {
                self.line(event)?;
            }
        }
        Flow::Continue(())
    }

    fn loss(&mut self, _: &Trace, loss: &Loss) -> Flow {
        Stop::on_error(self.begin())?;
        if self.without_losses {
            return Flow::Continue(());
        }
        let out = self.lines.buffer();
        let start = out.len();
        match (&self.cells, self.format) {
            (_, EventFormat::JsonLines) => {
                let lost = loss.events.map_or_else(|| "null".to_owned(), |lost| lost.to_string());
                let (cause, offset) = (loss.cause.as_str(), loss.offset);
                out.text(format!(r#"{{"lost":{lost},"cause":"{cause}","offset":{offset}}}"#));
            }
            (Some(cells), format) => cells.put_loss(out, format, loss),
            (None, format) => {
                let separator = if format == EventFormat::Tsv { "\t" } else { "," };
                let before = BEFORE_NAME + usize::from(self.form.is_some());
                out.text(separator.repeat(before));
                out.text(format!("lost{separator}{}", loss_text(loss)));
            }
        }
        self.lines.end_mark(start)
    }

    fn takes_slices(&self, _: &Trace) -> bool {
        self.can_be_split()
    }

    fn slices(&mut self, trace: &Trace, slices: &dyn Slices) -> Flow {
        Stop::on_error(self.write_slices(trace, slices))
    }

    fn flush(&mut self) -> Result<(), SinkError> {
        Ok(self.lines.flush()?)
    }

    fn finish(&mut self, trace: &Trace) -> Result<(), SinkError> {
        self.lines.check(trace)?;
        self.check_times(trace)?;
        self.begin()?;
        self.lines.end()?;
        self.flush()
    }
}

/// Appends a property of the context as a further argument. Records with such a property always
/// have other arguments before it.
#[inline]
fn put_detail(
    out: &mut TextBuffer,
    format: EventFormat,
    [threshold, interrupted]: &[Prefix; 2],
    event: Event<'_>,
) {
    let Some(recorded) = &event.trace.details else { return };
    let (name, value) = match recorded.detail(event.row.record) {
        None => return,
        Some(ContextDetail::PreemptionThreshold(value)) => (threshold, u64::from(value)),
        Some(ContextDetail::Interrupted(thread)) => (interrupted, thread),
    };
    let room = out.room(name.text.len() + Reservation::NUMBER + 1).literal(&name.text);
    if !name.is_key {
        return room.decimal(value).done();
    }
    put_key(room, format, value, event.trace.payload.digits()).done();
}

/// Ends a JSON line after the text, with the fields of an instrumented program that depend on the
/// event.
fn put_span(out: &mut TextBuffer, format: EventFormat, event: Event<'_>) {
    let site = event.kind().instrumentation.site.as_ref();
    let forwarded = site.is_some_and(|site| site.forwarded.is_some());
    if let Some(target) = event.target().filter(|_| forwarded) {
        out.text(br#"","target":""#);
        put_text(format, out, target.as_bytes());
    }
    match event.span().map(|number| event.span_name(number)) {
        None => out.text(br#""}"#),
        Some(None) => out.text(br#"","span":null}"#),
        Some(Some(name)) => {
            out.text(br#"","span":""#);
            put_text(format, out, name.as_bytes());
            out.text(br#""}"#);
        }
    }
}

/// Appends the part of a key after `0x`. In JSON, a quote ends the string.
#[inline(always)]
fn put_key(
    room: Reservation<'_>,
    format: EventFormat,
    value: u64,
    digits: usize,
) -> Reservation<'_> {
    let room = room.hexadecimal(value, digits);
    if format == EventFormat::JsonLines { room.byte(b'"') } else { room }
}

#[inline(always)]
fn absent<'a>(room: Reservation<'a>, key: &Literal, absent: Absent) -> Reservation<'a> {
    if absent == Absent::Empty { room.literal(key) } else { room }
}

fn context_plan(format: EventFormat, trace: &Trace, id: ContextId) -> Literal {
    let Some(context) = trace.contexts.get(id) else { return Literal::new("") };
    let between: [&[u8]; 3] = match format {
        EventFormat::JsonLines => [br#","context":""#, br#"","context_name":""#, b"\""],
        EventFormat::Tsv => [b"\t", b"\t", b""],
        EventFormat::Csv => [b",", b",", b""],
    };
    let mut plan = TextBuffer::default();
    plan.text(between[0]);
    put_text(format, &mut plan, context.key_text.as_bytes());
    plan.text(between[1]);
    put_text(format, &mut plan, context.name.as_bytes());
    plan.text(between[2]);
    Literal::new(plan.as_bytes())
}

fn event_plan(format: EventFormat, trace: &Trace, id: u32) -> EventPlan {
    let event = trace.schema.event(id);
    let mut head = TextBuffer::default();
    let [before_id, before_name, after]: [&[u8]; 3] = match format {
        EventFormat::JsonLines => [br#","id":"#, br#","name":""#, br#"","args":{"#],
        EventFormat::Tsv => [b"\t", b"\t", b"\t"],
        EventFormat::Csv => [b",", b",", b","],
    };
    head.text(before_id);
    head.decimal(u64::from(id));
    head.text(before_name);
    put_text(format, &mut head, event.name.as_bytes());
    if format == EventFormat::JsonLines
        && let Some(site) = &event.instrumentation.site
    {
        head.text(format!(r#"","level":"{}"#, site.level));
        if site.forwarded.is_none() {
            head.text(r#"","target":""#);
            put_text(format, &mut head, site.target.as_bytes());
        }
    }
    head.text(after);
    let named = event.args.iter().enumerate();
    let args: Vec<_> = named
        .map(|(index, arg)| argument_plan(format, index, Some(&arg.name), values::is_key(arg.kind)))
        .collect();
    // One byte more for the quote after a key.
    let room = |arg: &Prefix| arg.text.len() + Reservation::NUMBER + 1;
    let room = head.len() + args.iter().map(room).sum::<usize>();
    let more_than_digits = event
        .args
        .iter()
        .any(|arg| values::is_more_than_digits(arg.kind) || is_special(format, &arg.name));
    EventPlan { head: Literal::new(head.as_bytes()), args, more_than_digits, room }
}

fn argument_plan(format: EventFormat, index: usize, name: Option<&str>, is_key: bool) -> Prefix {
    let unnamed = format!("arg{}", index + 1);
    let mut plan = TextBuffer::default();
    if index > 0 {
        plan.byte(if format == EventFormat::JsonLines { b',' } else { b' ' });
    }
    let name = name.unwrap_or(&unnamed);
    if format == EventFormat::JsonLines {
        plan.byte(b'"');
        put_text(format, &mut plan, name.as_bytes());
        plan.text(if is_key { "\":\"0x" } else { "\":" });
    } else {
        plan.text(name);
        plan.text(if is_key { "=0x" } else { "=" });
    }
    Prefix { text: Literal::new(plan.as_bytes()), is_key }
}
