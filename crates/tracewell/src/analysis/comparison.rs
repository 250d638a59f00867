//! Compares two distributions, and determines whether their difference is likely to be due to
//! chance.
//!
//! The test is the two-sample Kolmogorov–Smirnov test. It makes no assumption about the form of the
//! distributions, and it detects changes anywhere in the distribution, not only in its middle. The
//! probability comes from the asymptotic distribution, corrected for small samples as described by
//! M. A. Stephens (Journal of the Royal Statistical Society B 32, 1970, pages 115 to 122). If some
//! values are equal, the test is conservative: the true probability is not higher than the result.
//!
//! A small probability alone does not show that a change matters: if there are many values, even a
//! tiny change has a small probability. So the result also contains two effect sizes.

use super::Bucket;

/// Minimum number of values on each side. With fewer values, the formula for the probability is
/// inexact.
pub const MIN_VALUES: u64 = 8;

/// Values of one side of a comparison, which may come from several runs.
///
/// ```
/// use tracewell::analysis::{Bucket, Sample};
///
/// let bucket = |value, count| Bucket { from: value, to: value, count };
/// let sample = Sample::new([bucket(30, 1), bucket(10, 2), bucket(20, 1)]);
/// assert_eq!((sample.count(), sample.mean(), sample.max()), (4, 17.5, 30));
/// assert_eq!((sample.part(500_000), sample.part(900_000)), (10, 30));
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Sample {
    /// The values, sorted by the lower limits of the buckets. Buckets of different runs may
    /// overlap.
    buckets: Vec<Bucket>,
    count: u64,
}

impl Sample {
    /// Creates a sample of the values in these buckets.
    pub fn new(buckets: impl IntoIterator<Item = Bucket>) -> Self {
        let mut buckets: Vec<_> = buckets.into_iter().collect();
        buckets.sort_by_key(|bucket| (bucket.from, bucket.to));
        let count = buckets.iter().map(|bucket| bucket.count).sum();
        Self { buckets, count }
    }

    /// Creates a sample of single values.
    pub fn of(values: impl IntoIterator<Item = u64>) -> Self {
        Self::new(values.into_iter().map(|value| Bucket { from: value, to: value, count: 1 }))
    }

    /// Returns the number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the mean, or 0 if there are no values. Each value is treated as the middle of its
    /// bucket.
    pub fn mean(&self) -> f64 {
        let sum = self.buckets.iter().map(|bucket| {
            let middle = bucket.from as f64 / 2.0 + bucket.to as f64 / 2.0;
            middle * bucket.count as f64
        });
        sum.sum::<f64>() / self.count.max(1) as f64
    }

    /// Returns a quantile, or 0 if there are no values. The fraction is in millionths. The quantile
    /// is the lowest value such that at least this fraction of all values does not exceed it.
    pub fn part(&self, millionths: u32) -> u64 {
        let rank = (u128::from(self.count) * u128::from(millionths)).div_ceil(1_000_000).max(1);
        let mut below = 0;
        let bucket = self.buckets.iter().find(|bucket| {
            below += u128::from(bucket.count);
            rank <= below
        });
        bucket.map_or(0, |bucket| bucket.to)
    }

    /// Returns the maximum, or 0 if there are no values.
    pub fn max(&self) -> u64 {
        self.buckets.iter().map(|bucket| bucket.to).max().unwrap_or(0)
    }
}

/// The difference between the old and the new values.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Difference {
    /// The Kolmogorov–Smirnov distance, from 0 to 1: the largest difference between the
    /// distribution functions of the two sides.
    pub distance: f64,
    /// Cliff's delta, from -1 to 1: the probability that a new value is larger than an old one,
    /// minus the probability that it is smaller.
    pub delta: f64,
    /// The probability that the distance is at least this large if both sides are samples of one
    /// distribution.
    pub probability: f64,
}

