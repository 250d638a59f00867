//! The figures of [`crate::analysis::scheduling`]: text for people, JSON for programs.
//!
//! Keys of the JSON object: `format`, `events`, `span_ticks`, `span_ns`, `charged_ticks` (execution and interrupts
//! together), `gaps` (places where events are missing), `gap_ticks`, `hidden[]` (`filter`, `from_ticks`, `until_ticks`: kinds of events that
//! were not recorded), `interrupts` (`brackets`,
//! `ticks`, `ns`, `sources[]`), `tasks[]`, `servers[]`. Keys of a task: `context`, `pid`, `name`, `first_ticks`;
//! `execution_ticks`, `execution_ns`, `execution_for_other_ticks`, `dispatches`; `activations`, `completions`,
//! `orphan_completions`, `jobs_across_gaps`, `pending_jobs`; `responses`, `response_min_ticks`, `response_mean_ticks`, `response_max_ticks`,
//! `response_max_ns`, `start_latency_max_ticks`, `release_gap_min_ticks`, `release_gap_max_ticks`,
//! `release_jitter_ticks`; `preemptions`, `throttled`; `deadline_misses`, `lateness_max_ticks`, `wcet_violations`;
//! `lock_requests`, `lock_blocks`, `lock_wait_max_ticks`. What nothing tells is null.

use serde_json::{Value, json};

use super::figures::{duration, optional, section, some, timed, unit};
use crate::analysis::scheduling::{Figures, Hidden, InterruptSource, Server, Task};
use crate::model::Trace;

/// The figures as a JSON object.
pub fn json(trace: &Trace, figures: &Figures) -> Value {
    let interrupts = &figures.interrupts;
    json!({
        "format": trace.format,
        "events": trace.events,
        "span_ticks": trace.span,
        "span_ns": trace.clock.nanoseconds(trace.span),
        "charged_ticks": figures.charged_ticks,
        "gaps": figures.gaps,
        "gap_ticks": figures.gap_ticks,
        "hidden": figures.hidden.iter().map(|hidden| hidden_json(trace, hidden)).collect::<Vec<_>>(),
        "interrupts": {
            "brackets": interrupts.brackets,
            "ticks": interrupts.ticks,
            "ns": timed(trace, interrupts.nanoseconds),
            "sources": interrupts.sources.iter().map(source_json).collect::<Vec<_>>(),
        },
        "tasks": figures.tasks.iter().map(|task| task_json(trace, task)).collect::<Vec<_>>(),
        "servers": figures.servers.iter().map(|server| server_json(trace, server)).collect::<Vec<_>>(),
    })
}

fn source_json(source: &InterruptSource) -> Value {
    json!({
        "number": source.number,
        "count": source.count,
        "ticks": source.ticks,
        "min_ticks": source.min_ticks,
        "max_ticks": source.max_ticks,
    })
}

fn hidden_json(trace: &Trace, hidden: &Hidden) -> Value {
    json!({
        "filter": trace.schema.event(hidden.id).label,
        "from_ticks": hidden.from,
        "until_ticks": hidden.until,
    })
}

fn task_json(trace: &Trace, task: &Task) -> Value {
    let context = trace.contexts.get(task.context);
    let (execution, jobs, locks) = (&task.execution, &task.jobs, &task.locks);
    let (response, gap) = (jobs.response, jobs.release_gap);
    let response_max = some(response, jobs.response_max_nanoseconds);
    json!({
        "context": context.map(|context| context.key_text.as_str()),
        "pid": context.and_then(|context| trace.process_of(context)),
        "name": context.map(|context| context.name.as_str()),
        "first_ticks": task.first_ticks,
        "execution_ticks": execution.ticks,
        "execution_ns": timed(trace, execution.nanoseconds),
        "execution_for_other_ticks": execution.for_other_ticks,
        "dispatches": execution.dispatches,
        "activations": jobs.activations,
        "completions": jobs.completions,
        "orphan_completions": jobs.orphan_completions,
        "jobs_across_gaps": jobs.across_gaps,
        "pending_jobs": jobs.pending,
        "responses": response.count,
        "response_min_ticks": some(response, response.min),
        "response_mean_ticks": some(response, response.mean()),
        "response_max_ticks": some(response, response.max),
        "response_max_ns": response_max.and_then(|ns| timed(trace, ns)),
        "start_latency_max_ticks": some(jobs.start_latency, jobs.start_latency.max),
        "release_gap_min_ticks": some(gap, gap.min),
        "release_gap_max_ticks": some(gap, gap.max),
        "release_jitter_ticks": some(gap, gap.width()),
        "preemptions": task.preemptions.count,
        "throttled": task.preemptions.throttled,
        "deadline_misses": jobs.deadline_misses,
        "lateness_max_ticks": some(jobs.lateness, jobs.lateness.max),
        "wcet_violations": jobs.wcet_violations,
        "lock_requests": locks.requests,
        "lock_blocks": locks.blocks,
        "lock_wait_max_ticks": some(locks.wait, locks.wait.max),
    })
}

fn server_json(trace: &Trace, server: &Server) -> Value {
    let task = server.task.and_then(|task| trace.contexts.get(task));
    json!({
        "key": format!("0x{:08X}", server.key),
        "task": task.map(|context| context.name.as_str()),
        "active": server.active,
        "exhausted": server.exhausted,
        "replenished": server.replenished,
        "reclaiming": server.reclaiming,
        "used_reclaimed": server.used_reclaimed,
        "without_budget_ticks": server.without_budget_ticks,
        "without_budget_max_ticks": server.without_budget_max_ticks,
    })
}

