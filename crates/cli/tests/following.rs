//! Tests how verbs read streams and growing files: a signal ends the reading, and the results cover
//! the part that was read.
#![cfg(target_os = "linux")]

mod program;
mod signals;

use std::fs::{self, File};
use std::io::Write;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use program::{stderr, stdout};
use rustix::io::ioctl_fionread;
use rustix::process::{Pid, Signal, kill_process};

/// The longest time that a test waits. After this time, the test fails.
const LIMIT: Duration = Duration::from_secs(120);

fn trace() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tracewell/tests/fixtures/rkh");
    folder.join("ahsm-a.bin")
}

fn tracewell(arguments: &[&str]) -> Command {
    signals::end_programs();
    let mut command = Command::new(env!("CARGO_BIN_EXE_tracewell"));
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Waits until a condition holds.
fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < LIMIT, "{what}: not after {LIMIT:?}");
        thread::sleep(Duration::from_millis(2));
    }
}

/// Returns true if the process has read this file to byte `end`.
fn has_read(child: &Child, file: &Path, end: usize) -> bool {
    let process = PathBuf::from(format!("/proc/{}", child.id()));
    let Ok(open) = fs::read_dir(process.join("fd")) else { return false };
    let position = open.flatten().find_map(|fd| {
        let is_it = fs::read_link(fd.path()).is_ok_and(|path| path == file);
        let info = process.join("fdinfo").join(fd.file_name());
        let info = is_it.then(|| fs::read_to_string(info).ok()).flatten()?;
        info.lines().find_map(|line| line.strip_prefix("pos:"))?.trim().parse::<usize>().ok()
    });
    position == Some(end)
}

/// Writes the trace into a pipe in three parts, and then sends the signal. The reader reads each
/// part before the next part is written. After two parts, it has recognised the format and handles
/// signals. The last part may still be in the pipe when the signal arrives.
fn write_and_end(pipe: &mut (impl Write + AsFd), child: &Child, signal: Signal) {
    let bytes = fs::read(trace()).unwrap();
    for part in bytes.chunks(bytes.len().div_ceil(3)) {
        wait_until("the pipe is empty", || ioctl_fionread(&*pipe).unwrap() == 0);
        pipe.write_all(part).unwrap();
    }
    send(child, signal);
}

fn send(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

/// Returns the output of a command that reads the whole trace from a file.
fn of_file(arguments: &[&str]) -> Output {
    tracewell(arguments).arg(trace()).output().unwrap()
}

/// Returns this output with `path` instead of the path of the trace.
fn named(output: &Output, path: &Path) -> String {
    let file = |path: &Path| format!("\"file\": \"{}\"", path.display());
    stdout(output).replace(&file(&trace()), &file(path))
}

#[test]
fn a_signal_ends_a_running_stream_and_its_figures_so_far_are_printed() {
    for (signal, form) in [(Signal::INT, &[][..]), (Signal::TERM, &[]), (Signal::INT, &["--json"])]
    {
        let arguments = [&["analyze"], form].concat();
        let mut child = tracewell(&arguments).arg("-").spawn().unwrap();
        let mut pipe = child.stdin.take().unwrap();
        write_and_end(&mut pipe, &child, signal);
        let output = child.wait_with_output().unwrap();
        // Keep the pipe open until here, because its end would end the command.
        drop(pipe);
        let whole = of_file(&arguments);
        assert_eq!(output.status.code(), whole.status.code(), "{output:?}");
        assert_eq!(stdout(&output), named(&whole, Path::new("-")));
        let reported = stderr(&output);
        assert!(reported.contains("-: reading was stopped by a signal: "), "{reported}");
    }
}

#[test]
fn a_signal_ends_a_named_pipe_and_the_files_after_it_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let child = tracewell(&["analyze"]).arg(&pipe).arg(trace()).spawn().unwrap();
    let mut writer = File::options().write(true).open(&pipe).unwrap();
    write_and_end(&mut writer, &child, Signal::INT);
    let output = child.wait_with_output().unwrap();
    drop(writer);
    let figures = stdout(&of_file(&["analyze"]));
    let titled = |path: &Path| format!("==> {} <==\n{figures}", path.display());
    assert_eq!(stdout(&output), titled(&pipe) + &titled(&trace()));
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

#[test]
fn a_stream_that_ends_by_itself_is_not_said_to_be_ended_by_a_signal() {
    let mut child = tracewell(&["analyze", "-"]).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(&fs::read(trace()).unwrap()).unwrap();
    drop(pipe);
    let output = child.wait_with_output().unwrap();
    assert_eq!(stdout(&output), stdout(&of_file(&["analyze"])));
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""));
}

