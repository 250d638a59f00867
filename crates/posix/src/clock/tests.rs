//! Tests of the clock on a simulated machine. On real clocks, the tests check only properties that
//! hold on every machine.

use super::*;

/// A machine with a counter of 1 GHz: one tick is one nanosecond unless the clock is adjusted.
struct Machine {
    counter: Cell<u64>,
    /// The clock minus the counter, in nanoseconds.
    ahead: Cell<i64>,
    rate: Rate,
    narrowest: AtomicU64,
}

const NANOSECOND: u64 = 1 << 32;

impl Machine {
    fn new() -> Self {
        let rate = Rate::new();
        rate.learn(NANOSECOND);
        let narrowest = AtomicU64::new(UNKNOWN);
        Self { counter: Cell::new(5_000), ahead: Cell::new(1 << 60), rate, narrowest }
    }

    fn time(&self) -> u64 {
        self.counter.get().wrapping_add_signed(self.ahead.get())
    }

    fn pass(&self, ticks: u64) {
        self.counter.set(self.counter.get() + ticks);
    }

    /// Reads the counter, the clock, and the counter again, with delays of `lost[0]` ticks before
    /// and `lost[1]` ticks after reading the clock.
    fn reading(&self, lost: [u64; 2]) -> Reading {
        let before = self.counter.get();
        self.pass(15 + lost[0]);
        let time = self.time();
        self.pass(25 + lost[1]);
        Reading { before, time, after: self.counter.get() }
    }

    /// Returns the timestamp of an event recorded now. If this requires a comparison, the N-th
    /// reading of the comparison has the delays that `lost(N)` returns.
    fn stamp(&self, comparison: &Comparison, lost: impl Fn(u32) -> [u64; 2]) -> Option<u64> {
        comparison.predict(self.counter.get()).or_else(|| {
            let mut tries = 0..;
            let read = || self.reading(lost(tries.next().unwrap()));
            comparison.renew(&self.rate, &self.narrowest, read)
        })
    }

    /// Returns the timestamp error, in nanoseconds, of an event recorded now.
    fn error(&self, comparison: &Comparison) -> u64 {
        let stamp = self.stamp(comparison, |_| [0, 0]).unwrap();
        stamp.abs_diff(self.time())
    }
}

#[test]
fn between_comparisons_the_counter_gives_the_time() {
    let (machine, comparison) = (Machine::new(), Comparison::new());
    for _ in 0..10_000 {
        machine.pass(700);
        assert!(machine.error(&comparison) <= 320, "a comparison with eight readings takes 320 ns");
    }
    assert_eq!(comparison.period.get(), MAX_PERIOD);
}

#[test]
fn without_a_rate_there_is_no_comparison() {
    let machine = Machine { rate: Rate::new(), ..Machine::new() };
    machine.rate.learn(3);
    assert_eq!(machine.stamp(&Comparison::new(), |_| [0, 0]), None);
}

#[test]
fn an_interruption_of_the_first_comparison_does_not_matter() {
    for interrupted in 0..READINGS {
        for lost in [[1_000_000, 0], [0, 1_000_000]] {
            let (machine, comparison) = (Machine::new(), Comparison::new());
            let noise = |number| if number == interrupted { lost } else { [0, 0] };
            machine.stamp(&comparison, noise).unwrap();
            machine.pass(1000);
            assert_eq!(machine.error(&comparison), 0, "in reading {interrupted}");
        }
    }
}

#[test]
fn an_interrupted_comparison_is_not_used() {
    let (machine, comparison) = (Machine::new(), Comparison::new());
    assert_eq!(machine.error(&comparison), 25 + 40 * 7);
    machine.pass(MAX_PERIOD);
    assert_eq!(machine.stamp(&comparison, |_| [40_000, 0]), None);
    assert_eq!(machine.stamp(&comparison, |_| [0, 40_000]), None);
    // One reading without an interruption is enough for a comparison.
    let last_is_good = |number| if number == READINGS - 1 { [0, 0] } else { [40_000, 0] };
    assert!(machine.stamp(&comparison, last_is_good).is_some());
    machine.pass(1000);
    assert_eq!(machine.error(&comparison), 0);
}

