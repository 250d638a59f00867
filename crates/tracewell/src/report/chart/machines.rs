//! The rows of state machines and spans, and of the levels of queues, pools and semaphores.

use std::collections::BTreeMap;
use std::ops::Range;

use super::columns::{Columns, Scale};
use super::symbols::{self, Activity, Symbols};
use crate::analysis::total::Total;
use crate::analysis::tracks::{LevelTrack, MachineTrack, SpanTrack, StepSpan};
use crate::model::Trace;
use crate::text::{counted, shown};

/// Cells of a row, and the entries that explain these cells in the list below the chart.
#[derive(Debug)]
pub(super) struct Explained {
    pub(super) cells: String,
    pub(super) entries: Vec<String>,
}

/// Returns a row, and the names of the states in it. Each column shows the state in which the
/// machine spends most of the column's time. Returns `None` if the machine has no state in the
/// range. `end` is the end of the trace.
pub(super) fn states(
    trace: &Trace,
    track: &MachineTrack,
    scale: &Scale,
    end: u64,
    symbols: &Symbols,
) -> Option<Explained> {
    let spans = track.row.spans(scale.ticks(), end);
    let most = most_of_columns(scale, spans.map(|span| (span.from.ticks..span.end, span.state)));
    let unknown = symbols.most(Activity::Unknown);
    explained(&most, unknown, |state| Some(track.states.get(state as usize)?.label(trace)))
}

/// Returns a row that shows, for each column, the span in which a thread spends most of the time. A
/// column shows a span even if the thread is outside of all spans for most of the column. `names`
/// contains the names of all spans of the chart. Returns `None` if the thread is in no span.
pub(super) fn spans<'a>(
    trace: &'a Trace,
    track: &SpanTrack,
    scale: &Scale,
    end: u64,
    names: &mut Vec<&'a str>,
) -> Option<Explained> {
    let entered = track.row.spans(scale.ticks(), end).filter_map(|span| {
        let name = span.state?.name(trace);
        let known = names.iter().position(|known| *known == name);
        let index = known.unwrap_or_else(|| {
            names.push(name);
            names.len() - 1
        });
        Some((span.from.ticks..span.end, Some(index as u32)))
    });
    let most = most_of_columns(scale, entered);
    explained(&most, ' ', |index| Some((*names.get(index as usize)?).to_owned()))
}

/// Returns a row in which digits and letters stand for states. Also returns the names of these
/// states. Returns `None` if the row is blank. `unknown` is the character of an unknown state.
fn explained(
    most: &[Option<Option<u32>>],
    unknown: char,
    name: impl Fn(u32) -> Option<String>,
) -> Option<Explained> {
    let cell = |state: &Option<Option<u32>>| match state {
        None => ' ',
        Some(None) => unknown,
        Some(Some(state)) => symbols::digit(*state as usize),
    };
    let mut used: Vec<_> = most.iter().filter_map(|state| (*state)?).collect();
    used.sort_unstable();
    used.dedup();
    let entry =
        |state: u32| Some(format!("{} {}", symbols::digit(state as usize), shown(&name(state)?)));
    let cells: String = most.iter().map(cell).collect();
    let has_states = !cells.trim().is_empty();
    has_states.then(|| Explained { cells, entries: used.into_iter().filter_map(entry).collect() })
}

/// Returns the value that takes most of the time in each column; `None` for a column without
/// values. The spans are in order of time.
fn most_of_columns<T: Copy + Ord>(
    scale: &Scale,
    spans: impl Iterator<Item = (Range<u64>, T)>,
) -> Vec<Option<T>> {
    let mut most = vec![None; scale.count];
    let mut times: BTreeMap<T, u64> = BTreeMap::new();
    let mut current = 0;
    for (ticks, value) in spans {
        for (column, overlap) in scale.overlaps(ticks) {
            // The spans are in order, so the column before is complete.
            if column != current {
                times.clear();
                current = column;
            }
            let time = times.entry(value).or_default();
            time.charge(overlap);
            let is_most = |(_, longest): (T, u64)| *time > longest;
            if most[column].is_none_or(is_most) || most[column].is_some_and(|(of, _)| of == value) {
                most[column] = Some((value, *time));
            }
        }
    }
    most.into_iter().map(|most| most.map(|(value, _)| value)).collect()
}

/// Returns a row that shows for which share of each column a machine handles messages. Returns
/// `None` if it handles no messages in the range. Steps without a recorded end are left out,
/// because their length is unknown.
pub(super) fn steps(steps: &[StepSpan], scale: &Scale) -> Option<Columns> {
    let mut columns = Columns::new(scale.clone());
    let range = scale.ticks();
    let mut last = range.start;
    let ended = steps.iter().filter_map(|step| Some(step.from.ticks..step.until?.ticks));
    for step in ended {
        // Steps can overlap. Only the time between them is idle.
        if step.start > last {
            columns.add(last..step.start, Activity::Idle);
        }
        last = last.max(step.end);
        columns.add(step, Activity::Running);
    }
    if last < range.end {
        columns.add(last..range.end, Activity::Idle);
    }
    columns.has(Activity::Running).then_some(columns)
}

/// Returns a row with the highest level in each column, and the highest level of the row. Returns
/// `None` if the trace does not show a level in the range. `end` is the end of the trace.
pub(super) fn levels(
    track: &LevelTrack,
    scale: &Scale,
    end: u64,
    symbols: &Symbols,
) -> Option<Explained> {
    let mut highest: Vec<Option<Option<u64>>> = vec![None; scale.count];
    for span in track.row.spans(scale.ticks(), end) {
        for column in scale.columns_of(span.from.ticks..span.end) {
            // `None` is less than `Some`, so an unknown level, `Some(None)`, ranks below every
            // known level.
            highest[column] = highest[column].max(Some(span.state));
        }
    }
    let most = highest.iter().filter_map(|level| (*level)?).max()?;
    let cell = |level: &Option<Option<u64>>| match level {
        None => ' ',
        Some(None) => symbols.most(Activity::Unknown),
        Some(Some(0)) => symbols.free(),
        Some(Some(level)) => symbols.share(*level, most),
    };
    let unit = if track.counts_free { "free item" } else { "item" };
    let entries = vec![format!("at most {}", counted(most, unit))];
    Some(Explained { cells: highest.iter().map(cell).collect(), entries })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_has_the_value_with_most_time() {
        let spans = [(0..4, 'a'), (4..7, 'b'), (7..10, 'a'), (10..13, 'b'), (22..22, 'c')];
        let most = most_of_columns(&Scale::new(0..40, 4), spans.into_iter());
        assert_eq!(most, [Some('a'), Some('b'), Some('c'), None]);
        // `b` takes more time than each of the two parts of `a`, and less than both together.
        let spans = [(0..3, 'a'), (3..7, 'b'), (7..10, 'a')];
        assert_eq!(most_of_columns(&Scale::new(0..10, 1), spans.into_iter()), [Some('a')]);
    }
}
