//! Decides when the collection ends, based on counters and times that all threads share.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

/// Conditions that end the collection. The collection ends when the first condition is met.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Until {
    /// Maximum duration of the collection.
    pub elapsed: Option<Duration>,
    /// Maximum number of packets with distinct numbers.
    pub packets: Option<u64>,
    /// Maximum number of bytes from all sources together. If a read reaches the limit, all bytes of
    /// this read are stored.
    pub bytes: Option<u64>,
    /// Maximum time during which no source receives a byte. Before the first byte, this limit does
    /// not apply.
    pub idle: Option<Duration>,
    /// True if a source ends with its first connection instead of reconnecting.
    pub disconnected: bool,
}

/// The state that all threads of a collection share.
#[derive(Debug)]
pub(crate) struct Control<'a> {
    pub(crate) until: Until,
    stopped: &'a AtomicBool,
    /// Set by the thread that ends the collection.
    over: AtomicBool,
    start: Instant,
    /// Start of the collection in nanoseconds since 1970. Later times are this value plus the time
    /// that has passed on a monotonic clock.
    origin_ns: u64,
    bytes: AtomicU64,
    packets: AtomicU64,
    /// The time of the last arrival: 1 plus the nanoseconds since the start; 0 before the first
    /// arrival.
    last: AtomicU64,
    /// For each source, the start of the last read that found no data: 1 plus the nanoseconds since
    /// the start of the collection; `u64::MAX` after the source ended. The time since the last
    /// arrival does not prove that a source is silent: while this process is not scheduled, unread
    /// bytes can wait in the system.
    silent: Vec<AtomicU64>,
}

impl<'a> Control<'a> {
    pub(crate) fn new(until: Until, stopped: &'a AtomicBool, sources: usize) -> Self {
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

    /// Records an arrival and returns its time in nanoseconds since 1970.
    pub(crate) fn arrived(&self, bytes: usize) -> u64 {
        let since = self.since_start();
        self.last.store(since + 1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        self.origin_ns.saturating_add(since)
    }

    /// Returns the time in nanoseconds since 1970.
    pub(crate) fn now(&self) -> u64 {
        self.origin_ns.saturating_add(self.since_start())
    }

    /// Returns the time in nanoseconds since the start.
    pub(crate) fn since_start(&self) -> u64 {
        nanoseconds(self.start.elapsed())
    }

    /// Stores the fact that a read of this source returned no data. `asked` is the time at which
    /// the read began, in nanoseconds since the start of the collection.
    pub(crate) fn was_silent(&self, source: usize, asked: u64) {
        if let Some(silent) = self.silent.get(source) {
            silent.store(asked.saturating_add(1), Ordering::Relaxed);
        }
    }

    /// Stores the fact that a source has ended.
    pub(crate) fn source_ended(&self, source: usize) {
        self.was_silent(source, u64::MAX);
    }

    /// Counts a packet with a new number.
    pub(crate) fn packet(&self) {
        self.packets.fetch_add(1, Ordering::Relaxed);
    }

    /// Ends the collection of all sources.
    pub(crate) fn end(&self) {
        self.over.store(true, Ordering::Relaxed);
    }

    /// Returns true if the collection should end. Sources call this after each read, and ten times
    /// a second while they wait.
    pub(crate) fn is_over(&self) -> bool {
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

/// Saturates after 584 years.
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
    fn the_first_limit_ends_the_collection() {
        let never = Until::default();
        assert!(!over_after(never, 1 << 30, 1000));
        assert!(over_after(Until { bytes: Some(7), ..never }, 7, 0));
        assert!(!over_after(Until { bytes: Some(7), ..never }, 6, 9));
        assert!(over_after(Until { packets: Some(2), ..never }, 0, 2));
        assert!(over_after(Until { elapsed: Some(Duration::ZERO), ..never }, 0, 0));
        assert!(over_after(Until { idle: Some(Duration::ZERO), ..never }, 1, 0));
    }

    #[test]
    fn silence_counts_only_after_the_first_byte() {
        let stopped = AtomicBool::new(false);
        let until = Until { idle: Some(Duration::ZERO), ..Until::default() };
        let control = Control::new(until, &stopped, 2);
        assert!(!control.is_over());
        let before = control.now();
        assert!(control.arrived(0) >= before && !control.is_over());
        control.was_silent(0, control.since_start());
        assert!(!control.is_over(), "the other source has not been read yet");
        control.source_ended(1);
        assert!(control.is_over());
        control.arrived(1);
        assert!(!control.is_over());
        stopped.store(true, Ordering::Relaxed);
        assert!(control.is_over());
    }
}
