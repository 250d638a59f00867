//! The state of each task. It shows why a task lost its core and which lock the task had requested.
//! It also shows whether a task was already ready when an event made it ready.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use tracewell_wire::target::DefinitionKind;

use super::names::Names;
use crate::model::{ContextId, Trace};

/// A reason why a task stops being ready. The numbers are the values of `block_reason` in the
/// schema.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reason {
    Mutex = 1,
    Semaphore = 2,
    EmptyQueue = 3,
    FullQueue = 4,
    Group = 5,
    Stream = 6,
    Notification = 7,
    Delay = 8,
    Suspended = 9,
}

/// The state of a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    /// No event has shown it yet.
    Unknown,
    /// It is running or ready.
    Ready,
    /// It is not ready, or will not be ready when it loses its core.
    Stopped(Reason),
    Deleted,
}

/// A task.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    pub(super) context: ContextId,
    pub(super) priority: Option<u16>,
    pub(super) state: State,
    /// The lock that it requested most recently; `None` after it got a lock or waited for another
    /// object.
    pub(super) asked: Option<(DefinitionKind, u32)>,
    /// Number of gaps before the state was stored.
    gaps: u64,
}

/// The tasks by their numbers.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    known: HashMap<u32, Task, RandomState>,
    /// Number of gaps so far. There can be many gaps and many tasks, so the decoder does not update
    /// all tasks at each gap. Instead, each task stores this number at each update. If a task
    /// stores a smaller number, its state is out of date.
    gaps: u64,
}

impl Tasks {
    /// Returns the task that has this number. Adds the task if it is new.
    pub(super) fn at(&mut self, number: u32, names: &Names, trace: &mut Trace) -> &mut Task {
        let gaps = self.gaps;
        let task = self.known.entry(number).or_insert_with(|| Task {
            context: names.add_task(number, None, trace),
            priority: names.priority(DefinitionKind::Task, number),
            state: State::Unknown,
            asked: None,
            gaps,
        });
        // Events were lost since the task's last event. Its state is unknown, but its context
        // stays.
        if task.gaps != gaps {
            *task = Task { state: State::Unknown, asked: None, gaps, ..*task };
        }
        task
    }

    /// Begins the life of a task. If another task had this number before, that task has ended.
    pub(super) fn create(
        &mut self,
        number: u32,
        priority: u16,
        ticks: u64,
        names: &Names,
        trace: &mut Trace,
    ) {
        let context = names.add_task(number, Some(ticks), trace);
        let (state, priority, gaps) = (State::Unknown, Some(priority), self.gaps);
        self.known.insert(number, Task { context, priority, state, asked: None, gaps });
    }

    /// Forgets the states, because events are missing.
    pub(super) fn gap(&mut self) {
        self.gaps += 1;
    }

    /// Forgets all tasks, because the target restarted.
    pub(super) fn restart(&mut self) {
        self.known.clear();
    }
}
