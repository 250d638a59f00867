//! Counts context switches, preemptions, time slices and interrupts.
//!
//! Known mistakes of TraceX are reproduced. Each change from a thread to idle counts as a switch.
//! A resume before any known thread counts as a preemption. If an interrupt has no enter and exit
//! events, each of its events counts as an interrupt. Time slices are compared with a variable that
//! is never updated, so their number is nearly always 0.

use tracewell_wire::threadx::ids;

use super::next_context::is_thread;
use super::trace::{INITIALIZATION, INTERRUPT, Trace};

/// Performance statistics of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// Number of changes of the context that runs next.
    pub context_switches: u64,
    /// Number of events for a resumption or a time slice that change the running context.
    pub preemptions: u64,
    /// Time slices, as TraceX counts them.
    pub time_slices: u64,
    /// Suspensions in the whole system.
    pub suspensions: u64,
    /// Resumptions in the whole system.
    pub resumptions: u64,
    /// Number of interrupts: enter events, plus events in interrupts whose enter event is missing.
    pub interrupts: u64,
    /// Interrupts that began while another interrupt was still running.
    pub nested_interrupts: u64,
}

impl Trace {
    /// Returns the performance statistics.
    pub fn statistics(&self) -> Statistics {
        let count = |id: u16| self.events.iter().filter(|event| event.id() == id).count() as u64;
        let (interrupts, nested_interrupts) = self.interrupts();
        let (preemptions, last) = self.preemptions();
        Statistics {
            context_switches: self.context_switches(),
            preemptions,
            time_slices: self.time_slices(last),
            suspensions: count(ids::THREAD_SUSPEND),
            resumptions: count(ids::THREAD_RESUME),
            interrupts,
            nested_interrupts,
        }
    }

    fn interrupts(&self) -> (u64, u64) {
        let (mut count, mut nested, mut depth) = (0, 0, 0_u64);
        for event in &self.events {
            match event.id() {
                ids::ISR_ENTER => {
                    count += 1;
                    nested += u64::from(depth > 0);
                    depth += 1;
                }
                ids::ISR_EXIT => depth = depth.saturating_sub(1),
                // An event in an interrupt without an enter event counts as a separate interrupt.
                _ if event.context == INTERRUPT => count += u64::from(depth == 0),
                _ => depth = 0,
            }
        }
        (count, nested)
    }

    fn context_switches(&self) -> u64 {
        let (mut count, mut current) = (0, 0);
        for event in &self.events {
            // The first thread that records an event is the first that runs; its start is not a
            // switch.
            if current == 0 && event.in_thread() {
                current = event.context;
            }
            let special = event.next == INTERRUPT || event.next == INITIALIZATION;
            count += u64::from(current != 0 && !special && event.next != current);
            if is_thread(event.next) {
                current = event.next;
            }
        }
        count
    }

    /// Returns the number of preemptions, and the value of `next` after the last event.
    fn preemptions(&self) -> (u64, u32) {
        let following = self.threads_following();
        let (mut count, mut current, mut next) = (0, 0, 0);
        for (k, event) in self.events.iter().enumerate() {
            next = event.next;
            if event.id() == ids::THREAD_RESUME {
                // The first thread that runs after the resume, or the last context of the trace.
                next = following[k + 1];
            }
            let may_preempt = matches!(event.id(), ids::THREAD_RESUME | ids::TIME_SLICE);
            count += u64::from(may_preempt && next != current);
            if is_thread(next) {
                current = next;
            }
        }
        (count, next)
    }

    /// For each event, returns the first thread among the next contexts of this event and of later
    /// events. If there is no such thread, returns the next context of the last event. After the
    /// last event, the value is 0.
    fn threads_following(&self) -> Vec<u32> {
        let mut following = vec![0; self.events.len() + 1];
        let mut found = None;
        let last = self.events.last().map_or(0, |event| event.next);
        for (k, event) in self.events.iter().enumerate().rev() {
            // Iterate backwards, so that each position needs only the result of the following
            // position.
            found = Some(event.next).filter(|next| is_thread(*next)).or(found);
            following[k] = found.unwrap_or(last);
        }
        following
    }

    fn time_slices(&self, stale: u32) -> u64 {
        let (mut count, mut current) = (0, 0);
        for event in &self.events {
            count += u64::from(event.id() == ids::TIME_SLICE && stale != current);
            if is_thread(stale) {
                current = stale;
            }
        }
        count
    }
}
