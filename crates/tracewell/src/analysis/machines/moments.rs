//! Reports the changes of machines, queues and messages to a consumer, such as a timeline.
//!
//! [`super::Machines`] computes sums. A [`MachineMoments`] receives the same changes one by one, so
//! a timeline agrees with the figures.

use super::sight::Named;
use crate::analysis::scheduling::Position;
use crate::model::ContextId;

/// An event that sends or takes a message, with its position and the context that recorded it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Passed {
    /// The position of the event.
    pub at: Position,
    /// The context that recorded the event.
    pub context: ContextId,
}

/// A consumer of moments. [`super::Machines`] calls it in the order of events.
pub trait MachineMoments {
    /// An event contains the level of a queue, a pool or a semaphore.
    fn level(&mut self, _object: Named, _level: u64, _at: Position) {}

    /// The state of a machine changed. `None` stands for an unknown state.
    fn state(&mut self, _machine: Named, _state: Option<Named>, _at: Position) {}

    /// A machine began a step, or ended the step that it had begun.
    fn step(&mut self, _machine: Named, _begins: bool, _at: Position) {}

    /// A message whose post is in the trace was taken or dispatched.
    fn message(&mut self, _sent: Passed, _taken: Passed) {}

    /// Events are missing after this position, or the system starts at this position.
    fn gap(&mut self, _at: Position) {}
}

/// A consumer that ignores all moments.
impl MachineMoments for () {}
