//! The holder of each mutex.
//!
//! A mutex has at most one holder. If events are missing, if a request failed or if a wait timed
//! out, a trace may seem to show a second one. On one core, a task that requests a held mutex, or
//! that continues after a wait although the mutex is still held, did not get the mutex. On several
//! cores, it may get the mutex at the holder's unlock without a further event. An unlock by another
//! task than the holder shows that the hold ended at an unknown time. If the holder is deleted, it
//! is unknown whether the mutex is free.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::moments::Position;
use super::per::PerContext;
use super::resources::Number;
use crate::analysis::key_slots::KeySlots;
use crate::model::ContextId;

/// A task that holds a mutex.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Hold {
    task: ContextId,
    since: Position,
    resource: Number,
}

#[derive(Clone, Copy, Debug, Default)]
struct Row {
    /// The value of `Mutexes::round` for which the row is valid.
    round: u64,
    hold: Option<Hold>,
    /// The latest task that asked for the mutex while another task held it. It is not waiting.
    asked: Option<ContextId>,
}

/// The effect of an unlock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Unlocked {
    /// The number of the mutex.
    pub(super) resource: Number,
    /// The event at which the task got the mutex; `None` if this is unknown, or if another task
    /// seemed to hold the mutex.
    pub(super) since: Option<Position>,
    /// The task that holds the mutex from now on.
    pub(super) next: Option<ContextId>,
}

/// All mutexes, by key.
#[derive(Clone, Debug, Default)]
pub(super) struct Mutexes {
    slots: KeySlots<u64, usize>,
    numbers: HashMap<u64, usize, RandomState>,
    rows: Vec<Row>,
    /// Number of gaps and deletions of tasks so far.
    round: u64,
    /// The value of `round` after the latest gap, and for each task after its latest deletion. All
    /// facts about a row's tasks that are older are invalid. A deletion visits no rows, because a
    /// trace can have many deletions and many mutexes.
    gap: u64,
    deletions: PerContext<u64>,
}

impl Mutexes {
    #[inline]
    fn row(&mut self, key: u64) -> &mut Row {
        let Self { slots, numbers, rows, round, gap, deletions } = self;
        let index = slots.get(key, key, || {
            *numbers.entry(key).or_insert_with(|| {
                rows.push(Row::default());
                rows.len() - 1
            })
        });
        let row = &mut rows[index];
        if row.round != *round {
            let valid_from = |task| deletions.get(task).copied().unwrap_or(0).max(*gap);
            let since = std::mem::replace(&mut row.round, *round);
            row.hold.take_if(|hold| since < valid_from(hold.task));
            row.asked.take_if(|task| since < valid_from(*task));
        }
        row
    }

    /// Returns the holder of a mutex.
    pub(super) fn holder(&mut self, key: u64) -> Option<ContextId> {
        self.row(key).hold.map(|hold| hold.task)
    }

    /// Handles a request. If the mutex has no holder, the task holds it from now on, with the time
    /// and the number in `free`. `free` is `None` if the event says that the mutex has a holder.
    /// Returns true if the task is the holder.
    pub(super) fn requested(
        &mut self,
        task: ContextId,
        key: u64,
        free: Option<(Position, Number)>,
    ) -> bool {
        let row = self.row(key);
        if row.hold.is_none() {
            row.hold = free.map(|(since, resource)| Hold { task, since, resource });
        }
        let is_holder = row.hold.is_some_and(|hold| hold.task == task);
        if !is_holder {
            row.asked = Some(task);
        }
        is_holder
    }

    /// Handles the start of a wait: the task does not hold the mutex.
    pub(super) fn waits(&mut self, task: ContextId, key: u64) {
        let row = self.row(key);
        row.hold.take_if(|hold| hold.task == task);
        row.asked.take_if(|asked| *asked == task);
    }

