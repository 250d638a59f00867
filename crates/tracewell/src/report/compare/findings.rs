//! Compares the runs of both sides, and selects the differences that are findings.
//!
//! A difference is a finding if it meets four conditions:
//!
//! 1. It is unlikely to be chance, even though many figures are compared.
//! 2. A considerable part of the values changed.
//! 3. The mean or a quantile changed considerably.
//! 4. The difference is larger than the differences between the runs of one side.

use std::collections::{BTreeMap, BTreeSet};

use super::profile::Profile;
use super::slices::{MAX_SLICES, Slices};
use crate::analysis::{Bucket, Difference, Measure, Sample, corrected, difference};
use crate::model::Rate;

/// Maximum probability that at least one of all reported differences is due to chance.
const MAX_PROBABILITY: f64 = 0.01;

/// Minimum Kolmogorov–Smirnov distance between the old and the new values.
const MIN_DISTANCE: f64 = 0.2;

/// Minimum change of the mean or a quantile, as a fraction of the old value. This is more than the
/// error of quantiles that are computed from buckets, which is less than 1/128.
const MIN_CHANGE: f64 = 0.01;

/// If a side has at most this many runs, all pairs of runs are compared. With more runs, only
/// adjacent runs are compared, because the number of pairs grows with the square of the number of
/// runs.
const MAX_PAIRED: usize = 16;

/// The result of a comparison.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Comparison {
    /// The figures that changed by more than noise, followed by the names that occur only on one
    /// side. Within a kind, the largest changes come first.
    pub findings: Vec<Finding>,
    /// Number of figures that were compared.
    pub compared: u64,
    /// Number of figures with too few values for a comparison, or without values on one side.
    pub not_compared: u64,
    /// Warnings about the comparison, such as reasons why figures were not compared.
    pub notes: Vec<String>,
    /// True if times are in nanoseconds; otherwise, they are in ticks.
    pub has_time: bool,
}

/// The kind of a finding. A result lists its findings in the order of these kinds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum FindingKind {
    /// Times changed.
    Time(Measure),
    /// The load of a context changed.
    Load,
    /// An event occurs more often or less often.
    Rate,
    /// An event type, a context or an object occurs only on the new side.
    New(&'static str),
    /// An event type, a context or an object occurs only on the old side.
    Gone(&'static str),
}

/// A difference between the two sides.
#[derive(Clone, PartialEq, Debug)]
pub struct Finding {
    /// The kind of the difference.
    pub kind: FindingKind,
    /// The task, object or event.
    pub subject: String,
    /// The change; `None` for names that occur only on one side.
    pub shift: Option<Shift>,
}

/// A change of a figure.
#[derive(Clone, PartialEq, Debug)]
pub struct Shift {
    /// The values of all old runs together.
    pub old: Summary,
    /// The values of all new runs together.
    pub new: Summary,
    /// The change of the mean as a fraction of the old mean: 0.5 is an increase by one half.
    /// Infinite if the old mean was 0.
    pub change: f64,
    /// The result of the test and the effect sizes. The probability is corrected for the number of
    /// comparisons.
    pub difference: Difference,
}

/// The values of one side. Times are in nanoseconds or ticks, loads in millionths of the time,
/// rates in events per 1000 seconds or per 10^9 ticks.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Summary {
    /// Number of values in all runs of the side.
    pub count: u64,
    /// The mean of the values.
    pub mean: f64,
    /// The median of the values.
    pub p50: u64,
    /// The value that 90 % of the values do not exceed.
    pub p90: u64,
    /// The value that 99 % of the values do not exceed.
    pub p99: u64,
    /// The largest value, in the same unit as the mean.
    pub max: u64,
}

impl Finding {
    /// Returns true if times became longer or the load of a context rose. Returns false for
    /// periods, gaps and rates of events, because an increase of these may be good or bad.
    pub fn is_worse(&self) -> bool {
        let is_judged = match self.kind {
            FindingKind::Time(measure) => !matches!(
                measure,
                Measure::Period | Measure::CompletionPeriod | Measure::InterruptGap
            ),
            FindingKind::Load => true,
            _ => false,
        };
        is_judged && self.shift.as_ref().is_some_and(|shift| shift.change > 0.0)
    }

    /// Returns the sort key within a kind: larger changes have larger keys.
    fn weight(&self) -> f64 {
        self.shift
            .as_ref()
            .map_or(0.0, |shift| shift.difference.distance * shift.change.abs().min(1000.0).ln_1p())
    }
}

impl Summary {
    fn of(sample: &Sample) -> Self {
        let [p50, p90, p99] = [500_000, 900_000, 990_000].map(|part| sample.part(part));
        Self { count: sample.count(), mean: sample.mean(), p50, p90, p99, max: sample.max() }
    }
}

/// A figure to compare: its values in each run of both sides.
struct Compared {
    kind: FindingKind,
    subject: String,
    old: Vec<Vec<Bucket>>,
    new: Vec<Vec<Bucket>>,
}

