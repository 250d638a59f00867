//! Compares tracks with the scheduling figures of the same traces: sums over a track equal the
//! figures.

#[path = "support/dump.rs"]
mod dump;
mod support;

use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use dump::Dump;
use proptest::prelude::*;
use serde_json::Value;
use support::{dumps, fixture, settings, shared};
use tracewell::analysis::Range as Measured;
use tracewell::analysis::machines::{Happening, Sequence};
use tracewell::analysis::scheduling::{Figures, Server, Used, Wanted};
use tracewell::analysis::tracks::{
    ArrowKind, Budget, Finding, FindingKind, Holder, LockTrack, Occupant, ServerTrack, State,
    TrackBuilder, Tracks,
};
use tracewell::input::{Input, Settings};
use tracewell::model::{ContextId, Processor, Trace};
use tracewell::report::analyses::Analyses;
use tracewell::report::document::DocumentWriter;
use tracewell::select::{Bound, Ranged, Selection};
use tracewell_wire::shark::{Record, ids};
use tracewell_wire::threadx::Event;

fn tracks(mut input: Input) -> (Trace, Tracks) {
    let wanted = Wanted { waits: true, budgets: true, ..Wanted::default() };
    let mut builder = TrackBuilder::with_figures(wanted);
    let trace = input.read(&mut builder).unwrap();
    let tracks = builder.finish(&trace);
    (trace, tracks)
}

/// Asserts that the tracks agree with the figures. If a job or a wait has no end, neither the
/// tracks nor the figures contain its length.
fn compare(place: &str, trace: &Trace, tracks: &Tracks) {
    assert_eq!(tracks.left_out, 0, "{place}");
    let Figures { tasks, cores, .. } = &tracks.figures;
    let whole = || 0..trace.span + 1;
    for (core, row) in cores.iter().zip(&tracks.cores) {
        let time = |of: fn(Occupant) -> bool| row.time(whole(), trace.span, of);
        let busy = time(|state| matches!(state, Occupant::Task { .. }));
        let interrupts = time(|state| matches!(state, Occupant::Interrupt { .. }));
        let idle = time(|state| state == Occupant::Idle);
        assert_eq!((busy, interrupts, idle), (core.tasks, core.interrupts, core.idle), "{place}");
    }
    let on_cores = spans_on_cores(trace, tracks);
    for task in tasks {
        let name = &trace.contexts.get(task.context).unwrap().name;
        let place = format!("{place}: {name}");
        let spans = on_cores.get(&task.context).map_or(&[][..], Vec::as_slice);
        let ran: u64 = spans.iter().map(|span| span.end - span.start).sum();
        assert_eq!(ran, task.execution.map_or(0, |execution| execution.ticks), "{place}");
        if let Some(jobs) = task.jobs {
            let done = tracks.jobs.iter().filter(|job| job.context == task.context);
            let lengths = done.clone().flat_map(|job| Some(job.until?.ticks - job.from.ticks));
            assert_eq!(lengths.clone().count() as u64, jobs.response.count, "{place}");
            assert_eq!(lengths.max().unwrap_or(0), jobs.response.max, "{place}");
            assert_eq!(done.count() as u64, jobs.activations, "{place}");
        }
    }
    compare_locks(place, tracks);
    agree_on_who_runs(place, trace, tracks);
    compare_machines(place, tracks);
    compare_findings(place, tracks);
    assert_eq!(tracks.servers.len(), tracks.figures.servers.len(), "{place}");
    for (track, server) in tracks.servers.iter().zip(&tracks.figures.servers) {
        compare_server(&format!("{place}: server {:#x}", server.key), trace, track, server);
    }
}

