//! Distributions of durations: quantiles, mean, standard deviation, buckets for a histogram, and
//! the positions of the longest durations.
//!
//! [`Range`](super::Range) is smaller and contains only count, minimum, mean and maximum.
//!
//! A distribution with at most [`MAX_EXACT`] values stores each value, and is exact. When one more
//! value is added, the distribution moves all values into buckets, whose limits are the same for
//! every distribution. A bucket contains the values that have the same number of bits and the same
//! highest [`PRECISION`] + 1 bits. So each value below 256 has a bucket of its own, and the width
//! of any other bucket is at most 1/128 of its lowest value. Count, minimum, maximum, mean,
//! standard deviation and the longest durations stay exact. The counts of all buckets occupy at
//! most 58 KiB.
//!
//! If the caller wants places, the distribution also stores the position of each value or, after it
//! has filled its buckets, the longest value of each bucket with its position. They occupy at most
//! 174 KiB more.

use std::fmt;
use std::str::FromStr;

use crate::model::Position;

/// Maximum number of values that a distribution stores exactly.
pub const MAX_EXACT: usize = 1024;

/// All values in a bucket agree in their highest set bit and in this many bits after it.
const PRECISION: u32 = 7;

/// Number of longest durations whose positions are stored.
pub const WORST: usize = 3;

/// A distribution of durations or other numbers, with the positions at which the longest ones
/// ended.
///
/// ```
/// use tracewell::analysis::{Distribution, Position, Quantile};
///
/// let mut responses = Distribution::default();
/// for (seq, ticks) in [(4, 120), (9, 100), (17, 350), (23, 110)] {
///     responses.add(ticks, Position { seq, ticks: 1000 + ticks });
/// }
/// assert_eq!((responses.count(), responses.mean()), (4, Some(170)));
/// assert_eq!(responses.quantile(Quantile::P50), Some(110));
/// assert_eq!((responses.worst()[0].value, responses.worst()[0].at.seq), (350, 17));
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Distribution {
    count: u64,
    min: u64,
    max: u64,
    sum: u128,
    /// The sum of the squares, modulo 2^128.
    squares: u128,
    /// The longest durations, the longest first. Equal durations are in the order in which they
    /// were added.
    worst: Vec<Worst>,
    values: Values,
    /// For each element of `values`: the value with its position, or the longest value of the
    /// bucket. `None` if the caller does not want places.
    places: Option<Vec<Worst>>,
}

/// One of the longest durations of a distribution.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Worst {
    /// The duration, in the unit of the values.
    pub value: u64,
    /// The event with which the duration ended.
    pub at: Position,
}

impl Worst {
    /// Returns the time at which the duration began, in ticks since the first event.
    pub fn began(&self) -> u64 {
        self.at.ticks.saturating_sub(self.value)
    }
}

/// The number of values of a distribution between two limits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bucket {
    /// The lowest number that belongs to this bucket.
    pub from: u64,
    /// The highest number that belongs to this bucket.
    pub to: u64,
    /// Number of values in this bucket, at least 1.
    pub count: u64,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Values {
    /// All values in the order in which they were added.
    Exact(Vec<u64>),
    /// The number of values of each bucket, up to the last bucket with values.
    Buckets(Vec<u64>),
}

impl Default for Values {
    fn default() -> Self {
        Self::Exact(Vec::new())
    }
}

impl Distribution {
    /// Returns an empty distribution that also stores where the longest values of its buckets
    /// ended.
    pub fn with_places() -> Self {
        Self { places: Some(Vec::new()), ..Self::default() }
    }

    /// Adds a duration that ended at the position `at`.
    pub fn add(&mut self, value: u64, at: Position) {
        self.min = if self.count == 0 { value } else { self.min.min(value) };
        self.max = self.max.max(value);
        self.count += 1;
        self.sum += u128::from(value);
        self.squares = self.squares.wrapping_add(u128::from(value) * u128::from(value));
        self.offer(Worst { value, at });
        if let Some(places) = &mut self.places {
            self.values.place(Worst { value, at }, places);
        }
        self.values.add(value, 1);
    }

