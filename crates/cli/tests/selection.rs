//! Tests that the selection of events means the same in every verb. The tests use small traces of
//! four dialects. With the same option, every verb selects the same events.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

const FIXTURES: &str = "crates/tracewell/tests/fixtures";

/// A folder with the rules file `any.rules`. Its rule holds for every trace.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("any.rules"), "count 0.. *\n").unwrap();
        Self(folder)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tracewell"));
        command.current_dir(self.0.path()).args(arguments).stdin(Stdio::null()).output().unwrap()
    }

    /// Returns the standard output of a command that succeeds without a message.
    fn text(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), stderr.as_str()), (Some(0), ""), "{arguments:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Parses a JSON document about one trace, and returns the element for the trace, without the
    /// path.
    fn json(&self, arguments: &[&str]) -> Value {
        let mut document: Value = serde_json::from_str(&self.text(arguments)).unwrap();
        let [trace] = document["traces"].as_array_mut().unwrap().as_mut_slice() else {
            panic!("{arguments:?}: expected one trace");
        };
        trace.as_object_mut().unwrap().remove("file");
        trace.take()
    }
}

/// A trace and one of its objects, to which some events refer.
struct Dialect {
    trace: PathBuf,
    object: &'static str,
    /// The name of this dialect as a format of `convert`; `None` if `convert` cannot write the
    /// dialect.
    export: Option<&'static str>,
}

fn dialects() -> [Dialect; 4] {
    let at = |path: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    let trace = |path: &str, object, export| Dialect { trace: at(path), object, export };
    [
        trace(&format!("{FIXTURES}/threadx/tiny.trx"), "plain mutex", Some("threadx")),
        trace(&format!("{FIXTURES}/rkh/ahsm-a.bin"), "S1", None),
        trace(&format!("{FIXTURES}/shark/a_linear.dat"), "0", None),
        trace("examples/hooks.twx-1", "0", Some("aix")),
    ]
}

/// Returns selections that should match only some events of this trace.
fn selections(dialect: &Dialect, events: &[Value]) -> Vec<Vec<String>> {
    let middle = &events[events.len() / 2];
    let text = |key: &str| middle[key].as_str().unwrap().to_owned();
    let ticks = |part: usize| events[events.len() * part / 4]["ticks"].to_string();
    let number = |key: &str| middle[key].to_string();
    let options: [(&str, String); 10] = [
        ("--context", text("context_name")),
        ("--event", text("name")),
        ("--object", dialect.object.to_owned()),
        ("--cpu", number("cpu")),
        ("--from", ticks(1)),
        ("--to", ticks(3)),
        ("--head", "7".to_owned()),
        ("--tail", "5".to_owned()),
        ("--where", format!("@id == {} && @context = \"{}\"", middle["id"], text("context_name"))),
        ("--where", format!("!(@ticks < {} || @ticks > {})", ticks(1), ticks(3))),
    ];
    let mut all: Vec<_> =
        options.into_iter().map(|(option, value)| vec![option.to_owned(), value]).collect();
    let pair = |a: usize, b: usize| [&all[a][..], &all[b][..]].concat();
    // Combine options: both bounds of a range, one bound with `--head` or `--tail`, and a context
    // or an event with another option.
    let combined = [pair(4, 5), pair(4, 6), pair(5, 7), pair(0, 7), pair(1, 9)];
    all.extend(combined);
    all
}

fn lines(text: &str) -> Vec<Value> {
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter(|line| line.get("seq").is_some()).collect()
}

