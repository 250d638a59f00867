//! Compares distributions of times with the same times from other sources: the tracks, the listed
//! jobs and waits, the ranges of the figures, and a simulation of random traces.

mod support;

use std::collections::BTreeMap;

use proptest::prelude::*;
use support::shark::{TASKS, any_records};
use support::{dumps, fixture, settings};
use tracewell::analysis::machines::Machines;
use tracewell::analysis::scheduling::{CoreTime, Figures, Mark, Scheduling, Subject, Wanted};
use tracewell::analysis::tracks::{TrackBuilder, Tracks};
use tracewell::analysis::{Distribution, Measure, Measured, Position, Range};
use tracewell::input::{Input, Settings};
use tracewell::model::schema::Schema;
use tracewell::model::{
    Batch, Clock, Columns, Context, ContextId, ContextKind, CoreEnd, Flow, Loss, LossCause,
    PayloadLayout, Priority, Processor, Rate, Records, Sink, Trace,
};
use tracewell::select::{Bound, CountsInRange, Covered, Ranged, Selection};
use tracewell_wire::ByteOrder;
use tracewell_wire::shark::{Record, ids};

fn wanted() -> Wanted {
    let pairs = vec![(Mark::Number(0), Mark::Number(1))];
    Wanted { jobs: true, waits: true, distributions: true, pairs, ..Wanted::default() }
}

fn tracks(mut input: Input) -> (Trace, Tracks) {
    let mut builder = TrackBuilder::with_figures(wanted());
    let trace = input.read(&mut builder).unwrap();
    let tracks = builder.finish(&trace);
    (trace, tracks)
}

fn example() -> Input {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    Input::open(&path.join("scheduling.trx"), Settings::default()).unwrap()
}

fn records(records: &[Record]) -> Input {
    let bytes = records.iter().flat_map(Record::to_bytes).collect();
    let mut settings = settings(&["kind=records"]);
    settings.format = Some("shark".to_owned());
    Input::from_bytes("random", bytes, settings).unwrap()
}

/// Returns the distribution of a measure for a subject. Returns an empty distribution if the
/// figures have none.
fn of(figures: &Figures, measure: Measure, subject: Subject) -> Distribution {
    let mut rows = figures.distributions.iter();
    let found = rows.find(|row| (row.measure, row.subject) == (measure, subject));
    found.map(|row| row.times.clone()).unwrap_or_default()
}

/// Returns all values in ascending order. The distribution must be exact.
fn values(times: &Distribution) -> Vec<u64> {
    assert!(times.is_exact());
    let buckets = times.buckets();
    buckets.iter().flat_map(|bucket| vec![bucket.from; bucket.count as usize]).collect()
}

fn equals(place: &str, times: &Distribution, range: Range) {
    let found = (times.count(), times.min(), times.max(), times.mean());
    let known = |figure| (range.count > 0).then_some(figure);
    let expected = (range.count, known(range.min), known(range.max), known(range.mean()));
    assert_eq!(found, expected, "{place}");
}

