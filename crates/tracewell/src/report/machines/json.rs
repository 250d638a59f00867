//! The figures of [`crate::analysis::machines`] as JSON.

use serde::Serialize;

use super::{label, level_name, timer_name};
use crate::analysis::Range;
use crate::analysis::machines::{
    Figures, Level, Machine, Message, MessageFlow, StateTime, Timer, Transition, Unhandled,
};
use crate::model::Trace;
use crate::report::figures::some;
use crate::report::sections::Section;

/// The figures of state machines, messages, queues, pools and timers.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MachineFigures {
    /// The state machines, in the order in which the trace first names them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machines: Option<Vec<MachineRow>>,
    /// Number of transitions that have no row because the table has reached its limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more_transitions: Option<u64>,
    /// Messages by sender, receiver and signal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flows: Option<Vec<FlowRow>>,
    /// The first messages, one by one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<Vec<MessageRow>>,
    /// Number of messages that are not in that list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more_messages: Option<u64>,
    /// Queues and pools with their fill levels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub levels: Option<Vec<LevelRow>>,
    /// Timers and their expiries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timers: Option<Vec<TimerRow>>,
}

impl MachineFigures {
    /// Returns the figures for programs.
    pub fn new(trace: &Trace, figures: &Figures) -> Self {
        let levels = figures.levels.iter().map(|level| LevelRow::of(trace, level));
        let messages = figures.messages.iter().map(|message| MessageRow::of(trace, message));
        let machines = figures.machines.iter().map(|machine| MachineRow::of(trace, machine));
        let timers = figures.timers.iter().map(|timer| TimerRow::of(trace, timer));
        Self {
            machines: Some(machines.collect()),
            more_transitions: Some(figures.more_transitions),
            flows: Some(figures.flows.iter().map(|flow| FlowRow::of(trace, flow)).collect()),
            messages: Some(messages.collect()),
            more_messages: Some(figures.more_messages),
            levels: Some(levels.collect()),
            timers: Some(timers.collect()),
        }
    }

    /// Omits the figures of sections for which `has` returns false.
    pub(in crate::report) fn limit(&mut self, has: impl Fn(Section) -> bool) {
        if !has(Section::Machines) {
            (self.machines, self.more_transitions) = (None, None);
        }
        if !has(Section::Messages) {
            (self.flows, self.messages, self.more_messages) = (None, None, None);
        }
        self.levels = self.levels.take().filter(|_| has(Section::Queues));
        self.timers = self.timers.take().filter(|_| has(Section::Timers));
    }
}

/// Count, minimum, mean and maximum of durations in ticks; null if there are none.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Spans {
    /// Number of durations that were measured.
    pub count: u64,
    /// The shortest in ticks.
    pub min: Option<u64>,
    /// The mean, rounded down.
    pub mean: Option<u64>,
    /// The longest in ticks.
    pub max: Option<u64>,
}

impl From<Range> for Spans {
    fn from(range: Range) -> Self {
        Self {
            count: range.count,
            min: some(range, range.min),
            mean: some(range, range.mean()),
            max: some(range, range.max),
        }
    }
}

/// A state machine with its steps, states and transitions.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MachineRow {
    /// Name of the machine.
    pub name: String,
    /// Its state at the end of the trace.
    pub state: Option<String>,
    /// Number of steps that the state machine began.
    pub steps: u64,
    /// Durations of the steps.
    pub step: Spans,
    /// The time in each state.
    pub states: Vec<StateRow>,
    /// The transitions that were taken.
    pub transitions: Vec<TransitionRow>,
    /// The outcomes of its steps.
    pub outcomes: Vec<OutcomeRow>,
    /// Signals that no transition took.
    pub unhandled: Vec<UnhandledRow>,
}

