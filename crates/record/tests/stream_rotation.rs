//! Tests `Stream::create_or_rotate` with streams of killed and of live processes, with several
//! processes that create a stream at the same time, and with files that are not streams.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tracewell_record::stream::{EventType, Family, Log, Stream, StreamOptions, Take};
use tracewell_wire::native::image::State;

const VARIABLE: &str = "TRACEWELL_TEST_ROTATION";
const RUN: Family = Family::new(1, "run");
static NUMBER: EventType<(u32,)> = EventType::new(RUN, "number", &["number"]);

/// Runs one test at a time. Until a forked child executes its program, it shares the open files of
/// this process. If tests ran in parallel, the child of one test would therefore use the streams of
/// the others.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn options() -> StreamOptions {
    StreamOptions { lanes: 2, packets: 2, packet_size: 512, ..StreamOptions::default() }
}

fn numbered(path: &Path, number: u32) -> PathBuf {
    PathBuf::from(format!("{}.{number}", path.display()))
}

/// Creates a stream with this many events and closes it.
fn run(path: &Path, keep: u32, events: u32) {
    let stream = Stream::create_or_rotate(path, &options(), keep).unwrap();
    stream.start();
    (0..events).for_each(|number| stream.record(&NUMBER, (number,)));
}

/// Returns the number of events in the stream of an earlier run.
fn events(path: &Path) -> u64 {
    Log::new(std::io::sink(), Take::Copy).drain(&Stream::open(path).unwrap()).unwrap()
}

/// Returns the names of all files in a folder, sorted.
fn files(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// This is not a test of its own: it is the work of a child process. Waits for a byte, creates the
/// stream, records two events, and reports the result with one byte. Then waits until it is killed
/// or its input ends.
#[test]
fn rotating_child() {
    let Some(path) = std::env::var_os(VARIABLE).map(PathBuf::from) else { return };
    let mut input = fs::File::open("/dev/stdin").unwrap();
    // Written directly, because the test runner captures other output.
    let mut output = fs::File::create("/dev/stdout").unwrap();
    output.write_all(b"!").unwrap();
    input.read_exact(&mut [0]).unwrap();
    let made = Stream::create_or_rotate(&path, &options(), 20);
    let result = match &made {
        Ok(stream) => {
            stream.start();
            (0..2).for_each(|number| stream.record(&NUMBER, (number,)));
            b'+'
        }
        Err(error) if error.kind() == ErrorKind::ResourceBusy => b'-',
        Err(error) => panic!("{error}"),
    };
    output.write_all(&[result]).unwrap();
    let _ = input.read(&mut [0]);
}

/// Starts a child and waits until it is ready to create the stream.
fn spawn(path: &Path) -> Child {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "rotating_child", "--nocapture", "--quiet", "--test-threads=1"])
        .env(VARIABLE, path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    while next_byte(&mut child) != b'!' {}
    child
}

fn next_byte(child: &mut Child) -> u8 {
    let mut byte = [0];
    child.stdout.as_mut().unwrap().read_exact(&mut byte).unwrap();
    byte[0]
}

fn go(child: &mut Child) {
    child.stdin.as_mut().unwrap().write_all(b"g").unwrap();
}

/// Waits for the child's result. Returns true if the child created the stream.
fn has_stream(child: &mut Child) -> bool {
    loop {
        match next_byte(child) {
            b'+' => return true,
            b'-' => return false,
            _ => {}
        }
    }
}

fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_stream_stops_when_its_program_ends_but_not_when_it_crashes() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("recorder");
    let state = || Stream::open(&path).unwrap().image().state();
    run(&path, 0, 1);
    assert_eq!(state(), State::Suspended);
    let crash = || {
        let stream = Stream::create_or_rotate(&path, &options(), 0).unwrap();
        stream.start();
        panic!("expected by the test");
    };
    assert!(std::panic::catch_unwind(crash).is_err());
    assert_eq!(state(), State::Running);
    // Dropping an inherited stream does not stop it, because children may still record into it.
    let inherited = StreamOptions { inherited: true, ..options() };
    let stream = Stream::create_or_rotate(&path, &inherited, 0).unwrap();
    stream.start();
    drop(stream);
    assert_eq!(state(), State::Running);
}

