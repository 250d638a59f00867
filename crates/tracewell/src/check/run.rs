//! The sink that compares a trace with rules.

use super::invariants::{Broken, Watch};
use super::matching::{Event, Matcher};
use super::steps::{Doom, MOST_EXPECTED, Near, Offer, Run, Shared, State, View};
use super::syntax::{Item, ItemKind, Pattern, Rule, Rules};
use super::verdict::{Failure, FailureKind, Kept, Line, NearMiss, Verdict, spoken};
use crate::model::{Batch, EventRef, Flow, Sink, Trace};
use crate::select::Bound;
use crate::source::Span;
use crate::text::{missing, spoken_time};

/// Events shown before the place of a failure, itself among them.
const BEFORE: usize = 6;
/// Events shown behind it.
const BEHIND: usize = 2;

/// A sink that compares a trace with rules; [`Check::finish`] has the verdict.
#[derive(Debug)]
pub struct Check<'r> {
    matcher: Matcher<'r>,
    runs: Vec<RuleRun<'r>>,
    /// The last events, at most [`BEFORE`], oldest first from `oldest` on.
    recent: Vec<Kept>,
    oldest: usize,
    verdict: Verdict,
}

/// A rule and where it stands.
#[derive(Debug)]
struct RuleRun<'r> {
    rule: &'r Rule,
    state: State,
    shared: Shared,
    /// Whether the last step was done, or nothing more can be.
    over: bool,
    /// The event that was taken last, and the step that took it.
    since: Option<(Kept, Span)>,
    /// The first events behind it.
    behind: Vec<Kept>,
    steps: u64,
    watches: Vec<Watch<'r>>,
}

impl<'r> Check<'r> {
    /// Prepares for a trace.
    pub fn new(rules: &'r Rules) -> Self {
        Self {
            matcher: Matcher::new(rules),
            runs: rules.rules.iter().map(RuleRun::new).collect(),
            recent: Vec::new(),
            oldest: 0,
            verdict: Verdict::default(),
        }
    }

    /// The verdict, once all events were taken; `trace` is what reading them returned.
    pub fn finish(mut self, trace: &Trace) -> Verdict {
        for run in &mut self.runs {
            self.verdict.failures.extend(run.finish(trace));
            self.verdict.steps += run.steps;
        }
        self.verdict.note_losses(&trace.losses);
        self.verdict.failures.sort_by_key(Failure::place);
        self.verdict
    }

    fn event(&mut self, trace: &Trace, event: &EventRef<'_>) {
        self.verdict.events += 1;
        self.keep(event);
        for failure in self.verdict.failures.iter_mut().filter(|failure| failure.more > 0) {
            failure.more -= 1;
            failure.context.push(Line::of(trace, event));
        }
        let event = Event { trace, event };
        for run in &mut self.runs {
            let before = self.verdict.failures.len();
            run.event(&mut self.matcher, event, &mut self.verdict.failures);
            for failure in self.verdict.failures.iter_mut().skip(before) {
                let (newer, older) = self.recent.split_at(self.oldest);
                failure.context = older.iter().chain(newer).map(|kept| kept.line(trace)).collect();
                failure.more = BEHIND;
            }
        }
    }

    fn keep(&mut self, event: &EventRef<'_>) {
        if self.recent.len() < BEFORE {
            return self.recent.push(Kept::of(event));
        }
        if let Some(oldest) = self.recent.get_mut(self.oldest) {
            oldest.set(event);
        }
        self.oldest = (self.oldest + 1) % BEFORE;
    }
}

impl Sink for Check<'_> {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        for event in batch.events() {
            self.event(trace, &event);
        }
        Flow::Continue(())
    }
}

impl<'r> RuleRun<'r> {
    fn new(rule: &'r Rule) -> Self {
        Self {
            rule,
            state: State::new(&rule.steps, 0),
            shared: Shared::new(rule.slots, rule.marks),
            over: !rule.has_steps(),
            since: None,
            behind: Vec::new(),
            steps: 0,
            watches: rule.invariants.iter().map(Watch::new).collect(),
        }
    }

    fn event(&mut self, matcher: &mut Matcher<'r>, event: Event<'_>, failures: &mut Vec<Failure>) {
        let rule = self.rule;
        self.watches.retain_mut(|watch| match watch.event(matcher, event) {
            Ok(()) => true,
            Err(broken) => {
                let at = Some(Line::of(event.trace, event.event));
                failures.push(broken_failure(rule, watch, broken, event.trace, at));
                false
            }
        });
        if !self.over && self.is_visible(matcher, event) {
            failures.extend(self.step(matcher, event));
        }
    }

    /// Whether the steps look at this event.
    fn is_visible(&self, matcher: &mut Matcher<'r>, event: Event<'_>) -> bool {
        let mut is = |pattern: &Pattern| matcher.matches(pattern, event, &mut []).is_ok();
        let Rule { ignored, only, .. } = self.rule;
        !ignored.iter().any(&mut is) && (only.is_empty() || only.iter().any(is))
    }

