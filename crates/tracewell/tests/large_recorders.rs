//! Traces that show only which context recorded an event, with too many events for one page: an RKH
//! stream and a native stream of a program with spans. The summary agrees with the figures, and the
//! page has views while it is read, after it has been read, and after it has been stored.

#[path = "support/native.rs"]
mod native;
#[path = "../../../bench/src/rkh.rs"]
#[allow(dead_code, unreachable_pub, reason = "the benchmarks use the rest")]
mod rkh;
mod support;

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::ops::Range;
use std::sync::OnceLock;

use serde_json::Value;
use tracewell::analysis::machines::{Machine, Machines};
use tracewell::analysis::scheduling::Scheduling;
use tracewell::analysis::spans::{SpanFigures, Spans};
use tracewell::analysis::summary::SummaryBuilder;
use tracewell::analysis::tracks::{EnteredSpan, LevelTrack, MachineTrack, Tracks};
use tracewell::export::page::{LargePage, ListedEvents, MAX_EVENTS, ServedBuilder, View};
use tracewell::input::{Input, Settings};
use tracewell::model::{Batch, Flow, Loss, Sink, Trace};
use tracewell_record::stream::{Log, Take};

/// Number of events of the traces that several tests read: enough for complete groups of events and
/// complete segments of rows.
const EVENTS: u64 = 150_000;

/// Returns an RKH stream with at least this number of events.
fn rkh_stream(events: u64) -> Vec<u8> {
    // A frame of the generator has 17 bytes on average, and never more than 40.
    let (bytes, frames) = rkh::stream(18 * events as usize);
    assert!(frames > events, "{frames}");
    bytes
}

/// Returns the log of a program with two threads. They enter spans of two names, one within the
/// other. Every fourth event begins, enters, leaves or ends a span.
fn native_stream(events: u64) -> Vec<u8> {
    let words = native::memory();
    let image = native::image(&words, 7, 0, "test/step(number:u64)");
    let writers = native::threads_with_spans(&image);
    let mut log = Log::new(Vec::new(), Take::Out);
    let (mut stamp, mut number) = (0, 0);
    while number < events {
        let thread = (number / 16 % 2) as usize;
        let span = 1 + number / 16;
        // A request contains a query in every second round.
        let has_query = span % 4 < 2;
        for step in 0..16 {
            let (kind, fields): (u16, &[u64]) = match step {
                0 => (65, &[span << 1, 0]),
                1 => (67, &[span << 1]),
                4 if has_query => (66, &[span << 1 | 1, span << 1]),
                5 if has_query => (67, &[span << 1 | 1]),
                8 if has_query => (68, &[span << 1 | 1]),
                9 if has_query => (69, &[span << 1 | 1]),
                14 => (68, &[span << 1]),
                15 => (69, &[span << 1]),
                _ => (native::STEP, &[number]),
            };
            stamp += 1 + number % 7 + if number % 50_000 == 0 { 90_000 } else { 0 };
            writers[thread].push(&image, kind, stamp, fields, &[]).unwrap();
            number += 1;
        }
        log.drain_image(&image, stamp).unwrap();
    }
    log.close_image(&image, stamp + 1).unwrap()
}

fn input(bytes: &[u8]) -> Input {
    Input::from_bytes("large", bytes.to_vec(), Settings::default()).unwrap()
}

/// Returns both traces with about [`EVENTS`] events.
fn both() -> &'static [Vec<u8>; 2] {
    static BOTH: OnceLock<[Vec<u8>; 2]> = OnceLock::new();
    BOTH.get_or_init(|| [rkh_stream(EVENTS), native_stream(EVENTS)])
}

/// Returns the lowest and the highest known level.
fn extremes(track: &LevelTrack) -> Option<(u64, u64)> {
    let levels = || track.row.changes().iter().filter_map(|change| change.state);
    levels().min().zip(levels().max())
}

/// Returns the ticks of a machine in one of its states.
fn time(track: &MachineTrack, state: Option<u32>, span: u64) -> u64 {
    track.row.time(0..span, span, |other| other == state)
}

