//! What the fuzz targets do with their bytes, and what must hold whatever the bytes are.
//!
//! The test `crates/tracewell/tests/corpus.rs` includes this file and runs the corpus through it,
//! so it uses nothing but the public interface of the crates under test.

use tracewell::analysis::scheduling::{Expected, Mark, Parts, Scheduling, Wanted};
use tracewell::format::threadx::locate::locate;
use tracewell::format::{self, Input, Options, Progress};
use tracewell::input::image::{Cause, Decoded, Diagnostics, Encoding, MemoryImage, recognise};
use tracewell::model::{Batch, Flow, Loss, Sink, Trace};
use tracewell::report::scheduling::{Document, text};
use tracewell_wire::rkh;
use tracewell_wire::threadx::{Event, Header, Layout, RegistrySlot};

mod aix;
mod any_trace;
mod check;
mod exports;
mod files;
mod inputs;
mod machines;
mod posix;
mod reports;
mod streams;
mod template;
mod wire_aix;

pub use aix::aix;
pub use check::{check_matcher, check_parser};
pub use exports::exports;
pub use files::{custom_event_files, template_update, typed_texts};
pub use inputs::{join, packet_numbers, recognition};
pub use machines::machines;
pub use posix::{posix_log, posix_memory};
pub use reports::{reports, tracex, trcrpt_layout};
pub use streams::{
    native, native_edited, native_image, posix_reader, posix_reader_edited, posix_reader_memory,
};
pub use template::{compress, template_machine, template_parser};
pub use wire_aix::wire_aix;