/// Asserts that each distribution agrees with the figure computed from the same times. Returns the
/// number of compared times.
fn compare_figures(place: &str, figures: &Figures) -> u64 {
    let mut compared = 0;
    let mut compare = |measure, subject, range: Range| {
        let place = format!("{place}: {measure:?} {subject:?}");
        equals(&place, &of(figures, measure, subject), range);
        compared += range.count;
    };
    for task in &figures.tasks {
        let subject = Subject::Task(task.context);
        if let Some(jobs) = &task.jobs {
            compare(Measure::Response, subject, jobs.response);
            compare(Measure::StartLatency, subject, jobs.start_latency);
            compare(Measure::Period, subject, jobs.release_gap);
            compare(Measure::CompletionPeriod, subject, jobs.completion_gap);
            compare(Measure::Lateness, subject, jobs.lateness);
        }
        compare(Measure::MutexWait, subject, task.locks.wait);
    }
    for resource in &figures.resources {
        let (key, is_mutex, kind) = (resource.key, resource.is_mutex, resource.kind);
        let subject = Subject::Resource { key, is_mutex, kind };
        compare(Measure::Wait, subject, resource.figures.wait);
        compare(Measure::Hold, subject, resource.figures.hold);
    }
    for source in &figures.interrupts.sources {
        compare(Measure::InterruptGap, Subject::Interrupt(source.number), source.arrival_gap);
    }
    for (pair, (_, _, passages)) in figures.passages.iter().enumerate() {
        for passage in passages {
            let subject = Subject::Passage { pair, task: passage.context };
            compare(Measure::Passage, subject, passage.raw);
            let net = passage.net.into_iter();
            net.for_each(|net| compare(Measure::PassageExecution, subject, net));
        }
    }
    for source in &figures.interrupts.sources {
        let times = of(figures, Measure::Interrupt, Subject::Interrupt(source.number));
        let extremes = (source.count > 0).then_some((source.min_ticks, source.max_ticks));
        assert_eq!((times.count(), times.min().zip(times.max())), (source.count, extremes));
    }
    assert_eq!(figures.more_times, 0, "{place}");
    compared
}

/// Asserts that the distributions contain exactly the times of the jobs and waits in the tracks and
/// in their figures. Asserts that the positions of the longest times are correct.
fn compare_lists(place: &str, tracks: &Tracks) {
    let figures = &tracks.figures;
    type Values = Vec<(u64, Option<Position>)>;
    let mut lists: BTreeMap<String, (Distribution, Values)> = BTreeMap::new();
    let mut add = |measure, subject, ticks, at| {
        let row = lists.entry(format!("{measure:?} {subject:?}"));
        let row = row.or_insert_with(|| (of(figures, measure, subject), Vec::new()));
        row.1.push((ticks, at));
    };
    for job in &tracks.jobs {
        if let Some(until) = job.until {
            let ticks = until.ticks - job.from.ticks;
            add(Measure::Response, Subject::Task(job.context), ticks, Some(until));
        }
    }
    for job in &figures.jobs {
        add(Measure::Execution, Subject::Task(job.context), job.execution, None);
    }
    for lock in &tracks.locks {
        let (key, is_mutex, kind) = (lock.key, lock.is_mutex, lock.kind);
        for wait in &lock.waits {
            if let Some(until) = wait.until {
                let subject = Subject::Resource { key, is_mutex, kind };
                add(Measure::Wait, subject, until.ticks - wait.from.ticks, Some(until));
            }
        }
    }
    for wait in figures.waits.iter().filter(|wait| wait.is_mutex) {
        if let Some(spent) = wait.spent {
            add(Measure::Blocking, Subject::Task(wait.context), spent.blocking, None);
        }
    }
    for (name, (times, list)) in lists {
        let mut listed: Vec<_> = list.iter().map(|(ticks, _)| *ticks).collect();
        listed.sort_unstable();
        assert_eq!(values(&times), listed, "{place}: {name}");
        let places: Vec<_> = list.iter().filter_map(|(ticks, at)| Some((*ticks, (*at)?))).collect();
        if !places.is_empty() {
            let worst: Vec<_> = times.worst().iter().map(|worst| (worst.value, worst.at)).collect();
            assert!(worst.iter().all(|worst| places.contains(worst)), "{place}: {name}");
            let longest: Vec<_> = listed.iter().rev().take(3).copied().collect();
            assert_eq!(worst.iter().map(|(ticks, _)| *ticks).collect::<Vec<_>>(), longest);
        }
    }
}

#[test]
fn distributions_of_threadx_traces_are_those_of_figures_and_tracks() {
    let mut compared = 0;
    let inputs = dumps().into_iter().map(|(dump, _)| Input::open(&dump, Settings::default()));
    for input in inputs.map(Result::unwrap).chain([example()]) {
        let place = input.path().display().to_string();
        let (_, tracks) = tracks(input);
        compared += compare_figures(&place, &tracks.figures);
        compare_lists(&place, &tracks);
    }
    assert!(compared > 200, "{compared}");
}

