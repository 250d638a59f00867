//! The sink that compares a trace with rules.

use std::sync::Arc;

use super::figures::Figures;
use super::index::{Index, Part, PartOf};
use super::invariants::{Broken, Watch, undecided};
use super::matching::Matcher;
use super::shapes::Shapes;
use super::steps::{DeadEnd, Gap, MAX_EXPECTED, Near, Offer, Run, Shared, State, View};
use super::syntax::{Item, ItemKind, Pattern, Rule, Rules};
use super::thresholds::{Baseline, Decision, Known, NoFigures};
use super::verdict::{
    EventCopy, Failure, FailureKind, Line, NearMiss, RuleKind, RuleResult, Verdict,
};
use crate::model::{Batch, Clock, Event, EventRef, Flow, Loss, Rate, Sink, Trace};
use crate::select::Bound;
use crate::source::Span;
use crate::text::{missing, spoken_time};

/// Number of events to show up to and including the event of a failure.
const BEFORE: usize = 6;
/// Number of events to show after the event of a failure.
const BEHIND: usize = 2;

/// A sink that compares a trace with rules. [`Check::verdict`] returns the verdict.
#[derive(Debug)]
pub struct Check<'r> {
    rules: &'r Rules,
    matcher: Matcher<'r>,
    index: Index<'r>,
    /// The parts that the current event may affect. The list is kept to reuse its memory.
    due: Vec<Part>,
    runs: Vec<RuleRun<'r>>,
    /// The rate of the clock when the alarms were last computed, and the number of rate changes
    /// until then.
    clock: (Option<Rate>, usize),
    /// All failures before this index in `verdict.failures` have their complete context.
    whole: usize,
    /// A ring of the latest events, at most [`BEFORE`]. `oldest` is the index of the oldest event.
    recent: Vec<EventCopy>,
    oldest: usize,
    verdict: Verdict,
}

/// A rule and its state.
#[derive(Debug)]
struct RuleRun<'r> {
    rule: &'r Rule,
    state: State,
    shared: Shared,
    /// True if the last step is complete, or can no longer be completed.
    over: bool,
    /// The last accepted event, and the step that accepted it.
    since: Option<(EventCopy, Span)>,
    /// The first events after the last accepted event.
    later: Vec<EventCopy>,
    steps_met: u64,
    /// True if the steps were not met, or can no longer be met.
    differs: bool,
    /// The number of the event before the first gap, if the gap came before the steps were over.
    /// From then on, the steps do not fail: they could be met by missing events.
    lost_after: Option<u64>,
    watches: Vec<Watch<'r>>,
    /// For each threshold, true if missing events broke it while the trace was read.
    broken_thresholds: Vec<bool>,
}