/// Asserts that the waits for mutexes and semaphores, and the holds of mutexes, agree with the
/// figures.
fn compare_locks(place: &str, tracks: &Tracks) {
    for resource in &tracks.figures.resources {
        let place = format!("{place}: {:?} {:#x}", resource.kind, resource.key);
        let identity = (resource.is_mutex, resource.kind, resource.key);
        let lock = tracks.locks.iter().find(|t| (t.is_mutex, t.kind, t.key) == identity);
        let waits = lock.iter().flat_map(|lock| &lock.waits);
        let lengths = waits.clone().flat_map(|wait| Some(wait.until?.ticks - wait.from.ticks));
        agree(&place, lengths, &resource.figures.wait);
        assert_eq!(waits.count() as u64, resource.figures.blocks, "{place}");
        agree(&place, lock.into_iter().flat_map(holds), &resource.figures.hold);
    }
}

/// Asserts that the number, the sum and the largest of some lengths are those of a figure.
fn agree(place: &str, lengths: impl Iterator<Item = u64> + Clone, figure: &Measured) {
    assert_eq!(lengths.clone().count() as u64, figure.count, "{place}");
    assert_eq!(lengths.clone().sum::<u64>(), figure.sum(), "{place}");
    assert_eq!(lengths.max().unwrap_or(0), figure.max, "{place}");
}

/// Returns the lengths of all holds of a mutex whose ends are in the trace. A hold ends when the
/// mutex is free again, or when the next holder gets it at the same event.
fn holds(lock: &LockTrack) -> impl Iterator<Item = u64> + Clone {
    let changes = lock.holder.changes();
    changes.windows(2).filter_map(|pair| {
        let is_hold = pair[0].state.context().is_some() && pair[1].state != Holder::Unknown;
        is_hold.then(|| pair[1].at.ticks - pair[0].at.ticks)
    })
}

/// Asserts that the track of a server agrees with its figures.
fn compare_server(place: &str, trace: &Trace, track: &ServerTrack, server: &Server) {
    let identity = (track.key, track.task, track.size);
    assert_eq!(identity, (server.key, server.task, server.most_used), "{place}");
    let spans: Vec<_> = track.row.spans(0..trace.span + 1, trace.span).collect();
    let served = spans.iter().map(|span| span.ticks() * u64::from(span.state.serving));
    let supplied = server.supplied.cast_signed() - track.corrected;
    assert_eq!(served.sum::<u64>().cast_signed(), supplied, "{place}");
    // The times without budget: join the spans between which only the serving changed.
    let is_exhausted = |budget| budget == Budget::Exhausted;
    let joined =
        spans.chunk_by(|a, b| is_exhausted(a.state.budget) && is_exhausted(b.state.budget));
    let exhausted = joined.filter(|spans| is_exhausted(spans[0].state.budget));
    // A gap or the end of the trace ends a time without budget that the figures do not count.
    let counted = exhausted.filter_map(|spans| {
        let last = spans.last()?;
        let next = track.row.changes().iter().find(|change| Some(change.at) == last.until)?;
        let is_used = matches!(next.state.budget, Budget::Used(_));
        is_used.then_some((spans[0].from.ticks, last.end))
    });
    let counted: Vec<_> = counted.collect();
    assert_eq!(joined_at_equal_ticks(&counted), joined_at_equal_ticks(&server.without), "{place}");
    // If a budget changes several times at one tick, the row contains only the last state. The
    // previous state shows the first value.
    for points in server.used.chunk_by(|a, b| a.ticks == b.ticks) {
        let had_state = spans.first().is_some_and(|first| first.from.ticks < points[0].ticks);
        let first = points.first().filter(|_| had_state);
        for Used { ticks, used } in first.into_iter().chain(points.last()) {
            let Some(used) = used else { continue };
            let is_shown = spans.iter().any(|span| {
                let within = span.from.ticks <= *ticks && *ticks <= span.end;
                within
                    && match span.state.budget {
                        Budget::Used(from) => {
                            let spent = (ticks - span.from.ticks) * u64::from(span.state.serving);
                            from + spent.cast_signed() == *used
                        }
                        // The figures count on while a budget is exhausted or unknown.
                        Budget::Exhausted | Budget::Unknown => true,
                    }
            });
            assert!(is_shown, "{place}: {used} used at {ticks}, {spans:?}");
        }
    }
}

