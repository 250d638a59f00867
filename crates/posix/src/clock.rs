//! Time stamps: the processor's counter, turned into `CLOCK_REALTIME` when an event is recorded.
//!
//! Reading the system's clock takes twice as long as reading the counter it is made from, because it
//! waits for all instructions before. So a thread compares the two every 2 ms and goes by the counter in
//! between. The rate is what the process measured over the last second, so that the result is right to
//! some ten nanoseconds; a clock that somebody sets is noticed within those 2 ms.
//!
//! A comparison that something came between is not used: the system's clock gives the stamp, and the next
//! event compares anew. Where the clock does not go as the counter says, as while it is being adjusted, a
//! thread compares more often.

use std::cell::Cell;
use std::sync::atomic::{
    AtomicBool, AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};

use tracewell_record::clock::counter;

use crate::sys;

/// Nanoseconds for which a comparison is good at most, and at least.
const LONGEST: u64 = 2_000_000;
const SHORTEST: u64 = LONGEST >> 8;
/// Nanoseconds by which the time that a comparison tells may differ from that of the next one.
const NEAR: u64 = 500;
/// Nanoseconds after which the rate is measured anew, and over which at most.
const MEASURED: std::ops::Range<u64> = 100_000_000..1_000_000_000;
/// How often the two clocks are read for one comparison.
const TRIES: u32 = 8;

static RATE: Rate = Rate::new();
/// Ticks between the counter's readings before and after the clock's, where nothing came between.
static NARROWEST: AtomicU64 = AtomicU64::new(UNKNOWN);
const UNKNOWN: u64 = u64::MAX;

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
    RATE.learn(tick);
}

/// In the child of a fork: the thread that measured may be the parent's.
pub(crate) fn after_fork() {
    RATE.measuring.store(false, Relaxed);
}

/// What a thread knows of the clocks.
#[derive(Debug)]
pub(crate) struct Comparison {
    counter: Cell<u64>,
    time: Cell<u64>,
    tick: Cell<u64>,
    /// Ticks for which this is good.
    good_for: Cell<u64>,
    /// The same in nanoseconds; 0 for the longest.
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

    /// Nanoseconds since 1970. For signal handlers.
    #[inline]
    pub(crate) fn now(&self) -> u64 {
        self.told(counter::read()).unwrap_or_else(|| self.compare())
    }

    /// The time when the counter stood so, if the comparison is still good.
    #[inline(always)]
    fn told(&self, counter: u64) -> Option<u64> {
        let passed = counter.wrapping_sub(self.counter.get());
        (passed < self.good_for.get()).then(|| self.after(passed))
    }

    /// The time so many ticks after the comparison; they are some milliseconds at most.
    #[inline(always)]
    const fn after(&self, ticks: u64) -> u64 {
        self.time.get() + ((ticks * self.tick.get()) >> 32)
    }

    #[cold]
    #[inline(never)]
    fn compare(&self) -> u64 {
        self.renew(&RATE, &NARROWEST, Reading::now).unwrap_or_else(sys::realtime)
    }

    /// Compares the clocks, and says the time; `None` where that cannot be done now.
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
        self.good_for.set((self.period.get() << 32) / tick);
        Some(time)
    }

    /// For how long a comparison is good: less if the last one tells another time than it, more if not.
    fn next_period(&self, counter: u64, time: u64) -> u64 {
        let period = if self.period.get() == 0 { LONGEST } else { self.period.get() };
        let passed = counter.wrapping_sub(self.counter.get());
        if self.tick.get() == 0 || passed >= ((2 * LONGEST) << 32) / self.tick.get() {
            return period;
        }
        let near = self.after(passed).abs_diff(time) <= NEAR;
        if near { (period * 2).min(LONGEST) } else { (period / 4).max(SHORTEST) }
    }
}

/// The clock, and the counter before and after it was read.
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

    /// Counter and time at one moment: the clock reads the counter in the first half of what it does.
    const fn moment(&self) -> (u64, u64) {
        (self.before.wrapping_add(self.width() / 8 * 3), self.time)
    }
}

/// Counter and time at one moment: of some tries the first that is as narrow as others were. `None` where
/// something came between in all of them.
///
/// The first comparison has nothing to go by and takes the best of its tries. A processor that became
/// slower makes all of them wider, so what is asked for is less after each failure.
fn simultaneous(narrowest: &AtomicU64, mut read: impl FnMut() -> Reading) -> Option<(u64, u64)> {
    let known = narrowest.load(Relaxed);
    let limit = known.saturating_add(known / 4 + 1);
    let mut best: Option<Reading> = None;
    for _ in 0..TRIES {
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

/// How fast the counter is.
struct Rate {
    /// Nanoseconds of a tick, times 2^32; 0 while nobody said.
    tick: AtomicU64,
    /// Where the present measurement began: counter, nanoseconds; 0 for not.
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
        // From 16 MHz to 64 GHz; anything else is no counter's.
        if (1 << 26..1 << 38).contains(&tick) {
            let _ = self.tick.compare_exchange(0, tick, Relaxed, Relaxed);
        }
    }

    fn is_known(&self) -> bool {
        self.tick.load(Relaxed) != 0
    }

    /// Measures it if it is time to; the nanoseconds of a tick that hold now.
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
            // A clock that was set, or a first measurement: the rate stays.
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
