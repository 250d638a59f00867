//! Tests that the table `events` contains the values that the export of events writes.

mod common;
#[allow(dead_code, unreachable_pub, reason = "belongs to the benchmarks, which use all of it")]
#[path = "../../../bench/src/trace.rs"]
mod trace;

use std::fs::File;
use std::ops::ControlFlow::{Break, Continue};

use arrow_array::RecordBatch;
use common::{fixture, objects, open, rows, settings};
use serde_json::{Map, Value};
use tracewell::export::events::{EventFormat, EventWriter};
use tracewell::input::Input;
use tracewell::select::Selection;
use tracewell_tables::{Emit, Error, Request, Source, Table};

/// Returns the events as JSON lines, without losses.
fn exported(name: &str, options: &[&str]) -> Vec<Map<String, Value>> {
    let selection = Selection::default();
    let mut writer = EventWriter::new(Vec::new(), EventFormat::JsonLines, selection);
    let path = fixture(name);
    Input::open(path.as_ref(), settings(options)).unwrap().read_named(&mut writer).unwrap();
    let lines = String::from_utf8(writer.into_inner().unwrap()).unwrap();
    let lines = lines.lines().map(|line| serde_json::from_str(line).unwrap());
    lines.filter(|line: &Map<_, _>| !line.contains_key("lost")).collect()
}

/// Returns a number that the export writes as a string of hexadecimal digits.
fn number(value: &Value) -> Value {
    let digits = value.as_str().and_then(|text| text.strip_prefix("0x"));
    let number = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
    number.map_or_else(|| value.clone(), Value::from)
}

fn compare(name: &str, options: &[&str]) {
    let found = rows(&open(name, options), Table::Events, &Request::default());
    let expected = exported(name, options);
    assert!(found.len() == expected.len() && !found.is_empty(), "{name}");
    for (found, expected) in found.iter().zip(&expected) {
        for field in ["seq", "ticks", "time_ns", "cpu", "context_name", "priority", "id", "name"] {
            let known = expected.get(field).filter(|value| !value.is_null());
            assert_eq!(found.get(field), known, "{name}: {field} of {expected:?}");
        }
        assert_eq!(found["text"], expected["text"], "{name}");
        let arguments = found.iter().filter_map(|(column, value)| {
            Some((column.strip_prefix("arg_")?.to_owned(), value.clone()))
        });
        let arguments: Map<_, _> = arguments.collect();
        let known = expected["args"].as_object().unwrap();
        // Words that the system reserves have no column. The export calls them arg1 to arg4.
        let is_reserved =
            |name: &str| name.strip_prefix("arg").is_some_and(|n| n.parse::<u8>().is_ok());
        // The export writes details of the context among the arguments.
        let details = ["preemption_threshold", "interrupted"];
        for detail in details.into_iter().filter(|detail| known.contains_key(*detail)) {
            assert_eq!(found[detail], number(&known[detail]), "{name}: {expected:?}");
        }
        let named = known.keys().filter(|name| {
            !details.contains(&name.as_str())
                && (arguments.contains_key(*name) || !is_reserved(name))
        });
        assert_eq!(arguments.len(), named.count(), "{name}: {expected:?}");
        for (argument, value) in &arguments {
            let known = &known[argument];
            // Columns store nested values, and values of several kinds, as text: the same text that
            // reports show.
            if known.is_array() || known.is_object() || value.is_string() && !known.is_string() {
                continue;
            }
            let same = *value == number(known) || value == known;
            assert!(same, "{name}: {argument} is {value}, expected {known}");
        }
    }
}

/// Traces of several formats, and their options.
const TRACES: [(&str, &[&str]); 7] = [
    ("threadx/tiny.trx", &["rate=1MHz"]),
    ("threadx/wide.trx", &[]),
    ("rkh/ahsm-a.bin", &[]),
    ("shark/a_linear.dat", &[]),
    ("systemview/long.bin", &[]),
    ("ctf/classes", &[]),
    ("ctf/zephyr", &[]),
];

#[test]
fn rows_are_those_of_the_export_of_events() {
    TRACES.iter().for_each(|(name, options)| compare(name, options));
}

