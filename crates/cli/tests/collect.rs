//! Tests `tracewell collect`. The tests act as targets, or start a second `tracewell` that sends a
//! capture.
#![cfg(target_os = "linux")]

mod bless;
mod signals;
mod validation;

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use bless::assert_golden;
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::Value;
use snapbox::file;
use validation::validated;

fn program(arguments: &[&str]) -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_tracewell"));
    program.args(arguments).stdin(Stdio::null());
    program
}

fn fixture(name: &str) -> String {
    format!("{}/../tracewell/tests/fixtures/rkh/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Returns the output of another verb for a file.
fn printed(arguments: &[&str], file: &str) -> String {
    let output = program(arguments).arg(file).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// A running `tracewell collect`, and the pipe from which the test reads its messages.
struct Collecting {
    child: Child,
    said: BufReader<ChildStderr>,
}

impl Collecting {
    fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let said = BufReader::new(child.stderr.take().unwrap());
        Self { child, said }
    }

    /// Returns the next message.
    fn says(&mut self) -> String {
        let mut line = String::new();
        self.said.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// Returns the listening address from the next message.
    fn address(&mut self) -> String {
        self.says().rsplit(' ').next().unwrap().to_owned()
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits until the program ends. Returns its status, its standard output and the remaining
    /// messages.
    fn end(mut self) -> (Option<i32>, String, String) {
        let Output { status, stdout, .. } = self.child.wait_with_output().unwrap();
        let mut rest = String::new();
        self.said.read_to_string(&mut rest).unwrap();
        (status.code(), String::from_utf8(stdout).unwrap(), rest)
    }
}

fn wait_for(what: &str, done: impl Fn() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(900), "{what}");
        thread::sleep(Duration::from_millis(5));
    }
}

fn length(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |data| data.len())
}

/// Runs a second `tracewell`, which sends a file and ends after the last byte.
fn send(file: &str, to: impl Into<Stdio>) {
    let bytes = length(Path::new(file)).to_string();
    let mut target = program(&["collect", "--file", file, "--bytes", &bytes, "-o", "-"]);
    let sent = target.stdout(to).stderr(Stdio::null()).status().unwrap();
    assert_eq!(sent.code(), Some(0));
}

/// Returns a report with single spaces. The width of the column of contexts depends on the names
/// that are known at the first event. These depend on the number of bytes that arrived together.
fn without_widths(report: &str) -> Vec<String> {
    report.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

/// Sends a file through a serial line to `collect`, which displays and saves it.
fn collect_from_a_serial_line(sent: &str, kept_as: &str) {
    signals::end_programs();
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join(kept_as);
    let line = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&line).unwrap();
    unlockpt(&line).unwrap();
    let device = ptsname(&line, Vec::new()).unwrap().into_string().unwrap();
    let mut command = program(&["collect", "--follow", "--serial"]);
    let mut collecting =
        Collecting::start(command.arg(format!("{device}@1500000")).arg("-o").arg(&kept));
    assert!(collecting.says().ends_with(&format!("connected to {device}@1500000,8N1")));
    let line = File::from(line);
    send(sent, line.try_clone().unwrap());
    wait_for("the bytes", || length(&kept) == length(Path::new(sent)));
    collecting.signal(Signal::INT);
    let (status, shown, said) = collecting.end();
    let expected = printed(&["report"], sent);
    assert_eq!((status, without_widths(&shown)), (Some(0), without_widths(&expected)));
    assert_eq!(fs::read(&kept).unwrap(), fs::read(sent).unwrap());
    let (name, bytes) = (device.rsplit('/').next().unwrap(), length(Path::new(sent)));
    assert_eq!(said, format!("{bytes} bytes from pts-{name}\n"));
}

#[test]
fn a_serial_line_is_displayed_and_saved() {
    collect_from_a_serial_line(&fixture("ahsm-a.bin"), "kept.rkh");
}

#[test]
fn systemview_over_a_serial_line_is_displayed_and_saved() {
    // Before its first packet, a target answers the greeting of the host.
    let recorded = fixture("../systemview/recorder.bin");
    let folder = tempfile::tempdir().unwrap();
    let sent = folder.path().join("sent.bin");
    fs::write(&sent, [&b"SV\x06\x07"[..], &fs::read(recorded).unwrap()].concat()).unwrap();
    let sent = sent.to_str().unwrap();
    assert!(printed(&["report"], sent).contains("spindle"));
    collect_from_a_serial_line(sent, "kept.bin");
}

#[test]
fn standard_input_is_read_to_its_end() {
    let sent = fixture("ahsm-a-garbage.bin");
    let mut command = program(&["collect", "-", "--follow", "--format", "jsonl"]);
    let mut collecting = Collecting::start(command.stdin(Stdio::piped()));
    send(&sent, collecting.child.stdin.take().unwrap());
    let (status, shown, said) = collecting.end();
    assert_eq!((status, shown), (Some(3), printed(&["events"], &sent)));
    assert!(said.contains("6538 bytes from stdin"), "{said}");
}

#[test]
fn lines_appear_while_the_target_is_connected() {
    let sent = fs::read(fixture("ahsm-a.bin")).unwrap();
    let mut collecting = Collecting::start(&mut program(&[
        "collect",
        "--tcp-listen",
        "127.0.0.1:0",
        "--follow",
        "--format",
        "tsv",
        "--once",
    ]));
    let mut target = TcpStream::connect(collecting.address()).unwrap();
    let mut lines = BufReader::new(collecting.child.stdout.take().unwrap()).lines();
    let flags: Vec<_> = (0..sent.len()).filter(|at| sent[*at] == 0x7E).collect();
    let mut from = 0;
    // Each frame is shown before the next one is sent. Skip the first flag, which does not end a
    // frame.
    for (number, flag) in flags.iter().skip(1).enumerate().take(20) {
        target.write_all(&sent[from..=*flag]).unwrap();
        from = flag + 1;
        if number == 0 {
            assert!(lines.next().unwrap().unwrap().starts_with("seq\tticks\t"));
        }
        let line = lines.next().unwrap().unwrap();
        assert!(line.starts_with(&format!("{number}\t")), "{line}");
    }
    drop(target);
    assert_eq!(collecting.end().0, Some(0));
}

#[test]
fn several_sources_share_the_output_and_have_their_files() {
    let folder = tempfile::tempdir().unwrap();
    let runs = folder.path().join("runs");
    let [a, b] = ["ahsm-a.bin", "ahsm-b.bin"].map(fixture);
    let mut command =
        program(&["collect", "--follow", "--format", "tsv", "--event", "RKH_TE_FWK_*"]);
    let files = ["--file", &a, "--file", &b, "--idle", "5", "--head", "6"];
    let collecting = Collecting::start(command.args(files).arg("-o").arg(&runs));
    let (status, shown, said) = collecting.end();
    let (heading, lines) = shown.split_once('\n').unwrap();
    let mut lines: Vec<_> = lines.lines().collect();
    // The lines of each source are in order.
    lines.sort_by_key(|line| line.split('\t').next());
    let sorted = format!("{heading}\n{}\n", lines.join("\n"));
    assert_golden(sorted, file!["golden/collect.tsv"]);
    assert_eq!(status, Some(0), "{said}");
    for (name, path) in [("ahsm-a.bin", &a), ("ahsm-b.bin", &b)] {
        assert_eq!(fs::read(runs.join(name)).unwrap(), fs::read(path).unwrap());
        assert!(length(&runs.join(format!("{name}.arrivals"))) > 16);
    }
    let mut command = program(&["collect", "--follow", "--format", "jsonl", "--head", "1"]);
    let (status, shown, _) = Collecting::start(command.args(&files[..6])).end();
    assert_eq!(status, Some(0));
    let mut names: Vec<_> = shown
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["source"].clone())
        .collect();
    names.sort_by_key(ToString::to_string);
    assert_eq!(names, ["ahsm-a.bin", "ahsm-b.bin"]);
}

