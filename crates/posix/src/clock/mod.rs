//! Timestamps: reads the processor's counter and converts it to `CLOCK_REALTIME` when an event is
//! recorded.
//!
//! A reading of the system clock takes twice as long as a reading of the counter, because the
//! processor first completes all earlier instructions. So each thread compares the two clocks every
//! 2 ms and uses the counter in between. The conversion uses the rate that the process measured
//! over the last second, which makes timestamps accurate to some tens of nanoseconds. A thread
//! detects a changed clock within 2 ms.
//!
//! If a comparison was interrupted, the timestamp is the system clock's time, and the thread
//! compares the clocks again at its next event. If the clock drifts relative to the counter, for
//! example while it is being adjusted, a thread compares more often.

use std::cell::Cell;
use std::sync::atomic::{
    AtomicBool, AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};

use tracewell_record::clock::counter;

use crate::sys;

/// Maximum time in nanoseconds before a thread must renew its comparison.
const MAX_PERIOD: u64 = 2_000_000;
const MIN_PERIOD: u64 = MAX_PERIOD >> 8;
/// Maximum error, in nanoseconds, of the time that an accurate comparison predicts.
const TOLERANCE: u64 = 500;
/// Minimum and maximum duration of a rate measurement, in nanoseconds.
const MEASURED: std::ops::Range<u64> = 100_000_000..1_000_000_000;
/// Number of clock readings per comparison.
const READINGS: u32 = 8;

static RATE: Rate = Rate::new();
/// Smallest difference, in ticks, between the counter readings before and after a clock reading. A
/// difference close to this value means that the reading was not interrupted.
static NARROWEST: AtomicU64 = AtomicU64::new(UNKNOWN);
const UNKNOWN: u64 = u64::MAX;

/// Returns the number of nanoseconds per tick, times 2^32, or 0 if the counter is not usable as a
/// clock. Controllers pass this value to traced processes. The first call takes 10 ms.
pub(crate) fn tick() -> u64 {
    static OWN: std::sync::OnceLock<u64> = std::sync::OnceLock::new();
    *OWN.get_or_init(|| {
        if !counter::is_invariant() {
            return 0;
        }
        let rate = counter::ticks_per_second();
        let tick = (1_000_000_000_u64 << 32).checked_div(rate).unwrap_or(0);
        learn(tick);
        tick
    })
}

/// If this process has no rate yet, uses the rate that a controller measured. Async-signal-safe.
pub(crate) fn learn(tick: u64) {
    RATE.learn(tick);
}

/// Resets state in the child of a fork, because the thread that was measuring may exist only in the
/// parent.
pub(crate) fn after_fork() {
    RATE.measuring.store(false, Relaxed);
}

/// A thread's last comparison of the clock with the counter.
#[derive(Debug)]
pub(crate) struct Comparison {
    counter: Cell<u64>,
    time: Cell<u64>,
    tick: Cell<u64>,
    /// The comparison can be used for this number of ticks.
    good_for: Cell<u64>,
    /// The same period in nanoseconds; 0 means [`MAX_PERIOD`].
    period: Cell<u64>,
}

impl Comparison {
    #[cfg(test)]
    const fn new() -> Self {
        Self {
            counter: Cell::new(0),
            time: Cell::new(0),
            tick: Cell::new(0),
            good_for: Cell::new(0),
            period: Cell::new(0),
        }
    }

    /// Returns the current time in nanoseconds since 1970-01-01 UTC. Async-signal-safe.
    #[inline]
    pub(crate) fn now(&self) -> u64 {
        self.predict(counter::read()).unwrap_or_else(|| self.compare())
    }

    /// Returns the time at a counter value, if the comparison is recent enough.
    #[inline(always)]
    fn predict(&self, counter: u64) -> Option<u64> {
        let passed = counter.wrapping_sub(self.counter.get());
        (passed < self.good_for.get()).then(|| self.after(passed))
    }

    /// Returns the time `ticks` ticks after the comparison. The product does not overflow, because
    /// comparisons are used only for milliseconds.
    #[inline(always)]
    const fn after(&self, ticks: u64) -> u64 {
        self.time.get() + ((ticks * self.tick.get()) >> 32)
    }

    #[cold]
    #[inline(never)]
    fn compare(&self) -> u64 {
        self.renew(&RATE, &NARROWEST, Reading::now).unwrap_or_else(sys::realtime)
    }

    /// Compares the clocks and returns the time. Returns `None` if no rate is known yet, or if all
    /// readings were interrupted.
    fn renew(
        &self,
        rate: &Rate,
        narrowest: &AtomicU64,
        read: impl FnMut() -> Reading,
    ) -> Option<u64> {
        if !rate.is_known() {
            return None;
        }
        let (counter, time) = simultaneous(narrowest, read)?;
        let tick = rate.measure(counter, time);
        self.period.set(self.next_period(counter, time));
        self.counter.set(counter);
        self.time.set(time);
        self.tick.set(tick);
        // `tick` is the number of nanoseconds per count, times 2^32. So the quotient is in counts.
        self.good_for.set((self.period.get() << 32) / tick);
        Some(time)
    }

