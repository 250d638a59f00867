//! Reads native streams that contain the events of a kernel. Some streams arrive in pieces, are
//! damaged, or also contain other events. `crates/cli/tests/kernel_streams.rs` compares such a
//! stream with a trace of FreeRTOS.

#[path = "support/native.rs"]
mod native;
mod support;

use std::sync::atomic::AtomicU64;

use native::{STEP, definition_type, event_type, memory, read};
use support::{EventLog, in_pieces};
use tracewell::analysis::tracks::{State, TrackBuilder};
use tracewell::format::Settings;
use tracewell::input::Input;
use tracewell::model::{Batch, ContextKind, Flow, LossCause, Severity, Sink, Trace};
use tracewell_record::stream::{Identity, Image, Log, Take, Writer};
use tracewell_wire::target::{DefinitionKind, ids};

const LOW: u64 = 1;
const HIGH: u64 = 2;
const MUTEX: u64 = 1;

fn image(words: &[AtomicU64]) -> Image<'_> {
    native::image(words, 1, 0, "program/step(number:u64)")
}

fn writer(image: &Image<'_>, lane: u32) -> Writer {
    native::writer(image, lane, Identity { process: 1, thread: 15 + lane, name: [0; 16] })
}

/// The second task waits for the mutex of the first task. The number 40 stands for a thread, not
/// for a core.
const SCRIPT: [(u64, u8, [u64; 3]); 13] = [
    (100, ids::START, [0, 0, 0]),
    (110, ids::TASK_CREATE, [0, LOW, 1]),
    (120, ids::TASK_CREATE, [0, HIGH, 2]),
    (130, ids::RUNS, [0, LOW, 0]),
    (140, ids::MUTEX_LOCK, [0, MUTEX, 0]),
    (150, ids::READY, [40, HIGH, 0]),
    (160, ids::RUNS, [0, HIGH, 0]),
    (170, ids::MUTEX_WAIT, [0, MUTEX, 0]),
    (180, ids::RUNS, [0, LOW, 0]),
    (190, ids::MUTEX_UNLOCK, [0, MUTEX, 0]),
    (195, ids::INTERRUPT_ENTER, [0, 15, 0]),
    (200, ids::VALUE, [0, 3, (-7_i64).cast_unsigned()]),
    (205, ids::INTERRUPT_EXIT, [0, 0, 0]),
];

/// Records the script. A thread records its own events before, between and after the kernel's
/// events.
fn log() -> Vec<u8> {
    let words = memory();
    let image = image(&words);
    let (kernel, thread) = (writer(&image, 0), writer(&image, 1));
    let mut log = Log::new(Vec::new(), Take::Out);
    thread.push(&image, STEP, 50, &[1], &[]).unwrap();
    // The reader adds the thread before it knows that the stream has a kernel.
    log.drain_image(&image, 60).unwrap();
    let names = [
        definition_type(&image, DefinitionKind::Task, LOW, "low"),
        definition_type(&image, DefinitionKind::Task, HIGH, "high"),
    ];
    for id in names {
        kernel.push(&image, id, 90, &[], &[]).unwrap();
    }
    for (time, id, fields) in SCRIPT {
        let count = 1 + usize::from(id >> 6);
        let writer = if fields[0] == 40 { &thread } else { &kernel };
        writer.push(&image, event_type(&image, id), time, &fields[..count], &[]).unwrap();
        log.drain_image(&image, time + 1).unwrap();
    }
    thread.push(&image, STEP, 300, &[2], &[]).unwrap();
    log.close_image(&image, 1 << 40).unwrap()
}

/// Returns each event as `time context label arguments`.
fn shown(trace: &Trace, kept: &EventLog) -> Vec<String> {
    let events = kept.rows.iter().map(|row| {
        let count = trace.schema.event(row.id).args.len();
        let argument = |index| trace.payload.argument(&row.payload, index).unwrap() as i64;
        let arguments: Vec<_> = (0..count).map(|index| argument(index).to_string()).collect();
        let context = &trace.contexts.get(row.context).unwrap().name;
        let label = trace.schema.label(row.id);
        format!("{} {context} {label} {}", row.ticks, arguments.join(" ")).trim().to_owned()
    });
    events.collect()
}

const EXPECTED: [&str; 15] = [
    "0 thread 16 step 1",
    "50 start-up start",
    "60 start-up task_create 1 1",
    "70 start-up task_create 2 2",
    "80 start-up run 1",
    "90 low mutex_lock 1",
    "100 thread 16 ready 2",
    "110 low preempt 2 1",
    "120 high mutex_wait 1",
    "130 high switch 1 2 1",
    "140 low mutex_unlock 1",
    "145 interrupt 15 interrupt_enter 15",
    "150 interrupt 15 value 3 -7",
    "155 interrupt 15 interrupt_exit",
    "250 thread 16 step 2",
];

