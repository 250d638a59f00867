//! Tests the page of a trace. Decodes the data in the page, and compares the data with the events
//! and tracks of the trace.

mod support;

#[path = "support/dump.rs"]
mod dump;
#[path = "support/native.rs"]
mod native;

use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use dump::{Dump, USUAL, event, thread};
use serde_json::{Value, json};
use support::{EventLog, fixture, settings};
use tracewell::analysis::scheduling::Wanted;
use tracewell::analysis::tracks::{
    Arrow, ArrowKind, Budget, MachineTrack, State, TrackBuilder, Tracks,
};
use tracewell::export::{ExportError, ExportNames, page};
use tracewell::format::Options;
use tracewell::input::Input;
use tracewell::report::analyses::Analyses;
use tracewell::report::document::DocumentWriter;
use tracewell::select::{Bound, Selection};
use tracewell_record::stream::{EventType, Family, Stream, StreamOptions};

/// The content of a page.
struct Page {
    html: String,
    header: Value,
    columns: HashMap<String, Vec<u64>>,
    /// The texts of arguments, each text once.
    texts: Vec<String>,
    /// The figures, as `analyze --json` prints them.
    figures: Value,
}

fn export(mut input: Input, title: &str) -> Result<Page, ExportError> {
    let names = ExportNames { input: title.to_owned(), ..ExportNames::default() };
    let mut html = Vec::new();
    page::HTML.write(&mut input, &Options::default(), &names, &mut html)?;
    Ok(Page::of(String::from_utf8(html).unwrap()))
}

impl Page {
    fn of(html: String) -> Self {
        let (_, data) = html.split_once("id=\"payload\">").unwrap();
        let (data, _) = data.split_once("</script>").unwrap();
        let mut bytes = Vec::new();
        flate2::read::ZlibDecoder::new(&base64(data)[..]).read_to_end(&mut bytes).unwrap();
        let length = u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
        let header: Value = serde_json::from_slice(&bytes[4..4 + length]).unwrap();
        let mut rest = &bytes[4 + length..];
        let mut columns = HashMap::new();
        let (mut text, mut figures) = (Vec::new(), Value::Null);
        for column in header["columns"].as_array().unwrap() {
            let (part, after) = rest.split_at(column["bytes"].as_u64().unwrap() as usize);
            rest = after;
            let name = column["name"].as_str().unwrap().to_owned();
            let values = match column["form"].as_str().unwrap() {
                "bytes" if name == "figures" => {
                    figures = serde_json::from_slice(part).unwrap();
                    continue;
                }
                "bytes" => {
                    text = part.to_vec();
                    continue;
                }
                form => numbers(part, form == "deltas"),
            };
            assert_eq!(values.len() as u64, column["count"], "{name}");
            columns.insert(name, values);
        }
        assert!(rest.is_empty());
        let mut text = &text[..];
        let one = |length: &u64| {
            let (one, rest) = text.split_at(*length as usize);
            text = rest;
            String::from_utf8(one.to_vec()).unwrap()
        };
        let texts = columns["text.length"].iter().map(one).collect();
        Self { html, header, columns, texts, figures }
    }
}

fn base64(text: &str) -> Vec<u8> {
    const DIGITS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = text.bytes().filter(|byte| !b"=\n".contains(byte));
    let values = digits.map(|byte| DIGITS.find(char::from(byte)).unwrap() as u32);
    let (mut bytes, mut word, mut bits) = (Vec::new(), 0_u32, 0);
    for value in values {
        word = word << 6 | value;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((word >> bits) as u8);
        }
    }
    bytes
}

