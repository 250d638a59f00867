//! Every event, typed, for programs: JSON lines, tab- or comma-separated values.
//!
//! Fields of a JSON line, in this order: `seq`, `ticks` (since the first event, unwrapped),
//! `time_ns` (where the clock's rate is known), `cpu`, `context` (key as recorded), `context_name`,
//! `priority` (where the event carries one), `id`, `name`, `args` (argument name to number, in the
//! order recorded; to a string where it is a text, or bytes in hexadecimal; to an array where it is a
//! list; a word that the schema does not name is `arg1`, `arg2`, …) and `text`. A gap is a line of its
//! own: `{"lost":N or null,"cause":…,"offset":…}`.
//!
//! The tables have the same fields as columns but `text`, empty where a JSON line leaves a key out;
//! `args` are `name=value` with blanks between. In a gap's row `seq` is empty, `name` is `lost`, `args`
//! holds `lost=`, `cause=` and `offset=`.
//!
//! A JSON value tree for each event would cost more than everything else together, so lines are
//! put together here; a test compares them with a JSON library's reading.

mod escape;
mod keys;
mod values;

use std::io::{self, Write};

use super::{Export, ExportError, ExportNames};
use crate::format::Options;
use crate::input::Input;
use crate::model::{Batch, ContextId, EventRef, Flow, Loss, SeenContexts, Sink, Trace};
use crate::select::Selection;
use crate::text::{Describer, Growing, Listing, Literal, PerEvent, Room, TextBuffer};
use escape::{escape_from, is_special, put_text};
use keys::{Absent, Keys};

/// JSON lines as an export.
pub static JSON_LINES: Export = Export {
    name: "jsonl",
    description: "events as JSON lines",
    extension: Some("jsonl"),
    options: &[],
    write: |input, options, names, out| write(EventFormat::JsonLines, input, options, names, out),
};

/// Tab-separated values as an export.
pub static TSV: Export = Export {
    name: "tsv",
    description: "events as tab-separated values with a line of column names",
    extension: Some("tsv"),
    options: &[],
    write: |input, options, names, out| write(EventFormat::Tsv, input, options, names, out),
};

/// Comma-separated values as an export.
pub static CSV: Export = Export {
    name: "csv",
    description: "events as comma-separated values with a line of column names",
    extension: Some("csv"),
    options: &[],
    write: |input, options, names, out| write(EventFormat::Csv, input, options, names, out),
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
    let trace = input.read(&mut writer)?;
    writer.finish().map_err(ExportError::Write)?;
    Ok(trace)
}

/// How events are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EventFormat {
    /// One JSON object a line.
    JsonLines,
    /// Columns with tabs between; tabs, line ends and backslashes in text are escaped by `\`.
    Tsv,
    /// Columns with commas between; quoted where RFC 4180 wants it, and no cell is a formula (see `escape`).
    Csv,
}

const COLUMNS: [&str; 10] =
    ["seq", "ticks", "time_ns", "cpu", "context", "context_name", "priority", "id", "name", "args"];

/// A sink that writes every selected event.
#[derive(Debug)]
pub struct EventWriter<W> {
    lines: Listing<W>,
    format: EventFormat,
    keys: Keys,
    contexts: Vec<Literal>,
    seen_contexts: SeenContexts,
    events: PerEvent<EventPlan>,
    ticks: Growing,
    time: Growing,
    describer: Describer,
    /// Before a preemption threshold and an interrupted thread, behind the arguments.
    details: [Literal; 2],
}

/// What is the same in every line of an event id.
#[derive(Debug)]
struct EventPlan {
    /// Id and name, up to the first argument.
    head: Literal,
    /// Before the value of each argument: separator and name. Words beyond have no schema.
    args: Vec<Literal>,
    /// Whether an argument is more than a row of digits, or its name needs escapes, so that a cell of them is escaped
    /// as a whole.
    more_than_digits: bool,
    /// Bytes that all of it takes at most.
    room: usize,
}

impl<W: Write> EventWriter<W> {
    /// Makes a writer; tables begin with a line of column names.
    pub fn new(out: W, format: EventFormat, selection: Selection) -> Self {
        let mut lines = Listing::new(out, selection);
        let separator = match format {
            EventFormat::JsonLines => None,
            EventFormat::Tsv => Some("\t"),
            EventFormat::Csv => Some(","),
        };
        if let Some(separator) = separator {
            lines.line(COLUMNS.join(separator));
        }
        Self {
            lines,
            format,
            keys: Keys::of(format),
            contexts: Vec::new(),
            seen_contexts: SeenContexts::default(),
            events: PerEvent::default(),
            ticks: Growing::default(),
            time: Growing::default(),
            describer: Describer::default(),
            details: ["preemption_threshold", "interrupted"]
                .map(|name| argument_plan(format, 1, Some(name))),
        }
    }

    /// Gives out the lines so far, for somebody who watches.
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
    pub fn finish(self) -> io::Result<W> {
        self.lines.finish()
    }

    fn line(&mut self, trace: &Trace, event: &EventRef<'_>) -> Flow {
        let start = self.lines.buffer().len();
        self.values(trace, event);
        if self.format == EventFormat::JsonLines {
            self.text(trace, event);
        }
        self.lines.end_line(start)
    }

