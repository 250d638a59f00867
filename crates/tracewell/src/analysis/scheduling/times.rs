//! Distributions of scheduling times. The modules that derive figures such as response times also
//! add these times to distributions. This module measures wake-up latency and the execution time of
//! each job. These times are available only as distributions.

use super::accounts::Accounts;
use super::finish::Coverage;
use super::jobs::Change;
use super::moments::{Moments, Position};
use super::per::PerContext;
use super::step::Step;
use super::subject::Subject;
use super::{Pair, Scheduling};
use crate::analysis::measured::{Distributions, Measure, Measured};
use crate::model::{ContextId, Meaning};

/// The state of a task.
#[derive(Clone, Debug, Default)]
struct Task {
    /// Number of pending jobs.
    pending: u64,
    /// Total execution of the task up to the time when its oldest pending job became the oldest.
    ran: u64,
    /// Ticks at which the task became ready, if it has not had the processor since then.
    woken: Option<u64>,
}

/// Measures wake-up latency and the execution time of each job, if distributions are requested.
#[derive(Clone, Debug, Default)]
pub(super) struct Times {
    pub(super) distributions: Distributions<Subject>,
    tasks: PerContext<Task>,
}

impl Times {
    /// Returns true if distributions are requested.
    pub(super) fn are_wanted(&self) -> bool {
        self.distributions.are_wanted()
    }

    /// Handles a change of a job.
    pub(super) fn job(
        &mut self,
        task: ContextId,
        change: Change,
        at: Position,
        accounts: &Accounts,
    ) {
        if !self.are_wanted() {
            return;
        }
        let (row, ran) = (self.tasks.at(task), accounts.ran(task));
        match change {
            Change::Released => {
                // If no earlier job is pending, execution belongs to this job from now on.
                row.ran = if row.pending == 0 { ran } else { row.ran };
                row.pending += 1;
            }
            Change::Done => {
                row.pending = row.pending.saturating_sub(1);
                let ticks = ran - std::mem::replace(&mut row.ran, ran);
                self.distributions.add(Measure::Execution, Subject::Task(task), ticks, at);
            }
            Change::Dropped => row.pending = 0,
            Change::Started | Change::Missed => {}
        }
    }

    /// Handles an event that makes its subject ready or not ready. `runs` returns true if
    /// a task has a core. Only call this if distributions are requested.
    pub(super) fn take(&mut self, step: &Step, runs: impl Fn(ContextId) -> bool) {
        let Some(subject) = step.subject else { return };
        match step.meaning {
            Some(Meaning::Ready | Meaning::Activate) if !runs(subject) => {
                // If the task is already ready, its latency counts from the first event that made
                // it ready.
                self.tasks.at(subject).woken.get_or_insert(step.ticks);
            }
            Some(Meaning::Blocks | Meaning::Complete | Meaning::Delete) => {
                self.tasks.at(subject).woken = None;
            }
            _ => {}
        }
    }

    /// Stores that a task is running. `at` is the event that gave it the processor. Only call this
    /// if distributions are requested.
    pub(super) fn runs(&mut self, task: ContextId, at: Position) {
        if let Some(woken) = self.tasks.at(task).woken.take() {
            let ticks = at.ticks.saturating_sub(woken);
            self.distributions.add(Measure::WakeUp, Subject::Task(task), ticks, at);
        }
    }

    /// Handles missing events.
    pub(super) fn gap(&mut self) {
        self.tasks = PerContext::default();
    }
}

impl<M: Moments> Scheduling<M> {
    /// Collects all times as distributions from now on.
    pub(super) fn collect_times(&mut self) {
        self.each_distributions(Distributions::collect);
    }

    /// Also stores where the longest times of each bucket ended.
    pub(super) fn place_times(&mut self) {
        self.each_distributions(Distributions::place);
    }

    /// Begins a range: removes all times so far.
    pub(super) fn restart_times(&mut self) {
        self.each_distributions(Distributions::restart);
    }

    fn each_distributions(&mut self, mut change: impl FnMut(&mut Distributions<Subject>)) {
        change(self.releases.distributions());
        change(&mut self.times.distributions);
        change(self.timings.distributions());
        change(self.requests.distributions());
        change(self.brackets.distributions());
        self.pairs.iter_mut().map(Pair::distributions).for_each(change);
    }

    /// Returns all distributions, and the number of measured times that are in no distribution.
    /// Omits kinds of times for which the trace lacks events.
    pub(super) fn finish_times(&mut self, coverage: &Coverage) -> (Vec<Measured<Subject>>, u64) {
        let (mut all, mut more) = (Vec::new(), 0);
        self.each_distributions(|distributions| {
            let (rows, left_out) = distributions.finish();
            all.extend(rows);
            more += left_out;
        });
        let several = self.cores.len() > 1;
        all.retain(|row: &Measured<Subject>| match row.measure {
            Measure::Execution | Measure::WakeUp | Measure::PassageExecution => coverage.switches,
            // On several cores, tasks run at the same time, so a wait cannot be divided into parts.
            Measure::Blocking => !several,
            Measure::Response
            | Measure::StartLatency
            | Measure::Period
            | Measure::CompletionPeriod
            | Measure::Lateness => coverage.releases,
            _ => true,
        });
        (all, more)
    }
}
