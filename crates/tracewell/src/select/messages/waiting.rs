//! Keeps the pending messages of each receiver in the order in which they will be taken.
//!
//! When a receiver gets a message, the event contains the message's signal. Hundreds of older
//! messages with other signals can be pending. Each signal therefore has its own queue, and the
//! message is the first in the queue of its signal. Order numbers show which message is the oldest
//! in all queues of a receiver. If a receiver has too many messages, its oldest message is dropped.

use std::collections::{HashMap, VecDeque};

use foldhash::fast::RandomState;

use super::MAX_ROWS;
use super::sight::Named;

/// Maximum number of pending messages per receiver. If there are more, the oldest are dropped.
const MAX_PER_RECEIVER: usize = 4096;

/// Maximum number of pending messages at all receivers. If there are more, all are dropped. If a
/// trace does not record when messages are taken, all messages stay pending.
const MAX_ALL: usize = 1 << 16;

/// Pending messages per receiver.
#[derive(Clone, Debug)]
pub(crate) struct Waiting<T> {
    receivers: HashMap<u64, Receiver<T>, RandomState>,
    /// Number of messages that are pending at all receivers.
    count: usize,
}

/// The pending messages at a receiver.
#[derive(Clone, Debug)]
struct Receiver<T> {
    /// One queue per signal; some may be empty.
    queues: Vec<(Named, VecDeque<(i64, T)>)>,
    /// Number of messages in all queues of the receiver.
    count: usize,
    /// The order number of the next message that is added at the front, and the order number of the
    /// next message that is added at the back.
    ends: (i64, i64),
}

impl<T> Default for Waiting<T> {
    fn default() -> Self {
        Self { receivers: HashMap::default(), count: 0 }
    }
}

impl<T> Default for Receiver<T> {
    fn default() -> Self {
        Self { queues: Vec::new(), count: 0, ends: (-1, 0) }
    }
}

impl<T> Waiting<T> {
    /// Adds a posted message. If `first` is true, the message precedes all pending messages.
    pub(crate) fn post(&mut self, receiver: Named, signal: Named, message: T, first: bool) {
        if self.receivers.len() >= MAX_ROWS && !self.receivers.contains_key(&receiver.key) {
            return;
        }
        // A trace usually reaches this limit only if it does not record when messages are taken.
        if self.count >= MAX_ALL {
            self.clear();
        }
        let waiting = self.receivers.entry(receiver.key).or_default();
        if waiting.count >= MAX_PER_RECEIVER {
            waiting.forget_oldest();
            self.count -= 1;
        }
        waiting.post(signal, message, first);
        self.count += 1;
    }

    /// Takes the first message with this signal that is pending at a receiver.
    pub(crate) fn take(&mut self, receiver: Named, signal: Named) -> Option<T> {
        let waiting = self.receivers.get_mut(&receiver.key)?;
        let (_, message) = waiting.queue(signal)?.pop_front()?;
        waiting.count -= 1;
        self.count -= 1;
        Some(message)
    }

    /// Drops all pending messages.
    pub(crate) fn clear(&mut self) {
        self.receivers.clear();
        self.count = 0;
    }
}

impl<T> Receiver<T> {
    fn queue(&mut self, signal: Named) -> Option<&mut VecDeque<(i64, T)>> {
        let found = self.queues.iter_mut().find(|(known, _)| *known == signal);
        found.map(|(_, queue)| queue)
    }

    fn post(&mut self, signal: Named, message: T, first: bool) {
        let (before, after) = self.ends;
        match first {
            true => self.ends.0 -= 1,
            false => self.ends.1 += 1,
        }
        self.count += 1;
        let place = if first { before } else { after };
        match self.queue(signal) {
            Some(queue) if first => queue.push_front((place, message)),
            Some(queue) => queue.push_back((place, message)),
            None => {
                // An empty queue is kept for the next message with its signal, unless there are too
                // many empty queues.
                if self.queues.len() >= MAX_PER_RECEIVER {
                    self.queues.retain(|(_, queue)| !queue.is_empty());
                }
                self.queues.push((signal, VecDeque::from([(place, message)])));
            }
        }
    }

    fn forget_oldest(&mut self) {
        let queues = self.queues.iter_mut().map(|(_, queue)| queue);
        let oldest = queues.min_by_key(|queue| queue.front().map_or(i64::MAX, |(place, _)| *place));
        if oldest.and_then(VecDeque::pop_front).is_some() {
            self.count -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn named(key: u64) -> Named {
        Named { argument: key, key, kind: None, ticks: 0, renamed: 0 }
    }

    #[test]
    fn the_oldest_of_all_signals_is_forgotten() {
        let mut waiting = Waiting::default();
        let receiver = named(1);
        waiting.post(receiver, named(7), "second", false);
        waiting.post(receiver, named(8), "first", true);
        (2..MAX_PER_RECEIVER).for_each(|_| waiting.post(receiver, named(9), "more", false));
        waiting.post(receiver, named(9), "one too many", false);
        assert_eq!(waiting.take(receiver, named(8)), None);
        assert_eq!(waiting.take(receiver, named(7)), Some("second"));
    }

    #[test]
    fn signals_of_which_none_waits_do_not_fill_memory() {
        let mut waiting = Waiting::default();
        for signal in 0..3 * MAX_PER_RECEIVER as u64 {
            waiting.post(named(1), named(signal), (), false);
            assert_eq!(waiting.take(named(1), named(signal)), Some(()));
        }
        assert!(waiting.receivers[&1].queues.len() <= MAX_PER_RECEIVER);
    }

    #[test]
    fn messages_that_nobody_takes_do_not_fill_memory() {
        let mut waiting = Waiting::default();
        for number in 0..3 * MAX_ALL as u64 {
            waiting.post(named(number % 100), named(7), number, false);
            let count = waiting.receivers.values().map(|receiver| receiver.count).sum::<usize>();
            assert!(waiting.count == count && count <= MAX_ALL);
        }
        let last = 3 * MAX_ALL as u64 - 1;
        assert!(waiting.take(named(last % 100), named(7)).is_some_and(|number| number <= last));
    }

    proptest! {
        #[test]
        fn messages_are_taken_as_from_one_queue(
            steps in prop::collection::vec((0..3_u8, 0..4_u64), 0..200),
        ) {
            let (mut waiting, mut plain) = (Waiting::default(), VecDeque::<(u64, usize)>::new());
            for (number, (step, signal)) in steps.into_iter().enumerate() {
                match step {
                    0 => {
                        let at = plain.iter().position(|(known, _)| *known == signal);
                        let expected = at.and_then(|at| plain.remove(at)).map(|(_, number)| number);
                        prop_assert_eq!(waiting.take(named(5), named(signal)), expected);
                        continue;
                    }
                    1 => plain.push_front((signal, number)),
                    _ => plain.push_back((signal, number)),
                }
                waiting.post(named(5), named(signal), number, step == 1);
            }
        }
    }
}
