//! The figures of tasks as JSON: the task itself, its locks, and its passages between marks.

use serde::Serialize;

use super::json_parts::{Durations, SplitRow, key_of, name_of};
use super::{SEMAPHORE, kind_of};
use crate::analysis::scheduling::{Expected, Figures, Jobs, Locks, Mark, Passage, Task, Timing};
use crate::model::{Meaning, Trace};
use crate::report::figures::{some, timed};

/// The figures of a task. A figure that the trace does not record is null.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TaskRow<'a> {
    /// Key of the context, as in events and in the contexts of `info`.
    pub context: Option<&'a str>,
    /// Id of its process.
    pub pid: Option<u64>,
    /// Name of the context.
    pub name: Option<&'a str>,
    /// Number of events that it recorded.
    pub events: u64,
    /// Ticks of the first event that names it.
    pub first_ticks: u64,
    /// Ticks of the last event that names it.
    pub last_ticks: u64,
    /// CPU time in ticks, without interrupts.
    pub execution_ticks: Option<u64>,
    /// CPU time in nanoseconds.
    pub execution_ns: Option<u64>,
    /// The part of the CPU time that was spent on behalf of another task.
    pub execution_for_other_ticks: Option<u64>,
    /// Number of times that it got the processor.
    pub dispatches: Option<u64>,
    /// The figures of its jobs.
    #[serde(flatten)]
    pub jobs: JobFigures,
    /// Results for the period and deadline that options specify; null if options specify neither.
    pub timing: Option<TimingRow>,
    /// Number of times that another task was chosen although this one was ready.
    pub preemptions: Option<u64>,
    /// Number of times that it lost the processor because its server's budget was exhausted.
    pub throttled: Option<u64>,
    /// Number of requests for mutexes.
    pub lock_requests: Option<u64>,
    /// Number of mutex requests that had to wait.
    pub lock_blocks: Option<u64>,
    /// The longest wait for a mutex.
    pub lock_wait_max_ticks: Option<u64>,
    /// The parts of all waits for mutexes; null if there were none, or if the trace has several
    /// cores.
    pub lock_wait_split: Option<SplitRow>,
    /// The durations for which it held mutexes.
    pub lock_hold: Option<Durations>,
    /// Priority inversions; null if events have no priorities.
    pub lock_inversions: Option<Inversions>,
    /// Its requests for semaphores.
    pub semaphores: Option<Requests>,
    /// Its requests for each kind of object except mutexes.
    pub waits_for: Vec<KindRequests<'a>>,
}

/// The figures of a task's jobs. All are null if the trace records no jobs of the task.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JobFigures {
    /// Number of jobs of the task that were released.
    pub activations: Option<u64>,
    /// Number of jobs of the task that were completed.
    pub completions: Option<u64>,
    /// Completions without a release.
    pub orphan_completions: Option<u64>,
    /// Number of jobs during which events are missing; these jobs have no response time.
    pub jobs_across_gaps: Option<u64>,
    /// Releases that had no completion at the end of the trace.
    pub pending_jobs: Option<u64>,
    /// Number of response times.
    pub responses: Option<u64>,
    /// The shortest response time.
    pub response_min_ticks: Option<u64>,
    /// The mean response time, rounded down.
    pub response_mean_ticks: Option<u64>,
    /// The longest response time.
    pub response_max_ticks: Option<u64>,
    /// The longest response time in nanoseconds.
    pub response_max_ns: Option<u64>,
    /// The longest time from a release to the first execution.
    pub start_latency_max_ticks: Option<u64>,
    /// The shortest time between releases.
    pub release_gap_min_ticks: Option<u64>,
    /// The longest time between releases.
    pub release_gap_max_ticks: Option<u64>,
    /// The longest time between releases minus the shortest.
    pub release_jitter_ticks: Option<u64>,
    /// The longest response time minus the shortest.
    pub response_jitter_ticks: Option<u64>,
    /// The longest time between completions minus the shortest.
    pub completion_jitter_ticks: Option<u64>,
    /// Number of recorded deadline misses.
    pub deadline_misses: Option<u64>,
    /// The longest time from a deadline to the completion.
    pub lateness_max_ticks: Option<u64>,
    /// Number of recorded violations of the worst-case execution time.
    pub wcet_violations: Option<u64>,
}