    fn step(&mut self, matcher: &mut Matcher<'r>, event: Event<'_>) -> Option<Failure> {
        let mut run = Run { shared: &mut self.shared, matcher, event };
        match run.offer(&self.rule.steps, &mut self.state) {
            Offer::No => {
                self.shared.gap = true;
                if self.behind.len() < BEFORE {
                    self.behind.push(Kept::of(event.event));
                }
            }
            offer => self.taken(event, offer),
        }
        let (kind, span, message) = self.difference(event)?;
        self.over = true;
        let at = Line::of(event.trace, event.event);
        Some(self.failure(event.trace, kind, span, message, Some(at)))
    }

    fn taken(&mut self, event: Event<'_>, offer: Offer) {
        self.steps += 1;
        self.shared.gap = false;
        self.shared.near = None;
        self.behind.clear();
        self.since = Some((Kept::of(event.event), self.shared.taken));
        self.over = offer == Offer::Done && !self.rule.ends;
    }

    /// Why the rule cannot be met any more, if so: what kind of thing, where, and in words.
    fn difference(&self, event: Event<'_>) -> Option<(FailureKind, Span, String)> {
        let Event { trace, event } = event;
        if let Some((span, since)) = self.shared.early {
            let took = elapsed(trace, since, event.ticks);
            return Some((FailureKind::Early, span, format!("this came too early, after {took}")));
        }
        let found = trace.schema.label(event.id);
        let (shared, clock, gap) = (&self.shared, &trace.clock, self.shared.gap);
        let view = View { shared, clock, now: event.ticks, gap };
        match self.state.doom(&self.rule.steps, view) {
            Some(Doom::NotNext(span)) => {
                let message = format!("expected this next, found {found}");
                Some((FailureKind::Unexpected, span, message))
            }
            Some(Doom::Late(span, _, bound)) => {
                let message = format!("this did not come within {}", spoken(bound));
                Some((FailureKind::Late, span, message))
            }
            None if self.rule.ends && gap && self.state.can_end(&self.rule.steps) => {
                let message = format!("expected nothing behind this, found {found}");
                Some((FailureKind::Unexpected, last_span(&self.rule.steps), message))
            }
            None => None,
        }
    }

    fn failure(
        &mut self,
        trace: &Trace,
        kind: FailureKind,
        span: Span,
        message: String,
        at: Option<Line>,
    ) -> Failure {
        let near = self.shared.near.take();
        Failure {
            rule: self.rule.name.clone(),
            kind,
            span,
            message,
            since: self.since.take().map(|(kept, span)| (kept.line(trace), span)),
            at,
            near: near.map(|Near { event, why }| NearMiss { event: event.line(trace), why }),
            context: Vec::new(),
            more: 0,
        }
    }

    fn finish(&mut self, trace: &Trace) -> Vec<Failure> {
        let mut failures = Vec::new();
        if !self.over && !self.state.can_end(&self.rule.steps) {
            failures.push(self.missing(trace));
        }
        for watch in &mut self.watches {
            if let Err(broken) = watch.finish() {
                failures.push(broken_failure(self.rule, watch, broken, trace, None));
            }
        }
        failures.extend(self.rule.complete.filter(|_| !trace.losses.is_empty()).map(|span| {
            let message = match trace.losses.events() {
                Some(lost) => format!("{} in this trace", missing(lost, "event")),
                None => "events are missing in this trace".to_owned(),
            };
            self.failure(trace, FailureKind::Lost, span, message, None)
        }));
        failures
    }

    /// The trace ended before the steps did.
    fn missing(&mut self, trace: &Trace) -> Failure {
        let mut expected = Vec::new();
        self.state.expected(&self.rule.steps, &mut expected);
        let more = expected.len().saturating_sub(1).min(MOST_EXPECTED);
        let span = expected.first().map_or(self.rule.steps.span, |pattern| pattern.span);
        let message = match more {
            0 => "this did not come before the trace ended".to_owned(),
            _ => format!(
                "neither this nor {more} others that may come now came before the trace ended"
            ),
        };
        let behind = std::mem::take(&mut self.behind);
        let mut failure = self.failure(trace, FailureKind::Missing, span, message, None);
        failure.context = behind.iter().map(|kept| kept.line(trace)).collect();
        failure
    }
}

fn broken_failure(
    rule: &Rule,
    watch: &Watch<'_>,
    broken: Broken,
    trace: &Trace,
    at: Option<Line>,
) -> Failure {
    let span = watch.invariant.span;
    Failure {
        rule: rule.name.clone(),
        kind: broken.kind,
        span,
        message: broken.message,
        since: broken.since.map(|kept| (kept.line(trace), span)),
        at,
        near: None,
        context: Vec::new(),
        more: 0,
    }
}

fn elapsed(trace: &Trace, since: u64, now: u64) -> String {
    match trace.clock.nanoseconds(now).zip(trace.clock.nanoseconds(since)) {
        Some((now, since)) => spoken_time(now.saturating_sub(since)),
        None => spoken(Bound::Ticks(now.saturating_sub(since))),
    }
}

fn last_span(item: &Item) -> Span {
    match &item.kind {
        ItemKind::Sequence(items) => items.last().map_or(item.span, |item| item.span),
        _ => item.span,
    }
}
