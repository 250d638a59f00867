//! Tests the figures of the scheduling analysis on traces that are short enough for calculation by
//! hand. Compares the parts of responses with a simple model.
//!
//! A tick is a microsecond, so ticks and times have equal values.

mod support;

use proptest::prelude::*;
use support::settings;
use tracewell::analysis::Measure;
use tracewell::analysis::scheduling::{
    Expected, Figures, Job, Mark, Parts, Scheduling, Split, Task, Used, Wanted,
};
use tracewell::input::Input;
use tracewell::model::{ContextId, Trace};
use tracewell::report::Layout;
use tracewell::report::analyses::{Analyses, Section};
use tracewell::report::measures::Measuring;
use tracewell_wire::shark::{Record, ids};

const MAIN: u16 = 0x100;
const LOW: u16 = 0x108;
const HIGH: u16 = 0x110;
const MIDDLE: u16 = 0x118;

fn record(tsc: u64, code: u8, par1: u16, par2: u32) -> Record {
    Record { code_word: u16::from(code), par1, tsc, par2 }
}

/// The scheduler chooses a task, and the task runs.
fn choose(tsc: u64, task: u16) -> Record {
    record(tsc, ids::TASK_SCHEDULE, task, u32::from(task))
}

/// The scheduler chooses a task, and another task runs on its behalf.
fn behalf(tsc: u64, runs: u16, of: u16) -> Record {
    record(tsc, ids::TASK_SCHEDULE, runs, u32::from(of))
}

fn start() -> Vec<Record> {
    let id = |context: u16| record(0, ids::ID, context, u32::from(context - MAIN) / 8);
    let first = record(0, ids::TRACE_START, MAIN, 1000);
    [vec![first], [MAIN, LOW, HIGH, MIDDLE].map(id).to_vec()].concat()
}

fn input(records: &[Record]) -> Input {
    let bytes = records.iter().flat_map(Record::to_bytes).collect();
    let mut settings = settings(&["kind=records", "names=0=main,1=low,2=high,3=middle"]);
    settings.format = Some("shark".to_owned());
    Input::from_bytes("trace", bytes, settings).unwrap()
}

fn follow(records: &[Record], wanted: &Wanted) -> (Trace, Figures) {
    let mut sink = Scheduling::new(wanted.clone());
    let trace = input(records).read(&mut sink).unwrap();
    let figures = sink.figures(&trace);
    (trace, figures)
}

fn all() -> Wanted {
    Wanted { jobs: true, waits: true, budgets: true, ..Wanted::default() }
}

/// If times between marks are wanted, the analysis handles all events without its fast paths.
fn slowly() -> Wanted {
    Wanted { pairs: vec![(Mark::Number(7), Mark::Number(8))], ..all() }
}

fn context(trace: &Trace, number: u16) -> ContextId {
    trace.contexts.find(u64::from(number)).unwrap()
}

fn task<'a>(trace: &Trace, figures: &'a Figures, number: u16) -> &'a Task {
    let context = context(trace, number);
    figures.tasks.iter().find(|task| task.context == context).unwrap()
}

/// The kernel releases `high` while `low` runs. An interrupt occurs while `high` runs; then `high`
/// waits for a mutex that `low` holds, and completes. During the wait, `middle` runs.
fn contended() -> Vec<Record> {
    let rest = [
        record(10, ids::TASK_ACTIVATE, LOW, 0),
        choose(12, LOW),
        record(20, ids::SET_MUTEX_LOCK, LOW, 7),
        record(30, ids::TIMER_WAKEUP_START, 0, 0),
        record(31, ids::TASK_TIMER, HIGH, 1),
        choose(32, HIGH),
        record(34, ids::TIMER_WAKEUP_END, HIGH, 0),
        record(50, ids::INTERRUPT_START, 5, 0),
        record(56, ids::INTERRUPT_END, 5, 0),
        record(60, ids::SET_MUTEX_LOCK, HIGH, 7),
        behalf(63, LOW, HIGH),
        record(70, ids::TIMER_WAKEUP_START, 0, 0),
        record(71, ids::TASK_TIMER, MIDDLE, 1),
        choose(72, MIDDLE),
        record(75, ids::TIMER_WAKEUP_END, MIDDLE, 0),
        record(85, ids::TASK_END_CYCLE, MIDDLE, 1),
        behalf(86, LOW, HIGH),
        record(90, ids::SET_MUTEX_UNLOCK, LOW, 7),
        choose(92, HIGH),
        record(96, ids::SET_MUTEX_UNLOCK, HIGH, 7),
        record(100, ids::TASK_END_CYCLE, HIGH, 1),
        choose(101, LOW),
        record(110, ids::TASK_END_CYCLE, LOW, 1),
        choose(111, MAIN),
        record(120, ids::TRACE_STOP, 0, 0),
    ];
    start().into_iter().chain(rest).collect()
}

#[test]
fn a_response_is_the_sum_of_its_parts() {
    let (trace, figures) = follow(&contended(), &all());
    let [middle, high, low] = figures.jobs.as_slice() else { panic!("{:?}", figures.jobs) };
    let id = |number| context(&trace, number);
    assert_eq!(
        *high,
        Job {
            context: id(HIGH),
            number: 0,
            release: 31,
            start: Some(32),
            completion: 100,
            // It runs from 34 to 50, 56 to 63 and 92 to 100.
            execution: 16 + 7 + 8,
            earlier: 0,
            preemptions: 0,
            parts: Some(Parts {
                own: 31,
                // While it waits, `low` runs from 63 to 70 and 86 to 92.
                blocking: 7 + 6,
                others: vec![(id(MIDDLE), 11)],
                // Interrupts run from 31 to 34, 50 to 56 and 70 to 75.
                interrupts: 3 + 6 + 5,
                unattributed: 0,
            }),
            missed: None,
        }
    );
    assert_eq!(high.response(), 69);
    let parts = low.parts.as_ref().unwrap();
    assert_eq!(
        (low.release, low.completion, low.execution, low.preemptions),
        (10, 110, 18 + 7 + 6 + 9, 3)
    );
    assert_eq!(parts.others, [(id(MAIN), 2), (id(HIGH), 32), (id(MIDDLE), 11)]);
    assert_eq!(
        (parts.own, parts.blocking, parts.interrupts, parts.unattributed),
        (40, 0, 4 + 6 + 5, 0)
    );
    assert_eq!((middle.response(), middle.execution, middle.earlier), (14, 10, 0));
    for job in &figures.jobs {
        assert_eq!(job.parts.as_ref().unwrap().whole(), job.response());
    }
}

