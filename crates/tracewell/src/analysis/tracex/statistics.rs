//! Context switches, preemptions, time slices, interrupts.
//!
//! Known mistakes that are kept: idle counts as a switch each time it follows a thread, a resume
//! before any known thread is a preemption, every stray event of an interrupt without enter and exit
//! is an interrupt, and time slices are compared with a variable that is never refreshed, so that
//! they are nearly always 0.

use tracewell_wire::threadx::ids;

use super::next_context::is_thread;
use super::trace::{INITIALIZATION, INTERRUPT, Trace};

/// Performance statistics of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// Changes of the context that runs next.
    pub context_switches: u64,
    /// Resumes and time slices that change who runs.
    pub preemptions: u64,
    /// Time slices, as TraceX counts them.
    pub time_slices: u64,
    /// Suspensions in the whole system.
    pub suspensions: u64,
    /// Resumptions in the whole system.
    pub resumptions: u64,
    /// Interrupts.
    pub interrupts: u64,
    /// Interrupts within interrupts.
    pub nested_interrupts: u64,
}

impl Trace {
    /// Performance statistics.
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
                _ if event.context == INTERRUPT => count += u64::from(depth == 0),
                _ => depth = 0,
            }
        }
        (count, nested)
    }

    fn context_switches(&self) -> u64 {
        let (mut count, mut current) = (0, 0);
        for event in &self.events {
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

    /// Preemptions, and the next context that the loop ends with.
    fn preemptions(&self) -> (u64, u32) {
        let following = self.threads_following();
        let (mut count, mut current, mut next) = (0, 0, 0);
        for (k, event) in self.events.iter().enumerate() {
            next = event.next;
            if event.id() == ids::THREAD_RESUME {
                // The first thread that is to run after the resume, or what the trace ends with.
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

    /// For each position the first thread among the next contexts from there on; where there is
    /// none the last next context, and 0 behind the end.
    fn threads_following(&self) -> Vec<u32> {
        let mut following = vec![0; self.events.len() + 1];
        let mut found = None;
        let last = self.events.last().map_or(0, |event| event.next);
        for (k, event) in self.events.iter().enumerate().rev() {
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
