//! Tests the output files of commands: commands never overwrite their inputs, write complete files
//! or none, and leave no other files.

mod program;
#[cfg(target_os = "linux")]
mod signals;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use program::{program, root, run_in, stderr};

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

/// A folder with inputs of all kinds, and additional paths to each of them.
fn folder_of_inputs() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::copy(root().join("examples/scheduling.trx"), at("t")).unwrap();
    fs::copy(root().join("examples/hooks.twx"), at("h")).unwrap();
    fs::copy(root().join("crates/tracewell/templates/groups"), at("g")).unwrap();
    fs::copy(root().join("crates/tracewell/templates/aix.fmt"), at("f")).unwrap();
    fs::write(at("names"), "1 one\n").unwrap();
    fs::write(at("custom"), "4096,\"Mine\",\"a\",\"b\"\n").unwrap();
    fs::write(at("ids"), "134\n").unwrap();
    fs::write(at("schema"), "format = \"threadx\"\n").unwrap();
    fs::write(at("t.arrivals"), "").unwrap();
    folder
}

/// An input, and a command to which the test appends an output path.
const COMMANDS: [(&str, &[&str]); 18] = [
    ("t", &["report", "t", "-o"]),
    ("t", &["report", "h", "t", "-o"]),
    ("h", &["report", "h", "-o"]),
    ("h", &["report", "-C", "0", "h", "-o"]),
    ("f", &["report", "-t", "f", "h", "-o"]),
    ("g", &["report", "--group-file", "g", "h", "-o"]),
    ("ids", &["report", "-d", "ids", "h", "-o"]),
    ("custom", &["report", "--custom-events", "custom", "t", "-o"]),
    ("schema", &["report", "--schema", "schema", "t", "-o"]),
    ("t", &["convert", "t", "--format", "csv", "-o"]),
    ("h", &["convert", "--join", "h", "t", "--format", "csv", "-o"]),
    ("names", &["convert", "--names", "names", "t", "--format", "csv", "-o"]),
    ("t.arrivals", &["convert", "t", "--format", "csv", "-o"]),
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
        // On a file system that ignores case, this is the same file; otherwise it is a new file.
        let shout = input.to_uppercase();
        if at(&shout).exists() {
            paths.push(shout);
        }
        let before = files(folder.path());
        for path in paths {
            let output = run_in(folder.path(), &[command, &[&path]].concat());
            let expected = if command[0] == "trcrpt" { 1 } else { 2 };
            let reported = stderr(&output);
            assert_eq!(output.status.code(), Some(expected), "{command:?} {path}: {reported}");
            let said = format!("error: {path}: is also an input");
            assert!(reported.contains(&said), "{command:?} {path}: {reported}");
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
    convert.args(["convert", "-", "--format", "csv", "-o", "t"]).stdin(stdin);
    let output = convert.output().unwrap();
    let reported = "error: t: is also an input (standard input) and would be overwritten: name \
                another output\n";
    assert_eq!((output.status.code(), stderr(&output)), (Some(2), reported.to_owned()));
    for arguments in [["report", "t"], ["events", "t"], ["info", "t"]] {
        let mut options = fs::File::options();
        let stdout = options.append(true).open(folder.path().join("t")).unwrap();
        let output = program(folder.path()).args(arguments).stdout(stdout).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let reported = stderr(&output);
        assert!(reported.contains("standard output: is also an input (t)"), "{reported}");
    }
    assert!(files(folder.path()) == before);
}

#[test]
fn rules_are_written_to_a_new_file_unless_it_is_forced() {
    let folder = folder_of_inputs();
    let before = files(folder.path());
    // The arguments are in the wrong order: the trace is given as the rules.
    let output = run_in(folder.path(), &["check", "--write", "t", "names"]);
    let reported = "error: t: already exists: name a new file, or use --force\n";
    assert_eq!((output.status.code(), stderr(&output)), (Some(2), reported.to_owned()));
    // Even `--force` does not replace an input.
    let output = run_in(folder.path(), &["check", "--write", "--force", "./t", "t"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(files(folder.path()) == before);
    let forced = ["check", "--write", "--force", "names", "t"];
    assert_eq!(run_in(folder.path(), &forced).status.code(), Some(0));
    assert!(
        fs::read_to_string(folder.path().join("names")).unwrap().starts_with("# The events of ")
    );
    let new = ["check", "--write", "new.rules", "t"];
    assert_eq!(run_in(folder.path(), &new).status.code(), Some(0));
    let devices = ["check", "--write", "-", "t"];
    assert_eq!(run_in(folder.path(), &devices).status.code(), Some(0));
}

#[test]
fn a_report_of_several_traces_is_one_file() {
    let folder = folder_of_inputs();
    let output = run_in(folder.path(), &["report", "--layout", "lines", "-o", "r", "t", "h"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let report = fs::read_to_string(folder.path().join("r")).unwrap();
    assert!(report.contains("==> t <==") && report.contains("==> h <=="), "{report}");
}

#[test]
fn a_report_of_unreadable_input_replaces_no_file() {
    for layout in ["lines", "trcrpt"] {
        let folder = folder_of_inputs();
        fs::write(folder.path().join("r"), "earlier").unwrap();
        let arguments = ["report", "--layout", layout, "-o", "r", "absent", "names"];
        assert_eq!(run_in(folder.path(), &arguments).status.code(), Some(4));
        assert_eq!(fs::read_to_string(folder.path().join("r")).unwrap(), "earlier", "{layout}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_signal_removes_unfinished_output() {
    use rustix::process::{Pid, Signal, kill_process};
    use std::os::unix::process::ExitStatusExt;
    signals::end_programs();
    let stream = root().join("crates/tracewell/tests/fixtures/rkh/ahsm-a.bin");
    let stream = fs::read(stream).unwrap();
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("out.csv"), "earlier").unwrap();
        let mut convert = program(folder.path());
        convert.args(["convert", "-", "-o", "out.csv"]).stdin(Stdio::piped());
        let mut convert = convert.stderr(Stdio::null()).spawn().unwrap();
        // The command waits for more input, because the pipe is open.
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
fn a_signal_removes_an_unfinished_folder() {
    use rustix::process::{Pid, Signal, kill_process};
    use std::os::unix::process::ExitStatusExt;
    signals::end_programs();
    let stream = root().join("crates/tracewell/tests/fixtures/rkh/ahsm-a.bin");
    let stream = fs::read(stream).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut convert = program(folder.path());
    convert.args(["convert", "-", "-o", "out.ctf"]).stdin(Stdio::piped());
    let mut convert = convert.stderr(Stdio::null()).spawn().unwrap();
    // The command waits for more input, because the pipe is open.
    let mut pipe = convert.stdin.take().unwrap();
    pipe.write_all(&stream.repeat(3_000_000 / stream.len())).unwrap();
    let started = std::time::Instant::now();
    let has_stream = || {
        let mut drafts = fs::read_dir(folder.path()).unwrap().map(|draft| draft.unwrap().path());
        drafts.any(|draft| draft.join("stream_0").is_file())
    };
    while !has_stream() {
        assert!(started.elapsed().as_secs() < 60, "no draft is made");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    kill_process(Pid::from_child(&convert), Signal::TERM).unwrap();
    let status = convert.wait().unwrap();
    assert_eq!(status.signal(), Some(Signal::TERM.as_raw()), "{status}");
    assert_eq!(files(folder.path()), []);
}

#[test]
fn a_folder_is_written_whole_and_never_replaces_content() {
    let folder = folder_of_inputs();
    let at = |name: &str| folder.path().join(name);
    let before = files(folder.path());
    let convert = |output: &str, more: &[&str]| {
        run_in(folder.path(), &[&["convert", "t", "--format", "ctf", "-o", output], more].concat())
    };
    for (output, more, status, reported) in [
        ("t", &[][..], 2, "error: t: is also an input"),
        ("names", &[], 2, "error: names: expected a new or an empty folder"),
        (".", &[], 2, "error: .: expected a new or an empty folder"),
        ("-", &[], 2, "error: ctf is a folder: name it with -o"),
        ("absent/out", &[], 4, "error: absent/out: No such file or directory"),
        ("out", &["-T", "uuid=0"], 2, "error: -T uuid: expected a UUID"),
    ] {
        let found = convert(output, more);
        let text = stderr(&found);
        assert!(text.contains(reported), "{output}: {text}");
        assert_eq!(found.status.code(), Some(status), "{output}: {text}");
        assert!(files(folder.path()) == before, "{output} changed a file");
    }
    fs::create_dir(at("empty")).unwrap();
    for output in ["new/", "empty"] {
        let found = convert(output, &[]);
        assert_eq!(found.status.code(), Some(0), "{}", stderr(&found));
        for file in ["metadata", "stream_0", "index/stream_0.idx"] {
            assert!(at(output).join(file).is_file(), "{output}: {file}");
        }
        let written = files(&at(output));
        let again = convert(output, &[]);
        assert_eq!(again.status.code(), Some(2), "{}", stderr(&again));
        assert!(files(&at(output)) == written, "{output} changed");
    }
    assert_eq!(files(folder.path()).len(), before.len() + 2, "only the folders are new");
}

#[test]
fn no_output_may_be_in_the_folder_of_an_input() {
    let folder = folder_of_inputs();
    let made = run_in(folder.path(), &["convert", "t", "-o", "in.ctf"]);
    assert_eq!(made.status.code(), Some(0), "{}", stderr(&made));
    fs::write(folder.path().join("my.rules"), "tx_mutex_get\n").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("in.ctf", folder.path().join("link")).unwrap();
    let trace = folder.path().join("in.ctf");
    let before = files(&trace);
    let commands: [&[&str]; 8] = [
        &["report", "in.ctf", "-o", "in.ctf/new"],
        &["report", "in.ctf", "-o", "in.ctf/metadata"],
        &["events", "in.ctf", "-o", "in.ctf/index/new"],
        &["events", "in.ctf", "--format", "csv", "-o", "out", "--losses", "in.ctf/new"],
        &["convert", "in.ctf/", "--format", "ctf", "-o", "in.ctf/inner"],
        &["convert", "in.ctf", "--format", "csv", "-o", "./in.ctf/new"],
        &["check", "my.rules", "in.ctf", "--junit", "in.ctf/new"],
        &["check", "--write", "in.ctf/new", "in.ctf"],
    ];
    for command in commands {
        let output = run_in(folder.path(), command);
        let reported = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{command:?}: {reported}");
        assert!(reported.contains("is in the folder of an input (in.ctf"), "{reported}");
        assert!(files(&trace) == before, "{command:?} changed the trace");
    }
    #[cfg(unix)]
    {
        let output = run_in(folder.path(), &["report", "link", "-o", "in.ctf/metadata"]);
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
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
