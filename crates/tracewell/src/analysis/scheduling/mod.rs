//! Scheduling figures: execution times, jobs, preemptions, waits, interrupts, servers.
//!
//! | file | purpose |
//! |---|---|
//! | `step` | the meaning and the participants of an event |
//! | `execution` | execution time of tasks, including execution on behalf of others |
//! | `accounts` | the parts of an interval: own execution, blocking, interference, interrupts |
//! | `interrupts`, `windows` | time in interrupts, and the maximum load in a window |
//! | `jobs` | release, start and completion of jobs |
//! | `job_table` | the parts of the response time of each job |
//! | `timing` | jobs compared with a known period and deadline |
//! | `passages` | time of a task from one mark to another |
//! | `preemptions` | involuntary loss of the processor |
//! | `locks`, `requests`, `mutexes` | requests for mutexes and semaphores, waits, holding times |
//! | `inversions` | priority inversion |
//! | `cores` | the time of each core |
//! | `stacks` | maximum stack depth |
//! | `filters` | kinds of events that were hidden for some time |
//! | `servers` | budgets of servers |
//! | `times` | distributions, wake-up latency, and the execution time of each job |
//! | `subject` | the task, object, interrupt or pair of marks to which a measured time belongs |
//! | `missed` | the worst missed deadlines |
//! | `moments` | passes the changes to consumers such as timelines |
//! | `sanity` | contradictions in the trace |
//! | `events`, `follow` | the general path, which handles every event |
//! | `rows`, `recorders`, `short_ways` | fast paths for most events |
//! | `gaps` | missing events |
//! | `figures`, `finish` | the options for figures, and the results |
//! | `range` | figures of a range of a trace |
//! | `per` | tables with one row per context or core |
//!
//! All figures are derived from meanings ([`crate::model::Meaning`]). If a system does not record
//! the events for a figure, the figure is 0 or absent. Times are ticks. The duration of an interval
//! in nanoseconds is the time at its end minus the time at its beginning. So sums are exact even if
//! the clock's rate changes.
//!
//! If a trace shows only which context recorded an event ([`Processor::Recorders`]), it is unknown
//! which contexts ran between events. Then there are no figures for execution, preemption and net
//! time.
//!
//! After missing events, the running context is unknown until an event shows it. Intervals, waits
//! and brackets end at the gap. Their time up to the gap counts in sums, but their durations are
//! unknown. Jobs that were pending at the gap are counted separately.
//!
//! ```
//! use tracewell::analysis::scheduling::{Scheduling, Wanted};
//! use tracewell::input::{Input, Settings};
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/threadx/tiny.trx").as_ref();
//! let mut scheduling = Scheduling::new(Wanted::default());
//! let trace = Input::open(path, Settings::default())?.read(&mut scheduling)?;
//! let figures = scheduling.figures(&trace);
//! assert!(figures.tasks.iter().any(|task| task.execution.is_some_and(|e| e.ticks > 0)));
//! # Ok::<(), tracewell::input::InputError>(())
//! ```
//!
//! [`Processor::Recorders`]: crate::model::Processor::Recorders

mod accounts;
mod cores;
mod directory;
mod events;
mod execution;
mod figures;
mod filters;
mod finish;
mod follow;
mod gaps;
mod interrupts;
mod inversions;
mod job_table;
mod jobs;
mod kinds;
mod locks;
mod missed;
mod moments;
mod mutexes;
mod passages;
mod per;
mod preemptions;
mod range;
mod recorders;
mod requests;
mod resources;
mod rows;
mod sanity;
mod servers;
mod short_ways;
mod stacks;
mod step;
mod subject;
mod times;
mod timing;
#[cfg(test)]
pub(in crate::analysis) mod twin_tests;
mod waited;
mod windows;

pub use accounts::{Parts, Split};
pub use cores::CoreTime;
pub use execution::Execution;
pub use figures::{Figures, Seen, Task, Wanted};
pub use filters::Hidden;
pub use interrupts::{InterruptSource, Interrupts};
pub use job_table::Job;
pub use jobs::Jobs;
pub use missed::Missed;
pub use moments::{Budget, JobChange, Moments, Position, Recorded, ServerState, Wait};
pub use passages::{Mark, Passage};
pub use preemptions::Preemptions;
pub use resources::{Locks, LongestInversion, Resource};
pub use sanity::Sanity;
pub use servers::{Server, Used};
pub use stacks::Stack;
pub use subject::Subject;
pub use timing::{Expected, Timing};
pub use waited::Waited;
pub use windows::WINDOWS;

use crate::model::schema::Schema;
use crate::model::{Batch, Flow, Loss, PerId, Sink, Trace};
use accounts::Accounts;
use cores::Core;
use directory::Directory;
use execution::Executions;
use filters::Filters;
use gaps::Gaps;
use interrupts::Brackets;
use job_table::JobTable;
use jobs::Releases;
use kinds::Kind;
use locks::Requests;
use passages::Pair;
use per::PerContext;
use preemptions::Switches;
use recorders::Recorder;
use rows::Rows;
use servers::Budgets;
use stacks::Stacks;
use times::Times;
use timing::Timings;

/// Maximum number of listed jobs, and maximum number of listed waits. Others are only counted.
pub const MAX_ROWS: usize = 1 << 20;

