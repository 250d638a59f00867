//! Records events with `tracing` and with `log`, and checks their levels, targets, spans and texts
//! in the outputs.
#![cfg(target_os = "linux")]

use std::fmt;
use std::sync::Arc;

use serde_json::{Value, json};
use tracewell::analysis::scheduling::Wanted;
use tracewell::analysis::spans::Spans;
use tracewell::export::events::{EventFormat, EventWriter};
use tracewell::input::{Input, Settings};
use tracewell::model::{Loss, LossCause, Sink};
use tracewell::report::analyses::{self, Analyses};
use tracewell::report::document::DocumentWriter;
use tracewell::report::info::Census;
use tracewell::report::{Layout, Report, ReportOptions};
use tracewell::select::Selection;
use tracewell::source::Source;
use tracewell_record::stream::{Stream, StreamOptions};
use tracewell_tracing::StreamLayer;
use tracing::{Level, debug, error, event, info, info_span, trace, warn};
use tracing_subscriber::layer::SubscriberExt;

/// Returns the log of a stream in which the layer recorded `work`.
fn recorded(work: impl FnOnce()) -> Vec<u8> {
    let stream = Arc::new(Stream::anonymous(&StreamOptions::default()).unwrap());
    stream.start();
    let layer = StreamLayer::new(Arc::clone(&stream));
    tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), work);
    assert_eq!(stream.image().status().lost_unplaced, 0);
    stream.save(Vec::new()).unwrap()
}

