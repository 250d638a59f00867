//! The traces that the server shows. Each has its own content. All traces share one counter of
//! changes, so that a connection can wait for a change of any trace.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::content::Content;
use super::progress::{Changes, Progress};
use crate::outcome::Outcome;

/// The shown traces, in the order of the command line.
#[derive(Debug)]
pub(super) struct Shown {
    pub(super) all: Vec<Arc<Content>>,
    changes: Arc<Changes>,
}

impl Shown {
    /// Returns the traces, which must count their changes in `changes`.
    pub(super) fn new(all: Vec<Arc<Content>>, changes: Arc<Changes>) -> Self {
        Self { all, changes }
    }

    /// Returns the title of each trace: the name of its first file, or the path of that file if
    /// another trace has the same title.
    pub(super) fn titles(&self) -> Vec<String> {
        let names: Vec<_> = self.all.iter().map(|content| content.traces.title()).collect();
        let is_alone = |name: &String| names.iter().filter(|other| *other == name).count() == 1;
        let title = |(content, name): (&Arc<Content>, &String)| {
            if is_alone(name) { name.clone() } else { content.traces.name() }
        };
        self.all.iter().zip(&names).map(title).collect()
    }

    /// Returns the edition of each trace.
    pub(super) fn editions(&self) -> Vec<u64> {
        editions(&self.all.iter().map(|content| content.progress()).collect::<Vec<_>>())
    }

    /// Waits until the number of changes differs from `last`, but at most for `time`. Returns the
    /// new number of changes, and the progress of all traces together. Under the key `editions`,
    /// the progress contains the edition of each trace.
    pub(super) fn wait(&self, last: Option<u64>, time: Duration) -> Option<(u64, Value)> {
        let number = self.changes.wait(last, time)?;
        let all: Vec<_> = self.all.iter().map(|content| content.progress()).collect();
        let editions = editions(&all);
        let mut progress = Progress::sum(all).json();
        progress["editions"] = editions.into();
        Some((number, progress))
    }

    /// Returns the worst outcome of the last readings.
    pub(super) fn outcome(&self) -> Outcome {
        self.all.iter().map(|content| content.outcome()).max().unwrap_or(Outcome::Done)
    }
}

/// Returns the edition of each trace.
fn editions(all: &[Progress]) -> Vec<u64> {
    all.iter().map(|progress| progress.edition).collect()
}
