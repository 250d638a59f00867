//! The traces that the server shows. Each has its own content. All count their changes together, so
//! that one connection can wait for a change of any trace.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tracewell::input::Advance;

use super::content::Content;
use crate::outcome::Outcome;

/// Counts the changes of all traces.
#[derive(Debug, Default)]
pub(super) struct Changes {
    number: Mutex<u64>,
    changed: Condvar,
}

impl Changes {
    fn number(&self) -> MutexGuard<'_, u64> {
        self.number.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a change, and wakes all that wait for one.
    pub(super) fn count(&self) {
        *self.number() += 1;
        self.changed.notify_all();
    }

    /// Waits at most for `time` until the number of changes differs from `last`. Returns the new
    /// number, or `None` if nothing has changed.
    fn wait(&self, last: Option<u64>, time: Duration) -> Option<u64> {
        let same = |number: &mut u64| Some(*number) == last;
        let waited = self.changed.wait_timeout_while(self.number(), time, same);
        let (number, ended) = waited.unwrap_or_else(PoisonError::into_inner);
        (!ended.timed_out()).then_some(*number)
    }
}

/// Progress of reading a trace, or the sum over several traces.
#[derive(Clone, Debug, Default)]
pub(super) struct Progress {
    /// Counts the payloads of the page that differ from the payload before.
    pub(super) edition: u64,
    pub(super) reading: bool,
    pub(super) advance: Advance,
    /// Number of bytes of the input, if it is known.
    pub(super) size: Option<u64>,
    pub(super) failure: Option<String>,
}

impl Progress {
    pub(super) fn json(&self) -> Value {
        json!({
            "edition": self.edition,
            "reading": self.reading,
            "events": self.advance.events,
            "bytes": self.advance.bytes,
            "size": self.size,
            "failure": self.failure,
        })
    }

    /// Returns the sum of all. The failure is the first one.
    fn sum(all: Vec<Self>) -> Self {
        let none = Self { size: Some(0), ..Self::default() };
        all.into_iter().fold(none, |sum, one| Self {
            edition: sum.edition + one.edition,
            reading: sum.reading || one.reading,
            advance: Advance {
                events: sum.advance.events + one.advance.events,
                bytes: sum.advance.bytes + one.advance.bytes,
            },
            size: sum.size.zip(one.size).map(|(sum, one)| sum + one),
            failure: sum.failure.or(one.failure),
        })
    }
}

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

    /// Returns the title of each trace: the names of its first file, or its path if another trace
    /// has the same name.
    pub(super) fn titles(&self) -> Vec<String> {
        let names: Vec<_> = self.all.iter().map(|content| content.traces.title()).collect();
        let is_alone = |name: &String| names.iter().filter(|other| *other == name).count() == 1;
        let title = |(content, name): (&Arc<Content>, &String)| {
            if is_alone(name) { name.clone() } else { content.traces.name() }
        };
        self.all.iter().zip(&names).map(title).collect()
    }

    /// Waits at most for `time` until the number of changes differs from `last`. Returns the
    /// number, and the progress of all traces together. `editions` has the edition of each trace.
    pub(super) fn wait(&self, last: Option<u64>, time: Duration) -> Option<(u64, Value)> {
        let number = self.changes.wait(last, time)?;
        let all: Vec<_> = self.all.iter().map(|content| content.progress()).collect();
        let editions: Vec<_> = all.iter().map(|progress| progress.edition).collect();
        let mut progress = Progress::sum(all).json();
        progress["editions"] = editions.into();
        Some((number, progress))
    }

    /// Returns the worst outcome of the last readings.
    pub(super) fn outcome(&self) -> Outcome {
        self.all.iter().map(|content| content.outcome()).max().unwrap_or(Outcome::Done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_progress_of_several_traces_is_their_sum() {
        let one = |edition, bytes, size, failure: Option<&str>| Progress {
            edition,
            reading: edition == 0,
            advance: Advance { events: bytes * 2, bytes },
            size,
            failure: failure.map(str::to_owned),
        };
        let sum = Progress::sum(vec![one(0, 3, Some(10), None), one(2, 4, Some(20), Some("b"))]);
        let expected = json!({
            "edition": 2, "reading": true, "events": 14, "bytes": 7, "size": 30, "failure": "b",
        });
        assert_eq!(sum.json(), expected);
        assert_eq!(Progress::sum(vec![one(1, 3, None, None), one(1, 4, Some(9), None)]).size, None);
    }
}
