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
//! | `servers` | what became of the budgets of servers |
//! | `per` | tables with a row a context |
//!
//! Everything rests on meanings ([`crate::model::Meaning`]); a figure is 0 or absent where a system records nothing
//! that tells it. Times are ticks; nanoseconds of an interval are the difference of the times of its
//! ends, so that sums hold where the clock's rate changes.
//!
//! The figures are functions of the events that are there. Where events are missing ([`Figures::losses`])
//! they are not corrected.

mod execution;
mod interrupts;
mod jobs;
mod locks;
mod per;
mod preemptions;
mod servers;
mod step;

pub use execution::Execution;
pub use interrupts::{InterruptSource, Interrupts};
pub use jobs::{Jobs, Range};
pub use locks::Locks;
pub use preemptions::Preemptions;
pub use servers::Server;

use crate::model::{
    Batch, ContextId, ContextKind, EventRef, Flow, Loss, Meaning, Running, Sink, Trace,
};
use execution::Executions;
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
    losses: u64,
}

/// What is followed on each core.
#[derive(Debug, Default)]
struct Core {
    running: Running<ContextId>,
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
    /// Gaps in the trace: with some, what happened in them is in no figure.
    pub losses: u64,
}

impl Sink for Scheduling {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        for event in batch.events() {
            self.event(trace, &event);
        }
        Flow::Continue(())
    }

    fn loss(&mut self, _: &Trace, _: &Loss) -> Flow {
        self.losses += 1;
        Flow::Continue(())
    }
}

impl Scheduling {
    fn event(&mut self, trace: &Trace, event: &EventRef<'_>) {
        let step = Step::of(trace, event);
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
            losses: self.losses,
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
