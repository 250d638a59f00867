//! Tests that the parts of explained responses and waits add up, and that they agree with the
//! tracks and with the figures of jobs.

mod support;

use std::collections::BTreeSet;
use std::path::Path;

use proptest::prelude::*;
use support::shark::{TASKS, any_records};
use support::{dumps, settings, shared};
use tracewell::analysis::critical_path::{
    Activity, CriticalPath, Explained, Explainer, NoPath, Part, Question, explain,
};
use tracewell::analysis::scheduling::Wanted;
use tracewell::analysis::tracks::{Occupant, Row, State, TrackBuilder, Tracks};
use tracewell::input::{Input, Settings};
use tracewell::model::{ContextId, Processor, Trace};
use tracewell_wire::shark::{Record, ids};

const ALL: std::ops::Range<u64> = 0..u64::MAX;

fn tracks(mut input: Input) -> (Trace, Tracks) {
    let mut builder = TrackBuilder::with_figures(Wanted { jobs: true, ..Wanted::default() });
    let trace = input.read(&mut builder).unwrap();
    let tracks = builder.finish(&trace);
    (trace, tracks)
}

fn example(name: &str) -> Input {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    Input::open(&path, Settings::default()).unwrap()
}

fn context(trace: &Trace, name: &str) -> ContextId {
    let mut contexts = trace.contexts.iter();
    contexts.find(|(_, context)| context.name == name).unwrap().0
}

/// Returns the explanations of all jobs and waits that the tracks contain.
fn explanations(trace: &Trace, tracks: &Tracks) -> Vec<CriticalPath> {
    let waits = tracks.locks.iter().flat_map(|lock| &lock.waits).filter_map(|wait| wait.until);
    let mut ends: BTreeSet<_> = tracks.jobs.iter().filter_map(|job| job.until).collect();
    ends.extend(waits);
    ends.extend(
        tracks
            .contexts()
            .flat_map(|(_, row)| row.changes())
            .filter_map(|change| matches!(change.state, State::Running(_)).then_some(change.at)),
    );
    let paths =
        ends.iter().filter_map(|end| explain(trace, tracks, &Question::Event(end.seq), ALL).ok());
    paths.collect()
}

fn time<S: Copy + PartialEq>(row: &Row<S>, part: &Part, end: u64, of: impl Fn(S) -> bool) -> u64 {
    row.time(part.from.ticks..part.until, end, of)
}

/// Asserts that the parts are consecutive and add up to the whole, that the chain of each part
/// leads from the task to the part's context, and that the tracks of cores agree with the parts.
fn check(place: &str, trace: &Trace, tracks: &Tracks, path: &CriticalPath) {
    let place = format!("{place}: {:?} of {:?}", path.kind, path.context);
    let whole = path.until.ticks - path.from.ticks;
    assert_eq!(path.more, (0, 0), "{place}");
    assert_eq!(path.parts.iter().map(Part::ticks).sum::<u64>(), whole, "{place}");
    let mut at = path.from.ticks;
    for part in &path.parts {
        assert_eq!((part.from.ticks, part.until > at), (at, true), "{place}");
        at = part.until;
        let mut last = path.context;
        for link in &part.chain {
            assert_eq!(link.context, last, "{place}");
            last = link.on;
        }
        assert_eq!(part.context, last, "{place}");
        let on_cores = |is: &dyn Fn(Occupant) -> bool| {
            tracks.cores.iter().map(|row| time(row, part, trace.span, is)).sum::<u64>()
        };
        let runs = |context| {
            on_cores(&|state| matches!(state, Occupant::Task { runs, .. } if runs == context))
        };
        match part.activity {
            // A thread that migrates can be on two cores for some ticks.
            Activity::Runs => assert!(runs(part.context) >= part.ticks(), "{place}"),
            Activity::Delayed(by) => assert!(runs(by) >= part.ticks(), "{place}"),
            Activity::Interrupt(number) => {
                let served = on_cores(&|state| match state {
                    Occupant::Interrupt { number: found, .. } => found == number,
                    _ => false,
                });
                assert!(served >= part.ticks(), "{place}");
            }
            Activity::Ready | Activity::WokenByInterrupt(_) => {}
            Activity::In(state) => {
                let row = tracks.context(part.context);
                let known = row.map_or(0, |row| time(row, part, trace.span, |s| s == state));
                let is_known = !matches!(state, State::Unknown | State::Off);
                assert!(!is_known || known == part.ticks(), "{place}: {state:?}");
            }
        }
    }
    assert_eq!(at, path.until.ticks, "{place}");
    for neighbours in path.parts.windows(2) {
        let [first, second] = neighbours else { unreachable!() };
        let is_same = (first.context, first.activity) == (second.context, second.activity);
        assert!(!is_same || first.chain != second.chain, "{place}: {second:?}");
    }
}

