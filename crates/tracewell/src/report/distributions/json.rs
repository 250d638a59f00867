//! Distributions as JSON.

use serde::Serialize;

use super::NamedTimes;
use super::histogram::{Bar, bars};
use crate::analysis::{Bucket, Quantile, Worst};
use crate::model::Trace;

/// The distributions of all times.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DistributionFigures {
    /// The distributions, sorted by kind of time. Within a kind, they are in the order in which
    /// their first values were measured. Spans are sorted by total duration instead, the longest
    /// first.
    pub distributions: Vec<DistributionRow>,
    /// Number of measured times that no distribution contains, because there are too many
    /// distributions.
    pub more_times: u64,
}

impl DistributionFigures {
    /// Returns the distributions for programs; `more_times` is the number of measured times that no
    /// distribution contains. `buckets` selects the buckets of the histograms.
    pub fn new(rows: &[NamedTimes<'_>], more_times: u64, buckets: bool) -> Self {
        let distributions = rows.iter().filter_map(|row| DistributionRow::of(row, buckets));
        Self { distributions: distributions.collect(), more_times }
    }

    /// Adds the bars of the histograms to the rows. `rows` are those from which the figures were
    /// made.
    pub(in crate::report) fn add_bars(&mut self, trace: &Trace, rows: &[NamedTimes<'_>]) {
        let with_times = rows.iter().filter(|row| row.times.count() > 0);
        for (row, times) in self.distributions.iter_mut().zip(with_times) {
            let bar = |Bar { from, count, longest }| {
                let longest = longest.as_ref().map(WorstRow::from);
                BarRow { from, count, longest }
            };
            row.bars = Some(bars(trace, times.times).into_iter().map(bar).collect());
        }
    }
}

/// The distribution of times that have the same kind and the same subject.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DistributionRow {
    /// The kind of the times, such as `response`.
    pub measure: &'static str,
    /// The name of the task, object, interrupt, message or span to which they belong.
    pub of: String,
    /// Key of the context or object, or number of the interrupt.
    pub key: Option<String>,
    /// Number of measured times, at least 1.
    pub count: u64,
    /// True if all quantiles and buckets are exact. Otherwise quantiles are at most 0.8 % too high.
    pub exact: bool,
    /// The shortest time in ticks.
    pub min_ticks: u64,
    /// The time in ticks that half of the times do not exceed.
    pub p50_ticks: u64,
    /// The time in ticks that 90 % of the times do not exceed.
    pub p90_ticks: u64,
    /// The time in ticks that 99 % of the times do not exceed.
    pub p99_ticks: u64,
    /// The time in ticks that 99.9 % of the times do not exceed.
    pub p99_9_ticks: u64,
    /// The longest time in ticks.
    pub max_ticks: u64,
    /// The mean in ticks, rounded down.
    pub mean_ticks: u64,
    /// The standard deviation in ticks.
    pub deviation_ticks: f64,
    /// The longest times, at most three, the longest first.
    pub worst: Vec<WorstRow>,
    /// With `--histogram`: the number of times in each bucket that is not empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buckets: Option<Vec<BucketRow>>,
    /// Only from `serve`: the bars of the histogram that `--histogram` draws.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bars: Option<Vec<BarRow>>,
}

impl DistributionRow {
    fn of(row: &NamedTimes<'_>, buckets: bool) -> Option<Self> {
        let times = row.times;
        let quantile = |quantile| times.quantile(quantile);
        let buckets = buckets.then(|| times.buckets().into_iter().map(BucketRow::from).collect());
        Some(Self {
            measure: row.measure.name(),
            of: row.of.clone(),
            key: row.key.clone(),
            count: times.count(),
            exact: times.is_exact(),
            min_ticks: times.min()?,
            p50_ticks: quantile(Quantile::P50)?,
            p90_ticks: quantile(Quantile::P90)?,
            p99_ticks: quantile(Quantile::P99)?,
            p99_9_ticks: quantile(Quantile::P99_9)?,
            max_ticks: times.max()?,
            mean_ticks: times.mean()?,
            deviation_ticks: times.standard_deviation()?,
            worst: times.worst().iter().map(WorstRow::from).collect(),
            buckets,
            bars: None,
        })
    }
}

/// One of the longest times.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorstRow {
    /// The time in ticks.
    pub ticks: u64,
    /// Ticks of its end.
    pub until_ticks: u64,
    /// Number of the event that ended it.
    pub event: u64,
}

impl From<&Worst> for WorstRow {
    fn from(worst: &Worst) -> Self {
        Self { ticks: worst.value, until_ticks: worst.at.ticks, event: worst.at.seq }
    }
}

/// A bucket of a histogram. It counts the measured times from the lower limit to the upper limit,
/// including both limits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BucketRow {
    /// The lower limit in ticks.
    pub from_ticks: u64,
    /// The upper limit in ticks.
    pub to_ticks: u64,
    /// Number of measured times between the limits.
    pub count: u64,
}

impl From<Bucket> for BucketRow {
    fn from(bucket: Bucket) -> Self {
        Self { from_ticks: bucket.from, to_ticks: bucket.to, count: bucket.count }
    }
}

/// A bar of a histogram. It counts the measured times from its lower bound up to the next bar.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BarRow {
    /// The lower bound as text, for example `2 ms`.
    pub from: String,
    /// Number of measured times.
    pub count: u64,
    /// The longest of these times; null if the bar is empty, or if the analysis has too many
    /// distributions to store places.
    pub longest: Option<WorstRow>,
}
