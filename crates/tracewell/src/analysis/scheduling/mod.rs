//! Scheduling figures: execution times, jobs, preemptions, waits, interrupts, servers.
//!
//! | file | purpose |
//! |---|---|
//! | `step` | the meaning of an event and its participants |
//! | `execution` | execution time of tasks, including execution on behalf of others |
//! | `accounts` | the parts of an interval: own execution, blocking, interference, interrupts |
//! | `interrupts`, `windows` | time in interrupts, and the maximum load in a window |
//! | `jobs` | release, start and completion of jobs |
//! | `job_table` | the parts of the response time of each job |
//! | `timing` | jobs compared with a known period and deadline |
//! | `passages` | time of a task from one mark to another |
//! | `preemptions` | involuntary loss of the processor |
//! | `locks`, `mutexes` | requests for mutexes and semaphores, waits, holding times |
//! | `inversions` | priority inversion |
//! | `cores` | the time of each core |
//! | `stacks` | maximum stack depth |
//! | `filters` | kinds of events that were not recorded for a time |
//! | `servers` | budgets of servers |
//! | `times` | distributions; measures execution per job and wake-up latency |
//! | `subject` | the tasks, objects, interrupts and marks of the distributions |
//! | `moments` | passes the changes to consumers such as timelines |
//! | `sanity` | contradictions in the trace |
//! | `short_ways` | events that do not change which context runs |
//! | `figures` | the request and the results |
//! | `range` | figures of a range of a trace |
//! | `per` | tables with one row per context or core |
//!
//! All figures are derived from meanings ([`crate::model::Meaning`]). If a system does not record
//! the events for a figure, the figure is 0 or absent. Times are ticks. The duration of an interval
//! in nanoseconds is the time at its end minus the time at its beginning. So sums are exact even if
//! the clock's rate changes.
//!
//! If a trace shows only which context recorded an event ([`Processor::Recorders`]), it is unknown
//! what ran between events. Then there are no figures for execution, preemption and net time.
//!
//! After missing events, it is unknown what runs until an event shows the running context.
//! Intervals, waits and brackets end at the gap. Jobs that were pending at the gap are counted
//! separately.
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

mod accounts;
mod cores;
mod directory;
mod execution;
mod figures;
mod filters;
mod interrupts;
mod inversions;
mod job_table;
mod jobs;
mod kinds;
mod locks;
mod moments;
mod mutexes;
mod passages;
mod per;
mod preemptions;
mod range;
mod resources;
mod sanity;
mod servers;
mod short_ways;
mod stacks;
mod step;
mod subject;
mod times;
mod timing;
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
pub use moments::{JobChange, Moments, Position, Wait};
pub use passages::{Mark, Passage};
pub use preemptions::Preemptions;
pub use resources::{Locks, Resource};
pub use sanity::Sanity;
pub use servers::{Server, Used};
pub use stacks::Stack;
pub use subject::Subject;
pub use timing::{Expected, Timing};
pub use waited::Waited;
pub use windows::WINDOWS;

use crate::analysis::per_id::PerId;
use crate::analysis::total::{Total, total};
use crate::model::{
    Batch, ContextId, ContextKind, Event, Flow, Loss, Meaning, Processor, Sink, Trace,
};
use accounts::Accounts;
use cores::Core;
use directory::Directory;
use execution::{Executions, nanoseconds};
use filters::Filters;
use interrupts::Brackets;
use job_table::{JobTable, Now};
use jobs::{Change, Releases};
use kinds::{Class, Kind};
use locks::Requests;
use passages::Pair;
use per::PerContext;
use preemptions::Switches;
use servers::Budgets;
use stacks::Stacks;
use step::Step;
use times::Times;
use timing::Timings;

/// Maximum number of listed jobs, and maximum number of listed waits. Others are only counted.
pub const MAX_ROWS: usize = 1 << 20;

/// A sink that derives scheduling figures. [`Scheduling::figures`] returns them.
#[derive(Clone, Debug)]
pub struct Scheduling<M = ()> {
    kinds: PerId<Kind>,
    directory: Directory,
    cores: Vec<Core>,
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
    /// True if events may take a short way.
    calm: bool,
    moments: M,
    /// Number of events in the range of the figures.
    events: u64,
    /// The first tick of the range, and the tick after the range; `None` for the end of the trace.
    from: u64,
    until: Option<u64>,
}