#[test]
fn distributions_of_shark_traces_are_those_of_figures_and_tracks() {
    let mut compared = 0;
    for set in support::shark::sets() {
        let (_, tracks) = tracks(set.open(&set.files()));
        compared += compare_figures(&set.name, &tracks.figures);
        compare_lists(&set.name, &tracks);
    }
    assert!(compared > 200, "{compared}");
}

#[test]
fn distributions_of_messages_are_those_of_their_flows() {
    let mut compared = 0;
    for name in ["ahsm-a.bin", "ahsm-b.bin", "ahsm-overrun.bin", "shared-c.bin"] {
        let mut machines = Machines::default().with_distributions();
        let path = fixture("rkh").join(name);
        let trace = Input::open(&path, Settings::default()).unwrap().read(&mut machines).unwrap();
        let figures = machines.figures(&trace);
        for flow in &figures.flows {
            let times = |measure| {
                let mut rows = figures.distributions.iter().filter(|row| row.measure == measure);
                let is_of = |row: &&Measured<_>| {
                    let of: tracewell::analysis::machines::Route = row.subject;
                    (of.sender, of.receiver, of.signal) == (flow.sender, flow.receiver, flow.signal)
                };
                rows.find(is_of).map(|row| row.times.clone()).unwrap_or_default()
            };
            equals(name, &times(Measure::MessageWait), flow.waiting);
            equals(name, &times(Measure::MessageStep), flow.step);
            equals(name, &times(Measure::MessageResponse), flow.response);
            compared += flow.waiting.count + flow.step.count + flow.response.count;
        }
    }
    assert!(compared > 100, "{compared}");
}

/// Returns the wake-up latencies of each task. A latency begins when a task that is not running is
/// activated, and ends at the event that makes the task run.
fn wake_ups(records: &[Record]) -> BTreeMap<u16, Vec<u64>> {
    let (mut runs, mut chosen, mut served) = (TASKS[0], None, false);
    let mut woken: BTreeMap<u16, u64> = BTreeMap::new();
    let mut latencies: BTreeMap<u16, Vec<u64>> = BTreeMap::new();
    for record in records {
        let task = record.par1;
        match record.code() {
            ids::TASK_ACTIVATE if task != runs => {
                woken.entry(task).or_insert(record.tsc);
            }
            ids::TASK_END_CYCLE => {
                woken.remove(&task);
            }
            ids::INTERRUPT_START => (served, chosen) = (true, None),
            ids::INTERRUPT_END => (served, runs) = (false, chosen.unwrap_or(runs)),
            ids::TASK_SCHEDULE if served => chosen = Some(task),
            ids::TASK_SCHEDULE => runs = task,
            _ => {}
        }
        if !served && let Some(since) = woken.remove(&runs) {
            latencies.entry(runs).or_default().push(record.tsc - since);
        }
    }
    latencies.values_mut().for_each(|list| list.sort_unstable());
    latencies
}

/// A sink that computes the figures of a range.
struct OfRange {
    scheduling: Option<Scheduling>,
    figures: Option<Figures>,
}

impl OfRange {
    fn sink(&mut self) -> &mut Scheduling {
        self.scheduling.as_mut().unwrap()
    }
}

impl Sink for OfRange {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        self.sink().events(trace, batch)
    }

    fn loss(&mut self, trace: &Trace, loss: &Loss) -> Flow {
        self.sink().loss(trace, loss)
    }

    fn finish(&mut self, trace: &Trace) -> Result<(), tracewell::model::SinkError> {
        self.figures = Some(self.scheduling.take().unwrap().figures(trace));
        Ok(())
    }
}

impl CountsInRange for OfRange {
    fn begin(&mut self, trace: &Trace, from: u64) {
        self.sink().begin(trace, from);
    }

    fn end(&mut self, covered: Covered) {
        self.sink().end(covered.until);
    }
}

