//! The fuzz targets. Each target passes its bytes to the code under test and checks properties that
//! hold for any bytes.
//!
//! The test `crates/tracewell/tests/corpus.rs` includes this file and runs the corpus through it,
//! so this file uses only the public interface of the crates under test.

use tracewell::analysis::scheduling::{Expected, Mark, Parts, Scheduling, Wanted};
use tracewell::format::threadx::locate::locate;
use tracewell::format::{self, Input, Progress, Settings};
use tracewell::input::image::{Decoded, Encoding, MemoryImage, recognise};
use tracewell::model::{Batch, Diagnostics, Flow, Loss, Sink, Trace};
use tracewell::report::analyses::Section;
use tracewell::report::scheduling::{SchedulingFigures, text};
use tracewell_wire::rkh;
use tracewell_wire::threadx::{Event, Header, Layout, RegistrySlot};

mod aix;
mod any_trace;
mod check;
mod ctf;
mod ctf_metadata;
mod exports;
mod files;
mod inputs;
mod machines;
mod posix;
mod reports;
mod selections;
mod streams;
mod systemview;
mod target;
mod template;
mod wire_aix;

pub use aix::aix;
pub use check::{check_matcher, check_parser};
pub use ctf::ctf_packets;
pub use ctf_metadata::ctf_metadata;
pub use exports::exports;
pub use files::{
    custom_event_files, elf, number_lists, schema_files, template_update, typed_texts,
};
pub use inputs::{decompress, join, recognition};
pub use machines::machines;
pub use posix::{posix_log, posix_memory};
pub use reports::{reports, tracex, trcrpt_layout};
pub use selections::{selections, settings};
pub use streams::{
    native, native_edited, native_image, posix_reader, posix_reader_edited, posix_reader_memory,
};
pub use systemview::{systemview, systemview_descriptions};
pub use target::{target, target_packets};
pub use template::{compress, template_machine, template_parser};
pub use wire_aix::wire_aix;

/// Reads the header, registry slots and events, writes them, and checks that they can be read
/// again.
pub fn wire_threadx(data: &[u8]) {
    if let Some(found) = locate(data, data.len()) {
        assert!(found.offset + found.layout.header_size() <= data.len());
    }
    let Ok((layout, header)) = Header::read(data) else { return };
    let mut written = [0; 96];
    header.write(layout, &mut written).expect("no header has more than 96 bytes");
    let read_again = Header::read(&written[..layout.header_size()]);
    // If the mask is 0, the reader determines the word size from the other fields, so it may differ
    // from the size that was written.
    if header.timer_valid_mask != 0 {
        assert_eq!(read_again, Ok((layout, header)));
    }
    let slots = &data[layout.header_size()..];
    slots.chunks_exact(layout.registry_slot_size()).for_each(|slot| registry_slot(layout, slot));
    slots.chunks_exact(layout.event_size()).for_each(|slot| event(layout, slot));
}

fn registry_slot(layout: Layout, bytes: &[u8]) {
    let slot = RegistrySlot::read(layout, bytes).expect("a chunk is as long as a slot");
    assert!(slot.name.len() <= usize::from(layout.name_size));
    assert!(slot.priority().is_none_or(|priority| priority <= 1023));
    let mut written = bytes.to_vec();
    slot.write(layout, &mut written).expect("the copy is as long as the slot");
    let again = RegistrySlot::read(layout, &written).expect("the copy is as long as the slot");
    // The writer reserves a byte for the NUL, so a name that fills its field loses its last byte.
    let kept = slot.name.len().min(usize::from(layout.name_size).saturating_sub(1));
    assert_eq!(again, RegistrySlot { name: &slot.name[..kept], ..slot });
}

fn event(layout: Layout, bytes: &[u8]) {
    let event = Event::read(layout, bytes).expect("a chunk is as long as an event");
    let _ = (event.priority(), event.unexpected_id_bits());
    let mut written = bytes.to_vec();
    event.write(layout, &mut written).expect("the copy is as long as the event");
    assert_eq!(written, bytes);
}

