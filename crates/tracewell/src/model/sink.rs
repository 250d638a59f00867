//! Where events go.

use std::ops::ControlFlow;

use super::{Batch, Loss, Trace};

/// Whether a sink wants more. After `Break` the decoder stops and calls nothing any more.
pub type Flow<T = ()> = ControlFlow<(), T>;

/// Takes the events of a trace in order, with the gaps between them.
///
/// The trace that comes along is as complete as it is at that moment: with some dialects contexts
/// and objects turn up while events arrive. A sink that fails (a full disk, a closed pipe) keeps
/// its error and breaks.
pub trait Sink {
    /// Takes some thousands of events.
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow;

    /// Takes a gap, before the events that follow it.
    fn loss(&mut self, _trace: &Trace, _loss: &Loss) -> Flow {
        Flow::Continue(())
    }
}