    /// Everything up to the last named argument, in room that is asked for once.
    fn values(&mut self, trace: &Trace, event: &EventRef<'_>) {
        let format = self.format;
        trace.contexts.update(&mut self.contexts, &mut self.seen_contexts, |id, _| {
            context_plan(format, trace, id)
        });
        let Some(context) = self.contexts.get(event.context.index()) else { return };
        let plan = self.events.get(event.id, || event_plan(format, trace, event.id));
        let keys = &self.keys;
        let out = self.lines.buffer();
        let time = trace.clock.nanoseconds(event.ticks);
        let mut room = out
            .room(keys.room + context.len() + plan.room)
            .literal(&keys.seq)
            .decimal(event.seq)
            .literal(&keys.ticks);
        room = self.ticks.put(room, event.ticks);
        room = match time {
            Some(time) => self.time.put(room.literal(&keys.time_ns), time),
            None => absent(room, &keys.time_ns, keys.absent),
        };
        room = room.literal(&keys.cpu).decimal(u64::from(event.cpu)).literal(context);
        room = match event.priority {
            Some(priority) => room.literal(&keys.priority).decimal(u64::from(priority)),
            None => absent(room, &keys.priority, keys.absent),
        };
        room = room.literal(&plan.head);
        if plan.more_than_digits {
            room.done();
            values::put(out, format, trace, event, &plan.args);
            return put_details(out, &self.details, trace, event);
        }
        let mut first = true;
        for (index, prefix) in plan.args.iter().enumerate() {
            let Some(value) = trace.payload.argument(event.payload, index) else { continue };
            // A separator stands before all but the first one; those before this may be absent.
            let separated = index == 0 || !first;
            room = if separated { room.literal(prefix) } else { room.literal(&prefix.tail(1)) };
            room = room.decimal(value);
            first = false;
        }
        room.done();
        for index in plan.args.len()..trace.payload.arguments(event.payload) {
            let value = trace.payload.argument(event.payload, index).unwrap_or(0);
            out.literal(&argument_plan(format, index, None));
            out.decimal(value);
        }
        put_details(out, &self.details, trace, event);
    }

    fn text(&mut self, trace: &Trace, event: &EventRef<'_>) {
        let out = self.lines.buffer();
        out.literal(&self.keys.text);
        let start = out.len();
        self.describer.put(out, trace, event);
        escape_from(self.format, out, start);
        out.literal(&self.keys.end);
    }
}

impl<W: Write> Sink for EventWriter<W> {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        self.lines.begin(trace)?;
        for event in batch.events() {
            if self.lines.takes(trace, &event)? {
                self.line(trace, &event)?;
            }
        }
        Flow::Continue(())
    }

    fn loss(&mut self, _: &Trace, loss: &Loss) -> Flow {
        let start = self.lines.buffer().len();
        let lost = loss.events.map_or_else(|| "null".to_owned(), |events| events.to_string());
        let (cause, offset) = (loss.cause.as_str(), loss.offset);
        let line = match self.format {
            EventFormat::JsonLines => {
                format!(r#"{{"lost":{lost},"cause":"{cause}","offset":{offset}}}"#)
            }
            EventFormat::Tsv => {
                format!("\t\t\t\t\t\t\t\tlost\tlost={lost} cause={cause} offset={offset}")
            }
            EventFormat::Csv => {
                format!(",,,,,,,,lost,lost={lost} cause={cause} offset={offset}")
            }
        };
        self.lines.buffer().text(line);
        self.lines.end_mark(start)
    }
}

/// Appends what a record says of its context as further arguments; dialects that record it have words before.
#[inline]
fn put_details(
    out: &mut TextBuffer,
    [threshold, interrupted]: &[Literal; 2],
    trace: &Trace,
    event: &EventRef<'_>,
) {
    let Some(recorded) = &trace.details else { return };
    let details = recorded.details(event.record);
    if let Some(value) = details.preemption_threshold {
        out.literal(threshold);
        out.decimal(u64::from(value));
    }
    if let Some(thread) = details.interrupted {
        out.literal(interrupted);
        out.decimal(thread);
    }
}

#[inline(always)]
fn absent<'a>(room: Room<'a>, key: &Literal, absent: Absent) -> Room<'a> {
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
    head.text(after);
    let named = event.args.iter().enumerate();
    let args: Vec<_> =
        named.map(|(index, arg)| argument_plan(format, index, Some(&arg.name))).collect();
    let room = head.len() + args.iter().map(|arg| arg.len() + Room::NUMBER).sum::<usize>();
    let more_than_digits = event
        .args
        .iter()
        .any(|arg| values::is_more_than_digits(arg.kind) || is_special(format, &arg.name));
    EventPlan { head: Literal::new(head.as_bytes()), args, more_than_digits, room }
}

fn argument_plan(format: EventFormat, index: usize, name: Option<&str>) -> Literal {
    let unnamed = format!("arg{}", index + 1);
    let mut plan = TextBuffer::default();
    if index > 0 {
        plan.byte(if format == EventFormat::JsonLines { b',' } else { b' ' });
    }
    let name = name.unwrap_or(&unnamed);
    if format == EventFormat::JsonLines {
        plan.byte(b'"');
        put_text(format, &mut plan, name.as_bytes());
        plan.text("\":");
    } else {
        plan.text(name);
        plan.byte(b'=');
    }
    Literal::new(plan.as_bytes())
}
