//! The figures of the scheduler as JSON, for programs.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value, json};

use super::json_tasks::{inversions_json, job_json, pair_json, task_json, wait_json};
use super::missing::missing;
use super::{kind_of, needed, resource_name};
use crate::analysis::Range;
use crate::analysis::scheduling::{
    CoreTime, Figures, Hidden, InterruptSource, Job, Resource, Sanity, Server, Stack, Used,
    WINDOWS, Waited, Wanted,
};
use crate::model::{ContextId, Meaning, Trace};
use crate::report::figures::{some, timed};

/// The figures as a JSON object; its keys stand in docs/analysis.md. It is written row by row: there may be a million
/// jobs and waits.
#[derive(Debug)]
pub struct Document<'a> {
    /// The trace.
    pub trace: &'a Trace,
    /// The figures of it.
    pub figures: &'a Figures,
    /// The options.
    pub wanted: &'a Wanted,
    /// Further entries, of other analyses.
    pub more: Map<String, Value>,
}

impl<'a> Document<'a> {
    /// The figures alone.
    pub fn new(trace: &'a Trace, figures: &'a Figures, wanted: &'a Wanted) -> Self {
        Self { trace, figures, wanted, more: Map::new() }
    }

    /// Writes the object in lines, for programs and people.
    ///
    /// # Errors
    /// As `out` reports them.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, self)?;
        out.write_all(b"\n")
    }
}

/// The value of an entry.
enum Entry<'a> {
    Value(&'a Value),
    Jobs,
    Waits,
}

impl Serialize for Document<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { trace, figures, wanted, more } = self;
        let figured = entries(trace, figures, wanted);
        let entries = figured.iter().chain(more);
        let mut entries: BTreeMap<&str, Entry<'_>> =
            entries.map(|(key, value)| (key.as_str(), Entry::Value(value))).collect();
        if wanted.jobs {
            entries.insert("jobs", Entry::Jobs);
        }
        if wanted.waits {
            entries.insert("waits", Entry::Waits);
        }
        let mut map = serializer.serialize_map(Some(entries.len()))?;
        for (key, entry) in entries {
            match entry {
                Entry::Value(value) => map.serialize_entry(key, value)?,
                Entry::Jobs => {
                    let row = |job: &Job| job_json(trace, job);
                    map.serialize_entry(key, &Rows(&figures.jobs, row))?;
                }
                Entry::Waits => {
                    let row = |wait: &Waited| wait_json(trace, wait);
                    map.serialize_entry(key, &Rows(&figures.waits, row))?;
                }
            }
        }
        map.end()
    }
}

/// Rows that are made one at a time.
struct Rows<'a, T, F>(&'a [T], F);

impl<T, F: Fn(&T) -> Value> Serialize for Rows<'_, T, F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(&self.1))
    }
}

/// All entries but jobs and waits.
fn entries(trace: &Trace, figures: &Figures, wanted: &Wanted) -> Map<String, Value> {
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
        "charged_of_ticks": figures.charged_ticks.map(|_| trace.span.saturating_mul(figures.cores.len() as u64)),
        "cores": cores_json(trace, figures),
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
        "tasks": list(&figures.tasks, |task| task_json(trace, figures, task)),
        "servers": list(&figures.servers, |server| server_json(trace, server, known)),
        "locks": list(&figures.resources, |resource| resource_json(trace, figures, resource)),
        "stacks": list(&figures.stacks, |stack| stack_json(trace, stack)),
        "sanity": sanity_json(trace, figures.sanity),
        "without_effect": list(&missing(trace, figures, wanted), |missing| json!({
            "option": missing.option,
            "reason": missing.why,
        })),
    });
    let Some(keys) = object.as_object_mut() else { return Map::new() };
    let mut add = |key: &str, value: Value| keys.insert(key.to_owned(), value);
    if wanted.jobs {
        add("more_jobs", figures.more_jobs.into());
    }
    if wanted.waits {
        add("more_waits", figures.more_waits.into());
    }
    if !wanted.pairs.is_empty() {
        add("passages", list(&figures.passages, |pair| pair_json(trace, pair)).into());
    }
    std::mem::take(keys)
}

fn cores_json(trace: &Trace, figures: &Figures) -> Vec<Value> {
    let mut tasks: BTreeMap<u16, Vec<Value>> = BTreeMap::new();
    for (task, core, ticks) in &figures.execution_by_core {
        let (key, name) = (key_of(trace, *task), name_of(trace, *task));
        let row = json!({ "context": key, "name": name, "ticks": ticks });
        tasks.entry(*core).or_default().push(row);
    }
    let several = figures.cores.len() > 1;
    list(&figures.cores, |core| {
        let tasks = tasks.get(&core.core).map_or(&[][..], Vec::as_slice);
        core_json(core, several.then_some(tasks))
    })
}

fn core_json(core: &CoreTime, tasks: Option<&[Value]>) -> Value {
    json!({
        "core": core.core,
        "task_ticks": core.tasks,
        "interrupt_ticks": core.interrupts,
        "idle_ticks": core.idle,
        "unknown_ticks": core.unknown,
        "tasks": tasks,
    })
}

fn stack_json(trace: &Trace, stack: &Stack) -> Value {
    json!({
        "context": key_of(trace, stack.context),
        "name": name_of(trace, stack.context),
        "start": format!("0x{:08X}", stack.start),
        "size": stack.size,
        "used": stack.used.map(|(used, _)| used),
        "free": stack.used.map(|(used, _)| stack.size - used),
        "at_ticks": stack.used.map(|(_, ticks)| ticks),
        "outside": stack.outside,
    })
}

pub(super) fn list<T>(rows: &[T], row: impl Fn(&T) -> Value) -> Vec<Value> {
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
pub(super) fn range_json(range: Range) -> Value {
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

pub(super) fn name_of(trace: &Trace, context: ContextId) -> Option<&str> {
    trace.contexts.get(context).map(|context| context.name.as_str())
}

pub(super) fn key_of(trace: &Trace, context: ContextId) -> Option<&str> {
    trace.contexts.get(context).map(|context| context.key_text.as_str())
}

fn resource_json(trace: &Trace, figures: &Figures, resource: &Resource) -> Value {
    let Resource { key, is_mutex, kind, last_ticks, figures: locks } = resource;
    json!({
        "kind": kind_of(trace, *is_mutex, *kind),
        "key": format!("0x{key:08X}"),
        "name": resource_name(trace, *key, *kind, *last_ticks),
        "requests": locks.requests,
        "blocks": locks.blocks,
        "wait": range_json(locks.wait),
        "hold": range_json(locks.hold),
        "inversions": is_mutex.then(|| inversions_json(figures, locks)),
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
