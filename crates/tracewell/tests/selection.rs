//! Tests selections at their exact limits: a selection returns the same events as a plain filter
//! over all events, ranges begin and end at the right tick, and names that do not occur are
//! reported.

mod support;

use support::{EventLog, Row, fixture, read, settings};
use tracewell::input::Input;
use tracewell::model::{Batch, Flow, Loss, Sink, SinkError, Trace};
use tracewell::report::{Report, ReportOptions};
use tracewell::select::{
    Bound, CountsInRange, Covered, Expression, IdPattern, Listing, Ranged, Selected, Selection,
};
use tracewell::source::Source;

/// One tick is a microsecond.
const RATE: &str = "rate=1000000";

fn tiny() -> Input {
    Input::open(&fixture("threadx/tiny.trx"), settings(&[RATE])).unwrap()
}

fn rows_of(selection: Selection) -> Vec<Row> {
    let mut log = EventLog::default();
    tiny().read(&mut Selected::new(&mut log, selection)).unwrap();
    log.rows
}

fn words(list: &[&str]) -> Vec<String> {
    list.iter().map(|word| (*word).to_owned()).collect()
}

/// Events 2 and 3 of the fixture are at ticks 401 and 415.
#[test]
fn bounds_include_the_events_at_them() {
    use Bound::{Nanoseconds, Ticks};
    let (_, all) = read(&fixture("threadx/tiny.trx"), &[RATE]);
    let of_ticks = |is: &dyn Fn(u64) -> bool| -> Vec<Row> {
        all.rows.iter().filter(|row| is(row.ticks)).cloned().collect()
    };
    let bounds = [
        (Ticks(400), Ticks(400)),
        (Ticks(401), Ticks(401)),
        (Ticks(402), Ticks(402)),
        (Nanoseconds(400_999), Ticks(401)),
        (Nanoseconds(401_000), Ticks(401)),
        (Nanoseconds(401_001), Ticks(402)),
    ];
    for (bound, first) in bounds {
        let Ticks(first) = first else { unreachable!() };
        let from = Selection { from: Some(bound), ..Selection::default() };
        assert_eq!(rows_of(from), of_ticks(&|tick| tick >= first), "{bound:?}");
        let to = Selection { to: Some(bound), ..Selection::default() };
        let last = match bound {
            Nanoseconds(ns) => ns / 1000,
            _ => first,
        };
        assert_eq!(rows_of(to), of_ticks(&|tick| tick <= last), "{bound:?}");
    }
}

#[test]
fn head_and_skip_count_the_events_that_meet_the_other_conditions() {
    let (_, all) = read(&fixture("threadx/tiny.trx"), &[RATE]);
    for events in [words(&[]), words(&["tx_semaphore_*"])] {
        let meets = |row: &&Row| events.is_empty() || (80..90).contains(&row.id);
        let met: Vec<Row> = all.rows.iter().filter(meets).cloned().collect();
        assert!(met.len() > 20);
        for (head, skip) in [(0, 0), (1, 0), (5, 0), (5, 2), (5, 5), (5, 6), (1000, 3)] {
            let selection =
                Selection { events: events.clone(), head: Some(head), skip, ..Default::default() };
            let expected = met.iter().take(head as usize).skip(skip as usize).cloned();
            assert_eq!(rows_of(selection), expected.collect::<Vec<_>>(), "{head} {skip}");
        }
    }
}

/// A sink that counts events and losses, and stores the limits of the range.
#[derive(Default)]
struct Calls {
    rows: u64,
    losses: u64,
    /// Number of events before the range, and its first tick.
    begun: Vec<(u64, u64)>,
    covered: Vec<Covered>,
    finished: u32,
}

impl Sink for Calls {
    fn events(&mut self, _: &Trace, batch: &Batch<'_>) -> Flow {
        self.rows += batch.len() as u64;
        Flow::Continue(())
    }

    fn loss(&mut self, _: &Trace, _: &Loss) -> Flow {
        self.losses += 1;
        Flow::Continue(())
    }

    fn finish(&mut self, _: &Trace) -> Result<(), SinkError> {
        self.finished += 1;
        Ok(())
    }
}

impl CountsInRange for Calls {
    fn begin(&mut self, _: &Trace, from: u64) {
        self.begun.push((self.rows, from));
    }

    fn end(&mut self, covered: Covered) {
        assert_eq!(self.finished, 0, "the end of the range comes before the end of the trace");
        self.covered.push(covered);
    }
}

