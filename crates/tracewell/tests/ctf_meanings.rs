//! Tests the meanings of the events of Linux and Zephyr: figures and states equal those in the
//! shared data. The expected results for Linux are from Babeltrace's text. The simulator that made
//! the traces provides those for Zephyr.

mod support;

use std::collections::BTreeMap;
use std::collections::HashMap;
use std::path::Path;

use support::{EventLog, number, settings, shared, table};
use tracewell::analysis::tracks::{Occupant, Row, State, TrackBuilder, Tracks};
use tracewell::input::Input;
use tracewell::model::{ArgumentValue, Batch, ContextId, Event, Flow, Meaning, Sink, Trace};

fn read(path: &Path) -> (Trace, Tracks) {
    let mut builder = TrackBuilder::default();
    let trace = Input::open(path, settings(&[])).unwrap().read(&mut builder).unwrap();
    let tracks = builder.finish(&trace);
    (trace, tracks)
}

/// The times at which each processor first and last switched threads, and the number of switches to
/// each thread on each processor.
#[derive(Default)]
struct Switches {
    between: BTreeMap<u16, (u64, u64)>,
    to: HashMap<(u16, u64), u64>,
}

impl Sink for Switches {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        for row in batch.events() {
            let kind = trace.schema.event(row.id);
            if !kind.name.ends_with("sched_switch") {
                continue;
            }
            let next = kind
                .args
                .iter()
                .position(|a| a.name.starts_with("next_") && a.name.ends_with("id"));
            let next = trace.payload.argument(row.payload, next.unwrap()).unwrap();
            *self.to.entry((row.cpu, next)).or_default() += 1;
            self.between.entry(row.cpu).or_insert((row.ticks, row.ticks)).1 = row.ticks;
        }
        Flow::Continue(())
    }
}

/// Compares the switches and the running times of all threads of a kernel trace.
fn compare_switches(name: &str) {
    let Some(shared) = shared() else { return };
    let folder = shared.join("data/ctf/real/tracecompass").join(name);
    let (trace, tracks) = read(&folder.join("trace"));
    let mut switches = Switches::default();
    Input::open(&folder.join("trace"), settings(&[])).unwrap().read(&mut switches).unwrap();
    let nanoseconds = |ticks| trace.clock.nanoseconds(ticks).unwrap();
    let rows = table(&folder.join("switches.tsv"));
    assert!(rows.len() > 5);
    for row in rows {
        let tid = number(&row["tid"]);
        let place = format!("{name}: {row:?}");
        let on = |cpu: &u16| row["cpu"] == "*" || row["cpu"] == cpu.to_string();
        let switched: u64 =
            switches.to.iter().filter(|((cpu, to), _)| on(cpu) && *to == tid).map(|(_, n)| n).sum();
        assert_eq!(switched, number(&row["switched_in"]), "{place}");
        let mut found = 0;
        for (cpu, between) in switches.between.iter().filter(|(cpu, _)| on(cpu)) {
            let core = &tracks.cores[usize::from(*cpu)];
            let runs = trace.contexts.find(tid);
            // The expected times of a thread include the interrupts that occurred while it ran.
            let mut thread = None;
            for span in core.spans(between.0..between.1, tracks.span) {
                thread = match span.state {
                    Occupant::Interrupt { .. } => thread,
                    Occupant::Idle => Some(None),
                    Occupant::Task { runs, .. } => Some(Some(runs)),
                    Occupant::Unknown => None,
                };
                let is = if tid == 0 { Some(None) } else { runs.map(Some) };
                if thread.is_some() && thread == is {
                    let (from, to) = (span.from.ticks.max(between.0), span.end.min(between.1));
                    found += nanoseconds(to).saturating_sub(nanoseconds(from));
                }
            }
        }
        assert_eq!(found, number(&row["running_ns"]), "{place}");
    }
}

#[test]
fn switches_of_a_kernel_of_2014_are_those_of_its_text() {
    compare_switches("bug446190");
}

#[test]
fn switches_of_a_big_endian_kernel_are_those_of_its_text() {
    compare_switches("flipping-endianness");
}

#[test]
fn switches_of_a_part_of_a_kernel_trace_are_those_of_its_text() {
    compare_switches("many-threads-cut");
}

#[test]
fn switches_that_perf_recorded_are_those_of_its_text() {
    compare_switches("perf-taskset2");
}