/// Reads any bytes as a dump, whole and in parts.
pub fn threadx(data: &[u8]) {
    let settings = Settings::default();
    let whole = decode("threadx", &settings, data, data.len().max(1));
    let piece = 1 + data.len() / 3;
    assert_eq!(decode("threadx", &settings, data, piece), whole);
    if let Some(tally) = whole {
        assert!(tally.events * 32 <= data.len() as u64, "an event needs a slot");
        assert!(tally.objects as u64 * 17 <= data.len() as u64 + 32 * tally.events);
    }
}

/// Reads a kernel's dump after some edits. Each edit takes three bytes: offset (two) and value
/// (one).
pub fn threadx_edited(data: &[u8]) {
    let mut dump = include_bytes!("../corpus/threadx/head.trx").to_vec();
    let (edits, cut) = data.as_chunks::<3>();
    for [low, high, value] in edits {
        let at = usize::from(u16::from_le_bytes([*low, *high])) % dump.len();
        dump[at] = *value;
    }
    let keep = cut.iter().fold(0, |sum, byte| sum * 256 + usize::from(*byte));
    dump.truncate(dump.len() - keep % dump.len());
    threadx(&dump);
}

/// Reads any bytes as each kind of S.Ha.R.K. trace and analyses its scheduling. The first byte
/// selects the start of a second part.
pub fn shark(data: &[u8]) {
    let Some((first, data)) = data.split_first() else { return };
    let parts = vec![16 * usize::from(*first)];
    for kind in ["kind=records", "kind=chunk", "kind=capture"] {
        let mut settings = Settings { parts: parts.clone(), ..Settings::default() };
        settings.options.add(kind).expect("there is a =");
        let whole = decode("shark", &settings, data, data.len().max(1));
        assert_eq!(decode("shark", &settings, data, 1 + data.len() / 3), whole);
        if let Some(tally) = whole {
            // The blocks of a compressed chunk can expand a few bytes to many bytes, up to a limit.
            let most =
                if kind == "kind=chunk" { (64 * data.len()).max(16 << 20) } else { data.len() };
            assert!(tally.events * 16 <= most as u64, "an event needs a slot");
            assert!(tally.objects as u64 <= 2 * tally.events, "an event names two tasks at most");
        }
        follow(&settings, data);
    }
}

/// Reads an arrival file with a valid header and arbitrary entries, whole and in parts.
pub fn arrivals(data: &[u8]) {
    let file = [&tracewell_wire::arrivals::HEADER, data].concat();
    let settings = Settings::default();
    let whole = stream("arrivals", &settings, &file, file.len());
    assert_eq!(stream("arrivals", &settings, &file, 1 + file.len() / 3), whole);
    assert!(whole.events * 16 <= data.len() as u64, "an event needs an entry");
}

fn follow(settings: &Settings, data: &[u8]) {
    let format = format::by_name("shark").expect("it is in the list");
    let mut decoder = format.decoder(settings).expect("the options are its own");
    let marks = (Mark::Number(1), Mark::Label("user_event_0".to_owned()));
    let wanted = Wanted {
        jobs: true,
        waits: true,
        only_inverted: data.first().is_some_and(|first| first & 2 == 2),
        worst_waits: None,
        worst_misses: Some(3),
        budgets: true,
        pairs: vec![marks],
        expected: [("pid 3".to_owned(), Expected { period: Some(10), deadline: Some(5) })]
            .into_iter()
            .collect(),
        holes: data.first().is_some_and(|first| first & 1 == 1),
        distributions: true,
        places: true,
        uses: true,
    };
    let (mut trace, mut scheduling) = (decoder.trace(), Scheduling::new(wanted.clone()));
    let input = Input { offset: 0, bytes: data, last: true };
    if decoder.decode(input, &mut trace, &mut scheduling).is_ok() {
        let figures = scheduling.figures(&trace);
        assert!(
            figures.charged_ticks.is_none_or(|charged| charged <= trace.span),
            "more ticks were charged than the trace has"
        );
        for job in &figures.jobs {
            let whole = job.parts.as_ref().map(Parts::whole);
            assert!(
                whole.is_none_or(|whole| whole == job.response()),
                "a response is the sum of its parts"
            );
        }
        let _ =
            text(&trace, &figures, &wanted, &Section::ALL, tracewell::report::Layout::default());
        let figures = SchedulingFigures::new(&trace, &figures, &wanted);
        serde_json::to_writer(std::io::sink(), &figures).expect("a sink takes all bytes");
    }
}

