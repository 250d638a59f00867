//! The subjects of measured times: tasks, objects, interrupts and pairs of marks.

use crate::model::ContextId;

/// The task, object, source of interrupts or pair of marks to which a measured time belongs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Subject {
    /// A task.
    Task(ContextId),
    /// A mutex, or another object that tasks request.
    Resource {
        /// The recorded key: an address or a number.
        key: u64,
        /// True for a mutex.
        is_mutex: bool,
        /// Type code, as in [`Resource::kind`](super::Resource::kind).
        kind: Option<u32>,
    },
    /// A task that waits for an object or holds a mutex. Such times are measured only if
    /// [`Wanted::uses`](super::Wanted::uses) is set.
    Use {
        /// The task.
        task: ContextId,
        /// The recorded key of the object.
        key: u64,
        /// True for a mutex.
        is_mutex: bool,
        /// Type code, as in [`Resource::kind`](super::Resource::kind).
        kind: Option<u32>,
    },
    /// The source of interrupts that has this number; see
    /// [`InterruptSource::number`](super::InterruptSource::number).
    Interrupt(Option<u64>),
    /// A task that passed two marks.
    Passage {
        /// Index of the pair in [`Wanted::pairs`](super::Wanted::pairs).
        pair: usize,
        /// The task.
        task: ContextId,
    },
}