/// Returns ranges of ticks without the empty ones, and joins ranges that touch: a row can omit
/// states that last 0 ticks.
fn joined_at_equal_ticks(ranges: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let mut joined: Vec<(u64, u64)> = Vec::new();
    for (from, until) in ranges.iter().copied().filter(|(from, until)| from < until) {
        match joined.last_mut() {
            Some((_, end)) if *end == from => *end = until,
            _ => joined.push((from, until)),
        }
    }
    joined
}

/// Asserts that levels, steps, states and messages agree with the figures of machines.
fn compare_machines(place: &str, tracks: &Tracks) {
    let figures = &tracks.machine_figures;
    let shown = figures.levels.iter().filter(|level| level.most.is_some());
    assert_eq!(tracks.levels.len(), shown.clone().count(), "{place}");
    for (track, level) in tracks.levels.iter().zip(shown) {
        assert_eq!((track.object, track.counts_free), (level.object, level.counts_free), "{place}");
        let mut levels = track.row.changes().iter().filter_map(|change| change.state);
        assert_eq!(levels.clone().max(), level.most, "{place}");
        assert_eq!(levels.clone().min(), level.least, "{place}");
        assert_eq!(levels.next_back(), level.last, "{place}");
    }
    let mut tracked = tracks.machines.iter().peekable();
    for machine in &figures.machines {
        let Some(track) = tracked.next_if(|track| track.machine == machine.name) else {
            assert_eq!((machine.steps, machine.state), (0, None), "{place}");
            continue;
        };
        assert_eq!(track.steps.len() as u64, machine.steps, "{place}");
        let lengths = track.steps.iter().flat_map(|step| Some(step.until?.ticks - step.from.ticks));
        assert_eq!(lengths.clone().count() as u64, machine.step.count, "{place}");
        assert_eq!(lengths.clone().max().unwrap_or(0), machine.step.max, "{place}");
        assert_eq!(lengths.sum::<u64>(), machine.step.sum(), "{place}");
        let last = track.row.last().flatten().map(|index| track.states[index as usize]);
        assert_eq!(last, machine.state, "{place}");
    }
    assert!(tracked.next().is_none(), "{place}");
    if !figures.flows.is_empty() {
        let messages = tracks.arrows.iter().filter(|arrow| arrow.kind == ArrowKind::Message);
        let lengths = messages.map(|arrow| arrow.to.ticks - arrow.from.ticks);
        let waited = figures.flows.iter().map(|flow| flow.waiting);
        assert_eq!(lengths.clone().count() as u64, waited.clone().map(|w| w.count).sum::<u64>());
        assert_eq!(lengths.sum::<u64>(), waited.map(|w| w.sum()).sum::<u64>(), "{place}");
    }
}

/// Asserts that findings are the inversions and missed deadlines of the figures.
fn compare_findings(place: &str, tracks: &Tracks) {
    let found = tracks.findings.iter().filter_map(|finding| match finding.kind {
        FindingKind::PriorityInversion { ticks } => {
            Some((finding.until.ticks, finding.context, finding.from.ticks, ticks))
        }
        FindingKind::DeadlineMissed => None,
    });
    let expected = tracks.figures.waits.iter().filter_map(|wait| {
        let ticks = wait.inverted_by_priority.or(wait.inverted).filter(|ticks| *ticks > 0)?;
        Some((wait.until, wait.context, wait.from, ticks))
    });
    assert_eq!(found.collect::<Vec<_>>(), expected.collect::<Vec<_>>(), "{place}");
    let missed = |finding: &&Finding| finding.kind == FindingKind::DeadlineMissed;
    let missed = tracks.findings.iter().filter(missed).count() as u64;
    let jobs = tracks.figures.tasks.iter().filter_map(|task| task.jobs);
    assert_eq!(missed, jobs.map(|jobs| jobs.deadline_misses).sum::<u64>(), "{place}");
}