/// Compares the runs of two sides.
pub fn compare(old: &[Profile], new: &[Profile]) -> Comparison {
    let mut result = Comparison::default();
    let all = || old.iter().chain(new);
    let formats: BTreeSet<_> = all().map(|profile| profile.format.as_str()).collect();
    if formats.len() > 1 {
        let formats: Vec<_> = formats.into_iter().collect();
        result.notes.push(format!(
            "the traces have different formats ({}), so their events and objects have different names",
            formats.join(", ")
        ));
    }
    if all().any(|profile| profile.gaps > 0) {
        let note = "events are missing, so loads and rates of events can be too low";
        result.notes.push(note.to_owned());
    }
    let rates: BTreeSet<_> =
        all().map(|profile| profile.rate.map(|rate| rate.to_string())).collect();
    result.has_time = all().all(|profile| profile.rate.is_some());
    let mut figures = Vec::new();
    if result.has_time || rates.len() == 1 {
        figures.extend(times(old, new, result.has_time));
    } else {
        let note =
            "times were not compared: the rate of the clock is known only in some of the traces";
        result.notes.push(note.to_owned());
    }
    if rates.len() == 1 {
        figures.extend(sliced(old, new, FindingKind::Load, |profile| &profile.executed));
        figures.extend(sliced(old, new, FindingKind::Rate, |profile| &profile.rates));
    } else {
        let note = "loads and rates of events were not compared: the clocks have different rates";
        result.notes.push(note.to_owned());
    }
    if all().any(|profile| profile.executed.more + profile.rates.more > 0) {
        let note = "some contexts or event types were not compared: there are too many";
        result.notes.push(note.to_owned());
    }
    judge(&mut result, figures);
    names(&mut result, old, new);
    // The sort is stable, so equal findings keep the order of their names.
    result.findings.sort_by(|a, b| {
        let rank = |finding: &Finding| match finding.kind {
            FindingKind::Time(_) => 0,
            FindingKind::Load => 1,
            FindingKind::Rate => 2,
            FindingKind::New(_) => 3,
            FindingKind::Gone(_) => 4,
        };
        rank(a).cmp(&rank(b)).then(b.weight().total_cmp(&a.weight()))
    });
    result
}

/// Returns the times of both sides.
fn times(old: &[Profile], new: &[Profile], has_time: bool) -> Vec<Compared> {
    let keys: BTreeSet<_> = old.iter().chain(new).flat_map(|run| run.times.keys()).collect();
    let of_side = |side: &[Profile], key| {
        let of_run = |run: &Profile| {
            let rate = run.rate.filter(|_| has_time);
            run.times.get(key).into_iter().flatten().map(|bucket| in_time(*bucket, rate)).collect()
        };
        side.iter().map(of_run).collect()
    };
    keys.into_iter()
        .map(|key| Compared {
            kind: FindingKind::Time(key.0),
            subject: key.1.clone(),
            old: of_side(old, key),
            new: of_side(new, key),
        })
        .collect()
}

fn in_time(bucket: Bucket, rate: Option<Rate>) -> Bucket {
    match rate {
        Some(rate) => Bucket {
            from: rate.nanoseconds(bucket.from),
            to: rate.nanoseconds(bucket.to),
            count: bucket.count,
        },
        None => bucket,
    }
}

/// The amounts in each slice of a run.
struct Sliced {
    amounts: BTreeMap<String, Vec<u64>>,
    /// Number of slices.
    count: usize,
    /// The value of a slice is its amount times `unit` divided by `per_slice`.
    unit: u128,
    per_slice: u128,
}

impl Sliced {
    /// Divides a run into slices of `width` ticks.
    fn new(run: &Profile, kind: FindingKind, slices: &Slices<String>, width: u64) -> Self {
        let mut slices = slices.clone();
        // All widths are powers of two, so doubling reaches `width` exactly.
        while slices.width < width {
            slices.double();
        }
        let within = slices.within(run.range.0, run.range.1);
        let amounts = within.into_iter().map(|(name, values)| (name.clone(), values)).collect();
        // Count only slices that are completely within the range.
        let first = run.range.0.div_ceil(width) as usize;
        let count = ((run.range.1 / width) as usize).saturating_sub(first);
        let (unit, per_slice) = match (kind, run.rate) {
            (FindingKind::Load, _) => (1_000_000, width),
            (_, Some(rate)) => (1_000_000_000_000, rate.nanoseconds(width).max(1)),
            (_, None) => (1_000_000_000, width),
        };
        Self { amounts, count, unit, per_slice: per_slice.into() }
    }

    /// Returns the values of all slices. If the context or the event does not occur in the run, all
    /// values are 0.
    fn values(&self, name: &str) -> Vec<Bucket> {
        let none = vec![0; self.count];
        let value = |amount: &u64| {
            let value = u128::from(*amount) * self.unit / self.per_slice;
            let value = u64::try_from(value).unwrap_or(u64::MAX);
            Bucket { from: value, to: value, count: 1 }
        };
        self.amounts.get(name).unwrap_or(&none).iter().map(value).collect()
    }
}

