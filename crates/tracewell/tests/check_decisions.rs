//! Tests the reasons that a check gives for its decisions: why a trace does not decide a statement,
//! and by how much a figure is beyond its limit.

mod support;

use support::shark::packet;
use support::{EventLog, fixture, settings};
use tracewell::check::{
    Baseline, Check, Failure, FailureKind, Figure, Figures, Quantity, Rules, RulesWriter, Value,
    Verdict, Worst, WriteOptions,
};
use tracewell::input::Input;
use tracewell::model::{Severity, Trace};
use tracewell::report::measures::Measuring;
use tracewell::source::Source;
use tracewell_wire::shark::{Record, ids};

fn parsed(rules: &str) -> Rules {
    let parsed = Rules::parse(&Source::new("test.rules", rules));
    parsed.rules.unwrap_or_else(|| panic!("{rules}: {:?}", parsed.findings))
}

/// Checks rules on a fixture.
fn checked(
    (path, options): (&str, &[&str]),
    rules: &str,
    figures: &dyn Figures,
    baseline: Option<&Baseline>,
) -> Verdict {
    let rules = parsed(rules);
    let mut check = Check::new(&rules);
    let trace = Input::open(&fixture(path), settings(options)).unwrap().read(&mut check).unwrap();
    check.verdict_with(&trace, figures, baseline)
}

/// A trace in which one tick is a microsecond.
const TINY: (&str, &[&str]) = ("threadx/tiny.trx", &["rate=1000000"]);
/// The trace has four damaged records and four gaps with 54 events.
const DAMAGED: (&str, &[&str]) = ("rkh/ahsm-overrun.bin", &[]);

/// The same values for every figure.
struct Given(Result<Vec<Value>, String>);

impl Figures for Given {
    fn values(&self, _: &Figure) -> Result<Vec<Value>, String> {
        self.0.clone()
    }
}

fn nothing() -> Given {
    Given(Err("nothing was computed".to_owned()))
}

/// Returns the reason why the only statement is not decided.
fn open_because(rules: &str) -> Option<String> {
    let verdict = checked(TINY, rules, &nothing(), None);
    // A run that decides nothing does not pass, although no rule fails.
    assert!(verdict.failures.is_empty(), "{rules}: {:#?}", verdict.failures);
    assert_eq!(verdict.rules.len(), 1, "{rules}");
    let reason = verdict.rules[0].open_because.clone();
    assert_eq!(verdict.passed(), reason.is_none(), "{rules}");
    reason
}

