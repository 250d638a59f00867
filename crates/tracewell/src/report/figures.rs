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

/// No cell makes its column wider than this; a longer one pushes the rest of its line to the right.
const MAX_WIDTH: usize = 100;

/// Appends a table, a blank line before it; nothing where it has no rows. Numbers stand right.
pub(super) fn section<const N: usize>(
    lines: &mut Vec<String>,
    names: &[&str; N],
    rows: Vec<[String; N]>,
) {
    let mut text = String::new();
    table(&mut text, names, rows.iter().cloned());
    lines.extend(text.lines().map(str::to_owned));
}

/// Appends a table as [`section`] does, as lines of a text. The rows are asked for twice, for their widths and
/// for themselves, so that a table of a million rows is never in memory but as text.
pub(super) fn table<const N: usize>(
    text: &mut String,
    names: &[&str; N],
    rows: impl Iterator<Item = [String; N]> + Clone,
) {
    let mut widths = names.map(width);
    let mut some = false;
    for row in rows.clone() {
        some = true;
        for (most, cell) in widths.iter_mut().zip(&row) {
            *most = width(cell).min(MAX_WIDTH).max(*most);
        }
    }
    if !some {
        return;
    }
    text.push('\n');
    line(text, &names.map(str::to_owned), &widths);
    rows.for_each(|row| line(text, &row, &widths));
}

fn width(cell: &str) -> usize {
    cell.chars().count()
}

/// Appends a line of cells: the first one stands left, the others right.
fn line<const N: usize>(text: &mut String, row: &[String; N], widths: &[usize; N]) {
    let start = text.len();
    for (column, (cell, most)) in row.iter().zip(widths).enumerate() {
        let blanks = most.saturating_sub(width(cell));
        let (left, right) = if column == 0 { (0, blanks) } else { (2 + blanks, 0) };
        text.extend(std::iter::repeat_n(' ', left));
        text.push_str(cell);
        text.extend(std::iter::repeat_n(' ', right));
    }
    let end = start + text.get(start..).unwrap_or_default().trim_end().len();
    text.truncate(end);
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_any_length_makes_no_column_wide() {
        let long = "x".repeat(usize::from(u16::MAX) + 1);
        let rows = [[long.clone(), "1".to_owned()], ["short".to_owned(), "22".to_owned()]];
        let mut text = String::new();
        table(&mut text, &["NAME", "N"], rows.iter().cloned());
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[1], format!("{:<100}   N", "NAME"));
        assert_eq!(lines[2], format!("{long}   1"));
        assert_eq!(lines[3], format!("{:<100}  22", "short"));
    }
}
