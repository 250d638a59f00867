//! The figures of the objects that tasks request. Each object has a number. A request looks up the
//! number of its object only once.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::accounts::Split;
use super::moments::Position;
use super::subject::Subject;
use crate::analysis::Range;
use crate::analysis::key_slots::KeySlots;
use crate::analysis::measured::Place;
use crate::model::ContextId;

/// Requests of a task for mutexes, or for semaphores.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Locks {
    /// Number of requests, including requests that were granted immediately.
    pub requests: u64,
    /// Number of requests that had to wait.
    pub blocks: u64,
    /// Time in ticks from a request until the task continues, for waits that ended in the trace.
    pub wait: Range,
    /// The parts of these waits, each summed over all waits. `own` is the time until the scheduler
    /// reacted to the request.
    pub spent: Split,
    /// Time from lock to unlock of mutexes, in ticks.
    pub hold: Range,
    /// Number of requests that had to wait for a mutex whose owner had a lower priority.
    pub inversions: u64,
    /// The longest of these waits that ended in the trace.
    pub longest_inversion: Option<LongestInversion>,
    /// Ticks of priority inversion, measured by priorities, in waits that ended in the trace. These
    /// inversions are unbounded, because a task other than the owner delayed the waiting task.
    pub inverted: Range,
}

/// The longest wait for a mutex whose owner had a lower priority.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LongestInversion {
    /// Duration of the wait in ticks.
    pub ticks: u64,
    /// The event with which it ended.
    pub at: Position,
}

impl Locks {
    /// Adds a wait with inversion that ended with the event `at`. Of equally long ones, the first
    /// is kept.
    pub(super) fn add_inversion(&mut self, ticks: u64, at: Position) {
        if self.longest_inversion.is_none_or(|longest| ticks > longest.ticks) {
            self.longest_inversion = Some(LongestInversion { ticks, at });
        }
    }
}

/// A mutex or a semaphore.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Resource {
    /// The recorded key: an address or a number.
    pub key: u64,
    /// True for a mutex.
    pub is_mutex: bool,
    /// Type code of the object; `None` if events do not contain it. In that case, any object that
    /// is not a mutex is a semaphore.
    pub kind: Option<u32>,
    /// Ticks of the latest request.
    pub last_ticks: u64,
    /// The figures over all tasks.
    pub figures: Locks,
}

/// Identifies a resource by three values: true if it is a mutex, the type code, and the key.
type Name = (bool, Option<u32>, u64);

/// Number of a resource.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Number(usize);

/// A requested object.
#[derive(Clone, Debug)]
pub(super) struct Row {
    name: Name,
    /// True if an event within the range of the figures concerned the object.
    is_used: bool,
    /// Ticks of the latest request.
    pub(super) last_ticks: u64,
    pub(super) figures: Locks,
    /// The places of two distributions: of waiting times and of holding times.
    pub(super) waits: Place,
    pub(super) holds: Place,
}

impl Row {
    fn new(name: Name) -> Self {
        let (waits, holds) = Default::default();
        Self { name, is_used: false, last_ticks: 0, figures: Locks::default(), waits, holds }
    }

    /// Returns the type code of the object.
    pub(super) fn kind(&self) -> Option<u32> {
        self.name.1
    }

    pub(super) fn subject(&self) -> Subject {
        let (is_mutex, kind, key) = self.name;
        Subject::Resource { key, is_mutex, kind }
    }

    /// Returns the subject for the times in which a task waits for this resource or holds it.
    pub(super) fn subject_of(&self, task: ContextId) -> Subject {
        let (is_mutex, kind, key) = self.name;
        Subject::Use { task, key, is_mutex, kind }
    }
}

/// All requested objects.
#[derive(Clone, Debug, Default)]
pub(super) struct Resources {
    rows: Vec<Row>,
    slots: KeySlots<Name, Number>,
    numbers: HashMap<Name, Number, RandomState>,
}

impl Resources {
    /// Returns the number of a resource.
    #[inline]
    pub(super) fn number(&mut self, name: Name) -> Number {
        let Self { rows, slots, numbers } = self;
        slots.get(name.2, name, || {
            *numbers.entry(name).or_insert_with(|| {
                rows.push(Row::new(name));
                Number(rows.len() - 1)
            })
        })
    }

    /// Returns the row of a resource as a mutable reference.
    #[inline]
    pub(super) fn at(&mut self, number: Number) -> &mut Row {
        let row = &mut self.rows[number.0];
        row.is_used = true;
        row
    }

    /// Begins a range: forgets the figures and keeps the numbers.
    pub(super) fn restart(&mut self) {
        self.rows.iter_mut().for_each(|row| *row = Row::new(row.name));
    }

    /// Returns the resources to which events of the range referred, in order of their names.
    pub(super) fn finish(&mut self) -> Vec<Resource> {
        let mut rows = std::mem::take(self).rows;
        rows.retain(|row| row.is_used);
        rows.sort_unstable_by_key(|row| row.name);
        let resource = |row: Row| {
            let Row { name: (is_mutex, kind, key), last_ticks, figures, .. } = row;
            Resource { key, is_mutex, kind, last_ticks, figures }
        };
        rows.into_iter().map(resource).collect()
    }
}
