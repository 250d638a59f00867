//! Follows state machines: their states, the times in these states, and their transitions.
//!
//! If a machine's events show entries and exits, the time in a state lasts from the entry to the
//! exit. A composite state stays active while its inner states change. If the events for entry and
//! exit are switched off, the time in a state begins at the end of the step that reached the state.
//! It then ends at the end of the step that reaches another state.

use super::messages::Message;
use super::moments::MachineMoments;
use super::named_rows::NamedRows;
use super::sight::{Named, Sight};
use super::transitions::{Transition, Transitions};
use super::{MAX_DETAILS, MAX_TRANSITIONS, Room, Rows};
use crate::analysis::Range;
use crate::analysis::total::Total;
use crate::model::Meaning;
use crate::model::schema::{EventType, Means};

/// A state machine. Times are ticks.
#[derive(Clone, Debug)]
pub struct Machine {
    /// The machine that the figures describe.
    pub name: Named,
    /// The states, in the order of their first mention.
    pub states: Vec<StateTime>,
    /// The transitions, in the order of their first mention.
    pub transitions: Vec<Transition>,
    /// The outcomes of steps.
    pub outcomes: Vec<Outcome>,
    /// Messages that the machine did not handle.
    pub unhandled: Vec<Unhandled>,
    /// Number of steps that began.
    pub steps: u64,
    /// Time from the dispatch of a message to the end of the step.
    pub step: Range,
    /// The state at the end, if it is known.
    pub state: Option<Named>,
}

/// A state and the time that the machine spent in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StateTime {
    /// A state of the machine.
    pub state: Named,
    /// Number of entries into the state.
    pub entered: u64,
    /// Number of exits from the state.
    pub left: u64,
    /// Durations of completed stays.
    pub stays: Range,
    /// Ticks of all stays, including a stay that lasts to the end of the trace.
    pub total: u64,
    /// Tick of the latest entry; `None` if the machine is not in this state.
    since: Option<u64>,
}

/// An outcome of steps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// Id of the event that ended the steps.
    pub id: u32,
    /// Number of steps with this outcome.
    pub count: u64,
}

/// Messages that a machine did not handle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unhandled {
    /// The signal; `None` if it is unknown.
    pub signal: Option<Named>,
    /// The state of the machine.
    pub state: Option<Named>,
    /// Id of the event. It shows why the message was not handled.
    pub id: u32,
    /// Number of these messages.
    pub count: u64,
}

/// All machines, and the limits that their tables share.
#[derive(Clone, Debug)]
pub(super) struct States {
    runs: NamedRows<Run>,
    room: Rooms,
}

/// The limits that all machines share.
#[derive(Clone, Debug)]
struct Rooms {
    details: Room,
    transitions: Room,
}

impl Default for States {
    fn default() -> Self {
        let (details, transitions) = (Room::new(MAX_DETAILS), Room::new(MAX_TRANSITIONS));
        Self { runs: NamedRows::default(), room: Rooms { details, transitions } }
    }
}

/// A machine: its figures, and its step in progress.
#[derive(Clone, Debug)]
struct Run {
    machine: Machine,
    states: Rows<Named, StateTime>,
    transitions: Transitions,
    outcomes: Rows<u32, Outcome>,
    unhandled: Rows<(Option<Named>, Option<Named>, u32), Unhandled>,
    /// True if the machine's events show the states that it enters and leaves.
    says: bool,
    begun: Option<u64>,
    /// The first tick of the range of the figures.
    from: u64,
}

/// Returns true if events of this type can concern a state machine.
pub(super) fn concern(event: &EventType, means: &Means) -> bool {
    match means.meaning {
        Meaning::Runs => event.details.state.is_some(),
        Meaning::Unhandled
        | Meaning::Dispatch
        | Meaning::StateEntered
        | Meaning::StateLeft
        | Meaning::StateReached
        | Meaning::Vertex
        | Meaning::Transition
        | Meaning::Complete => true,
        _ => false,
    }
}

