//! What came out: which rules were not met, where first, and the events around that place.

use crate::model::{EventRef, Losses, Trace};
use crate::select::Bound;
use crate::source::Span;
use crate::text::{Describer, TextBuffer, counted, spoken_time};

/// What became of a trace under rules.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    /// The first difference of each rule that is not met, in the order of the trace.
    pub failures: Vec<Failure>,
    /// Events that were looked at.
    pub events: u64,
    /// Steps that were met, over all rules.
    pub steps: u64,
    /// Places where events are missing; what was there could not be looked at.
    pub gaps: u64,
    /// Events that are missing, where that is known.
    pub lost: Option<u64>,
}

impl Verdict {
    /// Whether all rules are met.
    pub fn passed(&self) -> bool {
        self.failures.is_empty()
    }

    pub(super) fn note_losses(&mut self, losses: &Losses) {
        self.gaps = losses.iter().map(|(_, count)| count.gaps).sum();
        self.lost = losses.events();
    }
}

/// Why a rule is not met.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FailureKind {
    /// The trace ended before an expected event came.
    Missing,
    /// Another event came where one was expected next.
    Unexpected,
    /// An event did not come in its time.
    Late,
    /// An event came before its time.
    Early,
    /// An event came that must not.
    Never,
    /// An event came too often or not often enough.
    Count,
    /// An event was not followed by its answer.
    Unanswered,
    /// Events are missing in a trace that must be complete.
    Lost,
}

impl FailureKind {
    /// The word for it in output.
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
        }
    }
}

/// The first difference between a rule and a trace.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The rule's name; `None` for the steps of the file itself.
    pub rule: Option<String>,
    /// What kind of difference it is.
    pub kind: FailureKind,
    /// The step or statement that is not met.
    pub span: Span,
    /// What was expected and what was found.
    pub message: String,
    /// The event since which this was waited for, and where in the rules it was expected; `None` for
    /// the start of the trace.
    pub since: Option<(Line, Span)>,
    /// The event at which it was clear; `None` for the end of the trace.
    pub at: Option<Line>,
    /// An event that was nearly the expected one.
    pub near: Option<NearMiss>,
    /// Events before and behind `at`, itself among them; at the end of the trace those behind
    /// `since`.
    pub context: Vec<Line>,
    /// Events that are still to be added to `context`.
    pub(super) more: usize,
}

impl Failure {
    /// Number of the event at which it was clear; the end of the trace is behind all events.
    pub(super) fn place(&self) -> u64 {
        self.at.as_ref().map_or(u64::MAX, |line| line.seq)
    }
}

/// An event with the name that was expected, that was not taken.
#[derive(Clone, Debug)]
pub struct NearMiss {
    /// The event.
    pub event: Line,
    /// Why it was not taken.
    pub why: String,
}

/// An event as a line of text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    /// Number of the event in the trace.
    pub seq: u64,
    /// Ticks since the first event.
    pub ticks: u64,
    /// Nanoseconds since the first event, where the clock's rate is known.
    pub time_ns: Option<u64>,
    /// Name of the context.
    pub context: String,
    /// What a report calls the event.
    pub label: String,
    /// Its decoded arguments.
    pub text: String,
}

impl Line {
    pub(super) fn of(trace: &Trace, event: &EventRef<'_>) -> Self {
        let (mut describer, mut text) = (Describer::default(), TextBuffer::default());
        describer.put(&mut text, trace, event);
        let context = trace.contexts.get(event.context);
        Self {
            seq: event.seq,
            ticks: event.ticks,
            time_ns: trace.clock.nanoseconds(event.ticks),
            context: context.map_or_else(String::new, |context| context.name.clone()),
            label: trace.schema.label(event.id),
            text: String::from_utf8_lossy(text.as_bytes()).into_owned(),
        }
    }
}

/// A copy of an event that outlives its batch.
#[derive(Clone, Debug, Default)]
pub(super) struct Kept {
    seq: u64,
    ticks: u64,
    cpu: u16,
    context: crate::model::ContextId,
    id: u32,
    priority: Option<u16>,
    payload: Vec<u8>,
}

/// Bytes of a payload that are kept: texts that are longer are cut.
const LONGEST: usize = 4096;

impl Kept {
    /// Becomes a copy of another event.
    pub(super) fn set(&mut self, event: &EventRef<'_>) {
        let EventRef { seq, ticks, cpu, context, id, priority, payload, record: _ } = *event;
        let mut kept = std::mem::take(&mut self.payload);
        kept.clear();
        kept.extend_from_slice(payload.get(..LONGEST).unwrap_or(payload));
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
        Line::of(trace, &self.event())
    }
}

/// A time as people write it.
pub(super) fn spoken(bound: Bound) -> String {
    match bound {
        Bound::Ticks(ticks) => counted(ticks, "tick"),
        Bound::Nanoseconds(ns) | Bound::WallClock(ns) => spoken_time(ns),
    }
}
