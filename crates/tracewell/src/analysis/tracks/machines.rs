//! Tracks of state machines and levels, and the arrows of messages.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::spans::{SpanTrack, SpanTrackBuilder};
use super::{Arrow, ArrowKind, Places, Position, Row, Settled};
use crate::analysis::key_slots::KeySlots;
use crate::analysis::machines::{
    Figures, Handovers, Level, Machine, MachineMoments, Machines, Named, Passed,
};
use crate::model::{Batch, Flow, Loss, Sink, Trace};

/// The level of a queue, a pool or a semaphore over time.
#[derive(Clone, Debug)]
pub struct LevelTrack {
    /// The queue, pool or semaphore.
    pub object: Named,
    /// The active object to which the queue belongs, if known.
    pub owner: Option<Named>,
    /// True if the levels are numbers of free items, because the capacity is unknown.
    pub counts_free: bool,
    /// The levels that events contain; `None` if the level is unknown because events are missing.
    /// In some systems, an event that changes the level contains the previous level.
    pub row: Row<Option<u64>>,
    /// The highest known level of the whole trace.
    pub most: u64,
}

impl LevelTrack {
    /// Returns the name of the queue, pool or semaphore. A queue without a name is named after its
    /// owner.
    pub fn label(&self, trace: &Trace) -> String {
        self.object.label_by_owner(trace, self.owner, "queue")
    }
}

/// A state machine over time.
#[derive(Clone, Debug)]
pub struct MachineTrack {
    /// The machine that the track describes.
    pub machine: Named,
    /// The states that the row refers to.
    pub states: Vec<Named>,
    /// The index of the current state in `states`; `None` if it is unknown.
    pub row: Row<Option<u32>>,
    /// The steps, in the order of their beginnings.
    pub steps: Vec<StepSpan>,
}

/// A step of a state machine. It begins with the dispatch of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StepSpan {
    /// The event that dispatched the message.
    pub from: Position,
    /// The event that ended the step; `None` if the trace does not show it.
    pub until: Option<Position>,
}

/// The tracks of machines, levels, messages and spans.
#[derive(Clone, Debug)]
pub struct MachineTracks {
    /// Levels of queues, pools and semaphores, in the order of [`Figures::levels`].
    pub levels: Vec<LevelTrack>,
    /// State machines, in the order of [`Figures::machines`].
    pub machines: Vec<MachineTrack>,
    /// Messages, in the order in which they were taken.
    pub messages: Vec<Arrow>,
    /// The spans of instrumented programs, by thread and then by depth.
    pub spans: Vec<SpanTrack>,
    /// Number of entries that the tracks do not contain, because there are too many.
    pub left_out: u64,
    /// The figures of the same trace.
    pub figures: Figures,
    pub(in crate::analysis) places: Places,
}

/// A sink for the tracks of machines, levels, messages and spans, but not for the scheduler's
/// tracks.
#[derive(Clone, Debug)]
pub struct MachineTrackBuilder {
    machines: Machines<MachineBuilder>,
    handovers: Handovers,
    spans: SpanTrackBuilder,
}

impl MachineTrackBuilder {
    /// Creates a builder. The tracks have at most `max` changes, steps and messages in total. In
    /// addition, the tracks of spans have at most `max` changes.
    pub fn new(max: u64) -> Self {
        let builder = MachineBuilder { max, ..MachineBuilder::default() };
        Self {
            machines: Machines::with_moments(builder),
            handovers: Handovers::default(),
            spans: SpanTrackBuilder::new(max),
        }
    }

    /// Returns the tracks after all events. Call this after the last event of `trace`.
    pub fn finish(self, trace: &Trace) -> MachineTracks {
        let (figures, mut builder) = self.machines.finish(trace);
        let messages = std::mem::take(&mut builder.arrows);
        let left_out = builder.left_out + self.spans.left_out;
        let (levels, machines, places) = builder.finish(&figures);
        let spans = self.spans.finish();
        MachineTracks { levels, machines, messages, spans, left_out, figures, places }
    }

    /// Passes on the parts of tracks that later events cannot change, and removes them from the
    /// builder. The tracks can then have `max` further entries.
    pub(super) fn settle(&mut self, settled: &mut impl Settled) {
        self.machines.moments_mut().settle(settled);
        self.spans.settle(settled);
    }

    /// Returns the number of entries since the builder last passed on its entries.
    pub(super) fn unsettled(&self) -> u64 {
        self.machines.moments().entries + self.spans.changes
    }
}

