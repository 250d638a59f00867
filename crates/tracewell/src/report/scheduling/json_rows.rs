//! The long lists of the JSON document: jobs and waits, one object per row.

use std::borrow::Cow;

use serde::Serialize;

use super::json_parts::{ContextTicks, SplitRow, key_of, name_of};
use super::{kind_of, resource_name};
use crate::analysis::scheduling::{Job, Missed, Parts, Waited};
use crate::model::Trace;
use crate::report::key_text;

/// A job whose release and completion are both in the trace.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JobRow<'a> {
    /// Key of the task's context.
    pub context: Option<&'a str>,
    /// Name of the task.
    pub name: Option<&'a str>,
    /// Number among the completed jobs of the task, from 0.
    pub number: u64,
    /// Ticks of the release.
    pub release_ticks: u64,
    /// Tick at which the task began to execute this job. Execution on behalf of another task does
    /// not count.
    pub start_ticks: Option<u64>,
    /// Ticks of the completion.
    pub completion_ticks: u64,
    /// Ticks from release to completion.
    pub response_ticks: u64,
    /// Nanoseconds from release to completion.
    pub response_ns: Option<u64>,
    /// Ticks for which it executed.
    pub execution_ticks: u64,
    /// Ticks for which earlier jobs of the task executed; null if the parts are unknown.
    pub earlier_jobs_ticks: Option<u64>,
    /// Ticks for which others executed on the task's behalf.
    pub blocking_ticks: Option<u64>,
    /// The other tasks that executed.
    pub preempted_by: Option<Vec<ContextTicks<'a>>>,
    /// Ticks for which interrupts executed during the job; null if the parts are unknown.
    pub interrupt_ticks: Option<u64>,
    /// Ticks in which no task executed, or in which the executing task is unknown.
    pub unattributed_ticks: Option<u64>,
    /// Number of preemptions of the task while this was its oldest job.
    pub preemptions: u64,
    /// Tick at which the deadline passed, if it was missed.
    pub deadline_passed_ticks: Option<u64>,
}

impl<'a> JobRow<'a> {
    pub(super) fn of(trace: &'a Trace, job: &Job) -> Self {
        let at = |ticks| trace.clock.nanoseconds(ticks);
        // Subtract times and not ticks, because the rate may change during the job.
        let response = at(job.completion).zip(at(job.release)).map(|(end, start)| end - start);
        let parts = job.parts.as_ref();
        let others = |parts: &Parts| {
            let others = parts.others.iter();
            others.map(|(context, ticks)| ContextTicks::of(trace, *context, *ticks)).collect()
        };
        Self {
            context: key_of(trace, job.context),
            name: name_of(trace, job.context),
            number: job.number,
            release_ticks: job.release,
            start_ticks: job.start,
            completion_ticks: job.completion,
            response_ticks: job.response(),
            response_ns: response,
            execution_ticks: job.execution,
            earlier_jobs_ticks: parts.map(|_| job.earlier),
            blocking_ticks: parts.map(|parts| parts.blocking),
            preempted_by: parts.map(others),
            interrupt_ticks: parts.map(|parts| parts.interrupts),
            unattributed_ticks: parts.map(|parts| parts.unattributed),
            preemptions: job.preemptions,
            deadline_passed_ticks: job.missed,
        }
    }
}

/// A job whose deadline passed before its completion.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MissedRow<'a> {
    /// Key of the task's context.
    pub context: Option<&'a str>,
    /// Name of the task.
    pub name: Option<&'a str>,
    /// Ticks of the release; null if the trace does not show the job.
    pub released_ticks: Option<u64>,
    /// Ticks of the first event that reports the missed deadline.
    pub missed_ticks: u64,
    /// Ticks of the completion; null if the trace does not show it.
    pub completed_ticks: Option<u64>,
}

impl<'a> MissedRow<'a> {
    pub(super) fn of(trace: &'a Trace, missed: &Missed) -> Self {
        Self {
            context: key_of(trace, missed.context),
            name: name_of(trace, missed.context),
            released_ticks: missed.released,
            missed_ticks: missed.missed,
            completed_ticks: missed.until,
        }
    }
}

/// A wait that ended in the trace, for a mutex, semaphore or similar object.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WaitRow<'a> {
    /// Key of the waiting task's context.
    pub context: Option<&'a str>,
    /// Name of the waiting task.
    pub name: Option<&'a str>,
    /// The kind of the object.
    pub kind: &'a str,
    /// Key of the object, as in the objects of `info` and in the arguments of events.
    pub key: Option<String>,
    /// Name of the object.
    pub object: Option<Cow<'a, str>>,
    /// Name of the task that held the object.
    pub owner: Option<&'a str>,
    /// Ticks of the request.
    pub from_ticks: u64,
    /// Ticks at the end of the wait.
    pub until_ticks: u64,
    /// The parts of the wait.
    pub split: Option<SplitRow>,
    /// Ticks in which a task with a later deadline executed without owning the mutex.
    pub inverted_ticks: Option<u64>,
    /// Ticks in which a task of less urgent priority executed without owning the mutex.
    pub inverted_by_priority_ticks: Option<u64>,
}

impl<'a> WaitRow<'a> {
    pub(super) fn of(trace: &'a Trace, wait: &Waited) -> Self {
        Self {
            context: key_of(trace, wait.context),
            name: name_of(trace, wait.context),
            kind: kind_of(trace, wait.is_mutex, wait.kind),
            key: wait.key.map(|key| key_text(trace, key)),
            object: wait.key.and_then(|key| resource_name(trace, key, wait.kind, wait.from)),
            owner: wait.owner.and_then(|owner| name_of(trace, owner)),
            from_ticks: wait.from,
            until_ticks: wait.until,
            split: wait.spent.map(SplitRow::from),
            inverted_ticks: wait.inverted,
            inverted_by_priority_ticks: wait.inverted_by_priority,
        }
    }
}
