//! Figures of the whole system as JSON: cores, interrupts, servers, stacks, contradictions.

use serde::Serialize;

use super::json_parts::{ContextTicks, Durations, key_of, name_of};
use crate::analysis::scheduling::{
    CoreTime, InterruptSource, Interrupts, Sanity, Server, Stack, WINDOWS,
};
use crate::format::shark::RecordCounts;
use crate::model::{Meaning, Trace};
use crate::report::figures::timed;
use crate::report::key_text;

/// The time of a core.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CoreRow<'a> {
    /// Number of the core.
    pub core: u16,
    /// Ticks in which tasks executed on the core.
    pub task_ticks: u64,
    /// Ticks in which interrupts executed on the core.
    pub interrupt_ticks: u64,
    /// Ticks for which the core was idle, according to events of the kernel.
    pub idle_ticks: u64,
    /// Ticks in which the trace does not show what executed.
    pub unknown_ticks: u64,
    /// The tasks on this core; null if there is only one core.
    pub tasks: Option<Vec<ContextTicks<'a>>>,
}

impl<'a> CoreRow<'a> {
    pub(super) fn of(core: &CoreTime, tasks: Option<Vec<ContextTicks<'a>>>) -> Self {
        Self {
            core: core.core,
            task_ticks: core.tasks,
            interrupt_ticks: core.interrupts,
            idle_ticks: core.idle,
            unknown_ticks: core.unknown,
            tasks,
        }
    }
}

/// The figures of interrupts. `brackets`, `ticks` and `ns` are null if the trace does not record
/// interrupts.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InterruptFigures {
    /// Number of outermost interrupts that ended.
    pub brackets: Option<u64>,
    /// Ticks for which interrupts executed.
    pub ticks: Option<u64>,
    /// Nanoseconds for which interrupts executed; null if the clock's rate is unknown.
    pub ns: Option<u64>,
    /// The maximum time in interrupts within a window, in nanoseconds.
    pub most_ns_within: Windows,
    /// The interrupts of each source.
    pub sources: Vec<SourceRow>,
}

impl InterruptFigures {
    pub(super) fn of(trace: &Trace, interrupts: &Interrupts) -> Self {
        // 0 would mean that there were no interrupts; null means that interrupts are not recorded.
        let recorded = trace.schema.has_meaning(Meaning::InterruptEnter);
        let figure = |figure: u64| recorded.then_some(figure);
        Self {
            brackets: figure(interrupts.brackets),
            ticks: figure(interrupts.ticks),
            ns: figure(interrupts.nanoseconds).and_then(|ns| timed(trace, ns)),
            most_ns_within: Windows::of(interrupts.most_within),
            sources: interrupts.sources.iter().map(SourceRow::of).collect(),
        }
    }
}

/// One value per length of the window; null if the trace is shorter than the window.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Windows {
    /// Windows of a millisecond.
    #[serde(rename = "1ms")]
    pub one: Option<u64>,
    /// Windows of 10 milliseconds.
    #[serde(rename = "10ms")]
    pub ten: Option<u64>,
    /// Windows of 100 milliseconds.
    #[serde(rename = "100ms")]
    pub hundred: Option<u64>,
}

// The keys of `Windows` are these lengths.
const _: () = assert!(matches!(WINDOWS, [1_000_000, 10_000_000, 100_000_000]));

impl Windows {
    fn of([one, ten, hundred]: [Option<u64>; WINDOWS.len()]) -> Self {
        Self { one, ten, hundred }
    }
}

/// Interrupts of one source.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SourceRow {
    /// Number of the source, if events record it.
    pub number: Option<u64>,
    /// Number of interrupts of the source that ended.
    pub count: u64,
    /// Ticks for which the interrupts of the source executed.
    pub ticks: u64,
    /// The shortest in ticks.
    pub min_ticks: u64,
    /// The mean, rounded down.
    pub mean_ticks: u64,
    /// The longest in ticks.
    pub max_ticks: u64,
    /// Times from one arrival to the next.
    pub arrival_gap: Option<Durations>,
    /// The maximum time in these interrupts within a window, in nanoseconds.
    pub most_ns_within: Windows,
}

impl SourceRow {
    fn of(source: &InterruptSource) -> Self {
        Self {
            number: source.number,
            count: source.count,
            ticks: source.ticks,
            min_ticks: source.min_ticks,
            mean_ticks: source.mean_ticks(),
            max_ticks: source.max_ticks,
            arrival_gap: Durations::of(source.arrival_gap),
            most_ns_within: Windows::of(source.most_within),
        }
    }
}