impl Sink for MachineTrackBuilder {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        let moments = self.machines.moments_mut();
        self.handovers.take(trace, batch, |sent, taken| moments.message(sent, taken));
        self.spans.events(trace, batch)?;
        self.machines.events(trace, batch)
    }

    fn loss(&mut self, trace: &Trace, loss: &Loss) -> Flow {
        self.handovers.gap();
        self.spans.loss(trace, loss)?;
        self.machines.loss(trace, loss)
    }
}

/// Receives the moments of machines.
#[derive(Clone, Debug, Default)]
struct MachineBuilder {
    /// Maximum number of entries.
    max: u64,
    levels: Table<LevelTrack>,
    machines: Table<Followed>,
    arrows: Vec<Arrow>,
    /// Number of entries since the beginning or since the builder last passed on its entries.
    entries: u64,
    left_out: u64,
}

/// A machine, and its step in progress.
#[derive(Clone, Debug)]
struct Followed {
    track: MachineTrack,
    indices: HashMap<Named, u32, RandomState>,
    /// Index of the step in progress.
    open: Option<usize>,
}

/// Tracks by name.
#[derive(Clone, Debug)]
struct Table<T> {
    list: Vec<T>,
    by_name: HashMap<Named, usize, RandomState>,
    /// The latest results of `by_name`. A key consists of the key of a thing and the number of
    /// times that it was renamed.
    recent: KeySlots<(u64, usize), usize>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self { list: Vec::new(), by_name: HashMap::default(), recent: KeySlots::default() }
    }
}

impl<T> Table<T> {
    fn get(&mut self, name: Named, new: impl FnOnce() -> T) -> &mut T {
        let Self { list, by_name, recent } = self;
        let index = recent.get(name.key, (name.key, name.renamed), || {
            *by_name.entry(name).or_insert_with(|| {
                list.push(new());
                list.len() - 1
            })
        });
        &mut list[index]
    }

    /// Returns the tracks by name, with their places in the list.
    fn into_map(self) -> HashMap<Named, (usize, T), RandomState> {
        let mut tracks: Vec<_> = self.list.into_iter().map(Some).collect();
        let named = self.by_name.into_iter();
        let mut track = |index: usize| Some((index, tracks.get_mut(index)?.take()?));
        named.filter_map(move |(name, index)| Some((name, track(index)?))).collect()
    }
}

impl MachineBuilder {
    fn has_room(&mut self) -> bool {
        let room = self.entries < self.max;
        self.left_out += u64::from(!room);
        self.entries += u64::from(room);
        room
    }

    fn machine(&mut self, machine: Named) -> &mut Followed {
        self.machines.get(machine, || Followed {
            track: MachineTrack {
                machine,
                states: Vec::new(),
                row: Row::default(),
                steps: Vec::new(),
            },
            indices: HashMap::default(),
            open: None,
        })
    }

    /// Passes on the entries that later events cannot change. Drops steps without a recorded end,
    /// except the step in progress.
    fn settle(&mut self, settled: &mut impl Settled) {
        for (place, track) in self.levels.list.iter_mut().enumerate() {
            track.row.settle(|changes| settled.level(place, changes));
        }
        for (place, Followed { track, open, .. }) in self.machines.list.iter_mut().enumerate() {
            track.row.settle(|changes| settled.machine(place, changes));
            let ended = track.steps.drain(..open.unwrap_or(track.steps.len()));
            ended.for_each(|StepSpan { from, until }| {
                until.into_iter().for_each(|until| settled.step(place, from, until));
            });
            *open = open.map(|_| 0);
        }
        self.arrows.drain(..).for_each(|message| settled.message(message));
        self.entries = 0;
    }

    /// Returns the tracks of levels and machines that `figures` lists, in the same order, and their
    /// places.
    fn finish(self, figures: &Figures) -> (Vec<LevelTrack>, Vec<MachineTrack>, Places) {
        let (mut levels, mut machines) = (self.levels.into_map(), self.machines.into_map());
        // The figures contain the current name of each object.
        let level = |level: &Level| {
            let Level { object, owner, counts_free, most, .. } = *level;
            let (place, track) = levels.remove(&object)?;
            let most = most.unwrap_or(0);
            Some((place, LevelTrack { object, owner, counts_free, most, ..track }))
        };
        let machine = |machine: &Machine| {
            let name = machine.name;
            let (place, followed) = machines.remove(&name)?;
            Some((place, MachineTrack { machine: name, ..followed.track }))
        };
        let (level_places, levels) = figures.levels.iter().filter_map(level).unzip();
        let (machine_places, machines) = figures.machines.iter().filter_map(machine).unzip();
        let places = Places { machines: machine_places, levels: level_places };
        (levels, machines, places)
    }
}

