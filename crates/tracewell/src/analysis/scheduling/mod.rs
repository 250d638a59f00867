//! What the scheduler did: who executed how long, when jobs were released and done, what held them up.
//!
//! | file | question |
//! |---|---|
//! | `step` | what does an event assert, and about whom |
//! | `execution` | who had the processor, how long, on whose behalf |
//! | `accounts` | what was a time spent on |
//! | `interrupts`, `windows` | what did interrupts take, what at most in a time of given length |
//! | `jobs` | when were jobs released, started, done; how late |
//! | `job_table` | what was the response of each job spent on |
//! | `timing` | did jobs keep to a known period and deadline |
//! | `passages` | how long is the way of a task from one mark to another |
//! | `preemptions` | who lost the processor without giving it up |
//! | `locks` | who asked for a mutex or a semaphore and had to wait; who held it |
//! | `inversions` | for how long less urgent tasks held up one that waits |
//! | `cores` | what became of each core's time |
//! | `stacks` | how deep did stacks get |
//! | `filters` | which kinds of events were not recorded, and when |
//! | `servers` | what became of the budgets of servers |
//! | `sanity` | what does not fit together |
//! | `figures` | what to find out, and the answers |
//! | `per` | tables with a row a context, or a core |
//!
//! Everything rests on meanings ([`crate::model::Meaning`]); a figure is 0 or absent where a system records nothing
//! that tells it. Times are ticks; nanoseconds of an interval are the difference of the times of its
//! ends, so that sums hold where the clock's rate changes.
//!
//! Where a trace tells only who recorded its events ([`Processor::Recorders`]), who had the processor between them
//! is not known: there is no execution, no preemption, no net time.
//!
//! Where events are missing, nobody knows who runs until an event tells, and no interval, wait or bracket
//! goes on behind the gap. Jobs that were not done then are counted apart.

mod accounts;
mod cores;
mod execution;
mod figures;
mod filters;
mod interrupts;
mod inversions;
mod job_table;
mod jobs;
mod locks;
mod passages;
mod per;
mod preemptions;
mod sanity;
mod servers;
mod stacks;
mod step;
mod timing;
mod windows;

pub use accounts::{Parts, Split};
pub use cores::CoreTime;
pub use execution::Execution;
pub use figures::{Figures, Seen, Task, Wanted};
pub use filters::Hidden;
pub use interrupts::{InterruptSource, Interrupts};
pub use job_table::Job;
pub use jobs::Jobs;
pub use locks::{Locks, Resource, Waited};
pub use passages::{Mark, Passage};
pub use preemptions::Preemptions;
pub use sanity::Sanity;
pub use servers::{Server, Used};
pub use stacks::Stack;
pub use timing::{Expected, Timing};
pub use windows::WINDOWS;

use crate::model::{
    Batch, ContextId, ContextKind, EventRef, Flow, Loss, Meaning, Processor, Sink, Trace,
};
use accounts::Accounts;
use cores::Core;
use execution::Executions;
use filters::Filters;
use interrupts::Brackets;
use job_table::{JobTable, Now};
use jobs::{Change, Releases};
use locks::Requests;
use passages::Pair;
use per::PerContext;
use preemptions::Switches;
use servers::Budgets;
use stacks::Stacks;
use step::Step;
use timing::Timings;

/// Jobs, and waits, that are kept one by one; the rest is counted.
pub const MAX_ROWS: usize = 1 << 20;

/// A sink that follows the scheduler; [`Scheduling::figures`] has the answers.
#[derive(Debug, Default)]
pub struct Scheduling {
    cores: Vec<Core>,
    /// When a context was named, and what it recorded.
    seen: PerContext<Option<Seen>>,
    executions: Executions,
    accounts: Accounts,
    brackets: Brackets,
    releases: Releases,
    /// Each job, where that is wanted.
    jobs: Option<JobTable>,
    timings: Timings,
    pairs: Vec<Pair>,
    switches: Switches,
    requests: Requests,
    budgets: Budgets,
    stacks: Stacks,
    filters: Filters,
    sanity: Sanity,
    holes: bool,
    gaps: Gaps,
}

/// Places where events are missing.
#[derive(Debug, Default)]
struct Gaps {
    count: u64,
    /// Ticks in them.
    ticks: u64,
    /// Whether the next event is the first one behind a gap.
    open: bool,
    /// Whether it was a hole, and nothing told yet who runs behind it.
    hole: bool,
    /// Ticks of the event before.
    before: u64,
}

