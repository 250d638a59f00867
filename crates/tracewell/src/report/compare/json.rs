//! The result of a comparison as JSON.

use serde::Serialize;

use super::findings::{Comparison, Finding, FindingKind, Shift, Summary};
use super::profile::Profile;

/// The document of `tracewell diff`.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparisonDocument<'a> {
    /// The version of this kind of document.
    pub schema: u32,
    /// The old runs, in the order of the command line.
    pub old: Vec<SideRow<'a>>,
    /// The new runs, in the order of the command line.
    pub new: Vec<SideRow<'a>>,
    /// Number of figures that were compared.
    pub compared: u64,
    /// Number of figures with too few values, or without values on one side.
    pub not_compared: u64,
    /// The differences, the most important first.
    pub findings: Vec<FindingRow<'a>>,
    /// Warnings about the comparison, such as reasons why figures were not compared.
    pub notes: &'a [String],
}

/// A run of a comparison.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SideRow<'a> {
    /// The path of the trace as given on the command line; `-` is standard input.
    pub file: &'a str,
    /// The name of the format.
    pub format: &'a str,
    /// Number of events of the run.
    pub events: u64,
    /// Ticks from the first event of the run to the last.
    pub span_ticks: u64,
    /// Number of positions with missing events.
    pub gaps: u64,
}

/// A difference between the two sides.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FindingRow<'a> {
    /// `time`, `load`, `rate`, `new` or `gone`.
    pub kind: &'static str,
    /// For `time`, the kind of the times, such as `response`. For `new` and `gone`, `event`,
    /// `context` or `object`. Null for `load` and `rate`.
    pub of: Option<&'static str>,
    /// The task, object or event.
    pub subject: &'a str,
    /// True if times became longer or a context needs more time.
    pub worse: bool,
    /// The unit of the values: `ns`, `ticks`, `ppm` (millionths of the time), `per 1000 s`, or `per
    /// 10^9 ticks`; null for `new` and `gone`.
    pub unit: Option<&'static str>,
    /// The values of all old runs together; null for `new` and `gone`.
    pub old: Option<SummaryRow>,
    /// The values of all new runs together; null for `new` and `gone`.
    pub new: Option<SummaryRow>,
    /// The change of the mean as a fraction of the old mean; null if the old mean was 0.
    pub change: Option<f64>,
    /// The Kolmogorov–Smirnov distance, from 0 to 1: the largest difference between the cumulative
    /// distributions of the two sides.
    pub distance: Option<f64>,
    /// Cliff's delta, from -1 (all new values are smaller) to 1 (all are larger).
    pub delta: Option<f64>,
    /// The probability of such a difference by chance, corrected for the number of comparisons.
    pub probability: Option<f64>,
}

/// The values of one side.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SummaryRow {
    /// Number of values from all runs of the side.
    pub count: u64,
    /// The mean of the values.
    pub mean: f64,
    /// The median of the values.
    pub p50: u64,
    /// The value that 90 % do not exceed.
    pub p90: u64,
    /// The value that 99 % do not exceed.
    pub p99: u64,
    /// The largest value of the side.
    pub max: u64,
}

impl<'a> ComparisonDocument<'a> {
    /// Returns the document. Each side is a list of paths and their figures.
    pub fn new(
        (old, old_runs): (&'a [String], &'a [Profile]),
        (new, new_runs): (&'a [String], &'a [Profile]),
        comparison: &'a Comparison,
    ) -> Self {
        let side = |files: &'a [String], runs: &'a [Profile]| {
            files.iter().zip(runs).map(|(file, run)| SideRow::of(file, run)).collect()
        };
        let row = |finding| FindingRow::of(finding, comparison.has_time);
        Self {
            schema: super::SCHEMA,
            old: side(old, old_runs),
            new: side(new, new_runs),
            compared: comparison.compared,
            not_compared: comparison.not_compared,
            findings: comparison.findings.iter().map(row).collect(),
            notes: &comparison.notes,
        }
    }

    /// Returns the document as text.
    ///
    /// # Errors
    /// Returns an error if the document cannot be written as JSON.
    pub fn json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self).map(|text| text + "\n")
    }
}

impl<'a> SideRow<'a> {
    fn of(file: &'a str, run: &'a Profile) -> Self {
        let Profile { format, events, ticks, gaps, .. } = run;
        Self { file, format, events: *events, span_ticks: *ticks, gaps: *gaps }
    }
}

impl<'a> FindingRow<'a> {
    fn of(finding: &'a Finding, has_time: bool) -> Self {
        let (kind, of, unit) = match finding.kind {
            FindingKind::Time(measure) => {
                ("time", Some(measure.name()), Some(if has_time { "ns" } else { "ticks" }))
            }
            FindingKind::Load => ("load", None, Some("ppm")),
            FindingKind::Rate => {
                ("rate", None, Some(if has_time { "per 1000 s" } else { "per 10^9 ticks" }))
            }
            FindingKind::New(of) => ("new", Some(of), None),
            FindingKind::Gone(of) => ("gone", Some(of), None),
        };
        let shift = finding.shift.as_ref();
        let difference = shift.map(|shift| shift.difference);
        Self {
            kind,
            of,
            subject: &finding.subject,
            worse: finding.is_worse(),
            unit,
            old: shift.map(|Shift { old, .. }| SummaryRow::of(old)),
            new: shift.map(|Shift { new, .. }| SummaryRow::of(new)),
            change: shift.map(|shift| shift.change).filter(|change| change.is_finite()),
            distance: difference.map(|difference| difference.distance),
            delta: difference.map(|difference| difference.delta),
            probability: difference.map(|difference| difference.probability),
        }
    }
}

impl SummaryRow {
    fn of(summary: &Summary) -> Self {
        let Summary { count, mean, p50, p90, p99, max } = *summary;
        Self { count, mean, p50, p90, p99, max }
    }
}