#[test]
fn jobs_that_wait_for_earlier_ones_of_their_task_say_so() {
    let rest = [
        record(10, ids::TASK_TIMER, HIGH, 1),
        choose(12, HIGH),
        record(20, ids::TASK_TIMER, HIGH, 1),
        record(25, ids::TASK_DEADLINE_MISS, HIGH, 0),
        record(30, ids::TASK_END_CYCLE, HIGH, 1),
        choose(33, HIGH),
        record(40, ids::TASK_END_CYCLE, HIGH, 1),
        choose(41, MAIN),
    ];
    let records: Vec<_> = start().into_iter().chain(rest).collect();
    let (_, figures) = follow(&records, &all());
    let rows: Vec<_> = figures
        .jobs
        .iter()
        .map(|job| (job.number, job.release, job.start, job.execution, job.earlier, job.missed))
        .collect();
    assert_eq!(rows, [(0, 10, Some(12), 18, 0, Some(25)), (1, 20, Some(33), 10, 10, None)]);
}

#[test]
fn a_wait_for_a_mutex_is_split_and_holding_it_is_timed() {
    let (trace, figures) = follow(&contended(), &all());
    let [wait] = figures.waits.as_slice() else { panic!("{:?}", figures.waits) };
    assert_eq!((wait.context, wait.owner), (context(&trace, HIGH), Some(context(&trace, LOW))));
    assert_eq!((wait.key, wait.is_mutex, wait.from, wait.until), (Some(7), true, 60, 92));
    let spent = Split { own: 3, blocking: 7 + 6, interference: 11, interrupts: 5, unattributed: 0 };
    assert_eq!((wait.spent, wait.inverted), (Some(spent), None));
    let high = task(&trace, &figures, HIGH).locks;
    assert_eq!((high.requests, high.blocks, high.wait.max, high.spent), (1, 1, 32, spent));
    // A hold begins at the end of the wait, or at the request if the task does not wait.
    assert_eq!((high.hold.count, high.hold.max), (1, 4));
    assert_eq!(task(&trace, &figures, LOW).locks.hold.max, 70);
    let [mutex] = figures.resources.as_slice() else { panic!("{:?}", figures.resources) };
    assert_eq!((mutex.key, mutex.is_mutex, mutex.figures.requests), (7, true, 2));
    assert_eq!(
        (mutex.figures.hold.min, mutex.figures.hold.mean(), mutex.figures.hold.max),
        (4, 37, 70)
    );
}

#[test]
fn a_wait_is_inverted_while_less_urgent_tasks_run() {
    let with = |high: u64, middle: u64| {
        let deadline = |deadline| Expected { period: None, deadline: Some(1000 * deadline) };
        let expected =
            [("high".to_owned(), deadline(high)), ("middle".to_owned(), deadline(middle))];
        let (_, figures) =
            follow(&contended(), &Wanted { expected: expected.into_iter().collect(), ..all() });
        figures.waits[0].inverted
    };
    // The deadline of `high` is at 31 + 100. `middle` was released at 71 and completes at 85.
    assert_eq!(with(100, 50), Some(1), "`middle` has no deadline after its end");
    assert_eq!(with(100, 70), Some(11));
}

/// `high` waits for the mutex that `low` holds, and is deleted. Later, another task has its
/// context.
#[test]
fn the_wait_of_a_task_ends_at_its_deletion() {
    let rest = [
        choose(2, LOW),
        record(10, ids::SET_MUTEX_LOCK, LOW, 7),
        choose(20, HIGH),
        record(30, ids::SET_MUTEX_LOCK, HIGH, 7),
        behalf(31, LOW, HIGH),
        record(50, ids::TASK_END, HIGH, 0),
        record(62, ids::SET_MUTEX_UNLOCK, LOW, 7),
        choose(70, MAIN),
        choose(5000, HIGH),
        record(5030, ids::SET_MUTEX_LOCK, HIGH, 7),
        record(5040, ids::SET_MUTEX_UNLOCK, HIGH, 7),
        choose(5050, MAIN),
    ];
    let records: Vec<_> = start().into_iter().chain(rest).collect();
    for wanted in [all(), slowly()] {
        let (trace, figures) = follow(&records, &wanted);
        let [wait] = figures.waits.as_slice() else { panic!("{:?}", figures.waits) };
        assert_eq!((wait.context, wait.from, wait.until), (context(&trace, HIGH), 30, 50));
        let high = task(&trace, &figures, HIGH).locks;
        assert_eq!((high.blocks, high.wait.count, high.wait.max), (1, 1, 20));
        assert_eq!((high.hold.count, high.hold.max), (1, 10));
        assert_eq!(task(&trace, &figures, LOW).locks.hold.max, 52);
    }
}

#[test]
fn a_deleted_task_holds_no_mutex() {
    let rest = [
        choose(2, LOW),
        record(10, ids::SET_MUTEX_LOCK, LOW, 7),
        record(12, ids::SET_MUTEX_LOCK, LOW, 8),
        choose(20, HIGH),
        record(25, ids::SET_MUTEX_LOCK, HIGH, 9),
        record(50, ids::TASK_END, LOW, 0),
        record(60, ids::SET_MUTEX_UNLOCK, HIGH, 9),
        // Another task gets the first mutex. A later task with the same context gets the second.
        record(70, ids::SET_MUTEX_LOCK, HIGH, 7),
        record(90, ids::SET_MUTEX_UNLOCK, HIGH, 7),
        choose(5000, LOW),
        record(5030, ids::SET_MUTEX_LOCK, LOW, 8),
        record(5040, ids::SET_MUTEX_UNLOCK, LOW, 8),
        choose(5050, MAIN),
    ];
    let records: Vec<_> = start().into_iter().chain(rest).collect();
    for wanted in [all(), slowly()] {
        let (_, figures) = follow(&records, &wanted);
        let holds = figures.resources.iter().map(|mutex| (mutex.key, mutex.figures.hold));
        let holds: Vec<_> = holds.map(|(key, hold)| (key, hold.count, hold.max)).collect();
        assert_eq!(holds, [(7, 1, 20), (8, 1, 10), (9, 1, 35)]);
    }
}