/// Returns a figure for each context or event type. Its values are those of the slices of all runs.
/// All slices have the same duration. The clocks of all runs must have the same rate.
fn sliced(
    old: &[Profile],
    new: &[Profile],
    kind: FindingKind,
    slices: impl Fn(&Profile) -> &Slices<String>,
) -> Vec<Compared> {
    let all = || old.iter().chain(new);
    let mut width = all().map(|run| slices(run).width).max().unwrap_or(1);
    // A run can continue long after the last slice in which something occurred.
    let until = all().map(|run| run.range.1).max().unwrap_or(0);
    while until / width > MAX_SLICES as u64 {
        width *= 2;
    }
    let side = |runs: &[Profile]| -> Vec<_> {
        runs.iter().map(|run| Sliced::new(run, kind, slices(run), width)).collect()
    };
    let (old, new) = (side(old), side(new));
    let names: BTreeSet<_> = old.iter().chain(&new).flat_map(|run| run.amounts.keys()).collect();
    let values = |side: &[Sliced], name: &str| side.iter().map(|run| run.values(name)).collect();
    let compared = names.iter().map(|name| Compared {
        kind,
        subject: (*name).clone(),
        old: values(&old, name),
        new: values(&new, name),
    });
    compared.collect()
}

/// Adds a finding for each figure that meets all conditions.
fn judge(result: &mut Comparison, figures: Vec<Compared>) {
    let mut found = Vec::new();
    for figure in figures {
        // All runs of a side are one sample. `noise` compares them with each other.
        let side = |runs: &[Vec<Bucket>]| Sample::new(runs.iter().flatten().copied());
        let (old, new) = (side(&figure.old), side(&figure.new));
        match difference(&old, &new) {
            Some(difference) => found.push((figure, old, new, difference)),
            None => result.not_compared += 1,
        }
    }
    result.compared = found.len() as u64;
    // If many figures are compared, some of them differ by chance. The correction needs all
    // probabilities.
    let probabilities: Vec<_> = found.iter().map(|(.., found)| found.probability).collect();
    for ((figure, old, new, found), probability) in found.iter().zip(corrected(&probabilities)) {
        // The four conditions in the order of the module's documentation.
        let counts = probability <= MAX_PROBABILITY
            && found.distance >= MIN_DISTANCE
            && is_considerable(old, new)
            && found.distance > noise(&figure.old).max(noise(&figure.new));
        if counts {
            result.findings.push(Finding {
                kind: figure.kind,
                subject: figure.subject.clone(),
                shift: Some(Shift {
                    old: Summary::of(old),
                    new: Summary::of(new),
                    change: change(old.mean(), new.mean()),
                    difference: Difference { probability, ..*found },
                }),
            });
        }
    }
}

/// Returns true if the mean, the median or the 90 % quantile changed by at least [`MIN_CHANGE`].
fn is_considerable(old: &Sample, new: &Sample) -> bool {
    let part = |of: &Sample, part| of.part(part) as f64;
    let changes = [
        change(old.mean(), new.mean()),
        change(part(old, 500_000), part(new, 500_000)),
        change(part(old, 900_000), part(new, 900_000)),
    ];
    changes.into_iter().any(|change| change.abs() >= MIN_CHANGE)
}

/// Returns a change as a fraction of the old value.
fn change(old: f64, new: f64) -> f64 {
    if old == new { 0.0 } else { (new - old) / old }
}

/// Returns the largest distance between any two runs of one side.
fn noise(runs: &[Vec<Bucket>]) -> f64 {
    let samples: Vec<_> = runs.iter().map(|run| Sample::new(run.iter().copied())).collect();
    let reach = if samples.len() > MAX_PAIRED { 1 } else { samples.len() };
    let pairs = samples.iter().enumerate().flat_map(|(at, first)| {
        samples.iter().skip(at + 1).take(reach).map(move |second| (first, second))
    });
    let distances = pairs.filter_map(|(first, second)| difference(first, second));
    distances.map(|found| found.distance).fold(0.0, f64::max)
}

/// Adds findings for the names that occur only on one side.
fn names(result: &mut Comparison, old: &[Profile], new: &[Profile]) {
    type Names = fn(&Profile) -> BTreeSet<String>;
    let kinds: [(&'static str, Names); 3] = [
        ("event", |run| run.rates.keys().cloned().collect()),
        ("context", |run| run.contexts.clone()),
        ("object", |run| run.objects.clone()),
    ];
    for (kind, names) in kinds {
        let of = |side: &[Profile]| -> BTreeSet<String> { side.iter().flat_map(names).collect() };
        let (old, new) = (of(old), of(new));
        let finding =
            |kind, subject: &String| Finding { kind, subject: subject.clone(), shift: None };
        let added = new.difference(&old).map(|name| finding(FindingKind::New(kind), name));
        let removed = old.difference(&new).map(|name| finding(FindingKind::Gone(kind), name));
        result.findings.extend(added.chain(removed));
        // A new event has no old rate, so do not report its rate as a second finding.
        if kind == "event" {
            let is_known = |finding: &Finding| {
                let name = &finding.subject;
                finding.kind != FindingKind::Rate || (old.contains(name) && new.contains(name))
            };
            result.findings.retain(is_known);
        }
    }
}