/// The fixture creates 12 semaphores, and a mutex that is called `plain mutex`. `System Timer
/// Thread` is a context.
#[test]
fn a_statement_that_the_trace_does_not_decide_has_a_reason() {
    let cases = [
        (
            "whenever tx_queue_prioritize then tx_queue_create",
            "rule not decided: the trace has no event 'tx_queue_prioritize'",
        ),
        (
            "whenever tx_queue_prioritize | tx_queue_flush(@ticks < 0) then tx_queue_create",
            "rule not decided: the trace has no event 'tx_queue_prioritize | tx_queue_flush'",
        ),
        (
            "whenever tx_mutex_create(mutex = plane_mutex) then tx_mutex_delete",
            "rule not decided: 6 'tx_mutex_create' events, none with mutex=plane_mutex; did you \
             mean 'plain mutex'?",
        ),
        (
            "whenever tx_mutex_create(mutex = \"plane mutex\") then tx_mutex_delete",
            "rule not decided: 6 'tx_mutex_create' events, none with mutex=\"plane mutex\"; did \
             you mean 'plain mutex'?",
        ),
        (
            "whenever tx_mutex_create(mutex != *) then tx_mutex_delete",
            "rule not decided: 6 'tx_mutex_create' events, none with mutex!=*",
        ),
        (
            "whenever tx_semaphore_create(initial_count = 0x7 | 9) then tx_mutex_delete",
            "rule not decided: 12 'tx_semaphore_create' events, none with initial_count=0x7 | 9",
        ),
        (
            "whenever tx_semaphore_create(initial_count > 99) then tx_mutex_delete",
            "rule not decided: 12 'tx_semaphore_create' events, none with initial_count>99",
        ),
        // Either all events fail the first condition, or some events pass it and fail the second
        // one.
        (
            "whenever tx_mutex_create(inheritance = non, @ticks < 0) then tx_mutex_delete",
            "rule not decided: 6 'tx_mutex_create' events, none with inheritance=non; did you mean \
             'none'?",
        ),
        (
            "whenever tx_mutex_create(inheritance = none, @ticks < 0) then tx_mutex_delete",
            "rule not decided: 6 'tx_mutex_create' events, none meets all conditions",
        ),
        // The pattern names two kinds of events.
        (
            "whenever tx_mutex_create(@ticks < 0) | tx_queue_create(@ticks < 0) then tx_mutex_delete",
            "rule not decided: 8 'tx_mutex_create | tx_queue_create' events, none meets all \
             conditions",
        ),
        (
            "whenever tx_*_create(@ticks > 999999) then tx_mutex_delete",
            "rule not decided: 37 'tx_*_create' events, none with @ticks>999999",
        ),
        // The range of a statement.
        (
            "never tx_mutex_get from tx_queue_prioritize",
            "rule not decided: no event begins its range: the trace has no event \
             'tx_queue_prioritize'",
        ),
        (
            "never tx_queue_flush until tx_queue_prioritize",
            "rule not decided: no event ends its range: the trace has no event \
             'tx_queue_prioritize'",
        ),
        (
            "whenever tx_queue_prioritize then tx_mutex_get until tx_queue_delete",
            "rule not decided: in its range: the trace has no event 'tx_queue_prioritize'",
        ),
        (
            "whenever tx_queue_create then tx_mutex_get from tx_queue_prioritize",
            "rule not decided: no event begins its range: the trace has no event \
             'tx_queue_prioritize'",
        ),
        (
            "never tx_queue_flush from tx_mutex_create until tx_queue_prioritize",
            "rule not decided: no event ends its range: the trace has no event \
             'tx_queue_prioritize'",
        ),
    ];
    for (rules, expected) in cases {
        assert_eq!(open_because(rules).as_deref(), Some(expected), "{rules}");
    }
    for rules in ["never tx_queue_prioritize", "count 12 tx_semaphore_create"] {
        assert_eq!(open_because(rules), None, "{rules}");
    }
}

/// Checks a threshold on a figure with these values, in ticks of 1 µs. Returns the result, which is
/// `None` if the rule is not decided, and the message.
fn decided(rule: &str, values: &[u64], baseline: Option<(u64, u64)>) -> (Option<bool>, String) {
    let value = |ticks: &u64| Value {
        subject: Some(format!("task {ticks}")),
        nanoseconds: Some(ticks * 1000),
        ..Value::of(Quantity::Ticks(*ticks))
    };
    let figures = Given(Ok(values.iter().map(value).collect()));
    let baseline = baseline.map(|(ticks, tolerance)| {
        let mut baseline = Baseline::new(tolerance);
        baseline.add("response(\"a b\").max", Quantity::Ticks(ticks));
        baseline.add("response(\"a b\").max", Quantity::Nanoseconds(ticks * 1000));
        baseline
    });
    let verdict = checked(TINY, rule, &figures, baseline.as_ref());
    assert_eq!(verdict.rules.len(), 1, "{rule}");
    let result = &verdict.rules[0];
    match &verdict.failures[..] {
        [] if result.held == 1 => (Some(true), String::new()),
        [] => (None, result.open_because.clone().unwrap()),
        [failure] => (Some(false), message(failure)),
        more => panic!("{more:?}"),
    }
}

fn message(failure: &Failure) -> String {
    assert!(matches!(failure.kind, FailureKind::Exceeded | FailureKind::Worse), "{failure:?}");
    failure.message.clone()
}

