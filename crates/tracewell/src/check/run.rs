//! The sink that compares a trace with rules.

use std::sync::Arc;

use super::index::{Index, Part, PartOf};
use super::invariants::{Broken, Watch};
use super::matching::{Event, Matcher};
use super::shapes::Shapes;
use super::steps::{Doom, MOST_EXPECTED, Near, Offer, Run, Shared, State, View};
use super::syntax::{Item, ItemKind, Pattern, Rule, Rules};
use super::verdict::{Failure, FailureKind, Kept, Line, NearMiss, Verdict, spoken};
use crate::model::{Batch, Clock, EventRef, Flow, Rate, Sink, Trace};
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
    index: Index<'r>,
    /// The parts that an event concerns, to be used again.
    due: Vec<Part>,
    runs: Vec<RuleRun<'r>>,
    /// What the clock said last: alarms are made by it.
    clock: (Option<Rate>, usize),
    /// Failures before this have all their events.
    whole: usize,
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
    steps_met: u64,
    watches: Vec<Watch<'r>>,
}

impl<'r> Check<'r> {
    /// Prepares for a trace.
    pub fn new(rules: &'r Rules) -> Self {
        let shapes = Arc::new(Shapes::new(rules));
        Self {
            matcher: Matcher::new(Arc::clone(&shapes)),
            index: Index::new(rules, shapes),
            due: Vec::new(),
            clock: (None, 0),
            whole: 0,
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
            self.verdict.steps += run.steps_met;
        }
        self.verdict.note_losses(&trace.losses);
        self.verdict.failures.sort_by_key(Failure::place);
        self.verdict
    }

    /// The failures so far, in the order in which they were found. The last ones may get more events around them.
    pub fn failures(&self) -> &[Failure] {
        &self.verdict.failures
    }

    fn event(&mut self, trace: &Trace, event: &EventRef<'_>) {
        self.verdict.events += 1;
        self.keep(event);
        for failure in self.verdict.failures.iter_mut().skip(self.whole) {
            failure.more = failure.more.saturating_sub(1);
            failure.context.push(Line::of(trace, event));
        }
        let growing = |failure: &Failure| failure.more > 0;
        self.whole +=
            self.verdict.failures[self.whole..].iter().take_while(|f| !growing(f)).count();
        self.heed_clock(trace, event.ticks);
        let before = self.verdict.failures.len();
        let mut due = std::mem::take(&mut self.due);
        self.index.due(trace, event.id, event.ticks, &mut due);
        for part in &due {
            self.part(*part, Event { trace, event });
        }
        self.due = due;
        for failure in self.verdict.failures.iter_mut().skip(before) {
            let (newer, older) = self.recent.split_at(self.oldest);
            failure.context = older.iter().chain(newer).map(|kept| kept.line(trace)).collect();
            failure.more = BEHIND;
        }
    }

    /// Lets a part of a rule look at an event.
    fn part(&mut self, part: Part, event: Event<'_>) {
        let Some(run) = self.runs.get_mut(part.rule as usize) else { return };
        match part.of {
            PartOf::Statement(position) => {
                self.verdict.failures.extend(run.statement(position, &mut self.matcher, event));
                let alarm = run.new_alarm(position, &event.trace.clock, event.event.ticks);
                alarm.into_iter().for_each(|ticks| self.index.set_alarm(part, ticks));
            }
            PartOf::Steps => {
                self.verdict.failures.extend(run.steps(&mut self.matcher, event));
                self.index.set_awake(part, run.is_awake());
            }
        }
    }

    /// Makes all alarms anew if the clock has changed its rate.
    fn heed_clock(&mut self, trace: &Trace, now: u64) {
        let clock = (trace.clock.rate, trace.clock.changes.len());
        if std::mem::replace(&mut self.clock, clock) == clock {
            return;
        }
        for (rule, run) in self.runs.iter().enumerate() {
            for statement in 0..run.watches.len() {
                let (rule, of) = (rule as u32, PartOf::Statement(statement as u32));
                self.index.set_alarm(Part { rule, of }, now);
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
            steps_met: 0,
            watches: rule.invariants.iter().map(Watch::new).collect(),
        }
    }

    /// A statement looks at an event; once it is broken it does so no more.
    fn statement(
        &mut self,
        position: u32,
        matcher: &mut Matcher<'r>,
        event: Event<'_>,
    ) -> Option<Failure> {
        let watch = self.watches.get_mut(position as usize).filter(|watch| !watch.is_broken)?;
        let broken = watch.event(matcher, event).err()?;
        watch.is_broken = true;
        let at = Some(Line::of(event.trace, event.event));
        Some(broken_failure(self.rule, watch, broken, event.trace, at))
    }

    fn new_alarm(&mut self, position: u32, clock: &Clock, now: u64) -> Option<u64> {
        let watch = self.watches.get_mut(position as usize).filter(|watch| !watch.is_broken)?;
        watch.new_alarm(clock, now)
    }

    /// The steps look at an event.
    fn steps(&mut self, matcher: &mut Matcher<'r>, event: Event<'_>) -> Option<Failure> {
        if self.over || !self.is_visible(matcher, event) {
            return None;
        }
        self.step(matcher, event)
    }

    /// Whether events that no step names change anything: what is shown of those behind the last step, or that a
    /// step cannot be met any more.
    fn is_awake(&self) -> bool {
        !self.over && (!self.shared.gap || self.behind.len() < BEFORE || self.rule.steps.risks.time)
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
        self.steps_met += 1;
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
        for watch in self.watches.iter_mut().filter(|watch| !watch.is_broken) {
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
