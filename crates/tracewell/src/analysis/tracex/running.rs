//! The RUNNING events that TraceX makes up where the context changes without an event of its own.
//!
//! They never were in the trace. A correct reader keeps them in a layer of their own; TraceX numbers
//! them among the events, and every index that it prints counts them.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use tracewell_wire::threadx::ids;

use super::next_context::is_thread;
use super::trace::{Event, Trace};

const THREAD_CREATE: u16 = 100;

/// Ticks between an event and the one made up behind it, if there is room: the width of an icon.
const ICON: u64 = 12;

/// Priority and threshold of a context.
type Urgency = (u32, Option<u32>);

/// The event list with RUNNING events in it.
pub(super) fn inserted(trace: &Trace, up: bool) -> Vec<Event> {
    let events = &trace.events;
    let first = first_urgencies(events);
    let mut latest: HashMap<u32, Urgency, RandomState> = HashMap::default();
    let mut list = Vec::with_capacity(events.len() + events.len() / 8);
    for (k, event) in events.iter().enumerate() {
        list.push(*event);
        if let Some(follower) = events.get(k + 1)
            && event.next != event.context
            && event.next != follower.context
        {
            let urgency = latest.get(&event.next).or_else(|| first.get(&event.next));
            list.push(running(trace, event, follower, up, urgency.copied()));
        }
        note(event, |context, urgency| {
            latest.insert(context, urgency);
        });
    }
    list
}

fn running(
    trace: &Trace,
    event: &Event,
    follower: &Event,
    up: bool,
    urgency: Option<Urgency>,
) -> Event {
    let room = (follower.ticks as u32).wrapping_sub(event.ticks as u32) > ICON as u32;
    let (ticks, stamp) = match (room, up) {
        (false, _) => (event.ticks, event.stamp),
        (true, true) => (event.ticks + ICON, event.stamp.wrapping_add(ICON as u32)),
        (true, false) => (event.ticks + ICON, event.stamp.wrapping_sub(ICON as u32)),
    };
    let context = event.next;
    let known = is_thread(context).then_some(urgency).flatten();
    let (priority, threshold) = known.unwrap_or((0, Some(0)));
    Event {
        context,
        priority_word: 0,
        id_word: u32::from(ids::RUNNING),
        stamp,
        ticks,
        info: [0; 4],
        priority,
        threshold,
        next: context,
        thread: trace.thread_at(context).unwrap_or(0),
        inversion_end: 0,
        bad_inversion_end: 0,
        inserted: true,
    }
}

/// What an event tells about the urgency of contexts: its own, and that of a thread it creates.
fn note(event: &Event, mut tell: impl FnMut(u32, Urgency)) {
    if event.id() == THREAD_CREATE && event.info[0] != event.context {
        // TraceX leaves the threshold of such a thread at 0.
        tell(event.info[0], (event.info[1], Some(0)));
    }
    if event.id() != ids::RUNNING {
        tell(event.context, (event.priority, event.threshold));
    }
}

fn first_urgencies(events: &[Event]) -> HashMap<u32, Urgency, RandomState> {
    let mut first = HashMap::default();
    for event in events {
        note(event, |context, urgency| {
            first.entry(context).or_insert(urgency);
        });
    }
    first
}