fn numbers(bytes: &[u8], are_deltas: bool) -> Vec<u64> {
    let (mut values, mut value, mut shift, mut last) = (Vec::new(), 0_u128, 0, 0_i128);
    for byte in bytes {
        value |= u128::from(byte & 0x7F) << shift;
        shift += 7;
        if byte & 0x80 != 0 {
            continue;
        }
        if are_deltas {
            let magnitude = (value >> 1) as i128;
            last += if value & 1 == 1 { -magnitude } else { magnitude };
            values.push(u64::try_from(last).unwrap());
        } else {
            values.push(u64::try_from(value).unwrap());
        }
        (value, shift) = (0, 0);
    }
    values
}

fn open(path: &Path, options: &[&str]) -> Input {
    Input::open(path, settings(options)).unwrap()
}

/// Compares a page with the events and tracks that the library reads.
fn compare(place: &str, make: impl Fn() -> Input) {
    let page = export(make(), place).unwrap();
    let mut log = EventLog::default();
    let trace = make().read(&mut log).unwrap();
    let column = |of: fn(&support::Row) -> u64| log.rows.iter().map(of).collect::<Vec<_>>();
    assert!(!log.rows.is_empty(), "{place}");
    assert_eq!(page.columns["event.ticks"], column(|row| row.ticks), "{place}");
    assert_eq!(page.columns["event.seq"], column(|row| row.seq), "{place}");
    assert_eq!(page.columns["event.context"], column(|row| row.context.index() as u64), "{place}");
    let ids: Vec<_> = page.columns["event.kind"]
        .iter()
        .map(|kind| page.header["kinds"][*kind as usize]["id"].as_u64().unwrap())
        .collect();
    assert_eq!(ids, column(|row| u64::from(row.id)), "{place}");
    assert!(page.columns["event.args"].iter().all(|text| (*text as usize) < page.texts.len()));
    for (context, named) in trace.contexts.iter().zip(page.header["contexts"].as_array().unwrap()) {
        assert_eq!(named["name"], context.1.name, "{place}");
    }
    assert_eq!(page.header["losses"].as_array().unwrap().len(), trace.losses.iter().count());
    assert_eq!(page.header["span"], trace.span.to_string(), "{place}");
    assert_eq!(page.header["largerIsUrgent"], trace.larger_is_urgent, "{place}");
    compare_tracks(place, &page, make());
    compare_figures(place, &page, make());
}

/// Compares the figures with the figures in the JSON document of the analyses.
fn compare_figures(place: &str, page: &Page, mut input: Input) {
    let mut analyses = Analyses::new(Wanted::default());
    let trace = input.read(&mut analyses).unwrap();
    let mut document = DocumentWriter::new(Vec::new(), 1);
    analyses.write_json(&trace, place, None, &mut document).unwrap();
    let document: Value = serde_json::from_slice(&document.end().unwrap()).unwrap();
    let mut expected = document["traces"][0].clone();
    expected.as_object_mut().unwrap().remove("file");
    assert_eq!(page.figures, expected, "{place}");
}

fn compare_tracks(place: &str, page: &Page, mut input: Input) {
    let mut builder = TrackBuilder::default();
    let trace = input.read(&mut builder).unwrap();
    let tracks = builder.finish(&trace);
    let rows = page.header["rows"].as_array().unwrap();
    let of = |kind: &str| rows.iter().filter(|row| row["kind"] == kind).collect::<Vec<_>>();
    assert_eq!(of("core").len(), tracks.cores.len(), "{place}");
    assert_eq!(of("context").len(), tracks.contexts().count(), "{place}");
    assert_eq!(of("lock").len(), tracks.locks.len(), "{place}");
    for (row, (context, expected)) in of("context").iter().zip(tracks.contexts()) {
        assert_eq!(row["context"], context.0, "{place}");
        let [start, end] = [0, 1].map(|end| row["changes"][end].as_u64().unwrap() as usize);
        let ticks: Vec<_> = expected.changes().iter().map(|change| change.at.ticks).collect();
        assert_eq!(page.columns["change.ticks"][start..end], ticks, "{place}");
        let running = page.columns["change.state"][start..end].iter().map(|code| *code == 1);
        let known = expected.changes().iter().map(|c| matches!(c.state, State::Running(_)));
        assert!(running.eq(known), "{place}");
    }
    assert_eq!(page.columns["gap.from"].len(), tracks.gaps.len(), "{place}");
    let codes = |arrow: &Arrow| match arrow.kind {
        ArrowKind::WakeUp => 0,
        ArrowKind::WaitsFor => 1,
        ArrowKind::Message => 2,
    };
    let arrows: Vec<_> = tracks.arrows.iter().map(codes).collect();
    assert_eq!(page.columns["arrow.kind"], arrows, "{place}");
    compare_objects(place, page, &tracks);
    let waits: usize = tracks.locks.iter().map(|lock| lock.waits.len()).sum();
    assert_eq!(page.columns["wait.from"].len(), waits, "{place}");
}

