//! The figures of [`crate::analysis::machines`]: text for people, JSON for programs.
//!
//! Keys of the JSON object. Durations are in ticks; `min`, `mean` and `max` are null where there was none.
//!
//! | key | value |
//! |---|---|
//! | `machines[]` | `name`, `state` (at the end), `steps`, `step` (`count`, `min`, `mean`, `max`), `states[]` (`state`, `entered`, `left`, `stay`, `total_ticks`), `transitions[]` (`from`, `signal`, `way[]`, `to`, `internal`, `count`), `outcomes[]` (`event`, `count`), `unhandled[]` (`signal`, `state`, `event`, `count`) |
//! | `more_transitions` | transitions that are in no row: there are too many different ones |
//! | `flows[]` | `sender` (null: nobody is named), `receiver`, `signal`, `posted`, `taken`, `waiting`, `step`, `response` |
//! | `messages[]` | the first ones, one by one: `sender`, `receiver`, `signal`, `posted_ticks`, `taken_ticks`, `dispatched_ticks`, `done_ticks`, `outcome` |
//! | `more_messages` | how many are not in that list |
//! | `levels[]` | `object`, `kind`, `owner`, `capacity`, `put`, `taken`, `refused`, `counts` (`used` or `free`), `last`, `least`, `most`, `least_free`, `samples[]` (ticks and level) |
//! | `timers[]` | `timer`, `owner`, `signal`, `starts`, `stops`, `expiries`, `delay`, `period` (both in the timer's own ticks), `first`, `between`, `running` |

use serde_json::{Map, Value, json};

use super::figures::{duration, optional, section, some};
use crate::analysis::Range;
use crate::analysis::machines::{
    Figures, Level, Machine, Message, MessageFlow, Named, StateTime, Timer, Transition, Unhandled,
};
use crate::model::Trace;
use crate::text::counted;

/// The figures as entries of a JSON object.
pub fn json(trace: &Trace, figures: &Figures) -> Map<String, Value> {
    let json = json!({
        "machines": each(trace, &figures.machines, machine_json),
        "more_transitions": figures.more_transitions,
        "flows": each(trace, &figures.flows, flow_json),
        "messages": each(trace, &figures.messages, message_json),
        "more_messages": figures.more_messages,
        "levels": each(trace, &figures.levels, level_json),
        "timers": each(trace, &figures.timers, timer_json),
    });
    match json {
        Value::Object(entries) => entries,
        _ => Map::new(),
    }
}

fn each<T>(trace: &Trace, list: &[T], json: fn(&Trace, &T) -> Value) -> Vec<Value> {
    list.iter().map(|one| json(trace, one)).collect()
}

fn label(trace: &Trace, named: Option<Named>) -> Option<String> {
    named.map(|named| named.label(trace))
}

fn range_json(range: Range) -> Value {
    json!({
        "count": range.count,
        "min": some(range, range.min),
        "mean": some(range, range.mean()),
        "max": some(range, range.max),
    })
}

fn machine_json(trace: &Trace, machine: &Machine) -> Value {
    let outcome = |id: u32, count: u64| json!({ "event": trace.schema.label(id), "count": count });
    json!({
        "name": machine.name.label(trace),
        "state": label(trace, machine.state),
        "steps": machine.steps,
        "step": range_json(machine.step),
        "states": each(trace, &machine.states, state_json),
        "transitions": each(trace, &machine.transitions, transition_json),
        "outcomes": machine.outcomes.iter().map(|o| outcome(o.id, o.count)).collect::<Vec<_>>(),
        "unhandled": each(trace, &machine.unhandled, unhandled_json),
    })
}

fn state_json(trace: &Trace, time: &StateTime) -> Value {
    json!({
        "state": time.state.label(trace),
        "entered": time.entered,
        "left": time.left,
        "stay": range_json(time.stays),
        "total_ticks": time.total,
    })
}

fn transition_json(trace: &Trace, transition: &Transition) -> Value {
    json!({
        "from": transition.from.label(trace),
        "signal": label(trace, transition.signal),
        "way": transition.way.iter().map(|vertex| vertex.label(trace)).collect::<Vec<_>>(),
        "to": label(trace, transition.to),
        "internal": transition.way.is_empty(),
        "count": transition.count,
    })
}

fn unhandled_json(trace: &Trace, unhandled: &Unhandled) -> Value {
    json!({
        "signal": label(trace, unhandled.signal),
        "state": label(trace, unhandled.state),
        "event": trace.schema.label(unhandled.id),
        "count": unhandled.count,
    })
}

