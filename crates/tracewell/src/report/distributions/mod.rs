//! Distributions of times: tables and histograms for people, JSON for programs.
//!
//! `histogram` draws a distribution, and `json` defines the types for programs. This file makes the
//! tables, and names the subjects of times: tasks, objects, interrupts, messages and spans.
//! docs/analysis.md defines each time.

mod histogram;
mod json;

pub use json::{BarRow, BucketRow, DistributionFigures, DistributionRow, WorstRow};

use super::figures::{duration, has_time, moment};
use super::scheduling::tables::{context_name, passed, resource_text, source_name};
use super::table::{Cell, table_with_groups};
use super::{Layout, key_text};
use crate::analysis::machines::{Figures as MachineFigures, Route};
use crate::analysis::scheduling::{Figures, Subject};
use crate::analysis::spans::AllSpans;
use crate::analysis::{Distribution, Measure, Quantile};
use crate::model::Trace;

/// Times of one kind and one subject.
#[derive(Clone, Debug)]
pub struct NamedTimes<'a> {
    /// The kind of the times.
    pub measure: Measure,
    /// The name of the task, object, interrupt, message or span to which they belong.
    pub of: String,
    /// Key of the context or the object, or number of the interrupt.
    pub key: Option<String>,
    /// The times in ticks.
    pub times: &'a Distribution,
}

/// Returns all distributions with the names of their subjects. They are sorted by kind. Within a
/// kind, they are in the order in which their first times were measured. Spans are sorted by total
/// duration instead, the longest first.
///
/// ```
/// use tracewell::report::analyses::Analyses;
/// use tracewell::analysis::scheduling::{Scheduling, Wanted};
/// use tracewell::report::distributions;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/threadx/tiny.trx");
/// let mut scheduling = Scheduling::new(Wanted { distributions: true, ..Wanted::default() });
/// let trace = tracewell::open(path)?.read(&mut scheduling)?;
/// let figures = scheduling.figures(&trace);
/// for row in distributions::named(&trace, &figures, &Default::default(), &Default::default()) {
///     println!("{} of {}: at most {:?} ticks", row.measure.name(), row.of, row.times.max());
/// }
/// # Ok::<(), tracewell::input::InputError>(())
/// ```
pub fn named<'a>(
    trace: &Trace,
    figures: &'a Figures,
    machines: &'a MachineFigures,
    spans: &'a AllSpans,
) -> Vec<NamedTimes<'a>> {
    let scheduling = figures.distributions.iter().map(|row| {
        let (of, key) = subject(trace, figures, row.subject, &row.times);
        NamedTimes { measure: row.measure, of, key, times: &row.times }
    });
    let messages = machines.distributions.iter().map(|row| NamedTimes {
        measure: row.measure,
        of: route(trace, row.subject),
        key: None,
        times: &row.times,
    });
    let spans = spans.names.iter().filter_map(|span| {
        let of = format!("{}: {}", span.target, span.name);
        let times = span.distribution.as_ref()?;
        Some(NamedTimes { measure: Measure::Span, of, key: None, times })
    });
    let mut rows: Vec<_> = scheduling.chain(messages).chain(spans).collect();
    // The sort is stable, so the rows of a kind keep their order.
    rows.sort_by_key(|row| row.measure);
    rows
}

/// Returns the name and the key of the subject of these times.
fn subject(
    trace: &Trace,
    figures: &Figures,
    subject: Subject,
    times: &Distribution,
) -> (String, Option<String>) {
    let task = |task| {
        let key = trace.contexts.get(task).map(|context| context.key_text.clone());
        (context_name(trace, task).to_owned(), key)
    };
    match subject {
        Subject::Task(context) => task(context),
        Subject::Resource { key, is_mutex, kind } => {
            // The name of an object can change, so look it up at the end of the longest time.
            let at = times.worst().first().map_or(0, |worst| worst.at.ticks);
            (resource_text(trace, Some(key), is_mutex, kind, at), Some(key_text(trace, key)))
        }
        Subject::Use { task: context, key, is_mutex, kind } => {
            let at = times.worst().first().map_or(0, |worst| worst.at.ticks);
            let object = resource_text(trace, Some(key), is_mutex, kind, at);
            (format!("{object}, {}", context_name(trace, context)), Some(key_text(trace, key)))
        }
        Subject::Interrupt(number) => {
            (source_name(number), number.map(|number| number.to_string()))
        }
        Subject::Passage { pair, task: context } => {
            let (name, key) = task(context);
            let marks = figures.passages.get(pair).map(|(from, to, _)| passed(from, to));
            (format!("{} {name}", marks.unwrap_or_default()), key)
        }
    }
}

fn route(trace: &Trace, Route { sender, receiver, signal }: Route) -> String {
    let sender = sender.map_or_else(|| "-".to_owned(), |sender| sender.label(trace));
    format!("{sender} to {}: {}", receiver.label(trace), signal.label(trace))
}