impl<'r> Check<'r> {
    /// Creates a check for one trace.
    pub fn new(rules: &'r Rules) -> Self {
        let shapes = Arc::new(Shapes::new(rules));
        Self {
            rules,
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

    /// Returns the verdict after all events were read. `trace` is the result of reading them.
    /// Thresholds stay undecided, except thresholds on the number of missing events.
    pub fn verdict(self, trace: &Trace) -> Verdict {
        self.verdict_with(trace, &NoFigures, None)
    }

    /// Like [`Check::verdict`], but also compares the figures of the trace with the thresholds and
    /// with a baseline.
    pub fn verdict_with(
        mut self,
        trace: &Trace,
        figures: &dyn Figures,
        baseline: Option<&Baseline>,
    ) -> Verdict {
        let known = Known { trace, figures, baseline };
        for run in &mut self.runs {
            // The results need the counts that `finish` completes.
            self.verdict.failures.extend(run.finish(trace));
            self.verdict.steps += run.steps_met;
            self.verdict.rules.extend(run.results(trace, &self.matcher));
            for watch in &run.watches {
                self.verdict.count_late(watch.invariant.span, watch.in_all());
            }
            for (result, failure) in run.thresholds(known) {
                self.verdict.rules.push(result);
                self.verdict.failures.extend(failure);
            }
        }
        self.verdict.warnings = self.rules.unknown_names(trace);
        self.verdict.absent = self.rules.unknown_values(trace);
        // Rules appear in the order of the file, and failures in the order of the trace.
        self.verdict.rules.sort_by_key(|result| result.span.start);
        self.verdict.note_losses(&trace.losses);
        self.verdict.failures.sort_by_key(Failure::place);
        self.verdict
    }

    /// Returns the failures so far, in the order in which they were found. The last failures may
    /// still get more context.
    pub fn failures(&self) -> &[Failure] {
        &self.verdict.failures
    }

    fn event(&mut self, event: Event<'_>) {
        let Event { trace, row } = event;
        self.verdict.events += 1;
        self.matcher.follow(event);
        self.keep(row);
        // Add this event to the earlier failures that still need later events as context.
        let recent = self.verdict.failures.iter_mut().skip(self.whole);
        for failure in recent.filter(|failure| failure.more > 0) {
            failure.more -= 1;
            failure.context.push(Line::of(event));
        }
        // Failures are completed in the order of the list. For later events, skip the complete
        // failures at the start of the list.
        let growing = |failure: &Failure| failure.more > 0;
        self.whole +=
            self.verdict.failures[self.whole..].iter().take_while(|f| !growing(f)).count();
        // Alarms are ticks that were computed at the old rate, so correct them before parts are
        // selected.
        self.heed_clock(trace, row.ticks);
        let before = self.verdict.failures.len();
        // Move the list out of `self`, because the parts also change `self`.
        let mut due = std::mem::take(&mut self.due);
        self.index.due(trace, row.id, row.ticks, &mut due);
        for part in &due {
            self.part(*part, event);
        }
        self.due = due;
        for failure in self.verdict.failures.iter_mut().skip(before) {
            // `recent` is a ring that begins at `oldest`.
            let (newer, older) = self.recent.split_at(self.oldest);
            failure.context = older.iter().chain(newer).map(|kept| kept.line(trace)).collect();
            failure.more = BEHIND;
        }
    }

    /// Passes an event to one part of a rule.
    fn part(&mut self, part: Part, event: Event<'_>) {
        let Some(run) = self.runs.get_mut(part.rule as usize) else { return };
        match part.of {
            PartOf::Statement(position) => {
                self.verdict.failures.extend(run.statement(position, &mut self.matcher, event));
                let alarm = run.new_alarm(position, &event.trace.clock, event.ticks());
                alarm.into_iter().for_each(|ticks| self.index.set_alarm(part, ticks));
            }
            PartOf::Steps => {
                self.verdict.failures.extend(run.steps(&mut self.matcher, event));
                self.index.set_awake(part, run.is_awake());
            }
        }
    }

    /// Updates all alarms if the rate of the clock has changed.
    fn heed_clock(&mut self, trace: &Trace, now: u64) {
        let clock = (trace.clock.rate, trace.clock.changes.len());
        if std::mem::replace(&mut self.clock, clock) == clock {
            return;
        }
        for (rule, run) in self.runs.iter().enumerate() {
            for statement in 0..run.watches.len() {
                let (rule, of) = (rule as u32, PartOf::Statement(statement as u32));
                // Make the alarm due now. The statement then requests the correct alarm itself.
                self.index.set_alarm(Part { rule, of }, now);
            }
        }
    }

    fn keep(&mut self, event: &EventRef<'_>) {
        if self.recent.len() < BEFORE {
            return self.recent.push(EventCopy::of(event));
        }
        if let Some(oldest) = self.recent.get_mut(self.oldest) {
            oldest.set(event);
        }
        self.oldest = (self.oldest + 1) % BEFORE;
    }
}

impl Sink for Check<'_> {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        for row in batch.events() {
            self.event(Event::new(trace, &row));
        }
        Flow::Continue(())
    }

    fn loss(&mut self, trace: &Trace, loss: &Loss) -> Flow {
        // For rules, the trace begins with its first event.
        let is_gap = self.verdict.events > 0;
        for run in &mut self.runs {
            self.verdict.failures.extend(run.lost(trace));
            if is_gap {
                run.gap(loss.before.saturating_sub(1));
            }
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
            later: Vec::new(),
            steps_met: 0,
            differs: false,
            lost_after: None,
            watches: rule.invariants.iter().map(Watch::new).collect(),
            broken_thresholds: vec![false; rule.thresholds.len()],
        }
    }

    /// Passes an event to a statement. Returns a failure if the event is the first that breaks the
    /// statement.
    fn statement(
        &mut self,
        position: u32,
        matcher: &mut Matcher<'r>,
        event: Event<'_>,
    ) -> Option<Failure> {
        let watch = self.watches.get_mut(position as usize).filter(|watch| !watch.is_over())?;
        let broken = watch.event(matcher, event).err()?;
        if std::mem::replace(&mut watch.is_broken, true) {
            return None;
        }
        let at = Some(Line::of(event));
        Some(broken_failure(self.rule, watch, broken, event.trace, at))
    }

    fn new_alarm(&mut self, position: u32, clock: &Clock, now: u64) -> Option<u64> {
        let watch = self.watches.get_mut(position as usize).filter(|watch| !watch.is_over())?;
        watch.new_alarm(clock, now)
    }

    /// Lets the steps process an event.
    fn steps(&mut self, matcher: &mut Matcher<'r>, event: Event<'_>) -> Option<Failure> {
        // Ignored events are treated as if they were not in the trace.
        if self.over || !self.is_visible(matcher, event) {
            return None;
        }
        self.step(matcher, event)
    }

    /// Returns true if an event can have an effect even if no step names it. Such an event may
    /// serve as context after the last accepted event, or may make a step impossible.
    fn is_awake(&self) -> bool {
        let is_first = self.shared.gap != Gap::Rejected;
        !self.over && (is_first || self.later.len() < BEFORE || self.rule.steps.risks.time)
    }

    /// Returns true if the steps process this event.
    fn is_visible(&self, matcher: &mut Matcher<'r>, event: Event<'_>) -> bool {
        let mut is = |pattern: &Pattern| matcher.matches(pattern, event, &mut []).is_ok();
        let Rule { ignored, only, .. } = self.rule;
        !ignored.iter().any(&mut is) && (only.is_empty() || only.iter().any(is))
    }

    fn step(&mut self, matcher: &mut Matcher<'r>, event: Event<'_>) -> Option<Failure> {
        let mut run = Run { shared: &mut self.shared, matcher, event };
        // An event that no step accepts is allowed unless it makes the rule impossible.
        // `difference` decides this below.
        match run.offer(&self.rule.steps, &mut self.state) {
            Offer::No => {
                self.shared.gap = Gap::Rejected;
                if self.later.len() < BEFORE {
                    self.later.push(EventCopy::of(event.row));
                }
            }
            offer => self.taken(event, offer),
        }
        let (kind, span, message) = self.difference(event)?;
        (self.over, self.differs) = (true, true);
        if self.lost_after.is_some() {
            return None;
        }
        let at = Line::of(event);
        Some(self.failure(event.trace, kind, span, message, Some(at)))
    }

    fn taken(&mut self, event: Event<'_>, offer: Offer) {
        self.steps_met += 1;
        self.shared.gap = Gap::Nothing;
        self.shared.near = None;
        self.later.clear();
        self.since = Some((EventCopy::of(event.row), self.shared.taken));
        // A strict rule forbids events after its last step, so it must process the rest of the
        // trace.
        self.over = offer == Offer::Done && !self.rule.ends;
    }

    /// If the rule can no longer hold, returns the reason: kind, span and message.
    fn difference(&self, event: Event<'_>) -> Option<(FailureKind, Span, String)> {
        let Event { trace, row } = event;
        // An early event is the direct cause, so it is reported before its consequences.
        if let Some((span, since)) = self.shared.early {
            let took = elapsed(trace, since, row.ticks);
            return Some((FailureKind::Early, span, format!("too early: after {took}")));
        }
        let found = trace.schema.label(row.id);
        let (shared, clock) = (&self.shared, &trace.clock);
        let gap = shared.gap == Gap::Rejected;
        let view = View { shared, clock, now: row.ticks, gap };
        match self.state.dead_end(&self.rule.steps, view) {
            Some(DeadEnd::NotNext(span)) => {
                let message = format!("expected this next, found {found}");
                Some((FailureKind::Unexpected, span, message))
            }
            Some(DeadEnd::Late(span, _, bound)) => {
                let message = format!("did not occur within {}", bound.spoken());
                Some((FailureKind::Late, span, message))
            }
            // All steps are met, and this event occurs after the last step of a strict rule.
            None if self.rule.ends && gap && self.state.can_end(&self.rule.steps) => {
                let message = format!("expected no further events, found {found}");
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
            self.differs = true;
            if self.lost_after.is_none() {
                failures.push(self.missing(trace));
            }
        }
        // No event may follow the last step.
        if let (true, Gap::Missing(after)) = (self.rule.ends, self.shared.gap) {
            self.shared.unsure.get_or_insert(after);
        }
        for watch in self.watches.iter_mut().filter(|watch| !watch.is_over()) {
            if let Err(broken) = watch.finish()
                && !std::mem::replace(&mut watch.is_broken, true)
            {
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

    /// Returns the results after [`RuleRun::finish`].
    fn results(&self, trace: &Trace, matcher: &Matcher<'_>) -> Vec<RuleResult> {
        let name = self.rule.name.as_ref();
        let result = |kind, span, failed: bool, matched| RuleResult {
            rule: name.cloned(),
            kind,
            span,
            held: (!failed).into(),
            failed: failed.into(),
            late: 0,
            open: 0,
            matched,
            open_because: None,
            not_compared: None,
            threshold: None,
        };
        let steps = self.rule.has_steps().then(|| {
            let open_because = self.open_because();
            let steps = result(RuleKind::Steps, self.rule.steps.span, self.differs, self.steps_met);
            match open_because {
                Some(_) => RuleResult { held: 0, failed: 0, open_because, ..steps },
                None => steps,
            }
        });
        let complete = self
            .rule
            .complete
            .map(|span| result(RuleKind::Complete, span, !trace.losses.is_empty(), 0));
        let watches = self.watches.iter().map(|watch| watch.result(name, matcher));
        steps.into_iter().chain(watches).chain(complete).collect()
    }

    /// Returns the reason why missing events leave the steps undecided, or `None` if the trace
    /// decides them.
    fn open_because(&self) -> Option<String> {
        if self.differs {
            return self.lost_after.map(undecided);
        }
        self.shared.unsure.map(|after| {
            format!(
                "rule not decided: events are missing after event {after}, and none may be there"
            )
        })
    }

    /// Handles events that are missing after the event with this number.
    fn gap(&mut self, after: u64) {
        for watch in self.watches.iter_mut().filter(|watch| !watch.is_over()) {
            watch.gap(after);
        }
        if !self.over {
            self.lost_after.get_or_insert(after);
            self.shared.gap = self.shared.gap.max(Gap::Missing(after));
        }
    }

    /// Returns the failures of thresholds that the missing events break.
    fn lost(&mut self, trace: &Trace) -> Vec<Failure> {
        let mut failures = Vec::new();
        for (threshold, is_broken) in self.rule.thresholds.iter().zip(&mut self.broken_thresholds) {
            if *is_broken {
                continue;
            }
            if let Some(message) = threshold.broken_by_losses(trace) {
                *is_broken = true;
                let (rule, kind) = (self.rule.name.clone(), FailureKind::Exceeded);
                failures.push(Failure::of_rules(rule, kind, threshold.span, message));
            }
        }
        failures
    }

    /// Returns the results of all thresholds. A failed threshold also contains the details of its
    /// failure, unless these were already reported while the trace was read.
    fn thresholds(&self, known: Known<'_>) -> Vec<(RuleResult, Option<Failure>)> {
        let thresholds = self.rule.thresholds.iter().zip(&self.broken_thresholds);
        let decided = thresholds.map(|(threshold, was_reported)| {
            let (decision, result) = threshold.decide(known);
            let mut result = RuleResult {
                rule: self.rule.name.clone(),
                kind: RuleKind::Threshold,
                span: threshold.span,
                held: u64::from(decision == Decision::Held),
                failed: 0,
                late: 0,
                open: 0,
                matched: 0,
                open_because: None,
                not_compared: None,
                threshold: Some(result),
            };
            // An open threshold has a reason of its own, and an exceeded one fails anyway.
            if decision == Decision::Held {
                result.not_compared = threshold.lacks_baseline(known.baseline);
            }
            let (kind, message) = match decision {
                Decision::Held => return (result, None),
                Decision::Open(why) => {
                    result.open_because = Some(why);
                    return (result, None);
                }
                Decision::Exceeded(message) => (FailureKind::Exceeded, message),
                Decision::Worse(message) => (FailureKind::Worse, message),
            };
            result.failed = 1;
            let rule = self.rule.name.clone();
            let failure = Failure::of_rules(rule, kind, threshold.span, message);
            (result, (!was_reported).then_some(failure))
        });
        decided.collect()
    }

    /// Returns the failure of a trace that ended before all steps were complete.
    fn missing(&mut self, trace: &Trace) -> Failure {
        let mut expected = Vec::new();
        self.state.expected(&self.rule.steps, &mut expected);
        // The first pattern is marked in the rules file, so only the others are counted.
        let more = expected.len().saturating_sub(1);
        let span = expected.first().map_or(self.rule.steps.span, |pattern| pattern.span);
        let others = match more {
            0 => String::new(),
            1 => " or an alternative".to_owned(),
            2..=MAX_EXPECTED => format!(" or any of {more} alternatives"),
            _ => format!(" or any of more than {MAX_EXPECTED} alternatives"),
        };
        let message = format!("the trace ended before this event{others}");
        // No event caused the failure. Show the events after the last step.
        let later = std::mem::take(&mut self.later);
        let mut failure = self.failure(trace, FailureKind::Missing, span, message, None);
        failure.context = later.iter().map(|kept| kept.line(trace)).collect();
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
        None => Bound::Ticks(now.saturating_sub(since)).spoken(),
    }
}

fn last_span(item: &Item) -> Span {
    match &item.kind {
        ItemKind::Sequence(items) => items.last().map_or(item.span, |item| item.span),
        _ => item.span,
    }
}