fn ranged(selection: Selection) -> Calls {
    let mut sink = Ranged::new(Calls::default(), selection);
    tiny().read(&mut sink).unwrap();
    let calls = sink.into_inner();
    assert_eq!((calls.finished, calls.covered.len()), (1, 1));
    calls
}

/// The first events of the fixture are at ticks 0, 2, 401, 415, 424, 433, 441. The last of its 197
/// events is at tick `SPAN`.
#[test]
fn a_range_begins_and_ends_at_the_tick_of_its_bounds() {
    use Bound::{Nanoseconds, Ticks};
    let (trace, _) = read(&fixture("threadx/tiny.trx"), &[RATE]);
    let span = trace.span;
    // (from, expected first tick, number of events before it)
    let begins = [
        (Ticks(0), 0, 0),
        (Ticks(1), 1, 1),
        (Ticks(2), 2, 1),
        (Ticks(3), 3, 2),
        (Ticks(100), 100, 2),
        (Ticks(401), 401, 2),
        (Nanoseconds(400_999), 401, 2),
        (Nanoseconds(401_001), 402, 3),
        (Ticks(span), span, 196),
        (Ticks(span + 1), span, 197),
    ];
    for (bound, from, before) in begins {
        let calls = ranged(Selection { from: Some(bound), ..Selection::default() });
        assert_eq!(calls.begun, [(before, from)], "{bound:?}");
        assert_eq!(calls.covered, [Covered { from, before, ..Covered::default() }], "{bound:?}");
        assert_eq!(calls.rows, 197, "{bound:?}");
    }
    // (to, expected first tick after the range, number of events until then)
    let ends = [
        (Ticks(0), 1, 1),
        (Ticks(1), 2, 1),
        (Ticks(423), 424, 4),
        (Ticks(424), 425, 5),
        (Ticks(430), 431, 5),
        (Ticks(432), 433, 5),
        (Nanoseconds(423_999), 424, 4),
        (Nanoseconds(424_999), 425, 5),
    ];
    for (bound, until, events) in ends {
        let calls = ranged(Selection { to: Some(bound), ..Selection::default() });
        assert!(calls.begun.is_empty(), "the whole trace begins without a call");
        let covered = Covered { until: Some(until), ..Covered::default() };
        assert_eq!((calls.covered[0], calls.rows), (covered, events), "{bound:?}");
    }
}

#[test]
fn a_range_of_numbered_events_ends_after_the_tick_of_its_last_event() {
    for (skip, head, covered, rows) in [
        (0, 5, Covered { until: Some(425), ..Covered::default() }, 5),
        (2, 5, Covered { from: 401, until: Some(425), before: 2, not_selected: 0 }, 5),
        (2, 2, Covered { from: 401, until: Some(401), before: 2, not_selected: 0 }, 2),
        (0, 1, Covered { until: Some(1), ..Covered::default() }, 1),
        (0, 2, Covered { until: Some(3), ..Covered::default() }, 2),
    ] {
        let calls = ranged(Selection { head: Some(head), skip, ..Selection::default() });
        assert_eq!((calls.covered[0], calls.rows), (covered, rows), "{skip} {head}");
    }
    let calls = ranged(Selection { skip: 3, ..Selection::default() });
    assert_eq!(calls.begun, [(3, 415)]);
    assert_eq!(calls.covered, [Covered { from: 415, until: None, before: 3, not_selected: 0 }]);
}

/// Events 2 to 10 and three later events create semaphores; event 10 is at tick 491.
#[test]
fn a_range_counts_the_events_that_the_selection_leaves_out() {
    let events = words(&["tx_semaphore_create"]);
    let to = Some(Bound::Ticks(490));
    let calls = ranged(Selection { events: events.clone(), to, ..Selection::default() });
    let covered = Covered { until: Some(491), not_selected: 2, ..Covered::default() };
    assert_eq!((calls.covered[0], calls.rows), (covered, 8));
    let from = Some(Bound::Ticks(402));
    let calls = ranged(Selection { events, from, ..Selection::default() });
    let covered = Covered { from: 402, until: None, before: 1, not_selected: 185 };
    assert_eq!(calls.begun, [(1, 402)]);
    assert_eq!((calls.covered[0], calls.rows), (covered, 12));
}

#[test]
fn a_range_passes_losses_on() {
    let path = fixture("rkh/ahsm-overrun.bin");
    let (_, all) = read(&path, &[]);
    let mut sink = Ranged::new(Calls::default(), Selection { skip: 10, ..Selection::default() });
    Input::open(&path, settings(&[])).unwrap().read(&mut sink).unwrap();
    let calls = sink.into_inner();
    assert_eq!((calls.losses, calls.losses), (all.losses.len() as u64, 8));
}

