//! Tests the option `--time`, dates that limit a selection, and time zones.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

/// Runs the program on a trace with a wall clock. The trace begins on 2 March 2026 at 09:00 UTC.
fn run(arguments: &[&str]) -> Output {
    run_on("hooks.twx", arguments)
}

fn run_on(trace: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tracewell"));
    // This value contains the rules of the time zone, so the test needs no time zone database.
    command.env("TZ", "EST5EDT,M3.2.0,M11.1.0").stdin(Stdio::null());
    command.args(arguments).arg(example(trace)).output().unwrap()
}

fn stdout(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}", stderr(output));
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Returns the second and third column of the events of a report.
fn times(arguments: &[&str]) -> Vec<(String, String)> {
    let text = stdout(&run(&[&["report"], arguments].concat()));
    let events = text.lines().skip_while(|line| !line.contains("SEQ")).skip(1);
    let word = |line: &str, number| line.split_whitespace().nth(number).unwrap().to_owned();
    events.take_while(|line| !line.is_empty()).map(|line| (word(line, 1), word(line, 2))).collect()
}

#[test]
fn a_report_shows_dates_in_the_chosen_zone() {
    let last = |zone: &[&str]| times(&[&["--time", "absolute"], zone].concat())[3].clone();
    let of = |date: &str| (date.to_owned(), "1608.000".to_owned());
    assert_eq!(last(&["--utc"]), of("2026-03-02T09:00:00.001608000Z"));
    assert_eq!(last(&[]), of("2026-03-02T04:00:00.001608000-05:00"));
    assert_eq!(last(&["--zone", "+05:30"]), of("2026-03-02T14:30:00.001608000+05:30"));
    let heading = stdout(&run(&["report", "--time", "absolute"]));
    assert!(heading.contains("\n     SEQ  DATE  "), "{heading}");
}

#[test]
fn a_report_of_differences_has_no_other_times() {
    let shown = times(&["--time", "delta"]);
    let deltas: Vec<_> = shown.iter().map(|(delta, _)| delta.as_str()).collect();
    assert_eq!(deltas, ["0.000", "0.000", "0.000", "1608.000"]);
    let text = stdout(&run(&["report", "--time", "delta"]));
    assert!(text.contains("\n     SEQ   DELTA [us]   CONTEXT"), "{text}");
    let relative = run(&["report", "--time", "relative"]).stdout;
    assert_eq!(relative, run(&["report", "--layout", "lines"]).stdout);
}

#[test]
fn dates_limit_a_selection_in_every_verb() {
    let until = ["--to", "2026-03-02T04:00:00.001607999"];
    let from = ["--zone", "Asia/Tokyo", "--from", "2026-03-02 18:00:00.001608"];
    let count = |arguments: &[&str]| {
        let output = run(&[&["info", "--json"], arguments].concat());
        let document: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
        document["traces"][0]["events"].as_u64().unwrap()
    };
    assert_eq!((count(&until), count(&from)), (3, 1));
    assert_eq!(count(&["--from", "2026-03-02T10:00:00.001608001+01:00"]), 0);
    assert_eq!(count(&["--from", "2026-03-02T09:00Z", "--to", "2026-03-02T09:00:01Z"]), 4);
    let lines = |verb: &str| stdout(&run(&[&[verb][..], &until].concat())).lines().count();
    assert_eq!(lines("events"), 3);
}

#[test]
fn dates_that_are_not_known_are_refused() {
    let expected = "error: dates need a trace that contains its date of recording; this threadx \
                    trace does not: use times since the first event\n";
    for arguments in [&["report", "--time", "absolute"][..], &["events", "--from", "2026-03-02"]] {
        let output = run_on("scheduling.trx", arguments);
        assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(2), expected));
        assert_eq!(output.stdout, b"");
    }
    assert!(!stdout(&run_on("scheduling.trx", &["info"])).contains("dates"));
}

#[test]
fn wrong_dates_and_zones_are_reported() {
    let expect = |arguments: &[&str], expected: &str| {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(expected), "{arguments:?}: {}", stderr(&output));
    };
    expect(&["info", "--from", "2026-02-30"], "found '2026-02-30'");
    expect(&["info", "--zone", "Europe/Berln"], "--zone: no time zone 'Europe/Berln'");
    // Clocks were put forward at 2:00 on 8 March and back on 1 November.
    expect(&["info", "--from", "2026-03-08T02:30"], "--from: 2026-03-08T02:30 does not exist in");
    expect(&["info", "--to", "2026-11-01T01:30"], "add -04:00 for the first or -05:00 for the");
    expect(&["info", "--zone", "UTC", "--utc"], "cannot be used with");
    assert!(run(&["info", "--to", "2026-11-01T01:30-04:00"]).status.success());
}

#[test]
fn a_zone_or_form_without_effect_is_reported() {
    let run = |arguments| run_on("hooks.twx-1", arguments);
    let output = run(&["events", "--utc"]);
    let reported = "warning: --utc has no effect: \
                    only dates of --from, --to and --time absolute have a zone\n";
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), reported));
    let output = run(&["report", "--layout", "trcrpt", "--time", "delta"]);
    assert!(stderr(&output).contains("--time has no effect: the layout trcrpt uses"));
    assert_eq!(stderr(&run(&["info", "--zone", "UTC"])), "");
}

