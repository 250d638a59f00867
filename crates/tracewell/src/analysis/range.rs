//! What many durations come down to.

/// The smallest and the largest of some numbers, and what their mean is made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Range {
    /// How many.
    pub count: u64,
    /// The smallest; 0 where there is none.
    pub min: u64,
    /// The largest.
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

    /// The mean, rounded down; 0 where there are no numbers.
    pub fn mean(&self) -> u64 {
        let mean = self.sum.checked_div(u128::from(self.count)).unwrap_or(0);
        u64::try_from(mean).unwrap_or(u64::MAX)
    }

    /// All of them together.
    pub fn sum(&self) -> u64 {
        u64::try_from(self.sum).unwrap_or(u64::MAX)
    }

    /// Between the smallest and the largest: jitter.
    pub fn width(&self) -> u64 {
        self.max - self.min
    }
}
