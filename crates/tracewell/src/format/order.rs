//! Sources whose records mostly stand in the order of time.

use crate::model::{Columns, Severity, Trace};

/// Remarks once, at the first place, that time goes back in a source.
#[derive(Debug, Default)]
pub(super) struct Order {
    went_back: bool,
}

impl Order {
    /// Looks at the ticks of the event that comes next behind those of a batch; `why` says what may make time
    /// go back.
    pub(super) fn watch(
        &mut self,
        batch: &Columns,
        ticks: u64,
        offset: u64,
        trace: &mut Trace,
        why: &str,
    ) {
        let before = batch.ticks.last().copied().unwrap_or(trace.span);
        if ticks < before && !self.went_back {
            self.went_back = true;
            let message = format!("time goes back here: {why}");
            trace.diagnostics.add(Severity::Note, offset, message);
        }
    }
}
