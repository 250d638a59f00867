//! Tests that several threads produce the same text as one thread, byte for byte.

#[path = "support/dump.rs"]
mod dump;
mod support;

use std::io::{self, Write};
use std::path::Path;

use dump::{Dump, USUAL, event, thread};
use proptest::prelude::*;
use tracewell::export::events::{EventFormat, EventWriter};
use tracewell::input::{Input, InputError, Settings};
use tracewell::model::{Batch, Columns, ContextId, Flow, Sink, SinkError, Slices, Trace};
use tracewell::report::trcrpt::{self, TrcReport};
use tracewell::report::{Report, ReportOptions};
use tracewell::select::Selection;
use tracewell::template::Program;
use tracewell::text::TimeForm;
use tracewell_wire::ByteOrder;
use tracewell_wire::threadx::{Event, Layout, Width};

/// The addresses of the threads. The registry does not contain the last address.
const THREADS: [u64; 4] = [0x2100_0000, 0x2100_0100, 0xFFFF_FFFF, 0x2100_0900];

/// Reads bytes on this number of threads.
fn read(bytes: &[u8], options: &[&str], threads: usize, sink: &mut dyn Sink) -> Trace {
    let settings = Settings { threads, ..support::settings(options) };
    Input::from_bytes("dump", bytes.to_vec(), settings).unwrap().read(sink).unwrap()
}

/// Returns all outputs that are produced by several threads, each with its name.
fn texts(bytes: &[u8], options: &[&str], threads: usize) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    let formats = [EventFormat::JsonLines, EventFormat::Tsv, EventFormat::Csv];
    for format in formats {
        for times in [None, Some(TimeForm::Relative), Some(TimeForm::Delta)] {
            let mut out = EventWriter::new(Vec::new(), format, Selection::default());
            if let Some(times) = &times {
                out = out.with_times(times.clone()).with_decoded_arguments();
            }
            let mut trace = read(bytes, options, threads, &mut out);
            out.remark(&mut trace);
            all.push((format!("{format:?} {times:?}"), out.into_inner().unwrap()));
            all.push((format!("{format:?} {times:?}: trace"), facts(&trace)));
        }
    }
    for times in [TimeForm::Relative, TimeForm::Delta] {
        let name = format!("report {times:?}");
        let mut out = Report::new(Vec::new(), ReportOptions { times, ..Default::default() });
        read(bytes, options, threads, &mut out);
        all.push((name, out.into_inner().unwrap()));
    }
    let shipped = tracewell::format::by_name("threadx").unwrap().shipped_template();
    for templates in [vec![], shipped.into_iter().collect()] {
        let compiled = Program::of(&templates);
        let settings = trcrpt::Settings { threads, ..Default::default() };
        let mut out = TrcReport::new(Vec::new(), &compiled.program, settings);
        read(bytes, options, threads, &mut out);
        all.push((format!("trcrpt {}", templates.len()), out.into_inner().unwrap()));
    }
    all
}

/// Returns the facts of a trace that follow from its events.
fn facts(trace: &Trace) -> Vec<u8> {
    let Trace { events, span, cpus, contexts, losses, diagnostics, clock, .. } = trace;
    let contexts: Vec<_> = contexts.iter().collect();
    format!("{events} {span} {cpus} {contexts:?} {losses:?} {diagnostics:?} {clock:?}").into()
}

fn check(bytes: &[u8], options: &[&str], threads: &[usize]) {
    let expected = texts(bytes, options, 1);
    for &threads in threads {
        for ((name, text), (_, expected)) in texts(bytes, options, threads).iter().zip(&expected) {
            // Do not print megabytes of text in a message.
            let different = text.iter().zip(expected).position(|(a, b)| a != b);
            let lengths = (text.len(), expected.len());
            assert!(text == expected, "{name}, {threads} threads: {different:?} of {lengths:?}");
        }
    }
}