/// Asserts that the answer about each event ends at the event if a response or wait ends there.
/// Otherwise, the answer is the longest that begins there, or else the shortest that contains it.
fn check_questions(trace: &Trace, tracks: &Tracks) {
    let all = explanations(trace, tracks);
    for seq in (0..trace.events).step_by(3) {
        let found = explain(trace, tracks, &Question::Event(seq), ALL).ok();
        let place = format!("{seq}: {:?}", found.as_ref().map(|path| (path.from, path.until)));
        if all.iter().any(|path| path.until.seq == seq) {
            assert_eq!(found.map(|path| path.until.seq), Some(seq), "{place}");
            continue;
        }
        let begin = all.iter().filter(|path| path.from.seq == seq);
        if let Some(longest) = begin.map(CriticalPath::ticks).max() {
            let found = found.unwrap();
            assert!(found.from.seq == seq && found.ticks() >= longest, "{place}");
            continue;
        }
        let contains = |path: &&CriticalPath| (path.from.seq..path.until.seq).contains(&seq);
        let shortest = all.iter().filter(contains).map(CriticalPath::ticks).min();
        if let Some(found) = &found
            && found.from.seq != seq
        {
            assert!(contains(&found), "{place}");
            assert!(shortest.is_none_or(|shortest| found.ticks() <= shortest), "{place}");
        }
        assert!(found.is_some() || shortest.is_none(), "{place}");
    }
}

/// Checks all explanations of a trace. Returns their number.
fn check_all(place: &str, trace: &Trace, tracks: &Tracks) -> usize {
    let paths = explanations(trace, tracks);
    for path in &paths {
        check(place, trace, tracks, path);
        compare_job(place, tracks, path);
    }
    paths.len()
}

/// On one core, the task's own execution time is the same in an explained response and in the
/// listed job.
fn compare_job(place: &str, tracks: &Tracks, path: &CriticalPath) {
    let mut jobs = tracks.figures.jobs.iter();
    let same = jobs.find(|job| {
        let (context, from, until) = (path.context, path.from.ticks, path.until.ticks);
        (job.context, job.release, job.completion) == (context, from, until)
    });
    let same = same.filter(|_| path.kind == Explained::Response);
    let Some(parts) = same.and_then(|job| job.parts.as_ref()) else { return };
    let own = path
        .parts
        .iter()
        .filter(|part| part.context == path.context && part.activity == Activity::Runs);
    assert_eq!(own.map(Part::ticks).sum::<u64>(), parts.own, "{place}");
}

#[test]
fn parts_add_up_in_threadx_traces() {
    let mut explained = 0;
    for (dump, _) in dumps() {
        let (trace, tracks) = tracks(Input::open(&dump, Settings::default()).unwrap());
        explained += check_all(&dump.display().to_string(), &trace, &tracks);
    }
    let (trace, tracks) = tracks(example("scheduling.trx"));
    explained += check_all("scheduling.trx", &trace, &tracks);
    assert!(explained > 100, "{explained}");
}

