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
//! Event flags are not followed, because setting them can wake several threads, and no event shows
//! which threads it woke.

use std::collections::{HashMap, VecDeque};

use foldhash::fast::RandomState;

use super::MAX_ROWS;
use super::sight::{Named, Sight};
use crate::analysis::key_slots::KeySlots;
use crate::model::schema::{ArgumentKind, EventType, Schema};
use crate::model::{ContextId, Meaning};

/// Maximum number of pending items per object. If there are more, the oldest are dropped.
const MAX_LEFT: usize = 4096;

/// Follows all objects. The caller identifies a put operation by a `T`, or by `None` if it does not
/// follow the operation.
#[derive(Clone, Debug)]
pub(super) struct Exchange<T> {
    objects: Objects<T>,
    /// For each thread, the index of the object for which it waits. `waiting` is the number of
    /// threads that wait.
    waits: Vec<Option<usize>>,
    waiting: usize,
}

/// The objects through which threads exchanged items.
#[derive(Clone, Debug)]
struct Objects<T> {
    list: Vec<Passing<T>>,
    by_name: HashMap<Named, usize, RandomState>,
    /// The latest results of `by_name`. A key consists of the key of an object and the number of
    /// times that the object was renamed.
    recent: KeySlots<(u64, usize), Option<usize>>,
}

#[derive(Clone, Debug)]
struct Passing<T> {
    /// The put operations of the pending items, beginning with the next item to be taken.
    left: VecDeque<Option<T>>,
    waiting: VecDeque<(ContextId, Named)>,
}

impl<T> Default for Exchange<T> {
    fn default() -> Self {
        let objects =
            Objects { list: Vec::new(), by_name: HashMap::default(), recent: KeySlots::default() };
        Self { objects, waits: Vec::new(), waiting: 0 }
    }
}

impl<T> Default for Passing<T> {
    fn default() -> Self {
        Self { left: VecDeque::new(), waiting: VecDeque::new() }
    }
}

/// An event that puts or takes an item.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exchanged {
    /// The object into which the event puts the item, or from which the event takes it.
    pub(super) object: Named,
    /// The number of items in the object before the event, if the event contains it.
    pub(super) used: Option<u64>,
    /// The context that recorded the event.
    pub(super) context: ContextId,
}

impl Exchanged {
    /// Returns an event that exchanges an item, or `None` if the event names no object.
    pub(super) fn of(sight: &Sight<'_>) -> Option<Self> {
        let used = sight.number(sight.details().used);
        Some(Self { object: sight.object()?, used, context: sight.event.row.context })
    }
}

/// The action of an event on an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Act {
    /// Adds an item at the end or, if `first` is true, at the front.
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

/// Returns true if a system has events that send a message and contain its signal. Such events name
/// the receivers.
pub(super) fn tells_messages(schema: &Schema) -> bool {
    let events = schema.events_that_mean(&[Meaning::Send, Meaning::SendFirst]);
    events.filter_map(|event| event.means).any(|means| {
        matches!(means.meaning, Meaning::Send | Meaning::SendFirst) && means.value.is_some()
    })
}

impl<T> Exchange<T> {
    /// Handles a put operation. If a thread is waiting for the item, returns this thread.
    pub(super) fn put(
        &mut self,
        event: &Exchanged,
        operation: Option<T>,
        first: bool,
    ) -> Option<Named> {
        let (object, passing) = self.objects.of(event.object)?;
        // Skip threads that recorded another event in the meantime, because they no longer wait
        // here.
        while let Some((context, taker)) = passing.waiting.pop_front() {
            if self.waits.get(context.index()) == Some(&Some(object)) {
                self.waits[context.index()] = None;
                self.waiting -= 1;
                return Some(taker);
            }
        }
        passing.trim(event.used);
        if first {
            passing.left.push_front(operation);
        } else {
            passing.left.push_back(operation);
        }
        None
    }

