//! The signals of a timeline and their changes.
//!
//! | scope | signals |
//! |---|---|
//! | `cores` | for each core, the running context as text and as a number, and 1 during interrupts |
//! | `tasks` | for each context, 1 while it runs, `z` while it is ready, otherwise 0 |
//! | `objects` | the holder of each mutex as text and as a number, levels of queues and semaphores |
//! | `machines` | the state of each state machine as text and as a number, and 1 during its steps |
//! | `servers` | for each server, the used ticks of its budget, and 1 while no budget is left |
//! | `findings` | 1 during priority inversions, and an event at each missed deadline |
//! | `events` | for each event type, its occurrences |
//! | `values` | numbers that the program recorded |
//! | `trace` | 1 while events are missing |
//!
//! An unknown state is `x`, or `?` if the state is a string. A context is represented by its
//! position in the legend. The number 0 means no context.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::super::merge::Merge;
use super::super::timeline::Timeline;
use super::text::{Kind, Scope, Signal, Value};
use crate::analysis::scheduling::Position;
use crate::analysis::tracks::{Finding, FindingKind, Holder, Occupant, Row, State};
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
        signals.objects(timeline);
        signals.machines(timeline);
        signals.servers(timeline);
        signals.findings(timeline);
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

    /// Returns the signal that shows the numbers recorded by an event.
    pub(super) fn of_values(&self, id: u32) -> Option<usize> {
        self.values.get(&id).copied()
    }

    /// Returns a line for each context, with its number and its name.
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

    fn objects(&mut self, timeline: &'a Timeline) {
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
        for level in &timeline.tracks.levels {
            let counts = if level.counts_free { "free" } else { "level" };
            let title = format!("{}_{counts}", level.label(trace));
            let signal = scope.add(&title, Kind::Number);
            self.follow(timeline, &level.row, signal, Value::Number);
        }
        self.scopes.push(scope);
    }

    fn machines(&mut self, timeline: &'a Timeline) {
        let mut scope = self.scope("machines");
        let trace = &timeline.trace;
        for machine in &timeline.tracks.machines {
            let title = machine.machine.label(trace);
            let state = scope.add(&format!("{title}_state"), Kind::Text);
            self.follow(timeline, &machine.row, state, |state| {
                let state = state.and_then(|index| machine.states.get(index as usize));
                Value::Text(state.map_or_else(|| "?".to_owned(), |state| state.label(trace)))
            });
            let number = scope.add(&format!("{title}_state_number"), Kind::Number);
            self.follow(timeline, &machine.row, number, |state| {
                Value::Number(state.map(|index| u64::from(index) + 1))
            });
            let step = scope.add(&format!("{title}_step"), Kind::Bit);
            let ends = machine.steps.iter().filter_map(|step| Some((step.from, step.until?)));
            self.known_spans(timeline, step, ends);
        }
        self.scopes.push(scope);
    }

    fn servers(&mut self, timeline: &'a Timeline) {
        let mut scope = self.scope("servers");
        for server in &timeline.tracks.figures.servers {
            let title = resource_label(&timeline.trace, server.key, None);
            let used = scope.add(&format!("server_{title}_used"), Kind::Real);
            let points = server.used.iter().map(|used| (at(used.ticks), used.used));
            let points = points.filter(|(at, _)| timeline.contains(*at));
            self.changes.add(
                points
                    .filter_map(move |(at, value)| Some((at, (used, Value::Real(value? as f64))))),
            );
            let without = scope.add(&format!("server_{title}_exhausted"), Kind::Bit);
            let ends = server.without.iter().map(|(from, until)| (at(*from), at(*until)));
            self.known_spans(timeline, without, ends);
        }
        self.scopes.push(scope);
    }

    fn findings(&mut self, timeline: &'a Timeline) {
        let mut scope = self.scope("findings");
        let findings = &timeline.tracks.findings;
        let missed = |finding: &&Finding| finding.kind == FindingKind::DeadlineMissed;
        if findings.iter().any(|finding| !missed(&finding)) {
            let signal = scope.add("priority_inversion", Kind::Bit);
            let inversions = findings.iter().filter(|finding| !missed(finding));
            let mut ends: Vec<_> = inversions.map(|found| (found.from, found.until)).collect();
            // One bit cannot show inversions that overlap, so join them.
            ends.sort_unstable();
            self.spans(timeline, signal, joined(ends).into_iter());
        }
        if findings.iter().any(|finding| missed(&finding)) {
            let signal = scope.add("deadline_missed", Kind::Event);
            let shown = findings.iter().filter(missed).map(|finding| finding.until);
            let shown = shown.filter(|at| timeline.contains(*at));
            self.changes.add(shown.map(move |at| (at, (signal, Value::Event))));
        }
        self.scopes.push(scope);
    }

    /// Adds the changes of a bit that is 1 during these spans and otherwise 0. The spans are in
    /// order of time and do not overlap.
    fn spans(
        &mut self,
        timeline: &'a Timeline,
        signal: usize,
        spans: impl Iterator<Item = (Position, Position)> + 'a,
    ) {
        let start = (at(timeline.range.start), (signal, Value::Bit('0')));
        self.changes.add(std::iter::once(start).chain(edges(timeline, signal, spans)));
    }

    /// Adds the changes of a bit. The bit is 1 in these spans, unknown before the first span and
    /// after missing events, and otherwise 0.
    fn known_spans(
        &mut self,
        timeline: &'a Timeline,
        signal: usize,
        spans: impl Iterator<Item = (Position, Position)> + 'a,
    ) {
        self.changes.add(edges(timeline, signal, spans));
        let gaps = timeline.tracks.gaps.iter().map(|gap| gap.from);
        let gaps = gaps.filter(|from| timeline.contains(*from));
        self.changes.add(gaps.map(move |from| (from, (signal, Value::Bit('x')))));
    }

    fn events(&mut self, timeline: &Timeline) {
        let schema = &timeline.trace.schema;
        let mut scope = self.scope("events");
        for id in &timeline.ids {
            self.events.insert(*id, scope.add(&schema.label(*id), Kind::Event));
        }
        self.scopes.push(scope);
        let mut scope = self.scope("values");
        let records =
            |id: &u32| schema.event(*id).means.is_some_and(|means| means.meaning == Meaning::Value);
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
        let end = Position { ticks: timeline.tracks.span, seq: u64::MAX };
        let gaps = timeline.tracks.gaps.iter().map(|gap| (gap.from, gap.until.unwrap_or(end)));
        self.spans(timeline, signal, joined(gaps.collect()).into_iter());
    }
}