#[test]
fn parts_add_up_in_shark_traces() {
    let mut explained = 0;
    for set in support::shark::sets() {
        let (trace, tracks) = tracks(set.open(&set.files()));
        explained += check_all(&set.name, &trace, &tracks);
    }
    assert!(explained > 100, "{explained}");
}

#[test]
fn parts_add_up_in_traces_of_other_kernels() {
    for name in ["mill.bin", "freertos.bin"] {
        let (trace, tracks) = tracks(example(name));
        assert!(check_all(name, &trace, &tracks) > 30, "{name}");
    }
    let Some(shared) = shared() else { return };
    let mut explained = 0;
    for entry in std::fs::read_dir(shared.join("data/systemview/synthetic")).unwrap() {
        let path = entry.unwrap().path();
        let Ok(mut input) = Input::open(&path, Settings::default()) else { continue };
        let mut builder = TrackBuilder::default();
        let Ok(trace) = input.read(&mut builder) else { continue };
        let tracks = builder.finish(&trace);
        explained += check_all(&path.display().to_string(), &trace, &tracks);
    }
    assert!(explained > 30, "{explained}");
}

/// In the example, `control` waits for the log file, which `logger` holds, while `telemetry` runs.
#[test]
fn the_inversion_of_the_example_is_explained() {
    let (trace, tracks) = tracks(example("scheduling.trx"));
    let question = "worst:control".parse().unwrap();
    let path = explain(&trace, &tracks, &question, ALL).unwrap();
    let [control, logger, telemetry] =
        ["control", "logger", "telemetry"].map(|name| context(&trace, name));
    assert_eq!((path.context, path.from.seq, path.until.seq), (control, 836, 842));
    let parts: Vec<_> = path
        .parts
        .iter()
        .map(|part| (part.from.seq, part.context, part.activity, part.chain.len()))
        .collect();
    assert_eq!(
        parts,
        [
            (836, control, Activity::Runs, 0),
            (837, logger, Activity::Delayed(telemetry), 1),
            (839, logger, Activity::Runs, 1),
            (841, control, Activity::Delayed(logger), 0),
        ]
    );
    // Questions about an event or a time within the wait select this wait.
    for question in [Question::Event(838), "tick:4610000".parse().unwrap()] {
        assert_eq!(explain(&trace, &tracks, &question, ALL).unwrap(), path);
    }
    // A wait that ends after the range cannot be the longest wait of the range.
    let before = explain(&trace, &tracks, &question, 0..path.until.ticks).unwrap();
    assert!(before.until < path.until && before.ticks() < path.ticks());
}

#[test]
fn the_longest_wait_of_a_range_ends_within_the_range() {
    let question: Question = "worst:control".parse().unwrap();
    let ask = |from: u64, until: Option<u64>| {
        let mut explainer = Explainer::default();
        let trace = example("scheduling.trx").read(&mut explainer).unwrap();
        explainer.begin(from);
        explainer.end(until);
        explainer.explain(&trace, &question).unwrap()
    };
    let whole = ask(0, None);
    let end = whole.until.ticks;
    assert_eq!(ask(end, Some(end + 1)), whole);
    assert!(ask(0, Some(end)).until < whole.until);
    assert!(ask(end + 1, None).until > whole.until);
}

/// A second thread wakes a waiting thread, but an interrupt delays the second thread.
#[test]
fn a_wake_up_leads_to_the_context_that_woke() {
    let (trace, tracks) = tracks(example("mill.bin"));
    let question = "worst:log".parse().unwrap();
    let path = explain(&trace, &tracks, &question, ALL).unwrap();
    let feed = context(&trace, "feed");
    let chained = path.parts.iter().filter(|part| !part.chain.is_empty());
    let found: Vec<_> = chained.map(|part| (part.context, part.activity)).collect();
    let interrupt = Activity::Interrupt(Some(15));
    assert_eq!(found, [(feed, Activity::Runs), (feed, interrupt), (feed, Activity::Runs)]);
    assert_eq!(path.parts[0].chain[0].woken.map(|woken| woken.seq), Some(1753));
    let woken: Vec<_> = explanations(&trace, &tracks)
        .iter()
        .flat_map(|path| &path.parts)
        .filter_map(|part| match part.activity {
            Activity::WokenByInterrupt(number) => Some(number),
            _ => None,
        })
        .collect();
    assert!(woken.len() > 10 && woken.iter().all(|number| *number == Some(15)), "{woken:?}");
}

