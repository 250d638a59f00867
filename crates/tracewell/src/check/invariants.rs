//! What holds at any time: events that never come, or so often, and events that are always answered.

use std::collections::VecDeque;

use super::matching::{Event, Matcher, Value};
use super::steps::is_longer;
use super::syntax::{Invariant, InvariantKind, Limit, Pattern};
use super::verdict::{FailureKind, Kept, spoken};
use crate::model::Clock;
use crate::select::Bound;
use crate::text::times;

/// Triggers with different values that may wait for their answers at a time.
const MOST_WAITING: usize = 4096;

/// Follows one invariant.
#[derive(Debug)]
pub(super) struct Watch<'r> {
    pub(super) invariant: &'r Invariant,
    /// Whether it holds now.
    on: bool,
    /// Events counted since it holds.
    count: u64,
    bindings: Vec<Option<Value>>,
    /// Triggers that were not answered yet, oldest first.
    waiting: VecDeque<Waiting>,
    /// Whether it is broken: it was told, and nothing more is.
    pub(super) is_broken: bool,
    /// Ticks of the last alarm that was asked for.
    alarm: Option<u64>,
}

#[derive(Debug)]
struct Waiting {
    bindings: Vec<Option<Value>>,
    since: Kept,
}

/// How an invariant was broken.
#[derive(Debug)]
pub(super) struct Broken {
    pub(super) kind: FailureKind,
    pub(super) message: String,
    pub(super) since: Option<Kept>,
}

impl Broken {
    fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), since: None }
    }
}

impl<'r> Watch<'r> {
    pub(super) fn new(invariant: &'r Invariant) -> Self {
        Self {
            invariant,
            on: invariant.from.is_none(),
            count: 0,
            bindings: vec![None; invariant.slots],
            waiting: VecDeque::new(),
            is_broken: false,
            alarm: None,
        }
    }

    /// The first ticks at which a trigger may have waited too long: then an event of any name must be looked at. `None`
    /// if nothing waits with a limit, or an alarm that was asked for before comes first.
    pub(super) fn new_alarm(&mut self, clock: &Clock, now: u64) -> Option<u64> {
        let InvariantKind::Whenever { within: Some(limit), .. } = self.invariant.kind else {
            return None;
        };
        let since = self.waiting.front()?.since.event().ticks;
        let alarm = match limit.bound {
            Bound::Ticks(ticks) => since.saturating_add(ticks),
            Bound::Nanoseconds(ns) | Bound::WallClock(ns) => {
                let change = clock.changes.last().map(|change| change.rate);
                let rate = change.or(clock.rate)?;
                let took = clock.nanoseconds(now)?.saturating_sub(clock.nanoseconds(since)?);
                // Rounded down: if nothing is late then, it is looked at again.
                now.saturating_add(rate.ticks(ns.saturating_sub(took)).saturating_sub(2))
            }
        };
        let alarm = alarm.max(now).saturating_add(1);
        let comes_first = self.alarm.is_some_and(|asked| asked > now && asked <= alarm);
        if !comes_first {
            self.alarm = Some(alarm);
        }
        (!comes_first).then_some(alarm)
    }

    /// Takes an event.
    pub(super) fn event(
        &mut self,
        matcher: &mut Matcher<'_>,
        event: Event<'_>,
    ) -> Result<(), Broken> {
        let Invariant { kind, from, until, .. } = self.invariant;
        if !self.on {
            let begins = |from: &Pattern| matcher.matches(from, event, &mut self.bindings).is_ok();
            self.on = from.as_ref().is_some_and(begins);
            return Ok(());
        }
        if let Some(until) = until
            && matcher.matches(until, event, &mut self.bindings).is_ok()
        {
            let ended = self.end(true);
            // Without a beginning it ends once.
            self.on = false;
            self.bindings.fill(None);
            return ended;
        }
        match kind {
            InvariantKind::Never(pattern) => match self.is(matcher, pattern, event) {
                true => Err(Broken::new(FailureKind::Never, "this event must not come")),
                false => Ok(()),
            },
            InvariantKind::Count { most, pattern, .. } => {
                self.count += u64::from(self.is(matcher, pattern, event));
                if self.count > *most { Err(too_many(*most)) } else { Ok(()) }
            }
            InvariantKind::Whenever { trigger, answer, within } => {
                self.answer(matcher, event, (trigger, answer, *within))
            }
        }
    }

