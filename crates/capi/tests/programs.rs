//! Programs in C and C++ that record through the header: compiled, linked with the static and the shared
//! library, run, and what they wrote is read with the library `tracewell`.

#[path = "../../record/examples/device/device.rs"]
mod device;
#[path = "programs/rkh.rs"]
mod rkh;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use tracewell::export::events::{EventFormat, EventWriter};
use tracewell::input::{Input, Settings};
use tracewell_record::stream::{STREAM_VARIABLE, Stream, StreamOptions};

/// How a program gets the library.
#[derive(Clone, Copy, Debug)]
enum Link {
    Static,
    Shared,
}

/// A compiler by its variable or its usual name. Without one the test is skipped, but not in CI.
fn compiler(variable: &str, usual: &str) -> Option<String> {
    let name = std::env::var(variable).unwrap_or_else(|_| usual.to_owned());
    if Command::new(&name).arg("--version").output().is_ok_and(|output| output.status.success()) {
        return Some(name);
    }
    assert!(std::env::var_os("CI").is_none(), "CI has the compiler {name}");
    println!("skipped: there is no compiler {name}");
    None
}

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The folder of both libraries, which are built once.
fn libraries() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("libraries");
        let output = Command::new(env!("CARGO"))
            .args(["build", "--offline", "--quiet", "--manifest-path"])
            .arg(here().join("Cargo.toml"))
            .arg("--target-dir")
            .arg(&target)
            .output()
            .expect("the cargo that runs this test can be run");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        target.join("debug")
    })
}