impl MachineRow {
    fn of(trace: &Trace, machine: &Machine) -> Self {
        let outcome = |id, count| OutcomeRow { event: trace.schema.label(id), count };
        let transitions = machine.transitions.iter().map(|t| TransitionRow::of(trace, t));
        let unhandled = machine.unhandled.iter().map(|u| UnhandledRow::of(trace, u));
        Self {
            name: machine.name.label(trace),
            state: label(trace, machine.state),
            steps: machine.steps,
            step: machine.step.into(),
            states: machine.states.iter().map(|state| StateRow::of(trace, state)).collect(),
            transitions: transitions.collect(),
            outcomes: machine.outcomes.iter().map(|o| outcome(o.id, o.count)).collect(),
            unhandled: unhandled.collect(),
        }
    }
}

/// An outcome of steps.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OutcomeRow {
    /// The event that ended the steps.
    pub event: String,
    /// Number of steps that this event ended.
    pub count: u64,
}

/// A state of a machine.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StateRow {
    /// Name of the state.
    pub state: String,
    /// Number of times that it was entered.
    pub entered: u64,
    /// Number of times that it was left.
    pub left: u64,
    /// Durations of the stays.
    pub stay: Spans,
    /// Ticks in the state.
    pub total_ticks: u64,
}

impl StateRow {
    fn of(trace: &Trace, time: &StateTime) -> Self {
        Self {
            state: time.state.label(trace),
            entered: time.entered,
            left: time.left,
            stay: time.stays.into(),
            total_ticks: time.total,
        }
    }
}

/// A transition of a machine.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TransitionRow {
    /// The state before it.
    pub from: String,
    /// The signal that caused it.
    pub signal: Option<String>,
    /// The states and pseudostates on the way.
    pub way: Vec<String>,
    /// The state after it.
    pub to: Option<String>,
    /// True if the machine leaves no state.
    pub internal: bool,
    /// Number of times that it was taken.
    pub count: u64,
}

impl TransitionRow {
    fn of(trace: &Trace, transition: &Transition) -> Self {
        Self {
            from: transition.from.label(trace),
            signal: label(trace, transition.signal),
            way: transition.way.iter().map(|vertex| vertex.label(trace)).collect(),
            to: label(trace, transition.to),
            internal: transition.way.is_empty(),
            count: transition.count,
        }
    }
}

/// A signal that no transition took.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UnhandledRow {
    /// Name of the signal.
    pub signal: Option<String>,
    /// The state in which the machine received it.
    pub state: Option<String>,
    /// The event that reports it.
    pub event: String,
    /// Number of times that the machine left the signal unhandled.
    pub count: u64,
}

impl UnhandledRow {
    fn of(trace: &Trace, unhandled: &Unhandled) -> Self {
        Self {
            signal: label(trace, unhandled.signal),
            state: label(trace, unhandled.state),
            event: trace.schema.label(unhandled.id),
            count: unhandled.count,
        }
    }
}

/// Messages of one sender, receiver and signal.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlowRow {
    /// The sender, if it is known.
    pub sender: Option<String>,
    /// Name of the receiver.
    pub receiver: String,
    /// Name of the signal.
    pub signal: String,
    /// Number of posted messages.
    pub posted: u64,
    /// Number of messages that the receiver took.
    pub taken: u64,
    /// Durations from posting to taking.
    pub waiting: Spans,
    /// Durations of the steps.
    pub step: Spans,
    /// Durations from posting to the end of the step.
    pub response: Spans,
}

impl FlowRow {
    fn of(trace: &Trace, flow: &MessageFlow) -> Self {
        Self {
            sender: label(trace, flow.sender),
            receiver: flow.receiver.label(trace),
            signal: flow.signal.label(trace),
            posted: flow.posted,
            taken: flow.taken,
            waiting: flow.waiting.into(),
            step: flow.step.into(),
            response: flow.response.into(),
        }
    }
}