#[test]
fn the_debug_form_of_an_error_is_as_readable_as_its_message() {
    // A program whose `main` returns the error prints it in the debug form.
    let error = Stream::open(Path::new("/absent/stream")).unwrap_err();
    let debug = format!("{error:?}");
    assert!(
        debug.contains("error: /absent/stream: No such file or directory (os error 2)"),
        "{debug}"
    );
}

#[test]
fn streams_of_earlier_runs_are_kept_up_to_a_number() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("recorder");
    (1..=4).for_each(|events| run(&path, 2, events));
    assert_eq!(files(folder.path()), ["recorder", "recorder.1", "recorder.2"]);
    let kept = [&path, &numbered(&path, 1), &numbered(&path, 2)].map(|path| events(path));
    assert_eq!(kept, [4, 3, 2]);
    // Streams after the first free name are not moved.
    fs::remove_file(numbered(&path, 1)).unwrap();
    run(&path, 2, 5);
    assert_eq!([1, 2].map(|number| events(&numbered(&path, number))), [4, 2]);
    run(&path, 0, 6);
    assert_eq!(files(folder.path()), ["recorder", "recorder.1", "recorder.2"]);
    assert_eq!([&path, &numbered(&path, 1)].map(|path| events(path)), [6, 4]);
}

#[test]
fn after_a_kill_the_next_start_keeps_the_events() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("recorder");
    let mut child = spawn(&path);
    go(&mut child);
    assert!(has_stream(&mut child));
    let error = Stream::create_or_rotate(&path, &options(), 3).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ResourceBusy);
    let expected = format!(
        "{}: a live process uses this stream, which process {} created; \
         stop it, or choose another path",
        path.display(),
        child.id()
    );
    assert_eq!(error.to_string(), expected);
    assert_eq!(files(folder.path()), ["recorder"]);
    kill(child);
    run(&path, 3, 1);
    assert_eq!([events(&path), events(&numbered(&path, 1))], [1, 2]);
}

#[test]
fn one_of_several_starters_gets_the_stream() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("recorder");
    for round in 0..5_usize {
        let mut children: Vec<_> = (0..4).map(|_| spawn(&path)).collect();
        children.iter_mut().for_each(go);
        let made = children.iter_mut().map(has_stream).filter(|made| *made).count();
        assert_eq!(made, 1, "round {round}");
        children.into_iter().for_each(kill);
        // The folder contains the newest stream, one stream of each earlier round, and no file with
        // a temporary name.
        assert_eq!(files(folder.path()).len(), round + 1, "{:?}", files(folder.path()));
    }
    let all = files(folder.path());
    assert!(all.iter().all(|name| events(&folder.path().join(name)) == 2), "{all:?}");
}

#[test]
fn an_older_stream_in_use_is_not_moved() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("recorder");
    (1..=3).for_each(|events| run(&path, 2, events));
    let older = numbered(&path, 1);
    let used = Stream::open(&older).unwrap();
    let error = Stream::create_or_rotate(&path, &options(), 2).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ResourceBusy);
    assert!(error.to_string().starts_with(&older.display().to_string()), "{error}");
    drop(used);
    assert_eq!([&path, &older, &numbered(&path, 2)].map(|path| events(path)), [3, 2, 1]);
}

#[test]
fn files_that_are_no_streams_stay() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("recorder");
    let refused = |file: &Path| {
        let error = Stream::create_or_rotate(&path, &options(), 2).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists, "{error}");
        let expected = format!("{}: exists and is not a stream", file.display());
        assert!(error.to_string().starts_with(&expected), "{error}");
    };
    fs::write(&path, "notes").unwrap();
    refused(&path);
    assert_eq!(fs::read(&path).unwrap(), b"notes");
    fs::remove_file(&path).unwrap();
    run(&path, 2, 1);
    fs::write(numbered(&path, 1), "notes").unwrap();
    refused(&numbered(&path, 1));
    assert_eq!(events(&path), 1);
    assert_eq!(files(folder.path()), ["recorder", "recorder.1"]);
    let missing = folder.path().join("none/recorder");
    let error = Stream::create_or_rotate(&missing, &options(), 2).unwrap_err();
    assert!(error.to_string().starts_with(&format!("{}: ", missing.display())), "{error}");
    let error = Stream::create(&path, &options()).unwrap_err();
    assert_eq!(error.to_string(), format!("{}: File exists (os error 17)", path.display()));
}
