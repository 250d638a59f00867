//! Timers: times that templates remember from one event to a later one.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::MOST_TIMERS;

/// Times in nanoseconds under pairs of numbers.
#[derive(Debug, Default)]
pub(super) struct Timers {
    started: HashMap<(i64, i64), u64, RandomState>,
}

impl Timers {
    /// Remembers a time; false where too many are remembered already.
    pub(super) fn start(&mut self, key: (i64, i64), time_ns: u64) -> bool {
        let room = self.started.len() < MOST_TIMERS || self.started.contains_key(&key);
        if room {
            self.started.insert(key, time_ns);
        }
        room
    }

    /// Nanoseconds since the latest start under this pair, which is forgotten.
    pub(super) fn end(&mut self, key: (i64, i64), time_ns: u64) -> Option<u64> {
        self.started.remove(&key).map(|start| time_ns.saturating_sub(start))
    }
}
