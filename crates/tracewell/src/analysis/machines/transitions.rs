//! The different transitions of a machine.
//!
//! Most machines take the same few transitions again and again. So the transition in progress is
//! built in place, and is copied only if it is different from all earlier ones.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash};

use foldhash::fast::RandomState;

use super::Room;
use super::sight::Named;

/// Maximum number of listed vertices of a transition.
const MAX_WAY: usize = 16;

/// A transition from one state to another.
#[derive(Clone, Debug)]
pub struct Transition {
    /// The state in which the transition began.
    pub from: Named,
    /// The signal; `None` if the message of the step is unknown.
    pub signal: Option<Named>,
    /// Vertices on the path: choices, junctions, composite states. The first is the target of the
    /// transition. The list is empty for an internal transition.
    pub way: Vec<Named>,
    /// The state that was finally reached; `None` for an internal transition, or if it is not
    /// recorded.
    pub to: Option<Named>,
    /// Number of times that the transition was taken.
    pub count: u64,
}

/// The different transitions of a machine, and its transition in progress.
#[derive(Clone, Debug, Default)]
pub(super) struct Transitions {
    list: Vec<Transition>,
    /// For each hash, the index of the newest transition that has this hash.
    by_hash: HashMap<u64, usize, RandomState>,
    /// For each transition, an earlier one with the same hash.
    same_hash: Vec<Option<usize>>,
    hasher: RandomState,
    /// The transition in progress, if `is_open`.
    open: Option<Transition>,
    is_open: bool,
}

impl Transitions {
    /// Begins a transition. Without a target, it is internal.
    pub(super) fn begin(&mut self, from: Named, signal: Option<Named>, target: Option<Named>) {
        let new = || Transition { from, signal, way: Vec::new(), to: None, count: 0 };
        let open = self.open.get_or_insert_with(new);
        (open.from, open.signal) = (from, signal);
        open.way.clear();
        open.way.extend(target);
        self.is_open = true;
    }

    /// Adds a vertex to the transition in progress.
    pub(super) fn come_through(&mut self, vertex: Named) {
        if let Some(open) = self.open.as_mut().filter(|_| self.is_open)
            // `begin` added the first vertex: the target that the transition's event named.
            && open.way.last() != Some(&vertex)
            && open.way.len() < MAX_WAY
        {
            open.way.push(vertex);
        }
    }

    /// Ends the transition in progress, if there is one, in the state `to`.
    pub(super) fn close(&mut self, to: Option<Named>, room: &mut Room) {
        let Some(open) = self.open.as_mut().filter(|_| std::mem::take(&mut self.is_open)) else {
            return;
        };
        // An internal transition does not change the state.
        open.to = if open.way.is_empty() { None } else { to };
        let hash = self.hasher.hash_one(Route(open));
        let last = self.by_hash.get(&hash).copied();
        let mut row = last;
        while let Some(index) = row {
            match self.list.get_mut(index) {
                Some(known) if Route(known) == Route(open) => return known.count += 1,
                _ => row = self.same_hash.get(index).copied().flatten(),
            }
        }
        if room.take() {
            self.by_hash.insert(hash, self.list.len());
            self.list.push(Transition { count: 1, ..open.clone() });
            self.same_hash.push(last);
        }
    }

    /// Forgets the transition in progress.
    pub(super) fn cut(&mut self) {
        self.is_open = false;
    }

    /// Forgets the completed transitions, but keeps the transition in progress.
    pub(super) fn restart(&mut self) {
        self.list.clear();
        self.by_hash.clear();
        self.same_hash.clear();
    }

    /// Returns all transitions, in the order in which they first ended.
    pub(super) fn finish(self) -> Vec<Transition> {
        self.list
    }
}

/// The identity of a transition: everything but the count.
struct Route<'a>(&'a Transition);

impl PartialEq for Route<'_> {
    fn eq(&self, other: &Self) -> bool {
        let Self(Transition { from, signal, way, to, count: _ }) = self;
        (from, signal, way, to) == (&other.0.from, &other.0.signal, &other.0.way, &other.0.to)
    }
}

impl Hash for Route<'_> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        let Self(Transition { from, signal, way, to, count: _ }) = self;
        (from, signal, way.as_slice(), to).hash(state);
    }
}