impl States {
    /// Handles an event of a type that concerns machines. `message` is the message whose step is
    /// in progress or has just ended.
    pub(super) fn take(
        &mut self,
        sight: &Sight<'_>,
        message: Option<Message>,
        moments: &mut impl MachineMoments,
    ) {
        let Some(name) = sight.subject() else { return };
        // `Complete` can also mean that a task has completed a job, so it counts only for known
        // machines.
        if sight.meaning == Meaning::Complete && !self.runs.has(&name) {
            return;
        }
        let (objects, new) = (&sight.event.trace.objects, || Run::new(name));
        if let Some(run) = self.runs.get(name, objects, new, |run| &mut run.machine.name) {
            let before = run.machine.state;
            let ended = run.begun.is_some() && sight.meaning != Meaning::Dispatch;
            run.take(sight, message.map(|message| message.signal), &mut self.room);
            if run.machine.state != before {
                moments.state(name, run.machine.state, sight.position());
            }
            if sight.meaning == Meaning::Dispatch {
                moments.step(name, true, sight.position());
            } else if ended && run.begun.is_none() {
                moments.step(name, false, sight.position());
            }
        }
    }

    /// Begins a range at `from`.
    pub(super) fn restart(&mut self, from: u64) {
        self.room = Self::default().room;
        for run in self.runs.list_mut() {
            run.restart(from);
            let states = run.states.list.len();
            self.room.details.rows = self.room.details.rows.saturating_sub(states);
        }
    }

    pub(super) fn cut(&mut self) {
        self.runs.list_mut().iter_mut().for_each(Run::cut);
    }

    /// Returns the machines, and the number of transitions without a row. `end` is the end of the
    /// range. `is_cut` is true if the trace continues after the range.
    pub(super) fn finish(mut self, end: u64, is_cut: bool) -> (Vec<Machine>, u64) {
        if is_cut {
            // A transition belongs to the range in which it ends.
            self.runs.list_mut().iter_mut().for_each(|run| run.transitions.cut());
        }
        let runs = self.runs.finish().into_iter();
        let machines = runs.map(|run| run.finish(end, &mut self.room)).collect();
        (machines, self.room.transitions.left_out)
    }
}

impl Run {
    fn new(name: Named) -> Self {
        Self {
            machine: Machine {
                name,
                states: Vec::new(),
                transitions: Vec::new(),
                outcomes: Vec::new(),
                unhandled: Vec::new(),
                steps: 0,
                step: Range::default(),
                state: None,
            },
            states: Rows::default(),
            transitions: Transitions::default(),
            outcomes: Rows::default(),
            unhandled: Rows::default(),
            says: false,
            begun: None,
            from: 0,
        }
    }

    fn take(&mut self, sight: &Sight<'_>, signal: Option<Named>, room: &mut Rooms) {
        let ticks = sight.ticks();
        match sight.meaning {
            Meaning::Runs => self.machine.state = sight.state(),
            Meaning::Dispatch => {
                self.machine.steps += 1;
                self.begun = Some(ticks);
                self.machine.state = sight.state().or(self.machine.state);
            }
            Meaning::StateEntered => {
                self.says = true;
                // From this event on, the times in states come from entries and exits, and
                // `StateReached` only sets the current state.
                sight.value().into_iter().for_each(|state| self.enter(state, ticks, room));
            }
            Meaning::StateLeft => {
                self.says = true;
                sight.value().into_iter().for_each(|state| self.leave(state, ticks, room));
            }
            Meaning::Transition => self.change(sight, signal, room),
            Meaning::Vertex => {
                sight.value().into_iter().for_each(|vertex| self.transitions.come_through(vertex));
            }
            Meaning::StateReached => {
                sight.value().into_iter().for_each(|state| self.reach(state, ticks, room));
            }
            _ => self.end_step(sight, signal, room),
        }
    }

