//! Positions in a trace.

/// A position in the trace.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Position {
    /// Ticks since the first event.
    pub ticks: u64,
    /// Number of the event in the trace, from 0.
    pub seq: u64,
}