/// When a task is deleted, its oldest job counts as done. A later task with the same context does
/// not complete the other jobs.
#[test]
fn pending_jobs_of_a_deleted_task_are_not_completed() {
    let rest = [
        record(10, ids::TASK_ACTIVATE, HIGH, 0),
        record(20, ids::TASK_ACTIVATE, HIGH, 0),
        record(25, ids::TASK_DEADLINE_MISS, HIGH, 0),
        record(30, ids::TASK_END, HIGH, 0),
        record(9010, ids::TASK_ACTIVATE, HIGH, 0),
        choose(9020, HIGH),
        record(9050, ids::TASK_END_CYCLE, HIGH, 1),
        choose(9060, MAIN),
    ];
    let records: Vec<_> = start().into_iter().chain(rest).collect();
    let period = Expected { period: Some(10_000), deadline: None };
    let expected = [("high".to_owned(), period)].into_iter().collect();
    let wanted = Wanted { worst_misses: Some(2), distributions: true, expected, ..all() };
    let (trace, figures) = follow(&records, &wanted);
    let high = task(&trace, &figures, HIGH);
    let jobs = high.jobs.unwrap();
    assert_eq!((jobs.activations, jobs.completions, jobs.pending), (3, 2, 0));
    assert_eq!((jobs.response.count, jobs.response.max), (2, 40));
    assert_eq!((jobs.start_latency.max, jobs.orphan_completions), (10, 0));
    // No period, and no expected time, continues from the deleted task.
    assert_eq!((jobs.release_gap.count, jobs.release_gap.max), (1, 10));
    assert_eq!(jobs.completion_gap.count, 0);
    let jitter = (high.timing.release_jitter, high.timing.completion_jitter);
    assert_eq!(jitter, (Some(0), Some(0)));
    let rows = figures.jobs.iter().map(|job| (job.release, job.completion, job.execution));
    assert_eq!(rows.collect::<Vec<_>>(), [(10, 30, 0), (9010, 9050, 30)]);
    let misses = figures.misses.iter().map(|miss| (miss.released, miss.missed, miss.until));
    assert_eq!(misses.collect::<Vec<_>>(), [(Some(10), 25, Some(30))]);
    let mut executions = figures.distributions.iter();
    let executions = executions.find(|row| row.measure == Measure::Execution).unwrap();
    assert_eq!((executions.times.count(), executions.times.max()), (2, Some(30)));
}

/// The trace begins while a job runs, so the deletion of its task completes this job.
#[test]
fn the_first_job_after_a_deletion_is_not_an_orphan() {
    let rest = [
        choose(0, HIGH),
        record(10, ids::TASK_ACTIVATE, HIGH, 0),
        record(20, ids::TASK_DEADLINE_MISS, HIGH, 0),
        record(30, ids::TASK_END, HIGH, 0),
        choose(40, HIGH),
        record(50, ids::TASK_ACTIVATE, HIGH, 0),
        record(60, ids::TASK_END_CYCLE, HIGH, 1),
        choose(70, MAIN),
    ];
    // Without the event of the start, the trace begins in the middle.
    let (trace, figures) = follow(&rest, &Wanted { worst_misses: Some(2), ..all() });
    let jobs = task(&trace, &figures, HIGH).jobs.unwrap();
    assert_eq!((jobs.completions, jobs.orphan_completions, jobs.pending), (2, 1, 0));
    assert_eq!((jobs.response.count, jobs.response.max), (1, 10));
    let misses = figures.misses.iter().map(|miss| (miss.released, miss.missed, miss.until));
    assert_eq!(misses.collect::<Vec<_>>(), [(Some(10), 20, None)]);
}

#[test]
fn a_known_period_and_deadline_are_checked() {
    let releases = [10, 112, 207];
    let job = |release: u64| {
        [
            record(release, ids::TASK_TIMER, HIGH, 1),
            choose(release + 1, HIGH),
            record(release + 20, ids::TASK_END_CYCLE, HIGH, 1),
            choose(release + 21, MAIN),
        ]
    };
    let mut records = start();
    records.extend(releases.into_iter().flat_map(job));
    records.extend([record(307, ids::TASK_TIMER, HIGH, 1), choose(308, HIGH)]);
    records.extend([record(350, ids::TASK_END_CYCLE, HIGH, 1), choose(351, MAIN)]);
    let known = Expected { period: Some(100_000), deadline: Some(40_000) };
    let wanted = Wanted { expected: [("high".to_owned(), known)].into_iter().collect(), ..all() };
    let (trace, figures) = follow(&records, &wanted);
    let high = task(&trace, &figures, HIGH);
    // Releases are expected at 10, 110, 210 and 310; completions at 30, 130, 230 and 330.
    assert_eq!(high.timing.release_jitter, Some(3000));
    assert_eq!(high.timing.completion_jitter, Some(20_000));
    assert_eq!((high.timing.late, high.jobs.unwrap().deadline_misses), (1, 0));
    assert_eq!(high.jobs.unwrap().release_gap.width(), 102 - 95);
    assert_eq!(high.jobs.unwrap().response.width(), 43 - 20);
    assert_eq!(high.jobs.unwrap().completion_gap.width(), 123 - 95);
}

#[test]
fn the_first_release_and_completion_after_a_gap_are_on_time() {
    let job = |release: u64| {
        [
            record(release, ids::TASK_TIMER, HIGH, 1),
            choose(release + 1, HIGH),
            record(release + 20, ids::TASK_END_CYCLE, HIGH, 1),
            choose(release + 21, MAIN),
        ]
    };
    let gap = [record(150, ids::TRACE_STOP, 0, 0), record(180, ids::TRACE_START, MAIN, 1000)];
    let records = [&start()[..], &job(10), &job(110), &gap, &job(345), &job(447)].concat();
    let known = Expected { period: Some(100_000), deadline: None };
    let jitter = |holes| {
        let expected = [("high".to_owned(), known)].into_iter().collect();
        let (trace, figures) = follow(&records, &Wanted { expected, holes, ..all() });
        let timing = task(&trace, &figures, HIGH).timing;
        (timing.release_jitter.unwrap(), timing.completion_jitter.unwrap())
    };
    // Without the gap, the last release and its completion are 137 ticks late.
    assert_eq!((jitter(false), jitter(true)), ((137_000, 137_000), (2000, 2000)));
}

#[test]
fn a_wait_for_a_semaphore_ends_when_the_task_is_chosen() {
    let rest = [
        choose(5, HIGH),
        record(10, ids::SET_MUTEX_WAIT, HIGH, 3),
        choose(12, LOW),
        record(20, ids::SET_MUTEX_POST, LOW, 3),
        choose(21, HIGH),
        // This request does not block. Its task is preempted later.
        record(30, ids::SET_MUTEX_WAIT, HIGH, 3),
        record(40, ids::TIMER_WAKEUP_START, 0, 0),
        choose(41, LOW),
        record(42, ids::TIMER_WAKEUP_END, LOW, 0),
    ];
    let records: Vec<_> = start().into_iter().chain(rest).collect();
    let (trace, figures) = follow(&records, &all());
    let [(None, high)] = task(&trace, &figures, HIGH).waits[..] else { panic!() };
    assert_eq!((high.requests, high.blocks, high.wait.count, high.wait.max), (2, 1, 1, 11));
    let spent = Split { own: 2, blocking: 0, interference: 9, interrupts: 0, unattributed: 0 };
    assert_eq!(high.spent, spent);
    let [semaphore] = figures.resources.as_slice() else { panic!("{:?}", figures.resources) };
    assert_eq!((semaphore.key, semaphore.is_mutex, semaphore.figures.blocks), (3, false, 1));
}

