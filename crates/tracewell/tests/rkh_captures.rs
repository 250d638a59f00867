//! Compares RKH captures with expected results: every frame, argument and loss, in order.
//!
//! The expected results come from an independent decoder, and agree with Trazer's output for every
//! file that Trazer reads.

#[path = "support/rkh.rs"]
mod streams;
mod support;

use std::collections::HashMap;
use std::path::PathBuf;

use streams::{Capture, captures, texts};
use support::{EventLog, Row, fixture, number, read, settings, shared, table};
use tracewell::export::events::{EventFormat, EventWriter};
use tracewell::input::Input;
use tracewell::model::schema::ArgumentKind;
use tracewell::model::values::{self, ListItem};
use tracewell::model::{Loss, LossCause, Trace};
use tracewell::report::{Report, ReportOptions};
use tracewell::select::Selection;
use tracewell_wire::rkh::{Unstuffed, ids, unstuff};

fn decoded(capture: &Capture) -> (Trace, EventLog) {
    let options: Vec<_> = capture.options.iter().map(String::as_str).collect();
    read(&capture.path, &options)
}

#[test]
fn counts_are_as_expected() {
    for capture in captures() {
        let (trace, kept) = decoded(&capture);
        let name = capture.path.display();
        for (column, fact) in [
            ("good", "good"),
            ("bad_checksum", "bad_checksum"),
            ("short", "short"),
            ("unknown_id", "unknown_id"),
            ("bad_args", "bad_args"),
            ("aborted", "aborted"),
            ("sequence_gaps", "sequence_gaps"),
            ("lost_frames", "lost_frames"),
            ("tail_bytes", "tail_bytes"),
        ] {
            assert_eq!(
                trace.fact(fact),
                Some(number(&capture.expected[column])),
                "{name} {column}"
            );
        }
        assert_eq!(kept.rows.len() as u64, number(&capture.expected["good"]), "{name}");
        // The expected counts exclude frames that are truncated at the ends.
        let lost = trace.losses.iter().filter(|(cause, _)| *cause != LossCause::Truncated);
        let lost: u64 = lost.map(|(_, count)| count.events).sum();
        assert_eq!(lost, number(&capture.expected["lost_frames"]));
        for row in table(&capture.path.with_extension("summary.tsv")) {
            let (what, value) = (&row["what"], number(&row["value"]));
            match what.strip_prefix("count:") {
                Some(event) => {
                    let found = kept.rows.iter().filter(|row| named(&trace, row.id) == *event);
                    assert_eq!(found.count() as u64, value, "{name} {event}");
                }
                None if what.ends_with("_seq") => assert_eq!(trace.fact(what), Some(value)),
                None => {}
            }
        }
    }
}

/// Returns the name of an event as the expected results write it.
fn named(trace: &Trace, id: u32) -> String {
    let name = &trace.schema.event(id).name;
    let name = name.trim_start_matches("RKH_TE_").trim_start_matches("RKH_TRCE_");
    if name == "USER" { format!("USR{}", ids::number(id as u8)) } else { name.to_owned() }
}

#[test]
fn every_frame_is_as_expected() {
    for capture in captures() {
        let (trace, kept) = decoded(&capture);
        let name = capture.path.display();
        let mut rows = kept.rows.iter();
        let mut losses = kept.losses.iter().filter(|loss| loss.cause != LossCause::Truncated);
        let mut clock = Unwrapped::default();
        for expected in table(&capture.path.with_extension("frames.tsv")) {
            let at = format!("{name}: frame {} at {}", expected["n"], expected["offset"]);
            let before = rows.len();
            if expected["status"] == "ok" {
                let row = rows.next().unwrap_or_else(|| panic!("{at}: no event"));
                check_event(&trace, row, &expected, &mut clock, &at);
            } else {
                let loss = losses.next().unwrap_or_else(|| panic!("{at}: no loss"));
                check_loss(loss, (kept.rows.len() - before) as u64, &expected, &at);
            }
        }
        assert_eq!((rows.len(), losses.count()), (0, 0), "{name}");
    }
}