/// The figures as text.
pub fn text(trace: &Trace, figures: &Figures) -> String {
    let unit = unit(trace);
    let mut lines = vec![
        super::heading(trace),
        format!(
            "{} events, {} of {} ticks charged; times in {unit}",
            trace.events, figures.charged_ticks, trace.span
        ),
    ];
    if figures.gaps > 0 {
        let (places, ticks) = (figures.gaps, figures.gap_ticks);
        lines.push(format!(
            "events are missing in {places} places, {ticks} ticks in all: what happened there is in no figure"
        ));
    }
    for Hidden { id, from, until } in &figures.hidden {
        let filter = &trace.schema.event(*id).label;
        lines.push(format!("not recorded from tick {from} to {until}: {filter}"));
    }
    let known = trace.span.saturating_sub(figures.gap_ticks);
    let busy = figures.tasks.iter().map(|task| task_row(trace, task, known));
    section(&mut lines, &EXECUTION, busy.collect());
    let with_jobs = |task: &&Task| task.jobs.activations + task.jobs.completions > 0;
    let jobs = figures.tasks.iter().filter(with_jobs).map(|task| job_row(trace, task));
    section(&mut lines, &JOBS, jobs.collect());
    let locking = figures.tasks.iter().filter(|task| task.locks.requests > 0);
    section(&mut lines, &LOCKS, locking.map(|task| lock_row(trace, task)).collect());
    let sources = figures.interrupts.sources.iter().map(|source| source_row(trace, source, known));
    section(&mut lines, &INTERRUPTS, sources.collect());
    let servers = figures.servers.iter().map(|server| server_row(trace, server));
    section(&mut lines, &SERVERS, servers.collect());
    lines.push(String::new());
    lines.join("\n")
}

const EXECUTION: [&str; 9] = [
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
const JOBS: [&str; 11] = [
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
    "WCET",
];
const LOCKS: [&str; 4] = ["LOCKS OF", "REQUESTS", "BLOCKED", "WAIT MAX"];
const INTERRUPTS: [&str; 6] = ["INTERRUPT", "COUNT", "TIME", "%", "MIN", "MAX"];
const SERVERS: [&str; 7] =
    ["SERVER", "TASK", "ACTIVE", "EXHAUSTED", "REPLENISHED", "WITHOUT BUDGET", "LONGEST"];

fn percent(part: u64, whole: u64) -> String {
    let hundredths = (u128::from(part) * 10_000).checked_div(u128::from(whole)).unwrap_or(0);
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

fn name(trace: &Trace, task: &Task) -> String {
    trace.contexts.get(task.context).map_or_else(String::new, |context| context.name.clone())
}

fn task_row(trace: &Trace, task: &Task, known: u64) -> [String; 9] {
    let (execution, lost) = (&task.execution, &task.preemptions);
    let context = trace.contexts.get(task.context).map(|context| context.key_text.clone());
    [
        name(trace, task),
        context.unwrap_or_default(),
        duration(trace, execution.ticks),
        percent(execution.ticks, known),
        duration(trace, execution.for_other_ticks),
        execution.dispatches.to_string(),
        lost.count.to_string(),
        lost.throttled.to_string(),
        task.jobs.deadline_misses.to_string(),
    ]
}

fn job_row(trace: &Trace, task: &Task) -> [String; 11] {
    let jobs = &task.jobs;
    [
        name(trace, task),
        jobs.activations.to_string(),
        jobs.completions.to_string(),
        jobs.orphan_completions.to_string(),
        jobs.pending.to_string(),
        optional(trace, jobs.response, jobs.response.min),
        optional(trace, jobs.response, jobs.response.mean()),
        optional(trace, jobs.response, jobs.response.max),
        optional(trace, jobs.start_latency, jobs.start_latency.max),
        optional(trace, jobs.release_gap, jobs.release_gap.width()),
        jobs.wcet_violations.to_string(),
    ]
}

fn lock_row(trace: &Trace, task: &Task) -> [String; 4] {
    let locks = &task.locks;
    [
        name(trace, task),
        locks.requests.to_string(),
        locks.blocks.to_string(),
        optional(trace, locks.wait, locks.wait.max),
    ]
}

fn source_row(trace: &Trace, source: &InterruptSource, known: u64) -> [String; 6] {
    [
        source.number.map_or_else(|| "timer".to_owned(), |number| number.to_string()),
        source.count.to_string(),
        duration(trace, source.ticks),
        percent(source.ticks, known),
        duration(trace, source.min_ticks),
        duration(trace, source.max_ticks),
    ]
}

fn server_row(trace: &Trace, server: &Server) -> [String; 7] {
    let task = server.task.and_then(|task| trace.contexts.get(task));
    [
        format!("0x{:08X}", server.key),
        task.map_or_else(|| "-".to_owned(), |context| context.name.clone()),
        server.active.to_string(),
        server.exhausted.to_string(),
        server.replenished.to_string(),
        duration(trace, server.without_budget_ticks),
        duration(trace, server.without_budget_max_ticks),
    ]
}
