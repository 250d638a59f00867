//! Follows items that threads exchange through kernel objects: the messages of queues and the
//! counts of semaphores.
//!
//! A put operation adds an item to the object, and a get operation takes the oldest item. If there
//! is no item, the thread waits, and the next item that is put goes to the thread that has waited
//! longest. If an event contains the number of items before the call, this module trusts that
//! number. If this module has more pending items than that, the surplus was taken without an event
//! in the trace. A thread that records another event no longer waits.
//!
//! If the events of a system name the receivers of messages, `sequence` uses these receivers
//! instead of kernel objects.
//!
//! Event flags are not followed, because setting them can wake several threads and no event shows
//! which.

use std::collections::{HashMap, VecDeque};

use foldhash::fast::RandomState;

use super::MAX_ROWS;
use super::sight::{Named, Sight};
use crate::model::schema::{ArgumentKind, EventType, Schema};
use crate::model::{ContextId, Meaning};

/// Maximum number of pending items per object. If there are more, the oldest are dropped.
const MAX_LEFT: usize = 4096;

/// Follows all objects. A put operation is identified by its index in the sequence, or by `None` if
/// the sequence is full.
#[derive(Clone, Debug, Default)]
pub(super) struct Exchange {
    objects: HashMap<Named, Passing, RandomState>,
    /// The object for which each thread waits, and the number of threads that wait.
    waits: Vec<Option<Named>>,
    waiting: usize,
}

#[derive(Clone, Debug, Default)]
struct Passing {
    /// Pending items, beginning with the next one to be taken.
    left: VecDeque<Option<usize>>,
    waiting: VecDeque<(ContextId, Named)>,
}

/// The action of an event on an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Act {
    /// Adds an item; if `first` is true, in front of all others.
    Put { first: bool },
    /// Takes an item or waits for an item.
    Take,
}

impl Act {
    /// Returns the action of events of a type, or `None` if they do not exchange items.
    pub(super) fn of(event: &EventType) -> Option<Self> {
        let means = event.means.as_ref()?;
        let act = match means.meaning {
            Meaning::Send => Self::Put { first: false },
            Meaning::SendFirst => Self::Put { first: true },
            Meaning::Receive => Self::Take,
            Meaning::Post => Self::Put { first: false },
            Meaning::Wait => Self::Take,
            _ => return None,
        };
        // `Post` and `Wait` can also refer to event flags, which exchange no items. An event
        // exchanges items only if it contains a count, or if a number identifies its object.
        let object = means.object.and_then(|object| event.args.get(object));
        let is_number = object.is_none_or(|of| !matches!(of.kind, ArgumentKind::Object(_)));
        let follows = match means.meaning {
            Meaning::Post | Meaning::Wait => event.details.used.is_some() || is_number,
            _ => true,
        };
        follows.then_some(act)
    }
}

/// Returns true if a system has events that send messages with a signal. Such events name the
/// receivers.
pub(super) fn tells_messages(schema: &Schema) -> bool {
    let events = schema.events_that_mean(&[Meaning::Send, Meaning::SendFirst]);
    events.filter_map(|event| event.means).any(|means| {
        matches!(means.meaning, Meaning::Send | Meaning::SendFirst) && means.value.is_some()
    })
}

impl Exchange {
    /// Handles the put operation that has this index in the sequence. Returns the thread that waits
    /// for the item.
    pub(super) fn put(
        &mut self,
        sight: &Sight<'_>,
        place: Option<usize>,
        first: bool,
    ) -> Option<Named> {
        let object = sight.object()?;
        let passing = passing(&mut self.objects, object)?;
        // Skip threads that recorded another event in the meantime, because they no longer wait
        // here.
        while let Some((context, taker)) = passing.waiting.pop_front() {
            if self.waits.get(context.index()) == Some(&Some(object)) {
                self.waits[context.index()] = None;
                self.waiting -= 1;
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

    /// Handles a get operation of a thread. Returns the index of the taken item, or `None` if the
    /// thread waits or if it is unknown which operation put the item.
    pub(super) fn take(&mut self, sight: &Sight<'_>, taker: Named) -> Option<usize> {
        let object = sight.object()?;
        let context = sight.event.row.context;
        let passing = passing(&mut self.objects, object)?;
        passing.trim(sight);
        // The recorded count is right even if earlier puts are missing from the trace.
        let there = match sight.number(sight.details().used) {
            Some(used) => used > 0,
            None => !passing.left.is_empty(),
        };
        if there {
            return passing.left.pop_front().flatten();
        }
        if passing.waiting.len() < MAX_LEFT {
            passing.waiting.push_back((context, taker));
            let index = context.index();
            if index >= self.waits.len() {
                self.waits.resize(index + 1, None);
            }
            self.waiting += usize::from(self.waits[index].replace(object).is_none());
        }
        None
    }

    /// Handles an event that a thread recorded. The thread no longer waits, unless the event means
    /// that the thread blocks.
    pub(super) fn recorded(&mut self, context: ContextId, meaning: Option<Meaning>) {
        if self.waiting > 0 && meaning != Some(Meaning::Blocks) {
            let ended = self.waits.get_mut(context.index()).and_then(Option::take);
            self.waiting -= usize::from(ended.is_some());
        }
    }

    /// Drops all pending items and waiting threads.
    pub(super) fn clear(&mut self) {
        self.objects.clear();
        self.waits.clear();
        self.waiting = 0;
    }
}

fn passing(
    objects: &mut HashMap<Named, Passing, RandomState>,
    object: Named,
) -> Option<&mut Passing> {
    if objects.len() >= MAX_ROWS && !objects.contains_key(&object) {
        return None;
    }
    Some(objects.entry(object).or_default())
}

impl Passing {
    /// Drops items that were taken without a visible event.
    fn trim(&mut self, sight: &Sight<'_>) {
        let used = sight.number(sight.details().used).and_then(|used| usize::try_from(used).ok());
        // Items are taken from the front, so the get operations that are not in the trace took the
        // oldest items.
        let most = used.unwrap_or(MAX_LEFT).min(MAX_LEFT);
        let unseen = self.left.len().saturating_sub(most);
        self.left.drain(..unseen);
    }
}