    /// Returns the period for which the new comparison can be used. The period grows if the last
    /// comparison predicted the time well, and shrinks otherwise.
    fn next_period(&self, counter: u64, time: u64) -> u64 {
        let period = if self.period.get() == 0 { MAX_PERIOD } else { self.period.get() };
        let passed = counter.wrapping_sub(self.counter.get());
        // A comparison from long ago says nothing about the present drift.
        if self.tick.get() == 0 || passed >= ((2 * MAX_PERIOD) << 32) / self.tick.get() {
            return period;
        }
        let near = self.after(passed).abs_diff(time) <= TOLERANCE;
        if near { (period * 2).min(MAX_PERIOD) } else { (period / 4).max(MIN_PERIOD) }
    }
}

/// A reading of the clock between two readings of the counter.
#[derive(Clone, Copy)]
struct Reading {
    before: u64,
    time: u64,
    after: u64,
}

impl Reading {
    fn now() -> Self {
        let before = counter::read();
        let time = sys::realtime();
        Self { before, time, after: counter::read() }
    }

    const fn width(&self) -> u64 {
        self.after.wrapping_sub(self.before)
    }

    /// Returns the values of the counter and the clock at the same moment. The system call reads
    /// the counter in the first half of the interval, so this function estimates the moment at 3/8
    /// of the interval.
    const fn moment(&self) -> (u64, u64) {
        (self.before.wrapping_add(self.width() / 8 * 3), self.time)
    }
}

/// Returns the values of the counter and the clock at the same moment. Both values are from the
/// first reading whose width is close to the smallest known width. Returns `None` if all readings
/// were interrupted.
///
/// The first call does not know the smallest width yet, so it uses its narrowest reading. A
/// processor that has slowed down makes all readings wider, so the limit is raised after each
/// failure.
fn simultaneous(narrowest: &AtomicU64, mut read: impl FnMut() -> Reading) -> Option<(u64, u64)> {
    let known = narrowest.load(Relaxed);
    // Allow a quarter more than the smallest width. An interrupt takes much longer.
    let limit = known.saturating_add(known / 4 + 1);
    let mut best: Option<Reading> = None;
    for _ in 0..READINGS {
        let reading = read();
        narrowest.fetch_min(reading.width(), Relaxed);
        if known != UNKNOWN && reading.width() <= limit {
            return Some(reading.moment());
        }
        if best.is_none_or(|best| reading.width() < best.width()) {
            best = Some(reading);
        }
    }
    if known == UNKNOWN {
        return best.map(|best| best.moment());
    }
    narrowest.fetch_max(limit, Relaxed);
    None
}

/// The rate of the counter, shared by all threads of the process.
struct Rate {
    /// Nanoseconds per tick, times 2^32; 0 if unknown.
    tick: AtomicU64,
    /// Start of the current measurement, as counter value and nanoseconds; 0 before the first
    /// measurement.
    began: [AtomicU64; 2],
    measuring: AtomicBool,
}

impl Rate {
    const fn new() -> Self {
        Self {
            tick: AtomicU64::new(0),
            began: [const { AtomicU64::new(0) }; 2],
            measuring: AtomicBool::new(false),
        }
    }

    fn learn(&self, tick: u64) {
        // Existing counters run at 16 MHz to 64 GHz.
        if (1 << 26..1 << 38).contains(&tick) {
            let _ = self.tick.compare_exchange(0, tick, Relaxed, Relaxed);
        }
    }

    fn is_known(&self) -> bool {
        self.tick.load(Relaxed) != 0
    }

    /// Updates the rate if enough time has passed since the last measurement. Returns the current
    /// rate in nanoseconds per tick, times 2^32.
    fn measure(&self, counter: u64, time: u64) -> u64 {
        let tick = self.tick.load(Relaxed);
        if self.measuring.swap(true, Acquire) {
            return tick;
        }
        let began = self.began.each_ref().map(|word| word.load(Relaxed));
        let passed = time.wrapping_sub(began[1]);
        let mut now = tick;
        if passed >= MEASURED.start {
            let ticks = counter.wrapping_sub(began[0]).max(1);
            let measured = ((u128::from(passed) << 32) / u128::from(ticks)) as u64;
            // Keep the rate if the clock was set, or if no earlier call began the measurement.
            let near = measured.abs_diff(tick) < tick / 500;
            if near {
                self.tick.store(measured, Relaxed);
                now = measured;
            }
            if !near || passed >= MEASURED.end {
                self.began[0].store(counter, Relaxed);
                self.began[1].store(time, Relaxed);
            }
        }
        self.measuring.store(false, Release);
        now
    }
}

#[cfg(test)]
mod tests;