/// Compares the rows of machines, steps and levels.
fn compare_objects(place: &str, page: &Page, tracks: &Tracks) {
    let rows = page.header["rows"].as_array().unwrap();
    let shown = |kind: &str| {
        let rows = rows.iter().filter(|row| row["kind"] == kind);
        let changes = rows.map(|row| {
            let [start, end] = [0, 1].map(|end| row["changes"][end].as_u64().unwrap() as usize);
            let columns = ["change.ticks", "change.state", "change.value"];
            columns.map(|name| page.columns[name][start..end].to_vec())
        });
        changes.collect::<Vec<_>>()
    };
    let columns = |changes: Vec<(u64, Option<u64>)>| {
        let ticks = changes.iter().map(|(ticks, _)| *ticks).collect();
        let known = changes.iter().map(|(_, value)| u64::from(value.is_some())).collect();
        [ticks, known, changes.iter().map(|(_, value)| value.unwrap_or(0)).collect::<Vec<_>>()]
    };
    let levels = tracks
        .levels
        .iter()
        .map(|level| columns(level.row.changes().iter().map(|c| (c.at.ticks, c.state)).collect()));
    assert_eq!(shown("level"), levels.collect::<Vec<_>>(), "{place}");
    let machines = tracks.machines.iter().map(|machine| {
        let changes = machine.row.changes().iter();
        columns(changes.map(|c| (c.at.ticks, c.state.map(u64::from))).collect())
    });
    let machines: Vec<_> = machines.filter(|[ticks, ..]| !ticks.is_empty()).collect();
    assert_eq!(shown("machine"), machines, "{place}");
    let ended = |machine: &MachineTrack| {
        let ended = machine.steps.iter().filter_map(|step| Some((step.from, step.until?)));
        ended.flat_map(|(from, until)| [from.ticks, until.ticks]).collect::<Vec<_>>()
    };
    let steps: Vec<_> = tracks.machines.iter().map(ended).filter(|t| !t.is_empty()).collect();
    let shown: Vec<_> = shown("steps").into_iter().map(|[ticks, ..]| ticks).collect();
    assert_eq!(shown, steps, "{place}");
    compare_servers(place, page, tracks);
}

/// Compares the rows of servers.
fn compare_servers(place: &str, page: &Page, tracks: &Tracks) {
    let rows = page.header["rows"].as_array().unwrap().iter();
    let rows: Vec<_> = rows.filter(|row| row["kind"] == "server").collect();
    assert_eq!(rows.len(), tracks.servers.len(), "{place}");
    for (row, track) in rows.into_iter().zip(&tracks.servers) {
        assert_eq!(row["task"], json!(track.task.map(|task| task.0)), "{place}");
        assert_eq!(row["size"], json!(track.size), "{place}");
        let [start, end] = [0, 1].map(|end| row["changes"][end].as_u64().unwrap() as usize);
        let shown = (start..end).map(|change| {
            let column = |name| page.columns[name][change];
            let used = column("change.value").cast_signed() + row["least"].as_i64().unwrap();
            (column("change.ticks"), column("change.seq"), column("change.state"), used)
        });
        let least = row["least"].as_i64().unwrap();
        let expected = track.row.changes().iter().map(|change| {
            let (state, used) = match (change.state.budget, change.state.serving) {
                (Budget::Used(used), serving) => (1 + u64::from(serving.min(1)), used),
                (Budget::Exhausted, serving) => (3 + u64::from(serving.min(1)), least),
                (Budget::Unknown, serving) => (5 * u64::from(serving.min(1)), least),
            };
            (change.at.ticks, change.at.seq, state, used)
        });
        assert_eq!(shown.collect::<Vec<_>>(), expected.collect::<Vec<_>>(), "{place}");
    }
}

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

