//! Tests the export `ctf` with Babeltrace 2, an independent reader: for traces of every dialect,
//! the events, times, contexts, arguments and losses are the same as in the export `jsonl`.

#[path = "support/babeltrace.rs"]
mod babeltrace;
mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use babeltrace::{Read, Value};
use serde_json::Value as Json;
use support::{fixture, settings, shared};
use tracewell::analysis::scheduling::Scheduling;
use tracewell::export::events::{EventFormat, EventWriter};
use tracewell::export::{ExportError, ExportNames, ctf};
use tracewell::format::Options;
use tracewell::input::Input;
use tracewell::model::{ContextId, Trace};
use tracewell::select::{Bound, Selection};
use tracewell_record::stream::{EventType, Family, Stream, StreamOptions};

const UUID: &str = "uuid=00112233-4455-4677-8899-aabbccddeeff";

/// Writes a trace into a folder.
fn convert(input: &mut Input, folder: &Path, options: &[&str]) -> Result<Trace, ExportError> {
    let names = ExportNames { input: "trace".to_owned(), output: "out".to_owned() };
    let mut chosen = Options::default();
    options.iter().for_each(|option| chosen.add(option).unwrap());
    ctf::CTF.write_folder(input, &chosen, &names, folder)
}

/// The events and the losses of a trace as JSON lines.
struct Expected {
    trace: Trace,
    events: Vec<Json>,
    losses: Vec<Lost>,
}

/// A loss with the times of the events around it, if they are known.
#[derive(PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Lost {
    events: Option<u64>,
    between: Option<(u64, u64)>,
}

fn expected(input: &mut Input) -> Expected {
    let mut writer = EventWriter::new(Vec::new(), EventFormat::JsonLines, Selection::default())
        .with_decoded_arguments();
    let trace = input.read(&mut writer).unwrap();
    let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Json>(line).unwrap());
    let lines: Vec<_> = lines.filter(|line| line.get("lost") != Some(&Json::from(0))).collect();
    let time = |line: &Json| line.get("time_ns").and_then(Json::as_u64);
    let losses = lines.iter().enumerate().filter(|(_, line)| line.get("seq").is_none());
    let losses = losses.map(|(index, line)| {
        let before = lines[..index].iter().rev().find_map(time);
        let after = lines[index..].iter().find_map(time).or(before);
        // The first of several losses in one place extends from the previous to the next event.
        let is_first = index == 0 || lines[index - 1].get("seq").is_some();
        let after = after.unwrap_or(0);
        let before = if is_first { before.unwrap_or(0) } else { after };
        let known = trace.clock.rate.is_some() && trace.wall_clock.is_none();
        Lost { events: line["lost"].as_u64(), between: known.then_some((before, after)) }
    });
    let losses = losses.collect();
    let events = lines.into_iter().filter(|line| line.get("seq").is_some()).collect();
    Expected { losses, trace, events }
}

