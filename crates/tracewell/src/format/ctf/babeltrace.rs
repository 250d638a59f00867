//! Prints a trace as Babeltrace 2 does, for comparison and for scripts that expect its text.
//!
//! The text contains facts that the model lacks, such as the classes of fields and the packets
//! around a gap. So this module reads the trace directly and does not use the model.

use std::io::{self, Write};
use std::path::Path;

use super::classes::{Metadata, Value};
use super::clocks;
use super::folder::METADATA;
use super::layout::Programs;
use super::packets::hyphenated;
use super::position::{Bits, Fault};
use super::print::Printer;
use super::program::State;
use super::reader::Reader;
use super::stream::{Gap, GapKind, Next, Stream};
use crate::format::{ReadError, TraceFile};

/// Nanoseconds per second.
const SECOND: i128 = 1_000_000_000;

/// A message about the trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Message {
    /// The text, as Babeltrace prints it for discarded events and packets.
    pub text: String,
    /// True if the message says that a part of the trace cannot be read.
    pub is_damage: bool,
}

/// Error for a trace that cannot be printed.
#[derive(Debug)]
pub enum PrintError {
    /// The trace cannot be read.
    Read(ReadError),
    /// The text cannot be written.
    Write(io::Error),
}

/// Prints the files of a trace as the command `babeltrace2 --clock-gmt --clock-date` does. Passes
/// each message to `report` at its position among the events. `root` is the path as the user typed
/// it.
///
/// Babeltrace stops at damage; this function continues after the damage.
///
/// # Errors
/// Returns an error if the metadata cannot be read, or if `out` cannot be written.
pub fn print(
    files: &[TraceFile],
    root: &Path,
    out: &mut dyn Write,
    mut report: impl FnMut(Message),
) -> Result<(), PrintError> {
    let mut reader = Reader::new(files, Programs::ByScope).map_err(PrintError::Read)?;
    let below = |file: &TraceFile| {
        let folder = file.path().parent().unwrap_or(root);
        folder.strip_prefix(root).unwrap_or(folder).display().to_string()
    };
    let metadata = files.iter().filter(|file| file.name() == METADATA);
    let folders: Vec<_> = metadata.map(below).collect();
    let mut lines = Lines::new(&reader);
    while let Some(index) = reader.earliest() {
        let stream = reader.streams.get_mut(index);
        match stream.as_ref().map_or(Next::End, |stream| stream.next) {
            Next::Event => match lines.event(&mut reader, index) {
                Ok(()) => {
                    out.write_all(lines.printer.out.as_bytes()).map_err(PrintError::Write)?;
                }
                Err(fault) => {
                    if let Some(stream) = reader.streams.get_mut(index) {
                        stream.lose_body(fault);
                    }
                }
            },
            Next::Gap => {
                let gap = stream.and_then(Stream::take_gap);
                let message = gap.and_then(|gap| lines.gap(&reader, index, &gap, files, &folders));
                message.into_iter().for_each(&mut report);
            }
            Next::Stop | Next::Wait | Next::End => {}
        }
        reader.advance();
    }
    Ok(())
}

/// The text of the current line, and the texts that many lines share.
struct Lines {
    printer: Printer,
    /// The names of the recording system and process, by index of the layout.
    systems: Vec<String>,
    /// For each stream, the number of the current packet and the text of its context.
    contexts: Vec<(u64, Vec<u8>)>,
    /// Time of the previous line in nanoseconds.
    last: Option<i128>,
    /// The time of the previous line in whole seconds, and the date of this second.
    date: (i128, String),
}

impl Lines {
    fn new(reader: &Reader<'_>) -> Self {
        Self {
            printer: Printer::default(),
            systems: reader.layouts.iter().map(|layout| system(&layout.metadata)).collect(),
            contexts: vec![(0, Vec::new()); reader.streams.len()],
            last: None,
            date: (i128::MIN, String::new()),
        }
    }

    /// Writes the line of the next event of a stream.
    fn event(&mut self, reader: &mut Reader<'_>, index: usize) -> Result<(), Fault> {
        let (layouts, streams) = (&reader.layouts, &mut reader.streams);
        let Some(stream) = streams.get_mut(index) else { return Ok(()) };
        let (Some(part), Some(packet)) = (stream.part(), stream.packet) else { return Ok(()) };
        let Some(layout) = layouts.get(part.layout) else { return Ok(()) };
        let (Some(class), Some(declared)) =
            (layout.streams.get(packet.class), layout.metadata.streams.get(packet.class))
        else {
            return Ok(());
        };
        let (Some(event), Some(event_class)) =
            (class.events.get(stream.event), declared.events.get(stream.event))
        else {
            return Ok(());
        };
        self.printer.out.truncate(0);
        let clock = declared.clock.and_then(|clock| layout.metadata.clocks.get(clock));
        if let Some(clock) = clock {
            let now = clocks::babeltrace_nanoseconds(clock, stream.time);
            let date = self.date_of(now);
            self.printer.out.text(format!("[{date}] (+"));
            match self.last.replace(now) {
                Some(last) => {
                    let delta = now - last;
                    let text = format!("{}.{:09}", delta / SECOND, delta % SECOND);
                    self.printer.out.text(text);
                }
                None => self.printer.out.text("?.?????????"),
            }
            self.printer.out.text(") ");
        }
        self.printer.out.text(self.systems.get(part.layout).map_or("", String::as_str));
        self.printer.out.text(event_class.name.as_deref().unwrap_or_default());
        self.printer.out.text(": ");
        let start = self.printer.out.len();
        if let Some((read, context)) = self.contexts.get_mut(index) {
            if *read != stream.packets {
                *read = stream.packets;
                let mut bits = Bits { bytes: packet.bytes, at: packet.context, end: packet.body };
                self.printer.begin();
                let mut state = State { empty_elements: 0, order: None, ..stream.state.clone() };
                class.context.run(&mut bits, &mut state, &mut self.printer)?;
                let is_empty = self.printer.end() == 0;
                context.clear();
                if !is_empty {
                    context.extend(self.printer.out.as_bytes().iter().skip(start));
                }
                self.printer.out.truncate(start);
            }
            self.printer.out.text(&*context);
        }
        let programs = event.programs.as_ref().map_err(|fault| *fault)?;
        let has = [
            declared.common_context.is_some(),
            event_class.specific_context.is_some(),
            event_class.payload.is_some(),
        ];
        for (program, has) in programs.iter().zip(has) {
            if has {
                if self.printer.out.len() > start {
                    self.printer.out.text(", ");
                }
                self.printer.begin();
                program.run(&mut stream.bits, &mut stream.state, &mut self.printer)?;
                self.printer.end();
            }
        }
        self.printer.out.byte(b'\n');
        let is_interrupt = event_class.name.as_ref().is_some_and(|name| name.starts_with("isr_"));
        stream.note_interrupt(is_interrupt);
        Ok(())
    }

