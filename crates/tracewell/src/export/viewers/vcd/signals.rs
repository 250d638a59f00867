//! The signals of a timeline and their changes.
//!
//! | scope | signals |
//! |---|---|
//! | `cores` | for each core, the running context as text and as a number, and 1 during interrupts |
//! | `tasks` | for each context, 1 while it runs, `z` while it is ready, otherwise 0 |
//! | `objects` | the holder of each mutex as text and as a number |
//! | `events` | for each type of events, its occurrences |
//! | `values` | numbers that the program recorded |
//! | `trace` | 1 while events are missing |
//!
//! An unknown state is `x`, as text `?`. The number of a context is its position in the legend, and
//! 0 is no context.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::super::merge::Merge;
use super::super::timeline::Timeline;
use super::text::{Kind, Scope, Signal, Value};
use crate::analysis::scheduling::Position;
use crate::analysis::tracks::{Holder, Occupant, Row, State};
use crate::model::{ContextId, Meaning, Trace};
use crate::report::scheduling::resource_label;

/// All signals.
pub(super) struct Signals<'a> {
    pub(super) scopes: Vec<Scope>,
    pub(super) changes: Merge<'a, (usize, Value)>,
    events: HashMap<u32, usize, RandomState>,
    values: HashMap<u32, usize, RandomState>,
}

impl<'a> Signals<'a> {
    pub(super) fn new(timeline: &'a Timeline) -> Self {
        let (events, values) = Default::default();
        let mut signals = Self { scopes: Vec::new(), changes: Merge::new(), events, values };
        signals.cores(timeline);
        signals.tasks(timeline);
        signals.locks(timeline);
        signals.events(timeline);
        signals.losses(timeline);
        signals
    }

    /// Returns all signals with their indices.
    pub(super) fn all(&self) -> impl Iterator<Item = (usize, &Signal)> {
        self.scopes.iter().flat_map(|scope| &scope.signals).enumerate()
    }

    /// Returns the signal of an event's occurrences.
    pub(super) fn of_event(&self, id: u32) -> Option<usize> {
        self.events.get(&id).copied()
    }

    /// Returns the signal of the numbers that an event records.
    pub(super) fn of_values(&self, id: u32) -> Option<usize> {
        self.values.get(&id).copied()
    }

    /// Returns the numbers of contexts and their names.
    pub(super) fn legend(&self, timeline: &Timeline) -> impl Iterator<Item = String> {
        let named = |(id, _): (ContextId, _)| {
            format!("context {}: {}", number(id), name(&timeline.trace, id))
        };
        let rows: Vec<_> = timeline.tracks.contexts().map(named).collect();
        rows.into_iter()
    }

    /// Begins a scope.
    fn scope(&mut self, name: &'static str) -> Scope {
        let first = self.scopes.last().map_or(0, |scope| scope.first + scope.signals.len());
        Scope::new(name, first)
    }

    /// Adds the changes of a row as the changes of a signal.
    fn follow<S: Copy + PartialEq>(
        &mut self,
        timeline: &'a Timeline,
        row: &'a Row<S>,
        signal: usize,
        value: impl Fn(S) -> Value + 'a,
    ) {
        let changes = timeline.changes(row);
        self.changes.add(changes.map(move |(at, state)| (at, (signal, value(state)))));
    }

    fn cores(&mut self, timeline: &'a Timeline) {
        let mut scope = self.scope("cores");
        let trace = &timeline.trace;
        for (core, row) in timeline.tracks.cores.iter().enumerate() {
            let running = scope.add(&format!("core{core}_running"), Kind::Text);
            self.follow(timeline, row, running, |state| {
                Value::Text(match state {
                    Occupant::Task { runs, .. } => name(trace, runs).to_owned(),
                    Occupant::Interrupt { number: Some(number), .. } => {
                        format!("interrupt_{number}")
                    }
                    Occupant::Interrupt { number: None, .. } => "interrupt".to_owned(),
                    Occupant::Idle => "idle".to_owned(),
                    Occupant::Unknown => "?".to_owned(),
                })
            });
            let context = scope.add(&format!("core{core}_context"), Kind::Number);
            self.follow(timeline, row, context, |state| {
                Value::Number(match state {
                    Occupant::Task { runs, .. } => Some(number(runs)),
                    Occupant::Interrupt { .. } | Occupant::Idle => Some(0),
                    Occupant::Unknown => None,
                })
            });
            let interrupt = scope.add(&format!("core{core}_interrupt"), Kind::Bit);
            self.follow(timeline, row, interrupt, |state| {
                Value::Bit(match state {
                    Occupant::Interrupt { .. } => '1',
                    Occupant::Task { .. } | Occupant::Idle => '0',
                    Occupant::Unknown => 'x',
                })
            });
        }
        self.scopes.push(scope);
    }