/// Returns the ranges of ticks in which the cores ran each context.
fn spans_on_cores(trace: &Trace, tracks: &Tracks) -> HashMap<ContextId, Vec<Range<u64>>> {
    let mut spans = HashMap::<_, Vec<_>>::new();
    for row in &tracks.cores {
        for span in row.spans(0..trace.span + 1, trace.span) {
            if let Occupant::Task { runs, .. } = span.state {
                spans.entry(runs).or_default().push(span.from.ticks..span.end);
            }
        }
    }
    spans
}

/// A context is running on its own track exactly while a core runs it, and never on two cores.
fn agree_on_who_runs(place: &str, trace: &Trace, tracks: &Tracks) {
    let mut on_cores = spans_on_cores(trace, tracks);
    for (context, row) in tracks.contexts() {
        let ran = row.time(0..trace.span + 1, trace.span, |s| matches!(s, State::Running(_)));
        let spans = on_cores.remove(&context).unwrap_or_default();
        let on_core: u64 = spans.iter().map(|span| span.end - span.start).sum();
        assert_eq!(ran, on_core, "{place}: {context:?}");
    }
    assert!(on_cores.into_values().flatten().all(|span| span.is_empty()), "{place}");
}

#[test]
fn sums_over_threadx_tracks_are_the_figures() {
    for (dump, _) in dumps() {
        let (trace, tracks) = tracks(Input::open(&dump, Settings::default()).unwrap());
        compare(&dump.display().to_string(), &trace, &tracks);
    }
}

#[test]
fn sums_over_shark_tracks_are_the_figures() {
    for set in support::shark::sets() {
        let (trace, tracks) = tracks(set.open(&set.files()));
        compare(&set.name, &trace, &tracks);
    }
}

/// Returns the files and folders of the shared data that can be read as traces.
fn shared_traces(folder: &Path, found: &mut Vec<(PathBuf, Trace, Tracks)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_trace = path.is_file() || path.join("metadata").is_file();
        if !is_trace {
            shared_traces(&path, found);
        } else if let Ok(mut input) = Input::open(&path, Settings::default()) {
            let mut builder =
                TrackBuilder::with_figures(Wanted { waits: true, ..Wanted::default() });
            if let Ok(trace) = input.read(&mut builder) {
                let tracks = builder.finish(&trace);
                found.push((path, trace, tracks));
            }
        }
    }
}

/// Returns the figures of the ticks of a range, as JSON.
fn figures_of_range(mut input: Input, ticks: &Range<u64>) -> Value {
    let (from, to) = (Bound::Ticks(ticks.start), Bound::Ticks(ticks.end - 1));
    let selection = Selection { from: Some(from), to: Some(to), ..Selection::default() };
    let mut ranged = Ranged::new(Analyses::new(Wanted::default()), selection);
    let trace = input.read(&mut ranged).unwrap();
    let mut document = DocumentWriter::new(Vec::new(), 1);
    ranged.into_inner().write_json(&trace, "", None, &mut document).unwrap();
    let document: Value = serde_json::from_slice(&document.end().unwrap()).unwrap();
    document["traces"][0].clone()
}

