//! The result of a check. For each rule that is not met, the result contains the first difference
//! and the events around this difference.

use super::thresholds::ThresholdResult;
use crate::model::{Event, EventRef, Losses, Priority, Trace};
use crate::source::{Finding, Span};
use crate::text::{Describer, TextBuffer};

/// The result of checking a trace.
///
/// # Examples
///
/// ```
/// use tracewell::check::Verdict;
///
/// let verdict = Verdict::default();
/// assert!(verdict.passed() && verdict.failures.is_empty());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    /// For each rule that is not met, its first difference from the trace. The differences are in
    /// the order of the trace.
    pub failures: Vec<Failure>,
    /// The results of all rules, in the order in which they are written.
    pub rules: Vec<RuleResult>,
    /// Number of events that were read.
    pub events: u64,
    /// Number of steps that were completed, over all rules.
    pub steps: u64,
    /// Number of gaps in the trace. No rule fails because of missing events, except those that
    /// limit their number.
    pub gaps: u64,
    /// Number of missing events, if known.
    pub lost: Option<u64>,
    /// Warnings about names in the rules that do not exist in the trace's format.
    pub warnings: Vec<Finding>,
    /// Warnings about names that occur in conditions, but that no context, object or event of the
    /// trace has. [`Verdict::strict`] does not turn them into failures, because a run need not
    /// contain every context and every object.
    pub absent: Vec<Finding>,
}

impl Verdict {
    /// Returns true if no rule failed and the trace decides at least one rule.
    pub fn passed(&self) -> bool {
        self.failures.is_empty() && !self.decides_nothing()
    }

    /// Returns true if there are rules, and the trace decides none of them.
    pub fn decides_nothing(&self) -> bool {
        !self.rules.is_empty() && self.undecided() == self.rules.len()
    }

    /// Returns the number of rules that the trace does not decide. A verdict can pass although it
    /// contains such rules. [`Verdict::strict`] turns such rules into failures.
    pub fn undecided(&self) -> usize {
        self.rules.iter().filter(|rule| rule.outcome() == RuleOutcome::Open).count()
    }

    /// Returns a stricter verdict. It has further kinds of failures: rules that the trace does not
    /// decide, thresholds that the baseline does not contain, and names of events or arguments that
    /// the trace's format does not have.
    #[must_use]
    pub fn strict(mut self) -> Self {
        for result in &mut self.rules {
            let why = result.open_because.take().or_else(|| result.not_compared.take());
            let Some(why) = why else { continue };
            (result.held, result.failed) = (0, 1);
            let rule = result.rule.clone();
            let failure = Failure::of_rules(rule, FailureKind::Undecided, result.span, why);
            self.failures.push(failure);
        }
        let unknown = std::mem::take(&mut self.warnings).into_iter().map(|warning| {
            Failure::of_rules(None, FailureKind::Unknown, warning.span, warning.message)
        });
        self.failures.extend(unknown);
        self
    }

    /// Adds the number of a statement's late events to the message of its failure.
    pub(super) fn count_late(&mut self, statement: Span, in_all: Option<String>) {
        let is_late = |failure: &&mut Failure| {
            failure.span == statement
                && matches!(failure.kind, FailureKind::Late | FailureKind::Unanswered)
        };
        if let Some(in_all) = in_all
            && let Some(failure) = self.failures.iter_mut().find(is_late)
        {
            failure.message.push_str(&in_all);
        }
    }

    pub(super) fn note_losses(&mut self, losses: &Losses) {
        self.gaps = losses.places();
        self.lost = losses.events();
    }
}

