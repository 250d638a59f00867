//! The part of a trace that a timeline shows.

use std::ops::Range;

use super::ExportError;
use crate::model::Trace;
use crate::select::Selection;

/// Returns the ticks to show: the whole trace, unless the selection limits times or sequence
/// numbers. `ticks` are the first and the last tick with a selected event.
pub(super) fn shown_range(trace: &Trace, ticks: (u64, u64), selection: &Selection) -> Range<u64> {
    let (first, last) = ticks;
    let from = if selection.from.is_some() || selection.skip > 0 { first } else { 0 };
    let is_cut = selection.to.is_some() || selection.head.is_some();
    from..if is_cut { last } else { trace.span }
}

/// Returns the error for a selection without events.
pub(super) fn no_events(selection: &Selection, trace: &Trace) -> ExportError {
    let message = "the trace, or the selected part of it, has no events";
    let doubts = selection.unknown_names(trace).into_iter().map(|doubt| format!("; {doubt}"));
    ExportError::NotPossible(message.to_owned() + &doubts.collect::<String>())
}