/// Returns events of several threads. Some of the threads begin late.
fn events(count: usize, seed: u64) -> Vec<Event> {
    let mut random = seed | 1;
    let mut stamp = 0;
    let event = |number: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        stamp += random >> 50;
        let contexts = if number < count / 3 { 2 } else { THREADS.len() };
        let context = THREADS[(random >> 40) as usize % contexts];
        let id = [83, 52, 68, 2, 4097, 600][(random >> 33) as usize % 6];
        let info = [0, 1, 2, 3].map(|shift| random >> (17 + shift) & 0xFFFF_FFFF);
        Event { info, ..event(context, id, stamp & 0xFFFF_FFFF) }
    };
    (0..count).map(event).collect()
}

fn dump(layout: Layout, events: Vec<Event>, current: usize) -> Dump {
    let objects = vec![thread(THREADS[0], "alpha"), thread(THREADS[1], "beta, \"quoted\"")];
    Dump::new(layout, objects, events, current)
}

#[test]
fn texts_of_dumps_do_not_depend_on_the_number_of_threads() {
    for (order, width) in [(ByteOrder::Little, Width::Bits32), (ByteOrder::Big, Width::Bits64)] {
        let layout = Layout { order, width, ..USUAL };
        // The oldest slot is in the middle, so there are two ranges of slots.
        let mut events = events(18_001, 7);
        events.rotate_left(9_000);
        check(&dump(layout, events, 9_001).bytes(), &[], &[2, 8]);
    }
}

#[test]
fn dumps_with_unused_slots_cores_and_creations_do_not_depend_on_it_either() {
    let mut holes = events(18_000, 3);
    holes[9_000] = Event::UNUSED;
    holes[17_999].id_word |= 3 << 24;
    check(&dump(USUAL, holes, 0).bytes(), &["rate=1MHz"], &[3]);

    // Later, two other threads are created in the memory of thread alpha, one after the other.
    let mut created = events(19_000, 5);
    for slot in [9_000, 18_000] {
        created[slot].id_word = 80;
        created[slot].info[0] = THREADS[0];
    }
    let mut dump = dump(USUAL, created, 0);
    dump.objects.push(thread(THREADS[0], "gamma"));
    check(&dump.bytes(), &["rate=3MHz", "direction=down"], &[3]);
}

#[test]
fn joined_dumps_and_files_of_the_repository_do_not_depend_on_it() {
    let first = dump(USUAL, events(9_000, 11), 0).bytes();
    let second = dump(USUAL, events(9_000, 13), 9).bytes();
    check(&[first, second].concat(), &["modulus=1000000000"], &[2]);
    for (path, _) in support::dumps() {
        check(&std::fs::read(path).unwrap(), &[], &[2, 8]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]
    #[test]
    fn cut_dumps_do_not_depend_on_the_number_of_threads(
        count in 9_000_usize..12_000,
        seed: u64,
        current in 0_usize..30_000,
        cut in 0_usize..30_000,
    ) {
        let mut bytes = dump(USUAL, events(count, seed), current % count).bytes();
        bytes.truncate(bytes.len() - cut);
        let expected = texts(&bytes, &[], 1);
        prop_assert!(texts(&bytes, &[], 3) == expected);
    }
}

/// A writer that fails after this number of bytes.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0 == 0 {
            return Err(io::Error::other("the disk is full"));
        }
        let written = bytes.len().min(self.0);
        self.0 -= written;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A sink that stores the events of batches and slices.
#[derive(Default)]
struct Placed {
    takes_slices: bool,
    /// The number, the ticks, the context, the id and the offset of each event.
    rows: Vec<(u64, u64, ContextId, u32, u64)>,
    /// The number of slices in each section.
    sections: Vec<usize>,
}

impl Placed {
    fn add(&mut self, batch: &Batch<'_>) {
        let rows = batch.events().enumerate().map(|(row, event)| {
            let offset = batch.records.offset(row);
            (event.seq, event.ticks, event.context, event.id, offset)
        });
        self.rows.extend(rows);
    }

    fn last(&self) -> (u64, ContextId) {
        self.rows.last().map(|(_, ticks, context, ..)| (*ticks, *context)).unwrap()
    }
}

impl Sink for Placed {
    fn events(&mut self, _: &Trace, batch: &Batch<'_>) -> Flow {
        self.add(batch);
        Flow::Continue(())
    }

