//! The figures of the scheduler as JSON, for programs.

use serde_json::{Value, json};

use super::{kind_of, needed, resource_name};
use crate::analysis::Range;
use crate::analysis::scheduling::{
    Expected, Figures, Hidden, InterruptSource, Job, Jobs, Locks, Mark, Parts, Passage, Resource,
    Sanity, Server, Split, Task, Timing, Used, WINDOWS, Waited, Wanted,
};
use crate::model::{ContextId, Meaning, Trace};
use crate::report::figures::{some, timed};

/// The figures as a JSON object.
///
/// Its keys stand in docs/analysis.md.
pub fn json(trace: &Trace, figures: &Figures, wanted: &Wanted) -> Value {
    let interrupts = &figures.interrupts;
    let told = trace.schema.tells(Meaning::InterruptEnter);
    let of_interrupts = |figure: u64| told.then_some(figure);
    let known = trace.span.saturating_sub(figures.gap_ticks);
    let mut object = json!({
        "format": trace.format,
        "events": trace.events,
        "span_ticks": trace.span,
        "span_ns": trace.clock.nanoseconds(trace.span),
        "charged_ticks": figures.charged_ticks,
        "execution_needs": needed(trace),
        "gaps": figures.gaps,
        "gap_ticks": figures.gap_ticks,
        "hidden": list(&figures.hidden, |hidden| hidden_json(trace, hidden)),
        "interrupts": {
            "brackets": of_interrupts(interrupts.brackets),
            "ticks": of_interrupts(interrupts.ticks),
            "ns": of_interrupts(interrupts.nanoseconds).and_then(|ns| timed(trace, ns)),
            "most_ns_within": within_json(interrupts.most_within),
            "sources": list(&interrupts.sources, source_json),
        },
        "tasks": list(&figures.tasks, |task| task_json(trace, task)),
        "servers": list(&figures.servers, |server| server_json(trace, server, known)),
        "locks": list(&figures.resources, |resource| resource_json(trace, resource)),
        "sanity": sanity_json(trace, figures.sanity),
    });
    if let Value::Object(keys) = &mut object {
        let mut add = |key: &str, rows: Vec<Value>| keys.insert(key.to_owned(), rows.into());
        if wanted.jobs {
            add("jobs", list(&figures.jobs, |job| job_json(trace, job)));
        }
        if wanted.waits {
            add("waits", list(&figures.waits, |wait| wait_json(trace, wait)));
        }
        if !wanted.pairs.is_empty() {
            add("passages", list(&figures.passages, |pair| pair_json(trace, pair)));
        }
    }
    object
}

fn list<T>(rows: &[T], row: impl Fn(&T) -> Value) -> Vec<Value> {
    rows.iter().map(row).collect()
}

fn source_json(source: &InterruptSource) -> Value {
    json!({
        "number": source.number,
        "count": source.count,
        "ticks": source.ticks,
        "min_ticks": source.min_ticks,
        "mean_ticks": source.mean_ticks(),
        "max_ticks": source.max_ticks,
        "arrival_gap": range_json(source.arrival_gap),
        "most_ns_within": within_json(source.most_within),
    })
}

/// Windows by their lengths: `1ms`, `10ms`, `100ms`.
fn within_json(most: [Option<u64>; WINDOWS.len()]) -> Value {
    let named = WINDOWS.iter().zip(most.map(Value::from));
    named.map(|(length, most)| (format!("{}ms", length / 1_000_000), most)).collect()
}

