//! Tests the export `ctf` with Babeltrace 2, an independent reader: events, times, contexts,
//! arguments and losses of traces of every dialect equal those of the export `jsonl`.

#[path = "support/babeltrace.rs"]
mod babeltrace;
mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use babeltrace::{Read, Value};
use serde_json::Value as Json;
use support::{fixture, settings, shared};
use tracewell::export::events::{EventFormat, EventWriter};
use tracewell::export::{ExportNames, by_name, ctf};
use tracewell::format::Options;
use tracewell::input::Input;
use tracewell::model::Trace;
use tracewell::select::Selection;

const UUID: &str = "uuid=00112233-4455-4677-8899-aabbccddeeff";

/// Writes a trace into a folder.
fn convert(input: &mut Input, folder: &Path) -> Trace {
    let names = ExportNames { input: "trace".to_owned(), output: "out".to_owned() };
    let mut options = Options::default();
    options.add(UUID).unwrap();
    ctf::CTF.write_folder(input, &options, &names, folder).unwrap()
}

/// The events and the losses of a trace as JSON lines.
struct Expected {
    trace: Trace,
    events: Vec<Json>,
    losses: Vec<Option<u64>>,
}

fn expected(input: &mut Input) -> Expected {
    let mut writer = EventWriter::new(Vec::new(), EventFormat::JsonLines, Selection::default())
        .with_decoded_arguments();
    let trace = input.read(&mut writer).unwrap();
    let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Json>(line).unwrap());
    let (events, losses): (Vec<_>, Vec<_>) = lines.partition(|line| line.get("seq").is_some());
    let losses = losses.iter().map(|loss| loss["lost"].as_u64()).filter(|lost| *lost != Some(0));
    Expected { losses: losses.collect(), trace, events }
}

/// Converts a trace and compares Babeltrace's text with the JSON lines of the same trace.
fn compare(name: &str, open: &dyn Fn() -> Input) {
    let folder = tempfile::tempdir().unwrap();
    let expected = expected(&mut open());
    convert(&mut open(), folder.path());
    let Some(read) = babeltrace::read(folder.path()) else { return };
    assert_eq!(read.remarks, [] as [String; 0], "{name}");
    compare_losses(name, &expected, &read);
    assert_eq!(read.events.len(), expected.events.len(), "{name}: events");
    // Babeltrace does not keep the order of events of different cores at one time.
    let mut events: Vec<_> = expected.events.iter().collect();
    let mut found: Vec<_> = read.events.iter().collect();
    let stamps = stamps(&expected);
    let mut order: Vec<_> = (0..events.len()).collect();
    order.sort_by_key(|index| (stamps[*index], events[*index]["cpu"].as_u64()));
    found.sort_by_key(|event| (event.cycles, event.number("cpu_id")));
    events = order.iter().map(|index| events[*index]).collect();
    for ((index, event), found) in order.iter().zip(&events).zip(found) {
        let place = format!("{name}: event {event}, found {found:?}");
        assert_eq!(found.cycles, stamps[*index], "{place}");
        assert_eq!(found.number("cpu_id"), event["cpu"].as_u64(), "{place}");
        compare_event(&place, event, found);
    }
}

/// Returns the stamps that the output must have: ticks, times the seconds of the rate, or
/// nanoseconds if the rate changes. The time of a core never goes back.
fn stamps(expected: &Expected) -> Vec<u64> {
    let clock = &expected.trace.clock;
    let seconds = clock.rate.map_or(1, |rate| rate.ratio().1);
    let mut last = BTreeMap::new();
    let stamp = |event: &Json| {
        let stamp = match clock.changes.is_empty() {
            true => event["ticks"].as_u64().unwrap() * seconds,
            false => event["time_ns"].as_u64().unwrap(),
        };
        let last = last.entry(event["cpu"].as_u64()).or_insert(0);
        *last = stamp.max(*last);
        *last
    };
    expected.events.iter().map(stamp).collect()
}

