//! Messages that wait at their receivers, in the order in which they will be taken.

use std::collections::{HashMap, VecDeque};

use foldhash::fast::RandomState;

use super::MOST_ROWS;
use super::sight::Named;

/// Messages that may wait at one receiver; the oldest are forgotten beyond that.
const MOST: usize = 4096;

/// What is known of messages that wait, by receiver.
#[derive(Debug)]
pub(super) struct Waiting<T>(HashMap<u64, VecDeque<(Named, T)>, RandomState>);

impl<T> Default for Waiting<T> {
    fn default() -> Self {
        Self(HashMap::default())
    }
}

impl<T> Waiting<T> {
    /// A message was posted; `first`: before those that wait already.
    pub(super) fn post(&mut self, receiver: Named, signal: Named, message: T, first: bool) {
        if self.0.len() >= MOST_ROWS && !self.0.contains_key(&receiver.key) {
            return;
        }
        let waiting = self.0.entry(receiver.key).or_default();
        if waiting.len() >= MOST {
            waiting.pop_front();
        }
        match first {
            true => waiting.push_front((signal, message)),
            false => waiting.push_back((signal, message)),
        }
    }

    /// The message of a signal that will be taken first at a receiver.
    pub(super) fn take(&mut self, receiver: Named, signal: Named) -> Option<T> {
        let waiting = self.0.get_mut(&receiver.key)?;
        let at = waiting.iter().position(|(known, _)| *known == signal)?;
        waiting.remove(at).map(|(_, message)| message)
    }

    /// Nothing is known any more of what waits.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}
