//! Reports decreasing times in a source whose records should be in order of time.

use crate::model::{Emitter, Severity};

/// Reports the first position at which time decreases in a source.
#[derive(Debug, Default)]
pub(super) struct Order {
    went_back: bool,
}

impl Order {
    /// Compares the next event's ticks with the previous event's ticks. `why` names the
    /// possible causes of a decrease.
    #[inline]
    pub(super) fn watch(&mut self, ticks: u64, offset: u64, out: &mut Emitter<'_>, why: &str) {
        if ticks < out.last_ticks() && !self.went_back {
            self.went_back = true;
            let message = format!("time goes backwards here: {why}");
            out.trace.diagnostics.add(Severity::Note, offset, message);
        }
    }
}
