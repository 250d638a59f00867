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
//! | `time` | with [`EventWriter::with_times`]: the seconds since the first or the previous event (a number), or the date (a string) |
//! | `cpu` | core |
//! | `context`, `context_name` | key as recorded, name |
//! | `priority` | if the event has one |
//! | `id`, `name` | event id and name |
//! | `level`, `target` | only in events of instrumented programs: the level (`ERROR`, `WARN`, `INFO`, `DEBUG` or `TRACE`), and the part of the program that recorded the event; if a bridge passed the event on from another logger, `target` follows `text` |
//! | `args` | argument names and values, in recorded order; an address or the key of an object is a string such as `"0x565DE800"`; bytes are a string of hexadecimal digits; lists are arrays; words that the schema does not name are `arg1`, `arg2`, … |
//! | `text` | the arguments as a report prints them |
//! | `span` | name of the span that the event begins, enters, leaves or ends; for other events, name of the innermost span around the event; `null` if the trace does not contain the beginning of this span |
//!
//! A gap has a separate line: `{"lost":N or null,"cause":…,"offset":…}`.
//!
//! A table has a column for each of these fields, except `level`, `target`, `span` and `text`.
//! [`Columns`] can add these four. If a JSON line would omit a field, the cell of this field is
//! empty. `args` are `name=value`, separated by spaces. In the row of a gap, `seq` is empty, `name`
//! is `lost`, and `args` has `lost=` (if the number is known), `cause=` and `offset=`.
//! [`LossesApart`] writes the gaps to a separate output.
//!
//! The code writes the text of a line directly, because building a JSON value tree per event would
//! take longer than all other steps together. A test compares this text with the result of a JSON
//! parser.

mod apart;
mod columns;
mod escape;
mod kept_lines;
mod keys;
mod plan;
mod row;
mod slices;
mod times;
mod values;

use std::io::{self, Write};

use super::{Export, ExportError, ExportNames, Output};
use crate::format::Options;
use crate::input::Input;
use crate::model::{
    Batch, Event, Flow, Loss, NumberRows, SeenContexts, Severity, Sink, SinkError, Slices, Stop,
    Trace,
};
use crate::select::{Listing, Selection};
use crate::text::{Describer, IncrementalDecimal, PerEvent, TimeForm};
pub use apart::LossesApart;
use apart::loss_text;
use columns::Cells;
pub use columns::{ArgumentNames, ColumnError, Columns};
use kept_lines::KeptLines;
use keys::Keys;
use plan::{ContextPlan, EventPlan, argument_plan};
use slices::Parts;
use times::Times;
use values::Prefix;
pub(in crate::export) use values::{count as argument_count, put_nested_json};

/// The export `jsonl`: each event is a JSON object on its own line.
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

/// Number of columns before the column `time`.
const AFTER_TIME_NS: usize = 3;

/// Number of columns before `name`, not counting the column `time`.
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
    contexts: Vec<ContextPlan>,
    seen_contexts: SeenContexts,
    events: PerEvent<EventPlan>,
    ticks: IncrementalDecimal,
    time: IncrementalDecimal,
    describer: Describer,
    kept: KeptLines,
    /// Keys of a preemption threshold and of an interrupted thread, which follow the arguments.
    details: [Prefix; 2],
    /// The chosen columns, which replace the usual columns.
    cells: Option<Cells>,
    /// The form of times, if the user chose it.
    form: Option<TimeForm>,
    times: Times,
    /// True if lines also contain the decoded arguments.
    decoded: bool,
    /// True if no lines are written for losses.
    without_losses: bool,
    parts: Parts,
}

impl<W: Write> EventWriter<W> {
    /// Creates a writer. Tables begin with a line of column names.
    pub fn new(out: W, format: EventFormat, selection: Selection) -> Self {
        Self::of(Listing::new(out, selection), format)
    }

    fn of(lines: Listing<W>, format: EventFormat) -> Self {
        let keys = Keys::of(format);
        Self {
            lines,
            begun: false,
            format,
            kept: KeptLines::new(format, &keys),
            keys,
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
            parts: Parts::default(),
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

    /// Adds the field `time` after `time_ns`. Depending on `form`, the field contains the seconds
    /// since the first event, the seconds since the previous written event, or the date. Seconds
    /// have nine decimals. In JSON, a date is a string. A chosen column `time` has the same form.
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

    /// Adds the object `args_text` to JSON lines. It contains the text that reports show for each
    /// argument. Has no effect on tables, in which [`Columns`] can select decoded arguments.
    pub fn with_decoded_arguments(self) -> Self {
        Self { decoded: self.format == EventFormat::JsonLines, ..self }
    }

    /// Writes no lines for losses.
    pub fn without_losses(self) -> Self {
        Self { without_losses: true, ..self }
    }

    /// Adds warnings to a trace: one for each chosen argument column that no written event fills,
    /// and one if the form of times has no effect. Call this after reading.
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

    /// Checks that the trace has the times that the selection and the lines need.
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
}

impl<W: Write> Sink for EventWriter<W> {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        self.check(trace)?;
        Stop::on_error(self.begin())?;
        if self.has_usual_lines()
            && let Some(rows) = NumberRows::of(trace, batch)
        {
            return self.kept_lines(&rows);
        }
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
