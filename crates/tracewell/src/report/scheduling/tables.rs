//! The rows of the tables that [`super::text()`] prints, with their headings.

use super::missing::shown;
use super::{SEMAPHORE, kind_of, resource_name};
use crate::analysis::Range;
use crate::analysis::scheduling::{
    CoreTime, Figures, InterruptSource, Job, Locks, Mark, Passage, Resource, Server, Stack, Task,
    WINDOWS, Waited,
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

/// The heading of a table of waits for a kind of objects.
pub(super) fn waits_of(trace: &Trace, kind: Option<u32>) -> String {
    match kind_of(trace, false, kind) {
        SEMAPHORE => "SEMAPHORES OF".to_owned(),
        kind => format!("{} OF", kind.to_uppercase()),
    }
}

/// The parts of waits are known on one core only: on several, other tasks run at the same time.
pub(super) fn locks(trace: &Trace, cores: usize, task: &Task, locks: &Locks) -> [String; 8] {
    let told = if cores > 1 { Range::default() } else { locks.wait };
    let spent = |ticks| optional(trace, told, ticks);
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

pub(super) const RESOURCES: [&str; 11] = [
    "RESOURCE",
    "KIND",
    "REQUESTS",
    "BLOCKED",
    "WAIT MAX",
    "HELD",
    "HELD MEAN",
    "HELD MAX",
    "INVERSIONS",
    "UNBOUNDED",
    "INVERTED MAX",
];

pub(super) fn resource(trace: &Trace, figures: &Figures, resource: &Resource) -> [String; 11] {
    let Locks { requests, blocks, wait, hold, inversions, inverted, .. } = resource.figures;
    let named = resource_name(trace, resource.key, resource.kind, resource.last_ticks);
    let of_mutexes = |count: u64| {
        let told = resource.is_mutex && figures.priorities_known;
        or_dash(told.then(|| count.to_string()))
    };
    [
        named.map_or_else(|| format!("0x{:08X}", resource.key), str::to_owned),
        kind_of(trace, resource.is_mutex, resource.kind).to_owned(),
        requests.to_string(),
        blocks.to_string(),
        optional(trace, wait, wait.max),
        hold.count.to_string(),
        optional(trace, hold, hold.mean()),
        optional(trace, hold, hold.max),
        of_mutexes(inversions),
        of_mutexes(inverted.count),
        optional(trace, inverted, inverted.max),
    ]
}

pub(super) const STACKS: [&str; 7] = ["STACK OF", "START", "SIZE", "USED", "FREE", "%", "AT"];

pub(super) fn stack(trace: &Trace, stack: &Stack) -> [String; 7] {
    let used = stack.used.map(|(used, _)| used);
    [
        name(trace, stack.context),
        format!("0x{:08X}", stack.start),
        stack.size.to_string(),
        or_dash(used.map(|used| used.to_string())),
        or_dash(used.map(|used| (stack.size - used).to_string())),
        or_dash(used.map(|used| percent(used, stack.size))),
        or_dash(stack.used.map(|(_, ticks)| moment(trace, ticks))),
    ]
}

pub(super) const CORES: [&str; 9] =
    ["CORE", "TASKS", "%", "INTERRUPTS", "%", "IDLE", "%", "UNKNOWN", "%"];

pub(super) fn core(trace: &Trace, core: &CoreTime, known: u64) -> [String; 9] {
    let time = |ticks| [duration(trace, ticks), percent(ticks, known)];
    let [[tasks, of_tasks], [interrupts, of_interrupts], [idle, of_idle], [unknown, of_unknown]] =
        [core.tasks, core.interrupts, core.idle, core.unknown].map(time);
    let core = core.core.to_string();
    [core, tasks, of_tasks, interrupts, of_interrupts, idle, of_idle, unknown, of_unknown]
}

pub(super) const ON_CORES: [&str; 5] = ["TASK", "CONTEXT", "CORE", "EXECUTION", "%"];

pub(super) fn on_core(
    trace: &Trace,
    (task, core, ticks): (ContextId, u16, u64),
    known: u64,
) -> [String; 5] {
    [
        name(trace, task),
        key_text(trace, task),
        core.to_string(),
        duration(trace, ticks),
        percent(ticks, known),
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

pub(super) const EACH_WAIT: [&str; 10] = [
    "WAIT OF",
    "FOR",
    "FROM",
    "UNTIL",
    "OWNER",
    "BLOCKING",
    "INTERFERENCE",
    "INTERRUPTS",
    "INVERTED",
    "BY PRIORITY",
];

pub(super) fn wait(trace: &Trace, wait: &Waited) -> [String; 10] {
    let ticks = |ticks: Option<u64>| or_dash(ticks.map(|ticks| duration(trace, ticks)));
    let named = wait.key.and_then(|key| resource_name(trace, key, wait.kind, wait.from));
    let key = or_dash(wait.key.map(|key| format!("0x{key:08X}")));
    let kind = kind_of(trace, wait.is_mutex, wait.kind);
    let what = match named {
        // An object without a name is labelled by kind and key.
        Some(label) if label.starts_with(kind) => label.to_owned(),
        Some(label) => format!("{kind} {label}"),
        None => format!("{kind} {key}"),
    };
    [
        name(trace, wait.context),
        what,
        moment(trace, wait.from),
        moment(trace, wait.until),
        or_dash(wait.owner.map(|owner| name(trace, owner))),
        ticks(wait.spent.map(|spent| spent.blocking)),
        ticks(wait.spent.map(|spent| spent.interference)),
        ticks(wait.spent.map(|spent| spent.interrupts)),
        ticks(wait.inverted),
        ticks(wait.inverted_by_priority),
    ]
}

pub(super) const PASSAGES: [&str; 9] = [
    "FROM-TO", "TASK", "COUNT", "RAW MIN", "RAW MEAN", "RAW MAX", "NET MIN", "NET MEAN", "NET MAX",
];

pub(super) fn passage(trace: &Trace, from: &Mark, to: &Mark, passage: &Passage) -> [String; 9] {
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
