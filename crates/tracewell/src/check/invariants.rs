//! Checks statements about the whole trace: that events never occur, occur a given number of times,
//! or are always answered.

use std::collections::VecDeque;

use super::matching::{Matcher, Value};
use super::missed::Missed;
use super::steps::is_longer;
use super::syntax::{Invariant, InvariantKind, Limit, Pattern};
use super::verdict::{EventCopy, FailureKind, RuleKind, RuleResult};
use crate::model::Clock;
use crate::model::Event;
use crate::select::Bound;
use crate::text::times;

/// Maximum number of waiting triggers of a statement, not including late triggers.
const MAX_WAITING: usize = 4096;

/// The progress of one statement (`never`, `count`, `eventually`, `whenever`) through a trace.
#[derive(Debug)]
pub(super) struct Watch<'r> {
    pub(super) invariant: &'r Invariant,
    /// True if the statement applies to the current event.
    on: bool,
    /// Number of events counted in the current range.
    count: u64,
    bindings: Vec<Option<Value>>,
    /// Triggers that wait for an answer, oldest first.
    waiting: VecDeque<Waiting>,
    /// Number of late triggers; they are at the start of `waiting`. Only `each` keeps them, because
    /// the next answer belongs to the oldest trigger even if it is late.
    expired: usize,
    /// True after the statement was broken and this failure was reported. From then on, only
    /// `whenever` and `each` continue: they count the triggers that get no answer in time.
    pub(super) is_broken: bool,
    /// True if too many triggers are waiting. The statement cannot count further ones.
    is_full: bool,
    /// Tick of the most recently requested alarm.
    alarm: Option<u64>,
    /// Number of times that the statement held. For `whenever` and `each`, this is the number of
    /// triggers that were answered in time; for other statements, the number of ranges.
    held: u64,
    /// Number of triggers of `whenever` and `each`.
    triggers: u64,
    /// Number of triggers that got no answer in time. A trigger of `whenever` does not count if an
    /// earlier trigger with the same values was waiting.
    late: u64,
    /// Number of ranges that the trace does not decide. For `whenever` and `each`, this is the
    /// number of triggers whose answers may be missing.
    open: u64,
    /// The number of the event before the latest gap, if the gap is in the current range, or after
    /// the previous one: then the current range can have begun in the gap.
    gap_after: Option<u64>,
    /// The number of the event before the latest gap that left something undecided.
    undecided_after: Option<u64>,
    /// Number of events that matched the patterns of the statement.
    matched: u64,
    /// True if the `from` event occurred.
    began: bool,
    /// The events that almost matched the pattern that decides the statement.
    missed: Missed,
}

#[derive(Debug)]
struct Waiting {
    bindings: Vec<Option<Value>>,
    since: EventCopy,
}

