//! Every event, typed, for programs: JSON lines, tab- or comma-separated values.
//!
//! Fields of a JSON line, in this order: `seq`, `ticks` (since the first event, unwrapped),
//! `time_ns` (where the clock's rate is known), `cpu`, `context` (key as recorded), `context_name`,
//! `priority` (where the event carries one), `id`, `name`, `args` (argument name to number, in the
//! order recorded; a word that the schema does not name is `arg1`, `arg2`, …) and `text`. A gap is
//! a line of its own: `{"lost":N or null,"cause":…,"offset":…}`.
//!
//! The tables have the same fields as columns, empty where a JSON line leaves a key out; `args`
//! are `name=value` with blanks between. In a gap's row `seq` is empty, `name` is `lost`, `args`
//! holds `lost=`, `cause=` and `offset=`.
//!
//! A JSON value tree for each event would cost more than everything else together, so lines are
//! put together here; a test compares them with a JSON library's reading.

use std::io::{self, Write};

use super::{Export, ExportError, ExportNames};
use crate::format::Options;
use crate::input::Input;
use crate::model::{Batch, ContextId, EventRef, Flow, Loss, Sink, Trace};
use crate::select::{Selection, Selector};
use crate::text::{Describer, LineWriter, PerEvent, Tail, put_decimal};

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
    /// Columns with commas between; quoted where RFC 4180 wants it.
    Csv,
}

const COLUMNS: [&str; 11] = [
    "seq",
    "ticks",
    "time_ns",
    "cpu",
    "context",
    "context_name",
    "priority",
    "id",
    "name",
    "args",
    "text",
];

/// A sink that writes every selected event.
#[derive(Debug)]
pub struct EventWriter<W> {
    lines: LineWriter<W>,
    format: EventFormat,
    selector: Option<Selector>,
    tail: Option<Tail>,
    contexts: Vec<Box<[u8]>>,
    events: PerEvent<EventPlan>,
    describer: Describer,
    scratch: Vec<u8>,
}

/// What is the same in every line of an event id.
#[derive(Debug)]
struct EventPlan {
    /// Id and name, up to the first argument.
    head: Box<[u8]>,
    /// Before the value of each argument: separator and name. Words beyond have no schema.
    args: Vec<Box<[u8]>>,
}

impl<W: Write> EventWriter<W> {
    /// Makes a writer; tables begin with a line of column names.
    pub fn new(out: W, format: EventFormat, selection: Selection) -> Self {
        let mut lines = LineWriter::new(out);
        let separator = match format {
            EventFormat::JsonLines => None,
            EventFormat::Tsv => Some("\t"),
            EventFormat::Csv => Some(","),
        };
        if let Some(separator) = separator {
            lines.buffer().extend_from_slice(COLUMNS.join(separator).as_bytes());
            lines.line_end();
        }
        let tail = selection.tail.map(Tail::new);
        let selector = Selector::new(selection);
        Self {
            lines,
            format,
            selector: (!selector.takes_all()).then_some(selector),
            tail,
            contexts: Vec::new(),
            events: PerEvent::default(),
            describer: Describer::default(),
            scratch: Vec::new(),
        }
    }

    /// Writes what is left and gives the writer back.
    ///
    /// # Errors
    /// The first error of the writer, whenever it came.
    pub fn finish(mut self) -> io::Result<W> {
        if let Some(tail) = self.tail.take() {
            tail.put(&mut self.lines);
        }
        self.lines.finish()
    }

    fn line(&mut self, trace: &Trace, event: &EventRef<'_>) -> Flow {
        let start = self.lines.buffer().len();
        self.head(trace, event);
        self.arguments(trace, event);
        self.text(trace, event);
        self.end(start)
    }

    /// Ends a line, or moves it to the last lines.
    fn end(&mut self, start: usize) -> Flow {
        if let Some(tail) = &mut self.tail {
            tail.take(self.lines.buffer(), start);
            return Flow::Continue(());
        }
        if self.lines.line_end() { Flow::Continue(()) } else { Flow::Break(()) }
    }