/// The result of a rule's steps, or of one statement about the whole trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RuleResult {
    /// The name of the rule; `None` outside of all named rules.
    pub rule: Option<String>,
    /// The kind of statement.
    pub kind: RuleKind,
    /// The steps or the statement in the file of rules.
    pub span: Span,
    /// Number of times that it held. For `never`, `count` and `eventually`, this is the number of
    /// ranges. For `whenever` and `each`, it is the number of events that were answered in time.
    /// All other rules hold at most once.
    pub held: u64,
    /// 1 if it failed. Only `whenever` and `each` continue after a failure.
    pub failed: u64,
    /// For `whenever` and `each`: number of events that got no answer, or no answer in time. Events
    /// of `whenever` that share an answer count as one.
    pub late: u64,
    /// Number of ranges that the trace does not decide, because their `until` event did not occur
    /// or because of missing events. For `whenever` and `each`, this is the number of events whose
    /// answers may be missing.
    pub open: u64,
    /// Number of events that matched the patterns of the rule.
    pub matched: u64,
    /// The reason why the trace does not decide the statement; `None` if it held or failed.
    pub open_because: Option<String>,
    /// The reason why a threshold that held was not compared with the baseline; `None` if it was
    /// compared, or if there is no baseline.
    pub not_compared: Option<String>,
    /// The value and the limit of a threshold, and its worst single value; `None` for other rules.
    pub threshold: Option<ThresholdResult>,
}

impl RuleResult {
    /// Returns the outcome of the rule: failed, held, or open if the trace shows neither.
    pub fn outcome(&self) -> RuleOutcome {
        match self {
            Self { failed: 1.., .. } => RuleOutcome::Failed,
            Self { held: 1.., .. } => RuleOutcome::Held,
            _ => RuleOutcome::Open,
        }
    }
}

/// The result of a rule as one word.
///
/// # Examples
///
/// ```
/// use tracewell::check::RuleOutcome;
///
/// assert_eq!(RuleOutcome::Open.as_str(), "open");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RuleOutcome {
    /// The rule held each time.
    Held,
    /// The rule failed.
    Failed,
    /// The trace does not show whether the rule holds. For example, the event that begins the
    /// rule's range did not occur, or events are missing where it matters.
    Open,
}

impl RuleOutcome {
    /// Returns the word that the output shows for the result.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Failed => "failed",
            Self::Open => "open",
        }
    }
}

/// The kind of a statement.
///
/// # Examples
///
/// ```
/// use tracewell::check::RuleKind;
///
/// assert_eq!(RuleKind::Steps.as_str(), "steps");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RuleKind {
    /// Events in order.
    Steps,
    /// An event does not occur.
    Never,
    /// An event occurs a number of times.
    Count,
    /// Each trigger is followed by an answer; one answer can follow several triggers.
    Whenever,
    /// Each trigger is followed by an answer of its own.
    Each,
    /// No event is missing.
    Complete,
    /// A figure is within a limit.
    Threshold,
}

impl RuleKind {
    /// Returns the word that the output shows for the kind.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Steps => "steps",
            Self::Never => "never",
            Self::Count => "count",
            Self::Whenever => "whenever",
            Self::Each => "each",
            Self::Complete => "complete",
            Self::Threshold => "threshold",
        }
    }
}

/// The reason why a rule is not met.
///
/// # Examples
///
/// ```
/// use tracewell::check::FailureKind;
///
/// assert_eq!(FailureKind::Late.as_str(), "late");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FailureKind {
    /// The trace ended before an expected event.
    Missing,
    /// Another event occurred although a certain event was expected next.
    Unexpected,
    /// An event did not occur in time.
    Late,
    /// An event occurred too early.
    Early,
    /// A forbidden event occurred.
    Never,
    /// An event occurred too often or too rarely.
    Count,
    /// An event was not followed by its answer.
    Unanswered,
    /// Events are missing in a trace that must be complete.
    Lost,
    /// A figure is beyond its limit.
    Exceeded,
    /// A figure is worse than in the baseline.
    Worse,
    /// The trace does not decide a rule, or the baseline does not contain its figure. This is a
    /// failure of a strict verdict only.
    Undecided,
    /// The rules contain a name that no event of the trace's format has. This is a failure of a
    /// strict verdict only.
    Unknown,
}

impl FailureKind {
    /// Returns the word that the output shows for the kind.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Unexpected => "unexpected",
            Self::Late => "late",
            Self::Early => "early",
            Self::Never => "never",
            Self::Count => "count",
            Self::Unanswered => "unanswered",
            Self::Lost => "lost",
            Self::Exceeded => "exceeded",
            Self::Worse => "worse",
            Self::Undecided => "undecided",
            Self::Unknown => "unknown",
        }
    }

    /// Returns true if the rules themselves are probably wrong, not the trace.
    pub const fn is_about_rules(self) -> bool {
        matches!(self, Self::Undecided | Self::Unknown)
    }

    /// Returns true if an event or a missing event caused the failure.
    pub const fn is_about_events(self) -> bool {
        !self.is_about_rules() && !matches!(self, Self::Exceeded | Self::Worse)
    }
}

