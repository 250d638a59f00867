//! Turns moments into tracks.

#[cfg(test)]
mod brief_tests;

use super::contexts::{Asked, Contexts};
use super::findings::Inversions;
use super::jobs::Jobs;
use super::locks::Locks;
use super::machines::{MachineTrackBuilder, MachineTracks};
use super::{
    Arrow, ArrowKind, Gap, Holder, MAX_ENTRIES, Mark, Occupant, Position, Row, Settled, State,
    Tracks,
};
use crate::analysis::scheduling::{Brief, JobChange, Moments, Scheduling, Wait, Wanted};
use crate::model::PerId;
use crate::model::schema::Schema;
use crate::model::{
    Batch, ContextId, ContextKind, Event, Flow, Loss, Meaning, OnBehalf, Processor, Running, Sink,
    Trace,
};

/// A sink that builds tracks; [`TrackBuilder::finish`] returns them.
#[derive(Clone, Debug)]
pub struct TrackBuilder {
    scheduling: Scheduling<Builder>,
    machines: Option<MachineTrackBuilder>,
}

impl Default for TrackBuilder {
    fn default() -> Self {
        Self::with_figures(Wanted::default())
    }
}

impl TrackBuilder {
    /// Creates a builder that also derives these figures; see [`Tracks::figures`].
    pub fn with_figures(wanted: Wanted) -> Self {
        Self {
            scheduling: Scheduling::with_moments(
                wanted,
                Builder { inversions: Some(Inversions::default()), ..Builder::default() },
            ),
            machines: Some(MachineTrackBuilder::new(MAX_ENTRIES)),
        }
    }

    /// Omits the tracks of machines, levels and messages, and their figures. This saves their cost.
    #[must_use]
    pub fn without_machines(self) -> Self {
        Self { machines: None, ..self }
    }

    /// Omits the findings of priority inversion. This saves their cost.
    #[must_use]
    pub(in crate::analysis) fn without_inversions(mut self) -> Self {
        self.scheduling.moments_mut().inversions = None;
        self
    }

    /// Passes on the parts of tracks that later events cannot change, and removes them from the
    /// builder. [`Self::finish`] returns only the rest. Jobs and gaps stay, because later events
    /// may end them.
    pub(in crate::analysis) fn settle(&mut self, settled: &mut impl Settled) {
        let builder = self.scheduling.moments_mut();
        for (number, row) in builder.cores.iter_mut().enumerate() {
            let before = row.changes().len();
            settled.core(number, row.settle());
            let settled = (before - row.changes().len()) as u64;
            builder.entries = builder.entries.saturating_sub(settled);
        }
        builder.contexts.settle(settled);
        let mut entries = builder.marks.len() + builder.arrows.len();
        for (index, track) in builder.locks.tracks_mut().iter_mut().enumerate() {
            entries += track.holder.changes().len() + track.waits.len();
            settled.lock(index, track.holder.settle());
            settled.waits(index, track.waits.drain(..));
            entries -= track.holder.changes().len();
        }
        // A gap also ends waits. `builder.entries` does not count these waits.
        builder.entries = builder.entries.saturating_sub(entries as u64);
        builder.marks.drain(..).for_each(|mark| settled.mark(mark));
        builder.arrows.drain(..).for_each(|arrow| settled.arrow(arrow));
    }

    /// Returns the total number of entries that the builder has not passed on.
    pub(in crate::analysis) fn unsettled(&self) -> u64 {
        let builder = self.scheduling.moments();
        builder.entries + builder.contexts.changes
    }

    /// Returns the tracks after all events. Call this after the last event of `trace`.
    pub fn finish(self, trace: &Trace) -> Tracks {
        let (scheduling, mut builder) = self.scheduling.finish(trace);
        let machines = self.machines.unwrap_or_else(|| MachineTrackBuilder::new(MAX_ENTRIES));
        let MachineTracks { levels, machines, mut messages, spans, left_out, figures } =
            machines.finish(trace);
        let (contexts, reasons) = builder.contexts.finish();
        let left_out = builder.left_out + left_out;
        builder.arrows.append(&mut messages);
        // The sort is stable, so the causes of one effect keep their order.
        builder.arrows.sort_by_key(|arrow| arrow.to);
        let jobs = builder.jobs.finish();
        Tracks {
            span: trace.span,
            findings: builder.inversions.unwrap_or_default().finish(&jobs, builder.cores.len()),
            cores: builder.cores,
            contexts,
            jobs,
            locks: builder.locks.finish(),
            marks: builder.marks,
            arrows: builder.arrows,
            levels,
            machines,
            spans,
            gaps: builder.gaps,
            reasons,
            left_out,
            figures: scheduling,
            machine_figures: figures,
        }
    }
}

