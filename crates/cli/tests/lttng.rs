//! Records sessions with LTTng-UST and reads them, both after they ended and while LTTng writes
//! them.
//!
//! The session daemon keeps its files in a temporary folder and ends with the test. If the test
//! runs as root, LTTng runs as another user, because root has only one daemon on a machine.
//!
//! Without LTTng, its development files and Babeltrace, the test is skipped; CI has them.
#![cfg(target_os = "linux")]

mod program;
mod signals;

use std::fs::{self, File, Permissions};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use program::{program, run_in, status, stderr, stdout};
use rustix::process::{Pid, Signal, geteuid, kill_process};
use serde_json::Value;

/// The longest time that a test waits. After this time, the test fails.
const LIMIT: Duration = Duration::from_secs(120);

/// The id of the unprivileged user that runs LTTng if the test runs as root.
const UNPRIVILEGED: &str = "65534";

/// Size of a packet. The events are so large that a packet contains about 60 of them.
const PACKET: &str = "--subbuf-size=4096";

/// A session daemon, and the program that it traces.
struct Lttng {
    folder: tempfile::TempDir,
    daemon: Child,
    steps: Option<(Child, ChildStdin, BufReader<ChildStdout>)>,
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < LIMIT, "{what}: not after {LIMIT:?}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Returns a command that runs as a user whom LTTng does not treat as root. LTTng's home is in
/// `folder`.
fn command(folder: &Path, name: &Path) -> Command {
    let mut command = match geteuid().is_root() {
        true => {
            let mut command = Command::new("setpriv");
            let user = format!("--reuid={UNPRIVILEGED}");
            command.args([&user, &format!("--regid={UNPRIVILEGED}"), "--clear-groups"]).arg(name);
            command
        }
        false => Command::new(name),
    };
    command.env("LTTNG_HOME", folder).env("HOME", folder).current_dir(folder);
    // The traced program waits, without a time limit, until the daemon has enabled the events of
    // the program.
    command.env("LTTNG_UST_REGISTER_TIMEOUT", "-1");
    command.stdin(Stdio::null());
    command
}

/// Returns a command that compiles the traced program.
fn compiler() -> Command {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lttng");
    let mut compiler = Command::new("cc");
    compiler.arg("-I").arg(&folder).arg(folder.join("steps.c"));
    compiler
}

/// Returns false if a program or library that the test needs is missing. In CI, panics instead.
fn is_installed() -> bool {
    let compiles = compiler().arg("-fsyntax-only").stderr(Stdio::null()).status();
    let compiles = compiles.is_ok_and(|status| status.success());
    let runs = |name: &str| {
        let mut command = Command::new(name);
        command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    let is = compiles && ["lttng", "lttng-sessiond", "babeltrace2"].into_iter().all(runs);
    if !is {
        assert!(
            std::env::var_os("CI").is_none(),
            "CI has lttng-tools, liblttng-ust-dev, babeltrace2"
        );
        // Bypass the test runner's capture, which hides the output of passing tests.
        let missing = "skipped: lttng-tools, liblttng-ust-dev or babeltrace2 is not installed";
        let _ = writeln!(std::io::stderr(), "{missing}");
    }
    is
}

impl Lttng {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
        let mut compiler = compiler();
        compiler.arg("-o").arg(folder.path().join("steps")).args(["-llttng-ust", "-ldl"]);
        assert!(compiler.status().unwrap().success());
        let mut daemon = command(folder.path(), Path::new("lttng-sessiond"));
        daemon.arg("--no-kernel").stdout(Stdio::null()).stderr(Stdio::null());
        let daemon = daemon.spawn().unwrap();
        let lttng = Self { folder, daemon, steps: None };
        wait_until("the daemon answers", || lttng.output(&["list"]).status.success());
        lttng
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn output(&self, arguments: &[&str]) -> Output {
        let mut command = command(self.path(), Path::new("lttng"));
        command.args(["--no-sessiond", "--quiet"]).args(arguments).output().unwrap()
    }

    fn run(&self, arguments: &[&str]) {
        let output = self.output(arguments);
        assert!(output.status.success(), "lttng {arguments:?}: {}", stderr(&output));
    }

    /// Creates a session and starts it. Returns its folder.
    fn session(&self, name: &str, options: &[&str]) -> PathBuf {
        let folder = self.path().join(name);
        let output = format!("--output={}", folder.display());
        self.run(&[&["create", name, &output], options].concat());
        self.run(&["enable-channel", "--userspace", PACKET, "--num-subbuf=32", "ch"]);
        self.run(&["enable-event", "--userspace", "--channel=ch", "tw:*"]);
        self.run(&["add-context", "--userspace", "--type=vtid", "--type=procname"]);
        self.run(&["start"]);
        folder
    }

    /// Lets the traced program record this number of events. The first call starts the program.
    fn record(&mut self, count: usize) {
        if self.steps.is_none() {
            let mut steps = command(self.path(), &self.path().join("steps"));
            steps.stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut steps = steps.spawn().unwrap();
            let (stdin, stdout) = (steps.stdin.take().unwrap(), steps.stdout.take().unwrap());
            self.steps = Some((steps, stdin, BufReader::new(stdout)));
        }
        let (_, stdin, stdout) = self.steps.as_mut().unwrap();
        writeln!(stdin, "{count}").unwrap();
        let mut line = String::new();
        assert!(stdout.read_line(&mut line).unwrap() > 0, "the traced program ended");
    }

    /// Ends the traced program.
    fn end_program(&mut self) {
        if let Some((mut steps, stdin, _)) = self.steps.take() {
            drop(stdin);
            assert!(steps.wait().unwrap().success());
        }
    }
}

impl Drop for Lttng {
    fn drop(&mut self) {
        if let Some((mut steps, ..)) = self.steps.take() {
            let _ = steps.kill();
            let _ = steps.wait();
        }
        // The daemon ends the programs that it started.
        let _ = kill_process(Pid::from_child(&self.daemon), Signal::TERM);
        let _ = self.daemon.wait();
    }
}

/// A running command that follows a folder, and the file for its output.
struct Follower {
    child: Child,
    output: PathBuf,
}

impl Follower {
    fn start(folder: &Path, name: &str, arguments: &[&str]) -> Self {
        signals::end_programs();
        let output = folder.join(name);
        let mut command = program(folder);
        command.args(arguments).stdout(File::create(&output).unwrap()).stderr(Stdio::piped());
        Self { child: command.spawn().unwrap(), output }
    }

    fn events(&self) -> usize {
        fs::read_to_string(&self.output).unwrap().matches("{\"seq\":").count()
    }

    /// Ends the command with a signal. Returns its output and its messages.
    fn end(mut self) -> (String, String) {
        kill_process(Pid::from_child(&self.child), Signal::INT).unwrap();
        let mut messages = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut messages).unwrap();
        let status = self.child.wait().unwrap();
        assert_eq!(status.code(), Some(0), "{messages}");
        (fs::read_to_string(&self.output).unwrap(), messages)
    }
}

/// Returns the number of events that a server shows at its address.
fn served(address: &str) -> Option<u64> {
    let (authority, secret) = address.trim_end().strip_prefix("http://")?.split_once('/')?;
    let mut stream = TcpStream::connect(authority).ok()?;
    let head = format!("GET /{secret}api/v1/trace HTTP/1.1\r\nHost: {authority}\r\n\r\n");
    stream.write_all(head.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (_, body) = answer.split_once("\r\n\r\n")?;
    let trace: Value = serde_json::from_str(body).ok()?;
    trace["events"].as_u64().filter(|_| trace["reading"] == false)
}

/// Compares Tracewell's text of a session with Babeltrace's text.
fn compare_with_babeltrace(folder: &Path, session: &str, events: usize) {
    let ours = run_in(folder, &["report", "--layout", "babeltrace", session]);
    assert_eq!((status(&ours), stderr(&ours).as_str()), (Some(0), ""));
    let mut babeltrace = Command::new("babeltrace2");
    babeltrace.args(["--clock-gmt", "--clock-date", session]).current_dir(folder);
    let theirs = babeltrace.env("BABELTRACE_TERM_COLOR", "NEVER").output().unwrap();
    assert!(theirs.status.success(), "{}", stderr(&theirs));
    let (ours, theirs) = (stdout(&ours), stdout(&theirs));
    let differing = ours.lines().zip(theirs.lines()).find(|(ours, theirs)| ours != theirs);
    assert_eq!(differing, None);
    assert_eq!((ours.lines().count(), theirs.lines().count()), (events, events));
}

/// Returns the values of the argument `number` in JSON lines.
fn numbers(lines: &str) -> Vec<u64> {
    let events = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    events.map(|event| event["args"]["number"].as_u64().unwrap()).collect()
}

#[test]
fn a_session_is_followed_while_lttng_writes_it() {
    if !is_installed() {
        return;
    }
    let mut lttng = Lttng::start();
    let folder = lttng.path().to_owned();
    lttng.session("live", &[]);
    let lines = ["collect", "--follow", "--format", "jsonl", "--file", "live"];
    let printed = Follower::start(&folder, "printed", &lines);
    let limited = [&lines[..], &["-O", "wait=10s"]].concat();
    let limited = Follower::start(&folder, "limited", &limited);
    let analyzed = Follower::start(&folder, "analyzed", &["analyze", "--follow", "live"]);
    lttng.record(500);
    // LTTng keeps the metadata in memory until a rotation or the end of the session.
    lttng.run(&["rotate"]);
    wait_until("the events of the first chunk", || printed.events() == 500);
    wait_until("the same with a limit", || limited.events() == 500);
    let mut server = program(&folder);
    server.args(["serve", "live"]).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut server = server.spawn().unwrap();
    let mut address = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut address).unwrap();
    lttng.record(300);
    lttng.run(&["rotate"]);
    wait_until("the events of the second chunk", || printed.events() == 800);
    wait_until("the same with a limit", || limited.events() == 800);
    lttng.record(300);
    lttng.end_program();
    lttng.run(&["stop"]);
    lttng.run(&["destroy"]);
    wait_until("the server shows all events", || served(&address) == Some(1100));
    server.kill().unwrap();
    server.wait().unwrap();
    let whole = run_in(&folder, &["events", "live"]);
    assert_eq!(numbers(&stdout(&whole)), (0..1100).collect::<Vec<_>>());
    for follower in [printed, limited] {
        let (lines, messages) = follower.end();
        assert!(lines == stdout(&whole), "{messages}");
        assert_eq!(messages.lines().count(), 1, "{messages}");
    }
    let figures = run_in(&folder, &["analyze", "live"]);
    assert_eq!(analyzed.end().0, stdout(&figures));
    compare_with_babeltrace(&folder, "live", 1100);
}

#[test]
fn overlapping_snapshots_are_one_trace() {
    if !is_installed() {
        return;
    }
    let mut lttng = Lttng::start();
    let folder = lttng.path().to_owned();
    lttng.session("snapshots", &["--snapshot"]);
    for _ in 0..3 {
        lttng.record(150);
        lttng.run(&["snapshot", "record"]);
    }
    lttng.end_program();
    lttng.run(&["destroy"]);
    let events = run_in(&folder, &["events", "snapshots"]);
    assert_eq!(status(&events), Some(0), "{}", stderr(&events));
    assert_eq!(numbers(&stdout(&events)), (0..450).collect::<Vec<_>>());
}