/// Asserts that the sums over the part of the tracks in a range are the figures of the range.
fn compare_range(place: &str, trace: &Trace, tracks: &Tracks, figures: &Value, ticks: &Range<u64>) {
    let list = |name: &str| figures[name].as_array().unwrap().iter();
    for (core, row) in list("cores").zip(&tracks.cores) {
        let time = |of: fn(Occupant) -> bool| row.time(ticks.clone(), trace.span, of);
        assert_eq!(core["task_ticks"], time(|state| matches!(state, Occupant::Task { .. })));
        let interrupts = time(|state| matches!(state, Occupant::Interrupt { .. }));
        assert_eq!(core["interrupt_ticks"], interrupts, "{place}");
    }
    for (context, row) in tracks.contexts() {
        let key = &trace.contexts.get(context).unwrap().key_text;
        let name = &trace.contexts.get(context).unwrap().name;
        let is_own = |task: &&Value| task["context"] == **key && task["name"] == **name;
        let Some(task) = list("tasks").find(is_own) else { continue };
        let ran = row.time(ticks.clone(), trace.span, |state| matches!(state, State::Running(_)));
        assert_eq!(task["execution_ticks"], ran, "{place}: {name}");
    }
    for (server, track) in list("servers").zip(&tracks.servers) {
        let served = track.row.spans(ticks.clone(), trace.span).map(|span| {
            let within = span.end.min(ticks.end).saturating_sub(span.from.ticks.max(ticks.start));
            within * u64::from(span.state.serving)
        });
        assert_eq!(server["supplied_ticks"], served.sum::<u64>(), "{place}");
    }
}

#[test]
fn running_times_waits_and_holds_of_shared_traces_are_the_figures() {
    let Some(shared) = shared() else { return };
    let mut found = Vec::new();
    shared_traces(&shared.join("data"), &mut found);
    found.retain(|(_, trace, _)| trace.processor == Processor::Switches);
    for (path, trace, tracks) in &found {
        compare_locks(&path.display().to_string(), tracks);
        agree_on_who_runs(&path.display().to_string(), trace, tracks);
    }
    assert!(found.len() > 20, "{}", found.len());
}

#[test]
fn sums_over_the_tracks_of_a_range_are_the_figures_of_the_range() {
    let shark = |name| fixture("shark").join(name);
    let example =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/scheduling.trx");
    for path in [shark("cbs_server.dat"), shark("a_linear.dat"), example] {
        let open = || Input::open(&path, Settings::default()).unwrap();
        let (trace, tracks) = tracks(open());
        assert!(tracks.servers.iter().all(|track| track.corrected == 0));
        for part in 0..12 {
            let ticks = trace.span * part / 12..trace.span * (part + 1) / 12;
            let place = format!("{} {ticks:?}", path.display());
            compare_range(&place, &trace, &tracks, &figures_of_range(open(), &ticks), &ticks);
        }
    }
}

#[test]
fn extremes_and_sums_over_tracks_of_machines_are_the_figures() {
    for name in ["ahsm-a.bin", "ahsm-b.bin", "ahsm-overrun.bin", "shared-c.bin"] {
        let path = fixture("rkh").join(name);
        let (_, tracks) = tracks(Input::open(&path, Settings::default()).unwrap());
        compare_machines(name, &tracks);
        let machines = tracks.machines.iter().filter(|machine| !machine.steps.is_empty());
        assert!(machines.count() > 0, "{name}");
    }
}

/// In the example, `logger` holds the log file, for which `control` waits while `telemetry` runs.
#[test]
fn the_inversion_of_the_example_is_a_finding_with_its_cause() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let path = path.join("scheduling.trx");
    let (trace, tracks) = tracks(Input::open(&path, Settings::default()).unwrap());
    compare("scheduling.trx", &trace, &tracks);
    let name = |context| trace.contexts.get(context).unwrap().name.as_str();
    let found: Vec<_> = tracks.findings.iter().collect();
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].from.ticks, 4_214_515);
    for finding in found {
        assert_eq!(name(finding.context), "control");
        assert_eq!(finding.culprit.map(name), Some("telemetry"));
    }
    let levels = tracks.levels.iter().map(|level| level.object.label(&trace));
    assert_eq!(levels.collect::<Vec<_>>(), ["samples"]);
    let messages = tracks.arrows.iter().filter(|arrow| arrow.kind == ArrowKind::Message);
    assert!(messages.count() > 0);
}