#[test]
fn interrupts_of_kernels_are_those_of_their_texts() {
    let Some(shared) = shared() else { return };
    for name in ["bug446190", "flipping-endianness", "many-threads-cut"] {
        let folder = shared.join("data/ctf/real/tracecompass").join(name);
        let (_, tracks) = read(&folder.join("trace"));
        let mut expected = BTreeMap::new();
        for row in table(&folder.join("interrupts.tsv")) {
            let offset = if row["kind"] == "softirq" { 0x1_0000 } else { 0 };
            let source = expected.entry(number(&row["number"]) + offset).or_insert((0, 0));
            source.0 += number(&row["count"]);
            source.1 += number(&row["ns"]);
        }
        let sources = tracks.figures.interrupts.sources.iter();
        let found: BTreeMap<_, _> =
            sources.map(|source| (source.number.unwrap(), (source.count, source.ticks))).collect();
        assert_eq!(found.len(), expected.len(), "{name}");
        // The figures exclude nested interrupts, and the expected times include them.
        let mut nested = 0;
        for (number, (count, ns)) in &expected {
            assert_eq!(found[number].0, *count, "{name}: {number}");
            nested += ns - found[number].1;
        }
        let all: u64 = expected.values().map(|(_, ns)| ns).sum();
        assert_eq!(all - nested, tracks.figures.interrupts.ticks, "{name}");
        assert!(nested * 20 < all, "{name}: {nested} of {all}");
    }
}

/// The system calls that threads have entered but not left, and how often threads blocked in each
/// call.
#[derive(Default)]
struct Calls {
    open: HashMap<ContextId, String>,
    blocked: BTreeMap<String, u64>,
}

impl Sink for Calls {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        for row in batch.events() {
            let event = Event { trace, row: &row };
            let name = event.kind().name.as_str();
            let entered = name.strip_prefix("syscall_entry_").or(name.strip_prefix("sys_"));
            if let Some(call) = entered.filter(|call| !call.contains("nanosleep")) {
                self.open.insert(row.context, call.to_owned());
            } else if entered.is_some() || name == "exit_syscall" || name.contains("syscall_exit_")
            {
                self.open.remove(&row.context);
            } else if name == "sched_switch" {
                let mut args = event.args();
                let state = args.find(|(name, _)| *name == "prev_state").unwrap().1;
                let ArgumentValue::Signed(state) = state else { panic!("{state:?}") };
                let blocks = state & 0x8F != 0 && state & 0x70 == 0;
                if let Some(call) = self.open.get(&row.context).filter(|_| blocks) {
                    *self.blocked.entry(call.clone()).or_default() += 1;
                }
            }
        }
        Flow::Continue(())
    }
}

#[test]
fn threads_of_a_kernel_block_in_their_system_calls() {
    let Some(shared) = shared() else { return };
    for (name, least) in [("bug446190", 5), ("many-threads-cut", 2)] {
        let folder = shared.join("data/ctf/real/tracecompass").join(name).join("trace");
        let (trace, tracks) = read(&folder);
        let mut calls = Calls::default();
        Input::open(&folder, settings(&[])).unwrap().read(&mut calls).unwrap();
        let mut found = BTreeMap::<_, u64>::new();
        for (_, row) in tracks.contexts() {
            for span in row.spans(0..tracks.span + 1, tracks.span) {
                let reason = tracks.reason(span.state);
                if let Some(reason) = reason.filter(|reason| reason.request == Some(Meaning::Call))
                {
                    let event = trace.schema.event(reason.key.unwrap() as u32);
                    let call = &event.name[event.details.waits_in.unwrap()..];
                    *found.entry(call.to_owned()).or_default() += 1;
                }
            }
        }
        assert_eq!(found, calls.blocked, "{name}");
        assert!(found.len() >= least, "{name}: {found:?}");
    }
}

/// The layout of a kernel trace with the events around a system call and an interrupt.
const CALLS: &str = "/* CTF 1.8 */
typealias integer { size = 8; align = 8; } := u8;
typealias integer { size = 32; align = 8; signed = true; } := i32;
trace { major = 1; minor = 8; byte_order = le; };
clock { name = c; freq = 1000000000; };
typealias integer { size = 32; align = 8; map = clock.c.value; } := stamp;
stream { event.header := struct { u8 id; stamp timestamp; }; };
event { name = sched_switch; id = 0; fields := struct {
    string prev_comm; i32 prev_tid; i32 prev_state; string next_comm; i32 next_tid; }; };