/// The gaps: the positions at which events are missing.
#[derive(Clone, Debug, Default)]
struct Gaps {
    count: u64,
    /// Ticks in all gaps.
    ticks: u64,
    /// True if the next event is the first after a gap.
    open: bool,
    /// True if the latest gap was a hole, and no event has shown yet what runs after it.
    hole: bool,
    /// The previous event.
    before: Position,
}

/// The facts that can be derived from the kinds of events in a trace.
#[derive(Clone, Debug)]
struct Coverage {
    /// True if the events show when tasks get and lose the processor.
    switches: bool,
    /// True if the events show when jobs are released.
    releases: bool,
}

impl Coverage {
    fn of(trace: &Trace) -> Self {
        let has = |meaning| trace.schema.has_meaning(meaning);
        Self {
            switches: trace.processor == Processor::Switches,
            releases: has(Meaning::Activate) || has(Meaning::Release),
        }
    }
}

impl<M: Moments> Sink for Scheduling<M> {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        self.events += batch.len() as u64;
        self.directory.update(trace);
        let mut kinds = std::mem::take(&mut self.kinds);
        for (row, id) in batch.columns.id.iter().enumerate() {
            let kind = kinds.get(&trace.schema, *id, Kind::of);
            if !self.calm || !self.take_short_way(trace, batch, row, kind) {
                self.take_row(trace, batch, row, kind);
            }
        }
        self.kinds = kinds;
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
            gaps: Gaps::default(),
            events: 0,
            from: 0,
            until: None,
        };
        if wanted.waits {
            scheduling.requests.keep_each(MAX_ROWS);
        }
        if wanted.budgets {
            scheduling.budgets.keep_each();
        }
        if wanted.distributions {
            scheduling.collect_times();
        }
        scheduling
    }

    /// Handles missing events. It is unknown what runs after the gap, and everything in progress
    /// ends.
    fn gap(&mut self, trace: &Trace, loss: Option<&Loss>) {
        self.settle(trace);
        self.calm = false;
        let before = self.gaps.before.ticks;
        for (cpu, core) in (0..=u16::MAX).zip(&mut self.cores) {
            self.executions.charge(trace, cpu, &core.running, core.since..before);
            core.gap(before);
        }
        self.releases.gap();
        self.requests.gap();
        self.switches.gap();
        self.budgets.gap();
        self.brackets.gap();
        self.timings.gap();
        self.times.gap();
        self.jobs.iter_mut().for_each(JobTable::gap);
        self.pairs.iter_mut().for_each(Pair::gap);
        self.gaps.count += u64::from(!self.gaps.open);
        self.gaps.open = true;
        self.moments.gap(self.gaps.before, loss);
    }

    /// Counts an event for its recording context, and measures the stack of this context.
    #[inline(always)]
    fn recorded(&mut self, event: Event<'_>, kind: &Kind) {
        self.name(event.row.context, event.row.ticks).events += 1;
        if let Some(argument) = kind.stack_pointer {
            self.stacks.take(event, argument);
        }
    }

    /// Handles the event in a row of a batch. The function is not inlined, so that the loop over a
    /// batch loads only the data that the short ways need.
    #[inline(never)]
    fn take_row(&mut self, trace: &Trace, batch: &Batch<'_>, row: usize, kind: &Kind) {
        if let Some(row) = batch.event(row) {
            self.event(Event::new(trace, &row), kind);
        }
    }

    #[inline(always)]
    fn event(&mut self, event: Event<'_>, kind: &Kind) {
        let Event { trace, row } = event;
        let mut step = Step::of(event, kind, &mut self.directory);
        // An event shows that its subject and the next task exist, even if these tasks record no
        // events.
        for named in [step.subject, step.next].into_iter().flatten() {
            self.name(named, step.ticks).last_ticks = step.ticks;
        }
        if let Some(Meaning::StackUsed | Meaning::StackFree) = step.meaning {
            self.stacks.report(trace, &step);
        }
        let by_kind = self.directory.kind(row.context);
        if matches!(by_kind, Some(ContextKind::Thread | ContextKind::System)) {
            self.recorded(event, kind);
        }
        if let (Some(ContextKind::Thread), Some(priority)) = (by_kind, row.priority.get()) {
            let priority = urgency(trace, priority);
            if !self.requests.has_priority(row.context, priority) {
                // The task had the earlier priority until this event.
                self.settle(trace);
                self.requests.note_priority(row.context, priority);
            }
        }
        let hole = self.is_hole(trace, row.id, &step);
        // Events within a hole are ignored.
        if hole && self.gaps.open {
            return;
        }
        if std::mem::take(&mut self.gaps.open) {
            self.gaps.ticks.charge(step.ticks.saturating_sub(self.gaps.before.ticks));
        }
        self.account(trace, &step, usize::from(row.cpu));
        self.gaps.before = Position::of(&step);
        self.gaps.hole |= hole;
        if hole || step.meaning == Some(Meaning::Lost) {
            return self.gap(trace, None);
        }
        if self.gaps.hole {
            // The decoder does not know of holes, so the context that it specifies may date from
            // before the hole.
            step.recorded_by = None;
        }
        self.follow(event, &step, kind);
        self.gaps.hole &= self.cores.iter().all(|core| core.running.task().is_none());
        let in_hole = self.gaps.hole || (self.holes && self.filters.is_hole());
        self.calm = self.pairs.is_empty() && !self.gaps.open && !in_hole;
    }

    /// Stores that an event refers to a context.
    fn name(&mut self, context: ContextId, ticks: u64) -> &mut Seen {
        let seen = Seen { events: 0, first_ticks: ticks, last_ticks: ticks };
        self.seen.at(context).get_or_insert(seen)
    }

    /// Returns true if recording was off after this event. In this case, it is unknown what ran
    /// after the event.
    fn is_hole(&mut self, trace: &Trace, id: u32, step: &Step) -> bool {
        self.filters.take(trace, id, step);
        self.holes && self.filters.is_hole()
    }

    /// Charges the time since the previous event of this core.
    fn account(&mut self, trace: &Trace, step: &Step, cpu: usize) {
        if cpu >= self.cores.len() || step.ticks < self.gaps.before.ticks {
            self.settle(trace);
        }
        if cpu >= self.cores.len() {
            self.cores.resize_with(cpu + 1, Core::default);
        }
        self.charge_until(trace, cpu, step.ticks);
    }

    /// Charges the time that short ways have left uncharged, up to the previous event.
    fn settle(&mut self, trace: &Trace) {
        if self.cores.len() == 1 {
            self.charge_until(trace, 0, self.gaps.before.ticks);
        }
    }

    /// Charges the time of a core up to `now`.
    fn charge_until(&mut self, trace: &Trace, cpu: usize, now: u64) {
        let Some(core) = self.cores.get_mut(cpu) else { return };
        let ticks = core.account(now);
        if ticks == 0 {
            return;
        }
        self.accounts.charge(&core.running, ticks);
        self.budgets.charge(&core.running, ticks, now);
        let (timings, releases) = (&self.timings, &self.releases);
        let deadline = |task| {
            let deadline = timings.deadline(task)?;
            let release = trace.clock.nanoseconds(releases.oldest(task)?)?;
            Some(release.saturating_add(deadline))
        };
        self.requests.charge(&core.running, ticks, deadline, &mut self.moments);
    }

    fn follow(&mut self, event: Event<'_>, step: &Step, kind: &Kind) {
        let Event { trace, row } = event;
        let cpu = usize::from(row.cpu);
        let Some(before) = self.cores.get(cpu).map(|core| core.running) else { return };
        self.moments.event(event, step.subject);
        self.sanity.take(step, &before, kind.is_known);
        match kind.class {
            Class::Plain => self.pass(step),
            Class::Interrupt => {
                self.pass(step);
                self.brackets.take(trace, step, &before);
            }
            Class::Request => {
                self.requests.take(step, &before, &self.accounts, &mut self.moments);
                self.switches.pass(step);
                self.budgets.pass();
            }
            Class::Choice => {
                self.requests.take(step, &before, &self.accounts, &mut self.moments);
                self.switches.take(step, &before, None, &mut self.moments);
                // Other choices do not concern jobs.
                if step.meaning == Some(Meaning::Schedule) {
                    self.follow_jobs(trace, step);
                }
                self.budgets.pass();
                self.follow_times(step);
            }
            Class::Other => {
                let served = self.budgets.task_of(step);
                self.requests.take(step, &before, &self.accounts, &mut self.moments);
                self.switches.take(step, &before, served, &mut self.moments);
                self.follow_jobs(trace, step);
                self.budgets.take(trace, step, &before, &self.accounts);
                self.brackets.take(trace, step, &before);
                self.follow_times(step);
            }
        }
        self.pairs.iter_mut().for_each(|pair| pair.take(trace, row.id, step, &self.accounts));
        let Some(core) = self.cores.get_mut(cpu) else { return };
        step.apply(&mut core.running);
        let idle_changed = core.note_idle(step.idles);
        if idle_changed || core.running != before {
            let at = Position::of(step);
            self.moments.runs(row.cpu, &before, &core.running, core.is_idle(), at);
        }
        if core.running != before {
            // The interval ends here. Charge the context that ran until now before storing the next
            // one.
            self.executions.charge(trace, row.cpu, &before, core.since..step.ticks);
            core.since = step.ticks;
            if self.times.are_wanted()
                && let Some(task) = core.running.task().filter(|_| !core.running.in_interrupt())
            {
                self.times.runs(task, Position::of(step));
            }
            self.dispatched(before.task(), cpu);
        }
    }

    /// Handles an event that is neither a request nor a choice, and concerns neither a job nor a
    /// server nor the end of a task.
    fn pass(&mut self, step: &Step) {
        self.requests.pass_step(step, &self.accounts, &mut self.moments);
        self.switches.pass(step);
        self.budgets.pass();
    }

    fn follow_jobs(&mut self, trace: &Trace, step: &Step) {
        // A completion removes the release from the queue, so the release is looked up first.
        let release = step.subject.and_then(|task| self.releases.oldest(task));
        if let Some(change) = self.releases.take(trace, step) {
            self.job_changed(trace, step, change, release);
        }
    }

    fn follow_times(&mut self, step: &Step) {
        if !self.times.are_wanted() {
            return;
        }
        let cores = &self.cores;
        self.times.take(step, |task| cores.iter().any(|core| core.running.task() == Some(task)));
    }

    /// Handles a change of a job; the step's subject is the job's task. `release` is the tick at
    /// which its oldest job was released.
    fn job_changed(&mut self, trace: &Trace, step: &Step, change: Change, release: Option<u64>) {
        let Some(context) = step.subject else { return };
        if let Some(change) = change.moment() {
            self.moments.job(context, change, Position::of(step));
        }
        self.times.job(context, change, Position::of(step), &self.accounts);
        if let Some(jobs) = &mut self.jobs {
            let preemptions = self.switches.of(context).count;
            let accounts = &self.accounts;
            jobs.take(change, &Now { context, ticks: step.ticks, accounts, preemptions });
        }
        if !self.timings.is_empty()
            && let Some(now) = trace.clock.nanoseconds(step.ticks)
        {
            let released = release.and_then(|ticks| trace.clock.nanoseconds(ticks));
            let response = released.map(|released| now.saturating_sub(released));
            let response = response.filter(|_| change == Change::Done);
            self.timings.take(trace, context, change, now, response, Position::of(step));
        }
    }

    fn dispatched(&mut self, before: Option<ContextId>, cpu: usize) {
        let now = self.cores.get(cpu).and_then(|core| core.running.task());
        if let Some(task) = now.filter(|_| now != before) {
            self.executions.dispatched(task);
            self.switches.dispatched(task);
        }
    }

    /// Returns the figures after all events. `trace` is the trace after the last event.
    pub fn figures(self, trace: &Trace) -> Figures {
        self.finish(trace).0
    }

    /// Returns the consumer of moments.
    pub(in crate::analysis) fn moments(&self) -> &M {
        &self.moments
    }

    /// Returns the consumer of moments as a mutable reference.
    pub(in crate::analysis) fn moments_mut(&mut self) -> &mut M {
        &mut self.moments
    }

    /// Returns the figures after all events, and the consumer of moments.
    pub fn finish(mut self, trace: &Trace) -> (Figures, M) {
        let (from, until) = (self.from, self.until.unwrap_or(trace.span));
        self.settle(trace);
        for (cpu, core) in (0..=u16::MAX).zip(&self.cores) {
            self.executions.charge(trace, cpu, &core.running, core.since..until);
        }
        self.account_last(until);
        if self.until.is_some() {
            self.brackets.cut(trace, until);
        }
        let coverage = Coverage::of(trace);
        if self.gaps.open {
            self.gaps.ticks.charge(until.saturating_sub(self.gaps.before.ticks));
        }
        self.sanity.unmatched_brackets = self.brackets.unmatched();
        let interrupts = self.brackets.finish(nanoseconds(trace, from..until));
        let (resources, waits, more_waits) = self.requests.finish(self.cores.len());
        let (distributions, more_times) = self.finish_times(&coverage);
        let (jobs, more_jobs) =
            self.jobs.as_mut().map_or_else(Default::default, |jobs| jobs.finish(self.cores.len()));
        let contexts = trace.contexts.iter();
        let tasks: Vec<_> = contexts
            .filter(|(id, context)| match context.kind {
                ContextKind::Thread => true,
                ContextKind::System => self.executions.of(*id).ticks > 0,
                _ => false,
            })
            .map(|(id, _)| id)
            // List the system's own context only if it had the processor.
            .collect();
        let tasks: Vec<_> = tasks.into_iter().filter_map(|id| self.task(id, &coverage)).collect();
        let executed = total(tasks.iter().flat_map(|task| task.execution).map(|e| e.ticks));
        let of_each = until.saturating_sub(from).saturating_sub(self.gaps.ticks);
        let cores = (0..=u16::MAX).zip(&self.cores).map(|(cpu, core)| core.time(cpu, of_each));
        // If there is only one core, a list of the execution on each core would repeat the list of
        // tasks.
        let several = coverage.switches && self.cores.len() > 1;
        let figures = Figures {
            events: self.events,
            span: from..until,
            charged_ticks: coverage.switches.then_some(executed.saturating_add(interrupts.ticks)),
            cores: cores.filter(|_| coverage.switches).collect(),
            execution_by_core: if several { self.executions.by_core() } else { Vec::new() },
            stacks: self.stacks.finish(trace),
            priorities_known: self.requests.knows_priorities(),
            tasks,
            interrupts,
            servers: self.budgets.finish(),
            gaps: self.gaps.count,
            gap_ticks: self.gaps.ticks,
            hidden: self.filters.finish(until),
            resources,
            jobs,
            more_jobs,
            waits,
            more_waits,
            longest_waits: self.requests.longest(self.cores.len()),
            passages: self.pairs.into_iter().map(|pair| pair.finish(coverage.switches)).collect(),
            distributions,
            more_times,
            sanity: self.sanity,
        };
        (figures, self.moments)
    }

    fn task(&mut self, context: ContextId, coverage: &Coverage) -> Option<Task> {
        let (locks, waits) = self.requests.of(context);
        // A task may run during the whole range without an event.
        let ran = self.executions.of(context).ticks > 0;
        let unseen = Seen { events: 0, first_ticks: self.from, last_ticks: self.from };
        let seen = self.seen.at(context).or(ran.then_some(unseen));
        Some(Task {
            context,
            seen: seen?,
            execution: coverage.switches.then(|| *self.executions.of(context)),
            jobs: coverage.releases.then(|| self.releases.of(context)),
            preemptions: coverage.switches.then(|| self.switches.in_range(context)),
            locks,
            waits,
            timing: self.timings.of(context),
        })
    }
}

/// Returns a priority in the form in which requests compare it: a smaller number is more urgent.
#[inline(always)]
fn urgency(trace: &Trace, priority: u16) -> u16 {
    if trace.larger_is_urgent { u16::MAX - priority } else { priority }
}

/// Returns true if an event can make the scheduler choose again. Events of timers, budgets, checks
/// and inheritance cannot do this, because they accompany other events.
fn is_cause(meaning: Option<Meaning>) -> bool {
    !matches!(
        meaning,
        Some(
            Meaning::TimerSet
                | Meaning::TimerCancelled
                | Meaning::Release
                | Meaning::ServerActive
                | Meaning::BudgetReplenished
                | Meaning::BudgetExhausted
                | Meaning::WcetExceeded
                | Meaning::DeadlineMissed
                | Meaning::Inherit
        )
    )
}
