//! Tests the files of `tracewell record`. A recording replaces an earlier file when the first event
//! arrives. A failure before the first event deletes no data.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tracewell_posix::DIRECTORY_VARIABLE;

use super::{
    TRACED, VARIABLE, ending, fact, in_time, numbers, readings, record, recorder, script, stderr,
    traced, tracewell,
};

/// A process id that Linux never assigns.
const NO_PROCESS: &str = "4194305";
/// Time limit for a step of a test. The limit is long enough for busy machines.
const PATIENCE: Duration = Duration::from_secs(900);

/// A folder with earlier recordings.
fn with_recordings() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("trace.twl"), "old").unwrap();
    fs::write(folder.path().join("trace.twl.posix"), "older").unwrap();
    folder
}

/// The files of a folder.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let file = |entry: std::io::Result<fs::DirEntry>| {
        let entry = entry.unwrap();
        let content = fs::read(entry.path()).unwrap_or_default();
        (entry.file_name().into_string().unwrap(), content)
    };
    fs::read_dir(folder).unwrap().map(file).collect()
}

#[test]
fn a_program_that_cannot_be_recorded_changes_no_file() {
    let cases: [(&[&str], &str); 4] = [
        (&["--", "./no-such-program"], "./no-such-program: "),
        (&["-o", "new", "--", "./trace.twl"], "./trace.twl: "),
        (&["--pid", NO_PROCESS], "process 4194305: No such process"),
        (&["-o", "new", "--", "./no-such-program"], "./no-such-program: "),
    ];
    for (arguments, message) in cases {
        let folder = with_recordings();
        let before = files(folder.path());
        let output = recorder(folder.path(), arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(4), "{arguments:?}");
        let reported = stderr(&output);
        assert!(reported.starts_with(&format!("error: {message}")), "{arguments:?}: {reported}");
        assert_eq!(files(folder.path()), before, "{arguments:?}");
    }
}

#[test]
fn a_program_whose_recording_cannot_be_written_is_not_run() {
    let folder = with_recordings();
    let before = files(folder.path());
    for output in ["missing/run", ".", "trace.twl/run"] {
        let mut command = recorder(folder.path(), &["-o", output, "--", "touch", "mark"]);
        let ended = command.output().unwrap();
        assert_eq!(ended.status.code(), Some(4), "{output}");
        let reported = stderr(&ended);
        assert!(reported.starts_with(&format!("error: {output}: ")), "{reported}");
        assert_eq!(files(folder.path()), before, "{output}");
    }
    let own = std::process::id().to_string();
    let mut command = recorder(folder.path(), &["-o", "missing/run", "--pid", &own]);
    let ended = command.output().unwrap();
    assert_eq!(ended.status.code(), Some(4));
    assert!(stderr(&ended).starts_with("error: missing/run: "), "{}", stderr(&ended));
}

/// Configures a command to run without the rights of root.
fn as_unprivileged(command: &mut Command, folder: &Path) {
    // The registry of the tests belongs to another user, so the program cannot use it.
    command.env_remove(DIRECTORY_VARIABLE);
    if fs::metadata(folder).unwrap().uid() == 0 {
        command.uid(65534).gid(65534);
    }
}

fn set_rights(path: &Path, rights: u32) {
    fs::set_permissions(path, Permissions::from_mode(rights)).unwrap();
}

#[test]
fn a_user_without_write_permission_changes_no_file() {
    let folder = with_recordings();
    let before = files(folder.path());
    for (of_folder, of_file) in [(0o777, 0o444), (0o555, 0o666)] {
        set_rights(&folder.path().join("trace.twl"), of_file);
        set_rights(folder.path(), of_folder);
        let mut command = recorder(folder.path(), &["--", "true"]);
        as_unprivileged(&mut command, folder.path());
        let output = command.output();
        set_rights(folder.path(), 0o755);
        let Ok(output) = output else {
            println!("skipped: an unprivileged user cannot run this program");
            return;
        };
        assert_eq!(output.status.code(), Some(4));
        assert_eq!(stderr(&output), "error: trace.twl: Permission denied (os error 13)\n");
        assert_eq!(files(folder.path()), before);
    }
}

