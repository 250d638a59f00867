//! Tests `tracewell record`. No matter how the program ends, the command saves the recorded events
//! and returns the program's exit status. `files` tests the files that recordings leave, including
//! those of recordings that fail.
#![cfg(target_os = "linux")]

mod files;

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::Duration;

use tracewell_posix::DIRECTORY_VARIABLE;
use tracewell_record::stream::{EventType, Family, Stream};

const VARIABLE: &str = "TRACEWELL_TEST_RECORD";
const TEST: Family = Family::new(1, "test");
static STEP: EventType<(u64,)> = EventType::new(TEST, "step", &["number"]);

/// This is not a test but the program that the tests run. [`VARIABLE`] contains the number of
/// events that the program records, and the way in which it ends.
#[test]
fn program() {
    let Ok(wanted) = std::env::var(VARIABLE) else { return };
    let (events, end) = wanted.split_once(' ').unwrap();
    let stream = Stream::from_environment().unwrap().expect("the program runs under a recorder");
    for number in 0..events.parse().unwrap() {
        stream.record(&STEP, (number,));
        // Wait until the recorder has saved the earlier events. A real program would do other work
        // during this time. An event has 16 bytes.
        while number % 4096 == 4095 && saved_bytes() < 16 * (number - 4095) {
            sleep(Duration::from_millis(1));
        }
    }
    match end {
        "abort" => std::process::abort(),
        code => std::process::exit(code.parse().unwrap()),
    }
}

/// Returns a command that runs `tracewell` with the registry of these tests instead of the user's.
fn tracewell() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tracewell"));
    command.env(DIRECTORY_VARIABLE, registry());
    command
}

/// The directory in which traced processes and their controllers find each other.
fn registry() -> &'static Path {
    static REGISTRY: OnceLock<PathBuf> = OnceLock::new();
    REGISTRY.get_or_init(|| {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("registry");
        DirBuilder::new().recursive(true).mode(0o700).create(&path).unwrap();
        path
    })
}

fn saved_bytes() -> u64 {
    std::fs::metadata("trace.twl").map_or(0, |data| data.len())
}

const TRACED: &str = "TRACEWELL_TEST_TRACED";

/// This is not a test, but a program that calls the implementation of `posix_trace_event`.
/// [`TRACED`] contains the number of events that the program records. If the number has a minus
/// sign, it is a pause in milliseconds. The program then pauses after each event, and records until
/// it is killed.
#[test]
fn traced_program() {
    let Ok(wanted) = std::env::var(TRACED) else { return };
    let reading = tracewell_posix::define(b"reading").unwrap();
    let (pause, count) = match wanted.strip_prefix('-') {
        Some(pause) => (pause.parse().unwrap(), u64::MAX),
        None => (0, wanted.parse().unwrap()),
    };
    for number in 0..count {
        tracewell_posix::record(reading, &number.to_le_bytes(), false, 0);
        sleep(Duration::from_millis(pause));
    }
}

/// Adds the arguments and variables of the traced program to a command, which runs either the
/// program itself or `tracewell record`.
fn traced(program: &mut Command, wanted: &str) {
    program.args(["--exact", "traced_program", "--nocapture", "--quiet", "--test-threads=1"]);
    program.env(DIRECTORY_VARIABLE, registry());
    program.env(TRACED, wanted).stdout(Stdio::null());
}

/// The numbers in the data of the traced program's events.
fn readings(folder: &Path, file: &str) -> Vec<u64> {
    let mut command = tracewell();
    let output = command.current_dir(folder).args(["events", "--event", "reading", file]).output();
    let text = String::from_utf8(output.unwrap().stdout).unwrap();
    let number = |line: &str| {
        let event: serde_json::Value = serde_json::from_str(line).unwrap();
        let data = event["args"]["data"].as_str().unwrap_or_else(|| panic!("{line}"));
        u64::from_str_radix(data, 16).unwrap().swap_bytes()
    };
    text.lines().map(number).collect()
}

