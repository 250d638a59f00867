//! The waits that ended in a trace, and a list of the longest ones. `locks` finds them.

use std::cmp::Reverse;
use std::collections::HashSet;

use foldhash::fast::RandomState;

use super::accounts::Split;
use crate::model::ContextId;

/// A wait that ended in the trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Waited {
    /// The task that waited.
    pub context: ContextId,
    /// Key of the object.
    pub key: Option<u64>,
    /// True for a mutex.
    pub is_mutex: bool,
    /// Type code of the object, as in [`Resource::kind`](super::Resource::kind).
    pub kind: Option<u32>,
    /// The owner of the mutex or, if the scheduler records this, the task that ran on behalf of the
    /// waiting task. These two tasks differ if the owner itself waits for another mutex.
    pub owner: Option<ContextId>,
    /// Sequence number of the request's event.
    pub event: u64,
    /// Ticks of the request.
    pub from: u64,
    /// Ticks at which the task continued or was deleted.
    pub until: u64,
    /// The parts of the wait; `None` on several cores.
    pub spent: Option<Split>,
    /// Ticks of priority inversion according to deadlines; `None` if the task's deadline is
    /// unknown.
    pub inverted: Option<u64>,
    /// Ticks of priority inversion according to priorities; `None` if the task's priority is not
    /// recorded.
    pub inverted_by_priority: Option<u64>,
}

impl Waited {
    /// Returns the duration of the wait in ticks.
    pub fn ticks(&self) -> u64 {
        self.until.saturating_sub(self.from)
    }

    /// Returns the ticks of priority inversion: according to priorities if they are recorded,
    /// otherwise according to deadlines.
    pub fn inverted_ticks(&self) -> u64 {
        self.inverted_by_priority.or(self.inverted).unwrap_or(0)
    }

    /// Removes the figures that are defined only for one core. On several cores, other tasks run at
    /// the same time, so the wait has no parts.
    pub(super) fn forget_parts(&mut self) {
        (self.spent, self.inverted, self.inverted_by_priority) = (None, None, None);
    }
}

/// Maximum number of waits that are kept.
const MOST: usize = 5;

/// The longest waits for mutexes.
#[derive(Clone, Debug, Default)]
pub(super) struct LongestWaits(Vec<Waited>);

impl LongestWaits {
    /// Keeps the wait if it is one of the longest. If waits are equally long, the earlier ones
    /// stay.
    pub(super) fn offer(&mut self, wait: &Waited) {
        if !wait.is_mutex || self.0.get(MOST - 1).is_some_and(|least| least.ticks() >= wait.ticks())
        {
            return;
        }
        let at = self.0.partition_point(|longer| longer.ticks() >= wait.ticks());
        self.0.insert(at, wait.clone());
        self.0.truncate(MOST);
    }

    /// Returns the longest waits, longest first.
    pub(super) fn finish(&mut self, cores: usize) -> Vec<Waited> {
        let mut waits = std::mem::take(&mut self.0);
        if cores > 1 {
            waits.iter_mut().for_each(Waited::forget_parts);
        }
        waits
    }
}

/// The worst waits of a trace: a number of the longest, as many of those with the largest priority
/// inversion, and the longest of each task and for each object.
#[derive(Clone, Debug)]
pub(super) struct WorstWaits {
    most: usize,
    /// The worst waits so far, in the order in which they ended, and all waits since they were last
    /// selected.
    waits: Vec<Waited>,
    /// Number of waits in the list at which the worst ones are selected again.
    room: usize,
    /// Number of waits that were left out.
    more: u64,
}

impl WorstWaits {
    pub(super) fn new(most: usize) -> Self {
        Self { most, waits: Vec::new(), room: 1024, more: 0 }
    }

    pub(super) fn restart(&mut self) {
        *self = Self::new(self.most);
    }

    pub(super) fn offer(&mut self, wait: Waited) {
        self.waits.push(wait);
        if self.waits.len() >= self.room {
            self.select();
            // The list doubles before the next selection, so a selection costs little per wait.
            self.room = 1024.max(2 * self.waits.len());
        }
    }

    /// Returns the worst waits, in the order in which they ended, and the number of the others.
    pub(super) fn finish(&mut self) -> (Vec<Waited>, u64) {
        self.select();
        (std::mem::take(&mut self.waits), self.more)
    }

    fn select(&mut self) {
        let Self { most, waits, more, .. } = self;
        let mut is_kept = vec![false; waits.len()];
        let mut order: Vec<usize> = (0..waits.len()).collect();
        order.sort_by_key(|index| Reverse(waits[*index].ticks()));
        order.iter().take(*most).for_each(|index| is_kept[*index] = true);
        let mut tasks: HashSet<_, RandomState> = HashSet::default();
        let mut objects: HashSet<_, RandomState> = HashSet::default();
        for index in &order {
            let Waited { context, key, kind, is_mutex, .. } = waits[*index];
            let is_first = [tasks.insert(context), objects.insert((key, kind, is_mutex))];
            is_kept[*index] |= is_first.contains(&true);
        }
        order.retain(|index| waits[*index].inverted_ticks() > 0);
        order.sort_by_key(|index| Reverse(waits[*index].inverted_ticks()));
        order.iter().take(*most).for_each(|index| is_kept[*index] = true);
        let before = waits.len();
        let mut is_kept = is_kept.into_iter();
        waits.retain(|_| is_kept.next().unwrap_or(true));
        *more += (before - waits.len()) as u64;
    }
}

