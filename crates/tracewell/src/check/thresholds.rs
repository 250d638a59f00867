//! Compares figures with the limits of thresholds, and with the figures of earlier runs.
//!
//! `figures` defines the names of figures. The caller supplies their values, except the number of
//! missing events, which the trace contains.

use std::collections::HashMap;
use std::fmt::Write;

use foldhash::fast::RandomState;

use super::figures::{Figure, Figures, Fraction, Measure, Quantity, Value, Worst};
use crate::model::Trace;
use crate::select::expression::syntax::Comparison;
use crate::source::Span;
use crate::text::spoken_time;

/// A statement that compares a figure with a limit.
#[derive(Clone, Debug)]
pub(super) struct Threshold {
    pub(super) figure: Figure,
    pub(super) comparison: Comparison,
    pub(super) limit: Quantity,
    pub(super) span: Span,
}

/// The values of figures in earlier runs, and the tolerance for the values of a new run.
///
/// # Examples
///
/// ```
/// use tracewell::check::{Baseline, Quantity};
///
/// let mut baseline = Baseline::new(50_000);
/// baseline.add("response(\"control\").max", Quantity::Nanoseconds(2_000_000));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Baseline {
    /// All values of each figure. The key is the text of the figure.
    figures: HashMap<String, Vec<Quantity>, RandomState>,
    tolerance: u64,
}

impl Baseline {
    /// Creates a baseline without figures. A value may be worse than the baseline by up to
    /// `tolerance` millionths of the baseline's value.
    pub fn new(tolerance: u64) -> Self {
        Self { figures: HashMap::default(), tolerance }
    }

    /// Adds the value of a figure in an earlier run. `figure` is the figure's text, as in
    /// [`ThresholdResult::figure`]. If a figure gets several values, the worst of them is the
    /// baseline's value.
    pub fn add(&mut self, figure: &str, quantity: Quantity) {
        self.figures.entry(figure.to_owned()).or_default().push(quantity);
    }

    /// Returns the reason why the baseline has no value of a figure in a unit, or `None`.
    fn lacks(&self, figure: &str, unit: &str) -> Option<String> {
        match self.figures.get(figure) {
            None => Some(format!("the baseline has no value of {figure}")),
            Some(values) if values.iter().all(|value| value.unit() != unit) => {
                Some(format!("the baseline has no value of {figure} in {unit}"))
            }
            Some(_) => None,
        }
    }

    /// Returns true if there are no figures.
    pub fn is_empty(&self) -> bool {
        self.figures.is_empty()
    }
}

/// The result of a threshold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ThresholdResult {
    /// The figure, written as in a rule.
    pub figure: String,
    /// The task or object with the worst value; `None` if the figure has no subject.
    pub subject: Option<String>,
    /// The part of the subject, if the value is the sum of several tasks or objects.
    pub part: Option<u64>,
    /// The value in the unit of the limit, rounded down; `None` if it is unknown.
    pub value: Option<Quantity>,
    /// The exact value, if it is a mean.
    pub exact: Option<Fraction>,
    /// The comparison: `<`, `<=`, `>`, `>=`, `=` or `!=`.
    pub comparison: &'static str,
    /// The limit in the rule.
    pub limit: Quantity,
    /// The worst single value, and its position.
    pub worst: Option<Worst>,
    /// The value of the baseline, if there is one.
    pub baseline: Option<Quantity>,
}

/// The decision about a threshold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Decision {
    Held,
    /// The value is beyond the limit.
    Exceeded(String),
    /// The value is worse than the value in the baseline.
    Worse(String),
    /// The trace does not determine the result.
    Open(String),
}

/// The sources of values: the current trace and its figures, and the baseline of earlier runs.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    pub(super) trace: &'a Trace,
    pub(super) figures: &'a dyn Figures,
    pub(super) baseline: Option<&'a Baseline>,
}

/// A source without figures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoFigures;

impl Figures for NoFigures {
    fn values(&self, _: &Figure) -> Result<Vec<Value>, String> {
        Err("the figures of the trace were not computed".to_owned())
    }
}

impl Threshold {
    /// Compares the values of a trace with the limit.
    pub(super) fn decide(&self, known: Known<'_>) -> (Decision, ThresholdResult) {
        let mut result = ThresholdResult {
            figure: self.figure.to_string(),
            subject: None,
            part: None,
            value: None,
            exact: None,
            comparison: self.comparison.sign(),
            limit: self.limit,
            worst: None,
            baseline: None,
        };
        let decision = self.worst_value(known).map(|(quantity, value)| {
            (result.value, result.exact) = (Some(quantity), self.exact(&value));
            (result.subject, result.part) = (value.subject, value.part);
            result.worst = value.worst;
            result.baseline = known.baseline.and_then(|of| self.baseline(of, &result.figure));
            self.judge(quantity, &result, known.baseline.map_or(0, |of| of.tolerance))
        });
        let open = |why| Decision::Open(format!("threshold not decided: {why}"));
        (decision.unwrap_or_else(open), result)
    }