#[test]
fn a_wrong_zone_of_the_system_matters_only_for_dates() {
    let run = |trace: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tracewell"));
        command.env("TZ", "Nowhere").arg("info").arg(example(trace)).output().unwrap()
    };
    assert_eq!(run("scheduling.trx").status.code(), Some(0));
    let failed = run("hooks.twx");
    assert_eq!(failed.status.code(), Some(2));
    assert!(stderr(&failed).contains("TZ names no known time zone: use --zone NAME or --utc"));
}

/// Returns the column `time` of a table of events.
fn column(arguments: &[&str]) -> Vec<String> {
    let table = ["events", "--format", "csv", "--columns", "time,name"];
    let text = stdout(&run(&[&table[..], arguments].concat()));
    let cell = |line: &str| line.split(',').next().unwrap().to_owned();
    text.lines().map(cell).collect()
}

#[test]
fn events_have_times_in_each_form() {
    // These are the times of the events in the report above.
    let relative = ["time", "0.000000000", "0.000000000", "0.000000000", "0.001608000"];
    assert_eq!(column(&[]), relative);
    assert_eq!(column(&["--time", "relative"]), relative);
    assert_eq!(column(&["--time", "delta", "--event", "TRACE OFF"]), ["time", "0.000000000"]);
    let date = "2026-03-02T04:00:00.001608000-05:00";
    assert_eq!(column(&["--time", "absolute"])[4], date);
    let lines = stdout(&run(&["events", "--time", "absolute", "--zone", "+05:30", "--tail", "1"]));
    let line: serde_json::Value = serde_json::from_str(lines.trim()).unwrap();
    assert_eq!(line["time"], "2026-03-02T14:30:00.001608000+05:30");
    let lines = stdout(&run(&["events", "--time", "delta"]));
    let line: serde_json::Value = serde_json::from_str(lines.lines().last().unwrap()).unwrap();
    assert_eq!(line["time"], 0.001608);
}

#[test]
fn rows_of_events_and_losses_have_a_cell_for_the_time() {
    for format in ["csv", "tsv"] {
        let arguments = ["events", "--time", "absolute", "--utc", "--format", format];
        let text = stdout(&run_on("hooks.twx-1", &arguments));
        let separator = if format == "csv" { ',' } else { '\t' };
        let cells = |line: &str| line.split(separator).count();
        let heading = text.lines().next().unwrap();
        assert_eq!((heading.split(separator).nth(3), cells(heading)), (Some("time"), 11));
        let loss = text.lines().find(|line| line.contains("cause=")).unwrap();
        assert_eq!((loss.split(separator).nth(9), cells(loss)), (Some("lost"), 11), "{loss}");
    }
}

#[test]
fn times_of_events_that_are_unknown_are_refused_or_reported() {
    let dates = run_on("scheduling.trx", &["events", "--time", "absolute"]);
    assert!(stderr(&dates).starts_with("error: dates need a trace"), "{}", stderr(&dates));
    assert_eq!((dates.status.code(), dates.stdout.as_slice()), (Some(2), &b""[..]));
    let unknown = run_on("scheduling.trx", &["events", "--time", "delta", "--head", "1"]);
    assert!(stderr(&unknown).contains("--time has no effect: the rate"), "{}", stderr(&unknown));
    assert!(!stdout(&unknown).contains("\"time\""));
    let columns = run(&["events", "--format", "csv", "--columns", "seq,name", "--time", "delta"]);
    let message = "error: --time: no column shows times: add time to --columns\n";
    assert_eq!((stderr(&columns).as_str(), columns.status.code()), (message, Some(2)));
}

#[test]
fn a_chart_shows_dates_in_the_chosen_zone() {
    let chart = |trace, arguments: &[&str]| {
        let arguments = [&["view", "--width", "100", "--time", "absolute"], arguments].concat();
        run_on(trace, &arguments)
    };
    let text = stdout(&chart("hooks.twx-1", &["--zone", "+05:30"]));
    let mut lines = text.lines();
    let first = "2026-03-02T14:30:00.000015000+05:30 to 2026-03-02T14:30:00.001558000+05:30, ";
    assert!(lines.next().unwrap().starts_with(first), "{text}");
    let labels: Vec<_> = lines.nth(1).unwrap().split_whitespace().collect();
    assert_eq!(labels[..2], ["14:30:00.00001", "14:30:00.00036"]);
    let refused = chart("scheduling.trx", &[]);
    assert!(stderr(&refused).starts_with("error: dates need a trace"), "{}", stderr(&refused));
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
fn the_files_of_other_processors_are_mentioned_unless_they_are_read() {
    let output = run_on("hooks.twx", &["report"]);
    let hint = "not read: 2 files of other processors, from ";
    assert!(stderr(&output).contains(hint), "{}", stderr(&output));
    assert!(stderr(&output).contains("; --join (trcrpt: -m) with all files"));
    let [first, second] = ["hooks.twx-0", "hooks.twx-1"].map(example);
    let parts = [first.to_str().unwrap(), second.to_str().unwrap()];
    let output = run_on("hooks.twx", &[&["report", "--join"], &parts[..]].concat());
    assert!(!stderr(&output).contains("not read"), "{}", stderr(&output));
}