    /// Adds all values of another distribution. The result is the same as if they had been added
    /// one by one to a distribution without places.
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        self.places = None;
        // An empty distribution has no minimum. Check this before `count` changes.
        self.min = if self.count == 0 { other.min } else { self.min.min(other.min) };
        self.max = self.max.max(other.max);
        self.count += other.count;
        self.sum += other.sum;
        self.squares = self.squares.wrapping_add(other.squares);
        other.worst.iter().for_each(|worst| self.offer(*worst));
        match &other.values {
            Values::Exact(values) => values.iter().for_each(|value| self.values.add(*value, 1)),
            Values::Buckets(counts) => {
                // The single values of the other distribution are unknown, so this one needs
                // buckets, too.
                self.values.fill_buckets();
                for (index, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
                    // All distributions have the same bucket limits, so all values of a bucket of
                    // `other` belong to one bucket of `self`.
                    self.values.add(limits(index).0, *count);
                }
            }
        }
    }

    #[inline]
    fn offer(&mut self, worst: Worst) {
        // Return early: most durations are not among the longest.
        if let [.., shortest] = self.worst.as_slice()
            && self.worst.len() == WORST
            && worst.value <= shortest.value
        {
            return;
        }
        let rank = self.worst.partition_point(|known| known.value >= worst.value);
        if rank < WORST {
            self.worst.truncate(WORST - 1);
            self.worst.insert(rank, worst);
        }
    }

    /// Returns the number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the minimum, or `None` if there are no values.
    pub fn min(&self) -> Option<u64> {
        (self.count > 0).then_some(self.min)
    }

    /// Returns the maximum, or `None` if there are no values.
    pub fn max(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max)
    }

    /// Returns the sum of all values, which divided by the number of values is the exact mean.
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// Returns the mean, rounded down, or `None` if there are no values.
    pub fn mean(&self) -> Option<u64> {
        let mean = self.sum.checked_div(u128::from(self.count))?;
        u64::try_from(mean).ok()
    }

    /// Returns the population standard deviation, or `None` if there are no values. The divisor is
    /// the number of values.
    pub fn standard_deviation(&self) -> Option<f64> {
        let (count, mean) = (u128::from(self.count), u128::from(self.mean()?));
        let width = u128::from(self.max - self.min);
        // `distances` is the sum of the squares of all distances from `mean`. If it is less than
        // 2^128, the computation modulo 2^128 is exact.
        let fits = width.checked_mul(width).and_then(|most| most.checked_mul(count)).is_some();
        let distances = if fits {
            let twice = self.sum.wrapping_mul(mean).wrapping_mul(2);
            let squares = mean.wrapping_mul(mean).wrapping_mul(count);
            self.squares.wrapping_sub(twice).wrapping_add(squares) as f64
        } else {
            let square = |bucket: Bucket| {
                let distance = bucket.to.abs_diff(mean as u64) as f64;
                distance * distance * bucket.count as f64
            };
            self.buckets().into_iter().map(square).sum()
        };
        // `mean` was rounded down. Subtract the square of the rounding error.
        let rest = (self.sum - mean * count) as f64 / count as f64;
        Some((distances / count as f64 - rest * rest).max(0.0).sqrt())
    }

    /// Returns a quantile: the lowest value such that at least the given fraction of all values
    /// does not exceed it. Returns `None` if there are no values. If there are more than
    /// [`MAX_EXACT`] values, the result is never lower than the exact quantile, and exceeds it by
    /// less than 1/128 (0.8 %).
    pub fn quantile(&self, quantile: Quantile) -> Option<u64> {
        let mut rank = quantile.rank(self.count)?;
        let bucket = self.buckets().into_iter().find(|bucket| {
            let found = rank <= bucket.count;
            rank = rank.saturating_sub(bucket.count);
            found
        });
        bucket.map(|bucket| bucket.to.min(self.max))
    }

    /// Returns the buckets with values, in ascending order. If the distribution is exact, each
    /// distinct value has its own bucket.
    pub fn buckets(&self) -> Vec<Bucket> {
        let bucket = |(index, count)| {
            let (from, to) = match &self.values {
                Values::Exact(values) => values.get(index).map_or((0, 0), |value| (*value, *value)),
                Values::Buckets(_) => limits(index),
            };
            Bucket { from, to, count }
        };
        self.values.filled().into_iter().map(bucket).collect()
    }

    /// Returns the longest value of each bucket that [`Distribution::buckets`] returns; the first
    /// of them if several are equally long. Returns an empty list if the distribution stores no
    /// places.
    pub fn places(&self) -> Vec<Worst> {
        let Some(places) = &self.places else { return Vec::new() };
        let filled = self.values.filled().into_iter();
        filled.filter_map(|(index, _)| places.get(index).copied()).collect()
    }

    /// Returns true if there are at most [`MAX_EXACT`] values, so that quantiles and buckets are
    /// exact.
    pub fn is_exact(&self) -> bool {
        matches!(self.values, Values::Exact(_))
    }

    /// Returns the longest durations, at most [`WORST`], the longest first. Equal durations are in
    /// the order in which they were added.
    pub fn worst(&self) -> &[Worst] {
        &self.worst
    }
}

impl Values {
    /// Returns, for each bucket with values, the index of its first element and the number of its
    /// values.
    fn filled(&self) -> Vec<(usize, u64)> {
        match self {
            Self::Exact(values) => {
                let mut sorted: Vec<_> = (0..).zip(values.iter().copied()).collect();
                // The sort is stable, so equal values keep their order.
                sorted.sort_by_key(|(_, value)| *value);
                let equal = sorted.chunk_by(|(_, value), (_, next)| value == next);
                equal.filter_map(|same| Some((same.first()?.0, same.len() as u64))).collect()
            }
            Self::Buckets(counts) => {
                let counts = counts.iter().copied().enumerate();
                counts.filter(|(_, count)| *count > 0).collect()
            }
        }
    }