/// A message between state machines.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MessageRow {
    /// The sender, if it is known.
    pub sender: Option<String>,
    /// Name of the receiver.
    pub receiver: String,
    /// Name of the signal.
    pub signal: String,
    /// Tick at which it was posted.
    pub posted_ticks: Option<u64>,
    /// Tick at which the receiver took it.
    pub taken_ticks: Option<u64>,
    /// Tick at which its step began.
    pub dispatched_ticks: Option<u64>,
    /// Tick at which its step ended.
    pub done_ticks: Option<u64>,
    /// The event that ended its step.
    pub outcome: Option<String>,
}

impl MessageRow {
    fn of(trace: &Trace, message: &Message) -> Self {
        Self {
            sender: label(trace, message.sender),
            receiver: message.receiver.label(trace),
            signal: message.signal.label(trace),
            posted_ticks: message.posted,
            taken_ticks: message.taken,
            dispatched_ticks: message.dispatched,
            done_ticks: message.done,
            outcome: message.outcome.map(|id| trace.schema.label(id)),
        }
    }
}

/// A queue or pool.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LevelRow {
    /// Name of the queue or pool.
    pub object: String,
    /// Kind of the object.
    pub kind: Option<String>,
    /// Name of its owner.
    pub owner: Option<String>,
    /// Maximum number of elements that it can hold.
    pub capacity: Option<u64>,
    /// Number of elements that were put in.
    pub put: u64,
    /// Number of elements that were taken out.
    pub taken: u64,
    /// Number of requests that were refused.
    pub refused: u64,
    /// `used` if levels count used elements, `free` if they count free elements.
    pub counts: &'static str,
    /// The level at the end of the trace.
    pub last: Option<u64>,
    /// The lowest level that an event contains; null if no event contains a level.
    pub least: Option<u64>,
    /// The highest level that an event contains; null if no event contains a level.
    pub most: Option<u64>,
    /// The smallest number of free elements that the system itself recorded.
    pub least_free: Option<u64>,
    /// The level over time: ticks and level of each sample.
    pub samples: Vec<(u64, u64)>,
}

impl LevelRow {
    fn of(trace: &Trace, level: &Level) -> Self {
        let kind = level.object.kind.and_then(|code| trace.schema.object_kind(code));
        Self {
            object: level_name(trace, level),
            kind: kind.map(|kind| kind.label.clone()),
            owner: label(trace, level.owner),
            capacity: level.capacity,
            put: level.put,
            taken: level.taken,
            refused: level.refused,
            counts: if level.counts_free { "free" } else { "used" },
            last: level.last,
            least: level.least,
            most: level.most,
            least_free: level.least_free,
            samples: level.samples.clone(),
        }
    }
}

/// A timer and its expiries.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TimerRow {
    /// Name of the timer.
    pub timer: String,
    /// Name of its owner.
    pub owner: Option<String>,
    /// The signal that it sends.
    pub signal: Option<String>,
    /// Number of times that the timer was started.
    pub starts: u64,
    /// Number of times that the timer was stopped.
    pub stops: u64,
    /// Number of times that the timer expired.
    pub expiries: u64,
    /// The time to the first expiry, in the timer's own ticks.
    pub delay: Option<u64>,
    /// The period in the timer's own ticks; 0 if it expires once.
    pub period: Option<u64>,
    /// Durations from a start to the first expiry.
    pub first: Spans,
    /// Durations from one expiry to the next, in ticks of the trace.
    pub between: Spans,
    /// True if it was running at the end of the trace.
    pub running: Option<bool>,
}

impl TimerRow {
    fn of(trace: &Trace, timer: &Timer) -> Self {
        Self {
            timer: timer_name(trace, timer),
            owner: label(trace, timer.owner),
            signal: label(trace, timer.signal),
            starts: timer.starts,
            stops: timer.stops,
            expiries: timer.expiries,
            delay: timer.delay,
            period: timer.period,
            first: timer.first.into(),
            between: timer.between.into(),
            running: timer.running,
        }
    }
}
