//! The figures of [`crate::analysis::machines`]: text for people, JSON for programs.

mod json;

pub use json::{
    FlowRow, LevelRow, MachineFigures, MachineRow, MessageRow, OutcomeRow, Spans, StateRow,
    TimerRow, TransitionRow, UnhandledRow,
};

use super::Layout;
use super::figures::{duration, optional, spoken};
use super::sections::Section;
use super::table::{Cell, table};
use crate::analysis::machines::{
    Figures, Level, Machine, MessageFlow, Named, StateTime, Timer, Transition, Unhandled,
};
use crate::model::Trace;
use crate::text::counted;

pub(super) fn label(trace: &Trace, named: Option<Named>) -> Option<String> {
    named.map(|named| named.label(trace))
}

/// Returns the name of a queue or pool. If it has an owner but no name, returns the owner's name
/// and the kind.
fn level_name(trace: &Trace, level: &Level) -> String {
    level.object.label_by_owner(trace, level.owner, "queue")
}

fn timer_name(trace: &Trace, timer: &Timer) -> String {
    let signal = label(trace, timer.signal);
    let what = signal.map_or_else(|| "timer".to_owned(), |signal| format!("timer {signal}"));
    timer.timer.label_by_owner(trace, timer.owner, &what)
}

/// Returns the figures of `sections` as text to append to other figures. The text is empty if there
/// are none.
pub fn text(trace: &Trace, figures: &Figures, sections: &[Section], layout: Layout) -> String {
    let mut text = String::new();
    if sections.contains(&Section::Machines) {
        for machine in &figures.machines {
            put_machine(&mut text, trace, machine, layout);
        }
        if figures.more_transitions > 0 {
            let more = counted(figures.more_transitions, "more transition");
            text.push_str(&format!("and {more}: too many different ones\n"));
        }
    }
    if sections.contains(&Section::Messages) {
        table(&mut text, layout, &FLOWS, figures.flows.iter().map(|flow| flow_row(trace, flow)));
    }
    if sections.contains(&Section::Queues) {
        let rows = figures.levels.iter().map(|level| level_row(trace, level));
        table(&mut text, layout, &LEVELS, rows);
    }
    if sections.contains(&Section::Timers) {
        let rows = figures.timers.iter().map(|timer| timer_row(trace, timer));
        table(&mut text, layout, &TIMERS, rows);
    }
    text
}

const STATES: [&str; 7] = ["STATE", "ENTERED", "LEFT", "TIME", "STAY MIN", "MEAN", "MAX"];
const TRANSITIONS: [&str; 5] = ["FROM", "ON", "TO", "BY WAY OF", "TIMES"];
const UNHANDLED: [&str; 4] = ["NOT TAKEN", "IN", "WHY", "TIMES"];
const FLOWS: [&str; 9] =
    ["FROM", "TO", "SIGNAL", "POSTED", "TAKEN", "WAIT MEAN", "WAIT MAX", "RESPONSE MEAN", "MAX"];
pub(super) const LEVELS: [&str; 9] =
    ["QUEUE OR POOL", "HOLDS", "PUT", "TAKEN", "REFUSED", "LAST", "LEAST", "MOST", "LOW WATER"];
const TIMERS: [&str; 9] = [
    "TIMER",
    "FOR",
    "SIGNAL",
    "STARTS",
    "STOPS",
    "EXPIRIES",
    "PERIOD",
    "TO EXPIRY MAX",
    "BETWEEN MAX",
];

