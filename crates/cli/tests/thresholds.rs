//! Tests the thresholds and baselines of `tracewell check`.

mod program;
mod validation;

use std::fs;
use std::path::Path;
use std::process::Output;

use program::{program, root, run, status, stderr, stdout};
use serde_json::Value;
use validation::validated;

const RATE: [&str; 2] = ["-O", "rate=100MHz"];

fn check(folder: &Path, rules: &str, options: &[&str]) -> Output {
    fs::write(folder.join("my.rules"), rules).unwrap();
    let mut command = program(folder);
    command.arg("check").args(options).arg("my.rules");
    command.arg(root().join("examples/scheduling.trx")).output().unwrap()
}

fn timed(folder: &Path, rules: &str, options: &[&str]) -> Output {
    check(folder, rules, &[&RATE, options].concat())
}

/// Returns the figures of the example as `analyze` prints them.
fn analysed() -> Value {
    let output = run(&["analyze", "--json", RATE[0], RATE[1], "examples/scheduling.trx"]);
    let mut document: Value = serde_json::from_str(&stdout(&output)).unwrap();
    document["traces"][0].take()
}

/// Returns the thresholds of a document, in the order of the file.
fn thresholds(output: &Output) -> Vec<Value> {
    let document = validated("check", &stdout(output));
    let rules = document["traces"][0]["rules"].as_array().unwrap().clone();
    rules.into_iter().map(|mut rule| rule["threshold"].take()).collect()
}

#[test]
fn values_are_those_of_analyze() {
    let folder = tempfile::tempdir().unwrap();
    let rules = "held(\"log file\").max < 2 ms\nheld(\"log file\").count > 0\n\
                 load(logger) < 100 %\nqueue(samples).most <= 8\nstack(sensor) < 100 %\n\
                 interrupt(7).max < 1 ms\nload(interrupts) in 10 ms < 30 %\ninversions >= 0\n";
    let output = timed(folder.path(), rules, &["--json"]);
    assert_eq!(status(&output), Some(0), "{}", stderr(&output));
    let value = |index: usize| thresholds(&output)[index]["value"].as_u64().unwrap();
    let figures = analysed();
    let named = |list: &str, name: &str| {
        let rows = figures[list].as_array().unwrap();
        let is = |row: &&Value| row["name"] == name || row["object"] == name;
        rows.iter().find(is).unwrap().clone()
    };
    let file = named("locks", "log file");
    assert_eq!(value(0), file["hold"]["max_ticks"].as_u64().unwrap() * 10, "{file}");
    assert_eq!(value(1), file["hold"]["count"].as_u64().unwrap());
    let logger = named("tasks", "logger")["execution_ticks"].as_u64().unwrap();
    let span = figures["span_ticks"].as_u64().unwrap();
    assert_eq!(value(2), logger * 1_000_000 / span);
    assert_eq!(value(3), named("levels", "samples")["most"].as_u64().unwrap());
    let stack = named("stacks", "sensor");
    let share = stack["used"].as_u64().unwrap() * 1_000_000 / stack["size"].as_u64().unwrap();
    assert_eq!(value(4), share);
    assert_eq!(thresholds(&output)[0]["worst"]["seq"], 774);
}