/// Describes how a statement was broken.
#[derive(Debug)]
pub(super) struct Broken {
    pub(super) kind: FailureKind,
    pub(super) message: String,
    pub(super) since: Option<EventCopy>,
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
            expired: 0,
            is_broken: false,
            is_full: false,
            alarm: None,
            held: 0,
            triggers: 0,
            late: 0,
            open: 0,
            gap_after: None,
            undecided_after: None,
            matched: 0,
            began: false,
            missed: Missed::default(),
        }
    }

    /// Returns the result after the end of the trace. `rule` is the name of the rule that contains
    /// the statement.
    pub(super) fn result(&self, rule: Option<&String>, matcher: &Matcher<'_>) -> RuleResult {
        RuleResult {
            rule: rule.cloned(),
            kind: match self.invariant.kind {
                InvariantKind::Never(_) => RuleKind::Never,
                InvariantKind::Count { .. } => RuleKind::Count,
                InvariantKind::Whenever { pairs: false, .. } => RuleKind::Whenever,
                InvariantKind::Whenever { pairs: true, .. } => RuleKind::Each,
            },
            span: self.invariant.span,
            held: self.held,
            failed: self.is_broken.into(),
            late: self.late,
            open: self.open,
            matched: self.matched,
            open_because: self.open_because(matcher),
            not_compared: None,
            threshold: None,
        }
    }

    /// Called after the end of the trace. Returns the reason why the trace does not decide the
    /// statement, or `None` if the trace decides it.
    fn open_because(&self, matcher: &Matcher<'_>) -> Option<String> {
        if self.is_broken || self.held > 0 {
            return None;
        }
        if let Some(after) = self.undecided_after {
            return Some(undecided(after));
        }
        let Invariant { kind, from, until, .. } = self.invariant;
        let has_range = from.is_some() || until.is_some();
        let (place, pattern) = match (kind, from, until) {
            (_, Some(from), _) if !self.began => ("no event begins its range: ", from),
            (InvariantKind::Whenever { trigger, .. }, ..) if has_range => {
                ("in its range: ", trigger)
            }
            (InvariantKind::Whenever { trigger, .. }, ..) => ("", trigger),
            (_, _, Some(until)) => ("no event ends its range: ", until),
            _ => return None,
        };
        Some(format!("rule not decided: {place}{}", self.missed.describe(matcher, pattern)))
    }

    /// Returns the first tick at which a trigger may have waited too long. The statement must
    /// process the first event at or after this tick, whatever its name. Returns `None` if no
    /// trigger with a limit is waiting, or if an earlier alarm has already been requested.
    pub(super) fn new_alarm(&mut self, clock: &Clock, now: u64) -> Option<u64> {
        let InvariantKind::Whenever { within: Some(limit), .. } = self.invariant.kind else {
            return None;
        };
        let since = self.waiting.get(self.expired)?.since.event().ticks;
        let alarm = match limit.bound {
            Bound::Ticks(ticks) => since.saturating_add(ticks),
            Bound::Nanoseconds(ns) | Bound::WallClock(ns) => {
                let change = clock.changes.last().map(|change| change.rate);
                let rate = change.or(clock.rate)?;
                let took = clock.nanoseconds(now)?.saturating_sub(clock.nanoseconds(since)?);
                // The tick is rounded down, so the alarm may be too early. If the trigger is not
                // late at the time of the alarm, a new alarm is requested.
                now.saturating_add(rate.ticks(ns.saturating_sub(took)).saturating_sub(2))
            }
        };
        // An answer exactly at the limit is in time. One tick later is late.
        let alarm = alarm.max(now).saturating_add(1);
        let comes_first = self.alarm.is_some_and(|asked| asked > now && asked <= alarm);
        if !comes_first {
            self.alarm = Some(alarm);
        }
        (!comes_first).then_some(alarm)
    }

    /// Processes an event. Returns a failure if the event breaks the statement.
    pub(super) fn event(
        &mut self,
        matcher: &mut Matcher<'_>,
        event: Event<'_>,
    ) -> Result<(), Broken> {
        let Invariant { kind, from, until, .. } = self.invariant;
        if !self.on {
            // The event that begins the range does not belong to it.
            let Some(from) = from else { return Ok(()) };
            match matcher.matches(from, event, &mut self.bindings) {
                Ok(()) if self.began => self.on = true,
                Ok(()) => (self.on, self.began, self.missed) = (true, true, Missed::default()),
                Err(miss) if !self.began => self.missed.note(matcher, from, event, miss),
                Err(_) => {}
            }
            return Ok(());
        }
        if let Some(until) = until {
            match matcher.matches(until, event, &mut self.bindings) {
                Ok(()) => {
                    let ended = self.end(true);
                    // Without a `from`, the statement applies to only one range.
                    self.on = false;
                    self.bindings.fill(None);
                    return ended;
                }
                Err(miss) if self.held == 0 && !matches!(kind, InvariantKind::Whenever { .. }) => {
                    self.missed.note(matcher, until, event, miss);
                }
                Err(_) => {}
            }
        }
        match kind {
            InvariantKind::Never(pattern) => match self.is(matcher, pattern, event) {
                true => {
                    self.matched += 1;
                    Err(Broken::new(FailureKind::Never, "forbidden event"))
                }
                false => Ok(()),
            },
            InvariantKind::Count { most, pattern, .. } => {
                let counts = u64::from(self.is(matcher, pattern, event));
                self.count += counts;
                self.matched += counts;
                if self.count > *most { Err(too_many(*most)) } else { Ok(()) }
            }
            InvariantKind::Whenever { trigger, answer, within, pairs } => {
                let late = self.expire(event, *within, *pairs);
                self.answer(matcher, event, answer, *pairs);
                let asked = self.ask(matcher, event, trigger, *pairs);
                // If `late` and `asked` are both failures, return `late`, because it occurred
                // first.
                late.and(asked)
            }
        }
    }

    /// Returns true if the statement needs no further events.
    pub(super) fn is_over(&self) -> bool {
        let counts = matches!(self.invariant.kind, InvariantKind::Whenever { .. });
        self.is_broken && (!counts || self.is_full)
    }

    /// Returns a phrase with the number of triggers that got no answer in time, if there are
    /// several.
    pub(super) fn in_all(&self) -> Option<String> {
        let pairs = matches!(self.invariant.kind, InvariantKind::Whenever { pairs: true, .. });
        (self.late > 1).then(|| match pairs {
            true => format!(" ({} of {} events in all)", self.late, self.triggers),
            false => format!(" ({} times in all)", self.late),
        })
    }

    /// Returns true if an event matches a pattern. Variables keep their values.
    fn is(&self, matcher: &mut Matcher<'_>, pattern: &Pattern, event: Event<'_>) -> bool {
        matcher.is_named(pattern, event)
            && matcher.matches(pattern, event, &mut self.bindings.clone()).is_ok()
    }

    /// Counts the triggers that have waited too long for their answers. Returns a failure if there
    /// are such triggers. Call this before handling the event as an answer, because a late answer
    /// does not count.
    fn expire(
        &mut self,
        event: Event<'_>,
        within: Option<Limit>,
        pairs: bool,
    ) -> Result<(), Broken> {
        let Some(limit) = within else { return Ok(()) };
        let (clock, now) = (&event.trace.clock, event.ticks());
        let mut broken = Ok(());
        // All triggers have the same limit, so the oldest one expires first.
        while let Some(waiting) = self.waiting.get(self.expired)
            && is_longer(clock, waiting.since.event().ticks, now, limit.bound, false)
        {
            self.late += 1;
            if broken.is_ok() {
                let message = format!("no answer within {}", limit.bound.spoken());
                let since = Some(waiting.since.clone());
                broken = Err(Broken { kind: FailureKind::Late, message, since });
            }
            match pairs {
                true if self.expired < MAX_WAITING => self.expired += 1,
                _ => drop(self.waiting.pop_front()),
            }
        }
        broken
    }

    /// Removes the triggers that an event answers.
    fn answer(
        &mut self,
        matcher: &mut Matcher<'_>,
        event: Event<'_>,
        answer: &Pattern,
        pairs: bool,
    ) {
        if self.waiting.is_empty() || !matcher.is_named(answer, event) {
            return;
        }
        // Match the event with a copy of the trigger's variables, because an event that does not
        // match must not set variables for the next event.
        let mut answers = |waiting: &Waiting| {
            matcher.matches(answer, event, &mut waiting.bindings.clone()).is_ok()
        };
        if pairs {
            let Some(oldest) = self.waiting.iter().position(answers) else { return };
            self.waiting.remove(oldest);
            self.matched += 1;
            match oldest < self.expired {
                true => self.expired -= 1,
                false => self.held += 1,
            }
            return;
        }
        let waiting = self.waiting.len();
        self.waiting.retain(|waiting| !answers(waiting));
        let answered = waiting - self.waiting.len();
        self.held += answered as u64;
        self.matched += u64::from(answered > 0);
    }

    /// Adds the event to the waiting triggers if it is a trigger.
    fn ask(
        &mut self,
        matcher: &mut Matcher<'_>,
        event: Event<'_>,
        trigger: &Pattern,
        pairs: bool,
    ) -> Result<(), Broken> {
        if !matcher.is_named(trigger, event) {
            return Ok(());
        }
        // Each trigger has its own values, because its answer must refer to the same objects.
        let mut bindings = self.bindings.clone();
        match matcher.matches(trigger, event, &mut bindings) {
            Ok(()) => {
                (self.matched, self.triggers) = (self.matched + 1, self.triggers + 1);
                self.wait(bindings, event, pairs)?;
            }
            Err(miss) if self.matched == 0 => self.missed.note(matcher, trigger, event, miss),
            Err(_) => {}
        }
        Ok(())
    }

    /// Adds a trigger that waits for its answer. With `whenever`, an older trigger with the same
    /// values gets the same answer, so the new one is not added.
    fn wait(
        &mut self,
        bindings: Vec<Option<Value>>,
        event: Event<'_>,
        pairs: bool,
    ) -> Result<(), Broken> {
        if !pairs && self.waiting.iter().any(|waiting| waiting.bindings == bindings) {
            return Ok(());
        }
        if self.waiting.len() - self.expired >= MAX_WAITING {
            self.is_full = true;
            let message = format!("more than {MAX_WAITING} events wait for answers");
            return Err(Broken::new(FailureKind::Unanswered, message));
        }
        self.waiting.push_back(Waiting { bindings, since: EventCopy::of(event.row) });
        Ok(())
    }

    /// Handles events that are missing after the event with this number. They may contain the
    /// answers to all waiting triggers, and the end of the range.
    pub(super) fn gap(&mut self, after: u64) {
        self.gap_after = Some(after);
        if !self.on {
            return;
        }
        // The late triggers have already been counted, but their answers, too, may be missing.
        let waiting = self.waiting.len() - std::mem::take(&mut self.expired);
        self.waiting.clear();
        let may_end = self.invariant.until.is_some();
        if may_end {
            (self.on, self.count) = (false, 0);
            self.bindings.fill(None);
        }
        self.open += match self.invariant.kind {
            InvariantKind::Whenever { .. } => waiting as u64,
            _ => may_end.into(),
        };
        if may_end || waiting > 0 {
            self.undecided_after = Some(after);
        }
    }

    /// Processes the end of the trace.
    pub(super) fn finish(&mut self) -> Result<(), Broken> {
        // A range whose `until` event did not occur is not complete.
        if self.on { self.end(self.invariant.until.is_none()) } else { Ok(()) }
    }

    /// Ends the statement's range. `whole` is true if the range is complete, and false if the trace
    /// ended before its `until` event.
    fn end(&mut self, whole: bool) -> Result<(), Broken> {
        let ended = self.judge(whole);
        let gap = self.gap_after.take();
        // Answers are counted when they occur.
        if matches!(self.invariant.kind, InvariantKind::Whenever { .. }) {
            return ended;
        }
        match ended {
            Ok(()) if whole => self.held += 1,
            Ok(()) => self.open += 1,
            // The missing events may contain those that `count` lacks.
            Err(_) if gap.is_some() => {
                (self.open, self.undecided_after) = (self.open + 1, gap);
                return Ok(());
            }
            Err(_) => {}
        }
        ended
    }

    /// Fails if the events of the ended range break the statement.
    fn judge(&mut self, whole: bool) -> Result<(), Broken> {
        let count = std::mem::take(&mut self.count);
        // The deadlines of the first `expired` entries have passed. Their failures were already
        // reported.
        let expired = std::mem::take(&mut self.expired);
        let waiting = std::mem::take(&mut self.waiting).split_off(expired);
        self.late += waiting.len() as u64;
        match &self.invariant.kind {
            InvariantKind::Count { least, .. } if whole && count < *least => {
                let message = match (count, least) {
                    (0, 1) => "this event did not occur".to_owned(),
                    _ => format!("this event occurred {}, expected at least {least}", times(count)),
                };
                Err(Broken::new(FailureKind::Count, message))
            }
            InvariantKind::Whenever { .. } => match waiting.front() {
                Some(first) => Err(Broken {
                    kind: FailureKind::Unanswered,
                    message: "no answer".to_owned(),
                    since: Some(first.since.clone()),
                }),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }
}

/// Returns the reason why a rule is not decided, if events are missing after the event with this
/// number.
pub(super) fn undecided(after: u64) -> String {
    format!("rule not decided: the events that are missing after event {after} could decide it")
}

fn too_many(most: u64) -> Broken {
    let message = format!("this event occurred more than {}", times(most));
    Broken::new(FailureKind::Count, message)
}
