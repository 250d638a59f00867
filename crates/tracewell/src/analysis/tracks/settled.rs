//! The interface through which the builder delivers finished parts of tracks while it continues.

use super::{Arrow, Change, EnteredSpan, Holder, Mark, Occupant, Position, State, WaitSpan};
use crate::model::ContextId;

/// Receives the parts of tracks that later events cannot change. `lock` is the index of a lock in
/// [`super::Tracks::locks`]. `place` is the place of a machine or a level in [`Places`].
pub(in crate::analysis) trait Settled {
    fn core(&mut self, number: usize, changes: &[Change<Occupant>]);
    fn context(&mut self, context: ContextId, changes: &[Change<State>]);
    fn lock(&mut self, lock: usize, changes: &[Change<Holder>]);
    fn waits(&mut self, lock: usize, waits: impl Iterator<Item = WaitSpan>);
    fn mark(&mut self, mark: Mark);
    /// An event of a trace that shows no states of contexts.
    fn recorded(&mut self, context: ContextId, at: Position);
    fn arrow(&mut self, arrow: Arrow);
    fn machine(&mut self, place: usize, changes: &[Change<Option<u32>>]);
    /// A step with a recorded end.
    fn step(&mut self, place: usize, from: Position, until: Position);
    fn level(&mut self, place: usize, changes: &[Change<Option<u64>>]);
    fn span(&mut self, context: ContextId, depth: usize, changes: &[Change<Option<EnteredSpan>>]);
    fn message(&mut self, message: Arrow);
}

/// The places under which the builder passes on machines and levels: for each element of
/// [`super::Tracks::machines`] and of [`super::Tracks::levels`], its number in the order of first
/// moments.
#[derive(Clone, Debug, Default)]
pub(in crate::analysis) struct Places {
    pub(in crate::analysis) machines: Vec<usize>,
    pub(in crate::analysis) levels: Vec<usize>,
}