event { name = syscall_entry_nanosleep; id = 1; fields := struct { i32 rqtp; }; };
event { name = timer_hrtimer_start; id = 2; fields := struct { i32 hrtimer; i32 expires; }; };
event { name = syscall_exit_nanosleep; id = 3; fields := struct { i32 ret; }; };
event { name = sched_waking; id = 4; fields := struct { string comm; i32 tid; }; };
event { name = syscall_entry_read; id = 5; fields := struct { i32 fd; }; };
event { name = irq_handler_entry; id = 6; fields := struct { string name; i32 irq; }; };
event { name = irq_handler_exit; id = 7; fields := struct { i32 irq; i32 ret; }; };
event { name = irq_softirq_entry; id = 8; fields := struct { i32 vec; }; };
event { name = irq_softirq_exit; id = 9; fields := struct { i32 vec; }; };
";

/// Appends an event to a stream of [`CALLS`]. For each pair in `fields`, appends the text with a
/// NUL, unless it is empty, and then the number.
fn put(stream: &mut Vec<u8>, id: u8, stamp: u32, fields: &[(&str, i32)]) {
    stream.push(id);
    stream.extend(stamp.to_le_bytes());
    for (text, number) in fields {
        if !text.is_empty() {
            stream.extend(text.as_bytes());
            stream.push(0);
        }
        stream.extend(number.to_le_bytes());
    }
}

/// Returns a folder with a trace that consists of a stream of [`CALLS`].
fn folder(stream: &[u8]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("metadata"), CALLS).unwrap();
    std::fs::write(folder.path().join("channel_0"), stream).unwrap();
    folder
}

/// Returns the waits of a thread that enters a system call, waits, leaves the call and waits again:
/// the first and the last time of each, and the request for which the thread waited.
fn waits_in(entry: u8) -> Vec<(u64, u64, Option<Option<Meaning>>)> {
    let (mut stream, blocks) = (Vec::new(), 1);
    put(&mut stream, 0, 100, &[("idle", 0), ("", 0), ("app", 7)]);
    put(&mut stream, entry, 200, &[("", 5)]);
    put(&mut stream, 2, 210, &[("", 1), ("", 900)]);
    put(&mut stream, 0, 300, &[("app", 7), ("", blocks), ("idle", 0)]);
    put(&mut stream, 4, 900, &[("app", 7)]);
    put(&mut stream, 0, 1000, &[("idle", 0), ("", 0), ("app", 7)]);
    put(&mut stream, 3, 1100, &[("", 0)]);
    put(&mut stream, 0, 1200, &[("app", 7), ("", blocks), ("idle", 0)]);
    put(&mut stream, 4, 1300, &[("app", 7)]);
    let (trace, tracks) = read(folder(&stream).path());
    let row = tracks.context(trace.contexts.find(7).unwrap()).unwrap();
    let spans = row.spans(0..tracks.span + 1, tracks.span);
    let waits = spans.filter(|span| matches!(span.state, State::Sleeping | State::Blocked(_)));
    waits
        .map(|span| (span.from.ticks, span.end, tracks.reason(span.state).map(|r| r.request)))
        .collect()
}

#[test]
fn a_thread_waits_in_its_call_until_it_returns_even_if_other_events_follow_the_entry() {
    let (nanosleep, read) = (1, 5);
    for (entry, reason) in [(nanosleep, None), (read, Some(Some(Meaning::Call)))] {
        assert_eq!(waits_in(entry), [(200, 800, reason), (1100, 1200, Some(None))]);
    }
}

#[test]
fn the_events_of_an_interrupt_are_those_from_its_beginning_to_its_end() {
    let mut stream = Vec::new();
    put(&mut stream, 0, 100, &[("idle", 0), ("", 0), ("app", 7)]);
    put(&mut stream, 6, 200, &[("eth0", 5)]);
    put(&mut stream, 2, 210, &[("", 1), ("", 900)]);
    put(&mut stream, 7, 220, &[("", 5), ("", 1)]);
    put(&mut stream, 4, 230, &[("app", 7)]);
    put(&mut stream, 8, 240, &[("", 3)]);
    put(&mut stream, 9, 250, &[("", 3)]);
    put(&mut stream, 4, 260, &[("app", 7)]);
    let mut log = EventLog::default();
    let trace = Input::open(folder(&stream).path(), settings(&[])).unwrap().read(&mut log).unwrap();
    let name = |context| trace.contexts.get(context).unwrap().name.as_str();
    let names: Vec<_> = log.rows.iter().skip(1).map(|row| name(row.context)).collect();
    let (irq, softirq) = ("irq 5 eth0", "softirq 3");
    assert_eq!(names, [irq, irq, irq, "app", softirq, softirq, "app"]);
}

