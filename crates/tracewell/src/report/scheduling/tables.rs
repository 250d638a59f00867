//! The rows of the tables that [`super::text()`] prints, with their headings.

use super::{kind_of, resource_name};
use crate::analysis::Range;
use crate::analysis::scheduling::{
    InterruptSource, Job, Locks, Mark, Passage, Resource, Server, Task, WINDOWS, Waited,
};
use crate::model::{ContextId, Trace};
use crate::report::figures::{duration, has_time, in_unit, optional, or_dash};

fn percent(part: u64, whole: u64) -> String {
    let hundredths = (u128::from(part) * 10_000).checked_div(u128::from(whole)).unwrap_or(0);
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

fn name(trace: &Trace, context: ContextId) -> String {
    trace.contexts.get(context).map_or_else(String::new, |context| context.name.clone())
}

fn key_text(trace: &Trace, context: ContextId) -> String {
    trace.contexts.get(context).map_or_else(String::new, |context| context.key_text.clone())
}

pub(super) const EXECUTION: [&str; 9] = [
    "TASK",
    "CONTEXT",
    "EXECUTION",
    "%",
    "FOR OTHERS",
    "DISPATCHES",
    "PREEMPTED",
    "THROTTLED",
    "MISSES",
];

/// The row of a task whose execution is known.
pub(super) fn execution(trace: &Trace, task: &Task, known: u64) -> Option<[String; 9]> {
    let (execution, lost) = (task.execution?, task.preemptions?);
    Some([
        name(trace, task.context),
        key_text(trace, task.context),
        duration(trace, execution.ticks),
        percent(execution.ticks, known),
        duration(trace, execution.for_other_ticks),
        execution.dispatches.to_string(),
        lost.count.to_string(),
        lost.throttled.to_string(),
        or_dash(task.jobs.as_ref().map(|jobs| jobs.deadline_misses.to_string())),
    ])
}

pub(super) const RECORDERS: [&str; 6] = ["TASK", "CONTEXT", "EVENTS", "FIRST", "LAST", "EXECUTION"];

/// The row of a task of which only what it recorded is known.
pub(super) fn recorder(trace: &Trace, task: &Task) -> Option<[String; 6]> {
    task.execution.is_none().then(|| {
        [
            name(trace, task.context),
            key_text(trace, task.context),
            task.seen.events.to_string(),
            moment(trace, task.seen.first_ticks),
            moment(trace, task.seen.last_ticks),
            or_dash(None),
        ]
    })
}

pub(super) const JOBS: [&str; 13] = [
    "JOBS OF",
    "RELEASED",
    "DONE",
    "ORPHANS",
    "PENDING",
    "RESP MIN",
    "MEAN",
    "MAX",
    "START MAX",
    "JITTER",
    "RESP JITTER",
    "DONE JITTER",
    "WCET",
];

/// The row of a task that has jobs.
pub(super) fn jobs(trace: &Trace, task: &Task) -> Option<[String; 13]> {
    let jobs = task.jobs.as_ref().filter(|jobs| jobs.activations + jobs.completions > 0)?;
    Some([
        name(trace, task.context),
        jobs.activations.to_string(),
        jobs.completions.to_string(),
        jobs.orphan_completions.to_string(),
        jobs.pending.to_string(),
        optional(trace, jobs.response, jobs.response.min),
        optional(trace, jobs.response, jobs.response.mean()),
        optional(trace, jobs.response, jobs.response.max),
        optional(trace, jobs.start_latency, jobs.start_latency.max),
        optional(trace, jobs.release_gap, jobs.release_gap.width()),
        optional(trace, jobs.response, jobs.response.width()),
        optional(trace, jobs.completion_gap, jobs.completion_gap.width()),
        jobs.wcet_violations.to_string(),
    ])
}

pub(super) const TIMING: [&str; 6] =
    ["TIMING OF", "PERIOD", "RELEASE JITTER", "DONE JITTER", "DEADLINE", "LATE"];

pub(super) fn timing(trace: &Trace, task: &Task) -> [String; 6] {
    let timing = &task.timing;
    let shown = |nanoseconds: Option<u64>| {
        or_dash(nanoseconds.map(|nanoseconds| in_unit(trace, nanoseconds)))
    };
    let deadline = timing.expected.deadline;
    [
        name(trace, task.context),
        shown(timing.expected.period),
        shown(timing.release_jitter),
        shown(timing.completion_jitter),
        shown(deadline),
        or_dash(deadline.map(|_| timing.late.to_string())),
    ]
}

pub(super) const LOCKS: [&str; 8] = [
    "MUTEXES OF",
    "REQUESTS",
    "BLOCKED",
    "WAIT MAX",
    "BLOCKING",
    "INTERFERENCE",
    "INTERRUPTS",
    "HELD MAX",
];
pub(super) const SEMAPHORES: [&str; 8] = [
    "SEMAPHORES OF",
    "REQUESTS",
    "BLOCKED",
    "WAIT MAX",
    "BLOCKING",
    "INTERFERENCE",
    "INTERRUPTS",
    "HELD MAX",
];

pub(super) fn locks(trace: &Trace, task: &Task, locks: &Locks) -> [String; 8] {
    let spent = |ticks| optional(trace, locks.wait, ticks);
    [
        name(trace, task.context),
        locks.requests.to_string(),
        locks.blocks.to_string(),
        optional(trace, locks.wait, locks.wait.max),
        spent(locks.spent.blocking),
        spent(locks.spent.interference),
        spent(locks.spent.interrupts),
        optional(trace, locks.hold, locks.hold.max),
    ]
}

pub(super) const RESOURCES: [&str; 8] =
    ["RESOURCE", "KIND", "REQUESTS", "BLOCKED", "WAIT MAX", "HELD", "HELD MEAN", "HELD MAX"];

pub(super) fn resource(trace: &Trace, resource: &Resource) -> [String; 8] {
    let Locks { requests, blocks, wait, hold, .. } = resource.figures;
    let named = resource_name(trace, resource.key).map(str::to_owned);
    [
        named.unwrap_or_else(|| format!("0x{:08X}", resource.key)),
        kind_of(resource.is_mutex).to_owned(),
        requests.to_string(),
        blocks.to_string(),
        optional(trace, wait, wait.max),
        hold.count.to_string(),
        optional(trace, hold, hold.mean()),
        optional(trace, hold, hold.max),
    ]
}

pub(super) const INTERRUPTS: [&str; 8] =
    ["INTERRUPT", "COUNT", "TIME", "%", "MIN", "MEAN", "MAX", "GAP MIN"];

/// What a source is called.
pub(super) fn number(source: &InterruptSource) -> String {
    source.number.map_or_else(|| "timer".to_owned(), |number| number.to_string())
}

pub(super) fn source(trace: &Trace, source: &InterruptSource, known: u64) -> [String; 8] {
    [
        number(source),
        source.count.to_string(),
        duration(trace, source.ticks),
        percent(source.ticks, known),
        duration(trace, source.min_ticks),
        duration(trace, source.mean_ticks()),
        duration(trace, source.max_ticks),
        optional(trace, source.arrival_gap, source.arrival_gap.min),
    ]
}

pub(super) const LOADS: [&str; 4] = ["HIGHEST LOAD, %", "IN 1 ms", "IN 10 ms", "IN 100 ms"];

pub(super) fn loads(name: String, most: [Option<u64>; WINDOWS.len()]) -> [String; 4] {
    let [short, middle, long] = std::array::from_fn(|window| {
        or_dash(most[window].map(|most| percent(most, WINDOWS[window])))
    });
    [name, short, middle, long]
}

pub(super) const SERVERS: [&str; 10] = [
    "SERVER",
    "TASK",
    "ACTIVE",
    "EXHAUSTED",
    "REPLENISHED",
    "WITHOUT BUDGET",
    "LONGEST",
    "BUDGET",
    "SUPPLIED",
    "%",
];

pub(super) fn server(trace: &Trace, server: &Server, known: u64) -> [String; 10] {
    [
        format!("0x{:08X}", server.key),
        or_dash(server.task.map(|task| name(trace, task))),
        server.active.to_string(),
        server.exhausted.to_string(),
        server.replenished.to_string(),
        duration(trace, server.without_budget.sum()),
        duration(trace, server.without_budget.max),
        or_dash(server.most_used.map(|ticks| duration(trace, ticks))),
        duration(trace, server.supplied),
        percent(server.supplied, known),
    ]
}

pub(super) const EACH_JOB: [&str; 13] = [
    "JOB",
    "RELEASED",
    "STARTED",
    "DONE",
    "RESPONSE",
    "EXECUTION",
    "EARLIER",
    "BLOCKING",
    "OTHERS",
    "INTERRUPTS",
    "NOBODY",
    "PREEMPTED",
    "MISSED",
];

pub(super) fn job(trace: &Trace, job: &Job) -> [String; 13] {
    let ticks = |ticks: Option<u64>| or_dash(ticks.map(|ticks| duration(trace, ticks)));
    let parts = job.parts.as_ref();
    [
        format!("{} {}", name(trace, job.context), job.number),
        moment(trace, job.release),
        or_dash(job.start.map(|start| moment(trace, start))),
        moment(trace, job.completion),
        duration(trace, job.response()),
        duration(trace, job.execution),
        ticks(parts.map(|_| job.earlier)),
        ticks(parts.map(|parts| parts.blocking)),
        ticks(parts.map(|parts| parts.interference())),
        ticks(parts.map(|parts| parts.interrupts)),
        ticks(parts.map(|parts| parts.nobody)),
        job.preemptions.to_string(),
        or_dash(job.missed.map(|missed| moment(trace, missed))),
    ]
}

pub(super) const EACH_WAIT: [&str; 9] = [
    "WAIT OF",
    "FOR",
    "FROM",
    "UNTIL",
    "OWNER",
    "BLOCKING",
    "INTERFERENCE",
    "INTERRUPTS",
    "INVERTED",
];

pub(super) fn wait(trace: &Trace, wait: &Waited) -> [String; 9] {
    let ticks = |ticks: Option<u64>| or_dash(ticks.map(|ticks| duration(trace, ticks)));
    let key = or_dash(wait.key.map(|key| format!("0x{key:08X}")));
    [
        name(trace, wait.context),
        format!("{} {key}", kind_of(wait.is_mutex)),
        moment(trace, wait.from),
        moment(trace, wait.until),
        or_dash(wait.owner.map(|owner| name(trace, owner))),
        ticks(wait.spent.map(|spent| spent.blocking)),
        ticks(wait.spent.map(|spent| spent.interference)),
        ticks(wait.spent.map(|spent| spent.interrupts)),
        ticks(wait.inverted),
    ]
}

pub(super) const PASSAGES: [&str; 9] = [
    "FROM-TO", "TASK", "COUNT", "RAW MIN", "RAW MEAN", "RAW MAX", "NET MIN", "NET MEAN", "NET MAX",
];

pub(super) fn passage(trace: &Trace, from: &Mark, to: &Mark, passage: &Passage) -> [String; 9] {
    let shown = |mark: &Mark| match mark {
        Mark::Number(number) => number.to_string(),
        Mark::Label(label) => label.clone(),
    };
    let Passage { context, raw, net } = passage;
    let ran =
        |ticks: fn(&Range) -> u64| or_dash(net.as_ref().map(|net| duration(trace, ticks(net))));
    [
        format!("{}-{}", shown(from), shown(to)),
        name(trace, *context),
        raw.count.to_string(),
        duration(trace, raw.min),
        duration(trace, raw.mean()),
        duration(trace, raw.max),
        ran(|net| net.min),
        ran(Range::mean),
        ran(|net| net.max),
    ]
}

/// A moment: time since the first event in the unit of the trace.
fn moment(trace: &Trace, ticks: u64) -> String {
    match trace.clock.nanoseconds(ticks) {
        Some(nanoseconds) if has_time(trace) => in_unit(trace, nanoseconds),
        _ => ticks.to_string(),
    }
}