impl Sink for TrackBuilder {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        if let Some(machines) = &mut self.machines {
            machines.events(trace, batch)?;
        }
        self.scheduling.events(trace, batch)
    }

    fn loss(&mut self, trace: &Trace, loss: &Loss) -> Flow {
        if let Some(machines) = &mut self.machines {
            machines.loss(trace, loss)?;
        }
        self.scheduling.loss(trace, loss)
    }
}

/// The facts about an event id that the tracks need.
#[derive(Clone, Copy, Debug)]
struct EventFacts {
    meaning: Option<Meaning>,
    /// Index of the argument that contains the object.
    object: Option<usize>,
    /// Index of the argument that contains the value.
    value: Option<usize>,
    /// The number that is added to the value.
    offset: u64,
    /// True if the meaning depends on the value.
    has_cases: bool,
    /// True if the event begins a call in which a context can wait.
    waits_in: bool,
    effect: Effect,
    /// The request of the event's subject, if the event has no other effect.
    asks: Option<Meaning>,
}

/// The effect of an event id on the tracks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Effect {
    /// If the event has a subject, the context that recorded the event continues to run.
    Continues,
    /// The context that recorded the event continues to run in any case.
    AlwaysContinues,
    /// The meaning of the event, or another fact, determines the effect.
    Other,
}

impl EventFacts {
    fn of(schema: &Schema, id: u32) -> Self {
        let event = schema.event(id);
        let means = event.means;
        let (meaning, waits_in) =
            (means.map(|means| means.meaning), event.details.waits_in.is_some());
        let has_cases = means.is_some_and(|means| means.cases[0].is_some());
        let effect = match meaning {
            None => Effect::AlwaysContinues,
            Some(_) if has_cases => Effect::Other,
            Some(meaning) if !(waits_in || asks(meaning)) && only_continues(meaning) => {
                Effect::Continues
            }
            Some(_) => Effect::Other,
        };
        Self {
            meaning,
            object: means.and_then(|means| means.object),
            value: means.and_then(|means| means.value),
            offset: means.map_or(0, |means| means.offset),
            has_cases,
            waits_in,
            effect,
            asks: meaning.filter(|meaning| !has_cases && asks(*meaning)),
        }
    }

    /// Returns the meaning of an event.
    #[inline]
    fn meaning(&self, event: Event<'_>) -> Option<Meaning> {
        if self.has_cases { Some(event.means()?.meaning) } else { self.meaning }
    }

    /// Returns the key of the object of an event.
    #[inline]
    fn object(&self, event: Event<'_>) -> Option<u64> {
        event.argument(self.object?)
    }

    /// Returns the value of an event.
    #[inline]
    fn value(&self, event: Event<'_>) -> Option<u64> {
        Some(event.argument(self.value?)?.wrapping_add(self.offset))
    }
}

/// The tracks so far.
#[derive(Clone, Debug, Default)]
struct Builder {
    facts: PerId<EventFacts>,
    cores: Vec<Row<Occupant>>,
    /// Numbers of the interrupts that each core serves, the outermost first.
    interrupts: Vec<Vec<Option<u32>>>,
    contexts: Contexts,
    jobs: Jobs,
    locks: Locks,
    /// `None` if inversions are not wanted.
    inversions: Option<Inversions>,
    marks: Vec<Mark>,
    arrows: Vec<Arrow>,
    gaps: Vec<Gap>,
    /// True if the trace shows when tasks get and lose the processor.
    shows_switches: bool,
    /// True if no event has followed the latest gap.
    in_gap: bool,
    /// Number of entries in all tracks except the states of contexts, which `contexts` counts.
    entries: u64,
    left_out: u64,
}