#[test]
fn a_broken_threshold_names_its_worst_place_in_each_form() {
    let folder = tempfile::tempdir().unwrap();
    let rules = "rule \"file\" { held(\"log file\").max < 1 ms }\nlost == 0\n";
    let text = "1.1832 ms, expected < 1 ms (log file); worst: 1.1832 ms at event 774, 42.78765 ms";
    let output = timed(folder.path(), rules, &["--junit", "results.xml"]);
    let expected = format!(
        "my.rules:1:15: error: {text}\n1 | rule \"file\" {{ held(\"log file\").max < 1 ms }}\n  \
         |               ^^^^^^^^^^^^^^^^^^^^^^^^^^^\n  in rule \"file\"\n\n\
         FAILED: 1 of 2 rules held in 1096 events\n"
    );
    assert_eq!((status(&output), stdout(&output)), (Some(1), expected));
    let junit = fs::read_to_string(folder.path().join("results.xml")).unwrap();
    let junit = roxmltree::Document::parse(&junit).unwrap();
    let failures: Vec<_> =
        junit.descendants().filter(|node| node.has_tag_name("failure")).collect();
    assert_eq!(failures.len(), 1);
    let failure = (failures[0].attribute("type"), failures[0].attribute("message"));

    assert_eq!(failure, (Some("exceeded"), Some(text)));
    let cases = junit.descendants().filter(|node| node.has_tag_name("testcase")).count();
    assert_eq!(cases, 2);
    let printed = stdout(&timed(folder.path(), rules, &["--format", "github"]));
    let annotation = "::error file=my.rules,line=1,col=15,endColumn=42,title=file (exceeded)::";
    assert!(printed.starts_with(annotation) && printed.contains(text), "{printed}");
    let row = &thresholds(&timed(folder.path(), rules, &["--json"]))[0];
    assert_eq!(row["figure"], "held(\"log file\").max");
    assert_eq!((&row["unit"], &row["limit"]), (&"ns".into(), &1_000_000.into()));
}

#[test]
fn thresholds_that_the_trace_does_not_decide_have_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    let cases = [
        ("held(bus).max < 1 ms", "the limit is a time, and the clock has no known rate"),
        (
            "held(buz).max < 9000 ticks",
            "the trace shows no hold times of 'buz'; did you mean 'bus'?",
        ),
        ("response(control).p99 < 100 ticks", "the trace shows no response times"),
        ("missed == 0", "this format does not record missed deadlines"),
        ("load(interrupts) in 10 ms < 1 %", "windows need a clock of one known rate"),
    ];
    for (rules, reason) in cases {
        let output = check(folder.path(), rules, &[]);
        let printed = stdout(&output);
        let expected = format!("my.rules:1:1: threshold not decided: {reason}");
        assert!(printed.starts_with(&expected), "{printed}");
        assert_eq!(status(&output), Some(1), "{printed}");
        let last = printed.lines().last().unwrap();
        assert!(last.starts_with("NOTHING DECIDED: 0 of 1 rule held in "), "{printed}");
        assert!(last.ends_with(" events, 1 rule not decided"), "{printed}");
        let undecided = |options: &[&str]| {
            let output = check(folder.path(), rules, &[&["--json"], options].concat());
            let document: Value = serde_json::from_str(&stdout(&output)).unwrap();
            (status(&output), document["traces"][0]["undecided"].clone())
        };
        assert_eq!(undecided(&[]), (Some(1), 1.into()));
        assert_eq!(undecided(&["--strict"]), (Some(1), 0.into()));
    }
}