/// Counts of a decoder's output.
#[derive(PartialEq, Eq, Debug, Default)]
struct Tally {
    events: u64,
    objects: usize,
    /// The largest tick.
    ticks: u64,
    gaps: u64,
    /// True if ticks may decrease.
    is_unordered: bool,
}

impl Sink for Tally {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        for event in batch.events() {
            assert_eq!(event.seq, self.events);
            assert!(self.is_unordered || event.ticks >= self.ticks, "ticks go back");
            assert!(trace.contexts.get(event.context).is_some(), "no such context");
            self.ticks = self.ticks.max(event.ticks);
            self.events += 1;
        }
        Flow::Continue(())
    }

    fn loss(&mut self, _: &Trace, loss: &Loss) -> Flow {
        assert_eq!(loss.before, self.events);
        self.gaps += 1;
        Flow::Continue(())
    }
}

/// Passes a growing window to a decoder. Returns `None` if the decoder rejects the bytes.
fn decode(format: &str, settings: &Settings, data: &[u8], piece: usize) -> Option<Tally> {
    let format = format::by_name(format).expect("it is in the list");
    let mut decoder = format.decoder(settings).expect("the options are its own");
    let (mut trace, mut tally) = (decoder.trace(), Tally::default());
    let mut end = 0;
    loop {
        end = data.len().min(end + piece);
        let input = Input { offset: 0, bytes: &data[..end], last: end == data.len() };
        match decoder.decode(input, &mut trace, &mut tally) {
            Err(_) => return None,
            Ok(Progress::More { consumed, .. }) => {
                assert!(end < data.len() && consumed == 0, "the decoder needs the whole ring");
            }
            Ok(Progress::Done) => break,
        }
    }
    assert_eq!((trace.events, trace.span), (tally.events, tally.ticks));
    tally.objects = trace.objects.len();
    Some(tally)
}

/// Splits any bytes into frames, writes the frames, and checks that they can be read again.
pub fn wire_rkh(data: &[u8]) {
    let mut end = 0;
    for cut in rkh::Cutter::new(data) {
        assert!(end <= cut.start && cut.start < cut.end && data[cut.end] == rkh::FLAG);
        end = cut.end + 1;
        let stuffed = &data[cut.start..cut.end];
        let mut room = vec![0; stuffed.len()];
        let mut in_place = stuffed.to_vec();
        let outcome = rkh::unstuff(stuffed, &mut room);
        assert_eq!(rkh::unstuff_in_place(&mut in_place), outcome);
        let rkh::Unstuffed::Frame(length) = outcome else { continue };
        assert_eq!(in_place[..length], room[..length]);
        let frame = &room[..length];
        let mut again = vec![0; 2 * length + 3];
        let written = rkh::encode(frame, true, &mut again).expect("there is room");
        assert_eq!(
            rkh::unstuff_in_place(&mut again[..written - 1]),
            rkh::Unstuffed::Frame(length + 1)
        );
        assert!(again.starts_with(frame) && rkh::checksum::holds(&again[..=length]));
        if let Some(found) = rkh::Configuration::recognise(frame) {
            let mut payload = [0; 13];
            assert!(found.write_payload(&mut payload).is_some());
        }
        let mut items = rkh::Items::new(frame, rkh::Settings::default());
        assert!(items.by_ref().count() <= length);
    }
}

/// Reads any bytes as an RKH stream, whole and in parts. The first byte selects the settings, or
/// lets the decoder infer them.
pub fn rkh(data: &[u8]) {
    let (first, data) = data.split_first().unwrap_or((&0, &[]));
    let mut settings = Settings::default();
    let dialect = rkh::Dialect::ALL[usize::from(first & 7)];
    let checksum = if first & 8 == 0 { "on" } else { "off" };
    let id = 1 << (first >> 4 & 3).min(2);
    let given = first & 0x80 == 0;
    for option in [format!("dialect={dialect}"), format!("checksum={checksum}"), format!("id={id}")]
    {
        if given {
            settings.options.add(&option).expect("it has a value");
        }
    }
    let whole = stream("rkh", &settings, data, data.len().max(1));
    let piece = 1 + data.len() / 3;
    assert_eq!(stream("rkh", &settings, data, piece), whole);
    assert!(whole.events * 2 <= data.len() as u64, "an event needs an id and a flag");
    assert!(whole.objects as u64 <= whole.events + 1, "an object needs a record");
}

