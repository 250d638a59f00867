//! Progress of work that waits for other programs. A thread draws the lines while the work runs.

use std::collections::VecDeque;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use super::{PATIENCE, lines};

/// Time between two updates.
const INTERVAL: Duration = Duration::from_millis(200);

/// Rates are averages over this time.
const WINDOW: Duration = Duration::from_secs(2);

/// Runs `work`. If `shows` is true, calls `text` five times a second with the time since the start,
/// and shows the lines that `text` returns. Removes the lines at the end.
pub(crate) fn during<T>(
    shows: bool,
    mut text: impl FnMut(Duration) -> Vec<String> + Send,
    work: impl FnOnce() -> T,
) -> T {
    if !shows {
        return work();
    }
    thread::scope(|scope| {
        // Dropping `working` ends the thread, even if the work panics.
        let (working, ended) = mpsc::channel::<()>();
        scope.spawn(move || {
            let start = Instant::now();
            let mut pause = PATIENCE;
            while ended.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                if is_foreground() {
                    lines::show(&text(start.elapsed()));
                }
                pause = INTERVAL;
            }
            drop(lines::clear());
        });
        let result = work();
        drop(working);
        result
    })
}

/// Returns false if this is a background job, because its lines would disturb the user of the
/// terminal.
#[cfg(target_os = "linux")]
fn is_foreground() -> bool {
    // A terminal that is not this process's controlling terminal reports no foreground process
    // group.
    let group = rustix::termios::tcgetpgrp(std::io::stderr());
    group.is_ok_and(|group| group == rustix::process::getpgrp()) || group.is_err()
}

#[cfg(not(target_os = "linux"))]
fn is_foreground() -> bool {
    true
}

/// The recent rate of a count.
#[derive(Debug)]
pub(crate) struct Rate {
    /// Samples of the count, each with its time since the start. Only the first sample can be older
    /// than the last one by [`WINDOW`] or more.
    samples: VecDeque<(Duration, u64)>,
}

impl Default for Rate {
    fn default() -> Self {
        Self { samples: VecDeque::from([(Duration::ZERO, 0)]) }
    }
}

impl Rate {
    /// Adds a sample: the count at `time`, which is the time since the start. Returns the rate per
    /// second since the last sample that is at least [`WINDOW`] old, or since the start.
    pub(crate) fn at(&mut self, time: Duration, count: u64) -> u64 {
        self.samples.push_back((time, count));
        let is_old = |sample: &(Duration, u64)| time.saturating_sub(sample.0) >= WINDOW;
        while self.samples.get(1).is_some_and(is_old) {
            self.samples.pop_front();
        }
        let (since, before) = self.samples.front().copied().unwrap_or((time, count));
        let seconds = time.saturating_sub(since).as_secs_f64().max(1e-3);
        (count.saturating_sub(before) as f64 / seconds) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_covers_the_last_two_seconds() {
        let mut rate = Rate::default();
        let at = Duration::from_millis;
        assert_eq!(rate.at(at(500), 50), 100);
        assert_eq!(rate.at(at(1000), 100), 100);
        // From this time on, the count does not change.
        assert_eq!(rate.at(at(2000), 100), 50);
        assert_eq!(rate.at(at(2500), 100), 25);
        assert_eq!(rate.at(at(3000), 100), 0);
    }
}