    /// Handles the end of a wait. If the mutex has no holder, the task holds it from now on.
    /// Returns true if the task is the holder.
    pub(super) fn got(
        &mut self,
        task: ContextId,
        key: u64,
        since: Position,
        resource: Number,
    ) -> bool {
        self.requested(task, key, Some((since, resource)))
    }

    /// Handles an unlock. `on_cores` is true if the trace has several cores. Returns `None` if no
    /// task is known to hold the mutex.
    pub(super) fn unlocked(
        &mut self,
        task: ContextId,
        key: u64,
        now: Position,
        on_cores: bool,
    ) -> Option<Unlocked> {
        let row = self.row(key);
        let asked = row.asked.take();
        let Hold { task: holder, since, resource } = row.hold.take()?;
        // If the task continues after a wait with the unlock itself, it got the mutex earlier.
        if holder != task || since.seq == now.seq {
            return Some(Unlocked { resource, since: None, next: None });
        }
        let next = asked.filter(|_| on_cores);
        row.hold = next.map(|task| Hold { task, since: now, resource });
        Some(Unlocked { resource, since: Some(since), next })
    }

    /// Handles missing events. After the gap, it is unknown which mutexes are held.
    pub(super) fn gap(&mut self) {
        self.round += 1;
        self.gap = self.round;
    }

    /// Handles the deletion of a task. It holds no mutex from now on.
    pub(super) fn deleted(&mut self, task: ContextId) {
        self.round += 1;
        *self.deletions.at(task) = self.round;
    }
}

