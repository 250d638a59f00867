//! Resting between two pieces of work, so that a stream of small pieces does not cost a waking for each of them.

use std::thread;
use std::time::{Duration, Instant};

/// How often the end is looked for while nothing arrives.
pub(super) const TICK: Duration = Duration::from_millis(100);

/// Time between two reads of a source that delivers little at a time. What comes in between waits in
/// the system's buffer; at the rate of a fast serial line that is a few hundred bytes.
pub(super) const READING: Duration = Duration::from_millis(1);

/// The longest time between two reads of a source that delivers much: being woken for less than [`LITTLE`]
/// costs more than reading it.
const READING_MUCH: Duration = Duration::from_millis(4);

/// Reads of a source that delivers little, and is not to be seen any later for that, have fewer bytes.
const FEW: usize = 1 << 12;
/// After reads of fewer bytes more are waited for,
const LITTLE: usize = 1 << 14;
/// and after longer ones less long: a pipe of the usual size would soon be full.
const MUCH: usize = 1 << 15;

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

    /// [`Pace::rest`] after a read of so many bytes, for which the next one has to wait.
    pub(super) fn rest_after_read(&mut self, bytes: usize) {
        self.period = match bytes {
            ..FEW => READING,
            FEW..LITTLE => (2 * self.period).min(READING_MUCH),
            LITTLE..=MUCH => self.period,
            _ => (self.period / 2).max(READING),
        };
        self.rest();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The period after reads at a steady rate, in bytes a millisecond.
    fn settled(rate: usize) -> Duration {
        let mut pace = Pace::new(READING);
        for _ in 0..10 {
            // In the past, so that nobody waits.
            pace.last = Instant::now().checked_sub(READING_MUCH).unwrap_or(pace.last);
            let bytes = rate * pace.period.as_millis() as usize;
            pace.rest_after_read(bytes.min(1 << 16));
        }
        pace.period
    }

    #[test]
    fn more_is_waited_for_only_where_much_comes() {
        let milliseconds =
            [10, 4000, 5000, 12_500, 20_000, 60_000].map(|rate| settled(rate).as_millis());
        assert_eq!(milliseconds, [1, 1, 4, 2, 1, 1]);
    }
}
