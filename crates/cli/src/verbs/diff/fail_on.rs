//! The kinds of differences for which `diff --fail-on` fails.

use std::str::FromStr;

use tracewell::report::compare::{Finding, FindingKind};
use tracewell::select::Share;

/// A kind of difference that is a failure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FailOn {
    /// A figure that is worse by more than this fraction of its old value.
    Beyond(Share),
    /// A figure that is worse.
    Worse,
    /// A figure that changed.
    Change,
    /// A name that is new.
    New,
    /// A name that is gone.
    Gone,
}

impl FailOn {
    /// Returns true for differences of figures, and false for names that are new or gone.
    pub(super) fn is_about_figures(self) -> bool {
        !matches!(self, Self::New | Self::Gone)
    }

    /// Returns true if a difference is a failure.
    pub(super) fn is_met(self, finding: &Finding) -> bool {
        match self {
            Self::Beyond(share) => {
                let most = share.millionths as f64 / 1_000_000.0;
                finding.is_worse() && finding.shift.as_ref().is_some_and(|by| by.change > most)
            }
            Self::Worse => finding.is_worse(),
            Self::Change => finding.shift.is_some(),
            Self::New => matches!(finding.kind, FindingKind::New(_)),
            Self::Gone => matches!(finding.kind, FindingKind::Gone(_)),
        }
    }
}

impl FromStr for FailOn {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(match text {
            "worse" => Self::Worse,
            "change" => Self::Change,
            "new" => Self::New,
            "gone" => Self::Gone,
            _ => {
                let share = text.parse();
                Self::Beyond(share.map_err(|_| {
                    "expected a share such as 5%, or worse, change, new, gone".to_owned()
                })?)
            }
        })
    }
}