/// Smallest, mean and largest; null where there are none.
fn range_json(range: Range) -> Value {
    some(range, 0).map_or(Value::Null, |_| {
        json!({
            "count": range.count,
            "min_ticks": range.min,
            "mean_ticks": range.mean(),
            "max_ticks": range.max,
        })
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
    let (execution, jobs, lost) = (task.execution, task.jobs.as_ref(), task.preemptions);
    let of_jobs = |figure: fn(&Jobs) -> u64| jobs.map(figure);
    let range = |range: fn(&Jobs) -> Range| jobs.map_or_else(Range::default, range);
    let (response, gap) = (range(|jobs| jobs.response), range(|jobs| jobs.release_gap));
    let response_max = jobs.and_then(|jobs| some(response, jobs.response_max_nanoseconds));
    let (start, done) = (range(|jobs| jobs.start_latency), range(|jobs| jobs.completion_gap));
    let lateness = range(|jobs| jobs.lateness);
    let tells = |meaning| trace.schema.tells(meaning);
    let (locks, told) = (&task.locks, tells(Meaning::Lock));
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
        "lock_wait_split": split_json(locks),
        "lock_hold": range_json(locks.hold),
        "semaphores": tells(Meaning::Wait).then(|| semaphores_json(&task.semaphores)),
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

fn semaphores_json(semaphores: &Locks) -> Value {
    json!({
        "requests": semaphores.requests,
        "blocks": semaphores.blocks,
        "wait": range_json(semaphores.wait),
        "split": split_json(semaphores),
    })
}

/// What all waits together were spent on; null where there was none.
fn split_json(locks: &Locks) -> Value {
    some(locks.wait, 0).map_or(Value::Null, |_| spent_json(locks.spent))
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

fn name_of(trace: &Trace, context: ContextId) -> Option<&str> {
    trace.contexts.get(context).map(|context| context.name.as_str())
}

fn key_of(trace: &Trace, context: ContextId) -> Option<&str> {
    trace.contexts.get(context).map(|context| context.key_text.as_str())
}

fn resource_json(trace: &Trace, resource: &Resource) -> Value {
    let figures = &resource.figures;
    json!({
        "kind": kind_of(resource.is_mutex),
        "key": format!("0x{:08X}", resource.key),
        "name": resource_name(trace, resource.key),
        "requests": figures.requests,
        "blocks": figures.blocks,
        "wait": range_json(figures.wait),
        "hold": range_json(figures.hold),
    })
}

fn job_json(trace: &Trace, job: &Job) -> Value {
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

fn wait_json(trace: &Trace, wait: &Waited) -> Value {
    json!({
        "context": key_of(trace, wait.context),
        "name": name_of(trace, wait.context),
        "kind": kind_of(wait.is_mutex),
        "key": wait.key.map(|key| format!("0x{key:08X}")),
        "owner": wait.owner.and_then(|owner| name_of(trace, owner)),
        "from_ticks": wait.from,
        "until_ticks": wait.until,
        "split": wait.spent.map(spent_json),
        "inverted_ticks": wait.inverted,
    })
}

fn pair_json(trace: &Trace, (from, to, passages): &(Mark, Mark, Vec<Passage>)) -> Value {
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

fn sanity_json(trace: &Trace, sanity: Sanity) -> Value {
    let losses = trace.losses.iter().map(|(cause, count)| {
        let (gaps, events) = (count.gaps, count.events);
        json!({ "cause": cause.as_str(), "gaps": gaps, "events": events, "of_unknown_number": count.unknown })
    });
    json!({
        "descents": trace.fact("descents"),
        "fast_records": trace.fact("fast_records"),
        "unmatched_brackets": sanity.unmatched_brackets,
        "disagreeing_loads": sanity.disagreeing_loads,
        "unknown_events": sanity.unknown_events,
        "backward_steps": sanity.backward_steps,
        "losses": losses.collect::<Vec<_>>(),
    })
}

fn server_json(trace: &Trace, server: &Server, known: u64) -> Value {
    let curve = |used: &Used| json!([used.ticks, used.used]);
    json!({
        "key": format!("0x{:08X}", server.key),
        "task": server.task.and_then(|task| name_of(trace, task)),
        "active": server.active,
        "exhausted": server.exhausted,
        "replenished": server.replenished,
        "reclaiming": server.reclaiming,
        "used_reclaimed": server.used_reclaimed,
        "without_budget_ticks": server.without_budget.sum(),
        "without_budget_max_ticks": server.without_budget.max,
        "without_budget": list(&server.without, |(from, until)| json!([from, until])),
        "budget_ticks": server.most_used,
        "supplied_ticks": server.supplied,
        "supplied_of_ticks": known,
        "budget_used": list(&server.used, curve),
    })
}
