//! Tests the timelines for other viewers. Independent readers decode them, and the tests compare
//! their contents with the figures of the same traces.

#[path = "support/pftrace.rs"]
mod pftrace;
mod support;

use std::collections::{HashMap, HashSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use pftrace::{Packet, Read};
use support::{dumps, fixture, settings};
use tracewell::analysis::tracks::{TrackBuilder, Tracks};
use tracewell::export::{ExportError, ExportNames, by_name};
use tracewell::format::Options;
use tracewell::input::Input;
use tracewell::model::{ContextId, Trace};
use tracewell::select::{Bound, Selection};
use tracewell_record::stream::{EventType, Family, Stream, StreamOptions};

const RUNNING: u64 = 3;
const DEAD: u64 = 7;

fn export(mut input: Input, format: &str, options: &[&str]) -> Result<Vec<u8>, ExportError> {
    let names = ExportNames { input: "trace".to_owned(), output: "out".to_owned() };
    let mut chosen = Options::default();
    options.iter().for_each(|option| chosen.add(option).unwrap());
    let mut out = Vec::new();
    by_name(format).unwrap().write(&mut input, &chosen, &names, &mut out)?;
    Ok(out)
}

fn open(path: &Path, options: &[&str]) -> Input {
    Input::open(path, settings(options)).unwrap()
}

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/scheduling.trx")
}

fn tracks(mut input: Input) -> (Trace, Tracks) {
    let mut builder = TrackBuilder::default();
    let trace = input.read(&mut builder).unwrap();
    let tracks = builder.finish(&trace);
    (trace, tracks)
}

/// Returns the log of a native stream with some events.
fn native() -> Vec<u8> {
    static STEP: EventType<(u32,)> = EventType::new(Family::new(1, "viewers"), "step", &["number"]);
    let stream = Stream::anonymous(&StreamOptions::default()).unwrap();
    stream.start();
    (0..100).for_each(|number| stream.record(&STEP, (number,)));
    stream.save(Vec::new()).unwrap()
}

/// Calls a function for one trace of each dialect. The called function receives the name of the
/// trace, and a function that opens the trace.
fn each_dialect(each: impl Fn(&str, &dyn Fn() -> Input)) {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    for path in [
        fixture("threadx/tiny.trx"),
        examples.join("scheduling.trx"),
        fixture("rkh/ahsm-a.bin"),
        fixture("rkh/ahsm-overrun.bin"),
        fixture("shark/a_linear.dat"),
        fixture("shark/cbs_server.dat"),
        examples.join("hooks.twx"),
    ] {
        each(&path.display().to_string(), &|| open(&path, &[]));
    }
    let bytes = native();
    each("native", &|| Input::from_bytes("log", bytes.clone(), settings(&[])).unwrap());
}

/// Intervals: the beginning and the end of each.
type Intervals = Vec<(u64, u64)>;

fn overlap(one: &Intervals, other: &Intervals) -> u64 {
    let pairs = one.iter().flat_map(|a| other.iter().map(move |b| (a, b)));
    pairs.map(|(a, b)| a.1.min(b.1).saturating_sub(a.0.max(b.0))).sum()
}

/// Returns the intervals in which each thread ran on each core, according to the messages of the
/// kernel.
fn runs(read: &Read, end: u64) -> HashMap<(u64, u64), Intervals> {
    let (mut on, mut runs) = (HashMap::new(), HashMap::<_, Intervals>::new());
    let mut dead = HashSet::new();
    for (time, packet) in &read.packets {
        let Packet::State(core, thread, state) = packet else { continue };
        // Perfetto accepts no state of a dead thread.
        assert!(!dead.contains(thread), "thread {thread} at {time}");
        if *state == DEAD {
            dead.insert(*thread);
        }
        if *state == RUNNING {
            assert!(on.insert(*core, (*thread, *time)).is_none(), "core {core} at {time}");
        } else if on.get(core).is_some_and(|(runs, _)| runs == thread) {
            let (_, from) = on.remove(core).unwrap();
            runs.entry((*core, *thread)).or_default().push((from, *time));
        }
    }
    for (core, (thread, from)) in on {
        runs.entry((core, thread)).or_default().push((from, end));
    }
    runs
}