fn written(log: &[u8], selection: Selection) -> Vec<Value> {
    let mut writer = EventWriter::new(Vec::new(), EventFormat::JsonLines, selection);
    input(log).read(&mut writer).unwrap();
    let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns the events that an expression selects.
fn selected(log: &[u8], expression: &str) -> Vec<Value> {
    let source = Source::new("where", expression);
    let expressions = vec![tracewell::select::Expression::parse(&source).unwrap()];
    written(log, Selection { expressions, ..Selection::default() })
}

fn json_lines(log: &[u8]) -> Vec<Value> {
    written(log, Selection::default())
}

fn table(log: &[u8], columns: &str) -> Vec<String> {
    let writer = EventWriter::new(Vec::new(), EventFormat::Tsv, Selection::default());
    let mut writer = writer.with_columns(columns.parse().unwrap());
    input(log).read(&mut writer).unwrap();
    let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
    text.lines().map(str::to_owned).collect()
}

fn input(log: &[u8]) -> Input {
    Input::from_bytes("log", log.to_vec(), Settings::default()).unwrap()
}

fn nested() -> Vec<u8> {
    recorded(|| {
        let outer = info_span!(target: "app::http", "request", number = 1_u64);
        let _entered = outer.enter();
        warn!(name: "slow", target: "app::disk", waited = true, "late");
        let inner = tracing::trace_span!(target: "app::sql", "query");
        inner.in_scope(|| debug!(name: "row", target: "app::sql", n = -1_i64));
        drop(inner);
        event!(name: "apart", target: "app", parent: None, Level::ERROR, "no span");
    })
}

#[test]
fn json_lines_have_level_target_and_span_as_fields() {
    let fields = |line: &Value| {
        ["name", "level", "target", "span"].map(|key| line[key].as_str().map(str::to_owned))
    };
    let expected = [
        ["app::http:request", "INFO", "app::http", "request"],
        ["enter", "", "", "request"],
        ["app::disk:slow", "WARN", "app::disk", "request"],
        ["app::sql:query", "TRACE", "app::sql", "query"],
        ["enter", "", "", "query"],
        ["app::sql:row", "DEBUG", "app::sql", "query"],
        ["exit", "", "", "query"],
        ["close", "", "", "query"],
        ["app:apart", "ERROR", "app", ""],
        ["exit", "", "", "request"],
        ["close", "", "", "request"],
    ];
    let lines = json_lines(&nested());
    let found: Vec<_> = lines.iter().map(fields).collect();
    let expected = expected.map(|row| row.map(|text| (!text.is_empty()).then(|| text.to_owned())));
    assert_eq!(found, expected);
    // An event outside of spans has no field `span`, not even with the value null.
    assert!(!lines[8].as_object().unwrap().contains_key("span"));
    assert_eq!(lines[2]["args"]["waited"], json!(true));
    assert_eq!(lines[2]["args"]["message"], json!("late"));
    assert_eq!(lines[5]["args"]["n"], json!(-1));
    let number = lines[0]["args"]["span"].as_u64().unwrap();
    assert_eq!(lines[1]["text"], json!(format!("span=request#{number}")));
    let inner = lines[3]["args"]["span"].as_u64().unwrap();
    assert_eq!(lines[3]["text"], json!(format!("span=query#{inner}, parent=request#{number}")));
}

#[test]
fn tables_have_the_columns_level_target_and_span() {
    let rows = table(&nested(), "level,target,span,name");
    assert_eq!(rows[0], "level\ttarget\tspan\tname");
    assert_eq!(rows[3], "WARN\tapp::disk\trequest\tapp::disk:slow");
    assert_eq!(rows[2], "\t\trequest\tenter");
    assert_eq!(rows[9], "ERROR\tapp\t\tapp:apart");
}

#[test]
fn reports_have_a_column_of_levels_and_name_spans() {
    let log = nested();
    let mut report = Report::new(Vec::new(), ReportOptions::default());
    input(&log).read(&mut report).unwrap();
    let text = String::from_utf8(report.into_inner().unwrap()).unwrap();
    let line = |what: &str| text.lines().find(|line| line.contains(what)).unwrap().to_owned();
    assert!(line("ARGUMENTS").contains("  LEVEL  EVENT "), "{text}");
    assert!(line("app::disk:slow").contains("  WARN   app::disk:slow"), "{text}");
    assert!(line("app::disk:slow").contains("span=request#"), "{text}");
    assert!(line("enter").contains("         enter "), "{text}");
    assert!(line("app:apart").contains("span=none, message=no span"), "{text}");
    let mut census = Census::default();
    let trace = input(&log).read(&mut census).unwrap();
    let summary = serde_json::to_value(census.summary(&trace)).unwrap();
    let counts = summary["event_counts"].as_array().unwrap();
    let slow = counts.iter().find(|row| row["name"] == "app::disk:slow").unwrap();
    assert_eq!((&slow["level"], &slow["target"]), (&json!("WARN"), &json!("app::disk")));
    let enter = counts.iter().find(|row| row["name"] == "enter").unwrap();
    assert!(!enter.as_object().unwrap().contains_key("level"));
}

#[test]
fn expressions_select_by_level_target_and_span() {
    let log = nested();
    let count = |expression: &str| selected(&log, expression).len();
    assert_eq!(count("@level = WARN"), 1);
    assert_eq!(count("@target = app::sql"), 2);
    assert_eq!(count("@span = query"), 5);
    assert_eq!(count("@span = request"), 5);
    assert_eq!(count("waited = true"), 1);
    assert_eq!(count("waited = 1"), 1);
    // The more severe level is the larger one.
    for level in ["TRACE", "DEBUG", "INFO", "WARN", "ERROR"] {
        let at_least = |name: &str| count(&format!("@level {name} {level}"));
        let known = at_least(">=") + at_least("<");
        assert_eq!(known, count("@level = ?*"), "{level}");
        assert_eq!(at_least(">=") - at_least(">"), count(&format!("@level = {level}")), "{level}");
    }
    assert_eq!(count("@level >= warn"), count("@level in (WARN, ERROR)"));
    assert_eq!(count("@level > WARN"), 1);
    assert_eq!(count("@level = FATAL"), 0);
}

#[test]
fn names_that_select_nothing_are_reported_with_what_there_is() {
    let log = nested();
    let warning = |expression: &str| {
        let source = Source::new("where", expression);
        let expressions = vec![tracewell::select::Expression::parse(&source).unwrap()];
        let selection = Selection { expressions, ..Selection::default() };
        let mut writer = EventWriter::new(Vec::new(), EventFormat::JsonLines, selection.clone());
        let trace = input(&log).read(&mut writer).unwrap();
        selection.unknown_names(&trace).concat()
    };
    for (expression, expected) in [
        (
            "@level = FATAL",
            "no level named 'FATAL' in this trace; it has DEBUG, ERROR, INFO, TRACE, WARN",
        ),
        (
            "@target = app::sqk",
            "no target named 'app::sqk' in this trace; did you mean 'app::sql'?",
        ),
        (
            "@target = net",
            "no target named 'net' in this trace; it has app, app::disk, app::http, app::sql",
        ),
        (
            "@target = \"app*\"",
            "no target named 'app*' in this trace; * and ? are wildcards only without quotation marks: app*",
        ),
        ("@span = nothing", "no span named 'nothing' in this trace; it has query, request"),
        (
            "span = request",
            "'span' is shown as NAME#NUMBER; for all spans named 'request', write @span = request",
        ),
        (
            "parent = request",
            "'parent' is shown as NAME#NUMBER; for all spans named 'request', write parent = request?*",
        ),
    ] {
        assert_eq!(warning(expression), format!("where:1:1: {expected}"));
    }
    for expression in
        ["@level = W*", "@target = app*", "@span = query", "span = 1", "parent = request?*"]
    {
        assert_eq!(warning(expression), "", "{expression}");
    }
}

/// Returns the log of a program with two threads that work in spans of the same name. Only one
/// thread works at a time. The ids that `tracing` gives to spans of the second thread are above
/// 2^32.
fn of_two_threads() -> Vec<u8> {
    recorded(|| {
        let work = || info_span!("request").in_scope(|| info!(name: "inside", target: "app", ""));
        work();
        let dispatch = tracing::dispatcher::get_default(Clone::clone);
        let other = move || tracing::dispatcher::with_default(&dispatch, work);
        std::thread::spawn(other).join().unwrap();
        info_span!("last").in_scope(work);
    })
}

#[test]
fn spans_have_small_numbers_in_the_order_of_their_beginnings() {
    let log = of_two_threads();
    let numbers = |lines: &[Value]| {
        let number = |line: &Value| line["args"]["span"].as_u64().unwrap();
        lines.iter().map(number).collect::<Vec<_>>()
    };
    let lines = json_lines(&log);
    let expected = [[1; 5], [2; 5]].concat().into_iter().chain([3, 3, 4, 4, 4, 4, 4, 3, 3]);
    assert_eq!(numbers(&lines), expected.collect::<Vec<u64>>());
    assert_eq!(lines[12]["text"], json!("span=request#4, parent=last#3"));
    for expression in ["span = 2", "span = \"request#2\""] {
        assert_eq!(numbers(&selected(&log, expression)), [2; 5], "{expression}");
    }
}

/// Returns the figures of spans as JSON, and the summary as text.
fn analyzed(log: &[u8]) -> (Value, String) {
    let analyses = || Analyses::new(Wanted::default());
    let mut sink = analyses();
    let trace = input(log).read(&mut sink).unwrap();
    let mut document = DocumentWriter::new(Vec::new(), analyses::SCHEMA);
    sink.write_json(&trace, "log", None, &mut document).unwrap();
    let json: Value = serde_json::from_slice(&document.end().unwrap()).unwrap();
    let mut sink = analyses();
    let trace = input(log).read(&mut sink).unwrap();
    (json["traces"][0].clone(), sink.text(&trace, None, Layout::default()))
}

#[test]
fn figures_of_spans_are_those_of_their_events() {
    let log = recorded(|| {
        for _ in 0..3 {
            let span = info_span!(target: "app", "request");
            span.in_scope(|| span.in_scope(|| info!(name: "inside", target: "app", "")));
            info!(name: "between", target: "app", "");
            span.in_scope(|| info!(name: "again", target: "app", ""));
        }
        std::mem::forget(info_span!(target: "app", "endless"));
    });
    let lines = json_lines(&log);
    let ticks = |name: &str| -> Vec<u64> {
        let of_name = lines.iter().filter(|line| line["name"] == name);
        of_name.map(|line| line["ticks"].as_u64().unwrap()).collect()
    };
    let (begins, ends) = (ticks("app:request"), ticks("close"));
    let durations: Vec<_> = begins.iter().zip(&ends).map(|(begin, end)| end - begin).collect();
    // Each span is entered and exited three times, and the first two visits are nested.
    let (enters, exits) = (ticks("enter"), ticks("exit"));
    let busy = |n: usize| exits[n + 1] - enters[n] + exits[n + 2] - enters[n + 2];
    let busy: u64 = [0, 3, 6].map(busy).iter().sum();
    let total: u64 = durations.iter().sum();
    let (figures, text) = analyzed(&log);
    let expected = json!({
        "name": "request", "target": "app", "begun": 3, "open": 0, "cut": 0,
        "duration": {
            "count": 3, "min": durations.iter().min(), "mean": total / 3,
            "max": durations.iter().max(),
        },
        "total_ticks": total, "busy_ticks": busy, "idle_ticks": total - busy,
    });
    assert_eq!(figures["spans"][0], expected);
    assert_eq!(
        (&figures["spans"][1]["name"], &figures["spans"][1]["open"]),
        (&json!("endless"), &json!(1))
    );
    assert_eq!((&figures["unknown_spans"], &figures["more_spans"]), (&json!(0), &json!(0)));
    assert!(text.contains("\nSPAN "), "{text}");
    assert!(text.contains("more: --show ") && text.contains("spans"), "{text}");
}

#[test]
fn a_span_without_a_close_because_of_a_loss_has_no_duration() {
    let first = recorded(|| std::mem::forget(info_span!(target: "app", "long")));
    let second = began_unrecorded();
    let mut spans = Spans::default();
    let trace = input(&first).read(&mut spans).unwrap();
    let loss = Loss { before: 1, events: Some(3), cause: LossCause::BufferFull, offset: 0 };
    assert!(spans.loss(&trace, &loss).is_continue());
    // Both programs use the number 1 for their first span.
    input(&second).read(&mut spans).unwrap();
    let figures = spans.figures();
    let long = &figures.names[0];
    assert_eq!((long.begun, long.cut, long.open, long.duration.count), (1, 1, 0, 0));
    assert_eq!(figures.unknown, 0);
}

/// Returns a log with the end of a span, but not with its beginning.
fn began_unrecorded() -> Vec<u8> {
    let stream = Arc::new(Stream::anonymous(&StreamOptions::default()).unwrap());
    let layer = StreamLayer::new(Arc::clone(&stream));
    let subscriber = tracing_subscriber::registry().with(layer);
    tracing::subscriber::with_default(subscriber, || {
        let span = info_span!("before");
        stream.start();
        span.in_scope(|| info!(name: "inside", target: "app", ""));
        drop(span);
    });
    stream.save(Vec::new()).unwrap()
}

#[test]
fn a_span_that_began_unrecorded_is_unknown() {
    let log = began_unrecorded();
    let lines = json_lines(&log);
    let inside = lines.iter().find(|line| line["name"] == "app:inside").unwrap();
    assert!(inside.as_object().unwrap().contains_key("span") && inside["span"].is_null());
    let number = inside["args"]["span"].as_u64().unwrap();
    assert_eq!(inside["text"], json!(format!("span=?#{number}, message=")));
    let (figures, text) = analyzed(&log);
    assert_eq!((&figures["unknown_spans"], &figures["spans"]), (&json!(1), &json!([])));
    assert!(text.contains("and 1 span ended without a recorded beginning"), "{text}");
    assert!(table(&log, "name,span").contains(&"app:inside\t?".to_owned()));
}

/// An error with a text.
#[derive(Debug)]
struct Fault;

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("disk full, 3 of 4")
    }
}