fn check_loss(loss: &Loss, before: u64, expected: &HashMap<String, String>, at: &str) {
    let (cause, events) = match expected["status"].as_str() {
        "gap" => (LossCause::Missing, number(&expected["args"]["lost=".len()..])),
        "badchk" | "aborted" => (LossCause::Damaged, 0),
        other => panic!("{at}: {other}"),
    };
    let offset = number(&expected["offset"]);
    assert_eq!(*loss, Loss { before, events: Some(events), cause, offset }, "{at}");
}

/// Converts expected timestamps to ticks.
#[derive(Default)]
struct Unwrapped {
    first: Option<u64>,
    last: u64,
    rounds: u64,
}

impl Unwrapped {
    fn ticks(&mut self, stamp: u64, bytes: u64) -> u64 {
        if stamp < self.last {
            self.rounds += 1 << (8 * bytes);
        }
        self.last = stamp;
        let now = stamp + self.rounds;
        now - *self.first.get_or_insert(now)
    }
}

fn check_event(
    trace: &Trace,
    row: &Row,
    expected: &HashMap<String, String>,
    clock: &mut Unwrapped,
    at: &str,
) {
    assert_eq!(shown(trace, row), expected["event"], "{at}");
    assert_eq!(row.record.len() as u64, number(&expected["raw_len"]), "{at}");
    let width = trace.fact("id_bytes").unwrap() as usize;
    let groups = trace.schema.event(0).name.starts_with("RKH_TE_");
    let id = ids::id(row.id as u8, width as u8, groups);
    assert_eq!(u64::from(id), number(&expected["id"]), "{at}");
    if !expected["ts"].is_empty() {
        let ticks = clock.ticks(number(&expected["ts"]), trace.fact("stamp_bytes").unwrap());
        assert_eq!(row.ticks, ticks, "{at}");
        let mut frame = [0; 1024];
        assert!(matches!(unstuff(&row.record, &mut frame), Unstuffed::Frame(_)), "{at}");
        assert_eq!(u64::from(frame[width]), number(&expected["seq"]), "{at}");
    }
    if trace.schema.event(row.id).name == "RKH_TE_USER" {
        assert_eq!(user_event(trace, row), without_sizes(&expected["args"]), "{at}");
    } else {
        check_arguments(trace, row, &words(&expected["args"]), at);
    }
}

/// Splits `name=value` pairs at spaces. Strings have quotes and can contain spaces.
fn words(text: &str) -> Vec<(String, String)> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some((name, after)) = rest.split_once('=') {
        let end = match after.strip_prefix('"') {
            Some(text) => text.find('"').unwrap() + 2,
            None => after.find(' ').unwrap_or(after.len()),
        };
        words.push((name.trim().to_owned(), after[..end].to_owned()));
        rest = &after[end..];
    }
    words
}

fn check_arguments(trace: &Trace, row: &Row, expected: &[(String, String)], at: &str) {
    let args = &trace.schema.event(row.id).args;
    let found: Vec<_> = args
        .iter()
        .enumerate()
        .filter_map(|(index, arg)| Some((arg, trace.payload.argument(&row.payload, index)?)))
        .collect();
    assert_eq!(found.len(), expected.len(), "{at}");
    for ((arg, value), (name, text)) in found.iter().zip(expected) {
        // The fields of the configuration record have different names in Tracewell.
        assert!(arg.name == *name || row.payload.len() > 90, "{at}: {} {name}", arg.name);
        if let Some(text) = text.strip_prefix('"') {
            let bytes = values::bytes(&row.payload, *value);
            assert_eq!(bytes, text.trim_end_matches('"').as_bytes(), "{at}");
        } else if text == "?" {
            assert_eq!(*value, 0, "{at}");
        } else if text.starts_with("0x") || text.parse::<u64>().is_ok() {
            assert_eq!(*value, number(text), "{at}: {name}");
        } else {
            let ArgumentKind::Object(kind) = arg.kind else { panic!("{at}: {name}") };
            assert_eq!(label(trace, row, kind, *value).as_ref(), Some(text), "{at}");
        }
    }
}