#[test]
fn the_value_that_is_nearest_to_the_limit_or_furthest_beyond_it_decides() {
    // Comparison, values and message. The message is empty if the threshold holds.
    let cases: [(&str, &[u64], &str); 19] = [
        ("< 41 ticks", &[10, 40, 30], ""),
        ("< 40 ticks", &[10, 40, 30], "40 ticks, expected < 40 ticks (task 40)"),
        ("< 20 ticks", &[30, 40], "40 ticks, expected < 20 ticks (task 40)"),
        ("<= 40 ticks", &[10, 40, 30], ""),
        ("<= 39 ticks", &[10, 40, 30], "40 ticks, expected <= 39 ticks (task 40)"),
        ("> 9 ticks", &[10, 40, 30], ""),
        ("> 10 ticks", &[30, 10, 40], "10 ticks, expected > 10 ticks (task 10)"),
        (">= 10 ticks", &[10, 40, 30], ""),
        (">= 11 ticks", &[40, 10], "10 ticks, expected >= 11 ticks (task 10)"),
        ("= 10 ticks", &[10, 10], ""),
        ("= 10 ticks", &[9, 12, 10], "12 ticks, expected == 10 ticks (task 12)"),
        ("= 10 ticks", &[8, 11], "8 ticks, expected == 10 ticks (task 8)"),
        // If two values differ from the limit by the same amount, the message states the first
        // value.
        ("= 10 ticks", &[8, 12], "8 ticks, expected == 10 ticks (task 8)"),
        ("!= 10 ticks", &[9, 12, 11], ""),
        ("!= 10 ticks", &[9, 12, 10], "10 ticks, expected != 10 ticks (task 10)"),
        ("< 40001 ns", &[40, 10], ""),
        ("< 40 us", &[40, 10], "40 us, expected < 40 us (task 40)"),
        ("> 10 us", &[40, 10], "10 us, expected > 10 us (task 10)"),
        ("<= 40 us", &[40, 10], ""),
    ];
    for (comparison, values, expected) in cases {
        let rule = format!("response(\"a b\").max {comparison}");
        let held = expected.is_empty();
        assert_eq!(decided(&rule, values, None), (Some(held), expected.to_owned()), "{rule}");
    }
    let open = "threshold not decided: the trace has no value of response(\"a b\").max";
    assert_eq!(decided("response(\"a b\").max < 1 ms", &[], None), (None, open.to_owned()));
}

#[test]
fn a_baseline_counts_if_it_has_the_unit_of_the_limit() {
    let worse = |value: &str, word: &str, before: &str, percent: &str, subject: &str| {
        let message = format!(
            "{value}, {word} than the baseline's {before}; {percent} % are tolerated (task {subject})"
        );
        (Some(false), message)
    };
    let held = (Some(true), String::new());
    let figure = |rest: &str| format!("response(\"a b\").max {rest}");
    let cases = [
        ("< 999 ticks", 105, (100, 50_000), held.clone()),
        ("< 999 ticks", 106, (100, 50_000), worse("106 ticks", "more", "100 ticks", "5", "106")),
        ("<= 999 ticks", 101, (100, 0), worse("101 ticks", "more", "100 ticks", "0", "101")),
        ("<= 999 ticks", 100, (100, 0), held.clone()),
        ("> 1 ticks", 95, (100, 50_000), held.clone()),
        ("> 1 ticks", 94, (100, 50_000), worse("94 ticks", "less", "100 ticks", "5", "94")),
        (">= 1 ticks", 106, (100, 50_000), held.clone()),
        ("!= 1 ticks", 106, (100, 0), held.clone()),
        ("< 999 us", 106, (100, 55_000), worse("106 us", "more", "100 us", "5.5", "106")),
        ("< 999 us", 105, (100, 55_000), held),
    ];
    for (rest, value, baseline, expected) in cases {
        assert_eq!(decided(&figure(rest), &[value], Some(baseline)), expected, "{rest} {value}");
    }
    assert!(Baseline::new(5).is_empty());
    let mut baseline = Baseline::new(5);
    baseline.add("lost", Quantity::Count(1));
    assert!(!baseline.is_empty());
}

