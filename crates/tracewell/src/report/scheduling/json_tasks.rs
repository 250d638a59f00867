//! The figures of tasks as JSON: a task's own, its jobs, its waits, its ways between marks.

use serde_json::{Value, json};

use super::json::{key_of, list, name_of, range_json};
use super::{SEMAPHORE, kind_of, resource_name};
use crate::analysis::Range;
use crate::analysis::scheduling::{
    Expected, Figures, Job, Jobs, Locks, Mark, Parts, Passage, Split, Task, Timing, Waited,
};
use crate::model::{Meaning, Trace};
use crate::report::figures::{some, timed};

pub(super) fn task_json(trace: &Trace, figures: &Figures, task: &Task) -> Value {
    let context = trace.contexts.get(task.context);
    let (execution, jobs, lost) = (task.execution, task.jobs.as_ref(), task.preemptions);
    let of_jobs = |figure: fn(&Jobs) -> u64| jobs.map(figure);
    let range = |range: fn(&Jobs) -> Range| jobs.map_or_else(Range::default, range);
    let (response, gap) = (range(|jobs| jobs.response), range(|jobs| jobs.release_gap));
    let response_max = jobs.and_then(|jobs| some(response, jobs.response_max_nanoseconds));
    let (start, done) = (range(|jobs| jobs.start_latency), range(|jobs| jobs.completion_gap));
    let lateness = range(|jobs| jobs.lateness);
    let tells = |meaning| trace.schema.tells(meaning);
    let (locks, told) = (&task.locks, tells(Meaning::Lock));
    let semaphores = task.waits.iter().find(|(kind, _)| kind_of(trace, false, *kind) == SEMAPHORE);
    let semaphores = semaphores.map_or_else(Locks::default, |(_, locks)| *locks);
    json!({
        "context": context.map(|context| context.key_text.as_str()),
        "pid": context.and_then(|context| trace.process_of(context)),
        "name": context.map(|context| context.name.as_str()),
        "events": task.seen.events,
        "first_ticks": task.seen.first_ticks,
        "last_ticks": task.seen.last_ticks,
        "execution_ticks": execution.map(|execution| execution.ticks),
        "execution_ns": execution.and_then(|execution| timed(trace, execution.nanoseconds)),
        "execution_for_other_ticks": execution.map(|execution| execution.for_other_ticks),
        "dispatches": execution.map(|execution| execution.dispatches),
        "activations": of_jobs(|jobs| jobs.activations),
        "completions": of_jobs(|jobs| jobs.completions),
        "orphan_completions": of_jobs(|jobs| jobs.orphan_completions),
        "jobs_across_gaps": of_jobs(|jobs| jobs.across_gaps),
        "pending_jobs": of_jobs(|jobs| jobs.pending),
        "responses": of_jobs(|jobs| jobs.response.count),
        "response_min_ticks": some(response, response.min),
        "response_mean_ticks": some(response, response.mean()),
        "response_max_ticks": some(response, response.max),
        "response_max_ns": response_max.and_then(|ns| timed(trace, ns)),
        "start_latency_max_ticks": some(start, start.max),
        "release_gap_min_ticks": some(gap, gap.min),
        "release_gap_max_ticks": some(gap, gap.max),
        "release_jitter_ticks": some(gap, gap.width()),
        "response_jitter_ticks": some(response, response.width()),
        "completion_jitter_ticks": some(done, done.width()),
        "timing": timing_json(&task.timing),
        "preemptions": lost.map(|lost| lost.count),
        "throttled": lost.map(|lost| lost.throttled),
        "deadline_misses": of_jobs(|jobs| jobs.deadline_misses),
        "lateness_max_ticks": some(lateness, lateness.max),
        "wcet_violations": of_jobs(|jobs| jobs.wcet_violations),
        "lock_requests": told.then_some(locks.requests),
        "lock_blocks": told.then_some(locks.blocks),
        "lock_wait_max_ticks": some(locks.wait, locks.wait.max),
        "lock_wait_split": split_json(figures, locks),
        "lock_hold": range_json(locks.hold),
        "lock_inversions": told.then(|| inversions_json(figures, locks)),
        "semaphores": tells(Meaning::Wait).then(|| semaphores_json(figures, &semaphores)),
        "waits_for": list(&task.waits, |(kind, locks)| {
            let mut waits = semaphores_json(figures, locks);
            waits["kind"] = kind_of(trace, false, *kind).into();
            waits
        }),
    })
}

