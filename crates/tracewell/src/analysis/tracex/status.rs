//! What each thread waited for, and when: the changes of its status.

use tracewell_wire::threadx::ids;

use super::trace::{INITIALIZATION, Trace};

/// Ready to run; other values are the kernel's thread states, and 0 is unknown.
const READY: u32 = 99;

/// A change of a thread's status.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StatusChange {
    /// Event from which on it holds.
    pub event: usize,
    /// 0 unknown, 99 ready, else the kernel's thread state.
    pub status: u32,
}

impl Trace {
    /// The changes of status of each thread, beginning with that at event 0.
    pub fn status_changes(&self) -> Vec<Vec<StatusChange>> {
        let unknown = StatusChange { event: 0, status: 0 };
        let mut lists = vec![vec![unknown]; self.threads.len()];
        for (k, event) in self.events.iter().enumerate() {
            let [subject, state, ..] = event.info;
            let (assumed, status) = match event.id() {
                ids::THREAD_RESUME => (state, READY),
                ids::THREAD_SUSPEND => (READY, state),
                _ => {
                    let thread = (0 < event.context && event.context < INITIALIZATION)
                        .then(|| self.thread_at(event.context))
                        .flatten();
                    if let Some([first]) = thread.map(|thread| lists[thread].as_mut_slice())
                        && first.status == 0
                    {
                        first.status = READY;
                    }
                    continue;
                }
            };
            if let Some(thread) = self.thread_at(subject) {
                let list = &mut lists[thread];
                if let Some(latest) = list.last_mut().filter(|latest| latest.status == 0) {
                    latest.status = assumed;
                }
                list.push(StatusChange { event: k, status });
            }
        }
        lists
    }
}