#[test]
fn sums_of_a_view_are_the_figures_at_every_resolution() {
    for bytes in both() {
        let mut builder = SummaryBuilder::default();
        let trace = input(bytes).read(&mut builder).unwrap();
        let summary = builder.finish(&trace);
        let mut machines: Machines = Machines::default();
        input(bytes).read(&mut machines).unwrap();
        let figures = machines.figures(&trace);
        let mut scheduling: Scheduling = Scheduling::default();
        input(bytes).read(&mut scheduling).unwrap();
        let tasks = scheduling.figures(&trace).tasks;
        let span = trace.span;
        let exact = summary.tracks(0..span, 0).unwrap();
        for resolution in [0, 1, span / 50_000, span / 2000, span / 10, span] {
            let tracks = summary.tracks(0..span, resolution).unwrap();
            assert_eq!(tracks.recorded.iter().map(|one| one.count).sum::<u64>(), trace.events);
            for task in &tasks {
                let own = tracks.recorded.iter().filter(|one| one.context == task.context);
                assert_eq!(own.map(|one| one.count).sum::<u64>(), task.seen.events, "{resolution}");
            }
            assert_eq!(tracks.machines.len(), exact.machines.len());
            for (track, exact) in tracks.machines.iter().zip(&exact.machines) {
                let same = |machine: &&Machine| machine.name == track.machine;
                let machine = figures.machines.iter().find(same).unwrap();
                for (number, state) in (0..).zip(&track.states) {
                    let ticks = time(track, Some(number), span);
                    assert_eq!(ticks, time(exact, Some(number), span), "{resolution}");
                    // A stay ends with the exit from the state. The row keeps the state until the
                    // machine enters the next one.
                    let stays = machine.states.iter().find(|each| each.state == *state).unwrap();
                    assert!(stays.total <= ticks && ticks <= stays.total + stays.total / 20);
                }
            }
            assert_eq!(tracks.levels.len(), exact.levels.len());
            for (track, exact) in tracks.levels.iter().zip(&exact.levels) {
                assert_eq!(extremes(track), extremes(exact), "a peak is visible");
                assert!(extremes(track).is_none_or(|(_, most)| most <= track.most));
            }
            is_small(&tracks, span, resolution);
        }
        assert!(!tasks.is_empty());
    }
}

/// Asserts that a view is not larger than its resolution allows.
fn is_small(tracks: &Tracks, span: u64, resolution: u64) {
    let parts = span.checked_div(resolution).unwrap_or(EVENTS) as usize + 1;
    let contexts = 10;
    assert!(tracks.recorded.len() <= contexts * (2 * parts + 2));
    for track in &tracks.machines {
        assert!(track.row.changes().len() <= (track.states.len() + 1) * (3 * parts + 3));
    }
    for track in &tracks.levels {
        assert!(track.row.changes().len() <= 3 * (2 * parts + 3));
    }
}

#[test]
fn rows_of_spans_have_the_busy_time_of_the_spans_at_every_resolution() {
    let bytes = &both()[1];
    let (mut builder, mut spans) = (SummaryBuilder::default(), Spans::default());
    let trace = input(bytes).read(&mut builder).unwrap();
    input(bytes).read(&mut spans).unwrap();
    let (summary, figures) = (builder.finish(&trace), spans.figures());
    let span = trace.span;
    assert_eq!(figures.names.len(), 2);
    for resolution in [0, span / 100, span] {
        let tracks = summary.tracks(0..span, resolution).unwrap();
        // Two threads, each with two depths.
        assert_eq!(tracks.spans.len(), 4);
        for SpanFigures { name, busy, .. } in &figures.names {
            let is_one = |state: Option<EnteredSpan>| {
                state.is_some_and(|span| span.name(&trace) == name.as_str())
            };
            let times = tracks.spans.iter().map(|track| track.row.time(0..span, span, is_one));
            assert_eq!(times.sum::<u64>(), busy.sum(), "{resolution}: {name}");
        }
    }
}

/// A payload: its header, and the columns by name.
struct Payload {
    header: Value,
    bytes: Vec<u8>,
}

impl Payload {
    fn of(packed: &[u8]) -> Self {
        let mut bytes = Vec::new();
        flate2::read::ZlibDecoder::new(packed).read_to_end(&mut bytes).unwrap();
        let length = u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
        let header = serde_json::from_slice(&bytes[4..4 + length]).unwrap();
        Self { header, bytes: bytes.split_off(4 + length) }
    }

    /// Returns the values of a column of `numbers`.
    fn numbers(&self, name: &str) -> Vec<u64> {
        let mut start = 0;
        for column in self.header["columns"].as_array().unwrap() {
            let length = column["bytes"].as_u64().unwrap() as usize;
            if column["name"] == name {
                let mut rest = &self.bytes[start..start + length];
                let mut values = Vec::new();
                while let Some((value, more)) = tracewell_wire::number::read(rest) {
                    values.push(value);
                    rest = more;
                }
                return values;
            }
            start += length;
        }
        Vec::new()
    }

    fn recorded(&self) -> u64 {
        self.numbers("recorded.count").iter().sum()
    }

    fn kinds(&self) -> Vec<&str> {
        let rows = self.header["rows"].as_array().unwrap().iter();
        rows.map(|row| row["kind"].as_str().unwrap()).collect()
    }
}

/// Reads a trace, and keeps a view of the events so far.
#[derive(Default)]
struct Watched {
    builder: ServedBuilder,
    seen: Vec<(u64, Vec<u8>)>,
}

