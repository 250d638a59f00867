//! The waits that ended in a trace, and a list of the longest ones. `locks` finds them.

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
    /// Ticks at which the task continued.
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
}
