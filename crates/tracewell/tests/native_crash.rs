//! Kills a recording process at arbitrary moments, and then reads the events that the process
//! recorded.

#[cfg(target_os = "linux")]
#[path = "support/native.rs"]
mod native;
#[cfg(target_os = "linux")]
mod support;

use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use tracewell::input::{Input, Settings};
use tracewell::model::{Batch, FactForm, Flow, LossCause, Severity, Sink, Trace};
use tracewell_record::stream::{EventType, Family, FullPolicy, Log, Stream, StreamOptions, Take};
use tracewell_wire::native::ClockKind;
#[cfg(target_os = "linux")]
use tracewell_wire::native::{
    WORD,
    image::{State, at},
};

const VARIABLE: &str = "TRACEWELL_TEST_CRASH";
const TEST: Family = Family::new(0, "test");
static STEP: EventType<(u32, u32, u64)> =
    EventType::new(TEST, "step", &["thread", "number", "check"]);

fn check(thread: u64, number: u64) -> u64 {
    (thread << 32 | number).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// This is not a test of its own: the child process runs this function until the parent kills the
/// child. At intervals, each thread writes its confirmed progress to a second file.
#[test]
fn child() {
    let Some(path) = std::env::var_os(VARIABLE).map(PathBuf::from) else { return };
    let options = StreamOptions {
        policy: FullPolicy::Loop,
        packets: 8,
        packet_size: 4096,
        clock: Some(ClockKind::Monotonic),
        ..StreamOptions::default()
    };
    let stream = Stream::create(&path, &options).unwrap();
    stream.start();
    let progress = std::fs::File::create(path.with_extension("progress")).unwrap();
    // Write directly to the descriptor, because the test runner captures other output.
    std::io::Write::write_all(&mut std::fs::File::create("/dev/stdout").unwrap(), b"!").unwrap();
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let (stream, progress) = (&stream, &progress);
            scope.spawn(move || {
                for number in 1.. {
                    let sum = check(u64::from(thread), u64::from(number));
                    stream.record(&STEP, (thread, number, sum));
                    if number % 64 == 0 {
                        let bytes = number.to_le_bytes();
                        progress.write_all_at(&bytes, 4 * u64::from(thread)).unwrap();
                    }
                }
            });
        }
    });
}

fn start(path: &Path) -> Child {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--nocapture", "--quiet", "--test-threads=1"])
        .env(VARIABLE, path)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut output = child.stdout.take().unwrap();
    let mut byte = [0];
    while byte != *b"!" {
        output.read_exact(&mut byte).unwrap();
    }
    child
}

/// Checks every event, and stores the last number that each thread recorded.
#[derive(Default)]
struct Checked {
    last: [u64; 2],
    events: u64,
    lost: u64,
}

impl Sink for Checked {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        for event in batch.events() {
            let field = |index| trace.payload.argument(event.payload, index).unwrap();
            let (thread, number) = (field(0) as usize, field(1));
            assert_eq!(trace.schema.event(event.id).name, "step");
            assert_eq!(field(2), check(thread as u64, number));
            let last = std::mem::replace(&mut self.last[thread], number);
            assert!(last == 0 || number == last + 1, "{number} after {last}");
            self.events += 1;
        }
        Flow::Continue(())
    }

    fn loss(&mut self, _: &Trace, loss: &tracewell::model::Loss) -> Flow {
        assert_eq!(loss.cause, LossCause::Overwritten);
        self.lost += loss.events.unwrap();
        Flow::Continue(())
    }
}

fn examine(path: &Path, progress: &[u8]) -> u64 {
    let mut checked = Checked::default();
    let trace = Input::open(path, Settings::default()).unwrap().read(&mut checked).unwrap();
    let worst = trace.diagnostics.worst();
    assert!(worst < Some(Severity::Warning), "{:?}", trace.diagnostics);
    for (thread, last) in checked.last.into_iter().enumerate() {
        let noted = progress.get(4 * thread..).and_then(|bytes| bytes.first_chunk());
        let noted = noted.map_or(0, |bytes| u32::from_le_bytes(*bytes));
        assert!(last >= u64::from(noted), "thread {thread}: {last} of {noted}");
    }
    assert_eq!(checked.events + checked.lost, checked.last.iter().sum::<u64>());
    checked.events
}

/// Returns the message of the first diagnostic about a stream, and the state of the stream.
fn remark(path: &Path) -> (String, FactForm) {
    let mut input = Input::open(path, Settings::default()).unwrap();
    let trace = input.read(&mut Checked::default()).unwrap();
    let state = trace.facts.iter().find(|fact| fact.name == "state").unwrap().form;
    (trace.diagnostics.iter().next().unwrap().message.clone(), state)
}

fn assert_ended_unclosed(path: &Path, ended: &str) {
    let (remark, state) = remark(path);
    assert!(remark.ends_with(ended), "{remark}");
    assert_eq!(state, FactForm::Text("not closed"));
}