    /// Returns the worst value in the unit of the limit, or the reason why it is unknown.
    fn worst_value(&self, known: Known<'_>) -> Result<(Quantity, Value), String> {
        let values = match self.figure.measure {
            Measure::Lost => vec![self.lost(known.trace)?],
            _ => known.figures.values(&self.figure)?,
        };
        let mut worst: Option<(Quantity, Value)> = None;
        for value in values {
            let quantity = self.in_unit_of_limit(&value)?;
            let exact = |quantity: Quantity, value: &Value| {
                self.exact(value).unwrap_or(Fraction::whole(quantity.amount()))
            };
            let is_worse = |(before, of): &(Quantity, Value)| {
                self.is_worse(exact(quantity, &value), exact(*before, of))
            };
            if worst.as_ref().is_none_or(is_worse) {
                worst = Some((quantity, value));
            }
        }
        worst.ok_or_else(|| format!("the trace has no value of {}", self.figure))
    }

    fn in_unit_of_limit(&self, value: &Value) -> Result<Quantity, String> {
        match (self.limit, value.nanoseconds) {
            (Quantity::Nanoseconds(_), Some(ns)) => Ok(Quantity::Nanoseconds(ns)),
            (Quantity::Nanoseconds(_), None) => Err(
                "the limit is a time, and the clock has no known rate, or several; use -O rate=, or a \
                 limit in ticks"
                    .to_owned(),
            ),
            _ => Ok(value.quantity),
        }
    }

    /// Returns the exact value in the unit of the limit, if the value is a mean.
    fn exact(&self, value: &Value) -> Option<Fraction> {
        match self.limit {
            Quantity::Nanoseconds(_) => value.exact_nanoseconds,
            _ => value.exact,
        }
    }

    /// Returns the number of missing events.
    fn lost(&self, trace: &Trace) -> Result<Value, String> {
        let count = trace.losses.events().or_else(|| {
            // Even if the sizes of some gaps are unknown, the smallest possible number may already
            // exceed an upper limit.
            let counts = trace.losses.iter();
            let counts = counts.map(|(_, count)| count.events.saturating_add(count.unknown));
            let least = counts.fold(0, u64::saturating_add);
            (!self.holds(least) && self.is_upper()).then_some(least)
        });
        let count = count.ok_or("the number of missing events is unknown")?;
        Ok(Value::of(Quantity::Count(count)))
    }

    /// Returns a message if the events that are missing so far already break this threshold.
    pub(super) fn broken_by_losses(&self, trace: &Trace) -> Option<String> {
        let is_certain = self.figure.measure == Measure::Lost && self.is_upper();
        let lost = self.lost(trace).ok().filter(|_| is_certain)?;
        let count = lost.quantity.amount();
        (!self.holds(count)).then(|| self.beyond(&lost.quantity.to_string()))
    }

    /// Returns true if a value can break the limit only by being too large.
    fn is_upper(&self) -> bool {
        match self.comparison {
            Comparison::Less | Comparison::LessOrEqual => true,
            Comparison::Equal => self.limit.amount() == 0,
            _ => false,
        }
    }

    fn holds(&self, amount: u64) -> bool {
        self.comparison.holds(amount.cmp(&self.limit.amount()))
    }

    /// Returns true if a value is worse than another value, that is, nearer to the limit or further
    /// beyond the limit.
    fn is_worse(&self, value: Fraction, than: Fraction) -> bool {
        let limit = self.limit.amount();
        let distances = || value.distance(limit).compare(than.distance(limit));
        match self.comparison {
            Comparison::Less | Comparison::LessOrEqual => value.compare(than).is_gt(),
            Comparison::Greater | Comparison::GreaterOrEqual => value.compare(than).is_lt(),
            Comparison::Equal => distances().is_gt(),
            Comparison::Different => distances().is_lt(),
        }
    }

    /// Compares two quantities like [`Self::is_worse`].
    fn is_worse_amount(&self, value: Quantity, than: Quantity) -> bool {
        self.is_worse(Fraction::whole(value.amount()), Fraction::whole(than.amount()))
    }

    /// Returns the worst value of the baseline for a figure, if it has the same unit as the limit.
    fn baseline(&self, baseline: &Baseline, figure: &str) -> Option<Quantity> {
        let values = baseline.figures.get(figure)?.iter().copied();
        let values = values.filter(|value| value.unit() == self.limit.unit());
        values.reduce(|worst, value| if self.is_worse_amount(value, worst) { value } else { worst })
    }

    /// Returns a message if the baseline should contain the value of this threshold but does not.
    pub(super) fn lacks_baseline(&self, baseline: Option<&Baseline>) -> Option<String> {
        // No value is worse than another for `!=`, so such thresholds are not compared.
        let baseline = baseline.filter(|_| self.comparison != Comparison::Different)?;
        let why = baseline.lacks(&self.figure.to_string(), self.limit.unit())?;
        Some(format!("{why}: compared with the limit only"))
    }