/// A server that gives a task a budget.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ServerRow<'a> {
    /// Its key as recorded.
    pub key: String,
    /// Name of the served task.
    pub task: Option<&'a str>,
    /// Number of times that it became active.
    pub active: u64,
    /// Number of times that its budget was exhausted.
    pub exhausted: u64,
    /// Number of times that its budget was replenished.
    pub replenished: u64,
    /// Number of times that it took over unused budget of others.
    pub reclaiming: u64,
    /// Number of times that it used reclaimed budget.
    pub used_reclaimed: u64,
    /// Total ticks without budget, from exhaustion to replenishment.
    pub without_budget_ticks: u64,
    /// Ticks of the longest time without budget.
    pub without_budget_max_ticks: u64,
    /// With `--budgets`: beginning and end of each time without budget.
    pub without_budget: Vec<(u64, u64)>,
    /// The largest number of ticks that were used before the budget was exhausted.
    pub budget_ticks: Option<u64>,
    /// Ticks for which its task executed.
    pub supplied_ticks: u64,
    /// Length of the trace in ticks, without its gaps.
    pub supplied_of_ticks: u64,
    /// With `--budgets`: points of a curve. Each point is a time and the number of used ticks of
    /// the budget. This number is null while the budget is exhausted.
    pub budget_used: Vec<(u64, Option<i64>)>,
}

impl<'a> ServerRow<'a> {
    pub(super) fn of(trace: &'a Trace, server: &Server, known: u64) -> Self {
        Self {
            key: key_text(trace, server.key),
            task: server.task.and_then(|task| name_of(trace, task)),
            active: server.active,
            exhausted: server.exhausted,
            replenished: server.replenished,
            reclaiming: server.reclaiming,
            used_reclaimed: server.used_reclaimed,
            without_budget_ticks: server.without_budget.sum(),
            without_budget_max_ticks: server.without_budget.max,
            without_budget: server.without.clone(),
            budget_ticks: server.most_used,
            supplied_ticks: server.supplied,
            supplied_of_ticks: known,
            budget_used: server.used.iter().map(|used| (used.ticks, used.used)).collect(),
        }
    }
}

/// The stack of a task, in bytes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StackRow<'a> {
    /// Key of the task's context.
    pub context: Option<&'a str>,
    /// Name of the task.
    pub name: Option<&'a str>,
    /// The lowest address of the stack, in hexadecimal.
    pub start: Option<String>,
    /// The size in bytes.
    pub size: Option<u64>,
    /// The largest number of used bytes.
    pub used: Option<u64>,
    /// The smallest number of free bytes.
    pub free: Option<u64>,
    /// Ticks of the event that shows the largest number of used bytes.
    pub at_ticks: Option<u64>,
    /// Number of this event.
    pub event: Option<u64>,
    /// Number of events whose stack pointer is outside the stack.
    pub outside: u64,
}

impl<'a> StackRow<'a> {
    pub(super) fn of(trace: &'a Trace, stack: &Stack) -> Self {
        Self {
            context: key_of(trace, stack.context),
            name: name_of(trace, stack.context),
            start: stack.start.map(|start| key_text(trace, start)),
            size: stack.size,
            used: stack.used,
            free: stack.free,
            at_ticks: stack.at.map(|at| at.ticks),
            event: stack.at.map(|at| at.seq),
            outside: stack.outside,
        }
    }
}

/// Contradictions in the trace, and its losses.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SanityRow {
    /// Number of times that timestamps step back; null in formats without such steps.
    pub descents: Option<u64>,
    /// Number of records in S.Ha.R.K.'s fast form.
    pub fast_records: Option<u64>,
    /// Interrupts that end without a beginning, or begin without an end.
    pub unmatched_brackets: u64,
    /// Context loads that contradict the scheduler's choice.
    pub disagreeing_loads: u64,
    /// Events that the schema does not know.
    pub unknown_events: u64,
    /// Events with an earlier time than the previous event.
    pub backward_steps: u64,
    /// The losses by cause.
    pub losses: Vec<LossRow>,
}

/// The losses of one cause.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LossRow {
    /// The cause of these losses.
    pub cause: &'static str,
    /// Number of places at which events are missing for this cause.
    pub gaps: u64,
    /// Number of events that are known to be missing.
    pub events: u64,
    /// Number of places at which the number of missing events is unknown.
    pub of_unknown_number: u64,
}

impl SanityRow {
    pub(super) fn of(trace: &Trace, sanity: Sanity) -> Self {
        let losses = trace.losses.iter().map(|(cause, count)| LossRow {
            cause: cause.as_str(),
            gaps: count.gaps,
            events: count.events,
            of_unknown_number: count.unknown,
        });
        let records = RecordCounts::of(trace);
        Self {
            descents: records.map(|records| records.descents),
            fast_records: records.map(|records| records.fast),
            unmatched_brackets: sanity.unmatched_brackets,
            disagreeing_loads: sanity.disagreeing_loads,
            unknown_events: sanity.unknown_events,
            backward_steps: sanity.backward_steps,
            losses: losses.collect(),
        }
    }
}
