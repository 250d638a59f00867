//! The interface through which the builder delivers finished parts of tracks while it continues.

use super::{Arrow, Change, Holder, Mark, Occupant, State, WaitSpan};
use crate::model::ContextId;

/// Receives the parts of tracks that later events cannot change. `lock` is the index of a lock in
/// [`super::Tracks::locks`].
pub(in crate::analysis) trait Settled {
    fn core(&mut self, number: usize, changes: &[Change<Occupant>]);
    fn context(&mut self, context: ContextId, changes: &[Change<State>]);
    fn lock(&mut self, lock: usize, changes: &[Change<Holder>]);
    fn waits(&mut self, lock: usize, waits: impl Iterator<Item = WaitSpan>);
    fn mark(&mut self, mark: Mark);
    fn arrow(&mut self, arrow: Arrow);
}
