//! Reads streams of small targets that the Rust recorder wrote. Tests the meanings of a kernel's
//! hooks, and the reports of losses. The hooks have the order in which FreeRTOS calls them.

mod support;

use std::cell::Cell;

use support::{EventLog, in_pieces};
use tracewell::analysis::scheduling::{Figures, Scheduling, Wanted};
use tracewell::check::{Figures as _, Quantity, Rules};
use tracewell::format::Settings;
use tracewell::input::Input;
use tracewell::model::{LossCause, Severity, Trace};
use tracewell::report::measures::Measuring;
use tracewell::source::Source;
use tracewell_record::target::{Options, Recorder};
use tracewell_wire::target::{DefinitionKind, ids};

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

/// Records the same events into a ring and to a line, and returns the bytes of both.
fn record(
    options: &Options<'_>,
    memory: usize,
    script: impl FnOnce(&mut dyn FnMut(u32, u8, [u32; 2])),
) -> (Vec<u8>, Vec<u8>) {
    let (mut memory, now) = (vec![0; memory], Cell::new(0));
    let mut recorder = Recorder::new(&mut memory, options, || now.get()).unwrap();
    for (number, name) in [(LOW, "low"), (HIGH, "high"), (MIDDLE, "middle")] {
        recorder.define(DefinitionKind::Task, number, 512, 0, name);
    }
    recorder.define_idle(IDLE, "IDLE");
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
fn reports_of_free_stack_are_the_depth_of_a_task() {
    let (_, line) = record(&OPTIONS, 4096, |event| {
        event(10, ids::TASK_CREATE, [HIGH, 3]);
        event(20, ids::STACK, [HIGH, 300]);
        event(30, ids::STACK, [HIGH, 112]);
        event(40, ids::STACK, [HIGH, 112]);
        event(50, ids::STACK, [LOW, 512]);
    });
    let (trace, figures) = figures(&line);
    // The tasks are defined with stacks of 512 bytes. The trace begins with the event `start`.
    let found: Vec<_> = figures
        .stacks
        .iter()
        .filter_map(|stack| {
            let name = trace.contexts.get(stack.context)?.name.as_str();
            Some((name, stack.size, stack.used, stack.free, stack.at.map(|at| (at.ticks, at.seq))))
        })
        .collect();
    assert!(found.contains(&("high", Some(512), Some(400), Some(112), Some((30, 3)))), "{found:?}");
    assert!(found.contains(&("low", Some(512), Some(0), Some(512), Some((50, 5)))), "{found:?}");
    assert!(figures.stacks.iter().all(|stack| stack.start.is_none() && stack.outside == 0));
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
fn the_time_of_an_idle_task_is_idle_time() {
    // If a kernel has no idle task, it records that task 0 runs.
    for idle in [IDLE, 0] {
        let (_, line) = record(&OPTIONS, 4096, |event| {
            event(100, ids::RUNS, [LOW, 0]);
            event(110, ids::DELAY, [2, 0]);
            event(112, ids::RUNS, [idle, 0]);
            event(200, ids::INTERRUPT_ENTER, [15, 0]);
            event(203, ids::READY, [LOW, 0]);
            event(205, ids::INTERRUPT_EXIT_TO_SCHEDULER, [0, 0]);
            event(210, ids::RUNS, [LOW, 0]);
            event(230, ids::MARK, [0, 0]);
        });
        let (trace, log) = read(&line);
        let shown = shown(&trace, &log);
        assert_eq!(shown[3], "112 low switch 0 1 8");
        assert_eq!(shown[7], "210 idle run 1");
        assert_eq!(trace.objects.at(0, 112, Some(2)).unwrap().1.label, "idle");
        let (trace, figures) = figures(&line);
        let core = figures.cores[0];
        assert_eq!((core.tasks, core.interrupts, core.idle), (12 + 20, 5, 88 + 5));
        let tasks =
            figures.tasks.iter().map(|task| &trace.contexts.get(task.context).unwrap().name);
        assert_eq!(tasks.collect::<Vec<_>>(), ["low"]);
    }
}

#[test]
fn a_ring_that_wrapped_begins_with_its_oldest_packet() {
    // Each packet of 64 bytes has room for 36 bytes: 9 events of 4 bytes.
    let options = Options { slot: 64, ..OPTIONS };
    let memory = 32 + 16 * 32 + 4 * 64;
    let (ring, line) = record(&options, memory, |event| {
        (0..1000).for_each(|mark| event(1000 * mark, ids::MARK, [mark, 0]));
    });
    let dump = [vec![0xA5; 20_003], ring, vec![0x5A; 77]].concat();
    let (trace, log) = read(&dump);
    let (in_parts, of_parts) = in_pieces("target", &Settings::default(), &dump, 1000).unwrap();
    assert_eq!((&in_parts.facts, &of_parts.losses), (&trace.facts, &log.losses));
    assert_eq!(shown(&in_parts, &of_parts), shown(&trace, &log));
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

/// Returns the bytes of a line with 200 marks, in packets of 64 bytes. The argument of each mark is
/// its number.
fn marks() -> Vec<u8> {
    let options = Options { slot: 64, entries: 8, ..OPTIONS };
    record(&options, 1 << 14, |event| (0..200).for_each(|n| event(900 * n, ids::MARK, [n, 0]))).1
}

fn numbers(trace: &Trace, log: &EventLog) -> Vec<u64> {
    let marks = log.rows.iter().filter(|row| row.id == u32::from(ids::MARK));
    marks.map(|row| trace.payload.argument(&row.payload, 0).unwrap()).collect()
}

/// Checks that the events are in order, and that the trace counts the missing events. The start of
/// the recorder is an event, too.
fn accounted(bytes: &[u8], may_end_early: bool) {
    let (trace, log) = read(bytes);
    let numbers = numbers(&trace, &log);
    assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
    match trace.losses.events() {
        Some(lost) => assert_eq!(log.rows.len() as u64 + lost, 201, "{:?}", log.losses),
        // The number of events that are missing at the end of the input is unknown.
        None => assert!(may_end_early),
    }
    for piece in [1, 7, 100] {
        let again = in_pieces("target", &Settings::default(), bytes, piece).unwrap();
        assert_eq!(again.1.losses, log.losses);
        assert_eq!(shown(&again.0, &again.1), shown(&trace, &log));
    }
}

#[test]
fn every_changed_byte_costs_one_packet_and_every_event_is_accounted_for() {
    let line = marks();
    let whole = read(&line).1.rows.len();
    assert_eq!(whole, 201);
    for at in (0..line.len()).step_by(3) {
        let mut changed = line.clone();
        changed[at] ^= 0x20;
        let (trace, log) = read(&changed);
        assert!(log.rows.len() + 14 >= whole, "byte {at}: {}", log.rows.len());
        assert!(!trace.losses.is_empty());
        if at % 99 == 0 {
            accounted(&changed, true);
        }
    }
}

#[test]
fn every_truncation_keeps_the_packets_before_it() {
    let line = marks();
    let mut before = 0;
    for cut in 1..line.len() {
        let (trace, log) = read(&line[..cut]);
        let numbers = numbers(&trace, &log);
        assert_eq!(numbers, (0..numbers.len() as u64).collect::<Vec<_>>());
        assert!(numbers.len() >= before);
        before = numbers.len();
        // It is not damage if the reader stops receiving.
        assert_eq!(trace.losses.damaged(), 0, "{cut}");
        assert!(!trace.diagnostics.iter().any(|of| of.severity == Severity::Damage), "{cut}");
    }
    assert!(before > 180);
}

#[test]
fn a_reader_that_joins_late_counts_what_it_missed() {
    let line = marks();
    for joined in (1..line.len() - 200).step_by(37) {
        accounted(&line[joined..], false);
    }
}

#[test]
fn a_missing_piece_and_noise_are_accounted_for() {
    let line = marks();
    for from in (300..1500).step_by(61) {
        accounted(&[&line[..from], &line[from + 200..]].concat(), false);
        let noise: Vec<_> = (0..200_u32).map(|n| ((n * n * 31) >> 3) as u8).collect();
        accounted(&[&line[..from], &noise, &line[from..]].concat(), false);
        let false_start = [&line[..from], &[0xF4, 0x9B, 1, 0, 1], &line[from..]].concat();
        accounted(&false_start, false);
    }
}

#[test]
fn two_streams_in_one_line_are_reported() {
    let (first, second) = (marks(), marks());
    let mixed = [&first[..1500], &second[..1500], &first[1500..], &second[1500..]].concat();
    let (trace, _) = read(&mixed);
    let notes: Vec<_> = trace.diagnostics.iter().map(ToString::to_string).collect();
    assert!(notes.iter().any(|note| note.contains("restarted")), "{notes:?}");
    assert!(trace.losses.damaged() > 0);
}

#[test]
fn a_ring_that_is_overwritten_during_the_dump_loses_only_those_packets() {
    let options = Options { slot: 64, entries: 8, ..OPTIONS };
    let memory = 32 + 8 * 32 + 16 * 64;
    let write = |events: u32| {
        record(&options, memory, |event| {
            (0..events).for_each(|n| event(900 * n, ids::MARK, [n, 0]))
        })
        .0
    };
    let (before, after) = (write(400), write(423));
    for cut in (300..memory).step_by(13) {
        let torn = [&before[..cut], &after[cut..]].concat();
        let (trace, log) = read(&torn);
        let numbers = numbers(&trace, &log);
        assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
        assert!(numbers.len() > 80, "{}", numbers.len());
        let last = numbers.last().unwrap() + 2;
        if let Some(lost) = trace.losses.events() {
            assert_eq!(log.rows.len() as u64 + lost, last);
        }
    }
}

#[test]
fn a_busy_core_does_not_hold_up_another() {
    let options = Options { cores: 2, slot: 64, entries: 8, ..OPTIONS };
    let mut memory = vec![0; 8192];
    let now = Cell::new(0);
    let mut recorder = Recorder::new(&mut memory, &options, || now.get()).unwrap();
    let mut both = Vec::new();
    for mark in 0..100 {
        now.set(100 * mark);
        // Core 0 fills a packet before each call, so a packet of core 0 is always ready.
        (0..20).for_each(|_| recorder.event(0, ids::MARK, [mark, 0]));
        recorder.event(1, ids::MARK, [mark, 0]);
        let mut out = [0; 64];
        let length = recorder.read(&mut out);
        both.extend_from_slice(&out[..length]);
    }
    let headers: Vec<_> =
        both.windows(2).enumerate().filter(|(_, two)| *two == [0xF4, 0x9B]).collect();
    let of = |core| headers.iter().filter(|(at, _)| both[at + 3] == core).count();
    assert!(of(0) > 20 && of(1) > 5, "{} {}", of(0), of(1));
}

#[test]
fn two_cores_are_merged_and_memory_survives_a_reset() {
    let options = Options { cores: 2, slot: 64, entries: 8, keep: true, ..OPTIONS };
    let mut memory = vec![0; 4096];
    let mut run = |base: u32| {
        let now = Cell::new(0);
        let mut recorder = Recorder::new(&mut memory, &options, || now.get()).unwrap();
        for mark in 0..40 {
            now.set(100 * mark + 5);
            recorder.event((mark % 2) as u8, ids::MARK, [base + mark, 0]);
        }
    };
    run(0);
    run(40);
    let (trace, log) = read(&memory);
    assert_eq!(numbers(&trace, &log), (0..80).collect::<Vec<_>>());
    assert!(log.rows.is_sorted_by_key(|row| row.ticks));
    assert_eq!((trace.cpus, trace.losses.events()), (2, Some(0)));
    assert!(trace.diagnostics.iter().any(|note| note.message.contains("restarted")));
}

#[test]
fn the_load_of_interrupts_is_a_part_of_the_time_of_all_cores() {
    let options = Options { cores: 2, ..OPTIONS };
    let (mut memory, now) = (vec![0; 4096], Cell::new(0));
    let mut recorder = Recorder::new(&mut memory, &options, || now.get()).unwrap();
    let mut event = |time, core, id| {
        now.set(time);
        recorder.event(core, id, [15, 0]);
    };
    // Core 0 serves an interrupt for three quarters of the time, core 1 for half of the time.
    for core in [0, 1] {
        event(0, core, ids::INTERRUPT_ENTER);
    }
    event(200, 1, ids::INTERRUPT_EXIT);
    event(300, 0, ids::INTERRUPT_EXIT);
    event(400, 0, ids::MARK);
    let source = Source::new("my.rules", "load(interrupts) < 1 %");
    let rules = Rules::parse(&source).rules.unwrap();
    let mut measuring = Measuring::new(rules.figures());
    let mut input = Input::from_bytes("board", memory, Settings::default()).unwrap();
    let trace = input.read(&mut measuring).unwrap();
    let measures = measuring.measures(&trace);
    let values = measures.values(rules.figures().next().unwrap()).unwrap();
    assert_eq!((trace.cpus, values.len(), values[0].quantity), (2, 1, Quantity::Share(625_000)));
}

#[test]
fn texts_and_events_of_the_application_have_their_names_and_values() {
    let (mut memory, mut line) = (vec![0; 4096], vec![0; 4096]);
    let mut recorder = Recorder::new(&mut memory, &OPTIONS, || 0).unwrap();
    let name = "motor(speed,current_in_milliamperes:u,status:x)";
    recorder.define(DefinitionKind::Event, 7, 0, 0, name);
    recorder.user(0, 7, &[-5, 70_000, -1]);
    recorder.user(0, 7, &[1, 2, 3, 4, 5]);
    recorder.user(0, 8, &[1, -2]);
    recorder.text(0, 2, "ready");
    recorder.value(0, 3, -40);
    recorder.flush();
    let mut length = 0;
    loop {
        match recorder.read(&mut line[length..]) {
            0 => break,
            more => length += more,
        }
    }
    let (trace, log) = read(&line[..length]);
    let motor = trace.schema.event(0x1007);
    let names: Vec<_> = motor.args.iter().map(|argument| argument.name.as_str()).collect();
    assert_eq!(
        (motor.label.as_str(), names),
        ("motor", vec!["speed", "current_in_milliamperes", "status"])
    );
    let argument =
        |row: usize, index| trace.payload.argument(&log.rows[row].payload, index).unwrap();
    assert_eq!(argument(1, 0).cast_signed(), -5);
    assert_eq!((argument(1, 1), argument(1, 2)), (70_000, 0xFFFF_FFFF));
    assert_eq!([0, 1, 2].map(|index| argument(2, index)), [1, 2, 3]);
    assert_eq!(trace.fact("undescribed_arguments"), Some(2));
    let warnings: Vec<_> = trace.diagnostics.iter().map(|of| &of.message).collect();
    assert_eq!(
        warnings,
        ["event 'motor' has more arguments than its definition; the additional ones are not shown"]
    );
    assert_eq!(log.rows[3].id, 0x1008);
    assert_eq!(trace.payload.bytes(&log.rows[4].payload, 1), b"ready");
    assert_eq!(argument(5, 1).cast_signed(), -40);
}

#[test]
fn a_dump_that_ends_within_its_ring_says_how_many_bytes_are_missing() {
    let options = Options { slot: 64, ..OPTIONS };
    let memory = 32 + 16 * 32 + 4 * 64;
    let script = |event: &mut dyn FnMut(u32, u8, [u32; 2])| {
        (0..1000).for_each(|mark| event(1000 * mark, ids::MARK, [mark, 0]));
    };
    let (ring, _) = record(&options, memory, script);
    let before = 77;
    for (missing, after) in [(0, 0), (0, 9), (1, 0), (64, 0), (65, 0)] {
        let dump = [&vec![0xA5; before][..], &ring[..memory - missing], &vec![0; after]].concat();
        let (trace, _) = read(&dump);
        let found: Vec<_> = trace
            .diagnostics
            .iter()
            .filter(|found| found.message.contains("bytes of a ring"))
            .map(|found| (found.offset, found.message.clone()))
            .collect();
        let there = memory - missing;
        let expected = (missing > 0).then(|| {
            let end = (before + there) as u64;
            (Some(end), format!("expected {memory} bytes of a ring, found {there}"))
        });
        assert_eq!(found, Vec::from_iter(expected), "{missing} {after}");
        let fact = |name: &str| trace.facts.iter().find(|fact| fact.name == name).unwrap().value;
        assert_eq!(fact("ring_offset"), before as u64);
        assert_eq!((fact("slot_bytes"), fact("slots")), (64, 4));
    }
}