impl std::error::Error for Fault {}

#[test]
fn each_value_has_its_own_type_and_name() {
    let log = recorded(|| {
        let fault: &(dyn std::error::Error + 'static) = &Fault;
        error!(
            name: "types", target: "app",
            text = "a \"quoted\" text", display = %Fault, debug = ?Some("x"), error = fault,
            flag = false, float = -0.25, wide = i128::MIN, unsigned = u128::MAX, small = -7_i8,
            "message of {} words", 4
        );
        info!(name: "one", target: "app", path = "/tmp");
        info!(name: "own", target: "app", span = 3_u64, parent = 4_u64, "x");
        trace!(name: "cut", target: "app", first = "a".repeat(1020), second = "bcdefg", third = "h");
    });
    let lines = json_lines(&log);
    let expected = json!({
        "span": 0, "flag": false, "float": -0.25, "small": -7,
        "message": "message of 4 words", "text": "a \"quoted\" text",
        "display": "disk full, 3 of 4", "debug": "Some(\"x\")", "error": "disk full, 3 of 4",
        "wide": i128::MIN.to_string(), "unsigned": u128::MAX.to_string(),
    });
    assert_eq!(lines[0]["args"], expected);
    assert_eq!(lines[1]["args"], json!({"span": 0, "path": "/tmp"}));
    assert_eq!(lines[2]["args"], json!({"span": 0, "span_": 3, "parent_": 4, "message": "x"}));
    assert_eq!(lines[2].as_object().unwrap().get("span"), None);
    // All texts of an event together have at most 1024 bytes.
    let cut = json!({"span": 0, "first": "a".repeat(1020), "second": "bcde", "third": ""});
    assert_eq!(lines[3]["args"], cut);
}

#[test]
fn texts_without_a_word_follow_in_the_last_text() {
    let log = recorded(|| {
        info!(
            name: "wide", target: "app", f1 = 1, f2 = 2, f3 = 3, f4 = 4, f5 = 5, f6 = 6, f7 = 7,
            f8 = 8, f9 = 9, f10 = 10, f11 = 11, f12 = 12, f13 = 13,
            a = "A", b = "B", c = "C", d = "D",
        );
    });
    let args = &json_lines(&log)[0]["args"];
    assert_eq!([&args["a"], &args["b"], &args["c"]], ["A", "B", "C d=D"]);
    assert_eq!(args["f13"], 13);
}

#[test]
fn optional_texts_make_a_type_of_their_own() {
    let log = recorded(|| {
        for (a, b) in [(Some("x"), None), (None, Some("y")), (Some("v"), Some("w")), (None, None)] {
            info!(name: "either", target: "app", a, b);
        }
    });
    let args: Vec<_> = json_lines(&log).iter().map(|line| line["args"].clone()).collect();
    let expected = [
        json!({"span": 0, "a": "x"}),
        json!({"span": 0, "b": "y"}),
        json!({"span": 0, "a": "v", "b": "w"}),
        json!({"span": 0}),
    ];
    assert_eq!(args, expected);
}

#[test]
fn definitions_with_long_names_fit_into_the_stream() {
    let log = recorded(|| {
        info!(
            name: "long", target: "a_target_of_many_letters::and_a_module_of_many_more_letters",
            a_field_with_a_very_long_name_number_01 = "1",
            a_field_with_a_very_long_name_number_02 = "2",
            a_field_with_a_very_long_name_number_03 = "3",
            a_field_with_a_very_long_name_number_04 = "4",
            a_field_with_a_very_long_name_number_05 = "5",
            a_field_with_a_very_long_name_number_06 = "6",
            a_field_with_a_very_long_name_number_07 = "7",
            a_field_with_a_very_long_name_number_08 = "8",
            a_field_with_a_very_long_name_number_09 = "9",
            a_field_with_a_very_long_name_number_10 = "10",
            a_field_with_a_very_long_name_number_11 = "11",
            a_field_with_a_very_long_name_number_12 = "12",
        );
    });
    let args = json_lines(&log)[0]["args"].as_object().unwrap().clone();
    let mut texts: Vec<u32> =
        args.values().filter_map(|value| value.as_str()?.parse().ok()).collect();
    texts.sort_unstable();
    assert_eq!(texts, (1..=12).collect::<Vec<_>>(), "{args:?}");
}

#[test]
fn records_of_the_crate_log_have_their_own_target() {
    tracing_log::LogTracer::init().unwrap();
    let log = recorded(|| {
        log::warn!(target: "net::tcp", "retry {}", 3);
    });
    let line = &json_lines(&log)[0];
    assert_eq!((&line["level"], &line["target"]), (&json!("WARN"), &json!("net::tcp")));
    assert_eq!(line["args"]["message"], json!("retry 3"));
    assert_eq!(line["args"]["log.line"].as_u64().map(|line| line > 200), Some(true), "{line}");
    assert_eq!(table(&log, "target,level")[1], "net::tcp\tWARN");
}
