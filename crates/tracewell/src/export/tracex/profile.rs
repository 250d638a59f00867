//! Computes the execution time of each thread. The ticks between two events are charged to the
//! context that runs after the first.
//!
//! A correct figure would count interrupt time from the start of the interrupt instead of its first
//! event. Time before the scheduler starts is not counted.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::trace::{IDLE, INTERRUPT, Trace};

/// Execution times in ticks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Profile {
    /// Per thread, by position.
    pub threads: Vec<u64>,
    /// Ticks in which no thread ran.
    pub idle: u64,
    /// Ticks in which an interrupt runs, counted from its first event.
    pub interrupt: u64,
}

impl Trace {
    /// Returns the execution times.
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