    fn judge(&self, value: Quantity, result: &ThresholdResult, tolerance: u64) -> Decision {
        let exact = result.exact.unwrap_or(Fraction::whole(value.amount()));
        let limit = self.limit.amount();
        if !self.comparison.holds(exact.compare(Fraction::whole(limit))) {
            let mut message = self.beyond(&value.with_fraction(exact, limit));
            put_place(&mut message, result);
            return Decision::Exceeded(message);
        }
        let Some(before) = result.baseline.filter(|_| self.comparison != Comparison::Different)
        else {
            return Decision::Held;
        };
        // Use 128 bits, because the product may exceed 64 bits.
        let allowed = u128::from(before.amount()) * u128::from(tolerance) / 1_000_000;
        let distance = u128::from(value.amount().abs_diff(before.amount()));
        if !self.is_worse_amount(value, before) || distance <= allowed {
            return Decision::Held;
        }
        let mut message = format!(
            "{value}, {} than the baseline's {before}; {} % are tolerated",
            if value.amount() > before.amount() { "more" } else { "less" },
            Quantity::Share(tolerance).to_string().trim_end_matches(" %"),
        );
        put_place(&mut message, result);
        Decision::Worse(message)
    }

    /// Returns the message about a value beyond the limit.
    fn beyond(&self, value: &str) -> String {
        let sign = match self.comparison {
            Comparison::Equal => "==",
            other => other.sign(),
        };
        format!("{value}, expected {sign} {}", self.limit)
    }
}

/// Appends the task or object of a value, and the position of the worst single value.
fn put_place(message: &mut String, result: &ThresholdResult) {
    if let Some(subject) = &result.subject {
        let part = result.part.map_or_else(String::new, |part| format!("{part} of them: "));
        let _ = write!(message, " ({part}{})", subject.escape_debug());
    }
    if let Some(Worst { seq, ticks, time_ns, quantity }) = result.worst {
        let time = time_ns.map_or_else(|| format!("tick {ticks}"), spoken_time);
        let event = seq.map_or_else(String::new, |seq| format!("event {seq}, "));
        let _ = write!(message, "; worst: {quantity} at {event}{time}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::figures::Statistic;

    fn threshold(comparison: Comparison, limit: u64) -> Threshold {
        let measure = Measure::Response;
        let statistic = Some(Statistic::Max);
        let figure = Figure { measure, names: Vec::new(), statistic, time: None };
        Threshold { figure, comparison, limit: Quantity::Ticks(limit), span: Span::default() }
    }

    fn decide(threshold: &Threshold, values: &[u64], baseline: Option<(u64, u64)>) -> Decision {
        struct Given<'a>(&'a [u64]);
        impl Figures for Given<'_> {
            fn values(&self, _: &Figure) -> Result<Vec<Value>, String> {
                let value = |ticks: &u64| Value::of(Quantity::Ticks(*ticks));
                Ok(self.0.iter().map(value).collect())
            }
        }
        let trace = Trace::new(
            "native",
            crate::format::threadx::schema(),
            crate::model::PayloadLayout::Values { digits: 8 },
            crate::model::Clock::of_64_bits(None),
        );
        let baseline = baseline.map(|(value, tolerance)| {
            let mut baseline = Baseline::new(tolerance);
            baseline.add("response.max", Quantity::Ticks(value));
            baseline
        });
        let known = Known { trace: &trace, figures: &Given(values), baseline: baseline.as_ref() };
        threshold.decide(known).0
    }

    #[test]
    fn the_worst_of_several_values_decides() {
        let below = threshold(Comparison::Less, 10);
        assert_eq!(decide(&below, &[3, 9, 4], None), Decision::Held);
        let exceeded = Decision::Exceeded("12 ticks, expected < 10 ticks".to_owned());
        assert_eq!(decide(&below, &[3, 12, 10], None), exceeded);
        let above = threshold(Comparison::GreaterOrEqual, 10);
        assert_eq!(decide(&above, &[10, 12], None), Decision::Held);
        assert!(matches!(decide(&above, &[9, 12], None), Decision::Exceeded(_)));
        assert!(matches!(decide(&below, &[], None), Decision::Open(_)));
    }

    #[test]
    fn a_baseline_tolerates_a_part_of_its_value() {
        let below = threshold(Comparison::Less, 2000);
        assert_eq!(decide(&below, &[1050], Some((1000, 50_000))), Decision::Held);
        let worse = "1051 ticks, more than the baseline's 1000 ticks; 5 % are tolerated";
        let worse = Decision::Worse(worse.to_owned());
        assert_eq!(decide(&below, &[1051], Some((1000, 50_000))), worse);
        assert_eq!(decide(&below, &[10], Some((1000, 0))), Decision::Held);
        let above = threshold(Comparison::Greater, 100);
        assert!(matches!(decide(&above, &[900], Some((1000, 50_000))), Decision::Worse(_)));
    }
}