#[test]
fn events_of_a_posix_program_are_saved_from_the_first_one_on() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = tracewell();
    command.current_dir(folder.path()).args(["record", "-o", "run", "--"]);
    traced(command.arg(std::env::current_exe().unwrap()), "5000");
    let output = command.output().unwrap();
    let place = "note: until the program ends, events of posix_trace_event are in run.posix.";
    assert!(stderr(&output).starts_with(place), "{}", stderr(&output));
    assert_eq!((output.status.code(), ending(&output)), (Some(0), "5000 events in run".into()));
    let saved = readings(folder.path(), "run");
    assert_eq!(fact(folder.path(), "run", "exit_status").as_deref(), Some("0"));
    assert!(saved.iter().copied().eq(0..5000), "{} of 5000", saved.len());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_program_that_records_in_both_ways_leaves_two_files() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = tracewell();
    let script = "\"$0\" --exact program --quiet; exec \"$0\" --exact traced_program --quiet";
    command.current_dir(folder.path()).args(["record", "--", "sh", "-c", script]);
    command.arg(std::env::current_exe().unwrap()).env(TRACED, "50").env(VARIABLE, "20 0");
    let output = command.output().unwrap();
    assert!(stderr(&output).contains("are in trace.twl.posix"), "{}", stderr(&output));
    assert_eq!(numbers(folder.path(), "trace.twl"), Vec::from_iter(0..20));
    assert_eq!(readings(folder.path(), "trace.twl.posix"), Vec::from_iter(0..50));
}

#[test]
fn a_running_process_is_recorded_until_it_ends_or_time_is_up() {
    let folder = tempfile::tempdir().unwrap();
    let mut program = Command::new(std::env::current_exe().unwrap());
    traced(&mut program, "-1");
    let mut program = program.spawn().unwrap();
    let attend = |options: &[&str]| {
        let mut command = tracewell();
        let pid = program.id().to_string();
        command.current_dir(folder.path()).args(["record", "-o", "run", "--pid", &pid]);
        command.args(options).stderr(Stdio::piped()).spawn().unwrap()
    };
    // On a busy machine, one second may be too short, so try longer times.
    let some = ["1", "2", "4", "8", "16", "32", "64", "128"].into_iter().find_map(|seconds| {
        let timed = attend(&["--seconds", seconds]).wait_with_output().unwrap();
        let some = readings(folder.path(), "run");
        let reported = format!("note: {} events in run\n", some.len());
        assert_eq!(timed.status.code(), Some(0));
        assert!(some.len() == 1 || stderr(&timed) == reported, "{}", stderr(&timed));
        Some(some).filter(|some| some.len() > 10)
    });
    let some = some.expect("events");
    assert!(some.windows(2).all(|pair| pair[1] == pair[0] + 1), "{some:?}");
    let until_its_end = attend(&[]);
    // `tracewell record` saves events while the program runs.
    while readings(folder.path(), "run").first() <= some.last() {
        sleep(Duration::from_millis(20));
    }
    program.kill().unwrap();
    program.wait().unwrap();
    let ended = until_its_end.wait_with_output().unwrap();
    let later = readings(folder.path(), "run");
    let reported = format!("note: {} events in run\n", later.len());
    assert_eq!((ended.status.code(), stderr(&ended)), (Some(0), reported));
    assert!(later.first() > some.last(), "{later:?}");
}

/// Runs the program above under `tracewell record`.
fn record(folder: &Path, wanted: &str, options: &[&str]) -> Output {
    let mut command = recorder(folder, options);
    command.arg("--").arg(std::env::current_exe().unwrap());
    command.args(["--exact", "program", "--nocapture", "--quiet", "--test-threads=1"]);
    command.env(VARIABLE, wanted).output().unwrap()
}

