//! Tests of distributions against a sorted list of all values.

use proptest::prelude::*;

use super::*;

fn of(values: &[u64]) -> Distribution {
    let mut distribution = Distribution::default();
    for (seq, value) in (0..).zip(values) {
        distribution.add(*value, Position { seq, ticks: 10 * seq });
    }
    distribution
}

/// Generates lists of numbers with any number of bits, and lists of numbers near a common mean.
fn values() -> impl Strategy<Value = Vec<u64>> {
    let any_length = (0..64_u32, any::<u64>()).prop_map(|(shift, number)| number >> shift);
    let close = 1_000_000_u64..1_000_500;
    let few = prop::collection::vec(prop_oneof![any_length.clone(), close.clone()], 0..50);
    let lengths = prop::collection::vec(any_length, MAX_EXACT - 2..3000);
    prop_oneof![few, lengths, prop::collection::vec(close, MAX_EXACT - 2..3000)]
}

/// Returns the quantile, computed directly from its definition.
fn exact(sorted: &[u64], millionths: u64) -> u64 {
    let reached = |value: u64| sorted.iter().filter(|other| **other <= value).count() as u64;
    let enough = |value: u64| {
        u128::from(reached(value)) * 1_000_000 >= sorted.len() as u128 * u128::from(millionths)
    };
    // If `enough` is true for a value, it is true for all larger values. So a binary search finds
    // the first value for which it is true.
    sorted[sorted.partition_point(|value| !enough(*value))]
}

fn deviation(values: &[u64]) -> f64 {
    let mean = values.iter().map(|value| *value as f64).sum::<f64>() / values.len() as f64;
    let squares = values.iter().map(|value| (*value as f64 - mean).powi(2)).sum::<f64>();
    (squares / values.len() as f64).sqrt()
}

proptest! {
    #[test]
    fn figures_equal_those_of_a_sorted_list(values in values(), part in 0..=1_000_000_u32) {
        let distribution = of(&values);
        let mut sorted = values.clone();
        sorted.sort_unstable();
        prop_assert_eq!(distribution.count(), values.len() as u64);
        prop_assert_eq!(distribution.min(), sorted.first().copied());
        prop_assert_eq!(distribution.max(), sorted.last().copied());
        prop_assert_eq!(distribution.is_exact(), values.len() <= MAX_EXACT);
        let sum: u128 = values.iter().map(|value| u128::from(*value)).sum();
        let mean = sum.checked_div(values.len() as u128).map(|mean| mean as u64);
        prop_assert_eq!(distribution.mean(), mean);
        let numbered = (0_u64..).zip(&values);
        let mut longest: Vec<_> = numbered.map(|(seq, value)| (*value, seq)).collect();
        longest.sort_by_key(|(value, seq)| (std::cmp::Reverse(*value), *seq));
        longest.truncate(WORST);
        let worst: Vec<_> =
            distribution.worst().iter().map(|worst| (worst.value, worst.at.seq)).collect();
        prop_assert_eq!(worst, longest);
        let buckets = distribution.buckets();
        let counted: u64 = buckets.iter().map(|bucket| bucket.count).sum();
        prop_assert_eq!(counted, values.len() as u64);
        for Bucket { from, to, count } in buckets {
            let within = sorted.iter().filter(|value| (from..=to).contains(*value)).count();
            prop_assert_eq!(within as u64, count);
        }
        if values.is_empty() {
            prop_assert_eq!(distribution.quantile(Quantile(part)), None);
            return Ok(());
        }
        for part in Quantile::SHOWN.map(|quantile| quantile.0).into_iter().chain([part]) {
            let exact = exact(&sorted, u64::from(part));
            let found = distribution.quantile(Quantile(part)).unwrap();
            let most = if distribution.is_exact() { 0 } else { exact / 128 };
            prop_assert!((exact..=exact.saturating_add(most)).contains(&found), "{found} {exact}");
        }
    }

    #[test]
    fn the_standard_deviation_is_that_of_all_values(
        values in prop::collection::vec(0..1_000_000_u64, 1..2000), above in 0..1_u64 << 40,
    ) {
        let found = of(&values.iter().map(|value| value + above).collect::<Vec<_>>());
        let (found, exact) = (found.standard_deviation().unwrap(), deviation(&values));
        prop_assert!((found - exact).abs() <= 1e-6 * exact.max(1e-3), "{found} {exact}");
    }

    #[test]
    fn each_bucket_leads_to_its_longest_value(values in values()) {
        let mut placed = Distribution::with_places();
        for (seq, value) in (1..).zip(&values) {
            placed.add(*value, Position { seq, ticks: 10 * seq });
        }
        let (buckets, places) = (placed.buckets(), placed.places());
        prop_assert_eq!(&buckets, &of(&values).buckets());
        prop_assert_eq!(places.len(), buckets.len());
        for (Bucket { from, to, .. }, place) in buckets.iter().zip(places) {
            let within = (1..).zip(&values).filter(|(_, value)| (*from..=*to).contains(*value));
            let longest = within.max_by_key(|(seq, value)| (**value, std::cmp::Reverse(*seq)));
            prop_assert_eq!(longest, Some((place.at.seq, &place.value)));
        }
        prop_assert!(of(&values).places().is_empty());
    }

    #[test]
    fn merged_distributions_equal_that_of_all_values(
        first in values(), second in prop_oneof![1 => Just(Vec::new()), 4 => values()],
    ) {
        let together = of(&[first.clone(), second.clone()].concat());
        let mut merged = of(&first);
        let mut rest = Distribution::default();
        for (seq, value) in (first.len() as u64..).zip(&second) {
            rest.add(*value, Position { seq, ticks: 10 * seq });
        }
        merged.merge(&rest);
        prop_assert_eq!(merged, together);
    }

    #[test]
    fn a_number_is_within_the_limits_of_its_bucket(shift in 0..64_u32, number in any::<u64>()) {
        let value = number >> shift;
        let (from, to) = limits(index(value));
        prop_assert!((from..=to).contains(&value));
        prop_assert!(to == from || to - from < from / 128 + 1);
        prop_assert!(to == u64::MAX || index(to + 1) == index(value) + 1);
    }
}

#[test]
fn values_far_apart_have_a_standard_deviation_within_the_stated_error() {
    let values: Vec<u64> =
        (0..2000).map(|number| if number % 2 == 0 { 0 } else { u64::MAX }).collect();
    let found = of(&values).standard_deviation().unwrap();
    assert!((found / (u64::MAX as f64 / 2.0) - 1.0).abs() < 0.01, "{found}");
}

#[test]
fn the_last_bucket_has_the_stated_index() {
    assert_eq!(index(u64::MAX) + 1, 58 * 1024 / 8);
}

#[test]
fn quantiles_are_read_and_written() {
    for (text, millionths) in [("p0", 0), ("p50", 500_000), ("p99.9999", 999_999), ("p100", WHOLE)]
    {
        assert_eq!(text.parse(), Ok(Quantile(millionths)));
        assert_eq!(Quantile(millionths).to_string(), text);
    }
    assert_eq!(Quantile(995_500).to_string(), "p99.55");
    for text in
        ["", "p", "99", "p.5", "p99.", "p99.12345", "p100.1", "p1000", "p-1", "p+9", "p9.+1"]
    {
        assert_eq!(text.parse::<Quantile>(), Err(NotAQuantile), "{text}");
    }
}