/// The headings of the tables. The first heading depends on the kind of the times.
const HEADINGS: [&str; 18] = [
    "",
    "COUNT",
    "MIN",
    "P50",
    "P90",
    "P99",
    "P99.9",
    "MAX",
    "MEAN",
    "DEVIATION",
    "MAX AT",
    "EVENT",
    "2ND MAX",
    "AT",
    "EVENT",
    "3RD MAX",
    "AT",
    "EVENT",
];

/// Two groups of columns: durations, and moments. The columns of a group have the same unit.
const COMPARED: [&[usize]; 2] = [&[2, 3, 4, 5, 6, 7, 8, 9, 12, 15], &[10, 13, 16]];

/// Returns the heading of the first column.
const fn heading(measure: Measure) -> &'static str {
    match measure {
        Measure::Response => "RESPONSE OF",
        Measure::StartLatency => "START LATENCY OF",
        Measure::Execution => "EXECUTION PER JOB OF",
        Measure::Period => "PERIOD OF",
        Measure::Jitter => "JITTER OF",
        Measure::CompletionPeriod => "COMPLETION PERIOD OF",
        Measure::Lateness => "LATENESS OF",
        Measure::WakeUp => "WAKE-UP OF",
        Measure::Wait => "WAIT FOR",
        Measure::MutexWait => "MUTEX WAIT OF",
        Measure::Blocking => "BLOCKING OF",
        Measure::Hold => "HOLD OF",
        Measure::Interrupt => "INTERRUPT",
        Measure::InterruptGap => "GAP OF INTERRUPT",
        Measure::Passage => "PASSAGE",
        Measure::PassageExecution => "EXECUTION IN PASSAGE",
        Measure::MessageWait => "WAIT OF MESSAGE",
        Measure::MessageStep => "STEP OF MESSAGE",
        Measure::MessageResponse => "RESPONSE TO MESSAGE",
        Measure::Span => "SPAN",
    }
}

/// Appends a table for each kind of times, and a line if percentiles are not exact.
pub(super) fn put_tables(
    text: &mut String,
    trace: &Trace,
    rows: &[NamedTimes<'_>],
    layout: Layout,
) {
    for kind in rows.chunk_by(|row, next| row.measure == next.measure) {
        let mut headings = HEADINGS;
        headings[0] = kind.first().map_or("", |row| heading(row.measure));
        let rows = kind.iter().map(|row| cells(trace, row));
        table_with_groups(text, layout, &headings, &COMPARED, rows);
    }
    if rows.iter().any(|row| !row.times.is_exact()) {
        let most = crate::analysis::MAX_EXACT;
        let note = format!("percentiles of more than {most} times are at most 0.8 % too high");
        text.push_str(&format!("\n{}\n", layout.fold(&note, 0)));
    }
}

fn cells(trace: &Trace, row: &NamedTimes<'_>) -> [Cell; 18] {
    let times = row.times;
    let shown = |ticks: Option<u64>| Cell::from(ticks.map(|ticks| duration(trace, ticks)));
    let [p50, p90, p99, p99_9] = Quantile::SHOWN.map(|quantile| shown(times.quantile(quantile)));
    let worst = |rank: usize| {
        let worst = times.worst().get(rank);
        let at = worst.map(|worst| moment(trace, worst.at.ticks)).into();
        (shown(worst.map(|worst| worst.value)), at, worst.map(|worst| worst.at.seq).into())
    };
    let (max, max_at, max_event) = worst(0);
    let (second, second_at, second_event) = worst(1);
    let (third, third_at, third_event) = worst(2);
    [
        row.of.as_str().into(),
        times.count().into(),
        shown(times.min()),
        p50,
        p90,
        p99,
        p99_9,
        max,
        shown(times.mean()),
        times.standard_deviation().map(|ticks| deviation(trace, ticks)).into(),
        max_at,
        max_event,
        second,
        second_at,
        second_event,
        third,
        third_at,
        third_event,
    ]
}

/// Returns a standard deviation, rounded to nanoseconds or ticks.
fn deviation(trace: &Trace, ticks: f64) -> Cell {
    match trace.clock.rate {
        Some(rate) if has_time(trace) => {
            let (of_rate, seconds) = rate.ratio();
            let nanoseconds = ticks * seconds as f64 / of_rate as f64 * 1e9;
            Cell::Time(nanoseconds.round() as u64)
        }
        _ => Cell::Ticks(ticks.round() as u64),
    }
}

/// Appends a histogram of each distribution.
pub(super) fn put_histograms(
    text: &mut String,
    trace: &Trace,
    rows: &[NamedTimes<'_>],
    layout: Layout,
) {
    for row in rows {
        histogram::put(text, trace, row, layout);
    }
}

/// Returns the line with the number of times that are in no distribution.
pub(super) fn more_times(figures: &Figures, machines: &MachineFigures) -> Option<String> {
    let more = figures.more_times + machines.more_times;
    let times = crate::text::counted(more, "time");
    (more > 0).then(|| format!("and {times} in no distribution: too many distributions\n"))
}
