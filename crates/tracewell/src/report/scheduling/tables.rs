//! Rows and headings of the tables that [`super::text()`] prints.

use std::borrow::Cow;

use super::missing::shown;
use super::{SEMAPHORE, kind_of, resource_name};
use crate::analysis::Range;
use crate::analysis::scheduling::{
    Figures, InterruptSource, Job, Locks, Mark, Passage, Resource, Server, Stack, Task, WINDOWS,
    Waited,
};
use crate::model::{ContextId, Trace};
use crate::report::figures::{duration, moment, optional, share};
use crate::report::table::Cell;

/// Returns the name of a context.
pub(in crate::report) fn context_name(trace: &Trace, context: ContextId) -> &str {
    trace.contexts.get(context).map_or("", |context| &context.name)
}

pub(in crate::report) fn name(trace: &Trace, context: ContextId) -> Cell {
    Cell::Context(context_name(trace, context).to_owned())
}

pub(super) fn key_text(trace: &Trace, context: ContextId) -> Cell {
    let context = trace.contexts.get(context);
    context.map(|context| context.key_text.clone()).into()
}

pub(super) const RECORDERS: [&str; 5] = ["TASK", "CONTEXT", "EVENTS", "FIRST", "LAST"];

/// Returns the row of a task whose execution is unknown: only its recorded events are shown.
pub(super) fn recorder(trace: &Trace, task: &Task) -> [Cell; 5] {
    [
        name(trace, task.context),
        key_text(trace, task.context),
        task.seen.events.into(),
        moment(trace, task.seen.first_ticks),
        moment(trace, task.seen.last_ticks),
    ]
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

/// Returns the row of a task that has jobs.
pub(super) fn jobs(trace: &Trace, task: &Task) -> Option<[Cell; 13]> {
    let jobs = task.jobs.as_ref().filter(|jobs| jobs.activations + jobs.completions > 0)?;
    Some([
        name(trace, task.context),
        jobs.activations.into(),
        jobs.completions.into(),
        Cell::rare(jobs.orphan_completions),
        Cell::rare(jobs.pending),
        optional(trace, jobs.response, jobs.response.min),
        optional(trace, jobs.response, jobs.response.mean()),
        optional(trace, jobs.response, jobs.response.max),
        optional(trace, jobs.start_latency, jobs.start_latency.max),
        optional(trace, jobs.release_gap, jobs.release_gap.width()),
        optional(trace, jobs.response, jobs.response.width()),
        optional(trace, jobs.completion_gap, jobs.completion_gap.width()),
        Cell::rare(jobs.wcet_violations),
    ])
}

pub(super) const TIMING: [&str; 6] =
    ["TIMING OF", "PERIOD", "RELEASE JITTER", "DONE JITTER", "DEADLINE", "LATE"];

pub(super) fn timing(trace: &Trace, task: &Task) -> [Cell; 6] {
    let timing = &task.timing;
    let shown = |nanoseconds: Option<u64>| nanoseconds.map(Cell::Time).into();
    let deadline = timing.expected.deadline;
    [
        name(trace, task.context),
        shown(timing.expected.period),
        shown(timing.release_jitter),
        shown(timing.completion_jitter),
        shown(deadline),
        deadline.map(|_| timing.late).into(),
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

/// Returns the heading of the table that shows waits for a kind of object.
pub(super) fn waits_of(trace: &Trace, kind: Option<u32>) -> String {
    match kind_of(trace, false, kind) {
        SEMAPHORE => "SEMAPHORES OF".to_owned(),
        kind => format!("{} OF", kind.to_uppercase()),
    }
}

/// Returns the row of a task that requested objects of one kind. The parts of waits are known only
/// if there is one core, because on several cores other tasks run at the same time.
pub(super) fn locks(trace: &Trace, cores: usize, task: &Task, locks: &Locks) -> [Cell; 8] {
    let known = if cores > 1 { Range::default() } else { locks.wait };
    let spent = |ticks| optional(trace, known, ticks);
    [
        name(trace, task.context),
        locks.requests.into(),
        locks.blocks.into(),
        optional(trace, locks.wait, locks.wait.max),
        // Semaphores and event flags have no owner that could block a task.
        Cell::rare(spent(locks.spent.blocking)),
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

pub(super) fn resource(trace: &Trace, figures: &Figures, resource: &Resource) -> [Cell; 11] {
    let Locks { requests, blocks, wait, hold, inversions, inverted, .. } = resource.figures;
    let named = resource_name(trace, resource.key, resource.kind, resource.last_ticks);
    let of_mutexes = |count: u64| {
        // Only mutexes have an owner, and inversions are known only if there are priorities.
        let known = resource.is_mutex && figures.priorities_known;
        Cell::from(known.then(|| Cell::rare(count)))
    };
    [
        named.map_or_else(|| format!("0x{:08X}", resource.key), Cow::into_owned).into(),
        kind_of(trace, resource.is_mutex, resource.kind).into(),
        requests.into(),
        blocks.into(),
        optional(trace, wait, wait.max),
        Cell::rare(hold.count),
        optional(trace, hold, hold.mean()),
        optional(trace, hold, hold.max),
        of_mutexes(inversions),
        of_mutexes(inverted.count),
        optional(trace, inverted, inverted.max),
    ]
}

pub(in crate::report) const STACKS: [&str; 8] =
    ["STACK OF", "START", "SIZE", "USED", "FREE", "%", "AT", "EVENT"];

pub(in crate::report) fn stack(trace: &Trace, stack: &Stack) -> [Cell; 8] {
    let part = stack.used.zip(stack.size).map(|(used, size)| share(used, size));
    [
        name(trace, stack.context),
        stack.start.map(|start| format!("0x{start:08X}")).into(),
        stack.size.into(),
        stack.used.into(),
        stack.free.into(),
        part.into(),
        stack.at.map(|at| moment(trace, at.ticks)).into(),
        stack.at.map(|at| at.seq).into(),
    ]
}

pub(super) const INTERRUPTS: [&str; 8] =
    ["INTERRUPT", "COUNT", "TIME", "%", "MIN", "MEAN", "MAX", "GAP MIN"];

/// Returns the name of an interrupt source.
pub(in crate::report) fn source_name(number: Option<u64>) -> String {
    number.map_or_else(|| "timer".to_owned(), |number| number.to_string())
}

pub(super) fn source(trace: &Trace, source: &InterruptSource, known: u64) -> [Cell; 8] {
    let ended = |ticks| Cell::from((source.count > 0).then(|| duration(trace, ticks)));
    [
        source_name(source.number).into(),
        source.count.into(),
        duration(trace, source.ticks),
        share(source.ticks, known),
        ended(source.min_ticks),
        ended(source.mean_ticks()),
        ended(source.max_ticks),
        optional(trace, source.arrival_gap, source.arrival_gap.min),
    ]
}

pub(super) const LOADS: [&str; 4] = ["HIGHEST LOAD, %", "IN 1 ms", "IN 10 ms", "IN 100 ms"];

pub(super) fn loads(name: String, most: [Option<u64>; WINDOWS.len()]) -> [Cell; 4] {
    let [short, middle, long] = std::array::from_fn(|window| {
        Cell::from(most[window].map(|most| share(most, WINDOWS[window])))
    });
    [name.into(), short, middle, long]
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

pub(super) fn server(trace: &Trace, server: &Server, known: u64) -> [Cell; 10] {
    [
        format!("0x{:08X}", server.key).into(),
        server.task.map(|task| name(trace, task)).into(),
        server.active.into(),
        server.exhausted.into(),
        server.replenished.into(),
        duration(trace, server.without_budget.sum()),
        duration(trace, server.without_budget.max),
        server.most_used.map(|ticks| duration(trace, ticks)).into(),
        duration(trace, server.supplied),
        share(server.supplied, known),
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
    "IDLE",
    "PREEMPTED",
    "MISSED",
];

pub(super) fn job(trace: &Trace, job: &Job) -> [Cell; 13] {
    let ticks = |ticks: Option<u64>| Cell::from(ticks.map(|ticks| duration(trace, ticks)));
    let parts = job.parts.as_ref();
    [
        format!("{} {}", context_name(trace, job.context), job.number).into(),
        moment(trace, job.release),
        job.start.map(|start| moment(trace, start)).into(),
        moment(trace, job.completion),
        duration(trace, job.response()),
        duration(trace, job.execution),
        ticks(parts.map(|_| job.earlier)),
        ticks(parts.map(|parts| parts.blocking)),
        ticks(parts.map(|parts| parts.interference())),
        ticks(parts.map(|parts| parts.interrupts)),
        ticks(parts.map(|parts| parts.unattributed)),
        job.preemptions.into(),
        job.missed.map(|missed| moment(trace, missed)).into(),
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

pub(super) fn wait(trace: &Trace, wait: &Waited) -> [Cell; 10] {
    let ticks = |ticks: Option<u64>| Cell::from(ticks.map(|ticks| duration(trace, ticks)));
    [
        name(trace, wait.context),
        waited_for(trace, wait).into(),
        moment(trace, wait.from),
        moment(trace, wait.until),
        wait.owner.map(|owner| name(trace, owner)).into(),
        ticks(wait.spent.map(|spent| spent.blocking)),
        ticks(wait.spent.map(|spent| spent.interference)),
        ticks(wait.spent.map(|spent| spent.interrupts)),
        ticks(wait.inverted),
        ticks(wait.inverted_by_priority),
    ]
}

/// Returns the kind and the name of the object that a task waited for.
pub(in crate::report) fn waited_for(trace: &Trace, wait: &Waited) -> String {
    resource_text(trace, wait.key, wait.is_mutex, wait.kind, wait.from)
}

/// Returns the kind of a resource, and the name that it had at a given time.
pub(in crate::report) fn resource_text(
    trace: &Trace,
    key: Option<u64>,
    is_mutex: bool,
    kind: Option<u32>,
    ticks: u64,
) -> String {
    let named = key.and_then(|key| resource_name(trace, key, kind, ticks));
    let key = key.map_or_else(|| "-".to_owned(), |key| format!("0x{key:08X}"));
    let kind = kind_of(trace, is_mutex, kind);
    match named {
        // The label of an unnamed object consists of its kind and key.
        Some(label) if label.starts_with(kind) => label.into_owned(),
        Some(label) => format!("{kind} {label}"),
        None => format!("{kind} {key}"),
    }
}

pub(super) const PASSAGES: [&str; 9] = [
    "FROM-TO", "TASK", "COUNT", "RAW MIN", "RAW MEAN", "RAW MAX", "NET MIN", "NET MEAN", "NET MAX",
];

/// Returns the marks of a passage.
pub(in crate::report) fn passed(from: &Mark, to: &Mark) -> String {
    format!("{}-{}", shown(from), shown(to))
}

pub(super) fn passage(trace: &Trace, from: &Mark, to: &Mark, passage: &Passage) -> [Cell; 9] {
    let Passage { context, raw, net } = passage;
    let ran = |ticks: fn(&Range) -> u64| net.as_ref().map(|net| duration(trace, ticks(net))).into();
    [
        passed(from, to).into(),
        name(trace, *context),
        raw.count.into(),
        duration(trace, raw.min),
        duration(trace, raw.mean()),
        duration(trace, raw.max),
        ran(|net| net.min),
        ran(Range::mean),
        ran(|net| net.max),
    ]
}