/// What a trace tells at all.
#[derive(Debug)]
struct Known {
    /// When tasks get and lose the processor.
    switches: bool,
    /// When jobs are released.
    releases: bool,
}

impl Known {
    fn of(trace: &Trace) -> Self {
        let tells = |meaning| trace.schema.tells(meaning);
        Self {
            switches: trace.processor == Processor::Switches,
            releases: tells(Meaning::Activate) || tells(Meaning::Release),
        }
    }
}

impl Sink for Scheduling {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        for event in batch.events() {
            self.event(trace, &event);
        }
        Flow::Continue(())
    }

    fn loss(&mut self, trace: &Trace, _: &Loss) -> Flow {
        self.gap(trace);
        Flow::Continue(())
    }
}

impl Scheduling {
    /// A sink that finds out more.
    pub fn new(wanted: Wanted) -> Self {
        let mut scheduling = Self {
            jobs: wanted.jobs.then(|| JobTable::new(MAX_ROWS)),
            timings: Timings::new(wanted.expected),
            pairs: wanted.pairs.into_iter().map(|(from, to)| Pair::new(from, to)).collect(),
            holes: wanted.holes,
            ..Self::default()
        };
        if wanted.waits {
            scheduling.requests.keep_each(MAX_ROWS);
        }
        if wanted.budgets {
            scheduling.budgets.keep_each();
        }
        scheduling
    }

    /// Events are missing: nobody knows who runs behind the gap, and what was going on before it.
    fn gap(&mut self, trace: &Trace) {
        let before = self.gaps.before;
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
        self.jobs.iter_mut().for_each(JobTable::gap);
        self.pairs.iter_mut().for_each(Pair::gap);
        self.gaps.count += u64::from(!self.gaps.open);
        self.gaps.open = true;
    }

    fn event(&mut self, trace: &Trace, event: &EventRef<'_>) {
        let mut step = Step::of(trace, event);
        for named in [step.subject, step.next].into_iter().flatten() {
            self.name(named, step.ticks).last_ticks = step.ticks;
        }
        let kind = trace.contexts.get(event.context).map(|by| by.kind);
        if matches!(kind, Some(ContextKind::Thread | ContextKind::System)) {
            self.name(event.context, step.ticks).events += 1;
            self.stacks.take(trace, event);
        }
        if let (Some(ContextKind::Thread), Some(priority)) = (kind, event.priority) {
            self.requests.note_priority(event.context, priority);
        }
        let hole = self.is_hole(trace, event.id, &step);
        if hole && self.gaps.open {
            return;
        }
        if std::mem::take(&mut self.gaps.open) {
            self.gaps.ticks += step.ticks.saturating_sub(self.gaps.before);
        }
        self.account(trace, &step, usize::from(event.cpu));
        self.gaps.before = step.ticks;
        self.gaps.hole |= hole;
        if hole || step.meaning == Some(Meaning::Lost) {
            return self.gap(trace);
        }
        if self.gaps.hole {
            // A reader that does not know of the hole says who ran before it.
            step.recorded_by = None;
        }
        self.follow(trace, event, &step);
        self.gaps.hole &= self.cores.iter().all(|core| core.running.task().is_none());
    }

    /// A context is named.
    fn name(&mut self, context: ContextId, ticks: u64) -> &mut Seen {
        let seen = Seen { events: 0, first_ticks: ticks, last_ticks: ticks };
        self.seen.at(context).get_or_insert(seen)
    }

    /// Whether nothing is known of what follows this event, because it was not to be recorded.
    fn is_hole(&mut self, trace: &Trace, id: u32, step: &Step) -> bool {
        self.filters.take(trace, id, step);
        self.holes && self.filters.is_hole()
    }

    /// Charges the time since the event before on this core.
    fn account(&mut self, trace: &Trace, step: &Step, cpu: usize) {
        if cpu >= self.cores.len() {
            self.cores.resize_with(cpu + 1, Core::default);
        }
        let Some(core) = self.cores.get_mut(cpu) else { return };
        let ticks = core.account(step.ticks);
        if ticks == 0 {
            return;
        }
        self.accounts.charge(&core.running, ticks);
        self.budgets.charge(&core.running, ticks, step.ticks);
        let (timings, releases) = (&self.timings, &self.releases);
        self.requests.charge(&core.running, ticks, |task| {
            let deadline = timings.deadline(task)?;
            let release = trace.clock.nanoseconds(releases.oldest(task)?)?;
            Some(release.saturating_add(deadline))
        });
    }