#[test]
fn a_request_to_terminate_ends_it_with_everything_in_the_files() {
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("kept");
    let mut command = program(&["collect", "--json", "--tcp-listen", "127.0.0.1:0", "-o"]);
    let mut collecting = Collecting::start(command.arg(&kept));
    let mut target = TcpStream::connect(collecting.address()).unwrap();
    target.write_all(&[7; 10_000]).unwrap();
    // The bytes are in the file although the connection is still open.
    wait_for("the bytes", || length(&kept) == 10_000);
    collecting.signal(Signal::TERM);
    let (status, reported, _) = collecting.end();
    let reported = validated("collect", &reported)["sources"][0].take();
    assert_eq!((status, &reported["connections"]), (Some(0), &Value::from(1)));
    assert_eq!(
        (&reported["received"], &reported["dropped"]),
        (&Value::from(10_000), &Value::from(0))
    );
    assert_eq!(reported["packets"], Value::Null);
}

#[test]
fn a_slow_output_costs_bytes_but_no_memory() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let arguments = ["collect", "--json", "--tcp-listen", "127.0.0.1:0", "--once", "--buffer", "1"];
    let mut command = program(&arguments);
    // A reader opens the pipe before the program does, and reads nothing from it.
    let reader = thread::spawn({
        let pipe = pipe.clone();
        move || File::open(pipe).unwrap()
    });
    let mut collecting = Collecting::start(command.arg("-o").arg(&pipe));
    let mut target = TcpStream::connect(collecting.address()).unwrap();
    let mut reader = reader.join().unwrap();
    let piece = vec![0x55; 1 << 20];
    let sent = 100;
    (0..sent).for_each(|_| target.write_all(&piece).unwrap());
    drop(target);
    let status = format!("/proc/{}/status", collecting.child.id());
    let status = fs::read_to_string(status).unwrap();
    let kib = |field| {
        let value = status.lines().find_map(|line| line.strip_prefix(field)).unwrap();
        value.trim_end_matches("kB").trim().parse::<u64>().unwrap()
    };
    // The peak includes the pages of the program's file, which differ from build to build.
    let peak = kib("VmHWM:").saturating_sub(kib("RssFile:"));
    assert!(peak < 16 << 10, "{peak} KiB");
    let mut kept = Vec::new();
    reader.read_to_end(&mut kept).unwrap();
    let (status, reported, said) = collecting.end();
    assert_eq!(status, Some(3), "{said}");
    assert!(said.contains("bytes are dropped"), "{said}");
    let reported = validated("collect", &reported)["sources"][0].take();
    let [received, written, dropped] =
        ["received", "written", "dropped"].map(|key| reported[key].as_u64().unwrap());
    assert_eq!((received, written), (sent << 20, kept.len() as u64));
    assert_eq!(received, written + dropped);
    assert!(dropped > 90 << 20, "{dropped}");
}

