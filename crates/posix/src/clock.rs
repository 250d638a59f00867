//! Time stamps: the processor's counter, turned into `CLOCK_REALTIME` when an event is recorded.
//!
//! Reading the system's clock takes twice as long as reading the counter it is made from, because it
//! waits for all instructions before. So a thread compares the two every 2 ms and goes by the counter in
//! between. The rate is what the process measured over the last second, so that the result is right to
//! some ten nanoseconds; a clock that somebody sets is noticed within those 2 ms.

use std::cell::Cell;
use std::sync::atomic::{
    AtomicBool, AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};

use tracewell_record::clock::counter;

use crate::sys;

/// Nanoseconds for which a comparison is good.
const GOOD_FOR: u64 = 2_000_000;
/// Nanoseconds after which the rate is measured anew, and over which at most.
const MEASURED: std::ops::Range<u64> = 100_000_000..1_000_000_000;

/// Nanoseconds of a tick, times 2^32; 0 while nobody said.
static TICK: AtomicU64 = AtomicU64::new(0);
/// Where the present measurement of the rate began: counter, nanoseconds; 0 for not.
static BEGAN: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];
/// How often the two clocks are compared for one comparison.
const TRIES: u32 = 8;
static MEASURING: AtomicBool = AtomicBool::new(false);

/// Nanoseconds of a tick, times 2^32, for controllers to tell others; 0 where the counter is no clock.
/// Takes 10 ms the first time.
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

/// Takes the rate that a controller measured, if this process has none. For signal handlers.
pub(crate) fn learn(tick: u64) {
    // From 16 MHz to 64 GHz; anything else is no counter's.
    if (1 << 26..1 << 38).contains(&tick) {
        let _ = TICK.compare_exchange(0, tick, Relaxed, Relaxed);
    }
}

/// In the child of a fork: the thread that measured may be the parent's.
pub(crate) fn after_fork() {
    MEASURING.store(false, Relaxed);
}

/// What a thread knows of the clocks.
#[derive(Debug)]
pub(crate) struct Comparison {
    counter: Cell<u64>,
    time: Cell<u64>,
    tick: Cell<u64>,
    /// Ticks for which this is good.
    good_for: Cell<u64>,
}

impl Comparison {
    pub(crate) const fn new() -> Self {
        Self {
            counter: Cell::new(0),
            time: Cell::new(0),
            tick: Cell::new(0),
            good_for: Cell::new(0),
        }
    }

    /// Nanoseconds since 1970. For signal handlers.
    #[inline]
    pub(crate) fn now(&self) -> u64 {
        let passed = counter::read().wrapping_sub(self.counter.get());
        if passed < self.good_for.get() {
            return self.time.get() + ((passed * self.tick.get()) >> 32);
        }
        self.compare()
    }

    #[cold]
    #[inline(never)]
    fn compare(&self) -> u64 {
        let tick = TICK.load(Relaxed);
        if tick == 0 {
            return sys::realtime();
        }
        let (counter, time, exact) = simultaneous();
        let tick = if exact { measure(counter, time, tick) } else { tick };
        self.counter.set(counter);
        self.time.set(time);
        self.tick.set(tick);
        self.good_for.set((GOOD_FOR << 32) / tick);
        time
    }
}

/// Counter and time at one moment, and whether nothing came between: the narrowest of some tries, of
/// which the first that is as narrow as others were does.
fn simultaneous() -> (u64, u64, bool) {
    static NARROWEST: AtomicU64 = AtomicU64::new(u64::MAX);
    let mut best = (u64::MAX, 0, 0);
    for _ in 0..TRIES {
        let before = counter::read();
        let time = sys::realtime();
        let width = counter::read().wrapping_sub(before);
        if width < best.0 {
            // The clock reads the counter in the first half of what it does.
            best = (width, before.wrapping_add(width * 3 / 8), time);
        }
        let narrowest = NARROWEST.fetch_min(width, Relaxed).min(width);
        if width <= narrowest + narrowest / 4 {
            return (best.1, best.2, true);
        }
    }
    (best.1, best.2, false)
}

/// Measures the rate if it is time to; the rate that holds now.
fn measure(counter: u64, time: u64, tick: u64) -> u64 {
    if MEASURING.swap(true, Acquire) {
        return tick;
    }
    let began = BEGAN.each_ref().map(|word| word.load(Relaxed));
    let passed = time.wrapping_sub(began[1]);
    let mut now = tick;
    if passed >= MEASURED.start {
        let ticks = counter.wrapping_sub(began[0]).max(1);
        let measured = ((u128::from(passed) << 32) / u128::from(ticks)) as u64;
        // A clock that was set, or a first measurement: the rate stays.
        let near = measured.abs_diff(tick) < tick / 500;
        if near {
            TICK.store(measured, Relaxed);
            now = measured;
        }
        if !near || passed >= MEASURED.end {
            BEGAN[0].store(counter, Relaxed);
            BEGAN[1].store(time, Relaxed);
        }
    }
    MEASURING.store(false, Release);
    now
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_are_between_readings_of_the_clock() {
        tick();
        let comparison = Comparison::new();
        let mut outside = 0;
        for _ in 0..200_000 {
            let before = sys::realtime();
            let stamp = comparison.now();
            let after = sys::realtime();
            outside += u32::from(!(before..=after).contains(&stamp));
        }
        // The machine may be interrupted while it compares.
        assert!(outside < 2000, "{outside} of 200000 outside");
    }
}