/// The diagram follows the same items of queues and semaphores, event by event.
#[test]
fn messages_between_threads_are_those_of_the_sequence_diagram() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let dumps = dumps().into_iter().map(|(dump, _)| dump);
    let mut compared = 0;
    for dump in dumps.chain([path.join("scheduling.trx")]) {
        let open = || Input::open(&dump, Settings::default()).unwrap();
        let mut sequence = Sequence::new(usize::MAX, Selection::default());
        open().read(&mut sequence).unwrap();
        let (happened, _) = sequence.finish();
        let sent = happened.iter().filter_map(|step| match step.what {
            Happening::Sent { taken: Some(taken), .. } => Some((step.seq, step.ticks, taken)),
            _ => None,
        });
        let (_, tracks) = tracks(open());
        let messages = tracks.arrows.iter().filter(|arrow| arrow.kind == ArrowKind::Message);
        let messages = messages.map(|arrow| (arrow.from.seq, arrow.from.ticks, arrow.to.ticks));
        let mut messages: Vec<_> = messages.collect();
        messages.sort_unstable();
        assert_eq!(messages, sent.collect::<Vec<_>>(), "{}", dump.display());
        compared += messages.len();
    }
    assert!(compared > 50, "{compared}");
}

/// Formats without scheduling have marks and no states.
#[test]
fn a_trace_that_shows_no_switches_has_marks_only() {
    let Some(shared) = shared() else { return };
    let mut seen = 0;
    for entry in std::fs::read_dir(shared.join("data/rkh/linux")).unwrap() {
        let path = entry.unwrap().path();
        let Ok(mut input) = Input::open(&path, Settings::default()) else { continue };
        let mut builder = TrackBuilder::default();
        let Ok(trace) = input.read(&mut builder) else { continue };
        let tracks = builder.finish(&trace);
        if trace.processor != Processor::Switches {
            assert!(tracks.cores.is_empty() && tracks.contexts().count() == 0);
            seen += usize::from(!tracks.marks.is_empty());
        }
    }
    assert!(seen > 0);
}

/// The events of S.Ha.R.K. from which tracks are made; the parameters are a task, a mutex or an
/// interrupt, or a server.
fn any_record() -> impl Strategy<Value = (u8, u16, u16)> {
    let task = || (0..4_u16).prop_map(|number| 0x100 + 8 * number);
    // Most servers do not name the served task.
    let served = || prop_oneof![2 => Just(0), 1 => task()];
    let server = || 0x20..0x22_u16;
    prop_oneof![
        (task(), task()).prop_map(|(runs, of)| (ids::TASK_SCHEDULE, runs, of)),
        (task(), 0..3_u16).prop_map(|(task, mutex)| (ids::SET_MUTEX_LOCK, task, mutex)),
        (task(), 0..3_u16).prop_map(|(task, mutex)| (ids::SET_MUTEX_UNLOCK, task, mutex)),
        task().prop_map(|task| (ids::TASK_ACTIVATE, task, 0)),
        task().prop_map(|task| (ids::TASK_TIMER, task, 1)),
        task().prop_map(|task| (ids::TASK_END_CYCLE, task, 1)),
        task().prop_map(|task| (ids::TASK_DEADLINE_MISS, task, 0)),
        task().prop_map(|task| (ids::TASK_END, task, 0)),
        (4..6_u16).prop_map(|number| (ids::INTERRUPT_START, number, 0)),
        (4..6_u16).prop_map(|number| (ids::INTERRUPT_END, number, 0)),
        Just((ids::TIMER_WAKEUP_START, 0, 0)),
        task().prop_map(|task| (ids::TIMER_WAKEUP_END, task, 0)),
        (served(), server()).prop_map(|(task, server)| (ids::SERVER_ACTIVE, task, server)),
        server().prop_map(|server| (ids::SERVER_EXHAUST, 0, server)),
        server().prop_map(|server| (ids::SERVER_REPLENISH, 0, server)),
        (0..3_u16, server()).prop_map(|(used, server)| (ids::SERVER_USING_REC, used, server)),
    ]
}

