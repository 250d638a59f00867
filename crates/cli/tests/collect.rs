//! `tracewell collect` with targets that are programs: the program itself, sending a capture.
#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::Value;
use snapbox::{assert_data_eq, file};

fn program(arguments: &[&str]) -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_tracewell"));
    program.args(arguments).stdin(Stdio::null());
    program
}

fn fixture(name: &str) -> String {
    format!("{}/../tracewell/tests/fixtures/rkh/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// What another verb prints about a file.
fn printed(arguments: &[&str], file: &str) -> String {
    let output = program(arguments).arg(file).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// A program that collects, and what it says meanwhile.
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

    /// The next line that it says.
    fn says(&mut self) -> String {
        let mut line = String::new();
        self.said.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// The address it says it is listening on.
    fn address(&mut self) -> String {
        self.says().rsplit(' ').next().unwrap().to_owned()
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits for the end: status, standard output, what it said last.
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

/// Sends a file with the program itself; it ends when it has.
fn send(file: &str, to: impl Into<Stdio>) {
    let bytes = length(Path::new(file)).to_string();
    let mut target = program(&["collect", "--file", file, "--bytes", &bytes, "-o", "-"]);
    let sent = target.stdout(to).stderr(Stdio::null()).status().unwrap();
    assert_eq!(sent.code(), Some(0));
}

#[test]
fn a_serial_line_is_followed_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("kept.rkh");
    let line = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&line).unwrap();
    unlockpt(&line).unwrap();
    let device = ptsname(&line, Vec::new()).unwrap().into_string().unwrap();
    let sent = fixture("ahsm-a.bin");
    let mut command = program(&["collect", "--follow", "--serial"]);
    let mut collecting =
        Collecting::start(command.arg(format!("{device}@1500000")).arg("-o").arg(&kept));
    assert!(collecting.says().ends_with(&format!("connected to {device}@1500000,8N1")));
    let line = File::from(line);
    send(&sent, line.try_clone().unwrap());
    wait_for("the bytes", || length(&kept) == length(Path::new(&sent)));
    collecting.signal(Signal::INT);
    let (status, shown, said) = collecting.end();
    assert_eq!((status, shown), (Some(0), printed(&["report"], &sent)));
    assert_eq!(fs::read(&kept).unwrap(), fs::read(&sent).unwrap());
    let name = device.rsplit('/').next().unwrap();
    assert_eq!(said, format!("6442 bytes from {name}\n"));
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
fn lines_come_while_the_target_is_connected() {
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
    // Each frame is shown before the next one is sent; the first flag ends nothing.
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
    // Those of one source are in order.
    lines.sort_by_key(|line| line.split('\t').next());
    let sorted = format!("{heading}\n{}\n", lines.join("\n"));
    assert_data_eq!(sorted, file!["golden/collect.tsv"]);
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
    // In the file, though the connection goes on.
    wait_for("the bytes", || length(&kept) == 10_000);
    collecting.signal(Signal::TERM);
    let (status, told, _) = collecting.end();
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!((status, &told["connections"]), (Some(0), &Value::from(1)));
    assert_eq!((&told["received"], &told["dropped"]), (&Value::from(10_000), &Value::from(0)));
    assert_eq!(told["packets"], Value::Null);
}

#[test]
fn who_is_slow_costs_bytes_and_not_memory() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let arguments = ["collect", "--json", "--tcp-listen", "127.0.0.1:0", "--once", "--buffer", "1"];
    let mut command = program(&arguments);
    // Opened before the program opens it, and not read.
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
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak: u64 = peak.trim_end_matches("kB").trim().parse().unwrap();
    assert!(peak < 24 << 10, "{peak} KiB");
    let mut kept = Vec::new();
    reader.read_to_end(&mut kept).unwrap();
    let (status, told, said) = collecting.end();
    assert_eq!(status, Some(3), "{said}");
    assert!(said.contains("bytes are dropped"), "{said}");
    let told: Value = serde_json::from_str(&told).unwrap();
    let [received, written, dropped] =
        ["received", "written", "dropped"].map(|key| told[key].as_u64().unwrap());
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
    // As long as somebody is there.
    let sent = fs::read(fixture("ahsm-a.bin")).unwrap();
    while target.write_all(&sent).is_ok() {
        thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(collecting.end().0, Some(0));
}

/// A file of an earlier collection, and its arrivals.
fn earlier(folder: &Path) -> [PathBuf; 2] {
    let kept = ["kept", "kept.arrivals"].map(|name| folder.join(name));
    kept.iter().for_each(|path| fs::write(path, "earlier").unwrap());
    kept
}

#[test]
fn a_source_that_cannot_be_opened_leaves_an_earlier_file() {
    let folder = tempfile::tempdir().unwrap();
    let absent = folder.path().join("absent").display().to_string();
    // What is refused ends by itself, however long that takes.
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
        (["--file", "."], 4),
        (["--tcp", "nohost:x"], 4),
        (["--udp", "nohost:x"], 4),
    ] {
        let kept = earlier(folder.path());
        let (code, said) = run(&source, status);
        assert_eq!(code, Some(status), "{source:?}: {said}");
        let there = kept.each_ref().map(|path| fs::read_to_string(path).unwrap());
        assert_eq!(there, ["earlier", "earlier"], "{source:?}");
        assert_eq!(names(), ["kept", "kept.arrivals"], "{source:?}");
        let told = said.contains("kept: not written; what was there stays");
        assert_eq!(told, source[0] != "--udp", "{said}");
        // And makes none.
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
    // The entry of the connection behind the heading.
    wait_for("the connection", || length(&kept[1]) == 32);
    assert_eq!(there()[0], b"");
    target.write_all(b"new").unwrap();
    wait_for("the bytes", || there()[0] == b"new" && length(&kept[1]) == 48);
    collecting.signal(Signal::KILL);
    assert_eq!(collecting.end().0, None);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    // Nobody came: that is what was collected.
    let mut collecting = Collecting::start(&mut command);
    collecting.address();
    collecting.signal(Signal::TERM);
    assert_eq!(collecting.end().0, Some(3));
    assert_eq!(there(), [b"".to_vec(), b"TWARRIVE\x01\0\0\0\x10\0\0\0".to_vec()]);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn what_comes_is_kept_where_it_cannot_be_put_in_its_place() {
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
    let (status, told, said) = collecting.end();
    assert_eq!(status, Some(4));
    assert!(told.starts_with("5 bytes from tcp-listen-127.0.0.1-0\n"), "{told}");
    assert!(said.contains(&format!("what was recorded is in {}", left.display())), "{said}");
    assert_eq!(fs::read(left).unwrap(), b"bytes");
}

#[test]
fn what_cannot_be_is_refused() {
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
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("\n  <--output <FILE>|--follow>\n"), "{told}");
    // Still there.
    assert_eq!(fs::read(path).unwrap(), b"x");
    let folder = program(&["collect", "--file", ".", "--follow", "--once"]).output().unwrap();
    assert_eq!(folder.status.code(), Some(4));
    let told = String::from_utf8(folder.stderr).unwrap();
    assert!(told.contains("tracewell: .: expected a regular file"), "{told}");
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
    for (content, status, told) in
        [("", 3, "nothing came from file\n"), ("bytes", 0, "5 bytes from file\n")]
    {
        fs::write(path, content).unwrap();
        let arguments = ["collect", "--file", path, "-o", out, "--once"];
        let output = program(&arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(status));
        assert_eq!(String::from_utf8(output.stdout).unwrap(), told);
        assert_eq!(fs::read(out).unwrap(), content.as_bytes());
    }
}