#[test]
fn a_question_without_an_answer_has_a_reason() {
    let (trace, scheduling) = tracks(example("scheduling.trx"));
    let ask = |question: &str| {
        explain(&trace, &scheduling, &question.parse().unwrap(), ALL).unwrap_err().to_string()
    };
    assert_eq!(ask("worst:contrl"), "no task 'contrl'; did you mean 'control'?");
    assert_eq!(ask("0"), "no completed job or wait contains this event or time");
    // There is no answer if the clock's rate is unknown, or if the trace ends before the time in
    // the question.
    assert_eq!(
        ask("5ms"),
        "times need a clock of known rate: give tick:N, or the rate with -O rate=TICKS_PER_SECOND"
    );
    assert_eq!(ask("tick:5876191"), "the trace ends at 5876190 ticks, before 5876191 ticks");
    let (mill, of_mill) = tracks(example("mill.bin"));
    let error = explain(&mill, &of_mill, &"worst:spindle".parse().unwrap(), ALL).unwrap_err();
    let nothing = "the trace shows no completed job and no completed wait of task 'spindle'";
    assert_eq!(error.to_string(), nothing);
    let (trace, hooks) = tracks(example("hooks.twx"));
    assert!(matches!(trace.processor, Processor::Recorders { .. }));
    let error = explain(&trace, &hooks, &Question::Event(1), ALL).unwrap_err();
    assert!(matches!(error, NoPath::UnknownExecution { .. }));
    assert!(error.to_string().ends_with("(that needs the hooks 106 and 10C)"), "{error}");
}

fn shark(records: &[Record]) -> (Trace, Tracks) {
    let bytes = records.iter().flat_map(Record::to_bytes).collect();
    let mut settings = settings(&["kind=records", "names=0=main,1=low,2=middle,3=high"]);
    settings.format = Some("shark".to_owned());
    tracks(Input::from_bytes("records", bytes, settings).unwrap())
}

/// `LOW` completes its job while it holds a mutex that `HIGH` waits for. The next job of `LOW`
/// releases the mutex.
#[test]
fn a_holder_without_a_job_is_done_and_not_delayed() {
    let [main, low, _, high] = TASKS;
    let record = |(tsc, code, par1, par2)| Record { code_word: u16::from(code), par1, tsc, par2 };
    let choose = |tsc, task: u16| (tsc, ids::TASK_SCHEDULE, task, u32::from(task));
    let records = [
        (1, ids::TRACE_START, main, 1000),
        (10, ids::TASK_TIMER, low, 1),
        choose(11, low),
        (12, ids::SET_MUTEX_LOCK, low, 1),
        choose(13, low),
        (20, ids::TASK_END_CYCLE, low, 1),
        choose(21, main),
        (30, ids::TASK_TIMER, high, 1),
        choose(33, high),
        (35, ids::SET_MUTEX_LOCK, high, 1),
        (37, ids::TASK_SCHEDULE, main, high.into()),
        (50, ids::TASK_TIMER, low, 1),
        (54, ids::TASK_SCHEDULE, low, high.into()),
        (60, ids::SET_MUTEX_UNLOCK, low, 1),
        choose(61, high),
        (70, ids::TASK_END_CYCLE, high, 1),
        choose(71, main),
    ];
    let (trace, tracks) = shark(&records.map(record));
    let path = explain(&trace, &tracks, &Question::Event(15), ALL).unwrap();
    check("done", &trace, &tracks, &path);
    let parts: Vec<_> = path.parts.iter().map(|part| (part.ticks(), part.activity)).collect();
    let low = trace.contexts.find(u64::from(low)).unwrap();
    let expected = [
        // The trace does not show the state of `HIGH` before it runs.
        (3, Activity::In(State::Unknown)),
        (4, Activity::Runs),
        (17, Activity::In(State::Done)),
        (6, Activity::Runs),
        (1, Activity::Delayed(low)),
        (9, Activity::Runs),
    ];
    assert_eq!((path.kind, parts.as_slice()), (Explained::Response, &expected[..]));
}

