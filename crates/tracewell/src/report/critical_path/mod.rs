//! The explanation of a response or a wait: text for people, JSON for programs.
//!
//! docs/analysis.md shows an example. `json` defines the types for programs. This file makes the
//! tables and adds up the parts.

mod json;

pub use json::{LinkRow, PartRow, PathRow, SumRow};

use std::cmp::Reverse;
use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::Layout;
use super::figures::{duration, moment, shares, spoken};
use super::scheduling::asked_object;
use super::scheduling::tables::context_name;
use super::scheduling::text::left_out;
use super::table::{Cell, table};
use crate::analysis::critical_path::{Activity, CriticalPath, Explained, Link, Part};
use crate::analysis::total::Total;
use crate::analysis::tracks::{Reason, State};
use crate::model::{ContextId, Position, Trace};
use crate::text::spoken_time;

/// Maximum number of parts in the text.
const MAX_PARTS: usize = 200;

/// Appends the explanation: a sentence, the sums, and the parts in order of time.
pub(super) fn put(text: &mut String, trace: &Trace, path: &CriticalPath, layout: Layout) {
    text.push_str(&format!("\n{}\n", layout.fold(&sentence(trace, path), 2)));
    for line in held(trace, path) {
        text.push_str(&format!("{}\n", layout.fold(&line, 2)));
    }
    let sums = sums(trace, path);
    let ticks: Vec<u64> = sums.iter().map(|(_, ticks)| *ticks).collect();
    let rows = sums
        .iter()
        .zip(shares(&ticks))
        .map(|((what, ticks), share)| [what.as_str().into(), duration(trace, *ticks), share]);
    let all = [Cell::from("all"), duration(trace, path.ticks()), Cell::Share(10_000)];
    let all = (path.ticks() > 0).then_some(all);
    table(text, layout, &["WHAT HAPPENED", "TIME", "%"], rows.chain(all));
    let parts = path.parts.iter().take(MAX_PARTS);
    table(text, layout, &PARTS, parts.map(|part| row(trace, path, part)));
    let more = path.parts.len().saturating_sub(MAX_PARTS) as u64 + path.more.0;
    left_out(text, more, "part", None);
}

/// Returns the explained time as a sentence.
fn sentence(trace: &Trace, path: &CriticalPath) -> String {
    let name = context_name(trace, path.context);
    let time = spoken(trace, path.ticks());
    let what = match path.kind {
        Explained::Response => format!("a job of {name} took {time} from release to completion"),
        Explained::Wait(reason) => match object(trace, &reason) {
            Some(object) => format!("{name} waited {time} for {object}"),
            None => format!("{name} waited {time}"),
        },
    };
    let [from, until] = [path.from, path.until].map(|at| spoken_position(trace, at));
    format!("{what}: from {from} to {until}")
}

/// Returns a position as text: the event and its time.
fn spoken_position(trace: &Trace, at: Position) -> String {
    let time = match moment(trace, at.ticks) {
        Cell::Time(nanoseconds) => spoken_time(nanoseconds),
        _ => format!("tick {}", at.ticks),
    };
    format!("event {} at {time}", at.seq)
}

/// Maximum number of lines about holders of mutexes.
const MAX_HELD: usize = 8;

/// Returns a line for each context that held a mutex while another context waited for it. The line
/// states since when the context held the mutex, and whether the mutex has priority inheritance.
fn held(trace: &Trace, path: &CriticalPath) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for link in path.parts.iter().flat_map(|part| &part.chain) {
        let (Some(since), Some(reason)) = (link.since, reason(path, link.reason)) else { continue };
        let Some(object) = object(trace, reason) else { continue };
        let (on, since_event) = (context_name(trace, link.on), spoken_position(trace, since));
        let inherits = match inherits(trace, reason, since.ticks) {
            Some(true) => "; the mutex has priority inheritance (inherit=1)",
            Some(false) => "; the mutex has no priority inheritance (inherit=0)",
            None => "",
        };
        let line = format!("{on} held {object} since {since_event}{inherits}");
        if !lines.contains(&line) {
            lines.push(line);
        }
        if lines.len() == MAX_HELD {
            break;
        }
    }
    lines
}