/// Maximum number of listed waits if only waits with priority inversion are listed.
pub const MAX_INVERTED: usize = 1 << 18;

/// A sink that derives scheduling figures. [`Scheduling::figures`] returns them.
#[derive(Clone, Debug)]
pub struct Scheduling<M: Moments = ()> {
    kinds: PerId<Known<M>>,
    directory: Directory,
    cores: Vec<Core>,
    /// Number of ends of recordings on cores that have been handled; see [`Trace::core_ends`].
    core_ends: usize,
    /// For each context, the first and the last event that refer to it, and the number of its
    /// events.
    seen: PerContext<Option<Seen>>,
    executions: Executions,
    accounts: Accounts,
    brackets: Brackets,
    releases: Releases,
    /// The list of jobs, if it is wanted.
    jobs: Option<JobTable>,
    timings: Timings,
    times: Times,
    pairs: Vec<Pair>,
    switches: Switches,
    requests: Requests,
    budgets: Budgets,
    stacks: Stacks,
    filters: Filters,
    sanity: Sanity,
    holes: bool,
    gaps: Gaps,
    /// True if events may take a fast path.
    calm: bool,
    #[cfg(test)]
    takes_short_ways: bool,
    /// The recorder of the latest events; `None` after an event that may have changed the running
    /// context.
    recorder: Option<Recorder>,
    moments: M,
    /// Number of events in the range of the figures.
    events: u64,
    /// The first tick of the range, and the tick after the range; `None` for the end of the trace.
    from: u64,
    until: Option<u64>,
}

/// The facts about an event id that the analysis and the consumer of its moments need.
type Known<M> = (Kind, <M as Moments>::Facts);

/// Returns the facts about an event id.
fn known_of<M: Moments>(schema: &Schema, id: u32) -> Known<M> {
    (Kind::of(schema, id), M::facts(schema, id))
}

impl<M: Moments> Sink for Scheduling<M> {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        self.events += batch.len() as u64;
        self.directory.update(trace);
        self.moments.batch(trace);
        self.end_cores(trace, u64::MAX);
        self.recorder = None;
        let mut table = std::mem::take(&mut self.kinds);
        let mut kinds = table.of_schema(&trace.schema);
        let rows = Rows::new(trace, batch);
        let (mut row, mut stretch) = (0, 0);
        loop {
            if self.calm {
                stretch = if row < stretch { stretch } else { rows.stretch(row) };
                row += self.take_short_ways(&rows, row..stretch, &mut kinds);
            }
            let Some(id) = rows.ids.get(row) else { break };
            self.take_row(trace, batch, row, kinds.get(*id, known_of::<M>));
            row += 1;
        }
        self.kinds = table;
        Flow::Continue(())
    }

    fn loss(&mut self, trace: &Trace, loss: &Loss) -> Flow {
        self.gap(trace, Some(loss));
        Flow::Continue(())
    }
}

impl Default for Scheduling {
    fn default() -> Self {
        Self::new(Wanted::default())
    }
}

impl Scheduling {
    /// Creates a sink for the wanted figures.
    pub fn new(wanted: Wanted) -> Self {
        Self::with_moments(wanted, ())
    }
}

impl<M: Moments> Scheduling<M> {
    /// Creates a sink for the wanted figures that also passes each moment to `moments`.
    pub fn with_moments(wanted: Wanted, moments: M) -> Self {
        let mut scheduling = Self {
            jobs: wanted.jobs.then(|| JobTable::new(MAX_ROWS)),
            timings: Timings::new(wanted.expected),
            times: Times::default(),
            pairs: (0..).zip(wanted.pairs).map(|(index, pair)| Pair::new(index, pair)).collect(),
            holes: wanted.holes,
            kinds: PerId::default(),
            directory: Directory::default(),
            calm: false,
            #[cfg(test)]
            takes_short_ways: true,
            recorder: None,
            moments,
            cores: Vec::new(),
            seen: PerContext::default(),
            executions: Executions::default(),
            accounts: Accounts::default(),
            brackets: Brackets::default(),
            releases: Releases::default(),
            switches: Switches::default(),
            requests: Requests::default(),
            budgets: Budgets::default(),
            stacks: Stacks::default(),
            filters: Filters::default(),
            sanity: Sanity::default(),
            core_ends: 0,
            gaps: Gaps::default(),
            events: 0,
            from: 0,
            until: None,
        };
        if wanted.waits {
            match wanted.worst_waits {
                Some(most) => scheduling.requests.keep_worst(most),
                None if wanted.only_inverted => scheduling.requests.keep_inverted(MAX_INVERTED),
                None => scheduling.requests.keep_each(MAX_ROWS),
            }
        }
        if let Some(most) = wanted.worst_misses {
            scheduling.releases.keep_worst(most);
        }
        if wanted.budgets {
            scheduling.budgets.keep_each();
        }
        if wanted.distributions {
            scheduling.collect_times();
        }
        if wanted.places {
            scheduling.place_times();
        }
        if wanted.uses {
            scheduling.requests.collect_uses();
        }
        scheduling
    }

    /// Returns the consumer of moments.
    pub(in crate::analysis) fn moments(&self) -> &M {
        &self.moments
    }

    /// Returns the consumer of moments as a mutable reference.
    pub(in crate::analysis) fn moments_mut(&mut self) -> &mut M {
        &mut self.moments
    }
}
