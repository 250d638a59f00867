//! Where state machines were, how long, and how they got there.
//!
//! A state is entered and left as the machine says it; a state that contains others goes on while those
//! change. A machine that does not say it (its records may be switched off) is in one state from the end
//! of the step that reached it to the end of a step that reached another.

use super::messages::Message;
use super::sight::{Named, Sight};
use super::{MAX_DETAILS, MAX_TRANSITIONS, Room, Rows};
use crate::analysis::Range;
use crate::model::Meaning;

/// A state machine. Times are ticks.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Which one.
    pub name: Named,
    /// Its states, in the order in which they were first named.
    pub states: Vec<StateTime>,
    /// Its transitions, likewise.
    pub transitions: Vec<Transition>,
    /// How its steps ended.
    pub outcomes: Vec<Outcome>,
    /// Messages that it did not take.
    pub unhandled: Vec<Unhandled>,
    /// Steps that began.
    pub steps: u64,
    /// From the hand-over of a message to the end of the step.
    pub step: Range,
    /// The state that it is in at the end, as far as it is known.
    pub state: Option<Named>,
}

/// A state, and the time in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StateTime {
    /// Which one.
    pub state: Named,
    /// How often it was entered.
    pub entered: u64,
    /// How often it was left.
    pub left: u64,
    /// Stays that began and ended.
    pub stays: Range,
    /// Ticks of all stays, also of the last one up to the end of the trace.
    pub total: u64,
    /// Since when it is in it.
    since: Option<u64>,
}

/// A way from one state to another.
#[derive(Clone, Debug)]
pub struct Transition {
    /// Where it begins.
    pub from: Named,
    /// What for; `None` where the step's message is not known.
    pub signal: Option<Named>,
    /// Vertices on the way: choices, junctions, states with their own beginnings. The first is its target;
    /// none where the transition is internal.
    pub way: Vec<Named>,
    /// The state that was reached in the end; none where the transition is internal, or it is not told.
    pub to: Option<Named>,
    /// How often.
    pub count: u64,
}

/// How steps ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// Id of the event that ended them.
    pub id: u32,
    /// How many.
    pub count: u64,
}

/// Messages that were not taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unhandled {
    /// Which signal; `None` where it is not known.
    pub signal: Option<Named>,
    /// In which state.
    pub state: Option<Named>,
    /// Id of the event that says why.
    pub id: u32,
    /// How many.
    pub count: u64,
}

/// What makes two transitions the same.
#[derive(PartialEq, Eq, Hash, Debug)]
struct Route {
    from: Named,
    signal: Option<Named>,
    way: Vec<Named>,
    to: Option<Named>,
}

/// Vertices of one transition that are kept.
const LONGEST_WAY: usize = 16;

/// Follows all machines.
#[derive(Debug)]
pub(super) struct States {
    runs: Rows<Named, Run>,
    room: Rooms,
}

/// The room that all machines share.
#[derive(Debug)]
struct Rooms {
    details: Room,
    transitions: Room,
}

impl Default for States {
    fn default() -> Self {
        let (details, transitions) = (Room::new(MAX_DETAILS), Room::new(MAX_TRANSITIONS));
        Self { runs: Rows::default(), room: Rooms { details, transitions } }
    }
}

/// Follows one machine.
#[derive(Debug)]
struct Run {
    machine: Machine,
    states: Rows<Named, StateTime>,
    transitions: Rows<Route, Transition>,
    outcomes: Rows<u32, Outcome>,
    unhandled: Rows<(Option<Named>, Option<Named>, u32), Unhandled>,
    /// Whether it says which states it enters and leaves.
    says: bool,
    begun: Option<u64>,
    open: Option<Transition>,
}