#[test]
fn nested_interrupts_belong_to_the_inner_source() {
    let rest = [
        record(100, ids::INTERRUPT_START, 5, 0),
        record(130, ids::TIMER_WAKEUP_START, 0, 0),
        record(150, ids::TIMER_WAKEUP_END, MAIN, 0),
        record(200, ids::INTERRUPT_END, 5, 0),
        record(900, ids::INTERRUPT_START, 5, 0),
        record(1000, ids::INTERRUPT_END, 5, 0),
        record(1150, ids::INTERRUPT_START, 5, 0),
        record(1160, ids::INTERRUPT_END, 5, 0),
        record(20_000, ids::TRACE_STOP, 0, 0),
    ];
    let records: Vec<_> = start().into_iter().chain(rest).collect();
    let (_, figures) = follow(&records, &all());
    let interrupts = &figures.interrupts;
    assert_eq!((interrupts.brackets, interrupts.ticks), (3, 210));
    let [timer, five] = interrupts.sources.as_slice() else { panic!("{interrupts:?}") };
    assert_eq!((timer.number, timer.count, timer.ticks), (None, 1, 20));
    assert_eq!((five.number, five.count, five.ticks), (Some(5), 3, 190));
    assert_eq!((five.min_ticks, five.mean_ticks(), five.max_ticks), (10, 63, 100));
    assert_eq!((five.arrival_gap.min, five.arrival_gap.max), (250, 800));
    // The busiest millisecond of source 5 begins at tick 100. In it, the source runs for 30, 50 and
    // 100 ticks.
    let most =
        |milliseconds: [u64; 2]| [Some(milliseconds[0] * 1000), Some(milliseconds[1] * 1000), None];
    assert_eq!(five.most_within, most([180, 190]));
    assert_eq!(interrupts.most_within, most([200, 210]));
}

#[test]
fn a_servers_budget_falls_while_it_serves() {
    let server = 0x1234;
    let rest = [
        record(10, ids::TASK_ACTIVATE, HIGH, 0),
        record(10, ids::SERVER_ACTIVE, 0, server),
        choose(11, HIGH),
        record(20, ids::TIMER_WAKEUP_START, 0, 0),
        record(24, ids::TIMER_WAKEUP_END, HIGH, 0),
        record(40, ids::SERVER_EXHAUST, 0, server),
        choose(41, LOW),
        record(60, ids::SERVER_REPLENISH, 0, server),
        choose(61, HIGH),
        record(66, ids::SERVER_USING_REC, 3, server),
        record(70, ids::TASK_END_CYCLE, HIGH, 1),
        choose(71, MAIN),
        record(90, ids::SERVER_ACTIVE, HIGH, server),
        choose(91, HIGH),
        record(95, ids::TRACE_STOP, 0, 0),
    ];
    let records: Vec<_> = start().into_iter().chain(rest).collect();
    let (trace, figures) = follow(&records, &all());
    let [found] = figures.servers.as_slice() else { panic!("{:?}", figures.servers) };
    assert_eq!((found.key, found.task), (u64::from(server), Some(context(&trace, HIGH))));
    assert_eq!((found.without.as_slice(), found.without_budget.max), ([(40, 60)].as_slice(), 20));
    // The task runs from 11 to 20, 24 to 41, 61 to 71 and 91 to 95.
    assert_eq!((found.supplied, found.most_used), (9 + 17 + 10 + 4, Some(9 + 16)));
    let point = |(ticks, used): (u64, i64)| Used { ticks, used: Some(used) };
    let before = [(10, 0), (11, 0), (20, 9), (24, 9), (40, 25)].map(point);
    let exhausted = Used { ticks: 40, used: None };
    // The curve is linear between its points, so an abrupt change has two points.
    let after = [(60, 0), (61, 0), (66, 5), (66, 2), (71, 7), (90, 7), (90, 0), (91, 0), (95, 4)];
    let after = after.map(point);
    assert_eq!(found.used, [&before[..], &[exhausted], &after[..]].concat());
}

/// Returns the points of the curve of the only server.
fn curve(figures: &Figures) -> Vec<(u64, Option<i64>)> {
    let [found] = figures.servers.as_slice() else { panic!("{:?}", figures.servers) };
    found.used.iter().map(|point| (point.ticks, point.used)).collect()
}

#[test]
fn a_budget_has_no_value_from_its_exhaustion_or_a_gap_until_an_event_shows_it() {
    let served = [
        record(10, ids::TASK_ACTIVATE, HIGH, 0),
        record(10, ids::SERVER_ACTIVE, 0, 1),
        choose(11, HIGH),
    ];
    let full = [(10, Some(0)), (11, Some(0))];
    // The task runs on without budget, and the server even uses reclaimed time.
    let exhausted = [
        record(20, ids::SERVER_EXHAUST, 0, 1),
        record(25, ids::SERVER_USING_REC, 3, 1),
        choose(30, LOW),
        record(50, ids::SERVER_REPLENISH, 0, 1),
        record(60, ids::IPOINT, 1, 0),
    ];
    let records: Vec<_> = start().into_iter().chain(served).chain(exhausted).collect();
    let (_, figures) = follow(&records, &all());
    assert_eq!((figures.servers[0].supplied, figures.servers[0].most_used), (19, Some(9)));
    let points = [(20, Some(9)), (20, None), (50, Some(0))];
    assert_eq!(curve(&figures), [&full[..], &points].concat());
    let gap = [
        choose(21, LOW),
        record(30, ids::TRACE_STOP, 0, 0),
        record(50, ids::TRACE_START, MAIN, 1000),
        choose(52, HIGH),
        record(56, ids::SERVER_USING_REC, 3, 1),
        record(60, ids::SERVER_EXHAUST, 0, 1),
        choose(61, LOW),
        record(70, ids::SERVER_REPLENISH, 0, 1),
        record(80, ids::IPOINT, 1, 0),
    ];
    let records: Vec<_> = start().into_iter().chain(served).chain(gap).collect();
    let (_, figures) = follow(&records, &Wanted { holes: true, ..all() });
    assert_eq!((figures.servers[0].supplied, figures.servers[0].most_used), (10 + 9, None));
    let points = [(21, Some(10)), (30, Some(10)), (30, None), (60, None), (70, Some(0))];
    assert_eq!(curve(&figures), [&full[..], &points].concat());
}

