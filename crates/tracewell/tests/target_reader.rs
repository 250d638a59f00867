//! Reads streams of small targets that the Rust recorder wrote: what a kernel's hooks mean, and what
//! is missing. The hooks come in the order in which FreeRTOS calls them.

mod support;

use support::{EventLog, in_pieces};
use tracewell::analysis::scheduling::{Figures, Scheduling, Wanted};
use tracewell::format::Settings;
use tracewell::input::Input;
use tracewell::model::{LossCause, Trace};
use tracewell_record::target::{Options, Recorder};
use tracewell_wire::target::{DefinitionKind, ids};

/// A clock that the test sets.
use std::cell::Cell;

const LOW: u32 = 1;
const HIGH: u32 = 2;
const MIDDLE: u32 = 3;
const IDLE: u32 = 4;
const MUTEX: u32 = 1;

const OPTIONS: Options<'_> = Options {
    cores: 1,
    slot: 256,
    entries: 16,
    rate: 1_000_000,
    kernel: "FreeRTOS",
    larger_is_urgent: true,
    keep: false,
};

/// Records the hooks of a priority inversion with `event(time, id, arguments)`.
fn inversion(mut event: impl FnMut(u32, u8, [u32; 2])) {
    event(10, ids::TASK_CREATE, [LOW, 1]);
    event(10, ids::READY, [LOW, 0]);
    event(20, ids::TASK_CREATE, [HIGH, 3]);
    event(20, ids::READY, [HIGH, 0]);
    event(25, ids::TASK_CREATE, [MIDDLE, 2]);
    event(30, ids::OBJECT_CREATE, [DefinitionKind::Mutex as u32, MUTEX]);
    event(100, ids::RUNS, [HIGH, 0]);
    event(110, ids::DELAY, [2, 0]);
    event(112, ids::RUNS, [LOW, 0]);
    event(120, ids::MUTEX_LOCK, [MUTEX, 0]);
    event(200, ids::INTERRUPT_ENTER, [15, 0]);
    event(203, ids::READY, [HIGH, 0]);
    event(205, ids::INTERRUPT_EXIT_TO_SCHEDULER, [0, 0]);
    event(210, ids::RUNS, [HIGH, 0]);
    event(220, ids::MUTEX_WAIT, [MUTEX, 0]);
    event(221, ids::READY, [LOW, 0]);
    event(222, ids::INHERIT, [LOW, 3]);
    event(225, ids::RUNS, [LOW, 0]);
    event(300, ids::MUTEX_UNLOCK, [MUTEX, 0]);
    event(301, ids::DISINHERIT, [LOW, 1]);
    event(302, ids::READY, [LOW, 0]);
    event(303, ids::READY, [HIGH, 0]);
    event(305, ids::RUNS, [HIGH, 0]);
    event(306, ids::MUTEX_LOCK, [MUTEX, 0]);
    event(310, ids::MUTEX_UNLOCK, [MUTEX, 0]);
    event(320, ids::DELAY, [2, 0]);
    event(325, ids::RUNS, [LOW, 0]);
}

/// Returns the ring and the line of the same events.
fn record(
    options: &Options<'_>,
    memory: usize,
    script: impl FnOnce(&mut dyn FnMut(u32, u8, [u32; 2])),
) -> (Vec<u8>, Vec<u8>) {
    let (mut memory, now) = (vec![0; memory], Cell::new(0));
    let mut recorder = Recorder::new(&mut memory, options, || now.get()).unwrap();
    for (number, name) in [(LOW, "low"), (HIGH, "high"), (MIDDLE, "middle"), (IDLE, "IDLE")] {
        recorder.define(DefinitionKind::Task, number, 512, 0, name);
    }
    recorder.define(DefinitionKind::Mutex, MUTEX, 0, 0, "bus");
    recorder.define(DefinitionKind::Interrupt, 15, 0, 0, "SysTick");
    script(&mut |time, id, arguments| {
        now.set(time);
        recorder.event(0, id, arguments);
    });
    recorder.flush();
    let (mut line, mut out) = (Vec::new(), vec![0; usize::from(options.slot)]);
    loop {
        match recorder.read(&mut out) {
            0 => break,
            length => line.extend_from_slice(&out[..length]),
        }
    }
    (memory, line)
}

fn read(bytes: &[u8]) -> (Trace, EventLog) {
    in_pieces("target", &Settings::default(), bytes, bytes.len().max(1)).unwrap()
}

/// Returns each event as `time context label arguments`.
fn shown(trace: &Trace, log: &EventLog) -> Vec<String> {
    let events = log.rows.iter().map(|row| {
        let arguments = trace.payload.arguments(&row.payload);
        let arguments: Vec<_> = (0..arguments)
            .map(|index| trace.payload.argument(&row.payload, index).unwrap().to_string())
            .collect();
        let context = &trace.contexts.get(row.context).unwrap().name;
        let label = trace.schema.label(row.id);
        format!("{} {context} {label} {}", row.ticks, arguments.join(" ")).trim().to_owned()
    });
    events.collect()
}