fn compare_losses(name: &str, expected: &Expected, read: &Read) {
    let known: u64 = expected.losses.iter().flatten().sum();
    let unknown = expected.losses.iter().filter(|lost| lost.is_none()).count() as u64;
    let lost: u64 = read.losses.iter().filter(|loss| !loss.packets).map(|loss| loss.number).sum();
    let packets: u64 = read.losses.iter().filter(|loss| loss.packets).map(|loss| loss.number).sum();
    assert_eq!((lost, packets), (known, unknown), "{name}: losses {:?}", read.losses);
}

fn compare_event(place: &str, event: &Json, found: &babeltrace::Event) {
    let name = event["name"].as_str().unwrap();
    let with_id = format!("{name} {}", event["id"]);
    let with_hook = format!("{name} {:03X}", event["id"].as_u64().unwrap() >> 4);
    assert!(
        [name, &with_id, &with_hook].contains(&found.name.as_str())
            || found.name.starts_with(&format!("{name} ")),
        "{place}"
    );
    // Contexts that are unknown have no number in JSON lines.
    let key = event["context"].as_str().and_then(number);
    let context_id = found.context.number("context_id");
    assert!(key.is_none() || key == context_id, "{place}");
    let priority = event.get("priority").and_then(Json::as_i64).unwrap_or(-1);
    assert_eq!(found.context.signed("priority"), Some(priority), "{place}");
    let fields = found.arguments();
    let args: Vec<_> = event["args"].as_object().unwrap().iter().collect();
    assert_eq!(fields.len(), args.len(), "{place}");
    let mut texts = event["args_text"].as_object().unwrap().clone();
    // A JSON object has the order of its names.
    let mut found: BTreeMap<&str, &Value> = BTreeMap::new();
    fields.iter().for_each(|(name, value)| drop(found.insert(name, value)));
    for (name, value) in args {
        let cleaned: String =
            name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let field = found.get(cleaned.as_str());
        let field = field.unwrap_or_else(|| panic!("{place}: no field {cleaned}"));
        assert!(field.is(value), "{place}: {name}: expected {value}, found {field:?}");
        if let (Value::Enum(Some(label), _), Some(text)) = (field, texts.remove(name)) {
            assert_eq!(Json::from(label.as_str()), text, "{place}: {name}");
        }
    }
}

fn number(key: &str) -> Option<u64> {
    match key.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => key.parse().ok(),
    }
}

/// Returns all files below a folder, in order of their paths.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}

/// Compares each file of a folder that is recognised as a trace. Returns their number.
fn compare_all(folder: &Path) -> usize {
    let is_trace = |path: &PathBuf| {
        let is_small = fs::metadata(path).unwrap().len() < 8 << 20;
        is_small
            && Input::open(path, settings(&[]))
                .is_ok_and(|mut input| input.for_each(|_| ()).is_ok_and(|trace| trace.events > 0))
    };
    let traces: Vec<_> = files(folder).into_iter().filter(is_trace).collect();
    for path in &traces {
        compare(&path.display().to_string(), &|| Input::open(path, settings(&[])).unwrap());
    }
    traces.len()
}

#[test]
fn babeltrace_reads_our_traces_as_json_lines_have_them() {
    let found = ["threadx", "rkh", "shark", "systemview"].map(|name| compare_all(&fixture(name)));
    assert!(found.iter().all(|traces| *traces >= 5), "{found:?}");
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    assert!(compare_all(&examples) > 0);
}

#[test]
fn babeltrace_reads_shared_traces_as_json_lines_have_them() {
    let Some(shared) = shared() else { return };
    for (name, at_least) in [("threadx", 10), ("rkh", 3), ("shark", 5), ("systemview", 10)] {
        let found = compare_all(&shared.join("data").join(name));
        assert!(found >= at_least, "{name}: {found}");
    }
}