#[test]
fn the_place_of_the_worst_value_follows_the_message() {
    let worst = |seq, time_ns| Worst { seq, ticks: 7, time_ns, quantity: Quantity::Ticks(50) };
    let cases = [
        (worst(Some(3), Some(1_500_000)), "50 ticks at event 3, 1.5 ms"),
        (worst(None, Some(1_500_000)), "50 ticks at 1.5 ms"),
        (worst(Some(3), None), "50 ticks at event 3, tick 7"),
        (worst(None, None), "50 ticks at tick 7"),
    ];
    for (worst, place) in cases {
        let value = Value { worst: Some(worst), ..Value::of(Quantity::Ticks(50)) };
        let figures = Given(Ok(vec![value]));
        let verdict = checked(TINY, "held(m).max < 40 ticks", &figures, None);
        let messages: Vec<_> = verdict.failures.iter().map(message).collect();
        assert_eq!(messages, [format!("50 ticks, expected < 40 ticks; worst: {place}")]);
        let timed = checked(TINY, "held(m).max < 40 us", &figures, None);
        let open = timed.rules[0].open_because.as_deref().unwrap();
        let why = "threshold not decided: the limit is a time, and the clock has no known rate";
        assert!(open.starts_with(why), "{open}");
    }
}

/// Returns the outcome of a threshold on the number of missing events.
fn lost(trace: (&str, &[&str]), rule: &str) -> (Option<bool>, String) {
    let verdict = checked(trace, rule, &nothing(), None);
    let result = &verdict.rules[0];
    match &verdict.failures[..] {
        [] if result.held == 1 => (Some(true), String::new()),
        [] => (None, result.open_because.clone().unwrap()),
        [failure] => (Some(false), message(failure)),
        more => panic!("{more:?}"),
    }
}

#[test]
fn missing_events_break_an_upper_limit_at_the_gap_that_exceeds_it() {
    for rule in ["lost = 0", "lost < 1", "lost >= 0", "lost != 1"] {
        assert_eq!(lost(TINY, rule), (Some(true), String::new()), "{rule}");
    }
    for rule in ["lost = 54", "lost < 55", "lost <= 54", "lost > 53", "lost >= 54", "lost != 5"] {
        assert_eq!(lost(DAMAGED, rule), (Some(true), String::new()), "{rule}");
    }
    // The sums after the gaps are 5, 16, 44 and 54. A lower limit can be decided only at the end of
    // the trace.
    let broken = [
        ("lost = 0", "5, expected == 0"),
        ("lost < 5", "5, expected < 5"),
        ("lost <= 5", "16, expected <= 5"),
        ("lost < 54", "54, expected < 54"),
        ("lost <= 53", "54, expected <= 53"),
        ("lost = 5", "54, expected == 5"),
        ("lost > 54", "54, expected > 54"),
        ("lost >= 55", "54, expected >= 55"),
        ("lost != 54", "54, expected != 54"),
    ];
    for (rule, message) in broken {
        assert_eq!(lost(DAMAGED, rule), (Some(false), message.to_owned()), "{rule}");
    }
}

/// At least one event was overwritten before the first event of this trace.
#[test]
fn losses_of_unknown_size_decide_only_what_they_can() {
    let trace = ("shark/b_cyclic.dat", &[][..]);
    let unknown = "threshold not decided: the number of missing events is unknown";
    for rule in ["lost < 2", "lost <= 1", "lost > 0", "lost > 1", "lost = 1", "lost != 0"] {
        assert_eq!(lost(trace, rule), (None, unknown.to_owned()), "{rule}");
    }
    for (rule, message) in [("lost = 0", "1, expected == 0"), ("lost < 1", "1, expected < 1")] {
        assert_eq!(lost(trace, rule), (Some(false), message.to_owned()), "{rule}");
    }
}

