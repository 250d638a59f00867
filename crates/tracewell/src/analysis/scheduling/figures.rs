//! Defines the options for figures, and the results.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::cores::CoreTime;
use super::execution::Execution;
use super::filters::Hidden;
use super::interrupts::Interrupts;
use super::job_table::Job;
use super::jobs::Jobs;
use super::missed::Missed;
use super::passages::{Mark, Passage};
use super::preemptions::Preemptions;
use super::resources::{Locks, Resource};
use super::sanity::Sanity;
use super::servers::Server;
use super::stacks::Stack;
use super::subject::Subject;
use super::timing::{Expected, Timing};
use super::waited::Waited;
use crate::analysis::Measured;
use crate::model::ContextId;

/// The figures to derive in addition to those of tasks, interrupts, servers and locks.
///
/// ```
/// use tracewell::analysis::scheduling::{Expected, Mark, Wanted};
///
/// let mut wanted = Wanted { jobs: true, ..Wanted::default() };
/// wanted.pairs.push((Mark::Number(1), Mark::Label("sent".to_owned())));
/// let expected = Expected { period: Some(10_000_000), deadline: None };
/// wanted.expected.insert("tau1".to_owned(), expected);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// List each job, up to [`MAX_ROWS`](super::MAX_ROWS).
    pub jobs: bool,
    /// List each wait for a mutex or a semaphore, up to [`MAX_ROWS`](super::MAX_ROWS).
    pub waits: bool,
    /// Instead of each wait, list only the waits with priority inversion, up to
    /// [`MAX_INVERTED`](super::MAX_INVERTED). If there are more, each listed wait stands for
    /// several consecutive ones, and has the largest inversion among them.
    pub only_inverted: bool,
    /// With `waits`: instead of the first waits, list the worst ones of the whole trace. These are
    /// this number of the longest waits, this number of the waits with the largest priority
    /// inversion, and the longest wait of each task and for each object.
    pub worst_waits: Option<usize>,
    /// List this number of missed deadlines: those of the jobs that were late for the longest time.
    pub worst_misses: Option<usize>,
    /// List the used budget of each server over time, and the times at which it was exhausted.
    pub budgets: bool,
    /// Measure the time between these pairs of marks.
    pub pairs: Vec<(Mark, Mark)>,
    /// Known periods and deadlines. The key is the name of the task, or the key of its context
    /// written as text.
    pub expected: HashMap<String, Expected, RandomState>,
    /// Collect all times as distributions.
    pub distributions: bool,
    /// With `distributions`: also store where the longest times of each bucket ended, for a
    /// histogram whose bars lead to places.
    pub places: bool,
    /// With `distributions`: also collect, for each task and each object, the times for which the
    /// task waits for the object or holds it.
    pub uses: bool,
    /// Treat the time in which tracing was stopped, or in which a filter hid necessary events, as
    /// unknown.
    pub holes: bool,
}

/// The number and the times of the events that refer to a task, whatever these events mean.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Seen {
    /// Number of events with this context.
    pub events: u64,
    /// Ticks of the first event that refers to the task.
    pub first_ticks: u64,
    /// Ticks of the last event that refers to the task.
    pub last_ticks: u64,
}

/// The figures of one task.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Task {
    /// The context of the task.
    pub context: ContextId,
    /// The first and the last event that refer to the task, and the number of its events.
    pub seen: Seen,
    /// Its execution; `None` if the trace shows only which context recorded each event.
    pub execution: Option<Execution>,
    /// Its jobs; `None` if the trace's events never show releases.
    pub jobs: Option<Jobs>,
    /// Its preemptions; `None` if its execution is unknown.
    pub preemptions: Option<Preemptions>,
    /// Its requests for mutexes.
    pub locks: Locks,
    /// Its requests for objects other than mutexes, for each type code ([`Resource::kind`]).
    pub waits: Vec<(Option<u32>, Locks)>,
    /// The comparison of its timing with the known period and deadline.
    pub timing: Timing,
}

/// All scheduling figures of a trace.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Figures {
    /// Number of events in the range of the figures.
    pub events: u64,
    /// The range in ticks; for the whole trace, from 0 to the trace's duration.
    pub span: std::ops::Range<u64>,
    /// Tasks in the order in which the trace first names them.
    pub tasks: Vec<Task>,
    /// Time spent in interrupts.
    pub interrupts: Interrupts,
    /// Servers in the order in which the trace first names them.
    pub servers: Vec<Server>,
    /// Ticks in which tasks or interrupts ran on any core, excluding idle and unknown time. `None`
    /// if the trace shows only which context recorded each event.
    pub charged_ticks: Option<u64>,
    /// The time of each core; empty if the trace shows only which context recorded each event.
    pub cores: Vec<CoreTime>,
    /// Execution of each task on each core: the task, the core, and the ticks. Empty if there is
    /// only one core.
    pub execution_by_core: Vec<(ContextId, u16, u64)>,
    /// Number of gaps. Events are missing in a gap.
    pub gaps: u64,
    /// Ticks in the gaps. It is unknown which context ran in this time.
    pub gap_ticks: u64,
    /// Periods in which a filter hid one kind of event, in the order of their ends.
    pub hidden: Vec<Hidden>,
    /// Objects that tasks requested. The objects of each kind are in the order of their keys;
    /// mutexes are last.
    pub resources: Vec<Resource>,
    /// True if events contain priorities, from which priority inversion is derived.
    pub priorities_known: bool,
    /// The stack of each task for which the trace contains the stack's size or depth.
    pub stacks: Vec<Stack>,
    /// The completed jobs in the order of their completion, if the caller wants them.
    pub jobs: Vec<Job>,
    /// Number of jobs that are not listed, because there are more than [`super::MAX_ROWS`].
    pub more_jobs: u64,
    /// The waits in the order of their ends, if the caller wants them.
    pub waits: Vec<Waited>,
    /// Number of waits that should be listed but are not, because there are too many.
    pub more_waits: u64,
    /// The longest waits for mutexes, longest first. This list does not depend on
    /// [`Wanted::waits`].
    pub longest_waits: Vec<Waited>,
    /// The worst missed deadlines, the latest first, if the caller wants them.
    pub misses: Vec<Missed>,
    /// For each wanted pair of marks, the times of each task.
    pub passages: Vec<(Mark, Mark, Vec<Passage>)>,
    /// The distributions of all times, if the caller wants them. They are in the order in which
    /// their first times were added.
    pub distributions: Vec<Measured<Subject>>,
    /// Number of measured times that are in no distribution, because there are too many
    /// distributions.
    pub more_times: u64,
    /// Contradictions in the trace.
    pub sanity: Sanity,
}