/// Compiles a program, with every warning an error.
fn compile(compiler: &str, standard: &str, source: &Path, link: Link, folder: &Path) -> PathBuf {
    let program = folder.join("program");
    let mut command = Command::new(compiler);
    command.args([standard, "-Wall", "-Wextra", "-Werror", "-pedantic", "-o"]).arg(&program);
    command.arg("-I").arg(here().join("include")).arg(source);
    match link {
        Link::Static => command.arg(libraries().join("libtracewell_capi.a")),
        Link::Shared => command
            .arg("-L")
            .arg(libraries())
            .arg(format!("-Wl,-rpath,{}", libraries().display()))
            .arg("-ltracewell_capi"),
    };
    let output = command.args(["-lpthread", "-ldl", "-lm"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    program
}

/// Runs a program that nobody records.
fn run(command: &mut Command) {
    succeed(command.env_remove(STREAM_VARIABLE));
}

fn succeed(command: &mut Command) {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}: {said}", output.status);
}

/// The chosen columns of each event.
fn events(path: &Path, columns: &[&str]) -> Vec<String> {
    let mut writer = EventWriter::new(Vec::new(), EventFormat::Tsv, Default::default());
    Input::open(path, Settings::default()).unwrap().read(&mut writer).unwrap();
    let text = String::from_utf8(writer.finish().unwrap()).unwrap();
    let mut lines = text.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let heads = lines.next().unwrap();
    let at = |column| heads.iter().position(|head| head == column).unwrap();
    let places: Vec<_> = columns.iter().map(at).collect();
    lines.map(|line| places.iter().map(|&at| line[at]).collect::<Vec<_>>().join(" ")).collect()
}

const RUNNING: [&str; 2] = [
    "0 0x20000600 TX_TRACE_RUNNING arg1=0 arg2=0 arg3=0 arg4=0",
    "100 0x20000600 TX_TRACE_RUNNING arg1=0 arg2=0 arg3=0 arg4=0",
];

/// What the device records for a sample, as `firmware.c` says: an interrupt, a resume whose next thread
/// was patched, a user event. The two dialects read one counter in turns, 600 ticks a sample.
fn kernel_events(number: u64) -> Vec<String> {
    let tick = 600 * number;
    let (thread, stack, square) = (0x2000_0400, 0x2000_FF00_u32, number * number);
    let isr = format!("stack_ptr={stack} isr_number={number} system_state=1 preempt_disable=0");
    let resume = format!("thread_ptr={thread} previous_state=5 stack_ptr={stack}");
    vec![
        format!("{} 0xFFFFFFFF TX_TRACE_ISR_ENTER {isr}", tick + 300),
        format!("{} 0xFFFFFFFF TX_TRACE_THREAD_RESUME {resume} next_thread={thread}", tick + 400),
        format!("{} 0xFFFFFFFF TX_TRACE_ISR_EXIT {isr}", tick + 500),
        format!("{} 0x20000400 USER_EVENT arg1={number} arg2={square} arg3=0 arg4=0", tick + 600),
    ]
}

/// The hooks of a sample; ticks of the container count from the start of its channel.
fn hooks(number: u64) -> Vec<String> {
    let (tick, square) = (600 * number, number * number);
    vec![
        format!("{} 70001 hook hook_data=0 d1={number} d2={square} d3=3 d4=4 d5=5", tick + 500),
        format!("{} 70001 hook d1={number} data=sampled", tick + 600),
    ]
}

fn of_each_sample(events: fn(u64) -> Vec<String>) -> Vec<String> {
    (0..3).flat_map(events).collect()
}

#[test]
fn the_firmware_example_records_two_dialects() {
    let Some(cc) = compiler("CC", "cc") else { return };
    for link in [Link::Static, Link::Shared] {
        let folder = tempfile::tempdir().unwrap();
        let source = here().join("../../examples/c/firmware.c");
        let program = compile(&cc, "-std=c99", &source, link, folder.path());
        run(Command::new(program).arg(folder.path()));
        let columns = ["ticks", "context", "name", "args"];
        let threadx = events(&folder.path().join("firmware.trx"), &columns);
        assert_eq!(threadx[..2], RUNNING, "{link:?}");
        assert_eq!(threadx[2..], of_each_sample(kernel_events), "{link:?}");
        let aix = events(&folder.path().join("firmware.twx"), &columns);
        assert_eq!(aix[2], "0 70001 TRACE_ON hook_data=0 channel=0", "{link:?}");
        assert_eq!(aix[3..9], of_each_sample(hooks), "{link:?}");
        assert_eq!(aix[9..], ["1900 70001 TRACE_OFF hook_data=0 channel=0"], "{link:?}");
    }
}

#[test]
fn the_same_device_in_rust_records_the_same_bytes() {
    let Some(cc) = compiler("CC", "cc") else { return };
    let folder = tempfile::tempdir().unwrap();
    let source = here().join("../../examples/c/firmware.c");
    let program = compile(&cc, "-std=c99", &source, Link::Static, folder.path());
    run(Command::new(program).arg(folder.path()));
    let read = |name| std::fs::read(folder.path().join(name)).unwrap();
    let (image, log) = device::record();
    // The header says where the ring lies, which differs.
    assert!(read("firmware.trx")[48..] == image[48..], "the rings differ");
    assert!(read("firmware.twx") == log, "the logs differ");
}

#[test]
fn streams_from_c_hold_what_was_recorded() {
    let Some(cc) = compiler("CC", "cc") else { return };
    for link in [Link::Static, Link::Shared] {
        let folder = tempfile::tempdir().unwrap();
        let source = here().join("tests/c/streams.c");
        let program = compile(&cc, "-std=c99", &source, link, folder.path());
        run(Command::new(program).arg(folder.path()));
        let sent = "sent length=1500 queue=32512 share=0.5";
        let note = "note number=9 why=a text of C";
        let read = |name| events(&folder.path().join(name), &["name", "args"]);
        assert_eq!(read("streams.log"), [sent, note, note], "{link:?}");
        assert_eq!(read("callback.log"), [sent, note], "{link:?}");
        assert_eq!(read("flusher.log"), [sent, note], "{link:?}");
    }
}

#[test]
fn a_stream_from_cpp_is_read_where_it_lies() {
    let Some(cpp) = compiler("CXX", "c++") else { return };
    for link in [Link::Static, Link::Shared] {
        let folder = tempfile::tempdir().unwrap();
        let source = here().join("tests/c/events.cc");
        let program = compile(&cpp, "-std=c++11", &source, link, folder.path());
        run(Command::new(program).arg(folder.path()));
        let steps = events(&folder.path().join("cc"), &["name", "args"]);
        assert_eq!(steps, ["step number=0", "step number=1", "step number=2"]);
    }
}

#[test]
fn a_program_in_cpp_finds_the_stream_of_the_environment() {
    let Some(cpp) = compiler("CXX", "c++") else { return };
    let folder = tempfile::tempdir().unwrap();
    let source = here().join("tests/c/events.cc");
    let program = compile(&cpp, "-std=c++11", &source, Link::Static, folder.path());
    let path = folder.path().join("given");
    let stream = Stream::create(&path, &StreamOptions::default()).unwrap();
    stream.start();
    succeed(Command::new(program).arg(folder.path()).env(STREAM_VARIABLE, &path));
    assert_eq!(events(&path, &["name"]), ["step"; 3]);
    assert!(!folder.path().join("cc").exists());
}
