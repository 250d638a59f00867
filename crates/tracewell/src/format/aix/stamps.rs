//! Unwraps timestamps of 32 bits: adds 2^32 for each round of their counter.
//!
//! The timestamps of one processor only increase, so a decrease shows that the counter has wrapped.
//! A small decrease shows only that two entries are out of order. Entries of different processors
//! are near each other in time. So the latest timestamp of any processor shows the round of a
//! processor that records its first entry, or its first entry after a long time.

/// The latest timestamps of one file.
#[derive(Clone, Debug, Default)]
pub(super) struct Stamps {
    /// The latest unwrapped timestamp of each processor; 0 before its first entry.
    processors: Vec<u64>,
    /// The latest unwrapped timestamp of any processor.
    latest: u64,
}

/// The number of timestamps in a round.
const ROUND: u64 = 1 << 32;

/// Entries of one processor can be out of order by at most this number of ticks.
const DISORDER: u64 = ROUND / 16;

/// Entries of different processors can be out of order by at most this number of ticks.
const SKEW: u64 = ROUND / 2;

/// Maximum number of processors whose latest timestamp is stored. Without a limit, a damaged number
/// could fill memory.
const MAX_PROCESSORS: usize = 4096;

impl Stamps {
    /// Expects timestamps near `start`, the tick at the start of the trace. A clock that has
    /// exceeded 32 bits by then does not wrap.
    pub(super) fn new(start: u64) -> Self {
        Self { processors: Vec::new(), latest: if start < ROUND { start } else { 0 } }
    }

    /// Unwraps the next timestamp of a processor.
    pub(super) fn unwrapped(&mut self, cpu: u16, tick: u64) -> u64 {
        let cpu = usize::from(cpu);
        // Timestamps of 64 bits do not wrap.
        if cpu >= MAX_PROCESSORS || tick >= ROUND {
            return tick;
        }
        if cpu >= self.processors.len() {
            self.processors.resize(cpu + 1, 0);
        }
        let own = &mut self.processors[cpu];
        let earliest = own.saturating_sub(DISORDER).max(self.latest.saturating_sub(SKEW));
        let unwrapped = earliest + u64::from((tick as u32).wrapping_sub(earliest as u32));
        *own = unwrapped.max(*own);
        self.latest = unwrapped.max(self.latest);
        unwrapped
    }
}