#[test]
fn a_process_of_another_user_changes_no_file() {
    let folder = with_recordings();
    set_rights(folder.path(), 0o777);
    set_rights(&folder.path().join("trace.twl"), 0o666);
    let before = files(folder.path());
    let options = ["--seconds", "0", "--pid", "1"];
    let mut command = recorder(folder.path(), &options);
    as_unprivileged(&mut command, folder.path());
    let Some(output) =
        command.output().ok().filter(|_| fs::metadata("/proc/1").unwrap().uid() == 0)
    else {
        println!(
            "skipped: an unprivileged user cannot run this program, or process 1 is not root's"
        );
        return;
    };
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    assert!(stderr(&output).starts_with("error: process 1: "), "{}", stderr(&output));
    assert_eq!(files(folder.path()), before);
}

#[test]
fn a_link_stays_one_and_leads_to_the_recording() {
    let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (link, target) = (folder.path().join("trace.twl"), elsewhere.path().join("run"));
    symlink(&target, &link).unwrap();
    for there in [false, true] {
        let output = record(folder.path(), "20 0", &[]);
        let expected = (Some(0), "20 events in trace.twl".to_owned());
        assert_eq!((output.status.code(), ending(&output)), expected, "{there}");
        assert!(link.is_symlink() && !target.is_symlink(), "{there}");
        assert_eq!(numbers(folder.path(), "trace.twl"), Vec::from_iter(0..20));
        let mut command = recorder(folder.path(), &["--"]);
        traced(command.arg(std::env::current_exe().unwrap()), "30");
        assert_eq!(command.output().unwrap().status.code(), Some(0), "{there}");
        assert!(link.is_symlink() && !target.is_symlink(), "{there}");
        assert_eq!(readings(folder.path(), "trace.twl"), Vec::from_iter(0..30));
        assert_eq!(files(folder.path()).len() + files(elsewhere.path()).len(), 2);
        set_rights(&target, 0o600);
    }
    assert_eq!(fs::metadata(&target).unwrap().mode() & 0o777, 0o600);
}

#[test]
fn a_device_is_neither_removed_nor_replaced() {
    // Use a link to the device, so that the test can destroy only the link.
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("run");
    symlink("/dev/null", &link).unwrap();
    let record = || recorder(folder.path(), &["-o", "run", "--"]);
    assert_eq!(record().arg("./no-such-program").output().unwrap().status.code(), Some(4));
    assert!(link.is_symlink());

    let mut command = record();
    traced(command.arg(std::env::current_exe().unwrap()), "50");
    let output = command.output().unwrap();
    assert!(stderr(&output).contains("are in run.posix"), "{}", stderr(&output));
    assert!(link.is_symlink());
    assert_eq!(readings(folder.path(), "run.posix"), Vec::from_iter(0..50));
}

#[test]
fn a_pipe_receives_the_events_of_another_process() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("run");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut reader = Command::new("sh");
    let reader =
        reader.current_dir(folder.path()).args(["-c", "timeout 120 cat run > log"]).spawn();
    let own = std::process::id().to_string();
    let mut command = recorder(folder.path(), &["-o", "run", "--seconds", "0", "--pid", &own]);
    let mut child = command.process_group(0).spawn().unwrap();
    assert_eq!(in_time(&mut child), Some(0));
    assert!(reader.unwrap().wait().unwrap().success());
    assert_eq!(readings(folder.path(), "log"), Vec::from_iter(0..0));
    assert!(!pipe.is_file());
}

#[test]
fn a_recording_of_one_kind_leaves_that_of_the_other_kind() {
    let folder = with_recordings();
    assert_eq!(record(folder.path(), "20 0", &[]).status.code(), Some(0));
    assert_eq!(numbers(folder.path(), "trace.twl"), Vec::from_iter(0..20));
    assert_eq!(fs::read(folder.path().join("trace.twl.posix")).unwrap(), b"older");
    let mut command = recorder(folder.path(), &["--"]);
    traced(command.arg(std::env::current_exe().unwrap()), "30");
    assert_eq!(command.output().unwrap().status.code(), Some(0));
    assert_eq!(readings(folder.path(), "trace.twl"), Vec::from_iter(0..30));
    assert_eq!(fs::read(folder.path().join("trace.twl.posix")).unwrap(), b"older");
    assert_eq!(files(folder.path()).len(), 2);
}

