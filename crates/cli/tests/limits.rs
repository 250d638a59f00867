//! What the program refuses, and the words that it uses: files of another kind, devices that never end, numbers that are too
//! large, full disks, clocks that a trace does not have.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn run<S: AsRef<OsStr>>(arguments: &[S]) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_tracewell"));
    program.args(arguments).current_dir(root()).stdin(Stdio::null()).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn status(output: &Output) -> Option<i32> {
    output.status.code()
}

fn written(folder: &Path, name: &str, bytes: impl AsRef<[u8]>) -> String {
    let path = folder.join(name);
    std::fs::write(&path, bytes).unwrap();
    path.to_str().unwrap().to_owned()
}

const TRACE: &str = "examples/scheduling.trx";

#[test]
fn a_picture_is_told_once_to_be_no_text_file() {
    let folder = tempfile::tempdir().unwrap();
    let jpeg = [b"\xFF\xD8\xFF\xE0\x00\x10JFIF\x00".as_slice(), &[0x9B; 5000]].concat();
    let jpeg = written(folder.path(), "photo.jpg", jpeg);
    let told = format!("tracewell: {jpeg}: not a text file: at byte 4: found byte 00\n");
    for verb in [
        &["template", "check", &jpeg][..],
        &["template", "list", &jpeg],
        &["template", "fmt", &jpeg],
        &["report", "-t", &jpeg, TRACE],
        &["check", &jpeg, TRACE],
        &["report", "--names", &jpeg, TRACE],
        &["report", "--custom-events", &jpeg, TRACE],
    ] {
        let output = run(verb);
        assert_eq!((status(&output), stderr(&output)), (Some(3), told.clone()), "{verb:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_device_that_never_ends_is_refused() {
    for verb in [
        &["report", "--names", "/dev/zero", TRACE][..],
        &["report", "-t", "/dev/zero", TRACE],
        &["check", "/dev/zero", TRACE],
        &["report", "-G", "--group-file", "/dev/zero"],
    ] {
        let output = run(verb);
        let told = stderr(&output);
        assert_eq!((status(&output), told.contains("/dev/zero: ")), (Some(3), true), "{told}");
    }
    let output = run(&["template", "update", "-t", "/dev/zero", "-x", "0AA"]);
    assert_eq!(status(&output), Some(4), "{}", stderr(&output));
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_the_system_makes_while_it_is_read_is_not_empty() {
    let output = run(&["info", "/proc/self/status"]);
    assert!(stderr(&output).contains("found bytes 4E 61 6D 65"), "{}", stderr(&output));
    let output = run(&["info", "/dev/null"]);
    assert!(stderr(&output).contains("an empty input"), "{}", stderr(&output));
}

#[test]
fn more_threads_than_any_machine_has_are_refused() {
    let output = run(&["report", "--layout", "trcrpt", "--jobs", "1000000", TRACE]);
    assert_eq!((status(&output), output.stdout.len()), (Some(2), 0));
    assert!(stderr(&output).contains("1000000 is not in 0..=256"), "{}", stderr(&output));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told_by_the_name_of_the_file() {
    for layout in ["lines", "trcrpt"] {
        let output = run(&["report", "--layout", layout, "-o", "/dev/full", TRACE]);
        let told = stderr(&output);
        assert_eq!(status(&output), Some(4), "{told}");
        assert!(told.starts_with("tracewell: /dev/full: No space left on device"), "{told}");
    }
}

#[test]
fn a_trace_without_a_wall_clock_shows_no_time_of_day() {
    let options = ["report", "--layout", "trcrpt", "-O", "timestamp=4", "-O", "rate=100MHz", TRACE];
    let output = run(&options);
    let shown = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(!shown.contains("00:00:00"), "{shown}");
    assert_eq!(status(&output), Some(2));
    assert!(stderr(&output).contains("this trace has no wall clock"), "{}", stderr(&output));
}

#[test]
fn many_warnings_are_told_up_to_a_number() {
    let folder = tempfile::tempdir().unwrap();
    let templates = written(folder.path(), "many.fmt", "0AA 1.0 \"a\"\n".repeat(5000));
    let output = run(&["template", "check", &templates]);
    let told = stderr(&output);
    assert_eq!((status(&output), told.matches(": warning: ").count()), (Some(0), 1000));
    assert!(told.ends_with("many.fmt: and 3999 more warnings\n"), "{}", told.len());
}

#[cfg(unix)]
#[test]
fn a_link_calls_itself_by_its_own_name() {
    let folder = tempfile::tempdir().unwrap();
    for (name, status, usage) in [
        ("trcrpt", 1, "Usage: trcrpt [OPTIONS] [FILE]..."),
        ("trcupdate", 2, "Usage: trcupdate [OPTIONS] [FILE]"),
    ] {
        let link = folder.path().join(name);
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_tracewell"), &link).unwrap();
        let output = Command::new(&link).arg("-?").output().unwrap();
        assert_eq!(output.status.code(), Some(status));
        assert!(stderr(&output).contains(usage), "{}", stderr(&output));
    }
}
