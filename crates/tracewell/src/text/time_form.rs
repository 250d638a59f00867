//! The form in which reports and exports show times.

use super::calendar::Zone;
use crate::model::{NoDates, Trace};

/// The form in which times are shown.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum TimeForm {
    /// The time since the first event of the trace.
    #[default]
    Relative,
    /// The time since the previous event that is shown.
    Delta,
    /// The date in a time zone. Requires a trace with a wall clock and a clock of known rate.
    Absolute(Zone),
}

impl TimeForm {
    /// Checks that a trace has the data for this form.
    ///
    /// # Errors
    /// Returns an error if the form shows dates but the dates of events are not known.
    pub fn check(&self, trace: &Trace) -> Result<(), NoDates> {
        match self {
            Self::Absolute(_) => trace.check_dates(),
            Self::Relative | Self::Delta => Ok(()),
        }
    }
}