/// The first difference between a rule and a trace.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The name of the rule; `None` for the steps outside all named rules.
    pub rule: Option<String>,
    /// The kind of difference.
    pub kind: FailureKind,
    /// The step or statement that is not met.
    pub span: Span,
    /// The expected and the found event.
    pub message: String,
    /// The last accepted event, and the step that accepted it. `None` if no event was accepted.
    pub since: Option<(Line, Span)>,
    /// The event that showed the difference; `None` for the end of the trace.
    pub at: Option<Line>,
    /// An event that almost matched.
    pub near: Option<NearMiss>,
    /// The events around `at`, or the events after `since` if `at` is `None`.
    pub context: Vec<Line>,
    /// Number of events still to be added to `context`.
    pub(super) more: usize,
}

impl Failure {
    /// Returns a failure that no single event caused.
    pub(super) fn of_rules(
        rule: Option<String>,
        kind: FailureKind,
        span: Span,
        message: String,
    ) -> Self {
        let (since, at, near, context, more) = (None, None, None, Vec::new(), 0);
        Self { rule, kind, span, message, since, at, near, context, more }
    }

    /// Returns the sequence number of the event that showed the difference. The end of the trace is
    /// after all events.
    pub(super) fn place(&self) -> u64 {
        self.at.as_ref().map_or(u64::MAX, |line| line.seq)
    }
}

/// An event with the expected name that did not match.
#[derive(Clone, Debug)]
pub struct NearMiss {
    /// The event that did not match.
    pub event: Line,
    /// The reason why it did not match.
    pub why: String,
}

/// An event as a line of text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    /// Number of the event in the trace.
    pub seq: u64,
    /// Ticks since the first event.
    pub ticks: u64,
    /// Nanoseconds since the first event, if the clock's rate is known.
    pub time_ns: Option<u64>,
    /// Name of the context.
    pub context: String,
    /// The name used in reports.
    pub label: String,
    /// The decoded arguments, as in reports.
    pub text: String,
}

impl Line {
    pub(super) fn of(event: Event<'_>) -> Self {
        let (mut describer, mut text) = (Describer::default(), TextBuffer::default());
        describer.put(&mut text, event);
        Self {
            seq: event.seq(),
            ticks: event.ticks(),
            time_ns: event.nanoseconds(),
            context: event.context().map_or_else(String::new, |context| context.name.clone()),
            label: event.label().to_string(),
            text: text.as_text().into_owned(),
        }
    }
}

/// A copy of an event. It can be kept longer than the batch that contains the event.
#[derive(Clone, Debug, Default)]
pub(super) struct EventCopy {
    seq: u64,
    ticks: u64,
    cpu: u16,
    context: crate::model::ContextId,
    id: u32,
    priority: Priority,
    payload: Vec<u8>,
}

/// Maximum number of payload bytes in a copy. Longer strings are truncated.
const MAX_PAYLOAD: usize = 4096;

impl EventCopy {
    /// Copies another event, reusing the memory.
    pub(super) fn set(&mut self, event: &EventRef<'_>) {
        let EventRef { seq, ticks, cpu, context, id, priority, payload, record: _ } = *event;
        let mut kept = std::mem::take(&mut self.payload);
        kept.clear();
        kept.extend_from_slice(payload.get(..MAX_PAYLOAD).unwrap_or(payload));
        *self = Self { seq, ticks, cpu, context, id, priority, payload: kept };
    }

    pub(super) fn of(event: &EventRef<'_>) -> Self {
        let mut kept = Self::default();
        kept.set(event);
        kept
    }

    pub(super) fn event(&self) -> EventRef<'_> {
        let Self { seq, ticks, cpu, context, id, priority, ref payload } = *self;
        EventRef { seq, ticks, cpu, context, id, priority, payload, record: &[] }
    }

    pub(super) fn line(&self, trace: &Trace) -> Line {
        Line::of(Event::new(trace, &self.event()))
    }
}