impl Sink for Watched {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        self.builder.events(trace, batch)?;
        let next = self.seen.last().map_or(MAX_EVENTS / 4, |(events, _)| 2 * events);
        if trace.events >= next {
            let view = self.builder.so_far(trace, "large", &View::default()).unwrap();
            self.seen.push((trace.events, view.unwrap()));
        }
        Flow::Continue(())
    }

    fn loss(&mut self, trace: &Trace, loss: &Loss) -> Flow {
        self.builder.loss(trace, loss)
    }
}

/// Returns a view of a range. If it lists events, these are read from the trace.
fn view(page: &LargePage, bytes: &[u8], range: Range<u64>, lists: bool) -> Payload {
    let listed = lists.then(|| {
        let mut listed = ListedEvents::new(range.clone());
        let trace = input(bytes).read(&mut listed).unwrap();
        listed.finish(&trace)
    });
    Payload::of(&page.view(&View { range: Some(range), parts: 2000, window: 0, listed }).unwrap())
}

/// Checks the page of a trace with more than [`MAX_EVENTS`] events.
fn check_page(bytes: &[u8], kind: &str) {
    let mut watched = Watched::default();
    let trace = input(bytes).read(&mut watched).unwrap();
    assert!(trace.events > MAX_EVENTS);
    let Watched { builder, seen } = watched;
    assert!(seen.len() >= 2);
    for (events, payload) in seen {
        let payload = Payload::of(&payload);
        assert_eq!(payload.recorded(), events);
        assert!(payload.kinds().contains(&kind));
    }
    let (payload, page) = builder.finish(&trace, "large").unwrap();
    let whole = Payload::of(&payload);
    let page = page.expect("the trace is too large for one payload");
    assert_eq!(whole.recorded(), trace.events);
    assert_eq!(whole.header["part"]["events"], trace.events);
    assert!(payload.len() < 8 << 20, "{}", payload.len());
    let contexts = whole.header["contexts"].as_array().unwrap().iter();
    let recorded: u64 = contexts.filter_map(|context| context["events"].as_u64()).sum();
    assert_eq!(recorded, trace.events);
    // The number of events in a part is exact, up to the width of a part at each end.
    let middle = trace.span / 2;
    let range = middle..middle + trace.span / 100;
    let part = view(&page, bytes, range.clone(), false);
    let listed = view(&page, bytes, range.clone(), true);
    assert_eq!(listed.recorded(), 0);
    let exact = listed.numbers("event.kind").len() as u64;
    let about = part.recorded();
    assert!(exact > 1000 && about >= exact && about - exact <= exact / 100 + 64, "{exact} {about}");
    // A view of a hundredth contains no more changes than a view of everything.
    let changes = |payload: &Payload| payload.numbers("change.state").len();
    assert!(changes(&part) <= 2 * changes(&whole) && changes(&part) > 100);
}

#[test]
fn a_large_rkh_stream_has_a_page() {
    check_page(&rkh_stream(MAX_EVENTS + 40_000), "machine");
}

#[test]
fn a_large_native_stream_has_a_page() {
    check_page(&native_stream(MAX_EVENTS + 40_000), "machine");
}

/// Returns the page of a trace, and the bytes of its file.
fn stored(bytes: &[u8]) -> (LargePage, Vec<u8>) {
    let mut builder = ServedBuilder::with_views();
    let trace = input(bytes).read(&mut builder).unwrap();
    let page = builder.finish(&trace, "large").unwrap().1.unwrap();
    let mut file = tempfile::tempfile().unwrap();
    assert!(page.store(b"about", u64::MAX, || file.try_clone()).unwrap());
    let mut content = Vec::new();
    file.rewind().unwrap();
    file.read_to_end(&mut content).unwrap();
    (page, content)
}

fn loaded(content: &[u8]) -> Option<LargePage> {
    let mut file: File = tempfile::tempfile().unwrap();
    file.write_all(content).unwrap();
    LargePage::load(file, |_| true).map(|(_, page)| page)
}

#[test]
fn a_stored_page_shows_the_same_and_damage_is_noticed() {
    for bytes in both() {
        let (page, content) = stored(bytes);
        let again = loaded(&content).unwrap();
        let views = [(None, 2000), (None, 100_000), (Some(1000..90_000), 500), (Some(5..9), 1)];
        let views = views.map(|(range, parts)| View { range, parts, ..View::default() });
        for view in &views {
            assert_eq!(again.view(view).unwrap(), page.view(view).unwrap(), "{view:?}");
        }
        let all = View { parts: u64::MAX, ..View::default() };
        let picture = page.view(&all).unwrap();
        for place in (0..content.len()).step_by(content.len() / 12) {
            let mut damaged = content.clone();
            damaged[place] ^= 0x10;
            let Some(page) = loaded(&damaged) else { continue };
            match page.view(&all) {
                Ok(shown) => assert!(shown == picture, "a wrong picture: {place}"),
                Err(error) => assert_eq!(error.kind(), io::ErrorKind::InvalidData),
            }
        }
    }
}
