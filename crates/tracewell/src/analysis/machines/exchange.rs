//! What threads hand to each other through objects of the kernel: messages of queues, counts of semaphores.
//!
//! A put leaves something at the object, and a get takes what was left first. If nothing is there the thread waits, and
//! the next put is for the one that waits longest. Where events tell how much was there before the call, that is
//! believed: what was left beyond it was taken unseen. A thread that records something else while it waits did
//! not wait, or waits no more.
//!
//! A system whose events say what is sent to whom is followed by those (`sequence`): there a queue is where messages wait.
//!
//! Event flags are not followed: setting them is for every thread that they satisfy, which no event tells.

use std::collections::{HashMap, VecDeque};

use foldhash::fast::RandomState;

use super::MOST_ROWS;
use super::sight::{Named, Sight};
use crate::model::schema::Schema;
use crate::model::{ContextId, Meaning};

/// Puts that may wait at an object; the oldest are forgotten beyond that.
const MAX_LEFT: usize = 4096;

/// Follows all objects. A put is known by its place in the sequence; `None` if that has no room for it.
#[derive(Debug, Default)]
pub(super) struct Exchange {
    objects: HashMap<Named, Passing, RandomState>,
    /// At what threads wait.
    waits: HashMap<ContextId, Named, RandomState>,
}

#[derive(Debug, Default)]
struct Passing {
    /// Puts that were not taken, the next one to be taken first.
    left: VecDeque<Option<usize>>,
    waiting: VecDeque<(ContextId, Named)>,
}

/// An action of an event at an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Act {
    /// It puts something, before all that is there if `first`.
    Put { first: bool },
    /// It takes something, or waits for it.
    Take,
}

impl Act {
    /// Returns the action of an event, if the exchange follows it.
    pub(super) fn of(sight: &Sight<'_>) -> Option<Self> {
        let counted = sight.details().used.is_some();
        let act = match sight.meaning {
            Meaning::Send => Self::Put { first: false },
            Meaning::SendFirst => Self::Put { first: true },
            Meaning::Receive => Self::Take,
            Meaning::Post => Self::Put { first: false },
            Meaning::Wait => Self::Take,
            _ => return None,
        };
        let follows = match sight.meaning {
            Meaning::Post | Meaning::Wait => counted || !sight.acts_on_object(),
            _ => true,
        };
        follows.then_some(act)
    }
}

/// Returns true if events of a system say which messages are sent.
pub(super) fn tells_messages(schema: &Schema) -> bool {
    schema.events().iter().filter_map(|event| event.means).any(|means| {
        matches!(means.meaning, Meaning::Send | Meaning::SendFirst) && means.value.is_some()
    })
}

impl Exchange {
    /// Notes a put that has this place in the sequence; returns the thread that waits for it.
    pub(super) fn put(
        &mut self,
        sight: &Sight<'_>,
        place: Option<usize>,
        first: bool,
    ) -> Option<Named> {
        let object = sight.object()?;
        let passing = passing(&mut self.objects, object)?;
        while let Some((context, taker)) = passing.waiting.pop_front() {
            if self.waits.get(&context) == Some(&object) {
                self.waits.remove(&context);
                return Some(taker);
            }
        }
        passing.trim(sight);
        if first {
            passing.left.push_front(place);
        } else {
            passing.left.push_back(place);
        }
        None
    }

    /// Notes a get by a thread; returns the place of what it takes, or `None` if it waits or what it takes was not
    /// seen put.
    pub(super) fn take(&mut self, sight: &Sight<'_>, taker: Named) -> Option<usize> {
        let object = sight.object()?;
        let context = sight.event.context;
        let passing = passing(&mut self.objects, object)?;
        passing.trim(sight);
        let there = match sight.number(sight.details().used) {
            Some(used) => used > 0,
            None => !passing.left.is_empty(),
        };
        if there {
            return passing.left.pop_front().flatten();
        }
        if passing.waiting.len() < MAX_LEFT {
            passing.waiting.push_back((context, taker));
            self.waits.insert(context, object);
        }
        None
    }

    /// Notes that a thread recorded an event: it waits no more, unless the event says that it blocks.
    pub(super) fn recorded(&mut self, context: ContextId, meaning: Option<Meaning>) {
        if !self.waits.is_empty() && meaning != Some(Meaning::Blocks) {
            self.waits.remove(&context);
        }
    }

    /// Nothing is known any more of what is left, and of who waits.
    pub(super) fn clear(&mut self) {
        self.objects.clear();
        self.waits.clear();
    }
}

fn passing(
    objects: &mut HashMap<Named, Passing, RandomState>,
    object: Named,
) -> Option<&mut Passing> {
    if objects.len() >= MOST_ROWS && !objects.contains_key(&object) {
        return None;
    }
    Some(objects.entry(object).or_default())
}

impl Passing {
    /// Forgets what was taken unseen.
    fn trim(&mut self, sight: &Sight<'_>) {
        let used = sight.number(sight.details().used).and_then(|used| usize::try_from(used).ok());
        let most = used.unwrap_or(MAX_LEFT).min(MAX_LEFT);
        let unseen = self.left.len().saturating_sub(most);
        self.left.drain(..unseen);
    }
}