fn of_range(mut input: Input, selection: Selection) -> Figures {
    let mut sink = ranged(selection);
    input.read(&mut sink).unwrap();
    sink.into_inner().figures.unwrap()
}

fn ranged(selection: Selection) -> Ranged<OfRange> {
    let scheduling = Some(Scheduling::new(wanted()));
    Ranged::new(OfRange { scheduling, figures: None }, selection)
}

fn merged(rows: Vec<Measured<Subject>>) -> BTreeMap<String, Distribution> {
    let mut all: BTreeMap<String, Distribution> = BTreeMap::new();
    for row in rows {
        all.entry(format!("{:?} {:?}", row.measure, row.subject)).or_default().merge(&row.times);
    }
    all
}

#[test]
fn the_times_of_ranges_together_are_those_of_the_whole_trace() {
    let whole = merged(of_range(example(), Selection::default()).distributions);
    assert!(whole.len() > 10);
    for event in [1, 100, 555, 1000] {
        let mut parts = Vec::new();
        for part in divided_at(event) {
            parts.extend(part.distributions);
        }
        assert_eq!(merged(parts), whole, "{event}");
    }
}

/// Returns the figures of the first `event` events of the example, and the figures of all later
/// events.
fn divided_at(event: u64) -> [Figures; 2] {
    let first = Selection { head: Some(event), ..Selection::default() };
    let second = Selection { skip: event, ..Selection::default() };
    [first, second].map(|part| of_range(example(), part))
}

/// Returns the counts and the sums of figures. Those of consecutive ranges add up.
fn sums(parts: &[Figures]) -> BTreeMap<String, u64> {
    let mut all = BTreeMap::new();
    let mut add = |what: String, number: u64| {
        if number > 0 {
            *all.entry(what).or_default() += number;
        }
    };
    for part in parts {
        let sanity = part.sanity;
        let totals = [
            ("events", part.events),
            ("span", part.span.end - part.span.start),
            ("charged", part.charged_ticks.unwrap_or(0)),
            ("jobs", part.jobs.len() as u64),
            ("waits", part.waits.len() as u64),
            ("brackets", part.interrupts.brackets),
            ("ticks of interrupts", part.interrupts.ticks),
            ("nanoseconds of interrupts", part.interrupts.nanoseconds),
            ("unmatched brackets", sanity.unmatched_brackets),
            ("loads", sanity.disagreeing_loads),
            ("unknown", sanity.unknown_events),
            ("backwards", sanity.backward_steps),
            ("gap", part.gap_ticks),
        ];
        totals.into_iter().for_each(|(what, number)| add(what.to_owned(), number));
        for core in &part.cores {
            let times = [core.tasks, core.interrupts, core.idle, core.unknown];
            (0..).zip(times).for_each(|(kind, ticks)| add(format!("{} {kind}", core.core), ticks));
        }
        for source in &part.interrupts.sources {
            let place = format!("interrupt {:?}", source.number);
            add(format!("{place}: count"), source.count);
            add(format!("{place}: ticks"), source.ticks);
            add(format!("{place}: gaps"), source.arrival_gap.sum());
        }
        for server in &part.servers {
            let place = format!("server {}", server.key);
            let counts = [
                server.active,
                server.exhausted,
                server.replenished,
                server.supplied,
                server.without_budget.sum(),
            ];
            (0..).zip(counts).for_each(|(kind, count)| add(format!("{place} {kind}"), count));
        }
        for (pair, (_, _, passages)) in part.passages.iter().enumerate() {
            for passage in passages {
                let place = format!("{pair} {:?}", passage.context);
                add(format!("{place}: count"), passage.raw.count);
                add(format!("{place}: raw"), passage.raw.sum());
                add(format!("{place}: net"), passage.net.map_or(0, |net| net.sum()));
            }
        }
        for task in &part.tasks {
            let place = format!("{:?}", task.context);
            let execution = task.execution.unwrap_or_default();
            let jobs = task.jobs.unwrap_or_default();
            let preemptions = task.preemptions.unwrap_or_default();
            let counts = [
                task.seen.events,
                execution.ticks,
                execution.nanoseconds,
                execution.for_other_ticks,
                execution.dispatches,
                jobs.activations,
                jobs.completions,
                jobs.orphan_completions,
                jobs.response.sum(),
                jobs.start_latency.sum(),
                jobs.release_gap.sum(),
                jobs.completion_gap.sum(),
                preemptions.count,
                preemptions.throttled,
            ];
            (0..).zip(counts).for_each(|(kind, count)| add(format!("{place} {kind}"), count));
            let waits = task.waits.iter().map(|(kind, locks)| (format!("{kind:?}"), locks));
            for (kind, locks) in waits.chain([("mutex".to_owned(), &task.locks)]) {
                let spent = locks.spent;
                let parts = [spent.own, spent.blocking, spent.interference, spent.interrupts];
                let ticks = [locks.wait.sum(), locks.hold.sum(), locks.inverted.sum()];
                let counts = [locks.requests, locks.blocks, locks.inversions, locks.wait.count];
                let all = parts.into_iter().chain(ticks).chain(counts);
                (0..).zip(all).for_each(|(n, count)| add(format!("{place} {kind} {n}"), count));
            }
        }
    }
    all
}