/// Returns the difference between two samples, or `None` if a side has fewer than [`MIN_VALUES`]
/// values.
///
/// ```
/// use tracewell::analysis::{Sample, difference};
///
/// let (old, new) = (Sample::of(100..120), Sample::of(120..140));
/// let found = difference(&old, &new).expect("20 values on each side");
/// assert_eq!((found.distance, found.delta), (1.0, 1.0));
/// assert!(found.probability < 1e-6);
/// assert_eq!(difference(&old, &old).map(|same| same.probability), Some(1.0));
/// ```
pub fn difference(old: &Sample, new: &Sample) -> Option<Difference> {
    if old.count.min(new.count) < MIN_VALUES {
        return None;
    }
    let (olds, news) = (old.count as f64, new.count as f64);
    let (mut old_below, mut new_below) = (0.0, 0.0);
    let (mut distance, mut larger, mut smaller) = (0.0_f64, 0.0, 0.0);
    for (of_old, of_new) in groups(&old.buckets, &new.buckets) {
        let (of_old, of_new) = (of_old as f64, of_new as f64);
        // For Cliff's delta, count the pairs in which the value of one side is larger. Pairs within
        // a group have no known order and count for neither side.
        larger += of_new * old_below;
        smaller += of_old * new_below;
        old_below += of_old;
        new_below += of_new;
        // The statistic of the test is the largest difference of the two cumulative distributions.
        distance = distance.max((old_below / olds - new_below / news).abs());
    }
    let delta = (larger - smaller) / (olds * news);
    // The corrected statistic for small samples (Stephens, see above).
    let effective = (olds * news / (olds + news)).sqrt();
    let probability = tail((effective + 0.12 + 0.11 / effective) * distance);
    Some(Difference { distance, delta, probability })
}

/// Groups values whose order is unknown. Returns the number of old values and the number of new
/// values in each group. Equal values and overlapping buckets form one group. The groups are in
/// ascending order.
fn groups(old: &[Bucket], new: &[Bucket]) -> Vec<(u64, u64)> {
    let old = old.iter().map(|bucket| (bucket, bucket.count, 0));
    let mut all: Vec<_> = old.chain(new.iter().map(|bucket| (bucket, 0, bucket.count))).collect();
    all.sort_by_key(|(bucket, ..)| bucket.from);
    let mut groups: Vec<(u64, u64)> = Vec::new();
    let mut end = None;
    for (bucket, of_old, of_new) in all {
        match groups.last_mut().filter(|_| end.is_some_and(|end| bucket.from <= end)) {
            Some(group) => *group = (group.0 + of_old, group.1 + of_new),
            None => groups.push((of_old, of_new)),
        }
        end = end.max(Some(bucket.to));
    }
    groups
}

/// Returns the probability that the Kolmogorov distribution exceeds `x`.
fn tail(x: f64) -> f64 {
    // For small `x`, the alternating series converges slowly, and the probability differs from 1
    // by less than 3e-8.
    if x < 0.25 {
        return 1.0;
    }
    let terms = (1..=100).map(|k| {
        let sign = if k % 2 == 1 { 1.0 } else { -1.0 };
        sign * (-2.0 * f64::from(k * k) * x * x).exp()
    });
    (2.0 * terms.sum::<f64>()).clamp(0.0, 1.0)
}