/// Converts a trace and compares Babeltrace's text with the JSON lines of the same trace.
fn compare(name: &str, open: &dyn Fn() -> Input) {
    let folder = tempfile::tempdir().unwrap();
    let expected = expected(&mut open());
    convert(&mut open(), folder.path(), &[UUID]).unwrap();
    let Some(read) = babeltrace::read(folder.path()) else { return };
    assert_eq!(read.remarks, [] as [String; 0], "{name}");
    compare_losses(name, &expected, &read);
    compare_our_reading(name, folder.path(), &read);
    assert_eq!(read.events.len(), expected.events.len(), "{name}: events");
    // Babeltrace does not define the order of events of different cores with equal times.
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

/// Reads a folder that Tracewell has written, and compares its events with the events that
/// Babeltrace reads.
fn compare_our_reading(name: &str, folder: &Path, read: &Read) {
    let ours = expected(&mut Input::open(folder, settings(&[])).unwrap());
    assert_eq!(ours.events.len(), read.events.len(), "{name}: events that are read back");
    compare_losses(name, &ours, read);
    // Ticks are counted from a whole second, and cycles from the first event.
    let first = read.events.iter().map(|event| event.cycles).min().unwrap_or(0);
    let ticks = |event: &Json| event["ticks"].as_u64().unwrap();
    let origin = ours.events.iter().map(ticks).min().unwrap_or(0);
    let mut found: Vec<_> = read.events.iter().collect();
    found.sort_by_key(|event| (event.cycles, event.number("cpu_id")));
    let mut events: Vec<_> = ours.events.iter().collect();
    events.sort_by_key(|event| (ticks(event), event["cpu"].as_u64()));
    for (event, found) in events.iter().zip(found) {
        let place = format!("{name}: read back {event}, found {found:?}");
        assert_eq!(ticks(event) - origin, found.cycles - first, "{place}");
        assert_eq!(event["cpu"].as_u64(), found.number("cpu_id"), "{place}");
        assert_eq!(event["name"].as_str(), Some(found.name.as_str()), "{place}");
        let args = event["args"].as_object().unwrap();
        let Value::Fields(fields) = &found.fields else { panic!("{place}") };
        for (name, value) in fields {
            let is = args.get(name).is_some_and(|ours| is_same(value, ours));
            assert!(is, "{place}: {name}: {value:?}");
        }
        // A field of the event can have the same name as a field of its context.
        let context = |name: &str| args.get(&format!("context_{name}")).or(args.get(name));
        let number = |name: &str| context(name).and_then(Json::as_i64);
        assert_eq!(number("priority"), found.context.signed("priority"), "{place}");
    }
}

/// Returns true if Babeltrace's value of a field equals Tracewell's value of the same field.
fn is_same(value: &Value, ours: &Json) -> bool {
    match (value, ours) {
        (Value::Fields(fields), _) => fields.iter().all(|(name, value)| match name.as_str() {
            // The value of a variant. Tracewell shows it in an object whose only key is the name of
            // the selected field.
            "" => ours
                .as_object()
                .and_then(|fields| fields.values().next())
                .is_some_and(|ours| is_same(value, ours)),
            name => ours.get(name).is_some_and(|ours| is_same(value, ours)),
        }),
        (Value::List(items), Json::Array(ours)) => {
            items.len() == ours.len() && items.iter().zip(ours).all(|(item, o)| is_same(item, o))
        }
        _ => value.is(ours),
    }
}

/// Returns the expected stamps: ticks times the denominator of the rate, or nanoseconds if the rate
/// changes. The stamps of a core never decrease.
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
    let mut found: Vec<_> = read.losses.iter().collect();
    found.sort_by_key(|loss| (loss.packets, loss.number, loss.between));
    let mut losses: Vec<_> = expected.losses.iter().collect();
    losses.sort_by_key(|loss| (loss.events.is_none(), loss.events.unwrap_or(1), loss.between));
    assert_eq!(losses.len(), found.len(), "{name}: {losses:?} {found:?}");
    for (loss, found) in losses.iter().zip(&found) {
        let number = if found.packets { None } else { Some(found.number) };
        assert_eq!((loss.events, found.packets), (number, loss.events.is_none()), "{name}");
        let Some(times) = loss.between else { continue };
        // Babeltrace computes nanoseconds with floating-point numbers.
        let close = |one: u64, other: u64| one.abs_diff(other) <= 1;
        let (from, until) = found.between;
        assert!(close(times.0, from) && close(times.1, until), "{name}: {loss:?} {found:?}");
    }
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
    // Unknown contexts have no number in JSON lines.
    let key = event["context"].as_str().and_then(number);
    let context_id = found.context.number("context_id");
    assert!(key.is_none() || key == context_id, "{place}");
    let priority = event.get("priority").and_then(Json::as_i64).unwrap_or(-1);
    assert_eq!(found.context.signed("priority"), Some(priority), "{place}");
    let fields = found.arguments();
    let args: Vec<_> = event["args"].as_object().unwrap().iter().collect();
    assert_eq!(fields.len(), args.len(), "{place}");
    let mut texts = event["args_text"].as_object().unwrap().clone();
    // The members of `Json` objects are sorted by name.
    let found: BTreeMap<&str, &Value> = fields.iter().copied().collect();
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

/// Compares each file in a folder, if the file is recognised as a trace. Returns the number of
/// these files.
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
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    assert!(compare_all(&root.join("examples")) > 1);
    // Small traces, many of them damaged.
    for corpus in ["native", "posix_log", "aix", "exports", "systemview"] {
        assert!(compare_all(&root.join("fuzz/corpus").join(corpus)) > 0, "{corpus}");
    }
}

/// Collects the traces below a folder. A trace is a folder with the name `trace`.
fn folders(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    found.extend(entries.iter().filter(|path| path.ends_with("trace") && path.is_dir()).cloned());
    let others = entries.iter().filter(|path| path.is_dir() && !path.ends_with("trace"));
    others.for_each(|path| folders(path, found));
}

#[test]
fn traces_in_ctf_can_be_written_again() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut traces = vec![examples.join("lttng")];
    traces.extend(["classes", "odd", "zephyr"].map(|name| fixture("ctf").join(name)));
    if let Some(shared) = shared() {
        for system in ["lttng-ust", "barectf", "zephyr", "made"] {
            folders(&shared.join("data/ctf").join(system), &mut traces);
        }
        assert!(traces.len() > 15, "{}", traces.len());
    }
    for trace in traces {
        let open = || Input::open(&trace, settings(&[])).unwrap();
        compare(&trace.display().to_string(), &open);
    }
}