fn figures(bytes: &[u8]) -> (Trace, Figures) {
    let mut scheduling = Scheduling::new(Wanted { waits: true, ..Wanted::default() });
    let mut input = Input::from_bytes("trace", bytes.to_vec(), Settings::default()).unwrap();
    let trace = input.read(&mut scheduling).unwrap();
    let figures = scheduling.figures(&trace);
    (trace, figures)
}

#[test]
fn each_hook_is_an_event_with_its_meaning() {
    let (ring, line) = record(&OPTIONS, 4096, |event| inversion(event));
    let (trace, log) = read(&line);
    let expected = [
        "0 start-up start",
        "10 start-up task_create 1 1",
        "10 start-up ready 1",
        "20 start-up task_create 2 3",
        "20 start-up ready 2",
        "25 start-up task_create 3 2",
        "30 start-up mutex_create 1",
        "100 start-up run 2",
        "110 high delay 2",
        "112 high switch 1 2 8",
        "120 low mutex_lock 1",
        "200 SysTick interrupt_enter 15",
        "203 SysTick ready 2",
        "205 SysTick interrupt_exit_to_scheduler",
        "210 low preempt 2 1",
        "220 high mutex_wait 1",
        "222 high inherit 1 3",
        "225 high switch 1 2 1",
        "300 low mutex_unlock 1",
        "301 low disinherit 1 1",
        "303 low ready 2",
        "305 low preempt 2 1",
        "306 high mutex_lock_after_wait 1",
        "310 high mutex_unlock 1",
        "320 high delay 2",
        "325 high switch 1 2 8",
    ];
    assert_eq!(shown(&trace, &log), expected);
    assert_eq!((trace.text("kernel"), trace.fact("ready_again")), ("FreeRTOS", Some(2)));
    assert_eq!(trace.clock.rate.unwrap().ratio(), (1_000_000, 1));
    assert!(trace.losses.is_empty() && trace.diagnostics.iter().len() == 0);
    let (of_ring, log_of_ring) = read(&ring);
    assert_eq!(shown(&of_ring, &log_of_ring), expected);
}

#[test]
fn the_analysis_finds_who_held_the_mutex_and_who_ran() {
    let (_, line) = record(&OPTIONS, 4096, |event| inversion(event));
    let (trace, figures) = figures(&line);
    let wait = &figures.waits[0];
    let name = |id| trace.contexts.get(id).unwrap().name.as_str();
    assert_eq!((name(wait.context), wait.owner.map(name)), ("high", Some("low")));
    assert_eq!((wait.from, wait.until, figures.waits.len()), (220, 305, 1));
    let of = |wanted: &str| figures.tasks.iter().find(|task| name(task.context) == wanted).unwrap();
    // high: 100-112, 210-225, 305-325; low: 112-200, 205-210, 225-305
    assert_eq!(of("high").execution.unwrap().ticks, 12 + 15 + 20);
    assert_eq!(of("low").execution.unwrap().ticks, 88 + 5 + 80);
    assert_eq!(
        (of("low").preemptions.unwrap().count, of("high").preemptions.unwrap().count),
        (2, 0)
    );
    assert_eq!(of("high").locks.inversions, 1);
}

#[test]
fn a_ring_that_wrapped_begins_with_its_oldest_packet() {
    // Each packet of 64 bytes has room for 36 bytes: 9 events of 4 bytes.
    let options = Options { slot: 64, ..OPTIONS };
    let memory = 32 + 16 * 32 + 4 * 64;
    let (ring, line) = record(&options, memory, |event| {
        (0..1000).for_each(|mark| event(1000 * mark, ids::MARK, [mark, 0]));
    });
    let dump = [vec![0xA5; 1003], ring, vec![0x5A; 77]].concat();
    let (trace, log) = read(&dump);
    let marks: Vec<_> =
        log.rows.iter().map(|row| trace.payload.argument(&row.payload, 0).unwrap()).collect();
    let first = *marks.first().unwrap();
    assert_eq!(marks, (first..1000).collect::<Vec<_>>());
    assert!(marks.len() > 20, "{}", marks.len());
    // The event that starts the recorder is overwritten as well.
    assert_eq!(trace.losses.events(), Some(first + 1));
    assert_eq!(log.losses[0].cause, LossCause::Overwritten);
    assert_eq!(log.rows[0].ticks, 0);
    let (of_line, log_of_line) = read(&line);
    assert_eq!(log_of_line.rows.last().unwrap().payload, log.rows.last().unwrap().payload);
    assert!(of_line.losses.events().unwrap() + log_of_line.rows.len() as u64 == 1001);
}