/// Returns the figures up to a tick, and those after it.
fn divided_after(of: impl Fn(Selection) -> Figures, tick: u64) -> [Figures; 2] {
    let first = Selection { to: Some(Bound::Ticks(tick)), ..Selection::default() };
    let second = Selection { from: Some(Bound::Ticks(tick + 1)), ..Selection::default() };
    [first, second].map(of)
}

#[test]
fn the_sums_of_ranges_add_up_to_those_of_the_whole_trace() {
    let shark = |name: &str| {
        let bytes = std::fs::read(fixture("shark").join(name)).unwrap();
        Input::from_bytes(name, bytes, Settings::default()).unwrap()
    };
    let inputs: [&dyn Fn() -> Input; 3] =
        [&example, &|| shark("b_cyclic.dat"), &|| shark("cbs_server.dat")];
    for input in inputs {
        let whole = of_range(input(), Selection::default());
        let (span, whole) = (whole.span.end, sums(&[whole]));
        for part in 1..8 {
            let tick = span * part / 8;
            let parts = divided_after(|part| of_range(input(), part), tick);
            assert_eq!(sums(&parts), whole, "{tick}");
        }
    }
}

/// A range ends one tick after its last event.
#[test]
fn nested_interrupts_are_charged_up_to_the_end_of_a_range() {
    let list = [
        (10, ids::TRACE_START, TASKS[0], 1000),
        (100, ids::INTERRUPT_START, 5, 0),
        (130, ids::INTERRUPT_START, 6, 0),
        (150, ids::INTERRUPT_START, 7, 0),
        (157, ids::INTERRUPT_END, 7, 0),
        (200, ids::INTERRUPT_END, 6, 0),
        (240, ids::INTERRUPT_END, 5, 0),
        (300, ids::TRACE_STOP, 0, 0),
    ];
    let list =
        list.map(|(tsc, code, par1, par2)| Record { code_word: u16::from(code), par1, tsc, par2 });
    for (events, whole, of_each) in [
        (2, 1, &[1][..]),
        (3, 31, &[30, 1]),
        (4, 51, &[30, 20, 1]),
        (5, 58, &[30, 21, 7]),
        (6, 101, &[31, 63, 7]),
        (8, 140, &[70, 63, 7]),
    ] {
        let range = Selection { head: Some(events), ..Selection::default() };
        let interrupts = of_range(records(&list), range).interrupts;
        let found: Vec<_> = interrupts.sources.iter().map(|source| source.ticks).collect();
        assert_eq!((interrupts.ticks, found.as_slice()), (whole, of_each), "{events} events");
    }
}

