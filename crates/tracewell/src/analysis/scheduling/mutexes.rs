//! For each mutex, the holder and any other tasks that seem to hold it.
//!
//! Usually only one task holds a mutex, and the task's entry is in the mutex's row. If events are
//! missing, a trace may show that several tasks hold the same mutex. The entries of the additional
//! tasks are in a table.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::resources::Number;
use crate::analysis::key_slots::KeySlots;
use crate::model::ContextId;

/// A task that holds a mutex.
#[derive(Clone, Copy, Debug)]
struct Hold {
    task: ContextId,
    since: u64,
    resource: Number,
}

#[derive(Clone, Copy, Debug, Default)]
struct Row {
    /// The value of `Mutexes::round` for which the row is valid.
    round: u64,
    holder: Option<ContextId>,
    hold: Option<Hold>,
}

/// All mutexes, by key.
#[derive(Clone, Debug, Default)]
pub(super) struct Mutexes {
    slots: KeySlots<u64, usize>,
    numbers: HashMap<u64, usize, RandomState>,
    rows: Vec<Row>,
    /// Number of gaps so far.
    round: u64,
    /// Entries for which there is no room in the rows.
    more: HashMap<(ContextId, u64), Hold, RandomState>,
}

impl Mutexes {
    fn row(&mut self, key: u64) -> &mut Row {
        let Self { slots, numbers, rows, round, .. } = self;
        let index = slots.get(key, key, || {
            *numbers.entry(key).or_insert_with(|| {
                rows.push(Row::default());
                rows.len() - 1
            })
        });
        let row = &mut rows[index];
        if row.round != *round {
            *row = Row { round: *round, ..Row::default() };
        }
        row
    }

    /// Returns the holder of a mutex.
    pub(super) fn holder(&mut self, key: u64) -> Option<ContextId> {
        self.row(key).holder
    }

    /// Handles a request. Makes the task a holder of the mutex from now on, unless it already holds
    /// the mutex. Returns true if [`Mutexes::holder`] now returns this task, and false if it
    /// returns another task.
    pub(super) fn requested(
        &mut self,
        task: ContextId,
        key: u64,
        since: u64,
        resource: Number,
    ) -> bool {
        let has_more = !self.more.is_empty();
        let row = self.row(key);
        let is_holder = *row.holder.get_or_insert(task) == task;
        let new = Hold { task, since, resource };
        match row.hold {
            Some(hold) if hold.task == task => {}
            None if !has_more => row.hold = Some(new),
            _ => {
                self.more.entry((task, key)).or_insert(new);
            }
        }
        is_holder
    }

    /// Handles the end of a wait: the task holds the mutex from now on.
    pub(super) fn got(&mut self, task: ContextId, key: u64, since: u64, resource: Number) {
        let has_more = !self.more.is_empty();
        let row = self.row(key);
        row.holder = Some(task);
        let new = Hold { task, since, resource };
        match row.hold {
            Some(hold) if hold.task == task => row.hold = Some(new),
            None if !has_more => row.hold = Some(new),
            _ => {
                self.more.insert((task, key), new);
            }
        }
    }

    /// Handles an unlock. Returns the time at which the task got the mutex, and the number of the
    /// mutex.
    pub(super) fn unlocked(&mut self, task: ContextId, key: u64) -> Option<(u64, Number)> {
        let row = self.row(key);
        row.holder.take_if(|holder| *holder == task);
        let hold = match row.hold.take_if(|hold| hold.task == task) {
            None if !self.more.is_empty() => self.more.remove(&(task, key)),
            hold => hold,
        };
        hold.map(|hold| (hold.since, hold.resource))
    }

    /// Handles missing events. After the gap, it is unknown which mutexes are held.
    pub(super) fn gap(&mut self) {
        self.round += 1;
        self.more.clear();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::analysis::scheduling::resources::Resources;

    proptest! {
        /// The plain implementation: two tables that contain all entries.
        #[test]
        fn rows_agree_with_tables(
            steps in prop::collection::vec((0..16_u8, 0..3_u32, 0..3_u64), 0..200),
        ) {
            let mut mutexes = Mutexes::default();
            let mut held: HashMap<(ContextId, u64), (u64, Number)> = HashMap::new();
            let mut holders: HashMap<u64, ContextId> = HashMap::new();
            let mut resources = Resources::default();
            for (now, (step, task, key)) in (0..).zip(steps) {
                let (task, resource) = (ContextId(task), resources.number((true, None, key)));
                match step {
                    0 => {
                        mutexes.gap();
                        (held, holders) = Default::default();
                    }
                    1..6 => {
                        held.entry((task, key)).or_insert((now, resource));
                        let is_holder = *holders.entry(key).or_insert(task) == task;
                        prop_assert_eq!(mutexes.requested(task, key, now, resource), is_holder);
                    }
                    6..9 => {
                        held.insert((task, key), (now, resource));
                        holders.insert(key, task);
                        mutexes.got(task, key, now, resource);
                    }
                    _ => {
                        if holders.get(&key) == Some(&task) {
                            holders.remove(&key);
                        }
                        prop_assert_eq!(mutexes.unlocked(task, key), held.remove(&(task, key)));
                    }
                }
                prop_assert_eq!(mutexes.holder(key), holders.get(&key).copied());
            }
        }
    }
}