/// Returns true if no task holds the mutex after an unlock. `holds` says how often the owner held
/// the mutex before, if this is known.
#[inline]
pub(super) fn releases(holds: Option<u64>) -> bool {
    holds.is_none_or(|holds| holds <= 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::scheduling::resources::Resources;

    const KEY: u64 = 7;

    fn at(ticks: u64) -> Position {
        Position { ticks, seq: ticks }
    }

    /// Returns the table, and a number for its only mutex.
    fn mutexes() -> (Mutexes, Number) {
        (Mutexes::default(), Resources::default().number((true, None, KEY)))
    }

    #[test]
    fn a_hold_lasts_from_the_first_request_to_the_unlock_by_the_same_task() {
        let (mut mutexes, resource) = mutexes();
        let [task, other] = [0, 1].map(ContextId);
        assert!(mutexes.requested(task, KEY, Some((at(10), resource))));
        assert!(
            mutexes.requested(task, KEY, Some((at(11), resource))),
            "it holds the mutex already"
        );
        // The request of the other task fails.
        assert!(!mutexes.requested(other, KEY, Some((at(12), resource))));
        let unlocked = mutexes.unlocked(task, KEY, at(20), false);
        assert_eq!(unlocked, Some(Unlocked { resource, since: Some(at(10)), next: None }));
        assert_eq!((mutexes.holder(KEY), mutexes.unlocked(task, KEY, at(21), false)), (None, None));
        // The failed request does not count as the start of the next hold.
        assert!(mutexes.requested(other, KEY, Some((at(30), resource))));
        assert_eq!(mutexes.unlocked(other, KEY, at(35), false).unwrap().since, Some(at(30)));
    }

    #[test]
    fn a_task_whose_wait_times_out_does_not_end_the_hold() {
        let (mut mutexes, resource) = mutexes();
        let [task, other] = [0, 1].map(ContextId);
        mutexes.requested(task, KEY, Some((at(10), resource)));
        mutexes.requested(other, KEY, Some((at(12), resource)));
        mutexes.waits(other, KEY);
        assert!(!mutexes.got(other, KEY, at(15), resource));
        assert_eq!(mutexes.holder(KEY), Some(task));
        assert_eq!(mutexes.unlocked(task, KEY, at(20), false).unwrap().since, Some(at(10)));
    }

    #[test]
    fn a_task_that_waits_for_a_mutex_does_not_hold_it() {
        let (mut mutexes, resource) = mutexes();
        let [task, other] = [0, 1].map(ContextId);
        // The other task has held the mutex since before the trace.
        mutexes.requested(task, KEY, Some((at(10), resource)));
        mutexes.waits(task, KEY);
        assert_eq!(
            (mutexes.holder(KEY), mutexes.unlocked(other, KEY, at(15), false)),
            (None, None)
        );
        assert!(mutexes.got(task, KEY, at(15), resource));
        assert_eq!(mutexes.unlocked(task, KEY, at(20), false).unwrap().since, Some(at(15)));
    }

    #[test]
    fn an_unlock_by_another_task_ends_a_hold_at_an_unknown_time() {
        let (mut mutexes, resource) = mutexes();
        let [task, other] = [0, 1].map(ContextId);
        mutexes.requested(task, KEY, Some((at(10), resource)));
        mutexes.requested(other, KEY, Some((at(12), resource)));
        let unlocked = mutexes.unlocked(other, KEY, at(20), true);
        assert_eq!(unlocked, Some(Unlocked { resource, since: None, next: None }));
        assert_eq!((mutexes.holder(KEY), mutexes.unlocked(task, KEY, at(30), true)), (None, None));
    }

    #[test]
    fn on_several_cores_a_request_is_granted_at_the_unlock() {
        let (mut mutexes, resource) = mutexes();
        let [task, other] = [0, 1].map(ContextId);
        mutexes.requested(task, KEY, Some((at(10), resource)));
        mutexes.requested(other, KEY, Some((at(12), resource)));
        assert_eq!(mutexes.unlocked(task, KEY, at(20), true).unwrap().next, Some(other));
        assert_eq!(mutexes.unlocked(other, KEY, at(25), true).unwrap().since, Some(at(20)));
    }

    #[test]
    fn an_event_can_say_whether_the_mutex_is_free() {
        let (mut mutexes, resource) = mutexes();
        let task = ContextId(0);
        // Another task has held the mutex since before the trace.
        assert!(!mutexes.requested(task, KEY, None));
        assert_eq!(mutexes.holder(KEY), None);
        assert!(mutexes.requested(task, KEY, Some((at(10), resource))));
        assert!(mutexes.requested(task, KEY, None), "the task locks the mutex again");
        assert_eq!(mutexes.unlocked(task, KEY, at(25), false).unwrap().since, Some(at(10)));
        assert_eq!([None, Some(0), Some(1), Some(2)].map(releases), [true, true, true, false]);
    }

    #[test]
    fn a_task_that_continues_with_the_unlock_got_the_mutex_earlier() {
        let (mut mutexes, resource) = mutexes();
        let task = ContextId(0);
        assert!(mutexes.got(task, KEY, at(10), resource));
        assert_eq!(mutexes.unlocked(task, KEY, at(10), false).unwrap().since, None);
    }

    #[test]
    fn a_deleted_task_neither_holds_a_mutex_nor_gets_one() {
        let (mut mutexes, resource) = mutexes();
        let [task, other] = [0, 1].map(ContextId);
        mutexes.requested(task, KEY, Some((at(10), resource)));
        mutexes.deleted(other);
        assert_eq!(mutexes.holder(KEY), Some(task));
        mutexes.requested(other, KEY, Some((at(12), resource)));
        mutexes.deleted(other);
        assert_eq!(mutexes.unlocked(task, KEY, at(20), true).unwrap().next, None);
        mutexes.requested(task, KEY, Some((at(30), resource)));
        mutexes.deleted(task);
        assert_eq!(mutexes.holder(KEY), None);
        // A later task has the same context.
        assert!(mutexes.requested(task, KEY, Some((at(50), resource))));
        assert_eq!(mutexes.unlocked(task, KEY, at(60), true).unwrap().since, Some(at(50)));
    }

    #[test]
    fn nothing_is_held_after_a_gap() {
        let (mut mutexes, resource) = mutexes();
        mutexes.requested(ContextId(0), KEY, Some((at(10), resource)));
        mutexes.gap();
        assert_eq!(mutexes.unlocked(ContextId(0), KEY, at(20), false), None);
    }
}