#[test]
fn a_wait_or_a_hold_can_be_limited_to_one_task() {
    let folder = tempfile::tempdir().unwrap();
    // The expected values are computed from the list of waits, and from the events of the mutex.
    let path = "examples/scheduling.trx";
    let document = stdout(&run(&["analyze", "--json", "--waits", path]));
    let document: Value = serde_json::from_str(&document).unwrap();
    let waits = document["traces"][0]["waits"].as_array().unwrap();
    let of = |task: &str, object: &str| {
        let is = |wait: &&Value| wait["name"] == task && wait["object"] == object;
        let ticks = |wait: &Value, key: &str| wait[key].as_u64().unwrap();
        let times = waits.iter().filter(is);
        times.map(|wait| ticks(wait, "until_ticks") - ticks(wait, "from_ticks")).max()
    };
    let longest = of("control", "log file").unwrap();
    assert!(of("sensor", "bus").unwrap() < longest && of("sensor", "log file").is_none());
    let held =
        stdout(&run(&["events", "--event", "tx_mutex_*", "--where", "mutex = log_file", path]));
    let (mut since, mut longest_hold) = (0, 0);
    for line in held.lines() {
        let event: Value = serde_json::from_str(line).unwrap();
        let is_logger = event["context_name"] == "logger";
        match (event["name"].as_str().unwrap(), event["ticks"].as_u64().unwrap()) {
            ("TX_TRACE_MUTEX_GET", at) if is_logger => since = at,
            ("TX_TRACE_MUTEX_PUT", at) if is_logger => longest_hold = longest_hold.max(at - since),
            _ => {}
        }
    }
    let rules = "wait(\"log file\", control).max < 1 ms\nwait(bus, \"sensor\").max < 1 ms\n\
                 wait(*, control).max < 1 ms\nheld(\"log file\", logger).max < 9 ms\n";
    let output = timed(folder.path(), rules, &["--json"]);
    let thresholds = thresholds(&output);
    let values: Vec<_> = thresholds.iter().map(|row| row["value"].as_u64().unwrap() / 10).collect();
    assert_eq!((values[0], values[3]), (longest, longest_hold));
    assert_eq!(values[1], of("sensor", "bus").unwrap());
    assert!(values[2] >= longest, "{values:?}");
    assert_eq!(thresholds[0]["subject"], "log file, control");
    assert_eq!(thresholds[0]["figure"], "wait(\"log file\", control).max");
    for (rules, reason) in [
        (
            "wait(control).max < 1 ms",
            "the trace shows no wait times of 'control'; it shows those of 'bus', 'log file', \
             'log requests', 'uart rx'; 'control' is a task, and wait() takes an object: \
             wait(OBJECT), or wait(OBJECT, control) for this task\n",
        ),
        (
            "wait(bus, contrl).max < 1 ms",
            "the trace shows no wait times of 'contrl'; it shows those of 'sensor'\n",
        ),
        (
            "held(bus, snsor).max < 1 ms",
            "the trace shows no hold times of 'snsor'; did you mean 'sensor'?\n",
        ),
    ] {
        let printed = stdout(&timed(folder.path(), rules, &[]));
        let said = format!("my.rules:1:1: threshold not decided: {reason}");
        assert!(printed.starts_with(&said), "{printed}");
    }
}

#[test]
fn messages_can_be_limited_by_signal() {
    let folder = tempfile::tempdir().unwrap();
    let path = "crates/tracewell/tests/fixtures/rkh/ahsm-a.bin";
    let document: Value =
        serde_json::from_str(&stdout(&run(&["analyze", "--json", path]))).unwrap();
    let flows = document["traces"][0]["flows"].as_array().unwrap();
    let longest = |signal: &str, key: &str| {
        let of_signal =
            flows.iter().filter(|flow| flow["signal"] == signal && flow["receiver"] == "my");
        of_signal.map(|flow| flow[key]["max"].as_u64().unwrap()).max().unwrap()
    };
    let rules = "message(my, SIX).max < 9 s\nmessage_response(my, SIX).max < 9 s\n\
                 message(my, ONE).max < 9 s\nmessage_response(*).max < 9 s\nmessage(my, SX).max < 1 s\n";
    std::fs::write(folder.path().join("my.rules"), rules).unwrap();
    let mut command = program::program(folder.path());
    command.args(["check", "--json", "my.rules"]).arg(root().join(path));
    let output = command.output().unwrap();
    let rows = thresholds(&output);
    // The clock has 1000 ticks per second.
    let values: Vec<_> =
        rows.iter().map(|row| row["value"].as_u64().map(|ns| ns / 1_000_000)).collect();
    let expected = [
        Some(longest("SIX", "waiting")),
        Some(longest("SIX", "response")),
        Some(longest("ONE", "waiting")),
        flows.iter().filter_map(|flow| flow["response"]["max"].as_u64()).max(),
        None,
    ];
    assert_eq!(values, expected);
    assert!(values[0] != values[2] && values[0] < values[1], "{values:?}");
    let document: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let reason = document["traces"][0]["rules"][4]["reason"].as_str().unwrap();
    assert!(reason.ends_with("no message wait times of 'SX'; did you mean 'SIX'?"), "{reason}");
}

