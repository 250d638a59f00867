//! How long each thread ran: the ticks to each event go to the context that was to run before it.
//!
//! Interrupt time counts from the interrupt's first event, not from the interrupt, and time before
//! the scheduler starts goes nowhere.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::trace::{IDLE, INTERRUPT, Trace};

/// Ticks by who ran.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Profile {
    /// By position of the thread.
    pub threads: Vec<u64>,
    /// Nobody.
    pub idle: u64,
    /// Interrupts.
    pub interrupt: u64,
}

impl Trace {
    /// Ticks by who ran.
    pub fn profile(&self) -> Profile {
        let mut ticks: HashMap<u32, u64, RandomState> = HashMap::default();
        for pair in self.events.windows(2) {
            let [before, event] = pair else { continue };
            let spent = ticks.entry(before.next).or_default();
            *spent = spent.wrapping_add(event.ticks.wrapping_sub(before.ticks));
        }
        let of = |context: u32| ticks.get(&context).copied().unwrap_or(0);
        Profile {
            threads: self.thread_objects().map(|object| of(object.address)).collect(),
            idle: of(IDLE),
            interrupt: of(INTERRUPT),
        }
    }
}
