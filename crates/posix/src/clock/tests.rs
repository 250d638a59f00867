//! The clock against a machine whose clocks go as a test says; of the real ones only what holds on any.

use super::*;

/// A machine with a counter of 1 GHz: a tick is a nanosecond while the clock is not adjusted.
struct Machine {
    counter: Cell<u64>,
    /// The clock less the counter.
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

    /// Reads both clocks, with so many ticks lost before and behind the clock's reading.
    fn reading(&self, lost: [u64; 2]) -> Reading {
        let before = self.counter.get();
        self.pass(15 + lost[0]);
        let time = self.time();
        self.pass(25 + lost[1]);
        Reading { before, time, after: self.counter.get() }
    }

    /// The stamp of an event now; it may need a comparison, whose every try loses what is said.
    fn stamp(&self, comparison: &Comparison, lost: impl Fn(u32) -> [u64; 2]) -> Option<u64> {
        comparison.told(self.counter.get()).or_else(|| {
            let mut tries = 0..;
            let read = || self.reading(lost(tries.next().unwrap()));
            comparison.renew(&self.rate, &self.narrowest, read)
        })
    }

    /// How far the stamp of an event now is from the time.
    fn error(&self, comparison: &Comparison) -> u64 {
        let stamp = self.stamp(comparison, |_| [0, 0]).unwrap();
        stamp.abs_diff(self.time())
    }
}

#[test]
fn between_comparisons_the_counter_tells_the_time() {
    let (machine, comparison) = (Machine::new(), Comparison::new());
    for _ in 0..10_000 {
        machine.pass(700);
        assert!(machine.error(&comparison) <= 320, "a comparison of eight tries takes 320");
    }
    assert_eq!(comparison.period.get(), LONGEST);
}

#[test]
fn without_a_rate_there_is_no_comparison() {
    let machine = Machine { rate: Rate::new(), ..Machine::new() };
    machine.rate.learn(3);
    assert_eq!(machine.stamp(&Comparison::new(), |_| [0, 0]), None);
}

#[test]
fn what_interrupts_the_first_comparison_does_not_count() {
    for interrupted in 0..TRIES {
        for lost in [[1_000_000, 0], [0, 1_000_000]] {
            let (machine, comparison) = (Machine::new(), Comparison::new());
            let noise = |number| if number == interrupted { lost } else { [0, 0] };
            machine.stamp(&comparison, noise).unwrap();
            machine.pass(1000);
            assert_eq!(machine.error(&comparison), 0, "in try {interrupted}");
        }
    }
}

#[test]
fn an_interrupted_comparison_is_not_used() {
    let (machine, comparison) = (Machine::new(), Comparison::new());
    assert_eq!(machine.error(&comparison), 25 + 40 * 7);
    machine.pass(LONGEST);
    assert_eq!(machine.stamp(&comparison, |_| [40_000, 0]), None);
    assert_eq!(machine.stamp(&comparison, |_| [0, 40_000]), None);
    // It is as soon as one try is not interrupted.
    let last_is_good = |number| if number == TRIES - 1 { [0, 0] } else { [40_000, 0] };
    assert!(machine.stamp(&comparison, last_is_good).is_some());
    machine.pass(1000);
    assert_eq!(machine.error(&comparison), 0);
}

#[test]
fn a_processor_that_became_slower_is_compared_again() {
    let (machine, comparison) = (Machine::new(), Comparison::new());
    machine.stamp(&comparison, |_| [0, 0]).unwrap();
    machine.pass(LONGEST);
    let slow = |_| [45, 75];
    let refused = (0..100).take_while(|_| machine.stamp(&comparison, slow).is_none()).count();
    assert!((1..10).contains(&refused), "{refused}");
    machine.pass(LONGEST);
    assert!(machine.stamp(&comparison, slow).is_some(), "and from then on at once");
    // As fast as before again, what is asked for is, too.
    machine.pass(LONGEST);
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
        machine.pass(LONGEST);
        machine.stamp(&comparison, |_| [0, 0]).unwrap();
        for _ in 0..1000 {
            machine.pass(100_000);
            // A small step is taken for a rate until the next measurement.
            assert!(machine.error(&comparison) <= NEAR, "after {step}");
        }
        assert_eq!(comparison.period.get(), LONGEST);
    }
}

/// Events every 2 microseconds for some time, while the clock gains or loses nanoseconds with each; the largest
/// error of the last tenth.
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
    // 500 millionths, as much as Linux adjusts a clock: 1 microsecond in 2 ms before the rate is known.
    for gained in [1, -1] {
        let (machine, comparison) = (Machine::new(), Comparison::new());
        let error = drift(&machine, &comparison, 1_000_000, gained);
        assert!(error <= 30, "{error}");
        assert_eq!(comparison.period.get(), LONGEST);
    }
}

#[test]
fn a_clock_that_goes_otherwise_is_compared_more_often() {
    // A tenth, which no measurement of a rate believes.
    for gained in [200, -200] {
        let (machine, comparison) = (Machine::new(), Comparison::new());
        let error = drift(&machine, &comparison, 10_000, gained);
        assert!(error <= SHORTEST / 10 + 225, "{error}");
        // It goes as it should again.
        let error = drift(&machine, &comparison, 10_000, 0);
        assert!(error <= 25, "{error}");
        assert_eq!(comparison.period.get(), LONGEST);
    }
}

#[test]
fn stamps_are_between_readings_of_the_clock() {
    /// Nanoseconds that a clock which is being adjusted goes wrong by until it is compared again, and more.
    const SPARE: u64 = 1_000_000;
    tick();
    let comparison = Comparison::new();
    let is_between = || {
        let before = sys::realtime();
        let stamp = comparison.now();
        let after = sys::realtime();
        (before - SPARE..=after + SPARE).contains(&stamp)
    };
    // Somebody may set the clock meanwhile, but not every time.
    assert!((0..10).any(|_| (0..20_000).all(|_| is_between())));
}