#[test]
fn wrong_thresholds_are_refused_with_the_expected_words() {
    let folder = tempfile::tempdir().unwrap();
    let cases = [
        ("response(control) < 2 ms", "1:19: error: expected one of .count, .min, .mean, .p50"),
        ("held(bus).max < 2", "1:17: error: expected a time such as 2 ms"),
        ("load(control) < 2 ms", "1:17: error: expected a share such as 5% or 0.5%, found '2'"),
        ("queue(samples).most < 30 %", "1:26: error: expected the end of the line, found '%'"),
        ("jitter(control).max < 2 ms", "1:15: error: expected ',' and the period, such as 10 ms"),
        ("jitter(control, 5 ticks).max < 2 ms", "1:17: error: expected a time such as 10 ms"),
        ("jitter(con*, 5 ms).max < 2 ms", "1:8: error: expected an exact name, found 'con*'"),
        (
            "jitter(a, 5 ms).max < 2 ms\njitter(b, 10 ms).max < 2 ms\njitter(a, 10 ms).p50 < 1 ms",
            "3:1: error: expected 5 ms as in the first threshold for the jitter of 'a', found 10 ms",
        ),
        ("between(\"a*\", tx_?).max < 1 ms", "1:15: error: expected an exact name, found 'tx_?'"),
        ("between(4096).max < 2 ms", "1:13: error: expected (\"first mark\", \"second mark\")"),
        ("stack(net) 80 %", "1:12: error: expected =, !=, <, <=, > or >=, found '80'"),
    ];
    for (rules, expected) in cases {
        let output = check(folder.path(), rules, &[]);
        let expected = format!("my.rules:{expected}");
        assert!(stderr(&output).starts_with(&expected), "{rules}: {}", stderr(&output));
        assert_eq!(status(&output), Some(2));
    }
}

#[test]
fn an_event_may_have_the_name_of_a_measure() {
    let folder = tempfile::tempdir().unwrap();
    let output = check(folder.path(), "load(x = 1)\nlost\nnever response\n", &[]);
    let printed = stderr(&output);
    let warnings = printed.lines().filter(|line| line.contains("no event named")).count();
    assert_eq!(warnings, 3, "{printed}");
}

#[test]
fn a_selection_limits_the_figures_as_in_analyze() {
    let folder = tempfile::tempdir().unwrap();
    let options = ["--from", "20ms", "--to", "40ms", "--json"];
    let output = timed(folder.path(), "held(\"log file\").count > 0\n", &options);
    let analyse = ["analyze", "--json", "-O", "rate=100MHz", "--from", "20ms", "--to", "40ms"];
    let figures = run(&[&analyse[..], &["examples/scheduling.trx"]].concat());
    let figures: Value = serde_json::from_str(&stdout(&figures)).unwrap();
    let locks = figures["traces"][0]["locks"].as_array().unwrap();
    let file = locks.iter().find(|row| row["name"] == "log file").unwrap();
    assert_eq!(thresholds(&output)[0]["value"], file["hold"]["count"]);
}