#[test]
fn a_processor_that_became_slower_is_compared_again() {
    let (machine, comparison) = (Machine::new(), Comparison::new());
    machine.stamp(&comparison, |_| [0, 0]).unwrap();
    machine.pass(MAX_PERIOD);
    let slow = |_| [45, 75];
    let refused = (0..100).take_while(|_| machine.stamp(&comparison, slow).is_none()).count();
    assert!((1..10).contains(&refused), "{refused}");
    machine.pass(MAX_PERIOD);
    assert!(machine.stamp(&comparison, slow).is_some(), "the limit was raised");
    // When the machine regains its speed, the limit returns to its former value.
    machine.pass(MAX_PERIOD);
    machine.stamp(&comparison, |_| [0, 0]).unwrap();
    assert_eq!(machine.narrowest.load(Relaxed), 40);
}

#[test]
fn a_clock_that_was_set_is_noticed_with_the_next_comparison() {
    for step in [1_i64 << 50, -(1 << 50), 20_000, -20_000] {
        let (machine, comparison) = (Machine::new(), Comparison::new());
        machine.stamp(&comparison, |_| [0, 0]).unwrap();
        machine.pass(1000);
        machine.ahead.set(machine.ahead.get() + step);
        assert_eq!(machine.error(&comparison), step.unsigned_abs());
        machine.pass(MAX_PERIOD);
        machine.stamp(&comparison, |_| [0, 0]).unwrap();
        for _ in 0..1000 {
            machine.pass(100_000);
            // Until the next measurement, a small step is treated as a change of the rate.
            assert!(machine.error(&comparison) <= TOLERANCE, "after {step}");
        }
        assert_eq!(comparison.period.get(), MAX_PERIOD);
    }
}

/// Records an event every 2 µs while the clock gains `gained` nanoseconds per event (loses, if
/// negative). Returns the largest error in the last tenth of the events.
fn drift(machine: &Machine, comparison: &Comparison, events: u32, gained: i64) -> u64 {
    let mut largest = 0;
    for number in 0..events {
        machine.pass(2000);
        machine.ahead.set(machine.ahead.get() + gained);
        let error = machine.error(comparison);
        if number > events / 10 * 9 {
            largest = largest.max(error);
        }
    }
    largest
}

#[test]
fn a_rate_that_is_a_little_off_is_measured() {
    // Linux adjusts a clock by 500 ppm at most. Before the rate is known, this causes an error of 1
    // µs in 2 ms.
    for gained in [1, -1] {
        let (machine, comparison) = (Machine::new(), Comparison::new());
        let error = drift(&machine, &comparison, 1_000_000, gained);
        assert!(error <= 30, "{error}");
        assert_eq!(comparison.period.get(), MAX_PERIOD);
    }
}

#[test]
fn a_clock_that_drifts_is_compared_more_often() {
    // A change of 10 % is too large to be accepted as a new rate.
    for gained in [200, -200] {
        let (machine, comparison) = (Machine::new(), Comparison::new());
        let error = drift(&machine, &comparison, 10_000, gained);
        assert!(error <= MIN_PERIOD / 10 + 225, "{error}");
        // The clock is back to its normal rate.
        let error = drift(&machine, &comparison, 10_000, 0);
        assert!(error <= 25, "{error}");
        assert_eq!(comparison.period.get(), MAX_PERIOD);
    }
}

#[test]
fn stamps_are_between_readings_of_the_clock() {
    /// Tolerance in nanoseconds. While a clock is adjusted, its error between two comparisons is
    /// smaller than this.
    const SPARE: u64 = 1_000_000;
    tick();
    let comparison = Comparison::new();
    let is_between = || {
        let before = sys::realtime();
        let stamp = comparison.now();
        let after = sys::realtime();
        (before - SPARE..=after + SPARE).contains(&stamp)
    };
    // Another program may set the clock during an attempt, so try ten times.
    assert!((0..10).any(|_| (0..20_000).all(|_| is_between())));
}
