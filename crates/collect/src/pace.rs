//! Pauses between reads and writes, so that a stream of small chunks does not wake a thread for
//! each chunk.

use std::thread;
use std::time::{Duration, Instant};

/// The interval at which an idle source checks if the collection should end.
pub(crate) const TICK: Duration = Duration::from_millis(100);

/// Time between two reads of a slow source. Between the reads, data waits in the system's buffer: a
/// few hundred bytes for a fast serial line.
pub(crate) const READING: Duration = Duration::from_millis(1);

/// The longest time between two reads of a fast source. If fewer than [`LITTLE`] bytes wait, waking
/// up costs more than reading them.
const READING_MUCH: Duration = Duration::from_millis(4);

/// If a read returns fewer bytes than this, the source is slow and is shown without delay.
const FEW: usize = 1 << 12;
/// If a read returns fewer bytes than this, the pause doubles, so the next read returns more.
const LITTLE: usize = 1 << 14;
/// If a read returns more bytes than this, the pause halves, because a pipe of 64 KiB would soon be
/// full.
const MUCH: usize = 1 << 15;

/// Time between two writes to a file or to the view.
pub(crate) const WRITING: Duration = Duration::from_millis(10);

/// Keeps a minimum time between units of work.
#[derive(Debug)]
pub(crate) struct Pace {
    period: Duration,
    last: Instant,
}

impl Pace {
    /// Creates a pace at which two units of work start at least `period` apart.
    pub(crate) fn new(period: Duration) -> Self {
        Self { period, last: Instant::now() }
    }

    /// Sleeps until one period has passed since the end of the previous sleep.
    pub(crate) fn rest(&mut self) {
        thread::sleep(self.period.saturating_sub(self.last.elapsed()));
        self.last = Instant::now();
    }

    /// Adapts the period to a read of `bytes` bytes, and sleeps as [`Pace::rest`] does.
    pub(crate) fn rest_after_read(&mut self, bytes: usize) {
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

    /// Returns the period after several reads from a source that sends `rate` bytes per
    /// millisecond.
    fn settled(rate: usize) -> Duration {
        let mut pace = Pace::new(READING);
        for _ in 0..10 {
            // A time in the past, so that the test does not wait.
            pace.last = Instant::now().checked_sub(READING_MUCH).unwrap_or(pace.last);
            let bytes = rate * pace.period.as_millis() as usize;
            pace.rest_after_read(bytes.min(1 << 16));
        }
        pace.period
    }

    #[test]
    fn pauses_grow_for_fast_sources_only() {
        let milliseconds =
            [10, 4000, 5000, 12_500, 20_000, 60_000].map(|rate| settled(rate).as_millis());
        assert_eq!(milliseconds, [1, 1, 4, 2, 1, 1]);
    }
}
