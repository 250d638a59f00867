//! Decodes a case and writes the answer as text: events, losses, and the facts of the trace.

use std::fmt::Write;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tracewell::export::events::{EventFormat, EventWriter};
use tracewell::format::ctf::{babeltrace, metadata};
use tracewell::format::{self, Input, Progress, ReadError, Settings, Snapshot, TraceFile};
use tracewell::model::{Batch, ContextDetail, EventRef, Flow, Loss, Severity, Sink, Trace};
use tracewell::report::info::Census;
use tracewell::select::Selection;
use tracewell_wire::native::crc32c;

use crate::samples::Sample;
use crate::support::ctf::Types;
use crate::support::settings;

/// The columns of events. The names of contexts are in the facts, because a decoder can get to know
/// a name after the events.
const COLUMNS: &str = "seq,ticks,time_ns,cpu,context,priority,id,event,level,target,span,args";

/// The answer of a decoder.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Answer {
    pub(crate) text: String,
    /// The copy of the memory of a stream that all bytes together contain, or the text in the form
    /// of Babeltrace; empty if there is none, and in sweeps, because these take too long.
    pub(crate) copied: String,
    pub(crate) counts: Counts,
}

/// The counts of an answer, or sums of such counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) events: u64,
    /// Number of gaps.
    pub(crate) gaps: u64,
    /// Total number of events that are missing in gaps of known size.
    pub(crate) lost: u64,
    /// Number of diagnostics about damage.
    pub(crate) damage: u64,
    /// Number of warnings.
    pub(crate) warnings: u64,
    /// Number of inputs that were refused.
    pub(crate) refused: u64,
}

impl Counts {
    pub(crate) fn add(&mut self, other: &Self) {
        self.events += other.events;
        self.gaps += other.gaps;
        self.lost = self.lost.saturating_add(other.lost);
        self.damage += other.damage;
        self.warnings += other.warnings;
        self.refused += other.refused;
    }
}

/// Returns a short digest of a text.
pub(crate) fn digest(text: &str) -> String {
    format!("{:08x}", crc32c(text.as_bytes()))
}

/// Collects the data of an answer.
struct Consumers {
    /// The events and losses as numbers.
    numbers: Vec<u8>,
    census: Census,
    /// The events and losses as text, if they are wanted.
    lines: Option<EventWriter<Vec<u8>>>,
}

impl Sink for Consumers {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        for (row, event) in batch.events().enumerate() {
            let EventRef { seq, ticks, cpu, context, id, priority, payload, record, .. } = event;
            if let Some(arguments) = &trace.recorded {
                arguments.append(record, &mut self.numbers);
            }
            let detail = trace.details.as_ref().and_then(|details| details.detail(record));
            let detail = match detail {
                None => [0, 0],
                Some(ContextDetail::PreemptionThreshold(threshold)) => [1, threshold.into()],
                Some(ContextDetail::Interrupted(key)) => [2, key],
            };
            let priority = priority.get().map_or(u64::MAX, u64::from);
            let [who, id] = [context.0, id].map(u64::from);
            let lengths = [payload.len(), record.len()].map(|length| length as u64);
            let offset = batch.records.offset(row);
            let numbers = [seq, ticks, cpu.into(), who, id, priority, lengths[0], lengths[1]];
            for number in numbers.iter().chain(&detail).chain(&[offset]) {
                self.numbers.extend_from_slice(&number.to_le_bytes());
            }
            self.numbers.extend_from_slice(payload);
        }
        self.census.events(trace, batch)?;
        self.lines.as_mut().map_or(Flow::Continue(()), |lines| lines.events(trace, batch))
    }

    fn loss(&mut self, trace: &Trace, loss: &Loss) -> Flow {
        let Loss { before, events, cause, offset } = *loss;
        let events = events.map_or([0, 0], |events| [1, events]);
        for number in [before, events[0], events[1], cause as u64, offset] {
            self.numbers.extend_from_slice(&number.to_le_bytes());
        }
        self.lines.as_mut().map_or(Flow::Continue(()), |lines| lines.loss(trace, loss))
    }
}