/// In the export, an interrupted thread is running; in the figures it is not.
#[test]
fn threads_of_perfetto_run_as_long_as_the_figures_say() {
    each_dialect(|place, input| {
        let (trace, tracks) = tracks(input());
        let read = Read::of(&export(input(), "perfetto", &[]).unwrap());
        let time = |ticks| trace.clock.nanoseconds(ticks).unwrap_or(ticks);
        let runs = runs(&read, time(trace.span));
        let slices = read.slices();
        let mut ran = HashMap::<u64, u64>::new();
        for ((core, thread), spans) in &runs {
            let interrupts = slices.iter().filter(|s| s.0 == format!("Interrupts/core {core}"));
            // Nested interrupts lie within other interrupts, so count only the outermost ones.
            let mut outer: Intervals = interrupts.map(|slice| (slice.2, slice.3)).collect();
            outer.sort_by_key(|(from, until)| (*from, std::cmp::Reverse(*until)));
            outer.dedup_by(|inner, outer| inner.1 <= outer.1);
            let lengths: u64 = spans.iter().map(|(from, until)| until - from).sum();
            *ran.entry(*thread).or_default() += lengths - overlap(spans, &outer);
        }
        for task in &tracks.figures.tasks {
            let Some(execution) = task.execution else { continue };
            let expected = match trace.clock.rate {
                Some(_) => execution.nanoseconds,
                None => execution.ticks,
            };
            let found = ran.remove(&(u64::from(task.context.0) + 1)).unwrap_or(0);
            // The time of each switch is rounded down.
            let name = &trace.contexts.get(task.context).unwrap().name;
            let most = read.packets.len() as u64;
            assert!(found.abs_diff(expected) <= most, "{place}: {name} {found} {expected}");
            if trace.clock.rate.is_none() {
                assert_eq!(found, expected, "{place}");
            }
        }
        assert!(ran.values().all(|ticks| *ticks == 0), "{place}");
    });
}

/// Some of these dumps have threads that are deleted and created again.
#[test]
fn a_deleted_thread_can_be_created_again() {
    for (path, _) in dumps() {
        runs(&Read::of(&export(open(&path, &[]), "perfetto", &[]).unwrap()), u64::MAX);
    }
}

/// The example has a tick of 10 ns, so all times are exact.
#[test]
fn slices_of_perfetto_are_the_spans_of_the_tracks() {
    let (trace, tracks) = tracks(open(&example(), &[]));
    let bytes = export(open(&example(), &["rate=100MHz"]), "perfetto", &["states=slices"]).unwrap();
    let read = Read::of(&bytes);
    let mut found = HashMap::<(String, String), u64>::new();
    for (path, name, from, until) in read.slices() {
        *found.entry((path, name)).or_default() += until - from;
    }
    let total = |path: &str, name: &str| {
        found.get(&(path.to_owned(), name.to_owned())).copied().unwrap_or(0)
    };
    for task in &tracks.figures.tasks {
        let name = &trace.contexts.get(task.context).unwrap().name;
        let ran = 10 * task.execution.unwrap().ticks;
        assert_eq!(total("Cores/core 0", name), ran, "{name}");
        assert_eq!(total(name, "running"), ran, "{name}");
    }
    let held = |name: &str, holder: &str| {
        let lock =
            tracks.locks.iter().find(|lock| lock.is_mutex && lock_is(&trace, lock.key, name));
        let context = trace.contexts.iter().find(|(_, context)| context.name == holder).unwrap().0;
        let of = |state: tracewell::analysis::tracks::Holder| state.context() == Some(context);
        10 * lock.unwrap().holder.time(0..trace.span + 1, trace.span, of)
    };
    for (mutex, holder) in [("log file", "logger"), ("log file", "control"), ("bus", "sensor")] {
        assert_eq!(total(&format!("Mutexes/mutex {mutex}"), holder), held(mutex, holder));
    }
    // As docs/viewing.md describes, `control` waits while `logger` holds the mutex.
    assert!(total("control", "blocked: mutex log file") > 0);
}