    /// Returns the date for a time, which is given in nanoseconds since 1970. A negative time has
    /// no date.
    fn date_of(&mut self, ns: i128) -> String {
        if ns < 0 {
            return format!("-{}.{:09}", -ns / SECOND, -ns % SECOND);
        }
        let second = ns / SECOND;
        if self.date.0 != second {
            let date = i64::try_from(second)
                .ok()
                .and_then(|second| jiff::Timestamp::from_second(second).ok());
            let date = date.map(|date| date.strftime("%Y-%m-%d %H:%M:%S").to_string());
            self.date = (second, date.unwrap_or_else(|| second.to_string()));
        }
        format!("{}.{:09}", self.date.1, ns % SECOND)
    }

    /// Returns Babeltrace's message about a gap, or `None` if it prints none.
    fn gap(
        &mut self,
        reader: &Reader<'_>,
        index: usize,
        gap: &Gap,
        files: &[TraceFile],
        folders: &[String],
    ) -> Option<Message> {
        let stream = reader.streams.get(index)?;
        let part = stream.part()?;
        let path = files.get(part.file)?.path().display();
        let (count, what) = match &gap.kind {
            GapKind::Events { count, first: 0 } => (count.unwrap_or(0), "event"),
            // The count may include events that the tracer discarded before the first packet, so
            // Babeltrace prints no number.
            GapKind::Events { .. } => (0, "event"),
            GapKind::Packets(count) => (*count, "packet"),
            GapKind::Damage(message) => {
                let text = format!("{path}: at byte {}: {message}", gap.offset);
                return Some(Message { text, is_damage: true });
            }
            GapKind::Padding(_)
            | GapKind::Backwards(_)
            | GapKind::Late(_)
            | GapKind::Index(_)
            | GapKind::Listed(_)
            | GapKind::OtherTrace(_) => return None,
        };
        let layout = reader.layouts.get(part.layout)?;
        let packet = stream.packet?;
        let class = layout.metadata.streams.get(packet.class)?;
        let clock = class.clock.and_then(|clock| layout.metadata.clocks.get(clock));
        let range = match clock.zip(gap.between) {
            Some((clock, (from, to))) => {
                let [from, to] =
                    [from, to].map(|at| self.date_of(clocks::babeltrace_nanoseconds(clock, at)));
                format!("between [{from}] and [{to}]")
            }
            None => "(unknown time range)".to_owned(),
        };
        let begin = match count {
            0 => format!("may have discarded {what}s"),
            1 => format!("discarded 1 {what}"),
            _ => format!("discarded {count} {what}s"),
        };
        let name = match environment(&layout.metadata, "hostname") {
            Some(host) => {
                let below = folders.get(part.layout).map_or("", String::as_str);
                let slash = if below.is_empty() { "" } else { "/" };
                format!("{host}{slash}{below}")
            }
            None => String::new(),
        };
        let uuid = layout
            .metadata
            .uuid
            .map_or("no UUID".to_owned(), |uuid| format!("UUID: {}", hyphenated(uuid)));
        let stream_id = match packet.numbers.instance {
            Some(id) => format!("stream ID: {id}"),
            None => format!("stream ID: {}", unnumbered_before(reader, index)),
        };
        let text = format!(
            "WARNING: Tracer {begin} {range} in trace \"{name}\" ({uuid}) within stream \"{path}\" \
             (stream class ID: {}, {stream_id}).",
            class.id
        );
        Some(Message { text, is_damage: false })
    }
}

/// Returns the number that Babeltrace assigns to a stream without an instance number: the count of
/// earlier streams of its class.
fn unnumbered_before(reader: &Reader<'_>, index: usize) -> usize {
    let class = |index: usize| {
        let stream = reader.streams.get(index)?;
        stream.part().map(|part| (part.layout, stream.class))
    };
    (0..index).filter(|before| class(*before) == class(index)).count()
}

fn environment(metadata: &Metadata, name: &str) -> Option<String> {
    let found = metadata.environment.iter().find(|(known, _)| known == name);
    found.map(|(_, value)| match value {
        Value::Text(text) => text.clone(),
        Value::Number(number) => number.to_string(),
    })
}

/// Returns the names of the host and of the process, as in `host:program:(1234) `.
fn system(metadata: &Metadata) -> String {
    let process = environment(metadata, "vpid").map(|vpid| format!("({vpid})"));
    let parts = [environment(metadata, "hostname"), environment(metadata, "procname"), process];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    if parts.is_empty() { String::new() } else { format!("{} ", parts.join(":")) }
}