    /// Whether an event is as a pattern says; variables keep the values that they have.
    fn is(&self, matcher: &mut Matcher<'_>, pattern: &Pattern, event: Event<'_>) -> bool {
        matcher.is_named(pattern, event)
            && matcher.matches(pattern, event, &mut self.bindings.clone()).is_ok()
    }

    fn answer(
        &mut self,
        matcher: &mut Matcher<'_>,
        event: Event<'_>,
        (trigger, answer, within): (&Pattern, &Pattern, Option<Limit>),
    ) -> Result<(), Broken> {
        let (clock, now) = (&event.trace.clock, event.event.ticks);
        let is_late = |waiting: &Waiting| {
            let since = waiting.since.event().ticks;
            within.is_some_and(|limit| is_longer(clock, since, now, limit.bound, false))
        };
        if let Some(late) = self.waiting.front().filter(|waiting| is_late(waiting)) {
            return Err(Broken {
                kind: FailureKind::Late,
                message: match within {
                    Some(limit) => format!("no answer came within {}", spoken(limit.bound)),
                    None => "no answer came".to_owned(),
                },
                since: Some(late.since.clone()),
            });
        }
        if !self.waiting.is_empty() && matcher.is_named(answer, event) {
            self.waiting.retain(|waiting| {
                matcher.matches(answer, event, &mut waiting.bindings.clone()).is_err()
            });
        }
        if !matcher.is_named(trigger, event) {
            return Ok(());
        }
        let mut bindings = self.bindings.clone();
        if matcher.matches(trigger, event, &mut bindings).is_ok() {
            self.wait(bindings, event)?;
        }
        Ok(())
    }

    /// A trigger begins to wait, unless an older one with the same values does.
    fn wait(&mut self, bindings: Vec<Option<Value>>, event: Event<'_>) -> Result<(), Broken> {
        if self.waiting.iter().any(|waiting| waiting.bindings == bindings) {
            return Ok(());
        }
        if self.waiting.len() >= MOST_WAITING {
            let message = format!("more than {MOST_WAITING} events wait for their answers");
            return Err(Broken::new(FailureKind::Unanswered, message));
        }
        self.waiting.push_back(Waiting { bindings, since: Kept::of(event.event) });
        Ok(())
    }

    /// The trace has ended.
    pub(super) fn finish(&mut self) -> Result<(), Broken> {
        // An end that never came says nothing about what might have come before it.
        if self.on { self.end(self.invariant.until.is_none()) } else { Ok(()) }
    }

    /// It ceases to hold; `whole` if nothing can come any more that would count.
    fn end(&mut self, whole: bool) -> Result<(), Broken> {
        let count = std::mem::take(&mut self.count);
        let waiting = std::mem::take(&mut self.waiting);
        match &self.invariant.kind {
            InvariantKind::Count { least, .. } if whole && count < *least => {
                let message = match (count, least) {
                    (0, 1) => "this event never came".to_owned(),
                    _ => format!("this event came {}, at least {least} are expected", times(count)),
                };
                Err(Broken::new(FailureKind::Count, message))
            }
            InvariantKind::Whenever { .. } => match waiting.front() {
                Some(first) => Err(Broken {
                    kind: FailureKind::Unanswered,
                    message: "no answer came".to_owned(),
                    since: Some(first.since.clone()),
                }),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }
}

fn too_many(most: u64) -> Broken {
    let message = format!("this event came more often than {}", times(most));
    Broken::new(FailureKind::Count, message)
}