impl States {
    /// Takes an event, and the message whose step goes on or has just ended.
    pub(super) fn take(&mut self, sight: &Sight<'_>, message: Option<Message>) {
        let of_machine = match sight.meaning {
            Meaning::Runs => sight.details().state.is_some(),
            Meaning::Unhandled
            | Meaning::Dispatch
            | Meaning::StateEntered
            | Meaning::StateLeft
            | Meaning::StateReached
            | Meaning::Vertex
            | Meaning::Transition => true,
            Meaning::Complete => sight.subject().is_some_and(|s| self.runs.find(&s).is_some()),
            _ => false,
        };
        let Some(name) = sight.subject().filter(|_| of_machine) else { return };
        if let Some(run) = self.runs.get(name, || Run::new(name)) {
            run.machine.name.again(name, sight.trace);
            run.take(sight, message.map(|message| message.signal), &mut self.room);
        }
    }

    pub(super) fn cut(&mut self) {
        self.runs.list.iter_mut().for_each(Run::cut);
    }

    /// The machines, and how many transitions had no row.
    pub(super) fn finish(mut self, end: u64) -> (Vec<Machine>, u64) {
        let runs = self.runs.list.into_iter();
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
            transitions: Rows::default(),
            outcomes: Rows::default(),
            unhandled: Rows::default(),
            says: false,
            begun: None,
            open: None,
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
                sight.value().into_iter().for_each(|state| self.enter(state, ticks, room));
            }
            Meaning::StateLeft => {
                self.says = true;
                sight.value().into_iter().for_each(|state| self.leave(state, ticks, room));
            }
            Meaning::Transition => self.change(sight, signal, room),
            Meaning::Vertex => self.come_through(sight.value()),
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
        if let Some(time) = self.state(state, room) {
            time.left += 1;
            if let Some(since) = time.since.take() {
                time.stays.add(ticks.saturating_sub(since));
                time.total += ticks.saturating_sub(since);
            }
        }
    }

    fn change(&mut self, sight: &Sight<'_>, signal: Option<Named>, room: &mut Rooms) {
        self.close_transition(None, room);
        let Some(from) = sight.object() else { return };
        let target = sight.value().filter(|target| target.argument != 0);
        let way = target.into_iter().collect();
        self.open = Some(Transition { from, signal, way, to: None, count: 0 });
    }

    fn come_through(&mut self, vertex: Option<Named>) {
        if let (Some(open), Some(vertex)) = (&mut self.open, vertex)
            // The first segment's vertex is the target that the transition named.
            && open.way.last() != Some(&vertex)
            && open.way.len() < LONGEST_WAY
        {
            open.way.push(vertex);
        }
    }

    fn reach(&mut self, state: Named, ticks: u64, room: &mut Rooms) {
        self.close_transition(Some(state), room);
        if !self.says && self.machine.state != Some(state) {
            let before = self.machine.state;
            before.into_iter().for_each(|before| self.leave(before, ticks, room));
        }
        if !self.says && self.state(state, room).is_some_and(|time| time.since.is_none()) {
            self.enter(state, ticks, room);
        }
        self.machine.state = Some(state);
    }

    fn close_transition(&mut self, to: Option<Named>, room: &mut Rooms) {
        let Some(mut transition) = self.open.take() else { return };
        let internal = transition.way.is_empty();
        transition.to = if internal { None } else { to };
        let route = Route {
            from: transition.from,
            signal: transition.signal,
            way: transition.way.clone(),
            to: transition.to,
        };
        let row = self.transitions.get_within(route, &mut room.transitions, || transition);
        row.into_iter().for_each(|transition| transition.count += 1);
    }

    fn end_step(&mut self, sight: &Sight<'_>, signal: Option<Named>, room: &mut Rooms) {
        self.close_transition(None, room);
        let id = sight.event.id;
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

    fn cut(&mut self) {
        self.states.list.iter_mut().for_each(|time| time.since = None);
        (self.open, self.begun, self.machine.state) = (None, None, None);
    }

    fn finish(mut self, end: u64, room: &mut Rooms) -> Machine {
        self.close_transition(None, room);
        for time in &mut self.states.list {
            time.total += time.since.map_or(0, |since| end.saturating_sub(since));
        }
        Machine {
            states: self.states.list,
            transitions: self.transitions.list,
            outcomes: self.outcomes.list,
            unhandled: self.unhandled.list,
            ..self.machine
        }
    }
}
