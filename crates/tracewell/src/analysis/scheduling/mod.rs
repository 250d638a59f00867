//! What the scheduler did: who executed how long, when jobs were released and done, what held them up.
//!
//! | file | question |
//! |---|---|
//! | `step` | what does an event assert, and about whom |
//! | `execution` | who had the processor, how long, on whose behalf |
//! | `interrupts` | what did interrupts take |
//! | `jobs` | when were jobs released, started, done; how late |
//! | `preemptions` | who lost the processor without giving it up |
//! | `locks` | who asked for a mutex and had to wait |
//! | `filters` | which kinds of events were not recorded, and when |
//! | `servers` | what became of the budgets of servers |
//! | `per` | tables with a row a context |
//!
//! Everything rests on meanings ([`crate::model::Meaning`]); a figure is 0 or absent where a system records nothing
//! that tells it. Times are ticks; nanoseconds of an interval are the difference of the times of its
//! ends, so that sums hold where the clock's rate changes.
//!
//! Where events are missing, nobody knows who runs until an event tells, and no interval, wait or bracket
//! goes on behind the gap. Jobs that were not done then are counted apart.

mod execution;
mod filters;
mod interrupts;
mod jobs;
mod locks;
mod per;
mod preemptions;
mod servers;
mod step;

pub use execution::Execution;
pub use filters::Hidden;
pub use interrupts::{InterruptSource, Interrupts};
pub use jobs::Jobs;
pub use locks::Locks;
pub use preemptions::Preemptions;
pub use servers::Server;

use crate::model::{
    Batch, ContextId, ContextKind, EventRef, Flow, Loss, Meaning, OnBehalf, Running, Sink, Trace,
};
use execution::Executions;
use filters::Filters;
use interrupts::Brackets;
use jobs::Releases;
use locks::Requests;
use per::PerContext;
use preemptions::Switches;
use servers::Budgets;
use step::Step;

/// A sink that follows the scheduler; [`Scheduling::figures`] has the answers.
#[derive(Debug, Default)]
pub struct Scheduling {
    cores: Vec<Core>,
    /// Ticks at which a context was first named.
    first: PerContext<Option<u64>>,
    executions: Executions,
    brackets: Brackets,
    releases: Releases,
    switches: Switches,
    requests: Requests,
    budgets: Budgets,
    filters: Filters,
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
    /// Ticks of the event before.
    before: u64,
}

/// What is followed on each core.
#[derive(Debug, Default)]
struct Core {
    running: Running<OnBehalf>,
    /// Ticks from which on what runs has not been charged yet.
    since: u64,
}

/// What is known of one task.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Task {
    /// Which one.
    pub context: ContextId,
    /// Ticks of the first event that names it.
    pub first_ticks: u64,
    /// Its execution.
    pub execution: Execution,
    /// Its jobs.
    pub jobs: Jobs,
    /// How it lost the processor.
    pub preemptions: Preemptions,
    /// Its requests for mutexes.
    pub locks: Locks,
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
    /// Ticks of execution and interrupts together: the trace's span but for times of which nobody
    /// knows who ran, or when nobody did.
    pub charged_ticks: u64,
    /// Places where events are missing.
    pub gaps: u64,
    /// Ticks in them; of these nobody knows who ran.
    pub gap_ticks: u64,
    /// Kinds of events that were not recorded for a time, in the order in which that ended.
    pub hidden: Vec<Hidden>,
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
    /// Events are missing: nobody knows who runs behind the gap, and what was going on before it.
    fn gap(&mut self, trace: &Trace) {
        for core in &mut self.cores {
            self.executions.charge(trace, &core.running, core.since..self.gaps.before);
            *core = Core { running: Running::default(), since: self.gaps.before };
        }
        self.releases.gap();
        self.requests.gap();
        self.switches.gap();
        self.brackets.gap();
        self.gaps.count += u64::from(!self.gaps.open);
        self.gaps.open = true;
    }

    fn event(&mut self, trace: &Trace, event: &EventRef<'_>) {
        let step = Step::of(trace, event);
        if std::mem::take(&mut self.gaps.open) {
            self.gaps.ticks += step.ticks.saturating_sub(self.gaps.before);
        }
        self.gaps.before = step.ticks;
        if step.meaning == Some(Meaning::Lost) {
            return self.gap(trace);
        }
        self.filters.take(event.id, &step);
        let cpu = usize::from(event.cpu);
        if cpu >= self.cores.len() {
            self.cores.resize_with(cpu + 1, Core::default);
        }
        for named in [step.subject, step.next].into_iter().flatten() {
            self.first.at(named).get_or_insert(step.ticks);
        }
        let Some(core) = self.cores.get_mut(cpu) else { return };
        let before = core.running;
        self.requests.take(&step, &before);
        self.switches.take(&step, &before, self.budgets.task_of(&step));
        self.releases.take(trace, &step);
        self.budgets.take(&step);
        self.brackets.take(trace, &step, &before);
        step.apply(&mut core.running);
        if core.running != before {
            self.executions.charge(trace, &before, core.since..step.ticks);
            core.since = step.ticks;
            self.dispatched(before.task(), cpu);
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
        for core in &self.cores {
            self.executions.charge(trace, &core.running, core.since..trace.span);
        }
        let interrupts = self.brackets.finish();
        let contexts = trace.contexts.iter();
        let threads = contexts.filter(|(_, context)| context.kind == ContextKind::Thread);
        let tasks: Vec<_> = threads.filter_map(|(id, _)| self.task(id)).collect();
        let executed: u64 = tasks.iter().map(|task| task.execution.ticks).sum();
        Figures {
            charged_ticks: executed + interrupts.ticks,
            tasks,
            interrupts,
            servers: self.budgets.finish(),
            gaps: self.gaps.count,
            gap_ticks: self.gaps.ticks,
            hidden: self.filters.finish(trace.span),
        }
    }

    fn task(&mut self, context: ContextId) -> Option<Task> {
        Some(Task {
            context,
            first_ticks: (*self.first.at(context))?,
            execution: *self.executions.of(context),
            jobs: self.releases.of(context),
            preemptions: self.switches.of(context),
            locks: self.requests.of(context),
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
