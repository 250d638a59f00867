//! What commands write: never over what they read, whole or not at all, and nothing is left behind.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn program(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tracewell"));
    command.current_dir(folder).stdin(Stdio::null());
    command
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    program(folder).args(arguments).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The names and contents of the files of a folder.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| {
            let content = fs::read(entry.path()).unwrap_or_default();
            (entry.file_name().into_string().unwrap(), content)
        })
        .collect();
    files.sort();
    files
}

/// A folder with inputs of all kinds, each with other paths to it.
fn folder_of_inputs() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::copy(root().join("examples/scheduling.trx"), at("t")).unwrap();
    fs::copy(root().join("examples/hooks.twx"), at("h")).unwrap();
    fs::copy(root().join("templates/groups"), at("g")).unwrap();
    fs::copy(root().join("templates/aix.fmt"), at("f")).unwrap();
    fs::write(at("names"), "1 one\n").unwrap();
    fs::write(at("custom"), "4096,\"Mine\",\"a\",\"b\"\n").unwrap();
    fs::write(at("ids"), "134\n").unwrap();
    fs::write(at("t.arrivals"), "").unwrap();
    folder
}

/// An input, and a command without the path that it writes to.
const COMMANDS: [(&str, &[&str]); 17] = [
    ("t", &["report", "t", "-o"]),
    ("t", &["report", "h", "t", "-o"]),
    ("h", &["report", "h", "-o"]),
    ("h", &["report", "-C", "0", "h", "-o"]),
    ("f", &["report", "-t", "f", "h", "-o"]),
    ("g", &["report", "--group-file", "g", "h", "-o"]),
    ("ids", &["report", "-d", "ids", "h", "-o"]),
    ("custom", &["report", "--custom-events", "custom", "t", "-o"]),
    ("t", &["convert", "t", "--to", "csv", "-o"]),
    ("h", &["convert", "--join", "h", "t", "--to", "csv", "-o"]),
    ("names", &["convert", "--names", "names", "t", "--to", "csv", "-o"]),
    ("t.arrivals", &["convert", "t", "--to", "csv", "-o"]),
    ("h", &["trcrpt", "h", "-o"]),
    ("h", &["trcrpt", "-r", "h", "-o"]),
    ("f", &["trcrpt", "-t", "f", "h", "-o"]),
    ("t", &["collect", "--seconds", "0.1", "--file", "t", "-o"]),
    ("names", &["collect", "--once", "--names", "names", "--file", "t", "-o"]),
];

#[test]
fn no_command_writes_over_a_file_that_it_reads() {
    for (input, command) in COMMANDS {
        let folder = folder_of_inputs();
        let at = |name: &str| folder.path().join(name);
        fs::hard_link(at(input), at("hard")).unwrap();
        let mut paths = vec![input.to_owned(), format!("././{input}")];
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(input, at("soft")).unwrap();
            std::os::unix::fs::symlink("soft", at("softer")).unwrap();
            paths.extend(["hard".to_owned(), "softer".to_owned()]);
        }
        // On a file system that does not tell cases apart this is the same file, elsewhere a new one.
        let shout = input.to_uppercase();
        if at(&shout).exists() {
            paths.push(shout);
        }
        let before = files(folder.path());
        for path in paths {
            let output = run(folder.path(), &[command, &[&path]].concat());
            let expected = if command[0] == "trcrpt" { 1 } else { 2 };
            let told = stderr(&output);
            assert_eq!(output.status.code(), Some(expected), "{command:?} {path}: {told}");
            let said = format!("tracewell: {path}: is an input, too");
            assert!(told.contains(&said), "{command:?} {path}: {told}");
            assert!(files(folder.path()) == before, "{command:?} {path} changed a file");
        }
    }
}

#[cfg(unix)]
#[test]
fn standard_input_and_output_may_not_be_one_file() {
    let folder = folder_of_inputs();
    let before = files(folder.path());
    let stdin = fs::File::open(folder.path().join("t")).unwrap();
    let mut convert = program(folder.path());
    convert.args(["convert", "-", "--to", "csv", "-o", "t"]).stdin(stdin);
    let output = convert.output().unwrap();
    let told = "tracewell: t: is an input, too (standard input), and would be overwritten: name \
                another output\n";
    assert_eq!((output.status.code(), stderr(&output)), (Some(2), told.to_owned()));
    for arguments in [["report", "t"], ["events", "t"], ["info", "t"]] {
        let mut options = fs::File::options();
        let stdout = options.append(true).open(folder.path().join("t")).unwrap();
        let output = program(folder.path()).args(arguments).stdout(stdout).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let told = stderr(&output);
        assert!(told.contains("standard output: is an input, too (t)"), "{told}");
    }
    assert!(files(folder.path()) == before);
}