#[test]
fn events_of_a_kernel_have_its_contexts_and_those_of_threads_their_thread() {
    let (trace, kept) = read(&log()).unwrap();
    assert_eq!(shown(&trace, &kept), EXPECTED);
    assert!(trace.losses.is_empty());
    assert_eq!(trace.diagnostics.worst(), None);
    // Process 1 has a thread 15, which is not interrupt 15.
    let kinds = |name: &str| {
        let mut contexts = kept.rows.iter().map(|row| trace.contexts.get(row.context).unwrap());
        contexts.find(|context| context.name == name).unwrap().kind
    };
    assert_eq!(kinds("interrupt 15"), ContextKind::Interrupt);
    assert_eq!(kinds("low"), ContextKind::Thread);
    // The trace does not show when the thread runs, so the thread is not a task. The reader learns
    // from the first event type of the kernel that the trace has a kernel.
    let last = trace.contexts.get(kept.rows[14].context).unwrap();
    assert_eq!(last.kind, ContextKind::Unknown);
}

#[test]
fn pieces_of_any_size_make_the_same_trace() {
    let log = log();
    for piece in [1, 7, 100, 1000, log.len()] {
        let (trace, kept) = in_pieces("native", &Settings::default(), &log, piece).unwrap();
        assert_eq!(shown(&trace, &kept), EXPECTED, "pieces of {piece}");
    }
}

#[test]
fn truncated_and_changed_logs_are_read_without_panic() {
    let log = log();
    for cut in (0..log.len()).step_by(9) {
        let Some((_, kept)) = read(&log[..cut]) else { continue };
        assert!(kept.rows.len() <= EXPECTED.len());
    }
    for at in (0..log.len()).step_by(9) {
        let mut changed = log.clone();
        changed[at] ^= 0x55;
        read(&changed);
    }
}

/// The image has no checksums, so a changed byte can turn an event into any other event.
#[test]
fn a_changed_image_is_read_without_panic() {
    let words = memory();
    let image = image(&words);
    let writer = writer(&image, 0);
    definition_type(&image, DefinitionKind::Task, LOW, "low");
    for (time, id, fields) in SCRIPT {
        let count = 1 + usize::from(id >> 6);
        let id = event_type(&image, id);
        writer.push(&image, id, time, &fields[..count], &[]).unwrap();
    }
    let bytes = native::bytes(&words);
    assert_eq!(read(&bytes).unwrap().1.rows.len(), SCRIPT.len());
    let used = (0..bytes.len()).filter(|at| bytes[*at] != 0);
    for at in used.step_by(5) {
        let mut changed = bytes.clone();
        changed[at] ^= 0x81;
        read(&changed);
    }
}

/// Recorders of targets send a long name in parts of 20 bytes.
#[test]
fn names_of_any_length_are_whole() {
    let letters = |first: u8, length: u8| -> String {
        (0..length).map(|n| char::from(b'a' + (first + n) % 26)).collect()
    };
    for (length, later) in [(1, 61), (19, 20), (20, 19), (21, 40), (40, 41), (45, 45), (61, 1)] {
        let names = [letters(0, length), letters(3, later)];
        let words = memory();
        let image = image(&words);
        let writer = writer(&image, 0);
        let types =
            names.each_ref().map(|name| definition_type(&image, DefinitionKind::Task, LOW, name));
        let mut log = Log::new(Vec::new(), Take::Out);
        writer.push(&image, event_type(&image, ids::RUNS), 10, &[0, LOW], &[]).unwrap();
        writer.push(&image, event_type(&image, ids::DELAY), 20, &[0, 2], &[]).unwrap();
        log.drain_image(&image, 30).unwrap();
        let without = read(log.sink()).unwrap();
        for id in types {
            writer.push(&image, id, 40, &[], &[]).unwrap();
        }
        let with = read(&log.close_image(&image, 50).unwrap()).unwrap();
        for ((trace, kept), name) in [without, with].iter().zip(&names) {
            assert_eq!(trace.contexts.get(kept.rows[1].context).unwrap().name, *name);
        }
    }
}

/// Names apply to whole batches, so only an event that can change a name begins another batch.
#[test]
fn an_event_that_changes_no_name_does_not_end_a_batch() {
    #[derive(Default)]
    struct Batches(Vec<usize>);
    impl Sink for Batches {
        fn events(&mut self, _: &Trace, batch: &Batch<'_>) -> Flow {
            self.0.push(batch.len());
            Flow::Continue(())
        }
    }
    for (id, expected) in [
        (ids::QUEUE_SEND, &[9][..]),
        (ids::TASK_DELETE, &[9]),
        (ids::TASK_CREATE, &[4, 5]),
        (ids::OBJECT_CREATE, &[4, 5]),
        (ids::START, &[4, 5]),
    ] {
        let words = memory();
        let image = image(&words);
        let writer = writer(&image, 0);
        let mut log = Log::new(Vec::new(), Take::Out);
        for number in 0..9 {
            let id = if number == 4 { id } else { ids::DELAY };
            let count = 1 + usize::from(id >> 6);
            writer.push(&image, event_type(&image, id), number, &[0, 1, 1][..count], &[]).unwrap();
        }
        log.drain_image(&image, 60).unwrap();
        let log = log.close_image(&image, 1 << 40).unwrap();
        let mut batches = Batches::default();
        let input = Input::from_bytes("log", log, support::settings(&[]));
        input.unwrap().read(&mut batches).unwrap();
        assert_eq!(batches.0, expected, "{id}");
    }
}