/// Returns a stream of [`CALLS`] that consists of one packet of a processor. `end` is the end of
/// the recording, and a step is an event's time with the threads that lose and get the processor.
fn packet(cpu: u32, end: u32, steps: &[(u32, i32, i32)]) -> Vec<u8> {
    let mut events = Vec::new();
    for (stamp, before, next) in steps {
        put(&mut events, 0, *stamp, &[("a", *before), ("", 0), ("b", *next)]);
    }
    let bits = 8 * (16 + events.len()) as u32;
    let begin = steps[0].0;
    [cpu, bits, begin, end].into_iter().flat_map(u32::to_le_bytes).chain(events).collect()
}

/// Returns who runs on each core, as ranges of ticks with the key of the task.
fn runs(streams: &[Vec<u8>]) -> Vec<Vec<(u64, u64, String)>> {
    let packets = "packet.context := struct {
        integer { size = 32; align = 8; } cpu_id;
        integer { size = 32; align = 8; } packet_size;
        stamp timestamp_begin; stamp timestamp_end; };
    event.header";
    let folder = tempfile::tempdir().unwrap();
    let metadata = CALLS.replacen("event.header", packets, 1);
    std::fs::write(folder.path().join("metadata"), metadata).unwrap();
    for (number, stream) in streams.iter().enumerate() {
        std::fs::write(folder.path().join(format!("channel_{number}")), stream).unwrap();
    }
    let (trace, tracks) = read(folder.path());
    let of_core = |row: &Row<Occupant>| {
        let spans = row.spans(0..tracks.span + 1, tracks.span);
        let named = spans.map(|span| {
            let name = match span.state {
                Occupant::Task { runs, .. } => &trace.contexts.get(runs).unwrap().key_text,
                Occupant::Idle => "idle",
                _ => "unknown",
            };
            (span.from.ticks, span.end, name.to_owned())
        });
        named.collect()
    };
    tracks.cores.iter().map(of_core).collect()
}

fn span(from: u64, until: u64, name: &str) -> (u64, u64, String) {
    (from, until, name.to_owned())
}

#[test]
fn a_core_runs_nothing_known_after_the_end_of_its_stream() {
    let long = packet(0, 1000, &[(100, 0, 7), (900, 7, 8), (1000, 8, 7)]);
    for next in [9, 0] {
        let short = packet(1, 400, &[(200, 0, next)]);
        let name = if next == 0 { "idle" } else { "9" };
        let [first, second] = &runs(&[long.clone(), short])[..] else { panic!() };
        assert_eq!(*first, [span(0, 800, "7"), span(800, 900, "8"), span(900, 900, "7")]);
        assert_eq!(second[..], [span(100, 300, name), span(300, 900, "unknown")]);
    }
    // The recording on a core goes on as long as one of its streams.
    let [short, other] = [400, 700].map(|end| packet(1, end, &[(200, 0, 9)]));
    let cores = runs(&[long, short, other]);
    assert_eq!(cores[1], [span(100, 600, "9"), span(600, 900, "unknown")]);
}

#[test]
fn a_thread_that_gets_a_core_has_left_its_previous_core() {
    let from = packet(0, 1000, &[(100, 0, 7), (900, 0, 8), (1000, 8, 0)]);
    let to = packet(1, 1000, &[(200, 0, 9), (500, 9, 7), (700, 7, 9)]);
    let [first, second] = &runs(&[from, to])[..] else { panic!() };
    assert_eq!(first[..3], [span(0, 400, "7"), span(400, 800, "unknown"), span(800, 900, "8")]);
    assert_eq!(second[..3], [span(100, 400, "9"), span(400, 600, "7"), span(600, 900, "9")]);
}