#[test]
fn a_closed_pipe_ends_it_quietly() {
    let mut command = program(&["collect", "--tcp-listen", "127.0.0.1:0", "--follow"]);
    let mut collecting = Collecting::start(&mut command);
    let mut target = TcpStream::connect(collecting.address()).unwrap();
    drop(collecting.child.stdout.take());
    // Sending succeeds as long as a reader is connected.
    let sent = fs::read(fixture("ahsm-a.bin")).unwrap();
    while target.write_all(&sent).is_ok() {
        thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(collecting.end().0, Some(0));
}

/// Writes the two files of an earlier collection: bytes and arrival times.
fn earlier(folder: &Path) -> [PathBuf; 2] {
    let kept = ["kept", "kept.arrivals"].map(|name| folder.join(name));
    kept.iter().for_each(|path| fs::write(path, "earlier").unwrap());
    kept
}

#[test]
fn a_source_that_cannot_be_opened_leaves_an_earlier_file() {
    let folder = tempfile::tempdir().unwrap();
    let absent = folder.path().join("absent").display().to_string();
    // Refused commands get a long time limit, because they must end without reaching it.
    let run = |source: &[&str; 2], status| {
        let seconds = if status == 3 { "0.1" } else { "900" };
        let mut command = program(&["collect", "--seconds", seconds, "-o"]);
        let ended = command.arg(folder.path().join("kept")).args(source).output().unwrap();
        (ended.status.code(), String::from_utf8(ended.stderr).unwrap())
    };
    let names = || {
        let entries = fs::read_dir(folder.path()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    for (source, status) in [
        (["--serial", &absent], 3),
        (["--file", &absent], 3),
        // A folder can be followed, but not stored.
        (["--file", "."], 2),
        (["--tcp", "nohost:x"], 4),
        (["--udp", "nohost:x"], 4),
    ] {
        let kept = earlier(folder.path());
        let (code, said) = run(&source, status);
        assert_eq!(code, Some(status), "{source:?}: {said}");
        let there = kept.each_ref().map(|path| fs::read_to_string(path).unwrap());
        assert_eq!(there, ["earlier", "earlier"], "{source:?}");
        assert_eq!(names(), ["kept", "kept.arrivals"], "{source:?}");
        let reported = said.contains("kept: not written; the earlier file, if any, is unchanged");
        assert_eq!(reported, source[0] != "--udp" && status != 2, "{said}");
        // If there is no earlier file, the command creates none.
        kept.iter().for_each(|path| fs::remove_file(path).unwrap());
        run(&source, status);
        assert!(names().is_empty(), "{source:?}: {:?}", names());
    }
}

#[test]
fn an_earlier_file_is_replaced_when_a_target_connects_or_none_did() {
    let folder = tempfile::tempdir().unwrap();
    let kept = earlier(folder.path());
    let there = || kept.each_ref().map(|path| fs::read(path).unwrap());
    let mut command = program(&["collect", "--tcp-listen", "127.0.0.1:0", "-o"]);
    command.arg(&kept[0]);
    let mut collecting = Collecting::start(&mut command);
    let address = collecting.address();
    assert_eq!(there(), [b"earlier", b"earlier"]);
    let mut target = TcpStream::connect(address).unwrap();
    // The file of arrival times contains a header and the entry for the connection.
    wait_for("the connection", || length(&kept[1]) == 32);
    assert_eq!(there()[0], b"");
    target.write_all(b"new").unwrap();
    wait_for("the bytes", || there()[0] == b"new" && length(&kept[1]) == 48);
    collecting.signal(Signal::KILL);
    assert_eq!(collecting.end().0, None);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    // No target connected, so an empty file is the result.
    let mut collecting = Collecting::start(&mut command);
    collecting.address();
    collecting.signal(Signal::TERM);
    assert_eq!(collecting.end().0, Some(3));
    assert_eq!(there(), [b"".to_vec(), b"TWARRIVE\x01\0\0\0\x10\0\0\0".to_vec()]);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn received_bytes_are_saved_even_if_the_file_cannot_be_moved_into_place() {
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("kept");
    let mut command = program(&["collect", "--tcp-listen", "127.0.0.1:0", "--once", "-o"]);
    let mut collecting = Collecting::start(command.arg(&kept));
    let address = collecting.address();
    fs::create_dir(&kept).unwrap();
    let mut target = TcpStream::connect(address).unwrap();
    target.write_all(b"bytes").unwrap();
    drop(target);
    let left = folder.path().join(format!("kept.{}.partial", collecting.child.id()));
    let (status, reported, said) = collecting.end();
    assert_eq!(status, Some(4));
    assert!(reported.starts_with("5 bytes from tcp-listen-127.0.0.1-0\n"), "{reported}");
    assert!(said.contains(&format!("the recording is in {}", left.display())), "{said}");
    assert_eq!(fs::read(left).unwrap(), b"bytes");
}

#[test]
fn a_stream_that_is_joined_late_is_displayed_after_a_pause() {
    let sent = fs::read(fixture("shared-c.bin")).unwrap();
    let arguments = ["collect", "--tcp-listen", "127.0.0.1:0", "--follow", "--format", "tsv"];
    let mut collecting = Collecting::start(program(&arguments).arg("--once"));
    let mut target = TcpStream::connect(collecting.address()).unwrap();
    let mut lines = BufReader::new(collecting.child.stdout.take().unwrap()).lines();
    // These are too few bytes to infer the settings.
    target.write_all(&sent[10_000..10_600]).unwrap();
    assert!(collecting.says().contains("connected"));
    let waits = collecting.says();
    assert!(waits.contains("600 bytes and no event so far"), "{waits}");
    target.write_all(&sent[10_600..16_000]).unwrap();
    assert!(lines.next().unwrap().unwrap().starts_with("seq\tticks\t"));
    let mut events = lines.by_ref().map(Result::unwrap).filter(|line| !line.contains("loss"));
    assert!(events.nth(100).unwrap().split('\t').count() > 3);
    drop(target);
    drop(lines);
    collecting.end();
}

#[test]
fn options_that_no_format_has_are_refused_before_a_source_is_opened() {
    for (arguments, reported) in [
        (&["--format-in", "rkh", "-O", "stamp=2"][..], "error: -O stamp: unknown option"),
        (&["--format-in", "rkh", "-O", "ts=many"], "error: -O ts: "),
        (&["-O", "stamp=2"], "error: -O stamp: no format has this option"),
        (&["--format-in", "rhk"], "error: there is no format 'rhk'"),
    ] {
        // A source that waits for a target would never end.
        let source = ["collect", "--follow", "--tcp-listen", "127.0.0.1:0"];
        let output = program(&source).args(arguments).output().unwrap();
        let found = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {found}");
        assert!(found.starts_with(reported), "{arguments:?}: {found}");
    }
}

#[test]
fn impossible_options_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path: PathBuf = folder.path().join("file");
    fs::write(&path, "x").unwrap();
    let path = path.to_str().unwrap();
    let arrivals = format!("{path}.arrivals");
    fs::write(&arrivals, "x").unwrap();
    let runs = folder.path().to_str().unwrap();
    for arguments in [
        &["--follow"][..],
        &["-"],
        &["-", "--file", path, "-o", "-"],
        &["-", "-o", "-", "--follow"],
        &["--file", path, "-o", path],
        &["--file", path, "-o", runs],
        &["--file", &arrivals, "-o", path],
        &["--serial", "ttyS0@fast", "--follow"],
        &["-", "--format", "tsv", "-o", path],
        &["-", "--join", "--follow"],
    ] {
        let output = program(&["collect"]).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    }
    let output = program(&["collect"]).output().unwrap();
    let reported = String::from_utf8(output.stderr).unwrap();
    assert!(reported.contains("\n  <--output <FILE>|--follow>\n"), "{reported}");
    // The file still exists.
    assert_eq!(fs::read(path).unwrap(), b"x");
    let folder = program(&["collect", "--file", ".", "--follow", "--once"]).output().unwrap();
    assert_eq!(folder.status.code(), Some(2));
    let reported = String::from_utf8(folder.stderr).unwrap();
    assert!(reported.contains("--file .: a folder is followed until a signal"), "{reported}");
    let full = program(&["collect", "--file", path, "-o", "/dev/full"]).output().unwrap();
    assert_eq!(full.status.code(), Some(4));
    for absent in [path, runs] {
        let absent = ["collect", "--serial", absent, "--follow"];
        assert_eq!(program(&absent).output().unwrap().status.code(), Some(4));
    }
}

#[test]
fn nothing_received_is_status_3_and_a_file_that_is_read_once_ends() {
    let folder = tempfile::tempdir().unwrap();
    let (path, out) = (folder.path().join("file"), folder.path().join("out"));
    let (path, out) = (path.to_str().unwrap(), out.to_str().unwrap());
    for (content, status, reported) in
        [("", 3, "nothing received from file\n"), ("bytes", 0, "5 bytes from file\n")]
    {
        fs::write(path, content).unwrap();
        let arguments = ["collect", "--file", path, "-o", out, "--once"];
        let output = program(&arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(status));
        assert_eq!(String::from_utf8(output.stdout).unwrap(), reported);
        assert!(!String::from_utf8(output.stderr).unwrap().contains("warning"));
        assert_eq!(fs::read(out).unwrap(), content.as_bytes());
    }
}