    fn takes_slices(&self, _: &Trace) -> bool {
        self.takes_slices
    }

    fn slices(&mut self, trace: &Trace, slices: &dyn Slices) -> Flow {
        assert_eq!(slices.threads(), 2);
        let mut columns = Columns::default();
        for slice in 0..slices.count() {
            let before = slices.before(trace, slice);
            assert_eq!((before.ticks, before.context), self.last(), "{slice}");
            self.add(&slices.batch(trace, slice, &mut columns));
        }
        let after = slices.before(trace, slices.count());
        assert_eq!((after.ticks, after.context), self.last());
        self.sections.push(slices.count());
        Flow::Continue(())
    }
}

/// The first batch has 4096 events. Sections have 8192 to 262144 events, and slices have 1024.
#[test]
fn slices_have_the_events_of_batches() {
    for (further, expected) in [
        (8191, &[][..]),
        (8192, &[8]),
        (8193, &[9]),
        (1 << 18, &[256]),
        ((1 << 18) + 8191, &[256]),
        ((1 << 18) + 8192, &[256, 8]),
    ] {
        let dump = dump(USUAL, (0..4096 + further).map(nth).collect(), 0);
        let start = dump.header.buffer_start - dump.header.trace_base_address;
        let bytes = dump.bytes();
        let read = |takes_slices, threads| {
            let mut placed = Placed { takes_slices, ..Placed::default() };
            read(&bytes, &[], threads, &mut placed);
            placed
        };
        let [batches, one, two] = [(false, 2), (true, 1), (true, 2)].map(|(t, n)| read(t, n));
        assert_eq!((batches.sections, one.sections), (vec![], vec![]), "{further}");
        assert_eq!(two.sections, expected, "{further}");
        assert!(two.rows == batches.rows && one.rows == batches.rows, "{further}");
        let places = (0..4096 + further as u64).map(|n| (n, 3 * n, start + 32 * n));
        let found = two.rows.iter().map(|(number, ticks, .., place)| (*number, *ticks, *place));
        assert!(found.eq(places), "{further}");
    }
}

/// Returns the event with this number.
fn nth(number: usize) -> Event {
    event(THREADS[number % 2], 83, 3 * number as u64)
}

#[test]
fn a_writer_that_fails_ends_the_reading_on_any_number_of_threads() {
    let bytes = dump(USUAL, events(200_000, 17), 0).bytes();
    for threads in [1, 2, 8] {
        let settings = Settings { threads, ..Settings::default() };
        let mut input = Input::from_bytes("dump", bytes.clone(), settings).unwrap();
        let format = EventFormat::JsonLines;
        let mut out = EventWriter::new(Full(2_000_000), format, Selection::default());
        let error = input.read(&mut out).unwrap_err();
        let InputError::Sink(SinkError::Write(error)) = error else { panic!("{error}") };
        assert_eq!(error.to_string(), "the disk is full");
    }
}

#[test]
fn the_first_events_need_no_threads() {
    let bytes = dump(USUAL, events(50_000, 19), 0).bytes();
    let selection = Selection { head: Some(20_000), ..Selection::default() };
    let text = |threads| {
        let mut out = EventWriter::new(Vec::new(), EventFormat::Tsv, selection.clone());
        read(&bytes, &[], threads, &mut out);
        out.into_inner().unwrap()
    };
    assert!(text(1) == text(8));
}

#[test]
fn progress_of_several_threads_ends_at_all_events() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};
    let path = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&path, dump(USUAL, events(50_000, 23), 0).bytes()).unwrap();
    let mut input = Input::open(Path::new(path.path()), Settings::default()).unwrap();
    input.set_threads(3);
    let seen = Arc::new(AtomicU64::new(0));
    let last = Arc::clone(&seen);
    input.watch(move |advance| {
        assert!(last.swap(advance.events, Ordering::Relaxed) < advance.events);
        assert_eq!(advance.bytes, 32 * advance.events);
    });
    let mut out = EventWriter::new(io::sink(), EventFormat::Tsv, Selection::default());
    input.read(&mut out).unwrap();
    assert_eq!(seen.load(Ordering::Relaxed), 50_000);
}
