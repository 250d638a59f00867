//! Messages that wait at their receivers, in the order in which they will be taken.
//!
//! A message is taken by its signal, and hundreds of others may wait before it. So those of a signal are a queue of
//! their own, and the order among queues, which matters where the oldest of all is forgotten, is a number.

use std::collections::{HashMap, VecDeque};

use foldhash::fast::RandomState;

use super::MOST_ROWS;
use super::sight::Named;

/// Messages that may wait at one receiver; the oldest are forgotten beyond that.
const MOST: usize = 4096;

/// Messages that may wait at all receivers together; all are forgotten beyond that. A trace that hides the takings has
/// nothing but messages that wait.
const MAX_ALL: usize = 1 << 16;

/// What is known of messages that wait, by receiver.
#[derive(Debug)]
pub(super) struct Waiting<T> {
    receivers: HashMap<u64, Receiver<T>, RandomState>,
    /// Messages at all of them.
    count: usize,
}

/// The messages that wait at a receiver.
#[derive(Debug)]
struct Receiver<T> {
    /// By their signal; some may be empty.
    queues: Vec<(Named, VecDeque<(i64, T)>)>,
    /// Messages in all of them.
    count: usize,
    /// The places in the order that the next message before all others gets, and the next behind them.
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
    /// A message was posted; `first`: before those that wait already.
    pub(super) fn post(&mut self, receiver: Named, signal: Named, message: T, first: bool) {
        if self.receivers.len() >= MOST_ROWS && !self.receivers.contains_key(&receiver.key) {
            return;
        }
        if self.count >= MAX_ALL {
            self.clear();
        }
        let waiting = self.receivers.entry(receiver.key).or_default();
        if waiting.count >= MOST {
            waiting.forget_oldest();
            self.count -= 1;
        }
        waiting.post(signal, message, first);
        self.count += 1;
    }

    /// The message of a signal that will be taken first at a receiver.
    pub(super) fn take(&mut self, receiver: Named, signal: Named) -> Option<T> {
        let waiting = self.receivers.get_mut(&receiver.key)?;
        let (_, message) = waiting.queue(signal)?.pop_front()?;
        waiting.count -= 1;
        self.count -= 1;
        Some(message)
    }

    /// Nothing is known any more of what waits.
    pub(super) fn clear(&mut self) {
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
        let (before, behind) = self.ends;
        match first {
            true => self.ends.0 -= 1,
            false => self.ends.1 += 1,
        }
        self.count += 1;
        let place = if first { before } else { behind };
        match self.queue(signal) {
            Some(queue) if first => queue.push_front((place, message)),
            Some(queue) => queue.push_back((place, message)),
            None => {
                if self.queues.len() >= MOST {
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
        (2..MOST).for_each(|_| waiting.post(receiver, named(9), "more", false));
        waiting.post(receiver, named(9), "one too many", false);
        assert_eq!(waiting.take(receiver, named(8)), None);
        assert_eq!(waiting.take(receiver, named(7)), Some("second"));
    }

    #[test]
    fn signals_of_which_none_waits_do_not_fill_memory() {
        let mut waiting = Waiting::default();
        for signal in 0..3 * MOST as u64 {
            waiting.post(named(1), named(signal), (), false);
            assert_eq!(waiting.take(named(1), named(signal)), Some(()));
        }
        assert!(waiting.receivers[&1].queues.len() <= MOST);
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
        fn messages_are_taken_as_from_one_queue(steps in prop::collection::vec((0..3_u8, 0..4_u64), 0..200)) {
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
