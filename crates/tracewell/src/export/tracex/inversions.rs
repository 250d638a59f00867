//! Priority inversions: a thread waits for a mutex that a less urgent thread owns.
//!
//! While the owner runs, the inversion is deterministic. When a third thread runs and is less
//! urgent than the waiting one, the inversion becomes nondeterministic and counts as both kinds.
//! Three known mistakes of TraceX are reproduced. An object without a registry slot is treated as
//! the first object. All inversions share one variable for their start. A get operation that does
//! not wait also starts an inversion.

use std::collections::{BTreeSet, HashMap};

use foldhash::fast::RandomState;

use super::next_context::Positions;
use super::trace::{Event, INITIALIZATION, Trace};

const MUTEX_GET: u16 = 52;
const MUTEX_PUT: u16 = 57;

/// An open inversion: a mutex that a more urgent thread waits for.
#[derive(Clone, Copy)]
struct Window {
    blocked: u32,
    blocked_priority: u32,
    owner: u32,
}

/// The open inversions, by mutex and by the urgency of the blocked thread.
#[derive(Default)]
struct Windows {
    by_mutex: HashMap<usize, Window, RandomState>,
    /// Each key consists of three values: the blocked thread's priority, the owner, and the mutex.
    /// The priority comes first, so that an event visits only the inversions of more urgent
    /// threads.
    by_urgency: BTreeSet<(u32, u32, usize)>,
}

impl Windows {
    fn open(&mut self, mutex: usize, window: Window) {
        self.by_urgency.insert((window.blocked_priority, window.owner, mutex));
        self.by_mutex.insert(mutex, window);
    }

    fn close(&mut self, mutex: usize) -> Option<Window> {
        let window = self.by_mutex.remove(&mutex)?;
        self.by_urgency.remove(&(window.blocked_priority, window.owner, mutex));
        Some(window)
    }

    /// Returns, in TraceX's order, the mutexes whose inversions a thread of this priority makes
    /// nondeterministic.
    fn turned_bad(&self, context: u32, priority: u32) -> Vec<usize> {
        let mut bad = Vec::new();
        let mut level = self.by_urgency.first().map(|(priority, ..)| *priority);
        // Visit each priority level, and skip the inversions whose mutex the thread itself owns.
        while let Some(blocked) = level.filter(|blocked| *blocked < priority) {
            let before = (blocked, 0, 0)..(blocked, context, 0);
            let after = (blocked, context, usize::MAX)..(blocked + 1, 0, 0);
            let others = self.by_urgency.range(before).chain(self.by_urgency.range(after));
            bad.extend(others.filter(|(_, owner, _)| *owner != context).map(|(.., mutex)| *mutex));
            level = self.by_urgency.range((blocked + 1, 0, 0)..).next().map(|(p, ..)| *p);
        }
        bad.sort_unstable();
        bad
    }
}

/// Marks the events at which inversions start. Returns the numbers of deterministic and
/// nondeterministic inversions.
pub(super) fn find(trace: &mut Trace) -> (u32, u32) {
    let mut events = std::mem::take(&mut trace.events);
    let mut search = Search {
        trace,
        positions: Positions::new(&events),
        priorities: vec![None; trace.objects.len().max(1)],
        windows: Windows::default(),
        start: 0,
        counts: (0, 0),
    };
    let relevant = |event: &Event| event.context < INITIALIZATION;
    for event in events.iter().filter(|event| relevant(event)) {
        let priority = &mut search.priorities[search.trace.object_at(event.context).unwrap_or(0)];
        // Each thread starts with the priority in its first event, because it can own a mutex
        // before it has recorded an event.
        priority.get_or_insert(event.priority & 0x7FF);
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
    windows: Windows,
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
        // Priority inheritance changes priorities, so use the latest one.
        self.priorities[context] = Some(priority);
        let mutex = self.object(event.info[0]);
        match event.id() {
            MUTEX_GET if self.opens(&event, priority, mutex) => {
                self.counts.0 += 1;
                let (blocked, owner) = (event.context, event.info[2]);
                self.windows.open(mutex, Window { blocked, blocked_priority: priority, owner });
                self.start = k;
            }
            // The third word is the ownership count. If it is 1, this put operation releases the
            // mutex.
            MUTEX_PUT if event.info[2] == 1 && self.windows.by_mutex.contains_key(&mutex) => {
                if let Some(window) = self.windows.close(mutex) {
                    events[self.start].inversion_end = self.end(window.blocked, k);
                }
            }
            _ => self.turn_bad(events, k, priority),
        }
    }

    fn opens(&self, event: &Event, priority: u32, mutex: usize) -> bool {
        let owner = event.info[2];
        owner != 0
            && owner != event.context
            && self.priorities[self.object(owner)].is_some_and(|of_owner| priority < of_owner)
            // Only the first waiting thread starts an inversion.
            && !self.windows.by_mutex.contains_key(&mutex)
    }

    fn turn_bad(&mut self, events: &mut [Event], k: usize, priority: u32) {
        // TraceX visits its objects in order, and each object overwrites the mark of the previous
        // object.
        for mutex in self.windows.turned_bad(events[k].context, priority) {
            if let Some(window) = self.windows.close(mutex) {
                self.counts.1 += 1;
                events[self.start].bad_inversion_end = self.end(window.blocked, k);
            }
        }
    }

    /// Returns the first event of the blocked thread at or after `k`, or `k` if there is none.
    fn end(&self, blocked: u32, k: usize) -> usize {
        self.positions.at_or_after(blocked, k).unwrap_or(k)
    }
}