/// Decodes bytes that arrive in pieces, and counts the output. Panics if the decoder rejects the
/// bytes.
fn stream(format: &str, settings: &Settings, data: &[u8], piece: usize) -> Tally {
    // The entries of an arrival file can have any times.
    let mut tally = Tally { is_unordered: format == "arrivals", ..Tally::default() };
    let trace = arriving(format, settings, data, piece, &mut tally);
    let trace = trace.expect("a stream is never refused");
    assert_eq!((trace.events, trace.span), (tally.events, tally.ticks));
    tally.objects = trace.objects.len();
    tally
}

/// Passes bytes to a decoder in a window. The window grows by `piece` bytes at its end, and drops
/// the bytes at its start that the decoder has consumed. Returns `None` if the decoder rejects
/// them.
fn arriving(
    format: &str,
    settings: &Settings,
    data: &[u8],
    piece: usize,
    sink: &mut dyn Sink,
) -> Option<Trace> {
    let format = format::by_name(format).expect("it is in the list");
    let mut decoder = format.decoder(settings).expect("the options are its own");
    let mut trace = decoder.trace();
    let (mut start, mut end) = (0, 0);
    loop {
        end = data.len().min(end + piece);
        let last = end == data.len();
        let input = Input { offset: start as u64, bytes: &data[start..end], last };
        match decoder.decode(input, &mut trace, sink) {
            Err(_) => return None,
            Ok(Progress::Done) => return Some(trace),
            Ok(Progress::More { consumed, wanted }) => {
                assert!(!last && consumed <= end - start, "consumed more bytes than the input has");
                assert!(wanted > end - start - consumed, "the decoder must request more bytes");
                start += consumed;
            }
        }
    }
}

/// Decodes any bytes as Intel HEX.
pub fn intel_hex(data: &[u8]) {
    memory_image(Encoding::IntelHex, data);
}

/// Decodes any bytes as S-records.
pub fn s_record(data: &[u8]) {
    memory_image(Encoding::SRecord, data);
}

/// Decodes any bytes as bare hex digits.
pub fn ascii_hex(data: &[u8]) {
    memory_image(Encoding::AsciiHex, data);
}

fn memory_image(encoding: Encoding, data: &[u8]) {
    let _ = recognise(data);
    let Decoded { image, diagnostics } = encoding.decode(data);
    check_image(&image, data.len());
    check_diagnostics(&diagnostics, data);
}

/// Checks that segments are in order and not adjacent, and that they contain no more bytes than the
/// text can encode.
fn check_image(image: &MemoryImage, text_length: usize) {
    let mut end = None;
    let mut total = 0;
    for segment in image.segments() {
        assert!(!segment.bytes().is_empty());
        assert!(end.is_none_or(|end| end < segment.address()));
        end = Some(segment.address_of(segment.bytes().len()));
        total += segment.bytes().len();
        for gap in segment.filled() {
            assert!(segment.bytes()[gap.clone()].iter().all(|&byte| byte == 0));
        }
    }
    assert!(total <= 2 * text_length + 64 * 1024);
}

/// Checks that each message begins with a position in the text, and that the list is bounded.
fn check_diagnostics(diagnostics: &Diagnostics, text: &[u8]) {
    assert!(diagnostics.iter().len() <= Diagnostics::KEPT);
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
    let lines: Vec<&[u8]> = text.split(|&character| character == b'\n').collect();
    for diagnostic in diagnostics.iter() {
        let message = &diagnostic.message;
        let place = message.strip_prefix("line ").and_then(|rest| rest.split_once(", column "));
        let (line, rest) = place.expect("a line and a column");
        let (column, _) = rest.split_once(": ").expect("a message after the position");
        let (line, column): (usize, usize) = (line.parse().unwrap(), column.parse().unwrap());
        assert!((1..=lines.len()).contains(&line), "{message}");
        assert!((1..=lines[line - 1].len() + 1).contains(&column), "{message}");
    }
}
