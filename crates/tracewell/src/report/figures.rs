//! What figures of all analyses have in common: tables, durations, what is not known.

use crate::analysis::Range;
use crate::model::Trace;

/// The unit of durations in text: milliseconds where a tick of the clock is 100 microseconds or more.
pub(super) fn unit(trace: &Trace) -> &'static str {
    match (has_time(trace), is_coarse(trace)) {
        (false, _) => "ticks",
        (true, false) => "microseconds",
        (true, true) => "milliseconds",
    }
}

fn is_coarse(trace: &Trace) -> bool {
    trace.clock.rate.is_some_and(|rate| rate.nanoseconds(1) >= 100_000)
}

/// Ticks of different lengths make no time.
pub(super) fn has_time(trace: &Trace) -> bool {
    trace.clock.rate.is_some() && trace.clock.changes.len() < 2
}

/// A duration in the unit of the trace: with three decimals, but for ticks.
pub(super) fn duration(trace: &Trace, ticks: u64) -> String {
    match trace.clock.rate {
        Some(rate) if has_time(trace) => in_unit(trace, rate.nanoseconds(ticks)),
        _ => ticks.to_string(),
    }
}

/// Nanoseconds in the unit of the trace.
pub(super) fn in_unit(trace: &Trace, nanoseconds: u64) -> String {
    let thousandths = if is_coarse(trace) { nanoseconds / 1000 } else { nanoseconds };
    format!("{}.{:03}", thousandths / 1000, thousandths % 1000)
}

pub(super) fn optional(trace: &Trace, range: Range, figure: u64) -> String {
    or_dash(some(range, figure).map(|ticks| duration(trace, ticks)))
}

/// What is not known, as text.
pub(super) fn or_dash(shown: Option<String>) -> String {
    shown.unwrap_or_else(|| "-".to_owned())
}

pub(super) fn some(range: Range, figure: u64) -> Option<u64> {
    (range.count > 0).then_some(figure)
}

/// A number of nanoseconds, where the clock's rate is known.
pub(super) fn timed(trace: &Trace, nanoseconds: u64) -> Option<u64> {
    trace.clock.rate.map(|_| nanoseconds)
}

/// Appends a table, a blank line before it; nothing where it has no rows. Numbers stand right.
pub(super) fn section<const N: usize>(
    lines: &mut Vec<String>,
    names: &[&str; N],
    rows: Vec<[String; N]>,
) {
    if rows.is_empty() {
        return;
    }
    lines.push(String::new());
    let names = names.map(str::to_owned);
    let table: Vec<_> = std::iter::once(names).chain(rows).collect();
    let width = |column: usize| {
        table.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max()
    };
    let widths: Vec<_> = (0..N).map(|column| width(column).unwrap_or(0)).collect();
    for row in &table {
        let cells = row.iter().zip(&widths).enumerate();
        let cells: Vec<_> = cells
            .map(|(column, (cell, width))| match column {
                0 => format!("{cell:<width$}"),
                _ => format!("{cell:>width$}"),
            })
            .collect();
        lines.push(cells.join("  ").trim_end().to_owned());
    }
}
