//! What to find out, and the answers.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::cores::CoreTime;
use super::execution::Execution;
use super::filters::Hidden;
use super::interrupts::Interrupts;
use super::job_table::Job;
use super::jobs::Jobs;
use super::locks::{Locks, Resource, Waited};
use super::passages::{Mark, Passage};
use super::preemptions::Preemptions;
use super::sanity::Sanity;
use super::servers::Server;
use super::stacks::Stack;
use super::timing::{Expected, Timing};
use crate::model::ContextId;

/// What to find out beyond the figures of tasks, interrupts, servers and locks.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Each job.
    pub jobs: bool,
    /// Each wait for a mutex or a semaphore.
    pub waits: bool,
    /// How much of each server's budget was used, and when it had none.
    pub budgets: bool,
    /// Times between two marks, for each of these pairs.
    pub pairs: Vec<(Mark, Mark)>,
    /// What is known of tasks, by their names or the texts of their contexts' keys.
    pub expected: HashMap<String, Expected, RandomState>,
    /// Nothing is known of times in which tracing was stopped, or events that figures rest on were
    /// hidden by a filter.
    pub holes: bool,
}

/// What a trace has of a task, whatever its events mean.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Seen {
    /// Events of which it is the context.
    pub events: u64,
    /// Ticks of the first event that names it.
    pub first_ticks: u64,
    /// Ticks of the last event that names it.
    pub last_ticks: u64,
}

/// What is known of one task.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Task {
    /// Which one.
    pub context: ContextId,
    /// Where it appears.
    pub seen: Seen,
    /// Its execution; `None` where the trace tells only who recorded events.
    pub execution: Option<Execution>,
    /// Its jobs; `None` where the trace's events never tell of releases.
    pub jobs: Option<Jobs>,
    /// How it lost the processor; `None` where its execution is not known.
    pub preemptions: Option<Preemptions>,
    /// Its requests for mutexes.
    pub locks: Locks,
    /// Its waits for what is no mutex, by the type code of that, as in [`Resource::kind`].
    pub waits: Vec<(Option<u32>, Locks)>,
    /// How it kept to what is known of it from outside.
    pub timing: Timing,
}

/// What is known of a trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Figures {
    /// Tasks in the order in which the trace first names them.
    pub tasks: Vec<Task>,
    /// Time spent in interrupts.
    pub interrupts: Interrupts,
    /// Servers in the order in which the trace first names them.
    pub servers: Vec<Server>,
    /// Ticks of execution and interrupts together, of all cores: their time but for times of which nobody
    /// knows who ran, or when nobody did. `None` where the trace tells only who recorded events.
    pub charged_ticks: Option<u64>,
    /// The time of each core; empty if the trace says only who recorded events.
    pub cores: Vec<CoreTime>,
    /// Rows of a task, a core, and the ticks that the task ran on it, in this order; empty on one core.
    pub execution_by_core: Vec<(ContextId, u16, u64)>,
    /// Places where events are missing.
    pub gaps: u64,
    /// Ticks in them; of these nobody knows who ran.
    pub gap_ticks: u64,
    /// Kinds of events that were not recorded for a time, in the order in which that ended.
    pub hidden: Vec<Hidden>,
    /// Mutexes and other objects that tasks asked for: mutexes last, each kind by key.
    pub resources: Vec<Resource>,
    /// True if events have priorities, which waits are compared with.
    pub priorities_known: bool,
    /// The stacks of tasks, as far as the trace says where they lie.
    pub stacks: Vec<Stack>,
    /// Each job that was done, in order of completion, where that was wanted.
    pub jobs: Vec<Job>,
    /// Jobs beyond [`super::MAX_ROWS`], which are not kept.
    pub more_jobs: u64,
    /// Each wait, in the order in which they ended, where that was wanted.
    pub waits: Vec<Waited>,
    /// Waits beyond [`super::MAX_ROWS`], which are not kept.
    pub more_waits: u64,
    /// For each pair of marks that was wanted its tasks' times.
    pub passages: Vec<(Mark, Mark, Vec<Passage>)>,
    /// What does not fit together.
    pub sanity: Sanity,
}
