//! The verdict of a check as JSON.

use serde::Serialize;

use crate::check::{Failure, Fraction, Line, Quantity, RuleResult, ThresholdResult, Verdict};
use crate::source::{Source, Span};

/// The verdict on a trace.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VerdictRow<'a> {
    /// True if no rule failed, and the trace decides at least one rule.
    pub passed: bool,
    /// Number of events that were checked.
    pub events: u64,
    /// Number of steps that were met.
    pub steps: u64,
    /// Number of places with missing events.
    pub gaps: u64,
    /// Number of missing events; null if it is unknown.
    pub lost: Option<u64>,
    /// Number of rules that the trace does not decide: those with the result `open`. They change
    /// `passed` only if no other rule is decided; with `--strict` they are failures.
    pub undecided: usize,
    /// The results in the order of the file: one for the steps of each rule, and one for each
    /// statement about the whole trace.
    pub rules: Vec<RuleRow<'a>>,
    /// The first difference of each rule that failed, in the order of the trace.
    pub failures: Vec<FailureRow<'a>>,
    /// Names in the rules that match no event of the trace's format, and names in conditions that
    /// match nothing in the trace.
    pub warnings: Vec<WarningRow<'a>>,
}

impl<'a> VerdictRow<'a> {
    /// Returns the verdict for programs. `source` is the text of the rules.
    pub fn new(source: &'a Source, verdict: &'a Verdict) -> Self {
        let rules = verdict.rules.iter().map(|result| RuleRow::of(source, result));
        let failures = verdict.failures.iter().map(|failure| FailureRow::of(source, failure));
        let warnings = verdict.warnings.iter().chain(&verdict.absent).map(|warning| WarningRow {
            place: Place::of(source, warning.span),
            message: &warning.message,
        });
        Self {
            passed: verdict.passed(),
            events: verdict.events,
            steps: verdict.steps,
            gaps: verdict.gaps,
            lost: verdict.lost,
            undecided: verdict.undecided(),
            rules: rules.collect(),
            failures: failures.collect(),
            warnings: warnings.collect(),
        }
    }
}

/// The result of the steps of a rule, or of a statement about the whole trace.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RuleRow<'a> {
    /// Name of the rule; null outside of named rules.
    pub rule: Option<&'a str>,
    /// `steps`, `never`, `count` (also for `eventually`), `whenever`, `each`, `complete` or
    /// `threshold`.
    pub kind: &'static str,
    /// Its place in the file of rules, with its first line.
    pub place: Place<'a>,
    /// `held`, `failed`, or `open` if nothing in the trace decides it.
    pub result: &'static str,
    /// Number of times that it held. For `never` and `count`, this is the number of ranges. For
    /// `whenever` and `each`, it is the number of events that were answered in time. All other
    /// rules hold at most once.
    pub held: u64,
    /// 1 if it failed.
    pub failed: u64,
    /// For `whenever` and `each`: number of events without an answer, or without an answer in time.
    /// Events of `whenever` that have the same answer are counted once.
    pub late: u64,
    /// Number of ranges that the trace does not decide, because their `until` event did not occur
    /// or because of missing events. For `whenever` and `each`, the number of events whose answers
    /// may be missing.
    pub open: u64,
    /// Number of events that matched its patterns; for `whenever` and `each`, the number of events
    /// that needed an answer plus the number of answers.
    pub matched: u64,
    /// The reason why the result is `open`, or why a threshold that held was not compared with the
    /// baseline; null for other results.
    pub reason: Option<&'a str>,
    /// The value and the limit of a threshold; null for other rules.
    pub threshold: Option<ThresholdRow<'a>>,
}

impl<'a> RuleRow<'a> {
    fn of(source: &'a Source, result: &'a RuleResult) -> Self {
        let mut place = Place::of(source, result.span);
        place.text = first_line(place.text);
        Self {
            rule: result.rule.as_deref(),
            kind: result.kind.as_str(),
            place,
            result: result.outcome().as_str(),
            held: result.held,
            failed: result.failed,
            late: result.late,
            open: result.open,
            matched: result.matched,
            reason: result.open_because.as_deref().or(result.not_compared.as_deref()),
            threshold: result.threshold.as_ref().map(ThresholdRow::of),
        }
    }
}

/// A figure that is compared with a limit.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ThresholdRow<'a> {
    /// The figure in the syntax of rules, such as `response("control").max`.
    pub figure: &'a str,
    /// The task or object with the worst value, if the figure describes tasks or objects.
    pub subject: Option<&'a str>,
    /// The unit of `value`, `limit` and `baseline`: `ticks`, `ns`, `ppm` (millionths of a whole) or
    /// `count`.
    pub unit: &'static str,
    /// The value, rounded down; null if it is unknown.
    pub value: Option<u64>,
    /// The value of a mean with its fraction; null for other figures.
    pub value_exact: Option<f64>,
    /// `<`, `<=`, `>`, `>=`, `=` or `!=`.
    pub comparison: &'static str,
    /// The limit in the rule.
    pub limit: u64,
    /// The value of the baseline; null if there is none.
    pub baseline: Option<u64>,
    /// The place of the worst single value; null if it is unknown.
    pub worst: Option<WorstRow>,
}