fn flow_json(trace: &Trace, flow: &MessageFlow) -> Value {
    json!({
        "sender": label(trace, flow.sender),
        "receiver": flow.receiver.label(trace),
        "signal": flow.signal.label(trace),
        "posted": flow.posted,
        "taken": flow.taken,
        "waiting": range_json(flow.waiting),
        "step": range_json(flow.step),
        "response": range_json(flow.response),
    })
}

fn message_json(trace: &Trace, message: &Message) -> Value {
    json!({
        "sender": label(trace, message.sender),
        "receiver": message.receiver.label(trace),
        "signal": message.signal.label(trace),
        "posted_ticks": message.posted,
        "taken_ticks": message.taken,
        "dispatched_ticks": message.dispatched,
        "done_ticks": message.done,
        "outcome": message.outcome.map(|id| trace.schema.label(id)),
    })
}

fn level_json(trace: &Trace, level: &Level) -> Value {
    let kind = level.object.kind.and_then(|code| trace.schema.object_kind(code));
    json!({
        "object": level_name(trace, level),
        "kind": kind.map(|kind| kind.label.as_str()),
        "owner": label(trace, level.owner),
        "capacity": level.capacity,
        "put": level.put,
        "taken": level.taken,
        "refused": level.refused,
        "counts": if level.counts_free { "free" } else { "used" },
        "last": level.last,
        "least": level.least,
        "most": level.most,
        "least_free": level.least_free,
        "samples": level.samples,
    })
}

fn timer_json(trace: &Trace, timer: &Timer) -> Value {
    json!({
        "timer": timer_name(trace, timer),
        "owner": label(trace, timer.owner),
        "signal": label(trace, timer.signal),
        "starts": timer.starts,
        "stops": timer.stops,
        "expiries": timer.expiries,
        "delay": timer.delay,
        "period": timer.period,
        "first": range_json(timer.first),
        "between": range_json(timer.between),
        "running": timer.running,
    })
}

/// The name of a queue or pool; a queue without one is known by whom it belongs to.
fn level_name(trace: &Trace, level: &Level) -> String {
    named_by_owner(trace, level.object, level.owner, "queue")
}

fn timer_name(trace: &Trace, timer: &Timer) -> String {
    let signal = label(trace, timer.signal);
    let what = signal.map_or_else(|| "timer".to_owned(), |signal| format!("timer {signal}"));
    named_by_owner(trace, timer.timer, timer.owner, &what)
}

/// A name; where there is none, whose it is and what.
fn named_by_owner(trace: &Trace, named: Named, owner: Option<Named>, what: &str) -> String {
    let has_name = trace.objects.at(named.key, named.ticks, named.kind).is_some();
    match owner {
        Some(owner) if !has_name => format!("{}'s {what}", owner.label(trace)),
        _ => named.label(trace),
    }
}

/// The figures as text, to stand behind others; empty where there are none.
pub fn text(trace: &Trace, figures: &Figures) -> String {
    let mut lines = Vec::new();
    for machine in &figures.machines {
        machine_text(&mut lines, trace, machine);
    }
    if figures.more_transitions > 0 {
        let more = counted(figures.more_transitions, "more transition");
        lines.push(format!("and {more}: too many different ones"));
    }
    let flows = figures.flows.iter().map(|flow| flow_row(trace, flow));
    section(&mut lines, &FLOWS, flows.collect());
    let levels = figures.levels.iter().map(|level| level_row(trace, level));
    section(&mut lines, &LEVELS, levels.collect());
    let timers = figures.timers.iter().map(|timer| timer_row(trace, timer));
    section(&mut lines, &TIMERS, timers.collect());
    lines.iter().map(|line| format!("{line}\n")).collect()
}

const STATES: [&str; 7] = ["STATE", "ENTERED", "LEFT", "TIME", "STAY MIN", "MEAN", "MAX"];
const TRANSITIONS: [&str; 5] = ["FROM", "ON", "TO", "BY WAY OF", "TIMES"];
const UNHANDLED: [&str; 4] = ["NOT TAKEN", "IN", "WHY", "TIMES"];
const FLOWS: [&str; 9] =
    ["FROM", "TO", "SIGNAL", "POSTED", "TAKEN", "WAIT MEAN", "WAIT MAX", "RESPONSE MEAN", "MAX"];
const LEVELS: [&str; 9] =
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

