//! Resting between two pieces of work, so that a stream of small pieces does not cost a waking for each of them.

use std::thread;
use std::time::{Duration, Instant};

/// How often the end is looked for while nothing arrives.
pub(super) const TICK: Duration = Duration::from_millis(100);

/// Time between two reads of a source that delivers little at a time. What comes in between waits in
/// the system's buffer; at the rate of a fast serial line that is a few hundred bytes.
pub(super) const READING: Duration = Duration::from_millis(1);

/// Time between two writes of a file or of what is shown.
pub(super) const WRITING: Duration = Duration::from_millis(10);

/// Keeps pieces of work apart.
#[derive(Debug)]
pub(super) struct Pace {
    period: Duration,
    last: Instant,
}

impl Pace {
    /// Pieces begin so long after each other at least.
    pub(super) fn new(period: Duration) -> Self {
        Self { period, last: Instant::now() }
    }

    /// Sleeps for what is left of the period since the last piece.
    pub(super) fn rest(&mut self) {
        thread::sleep(self.period.saturating_sub(self.last.elapsed()));
        self.last = Instant::now();
    }
}