/// The way in which the bytes arrive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Arrival {
    /// All bytes at once.
    Whole,
    /// In three parts, or in files that grow twice.
    Parts,
}

/// Decodes the bytes of a damaged sample. If `lines` is true, the text contains the events, too.
pub(crate) fn answer(
    sample: &Sample,
    options: &[&str],
    bytes: &[u8],
    arrival: Arrival,
    lines: bool,
) -> Answer {
    let writer = || {
        let writer = EventWriter::new(Vec::new(), EventFormat::Tsv, Selection::default());
        writer.with_columns(COLUMNS.parse().expect("these are columns"))
    };
    let mut consumers =
        Consumers { numbers: Vec::new(), census: Census::default(), lines: lines.then(writer) };
    let settings = settings(options);
    let decoded = match sample.files.is_empty() {
        true => arriving(sample.format, &settings, bytes, arrival, &mut consumers),
        false => growing(sample, settings, bytes, arrival, &mut consumers),
    };
    let format = format::by_name(sample.format).unwrap();
    let recognised = (format.recognise)(bytes);
    let types = match metadata::read(bytes) {
        Ok(parsed) if sample.edited == 0 && !sample.files.is_empty() => {
            Types::of(&parsed.metadata, true)
        }
        _ => String::new(),
    };
    let mut copied = String::new();
    if arrival == Arrival::Whole && lines {
        copied += &format.snapshot.map_or(String::new(), |take| copied_memory(take, bytes));
        if !sample.files.is_empty() {
            copied += &as_babeltrace(&files_of(sample, bytes, 3));
        }
    }
    match decoded {
        Ok(trace) => {
            let mut answer = described(&trace, consumers);
            let _ = writeln!(answer.text, "recognised {recognised:?}\n{types}");
            if sample.format == "ctf" && lines {
                let encodings = trace.schema.events().flat_map(|event| &event.args);
                let encodings = encodings.map(|argument| argument.encoding.as_str());
                let _ = writeln!(answer.text, "encodings {:?}", encodings.collect::<Vec<_>>());
            }
            Answer { copied, ..answer }
        }
        Err(error) => Answer {
            text: format!("refused {error}\nrecognised {recognised:?}\n"),
            copied,
            counts: Counts { refused: 1, ..Counts::default() },
        },
    }
}

/// Describes the copy that the format makes of a file with these bytes before it decodes them.
fn copied_memory(take: Snapshot, bytes: &[u8]) -> String {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    match take(Path::new("memory"), &file) {
        Ok(Some(copy)) => format!("copy {} {:08x}\n", copy.len(), crc32c(&copy)),
        Ok(None) => String::new(),
        Err(error) => format!("copy {error}\n"),
    }
}

/// Passes bytes to a decoder as a window that grows at its end and loses consumed bytes at its
/// start.
fn arriving(
    format: &str,
    settings: &Settings,
    bytes: &[u8],
    arrival: Arrival,
    sink: &mut dyn Sink,
) -> Result<Trace, ReadError> {
    let mut decoder =
        format::by_name(format).unwrap().decoder(settings).expect("the options are its own");
    let mut trace = decoder.trace();
    let piece = if arrival == Arrival::Whole { bytes.len().max(1) } else { 1 + bytes.len() / 3 };
    let (mut start, mut end) = (0, 0);
    loop {
        end = bytes.len().min(end + piece);
        let last = end == bytes.len();
        let window = Input { offset: start as u64, bytes: &bytes[start..end], last };
        match decoder.decode(window, &mut trace, sink)? {
            Progress::Done => return Ok(trace),
            Progress::More { consumed, wanted } => {
                assert!(!last, "a decoder must end with its input");
                start += consumed;
                assert!(wanted > end - start, "the decoder must request more bytes than it has");
            }
        }
    }
}