impl JobFigures {
    fn of(trace: &Trace, jobs: &Jobs) -> Self {
        let (response, gap) = (jobs.response, jobs.release_gap);
        let (start, done, lateness) = (jobs.start_latency, jobs.completion_gap, jobs.lateness);
        let longest = some(response, jobs.response_max_nanoseconds);
        Self {
            activations: Some(jobs.activations),
            completions: Some(jobs.completions),
            orphan_completions: Some(jobs.orphan_completions),
            jobs_across_gaps: Some(jobs.across_gaps),
            pending_jobs: Some(jobs.pending),
            responses: Some(response.count),
            response_min_ticks: some(response, response.min),
            response_mean_ticks: some(response, response.mean()),
            response_max_ticks: some(response, response.max),
            response_max_ns: longest.and_then(|ns| timed(trace, ns)),
            start_latency_max_ticks: some(start, start.max),
            release_gap_min_ticks: some(gap, gap.min),
            release_gap_max_ticks: some(gap, gap.max),
            release_jitter_ticks: some(gap, gap.width()),
            response_jitter_ticks: some(response, response.width()),
            completion_jitter_ticks: some(done, done.width()),
            deadline_misses: Some(jobs.deadline_misses),
            lateness_max_ticks: some(lateness, lateness.max),
            wcet_violations: Some(jobs.wcet_violations),
        }
    }
}

impl<'a> TaskRow<'a> {
    pub(super) fn of(trace: &'a Trace, figures: &Figures, task: &Task) -> Self {
        let context = trace.contexts.get(task.context);
        let (execution, lost) = (task.execution, task.preemptions);
        let records = |meaning| trace.schema.has_meaning(meaning);
        let (locks, has_locks) = (&task.locks, records(Meaning::Lock));
        let mut waits = task.waits.iter();
        let semaphores = waits.find(|(kind, _)| kind_of(trace, false, *kind) == SEMAPHORE);
        let semaphores = semaphores.map_or_else(Locks::default, |(_, locks)| *locks);
        let waits_for = task.waits.iter().map(|(kind, locks)| KindRequests {
            kind: kind_of(trace, false, *kind),
            requests: Requests::of(figures, locks),
        });
        Self {
            context: context.map(|context| context.key_text.as_str()),
            pid: context.and_then(|context| trace.process_of(context)),
            name: context.map(|context| context.name.as_str()),
            events: task.seen.events,
            first_ticks: task.seen.first_ticks,
            last_ticks: task.seen.last_ticks,
            execution_ticks: execution.map(|execution| execution.ticks),
            execution_ns: execution.and_then(|execution| timed(trace, execution.nanoseconds)),
            execution_for_other_ticks: execution.map(|execution| execution.for_other_ticks),
            dispatches: execution.map(|execution| execution.dispatches),
            jobs: task.jobs.as_ref().map(|jobs| JobFigures::of(trace, jobs)).unwrap_or_default(),
            timing: TimingRow::of(&task.timing),
            preemptions: lost.map(|lost| lost.count),
            throttled: lost.map(|lost| lost.throttled),
            lock_requests: has_locks.then_some(locks.requests),
            lock_blocks: has_locks.then_some(locks.blocks),
            lock_wait_max_ticks: some(locks.wait, locks.wait.max),
            lock_wait_split: split(figures, locks),
            lock_hold: Durations::of(locks.hold),
            lock_inversions: has_locks.then(|| Inversions::of(figures, locks)).flatten(),
            semaphores: records(Meaning::Wait).then(|| Requests::of(figures, &semaphores)),
            waits_for: waits_for.collect(),
        }
    }
}

/// Priority inversions of waits for mutexes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Inversions {
    /// Number of requests that waited for an owner of less urgent priority.
    pub count: u64,
    /// Number of waits during which a less urgent task executed without owning the mutex.
    pub unbounded: u64,
    /// The longest time for which less urgent tasks executed during one of these waits, in ticks.
    pub inverted_max_ticks: Option<u64>,
}