/// Waits with priority inversion, spread evenly over the trace. Of each block of consecutive waits,
/// the list contains the one with the largest inversion. A block is one wait until the list is
/// full. Then each pair of blocks becomes one block.
#[derive(Clone, Debug)]
pub(super) struct InvertedWaits {
    /// Maximum number of blocks; even.
    most: usize,
    waits: Vec<Waited>,
    /// Number of waits in a block.
    block: u64,
    /// Number of waits in the last block if it is incomplete, otherwise 0.
    filled: u64,
    /// Number of waits that other ones represent.
    more: u64,
}

impl InvertedWaits {
    /// Returns an empty list. `most` is even.
    pub(super) fn new(most: usize) -> Self {
        Self { most, waits: Vec::new(), block: 1, filled: 0, more: 0 }
    }

    pub(super) fn restart(&mut self) {
        *self = Self::new(self.most);
    }

    /// Adds a wait if it has a priority inversion.
    pub(super) fn offer(&mut self, wait: Waited) {
        if wait.inverted_ticks() == 0 {
            return;
        }
        match self.waits.last_mut().filter(|_| self.filled > 0) {
            Some(last) => {
                self.more += 1;
                if wait.inverted_ticks() > last.inverted_ticks() {
                    *last = wait;
                }
            }
            None => {
                if self.waits.len() >= self.most {
                    self.halve();
                }
                self.waits.push(wait);
            }
        }
        self.filled = (self.filled + 1) % self.block;
    }

    fn halve(&mut self) {
        self.more += self.waits.len() as u64 / 2;
        self.block *= 2;
        let mut waits = std::mem::take(&mut self.waits).into_iter();
        while let Some(first) = waits.next() {
            let second = waits.next().filter(|next| next.inverted_ticks() > first.inverted_ticks());
            self.waits.push(second.unwrap_or(first));
        }
    }

    /// Returns the listed waits, in the order in which they ended, and the number of the others.
    pub(super) fn finish(&mut self) -> (Vec<Waited>, u64) {
        (std::mem::take(&mut self.waits), self.more)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_waits_for_mutexes_are_kept() {
        let wait = |from, ticks, is_mutex| Waited {
            context: ContextId(0),
            key: None,
            is_mutex,
            kind: None,
            owner: None,
            event: from,
            from,
            until: from + ticks,
            spent: Some(Split::default()),
            inverted: None,
            inverted_by_priority: None,
        };
        let mut longest = LongestWaits::default();
        for (from, ticks) in [30, 10, 50, 20, 50, 40, 5, 60].into_iter().enumerate() {
            longest.offer(&wait(from as u64, ticks, true));
            longest.offer(&wait(0, 1000, false));
        }
        for (cores, spent) in [(1, Some(Split::default())), (2, None)] {
            let kept = longest.clone().finish(cores);
            let kept: Vec<_> = kept.iter().map(|wait| (wait.from, wait.ticks())).collect();
            assert_eq!(kept, [(7, 60), (2, 50), (4, 50), (5, 40), (0, 30)]);
            let parts = longest.clone().finish(cores);
            assert!(parts.iter().all(|wait| wait.spent == spent), "{cores} cores");
        }
    }

    /// Returns a wait of a task with a length and a priority inversion.
    fn wait(from: u64, task: u32, ticks: u64, inverted: u64) -> Waited {
        Waited {
            context: ContextId(task),
            key: Some(7),
            is_mutex: true,
            kind: None,
            owner: None,
            event: from,
            from,
            until: from + ticks,
            spent: None,
            inverted: None,
            inverted_by_priority: Some(inverted),
        }
    }

    #[test]
    fn the_worst_waits_of_a_long_trace_are_kept() {
        let mut worst = WorstWaits::new(2);
        let all: Vec<_> = (0..5000_u64)
            .map(|from| match from {
                10 => wait(from, 1, 3, 0),
                1500 => wait(from, 0, 900, 0),
                3000 => wait(from, 0, 20, 500),
                4000 => wait(from, 0, 800, 0),
                4500 => wait(from, 0, 30, 400),
                _ => wait(from, 0, from % 17, from % 5),
            })
            .collect();
        all.iter().for_each(|wait| worst.offer(wait.clone()));
        let (kept, more) = worst.finish();
        let from: Vec<_> = kept.iter().map(|wait| wait.from).collect();
        assert_eq!(from, [10, 1500, 3000, 4000, 4500], "the other task, the longest, the inverted");
        assert_eq!(more, 4995);
    }

    #[test]
    fn inversions_beyond_the_limit_are_spread_over_the_trace() {
        let mut inverted = InvertedWaits::new(4);
        // Every third wait has no inversion. The last one is in an incomplete block.
        for from in 0..31 {
            inverted.offer(wait(from, 0, 5, if from % 3 == 2 { 0 } else { 1 + from % 7 }));
        }
        let (waits, more) = inverted.finish();
        // 21 waits with inversion form three blocks of 8. 6 and 13 have the largest inversion of
        // theirs, and 27 has it in the rest.
        let kept: Vec<_> = waits.iter().map(|wait| (wait.from, wait.inverted_ticks())).collect();
        assert_eq!(kept, [(6, 7), (13, 7), (27, 7)]);
        assert_eq!(more, 18);
    }
}