fn report(selection: Selection) -> Vec<String> {
    let mut report =
        Report::new(Vec::new(), ReportOptions { selection, ..ReportOptions::default() });
    let path = fixture("rkh/ahsm-overrun.bin");
    Input::open(&path, settings(&[])).unwrap().read(&mut report).unwrap();
    let text = String::from_utf8(report.into_inner().unwrap()).unwrap();
    text.lines().map(str::to_owned).collect()
}

/// Returns the lines of events and losses.
fn list(report: &[String]) -> Vec<String> {
    let lines = report.iter().skip_while(|line| !line.contains("SEQ")).skip(1);
    lines.take_while(|line| !line.is_empty()).cloned().collect()
}

#[test]
fn the_last_lines_of_a_report_are_those_of_the_whole_report() {
    let all = list(&report(Selection::default()));
    let is_loss = |line: &&String| line.contains("lost here");
    assert_eq!(all.iter().filter(is_loss).count(), 8);
    let ends: Vec<_> = (0..all.len()).filter(|n| !is_loss(&&all[*n])).collect();
    assert_eq!(ends.len(), 338);
    // Losses follow the events 85 and 277, which are the 253rd and the 61st from the end.
    for events in [1, 5, 60, 61, 252, 253, 337, 338, 339] {
        let shown = list(&report(Selection { tail: Some(events), ..Selection::default() }));
        let first = match ends.len().checked_sub(events + 1) {
            Some(last_left_out) => ends[last_left_out] + 1,
            None => 0,
        };
        assert_eq!(shown, all[first..], "{events}");
    }
    assert!(list(&report(Selection { tail: Some(0), ..Selection::default() })).is_empty());
}

/// Writes lines to a list of the last `tail` events. A line with `!` reports a loss; each other
/// line is an event.
fn tail(tail: usize, lines: &[String]) -> String {
    let selection = Selection { tail: Some(tail), ..Selection::default() };
    let mut list = Listing::new(Vec::new(), selection);
    for line in lines {
        let start = list.buffer().len();
        list.buffer().text(line);
        let flow = match line.contains('!') {
            true => list.end_mark(start),
            false => list.end_line(start),
        };
        assert!(matches!(flow, Flow::Continue(())));
    }
    list.end().unwrap();
    String::from_utf8(list.into_inner().unwrap()).unwrap()
}

#[test]
fn marks_of_losses_without_events_do_not_fill_the_last_lines() {
    let marks: Vec<_> = (0..100).map(|n| format!("!{n}")).collect();
    // A list of the last `events` events keeps at most 16 * (`events` + 1) reports of losses.
    for (events, kept) in [(1, 32), (2, 48), (5, 96)] {
        let expected: String = (100 - kept..100).map(|n| format!("!{n}\n")).collect();
        assert_eq!(tail(events, &marks), expected, "{events}");
    }
    assert_eq!(tail(0, &marks), "");
    let few: Vec<_> = ["a", "!1", "b", "!2", "!3", "c"].map(str::to_owned).to_vec();
    assert_eq!(tail(1, &few), "!2\n!3\nc\n");
    assert_eq!(tail(2, &few), "!1\nb\n!2\n!3\nc\n");
    assert_eq!(tail(3, &few), "a\n!1\nb\n!2\n!3\nc\n");
    assert_eq!(tail(0, &few), "");
}

/// Returns the warnings about a selection.
fn warnings(selection: &Selection) -> Vec<String> {
    let mut log = EventLog::default();
    let mut input = tiny();
    input.note_ids();
    let trace = input.read(&mut Selected::new(&mut log, selection.clone())).unwrap();
    selection.unknown_names(&trace)
}