/// Returns the text of the same trace in the form of Babeltrace, with its messages.
fn as_babeltrace(files: &[TraceFile]) -> String {
    let (mut text, mut messages) = (Vec::new(), String::new());
    let result = babeltrace::print(files, Path::new("trace"), &mut text, |message| {
        let kind = if message.is_damage { "damage" } else { "warning" };
        let _ = writeln!(messages, "{kind} {}", message.text);
    });
    format!("{}{messages}{:?}\n", String::from_utf8_lossy(&text), result.is_ok())
}

/// Returns the files of a folder, with this number of thirds of each stream. The damaged file has
/// the given bytes.
fn files_of(sample: &Sample, bytes: &[u8], third: usize) -> Arc<[TraceFile]> {
    // The metadata is the first file. It does not grow.
    let files = sample.files.iter().enumerate().map(|(index, (name, content))| {
        let content = if index == sample.edited { bytes } else { content };
        let length = if index == 0 { content.len() } else { content.len() * third / 3 };
        let path = PathBuf::from("trace").join(name);
        TraceFile::new(path, Arc::new(content[..length].to_vec()))
    });
    files.collect()
}

/// Decodes the files of a folder. The damaged file has the given bytes.
fn growing(
    sample: &Sample,
    mut settings: Settings,
    bytes: &[u8],
    arrival: Arrival,
    sink: &mut dyn Sink,
) -> Result<Trace, ReadError> {
    let all = files_of(sample, bytes, 3);
    let main = all[0].bytes().to_vec();
    let format = format::by_name(sample.format).unwrap();
    if arrival == Arrival::Whole {
        settings.files = all;
        let mut decoder = format.decoder(&settings).expect("the options are its own");
        let mut trace = decoder.trace();
        let window = Input { offset: 0, bytes: &main, last: true };
        assert_eq!(decoder.decode(window, &mut trace, sink)?, Progress::Done);
        return Ok(trace);
    }
    let mut decoder = format.decoder(&settings).expect("the options are its own");
    let mut trace = decoder.trace();
    for (third, last) in [(1, false), (2, false), (3, false), (3, true)] {
        decoder.grow(files_of(sample, bytes, third));
        decoder.decode(Input { offset: 0, bytes: &[], last }, &mut trace, sink)?;
    }
    Ok(trace)
}

/// Writes the answer as text.
fn described(trace: &Trace, consumers: Consumers) -> Answer {
    let Consumers { numbers, census, lines } = consumers;
    let lines = lines.map(|lines| lines.into_inner().expect("a vector accepts any text"));
    let mut text = String::from_utf8_lossy(&lines.unwrap_or_default()).into_owned();
    let _ = writeln!(text, "events and losses {:08x}", crc32c(&numbers));
    let summary = serde_json::to_string(&census.summary(trace)).expect("it is a document");
    text.push_str(&summary.replace(r#"","#, "\",\n"));
    let Trace { facts, texts, wall_clock, processor, larger_is_urgent, cpus, diagnostics, .. } =
        trace;
    let _ = writeln!(text, "\n{facts:?} {texts:?}");
    let _ = writeln!(text, "{wall_clock:?} {processor:?} {larger_is_urgent} {cpus}");
    let _ = writeln!(text, "more diagnostics {} {:?}", diagnostics.more(), diagnostics.worst());
    let _ = writeln!(text, "places of losses {}", trace.losses.places());
    let of_severity = |severity| {
        diagnostics.iter().filter(|diagnostic| diagnostic.severity == severity).count() as u64
    };
    let counts = Counts {
        events: trace.events,
        gaps: trace.losses.iter().map(|(_, count)| count.gaps).sum(),
        lost: trace.losses.iter().fold(0, |sum, (_, count)| sum.saturating_add(count.events)),
        damage: of_severity(Severity::Damage),
        warnings: of_severity(Severity::Warning),
        refused: 0,
    };
    Answer { text, copied: String::new(), counts }
}
