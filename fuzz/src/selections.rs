//! Fuzz targets for what users type in order to read a trace: options of formats, columns, and
//! conditions that select events.

use tracewell::format::{FORMATS, OptionError};
use tracewell::input::{Input, InputError, Settings};
use tracewell::report::trcrpt::Options;
use tracewell::report::{Report, ReportOptions};
use tracewell::select::{Bound, Expression, IdOrName, Selection};
use tracewell::source::Source;

use super::any_trace::assert_harmless;

/// Small traces, each with its format.
const TRACES: [(&str, &[u8]); 6] = [
    ("threadx", include_bytes!("../../crates/tracewell/tests/fixtures/threadx/tiny.trx")),
    ("rkh", include_bytes!("../../crates/tracewell/tests/fixtures/rkh/ahsm-overrun.bin")),
    ("shark", include_bytes!("../../crates/tracewell/tests/fixtures/shark/odd_size.chunk.raw")),
    ("aix", include_bytes!("../../examples/hooks.twx")),
    ("native", include_bytes!("../corpus/native/small_log")),
    ("posix", include_bytes!("../corpus/posix_log/append")),
];

/// Returns the trace that the first byte selects, with its format, and the text after the byte.
fn trace_and_text(data: &[u8]) -> Option<(&'static str, &'static [u8], String)> {
    let (first, text) = data.split_first()?;
    let (format, trace) = TRACES[usize::from(*first) % TRACES.len()];
    Some((format, trace, String::from_utf8_lossy(text).into_owned()))
}

/// Reads a small trace with any options. The first byte selects the trace, and each line after it
/// is an option `key=value` or the columns of AIX's report. Checks that each error names an option
/// from the input, and that a report contains all events.
pub fn settings(data: &[u8]) {
    let Some((format, bytes, text)) = trace_and_text(data) else { return };
    let mut settings = Settings { format: Some(format.to_owned()), ..Settings::default() };
    let mut keys = Vec::new();
    for line in text.lines() {
        columns(line);
        if settings.options.add(line).is_ok() {
            keys.extend(line.split_once('=').map(|(key, _)| key.trim()));
        }
    }
    let is_typed = |error: &OptionError| assert!(keys.contains(&error.key()), "{error}");
    for format in FORMATS {
        let _ = format.decoder(&settings).map_err(|error| is_typed(&error));
    }
    let mut report = Report::new(Vec::new(), ReportOptions::default());
    let read = Input::from_bytes("fuzz", bytes.to_vec(), settings)
        .and_then(|mut input| input.read(&mut report));
    let trace = match read {
        Ok(trace) => trace,
        Err(InputError::Option(error)) => return is_typed(&error),
        Err(_) => return,
    };
    let text = String::from_utf8(report.into_inner().expect("a vector takes all bytes"));
    let text = text.expect("a report is text");
    assert!(text.lines().count() as u64 > trace.events, "an event without a line");
    assert_harmless(&text);
}

/// Parses columns of AIX's report. Checks that parsing all options at once is equivalent to setting
/// them one after the other.
fn columns(text: &str) {
    let Ok(columns) = text.parse::<Options>() else { return };
    let mut one_by_one = Options::default();
    for option in text.split(',').filter(|option| !option.is_empty()) {
        let (name, value) = option.split_once('=').expect("it was parsed");
        assert_eq!(one_by_one.set(name.trim(), value.trim()), Ok(true));
    }
    assert_eq!(columns, one_by_one);
}

/// Selects events of a small trace. The first byte selects the trace, and each line after it is a
/// condition (see [`add`]). Checks that a selection is the intersection of its conditions, and that
/// each event meets either a condition or its opposite (see [`split`]).
pub fn selections(data: &[u8]) {
    let Some((format, bytes, text)) = trace_and_text(data) else { return };
    let selected = |selection: &Selection| selected(format, bytes, selection);
    let Some(all) = selected(&Selection::default()) else { return };
    let (mut whole, mut single) = (Selection::default(), Vec::new());
    for line in text.lines().take(8) {
        // Skip repeated conditions: a second condition of the same kind replaces the number of the
        // first condition, or extends its list.
        let key = line.split_once(' ').map_or(line, |(key, _)| key);
        let earlier: &[(String, Selection)] = &single;
        let repeats = key != "where" && earlier.iter().any(|(known, _)| known == key);
        let mut one = Selection::default();
        if repeats || !add(&mut one, line) {
            continue;
        }
        add(&mut whole, line);
        split(line, &all, &selected);
        if !matches!(key, "head" | "tail" | "skip") {
            single.push((key.to_owned(), one));
        }
    }
    let mut expected = all;
    for (_, one) in &single {
        let Some(events) = selected(one) else { return };
        expected.retain(|seq| events.binary_search(seq).is_ok());
    }
    expected.truncate(usize::try_from(whole.head.unwrap_or(u64::MAX)).unwrap_or(usize::MAX));
    expected.drain(..expected.len().min(usize::try_from(whole.skip).unwrap_or(usize::MAX)));
    expected.drain(..expected.len().saturating_sub(whole.tail.unwrap_or(usize::MAX)));
    assert_eq!(selected(&whole), Some(expected), "{text}");
}

