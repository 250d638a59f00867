//! `tracewell record`: what a program records is saved however it ends, and its exit status passed on.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::{Command, Output};

use tracewell_record::stream::{EventType, Family, Stream};

const VARIABLE: &str = "TRACEWELL_TEST_RECORD";
const TEST: Family = Family::new(1, "test");
static STEP: EventType<(u64,)> = EventType::new(TEST, "step", &["number"]);

/// Not a test of its own: the program that is run. The variable says how many events it records, and how it
/// ends.
#[test]
fn program() {
    let Ok(wanted) = std::env::var(VARIABLE) else { return };
    let (events, end) = wanted.split_once(' ').unwrap();
    let stream = Stream::from_environment().unwrap().expect("somebody records");
    for number in 0..events.parse().unwrap() {
        stream.record(&STEP, (number,));
        if number % 4096 == 4095 {
            // As a program that does something as well; the recorder never waits by itself.
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }
    match end {
        "abort" => std::process::abort(),
        code => std::process::exit(code.parse().unwrap()),
    }
}

/// Runs the program above under `tracewell record`.
fn record(folder: &Path, wanted: &str, options: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tracewell"))
        .current_dir(folder)
        .arg("record")
        .args(options)
        .arg("--")
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "program", "--nocapture", "--quiet", "--test-threads=1"])
        .env(VARIABLE, wanted)
        .output()
        .unwrap()
}

/// The numbers of the events in a file, as `tracewell events` prints them.
fn numbers(folder: &Path, file: &str) -> Vec<u64> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tracewell"));
    let output = command.current_dir(folder).args(["events", file]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let number = |line: &str| {
        let event: serde_json::Value = serde_json::from_str(line).unwrap();
        event["args"]["number"].as_u64().unwrap_or_else(|| panic!("{line}"))
    };
    text.lines().map(number).collect()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn events_are_saved_and_the_exit_status_is_passed_on() {
    let folder = tempfile::tempdir().unwrap();
    let output = record(folder.path(), "100 7", &[]);
    assert_eq!((output.status.code(), stderr(&output)), (Some(7), String::new()));
    assert_eq!(numbers(folder.path(), "trace.twl"), Vec::from_iter(0..100));
}

#[test]
fn events_of_a_program_that_crashes_are_saved() {
    let folder = tempfile::tempdir().unwrap();
    let output = record(folder.path(), "1000 abort", &["-o", "crash.twl"]);
    assert_eq!(output.status.code(), Some(128 + 6), "{}", stderr(&output));
    assert_eq!(numbers(folder.path(), "crash.twl"), Vec::from_iter(0..1000));
}

#[test]
fn more_events_than_the_stream_holds_are_saved_while_the_program_runs() {
    let folder = tempfile::tempdir().unwrap();
    let output = record(folder.path(), "200000 0", &["--packets", "16"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    // Two packets would hold 8000; nothing here may be lost without being said.
    let saved = numbers(folder.path(), "trace.twl");
    assert_eq!(saved.len(), 200_000, "{}", stderr(&output));
    assert!(saved.is_sorted());
}

#[test]
fn a_program_that_records_nothing_is_remarked_and_leaves_no_stream_behind() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_tracewell"));
    let script = "test -n \"$TRACEWELL_STREAM\" && echo $TRACEWELL_STREAM";
    let output = command.current_dir(folder.path()).args(["record", "--", "sh", "-c", script]);
    let output = output.output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(stderr(&output).contains("sh recorded nothing"), "{}", stderr(&output));
    let stream = String::from_utf8(output.stdout).unwrap();
    assert!(stream.starts_with('/') && !Path::new(stream.trim()).exists(), "{stream}");
}

#[test]
fn a_program_that_cannot_be_started_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_tracewell"));
    let output = command.current_dir(folder.path()).args(["record", "--", "./no-such-program"]);
    let output = output.output().unwrap();
    assert_eq!(output.status.code(), Some(4));
    assert!(stderr(&output).starts_with("tracewell: ./no-such-program: "), "{}", stderr(&output));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