/// Returns the name of an event. For a user event, this is the name that the target assigned, if
/// any.
fn shown(trace: &Trace, row: &Row) -> String {
    let args = &trace.schema.event(row.id).args;
    let given = match (args.first().map(|arg| arg.kind), trace.payload.argument(&row.payload, 0)) {
        (Some(ArgumentKind::Object(Some(12))), Some(index)) => label(trace, row, Some(12), index),
        _ => None,
    };
    given.unwrap_or_else(|| named(trace, row.id))
}

fn label(trace: &Trace, row: &Row, kind: Option<u32>, value: u64) -> Option<String> {
    let object = trace.objects.at(trace.schema.key(kind, value), row.ticks, kind);
    object.map(|(_, object)| object.label.clone())
}

/// Returns the items of a user event, written as in the expected results, but without the sizes of
/// numbers.
fn user_event(trace: &Trace, row: &Row) -> String {
    let list = trace.payload.argument(&row.payload, 1).unwrap();
    let object = |kind, key| {
        label(trace, row, kind, key).unwrap_or_else(|| match kind {
            Some(9) => key.to_string(),
            _ => format!("0x{key:X}"),
        })
    };
    let items = values::list_items(values::bytes(&row.payload, list)).map(|item| match item {
        ListItem::Signed(value, width) => format!("i/{width}={value}"),
        ListItem::Unsigned(value, width) => format!("u/{width}={value}"),
        ListItem::Hex(value, width) => format!("x/{width}=0x{value:X}"),
        ListItem::Text(text) => format!("str=\"{}\"", text.escape_ascii()),
        ListItem::Bytes(bytes) => {
            let pairs: Vec<_> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("mem={}", pairs.join(" "))
        }
        ListItem::Object(key, 6) => format!("fun={}", object(Some(6), key)),
        ListItem::Object(key, 9) => format!("sig={}", object(Some(9), key)),
        ListItem::Object(key, _) => format!("obj={}", object(None, key)),
        other => panic!("{other:?} is in no RKH stream"),
    });
    items.collect::<Vec<_>>().join(" ")
}

fn without_sizes(text: &str) -> String {
    ["i8/", "i16/", "i32/", "u8/", "u16/", "u32/", "x32/"]
        .iter()
        .fold(text.to_owned(), |text, sized| text.replace(sized, &format!("{}/", &sized[..1])))
}

#[test]
fn texts_contain_everything_that_trazer_prints() {
    let Some(shared) = shared() else { return };
    let folder = std::fs::read_dir(shared.join("data/rkh/linux")).unwrap();
    let files: Vec<_> = folder.map(|entry| entry.unwrap().path()).collect();
    let texts_of = |path: &PathBuf| path.to_str().unwrap().ends_with(".trazer-3.2.txt");
    assert_eq!(files.iter().filter(|path| texts_of(path)).count(), 6);
    for path in files.iter().filter(|path| texts_of(path)) {
        let name = path.to_str().unwrap();
        let bytes = std::fs::read(name.replace("trazer-3.2.txt", "bin")).unwrap();
        let trazer = std::fs::read_to_string(path).unwrap();
        let ours = texts(&bytes, &[]);
        let lines: Vec<_> = trazer.lines().filter(|line| is_event(line)).collect();
        assert_eq!(lines.len(), ours.len(), "{name}");
        for (line, text) in lines.iter().zip(&ours) {
            for (label, value) in values_of(line) {
                // The report computes some values of a line from several events. The event itself
                // does not contain these values.
                let computed = ["rt", "nseq"].contains(&label);
                // Here, Trazer prints stale bytes of older frames.
                let stale = line.contains("SYNC_EVT") && label != "fn";
                let said = text
                    .split(", ")
                    .any(|part| part.split_once('=').is_some_and(|(_, ours)| same(ours, value)));
                assert!(computed || stale || said, "{name}: {line}\n{text}");
            }
        }
    }
}

