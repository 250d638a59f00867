//! Priority inversions: a thread waits for a mutex that a less urgent one owns.
//!
//! While the owner runs the inversion is deterministic; once a third thread that is less urgent than
//! the waiting one runs, it is nondeterministic, and it is counted as both. Known mistakes that are
//! kept: an object that is in no slot is taken for the first one, the start of an inversion is one
//! variable for all of them, and a get that does not wait opens one, too.

use super::next_context::Positions;
use super::trace::{Event, INITIALIZATION, Trace};

const MUTEX_GET: u16 = 52;
const MUTEX_PUT: u16 = 57;

/// A mutex that a more urgent thread waits for.
#[derive(Clone, Copy)]
struct Window {
    mutex: usize,
    blocked: u32,
    blocked_priority: u32,
    owner: u32,
}

/// Marks the events at which inversions start; returns how many there are, deterministic first.
pub(super) fn find(trace: &mut Trace) -> (u32, u32) {
    let mut events = std::mem::take(&mut trace.events);
    let mut search = Search {
        trace,
        positions: Positions::new(&events),
        priorities: vec![None; trace.objects.len().max(1)],
        windows: Vec::new(),
        start: 0,
        counts: (0, 0),
    };
    let relevant = |event: &Event| event.context < INITIALIZATION;
    for event in events.iter().filter(|event| relevant(event)) {
        let known = &mut search.priorities[search.trace.object_at(event.context).unwrap_or(0)];
        known.get_or_insert(event.priority & 0x7FF);
    }
    for k in 0..events.len() {
        if relevant(&events[k]) {
            search.step(&mut events, k);
        }
    }
    let counts = search.counts;
    trace.events = events;
    counts
}

struct Search<'a> {
    trace: &'a Trace,
    positions: Positions,
    priorities: Vec<Option<u32>>,
    windows: Vec<Window>,
    start: usize,
    counts: (u32, u32),
}

impl Search<'_> {
    fn object(&self, address: u32) -> usize {
        self.trace.object_at(address).unwrap_or(0)
    }

    fn step(&mut self, events: &mut [Event], k: usize) {
        let event = events[k];
        let priority = event.priority & 0x7FF;
        let context = self.object(event.context);
        self.priorities[context] = Some(priority);
        let mutex = self.object(event.info[0]);
        match event.id() {
            MUTEX_GET if self.opens(&event, priority, mutex) => {
                self.counts.0 += 1;
                self.windows.push(Window {
                    mutex,
                    blocked: event.context,
                    blocked_priority: priority,
                    owner: event.info[2],
                });
                self.start = k;
            }
            MUTEX_PUT if event.info[2] == 1 && self.window(mutex).is_some() => {
                if let Some(position) = self.window(mutex) {
                    let window = self.windows.remove(position);
                    events[self.start].inversion_end = self.end(window.blocked, k);
                }
            }
            _ => self.turn_bad(events, k, priority),
        }
    }

    fn window(&self, mutex: usize) -> Option<usize> {
        self.windows.iter().position(|window| window.mutex == mutex)
    }

    fn opens(&self, event: &Event, priority: u32, mutex: usize) -> bool {
        let owner = event.info[2];
        owner != 0
            && owner != event.context
            && self.priorities[self.object(owner)].is_some_and(|of_owner| priority < of_owner)
            && self.window(mutex).is_none()
    }

    fn turn_bad(&mut self, events: &mut [Event], k: usize, priority: u32) {
        let context = events[k].context;
        let is_bad =
            |window: &Window| context != window.owner && priority > window.blocked_priority;
        let mut bad: Vec<_> =
            self.windows.iter().filter(|window| is_bad(window)).copied().collect();
        if bad.is_empty() {
            return;
        }
        self.windows.retain(|window| !is_bad(window));
        // TraceX goes through its objects, and the last one leaves its mark.
        bad.sort_by_key(|window| window.mutex);
        for window in bad {
            self.counts.1 += 1;
            events[self.start].bad_inversion_end = self.end(window.blocked, k);
        }
    }

    /// The first event of the blocked thread from `k` on, or `k`.
    fn end(&self, blocked: u32, k: usize) -> usize {
        self.positions.at_or_after(blocked, k).unwrap_or(k)
    }
}