impl Moments for Builder {
    fn event(&mut self, event: Event<'_>, subject: Option<ContextId>) {
        let at = Position { ticks: event.ticks(), seq: event.seq() };
        if std::mem::take(&mut self.in_gap) {
            self.gaps.iter_mut().rev().take_while(|gap| gap.until.is_none()).for_each(|gap| {
                gap.until = Some(at);
            });
        }
        if !self.shows_switches {
            return self.mark(event.row.context, event.id(), at);
        }
        let facts = *self.facts.of_schema(&event.trace.schema).get(event.id(), EventFacts::of);
        let Some(meaning) = facts.meaning(event) else {
            // The context continues, so its earlier request was granted.
            return self.continues(event);
        };
        match meaning {
            Meaning::InterruptEnter => self.interrupt(event.cpu(), facts.value(event)),
            Meaning::Mark | Meaning::Value | Meaning::DeadlineMissed | Meaning::WcetExceeded => {
                self.mark(subject.unwrap_or(event.row.context), event.id(), at);
            }
            _ => {}
        }
        let Some(subject) = subject.filter(|_| self.has_room()) else { return };
        match meaning {
            Meaning::Ready | Meaning::Activate => {
                let by = event.context().filter(|by| by.kind == ContextKind::Thread);
                self.contexts.ready(subject, at, by.map(|_| event.row.context));
            }
            Meaning::Blocks => self.contexts.blocks(subject, at, facts.value(event)),
            Meaning::Complete => self.contexts.becomes(subject, at, State::Done),
            Meaning::Yields | Meaning::SliceExpired => {
                self.contexts.becomes(subject, at, State::Preempted);
            }
            Meaning::SwitchedOut => self.contexts.switched_out(subject),
            // Use the object of the event, because its subject may be the context that deletes the
            // object.
            Meaning::Delete => {
                let named = facts.object(event).and_then(|key| event.trace.contexts.find(key));
                named.into_iter().for_each(|gone| self.contexts.deleted(gone, at));
            }
            request if asks(request) => {
                self.asks(subject, Asked { request, key: facts.object(event) }, facts.waits_in);
            }
            Meaning::PriorityChange | Meaning::Inherit | Meaning::Runs => {}
            meaning => {
                if meaning == Meaning::Return || facts.waits_in {
                    let key = Some(u64::from(event.id()));
                    let call = Asked { request: Meaning::Call, key };
                    self.contexts.calls(subject, facts.waits_in.then_some(call));
                }
                self.continues(event);
            }
        }
    }

    fn batch(&mut self, trace: &Trace) {
        self.facts.of_schema(&trace.schema);
        self.shows_switches = trace.processor == Processor::Switches;
    }

    #[inline(always)]
    fn brief(&mut self, brief: Brief, argument: impl Fn(usize) -> Option<u64>) -> bool {
        let Brief { id, subject, thread } = brief;
        let facts = self.facts.known(id).filter(|_| !self.in_gap && self.shows_switches);
        let Some(EventFacts { effect, asks, object, waits_in, .. }) = facts.copied() else {
            return false;
        };
        if let Some(request) = asks {
            if let Some(subject) = subject.filter(|_| self.has_room()) {
                let key = object.and_then(argument);
                self.asks(subject, Asked { request, key }, waits_in);
            }
            return true;
        }
        if effect == Effect::Other {
            return false;
        }
        let continues = effect == Effect::AlwaysContinues || (subject.is_some() && self.has_room());
        thread
            .filter(|_| continues)
            .into_iter()
            .for_each(|thread| self.contexts.asks(thread, None));
        true
    }

    fn preempted(&mut self, task: ContextId) {
        self.contexts.preempted(task);
    }

    fn wait_began(&mut self, wait: &Wait) {
        if !self.has_room() {
            return;
        }
        self.contexts.wait_began(wait);
        self.entries += u64::from(self.locks.wait_began(wait));
        if let Some(owner) = wait.owner {
            self.arrow(Arrow {
                kind: ArrowKind::WaitsFor,
                from: wait.from,
                from_context: Some(wait.task),
                to: wait.from,
                to_context: owner,
            });
        }
    }

