//! The progress of reading the shown traces, and the number of changes. Connections wait for this
//! number to change.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tracewell::input::Advance;

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

    /// Counts a change, and wakes all threads that wait for a change.
    pub(super) fn count(&self) {
        *self.number() += 1;
        self.changed.notify_all();
    }

    /// Waits until the number of changes differs from `last`, but at most for `time`. Returns the
    /// new number, or `None` if nothing has changed.
    pub(super) fn wait(&self, last: Option<u64>, time: Duration) -> Option<u64> {
        let same = |number: &mut u64| Some(*number) == last;
        let waited = self.changed.wait_timeout_while(self.number(), time, same);
        let (number, ended) = waited.unwrap_or_else(PoisonError::into_inner);
        (!ended.timed_out()).then_some(*number)
    }
}

/// Progress of reading a trace, or the sum over several traces.
#[derive(Clone, Debug, Default)]
pub(super) struct Progress {
    /// Counts the page's payloads, but not a payload that equals the previous one.
    pub(super) edition: u64,
    pub(super) reading: bool,
    pub(super) advance: Advance,
    /// Number of bytes in the input, if it is known.
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

    /// Returns the sum of all progress values, with the first failure among them.
    pub(super) fn sum(all: Vec<Self>) -> Self {
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