fn put_machine(text: &mut String, trace: &Trace, machine: &Machine, layout: Layout) {
    let state = label(trace, machine.state);
    let state = state.map_or_else(String::new, |state| format!(", in {state} at the end"));
    let outcomes: Vec<_> = machine
        .outcomes
        .iter()
        .map(|outcome| format!("{} {}", outcome.count, trace.schema.label(outcome.id)))
        .collect();
    // Each outcome ends a step. A step without an outcome was still running, or its end is missing.
    let ended: u64 = machine.outcomes.iter().map(|outcome| outcome.count).sum();
    let outcomes =
        if outcomes.is_empty() { String::new() } else { format!(" ({})", outcomes.join(", ")) };
    let (name, begun) = (machine.name.label(trace), counted(machine.steps, "step"));
    text.push_str(&format!(
        "\nstate machine {name}{state}; {begun} begun, {ended} ended{outcomes}\n"
    ));
    let step = machine.step;
    if step.count > 0 {
        let [min, mean, max] = [step.min, step.mean(), step.max].map(|ticks| spoken(trace, ticks));
        text.push_str(&format!("a step takes {min} to {max}, {mean} on average\n"));
    }
    let states = machine.states.iter().map(|time| state_row(trace, time));
    table(text, layout, &STATES, states);
    let transitions = machine.transitions.iter().map(|t| transition_row(trace, t));
    table(text, layout, &TRANSITIONS, transitions);
    let unhandled = machine.unhandled.iter().map(|u| unhandled_row(trace, u));
    table(text, layout, &UNHANDLED, unhandled);
}

fn state_row(trace: &Trace, time: &StateTime) -> [Cell; 7] {
    let stays = time.stays;
    [
        time.state.label(trace).into(),
        time.entered.into(),
        time.left.into(),
        duration(trace, time.total),
        optional(trace, stays, stays.min),
        optional(trace, stays, stays.mean()),
        optional(trace, stays, stays.max),
    ]
}

fn transition_row(trace: &Trace, transition: &Transition) -> [Cell; 5] {
    // The path does not include the state that was reached.
    let way = transition.way.iter().filter(|vertex| Some(**vertex) != transition.to);
    let way: Vec<_> = way.map(|vertex| vertex.label(trace)).collect();
    let to: Cell = match transition.way.is_empty() {
        true => "(internal)".into(),
        false => label(trace, transition.to).into(),
    };
    [
        transition.from.label(trace).into(),
        label(trace, transition.signal).into(),
        to,
        (!way.is_empty()).then(|| way.join(" ")).into(),
        transition.count.into(),
    ]
}

fn unhandled_row(trace: &Trace, unhandled: &Unhandled) -> [Cell; 4] {
    [
        label(trace, unhandled.signal).into(),
        label(trace, unhandled.state).into(),
        trace.schema.label(unhandled.id).into(),
        unhandled.count.into(),
    ]
}

fn flow_row(trace: &Trace, flow: &MessageFlow) -> [Cell; 9] {
    let (waiting, response) = (flow.waiting, flow.response);
    [
        label(trace, flow.sender).into(),
        flow.receiver.label(trace).into(),
        flow.signal.label(trace).into(),
        flow.posted.into(),
        flow.taken.into(),
        optional(trace, waiting, waiting.mean()),
        optional(trace, waiting, waiting.max),
        optional(trace, response, response.mean()),
        optional(trace, response, response.max),
    ]
}

pub(super) fn level_row(trace: &Trace, level: &Level) -> [Cell; 9] {
    let shown = |number: Option<u64>| match number {
        Some(free) if level.counts_free => Cell::Text(format!("{free} free")),
        used => used.into(),
    };
    [
        level_name(trace, level).into(),
        level.capacity.into(),
        level.put.into(),
        level.taken.into(),
        level.refused.into(),
        shown(level.last),
        shown(level.least),
        shown(level.most),
        level.least_free.into(),
    ]
}

fn timer_row(trace: &Trace, timer: &Timer) -> [Cell; 9] {
    let period = match timer.period {
        // A one-shot timer has period 0.
        Some(0) => "once".into(),
        period => period.into(),
    };
    [
        timer_name(trace, timer).into(),
        label(trace, timer.owner).into(),
        label(trace, timer.signal).into(),
        timer.starts.into(),
        timer.stops.into(),
        timer.expiries.into(),
        period,
        optional(trace, timer.first, timer.first.max),
        optional(trace, timer.between, timer.between.max),
    ]
}