fn lock_is(trace: &Trace, key: u64, name: &str) -> bool {
    trace.objects.at(key, trace.span, None).is_some_and(|(_, object)| object.label == name)
}

/// Levels and findings equal the figures of `analyze`, and each completed step of a machine is a
/// slice.
#[test]
fn levels_machines_and_findings_are_in_both_formats() {
    let (trace, tracks) = tracks(open(&example(), &[]));
    let read = Read::of(&export(open(&example(), &[]), "perfetto", &[]).unwrap());
    let dump = signals(&export(open(&example(), &[]), "vcd", &[]).unwrap());
    for level in &tracks.machine_figures.levels {
        let name = level.object.label(&trace);
        let samples = read.packets.iter().filter_map(|(_, packet)| match packet {
            Packet::Counter(track, count) => {
                (read.path(*track) == format!("Levels/{name}")).then_some(*count)
            }
            _ => None,
        });
        let samples: Vec<_> = samples.collect();
        assert_eq!(samples.iter().copied().max(), level.most.map(u64::cast_signed), "{name}");
        assert_eq!(samples.last().copied(), level.last.map(u64::cast_signed), "{name}");
        let signal = format!("objects/{}_level", plain(&name));
        let last = level.last.map(|last| format!("{last:b}"));
        assert_eq!(dump.changes[&signal].last().map(|change| change.1.clone()), last);
    }
    let found = read.slices().into_iter().filter(|slice| slice.0.starts_with("Findings/"));
    let found: Vec<_> = found.map(|slice| (slice.1, slice.3 - slice.2)).collect();
    let spans = tracks.findings.iter().map(|finding| finding.until.ticks - finding.from.ticks);
    let expected = spans.clone().map(|ticks| ("priority inversion: control".to_owned(), ticks));
    assert_eq!(found, expected.collect::<Vec<_>>());
    assert_eq!(dump.total("findings/priority_inversion", "1"), spans.sum::<u64>());

    let path = fixture("rkh/ahsm-a.bin");
    let (_, tracks) = self::tracks(open(&path, &[]));
    let read = Read::of(&export(open(&path, &[]), "perfetto", &[]).unwrap());
    let slices = read.slices();
    let steps = slices.iter().filter(|s| s.0.starts_with("State machines/") && s.1 == "step");
    let completed = tracks.machine_figures.machines.iter().map(|machine| machine.step.count);
    assert_eq!(steps.count() as u64, completed.sum::<u64>());
}

/// Every event of a trace is an instant on the track of its context.
#[test]
fn events_arrows_and_losses_are_in_the_trace_for_perfetto() {
    each_dialect(|place, input| {
        let (trace, tracks) = tracks(input());
        let read = Read::of(&export(input(), "perfetto", &[]).unwrap());
        let instants = read.packets.iter().filter_map(|(_, packet)| match packet {
            Packet::Instant(_, name, flows) => Some((name, flows)),
            _ => None,
        });
        let arrows = instants.clone().filter(|(_, flows)| !flows.is_empty()).count();
        let drawn = tracks.arrows.iter().filter(|arrow| arrow.from_context.is_some()).count();
        assert_eq!(arrows, 2 * drawn, "{place}");
        let missed = tracks.jobs.iter().filter(|job| job.missed.is_some()).count();
        let ends = tracks.arrows.len() - drawn;
        let events = instants.count() - arrows - missed - ends;
        assert_eq!(events as u64, trace.events, "{place}");
        let lost = read.packets.iter().filter(|(_, packet)| *packet == Packet::Lost).count();
        let gaps = tracks.gaps.iter().filter(|gap| gap.cause.is_some()).count();
        assert_eq!(lost, gaps, "{place}");
        let shown = read.slices().into_iter().filter(|slice| slice.0 == "Losses/missing events");
        assert_eq!(shown.count(), tracks.gaps.len(), "{place}");
    });
}