    fn head(&mut self, trace: &Trace, event: &EventRef<'_>) {
        let format = self.format;
        while self.contexts.len() < trace.contexts.len() {
            let next = ContextId(self.contexts.len() as u32);
            self.contexts.push(context_plan(format, trace, next));
        }
        let context = self.contexts.get(event.context.index()).map_or(&[][..], |plan| plan);
        let time = trace.clock.nanoseconds(event.ticks);
        let out = self.lines.buffer();
        let keys = Keys::of(format);
        out.extend_from_slice(keys.seq);
        put_decimal(out, event.seq);
        out.extend_from_slice(keys.ticks);
        put_decimal(out, event.ticks);
        put_optional(out, keys.time_ns, time, keys.absent);
        out.extend_from_slice(keys.cpu);
        put_decimal(out, u64::from(event.cpu));
        out.extend_from_slice(context);
        put_optional(out, keys.priority, event.priority.map(u64::from), keys.absent);
    }

    fn arguments(&mut self, trace: &Trace, event: &EventRef<'_>) {
        let format = self.format;
        let plan = self.events.get(event.id, || event_plan(format, trace, event.id));
        let out = self.lines.buffer();
        out.extend_from_slice(&plan.head);
        for index in 0..trace.payload.arguments(event.payload) {
            let value = trace.payload.argument(event.payload, index).unwrap_or(0);
            match plan.args.get(index) {
                Some(prefix) => out.extend_from_slice(prefix),
                None => out.extend_from_slice(&argument_plan(format, index, None)),
            }
            put_decimal(out, value);
        }
    }

    fn text(&mut self, trace: &Trace, event: &EventRef<'_>) {
        let keys = Keys::of(self.format);
        let out = self.lines.buffer();
        out.extend_from_slice(keys.text);
        self.scratch.clear();
        self.describer.put(&mut self.scratch, trace, event);
        put_text(self.format, out, &self.scratch);
        out.extend_from_slice(keys.end);
    }
}

impl<W: Write> Sink for EventWriter<W> {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        for event in batch.events() {
            if let Some(selector) = &mut self.selector
                && !selector.takes(trace, &event)?
            {
                continue;
            }
            self.line(trace, &event)?;
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
                format!("\t\t\t\t\t\t\t\tlost\tlost={lost} cause={cause} offset={offset}\t")
            }
            EventFormat::Csv => {
                format!(",,,,,,,,lost,lost={lost} cause={cause} offset={offset},")
            }
        };
        self.lines.buffer().extend_from_slice(line.as_bytes());
        self.end(start)
    }
}

/// What stands between the values of a line.
struct Keys {
    seq: &'static [u8],
    ticks: &'static [u8],
    time_ns: &'static [u8],
    cpu: &'static [u8],
    priority: &'static [u8],
    text: &'static [u8],
    end: &'static [u8],
    /// Whether the key of an absent value is left out, too.
    absent: Absent,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Absent {
    LeftOut,
    Empty,
}

impl Keys {
    fn of(format: EventFormat) -> &'static Self {
        static JSON: Keys = Keys {
            seq: br#"{"seq":"#,
            ticks: br#","ticks":"#,
            time_ns: br#","time_ns":"#,
            cpu: br#","cpu":"#,
            priority: br#","priority":"#,
            text: br#"},"text":""#,
            end: br#""}"#,
            absent: Absent::LeftOut,
        };
        static TSV: Keys = Keys {
            seq: b"",
            ticks: b"\t",
            time_ns: b"\t",
            cpu: b"\t",
            priority: b"\t",
            text: b"\t",
            end: b"",
            absent: Absent::Empty,
        };
        static CSV: Keys = Keys {
            seq: b"",
            ticks: b",",
            time_ns: b",",
            cpu: b",",
            priority: b",",
            text: b",",
            end: b"",
            absent: Absent::Empty,
        };
        match format {
            EventFormat::JsonLines => &JSON,
            EventFormat::Tsv => &TSV,
            EventFormat::Csv => &CSV,
        }
    }
}