    fn state(&mut self, state: Named, room: &mut Rooms) -> Option<&mut StateTime> {
        let (stays, since) = (Range::default(), None);
        let new = StateTime { state, entered: 0, left: 0, stays, total: 0, since };
        self.states.get_within(state, &mut room.details, || new)
    }

    fn enter(&mut self, state: Named, ticks: u64, room: &mut Rooms) {
        if let Some(time) = self.state(state, room) {
            time.entered += 1;
            time.since = Some(ticks);
        }
    }

    fn leave(&mut self, state: Named, ticks: u64, room: &mut Rooms) {
        let from = self.from;
        if let Some(time) = self.state(state, room) {
            time.left += 1;
            if let Some(since) = time.since.take() {
                time.stays.add(ticks.saturating_sub(since));
                time.total.charge(ticks.saturating_sub(since.max(from)));
            }
        }
    }

    fn change(&mut self, sight: &Sight<'_>, signal: Option<Named>, room: &mut Rooms) {
        self.transitions.close(None, &mut room.transitions);
        let Some(from) = sight.object() else { return };
        // Internal transitions have no target. For these, kernels record 0 as the target.
        let target = sight.value().filter(|target| target.argument != 0);
        self.transitions.begin(from, signal, target);
    }

    fn reach(&mut self, state: Named, ticks: u64, room: &mut Rooms) {
        self.transitions.close(Some(state), &mut room.transitions);
        // Without events for entry and exit, the previous state ends when the next one is reached.
        if !self.says && self.machine.state != Some(state) {
            let before = self.machine.state;
            before.into_iter().for_each(|before| self.leave(before, ticks, room));
        }
        if !self.says && self.state(state, room).is_some_and(|time| time.since.is_none()) {
            self.enter(state, ticks, room);
        }
        self.machine.state = Some(state);
    }

    fn end_step(&mut self, sight: &Sight<'_>, signal: Option<Named>, room: &mut Rooms) {
        // If a step ends without `StateReached`, the final state of its transition stays unknown.
        self.transitions.close(None, &mut room.transitions);
        let id = sight.event.id();
        let new = Outcome { id, count: 0 };
        let outcome = self.outcomes.get_within(id, &mut room.details, || new);
        outcome.into_iter().for_each(|outcome| outcome.count += 1);
        if sight.meaning == Meaning::Unhandled {
            let (signal, state) = (sight.value().or(signal), self.machine.state);
            let new = Unhandled { signal, state, id, count: 0 };
            let row = self.unhandled.get_within((signal, state, id), &mut room.details, || new);
            row.into_iter().for_each(|row| row.count += 1);
        }
        if let Some(begun) = self.begun.take() {
            self.machine.step.add(sight.ticks().saturating_sub(begun));
        }
    }

    /// Begins a range at `from`: forgets the figures and keeps the states.
    fn restart(&mut self, from: u64) {
        (self.machine.steps, self.machine.step) = (0, Range::default());
        self.transitions.restart();
        (self.outcomes, self.unhandled) = Default::default();
        for time in &mut self.states.list {
            *time = StateTime { entered: 0, left: 0, stays: Range::default(), total: 0, ..*time };
        }
        self.from = from;
    }

    fn cut(&mut self) {
        self.states.list.iter_mut().for_each(|time| time.since = None);
        self.transitions.cut();
        (self.begun, self.machine.state) = (None, None);
    }

    fn finish(mut self, end: u64, room: &mut Rooms) -> Machine {
        self.transitions.close(None, &mut room.transitions);
        for time in &mut self.states.list {
            let last = time.since.map_or(0, |since| end.saturating_sub(since.max(self.from)));
            time.total.charge(last);
        }
        Machine {
            states: self.states.list,
            transitions: self.transitions.finish(),
            outcomes: self.outcomes.list,
            unhandled: self.unhandled.list,
            ..self.machine
        }
    }
}