#[test]
fn a_repeated_report_of_an_exhausted_budget_changes_only_its_count() {
    let exhausted = |tsc| record(tsc, ids::SERVER_EXHAUST, 0, 1);
    let rest = [
        record(10, ids::TASK_ACTIVATE, HIGH, 0),
        record(10, ids::SERVER_ACTIVE, 0, 1),
        choose(11, HIGH),
        exhausted(20),
        exhausted(26),
        choose(30, LOW),
        // The server waits for its replenishment.
        record(35, ids::SERVER_ACTIVE, 0, 1),
        record(50, ids::SERVER_REPLENISH, 0, 1),
        choose(51, HIGH),
        exhausted(55),
        record(60, ids::TRACE_STOP, 0, 0),
    ];
    let records: Vec<_> = start().into_iter().chain(rest).collect();
    let (_, figures) = follow(&records, &all());
    let [found] = figures.servers.as_slice() else { panic!("{:?}", figures.servers) };
    assert_eq!((found.active, found.exhausted, found.replenished), (2, 3, 1));
    assert_eq!((found.without.as_slice(), found.without_budget.count), ([(20, 50)].as_slice(), 1));
    assert_eq!((found.most_used, found.supplied), (Some(20 - 11), (30 - 11) + (60 - 51)));
}

/// If a task runs on behalf of another task, both use up the budgets of their servers.
#[test]
fn a_server_is_charged_once_while_its_task_runs_or_is_blocked() {
    let rest = [
        record(10, ids::TASK_ACTIVATE, LOW, 0),
        record(10, ids::SERVER_ACTIVE, LOW, 1),
        record(11, ids::SERVER_ACTIVE, HIGH, 2),
        choose(12, LOW),
        behalf(15, LOW, HIGH),
        choose(20, HIGH),
        behalf(31, MIDDLE, HIGH),
        record(40, ids::INTERRUPT_START, 5, 0),
        record(50, ids::INTERRUPT_END, 5, 0),
        choose(52, MAIN),
        record(60, ids::TRACE_STOP, 0, 0),
    ];
    let records: Vec<_> = start().into_iter().chain(rest).collect();
    let [low, high] = [3 + 5, 5 + 11 + 9 + 2];
    let expected = [(1, Some(LOW), low, None), (2, Some(HIGH), high, None)];
    assert_eq!(served(&records), expected);
}

/// Returns for each server its key, its task, the ticks supplied and the budget.
fn served(records: &[Record]) -> Vec<(u64, Option<u16>, u64, Option<u64>)> {
    served_if(records, &all())
}

fn served_if(records: &[Record], wanted: &Wanted) -> Vec<(u64, Option<u16>, u64, Option<u64>)> {
    let (trace, figures) = follow(records, wanted);
    let key = |task| trace.contexts.get(task).unwrap().key as u16;
    let server = |server: &tracewell::analysis::scheduling::Server| {
        (server.key, server.task.map(key), server.supplied, server.most_used)
    };
    figures.servers.iter().map(server).collect()
}

#[test]
fn a_server_serves_the_task_that_was_activated_right_before_it_not_the_next_one_to_run() {
    let rest = [
        choose(5, MIDDLE),
        record(10, ids::TASK_ACTIVATE, LOW, 0),
        record(10, ids::SERVER_ACTIVE, 0, 1),
        // A more urgent task comes first.
        record(12, ids::TASK_ACTIVATE, HIGH, 0),
        choose(12, HIGH),
        record(30, ids::TASK_END_CYCLE, HIGH, 0),
        choose(30, LOW),
        record(37, ids::SERVER_EXHAUST, 0, 1),
        choose(37, MIDDLE),
    ];
    let records: Vec<_> = start().into_iter().chain(rest).collect();
    assert_eq!(served(&records), [(1, Some(LOW), 7, Some(7))]);
}

#[test]
fn a_request_between_an_activation_and_a_server_separates_them() {
    let rest = [
        choose(5, MIDDLE),
        record(10, ids::TASK_ACTIVATE, LOW, 0),
        record(11, ids::SET_MUTEX_LOCK, MIDDLE, 7),
        record(12, ids::SERVER_ACTIVE, 0, 1),
        record(12, ids::TASK_ACTIVATE, HIGH, 0),
        choose(13, HIGH),
        record(20, ids::TASK_END_CYCLE, HIGH, 0),
        choose(20, LOW),
        choose(29, MAIN),
    ];
    let records: Vec<_> = start().into_iter().chain(rest).collect();
    for wanted in [all(), slowly()] {
        assert_eq!(served_if(&records, &wanted), [(1, Some(HIGH), 20 - 13, None)]);
    }
}

#[test]
fn servers_of_a_group_serve_the_tasks_that_are_activated_right_after_them() {
    let rest = [
        record(10, ids::SERVER_ACTIVE, 0, 1),
        record(10, ids::TASK_ACTIVATE, LOW, 0),
        record(11, ids::SERVER_ACTIVE, 0, 2),
        record(11, ids::TASK_ACTIVATE, HIGH, 0),
        choose(12, HIGH),
        record(20, ids::TASK_END_CYCLE, HIGH, 0),
        choose(20, LOW),
        record(23, ids::TASK_END_CYCLE, LOW, 0),
        choose(23, MAIN),
    ];
    let records: Vec<_> = start().into_iter().chain(rest).collect();
    assert_eq!(served(&records), [(1, Some(LOW), 3, None), (2, Some(HIGH), 8, None)]);
}

#[test]
fn the_task_that_exhausts_a_budget_corrects_the_task_of_the_server() {
    let rest = [
        record(9, ids::TASK_ACTIVATE, HIGH, 0),
        record(10, ids::TASK_ACTIVATE, LOW, 0),
        record(10, ids::SERVER_ACTIVE, 0, 1),
        choose(12, LOW),
        record(15, ids::TASK_END_CYCLE, LOW, 0),
        choose(15, HIGH),
        record(26, ids::TIMER_WAKEUP_START, 0, 0),
        record(27, ids::SERVER_EXHAUST, 0, 1),
        choose(27, MAIN),
        record(28, ids::TIMER_WAKEUP_END, MAIN, 0),
        record(40, ids::SERVER_REPLENISH, 0, 1),
        choose(40, HIGH),
        record(44, ids::TRACE_STOP, 0, 0),
    ];
    let records: Vec<_> = start().into_iter().chain(rest).collect();
    assert_eq!(served(&records), [(1, Some(HIGH), 11 + 4, Some(11))]);
}

