//! Tests the charts of `view`. Every line must fit the width, and anything that a chart cannot show
//! must cause an error or a warning.

mod program;

use std::process::Output;

use program::{run, stderr, stdout};

fn view(arguments: &[&str]) -> Output {
    run(&[&["view"], arguments].concat())
}

/// Traces of several dialects.
const TRACES: [&str; 5] = [
    "examples/scheduling.trx",
    "examples/hooks.twx",
    "crates/tracewell/tests/fixtures/rkh/ahsm-a.bin",
    "crates/tracewell/tests/fixtures/shark/a_linear.dat",
    SERVER,
];

/// A trace of S.Ha.R.K. with a server.
const SERVER: &str = "crates/tracewell/tests/fixtures/shark/cbs_server.dat";

#[test]
fn no_line_is_wider_than_asked() {
    for trace in TRACES {
        for width in ["40", "80", "133"] {
            let output = view(&["--width", width, trace]);
            assert_eq!(output.status.code(), Some(0), "{trace}: {}", stderr(&output));
            let chart = stdout(&output);
            let widest = chart.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(widest <= width.parse().unwrap(), "{trace}, {width}: {widest}\n{chart}");
            assert!(chart.lines().count() > 5, "{chart}");
        }
    }
}

#[test]
fn ascii_charts_are_ascii_and_have_the_same_rows() {
    for trace in TRACES {
        let (plain, drawn) = (view(&["--ascii", trace]), view(&[trace]));
        assert!(plain.stdout.is_ascii(), "{trace}");
        assert!(!drawn.stdout.is_ascii(), "{trace}");
        let lines = |output: &Output| stdout(output).lines().count();
        assert_eq!(lines(&plain), lines(&drawn), "{trace}");
    }
}

/// With `--from` and `--to`, the chart shows only this range, over the whole width.
#[test]
fn a_part_of_the_time_is_drawn_alone() {
    let row = |arguments: &[&str], name: &str| {
        let output = view(&[&["-O", "rate=100MHz", "--ascii"], arguments].concat());
        let chart = stdout(&output);
        chart.lines().find(|line| line.contains(name)).unwrap_or_default().to_owned()
    };
    let trace = "examples/scheduling.trx";
    // In these 200 us, `control` only waits for the mutex.
    let waits = row(&["--from", "42300us", "--to", "42500us", trace], " control");
    assert!(waits.ends_with(&"-".repeat(70)), "{waits}");
    let runs = row(&["--from", "42120us", "--to", "42130us", trace], " control");
    assert!(runs.ends_with(&"#".repeat(70)), "{runs}");
}

/// According to `analyze --budgets`, the budget is exhausted from 37.08 to 50.60 ms, and full from
/// then on until 59.64 ms.
#[test]
fn the_row_of_a_server_shows_its_budget_and_its_exhaustion() {
    let shown = |from: &str, to: &str| {
        let output = view(&["--ascii", "--from", from, "--to", to, SERVER]);
        let chart = stdout(&output);
        let row = chart.lines().find(|line| line.starts_with("0x188a000 budget"));
        (row.unwrap_or_default().to_owned(), chart)
    };
    let (exhausted, chart) = shown("38ms", "50ms");
    assert!(exhausted.ends_with(&".".repeat(70)), "{exhausted}");
    assert!(chart.contains("0x188a000 budget: of 2 ms, serves pid 6"), "{chart}");
    assert!(chart.contains(". budget exhausted"), "{chart}");
    let (full, _) = shown("51ms", "59ms");
    assert!(full.ends_with(&"#".repeat(70)), "{full}");
}

#[test]
fn what_a_chart_cannot_show_is_said() {
    let no_rate = view(&["--from", "1ms", "crates/tracewell/tests/fixtures/threadx/tiny.trx"]);
    assert_eq!(no_rate.status.code(), Some(2));
    assert!(stderr(&no_rate).contains("-O rate="), "{}", stderr(&no_rate));
    let unknown = view(&["--context", "contro", "examples/scheduling.trx"]);
    assert!(stderr(&unknown).contains("did you mean 'control'?"), "{}", stderr(&unknown));
    let narrow = view(&["--width", "30", "examples/scheduling.trx"]);
    assert_eq!(narrow.status.code(), Some(2));
    assert!(stderr(&narrow).contains("at least 40 columns"), "{}", stderr(&narrow));
}