/// Returns true if a mutex has priority inheritance; `None` if the trace does not show it. If a
/// kernel records this property, the schema has a parameter `inherit`.
fn inherits(trace: &Trace, reason: &Reason, at: u64) -> Option<bool> {
    let (_, mutex) = trace.objects.at(reason.key?, at, reason.kind)?;
    let parameters = &trace.schema.object_kind(mutex.kind)?.parameters;
    let index = parameters.iter().position(|name| name == "inherit")?;
    mutex.parameters.get(index).map(|value| *value != 0)
}

const PARTS: [&str; 5] = ["AT", "EVENT", "TIME", "WHAT HAPPENED", "BECAUSE"];

fn row(trace: &Trace, path: &CriticalPath, part: &Part) -> [Cell; 5] {
    let because: Vec<_> = part.chain.iter().map(|link| linked(trace, path, link)).collect();
    [
        moment(trace, part.from.ticks),
        part.from.seq.into(),
        duration(trace, part.ticks()),
        happened(trace, path, part.context, part.activity).into(),
        (!because.is_empty()).then(|| Cell::Long(because.join("; "))).into(),
    ]
}

/// Returns a link as text: the waiting context, the object, and the context that holds the object
/// or wakes the waiting context.
fn linked(trace: &Trace, path: &CriticalPath, link: &Link) -> String {
    let (name, on) = (context_name(trace, link.context), context_name(trace, link.on));
    let object = reason(path, link.reason).and_then(|reason| object(trace, reason));
    let object = object.map_or_else(String::new, |object| format!(" for {object}"));
    match link.woken {
        Some(woken) => format!("{name} waits{object}, {on} wakes it with event {}", woken.seq),
        None => format!("{name} waits{object}, {on} holds it"),
    }
}

fn reason(path: &CriticalPath, index: u32) -> Option<&Reason> {
    path.reasons.get(index as usize)
}

/// Returns the kind and the name of the object for which a context waits, or `None` if the trace
/// does not contain them.
fn object(trace: &Trace, reason: &Reason) -> Option<String> {
    match asked_object(trace, reason) {
        // The label of an unnamed object consists of its kind and key.
        (Some(kind), Some(name)) if !name.starts_with(kind) => Some(format!("{kind} {name}")),
        (_, Some(name)) => Some(name),
        (kind, None) => kind.map(|kind| format!("a {kind}")),
    }
}

/// Returns the activity of a context as text.
fn happened(trace: &Trace, path: &CriticalPath, context: ContextId, activity: Activity) -> String {
    let name = context_name(trace, context);
    let interrupt = |number: Option<u32>| match number {
        Some(number) => format!("interrupt {number}"),
        None => "an interrupt".to_owned(),
    };
    match activity {
        Activity::Runs => format!("{name} runs"),
        Activity::Interrupt(number) => format!("{} is served", interrupt(number)),
        Activity::Delayed(by) => format!("{} runs, {name} is ready", context_name(trace, by)),
        Activity::Ready => format!("{name} is ready, no known task runs"),
        Activity::WokenByInterrupt(number) => {
            format!("{name} waits, {} wakes it", interrupt(number))
        }
        Activity::In(State::Blocked(index)) => {
            let object = reason(path, index).and_then(|reason| object(trace, reason));
            object.map_or(format!("{name} waits"), |object| format!("{name} waits for {object}"))
        }
        Activity::In(state) => format!("{name} is {}", state.name()),
    }
}

/// Returns the text and the ticks of each activity, the longest first. The ticks add up to the
/// length of the explained time.
fn sums(trace: &Trace, path: &CriticalPath) -> Vec<(String, u64)> {
    let mut index: HashMap<(ContextId, Activity), usize, RandomState> = HashMap::default();
    let mut sums: Vec<(ContextId, Activity, u64)> = Vec::new();
    for part in &path.parts {
        let key = (part.context, part.activity);
        let row = *index.entry(key).or_insert_with(|| {
            sums.push((part.context, part.activity, 0));
            sums.len() - 1
        });
        sums[row].2.charge(part.ticks());
    }
    let named = |(context, activity, ticks)| (happened(trace, path, context, activity), ticks);
    let mut named: Vec<_> = sums.into_iter().map(named).collect();
    let (more, ticks) = path.more;
    named.extend((more > 0).then(|| ("parts that are not listed".to_owned(), ticks)));
    named.sort_by_key(|(_, ticks)| Reverse(*ticks));
    named
}
