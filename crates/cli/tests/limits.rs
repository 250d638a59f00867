//! Tests the messages for inputs and arguments that the program refuses: files of the wrong kind,
//! endless devices, numbers that are too large, full disks, unknown clock rates.

mod program;

use std::path::Path;
use std::process::Command;

use program::{run, status, stderr};

fn written(folder: &Path, name: &str, bytes: impl AsRef<[u8]>) -> String {
    let path = folder.join(name);
    std::fs::write(&path, bytes).unwrap();
    path.to_str().unwrap().to_owned()
}

const TRACE: &str = "examples/scheduling.trx";

#[test]
fn a_picture_is_reported_once_as_not_a_text_file() {
    let folder = tempfile::tempdir().unwrap();
    let jpeg = [b"\xFF\xD8\xFF\xE0\x00\x10JFIF\x00".as_slice(), &[0x9B; 5000]].concat();
    let jpeg = written(folder.path(), "photo.jpg", jpeg);
    let reported = format!("error: {jpeg}: not a text file: at byte 4: found byte 00\n");
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
        assert_eq!((status(&output), stderr(&output)), (Some(3), reported.clone()), "{verb:?}");
    }
}

/// Rust's formatting supports at most 65,535 columns for a field, and panics if there are more.
#[test]
fn a_name_of_any_length_fits_into_tables_and_charts() {
    let folder = tempfile::tempdir().unwrap();
    let name = "x".repeat(70_000);
    let names = (1..30).map(|pid| format!("{pid} {name}\n")).collect::<String>();
    let names = written(folder.path(), "long.names", names);
    let trace = "crates/tracewell/tests/fixtures/shark/a_linear.dat";
    for verb in [&["analyze", "--show", "all"][..], &["analyze", "--json"], &["info"], &["view"]] {
        let output = run(&[verb, &["--names", &names, trace]].concat());
        assert_eq!((status(&output), stderr(&output)), (Some(0), String::new()), "{verb:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(verb == ["view"] || text.contains(&name), "{verb:?}");
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
        let reported = stderr(&output);
        assert_eq!(
            (status(&output), reported.contains("/dev/zero: ")),
            (Some(3), true),
            "{reported}"
        );
    }
    let output = run(&["template", "update", "-t", "/dev/zero", "-x", "0AA"]);
    assert_eq!(status(&output), Some(4), "{}", stderr(&output));
}

/// A source of text without an end must not fill the memory. The text ends after 80 MiB, so that a
/// program without a limit fails this test.
#[cfg(target_os = "linux")]
#[test]
fn text_that_never_ends_is_read_up_to_a_limit() {
    use std::io::Write;
    use std::process::Stdio;
    const MIB: usize = 1 << 20;
    let mut command = program::program(&program::root());
    command.args(["report", "--names", "/dev/stdin", TRACE]).stdin(Stdio::piped());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let text = "1 task\n".repeat(MIB / 7);
    let source = std::thread::spawn(move || {
        (0..80).take_while(|_| stdin.write_all(text.as_bytes()).is_ok()).count()
    });
    let output = child.wait_with_output().unwrap();
    let reported = stderr(&output);
    assert_eq!(reported, "error: /dev/stdin: expected at most 64 MiB of text, found more\n");
    assert_eq!(status(&output), Some(3));
    let taken = source.join().unwrap();
    assert!((64..67).contains(&taken), "{taken} MiB were read");
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_the_system_makes_while_it_is_read_is_not_empty() {
    let output = run(&["info", "/proc/self/status"]);
    assert!(
        stderr(&output).contains("found text, which is not a trace: bytes 4E 61"),
        "{}",
        stderr(&output)
    );
    let output = run(&["info", "/dev/null"]);
    assert!(stderr(&output).contains("an empty input"), "{}", stderr(&output));
}

#[test]
fn more_threads_than_any_machine_has_are_refused() {
    let output = run(&["report", "--layout", "trcrpt", "--threads", "1000000", TRACE]);
    assert_eq!((status(&output), output.stdout.len()), (Some(2), 0));
    assert!(stderr(&output).contains("1000000 is not in 1..=256"), "{}", stderr(&output));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_reported_with_the_name_of_the_file() {
    for layout in ["lines", "trcrpt"] {
        let output = run(&["report", "--layout", layout, "-o", "/dev/full", TRACE]);
        let reported = stderr(&output);
        assert_eq!(status(&output), Some(4), "{reported}");
        assert!(reported.starts_with("error: /dev/full: No space left on device"), "{reported}");
    }
}

#[test]
fn a_trace_without_a_wall_clock_shows_no_time_of_day() {
    let options =
        ["report", "--layout", "trcrpt", "--columns", "timestamp=4", "-O", "rate=100MHz", TRACE];
    let output = run(&options);
    let shown = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(!shown.contains("00:00:00"), "{shown}");
    assert_eq!(status(&output), Some(2));
    assert!(stderr(&output).contains("this trace has no wall clock"), "{}", stderr(&output));
}

#[test]
fn the_number_of_warnings_shown_is_limited() {
    let folder = tempfile::tempdir().unwrap();
    let templates = written(folder.path(), "many.fmt", "0AA 1.0 \"a\"\n".repeat(5000));
    let output = run(&["template", "check", &templates]);
    let reported = stderr(&output);
    assert_eq!((status(&output), reported.matches(": warning: ").count()), (Some(0), 1000));
    assert!(reported.ends_with("many.fmt: and 3999 more warnings\n"), "{}", reported.len());
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