#[test]
fn every_verb_sees_the_same_selected_events() {
    let folder = Folder::new();
    for dialect in dialects() {
        let trace = dialect.trace.to_str().unwrap();
        let events = lines(&folder.text(&["events", trace]));
        let mut parts = 0;
        for selection in selections(&dialect, &events) {
            let selection: Vec<_> = selection.iter().map(String::as_str).collect();
            let selected = folder.text(&[&["events"], &selection[..], &[trace]].concat());
            let place = format!("{trace} {selection:?}");
            let count = lines(&selected).len();
            parts += usize::from(count > 0 && count < events.len());
            let written = folder.text(
                &[&["convert", "--format", "jsonl"], &selection[..], &[trace, "-o", "-"]].concat(),
            );
            assert_eq!(lines(&written), lines(&selected), "{place}");
            let report =
                folder.text(&[&["report", "--layout", "lines"], &selection[..], &[trace]].concat());
            assert_eq!(counted(&report), count, "{place}");
            let info = folder.json(&[&["info", "--json"], &selection[..], &[trace]].concat());
            assert_eq!(info["events"], count, "{place}");
            let check = folder
                .json(&[&["check", "--json", "any.rules"], &selection[..], &[trace]].concat());
            assert_eq!(check["events"], count, "{place}");
            let analyze = folder.json(&[&["analyze", "--json"], &selection[..], &[trace]].concat());
            assert_eq!(analyze["events"], count, "{place}");
            if let Some(format) = dialect.export {
                let convert =
                    [&["convert", "--format", format], &selection[..], &[trace, "-o", "part"]]
                        .concat();
                folder.text(&convert);
                assert_eq!(folder.json(&["info", "--json", "part"])["events"], count, "{place}");
            }
        }
        assert!(parts >= 3, "{trace}: {parts} selections select a part");
    }
}

/// Returns the number of events that a report with a line per event shows.
fn counted(report: &str) -> usize {
    let summary = report.lines().find(|line| line.starts_with("events ")).unwrap();
    let shown = summary.split_once("the last ").map(|(_, shown)| shown);
    let selected = summary.split(", ").find_map(|part| part.split_once(" selected"));
    let count = shown.or(selected.map(|(count, _)| count)).unwrap_or(summary);
    count.split_whitespace().find_map(|word| word.parse().ok()).unwrap()
}

#[test]
fn where_compares_arguments_as_rules_do() {
    let folder = Folder::new();
    let [Dialect { trace, .. }, rkh, ..] = dialects();
    let (trace, rkh) = (trace.to_str().unwrap(), rkh.trace.to_str().unwrap());
    let events = lines(&folder.text(&["events", trace]));
    let count = |expressions: &[&str]| {
        let options: Vec<_> = expressions.iter().flat_map(|e| ["--where", e]).collect();
        lines(&folder.text(&[&["events", trace], &options[..]].concat())).len()
    };
    // The expected number is computed from the recorded arguments.
    let gets = |event: &Value| event["args"]["mutex_ptr"].is_string();
    let with_mutex: Vec<_> = events.iter().filter(|event| gets(event)).collect();
    assert!(with_mutex.len() > 5);
    let key = &with_mutex[0]["args"]["mutex_ptr"];
    let same = with_mutex.iter().filter(|event| event["args"]["mutex_ptr"] == *key).count();
    let key = key.as_str().unwrap();
    assert_eq!(count(&[&format!("mutex_ptr == {key}")]), same);
    assert_eq!(count(&[&format!("mutex = {key}")]), same);
    assert_eq!(count(&[&format!("mutex != {key}")]), with_mutex.len() - same);
    let lacks_it = events.len() - with_mutex.len();
    assert_eq!(count(&[&format!("!(mutex == {key})")]), with_mutex.len() - same + lacks_it);
    let sizes = |event: &Value| event["args"]["queue_size"].as_u64();
    let large = events.iter().filter(|event| sizes(event).is_some_and(|size| size > 100)).count();
    assert_eq!((large, count(&["queue_size > 100"])), (1, 1));
    assert_eq!(count(&["mutex = *", "mutex != *"]), 0, "all expressions must be met");
    assert_eq!(count(&["mutex = *"]) + count(&["queue_size >= 0"]), {
        count(&["mutex = * || queue_size >= 0"])
    });
    let dispatches = lines(&folder.text(&["events", "--event", "SM_DCH", rkh]));
    let sig = dispatches[0]["args"]["sig"].as_str().unwrap();
    let number = dispatches.iter().filter(|event| event["args"]["sig"] == sig).count();
    let rule = format!("count {number} SM_DCH(sig == {sig} && @cpu = 0)\n");
    std::fs::write(folder.0.path().join("dch.rules"), rule).unwrap();
    folder.text(&["check", "dch.rules", rkh]);
}