/// Adds a condition to a selection. Returns false if the line is not a condition.
fn add(selection: &mut Selection, line: &str) -> bool {
    let Some((key, value)) = line.split_once(' ') else { return false };
    match key {
        "context" => selection.contexts.push(value.to_owned()),
        "thread" => selection.threads.push(value.to_owned()),
        "process" => selection.processes.push(value.to_owned()),
        "event" => selection.events.push(value.to_owned()),
        "object" => selection.objects.push(value.to_owned()),
        "id" => selection.ids.push(IdOrName::from(value)),
        "not-id" => selection.without_ids.push(IdOrName::from(value)),
        "where" => selection.expressions.extend(expression(value)),
        "from" => selection.from = value.parse().ok(),
        "to" => selection.to = value.parse().ok(),
        "head" => selection.head = value.parse().ok(),
        "tail" => selection.tail = value.parse().ok(),
        "skip" => selection.skip = value.parse().unwrap_or(0),
        _ => return false,
    }
    !selection.is_all()
}

/// Checks that exactly one of two opposite conditions selects each event. The conditions are an
/// expression and its negation, or `from` a time and `to` the time before it.
fn split(line: &str, all: &[u64], selected: &dyn Fn(&Selection) -> Option<Vec<u64>>) {
    let Some((key, value)) = line.split_once(' ') else { return };
    let (one, other) = match key {
        "where" => {
            let of = |text: &str| {
                expression(text)
                    .map(|found| Selection { expressions: vec![found], ..Selection::default() })
            };
            // The negation has one more level of parentheses, so it may exceed the limit.
            let Some(pair) = of(value).zip(of(&format!("!({value})"))) else { return };
            pair
        }
        "from" => {
            let before = match value.parse() {
                Ok(Bound::Ticks(ticks)) => ticks.checked_sub(1).map(Bound::Ticks),
                Ok(Bound::Nanoseconds(ns)) => ns.checked_sub(1).map(Bound::Nanoseconds),
                _ => None,
            };
            let (Ok(from), Some(to)) = (value.parse(), before) else { return };
            let one = Selection { from: Some(from), ..Selection::default() };
            (one, Selection { to: Some(to), ..Selection::default() })
        }
        _ => return,
    };
    let Some((mut events, others)) = selected(&one).zip(selected(&other)) else { return };
    events.extend(others);
    events.sort_unstable();
    assert_eq!(events, all, "{line}");
}

fn expression(text: &str) -> Option<Expression> {
    let source = Source::new("where", text);
    let parsed = Expression::parse(&source);
    if let Err(findings) = &parsed {
        assert!(!findings.is_empty());
        for finding in findings {
            assert!(finding.span.start <= finding.span.end, "{finding:?}");
            assert!(finding.span.end as usize <= source.text.len(), "{finding:?}");
        }
    }
    parsed.ok()
}

/// Returns the numbers of the selected events in ascending order, or `None` if the trace lacks data
/// that the selection needs.
fn selected(format: &str, bytes: &[u8], selection: &Selection) -> Option<Vec<u64>> {
    let mut settings = Settings { format: Some(format.to_owned()), ..Settings::default() };
    if format == "threadx" {
        settings.options.add("rate=1MHz").expect("it has a value");
    }
    let mut input = Input::from_bytes("fuzz", bytes.to_vec(), settings).expect("a whole trace");
    input.select(selection.clone());
    let mut numbers = Vec::new();
    let trace = input.for_each(|event| numbers.push(event.seq())).expect("a whole trace");
    assert!(numbers.is_sorted());
    selection.check(&trace).ok().map(|()| numbers)
}
