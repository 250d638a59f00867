//! Turns moments into tracks.

#[cfg(test)]
mod twin_tests;

use std::hint::{black_box, select_unpredictable};

use super::contexts::{Asked, Contexts};
use super::effects::{Effect, EventFacts};
use super::findings::Inversions;
use super::jobs::Jobs;
use super::locks::Locks;
use super::machines::{MachineTrackBuilder, MachineTracks};
use super::servers::Servers;
use super::{
    Arrow, ArrowKind, Gap, Holder, MAX_ENTRIES, Mark, Occupant, Position, Row, Settled, Tracks,
};
use crate::analysis::scheduling::{
    JobChange, Moments, Recorded, Scheduling, ServerState, Wait, Wanted,
};
use crate::model::schema::Schema;
use crate::model::{
    Batch, ContextId, Flow, Loss, Meaning, OnBehalf, Processor, Running, Sink, Trace,
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
    /// may end them. Budgets of servers stay, because the number of their changes is limited.
    pub(in crate::analysis) fn settle(&mut self, settled: &mut impl Settled) {
        let builder = self.scheduling.moments_mut();
        for (number, row) in builder.cores.iter_mut().enumerate() {
            let removed = row.settle(|changes| settled.core(number, changes)) as u64;
            builder.entries = builder.entries.saturating_sub(removed);
        }
        builder.contexts.settle(settled);
        let mut entries = builder.marks.len() + builder.arrows.len();
        for (index, track) in builder.locks.tracks_mut().iter_mut().enumerate() {
            entries += track.waits.len();
            entries += track.holder.settle(|changes| settled.lock(index, changes));
            settled.waits(index, track.waits.drain(..));
        }
        // A gap also ends waits. `builder.entries` does not count these waits.
        builder.entries = builder.entries.saturating_sub(entries as u64);
        let marks = builder.marks.drain(..);
        if builder.shows_switches {
            marks.for_each(|mark| settled.mark(mark));
        } else {
            marks.for_each(|mark| settled.recorded(mark.context, mark.at));
        }
        builder.arrows.drain(..).for_each(|arrow| settled.arrow(arrow));
        if let Some(machines) = &mut self.machines {
            machines.settle(settled);
        }
    }

    /// Returns the total number of entries that the builder has not passed on.
    pub(in crate::analysis) fn unsettled(&self) -> u64 {
        let builder = self.scheduling.moments();
        let machines = self.machines.as_ref().map_or(0, MachineTrackBuilder::unsettled);
        builder.entries + builder.contexts.changes + machines
    }

    /// Returns the tracks after all events. Call this after the last event of `trace`.
    pub fn finish(self, trace: &Trace) -> Tracks {
        let (scheduling, mut builder) = self.scheduling.finish(trace);
        let machines = self.machines.unwrap_or_else(|| MachineTrackBuilder::new(MAX_ENTRIES));
        let MachineTracks { levels, machines, mut messages, spans, left_out, figures, places } =
            machines.finish(trace);
        let (contexts, reasons) = builder.contexts.finish();
        let left_out = builder.left_out + builder.servers.left_out + left_out;
        builder.arrows.append(&mut messages);
        // The sort is stable, so the causes of one effect keep their order.
        builder.arrows.sort_by_key(|arrow| arrow.to);
        let (jobs, misses) = builder.jobs.finish();
        Tracks {
            span: trace.span,
            findings: builder.inversions.unwrap_or_default().finish(&misses, builder.cores.len()),
            cores: builder.cores,
            contexts,
            jobs,
            misses,
            locks: builder.locks.finish(),
            servers: builder.servers.finish(&scheduling.servers),
            marks: builder.marks,
            recorded: Vec::new(),
            arrows: builder.arrows,
            levels,
            machines,
            spans,
            gaps: builder.gaps,
            reasons,
            left_out,
            figures: scheduling,
            machine_figures: figures,
            places,
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

/// The tracks so far.
#[derive(Clone, Debug, Default)]
struct Builder {
    cores: Vec<Row<Occupant>>,
    /// Numbers of the interrupts that each core serves, the outermost first.
    interrupts: Vec<Vec<Option<u32>>>,
    contexts: Contexts,
    jobs: Jobs,
    locks: Locks,
    servers: Servers,
    /// `None` if inversions are not wanted.
    inversions: Option<Inversions>,
    marks: Vec<Mark>,
    arrows: Vec<Arrow>,
    gaps: Vec<Gap>,
    /// True if the trace shows when tasks get and lose the processor.
    shows_switches: bool,
    /// True if no event has followed the latest gap.
    in_gap: bool,
    /// Number of entries in all tracks except the states of contexts, which `contexts` counts, and
    /// the budgets of servers.
    entries: u64,
    left_out: u64,
}

impl Moments for Builder {
    type Facts = EventFacts;

    fn facts(schema: &Schema, id: u32) -> EventFacts {
        EventFacts::of(schema, id)
    }

    fn batch(&mut self, trace: &Trace) {
        self.shows_switches = trace.processor == Processor::Switches;
    }

    #[inline(always)]
    fn event(
        &mut self,
        event: &Recorded<'_>,
        facts: &EventFacts,
        argument: impl Fn(usize) -> Option<u64>,
    ) {
        if self.in_gap {
            self.end_gap(event.at);
        }
        if !self.shows_switches {
            return self.mark(event.context, event.id, event.at);
        }
        self.take(event, facts, argument);
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
        self.entries += u64::from(self.locks.not_held(wait));
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

    fn holder_unknown(&mut self, key: u64, kind: Option<u32>, at: Position) {
        if self.has_room() {
            self.entries += u64::from(self.locks.held(key, kind, Holder::Unknown, at));
        }
    }

    fn deleted(&mut self, task: ContextId, at: Position) {
        if !self.has_room() {
            return;
        }
        if self.shows_switches {
            self.contexts.deleted(task, at);
        }
        self.entries += self.locks.deleted(task, at);
    }

    fn job(&mut self, task: ContextId, change: JobChange, at: Position) {
        if self.has_room() {
            self.entries += u64::from(self.jobs.take(task, change, at));
        }
    }

    fn budget(&mut self, server: usize, state: ServerState, at: Position) {
        self.servers.change(server, state, at);
    }

    fn supply_corrected(&mut self, server: usize, before: u64, now: u64) {
        self.servers.correct(server, now.wrapping_sub(before).cast_signed());
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
        self.servers.gap(from);
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

    /// Ends the latest gap at the event after it.
    #[inline(never)]
    fn end_gap(&mut self, at: Position) {
        self.in_gap = false;
        let open = self.gaps.iter_mut().rev().take_while(|gap| gap.until.is_none());
        open.for_each(|gap| gap.until = Some(at));
    }

    /// Handles an event.
    #[inline(always)]
    fn take(
        &mut self,
        event: &Recorded<'_>,
        facts: &EventFacts,
        argument: impl Fn(usize) -> Option<u64>,
    ) {
        match facts.effect {
            Effect::Asks(request) => {
                let key = facts.object(&argument);
                self.asks(event, facts, request.map(|request| Asked { request, key }));
            }
            Effect::Blocks => {
                if let Some(subject) = self.subject(event) {
                    self.contexts.blocks(subject, event.at, facts.value(&argument));
                }
            }
            Effect::Ready => {
                if let Some(subject) = self.subject(event) {
                    self.contexts.ready(subject, event.at, event.thread);
                }
            }
            Effect::Interrupts => {
                self.interrupt(event.cpu, facts.value(&argument));
                self.calls(event, facts.waits_in, false);
            }
            Effect::Marks => {
                self.mark(event.subject.unwrap_or(event.context), event.id, event.at);
                self.calls(event, facts.waits_in, false);
            }
            _ => {
                let (value, key) = (facts.value(&argument), facts.object(&argument));
                // `black_box` makes a copy. With a reference to `event`, the hot loop would write
                // each event to memory.
                self.take_rare(&black_box(*event), facts, value, key);
            }
        }
    }

    /// Handles an event with an effect that is rare or depends on the event's meaning. `value` and
    /// `key` are the event's value and the key of its object.
    #[inline(never)]
    fn take_rare(
        &mut self,
        event: &Recorded<'_>,
        facts: &EventFacts,
        value: Option<u64>,
        key: Option<u64>,
    ) {
        let at = event.at;
        match facts.effect {
            Effect::Becomes(state) => {
                let subject = self.subject(event);
                subject.into_iter().for_each(|subject| self.contexts.becomes(subject, at, state));
            }
            Effect::SwitchedOut => {
                let subject = self.subject(event);
                subject.into_iter().for_each(|subject| self.contexts.switched_out(subject));
            }
            Effect::Calls => {
                self.calls(event, facts.waits_in, event.meaning == Some(Meaning::Return));
            }
            Effect::ByMeaning => {
                let Some(meaning) = event.meaning else { return };
                let effect = Effect::of(meaning, facts.waits_in);
                let numbers = [value, key];
                let facts = EventFacts { effect, object: 1, value: Some(0), offset: 0, ..*facts };
                self.take(event, &facts, |index| numbers.get(index).copied().flatten());
            }
            // `take` handles the other effects.
            _ => _ = self.subject(event),
        }
    }

    /// Returns the subject of an event if there is room for another entry.
    #[inline(always)]
    fn subject(&mut self, event: &Recorded<'_>) -> Option<ContextId> {
        event.subject.filter(|_| self.has_room())
    }

    /// Handles an event after which its context continues to run. The event begins a call if
    /// `waits_in` is true, and otherwise ends a call if `returns` is true.
    #[inline(always)]
    fn calls(&mut self, event: &Recorded<'_>, waits_in: bool, returns: bool) {
        let Some(subject) = self.subject(event) else { return };
        if waits_in || returns {
            let call = Asked { request: Meaning::Call, key: Some(u64::from(event.id)) };
            self.contexts.calls(subject, waits_in.then_some(call));
        }
        event.thread.into_iter().for_each(|thread| self.contexts.asks(thread, None));
    }

    /// Stores the request of an event's subject. `None` means that the context that recorded the
    /// event continues to run.
    #[inline(always)]
    fn asks(&mut self, event: &Recorded<'_>, facts: &EventFacts, asked: Option<Asked>) {
        // The order of requests and other events is not predictable.
        let context = select_unpredictable(asked.is_some(), event.subject, event.thread);
        if facts.needs_subject && self.subject(event).is_none() {
            return;
        }
        let Some(context) = context else { return };
        self.contexts.asks(context, asked);
        if facts.waits_in {
            self.contexts.calls(context, asked);
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

#[cfg(test)]
mod tests {
    use super::*;

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