/// Reads header, registry slots and events; what was read must survive being written again.
pub fn wire_threadx(data: &[u8]) {
    if let Some(found) = locate(data, data.len()) {
        assert!(found.offset + found.layout.header_size() <= data.len());
    }
    let Ok((layout, header)) = Header::read(data) else { return };
    let mut written = [0; 96];
    header.write(layout, &mut written).expect("no header has more than 96 bytes");
    let read_again = Header::read(&written[..layout.header_size()]);
    // With a mask of 0 a narrow header's width shows in its other fields only.
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
    // Writing leaves room for the NUL, so a name that fills its field loses its last byte.
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

/// Reads any bytes as a dump, whole and in pieces.
pub fn threadx(data: &[u8]) {
    let options = Options::default();
    let whole = decode("threadx", &options, data, data.len().max(1));
    let piece = 1 + data.len() / 3;
    assert_eq!(decode("threadx", &options, data, piece), whole);
    if let Some(tally) = whole {
        assert!(tally.events * 32 <= data.len() as u64, "an event needs a slot");
        assert!(tally.objects as u64 * 17 <= data.len() as u64 + 32 * tally.events);
    }
}

/// Reads a kernel's dump after some edits: three bytes each say where (two) and what (one).
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

/// Reads any bytes as each kind of S.Ha.R.K. trace and follows the scheduler; the first byte says where
/// a second part begins.
pub fn shark(data: &[u8]) {
    let Some((first, data)) = data.split_first() else { return };
    let parts = format!("parts={}", 16 * usize::from(*first));
    for kind in ["kind=records", "kind=chunk", "kind=capture"] {
        let mut options = Options::default();
        for option in [kind, &parts] {
            options.add(option).expect("there is a =");
        }
        let whole = decode("shark", &options, data, data.len().max(1));
        assert_eq!(decode("shark", &options, data, 1 + data.len() / 3), whole);
        if let Some(tally) = whole {
            // Blocks of a compressed chunk make more of few bytes, within limits.
            let most =
                if kind == "kind=chunk" { (64 * data.len()).max(16 << 20) } else { data.len() };
            assert!(tally.events * 16 <= most as u64, "an event needs a slot");
            assert!(tally.objects as u64 <= 2 * tally.events, "an event names two tasks at most");
        }
        follow(&options, data);
    }
}

/// Reads a file of arrivals with a good header and any entries, whole and in pieces.
pub fn arrivals(data: &[u8]) {
    let file = [&tracewell_wire::arrivals::HEADER, data].concat();
    let options = Options::default();
    let whole = stream("arrivals", &options, &file, file.len());
    assert_eq!(stream("arrivals", &options, &file, 1 + file.len() / 3), whole);
    assert!(whole.events * 16 <= data.len() as u64, "an event needs an entry");
}

fn follow(options: &Options, data: &[u8]) {
    let format = format::by_name("shark").expect("it is in the list");
    let mut decoder = (format.decoder)(options).expect("the options are its own");
    let marks = (Mark::Number(1), Mark::Label("user_event_0".to_owned()));
    let wanted = Wanted {
        jobs: true,
        waits: true,
        budgets: true,
        pairs: vec![marks],
        expected: [("pid 3".to_owned(), Expected { period: Some(10), deadline: Some(5) })]
            .into_iter()
            .collect(),
        holes: data.first().is_some_and(|first| first & 1 == 1),
    };
    let (mut trace, mut scheduling) = (decoder.trace(), Scheduling::new(wanted.clone()));
    let input = Input { offset: 0, bytes: data, last: true };
    if decoder.decode(input, &mut trace, &mut scheduling).is_ok() {
        let figures = scheduling.figures(&trace);
        assert!(
            figures.charged_ticks.is_none_or(|charged| charged <= trace.span),
            "more was charged than there is"
        );
        for job in &figures.jobs {
            let whole = job.parts.as_ref().map(Parts::whole);
            assert!(whole.is_none_or(|whole| whole == job.response()), "parts are not the whole");
        }
        let _ = text(&trace, &figures, &wanted);
        let _ = Document::new(&trace, &figures, &wanted).write(&mut std::io::sink());
    }
}

/// What came out of a decoder.
#[derive(PartialEq, Eq, Debug, Default)]
struct Tally {
    events: u64,
    objects: usize,
    /// The largest.
    ticks: u64,
    gaps: u64,
    /// True if time may go back.
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

/// Shows a decoder a growing window; `None` where it refuses the bytes.
fn decode(format: &str, options: &Options, data: &[u8], piece: usize) -> Option<Tally> {
    let format = format::by_name(format).expect("it is in the list");
    let mut decoder = (format.decoder)(options).expect("the options are its own");
    let (mut trace, mut tally) = (decoder.trace(), Tally::default());
    let mut end = 0;
    loop {
        end = data.len().min(end + piece);
        let input = Input { offset: 0, bytes: &data[..end], last: end == data.len() };
        match decoder.decode(input, &mut trace, &mut tally) {
            Err(_) => return None,
            Ok(Progress::More { consumed, .. }) => {
                assert!(end < data.len() && consumed == 0, "a ring is seen whole");
            }
            Ok(Progress::Done) => break,
        }
    }
    assert_eq!((trace.events, trace.span), (tally.events, tally.ticks));
    tally.objects = trace.objects.len();
    Some(tally)
}

/// Cuts any bytes into frames; what was read must survive being written again.
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

/// Reads any bytes as an RKH stream, whole and in pieces; the first byte chooses settings, or that
/// they are to be found.
pub fn rkh(data: &[u8]) {
    let (first, data) = data.split_first().unwrap_or((&0, &[]));
    let mut options = Options::default();
    let dialect = rkh::Dialect::ALL[usize::from(first & 7)];
    let checksum = if first & 8 == 0 { "on" } else { "off" };
    let id = 1 << (first >> 4 & 3).min(2);
    let told = first & 0x80 == 0;
    for option in [format!("dialect={dialect}"), format!("checksum={checksum}"), format!("id={id}")]
    {
        if told {
            options.add(&option).expect("it has a value");
        }
    }
    let whole = stream("rkh", &options, data, data.len().max(1));
    let piece = 1 + data.len() / 3;
    assert_eq!(stream("rkh", &options, data, piece), whole);
    assert!(whole.events * 2 <= data.len() as u64, "an event needs an id and a flag");
    assert!(whole.objects as u64 <= whole.events + 1, "an object needs a record");
}

/// Shows a decoder of a stream a window that grows at its end and shrinks at its start.
fn stream(format: &str, options: &Options, data: &[u8], piece: usize) -> Tally {
    let format = format::by_name(format).expect("it is in the list");
    let mut decoder = (format.decoder)(options).expect("the options are good");
    // A file of arrivals says what it says.
    let tally = Tally { is_unordered: format.name == "arrivals", ..Tally::default() };
    let (mut trace, mut tally) = (decoder.trace(), tally);
    let (mut start, mut end) = (0, 0);
    loop {
        end = data.len().min(end + piece);
        let last = end == data.len();
        let input = Input { offset: start as u64, bytes: &data[start..end], last };
        match decoder.decode(input, &mut trace, &mut tally).expect("a stream is never refused") {
            Progress::Done => break,
            Progress::More { consumed, .. } => {
                assert!(!last);
                start += consumed;
            }
        }
    }
    assert_eq!((trace.events, trace.span), (tally.events, tally.ticks));
    tally.objects = trace.objects.len();
    tally
}

/// Decodes Intel HEX.
pub fn intel_hex(data: &[u8]) {
    memory_image(Encoding::IntelHex, data);
}

/// Decodes S-records.
pub fn s_record(data: &[u8]) {
    memory_image(Encoding::SRecord, data);
}

/// Decodes bare hex.
pub fn ascii_hex(data: &[u8]) {
    memory_image(Encoding::AsciiHex, data);
}

fn memory_image(encoding: Encoding, data: &[u8]) {
    let _ = recognise(data);
    let Decoded { image, diagnostics } = encoding.decode(data);
    check_image(&image, data.len());
    check_diagnostics(&diagnostics, data);
}

/// Segments are in order, do not touch, and are no larger than the text allows.
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

/// Places are in the text, line and column agree with the offset, and the list is bounded.
fn check_diagnostics(diagnostics: &Diagnostics, text: &[u8]) {
    assert!(diagnostics.listed().len() as u64 <= 100 * Cause::ALL.len() as u64);
    let mark = if text.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
    for diagnostic in diagnostics.listed() {
        let before = &text[mark..diagnostic.offset.max(mark)];
        let lines = before.iter().filter(|&&character| character == b'\n').count() as u64;
        let column = before.iter().rev().take_while(|&&character| character != b'\n').count();
        let found = (diagnostic.line, diagnostic.column);
        assert_eq!(found, (lines + 1, column as u64 + 1), "{diagnostic:?}");
    }
}