#[test]
fn babeltrace_reads_shared_traces_as_json_lines_have_them() {
    let Some(shared) = shared() else { return };
    for (name, at_least) in [("threadx", 10), ("rkh", 3), ("shark", 5), ("systemview", 10)] {
        let found = compare_all(&shared.join("data").join(name));
        assert!(found >= at_least, "{name}: {found}");
    }
}

/// Returns the log of a native stream whose fields have the names of metadata keywords.
fn native() -> Vec<u8> {
    static NUMBERS: EventType<(u32, i64, f64, bool)> =
        EventType::new(Family::new(1, "ctf"), "numbers", &["int", "struct", "_float", "_"]);
    let stream = Stream::anonymous(&StreamOptions::default()).unwrap();
    stream.start();
    for number in 0..3000 {
        let signed = -i64::from(number);
        stream.record(&NUMBERS, (number, signed, f64::from(number) / 7.0, number % 2 == 0));
    }
    stream.save(Vec::new()).unwrap()
}

#[test]
fn names_and_numbers_of_a_program_reach_babeltrace() {
    let log = native();
    let folder = tempfile::tempdir().unwrap();
    let mut input = Input::from_bytes("log", log, settings(&[])).unwrap();
    let trace = convert(&mut input, folder.path(), &[]).unwrap();
    assert!(trace.wall_clock.is_some());
    let Some(read) = babeltrace::read(folder.path()) else { return };
    let events: Vec<_> = read.events.iter().filter(|e| e.name.starts_with("numbers")).collect();
    assert_eq!(events.len(), 3000, "{:?}", read.events.last());
    // The events fill more than one packet. The events must be in the order of their numbers.
    for (number, event) in (0..).zip(events) {
        assert_eq!(event.name, "numbers");
        let [int, signed, float, truth] = ["int", "struct", "_float", "_"]
            .map(|name| event.arguments().into_iter().find(|(n, _)| *n == name).unwrap().1);
        assert!(int.is(&Json::from(number)), "{int:?}");
        assert!(signed.is(&Json::from(-number)), "{signed:?}");
        assert!(float.is(&Json::from(number as f64 / 7.0)), "{float:?}");
        assert!(truth.is(&Json::from(number % 2 == 0)), "{truth:?}");
    }
}

#[test]
fn a_selection_keeps_the_times_of_its_events() {
    let folder = tempfile::tempdir().unwrap();
    let mut input = Input::open(&fixture("threadx/tiny.trx"), settings(&[])).unwrap();
    let (from, to) = (Bound::Ticks(1000), Bound::Ticks(5000));
    let part = Selection { from: Some(from), to: Some(to), ..Selection::default() };
    input.select(part.clone());
    convert(&mut input, folder.path(), &[]).unwrap();
    let mut lines = EventWriter::new(Vec::new(), EventFormat::JsonLines, part);
    input.read(&mut lines).unwrap();
    let lines = String::from_utf8(lines.into_inner().unwrap()).unwrap();
    let lines = lines.lines().filter(|line| line.starts_with("{\"seq\""));
    let expected: Vec<_> = lines
        .map(|line| serde_json::from_str::<Json>(line).unwrap()["ticks"].as_u64().unwrap())
        .collect();
    let Some(read) = babeltrace::read(folder.path()) else { return };
    let found: Vec<_> = read.events.iter().map(|event| event.cycles).collect();
    assert!(!found.is_empty());
    assert_eq!(found, expected);
}

#[test]
fn the_metadata_is_as_the_expected_file_shows() {
    let folder = tempfile::tempdir().unwrap();
    let mut input = Input::open(&fixture("threadx/tiny.trx"), settings(&["rate=1MHz"])).unwrap();
    convert(&mut input, folder.path(), &[UUID]).unwrap();
    let found = fs::read_to_string(folder.path().join("metadata")).unwrap();
    let expected = fixture("ctf/tiny.metadata");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&expected, &found).unwrap();
    }
    let expected = fs::read_to_string(&expected).unwrap();
    assert!(found == expected, "the metadata differs; BLESS=1 writes it again:\n{found}");
}

#[test]
fn wrong_options_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (option, reported) in [
        (
            "uuid=1",
            "-T uuid: expected a UUID such as 00112233-4455-6677-8899-aabbccddeeff, found '1'",
        ),
        ("kernel=yes", "-T kernel: expected on or off, found 'yes'"),
        ("index=off", "-T index: unknown option; this format has kernel, uuid"),
    ] {
        let mut input = Input::open(&fixture("threadx/tiny.trx"), settings(&[])).unwrap();
        let error = convert(&mut input, folder.path(), &[option]).unwrap_err();
        assert_eq!(error.to_string(), reported);
    }
}