#[test]
fn the_number_and_the_waiting_time_of_a_message_are_fields() {
    let folder = Folder::new();
    let trace = dialects()[1].trace.clone();
    let trace = trace.to_str().unwrap();
    // The report shows the number and the waiting time of each message. The expected values are
    // computed from the lines of the report.
    let shown = |options: &[&str]| -> Vec<(u64, Option<u64>)> {
        let report = folder.text(&[&["report", "--layout", "lines"], options, &[trace]].concat());
        let field = |line: &str, name: &str| {
            let value = line.split_once(name)?.1;
            value.split(',').next()?.trim().parse().ok()
        };
        report
            .lines()
            .filter_map(|line| Some((field(line, " nseq=")?, field(line, " rt="))))
            .collect()
    };
    let all = shown(&[]);
    let late: Vec<_> = all.iter().copied().filter(|(_, rt)| rt.is_some_and(|rt| rt > 50)).collect();
    assert!(late.len() > 1 && late.len() < all.len(), "{all:?}");
    assert_eq!(shown(&["--where", "rt > 50"]), late);
    let third: Vec<_> = all.iter().copied().filter(|(nseq, _)| *nseq == 3).collect();
    assert_eq!((shown(&["--where", "nseq = 3"]), third.len()), (third, 2));
    // The waiting time of a message is known even if the message was posted before the range.
    let part = shown(&["--where", "rt > 50", "--from", "2.5s"]);
    assert!(!part.is_empty() && part.len() < late.len() && late.ends_with(&part), "{part:?}");
    let rule = format!(
        "count {} SMA_GET(rt > 50)\neach SMA_FIFO(ao = my, nseq = $n) then SMA_GET(ao = my, nseq = $n)\n",
        late.len()
    );
    std::fs::write(folder.0.path().join("rt.rules"), rule).unwrap();
    folder.text(&["check", "--strict", "rt.rules", trace]);
}