#[test]
fn a_page_has_the_events_and_tracks_of_each_dialect() {
    for path in [
        fixture("threadx/tiny.trx"),
        example("scheduling.trx"),
        fixture("rkh/ahsm-a.bin"),
        fixture("rkh/ahsm-overrun.bin"),
        fixture("shark/b_cyclic.dat"),
        fixture("shark/cbs_server.dat"),
        example("hooks.twx"),
    ] {
        compare(&path.display().to_string(), || open(&path, &[]));
    }
    static STEP: EventType<(u32,)> = EventType::new(Family::new(1, "page"), "step", &["number"]);
    let stream = Stream::anonymous(&StreamOptions::default()).unwrap();
    stream.start();
    (0..100).for_each(|number| stream.record(&STEP, (number,)));
    let bytes = stream.save(Vec::new()).unwrap();
    compare("native", || Input::from_bytes("log", bytes.clone(), settings(&[])).unwrap());
}

#[test]
fn the_inversion_of_the_example_is_in_its_page() {
    let page = export(open(&example("scheduling.trx"), &[]), "scheduling.trx").unwrap();
    // At each of the two times, `control` requests the log file and waits while `telemetry` runs.
    assert_eq!(page.columns["inversion.from"], [4_214_515, 4_603_715]);
    let contexts = page.columns["inversion.context"].iter().map(|context| *context as usize);
    for context in contexts {
        assert_eq!(page.header["contexts"][context]["name"], "control");
        assert_eq!(page.header["contexts"][context]["priority"], 5);
    }
}

/// Tests fixed values, because `compare` would not notice a fault that page and trace share.
/// FreeRTOS treats larger priorities as more urgent, and ThreadX treats smaller priorities as more
/// urgent.
#[test]
fn a_page_has_the_spans_of_each_thread() {
    let bytes = native::log_of_spans();
    let page = export(Input::from_bytes("log", bytes, settings(&[])).unwrap(), "spans").unwrap();
    let rows = page.header["rows"].as_array().unwrap().iter();
    let spans: Vec<_> = rows.filter(|row| row["group"] == "Spans").collect();
    let names: Vec<_> = spans.iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["first", "first (2)", "second"]);
    // Returns the time of each change and the name of the span. If the thread is in no span, the
    // state 2 replaces the name.
    let changes = |row: &Value| {
        let [from, to] = [0, 1].map(|end| row["changes"][end].as_u64().unwrap() as usize);
        let column = |name: &str| page.columns[name][from..to].to_vec();
        let [ticks, states, values] = ["change.ticks", "change.state", "change.value"].map(column);
        let name = |(state, value): (&u64, &u64)| match state {
            1 => row["states"][*value as usize].as_str().unwrap().to_owned(),
            state => state.to_string(),
        };
        let names = states.iter().zip(&values).map(name);
        ticks.into_iter().zip(names).collect::<Vec<_>>()
    };
    let expected = [(200, "query"), (400, "2"), (500, "query"), (600, "2")];
    assert_eq!(changes(spans[1]), expected.map(|(at, name)| (at, name.to_owned())));
    let expected = [(300, "request"), (700, "2")];
    assert_eq!(changes(spans[2]), expected.map(|(at, name)| (at, name.to_owned())));
}