    /// Stores the place of a value, which [`Values::add`] adds next.
    fn place(&self, worst: Worst, places: &mut Vec<Worst>) {
        if let Self::Exact(values) = self {
            if values.len() < MAX_EXACT {
                places.push(worst);
                return;
            }
            // The next value fills the buckets, so the places become those of the buckets.
            std::mem::take(places).into_iter().for_each(|known| of_bucket(known, places));
        }
        of_bucket(worst, places);
    }

    fn add(&mut self, value: u64, count: u64) {
        if let Self::Exact(values) = self {
            // Here, `count` is 1, because only `merge` adds larger counts, and it fills the buckets
            // before that.
            if values.len() < MAX_EXACT {
                values.push(value);
                return;
            }
            self.fill_buckets();
        }
        if let Self::Buckets(counts) = self {
            let index = index(value);
            if index >= counts.len() {
                counts.resize(index + 1, 0);
            }
            counts[index] += count;
        }
    }

    /// Moves the values into buckets.
    fn fill_buckets(&mut self) {
        if let Self::Exact(values) = self {
            let values = std::mem::take(values);
            *self = Self::Buckets(Vec::new());
            values.into_iter().for_each(|value| self.add(value, 1));
        }
    }
}

/// Stores a value among the longest values of the buckets.
fn of_bucket(worst: Worst, places: &mut Vec<Worst>) {
    let index = index(worst.value);
    if index >= places.len() {
        places.resize(index + 1, Worst::default());
    }
    let known = &mut places[index];
    // An empty bucket has a position of 0, which also is the position of the first event. No
    // duration of a positive length ends there.
    let is_empty = known.at == Position::default();
    if is_empty || worst.value > known.value {
        *known = worst;
    }
}

/// Returns the index of the bucket that contains a value.
fn index(value: u64) -> usize {
    // The values in a bucket differ only in this many low-order bits.
    let shift = (u64::BITS - value.leading_zeros()).saturating_sub(PRECISION + 1);
    ((shift as usize) << PRECISION) + (value >> shift) as usize
}

/// Returns the lowest and the highest value in a bucket.
fn limits(index: usize) -> (u64, u64) {
    let shift = (index >> PRECISION).saturating_sub(1);
    let from = ((index - (shift << PRECISION)) as u64) << shift;
    (from, from + ((1 << shift) - 1))
}

/// A quantile: a fraction of all values, stored in millionths. For example, 500,000 is the median.
///
/// ```
/// use tracewell::analysis::Quantile;
///
/// assert_eq!("p99.9".parse(), Ok(Quantile::P99_9));
/// assert_eq!(Quantile::P90.to_string(), "p90");
/// assert!("p101".parse::<Quantile>().is_err());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Quantile(u32);

/// Number of millionths in 100 percent, and in 1 percent.
const WHOLE: u32 = 1_000_000;
const PERCENT: u32 = 10_000;

impl Quantile {
    /// The median: half of the values do not exceed it.
    pub const P50: Self = Self(500_000);
    /// The value that 90 % of the values do not exceed.
    pub const P90: Self = Self(900_000);
    /// The value that 99 % of the values do not exceed.
    pub const P99: Self = Self(990_000);
    /// The value that 99.9 % of the values do not exceed.
    pub const P99_9: Self = Self(999_000);
    /// The quantiles that tables show.
    pub const SHOWN: [Self; 4] = [Self::P50, Self::P90, Self::P99, Self::P99_9];

    /// Returns the rank of the quantile among `count` sorted values, or `None` if there are no
    /// values. The lowest value has the rank 1.
    fn rank(self, count: u64) -> Option<u64> {
        let rank = (u128::from(count) * u128::from(self.0)).div_ceil(u128::from(WHOLE));
        // The fraction is at most 1, so the rank is at most `count`.
        (count > 0).then_some((rank as u64).max(1))
    }
}

impl fmt::Display for Quantile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "p{}", self.0 / PERCENT)?;
        match self.0 % PERCENT {
            0 => Ok(()),
            rest => f.write_str(format!(".{rest:04}").trim_end_matches('0')),
        }
    }
}

/// Error for text that is not a quantile such as `p99.9`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("expected a quantile from p0 to p100 with at most 4 decimals, such as p99.9")]
pub struct NotAQuantile;

impl FromStr for Quantile {
    type Err = NotAQuantile;

    fn from_str(text: &str) -> Result<Self, NotAQuantile> {
        let percent = text.strip_prefix('p').ok_or(NotAQuantile)?;
        let (whole, decimals) = percent.split_once('.').unwrap_or((percent, "0"));
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.len() > 3 || decimals.len() > 4 || !is_number(whole) || !is_number(decimals) {
            return Err(NotAQuantile);
        }
        let number = |text: &str| text.parse::<u32>().map_err(|_| NotAQuantile);
        let millionths = number(whole)? * PERCENT + number(&format!("{decimals:0<4}"))?;
        // "p99." has no decimals after its point.
        let is_complete = !decimals.is_empty() && millionths <= WHOLE;
        is_complete.then_some(Self(millionths)).ok_or(NotAQuantile)
    }
}

#[cfg(test)]
mod tests;