#[test]
fn a_baseline_fails_figures_that_are_worse_by_more_than_the_tolerance() {
    let folder = tempfile::tempdir().unwrap();
    let rules = "held(\"log file\").max < 2 ms\nload(logger) < 90 %\n";
    let document = stdout(&timed(folder.path(), rules, &["--json"]));
    let mut baseline: Value = serde_json::from_str(&document).unwrap();
    let write = |baseline: &Value| {
        fs::write(folder.path().join("old.json"), baseline.to_string()).unwrap();
    };
    write(&baseline);
    let with = |tolerance: &str| {
        timed(folder.path(), rules, &["--baseline", "old.json", "--tolerance", tolerance])
    };
    assert_eq!(status(&with("0%")), Some(0));
    // The value of 1.1832 ms is 5 % more than the baseline of 1.126857 ms.
    let threshold = &mut baseline["traces"][0]["rules"][0]["threshold"];
    threshold["value"] = 1_126_857.into();
    write(&baseline);
    assert_eq!(status(&with("5.1 %")), Some(0));
    let output = with("4.9%");
    let expected = "my.rules:1:1: error: 1.1832 ms, more than the baseline's 1.126857 ms; 4.9 % are \
                    tolerated (log file); worst: 1.1832 ms at event 774, 42.78765 ms\n";
    assert!(stdout(&output).starts_with(expected), "{}", stdout(&output));
    assert_eq!(status(&output), Some(1));
    fs::write(folder.path().join("old.json"), "{\"traces\": []}").unwrap();
    let output = with("1%");
    assert!(stderr(&output).contains("the document has no figures"), "{}", stderr(&output));
    assert_eq!(status(&output), Some(2));
}

#[test]
fn missing_events_break_a_threshold_of_a_stream() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("my.rules"), "lost <= 1\nlost == 0\n").unwrap();
    let mut command = program(folder.path());
    let hooks = ["examples/hooks.twx", "examples/hooks.twx-0", "examples/hooks.twx-1"];
    command.args(["check", "my.rules", "--join"]).args(hooks.map(|path| root().join(path)));
    let output = command.output().unwrap();
    let printed = stdout(&output);
    assert!(printed.contains("my.rules:1:1: error: 22, expected <= 1"), "{printed}");
    assert!(printed.contains("my.rules:2:1: error: 22, expected == 0"), "{printed}");
    assert!(!printed.contains("what came instead"), "{printed}");
    assert!(printed.ends_with("FAILED in 2 places: 0 of 2 rules held in 90 events\n"), "{printed}");
}

#[test]
fn a_threshold_that_the_baseline_lacks_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let old = "held(\"log file\").max < 2 ms\nlost == 0\n";
    let document = stdout(&timed(folder.path(), old, &["--json"]));
    fs::write(folder.path().join("old.json"), document).unwrap();
    let rules = format!("{old}held(\"bus\").max < 9 ms\ninversions != 3\nlost <= 9\n");
    let with = |options: &[&str]| {
        timed(folder.path(), &rules, &[&["--baseline", "old.json"], options].concat())
    };
    let line = "my.rules:3:1: the baseline has no value of held(\"bus\").max: compared with the limit \
                only\n";
    let output = with(&[]);
    assert_eq!(stdout(&output), format!("{line}passed: 5 rules held in 1096 events\n"));
    assert_eq!(status(&output), Some(0));
    let output = with(&["--strict"]);
    assert_eq!(status(&output), Some(1));
    let message = "my.rules:3:1: error: the baseline has no value of held(\"bus\").max";
    assert!(stdout(&output).starts_with(message), "{}", stdout(&output));
    assert!(stdout(&output).ends_with("FAILED: 4 of 5 rules held in 1096 events\n"));
    let output = with(&["--format", "github"]);
    assert!(stdout(&output).contains("has no value of held"), "{}", stdout(&output));
    // In ticks, the baseline's nanoseconds are no value.
    let in_ticks = "held(\"log file\").max < 200000 ticks\n";
    let output = timed(folder.path(), in_ticks, &["--baseline", "old.json"]);
    assert!(stdout(&output).contains("max in ticks"), "{}", stdout(&output));
}

#[test]
fn a_baseline_without_thresholds_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let document = stdout(&timed(folder.path(), "lost == 0\n", &["--json"]));
    fs::write(folder.path().join("old.json"), document).unwrap();
    let output = timed(folder.path(), "tx_mutex_get\n", &["--baseline", "old.json"]);
    let message = "--baseline has no effect: the rules have no thresholds";
    assert!(stderr(&output).contains(message), "{}", stderr(&output));
}