#[test]
fn the_page_says_which_priorities_are_urgent() {
    for (name, larger) in [("freertos.bin", true), ("scheduling.trx", false)] {
        let page = export(open(&example(name), &[]), name).unwrap();
        assert_eq!(page.header["largerIsUrgent"], larger, "{name}");
    }
}

#[test]
fn a_page_of_a_range_has_the_states_at_its_beginning() {
    let mut input = open(&example("scheduling.trx"), &["rate=100MHz"]);
    let from = Some(Bound::Nanoseconds(41_550_000));
    let to = Some(Bound::Nanoseconds(43_520_000));
    input.select(Selection { from, to, ..Selection::default() });
    let page = export(input, "part").unwrap();
    assert_eq!(page.columns["event.ticks"].len(), 41);
    assert!(page.columns["event.ticks"].iter().all(|t| (4_155_000..=4_352_000).contains(t)));
    for row in page.header["rows"].as_array().unwrap().iter().filter(|r| r["kind"] == "context") {
        let first = row["changes"][0].as_u64().unwrap() as usize;
        assert!(page.columns["change.ticks"][first] <= 4_155_000, "{row}");
    }
}

#[test]
fn hostile_names_do_not_become_markup() {
    let name = "</script><script>alert('1')</script>";
    let hostile = "\"'</script><img src=x>";
    let dump = Dump::new(USUAL, vec![thread(0x100, hostile)], vec![event(0x100, 4096, 10)], 0);
    let input = Input::from_bytes(name, dump.bytes(), settings(&[])).unwrap();
    let page = export(input, name).unwrap();
    let lower = page.html.to_lowercase();
    assert_eq!((lower.matches("<script").count(), lower.matches("</script").count()), (2, 2));
    assert!(!page.html.contains("<img") && !page.html.contains("<script>alert"));
    assert!(page.html.contains("&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;</title>"));
    assert_eq!(page.header["contexts"][0]["name"], hostile);
    // The policy permits one script and one style, by their hashes, and no requests.
    let policy = page.html.split_once("Content-Security-Policy\" content=\"").unwrap().1;
    let policy = policy.split_once('"').unwrap().0;
    assert!(policy.starts_with("default-src 'none'; script-src 'sha256-"), "{policy}");
    assert!(!policy.contains("unsafe") && !policy.contains("http"), "{policy}");
}

#[test]
fn fifty_thousand_threadx_events_take_less_than_two_megabytes() {
    let threads = [0x100, 0x200, 0x300, 0x400];
    let objects = threads.map(|pointer| thread(pointer, "worker")).to_vec();
    let events = (0..50_000_u64).map(|index| {
        let mut event = event(threads[index as usize % 4], 4096 + index % 8, index * 977);
        event.info = [index, index.wrapping_mul(2_654_435_761) & 0xFFFF_FFFF, index / 7, 0];
        event
    });
    let bytes = Dump::new(USUAL, objects, events.collect(), 0).bytes();
    let page = export(Input::from_bytes("large", bytes, settings(&[])).unwrap(), "large").unwrap();
    assert_eq!(page.columns["event.ticks"].len(), 50_000);
    assert!(page.html.len() < 2_000_000, "{} bytes", page.html.len());
}

#[test]
fn a_page_without_events_or_of_the_last_events_is_an_error() {
    let refused = |selection: Selection| {
        let mut input = open(&fixture("threadx/tiny.trx"), &[]);
        input.select(selection);
        export(input, "tiny").err().unwrap().to_string()
    };
    let none = Selection { contexts: vec!["nothing".to_owned()], ..Selection::default() };
    assert!(refused(none).starts_with("the trace, or the selected part of it, has no events"));
    let tail = Selection { tail: Some(3), ..Selection::default() };
    assert_eq!(refused(tail), "a page cannot be limited to the last events: use --from and --to");
}