/// The trace shows 1 ms, then nothing for 9 ms. In the first 1 ms, `high` runs for 700 us, `low`
/// for 200 us, and an interrupt for 100 us.
#[test]
fn a_load_is_a_part_of_the_known_time() {
    let record = |tsc: u64, code: u8, par1: u16, par2: u32| Record {
        code_word: u16::from(code),
        par1,
        tsc,
        par2,
    };
    let (main, low, high) = (0x100, 0x108, 0x110);
    let choose = |tsc, task: u16| record(tsc, ids::TASK_SCHEDULE, task, u32::from(task));
    let id = |context: u16| record(0, ids::ID, context, u32::from(context - main) / 8);
    let first = [
        [record(0, ids::TRACE_START, main, 1000)].to_vec(),
        [main, low, high].map(id).to_vec(),
        vec![choose(0, high)],
        vec![record(100, ids::INTERRUPT_START, 5, 0), record(200, ids::INTERRUPT_END, 5, 0)],
        vec![choose(800, low)],
        // Only full packets show that the next number is missing.
        (0..52).map(|_| record(1000, ids::IPOINT, 1, 0)).collect(),
    ];
    let capture = [packet(1, &first.concat()), packet(3, &[choose(10_000, main)])].concat();
    let mut settings = settings(&["names=0=main,1=low,2=high"]);
    settings.format = Some("shark".to_owned());
    let checked = |rule: &str| {
        let rules = parsed(rule);
        let mut measuring = Measuring::new(rules.figures());
        let mut input = Input::from_bytes("trace", capture.clone(), settings.clone()).unwrap();
        let trace = input.read(&mut measuring).unwrap();
        assert_eq!((trace.span, trace.losses.places()), (10_000, 1));
        let verdict = Check::new(&rules).verdict_with(&trace, &measuring.measures(&trace), None);
        let [result] = &verdict.rules[..] else { panic!("{:?}", verdict.rules) };
        let value = result.threshold.as_ref().unwrap().value;
        value.map(|value| value.amount())
    };
    let loads =
        ["high", "low", "idle", "interrupts"].map(|of| checked(&format!("load({of}) < 5 %")));
    assert_eq!(loads, [700_000, 200_000, 0, 100_000].map(Some));
    let windows = ["1 ms", "10 ms"].map(|of| checked(&format!("load(interrupts) in {of} < 5 %")));
    // The trace contains no 10 ms without a gap.
    assert_eq!(windows, [Some(100_000), None]);
}

/// Generates rules from a selection of events. Returns their `only` statement and the warnings.
fn written(events: &[&str], contexts: &[&str], without: &[&str]) -> (String, Vec<String>) {
    let words = |list: &[&str]| list.iter().map(|word| (*word).to_owned()).collect();
    let options =
        WriteOptions { events: words(events), contexts: words(contexts), without: words(without) };
    let mut writer = RulesWriter::new(Vec::new(), "tiny", options).unwrap();
    let mut trace =
        Input::open(&fixture(TINY.0), settings(TINY.1)).unwrap().read(&mut writer).unwrap();
    writer.remark(&mut trace);
    let warnings = trace.diagnostics.iter().filter(|found| found.severity == Severity::Warning);
    let warnings = warnings.map(|found| found.message.clone()).collect();
    let rules = String::from_utf8(writer.into_inner().unwrap()).unwrap();
    let mut lines = rules.lines().skip(2);
    (lines.next().unwrap().to_owned(), warnings)
}

#[test]
fn rules_of_a_selection_begin_with_the_same_selection() {
    let cases: [(&[&str], &[&str], &str); 13] = [
        (&[], &[], ""),
        (&["tx_mutex_get"], &[], "only tx_mutex_get"),
        (&["tx_mutex_*", "80"], &[], "only tx_mutex_* | *(@id = 80)"),
        (&["thread resumes"], &[], "only thread_resumes"),
        (&["a&b|c"], &[], "only a?b?c"),
        (&["only"], &[], "only \"only\""),
        (&["a..b"], &[], "only \"a..b\""),
        (&[], &["high"], "only *(@context = high)"),
        (&[], &["flag waiter", "lo*"], "only *(@context = \"flag waiter\" | lo*)"),
        (&[], &["f* w&iter"], "only *(@context = f*?w?iter)"),
        (&["81"], &["high"], "only *(@id = 81, @context = high)"),
        (&["tx_*"], &["a\"b\\c\td"], "only tx_*(@context = \"a\\\"b\\\\c\\td\")"),
        (&["tx_*"], &["a\nb\rc", "7"], "only tx_*(@context = \"a\\nb\\rc\" | \"7\")"),
    ];
    for (events, contexts, expected) in cases {
        assert_eq!(written(events, contexts, &[]).0, expected);
    }
}