#[test]
fn a_chart_obeys_the_common_selection_or_says_why_not() {
    let trace = "examples/scheduling.trx";
    let rows = |arguments: &[&str]| {
        let output = view(&[&["--ascii"], arguments, &[trace]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        stdout(&output)
    };
    let (whole, of_core) = (rows(&[]), rows(&["--cpu", "0"]));
    assert!(whole.contains("\nlog file waits ") && !of_core.contains("\nlog file "), "{of_core}");
    for row in ["\ncore 0 ", " control "] {
        let line = |chart: &str| chart[chart.find(row).unwrap() + 1..].lines().next().map(str::len);
        assert_eq!(line(&whole), line(&of_core), "{row}: {of_core}");
    }
    assert_eq!(rows(&["-C", "all"]), whole);
    let absent = rows(&["--cpu", "3"]);
    assert!(!absent.contains("\ncore ") && !absent.contains(" control "), "{absent}");
    let events = ["--event=tx_*", "--object=x", "--where=@cpu = 0", "--head=5", "--tail=5"];
    for option in events {
        let output = view(&[option, trace]);
        let name = option.split_once('=').unwrap().0;
        let expected = format!("{name}: a chart cannot leave out single events");
        assert!(stderr(&output).contains(&expected), "{option}: {}", stderr(&output));
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{option}");
    }
    let no_cores = view(&["--cpu", "0", "examples/hooks.twx"]);
    assert!(stderr(&no_cores).contains("records what runs on them"), "{no_cores:?}");
    assert_eq!(no_cores.status.code(), Some(2));
}

#[test]
fn missing_events_have_a_row_and_a_list() {
    let output = view(&["crates/tracewell/tests/fixtures/rkh/ahsm-a-garbage.bin"]);
    assert_eq!(output.status.code(), Some(3), "damaged");
    let chart = stdout(&output);
    assert!(chart.lines().any(|line| line.starts_with("lost ")), "{chart}");
    assert!(chart.contains("\nlost after "), "{chart}");
}

/// The events of this trace show that the queue `my->equeue` has at most 3 items, and that `my`
/// begins in the state `S1`.
#[test]
fn machines_and_queues_have_rows_with_names_below_the_chart() {
    let trace = "crates/tracewell/tests/fixtures/rkh/ahsm-a.bin";
    let chart = stdout(&view(&["--ascii", trace]));
    let row = |name: &str| {
        let line = chart.lines().find(|line| line.starts_with(name)).unwrap_or_default();
        line.strip_prefix(name).unwrap_or_default().trim().to_owned()
    };
    assert!(row("my state  ").starts_with("1111111122222333"), "{chart}");
    assert!(row("my steps  ").starts_with("##+ ##+ ###"), "{chart}");
    assert!(row("my->equeue level  ").starts_with("+...+"), "{chart}");
    assert!(row("my state: ").starts_with("1 S1   2 S111"), "{chart}");
    assert_eq!(row("my->equeue level: "), "at most 3 items");
    // A queue without a symbol is named after its active object.
    let shared = "crates/tracewell/tests/fixtures/rkh/shared-c.bin";
    let unnamed = stdout(&view(&["--ascii", shared]));
    assert!(unnamed.contains("\nserver's queue level "), "{unnamed}");
    // With `--context`, the chart has only rows of contexts.
    let of_context = stdout(&view(&["--ascii", "--context", "my", trace]));
    assert!(of_context.contains("\nmy ") && !of_context.contains("state"), "{of_context}");
    // A long name is truncated. The word after the name stays complete, because it states what the
    // row shows.
    let narrow = stdout(&view(&["--ascii", "--width", "40", trace]));
    assert!(narrow.contains("\nmy->e~ level"), "{narrow}");
}

#[test]
fn the_docs_show_the_chart_of_machines() {
    let chart =
        view(&["--to", "1s", "--width", "100", "crates/tracewell/tests/fixtures/rkh/ahsm-a.bin"]);
    let docs = include_str!("../../../docs/viewing.md");
    let shown = format!("$ tracewell view --to 1s trace.rkh\n{}```", stdout(&chart));
    assert!(docs.contains(&shown), "docs/viewing.md does not contain this chart:\n{shown}");
}