    fn wait_ended(&mut self, wait: &Wait, at: Position) {
        if self.has_room() {
            self.contexts.wait_ended(wait, at);
            self.entries += u64::from(self.locks.wait_ended(wait, at));
            if let Some(inversions) = &mut self.inversions {
                self.entries += u64::from(inversions.wait_ended(wait, at));
            }
        }
    }

    fn inverted(&mut self, task: ContextId, runs: ContextId, ticks: u64) {
        if let Some(inversions) = &mut self.inversions {
            inversions.charge(task, runs, ticks);
        }
    }

    fn locked(&mut self, task: ContextId, key: u64, kind: Option<u32>, at: Position) {
        if self.has_room() {
            self.entries += u64::from(self.locks.held(key, kind, Holder::Context(task), at));
        }
    }

    fn unlocked(&mut self, _: ContextId, key: u64, kind: Option<u32>, at: Position) {
        if self.has_room() {
            self.entries += u64::from(self.locks.held(key, kind, Holder::Free, at));
        }
    }

    fn job(&mut self, task: ContextId, change: JobChange, at: Position) {
        if self.has_room() {
            self.entries += u64::from(self.jobs.take(task, change, at));
        }
    }

    fn runs(
        &mut self,
        cpu: u16,
        before: &Running<OnBehalf>,
        now: &Running<OnBehalf>,
        idle: bool,
        at: Position,
    ) {
        if !self.shows_switches || !self.has_room() {
            return;
        }
        let occupant = self.occupant(cpu, now, idle);
        self.core(cpu, at, occupant);
        if let Some(gone) = before.task().filter(|gone| now.task() != Some(*gone)) {
            self.contexts.loses(gone, cpu, at);
        }
        // An arrow of a wake-up ends where the woken context first gets a core.
        if let Some(task) = now.task() {
            let (of, in_interrupt) = (now.now().of, now.in_interrupt());
            if let Some((from, from_context)) = self.contexts.gets(task, cpu, at, of, in_interrupt)
            {
                let kind = ArrowKind::WakeUp;
                self.arrow(Arrow { kind, from, from_context, to: at, to_context: task });
            }
        }
    }

    fn gap(&mut self, from: Position, loss: Option<&Loss>) {
        self.in_gap = true;
        self.gaps.push(Gap {
            from,
            until: None,
            events: loss.and_then(|loss| loss.events),
            cause: loss.map(|loss| loss.cause),
        });
        // After the gap, no earlier state is certain.
        self.contexts.gap(from);
        self.jobs.gap();
        self.locks.gap(from);
        self.inversions.iter_mut().for_each(Inversions::gap);
        self.interrupts.iter_mut().for_each(Vec::clear);
        for core in &mut self.cores {
            self.entries += u64::from(core.set(from, Occupant::Unknown));
        }
    }
}

impl Builder {
    /// Returns true if there is room for another entry; otherwise counts an omitted entry.
    fn has_room(&mut self) -> bool {
        let room = self.entries + self.contexts.changes < MAX_ENTRIES;
        self.left_out += u64::from(!room);
        room
    }

    fn mark(&mut self, context: ContextId, id: u32, at: Position) {
        if self.has_room() {
            self.marks.push(Mark { at, context, id });
            self.entries += 1;
        }
    }

    fn arrow(&mut self, arrow: Arrow) {
        self.arrows.push(arrow);
        self.entries += 1;
    }

    /// Stores a request of a context. `waits_in` is true if the context can wait in this call.
    #[inline(always)]
    fn asks(&mut self, subject: ContextId, asked: Asked, waits_in: bool) {
        self.contexts.asks(subject, Some(asked));
        if waits_in {
            self.contexts.calls(subject, Some(asked));
        }
    }

    /// Stores that the context of an event continues to run.
    fn continues(&mut self, event: Event<'_>) {
        if event.context().is_some_and(|context| context.kind == ContextKind::Thread) {
            self.contexts.asks(event.row.context, None);
        }
    }

    fn interrupt(&mut self, cpu: u16, number: Option<u64>) {
        let number = number.and_then(|number| u32::try_from(number).ok());
        let cpu = usize::from(cpu);
        if cpu >= self.interrupts.len() {
            self.interrupts.resize_with(cpu + 1, Vec::new);
        }
        self.interrupts[cpu].push(number);
    }