/// Returns the time for which each thread of an imitated kernel ran, and the time in interrupts.
fn kernel_times(read: &Read) -> (BTreeMap<u64, u64>, u64) {
    let (mut ran, mut in_interrupts) = (BTreeMap::new(), 0);
    // For each core: the running thread, the number of nested interrupts, the time of the last
    // change.
    let mut cores: BTreeMap<u64, (u64, u64, u64)> = BTreeMap::new();
    for event in &read.events {
        let is_change = ["sched_switch", "irq_handler_entry", "irq_handler_exit"];
        if !is_change.contains(&event.name.as_str()) {
            continue;
        }
        let core = event.number("cpu_id").unwrap();
        let core = cores.entry(core).or_insert((i32::MAX as u64, 0, 0));
        let passed = event.cycles - core.2;
        if core.1 > 0 {
            in_interrupts += passed;
        } else {
            *ran.entry(core.0).or_insert(0) += passed;
        }
        core.2 = event.cycles;
        match event.name.as_str() {
            "irq_handler_entry" => core.1 += 1,
            "irq_handler_exit" => core.1 -= 1,
            _ => {
                let before = event.fields.number("prev_tid").unwrap();
                assert_eq!(before, core.0, "{event:?}");
                core.0 = event.fields.number("next_tid").unwrap();
            }
        }
    }
    (ran, in_interrupts)
}

#[test]
fn an_imitated_kernel_has_the_execution_times_of_the_tasks() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    for path in [examples.join("scheduling.trx"), fixture("shark/a_linear.dat")] {
        let folder = tempfile::tempdir().unwrap();
        let open = || Input::open(&path, settings(&[])).unwrap();
        convert(&mut open(), folder.path(), &["kernel=on"]).unwrap();
        let Some(read) = babeltrace::read(folder.path()) else { return };
        let (ran, in_interrupts) = kernel_times(&read);
        let mut scheduling = Scheduling::default();
        let trace = open().read(&mut scheduling).unwrap();
        let (figures, ()) = scheduling.finish(&trace);
        assert_eq!(
            read.events.iter().filter(|e| !is_imitated(&e.name)).count() as u64,
            trace.events
        );
        for task in &figures.tasks {
            let Some(execution) = &task.execution else { continue };
            let ContextId(number) = task.context;
            let found = ran.get(&(u64::from(number) + 1)).copied().unwrap_or(0);
            // No event shows the end of the last state: it lasts to the end of the trace.
            let is_last = read.events.iter().rev().find(|e| e.name == "sched_switch");
            let is_last = is_last.and_then(|e| e.fields.number("next_tid"));
            if is_last == Some(u64::from(number) + 1) {
                continue;
            }
            let place = format!("{}: context {number}", path.display());
            match trace.clock.changes.is_empty() {
                true => assert_eq!(found, execution.ticks, "{place}"),
                // Both ends of each interval are rounded.
                false => {
                    let most = 2 * (execution.dispatches + figures.interrupts.brackets);
                    assert!(found.abs_diff(execution.nanoseconds) <= most, "{place}: {found}");
                }
            }
        }
        if trace.clock.changes.is_empty() {
            assert_eq!(in_interrupts, figures.interrupts.ticks, "{}", path.display());
        }
    }
}

/// Returns the idle time of each core.
fn idle(mut input: Input) -> Vec<u64> {
    let mut scheduling = Scheduling::default();
    let trace = input.read(&mut scheduling).unwrap();
    scheduling.figures(&trace).cores.iter().map(|core| core.idle).collect()
}

/// The streams of all cores reach the end of the trace, although the last events of the cores do
/// not.
#[test]
fn cores_keep_their_states_until_the_end_of_the_trace() {
    let Some(shared) = shared() else { return };
    let dump = shared.join("data/threadx/linux/smp4.trx");
    let open = || Input::open(&dump, settings(&[])).unwrap();
    let folder = tempfile::tempdir().unwrap();
    convert(&mut open(), folder.path(), &["kernel=on"]).unwrap();
    let found = idle(Input::open(folder.path(), settings(&[])).unwrap());
    assert_eq!(found, idle(open()));
    assert!(found.len() == 4 && found.iter().all(|ticks| *ticks > 0), "{found:?}");
}

fn is_imitated(name: &str) -> bool {
    ["sched_switch", "sched_wakeup", "irq_handler_entry", "irq_handler_exit"].contains(&name)
}
