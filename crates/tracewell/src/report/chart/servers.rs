//! The rows of servers: the budget that is left.

use super::columns::Scale;
use super::machines::Explained;
use super::symbols::{Activity, Symbols};
use crate::analysis::tracks::{Budget, ServerState, ServerTrack, Span};
use crate::model::Trace;
use crate::report::figures::spoken;
use crate::text::shown;

/// Returns a row with the smallest budget that is left in each column. A column in which the budget
/// is exhausted at any time shows this. If the size of the budget is unknown, the row shows the
/// largest used part instead. Returns `None` if the trace does not show the budget in the range.
/// `end` is the end of the trace.
pub(super) fn budget(
    trace: &Trace,
    track: &ServerTrack,
    scale: &Scale,
    end: u64,
    symbols: &Symbols,
) -> Option<Explained> {
    // `None` is less than `Some`, so a column is unknown only if no span in it shows the budget.
    let mut used: Vec<Option<Option<i64>>> = vec![None; scale.count];
    for span in track.row.spans(scale.ticks(), end) {
        for (column, most) in used_in_columns(scale, &span) {
            used[column] = used[column].max(Some(most));
        }
    }
    let most = used.iter().filter_map(|used| (*used)?).max()?;
    let size = track.size.unwrap_or(0);
    let unknown = symbols.most(Activity::Unknown);
    let cell = |used: &Option<Option<i64>>| match (used, track.size) {
        (None, _) => ' ',
        (Some(None), _) => unknown,
        (Some(Some(EXHAUSTED)), Some(_)) => symbols.free(),
        (Some(Some(used)), Some(size)) => {
            let left = size.cast_signed().saturating_sub(*used).max(0);
            symbols.share(left.cast_unsigned(), size)
        }
        (Some(Some(..=0)), None) => symbols.free(),
        (Some(Some(used)), None) => symbols.share(used.cast_unsigned(), most.cast_unsigned()),
    };
    let mut entry = match track.size {
        Some(_) => format!("of {}", spoken(trace, size)),
        None => format!("at most {}, size unknown", spoken(trace, most.max(0).cast_unsigned())),
    };
    if let Some(task) = track.task.and_then(|task| trace.contexts.get(task)) {
        entry += &format!(", serves {}", shown(&task.name));
    }
    Some(Explained { cells: used.iter().map(cell).collect(), entries: vec![entry] })
}

/// Stands for an exhausted budget. It is larger than any number of used ticks.
const EXHAUSTED: i64 = i64::MAX;

/// Returns the largest number of used ticks in each column that a span overlaps; `None` if it is
/// unknown.
fn used_in_columns<'a>(
    scale: &'a Scale,
    span: &Span<ServerState>,
) -> impl Iterator<Item = (usize, Option<i64>)> + 'a {
    let Span { from, end, state, .. } = *span;
    scale.columns_of(from.ticks..end).map(move |column| {
        let until = end.min(scale.start(column + 1)).saturating_sub(from.ticks);
        let spent = until.saturating_mul(state.serving.into());
        let used = match state.budget {
            Budget::Unknown => None,
            Budget::Used(used) => Some(used.saturating_add_unsigned(spent).min(EXHAUSTED - 1)),
            Budget::Exhausted => Some(EXHAUSTED),
        };
        (column, used)
    })
}