/// `LOW` holds a mutex that `MIDDLE` waits for, while `MIDDLE` holds another mutex that `HIGH`
/// waits for.
#[test]
fn chains_of_holders_are_followed() {
    let [main, low, middle, high] = TASKS;
    let mut records = vec![];
    let mut add = |tsc, code: u8, par1, par2| {
        records.push(Record { code_word: code.into(), par1, tsc, par2 });
    };
    add(1, ids::TRACE_START, main, 1000);
    for (tsc, task, mutex, next) in [(10, low, 1, low), (20, middle, 2, middle)] {
        add(tsc - 5, ids::TASK_SCHEDULE, task, u32::from(task));
        add(tsc, ids::SET_MUTEX_LOCK, task, mutex);
        add(tsc + 2, ids::TASK_SCHEDULE, next, u32::from(next));
    }
    add(30, ids::SET_MUTEX_LOCK, middle, 1);
    add(31, ids::TASK_SCHEDULE, low, u32::from(middle));
    add(35, ids::TASK_SCHEDULE, high, u32::from(high));
    add(40, ids::SET_MUTEX_LOCK, high, 2);
    add(42, ids::TASK_SCHEDULE, low, u32::from(high));
    add(50, ids::SET_MUTEX_UNLOCK, low, 1);
    add(51, ids::TASK_SCHEDULE, middle, u32::from(high));
    add(60, ids::SET_MUTEX_UNLOCK, middle, 2);
    add(61, ids::TASK_SCHEDULE, high, u32::from(high));
    add(70, ids::TRACE_STOP, 0, 0);
    let (trace, tracks) = shark(&records);
    let id = |number: u16| trace.contexts.find(u64::from(number)).unwrap();
    let question = Question::Event(
        tracks
            .locks
            .iter()
            .flat_map(|lock| &lock.waits)
            .fold(0, |last, wait| last.max(wait.until.map_or(0, |until| until.seq))),
    );
    let path = explain(&trace, &tracks, &question, ALL).unwrap();
    check("chain", &trace, &tracks, &path);
    let parts: Vec<_> = path
        .parts
        .iter()
        .map(|part| {
            let chain: Vec<_> = part.chain.iter().map(|link| link.on).collect();
            (part.ticks(), part.activity, chain)
        })
        .collect();
    assert_eq!(path.context, id(high));
    assert_eq!(
        parts,
        [
            (2, Activity::Runs, vec![]),
            (8, Activity::Runs, vec![id(middle), id(low)]),
            // The mutex is free, and the scheduler has not chosen its next holder yet.
            (1, Activity::Delayed(id(low)), vec![id(middle)]),
            (9, Activity::Runs, vec![id(middle)]),
            (1, Activity::Delayed(id(middle)), vec![]),
        ]
    );
}

proptest! {
    #[test]
    fn parts_add_up_in_random_traces(records in any_records()) {
        let bytes = records.iter().flat_map(Record::to_bytes).collect();
        let mut settings = settings(&["kind=records"]);
        settings.format = Some("shark".to_owned());
        let (trace, tracks) = tracks(Input::from_bytes("random", bytes, settings).unwrap());
        check_all("random", &trace, &tracks);
        check_questions(&trace, &tracks);
    }
}