/// Returns the changes of a bit that is 1 in these spans.
fn edges<'a>(
    timeline: &'a Timeline,
    signal: usize,
    spans: impl Iterator<Item = (Position, Position)> + 'a,
) -> impl Iterator<Item = (Position, (usize, Value))> + 'a {
    let within = spans.filter_map(|(from, until)| timeline.within(from, Some(until)));
    within.flat_map(move |(from, until)| {
        [(from, (signal, Value::Bit('1'))), (until, (signal, Value::Bit('0')))]
    })
}

/// A position before all events at this tick.
fn at(ticks: u64) -> Position {
    Position { ticks, seq: 0 }
}

/// Joins spans that overlap. The spans must be sorted by their beginnings.
fn joined(spans: Vec<(Position, Position)>) -> Vec<(Position, Position)> {
    let mut joined: Vec<(Position, Position)> = Vec::new();
    for (from, until) in spans {
        match joined.last_mut() {
            Some(last) if from < last.1 => last.1 = last.1.max(until),
            _ => joined.push((from, until)),
        }
    }
    joined
}

fn name(trace: &Trace, context: ContextId) -> &str {
    trace.contexts.get(context).map_or("?", |context| context.name.as_str())
}

/// Returns the value of a signal that shows a context; 0 means no context.
fn number(context: ContextId) -> u64 {
    u64::from(context.0) + 1
}