    /// Returns the activity of a core on which the context in `now` is running.
    fn occupant(&mut self, cpu: u16, now: &Running<OnBehalf>, idle: bool) -> Occupant {
        let depth = usize::try_from(now.depth()).unwrap_or(usize::MAX);
        if let Some(open) = self.interrupts.get_mut(usize::from(cpu)) {
            // Deeper interrupts have ended, possibly without an event.
            open.truncate(depth);
        }
        if now.in_interrupt() {
            let open = self.interrupts.get(usize::from(cpu)).and_then(|open| open.last());
            let number = open.copied().flatten();
            return Occupant::Interrupt { number, depth: u16::try_from(depth).unwrap_or(u16::MAX) };
        }
        match now.task() {
            Some(runs) => Occupant::Task { runs, of: now.now().of },
            None if idle => Occupant::Idle,
            None => Occupant::Unknown,
        }
    }

    fn core(&mut self, cpu: u16, at: Position, occupant: Occupant) {
        let cpu = usize::from(cpu);
        if cpu >= self.cores.len() {
            self.cores.resize_with(cpu + 1, Row::default);
        }
        self.entries += u64::from(self.cores[cpu].set(at, occupant));
    }
}

/// Returns true if an event is a request that may make its task wait.
fn asks(meaning: Meaning) -> bool {
    matches!(
        meaning,
        Meaning::Lock
            | Meaning::Wait
            | Meaning::Receive
            | Meaning::Send
            | Meaning::SendFirst
            | Meaning::Allocate
            | Meaning::Sleeps
    )
}

/// Returns true if an event with this meaning shows only that its context continues to run.
fn only_continues(meaning: Meaning) -> bool {
    !matches!(
        meaning,
        Meaning::InterruptEnter
            | Meaning::Mark
            | Meaning::Value
            | Meaning::DeadlineMissed
            | Meaning::WcetExceeded
            | Meaning::Ready
            | Meaning::Activate
            | Meaning::Blocks
            | Meaning::Complete
            | Meaning::Yields
            | Meaning::SliceExpired
            | Meaning::SwitchedOut
            | Meaning::Delete
            | Meaning::PriorityChange
            | Meaning::Inherit
            | Meaning::Runs
            | Meaning::Return
    )
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::model::schema::{Details, EventType, Means};

    /// Returns the effect of events with a meaning. If `waits` is true, these events begin a call
    /// in which their contexts can wait.
    fn effect(meaning: Meaning, waits: bool) -> Effect {
        let mut schema = Schema::empty();
        Arc::make_mut(&mut schema).define(EventType {
            id: 1,
            name: String::new(),
            label: String::new(),
            family: String::new(),
            filter: 0,
            args: Vec::new(),
            means: Some(Means::of(meaning)),
            details: Details { waits_in: waits.then_some(0), ..Details::default() },
            instrumentation: Default::default(),
        });
        EventFacts::of(&schema, 1).effect
    }

    #[test]
    fn an_event_only_continues_its_context_unless_it_begins_a_call_or_a_request() {
        for meaning in [Meaning::Call, Meaning::Post, Meaning::Unlock] {
            assert_eq!(effect(meaning, false), Effect::Continues, "{meaning:?}");
            assert_eq!(effect(meaning, true), Effect::Other, "{meaning:?}");
        }
        for meaning in [Meaning::Receive, Meaning::Lock, Meaning::Ready, Meaning::Return] {
            assert_eq!(effect(meaning, false), Effect::Other, "{meaning:?}");
        }
    }

    #[test]
    fn states_of_contexts_are_entries_too() {
        for (entries, changes, left_out) in
            [(MAX_ENTRIES - 2, 1, 0), (MAX_ENTRIES - 1, 1, 1), (1, MAX_ENTRIES - 1, 1)]
        {
            let mut builder = Builder { entries, ..Builder::default() };
            builder.contexts.changes = changes;
            assert_eq!(builder.has_room(), left_out == 0, "{entries} {changes}");
            assert_eq!(builder.left_out, left_out);
        }
    }
}