    fn follow(&mut self, trace: &Trace, event: &EventRef<'_>, step: &Step) {
        let cpu = usize::from(event.cpu);
        let Some(before) = self.cores.get(cpu).map(|core| core.running) else { return };
        self.sanity.take(step, &before, trace.schema.event(event.id).family != "unknown");
        self.requests.take(step, &before, &self.accounts);
        self.switches.take(step, &before, self.budgets.task_of(step));
        let release = step.subject.and_then(|task| self.releases.oldest(task));
        if let Some(change) = self.releases.take(trace, step) {
            self.job_changed(trace, step, change, release);
        }
        self.pairs.iter_mut().for_each(|pair| pair.take(trace, event.id, step, &self.accounts));
        self.budgets.take(trace, step, &before, &self.accounts);
        self.brackets.take(trace, step, &before);
        let Some(core) = self.cores.get_mut(cpu) else { return };
        step.apply(&mut core.running);
        core.note_idle(step.idles);
        if core.running != before {
            self.executions.charge(trace, event.cpu, &before, core.since..step.ticks);
            core.since = step.ticks;
            self.dispatched(before.task(), cpu);
        }
    }

    /// Something happened to a job of the step's subject; `release` is when its oldest was released.
    fn job_changed(&mut self, trace: &Trace, step: &Step, change: Change, release: Option<u64>) {
        let Some(context) = step.subject else { return };
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
            self.timings.take(trace, context, change, now, response);
        }
    }

    fn dispatched(&mut self, before: Option<ContextId>, cpu: usize) {
        let now = self.cores.get(cpu).and_then(|core| core.running.task());
        if let Some(task) = now.filter(|_| now != before) {
            self.executions.dispatched(task);
            self.switches.dispatched(task);
        }
    }

    /// The answers, once all events were taken; `trace` is what reading them returned.
    pub fn figures(mut self, trace: &Trace) -> Figures {
        for (cpu, core) in (0..=u16::MAX).zip(&self.cores) {
            self.executions.charge(trace, cpu, &core.running, core.since..trace.span);
        }
        self.account_last(trace);
        let known = Known::of(trace);
        if self.gaps.open {
            self.gaps.ticks += trace.span.saturating_sub(self.gaps.before);
        }
        self.sanity.unmatched_brackets = self.brackets.unmatched();
        let interrupts = self.brackets.finish(trace.clock.nanoseconds(trace.span).unwrap_or(0));
        let (resources, waits, more_waits) = self.requests.finish(self.cores.len());
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
            .collect();
        let tasks: Vec<_> = tasks.into_iter().filter_map(|id| self.task(id, &known)).collect();
        let executed: u64 = tasks.iter().flat_map(|task| task.execution).map(|e| e.ticks).sum();
        let of_each = trace.span.saturating_sub(self.gaps.ticks);
        let cores = (0..=u16::MAX).zip(&self.cores).map(|(cpu, core)| core.time(cpu, of_each));
        let several = known.switches && self.cores.len() > 1;
        Figures {
            charged_ticks: known.switches.then_some(executed + interrupts.ticks),
            cores: cores.filter(|_| known.switches).collect(),
            execution_by_core: if several { self.executions.by_core() } else { Vec::new() },
            stacks: self.stacks.finish(trace),
            priorities_known: self.requests.knows_priorities(),
            tasks,
            interrupts,
            servers: self.budgets.finish(),
            gaps: self.gaps.count,
            gap_ticks: self.gaps.ticks,
            hidden: self.filters.finish(trace.span),
            resources,
            jobs,
            more_jobs,
            waits,
            more_waits,
            passages: self.pairs.into_iter().map(|pair| pair.finish(known.switches)).collect(),
            sanity: self.sanity,
        }
    }

    /// Budgets fall, and cores are busy, up to the end of the trace.
    fn account_last(&mut self, trace: &Trace) {
        for core in &mut self.cores {
            let ticks = core.account(trace.span);
            self.budgets.charge(&core.running, ticks, trace.span);
        }
    }

    fn task(&mut self, context: ContextId, known: &Known) -> Option<Task> {
        let (locks, waits) = self.requests.of(context);
        Some(Task {
            context,
            seen: (*self.seen.at(context))?,
            execution: known.switches.then(|| *self.executions.of(context)),
            jobs: known.releases.then(|| self.releases.of(context)),
            preemptions: known.switches.then(|| self.switches.of(context)),
            locks,
            waits,
            timing: self.timings.of(context),
        })
    }
}

/// Whether an event can be why the scheduler chooses anew; timers, budgets and checks go along with
/// other events.
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
        )
    )
}