/// Priority inversion by priorities; null if events have no priorities.
pub(super) fn inversions_json(figures: &Figures, locks: &Locks) -> Value {
    if !figures.priorities_known {
        return Value::Null;
    }
    json!({
        "count": locks.inversions,
        "unbounded": locks.inverted.count,
        "inverted_max_ticks": some(locks.inverted, locks.inverted.max),
    })
}

/// What is known of a task from outside, and how it kept to that; null where nothing is.
fn timing_json(timing: &Timing) -> Value {
    if timing.expected == Expected::default() {
        return Value::Null;
    }
    json!({
        "period_ns": timing.expected.period,
        "release_jitter_ns": timing.release_jitter,
        "completion_jitter_ns": timing.completion_jitter,
        "deadline_ns": timing.expected.deadline,
        "late_responses": timing.expected.deadline.map(|_| timing.late),
    })
}

fn semaphores_json(figures: &Figures, semaphores: &Locks) -> Value {
    json!({
        "requests": semaphores.requests,
        "blocks": semaphores.blocks,
        "wait": range_json(semaphores.wait),
        "split": split_json(figures, semaphores),
    })
}

/// The parts of all waits together; null if there was none, and on several cores.
fn split_json(figures: &Figures, locks: &Locks) -> Value {
    let told = some(locks.wait, 0).filter(|_| figures.cores.len() < 2);
    told.map_or(Value::Null, |_| spent_json(locks.spent))
}

fn spent_json(spent: Split) -> Value {
    json!({
        "own_ticks": spent.own,
        "blocking_ticks": spent.blocking,
        "interference_ticks": spent.interference,
        "interrupt_ticks": spent.interrupts,
        "nobody_ticks": spent.nobody,
    })
}

pub(super) fn job_json(trace: &Trace, job: &Job) -> Value {
    let at = |ticks| trace.clock.nanoseconds(ticks);
    let response = at(job.completion).zip(at(job.release)).map(|(end, start)| end - start);
    let parts = job.parts.as_ref();
    let others = |parts: &Parts| {
        list(
            &parts.others,
            |(context, ticks)| json!({ "context": key_of(trace, *context), "name": name_of(trace, *context), "ticks": ticks }),
        )
    };
    json!({
        "context": key_of(trace, job.context),
        "name": name_of(trace, job.context),
        "number": job.number,
        "release_ticks": job.release,
        "start_ticks": job.start,
        "completion_ticks": job.completion,
        "response_ticks": job.response(),
        "response_ns": response,
        "execution_ticks": job.execution,
        "earlier_jobs_ticks": parts.map(|_| job.earlier),
        "blocking_ticks": parts.map(|parts| parts.blocking),
        "preempted_by": parts.map(others),
        "interrupt_ticks": parts.map(|parts| parts.interrupts),
        "nobody_ticks": parts.map(|parts| parts.nobody),
        "preemptions": job.preemptions,
        "deadline_passed_ticks": job.missed,
    })
}

pub(super) fn wait_json(trace: &Trace, wait: &Waited) -> Value {
    json!({
        "context": key_of(trace, wait.context),
        "name": name_of(trace, wait.context),
        "kind": kind_of(trace, wait.is_mutex, wait.kind),
        "key": wait.key.map(|key| format!("0x{key:08X}")),
        "object": wait.key.and_then(|key| resource_name(trace, key, wait.kind, wait.from)),
        "owner": wait.owner.and_then(|owner| name_of(trace, owner)),
        "from_ticks": wait.from,
        "until_ticks": wait.until,
        "split": wait.spent.map(spent_json),
        "inverted_ticks": wait.inverted,
        "inverted_by_priority_ticks": wait.inverted_by_priority,
    })
}

pub(super) fn pair_json(trace: &Trace, (from, to, passages): &(Mark, Mark, Vec<Passage>)) -> Value {
    let mark = |mark: &Mark| match mark {
        Mark::Number(number) => json!(number),
        Mark::Label(label) => json!(label),
    };
    json!({
        "from": mark(from),
        "to": mark(to),
        "tasks": list(passages, |passage| json!({
            "context": key_of(trace, passage.context),
            "name": name_of(trace, passage.context),
            "raw": range_json(passage.raw),
            "net": passage.net.map(range_json),
        })),
    })
}