fn machine_text(lines: &mut Vec<String>, trace: &Trace, machine: &Machine) {
    let state = label(trace, machine.state);
    let state = state.map_or_else(String::new, |state| format!(", in {state} at the end"));
    let outcomes: Vec<_> = machine
        .outcomes
        .iter()
        .map(|outcome| format!("{} {}", outcome.count, trace.schema.label(outcome.id)))
        .collect();
    let ended: u64 = machine.outcomes.iter().map(|outcome| outcome.count).sum();
    let outcomes =
        if outcomes.is_empty() { String::new() } else { format!(" ({})", outcomes.join(", ")) };
    lines.push(String::new());
    let (name, begun) = (machine.name.label(trace), counted(machine.steps, "step"));
    lines.push(format!("state machine {name}{state}; {begun} begun, {ended} ended{outcomes}"));
    let step = machine.step;
    if step.count > 0 {
        let [min, mean, max] =
            [step.min, step.mean(), step.max].map(|ticks| duration(trace, ticks));
        lines.push(format!("a step takes {min} to {max}, {mean} in the mean"));
    }
    let states = machine.states.iter().map(|time| state_row(trace, time));
    section(lines, &STATES, states.collect());
    let transitions = machine.transitions.iter().map(|t| transition_row(trace, t));
    section(lines, &TRANSITIONS, transitions.collect());
    let unhandled = machine.unhandled.iter().map(|u| unhandled_row(trace, u));
    section(lines, &UNHANDLED, unhandled.collect());
}

fn or_dash(text: Option<String>) -> String {
    text.unwrap_or_else(|| "-".to_owned())
}

fn number_or_dash(number: Option<u64>) -> String {
    or_dash(number.map(|number| number.to_string()))
}

fn state_row(trace: &Trace, time: &StateTime) -> [String; 7] {
    let stays = time.stays;
    [
        time.state.label(trace),
        time.entered.to_string(),
        time.left.to_string(),
        duration(trace, time.total),
        optional(trace, stays, stays.min),
        optional(trace, stays, stays.mean()),
        optional(trace, stays, stays.max),
    ]
}

fn transition_row(trace: &Trace, transition: &Transition) -> [String; 5] {
    // What was reached in the end is no longer on the way.
    let way = transition.way.iter().filter(|vertex| Some(**vertex) != transition.to);
    let way: Vec<_> = way.map(|vertex| vertex.label(trace)).collect();
    let to = match transition.way.is_empty() {
        true => "(internal)".to_owned(),
        false => or_dash(label(trace, transition.to)),
    };
    [
        transition.from.label(trace),
        or_dash(label(trace, transition.signal)),
        to,
        or_dash((!way.is_empty()).then(|| way.join(" "))),
        transition.count.to_string(),
    ]
}

fn unhandled_row(trace: &Trace, unhandled: &Unhandled) -> [String; 4] {
    [
        or_dash(label(trace, unhandled.signal)),
        or_dash(label(trace, unhandled.state)),
        trace.schema.label(unhandled.id),
        unhandled.count.to_string(),
    ]
}

fn flow_row(trace: &Trace, flow: &MessageFlow) -> [String; 9] {
    let (waiting, response) = (flow.waiting, flow.response);
    [
        or_dash(label(trace, flow.sender)),
        flow.receiver.label(trace),
        flow.signal.label(trace),
        flow.posted.to_string(),
        flow.taken.to_string(),
        optional(trace, waiting, waiting.mean()),
        optional(trace, waiting, waiting.max),
        optional(trace, response, response.mean()),
        optional(trace, response, response.max),
    ]
}

fn level_row(trace: &Trace, level: &Level) -> [String; 9] {
    let free = if level.counts_free { " free" } else { "" };
    let shown = |number: Option<u64>| or_dash(number.map(|number| format!("{number}{free}")));
    [
        level_name(trace, level),
        number_or_dash(level.capacity),
        level.put.to_string(),
        level.taken.to_string(),
        level.refused.to_string(),
        shown(level.last),
        shown(level.least),
        shown(level.most),
        number_or_dash(level.least_free),
    ]
}

fn timer_row(trace: &Trace, timer: &Timer) -> [String; 9] {
    let period = match timer.period {
        Some(0) => Some("once".to_owned()),
        period => period.map(|period| period.to_string()),
    };
    [
        timer_name(trace, timer),
        or_dash(label(trace, timer.owner)),
        or_dash(label(trace, timer.signal)),
        timer.starts.to_string(),
        timer.stops.to_string(),
        timer.expiries.to_string(),
        or_dash(period),
        optional(trace, timer.first, timer.first.max),
        optional(trace, timer.between, timer.between.max),
    ]
}