/// Returns the counts of each resource: requests, blocks, waits that ended, inversions.
fn counts_of_resources(parts: &[Figures]) -> BTreeMap<(bool, u64), [u64; 4]> {
    let mut all = BTreeMap::<_, [u64; 4]>::new();
    for resource in parts.iter().flat_map(|part| &part.resources) {
        let sums = all.entry((resource.is_mutex, resource.key)).or_default();
        let locks = &resource.figures;
        let counts = [locks.requests, locks.blocks, locks.wait.count, locks.inversions];
        sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    all
}

#[test]
fn the_counts_of_resources_in_ranges_add_up_to_those_of_the_whole_trace() {
    let whole = [of_range(example(), Selection::default())];
    let counts = counts_of_resources(&whole);
    assert!(counts.values().any(|[requests, blocks, ..]| requests > blocks && *blocks > 0));
    for event in [100, 555, 1000] {
        assert_eq!(counts_of_resources(&divided_at(event)), counts, "{event}");
    }
}

#[test]
fn a_stack_has_its_bounds_in_every_range() {
    let bounds = |figures: &Figures| -> Vec<_> {
        figures.stacks.iter().map(|stack| (stack.context, stack.start, stack.size)).collect()
    };
    let whole = bounds(&of_range(example(), Selection::default()));
    assert!(whole.iter().any(|(_, start, size)| start.is_some() && size.is_some()));
    for part in divided_at(555) {
        assert_eq!(bounds(&part), whole);
    }
}

/// A piece of a random trace of several cores.
#[derive(Clone, Copy, Debug)]
enum Piece {
    /// An event: elapsed ticks, its core, its id, its argument. If `is_of_task` is true, a task
    /// records it, so no interrupt is served.
    Event { elapsed: u64, cpu: u16, id: u32, argument: u32, is_of_task: bool },
    /// Events are missing.
    Loss,
    /// The recording on a core ends this number of ticks after the latest event.
    End { elapsed: u64, cpu: u16 },
}

fn event(elapsed: u64, cpu: u16, id: u8, argument: u32) -> Piece {
    Piece::Event { elapsed, cpu, id: id.into(), argument, is_of_task: false }
}

/// The recording on core 1 ends in an interrupt, and core 0 goes on.
#[test]
fn an_interrupt_is_charged_up_to_the_end_of_the_recording_on_its_core() {
    let pieces = [
        event(100, 1, ids::INTERRUPT_START, 5),
        Piece::End { elapsed: 100, cpu: 1 },
        event(800, 0, ids::IPOINT, 0),
    ];
    let of = |part| of_pieces(&pieces, part);
    for figures in divided_after(of, 900).into_iter().chain([of(Selection::default())]) {
        let expected = if figures.span.start == 0 { 100 } else { 0 };
        assert_eq!(figures.interrupts.ticks, expected);
        assert_eq!(figures.cores[1].interrupts, expected);
        let sources = figures.interrupts.sources.iter().map(|source| source.ticks);
        assert_eq!(sources.sum::<u64>(), expected);
    }
}

/// The task of core 0 records an event within an interrupt. So the end of the interrupt has no
/// beginning.
#[test]
fn an_interrupt_is_charged_up_to_an_event_of_a_task() {
    let id = ids::IPOINT.into();
    let pieces = [
        event(100, 0, ids::INTERRUPT_START, 5),
        Piece::Event { elapsed: 50, cpu: 0, id, argument: 0, is_of_task: true },
        event(50, 0, ids::INTERRUPT_END, 5),
        event(800, 0, ids::IPOINT, 0),
    ];
    let figures = of_pieces(&pieces, Selection::default());
    assert_eq!((figures.interrupts.brackets, figures.interrupts.ticks), (0, 50));
    assert_eq!((figures.cores[0].tasks, figures.cores[0].interrupts), (950, 50));
    assert_eq!(figures.sanity.unmatched_brackets, 2);
}

/// Events are missing after an event of core 0. The latest events of other cores are earlier.
#[test]
fn a_core_is_charged_up_to_missing_events() {
    let pieces = [
        event(100, 1, ids::INTERRUPT_START, 5),
        event(200, 0, ids::IPOINT, 0),
        Piece::Loss,
        event(800, 0, ids::IPOINT, 0),
    ];
    let figures = of_pieces(&pieces, Selection::default());
    let times: Vec<_> = figures.cores.iter().map(|core| (core.tasks, core.interrupts)).collect();
    assert_eq!(times, [(300, 0), (100, 200), (300, 0)]);
    assert_eq!((figures.interrupts.ticks, figures.gap_ticks), (200, 800));
}

/// Core 1 serves a short interrupt while core 0 serves a long one. A tick is a third of a
/// microsecond.
#[test]
fn time_in_which_several_cores_serve_interrupts_counts_once_in_windows() {
    for (number, of_sources) in [(6, &[300_000, 20_000][..]), (5, &[300_000])] {
        let pieces = [
            event(100, 0, ids::INTERRUPT_START, 5),
            event(800, 1, ids::INTERRUPT_START, number),
            event(60, 1, ids::INTERRUPT_END, number),
            event(40, 0, ids::INTERRUPT_END, 5),
            event(4000, 0, ids::IPOINT, 0),
        ];
        let interrupts = of_pieces(&pieces, Selection::default()).interrupts;
        assert_eq!(interrupts.most_within, [Some(300_000), None, None], "{number}");
        let found: Vec<_> =
            interrupts.sources.iter().filter_map(|source| source.most_within[0]).collect();
        assert_eq!(found, of_sources, "{number}");
    }
}

fn any_piece() -> impl Strategy<Value = Piece> {
    let often = [ids::INTERRUPT_START, ids::INTERRUPT_START, ids::INTERRUPT_END];
    let ids = [ids::TASK_SCHEDULE, ids::TASK_SCHEDULE, ids::TASK_ACTIVATE, ids::IPOINT];
    let id = prop::sample::select([&often[..], &ids].concat());
    let is_of_task = prop::bool::weighted(0.1);
    let event = (0..30_u64, 0..3_u16, id, 1..4_u32, is_of_task);
    prop_oneof![
        20 => event.prop_map(|(elapsed, cpu, id, argument, is_of_task)| {
            Piece::Event { elapsed, cpu, id: id.into(), argument, is_of_task }
        }),
        1 => Just(Piece::Loss),
        // The recording on core 0 does not end.
        1 => (0..30_u64, 1..3_u16).prop_map(|(elapsed, cpu)| Piece::End { elapsed, cpu }),
    ]
}

/// Returns the figures of a range of a random trace.
fn of_pieces(pieces: &[Piece], selection: Selection) -> Figures {
    let schema = Schema::built_in(include_str!("../schemas/shark.toml"), "shark.toml");
    let layout = PayloadLayout::Words { order: ByteOrder::Little, bytes: 4 };
    let mut trace = Trace::new("test", schema, layout, Clock::of_64_bits(Rate::new(3_000_000, 1)));
    trace.processor = Processor::Switches;
    trace.cpus = 3;
    // Each core has a task of its own, and one task runs on all cores.
    for key in 0..5 {
        let kind = if key == 0 { ContextKind::System } else { ContextKind::Thread };
        let (key_text, name) = (key.to_string(), key.to_string());
        trace.contexts.add(Context { key, key_text, kind, name, object: None });
    }
    let mut sink = ranged(selection);
    let first = [0, 1, 2].map(|cpu| event(0, cpu, ids::TASK_SCHEDULE, 0));
    // If the range has ended, the rest of the trace is not read.
    let _ = first.iter().chain(pieces).try_for_each(|piece| follow(piece, &mut trace, &mut sink));
    sink.finish(&trace).unwrap();
    sink.into_inner().figures.unwrap()
}

/// Returns the ticks of the latest event or end of a recording.
fn latest(trace: &Trace) -> u64 {
    trace.core_ends.last().map_or(trace.span, |end| end.ticks.max(trace.span))
}

fn follow(piece: &Piece, trace: &mut Trace, sink: &mut Ranged<OfRange>) -> Flow {
    match *piece {
        Piece::Event { elapsed, cpu, id, argument, is_of_task } => {
            // A core whose recording has ended has no further events.
            let has_ended = trace.core_ends.iter().any(|end| end.cpu == cpu);
            let cpu = if has_ended { 0 } else { cpu };
            trace.span = latest(trace) + elapsed;
            let task = if argument == 1 { 4 } else { u32::from(cpu) + 1 };
            let argument = if id == u32::from(ids::INTERRUPT_START) { argument } else { task };
            let columns = Columns {
                ticks: vec![trace.span],
                cpu: vec![cpu],
                context: vec![ContextId(if is_of_task { task } else { 0 })],
                id: vec![id],
                priority: vec![Priority::NONE],
            };
            let bytes = [argument.to_le_bytes(), task.to_le_bytes()].concat();
            let records = Records::fixed(&bytes, 0, bytes.len(), 0);
            let first = trace.events;
            trace.events += 1;
            sink.events(trace, &Batch { first, columns: &columns, records })
        }
        Piece::Loss => {
            let cause = LossCause::BufferFull;
            sink.loss(trace, &Loss { before: trace.events, events: None, cause, offset: 0 })
        }
        Piece::End { elapsed, cpu } => {
            let ticks = latest(trace) + elapsed;
            if trace.core_ends.iter().all(|end| end.cpu != cpu) {
                trace.core_ends.push(CoreEnd { cpu, ticks });
            }
            Flow::Continue(())
        }
    }
}

proptest! {
    #[test]
    fn distributions_of_random_traces_are_those_of_all_lists(list in any_records()) {
        let (trace, tracks) = tracks(records(&list));
        compare_figures("random", &tracks.figures);
        compare_lists("random", &tracks);
        let mut latencies = wake_ups(&list);
        for (context, known) in trace.contexts.iter() {
            let times = of(&tracks.figures, Measure::WakeUp, Subject::Task(context));
            let expected = latencies.remove(&(known.key as u16)).unwrap_or_default();
            prop_assert_eq!(values(&times), expected, "{}", known.key_text);
        }
        prop_assert!(latencies.is_empty());
    }

    #[test]
    fn the_sums_of_ranges_of_random_traces_add_up(list in any_records(), part in 0.0..1.0) {
        let of = |part| of_range(records(&list), part);
        let whole = of(Selection::default());
        let tick = (whole.span.end as f64 * part) as u64;
        prop_assert_eq!(sums(&divided_after(of, tick)), sums(&[whole]), "{}", tick);
    }

    /// The trace can have gaps, interrupts that do not end, and cores whose recording ends.
    #[test]
    fn the_sums_of_ranges_of_random_traces_of_cores_add_up(
        pieces in prop::collection::vec(any_piece(), 1..80), part in 0.0..1.0,
    ) {
        let of = |part| of_pieces(&pieces, part);
        let whole = of(Selection::default());
        let tick = (whole.span.end as f64 * part) as u64;
        let parts = divided_after(of, tick);
        prop_assert_eq!(sums(&parts), sums(std::slice::from_ref(&whole)), "{}", tick);
        for figures in parts.iter().chain([&whole]) {
            let of_cores = |of: fn(&CoreTime) -> u64| figures.cores.iter().map(of).sum::<u64>();
            let interrupts = of_cores(|core| core.interrupts);
            let of_sources = figures.interrupts.sources.iter().map(|source| source.ticks);
            prop_assert_eq!(figures.interrupts.ticks, interrupts);
            prop_assert_eq!(of_sources.sum::<u64>(), interrupts);
            let charged = interrupts + of_cores(|core| core.tasks);
            prop_assert_eq!(figures.charged_ticks, Some(charged));
        }
    }
}
