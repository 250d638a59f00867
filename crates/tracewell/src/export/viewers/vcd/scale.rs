//! The time scale of a dump: the coarsest scale that represents each tick exactly.

use std::fmt;

use crate::model::Clock;

/// Femtoseconds of each unit, coarsest first.
const UNITS: [(&str, u128); 6] = [
    ("s", 1_000_000_000_000_000),
    ("ms", 1_000_000_000_000),
    ("us", 1_000_000_000),
    ("ns", 1_000_000),
    ("ps", 1_000),
    ("fs", 1),
];

/// A time scale, and the conversion of ticks to its unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale<'a> {
    /// 1, 10 or 100 of a unit.
    count: u128,
    unit: &'static str,
    form: Form<'a>,
}

/// The conversion of ticks.
#[derive(Clone, Copy, Debug)]
enum Form<'a> {
    /// One unit per tick, because the clock's rate is unknown.
    Ticks,
    /// A number of units, and the number of ticks with the same duration.
    Ratio(u128, u128),
    /// Nanoseconds of a clock whose rate changes.
    Nanoseconds(&'a Clock),
}

impl<'a> Scale<'a> {
    /// Returns the scale for times up to `last` in ticks. If no scale is exact, times are rounded
    /// down to picoseconds, or to nanoseconds if `last` in picoseconds exceeds 64 bits. If the
    /// clock's rate changes, times are rounded down to nanoseconds.
    pub(super) fn of(clock: &'a Clock, last: u64) -> Self {
        let Some(rate) = clock.rate else {
            return Self { count: 1, unit: "ns", form: Form::Ticks };
        };
        let (ticks, seconds) = rate.ratio();
        let second = UNITS[0].1;
        // Femtoseconds in `ticks` ticks.
        let length = u128::from(seconds) * second;
        let steps = UNITS.iter().flat_map(|(unit, femtoseconds)| {
            [100, 10, 1].map(|count| (count, *unit, count * femtoseconds))
        });
        let exact = |step: &(u128, &str, u128)| length.is_multiple_of(u128::from(ticks) * step.2);
        let rounded = (1, "ps", 1_000);
        let of = |(count, unit, step): (u128, &'static str, u128)| Self {
            count,
            unit,
            form: Form::Ratio(length / step, u128::from(ticks)),
        };
        let fits = |scale: &Self| clock.changes.is_empty() && scale.checked(last).is_some();
        let found = steps.filter(exact).take(1).chain([rounded]).map(of).find(fits);
        found.unwrap_or(Self { count: 1, unit: "ns", form: Form::Nanoseconds(clock) })
    }

    fn checked(&self, ticks: u64) -> Option<u64> {
        match self.form {
            Form::Ticks => Some(ticks),
            Form::Ratio(units, per) => {
                let product = u128::from(ticks).checked_mul(units)?;
                u64::try_from(product / per).ok()
            }
            Form::Nanoseconds(clock) => clock.nanoseconds(ticks),
        }
    }

    /// Returns a time in units of the scale.
    pub(super) fn time(&self, ticks: u64) -> u64 {
        self.checked(ticks).unwrap_or(u64::MAX)
    }

    /// Returns a remark if the clock's rate is unknown.
    pub(super) fn remark(&self) -> Option<String> {
        let message = "the clock's rate is unknown, so 1 ns in the output is 1 tick: \
                       give the rate with -O rate=TICKS_PER_SECOND";
        matches!(self.form, Form::Ticks).then(|| message.to_owned())
    }
}

impl fmt::Display for Scale<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.count, self.unit)
    }
}
