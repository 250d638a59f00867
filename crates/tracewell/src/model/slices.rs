//! Parts of a trace that several threads decode independently of each other.
//!
//! If records have a fixed size and are in memory, a decoder can decode the events of each part
//! without the parts before it. The decoder passes such events as [`Slices`] to a sink that accepts
//! slices, and passes all other events in batches. The sink decodes and formats the slices on
//! several threads.

use super::{Batch, Columns, ContextId, Trace};

/// The state after an event. The line for the next event may depend on this state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Before {
    /// Ticks of the event.
    pub ticks: u64,
    /// The context that recorded the event.
    pub context: ContextId,
}

/// Consecutive events in slices. Any thread can decode any slice.
///
/// From the first to the last of these events, no name, context or other fact of the trace changes,
/// and no events are missing.
pub trait Slices: Sync {
    /// Returns the number of slices.
    fn count(&self) -> usize;

    /// Returns the number of threads that may decode the slices.
    fn threads(&self) -> usize;

    /// Returns the event before a slice. If `slice` equals the number of slices, returns the last
    /// event. An event always precedes the first slice.
    fn before(&self, trace: &Trace, slice: usize) -> Before;

    /// Decodes a slice. The batch borrows `columns`.
    fn batch<'a>(&'a self, trace: &Trace, slice: usize, columns: &'a mut Columns) -> Batch<'a>;
}