#[test]
fn rules_are_written_to_a_new_file_unless_it_is_forced() {
    let folder = folder_of_inputs();
    let before = files(folder.path());
    // The order is mixed up: the trace stands in the place of the rules.
    let output = run(folder.path(), &["check", "--write", "t", "names"]);
    let told = "tracewell: t: is there already: name a new file, or give --force\n";
    assert_eq!((output.status.code(), stderr(&output)), (Some(2), told.to_owned()));
    // It is never forced to replace what it reads.
    let output = run(folder.path(), &["check", "--write", "--force", "./t", "t"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(files(folder.path()) == before);
    let forced = ["check", "--write", "--force", "names", "t"];
    assert_eq!(run(folder.path(), &forced).status.code(), Some(0));
    assert!(fs::read_to_string(folder.path().join("names")).unwrap().starts_with("# What happ"));
    let new = ["check", "--write", "new.rules", "t"];
    assert_eq!(run(folder.path(), &new).status.code(), Some(0));
    let devices = ["check", "--write", "-", "t"];
    assert_eq!(run(folder.path(), &devices).status.code(), Some(0));
}

#[test]
fn a_report_of_several_traces_is_one_file() {
    let folder = folder_of_inputs();
    let output = run(folder.path(), &["report", "--layout", "lines", "-o", "r", "t", "h"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let report = fs::read_to_string(folder.path().join("r")).unwrap();
    assert!(report.contains("==> t <==") && report.contains("==> h <=="), "{report}");
}

#[test]
fn a_report_of_what_cannot_be_read_replaces_nothing() {
    for layout in ["lines", "trcrpt"] {
        let folder = folder_of_inputs();
        fs::write(folder.path().join("r"), "earlier").unwrap();
        let arguments = ["report", "--layout", layout, "-o", "r", "absent", "names"];
        assert_eq!(run(folder.path(), &arguments).status.code(), Some(4));
        assert_eq!(fs::read_to_string(folder.path().join("r")).unwrap(), "earlier", "{layout}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_signal_removes_what_was_not_finished() {
    use rustix::process::{Pid, Signal, kill_process};
    use std::os::unix::process::ExitStatusExt;
    let stream = root().join("crates/tracewell/tests/fixtures/rkh/ahsm-a.bin");
    let stream = fs::read(stream).unwrap();
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("out.csv"), "earlier").unwrap();
        let mut convert = program(folder.path());
        convert.args(["convert", "-", "-o", "out.csv"]).stdin(Stdio::piped());
        let mut convert = convert.stderr(Stdio::null()).spawn().unwrap();
        // It waits for more, for the pipe is open.
        let mut pipe = convert.stdin.take().unwrap();
        pipe.write_all(&stream.repeat(200_000 / stream.len())).unwrap();
        let started = std::time::Instant::now();
        while files(folder.path()).len() < 2 {
            assert!(started.elapsed().as_secs() < 60, "no draft is made");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        kill_process(Pid::from_child(&convert), signal).unwrap();
        let status = convert.wait().unwrap();
        assert_eq!(status.signal(), Some(signal.as_raw()), "{status}");
        let left = [("out.csv".to_owned(), b"earlier".to_vec())];
        assert!(files(folder.path()) == left, "{:?}", files(folder.path()));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_signal_that_is_ignored_removes_nothing() {
    let folder = folder_of_inputs();
    let script = "trap '' HUP; kill -HUP $$; \"$PROGRAM\" convert t -o out.csv & \
                  kill -HUP $!; wait $!";
    let mut shell = Command::new("sh");
    shell.args(["-c", script]).env("PROGRAM", env!("CARGO_BIN_EXE_tracewell"));
    assert!(shell.current_dir(folder.path()).status().unwrap().success());
    assert!(folder.path().join("out.csv").is_file());
}