/// Compares all states of Zephyr's threads with the states that the simulator recorded. If
/// `only_running` is true, compares only the times in which the threads ran.
fn compare_zephyr(name: &str, only_running: bool) {
    let Some(shared) = shared() else { return };
    let folder = shared.join("data/ctf/zephyr").join(name);
    let (trace, tracks) = read(&folder.join("trace"));
    let first = trace.clock.first_stamp;
    let totals = table(&folder.join("totals.tsv"));
    let states = table(&folder.join("states.tsv"));
    assert!(totals.len() >= 5 && states.len() > 100);
    for total in &totals {
        let context = trace.contexts.find(number(&total["key"])).unwrap();
        let place = format!("{name}: {}", total["thread"]);
        assert_eq!(trace.contexts.get(context).unwrap().name, total["thread"], "{place}");
        let row = tracks.context(context).unwrap();
        // No event reports that a new thread is ready.
        let first_run = |spans: &mut Vec<(u64, u64, String)>| {
            let first = spans.iter().position(|span| span.2 == "running").unwrap();
            spans.drain(..first);
        };
        let of = states.iter().filter(|state| state["thread"] == total["thread"]);
        let of = of.filter(|state| !only_running || state["state"] == "running");
        let expected: Vec<_> = of
            .map(|state| {
                let [from, to] = ["from_ns", "to_ns"].map(|key| number(&state[key]) - first);
                (from, to, state["state"].clone())
            })
            .filter(|(from, to, _)| from < to)
            .collect();
        let mut found: Vec<(u64, u64, String)> = Vec::new();
        for span in row.spans(0..tracks.span + 1, tracks.span) {
            let state = match span.state {
                State::Running(_) | State::Interrupted => "running",
                State::Ready | State::Preempted => "ready",
                State::Blocked(_) | State::Sleeping => "blocked",
                other => other.name(),
            };
            let is_wanted = if only_running { state == "running" } else { state != "unknown" };
            if !is_wanted || span.from.ticks == span.end {
                continue;
            }
            match found.last_mut() {
                Some(last) if last.1 == span.from.ticks && last.2 == state => last.1 = span.end,
                _ => found.push((span.from.ticks, span.end, state.to_owned())),
            }
        }
        let mut expected = joined(expected);
        first_run(&mut expected);
        first_run(&mut found);
        compare_spans(&place, &expected, &found);
    }
}

/// Joins successive spans of one state.
fn joined(spans: Vec<(u64, u64, String)>) -> Vec<(u64, u64, String)> {
    let mut joined: Vec<(u64, u64, String)> = Vec::new();
    for span in spans {
        match joined.last_mut() {
            Some(last) if last.1 == span.0 && last.2 == span.2 => last.1 = span.1,
            _ => joined.push(span),
        }
    }
    joined
}

fn compare_spans(place: &str, expected: &[(u64, u64, String)], found: &[(u64, u64, String)]) {
    for (index, (expected, found)) in expected.iter().zip(found).enumerate() {
        assert_eq!(found, expected, "{place}: span {index}");
    }
    assert_eq!(
        found.len(),
        expected.len(),
        "{place}: expected {:?}, found {:?}",
        expected.last(),
        found.last()
    );
}

#[test]
fn the_states_of_zephyrs_threads_are_those_of_the_simulator() {
    compare_zephyr("u16", false);
    compare_zephyr("u64", false);
}

#[test]
fn the_times_in_which_threads_of_an_old_zephyr_ran_are_those_of_the_simulator() {
    compare_zephyr("u8", true);
}

#[test]
fn the_interrupts_of_zephyr_are_those_of_the_simulator() {
    let Some(shared) = shared() else { return };
    for name in ["u8", "u16", "u64"] {
        let folder = shared.join("data/ctf/zephyr").join(name);
        let (trace, tracks) = read(&folder.join("trace"));
        let first = trace.clock.first_stamp;
        let expected: Vec<_> = table(&folder.join("interrupts.tsv"))
            .iter()
            .map(|row| (number(&row["from_ns"]) - first, number(&row["to_ns"]) - first))
            .collect();
        let spans = tracks.cores[0].spans(0..tracks.span + 1, tracks.span);
        let found: Vec<_> = spans
            .filter(|span| matches!(span.state, Occupant::Interrupt { .. }))
            .map(|span| (span.from.ticks, span.end))
            .collect();
        assert_eq!(found.len(), expected.len(), "{name}");
        assert!(found == expected, "{name}");
    }
}