/// The budget of a server is exhausted at 30, which shows that the server serves `high` and not
/// `low`. So the server supplied the execution of the current job of `high`.
#[test]
fn a_job_begins_with_the_end_of_the_previous_one_or_with_the_first_activation_of_a_new_task() {
    let activated = |tsc| record(tsc, ids::TASK_ACTIVATE, HIGH, 0);
    let pending_job = [
        activated(4),
        activated(5),
        choose(10, HIGH),
        record(14, ids::TASK_END_CYCLE, HIGH, 1),
        choose(14, HIGH),
    ];
    // The kernel runs in the context of the deleted task until 17, and then reuses its slot.
    let new_task = [
        activated(5),
        choose(10, HIGH),
        record(14, ids::TASK_END, HIGH, 2),
        choose(17, MAIN),
        activated(20),
    ];
    let end = [
        record(22, ids::TASK_ACTIVATE, LOW, 0),
        record(22, ids::SERVER_ACTIVE, 0, 1),
        choose(23, HIGH),
        record(30, ids::SERVER_EXHAUST, 0, 1),
        choose(30, MAIN),
    ];
    for (before, ran) in [(pending_job, 30 - 14), (new_task, 30 - 23)] {
        let records = [&start()[..], &before, &end].concat();
        assert_eq!(served(&records), [(1, Some(HIGH), ran, Some(ran))]);
    }
}

#[test]
fn a_server_that_names_its_task_serves_that_one() {
    let rest = [
        record(10, ids::TASK_ACTIVATE, LOW, 0),
        record(10, ids::SERVER_ACTIVE, HIGH, 1),
        choose(12, LOW),
        record(15, ids::SERVER_EXHAUST, 0, 1),
        choose(15, HIGH),
        record(26, ids::TRACE_STOP, 0, 0),
    ];
    let records: Vec<_> = start().into_iter().chain(rest).collect();
    assert_eq!(served(&records), [(1, Some(HIGH), 11, Some(0))]);
}

/// A kernel with a constant-bandwidth server. The server's task ran for 24,850,596 ticks in total
/// (a sum over the records), and the server's budget is 2 ms.
#[test]
fn a_constant_bandwidth_server_supplies_the_execution_of_its_task() {
    let bytes = std::fs::read(support::fixture("shark/cbs_server.dat")).unwrap();
    let mut sink = Scheduling::default();
    let trace = Input::from_bytes("cbs", bytes, settings(&[])).unwrap().read(&mut sink).unwrap();
    let figures = sink.figures(&trace);
    let [server] = figures.servers.as_slice() else { panic!("{:?}", figures.servers) };
    let task = trace.contexts.get(server.task.unwrap()).unwrap();
    assert_eq!((task.key, server.supplied), (0x130, 24_850_596));
    assert_eq!(server.most_used, Some(2_000_000));
}

#[test]
fn the_kernel_that_shuts_down_is_charged_itself() {
    let rest = [
        choose(10, HIGH),
        record(50, ids::CONTEXT_SWITCH, ids::context::KERNEL, 0),
        record(60, ids::IPOINT, 1, 0),
        record(70, ids::TRACE_STOP, 0, 0),
    ];
    let records: Vec<_> = start().into_iter().chain(rest).collect();
    for wanted in [all(), slowly()] {
        let (trace, figures) = follow(&records, &wanted);
        let ran = |number| task(&trace, &figures, number).execution.unwrap().ticks;
        assert_eq!((ran(HIGH), ran(ids::context::KERNEL)), (40, 20));
        let kernel = context(&trace, ids::context::KERNEL);
        assert_eq!(trace.contexts.get(kernel).unwrap().name, "kernel");
        assert_eq!((figures.sanity.disagreeing_loads, figures.charged_ticks), (0, Some(70)));
    }
}

#[test]
fn a_task_that_only_waits_for_another_is_in_the_trace() {
    let (trace, _) =
        follow(&[record(0, ids::TRACE_START, MAIN, 1000), behalf(10, LOW, HIGH)], &all());
    let keys = [MAIN, LOW, HIGH, MIDDLE].map(|task| trace.contexts.find(task.into()).is_some());
    assert_eq!(keys, [true, true, true, false]);
}

#[test]
fn a_trace_that_starts_with_its_ninth_event_begins_in_the_middle() {
    let orphans = |filters: u64| {
        let mut records: Vec<_> = (0..filters)
            .map(|at| record(at, ids::filter_record(ids::family::USER), 0, 0))
            .collect();
        records.extend([
            record(10, ids::TRACE_START, MAIN, 1000),
            choose(11, HIGH),
            record(12, ids::TASK_ACTIVATE, HIGH, 0),
            record(20, ids::TASK_END_CYCLE, HIGH, 0),
        ]);
        let (trace, figures) = follow(&records, &all());
        task(&trace, &figures, HIGH).jobs.unwrap().orphan_completions
    };
    // The task was chosen before its release, so its job began before the trace.
    assert_eq!((orphans(7), orphans(8)), (0, 1));
}

#[test]
fn a_repeated_start_of_tracing_is_still_a_start() {
    let rest = [
        record(1, ids::TRACE_START, MAIN, 1000),
        choose(11, HIGH),
        record(12, ids::TASK_ACTIVATE, HIGH, 0),
        record(20, ids::TASK_END_CYCLE, HIGH, 0),
    ];
    let records: Vec<_> = start().into_iter().chain(rest).collect();
    let (trace, figures) = follow(&records, &all());
    let jobs = task(&trace, &figures, HIGH).jobs.unwrap();
    assert_eq!((jobs.completions, jobs.orphan_completions, jobs.response.count), (1, 0, 1));
}

#[test]
fn only_the_same_request_for_a_mutex_twice_in_a_row_is_one() {
    let requests = |first: (u8, u16, u32), second: (u8, u16, u32)| {
        let of = |tsc, (code, task, key)| record(tsc, code, task, key);
        let records: Vec<_> =
            start().into_iter().chain([choose(5, HIGH), of(10, first), of(11, second)]).collect();
        let (_, figures) = follow(&records, &all());
        figures.resources.iter().map(|resource| resource.figures.requests).sum::<u64>()
    };
    let (lock, wait) = (ids::SET_MUTEX_LOCK, ids::SET_MUTEX_WAIT);
    assert_eq!(requests((lock, HIGH, 7), (lock, HIGH, 7)), 1);
    assert_eq!(requests((lock, HIGH, 7), (lock, HIGH, 8)), 2);
    assert_eq!(requests((lock, HIGH, 7), (lock, LOW, 7)), 2);
    assert_eq!(requests((wait, HIGH, 7), (wait, HIGH, 7)), 2);
    assert_eq!(requests((wait, HIGH, 7), (lock, HIGH, 7)), 2);
    assert_eq!(requests((lock, HIGH, 7), (wait, HIGH, 7)), 2);
}