#[test]
fn names_that_do_not_occur_are_reported_when_rules_are_written() {
    assert_eq!(written(&["tx_mutex_get"], &["high"], &["mutex", "stack ptr"]).1, [] as [&str; 0]);
    let (_, warnings) = written(&["tx_mutex_gte"], &["hihg"], &["semaphor"]);
    let expected = [
        "no event named 'tx_mutex_gte' in this trace; did you mean 'tx_mutex_get'?",
        "no context named 'hihg' in this trace; did you mean 'high'?",
        "no event has an argument named 'semaphor'; did you mean 'semaphore'?",
    ];
    assert_eq!(warnings, expected);
}

#[test]
fn times_need_a_clock_of_known_rate() {
    let rules = parsed("tx_mutex_get\ntx_mutex_get within 5 ms\n");
    let read = |options: &[&str]| -> Trace {
        let path = fixture("threadx/tiny.trx");
        Input::open(&path, settings(options)).unwrap().read(&mut EventLog::default()).unwrap()
    };
    assert!(rules.check(&read(&["rate=1000000"])).is_ok());
    let error = rules.check(&read(&[])).unwrap_err().to_string();
    assert_eq!(
        error,
        "times need a clock of known rate: give ticks, or the rate with -O rate=TICKS_PER_SECOND"
    );
    assert!(parsed("tx_mutex_get within 5 ticks").check(&read(&[])).is_ok());
    let figures: Vec<_> =
        parsed("lost = 0\nheld(m).max < 1 ms").figures().map(ToString::to_string).collect();
    assert_eq!(figures, ["held(m).max"]);
}

/// Of the events of these rules, the trace contains only `tx_mutex_create`.
#[test]
fn a_trace_that_ends_early_names_the_number_of_alternatives() {
    let (a, b, c) = ("tx_queue_prioritize", "tx_queue_flush", "tx_queue_delete");
    let cases = [
        (format!("{a}; {b}"), 0),
        (format!("{a} | {b}"), 0),
        (format!("either {a} or {b}"), 1),
        (format!("either {a} or {{ {b}; {c} }}"), 1),
        (format!("either {a} or {{ either {b} or {c} }}"), 2),
        (format!("any order {{ {a}; {b}; {c} }}"), 2),
        (format!("optional {a}; optional {b}; {c}; {a}"), 2),
        (format!("repeat 2 {{ optional {a}; {b} }}; {c}"), 1),
        (format!("tx_mutex_create; repeat {{ {a} }}; {b}"), 0),
        (format!("any order {{ {a}; {b}; {c}; {a}; {b} }}"), 4),
        (format!("any order {{ {a}; {b}; {c}; {a}; {b}; {c} }}"), 5),
        (format!("{}{c}", format!("optional {a}; ").repeat(4)), 4),
        (format!("{}{c}", format!("optional {a}; ").repeat(5)), 5),
        (format!("{}{c}", format!("optional {a}; ").repeat(9)), 9),
    ];
    for (rules, more) in cases {
        let verdict = checked(TINY, &rules, &nothing(), None);
        let messages: Vec<_> = verdict.failures.iter().map(|of| (of.kind, &*of.message)).collect();
        let others = match more {
            0 => String::new(),
            1 => " or an alternative".to_owned(),
            2..5 => format!(" or any of {more} alternatives"),
            _ => " or any of more than 4 alternatives".to_owned(),
        };
        let expected = format!("the trace ended before this event{others}");
        assert_eq!(messages, [(FailureKind::Missing, &*expected)], "{rules}");
    }
}