/// Corrects the probabilities of several comparisons by the method of Holm. Suppose that all
/// differences with a corrected probability of at most `p` are accepted. The probability that at
/// least one of these differences is due to chance is then at most `p`.
///
/// ```
/// use tracewell::analysis::corrected;
///
/// assert_eq!(corrected(&[0.01, 0.5, 0.25]), [0.03, 0.5, 0.5]);
/// ```
pub fn corrected(probabilities: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..probabilities.len()).collect();
    order.sort_by(|a, b| probabilities[*a].total_cmp(&probabilities[*b]));
    let mut result = vec![1.0; probabilities.len()];
    let mut before = 0.0_f64;
    for (rank, index) in order.into_iter().enumerate() {
        let times = (probabilities.len() - rank) as f64;
        before = before.max((probabilities[index] * times).min(1.0));
        result[index] = before;
    }
    result
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::analysis::{Distribution, MAX_EXACT, Position};

    fn side(values: &[u64]) -> Sample {
        let mut side = Distribution::default();
        values.iter().for_each(|value| side.add(*value, Position::default()));
        Sample::new(side.buckets())
    }

    #[test]
    fn the_tail_has_the_values_of_the_tables() {
        // Critical values of the Kolmogorov distribution for 10 %, 5 % and 1 %.
        for (x, probability) in [(1.224, 0.10), (1.358, 0.05), (1.628, 0.01)] {
            assert!((tail(x) - probability).abs() < 0.0005, "{x}: {}", tail(x));
        }
        assert!((tail(0.2501) - tail(0.2499)).abs() < 1e-6);
    }

    #[test]
    fn a_part_is_the_lowest_value_that_enough_values_do_not_exceed() {
        let ten = Sample::of((10..=100).step_by(10));
        for (millionths, value) in
            [(0, 10), (100_000, 10), (100_001, 20), (500_000, 50), (1_000_000, 100)]
        {
            assert_eq!(ten.part(millionths), value, "{millionths}");
        }
        assert_eq!(Sample::of([]).part(500_000), 0);
    }

    #[test]
    fn few_values_are_not_compared() {
        assert_eq!(difference(&side(&[1; 7]), &side(&[2; 100])), None);
        assert!(difference(&side(&[1; 8]), &side(&[2; 8])).is_some());
    }

    #[test]
    fn exact_values_and_buckets_are_compared() {
        let many: Vec<u64> = (0..MAX_EXACT as u64 + 500).map(|at| 100_000 + at % 300).collect();
        let few: Vec<u64> = (0..300).map(|at| 100_000 + at).collect();
        let found = difference(&side(&few), &side(&many)).unwrap();
        assert!(found.distance < 0.01 && found.delta.abs() < 0.01, "{found:?}");
    }

    /// For such values, all terms of the series but the first are below 1e-15.
    #[test]
    fn the_probability_is_that_of_the_corrected_statistic() {
        for (olds, news, effective) in [(8, 8, 2.0_f64), (10, 40, 8.0_f64.sqrt())] {
            let found = difference(&Sample::of(0..olds), &Sample::of(100..100 + news)).unwrap();
            let statistic = effective + 0.12 + 0.11 / effective;
            let probability = 2.0 * (-2.0 * statistic.powi(2)).exp();
            assert!((found.probability - probability).abs() < 1e-12, "{found:?}");
        }
    }

    #[test]
    fn a_value_counts_as_the_middle_of_its_bucket() {
        let buckets = [(0, 10, 3), (20, 21, 1)];
        let sample = Sample::new(buckets.map(|(from, to, count)| Bucket { from, to, count }));
        assert_eq!((sample.mean(), sample.max()), ((3.0 * 5.0 + 20.5) / 4.0, 21));
        assert_eq!(Sample::default().mean(), 0.0);
    }

    proptest! {
        #[test]
        fn effect_sizes_agree_with_their_definitions(
            old in prop::collection::vec(0..40_u64, 8..60),
            new in prop::collection::vec(0..40_u64, 8..60),
        ) {
            let found = difference(&side(&old), &side(&new)).unwrap();
            let part = |of: &[u64], most: u64| {
                of.iter().filter(|value| **value <= most).count() as f64 / of.len() as f64
            };
            let distance =
                (0..40).map(|at| (part(&old, at) - part(&new, at)).abs()).fold(0.0, f64::max);
            let signs: i64 = new
                .iter()
                .flat_map(|new| old.iter().map(move |old| new.cmp(old) as i64))
                .sum();
            let delta = signs as f64 / (old.len() * new.len()) as f64;
            prop_assert!((found.distance - distance).abs() < 1e-9);
            prop_assert!((found.delta - delta).abs() < 1e-9);
        }
    }
}
