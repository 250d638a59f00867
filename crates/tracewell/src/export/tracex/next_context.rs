//! Determines which context runs after each event, in one forward pass that keeps the last known
//! context and the interrupt nesting.
//!
//! TraceX scans ahead from some events. This module indexes the positions of contexts first, so the
//! pass produces the same results in n log n steps. Like TraceX, it treats all cores of an SMP
//! trace as one.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use tracewell_wire::threadx::ids;

use super::trace::{Event, INITIALIZATION, INTERRUPT};

const RELINQUISH: u16 = 109;

/// For each context: the positions of its events, in order.
pub(super) struct Positions {
    of: HashMap<u32, Vec<usize>, RandomState>,
}

impl Positions {
    pub(super) fn new(events: &[Event]) -> Self {
        let mut of: HashMap<_, Vec<_>, _> = HashMap::default();
        for (position, event) in events.iter().enumerate() {
            of.entry(event.context).or_default().push(position);
        }
        Self { of }
    }

    /// Returns the first event of a context at or after a position.
    pub(super) fn at_or_after(&self, context: u32, position: usize) -> Option<usize> {
        let positions = self.of.get(&context)?;
        positions.get(positions.partition_point(|p| *p < position)).copied()
    }
}

/// Returns for each event the next event that a thread recorded.
fn next_in_thread(events: &[Event]) -> Vec<Option<usize>> {
    let mut next = vec![None; events.len()];
    let mut found = None;
    for (position, event) in events.iter().enumerate().rev() {
        next[position] = found;
        if event.in_thread() {
            found = Some(position);
        }
    }
    next
}

/// Sets the next context of every event.
pub(super) fn set(events: &mut [Event]) {
    let mut pass = Pass {
        positions: Positions::new(events),
        next_in_thread: next_in_thread(events),
        current: 0,
        nesting: 0,
    };
    for k in 0..events.len() {
        let event = events[k];
        if event.in_thread() {
            // A thread is running, so all interrupts have ended, even those without an exit event.
            (pass.current, pass.nesting) = (event.context, 0);
            events[k].next = pass.after_thread(events, k);
            pass.current = events[k].next;
        } else {
            let interrupted = event.priority_word;
            if event.context == INTERRUPT
                && interrupted != 0
                && interrupted != INTERRUPT
                // TraceX never corrects the first event.
                && k > 1
                && events[k - 1].context != INTERRUPT
            {
                // The priority word of an interrupt refers to the interrupted thread, which
                // therefore ran before the interrupt.
                events[k - 1].next = interrupted;
                pass.current = interrupted;
            }
            events[k].next = pass.after_special(events, k);
        }
    }
}

struct Pass {
    positions: Positions,
    next_in_thread: Vec<Option<usize>>,
    current: u32,
    nesting: u32,
}

impl Pass {
    /// Returns the context that applies after an event recorded by an interrupt or during
    /// initialization.
    fn after_special(&mut self, events: &[Event], k: usize) -> u32 {
        let event = events[k];
        let [first, _, _, fourth] = event.info;
        match event.id() {
            ids::ISR_ENTER => self.nesting += 1,
            ids::THREAD_SUSPEND => self.current = fourth,
            ids::TIME_SLICE => self.current = first,
            ids::THREAD_RESUME if fourth != 0 => self.current = fourth,
            ids::THREAD_RESUME => {
                let resumed =
                    self.positions.at_or_after(first, k + 1).filter(|p| events[*p].in_thread());
                let current = self
                    .positions
                    .at_or_after(self.current, k + 1)
                    .filter(|p| events[*p].in_thread());
                // The switch does not record which context comes next. So the thread that records
                // the next event is the running one.
                if resumed.is_some_and(|resumed| current.is_none_or(|current| resumed < current)) {
                    self.current = first;
                }
            }
            ids::ISR_EXIT => self.nesting = self.nesting.saturating_sub(1),
            _ => {}
        }
        // An outer interrupt continues before any thread.
        if self.nesting > 0 {
            return event.context;
        }
        match events.get(k + 1) {
            None => self.current,
            Some(follower)
                if follower.context == INTERRUPT && follower.id() != ids::THREAD_RESUME =>
            {
                if follower.priority_word != 0 {
                    follower.priority_word
                } else {
                    self.current
                }
            }
            Some(follower) => follower.context,
        }
    }

    /// Returns the context that applies after an event recorded by a thread.
    fn after_thread(&self, events: &[Event], k: usize) -> u32 {
        let event = events[k];
        let [first, second, _, fourth] = event.info;
        let follower = events.get(k + 1);
        match event.id() {
            ids::THREAD_SUSPEND => {
                // If a thread suspends itself but also records the next event, the kernel only
                // raised its priority (priority inheritance), and the thread continues.
                let continues =
                    follower.is_some_and(|f| event.context == first && f.context == first);
                if continues { event.context } else { fourth }
            }
            ids::THREAD_RESUME if fourth != 0 => fourth,
            ids::THREAD_RESUME => {
                let next = self.next_in_thread[k].map(|next| events[next].context);
                // The resumed thread preempts if it records the next event that comes from a
                // thread.
                if next == Some(first) { first } else { event.context }
            }
            RELINQUISH if second != 0 => second,
            RELINQUISH => self.after_relinquish(events, k),
            _ => follower.filter(|f| f.in_thread()).map_or(event.context, |f| f.context),
        }
    }

    fn after_relinquish(&self, events: &[Event], k: usize) -> u32 {
        let context = events[k].context;
        let Some(next) = self.next_in_thread[k] else { return context };
        let candidate = events[next].context;
        // If an event before `next` resumes or suspends `candidate`, that event may be the reason
        // why `candidate` runs.
        let explained = events[k + 1..next].iter().any(|event| {
            matches!(event.id(), ids::THREAD_RESUME | ids::THREAD_SUSPEND)
                && event.info[0] == candidate
        });
        if candidate != context && !explained { candidate } else { context }
    }
}

/// Returns true if a next context is the address of a thread.
pub(super) fn is_thread(context: u32) -> bool {
    context != 0 && context != INTERRUPT && context != INITIALIZATION
}
