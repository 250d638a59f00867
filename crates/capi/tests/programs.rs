//! Programs in C and C++ that record with the C interface. The tests compile them, link them with
//! the static and the shared library, and run them. The library `tracewell` reads the resulting
//! files.

#[path = "../../record/examples/device/device.rs"]
mod device;
#[path = "programs/rkh.rs"]
mod rkh;

mod build;
mod events;

use std::fs::DirBuilder;
use std::net::UdpSocket;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::process::Command;

use build::{Link, compile, compiler, here, succeed};
use events::events;
use tracewell_record::stream::{STREAM_VARIABLE, Stream, StreamOptions};

/// Runs a program without a recorder.
fn run(command: &mut Command) {
    succeed(command.env_remove(STREAM_VARIABLE));
}

const RUNNING: [&str; 2] = [
    "0 0x20000600 TX_TRACE_RUNNING arg1=0 arg2=0 arg3=0 arg4=0",
    "100 0x20000600 TX_TRACE_RUNNING arg1=0 arg2=0 arg3=0 arg4=0",
];

/// Returns the events that the device records per sample, according to `firmware.c`: an interrupt,
/// a resume whose next thread was patched, and a user event. All dialects read the same counter,
/// which advances by 700 ticks per sample.
fn kernel_events(number: u64) -> Vec<String> {
    let tick = 700 * number;
    let (thread, stack, square) = (0x2000_0400, 0x2000_FF00_u32, number * number);
    // The interrupts occur while the sensor runs.
    let interrupted = "interrupted=0x20000600";
    let isr = format!(
        "stack_ptr=0x{stack:08X} isr_number={number} system_state=1 preempt_disable=0 {interrupted}"
    );
    let resume = format!("thread_ptr=0x{thread:08X} previous_state=5 stack_ptr=0x{stack:08X}");
    vec![
        format!("{} 0xFFFFFFFF TX_TRACE_ISR_ENTER {isr}", tick + 400),
        format!(
            "{} 0xFFFFFFFF TX_TRACE_THREAD_RESUME {resume} next_thread=0x{thread:08X} {interrupted}",
            tick + 500
        ),
        format!("{} 0xFFFFFFFF TX_TRACE_ISR_EXIT {isr}", tick + 600),
        format!("{} 0x20000400 USER_EVENT arg1={number} arg2={square} arg3=0 arg4=0", tick + 700),
    ]
}

/// Returns the hooks of a sample. The ticks of the log start at 0 when the channel starts.
fn hooks(number: u64) -> Vec<String> {
    let (tick, square) = (700 * number, number * number);
    vec![
        format!("{} 70001 hook hook_data=0 d1={number} d2={square} d3=3 d4=4 d5=5", tick + 600),
        format!("{} 70001 hook d1={number} data=sampled", tick + 700),
    ]
}

/// The events that the control loop logs. Ticks start at 0 at its first event.
const LOOP: [&str; 5] = [
    "0 FTrace_EVT_trace_start context=0x00000100 cycles_per_msec=100000",
    "700 FTrace_EVT_ipoint number=0 arg2=0",
    "1400 FTrace_EVT_ipoint number=1 arg2=1",
    "2100 FTrace_EVT_ipoint number=2 arg2=4",
    "2200 FTrace_EVT_trace_stop arg1=256 arg2=0",
];

fn of_each_sample(events: fn(u64) -> Vec<String>) -> Vec<String> {
    (0..3).flat_map(events).collect()
}

