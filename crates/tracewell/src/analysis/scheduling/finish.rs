//! The figures at the end of a trace or of a range.

use super::Scheduling;
use super::execution::{Execution, nanoseconds};
use super::figures::{Figures, Seen, Task};
use super::moments::Moments;
use super::preemptions::Preemptions;
use crate::analysis::total::{Total, total};
use crate::model::{ContextId, ContextKind, Meaning, Processor, Trace};

/// The facts that can be derived from the kinds of events in a trace.
#[derive(Clone, Debug)]
pub(super) struct Coverage {
    /// True if the events show when tasks get and lose the processor.
    pub(super) switches: bool,
    /// True if the events show when jobs are released.
    pub(super) releases: bool,
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

impl<M: Moments> Scheduling<M> {
    /// Returns the figures after all events. Call this after the last event of `trace`.
    pub fn figures(self, trace: &Trace) -> Figures {
        self.finish(trace).0
    }

    /// Returns the figures after all events, and the consumer of moments.
    pub fn finish(mut self, trace: &Trace) -> (Figures, M) {
        let (from, until) = (self.from, self.until.unwrap_or(trace.span));
        self.settle(trace);
        self.end_cores(trace, until);
        for (cpu, core) in (0..=u16::MAX).zip(&self.cores) {
            self.executions.charge(trace, cpu, &core.running, core.since..until);
        }
        self.account_last(until);
        self.brackets.close_all(trace, until);
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
            misses: self.releases.worst(until),
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
        // A task may run, get the processor or lose it without an event of the range that refers to
        // it.
        let Execution { ticks, dispatches, .. } = *self.executions.of(context);
        let preemptions = self.switches.in_range(context);
        let has_figures = ticks > 0 || dispatches > 0 || preemptions != Preemptions::default();
        let unseen = Seen { events: 0, first_ticks: self.from, last_ticks: self.from };
        let seen = self.seen.at(context).or(has_figures.then_some(unseen));
        Some(Task {
            context,
            seen: seen?,
            execution: coverage.switches.then(|| *self.executions.of(context)),
            jobs: coverage.releases.then(|| self.releases.of(context)),
            preemptions: coverage.switches.then_some(preemptions),
            locks,
            waits,
            timing: self.timings.of(context),
        })
    }
}