#[test]
fn a_range_of_a_trace_for_perfetto_has_only_its_own_times() {
    let mut input = open(&example(), &["rate=100MHz"]);
    let (from, to) = (41_550_000, 43_520_000);
    let bounds = (Some(Bound::Nanoseconds(from)), Some(Bound::Nanoseconds(to)));
    input.select(Selection { from: bounds.0, to: bounds.1, ..Selection::default() });
    let read = Read::of(&export(input, "perfetto", &[]).unwrap());
    assert!(read.packets.iter().all(|(time, _)| (from..=to).contains(time)));
    let running = |(_, packet): &&(u64, Packet)| matches!(packet, Packet::State(0, _, RUNNING));
    let (time, first) = read.packets.iter().find(running).unwrap();
    // `logger` was running before the range began, so its state has the time of the first packet.
    let Packet::State(_, thread, _) = first else { unreachable!() };
    assert_eq!(read.threads[thread], "logger");
    assert_eq!(*time, read.packets[0].0);
}

#[test]
fn arrows_above_the_maximum_are_counted() {
    let names = ExportNames::default();
    let mut options = Options::default();
    options.add("arrows=1").unwrap();
    let mut out = Vec::new();
    let perfetto = by_name("perfetto").unwrap();
    let trace = perfetto.write(&mut open(&example(), &[]), &options, &names, &mut out).unwrap();
    let (_, tracks) = tracks(open(&example(), &[]));
    let message = format!("{} arrows left out: -T arrows=N", tracks.arrows.len() - 1);
    assert!(trace.diagnostics.iter().any(|found| found.message.starts_with(&message)));
}

#[test]
fn wrong_options_and_empty_selections_are_errors() {
    let refused = |input: Input, options: &[&str]| {
        export(input, "perfetto", options).err().unwrap().to_string()
    };
    assert_eq!(
        refused(open(&example(), &[]), &["states=bars"]),
        "-T states: expected threads or slices, found 'bars'"
    );
    let mut input = open(&example(), &[]);
    input.select(Selection { contexts: vec!["nothing".to_owned()], ..Selection::default() });
    assert!(
        refused(input, &[]).starts_with("the trace, or the selected part of it, has no events")
    );
}

/// Returns Python with the package `perfetto`, if this machine has it.
fn python() -> Option<Command> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/python");
    let command = || {
        let mut python = Command::new("python3");
        if folder.is_dir() {
            python.env("PYTHONPATH", &folder);
        }
        python
    };
    let check = command().args(["-c", "import perfetto.protos"]).output();
    if check.is_ok_and(|output| output.status.success()) {
        return Some(command());
    }
    assert!(std::env::var_os("CI").is_none(), "CI has python3 with the package perfetto");
    let _ = writeln!(std::io::stderr(), "skipped: there is no python3 with the package perfetto");
    None
}

/// Decodes traces with Perfetto's own definitions, which find unknown fields and wrong types.
#[test]
fn perfettos_definitions_accept_every_packet() {
    if python().is_none() {
        return;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/pftrace.py");
    let folder = tempfile::tempdir().unwrap();
    each_dialect(|place, input| {
        for states in ["states=threads", "states=slices"] {
            let bytes = export(input(), "perfetto", &[states]).unwrap();
            let path = folder.path().join("trace.pftrace");
            std::fs::write(&path, &bytes).unwrap();
            let output = python().unwrap().arg(&script).arg(&path).output().unwrap();
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{place} {states}: {errors}");
            let packets = pftrace::contents(&bytes, 1).len();
            assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), packets.to_string());
        }
    });
}