#[test]
fn the_figures_of_a_file_that_grows_are_printed_after_a_signal() {
    let bytes = fs::read(trace()).unwrap();
    let (first, rest) = bytes.split_at(bytes.len() / 2);
    for (signal, form) in [(Signal::INT, &[][..]), (Signal::TERM, &["--json"])] {
        let arguments = [&["analyze"], form].concat();
        let folder = tempfile::tempdir().unwrap();
        let growing = folder.path().canonicalize().unwrap().join("growing.bin");
        fs::write(&growing, first).unwrap();
        let child = tracewell(&arguments).arg("--follow").arg(&growing).spawn().unwrap();
        wait_until("the first half is read", || has_read(&child, &growing, first.len()));
        File::options().append(true).open(&growing).unwrap().write_all(rest).unwrap();
        wait_until("the file is read", || has_read(&child, &growing, bytes.len()));
        send(&child, signal);
        let output = child.wait_with_output().unwrap();
        let whole = of_file(&arguments);
        assert_eq!(output.status.code(), whole.status.code(), "{output:?}");
        assert_eq!(stdout(&output), named(&whole, &growing));
        let reported = stderr(&output);
        assert!(reported.contains("growing.bin: reading was stopped by a signal: "), "{reported}");
    }
}

#[test]
fn following_a_stream_ends_with_it() {
    let mut child = tracewell(&["analyze", "--follow", "-"]).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(&fs::read(trace()).unwrap()).unwrap();
    drop(pipe);
    let output = child.wait_with_output().unwrap();
    assert_eq!(stdout(&output), stdout(&of_file(&["analyze"])));
    assert!(!stderr(&output).contains("stopped by a signal"), "{output:?}");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

#[test]
fn a_signal_ends_the_check_of_a_running_stream_and_missing_steps_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let rules = folder.path().join("live.rules");
    fs::write(&rules, "eventually SM_DCH\neventually QUE_FULL\n").unwrap();
    let arguments = ["check", rules.to_str().unwrap()];
    let mut child = tracewell(&arguments).arg("-").spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    write_and_end(&mut pipe, &child, Signal::INT);
    let output = child.wait_with_output().unwrap();
    drop(pipe);
    assert_eq!(stdout(&output), stdout(&of_file(&arguments)));
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(stderr(&output).contains("-: reading was stopped by a signal: "), "{output:?}");
}

#[test]
fn files_that_do_not_grow_are_refused_by_all_following_commands() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let example = repository.join("examples/scheduling.trx");
    let shark = repository.join("crates/tracewell/tests/fixtures/shark/a_linear.raw");
    let (example, shark) = (example.to_str().unwrap(), shark.to_str().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let rules = folder.path().join("live.rules");
    fs::write(&rules, "never QUE_FULL\n").unwrap();
    let cases: [(&[&str], &str); 6] = [
        (&["a", "b"], "--follow: expected one trace, found several"),
        (&["--join", "a"], "--join: a growing file cannot be joined with others"),
        (
            &["--custom-events", "names.trxc", "a"],
            "--custom-events: the option is for traces of format threadx",
        ),
        (&["--format-in", "rkhh", "a"], "there is no format 'rkhh'"),
        (&[example], "a trace of format threadx is read as a whole"),
        (&[shark], "a trace of format shark is read as a whole"),
    ];
    for verb in [&["analyze"][..], &["check", rules.to_str().unwrap()]] {
        for (arguments, message) in &cases {
            let mut command = tracewell(verb);
            let output = command.arg("--follow").args(*arguments).output().unwrap();
            let reported = stderr(&output);
            assert!(reported.contains(message), "{verb:?} {arguments:?}: {reported}");
            assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(2), ""));
        }
    }
}

#[test]
fn following_ends_at_once_if_nothing_can_be_shown() {
    for arguments in [&["-O", "nope=1"][..], &["--format-in", "aix"]] {
        let mut command = tracewell(&["analyze", "--follow"]);
        let mut child = command.args(arguments).arg(trace()).spawn().unwrap();
        wait_until("the command has ended", || child.try_wait().unwrap().is_some());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        assert!(stderr(&output).contains("nothing more is shown: "), "{output:?}");
    }
}