/// Compares the tracks of a trace of S.Ha.R.K. with its figures. An event is a code with two
/// parameters, and the ticks since the previous event.
fn compare_events(events: Vec<((u8, u16, u16), u64)>) {
    let mut tsc = 1;
    let code_word = ids::TRACE_START.into();
    let mut records = vec![Record { code_word, par1: 0x100, tsc, par2: 1000 }];
    for ((code, par1, par2), gap) in events {
        tsc += gap;
        records.push(Record { code_word: code.into(), par1, tsc, par2: par2.into() });
    }
    let bytes = records.iter().flat_map(Record::to_bytes).collect();
    let mut settings = settings(&["kind=records"]);
    settings.format = Some("shark".to_owned());
    let (trace, tracks) = tracks(Input::from_bytes("random", bytes, settings).unwrap());
    compare("random", &trace, &tracks);
}

/// Damaged traces can show a second wait of a task whose first wait has no end.
#[test]
fn a_wait_without_an_end_is_not_lost_when_the_next_wait_of_the_task_begins() {
    let runs = |task, on_behalf_of| (ids::TASK_SCHEDULE, task, on_behalf_of);
    let lock = |task| (ids::SET_MUTEX_LOCK, task, 0);
    let (a, b, c) = (0x100, 0x108, 0x110);
    let events = [
        runs(a, a),
        runs(a, a),
        runs(a, a),
        runs(a, a),
        runs(b, a),
        lock(a),
        lock(a),
        (ids::INTERRUPT_END, 4, 0),
        lock(a),
        lock(a),
        (ids::TIMER_WAKEUP_START, 0, 0),
        lock(b),
        runs(c, b),
        runs(c, a),
        lock(b),
        runs(a, b),
        runs(b, a),
    ];
    compare_events(events.map(|event| (event, 0)).to_vec());
}

/// Compares the tracks of a ThreadX dump with its figures. An event is an id with the numbers of
/// the context and of the other thread, and the ticks since the previous event.
fn compare_dump(steps: Vec<((u64, u64, u64), u64)>) {
    let thread = |number: u64| 0x2100_0000 + 0x100 * number;
    let mut now = 0;
    let events = steps.into_iter().map(|((id, number, other), gap)| {
        now += gap;
        // For an event of the scheduler, the first argument is the thread, and the last is the
        // thread that runs next. For a mutex, the first argument is its address. The last argument
        // of a request, or the third of an unlock, says how often the owner holds the mutex.
        let info = match id {
            52 => [0x3000_0000, 6, 0, other / 2],
            57 => [0x3000_0000, 0, other / 2 + 1, 0],
            _ => [thread(number), 6, 0, thread(other)],
        };
        Event { info, ..dump::event(thread(number), id, now) }
    });
    let names = ["a", "b", "c", "d"].iter().zip(0..);
    let threads = names.map(|(name, number)| dump::thread(thread(number), name)).collect();
    let dump = Dump::new(dump::USUAL, threads, events.collect(), 0);
    let input = Input::from_bytes("random", dump.bytes(), Settings::default()).unwrap();
    let (trace, tracks) = tracks(input);
    compare("random", &trace, &tracks);
}

/// The events of ThreadX that decide who holds a mutex. A deletion of a thread (101) is rare.
fn any_step() -> impl Strategy<Value = (u64, u64, u64)> {
    let id = |id: u64| Just(id);
    let ids =
        prop_oneof![8 => id(1), 8 => id(2), 8 => id(6), 8 => id(52), 8 => id(57), 2 => id(101)];
    (ids, 0..4_u64, 0..4_u64)
}

proptest! {
    #[test]
    fn sums_over_random_dumps_are_the_figures(
        steps in prop::collection::vec((any_step(), 0..9_u64), 1..200)
    ) {
        compare_dump(steps);
    }

    #[test]
    fn sums_over_random_tracks_are_the_figures(
        events in prop::collection::vec((any_record(), 0..9_u64), 1..200)
    ) {
        compare_events(events);
    }
}