/// The reader adds two threads before it knows that the stream has a kernel.
#[test]
fn each_thread_stays_itself_when_a_kernel_appears() {
    let words = memory();
    let image = image(&words);
    let writers = [writer(&image, 0), writer(&image, 1)];
    let mut log = Log::new(Vec::new(), Take::Out);
    let step = |number: u64| {
        let writer = &writers[number as usize % 2];
        writer.push(&image, STEP, 10 * number, &[number], &[]).unwrap();
    };
    step(1);
    step(2);
    log.drain_image(&image, 25).unwrap();
    step(3);
    step(4);
    writers[0].push(&image, event_type(&image, ids::START), 50, &[0], &[]).unwrap();
    step(6);
    step(7);
    step(8);
    let log = log.close_image(&image, 1 << 40).unwrap();
    let expected = [
        "0 thread 16 step 1",
        "10 thread 15 step 2",
        "20 thread 16 step 3",
        "30 thread 15 step 4",
        "40 start-up start",
        "50 thread 15 step 6",
        "60 thread 16 step 7",
        "70 thread 15 step 8",
    ];
    for piece in [1, 100, log.len()] {
        let (trace, kept) = in_pieces("native", &Settings::default(), &log, piece).unwrap();
        assert_eq!(shown(&trace, &kept), expected, "pieces of {piece}");
        let mut kinds = kept.rows.iter().map(|row| trace.contexts.get(row.context).unwrap().kind);
        assert!(kinds.by_ref().skip(5).all(|kind| kind == ContextKind::Unknown));
    }
}

#[test]
fn a_record_with_too_few_fields_is_a_counted_loss() {
    let words = memory();
    let image = image(&words);
    let writer = writer(&image, 0);
    let mut log = Log::new(Vec::new(), Take::Out);
    writer.push(&image, event_type(&image, ids::RUNS), 10, &[0, LOW], &[]).unwrap();
    writer.push(&image, event_type(&image, ids::QUEUE_SEND), 20, &[0, 5], &[]).unwrap();
    writer.push(&image, event_type(&image, ids::DELAY), 30, &[0, 2], &[]).unwrap();
    log.drain_image(&image, 40).unwrap();
    let (trace, kept) = read(&log.close_image(&image, 50).unwrap()).unwrap();
    assert_eq!(shown(&trace, &kept), ["0 unknown run 1", "20 task 1 delay 2"]);
    assert_eq!((trace.losses.damaged(), kept.losses[0].cause), (1, LossCause::Damaged));
    let message = trace.diagnostics.iter().find(|of| of.severity == Severity::Damage).unwrap();
    assert!(message.to_string().contains("expected 3 fields, found 2"), "{message}");
}

/// Objects of different types can have the same number.
#[test]
fn the_deletion_of_an_object_does_not_delete_the_task_with_its_number() {
    for (id, fields, is_deleted) in [
        (ids::OBJECT_DELETE, vec![0, DefinitionKind::Semaphore as u64, LOW], false),
        (ids::TASK_DELETE, vec![0, LOW], true),
    ] {
        let words = memory();
        let image = image(&words);
        let writer = writer(&image, 0);
        let mut log = Log::new(Vec::new(), Take::Out);
        let push = |time, id, fields: &[u64]| {
            writer.push(&image, event_type(&image, id), time, fields, &[]).unwrap();
        };
        push(10, ids::TASK_CREATE, &[0, LOW, 1]);
        push(20, ids::TASK_CREATE, &[0, HIGH, 2]);
        push(30, ids::RUNS, &[0, LOW]);
        push(40, ids::MUTEX_LOCK, &[0, MUTEX]);
        push(45, ids::VALUE, &[0, 3, 7]);
        push(50, ids::RUNS, &[0, HIGH]);
        push(60, id, &fields);
        push(70, ids::RUNS, &[0, LOW]);
        push(80, ids::MUTEX_UNLOCK, &[0, MUTEX]);
        log.drain_image(&image, 90).unwrap();
        let log = log.close_image(&image, 100).unwrap();
        let mut builder = TrackBuilder::default();
        let mut input = Input::from_bytes("log", log, support::settings(&[])).unwrap();
        let trace = input.read(&mut builder).unwrap();
        let tracks = builder.finish(&trace);
        let hold = tracks.figures.resources[0].figures.hold;
        assert_eq!((hold.count, hold.max), if is_deleted { (0, 0) } else { (1, 40) });
        let mut states = tracks.contexts().flat_map(|(_, row)| row.changes());
        assert_eq!(states.any(|change| change.state == State::Deleted), is_deleted);
    }
}