impl MachineMoments for MachineBuilder {
    fn level(&mut self, object: Named, level: u64, at: Position) {
        if self.has_room() {
            let (owner, counts_free, row, most) = (None, false, Row::default(), 0);
            let new = || LevelTrack { object, owner, counts_free, row, most };
            self.levels.get(object, new).row.set(at, Some(level));
        }
    }

    fn state(&mut self, machine: Named, state: Option<Named>, at: Position) {
        if !self.has_room() {
            return;
        }
        let Followed { track, indices, .. } = self.machine(machine);
        let index = state.map(|state| {
            let next = track.states.len() as u32;
            *indices.entry(state).or_insert_with(|| {
                track.states.push(state);
                next
            })
        });
        track.row.set(at, index);
    }

    fn step(&mut self, machine: Named, begins: bool, at: Position) {
        if begins && !self.has_room() {
            return;
        }
        let Followed { track, open, .. } = self.machine(machine);
        if begins {
            *open = Some(track.steps.len());
            track.steps.push(StepSpan { from: at, until: None });
        } else if let Some(step) = open.take().and_then(|index| track.steps.get_mut(index)) {
            step.until = Some(at);
        }
    }

    fn message(&mut self, sent: Passed, taken: Passed) {
        if self.has_room() {
            self.arrows.push(Arrow {
                kind: ArrowKind::Message,
                from: sent.at,
                from_context: Some(sent.context),
                to: taken.at,
                to_context: taken.context,
            });
        }
    }

    fn gap(&mut self, at: Position) {
        for level in &mut self.levels.list {
            self.entries += u64::from(level.row.set(at, None));
        }
        for Followed { track, open, .. } in &mut self.machines.list {
            *open = None;
            if !track.row.changes().is_empty() {
                self.entries += u64::from(track.row.set(at, None));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ticks: u64) -> Position {
        Position { ticks, seq: ticks }
    }

    fn named(key: u64) -> Named {
        Named { argument: key, key, kind: None, ticks: 0, renamed: 0 }
    }

    fn changes<S: Copy + PartialEq>(row: &Row<S>) -> Vec<(u64, S)> {
        row.changes().iter().map(|change| (change.at.ticks, change.state)).collect()
    }

    #[test]
    fn a_gap_ends_levels_states_and_steps() {
        let mut builder = MachineBuilder { max: 100, ..MachineBuilder::default() };
        let [queue, stateless, machine, state] = [1, 2, 3, 4].map(named);
        builder.level(queue, 5, at(10));
        builder.step(stateless, true, at(11));
        builder.state(machine, Some(state), at(12));
        builder.step(machine, true, at(13));
        builder.gap(at(20));
        for machine in [stateless, machine] {
            builder.step(machine, false, at(30));
        }
        builder.state(machine, Some(state), at(31));
        builder.step(machine, true, at(32));
        builder.step(machine, false, at(35));
        assert_eq!(changes(&builder.levels.list[0].row), [(10, Some(5)), (20, None)]);
        let [first, second] = &builder.machines.list[..] else { panic!() };
        assert!(first.track.row.changes().is_empty());
        assert_eq!(changes(&second.track.row), [(12, Some(0)), (20, None), (31, Some(0))]);
        assert_eq!(first.track.steps, [StepSpan { from: at(11), until: None }]);
        let steps = [(13, None), (32, Some(35))];
        let steps = steps.map(|(from, until)| StepSpan { from: at(from), until: until.map(at) });
        assert_eq!(second.track.steps, steps);
        // Six calls added an entry, and the gap added two.
        assert_eq!((builder.entries, builder.left_out), (6 + 2, 0));
    }

    #[test]
    fn entries_beyond_the_limit_are_counted() {
        let mut builder = MachineBuilder { max: 4, ..MachineBuilder::default() };
        let [queue, machine, state] = [1, 2, 3].map(named);
        let passed = |ticks| Passed { at: at(ticks), context: crate::model::ContextId(0) };
        for ticks in [10, 20] {
            builder.level(queue, ticks, at(ticks));
            builder.state(machine, (ticks < 15).then_some(state), at(ticks));
            builder.step(machine, true, at(ticks));
            builder.message(passed(ticks), passed(ticks + 1));
        }
        // The end of a step is not an entry of its own.
        builder.step(machine, false, at(25));
        let track = &builder.machines.list[0].track;
        assert_eq!(changes(&builder.levels.list[0].row), [(10, Some(10))]);
        assert_eq!(changes(&track.row), [(10, Some(0))]);
        assert_eq!(track.steps, [StepSpan { from: at(10), until: Some(at(25)) }]);
        assert_eq!((builder.arrows.len(), builder.entries, builder.left_out), (1, 4, 4));
    }
}