#[test]
fn messages_name_the_worst_case_of_each_figure() {
    let folder = tempfile::tempdir().unwrap();
    let rules = "inversions == 0\nload(interrupts) in 10 ms < 0 %\nqueue(samples).most >= 9\n\
                 stack(sensor) < 1 %\n";
    let output = timed(folder.path(), rules, &[]);
    let text = stdout(&output);
    let message = |line: &str| {
        let start = format!("my.rules:{line}:1: error: ");
        let found = text.lines().find_map(|line| line.strip_prefix(&start));
        found.unwrap_or_else(|| panic!("{text}")).to_owned()
    };
    let figures = analysed();
    let locks = figures["locks"].as_array().unwrap();
    let count: u64 = locks.iter().filter_map(|lock| lock["inversions"]["count"].as_u64()).sum();
    let inversions = message("1");
    assert!(
        inversions.starts_with(&format!("{count}, expected == 0 (6 of them: ")),
        "{inversions}"
    );
    assert!(inversions.contains("; worst: 685.55 us at event 842, 46.7227 ms"), "{inversions}");
    assert!(message("2").contains(" (interrupts); worst: "), "{text}");
    assert!(message("3").contains(" (samples); worst: 0 at event "), "{text}");
    assert!(message("4").contains(" (sensor); worst: 7.8125 % at event 27, 76.25 us"), "{text}");
}

#[test]
fn means_are_compared_exactly() {
    let folder = tempfile::tempdir().unwrap();
    // The mean is 27.097 ticks of 10 ns.
    let rules = "wake(control).mean <= 270 ns\nwake(control).mean > 270 ns\n\
                 wake(control).mean <= 27 ticks\nwake(control).mean < 28 ticks\n";
    let output = timed(folder.path(), rules, &[]);
    let text = stdout(&output);
    assert!(text.contains("my.rules:1:1: error: 270.96"), "{text}");
    assert!(text.contains(" ns, expected <= 270 ns (control); worst: "), "{text}");
    assert!(text.contains("my.rules:3:1: error: 27.09"), "{text}");
    assert!(text.contains("2 of 4 rules held"), "{text}");
    let rows = thresholds(&timed(folder.path(), rules, &["--json"]));
    assert_eq!((&rows[0]["value"], &rows[2]["value"]), (&270.into(), &27.into()));
    let exact = rows[0]["value_exact"].as_f64().unwrap();
    assert!(exact > 270.9 && exact < 271.0, "{exact}");
}

#[test]
fn a_window_without_a_rate_is_undecided_because_of_the_rate() {
    let folder = tempfile::tempdir().unwrap();
    let output = check(folder.path(), "load(interrupts) in 10 ms < 30 %\n", &[]);
    assert!(stdout(&output).contains("give the rate with -O rate="), "{}", stdout(&output));
}

#[test]
fn figures_that_no_trace_has_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    for (rule, message) in [
        ("Held(bus).max < 1 ms", "no figure 'Held'; did you mean 'held'?"),
        ("throughput(x).max < 1 ms", "no figure 'throughput'; the figures are response, start,"),
        ("Lost == 0", "no figure 'Lost'; did you mean 'lost'?"),
        ("load(logger) in 10 ms < 1 %", "expected load(interrupts): only this load is known"),
        (
            "load(interrupts) in 5 ms < 1 %",
            "expected a window of 1 ms, 10 ms or 100 ms, found 5 ms",
        ),
        ("jitter(logger, 0 ms).max < 1 ms", "expected a period longer than 0"),
    ] {
        let output = timed(folder.path(), &format!("{rule}\n"), &[]);
        assert_eq!(status(&output), Some(2), "{rule}");
        assert!(stderr(&output).contains(message), "{rule}: {}", stderr(&output));
    }
}