#[test]
fn names_that_do_not_occur_are_reported_with_similar_ones() {
    let contexts = |list: &[&str]| Selection { contexts: words(list), ..Selection::default() };
    let events = |list: &[&str]| Selection { events: words(list), ..Selection::default() };
    let objects = |list: &[&str]| Selection { objects: words(list), ..Selection::default() };
    let parsed = |text: &str| Expression::parse(&Source::new("filter", text)).unwrap();
    let expression =
        |text: &str| Selection { expressions: vec![parsed(text)], ..Selection::default() };
    let cpus = |text: &str| Selection { cpus: text.parse().unwrap(), ..Selection::default() };
    let cases: [(Selection, &[&str]); 18] = [
        (contexts(&["middle", "high"]), &[]),
        (contexts(&["midle"]), &["no context named 'midle' in this trace; did you mean 'middle'?"]),
        (
            contexts(&["zzzzzzzzzz"]),
            &["no context named 'zzzzzzzzzz' in this trace; its contexts are 'System Timer \
               Thread', 'high', 'middle', 'low', 'producer' and 10 more"],
        ),
        (
            Selection { head: Some(1), ..contexts(&["midle"]) },
            &["no context named 'midle' in the part of this trace that was read; did you mean \
               'middle'?"],
        ),
        (events(&["tx_semaphore_create", "80"]), &[]),
        (
            events(&["tx_mutex_gte"]),
            &["no event named 'tx_mutex_gte' in this trace; did you mean 'tx_mutex_get'?"],
        ),
        (
            events(&["go high"]),
            &["no event named 'go high' in this trace; an object has this name: --object \
               'go high'"],
        ),
        (
            events(&["tx_queue_prioritize"]),
            &["these events do not occur in this trace: 'tx_queue_prioritize'"],
        ),
        (
            Selection { head: Some(1), ..events(&["tx_semaphore_create", "tx_queue_prioritize"]) },
            &[],
        ),
        (objects(&["go high", "0x1234", "77"]), &[]),
        (
            objects(&["go hihg"]),
            &["no object named 'go hihg' in this trace; did you mean 'go high'?"],
        ),
        (
            Selection { processes: words(&["midle"]), ..Selection::default() },
            &["no process named 'midle' in this trace; did you mean 'middle'?"],
        ),
        (cpus("0"), &[]),
        (cpus("1-3"), &["no processor 1 in this trace; the last one is 0"]),
        (
            expression("semaphor == 1"),
            &["filter:1:1: no event has an argument 'semaphor'; did you mean 'semaphore'?"],
        ),
        (
            Selection {
                expressions: vec![parsed("mutex == 1")],
                ..events(&["tx_semaphore_create"])
            },
            &["filter:1:1: no selected event has an argument 'mutex'"],
        ),
        (
            expression("semaphore == \"go hihg\""),
            &["filter:1:1: no object named 'go hihg' in this trace; did you mean 'go high'?"],
        ),
        (expression("@cpu == \"zero\""), &["filter:1:1: @cpu is a number, found the name 'zero'"]),
    ];
    for (selection, expected) in cases {
        assert_eq!(warnings(&selection), expected, "{selection:?}");
    }
}

#[test]
fn ids_that_no_event_has_are_reported_with_their_number() {
    let path = fixture("rkh/ahsm-a.bin");
    let (trace, _) = read(&path, &[]);
    let warnings = |list: &[&str]| {
        let ids = list.iter().map(|id| id.parse::<IdPattern>().unwrap().into()).collect();
        Selection { ids, ..Selection::default() }.unknown_names(&trace)
    };
    let unknown = |ids: &str| [format!("no event with the hexadecimal {ids} in this trace")];
    assert_eq!(warnings(&["fff"]), unknown("id FFF"));
    assert_eq!(warnings(&["fff", "ff1"]), unknown("ids FFF, FF1"));
    let eight = ["ff0", "ff1", "ff2", "ff3", "ff4", "ff5", "ff6", "ff7"];
    let listed = "ids FF0, FF1, FF2, FF3, FF4, FF5, FF6, FF7";
    assert_eq!(warnings(&eight), unknown(listed));
    assert_eq!(
        warnings(&[&eight[..], &["ff8", "ff9"]].concat()),
        unknown(&format!("{listed} and 2 more"))
    );
}

#[test]
fn errors_in_conditions_have_the_place_of_the_error() {
    // The text, the span of its wrong part, and the message.
    let cases = [
        (r#"@context = "a\qb""#, 13..15, r#"expected \", \\, \n, \r or \t"#),
        ("@context = 'high'", 11..12, r"expected a condition, found '\''"),
        ("@cpu = 1 @cpu = 2", 9..13, "expected &&, || or the end, found '@cpu'"),
        ("@cpu = 1 && @nothing = 1", 12..20, "expected one of @name, @label, "),
    ];
    for (text, span, message) in cases {
        let findings = Expression::parse(&Source::new("filter", text)).unwrap_err();
        let found = findings.first().unwrap();
        assert_eq!((found.span.start..found.span.end), span, "{text}");
        assert!(found.message.starts_with(message), "{}", found.message);
    }
}