/// The place of the worst single value of a figure.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorstRow {
    /// Number of the event; null if it is unknown.
    pub seq: Option<u64>,
    /// Ticks since the first event.
    pub ticks: u64,
    /// Nanoseconds since the first event; null if the clock's rate is unknown.
    pub time_ns: Option<u64>,
    /// The worst value of the figure, in the unit `unit`.
    pub value: u64,
    /// Its unit, as in a threshold.
    pub unit: &'static str,
}

impl<'a> ThresholdRow<'a> {
    fn of(result: &'a ThresholdResult) -> Self {
        Self {
            figure: &result.figure,
            subject: result.subject.as_deref(),
            unit: result.limit.unit(),
            value: result.value.map(Quantity::amount),
            value_exact: result.exact.map(Fraction::as_f64),
            comparison: result.comparison,
            limit: result.limit.amount(),
            baseline: result.baseline.map(Quantity::amount),
            worst: result.worst.map(|worst| WorstRow {
                seq: worst.seq,
                ticks: worst.ticks,
                time_ns: worst.time_ns,
                value: worst.quantity.amount(),
                unit: worst.quantity.unit(),
            }),
        }
    }
}

/// Returns the first non-blank line of a text, without the spaces around it.
pub(super) fn first_line(text: &str) -> &str {
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default()
}

/// The first difference between a rule and the trace.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FailureRow<'a> {
    /// Name of the rule; null outside of named rules.
    pub rule: Option<&'a str>,
    /// `missing`, `unexpected`, `late`, `early`, `never`, `count`, `unanswered`, `lost`, `exceeded`
    /// or `worse`; with `--strict` also `undecided` or `unknown`.
    pub kind: &'static str,
    /// The step or statement that is not met.
    pub place: Place<'a>,
    /// The difference in words.
    pub message: &'a str,
    /// The event at which the rule began to wait; null for the start of the trace.
    pub since: Option<Since<'a>>,
    /// The event that broke the rule; null for the end of the trace.
    pub at: Option<EventRow<'a>>,
    /// An event that almost matched.
    pub near: Option<Near<'a>>,
    /// The events around `at`, or the events after `since` if `at` is null.
    pub context: Vec<EventRow<'a>>,
}

impl<'a> FailureRow<'a> {
    fn of(source: &'a Source, failure: &'a Failure) -> Self {
        let since = failure.since.as_ref().map(|(line, span)| Since {
            event: EventRow::of(line),
            place: Place::of(source, *span),
        });
        let near = failure.near.as_ref();
        Self {
            rule: failure.rule.as_deref(),
            kind: failure.kind.as_str(),
            place: Place::of(source, failure.span),
            message: &failure.message,
            since,
            at: failure.at.as_ref().map(EventRow::of),
            near: near.map(|near| Near { event: EventRow::of(&near.event), why: &near.why }),
            context: failure.context.iter().map(EventRow::of).collect(),
        }
    }
}

/// A name in the rules that matches no event of the trace's format, or a name in a condition that
/// matches nothing in the trace.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WarningRow<'a> {
    /// The event or the condition that contains the name.
    pub place: Place<'a>,
    /// The warning in words.
    pub message: &'a str,
}

/// A place in the file of rules.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Place<'a> {
    /// Path of the file.
    pub file: &'a str,
    /// Number of the line in the file, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The text of the rules at this place.
    pub text: &'a str,
}

impl<'a> Place<'a> {
    fn of(source: &'a Source, span: Span) -> Self {
        let position = source.position(span.start);
        Self {
            file: &source.name,
            line: position.line,
            column: position.column,
            text: source.slice(span),
        }
    }
}

/// An event at which a rule began to wait.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Since<'a> {
    /// The event at which the wait began.
    #[serde(flatten)]
    pub event: EventRow<'a>,
    /// The step that accepted it.
    pub place: Place<'a>,
}

/// An event that almost matched.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Near<'a> {
    /// The event that almost matched.
    pub event: EventRow<'a>,
    /// Why it did not match.
    pub why: &'a str,
}

/// An event as one line.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EventRow<'a> {
    /// Sequence number of the event.
    pub seq: u64,
    /// Ticks since the first event.
    pub ticks: u64,
    /// Nanoseconds since the first event; null if the clock's rate is unknown.
    pub time_ns: Option<u64>,
    /// Name of the context that recorded it.
    pub context: &'a str,
    /// Name of the event, as shown in reports.
    pub label: &'a str,
    /// The decoded arguments, as in a line of `tracewell report`.
    pub text: &'a str,
}

impl<'a> EventRow<'a> {
    fn of(line: &'a Line) -> Self {
        let Line { seq, ticks, time_ns, context, label, text } = line;
        Self { seq: *seq, ticks: *ticks, time_ns: *time_ns, context, label, text }
    }
}