/// Returns a command that runs `tracewell record` in a folder.
fn recorder(folder: &Path, options: &[&str]) -> Command {
    let mut command = tracewell();
    command.current_dir(folder).arg("record").args(options);
    command
}

/// The numbers of the events in a file, as `tracewell events` prints them.
fn numbers(folder: &Path, file: &str) -> Vec<u64> {
    let mut command = tracewell();
    let output = command.current_dir(folder).args(["events", file]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let number = |line: &str| {
        let event: serde_json::Value = serde_json::from_str(line).unwrap();
        event["args"]["number"].as_u64().unwrap_or_else(|| panic!("{line}"))
    };
    text.lines().map(number).collect()
}

/// Returns the last note on standard error.
fn ending(output: &Output) -> String {
    let text = stderr(output);
    let last = text.lines().last().unwrap_or_default();
    last.strip_prefix("note: ").unwrap_or(&text).to_owned()
}

/// Returns a fact about a trace, as `tracewell info` prints it.
fn fact(folder: &Path, file: &str, name: &str) -> Option<String> {
    let output = tracewell().current_dir(folder).args(["info", file]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().find_map(|line| Some(line.trim_start().strip_prefix(name)?.trim().to_owned()))
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn events_are_saved_and_the_exit_status_is_passed_on() {
    let folder = tempfile::tempdir().unwrap();
    let output = record(folder.path(), "100 7", &[]);
    let program = std::env::current_exe().unwrap();
    let reported = format!("{} ended with status 7; 100 events in trace.twl", program.display());
    assert_eq!((output.status.code(), ending(&output)), (Some(7), reported));
    assert_eq!(numbers(folder.path(), "trace.twl"), Vec::from_iter(0..100));
    assert_eq!(fact(folder.path(), "trace.twl", "exit_status").as_deref(), Some("7"));
}

#[test]
fn events_of_a_program_that_crashes_are_saved() {
    let folder = tempfile::tempdir().unwrap();
    let output = record(folder.path(), "1000 abort", &["-o", "crash.twl"]);
    assert_eq!(output.status.code(), Some(128 + 6), "{}", stderr(&output));
    let program = std::env::current_exe().unwrap();
    let reported =
        format!("signal 6 (SIGABRT) ended {}; 1000 events in crash.twl", program.display());
    assert_eq!(ending(&output), reported);
    assert_eq!(fact(folder.path(), "crash.twl", "ended_by_signal").as_deref(), Some("6"));
    assert_eq!(numbers(folder.path(), "crash.twl"), Vec::from_iter(0..1000));
}

#[test]
fn more_events_than_the_stream_holds_are_saved_while_the_program_runs() {
    let folder = tempfile::tempdir().unwrap();
    let output = record(folder.path(), "200000 0", &["--packets", "16"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    // 16 packets hold about 65,000 events, so `record` must save the other events while the program
    // runs.
    let saved = numbers(folder.path(), "trace.twl");
    assert_eq!(saved.len(), 200_000, "{}", stderr(&output));
    assert!(saved.is_sorted());
}

#[test]
fn a_program_that_records_nothing_is_reported_and_leaves_no_stream() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = tracewell();
    let script = "test -n \"$TRACEWELL_STREAM\" && echo $TRACEWELL_STREAM";
    let output = command.current_dir(folder.path()).args(["record", "--", "sh", "-c", script]);
    let output = output.output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(stderr(&output).contains("sh recorded nothing"), "{}", stderr(&output));
    let stream = String::from_utf8(output.stdout).unwrap();
    assert!(stream.starts_with('/') && !Path::new(stream.trim()).exists(), "{stream}");
}

#[test]
fn keys_of_processes_and_threads_fit_into_their_column() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = tracewell();
    command.current_dir(folder.path()).args(["record", "-o", "run", "--"]);
    traced(command.arg(std::env::current_exe().unwrap()), "5");
    assert_eq!(command.output().unwrap().status.code(), Some(0));
    for (verb, name) in [("info", "thread  "), ("report", "process ")] {
        let mut command = tracewell();
        let output = command.current_dir(folder.path()).args([verb, "run"]).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let heading = if verb == "info" { "KIND  " } else { "CONTEXT" };
        let mut lines = text.lines().skip_while(|line| !line.starts_with("   EVENTS  KEY"));
        let column = lines.next().unwrap().find(heading);
        let row = lines.find(|line| line.contains(name)).unwrap();
        assert_eq!(row.find(name), column, "{text}");
    }
}

/// Returns a command that records a shell script. The command runs in its own process group, so
/// signals of the terminal reach neither the recorder nor the script.
fn script(folder: &Path, script: &str) -> Command {
    let mut command = tracewell();
    command.current_dir(folder).args(["record", "--", "sh", "-c", script]).process_group(0);
    command
}

/// Returns the exit status. Kills the command and the script if they do not end.
fn in_time(child: &mut Child) -> Option<i32> {
    for _ in 0..100_000 {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        sleep(Duration::from_millis(5));
    }
    let end = format!("kill -KILL -{}", child.id());
    let _ = Command::new("sh").args(["-c", &end]).status();
    child.wait().unwrap().code()
}

/// Returns the ignored signals from a line of `/proc/PID/status`. The lowest bit stands for signal
/// 1.
fn ignored_signals(line: &str) -> u64 {
    u64::from_str_radix(line.strip_prefix("SigIgn:").unwrap().trim(), 16).unwrap()
}

/// The signals that this program ignores. It may have inherited some ignored signals, for example
/// from `nohup`, and its children inherit them too.
fn ignored_here() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    ignored_signals(status.lines().find(|line| line.starts_with("SigIgn:")).unwrap())
}

#[test]
fn signals_reach_the_program_and_its_status_is_passed_on() {
    let cases = [
        ("TERM", 15, "trap 'exit 42' TERM", 42),
        ("HUP", 1, "trap 'exit 43' HUP", 43),
        ("INT", 2, "trap 'exit 44' INT", 44),
        ("QUIT", 3, "trap 'exit 45' QUIT", 45),
        ("TERM", 15, ":", 128 + 15),
    ];
    for (signal, number, trap, code) in cases {
        if ignored_here() >> (number - 1) & 1 == 1 {
            println!("skipped: {signal} is ignored");
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        let program = format!("{trap}; : > ready; while :; do sleep 0.01; done");
        let mut child = script(folder.path(), &program).stderr(Stdio::null()).spawn().unwrap();
        while !folder.path().join("ready").exists() {
            assert_eq!(child.try_wait().unwrap(), None, "{signal}");
            sleep(Duration::from_millis(5));
        }
        let send = format!("kill -{signal} {}", child.id());
        assert!(Command::new("sh").args(["-c", &send]).status().unwrap().success());
        assert_eq!(in_time(&mut child), Some(code), "{signal} {trap}");
        // The log must be complete, however the program reacted to the signal.
        let saved = std::fs::read(folder.path().join("trace.twl")).unwrap();
        assert!(!saved.is_empty(), "{signal}");
    }
}

#[test]
fn ignored_signals_stay_ignored_in_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let bits = |ignored: &str| {
        let program = format!("{ignored} exec \"$0\" record -- grep SigIgn: /proc/self/status");
        let mut shell = Command::new("sh");
        shell.current_dir(folder.path()).args(["-c", &program]);
        let output = shell.arg(env!("CARGO_BIN_EXE_tracewell")).output().unwrap();
        ignored_signals(&String::from_utf8(output.stdout).unwrap()) & 0b0100_0000_0000_0011
    };
    // HUP is signal 1, INT 2, TERM 15.
    let here = ignored_here() & 0b0100_0000_0000_0011;
    assert_eq!(bits(""), here);
    assert_eq!((bits("trap '' HUP;"), bits("trap '' INT TERM;")), (here | 1, here | 0x4002));
}
