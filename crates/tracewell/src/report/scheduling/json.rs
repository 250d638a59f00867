//! The figures of the scheduler as JSON; docs/analysis.md defines them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Serialize, Serializer};

use super::json_parts::{ContextTicks, Durations};
use super::json_rows::{JobRow, MissedRow, WaitRow};
use super::json_system::{CoreRow, InterruptFigures, SanityRow, ServerRow, StackRow};
use super::json_tasks::{Inversions, PassageRow, TaskRow};
use super::missing::missing;
use super::{kind_of, needed, resource_name};
use crate::analysis::scheduling::{Figures, Hidden, Job, Resource, Waited, Wanted};
use crate::model::Trace;
use crate::report::document::rows;
use crate::report::key_text;
use crate::report::sections::Section;

/// The figures of the scheduler. A figure that the trace does not record is null.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SchedulingFigures<'a> {
    /// Name of the trace's format.
    pub format: &'a str,
    /// Number of events in the part of the trace that the figures cover.
    pub events: u64,
    /// Ticks from the first event to the last.
    pub span_ticks: u64,
    /// Nanoseconds from the first event to the last; null if the clock's rate is unknown.
    pub span_ns: Option<u64>,
    /// Ticks for which tasks or interrupts executed, added up over all cores.
    pub charged_ticks: Option<u64>,
    /// Ticks from the first event to the last, multiplied by the number of cores.
    pub charged_of_ticks: Option<u64>,
    /// The time of each core.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cores: Option<Vec<CoreRow<'a>>>,
    /// The facts that are needed to show what executed, but are missing in the trace; null if none
    /// are missing.
    pub execution_needs: Option<&'a str>,
    /// Number of places with missing events.
    pub gaps: u64,
    /// Total duration of the gaps in ticks. The trace contains nothing about this time.
    pub gap_ticks: u64,
    /// Times in which filters hid events.
    pub hidden: Vec<HiddenRow<'a>>,
    /// Interrupts and their sources.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interrupts: Option<InterruptFigures>,
    /// The figures of each task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tasks: Option<Vec<TaskRow<'a>>>,
    /// The servers of S.Ha.R.K.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub servers: Option<Vec<ServerRow<'a>>>,
    /// Mutexes, semaphores and similar objects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locks: Option<Vec<LockRow<'a>>>,
    /// The stacks of tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stacks: Option<Vec<StackRow<'a>>>,
    /// Contradictions in the trace, and its losses.
    pub sanity: SanityRow,
    /// Options that have no effect, with the reason.
    pub without_effect: Vec<WithoutEffect>,
    /// With `--jobs`: each job.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<Vec<JobRow<'_>>>"))]
    pub jobs: Option<JobRows<'a>>,
    /// With `--jobs`: number of jobs that are not in the list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more_jobs: Option<u64>,
    /// With `--waits`: each wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<Vec<WaitRow<'_>>>"))]
    pub waits: Option<WaitRows<'a>>,
    /// With `--waits`: number of waits that are not in the list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more_waits: Option<u64>,
    /// Only from `serve`: the missed deadlines of the jobs that were late for the longest time, the
    /// latest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub misses: Option<Vec<MissedRow<'a>>>,
    /// With `--ipoints`: the times between marks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passages: Option<Vec<PassageRow<'a>>>,
}

impl<'a> SchedulingFigures<'a> {
    /// Returns the figures for programs. `wanted` are the options that the user gave.
    pub fn new(trace: &'a Trace, figures: &'a Figures, wanted: &Wanted) -> Self {
        let cores = figures.cores.len() as u64;
        let tasks = figures.tasks.iter().map(|task| TaskRow::of(trace, figures, task));
        let span = figures.span.end.saturating_sub(figures.span.start);
        let known = span.saturating_sub(figures.gap_ticks);
        let servers = figures.servers.iter().map(|server| ServerRow::of(trace, server, known));
        let locks = figures.resources.iter().map(|lock| LockRow::of(trace, figures, lock));
        let stacks = figures.stacks.iter().map(|stack| StackRow::of(trace, stack));
        let passages = figures.passages.iter().map(|pair| PassageRow::of(trace, pair));
        let misses = figures.misses.iter().map(|missed| MissedRow::of(trace, missed));
        Self {
            format: trace.format,
            events: figures.events,
            span_ticks: span,
            span_ns: nanoseconds(trace, &figures.span),
            charged_ticks: figures.charged_ticks,
            charged_of_ticks: figures.charged_ticks.map(|_| span.saturating_mul(cores)),
            cores: Some(core_rows(trace, figures)),
            execution_needs: needed(trace),
            gaps: figures.gaps,
            gap_ticks: figures.gap_ticks,
            hidden: figures.hidden.iter().map(|hidden| HiddenRow::of(trace, hidden)).collect(),
            interrupts: Some(InterruptFigures::of(trace, &figures.interrupts)),
            tasks: Some(tasks.collect()),
            servers: Some(servers.collect()),
            locks: Some(locks.collect()),
            stacks: Some(stacks.collect()),
            sanity: SanityRow::of(trace, figures.sanity),
            without_effect: WithoutEffect::all(trace, figures, wanted),
            jobs: wanted.jobs.then_some(JobRows { trace, jobs: &figures.jobs }),
            more_jobs: wanted.jobs.then_some(figures.more_jobs),
            waits: wanted.waits.then_some(WaitRows { trace, waits: &figures.waits }),
            more_waits: wanted.waits.then_some(figures.more_waits),
            misses: wanted.worst_misses.map(|_| misses.collect()),
            passages: (!wanted.pairs.is_empty()).then(|| passages.collect()),
        }
    }