#[test]
fn the_exit_status_is_passed_on_when_nothing_could_be_saved() {
    let folder = tempfile::tempdir().unwrap();
    symlink("/dev/full", folder.path().join("run")).unwrap();
    for (wanted, code) in [("100 7", 7), ("100 abort", 128 + 6), ("100 0", 4)] {
        let output = record(folder.path(), wanted, &["-o", "run"]);
        assert_eq!(output.status.code(), Some(code), "{wanted}: {}", stderr(&output));
        assert!(stderr(&output).contains("error: run: "), "{wanted}: {}", stderr(&output));
    }
}

#[test]
fn a_recording_that_cannot_be_moved_into_place_stays_and_is_reported() {
    for (code, passed_on) in [(7, 7), (0, 4)] {
        let folder = tempfile::tempdir().unwrap();
        let script = "mkdir trace.twl.posix; \"$0\" --exact program --quiet; \
                      \"$0\" --exact traced_program --quiet; exit \"$CODE\"";
        let mut command = recorder(folder.path(), &["--", "sh", "-c", script]);
        command.arg(std::env::current_exe().unwrap()).env("CODE", code.to_string());
        let output = command.env(TRACED, "50").env(VARIABLE, "20 0").output().unwrap();
        assert_eq!(output.status.code(), Some(passed_on), "{}", stderr(&output));
        let reported = stderr(&output);
        let mut named = reported.lines().filter_map(|line| line.split_once("the recording is in "));
        let (_, left) = named.next().expect(&reported);
        assert_eq!(readings(folder.path(), left), Vec::from_iter(0..50));
        assert_eq!(numbers(folder.path(), "trace.twl"), Vec::from_iter(0..20));
    }
}

/// Waits until a condition holds.
fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Returns the number of streams that belong to a recorder; their names contain its process id.
fn streams_of(recorder: u32) -> usize {
    let begin = format!("tracewell-record-{recorder}-");
    let files = fs::read_dir("/dev/shm").into_iter().flatten().flatten();
    files.filter(|file| file.file_name().to_string_lossy().starts_with(&begin)).count()
}

#[test]
fn a_recording_can_be_read_while_it_grows_and_survives_its_recorder() {
    let folder = with_recordings();
    let program = "\"$TEST\" --exact program --quiet; sleep 180";
    let mut command = script(folder.path(), program);
    command.env("TEST", std::env::current_exe().unwrap()).env(VARIABLE, "100 0");
    let mut recorder = command.stdout(Stdio::null()).spawn().unwrap();
    wait_for("the events are in the file", || {
        let mut events = tracewell();
        let events = events.current_dir(folder.path()).args(["events", "trace.twl"]).output();
        events.unwrap().stdout.split(|byte| *byte == b'\n').count() == 101
    });
    recorder.kill().unwrap();
    recorder.wait().unwrap();
    // The program is in the process group of the recorder.
    let end = format!("kill -KILL -{}", recorder.id());
    assert!(Command::new("sh").args(["-c", &end]).status().unwrap().success());
    let args = ["events", "--losses", "none", "trace.twl"];
    let events = tracewell().current_dir(folder.path()).args(args).output().unwrap();
    assert_eq!(events.stdout.split(|byte| *byte == b'\n').count(), 101);
    // The recorder was killed before it closed the log, so events may be missing.
    let lost = fact(folder.path(), "trace.twl", "lost");
    assert_eq!(lost.as_deref(), Some("unknown number truncated"));
    assert!(stderr(&events).contains("the log was not closed"), "{}", stderr(&events));
    assert_eq!(fs::read(folder.path().join("trace.twl.posix")).unwrap(), b"older");
}