#[test]
fn the_first_reading_makes_the_same_rows() {
    let table = Table::Events;
    let columns = ["id", "seq", "cpu", "ticks"].map(|name| table.early_position(name).unwrap());
    let all = Request { columns: Some(columns.to_vec()), ..Request::default() };
    let some = Request { ticks: 300..=450, ids: Some(vec![80, 81]), ..all.clone() };
    for (name, options) in TRACES {
        let mut is_some = false;
        for request in [&all, &some] {
            let mut first = Vec::new();
            let mut take = |batch| {
                first.extend(objects(&batch));
                Continue(())
            };
            let (path, settings) = (fixture(name), settings(options));
            let source = Source::open_and_read(path, settings, Vec::new(), request, &mut take);
            assert_eq!(rows(&source.unwrap(), table, request), first, "{name}");
            is_some |= !first.is_empty();
        }
        assert!(is_some, "{name}");
    }
    let open = |request: &Request, take: &mut Emit<'_>| {
        let path = fixture("threadx/tiny.trx");
        Source::open_and_read(path, settings(&[]), Vec::new(), request, &mut |batch| take(batch))
    };
    // A receiver can stop, and the facts are still complete.
    let (mut batches, limited) = (0, Request { limit: Some(1), ..all.clone() });
    for (request, flow) in [(&all, Break(())), (&limited, Continue(()))] {
        let source = open(request, &mut |_| {
            batches += 1;
            flow
        });
        assert_eq!(source.unwrap().trace().events, 197);
    }
    assert_eq!(batches, 2);
    let name = table.columns().iter().position(|column| column.name == "name");
    let request = Request { columns: name.map(|name| vec![name]), ..Request::default() };
    let refused = open(&request, &mut |_| panic!("no rows"));
    assert!(matches!(refused, Err(Error::NoColumn { .. })), "{refused:?}");
}

#[test]
fn unwanted_columns_and_rows_are_not_made() {
    let source = open("threadx/tiny.trx", &[]);
    let all = rows(&source, Table::Events, &Request::default());
    let position = |name: &str| source.schema(Table::Events).index_of(name).unwrap();
    let request = Request {
        columns: Some(vec![position("id"), position("ticks")]),
        ticks: 300..=450,
        ids: Some(vec![80, 81]),
        ..Request::default()
    };
    let expected: Vec<_> = all
        .iter()
        .filter(|row| (300..=450).contains(&row["ticks"].as_i64().unwrap()))
        .filter(|row| [80, 81].contains(&row["id"].as_u64().unwrap()))
        .map(|row| (row["id"].clone(), row["ticks"].clone()))
        .collect();
    let found = rows(&source, Table::Events, &request);
    assert!(!expected.is_empty());
    assert!(found.iter().all(|row| row.len() == 2));
    let found: Vec<_> = found.iter().map(|row| (row["id"].clone(), row["ticks"].clone())).collect();
    assert_eq!(found, expected);
    let limited = rows(&source, Table::Events, &Request { limit: Some(1), ..request });
    assert_eq!(limited.len(), 1);
}

#[test]
fn a_request_without_columns_counts_rows() {
    let source = open("threadx/tiny.trx", &[]);
    let mut counted = 0;
    let request = Request { columns: Some(Vec::new()), ..Request::default() };
    let mut count = |batch: RecordBatch| {
        counted += batch.num_rows();
        std::ops::ControlFlow::Continue(())
    };
    source.read(Table::Events, &request, &mut count).unwrap();
    assert_eq!(counted, 197);
}

#[test]
fn threads_do_not_change_the_rows() {
    // Enough events for several batches of slices after the first batch.
    const EVENTS: u64 = 30_000;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.trx");
    trace::write(&mut File::create(&path).unwrap(), trace::USUAL, EVENTS).unwrap();
    let source = Source::open(&path, settings(&["rate=1MHz"]), Vec::new()).unwrap();
    let schema = source.schema(Table::Events);
    let columns = ["seq", "time_ns", "name", "text", "arg_mutex_ptr", "context_name", "arg_arg1"];
    let columns = columns.iter().filter_map(|name| schema.index_of(name).ok()).collect();
    let request = Request { columns: Some(columns), threads: 1, ..Request::default() };
    let last = source.trace().span as i64;
    let some = [
        Request { ticks: last / 3..=last / 2, ..request.clone() },
        Request { ticks: i64::MIN..=last / 2, ids: Some(vec![52, 57]), ..request.clone() },
        Request { limit: Some(20_000), ..request.clone() },
        request,
    ];
    for request in some {
        let one = rows(&source, Table::Events, &request);
        assert!(one.len() > 100 && one[0].len() > 3, "{request:?}");
        for threads in [2, 3, 0] {
            let several = Request { threads, ..request.clone() };
            assert!(rows(&source, Table::Events, &several) == one, "{several:?}");
        }
        // A receiver can stop in the middle.
        let mut batches = 0;
        let summary = source.read(Table::Events, &Request { threads: 3, ..request }, &mut |_| {
            batches += 1;
            std::ops::ControlFlow::Break(())
        });
        assert_eq!((batches, summary.unwrap().rows > 0), (1, true));
    }
}

#[test]
fn errors_name_the_trace_and_the_column() {
    let error = |result: Result<_, tracewell_tables::Error>| result.unwrap_err().to_string();
    let missing = tracewell_tables::Source::open("no such file", settings(&[]), Vec::new());
    assert!(error(missing.map(drop)).starts_with("no such file: "));
    let source = open("threadx/tiny.trx", &[]);
    let request = Request { columns: Some(vec![99]), ..Request::default() };
    let result = source.read(Table::Losses, &request, &mut |_| panic!("no rows"));
    assert_eq!(
        error(result.map(drop)),
        "no column 99: the table losses of this trace has 4 columns"
    );
}