#[test]
fn errors_in_expressions_have_a_place_and_unknown_arguments_a_suggestion() {
    let folder = Folder::new();
    let trace = dialects()[0].trace.clone();
    let trace = trace.to_str().unwrap();
    let stderr = |arguments: &[&str], status| {
        let output = folder.run(arguments);
        assert_eq!(output.status.code(), Some(status), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    for verb in [&["events"][..], &["info"], &["convert", "-o", "x.csv"], &["check", "any.rules"]] {
        let wrong = stderr(&[verb, &["--where", "mutex 3", trace]].concat(), 2);
        let shown = "where:1:7: error: expected =, !=, <, <=, > or >=, found '3'\n\
                     1 | mutex 3\n  |       ^\n";
        assert_eq!(wrong, shown);
        let typo = stderr(&[verb, &["--where", "mutx_ptr = 3", trace]].concat(), 0);
        let meant = "where:1:1: no event has an argument 'mutx_ptr'; did you mean 'mutex_ptr'?\n";
        assert!(typo.ends_with(meant), "{typo}");
    }
    let other = ["events", "--event", "tx_queue_*", "--where", "@cpu = 0 && mutex = 3", trace];
    let message = stderr(&other, 0);
    assert!(message.contains("where:1:13: no selected event has an argument 'mutex'"), "{message}");
}

/// Keys of figures that are sums: the value for the whole trace is the sum of the values for its
/// parts.
const SUMS: [&str; 25] = [
    "activations",
    "brackets",
    "charged_ticks",
    "completions",
    "deadline_misses",
    "dispatches",
    "events",
    "execution_ns",
    "execution_ticks",
    "expiries",
    "gap_ticks",
    "idle_ticks",
    "interrupt_ticks",
    "lock_requests",
    "preemptions",
    "put",
    "requests",
    "span_ticks",
    "starts",
    "steps",
    "supplied",
    "task_ticks",
    "taken",
    "total_ticks",
    "unknown_ticks",
];

/// Adds the sums in a JSON document. The path of a row contains the name or key of the row.
fn add_sums(json: &Value, path: &str, sums: &mut BTreeMap<String, u64>) {
    match json {
        Value::Object(entries) => {
            for (key, value) in entries {
                let path = format!("{path}/{key}");
                let is_sum = SUMS.contains(&key.as_str())
                    || path == "/interrupts/ticks"
                    || path.ends_with("]/ticks") && path.starts_with("/interrupts/sources");
                match value.as_u64().filter(|value| is_sum && *value > 0) {
                    Some(value) => *sums.entry(path).or_default() += value,
                    None => add_sums(value, &path, sums),
                }
            }
        }
        Value::Array(rows) => {
            for row in rows {
                // Do not use the state of a machine as its name: it is the state at the end of the
                // range.
                let state = if row["name"].is_null() { "state" } else { "name" };
                let names = ["context", "core", "key", "kind", "name", "number", "object", state];
                let names = names.map(|name| row[name].to_string());
                let more = ["timer", "sender", "receiver", "signal"].map(|n| row[n].to_string());
                add_sums(row, &format!("{path}[{names:?}{more:?}]"), sums);
            }
        }
        _ => {}
    }
}

fn sums(json: &Value) -> BTreeMap<String, u64> {
    let mut all = BTreeMap::new();
    add_sums(json, "", &mut all);
    all
}

#[test]
fn figures_of_ranges_add_up_to_those_of_the_trace() {
    let folder = Folder::new();
    let scheduling = Dialect {
        trace: Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/scheduling.trx"),
        object: "",
        export: None,
    };
    for dialect in dialects().into_iter().chain([scheduling]) {
        let trace = dialect.trace.to_str().unwrap();
        let events = lines(&folder.text(&["events", trace]));
        let analyze = |range: &[&str]| {
            // AIX traces record the rate of their clock.
            let rate = if trace.ends_with(".twx-1") { &[][..] } else { &["-O", "rate=1MHz"] };
            folder.json(&[&["analyze", "--json"], rate, range, &[trace]].concat())
        };
        let mut whole = analyze(&[]);
        let ticks = |part: usize| events[events.len() * part / 4]["ticks"].as_u64().unwrap();
        // The second range begins at an event, and the third range begins between two events.
        let second = ticks(1).max(1);
        let third = ticks(3).saturating_sub(1).max(second + 1);
        let [to_first, from_second] = [second - 1, second].map(|tick| tick.to_string());
        let [to_second, from_third] = [third - 1, third].map(|tick| tick.to_string());
        let ranges: [&[&str]; 3] = [
            &["--to", &to_first],
            &["--from", &from_second, "--to", &to_second],
            &["--from", &from_third],
        ];
        let mut added = BTreeMap::new();
        for range in ranges {
            let part = analyze(range);
            add_sums(&part, "", &mut added);
            let last = part["range"]["until_ticks"].as_u64().unwrap();
            let first = part["range"]["from_ticks"].as_u64().unwrap();
            assert_eq!(part["span_ticks"], last - first, "{trace} {range:?}");
        }
        let expected = sums(&whole);
        assert!(expected.len() >= 3, "{trace}: {expected:?}");
        for (path, sum) in &expected {
            assert_eq!(added.get(path), Some(sum), "{trace}: {path}");
        }
        assert_eq!(added.len(), expected.len(), "{trace}");
        // A range that includes all events changes no figure.
        let last = events.last().unwrap()["ticks"].as_u64().unwrap() + 10;
        for range in [["--from", "0"], ["--to", &last.to_string()]] {
            let mut same = analyze(&range);
            assert_eq!(same["range"]["read_to_end"], true);
            same.as_object_mut().unwrap().remove("range");
            whole.as_object_mut().unwrap().remove("range");
            assert_eq!(same, whole, "{trace} {range:?}");
        }
    }
}