    /// Omits the figures of sections for which `has` returns false.
    pub(in crate::report) fn limit(&mut self, has: impl Fn(Section) -> bool) {
        let has_tasks = has(Section::Tasks) || has(Section::Jobs) || has(Section::Locks);
        self.tasks = self.tasks.take().filter(|_| has_tasks);
        self.cores = self.cores.take().filter(|_| has(Section::Cores));
        self.interrupts = self.interrupts.take().filter(|_| has(Section::Interrupts));
        self.servers = self.servers.take().filter(|_| has(Section::Servers));
        self.locks = self.locks.take().filter(|_| has(Section::Locks));
        self.stacks = self.stacks.take().filter(|_| has(Section::Stacks));
    }
}

/// Returns the nanoseconds of a range, or `None` if the clock's rate is unknown.
fn nanoseconds(trace: &Trace, range: &Range<u64>) -> Option<u64> {
    let at = |ticks| trace.clock.nanoseconds(ticks);
    Some(at(range.end)?.saturating_sub(at(range.start)?))
}

/// The jobs, which become rows one at a time.
#[derive(Clone, Copy, Debug)]
pub struct JobRows<'a> {
    trace: &'a Trace,
    jobs: &'a [Job],
}

impl Serialize for JobRows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        rows(serializer, self.jobs, |job| JobRow::of(self.trace, job))
    }
}

/// The waits, which become rows one at a time.
#[derive(Clone, Copy, Debug)]
pub struct WaitRows<'a> {
    trace: &'a Trace,
    waits: &'a [Waited],
}

impl Serialize for WaitRows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        rows(serializer, self.waits, |wait| WaitRow::of(self.trace, wait))
    }
}

fn core_rows<'a>(trace: &'a Trace, figures: &Figures) -> Vec<CoreRow<'a>> {
    let mut tasks: BTreeMap<u16, Vec<ContextTicks<'_>>> = BTreeMap::new();
    for (task, core, ticks) in &figures.execution_by_core {
        tasks.entry(*core).or_default().push(ContextTicks::of(trace, *task, *ticks));
    }
    let several = figures.cores.len() > 1;
    let row =
        |core| CoreRow::of(core, several.then(|| tasks.remove(&core.core).unwrap_or_default()));
    figures.cores.iter().map(row).collect()
}

/// A time in which a filter hid events.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HiddenRow<'a> {
    /// The event that set the filter.
    pub filter: &'a str,
    /// Tick at which hiding began.
    pub from_ticks: u64,
    /// Tick at which recording resumed, or at which the trace ends.
    pub until_ticks: u64,
}

impl<'a> HiddenRow<'a> {
    fn of(trace: &'a Trace, hidden: &Hidden) -> Self {
        let filter = trace.schema.event(hidden.id).label.as_str();
        Self { filter, from_ticks: hidden.from, until_ticks: hidden.until }
    }
}

/// A mutex, semaphore or similar object.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LockRow<'a> {
    /// The kind of the object.
    pub kind: &'a str,
    /// Its key, as in the objects of `info` and in the arguments of events.
    pub key: String,
    /// Its name, if the trace has one.
    pub name: Option<Cow<'a, str>>,
    /// Number of requests for the object by all tasks.
    pub requests: u64,
    /// Number of requests that had to wait.
    pub blocks: u64,
    /// The waits for it.
    pub wait: Option<Durations>,
    /// The durations for which it was held.
    pub hold: Option<Durations>,
    /// Priority inversions of a mutex.
    pub inversions: Option<Inversions>,
}

impl<'a> LockRow<'a> {
    fn of(trace: &'a Trace, figures: &Figures, resource: &Resource) -> Self {
        let Resource { key, is_mutex, kind, last_ticks, figures: locks } = resource;
        Self {
            kind: kind_of(trace, *is_mutex, *kind),
            key: key_text(trace, *key),
            name: resource_name(trace, *key, *kind, *last_ticks),
            requests: locks.requests,
            blocks: locks.blocks,
            wait: Durations::of(locks.wait),
            hold: Durations::of(locks.hold),
            inversions: is_mutex.then(|| Inversions::of(figures, locks)).flatten(),
        }
    }
}

/// An option without effect.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WithoutEffect {
    /// The option in the form in which it was typed.
    pub option: String,
    /// The reason why it has no effect.
    pub reason: String,
}

impl WithoutEffect {
    fn all(trace: &Trace, figures: &Figures, wanted: &Wanted) -> Vec<Self> {
        let missing = missing(trace, figures, wanted).into_iter();
        missing.map(|missing| Self { option: missing.option, reason: missing.why }).collect()
    }
}