#[test]
fn a_program_that_records_nothing_replaces_nothing() {
    for arguments in [&["--", "true"][..], &["true"], &["sh", "-c", "exit 0"]] {
        let folder = with_recordings();
        let before = files(folder.path());
        let output = recorder(folder.path(), arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let reported = "trace.twl: nothing was recorded, the file is unchanged\n";
        assert!(stderr(&output).ends_with(reported), "{}", stderr(&output));
        assert_eq!(files(folder.path()), before);
    }
}

#[test]
fn a_process_that_records_nothing_replaces_nothing() {
    let folder = with_recordings();
    let before = files(folder.path());
    let mut process = Command::new("sleep").arg("60").spawn().unwrap();
    let id = process.id().to_string();
    let arguments = ["--pid", &id, "--seconds", "1"];
    let output = recorder(folder.path(), &arguments).output().unwrap();
    process.kill().unwrap();
    process.wait().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(files(folder.path()), before, "{}", stderr(&output));
}

#[test]
fn the_program_that_is_run_is_not_replaced_by_its_recording() {
    let folder = with_recordings();
    let script = folder.path().join("script");
    fs::write(&script, "#!/bin/sh\n").unwrap();
    set_rights(&script, 0o755);
    let output = recorder(folder.path(), &["-o", "script", "--", "./script"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert_eq!(fs::read(&script).unwrap(), b"#!/bin/sh\n");
}

#[test]
fn options_after_the_program_belong_to_it() {
    let folder = with_recordings();
    let output = recorder(folder.path(), &["sh", "-c", "exit 7", "--pid"]).output().unwrap();
    assert_eq!(output.status.code(), Some(7), "{}", stderr(&output));
}

#[test]
fn the_stream_of_a_killed_recorder_is_removed_by_the_next_one() {
    if !Path::new("/dev/shm").is_dir() {
        println!("skipped: there is no /dev/shm");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let [mut living, mut killed] =
        [(), ()].map(|()| script(folder.path(), ": > ready-$PPID; sleep 180").spawn().unwrap());
    let begun = |child: &Child| folder.path().join(format!("ready-{}", child.id())).exists();
    wait_for("both record", || begun(&living) && begun(&killed));
    killed.kill().unwrap();
    killed.wait().unwrap();
    let another = tempfile::tempdir().unwrap();
    assert_eq!(record(another.path(), "20 0", &[]).status.code(), Some(0));
    assert_eq!([streams_of(living.id()), streams_of(killed.id())], [1, 0]);
    for group in [living.id(), killed.id()] {
        let end = format!("kill -KILL -{group}");
        assert!(Command::new("sh").args(["-c", &end]).status().unwrap().success());
    }
    living.wait().unwrap();
}

#[test]
fn files_of_a_killed_recorder_are_removed_unless_they_have_events() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(record(folder.path(), "20 0", &[]).status.code(), Some(0));
    let mut ended = Command::new("true").spawn().unwrap();
    ended.wait().unwrap();
    let left = |name: &str| folder.path().join(name.replace("PID", &ended.id().to_string()));
    let empty = left("trace.twl.posix.PID.partial");
    let with_events = left("trace.twl.PID.partial");
    let in_use = left("trace.twl.PID-2.partial");
    let other = left("other.twl.PID.partial");
    fs::copy(folder.path().join("trace.twl"), &with_events).unwrap();
    [&empty, &in_use, &other].iter().for_each(|path| fs::write(path, b"").unwrap());
    let locked = fs::File::open(&in_use).unwrap();
    locked.lock().unwrap();
    let output = record(folder.path(), "20 0", &[]);
    let note = "a `tracewell record` that was killed left these events";
    let name = with_events.file_name().unwrap().to_str().unwrap();
    assert!(stderr(&output).starts_with(&format!("note: {name}: {note}\n")), "{}", stderr(&output));
    let exist = [&empty, &with_events, &in_use, &other].map(|path| path.exists());
    assert_eq!(exist, [false, true, true, true]);
}

#[test]
fn a_finished_recording_is_not_running() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(record(folder.path(), "20 0", &[]).status.code(), Some(0));
    let output = tracewell().current_dir(folder.path()).args(["info", "trace.twl"]).output();
    let text = String::from_utf8(output.unwrap().stdout).unwrap();
    let state = text.lines().find(|line| line.trim_start().starts_with("state"));
    assert!(state.is_some_and(|line| line.ends_with(" suspended")), "{text}");
}

#[test]
fn a_controller_directory_that_others_may_write_to_is_reported() {
    let folder = with_recordings();
    let before = files(folder.path());
    let place = tempfile::tempdir().unwrap();
    set_rights(place.path(), 0o777);
    let own = std::process::id().to_string();
    let mut command = recorder(folder.path(), &["--pid", &own]);
    let output = command.env(DIRECTORY_VARIABLE, place.path()).output().unwrap();
    let reported = stderr(&output);
    assert_eq!(output.status.code(), Some(4), "{reported}");
    let place = place.path().display();
    assert!(reported.contains(&format!("{place}: expected a directory of user ")), "{reported}");
    assert!(
        reported.contains(", mode 0777; the directory is set by TRACEWELL_POSIX_DIR"),
        "{reported}"
    );
    assert_eq!(files(folder.path()), before);
}