/// The report's lines contain response times and message numbers. Both equal the values that Trazer
/// prints. After a loss, Trazer prints neither of them.
#[test]
fn response_times_agree_with_trazer() {
    let Some(shared) = shared() else { return };
    for (name, messages) in [("ahsm-a", 2 * 14), ("shared-c", 2 * 107)] {
        let file = shared.join(format!("data/rkh/linux/{name}.bin"));
        let mut report = Report::new(Vec::new(), ReportOptions::default());
        Input::open(&file, settings(&[])).unwrap().read(&mut report).unwrap();
        let ours = String::from_utf8(report.into_inner().unwrap()).unwrap();
        let trazer = std::fs::read_to_string(file.with_extension("trazer-3.2.txt")).unwrap();
        let times = |text: &str| {
            let computed = |line| -> Option<(&str, &str)> {
                str::split_once(line, ", rt=").or_else(|| str::split_once(line, ", nseq="))
            };
            let lines = text.lines().filter_map(computed);
            lines.map(|(_, times)| times.trim().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(times(&ours), times(&trazer), "{name}");
        assert!(times(&ours).len() >= messages, "{name} {}", times(&ours).len());
    }
}

/// Returns true if a line of Trazer's output begins an event.
fn is_event(line: &str) -> bool {
    let stamp = line.split('|').next().unwrap_or_default().trim();
    !stamp.is_empty() && stamp.bytes().all(|byte| byte.is_ascii_digit())
}

fn values_of(line: &str) -> impl Iterator<Item = (&str, &str)> {
    let arguments = line.split_once(" : ").map_or("", |(_, arguments)| arguments);
    arguments.split(", ").filter_map(|argument| argument.trim().split_once('='))
}

fn same(ours: &str, trazer: &str) -> bool {
    let number = |text: &str| {
        let digits = text.strip_prefix("0x").or(text.strip_prefix("0X"))?;
        u64::from_str_radix(digits, 16).ok()
    };
    let bare = |text: &str| text.trim_start_matches('&').to_owned();
    let ours = ours.strip_suffix(" (internal)").unwrap_or(ours);
    bare(ours) == bare(trazer)
        || number(ours).is_some_and(|ours| Some(ours) == number(trazer))
        || (ours == "none" && trazer == "?")
}

#[test]
fn texts_and_lists_are_values_for_programs() {
    let write = |format| {
        let mut writer = EventWriter::new(Vec::new(), format, Selection::default());
        let path = fixture("rkh/ahsm-a.bin");
        Input::open(&path, settings(&[])).unwrap().read(&mut writer).unwrap();
        String::from_utf8(writer.into_inner().unwrap()).unwrap()
    };
    let json = write(EventFormat::JsonLines);
    let lines: Vec<serde_json::Value> =
        json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 392);
    assert_eq!(lines[2]["args"]["nm"], "&my->equeue");
    assert_eq!(lines[86]["args"], serde_json::json!({"mp": "0x08052134", "nfree": 7, "nmin": 7}));
    let items = serde_json::json!([
        -1,
        255,
        -2,
        65535,
        -100_000,
        65535,
        0x7E7D,
        "hello~}",
        "7E7D00FF0102030405060708",
        "0x08052080",
        "0x0804D09C",
        "0x00000003"
    ]);
    assert_eq!(lines[175]["args"], serde_json::json!({"event": "0x00000000", "items": items}));
    let last = |text: &str, row: usize| text.lines().nth(row + 1).unwrap().to_owned();
    let tsv = last(&write(EventFormat::Tsv), 177);
    assert!(tsv.ends_with("\tRKH_TE_USER\tevent=0x00000008 items=[,4294967295,5]"), "{tsv}");
    let csv = last(&write(EventFormat::Csv), 177);
    assert!(csv.ends_with(r#",RKH_TE_USER,"event=0x00000008 items=[,4294967295,5]""#), "{csv}");
}
