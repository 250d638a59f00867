//! Reports the changes in scheduling to a consumer, such as a timeline.
//!
//! [`super::Scheduling`] decides when a task gets the processor, waits or holds a mutex, and adds
//! up these times. A [`Moments`] receives the same decisions one by one, so a timeline agrees with
//! the figures.

use std::fmt::Debug;

use super::step::Step;
pub use crate::analysis::Position;
use crate::model::schema::Schema;
use crate::model::{ContextId, Loss, Meaning, OnBehalf, Running, Trace};

impl Position {
    pub(super) const fn of(step: &Step) -> Self {
        Self { ticks: step.ticks, seq: step.seq }
    }
}

/// A wait for a mutex or a semaphore.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wait {
    /// The task that waits.
    pub task: ContextId,
    /// Key of the object, if events contain it.
    pub key: Option<u64>,
    /// Type code of the object, if events contain it.
    pub kind: Option<u32>,
    /// True for a mutex.
    pub is_mutex: bool,
    /// The owner of the mutex, or the task that runs on behalf of the waiting task.
    pub owner: Option<ContextId>,
    /// Position of the request.
    pub from: Position,
}

/// An event that was recorded, with its participants.
#[derive(Clone, Copy, Debug)]
pub struct Recorded<'a> {
    /// The trace of the event.
    pub trace: &'a Trace,
    /// The id of the event type.
    pub id: u32,
    /// The position of the event.
    pub at: Position,
    /// The core that recorded it.
    pub cpu: u16,
    /// The meaning, if the schema defines one.
    pub meaning: Option<Meaning>,
    /// The context that recorded it.
    pub context: ContextId,
    /// The context that recorded it, if this is a thread.
    pub thread: Option<ContextId>,
    /// The context to which the event's meaning refers.
    pub subject: Option<ContextId>,
}

/// A change in the jobs of a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum JobChange {
    /// A job was released.
    Released,
    /// The oldest pending job was completed.
    Done,
    /// The deadline of the oldest pending job passed.
    Missed,
    /// The task was deleted. None of its pending jobs will be completed.
    Dropped,
}

/// The state of a server's budget.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Budget {
    /// The trace does not show how much of the budget is used.
    Unknown,
    /// These ticks of the budget are used. Negative if reclaimed time was added.
    Used(i64),
    /// The budget is exhausted, and the server waits for the replenishment.
    Exhausted,
}

/// The state of a server, from the event that begins it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ServerState {
    /// The budget at the beginning of the state.
    pub budget: Budget,
    /// Number of cores on which the server's task runs, or on which another task runs on its
    /// behalf. Each of them uses the budget, so [`Budget::Used`] grows by this number per tick.
    pub serving: u16,
}

/// A consumer of moments. It is called in the order of events. For one event, [`Moments::event`] is
/// called first, and [`Moments::runs`] and [`Moments::budget`] last.
pub trait Moments {
    /// The facts about an event id that the consumer needs at each event.
    type Facts: Copy + Debug;

    /// Returns the facts about an event id. They are stored until the schema changes.
    fn facts(schema: &Schema, id: u32) -> Self::Facts;

    /// A batch of events begins. The schema of the trace does not change within a batch.
    fn batch(&mut self, _trace: &Trace) {}

    /// An event was recorded. `facts` are those of its id. `argument` returns the event's argument
    /// at a given index.
    fn event(
        &mut self,
        _event: &Recorded<'_>,
        _facts: &Self::Facts,
        _argument: impl Fn(usize) -> Option<u64>,
    ) {
    }

    /// A task was replaced on a core, although it could have continued.
    fn preempted(&mut self, _task: ContextId) {}

    /// A task began to wait.
    fn wait_began(&mut self, _wait: &Wait) {}

    /// A task continued after a wait, or was deleted during the wait.
    fn wait_ended(&mut self, _wait: &Wait, _at: Position) {}

    /// Another task, `runs`, executed for `ticks` more ticks while `task` waited for a mutex. The
    /// other task is less urgent than `task` and does not hold the mutex.
    fn inverted(&mut self, _task: ContextId, _runs: ContextId, _ticks: u64) {}

    /// A task got a mutex: at its request, or at the end of its wait.
    fn locked(&mut self, _task: ContextId, _key: u64, _kind: Option<u32>, _at: Position) {}

    /// A task released a mutex that it held.
    fn unlocked(&mut self, _task: ContextId, _key: u64, _kind: Option<u32>, _at: Position) {}

    /// A task released a mutex that another task seemed to hold.
    fn holder_unknown(&mut self, _key: u64, _kind: Option<u32>, _at: Position) {}

    /// A task was deleted. It is unknown how long it held its mutexes.
    fn deleted(&mut self, _task: ContextId, _at: Position) {}

    /// A job of a task changed.
    fn job(&mut self, _task: ContextId, _change: JobChange, _at: Position) {}

    /// The state of a server changed. `server` is the index of the server in
    /// [`super::Figures::servers`].
    fn budget(&mut self, _server: usize, _state: ServerState, _at: Position) {}

    /// The exhaustion of a server's budget showed that the server serves another task than assumed.
    /// So [`super::Server::supplied`] changed from `_before` to `_now`.
    fn supply_corrected(&mut self, _server: usize, _before: u64, _now: u64) {}

    /// The running context of a core changed. `idle` is true if an event has reported that no task
    /// is ready.
    fn runs(
        &mut self,
        _cpu: u16,
        _before: &Running<OnBehalf>,
        _now: &Running<OnBehalf>,
        _idle: bool,
        _at: Position,
    ) {
    }

    /// Events are missing after `from`. `loss` is `None` if an event of the trace reports the gap.
    fn gap(&mut self, _from: Position, _loss: Option<&Loss>) {}
}

/// A consumer that ignores all moments.
impl Moments for () {
    type Facts = ();

    fn facts(_: &Schema, _: u32) {}
}