/// Returns when all threads of a killed child process have ended. The process remains visible,
/// because this function does not collect its exit status. The list of threads in `/proc` is not
/// reliable: while threads end, a reader of the list can miss threads that are still running.
fn until_dead(child: &Child) {
    let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    waitid(WaitId::Pid(Pid::from_child(child)), ended).unwrap();
}

/// Creates a temporary folder. Prefers `/dev/shm`, which is in memory, because the test creates
/// hundreds of streams.
fn folder() -> tempfile::TempDir {
    let shared = Path::new("/dev/shm");
    if shared.is_dir() { tempfile::tempdir_in(shared) } else { tempfile::tempdir() }.unwrap()
}

#[test]
fn events_recorded_before_a_kill_are_read() {
    let folder = folder();
    let mut total = 0;
    for round in 0..200_u32 {
        let path = folder.path().join("stream");
        let mut child = start(&path);
        // Some of the runs must have recorded events, even on a slow machine.
        let progress = path.with_extension("progress");
        while round % 4 == 0 && std::fs::metadata(&progress).unwrap().len() == 0 {
            std::thread::yield_now();
        }
        // The runs range from an empty stream to a ring that wrapped several times.
        std::thread::sleep(Duration::from_micros(u64::from(round * 37 % 4001)));
        child.kill().unwrap();
        until_dead(&child);
        let ended =
            format!("process {}, which created the stream, ended without closing it", child.id());
        assert_ended_unclosed(&path, &ended);
        child.wait().unwrap();
        let progress = std::fs::read(progress).unwrap();
        total += examine(&path, &progress);
        assert_ended_unclosed(&path, &ended);
        std::fs::remove_file(&path).unwrap();
    }
    assert!(total >= 50 * 64, "{total}");
}

/// If the process has ended, the state in the stream's memory says how the stream ended.
#[cfg(target_os = "linux")]
#[test]
fn a_note_says_whether_the_process_is_running() {
    let folder = folder();
    let (stream, program) = (folder.path().join("stream"), folder.path().join("a) R 1 (b) Z 1"));
    // Link the program instead of copying it. Linux does not execute a file that is open for
    // writing, and a process that another test starts during the copy would hold the file open.
    std::os::unix::fs::symlink("/bin/sleep", &program).unwrap();
    let mut child = Command::new(&program).arg("1000").spawn().unwrap();
    let process = child.id();
    let words = native::memory();
    native::image(&words, process, 0, "test/step(number:u64)");
    let mut bytes = native::bytes(&words);
    let mut note = |state: State| {
        bytes[at::STATE * WORD..][..WORD].copy_from_slice(&state.code().to_le_bytes());
        std::fs::write(&stream, &bytes).unwrap();
        remark(&stream)
    };
    let message = |end: &str| format!("a copy of a stream's memory; process {process}{end}");
    let running = message(", which created the stream, is running");
    assert_eq!(note(State::Running), (running.clone(), FactForm::Text("running")));
    assert_eq!(note(State::Suspended), (running, FactForm::Text("suspended")));
    child.kill().unwrap();
    until_dead(&child);
    let mut check_ended = |what: &str| {
        for (state, end, shown) in [
            (State::Running, "ended without closing it", "not closed"),
            (State::Suspended, "has ended; the stream was already stopped", "suspended"),
            (State::Full, "has ended", "suspended, full"),
        ] {
            let end = message(&format!(", which created the stream, {end}"));
            assert_eq!(note(state), (end, FactForm::Text(shown)), "{what}");
        }
    };
    check_ended("still visible");
    child.wait().unwrap();
    check_ended("collected");
}

#[test]
fn a_living_stream_is_read_again_and_again() {
    let folder = folder();
    let path = folder.path().join("stream");
    let mut child = start(&path);
    let attached = Stream::open(&path).unwrap();
    let mut followed = Log::new(Vec::new(), Take::Copy);
    for _ in 0..100 {
        examine(&path, &[]);
        followed.drain(&attached).unwrap();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let log = followed.close(&attached).unwrap();
    let mut kept = Checked { last: [0; 2], ..Checked::default() };
    let mut input = Input::from_bytes("log", log, Settings::default()).unwrap();
    // A follower misses events that are overwritten between two reads, and reports their number.
    struct Gaps<'a>(&'a mut Checked);
    impl Sink for Gaps<'_> {
        fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
            for event in batch.events() {
                let field = |index| trace.payload.argument(event.payload, index).unwrap();
                assert_eq!(field(2), check(field(0), field(1)));
                let last = std::mem::replace(&mut self.0.last[field(0) as usize], field(1));
                assert!(field(1) > last);
                self.0.events += 1;
            }
            Flow::Continue(())
        }
        fn loss(&mut self, trace: &Trace, loss: &tracewell::model::Loss) -> Flow {
            self.0.loss(trace, loss)
        }
    }
    input.read(&mut Gaps(&mut kept)).unwrap();
    assert_eq!(kept.events + kept.lost, kept.last.iter().sum::<u64>());
}