impl Inversions {
    /// Returns the figures of priority inversions; `None` if events have no priorities.
    pub(super) fn of(figures: &Figures, locks: &Locks) -> Option<Self> {
        figures.priorities_known.then(|| Self {
            count: locks.inversions,
            unbounded: locks.inverted.count,
            inverted_max_ticks: some(locks.inverted, locks.inverted.max),
        })
    }
}

/// The comparison of a task with the period and the deadline that options specify.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TimingRow {
    /// The expected time between releases.
    pub period_ns: Option<u64>,
    /// The largest difference between a release and its expected time.
    pub release_jitter_ns: Option<u64>,
    /// The largest difference between a completion and its expected time.
    pub completion_jitter_ns: Option<u64>,
    /// The deadline, counted from the release.
    pub deadline_ns: Option<u64>,
    /// Number of jobs whose response was longer than the deadline.
    pub late_responses: Option<u64>,
}

impl TimingRow {
    fn of(timing: &Timing) -> Option<Self> {
        (timing.expected != Expected::default()).then(|| Self {
            period_ns: timing.expected.period,
            release_jitter_ns: timing.release_jitter,
            completion_jitter_ns: timing.completion_jitter,
            deadline_ns: timing.expected.deadline,
            late_responses: timing.expected.deadline.map(|_| timing.late),
        })
    }
}

/// Requests of a task for objects of one kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Requests {
    /// Number of requests by the task.
    pub requests: u64,
    /// Number of requests that had to wait.
    pub blocks: u64,
    /// The waits of these requests.
    pub wait: Option<Durations>,
    /// The parts of all waits; null if there were no waits, or if the trace has several cores.
    pub split: Option<SplitRow>,
}

impl Requests {
    fn of(figures: &Figures, locks: &Locks) -> Self {
        Self {
            requests: locks.requests,
            blocks: locks.blocks,
            wait: Durations::of(locks.wait),
            split: split(figures, locks),
        }
    }
}

/// Requests with their kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KindRequests<'a> {
    /// The kind of the objects.
    pub kind: &'a str,
    /// The requests for objects of this kind.
    #[serde(flatten)]
    pub requests: Requests,
}

/// Returns the sum of each part over all waits. Returns `None` if there are no waits or several
/// cores.
fn split(figures: &Figures, locks: &Locks) -> Option<SplitRow> {
    some(locks.wait, locks.spent).filter(|_| figures.cores.len() < 2).map(SplitRow::from)
}

/// The passages between two marks.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PassageRow<'a> {
    /// The mark with which each passage begins.
    pub from: MarkName<'a>,
    /// The mark with which each passage ends.
    pub to: MarkName<'a>,
    /// The passages by task.
    pub tasks: Vec<TaskPassages<'a>>,
}

impl<'a> PassageRow<'a> {
    pub(super) fn of(trace: &'a Trace, pair: &'a (Mark, Mark, Vec<Passage>)) -> Self {
        let (from, to, passages) = pair;
        let tasks = passages.iter().map(|passage| TaskPassages {
            context: key_of(trace, passage.context),
            name: name_of(trace, passage.context),
            raw: Durations::of(passage.raw),
            net: passage.net.and_then(Durations::of),
        });
        Self { from: from.into(), to: to.into(), tasks: tasks.collect() }
    }
}

/// A mark: a number, or the name of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum MarkName<'a> {
    /// The number that identifies a mark.
    Number(u64),
    /// The name of an event.
    Event(&'a str),
}

impl<'a> From<&'a Mark> for MarkName<'a> {
    fn from(mark: &'a Mark) -> Self {
        match mark {
            Mark::Number(number) => Self::Number(*number),
            Mark::Label(label) => Self::Event(label),
        }
    }
}

/// The passages of a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TaskPassages<'a> {
    /// Key of the task's context.
    pub context: Option<&'a str>,
    /// Name of the task.
    pub name: Option<&'a str>,
    /// The times from mark to mark.
    pub raw: Option<Durations>,
    /// The execution times of the task from mark to mark.
    pub net: Option<Durations>,
}
