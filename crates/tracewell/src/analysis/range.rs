//! Count, minimum, maximum and mean of durations.

/// Count, minimum, maximum and mean of numbers, usually durations in ticks.
///
/// ```
/// use tracewell::analysis::Range;
///
/// let none = Range::default();
/// assert_eq!((none.count, none.mean(), none.width()), (0, 0, 0));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Range {
    /// Number of added values.
    pub count: u64,
    /// Minimum, or 0 if there are no values.
    pub min: u64,
    /// Maximum, or 0 if there are no values.
    pub max: u64,
    sum: u128,
}

impl Range {
    pub(in crate::analysis) fn add(&mut self, number: u64) {
        self.min = if self.count == 0 { number } else { self.min.min(number) };
        self.max = self.max.max(number);
        self.count += 1;
        self.sum += u128::from(number);
    }

    /// Returns the mean, rounded down, or 0 if there are no values.
    pub fn mean(&self) -> u64 {
        let mean = self.sum.checked_div(u128::from(self.count)).unwrap_or(0);
        u64::try_from(mean).unwrap_or(u64::MAX)
    }

    /// Returns the sum of all values, or `u64::MAX` if the sum exceeds `u64::MAX`.
    pub fn sum(&self) -> u64 {
        u64::try_from(self.sum).unwrap_or(u64::MAX)
    }

    /// Returns the jitter, which is maximum minus minimum.
    pub fn width(&self) -> u64 {
        self.max - self.min
    }
}