    fn tasks(&mut self, timeline: &'a Timeline) {
        let mut scope = self.scope("tasks");
        for (context, row) in timeline.tracks.contexts() {
            let signal = scope.add(name(&timeline.trace, context), Kind::Bit);
            self.follow(timeline, row, signal, |state| {
                Value::Bit(match state {
                    State::Running(_) | State::Interrupted => '1',
                    State::Ready | State::Preempted => 'z',
                    State::Blocked(_) | State::Sleeping | State::Done | State::Deleted => '0',
                    State::Unknown | State::Off => 'x',
                })
            });
        }
        self.scopes.push(scope);
    }

    fn locks(&mut self, timeline: &'a Timeline) {
        let mut scope = self.scope("objects");
        let trace = &timeline.trace;
        for lock in timeline.tracks.locks.iter().filter(|lock| !lock.holder.changes().is_empty()) {
            let title = resource_label(trace, lock.key, lock.kind);
            let holder = scope.add(&format!("{title}_holder"), Kind::Text);
            self.follow(timeline, &lock.holder, holder, |state| {
                Value::Text(match state {
                    Holder::Unknown => "?".to_owned(),
                    Holder::Free => "free".to_owned(),
                    Holder::Context(holder) => name(trace, holder).to_owned(),
                })
            });
            let context = scope.add(&format!("{title}_holder_context"), Kind::Number);
            self.follow(timeline, &lock.holder, context, |state| {
                Value::Number(match state {
                    Holder::Unknown => None,
                    Holder::Free => Some(0),
                    Holder::Context(holder) => Some(number(holder)),
                })
            });
        }
        self.scopes.push(scope);
    }

    fn events(&mut self, timeline: &Timeline) {
        let schema = &timeline.trace.schema;
        let mut scope = self.scope("events");
        for id in &timeline.ids {
            self.events.insert(*id, scope.add(&schema.label(*id), Kind::Event));
        }
        self.scopes.push(scope);
        let mut scope = self.scope("values");
        let records = |id: &u32| {
            schema.event(*id).means.is_some_and(|means| means.meaning == Meaning::Value)
        };
        for id in timeline.ids.iter().copied().filter(records) {
            self.values.insert(id, scope.add(&schema.label(id), Kind::Real));
        }
        self.scopes.push(scope);
    }

    /// Adds the gaps.
    fn losses(&mut self, timeline: &'a Timeline) {
        let mut scope = self.scope("trace");
        let signal = scope.add("events_missing", Kind::Bit);
        self.scopes.push(scope);
        let start = Position { ticks: timeline.range.start, seq: 0 };
        let mut changes = vec![(start, (signal, Value::Bit('0')))];
        let mut gaps = timeline.tracks.gaps.iter().peekable();
        while let Some(gap) = gaps.next() {
            let Some((from, until)) = timeline.within(gap.from, gap.until) else { continue };
            changes.push((from, (signal, Value::Bit('1'))));
            // Several losses can be at the same position.
            if gaps.peek().is_none_or(|next| next.from >= until) {
                changes.push((until, (signal, Value::Bit('0'))));
            }
        }
        self.changes.add(changes.into_iter());
    }
}

fn name(trace: &Trace, context: ContextId) -> &str {
    trace.contexts.get(context).map_or("?", |context| context.name.as_str())
}

/// The number of a context; 0 is no context.
fn number(context: ContextId) -> u64 {
    u64::from(context.0) + 1
}
