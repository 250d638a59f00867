//! Inserts RUNNING events as TraceX does: wherever the context changes and no event shows the
//! change.
//!
//! These events are not in the trace. A correct reader would not number them. TraceX numbers them
//! like other events, so every index that it prints includes them.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use tracewell_wire::threadx::ids;

use super::next_context::is_thread;
use super::trace::{Event, Trace};

const THREAD_CREATE: u16 = 100;

/// Ticks from an event to the RUNNING event that is inserted after it: the width of TraceX's icon.
/// If the next event is at most this number of ticks later, the RUNNING event gets the time of the
/// event before it.
const ICON: u64 = 12;

/// Priority and threshold of a context.
type Urgency = (u32, Option<u32>);

/// Returns the event list with RUNNING events inserted.
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
            // The thread's last event contains the priority. If the thread has not run yet, its
            // first event contains the priority.
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
    // Use 32 bits, as TraceX does.
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

/// Passes the urgency of the event's context to `pass_on`. If the event creates a thread, also
/// passes the urgency of this thread.
fn note(event: &Event, mut pass_on: impl FnMut(u32, Urgency)) {
    if event.id() == THREAD_CREATE && event.info[0] != event.context {
        // TraceX leaves the threshold of such a thread at 0.
        pass_on(event.info[0], (event.info[1], Some(0)));
    }
    if event.id() != ids::RUNNING {
        pass_on(event.context, (event.priority, event.threshold));
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
