//! Holders of mutexes, and waits for mutexes and semaphores.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::{Position, Row};
use crate::analysis::key_slots::KeySlots;
use crate::analysis::scheduling::Wait;
use crate::model::ContextId;

/// The track of a mutex or a semaphore.
#[derive(Clone, Debug)]
pub struct LockTrack {
    /// Its key as recorded: an address, or a number.
    pub key: u64,
    /// Its type code, if events contain it.
    pub kind: Option<u32>,
    /// True for a mutex.
    pub is_mutex: bool,
    /// Its holder over time; empty for a semaphore.
    pub holder: Row<Holder>,
    /// The waits for this object, in the order of their ends. A wait whose end is not in the trace
    /// is added at the first sign that it is over: a gap, the next wait of its task, or the end of
    /// the trace.
    pub waits: Vec<WaitSpan>,
}

/// The holder of a mutex.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Holder {
    /// Unknown, because events are missing or contradict each other, or because the holder was
    /// deleted.
    Unknown,
    /// No context holds it.
    Free,
    /// This context holds it.
    Context(ContextId),
}

impl Holder {
    /// Returns the context that is known to hold the mutex.
    pub const fn context(self) -> Option<ContextId> {
        match self {
            Self::Context(context) => Some(context),
            Self::Unknown | Self::Free => None,
        }
    }
}

/// A wait for an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WaitSpan {
    /// The context that waited.
    pub context: ContextId,
    /// The event with the request.
    pub from: Position,
    /// The event with which the context continued or was deleted; `None` if the trace does not show
    /// this event.
    pub until: Option<Position>,
    /// For a mutex: its holder at the time of the request, or the task that runs on behalf of the
    /// waiting task.
    pub owner: Option<ContextId>,
}

/// Identifies a track by three values: a truth value (true for a mutex), the type code, and the
/// key.
type Name = (bool, Option<u32>, u64);

/// Follows all mutexes and semaphores.
#[derive(Clone, Debug, Default)]
pub(super) struct Locks {
    list: Vec<LockTrack>,
    by_name: HashMap<Name, usize, RandomState>,
    /// The latest results of `by_name`.
    recent: KeySlots<Name, usize>,
    open: Vec<Wait>,
}

impl Locks {
    #[inline]
    fn at(&mut self, name: Name) -> &mut LockTrack {
        let Self { list, by_name, recent, .. } = self;
        let (is_mutex, kind, key) = name;
        let index = recent.get(key, name, || {
            *by_name.entry(name).or_insert_with(|| {
                let (holder, waits) = (Row::default(), Vec::new());
                list.push(LockTrack { key, kind, is_mutex, holder, waits });
                list.len() - 1
            })
        });
        &mut list[index]
    }

    /// Stores the holder of a mutex. Returns true if it added a change to the row.
    pub(super) fn held(
        &mut self,
        key: u64,
        kind: Option<u32>,
        holder: Holder,
        at: Position,
    ) -> bool {
        self.at((true, kind, key)).holder.set(at, holder)
    }

    /// Handles the start of a wait for a mutex. If the task seemed to get the mutex at its request,
    /// the holder is unknown instead. Returns true if it added a change to the row.
    pub(super) fn not_held(&mut self, wait: &Wait) -> bool {
        let Some(key) = wait.key.filter(|_| wait.is_mutex) else { return false };
        let holder = &mut self.at((true, wait.kind, key)).holder;
        holder.last() == Some(Holder::Context(wait.task)) && holder.set(wait.from, Holder::Unknown)
    }

    /// Stores the start of a wait. If the end of an earlier wait of the task is not in the trace,
    /// adds the earlier wait to its track. Returns true if it added a wait.
    pub(super) fn wait_began(&mut self, wait: &Wait) -> bool {
        let same = |open: &Wait| (open.task, open.is_mutex) == (wait.task, wait.is_mutex);
        let earlier = self.open.iter().position(same).map(|index| self.open.swap_remove(index));
        self.open.push(*wait);
        earlier.is_some_and(|earlier| self.add(&earlier, None))
    }

    /// Stores the end of a wait. Returns true if it added a wait to a track.
    pub(super) fn wait_ended(&mut self, wait: &Wait, at: Position) -> bool {
        self.open.retain(|open| (open.task, open.is_mutex) != (wait.task, wait.is_mutex));
        self.add(wait, Some(at))
    }

    fn add(&mut self, wait: &Wait, until: Option<Position>) -> bool {
        let Some(key) = wait.key else { return false };
        let span = WaitSpan { context: wait.task, from: wait.from, until, owner: wait.owner };
        self.at((wait.is_mutex, wait.kind, key)).waits.push(span);
        true
    }

    /// Handles the deletion of a context. Returns the number of changes that it added to rows.
    pub(super) fn deleted(&mut self, context: ContextId, at: Position) -> u64 {
        let holders = self.list.iter_mut().map(|track| &mut track.holder);
        let held = holders.filter(|holder| holder.last() == Some(Holder::Context(context)));
        held.map(|holder| u64::from(holder.set(at, Holder::Unknown))).sum()
    }

    /// Handles missing events after `at`. They make the ends of open waits and the holders of
    /// mutexes unknown.
    pub(super) fn gap(&mut self, at: Position) {
        for wait in std::mem::take(&mut self.open) {
            self.add(&wait, None);
        }
        for track in &mut self.list {
            if !track.holder.changes().is_empty() {
                track.holder.set(at, Holder::Unknown);
            }
        }
    }

    /// Returns all tracks.
    pub(super) fn tracks_mut(&mut self) -> &mut [LockTrack] {
        &mut self.list
    }

    pub(super) fn finish(mut self) -> Vec<LockTrack> {
        for wait in std::mem::take(&mut self.open) {
            self.add(&wait, None);
        }
        self.list
    }
}
