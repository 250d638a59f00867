//! Tests the scheduling analysis on traces of systems with threads. The tests cover names, kinds,
//! cores, priorities, stacks, and options that have no effect.

mod support;

use serde_json::Value;
use support::settings;
use tracewell::analysis::scheduling::{Expected, Figures, Mark, Scheduling, Wanted};
use tracewell::input::Input;
use tracewell::model::Trace;
use tracewell::report::Layout;
use tracewell::report::analyses::Section;
use tracewell::report::scheduling::{SchedulingFigures, text};

fn example(name: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

struct Analysed {
    trace: Trace,
    figures: Figures,
    json: Value,
    text: String,
}

fn analysed(files: &[&str], wanted: &Wanted) -> Analysed {
    let files: Vec<_> = files.iter().map(|file| example(file)).collect();
    let mut input = match files.as_slice() {
        [file] => Input::open(file, settings(&["rate=100MHz"])).unwrap(),
        files => Input::open_run(files, settings(&[])).unwrap(),
    };
    let mut sink = Scheduling::new(wanted.clone());
    let trace = input.read(&mut sink).unwrap();
    let figures = sink.figures(&trace);
    let json = SchedulingFigures::new(&trace, &figures, wanted);
    let json = serde_json::to_value(json).unwrap();
    let text = text(&trace, &figures, wanted, &Section::ALL, Layout::default());
    Analysed { trace, figures, json, text }
}

fn scheduling(wanted: &Wanted) -> Analysed {
    analysed(&["scheduling.trx"], wanted)
}

fn waits() -> Wanted {
    Wanted { waits: true, ..Wanted::default() }
}

/// Returns the rows of the table in `text` whose first column has this heading, without the line of
/// units. Cells are separated by at least two spaces.
fn table(text: &str, heading: &str) -> Vec<Vec<String>> {
    let lines = text.lines().skip_while(|line| !line.starts_with(heading)).skip(1);
    let cells = |line: &str| {
        line.split("  ").map(str::trim).filter(|c| !c.is_empty()).map(str::to_owned).collect()
    };
    let rows = lines.take_while(|line| !line.is_empty()).filter(|line| !line.starts_with(' '));
    rows.map(cells).collect()
}

#[test]
fn waits_name_their_objects_in_text_and_json() {
    let found = scheduling(&waits());
    let rows = table(&found.text, "WAIT OF");
    let of = |task: &str, what: &str| rows.iter().filter(|r| r[0] == task && r[1] == what).count();
    assert_eq!(of("control", "mutex log file"), 6);
    assert_eq!(of("sensor", "mutex bus"), 6);
    assert_eq!(of("control", "semaphore uart rx"), 24);
    assert_eq!(of("logger", "event flags log requests"), 17);
    let waits = found.json["waits"].as_array().unwrap();
    assert_eq!(waits.len(), rows.len());
    let bus = waits.iter().find(|wait| wait["object"] == "bus").unwrap();
    assert_eq!(
        (&bus["kind"], &bus["key"], &bus["name"]),
        (&"mutex".into(), &"0x20000580".into(), &"sensor".into())
    );
}

#[test]
fn event_flags_are_no_semaphores() {
    let found = scheduling(&Wanted::default());
    let kinds: Vec<_> =
        table(&found.text, "RESOURCE").into_iter().map(|row| row[..2].join(": ")).collect();
    assert_eq!(
        kinds,
        ["uart rx: semaphore", "log requests: event flags", "bus: mutex", "log file: mutex"]
    );
    assert_eq!(table(&found.text, "SEMAPHORES OF").len(), 1);
    assert_eq!(table(&found.text, "EVENT FLAGS OF")[0][..2], ["logger", "26"]);
    // Only a mutex has an owner that can block a task.
    for (kind, has_blocking) in [("MUTEXES OF", true), ("SEMAPHORES OF", false)] {
        let heading = found.text.lines().find(|line| line.starts_with(kind)).unwrap();
        assert_eq!(heading.contains(" BLOCKING "), has_blocking, "{heading}");
    }
    let logger = &found.json["tasks"][4];
    assert_eq!((&logger["name"], &logger["semaphores"]["requests"]), (&"logger".into(), &0.into()));
    assert_eq!(logger["waits_for"][0]["kind"], "event flags");
    assert_eq!(logger["waits_for"][0]["requests"], 26);
}

#[test]
fn inversions_are_found_by_priorities_as_tracex_finds_them() {
    let found = scheduling(&waits());
    // TraceX counts 12 inversions, and classifies 2 of them as nondeterministic.
    let mutexes: Vec<_> = found.figures.resources.iter().filter(|r| r.is_mutex).collect();
    let inversions = |r: &&tracewell::analysis::scheduling::Resource| r.figures.inversions;
    let each: Vec<_> = mutexes.iter().map(inversions).collect();
    let unbounded: Vec<_> = mutexes.iter().map(|r| r.figures.inverted.count).collect();
    // The mutex `bus` uses priority inheritance, so only its owner delays a waiting thread.
    assert_eq!((each, unbounded), (vec![6, 6], vec![0, 2]));
    let waits = found.json["waits"].as_array().unwrap();
    let inverted: Vec<_> = waits
        .iter()
        .filter(|wait| wait["inverted_by_priority_ticks"].as_u64().is_some_and(|ticks| ticks > 0))
        .map(|wait| (wait["object"].clone(), wait["split"]["interference_ticks"].clone()))
        .collect();
    assert_eq!(inverted.len(), 2);
    assert!(waits.iter().all(|wait| wait["inverted_ticks"].is_null()), "no deadline is known");
}

/// Returns a share in hundredths of a percent.
fn hundredths(share: &str) -> u64 {
    share.replace('.', "").parse().unwrap()
}

#[test]
fn shares_are_of_the_time_of_all_cores() {
    let wanted = Wanted::default();
    let found = analysed(&["hooks.twx", "hooks.twx-0", "hooks.twx-1"], &wanted);
    let figures = &found.figures;
    assert_eq!(figures.cores.len(), 2);
    let known = found.trace.span - figures.gap_ticks;
    for core in &figures.cores {
        assert_eq!(core.tasks + core.interrupts + core.idle + core.unknown, known);
        let on_it = figures.execution_by_core.iter().filter(|row| row.1 == core.core);
        assert_eq!(on_it.map(|row| row.2).sum::<u64>(), core.tasks);
    }
    let executed: u64 =
        figures.tasks.iter().filter_map(|task| task.execution).map(|e| e.ticks).sum();
    assert_eq!(executed, figures.cores.iter().map(|core| core.tasks).sum::<u64>());
    let of_all: Vec<_> = table(&found.text, "TASK").iter().map(|row| hundredths(&row[3])).collect();
    assert_eq!((of_all.len(), of_all.iter().sum::<u64>()), (11 + 3, 10_000));
    for core in ["0", "1"] {
        let rows = table(&found.text, "LOAD OF").into_iter().filter(|row| row[2] == core);
        assert_eq!(rows.map(|row| hundredths(&row[4])).sum::<u64>(), 10_000, "core {core}");
    }
    assert!(
        found.text.contains(
            "on 2 cores; tasks and interrupts executed for 1622016 of their 1646592 ticks"
        ),
        "{}",
        found.text
    );
    assert_eq!(found.json["charged_of_ticks"], 2 * found.trace.span);
    assert_eq!(found.json["cores"][1]["task_ticks"], figures.cores[1].tasks);
}

#[test]
fn a_core_without_a_ready_thread_is_idle() {
    let found = scheduling(&Wanted::default());
    let [core] = found.figures.cores.as_slice() else { panic!() };
    // TraceX reports 1,228,140 idle ticks. The kernel lowers the priority of `logger` six times.
    // Each time, the dump shows no next thread for 35 ticks. Tracewell counts these ticks as idle,
    // too.
    assert_eq!((core.interrupts, core.idle, core.unknown), (15_690, 1_228_140 + 6 * 35, 665));
    assert_eq!(core.tasks + core.interrupts + core.idle + core.unknown, found.trace.span);
    let core = table(&found.text, "CORE").remove(0);
    assert_eq!(core[3], "20.90");
    assert_eq!(core[1..].iter().map(|share| hundredths(share)).sum::<u64>(), 10_000);
    let rows = table(&found.text, "TASK");
    assert_eq!(rows.iter().map(|row| hundredths(&row[3])).sum::<u64>(), 10_000);
    let idle = rows.iter().find(|row| row[0] == "idle").unwrap();
    assert_eq!(idle[2..4], ["12.283", "20.90"]);
    assert!(found.json["cores"][0]["tasks"].is_null(), "one core has all tasks");
}

#[test]
fn options_that_show_nothing_say_why() {
    let known = Expected { period: Some(1), deadline: Some(4_000_000) };
    let wanted = Wanted {
        jobs: true,
        pairs: vec![(Mark::Number(1), Mark::Number(2))],
        expected: [("control".to_owned(), known)].into_iter().collect(),
        holes: true,
        ..Wanted::default()
    };
    let found = scheduling(&wanted);
    let told = found.json["without_effect"].as_array().unwrap();
    let options: Vec<_> = told.iter().map(|row| row["option"].as_str().unwrap()).collect();
    assert_eq!(options, ["--jobs", "--period", "--deadline", "--holes", "--ipoints 1,2"]);
    let why = "traces of this format do not record when jobs are released";
    assert_eq!(told[0]["reason"], why);
    let rule =
        "whenever START(@context = \"control\") then END(@context = \"control\") within 4 ms";
    let hint = format!(
        "{why}; tracewell check tests deadlines between two events, with rules such as: {rule}"
    );
    assert_eq!(told[2]["reason"], hint);
    assert!(found.text.contains(&format!("--period has no effect: {why}\n")), "{}", found.text);
    let none = scheduling(&waits()).json["without_effect"].clone();
    assert_eq!(none, Value::Array(Vec::new()));
}

#[test]
fn marks_without_numbers_are_found_by_event_id() {
    let marks = |from: Mark, to: Mark| {
        let pairs = vec![(from, to)];
        let found = scheduling(&Wanted { pairs, ..Wanted::default() });
        found.figures.passages[0].2.iter().map(|passage| passage.raw.count).sum::<u64>()
    };
    let by_id = marks(Mark::Number(4096), Mark::Number(4096));
    assert_eq!(by_id, 28);
    let label = || Mark::Label("user event 4096".to_owned());
    assert_eq!(marks(label(), label()), by_id);
}

#[test]
fn stacks_are_as_deep_as_events_show() {
    let found = scheduling(&Wanted::default());
    let rows = table(&found.text, "STACK OF");
    assert_eq!(rows.len(), 5);
    // TraceX reports that at least 944 of 1024 bytes were free.
    for row in &rows {
        assert_eq!(row[2..6], ["1024", "80", "944", "7.81"], "{row:?}");
    }
    let control = &found.json["stacks"][1];
    assert_eq!((&control["name"], &control["start"]), (&"control".into(), &"0x20002400".into()));
    assert_eq!((&control["used"], &control["free"]), (&80.into(), &944.into()));
}

#[test]
fn requests_on_several_cores_are_followed_on_each() {
    let Some(shared) = support::shared() else { return };
    let path = shared.join("data/threadx/linux/smp4.trx");
    let mut sink = Scheduling::new(waits());
    let trace = Input::open(&path, settings(&[])).unwrap().read(&mut sink).unwrap();
    let figures = sink.figures(&trace);
    assert_eq!(figures.cores.len(), 4);
    // At each request, `middle` waits for its semaphore. It gets the semaphore seven times.
    let middle = figures.tasks.iter().find(|task| {
        trace.contexts.get(task.context).is_some_and(|context| context.name == "middle")
    });
    let (_, waits) = middle.unwrap().waits[0];
    assert_eq!((waits.requests, waits.blocks, waits.wait.count), (8, 8, 7));
    assert!(figures.waits.iter().all(|wait| wait.spent.is_none() && wait.inverted.is_none()));
    let executed: u64 =
        figures.tasks.iter().filter_map(|task| task.execution).map(|e| e.ticks).sum();
    assert!(executed <= 4 * trace.span);
    assert_eq!(executed, figures.execution_by_core.iter().map(|row| row.2).sum::<u64>());
}