/// Returns the ticks of events with these stamps, and the number of diagnostics. `first` is the
/// name of the first event.
fn ticks(first: &str, stamps: &[u32]) -> (Vec<u64>, usize) {
    let folder = tempfile::tempdir().unwrap();
    let events =
        format!("event {{ name = {first}; id = 0; }};\nevent {{ name = other; id = 1; }};\n");
    let metadata = CALLS.split("event {").next().unwrap().to_owned() + &events;
    std::fs::write(folder.path().join("metadata"), metadata).unwrap();
    let mut stream = Vec::new();
    for (index, stamp) in stamps.iter().enumerate() {
        put(&mut stream, u8::from(index > 0), *stamp, &[]);
    }
    std::fs::write(folder.path().join("channel_0"), stream).unwrap();
    let mut log = EventLog::default();
    let trace = Input::open(folder.path(), settings(&[])).unwrap().read(&mut log).unwrap();
    (log.rows.iter().map(|row| row.ticks).collect(), trace.diagnostics.iter().count())
}

/// An interrupt can record its event between the stamp and the storing of another event. So a
/// slightly smaller stamp after an interrupt does not mean that the clock wrapped.
#[test]
fn a_stamp_slightly_below_that_of_an_interrupt_is_out_of_order() {
    let most = 1_000_000;
    for (first, back, is_wrap) in [
        ("isr_enter", 1, false),
        ("isr_enter", most - 1, false),
        ("isr_enter", most, true),
        ("thread_switched_in", 1, true),
    ] {
        let wrap = if is_wrap { 1 << 32 } else { 0 };
        let second = wrap - if is_wrap { u64::from(back) } else { 0 };
        let stamps = [2 * most, 2 * most - back, 2 * most + 10];
        let diagnostics = usize::from(!is_wrap);
        let expected = [0, second, wrap + 10];
        // Events at the end of a stream are read in another way.
        for more in [0, 10] {
            let stamps: Vec<_> = stamps.into_iter().chain(vec![2 * most + 10; more]).collect();
            let expected: Vec<_> = expected.iter().copied().chain(vec![wrap + 10; more]).collect();
            assert_eq!(ticks(first, &stamps), (expected, diagnostics), "{first} {back} {more}");
        }
    }
}

/// The events have only numbers of fixed size, so the decoder can read them in their plain form.
#[test]
fn numbers_alone_show_the_thread_and_the_processor_of_an_event() {
    let folder = tempfile::tempdir().unwrap();
    let metadata = CALLS.split("stream {").next().unwrap().to_owned()
        + "stream { event.header := struct { u8 id; }; event.context := struct { u8 vtid; }; };
        event { name = sched_switch; id = 0; fields := struct { u8 next_tid; }; };
        event { name = other; id = 1; fields := struct { u8 a; }; };
        event { name = located; id = 2; fields := struct { u8 core_id; }; };
        event { name = counted; id = 3; fields := struct { u8 perf_cpu; }; };
        event { name = irq_softirq_entry; id = 4; fields := struct { u8 vec; }; };
        event { name = irq_softirq_exit; id = 5; fields := struct { u8 vec; }; };
        event { name = lttng_statedump_process; id = 6; fields := struct { u8 a; }; };";
    std::fs::write(folder.path().join("metadata"), metadata).unwrap();
    let events = [
        ([6, 9, 1], "?", 0),
        ([1, 9, 1], "thread 9", 0),
        ([0, 9, 8], "thread 9", 0),
        ([6, 9, 1], "thread 8", 0),
        ([2, 7, 3], "thread 7", 3),
        ([3, 7, 2], "thread 7", 2),
        ([4, 7, 6], "softirq 6", 0),
        ([1, 9, 1], "softirq 6", 0),
        ([5, 7, 6], "softirq 6", 0),
        ([1, 0, 1], "thread 0", 0),
    ];
    let stream = events.map(|(bytes, ..)| bytes).concat();
    std::fs::write(folder.path().join("channel_0"), stream).unwrap();
    let mut log = EventLog::default();
    let trace = Input::open(folder.path(), settings(&[])).unwrap().read(&mut log).unwrap();
    let found: Vec<_> = log
        .rows
        .iter()
        .map(|row| (trace.contexts.get(row.context).unwrap().name.as_str(), row.cpu))
        .collect();
    assert_eq!(found, events.map(|(_, context, cpu)| (context, cpu)));
}