    /// Handles a get operation of a thread. Returns the operation that put the taken item, or
    /// `None` if the thread waits or if it is unknown which operation put the item.
    pub(super) fn take(&mut self, event: &Exchanged, taker: Named) -> Option<T> {
        let Exchanged { used, context, .. } = *event;
        let (object, passing) = self.objects.of(event.object)?;
        passing.trim(used);
        // The recorded count is right even if earlier puts are missing from the trace.
        let there = match used {
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

    /// Returns true if a thread waits. Otherwise [`Exchange::recorded`] has no effect.
    #[inline]
    pub(super) fn has_waiting(&self) -> bool {
        self.waiting > 0
    }

    /// Returns true if this thread waits.
    #[inline(always)]
    pub(super) fn waits(&self, context: ContextId) -> bool {
        self.waits.get(context.index()).is_some_and(Option::is_some)
    }

    /// Drops all pending items and waiting threads.
    pub(super) fn clear(&mut self) {
        self.objects.clear();
        self.waits.clear();
        self.waiting = 0;
    }
}

impl<T> Objects<T> {
    /// Returns the index and the entry of an object, or `None` if there are too many objects.
    fn of(&mut self, object: Named) -> Option<(usize, &mut Passing<T>)> {
        let Self { list, by_name, recent } = self;
        let name = (object.key, object.renamed);
        let index = recent.get(object.key, name, || match by_name.get(&object) {
            None if list.len() >= MAX_ROWS => None,
            None => {
                list.push(Passing::default());
                by_name.insert(object, list.len() - 1);
                Some(list.len() - 1)
            }
            Some(index) => Some(*index),
        })?;
        Some((index, list.get_mut(index)?))
    }

    fn clear(&mut self) {
        self.list.clear();
        self.by_name.clear();
        self.recent.clear();
    }
}

impl<T> Passing<T> {
    /// Drops items that were taken without a visible event.
    fn trim(&mut self, used: Option<u64>) {
        let used = used.and_then(|used| usize::try_from(used).ok());
        // Items are taken from the front, so the get operations that are not in the trace took the
        // oldest items.
        let most = used.unwrap_or(MAX_LEFT).min(MAX_LEFT);
        let unseen = self.left.len().saturating_sub(most);
        self.left.drain(..unseen);
    }
}

#[cfg(test)]
mod tests {
    use tracewell_wire::rkh::Dialect;

    use super::*;
    use crate::format::{rkh, threadx};

    const OBJECT: u64 = 0x500;

    fn named(key: u64) -> Named {
        Named { argument: key, key, kind: None, ticks: 0, renamed: 0 }
    }

    fn by(context: u32, used: Option<u64>) -> Exchanged {
        Exchanged { object: named(OBJECT), used, context: ContextId(context) }
    }

    impl Exchange<usize> {
        /// The thread with this number takes an item.
        fn takes(&mut self, thread: u32, used: Option<u64>) -> Option<usize> {
            self.take(&by(thread, used), named(thread.into()))
        }

        /// Puts an item, and returns the number of the thread that waited for it.
        fn puts(&mut self, place: usize, used: Option<u64>) -> Option<u64> {
            self.put(&by(9, used), Some(place), false).map(|taker| taker.key)
        }
    }

    #[test]
    fn the_oldest_item_is_taken_unless_one_was_put_in_front() {
        let mut exchange = Exchange::default();
        assert_eq!((exchange.puts(0, None), exchange.puts(1, None)), (None, None));
        assert!(exchange.put(&by(9, None), Some(2), true).is_none());
        let taken = [(); 3].map(|()| exchange.takes(1, None));
        assert_eq!(taken, [Some(2), Some(0), Some(1)]);
        assert!(!exchange.has_waiting());
        assert_eq!((exchange.takes(1, None), exchange.has_waiting()), (None, true));
    }

    #[test]
    fn the_recorded_count_shows_which_items_were_taken_unseen() {
        let mut exchange = Exchange::default();
        (0..3).for_each(|place| assert_eq!(exchange.puts(place, Some(place as u64)), None));
        // Only the newest of the three items is still there.
        assert_eq!(exchange.takes(1, Some(1)), Some(2));
        assert_eq!((exchange.puts(3, Some(0)), exchange.puts(4, Some(0))), (None, None));
        assert_eq!(exchange.takes(1, Some(1)), Some(4));
        // The events that put these two items are missing, so the thread does not wait.
        assert_eq!((exchange.takes(1, Some(2)), exchange.has_waiting()), (None, false));
        // The thread waits, although an item seems to be there.
        assert_eq!(exchange.puts(5, Some(0)), None);
        assert_eq!((exchange.takes(1, Some(0)), exchange.has_waiting()), (None, true));
        assert_eq!(exchange.puts(6, Some(0)), Some(1));
    }

    #[test]
    fn an_item_goes_to_the_thread_that_has_waited_longest_and_still_waits() {
        let mut exchange = Exchange::default();
        for thread in [1, 2, 3, 4] {
            assert_eq!(exchange.takes(thread, None), None);
        }
        exchange.recorded(ContextId(1), Some(Meaning::Blocks));
        exchange.recorded(ContextId(2), Some(Meaning::Mark));
        exchange.recorded(ContextId(3), None);
        exchange.recorded(ContextId(7), None);
        assert_eq!(exchange.puts(0, None), Some(1));
        assert!(exchange.has_waiting(), "a thread still waits");
        assert_eq!(exchange.puts(1, None), Some(4));
        assert!(!exchange.has_waiting());
        assert_eq!((exchange.puts(2, None), exchange.takes(5, None)), (None, Some(2)));
    }

    #[test]
    fn nothing_is_pending_after_a_gap() {
        let mut exchange = Exchange::default();
        assert_eq!((exchange.puts(0, None), exchange.takes(1, None)), (None, Some(0)));
        assert_eq!((exchange.takes(1, None), exchange.has_waiting()), (None, true));
        exchange.clear();
        assert!(!exchange.has_waiting());
        assert_eq!(exchange.puts(1, None), None);
        exchange.clear();
        assert_eq!(exchange.takes(1, None), None);
    }

    #[test]
    fn only_the_newest_items_are_pending_if_there_are_many() {
        let mut exchange = Exchange::default();
        (0..MAX_LEFT + 3).for_each(|place| assert_eq!(exchange.puts(place, None), None));
        assert_eq!(exchange.takes(1, None), Some(3));
    }

    #[test]
    fn event_flags_exchange_no_items() {
        let schema = threadx::schema();
        let act = |name: &str| {
            let event = schema.events().find(|event| event.label == name);
            Act::of(event.unwrap_or_else(|| panic!("{name}")))
        };
        assert_eq!(act("tx_semaphore_put"), Some(Act::Put { first: false }));
        assert_eq!(act("tx_semaphore_get"), Some(Act::Take));
        assert_eq!(act("tx_queue_send"), Some(Act::Put { first: false }));
        assert_eq!(act("tx_queue_front_send"), Some(Act::Put { first: true }));
        assert_eq!(act("tx_queue_receive"), Some(Act::Take));
        assert_eq!(act("tx_event_flags_set"), None);
        assert_eq!(act("tx_event_flags_get"), None);
        assert_eq!(act("tx_mutex_get"), None);
    }

    #[test]
    fn only_the_events_of_some_systems_name_receivers() {
        assert!(tells_messages(&rkh::schema(Dialect::V3_4)));
        assert!(!tells_messages(&threadx::schema()));
    }
}
