//! Stores the start times of timers until a later event ends them.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::MAX_TIMERS;

/// The start times of running timers in nanoseconds. A pair of numbers identifies a timer.
#[derive(Debug, Default)]
pub(super) struct Timers {
    started: HashMap<(i64, i64), u64, RandomState>,
}

impl Timers {
    /// Stores a time. Returns false if too many timers are running.
    pub(super) fn start(&mut self, key: (i64, i64), time_ns: u64) -> bool {
        // A running timer can be restarted even if there is no room for another timer.
        let room = self.started.len() < MAX_TIMERS || self.started.contains_key(&key);
        if room {
            self.started.insert(key, time_ns);
        }
        room
    }

    /// Returns the nanoseconds since this timer was started, and removes it.
    pub(super) fn end(&mut self, key: (i64, i64), time_ns: u64) -> Option<u64> {
        self.started.remove(&key).map(|start| time_ns.saturating_sub(start))
    }
}