/// A value change dump, decoded by a parser of another project.
struct Signals {
    /// Times in the dump's unit, in order.
    times: Vec<u64>,
    /// The time and the value of each change. The key is the scope and the name of the signal.
    changes: HashMap<String, Vec<(u64, String)>>,
    scale: (u32, vcd::TimescaleUnit),
}

fn signals(dump: &[u8]) -> Signals {
    let mut parser = vcd::Parser::new(dump);
    let header = parser.parse_header().unwrap();
    let mut names = HashMap::new();
    for scope in header.items.iter().filter_map(|item| match item {
        vcd::ScopeItem::Scope(scope) => Some(scope),
        _ => None,
    }) {
        for item in &scope.items {
            let vcd::ScopeItem::Var(var) = item else { continue };
            let name = format!("{}/{}", scope.identifier, var.reference);
            assert!(names.insert(var.code, name).is_none());
        }
    }
    let (mut times, mut changes) = (Vec::new(), HashMap::<String, Vec<_>>::new());
    for command in parser {
        let (code, value) = match command.unwrap() {
            vcd::Command::Timestamp(time) => {
                assert!(times.last().is_none_or(|last| *last < time));
                times.push(time);
                continue;
            }
            vcd::Command::ChangeScalar(code, value) => (code, value.to_string()),
            vcd::Command::ChangeVector(code, value) => (code, value.to_string()),
            vcd::Command::ChangeReal(code, value) => (code, value.to_string()),
            vcd::Command::ChangeString(code, value) => (code, value),
            _ => continue,
        };
        changes.entry(names[&code].clone()).or_default().push((*times.last().unwrap(), value));
    }
    Signals { times, changes, scale: header.timescale.unwrap() }
}

impl Signals {
    /// Returns the time for which a signal has a value.
    fn total(&self, signal: &str, value: &str) -> u64 {
        let Some(changes) = self.changes.get(signal) else { return 0 };
        let end = *self.times.last().unwrap();
        let ends = changes.iter().skip(1).map(|(time, _)| *time).chain([end]);
        changes.iter().zip(ends).filter(|((_, v), _)| v == value).map(|((t, _), end)| end - t).sum()
    }
}

fn plain(name: &str) -> String {
    name.replace(|c: char| !c.is_ascii_alphanumeric(), "_")
}

#[test]
fn signals_of_a_dump_are_as_long_as_the_figures_say() {
    each_dialect(|place, input| {
        let (trace, tracks) = tracks(input());
        let dump = signals(&export(input(), "vcd", &[]).unwrap());
        let (count, unit) = dump.scale;
        // Without a rate, a unit is a tick. Otherwise the time of each change is rounded down.
        let close = |found: u64, ticks: u64, nanoseconds: u64| match trace.clock.rate {
            None => assert_eq!(found, ticks, "{place}"),
            Some(_) => {
                let found = u128::from(found) * 1_000_000_000 * u128::from(count);
                let found = (found / u128::from(unit.divisor())) as u64;
                let most = dump.times.len() as u64;
                assert!(found.abs_diff(nanoseconds) <= most, "{place}: {found} {nanoseconds}");
            }
        };
        let mut names = HashMap::<String, usize>::new();
        let named = |id: ContextId| plain(&trace.contexts.get(id).unwrap().name);
        tracks.contexts().for_each(|(id, _)| *names.entry(named(id)).or_default() += 1);
        for task in &tracks.figures.tasks {
            let name = named(task.context);
            let Some(execution) = task.execution.filter(|_| names.get(&name) == Some(&1)) else {
                continue;
            };
            let cores = 0..tracks.cores.len();
            let ran: u64 = cores
                .map(|core| {
                    let number = format!("{:b}", task.context.0 + 1);
                    dump.total(&format!("cores/core{core}_context"), &number)
                })
                .sum();
            close(ran, execution.ticks, execution.nanoseconds);
            let row = tracks.context(task.context).unwrap();
            let has_processor = |state: tracewell::analysis::tracks::State| {
                ["running", "interrupted"].contains(&state.name())
            };
            let expected = row.time(0..trace.span + 1, trace.span, has_processor);
            let time = trace.clock.nanoseconds(expected).unwrap_or(0);
            close(dump.total(&format!("tasks/{name}"), "1"), expected, time);
        }
        for (number, core) in tracks.figures.cores.iter().enumerate() {
            let interrupts = dump.total(&format!("cores/core{number}_interrupt"), "1");
            let time = trace.clock.nanoseconds(core.interrupts).unwrap_or(0);
            close(interrupts, core.interrupts, time);
        }
        let events = dump.changes.iter().filter(|(name, _)| name.starts_with("events/"));
        assert_eq!(events.map(|(_, times)| times.len() as u64).sum::<u64>(), trace.events);
    });
}