#[test]
fn the_time_between_two_marks_is_shown_raw_and_net() {
    let point = |tsc, number| record(tsc, ids::IPOINT, number, 0);
    let rest = [
        choose(5, HIGH),
        point(10, 1),
        record(12, ids::TIMER_WAKEUP_START, 0, 0),
        choose(13, LOW),
        record(15, ids::TIMER_WAKEUP_END, LOW, 0),
        point(18, 1),
        point(19, 2),
        choose(20, HIGH),
        point(26, 2),
        // The second mark occurs alone, and then the first mark twice.
        point(27, 2),
        point(30, 1),
        point(31, 1),
        point(35, 2),
    ];
    let records: Vec<_> = start().into_iter().chain(rest).collect();
    let label = Mark::Label("ipoint".to_owned());
    let pairs = vec![(Mark::Number(1), Mark::Number(2)), (label.clone(), label)];
    let (trace, figures) = follow(&records, &Wanted { pairs, ..all() });
    let [(_, _, passages), (_, _, any)] = figures.passages.as_slice() else { panic!() };
    let rows: Vec<_> = passages
        .iter()
        .map(|p| (p.context, p.raw, p.net.unwrap()))
        .map(|(task, raw, net)| (task, raw.count, raw.min, raw.max, net.min, net.max))
        .collect();
    let (low, high) = (context(&trace, LOW), context(&trace, HIGH));
    assert_eq!(rows, [(low, 1, 1, 1, 1, 1), (high, 2, 4, 16, 4, 2 + 6)]);
    assert_eq!((any[0].raw.count, any[1].raw.count), (1, 5));
}

#[test]
fn a_deleted_task_does_not_pass_the_second_mark() {
    let rest = [
        choose(2, HIGH),
        record(10, ids::IPOINT, 7, 0),
        choose(20, MAIN),
        record(30, ids::TASK_END, HIGH, 0),
        choose(5000, HIGH),
        record(5010, ids::IPOINT, 8, 0),
        choose(5020, MAIN),
    ];
    let records: Vec<_> = start().into_iter().chain(rest).collect();
    let (_, figures) = follow(&records, &slowly());
    assert!(figures.passages[0].2.is_empty(), "{:?}", figures.passages);
}

#[test]
fn the_manuals_code_for_unlocking_is_accepted_with_a_warning() {
    let rest = [
        record(10, ids::SET_MUTEX_LOCK, MAIN, 7),
        record(15, ids::MANUAL_UNLOCK, MAIN, 7),
        record(20, ids::MANUAL_UNLOCK, MAIN, 7),
    ];
    let records: Vec<_> = start().into_iter().chain(rest).collect();
    let (trace, figures) = follow(&records, &all());
    assert_eq!(task(&trace, &figures, MAIN).locks.hold.max, 5);
    let remarks: Vec<_> = trace.diagnostics.iter().map(|d| d.message.as_str()).collect();
    assert_eq!(
        remarks,
        ["2 records with code 0x43 (unlock); the user manual defines it, but no kernel writes it"]
    );
}

/// Returns the number and the ticks of the outermost interrupts, and per source the number, the
/// ticks, the mean and the maximum.
type Served = (u64, u64, Vec<(u64, u64, u64, u64)>);

fn interrupts(records: &[Record]) -> Served {
    let records = [start(), records.to_vec()].concat();
    let [figures, slow] = [all(), slowly()].map(|wanted| follow(&records, &wanted).1);
    assert_eq!(figures.interrupts, slow.interrupts);
    let [core] = figures.cores.as_slice() else { panic!("{:?}", figures.cores) };
    let found = &figures.interrupts;
    assert_eq!((core.interrupts, core.interrupts * 1000), (found.ticks, found.nanoseconds));
    assert_eq!(figures.charged_ticks, Some(core.tasks + core.interrupts));
    let sources = found.sources.iter();
    let sources = sources.map(|of| (of.count, of.ticks, of.mean_ticks(), of.max_ticks)).collect();
    (found.brackets, found.ticks, sources)
}

#[test]
fn an_interrupt_that_does_not_end_is_charged_up_to_the_end_of_the_trace_or_a_gap() {
    let ended = [record(50, ids::INTERRUPT_START, 5, 0), record(60, ids::INTERRUPT_END, 5, 0)];
    let open = record(100, ids::INTERRUPT_START, 5, 0);
    let nested = record(300, ids::INTERRUPT_START, 6, 0);
    let last = record(1000, ids::IPOINT, 1, 0);
    assert_eq!(interrupts(&[open, last]), (0, 900, vec![(0, 900, 0, 0)]));
    let of_five = (1, 210, 10, 10);
    let list = [ended[0], ended[1], open, nested, last];
    assert_eq!(interrupts(&list), (1, 910, vec![of_five, (0, 700, 0, 0)]));
    // Events are missing after tick 1000.
    let gap = [record(1000, ids::BLACKOUT_START, 0, 0), record(4000, ids::BLACKOUT_END, 0, 0)];
    let after = [choose(4100, LOW), record(4200, ids::IPOINT, 1, 0)];
    let list = [&list[..4], &gap, &after].concat();
    assert_eq!(interrupts(&list), (1, 910, vec![of_five, (0, 700, 0, 0)]));
}

#[test]
fn the_time_of_an_interrupt_that_does_not_end_is_in_the_load_and_in_the_table() {
    let open = [record(100, ids::INTERRUPT_START, 5, 0), record(1000, ids::IPOINT, 1, 0)];
    let records = [start(), open.to_vec()].concat();
    let mut measuring = Measuring::new([]);
    let trace = input(&records).read(&mut measuring).unwrap();
    let shares = measuring.measures(&trace).shares;
    let loads = shares.iter().filter(|share| share.subject.name == "interrupts");
    let loads: Vec<_> = loads.map(|share| (share.window, share.millionths)).collect();
    assert_eq!(loads, [(None, 900_000), (Some(1_000_000), 900_000)]);
    let mut analyses = Analyses::new(Wanted::default());
    let trace = input(&records).read(&mut analyses).unwrap();
    let text = analyses.text(&trace, Some(&[Section::Interrupts]), Layout::default());
    let row = text.lines().find(|line| line.starts_with('5'));
    let row: Vec<_> = row.unwrap().split_whitespace().collect();
    // Unknown figures are empty: minimum, mean, maximum and arrivals.
    assert_eq!(row, ["5", "0", "900.000", "90.00"]);
}

