//! Native streams that a test keeps in its own memory. The test also chooses the times of the
//! events, so each run produces the same bytes.
#![allow(dead_code, unreachable_pub, reason = "each test crate uses a part of this")]

use std::sync::atomic::{AtomicU64, Ordering};

use tracewell::input::Input;
use tracewell::model::Trace;
use tracewell_record::stream::{FullPolicy, Identity, Image, Log, Take, Writer};
use tracewell_wire::native::image::{Geometry, ImageHeader};
use tracewell_wire::native::kernel::{self, write_definition, write_event_type};
use tracewell_wire::native::{ClockFacts, ClockKind};
use tracewell_wire::target::{Definition, DefinitionKind, Described, ids};

use super::support::{EventLog, settings};

pub(crate) const GEOMETRY: Geometry = Geometry { lanes: 2, packets: 4, packet_words: 64 };

/// The id of the program's own event type.
pub(crate) const STEP: u16 = 64;

pub(crate) fn memory() -> Vec<AtomicU64> {
    (0..GEOMETRY.total()).map(|_| AtomicU64::new(0)).collect()
}

/// Creates a stream of `process`. The clock of the stream begins at `origin`. `step` is the text of
/// the event type [`STEP`].
pub(crate) fn image<'a>(
    words: &'a [AtomicU64],
    process: u32,
    origin: u64,
    step: &str,
) -> Image<'a> {
    let clock = ClockFacts {
        kind: ClockKind::Custom,
        ticks_per_second: 1_000_000,
        origin,
        origin_realtime: 0,
        origin_monotonic: 0,
    };
    let header = ImageHeader { geometry: GEOMETRY, policy: FullPolicy::Flush, clock, process };
    let image = Image::create(words, &header).unwrap();
    image.define_as(STEP, 1, step.as_bytes()).unwrap();
    image
}

/// Creates a writer that takes a lane for a thread.
pub(crate) fn writer(image: &Image<'_>, lane: u32, identity: Identity) -> Writer {
    let writer = Writer::new();
    writer.take(image, lane as usize, identity);
    writer
}

/// Returns the bytes of a stream's memory.
pub(crate) fn bytes(words: &[AtomicU64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.load(Ordering::SeqCst).to_le_bytes()).collect()
}

/// Reads a log or a stream's memory. Returns `None` if it is not recognised or has no valid start.
pub(crate) fn read(bytes: &[u8]) -> Option<(Trace, EventLog)> {
    let mut kept = EventLog::default();
    let mut input = Input::from_bytes("log", bytes.to_vec(), settings(&[])).ok()?;
    let trace = input.read(&mut kept).ok()?;
    Some((trace, kept))
}

/// Returns the log of two threads that use spans, as a program that uses `tracing` records them.
/// The ids of the spans are above 2^53. Times are in microseconds:
///
/// ```text
/// first   request#1 100-900, with query#2 200-400 and query#4 500-600 in it
/// second  request#3 300-700
/// ```
pub(crate) fn log_of_spans() -> Vec<u8> {
    let words = memory();
    let image = image(&words, 7, 0, "test/step(number:u64)");
    let writers = threads_with_spans(&image);
    let [request, query, enter, exit, close] = [65, 66, 67, 68, 69];
    let script: [(usize, u64, u16, u64, u64); 16] = [
        (0, 0, request, 1, 0),
        (0, 100, enter, 1, 0),
        (0, 190, query, 2, 1),
        (0, 200, enter, 2, 0),
        (1, 290, request, 3, 0),
        (1, 300, enter, 3, 0),
        (0, 400, exit, 2, 0),
        (0, 410, close, 2, 0),
        // The program uses the id of the ended span again.
        (0, 490, query, 2, 1),
        (0, 500, enter, 2, 0),
        (0, 600, exit, 2, 0),
        (0, 610, close, 2, 0),
        (1, 700, exit, 3, 0),
        (1, 710, close, 3, 0),
        (0, 900, exit, 1, 0),
        (0, 1000, close, 1, 0),
    ];
    let id = |number: u64| if number == 0 { 0 } else { 1_612_288_941_476_544_500 + number };
    for (thread, stamp, kind, span, parent) in script {
        let fields = [id(span), id(parent)];
        let count = if kind == request || kind == query { 2 } else { 1 };
        writers[thread].push(&image, kind, stamp, &fields[..count], &[]).unwrap();
    }
    let log = Log::new(Vec::new(), Take::Out);
    log.close_image(&image, 1 << 40).unwrap()
}

/// Defines the event types of spans: 65 begins a request, 66 begins a query, and 67, 68 and 69
/// enter, leave and end a span. Returns the writers of the threads `first` and `second`.
pub(crate) fn threads_with_spans(image: &Image<'_>) -> [Writer; 2] {
    let types = [
        (65, "info/app:request(span:u64,parent:u64)"),
        (66, "debug/app:query(span:u64,parent:u64)"),
        (67, "span/enter(span:u64)"),
        (68, "span/exit(span:u64)"),
        (69, "span/close(span:u64)"),
    ];
    for (id, text) in types {
        image.define_as(id, 2, text.as_bytes()).unwrap();
    }
    ["first", "second"].map(|name| {
        let mut padded = [0; 16];
        padded[..name.len()].copy_from_slice(name.as_bytes());
        let (lane, thread) = if name == "first" { (0, 8) } else { (1, 9) };
        writer(image, lane, Identity { process: 7, thread, name: padded })
    })
}

/// Defines the event type of a kernel's event, and returns its id.
pub(crate) fn event_type(image: &Image<'_>, id: u8) -> u16 {
    let mut text = String::new();
    write_event_type(Described::of(id).unwrap(), &mut text).unwrap();
    image.define(kernel::family_of(id), text.as_bytes()).unwrap()
}

/// Defines the event type that names a task or an object of a kernel, and returns its id.
pub(crate) fn definition_type(
    image: &Image<'_>,
    kind: DefinitionKind,
    number: u64,
    name: &str,
) -> u16 {
    let mut text = String::new();
    write_definition(&Definition::new(kind, number as u32, b""), name, &mut text).unwrap();
    image.define(kernel::family_of(ids::START), text.as_bytes()).unwrap()
}