#[test]
fn a_dump_has_the_coarsest_exact_scale() {
    let scale = |rate: &str| {
        let options = [format!("rate={rate}")];
        let options: Vec<_> = options.iter().map(String::as_str).collect();
        let dump = export(open(&fixture("threadx/tiny.trx"), &options), "vcd", &[]).unwrap();
        let text = String::from_utf8(dump).unwrap();
        let line = text.lines().find(|line| line.starts_with("$timescale")).unwrap();
        line.trim_start_matches("$timescale ").trim_end_matches(" $end").to_owned()
    };
    assert_eq!(scale("1MHz"), "1 us");
    assert_eq!(scale("100MHz"), "10 ns");
    assert_eq!(scale("80MHz"), "100 ps");
    // A tick of 30517.578125 ns is a whole number of femtoseconds; a tick of a 168 MHz clock is
    // not.
    assert_eq!(scale("32768"), "1 fs");
    assert_eq!(scale("168MHz"), "1 ps");
}

/// Returns the content of a trace for Perfetto as text: the tracks, and a line for each packet.
fn listed(bytes: &[u8]) -> String {
    let read = Read::of(bytes);
    let mut tracks: Vec<_> = read.tracks.keys().copied().collect();
    tracks.sort_unstable();
    let tracks = tracks.into_iter().map(|track| format!("track {track} {}\n", read.path(track)));
    let packets = read.packets.iter().map(|(time, packet)| format!("{time} {packet:?}\n"));
    tracks.chain(packets).collect()
}

/// `BLESS=1` writes the expected files. Read the differences before you commit them.
#[test]
fn small_traces_of_each_dialect_have_the_expected_timelines() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    for (name, path) in [
        ("threadx", fixture("threadx/one-slot.trx")),
        ("rkh", fixture("rkh/guard-false.bin")),
        ("shark", fixture("shark/odd_size.chunk.raw")),
        ("aix", examples.join("hooks.twx")),
    ] {
        let input = || {
            let mut input = open(&path, &[]);
            input.select(Selection { head: Some(60), ..Selection::default() });
            input
        };
        let dump = String::from_utf8(export(input(), "vcd", &[]).unwrap()).unwrap();
        let listed = listed(&export(input(), "perfetto", &[]).unwrap());
        for (extension, found) in [("vcd", dump), ("pftrace.txt", listed)] {
            let expected = fixture("viewers").join(format!("{name}.{extension}"));
            if std::env::var_os("BLESS").is_some() {
                std::fs::write(&expected, &found).unwrap();
            }
            let place = expected.display().to_string();
            let expected = std::fs::read_to_string(expected).unwrap();
            assert!(found == expected, "{place} differs; BLESS=1 writes it again:\n{found}");
        }
    }
}
