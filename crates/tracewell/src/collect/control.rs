//! When collecting ends: what all readers look at, and what they tell each other.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

/// When collecting ends by itself; the first that happens counts.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Until {
    /// So long after the start.
    pub elapsed: Option<Duration>,
    /// So many packets of different numbers are there.
    pub packets: Option<u64>,
    /// So many bytes came, from all sources together. What came with the last of them is kept, too.
    pub bytes: Option<u64>,
    /// Nothing came for so long after the first byte, from any source.
    pub idle: Option<Duration>,
    /// A connection ended: it is not made again, nor another taken.
    pub disconnected: bool,
}

/// What all threads of a collection look at.
#[derive(Debug)]
pub(super) struct Control<'a> {
    pub(super) until: Until,
    stopped: &'a AtomicBool,
    /// Whether a thread found that nothing more is wanted.
    over: AtomicBool,
    start: Instant,
    /// Nanoseconds since 1970 at the start. Times are counted on from there by a clock that never goes back.
    origin_ns: u64,
    bytes: AtomicU64,
    packets: AtomicU64,
    /// Nanoseconds since the start when something came last, plus one; 0 before anything came.
    last: AtomicU64,
    /// The same for when each source was asked last and had nothing; the largest number once it ended. Bytes
    /// that wait while this program does not run are no silence.
    silent: Vec<AtomicU64>,
}

impl<'a> Control<'a> {
    pub(super) fn new(until: Until, stopped: &'a AtomicBool, sources: usize) -> Self {
        let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        Self {
            until,
            stopped,
            over: AtomicBool::new(false),
            start: Instant::now(),
            origin_ns: since_1970.map_or(0, nanoseconds),
            bytes: AtomicU64::new(0),
            packets: AtomicU64::new(0),
            last: AtomicU64::new(0),
            silent: (0..sources).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// Notes that bytes came; when that was, in nanoseconds since 1970.
    pub(super) fn arrived(&self, bytes: usize) -> u64 {
        let since = self.since_start();
        self.last.store(since + 1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        self.origin_ns.saturating_add(since)
    }

    /// Nanoseconds since 1970.
    pub(super) fn now(&self) -> u64 {
        self.origin_ns.saturating_add(self.since_start())
    }

    /// Nanoseconds since the start.
    pub(super) fn since_start(&self) -> u64 {
        nanoseconds(self.start.elapsed())
    }

    /// Notes that a source had nothing when it was asked so long after the start.
    pub(super) fn was_silent(&self, source: usize, asked: u64) {
        if let Some(silent) = self.silent.get(source) {
            silent.store(asked.saturating_add(1), Ordering::Relaxed);
        }
    }

    /// Notes that nothing more comes from a source.
    pub(super) fn source_ended(&self, source: usize) {
        self.was_silent(source, u64::MAX);
    }

    /// Notes that a packet came whose number is new.
    pub(super) fn packet(&self) {
        self.packets.fetch_add(1, Ordering::Relaxed);
    }

    /// Nothing more is wanted.
    pub(super) fn end(&self) {
        self.over.store(true, Ordering::Relaxed);
    }

    /// Whether nothing more is wanted. The sources look at it after each read, and ten times a second.
    pub(super) fn is_over(&self) -> bool {
        let reached = |count: &AtomicU64, limit: Option<u64>| {
            limit.is_some_and(|limit| count.load(Ordering::Relaxed) >= limit)
        };
        self.stopped.load(Ordering::Relaxed)
            || self.over.load(Ordering::Relaxed)
            || reached(&self.bytes, self.until.bytes)
            || reached(&self.packets, self.until.packets)
            || self.until.elapsed.is_some_and(|limit| self.start.elapsed() >= limit)
            || self.until.idle.is_some_and(|limit| self.is_idle(limit))
    }

    fn is_idle(&self, limit: Duration) -> bool {
        let last = self.last.load(Ordering::Relaxed);
        let until = last.saturating_add(nanoseconds(limit));
        last > 0 && self.silent.iter().all(|silent| silent.load(Ordering::Relaxed) >= until)
    }
}

/// Enough for 584 years.
fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn over_after(until: Until, bytes: usize, packets: usize) -> bool {
        let stopped = AtomicBool::new(false);
        let control = Control::new(until, &stopped, 1);
        control.arrived(bytes);
        control.was_silent(0, control.since_start());
        (0..packets).for_each(|_| control.packet());
        control.is_over()
    }

    #[test]
    fn the_first_limit_ends_it() {
        let never = Until::default();
        assert!(!over_after(never, 1 << 30, 1000));
        assert!(over_after(Until { bytes: Some(7), ..never }, 7, 0));
        assert!(!over_after(Until { bytes: Some(7), ..never }, 6, 9));
        assert!(over_after(Until { packets: Some(2), ..never }, 0, 2));
        assert!(over_after(Until { elapsed: Some(Duration::ZERO), ..never }, 0, 0));
        assert!(over_after(Until { idle: Some(Duration::ZERO), ..never }, 1, 0));
    }

    #[test]
    fn nothing_is_idle_before_something_came() {
        let stopped = AtomicBool::new(false);
        let until = Until { idle: Some(Duration::ZERO), ..Until::default() };
        let control = Control::new(until, &stopped, 2);
        assert!(!control.is_over());
        let before = control.now();
        assert!(control.arrived(0) >= before && !control.is_over());
        control.was_silent(0, control.since_start());
        assert!(!control.is_over(), "nobody has asked the other source");
        control.source_ended(1);
        assert!(control.is_over());
        control.arrived(1);
        assert!(!control.is_over());
        stopped.store(true, Ordering::Relaxed);
        assert!(control.is_over());
    }
}