#[test]
fn the_firmware_example_records_three_dialects() {
    let Some(cc) = compiler("CC", "cc") else { return };
    for link in Link::all(&cc) {
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
        assert_eq!(aix[9..], ["2400 70001 TRACE_OFF hook_data=0 channel=0"], "{link:?}");
        let chunk = events(&folder.path().join("firmware.chunk"), &["ticks", "name", "args"]);
        assert_eq!(chunk, LOOP, "{link:?}");
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
    let device::Recorded { ring, log, chunk } = device::record();
    // The headers differ, because they contain the address of the ring.
    assert!(read("firmware.trx")[48..] == ring[48..], "the rings differ");
    assert!(read("firmware.twx") == log, "the logs differ");
    assert!(read("firmware.chunk") == chunk, "the chunks differ");
}

#[test]
fn streams_from_c_hold_what_was_recorded() {
    let Some(cc) = compiler("CC", "cc") else { return };
    for link in Link::all(&cc) {
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
fn a_thread_whose_handlers_jumped_out_of_records_goes_on_recording() {
    let Some(cc) = compiler("CC", "cc") else { return };
    for link in [Link::Static, Link::Shared] {
        let folder = tempfile::tempdir().unwrap();
        let source = here().join("tests/c/jumps.c");
        let program = compile(&cc, "-std=c99", &source, link, folder.path());
        run(Command::new(program).arg(folder.path()));
        let mut recorded = events(&folder.path().join("jumps"), &["name", "args"]);
        recorded.retain(|line| line.starts_with("after "));
        let expected: Vec<_> = (0..100).map(|number| format!("after number={number}")).collect();
        assert_eq!(recorded, expected, "{link:?}");
    }
}

#[test]
fn a_handler_may_record_the_first_event_of_a_thread_with_a_library_loaded_later() {
    let Some(cc) = compiler("CC", "cc") else { return };
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("program");
    succeed(
        Command::new(&cc)
            .args(["-std=c99", "-o"])
            .args([&program, &here().join("tests/c/loaded.c")])
            .args(build::WARNINGS)
            .arg("-I")
            .arg(here().join("include"))
            .args(["-lpthread", "-ldl"]),
    );
    let library = build::libraries().join("libtracewell_capi.so");
    let registry = folder.path().join("registry");
    DirBuilder::new().mode(0o700).create(&registry).unwrap();
    let mut command = Command::new(program);
    command.arg(folder.path()).arg(library).env("TRACEWELL_POSIX_DIR", registry);
    run(&mut command);
    let recorded = events(&folder.path().join("loaded"), &["args"]);
    let expected: Vec<_> = (0..400).map(|number| format!("number={number}")).collect();
    assert_eq!(recorded, expected);
}

#[test]
fn a_stream_from_cpp_is_read_where_it_lies() {
    let Some(cpp) = compiler("CXX", "c++") else { return };
    for link in Link::all(&cpp) {
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

/// The names and parameters of the events that `chunks.c` logs into each of its chunks, according
/// to its comments. The third chunk wrapped and lost the previous content of two slots.
const CHUNKS: [&[&str]; 3] = [
    &[
        "FTrace_EVT_trace_start 0x00000100 1000",
        // The fast path logged this event, so it has only one parameter.
        "FTrace_EVT_timer_post 5",
        "FTrace_filter_timer 0 0",
        "FTrace_EVT_user_event_0 0 0",
    ],
    &["FTrace_EVT_user_event_0 1 1", "FTrace_EVT_user_event_0 2 4"],
    &[
        "lost overwritten 32",
        "FTrace_EVT_user_event_1 2 0",
        "FTrace_EVT_user_event_1 3 0",
        "FTrace_EVT_user_event_1 4 0",
        "FTrace_EVT_user_event_1 5 0",
    ],
];

/// Returns each event as its name and the values of its arguments, without the names of the
/// arguments.
fn plain(path: &Path) -> Vec<String> {
    let value = |word: &str| word.rsplit('=').next().unwrap_or_default().to_owned();
    let line = |line: String| line.split(' ').map(value).collect::<Vec<_>>().join(" ");
    events(path, &["name", "args"]).into_iter().map(line).collect()
}

#[test]
fn chunks_from_c_are_read_however_they_were_sent() {
    let Some(cc) = compiler("CC", "cc") else { return };
    for link in Link::all(&cc) {
        let folder = tempfile::tempdir().unwrap();
        let source = here().join("tests/c/chunks.c");
        let program = compile(&cc, "-std=c99", &source, link, folder.path());
        let receiver = UdpSocket::bind("127.0.0.1:0").unwrap();
        let target = receiver.local_addr().unwrap().to_string();
        run(Command::new(program).arg(folder.path()).arg(target));
        let read = |name: &str| plain(&folder.path().join(name));
        assert_eq!([read("0run.dat"), read("1run.dat"), read("2run.dat")], CHUNKS, "{link:?}");
        // The decoded events are the same, whether the chunk was compressed or sent as datagrams.
        assert_eq!(read("packed.chunk"), CHUNKS[1]);
        assert_eq!(read("datagrams.udpcap"), CHUNKS[1]);
        let mut datagram = [0; 2048];
        let length = receiver.recv(&mut datagram).unwrap();
        let capture = std::fs::read(folder.path().join("datagrams.udpcap")).unwrap();
        assert_eq!(datagram[..length], capture[4..]);
    }
}

#[test]
fn rings_for_other_targets_are_read() {
    let Some(cc) = compiler("CC", "cc") else { return };
    for link in Link::all(&cc) {
        let folder = tempfile::tempdir().unwrap();
        let source = here().join("tests/c/rings.c");
        let program = compile(&cc, "-std=c99", &source, link, folder.path());
        run(Command::new(program).arg(folder.path()));
        for (name, first, context, interrupt) in [
            ("little32.trx", 0x2345_6789_u64, "0x20000400", "0xFFFFFFFF"),
            ("big32.trx", 0x2345_6789, "0x20000400", "0xFFFFFFFF"),
            ("little64.trx", 0x1_2345_6789, "0x0000000020000400", "0x00000000FFFFFFFF"),
            ("big64.trx", 0x1_2345_6789, "0x0000000020000400", "0x00000000FFFFFFFF"),
        ] {
            // The ring has four slots: the notification's event overwrote the first RUNNING.
            let lost = " lost cause=overwritten offset=";
            // The interrupted thread has priority 5 and threshold 4.
            let running = format!(
                "{context} TX_TRACE_RUNNING arg1=0 arg2=0 arg3=0 arg4=0 preemption_threshold=4"
            );
            let user = format!(
                "{context} USER_EVENT arg1={first} arg2=2 arg3=3 arg4=4 preemption_threshold=4"
            );
            let told =
                format!("{interrupt} USER_EVENT arg1=1 arg2=2 arg3=3 arg4=4 interrupted={context}");
            let read = events(&folder.path().join(name), &["context", "name", "args"]);
            assert!(read[0].starts_with(lost), "{}", read[0]);
            assert_eq!(read[1..], [running, user.clone(), user, told], "{name}, {link:?}");
        }
    }
}