fn put_optional(out: &mut Vec<u8>, key: &[u8], value: Option<u64>, absent: Absent) {
    match value {
        Some(value) => {
            out.extend_from_slice(key);
            put_decimal(out, value);
        }
        None if absent == Absent::Empty => out.extend_from_slice(key),
        None => {}
    }
}

fn context_plan(format: EventFormat, trace: &Trace, id: ContextId) -> Box<[u8]> {
    let Some(context) = trace.contexts.get(id) else { return Box::default() };
    let between: [&[u8]; 3] = match format {
        EventFormat::JsonLines => [br#","context":""#, br#"","context_name":""#, b"\""],
        EventFormat::Tsv => [b"\t", b"\t", b""],
        EventFormat::Csv => [b",", b",", b""],
    };
    let mut plan = Vec::new();
    plan.extend_from_slice(between[0]);
    put_text(format, &mut plan, context.key_text.as_bytes());
    plan.extend_from_slice(between[1]);
    put_text(format, &mut plan, context.name.as_bytes());
    plan.extend_from_slice(between[2]);
    plan.into()
}

fn event_plan(format: EventFormat, trace: &Trace, id: u32) -> EventPlan {
    let event = trace.schema.event(id);
    let mut head = Vec::new();
    let [before_id, before_name, after]: [&[u8]; 3] = match format {
        EventFormat::JsonLines => [br#","id":"#, br#","name":""#, br#"","args":{"#],
        EventFormat::Tsv => [b"\t", b"\t", b"\t"],
        EventFormat::Csv => [b",", b",", b","],
    };
    head.extend_from_slice(before_id);
    put_decimal(&mut head, u64::from(id));
    head.extend_from_slice(before_name);
    put_text(format, &mut head, event.name.as_bytes());
    head.extend_from_slice(after);
    let named = event.args.iter().enumerate();
    let args = named.map(|(index, arg)| argument_plan(format, index, Some(&arg.name))).collect();
    EventPlan { head: head.into(), args }
}

fn argument_plan(format: EventFormat, index: usize, name: Option<&str>) -> Box<[u8]> {
    let unnamed = format!("arg{}", index + 1);
    let mut plan = Vec::new();
    if index > 0 {
        plan.push(if format == EventFormat::JsonLines { b',' } else { b' ' });
    }
    if format == EventFormat::JsonLines {
        plan.push(b'"');
    }
    put_text(format, &mut plan, name.unwrap_or(&unnamed).as_bytes());
    plan.extend_from_slice(if format == EventFormat::JsonLines { b"\":" } else { b"=" });
    plan.into()
}

/// Appends text in the format's way of writing it. Text comes from files: it may hold anything.
fn put_text(format: EventFormat, out: &mut Vec<u8>, text: &[u8]) {
    match format {
        EventFormat::JsonLines => put_json(out, text),
        EventFormat::Tsv => put_tsv(out, text),
        EventFormat::Csv => put_csv(out, text),
    }
}

fn put_json(out: &mut Vec<u8>, text: &[u8]) {
    let plain = |byte: u8| byte >= 0x20 && byte != b'"' && byte != b'\\';
    if text.iter().all(|&byte| plain(byte)) {
        return out.extend_from_slice(text);
    }
    for &byte in text {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0..0x20 => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => out.push(byte),
        }
    }
}

fn put_tsv(out: &mut Vec<u8>, text: &[u8]) {
    if !text.iter().any(|byte| matches!(byte, b'\t' | b'\n' | b'\r' | b'\\')) {
        return out.extend_from_slice(text);
    }
    for &byte in text {
        match byte {
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\\' => out.extend_from_slice(b"\\\\"),
            _ => out.push(byte),
        }
    }
}

fn put_csv(out: &mut Vec<u8>, text: &[u8]) {
    if !text.iter().any(|byte| matches!(byte, b',' | b'"' | b'\n' | b'\r')) {
        return out.extend_from_slice(text);
    }
    out.push(b'"');
    for &byte in text {
        if byte == b'"' {
            out.push(b'"');
        }
        out.push(byte);
    }
    out.push(b'"');
}