#[test]
fn inconsistencies_are_counted() {
    let rest = [
        choose(5, HIGH),
        record(6, ids::CONTEXT_SWITCH, HIGH, 0),
        record(7, ids::CONTEXT_SWITCH, LOW, 0),
        record(8, ids::INTERRUPT_END, 5, 0),
        record(9, 0x0C, 0, 0),
    ];
    let records: Vec<_> = start().into_iter().chain(rest).collect();
    for wanted in [all(), slowly()] {
        let sanity = follow(&records, &wanted).1.sanity;
        assert_eq!((sanity.disagreeing_loads, sanity.unmatched_brackets), (1, 1));
        assert_eq!((sanity.unknown_events, sanity.backward_steps), (1, 0));
    }
}

#[test]
fn holes_are_times_of_which_nothing_is_known() {
    let rest = [
        record(10, ids::TASK_TIMER, HIGH, 1),
        choose(12, HIGH),
        record(20, ids::filter_record(ids::family::TASK), 1, 0),
        record(30, ids::SET_MUTEX_LOCK, HIGH, 7),
        record(40, ids::filter_record(ids::family::TASK), 0, 0),
        record(41, ids::filter_record(ids::family::USER), 1, 0),
        choose(45, HIGH),
        record(50, ids::TASK_END_CYCLE, HIGH, 1),
        choose(52, MAIN),
        record(53, ids::TASK_TIMER, HIGH, 1),
        choose(54, HIGH),
        record(58, ids::TASK_END_CYCLE, HIGH, 1),
        choose(59, MAIN),
        record(60, ids::TRACE_STOP, 0, 0),
        record(80, ids::TRACE_START, MAIN, 1000),
        record(90, ids::IPOINT, 1, 0),
    ];
    let records: Vec<_> = start().into_iter().chain(rest).collect();
    let told = |holes| {
        let (trace, figures) = follow(&records, &Wanted { holes, ..all() });
        let high = task(&trace, &figures, HIGH);
        let releases: Vec<_> = figures.jobs.iter().map(|job| job.release).collect();
        let jobs = (releases, high.jobs.unwrap().across_gaps);
        (figures.gaps, figures.gap_ticks, figures.charged_ticks.unwrap(), jobs, high.locks.requests)
    };
    assert_eq!(told(false), (0, 0, 90, (vec![10, 53], 0), 1));
    // From 40 to 45 and from 80 on, no events are missing. In the first interval, the running task
    // is still unknown.
    assert_eq!(told(true), (2, 20 + 20, 20 + 15 + 10, (vec![53], 1), 0));
}

/// Consecutive records of a kernel.
fn any_phrase() -> impl Strategy<Value = Vec<(u8, u16, u16)>> {
    let tasks = || prop::sample::select(vec![MAIN, LOW, HIGH, MIDDLE]);
    let timer = |(here, task): (u16, u16)| {
        vec![
            (ids::TIMER_WAKEUP_START, 0, 0),
            (ids::TASK_TIMER, task, 1),
            (ids::TASK_SCHEDULE, task, task),
            (ids::TIMER_WAKEUP_END, here, 0),
        ]
    };
    prop_oneof![
        (tasks(), tasks()).prop_map(timer),
        (tasks(), tasks()).prop_map(|(by, of)| vec![(ids::TASK_SCHEDULE, by, of)]),
        tasks().prop_map(|task| vec![(ids::TASK_ACTIVATE, task, 0)]),
        (tasks(), tasks()).prop_map(|(task, next)| vec![
            (ids::TASK_END_CYCLE, task, 1),
            (ids::TASK_SCHEDULE, next, next)
        ]),
        tasks().prop_map(|_| vec![(ids::INTERRUPT_START, 5, 0), (ids::INTERRUPT_END, 5, 0)]),
    ]
}

fn any_records() -> impl Strategy<Value = Vec<Record>> {
    prop::collection::vec((any_phrase(), 0..9_u64), 1..80).prop_map(|phrases| {
        let mut tsc = 1;
        let mut records = start();
        for (phrase, gap) in phrases {
            for (code, par1, par2) in phrase {
                tsc += gap;
                records.push(record(tsc, code, par1, u32::from(par2)));
            }
        }
        records
    })
}

/// For each tick, the task that had the processor and the task on whose behalf it ran; `None` for
/// interrupts.
fn timeline(records: &[Record]) -> Vec<Option<(u16, u16)>> {
    let (mut now, mut chosen, mut served) = ((MAIN, MAIN), None, false);
    let mut ticks = Vec::new();
    for record in records {
        ticks.resize(record.tsc as usize, if served { None } else { Some(now) });
        match record.code() {
            ids::INTERRUPT_START | ids::TIMER_WAKEUP_START => (served, chosen) = (true, None),
            ids::TASK_SCHEDULE if served => chosen = Some((record.par1, record.par2 as u16)),
            ids::TASK_SCHEDULE => now = (record.par1, record.par2 as u16),
            ids::INTERRUPT_END | ids::TIMER_WAKEUP_END => {
                (served, now) = (false, chosen.unwrap_or(now));
            }
            _ => {}
        }
    }
    ticks
}

proptest! {
    #[test]
    fn parts_of_responses_agree_with_counting_every_tick(records in any_records()) {
        let (trace, figures) = follow(&records, &all());
        let timeline = timeline(&records);
        for job in &figures.jobs {
            let own = trace.contexts.get(job.context).unwrap().key as u16;
            let ticks = &timeline[job.release as usize..job.completion as usize];
            let count = |is: &dyn Fn(Option<(u16, u16)>) -> bool| {
                ticks.iter().filter(|tick| is(**tick)).count() as u64
            };
            let parts = job.parts.as_ref().unwrap();
            prop_assert_eq!(parts.whole(), job.response());
            prop_assert_eq!(parts.own, count(&|tick| tick.is_some_and(|(by, _)| by == own)));
            prop_assert_eq!(parts.interrupts, count(&|tick| tick.is_none()));
            let blocks =
                |tick: Option<(u16, u16)>| tick.is_some_and(|(by, of)| of == own && by != own);
            prop_assert_eq!(parts.blocking, count(&blocks));
            for (other, spent) in &parts.others {
                let key = trace.contexts.get(*other).unwrap().key as u16;
                let took =
                    |tick: Option<(u16, u16)>| tick.is_some_and(|(by, of)| by == key && of != own);
                prop_assert_eq!(*spent, count(&took));
            }
            prop_assert_eq!(parts.unattributed, 0);
            prop_assert!(job.execution <= parts.own);
        }
    }
}
