//! What is in a trace, without its events: facts, clock, counts, contexts, objects, losses.
//!
//! Keys of the JSON object: `format`, `options` (the source's own properties; addresses and masks are
//! strings with `0x`), `clock` (`ticks_per_second` as a ratio of two numbers or null, `direction`,
//! `last`, `mask`, `first_stamp`), `events`, `span_ticks`, `span_ns` (null where the rate is not
//! known), `cpus`, `event_counts[]`, `contexts[]`, `objects[]`, `losses` (`events`, null where
//! unknown; `damaged`; `by_cause`), `diagnostics[]`.

use std::collections::HashMap;
use std::fmt::Write;

use foldhash::fast::RandomState;
use serde_json::{Map, Value, json};

use crate::model::{Batch, Context, Fact, FactForm, Flow, Object, Sink, Trace};

/// A sink that counts events by id and by context.
#[derive(Debug, Default)]
pub struct Census {
    by_context: Vec<u64>,
    by_id: HashMap<u32, u64, RandomState>,
}

impl Sink for Census {
    fn events(&mut self, _: &Trace, batch: &Batch<'_>) -> Flow {
        for context in &batch.columns.context {
            if context.index() >= self.by_context.len() {
                self.by_context.resize(context.index() + 1, 0);
            }
            self.by_context[context.index()] += 1;
        }
        for id in &batch.columns.id {
            *self.by_id.entry(*id).or_default() += 1;
        }
        Flow::Continue(())
    }
}

impl Census {
    /// How often each event id occurs, most often first.
    fn ids(&self) -> Vec<(u32, u64)> {
        let mut ids: Vec<_> = self.by_id.iter().map(|(id, count)| (*id, *count)).collect();
        ids.sort_by_key(|(id, count)| (std::cmp::Reverse(*count), *id));
        ids
    }

    fn events_of(&self, index: usize) -> u64 {
        self.by_context.get(index).copied().unwrap_or(0)
    }

    /// The figures as a JSON object.
    pub fn json(&self, trace: &Trace) -> Value {
        let options: Map<_, _> =
            trace.facts.iter().map(|fact| (fact.name.to_owned(), fact_json(fact))).collect();
        let contexts: Vec<_> = trace
            .contexts
            .iter()
            .map(|(id, context)| context_json(trace, context, self.events_of(id.index())))
            .collect();
        let ids = self.ids();
        let counts: Vec<_> = ids
            .iter()
            .map(|(id, count)| {
                json!({"id": id, "name": trace.schema.event(*id).name, "events": count})
            })
            .collect();
        json!({
            "format": trace.format,
            "options": options,
            "clock": clock_json(trace),
            "events": trace.events,
            "span_ticks": trace.span,
            "span_ns": trace.clock.nanoseconds(trace.span),
            "cpus": trace.cpus,
            "event_counts": counts,
            "contexts": contexts,
            "objects": trace.objects.iter().map(|(_, o)| object_json(trace, o)).collect::<Vec<_>>(),
            "losses": losses_json(trace),
            "diagnostics": diagnostics_json(trace),
        })
    }

    /// The figures as text for people.
    pub fn text(&self, trace: &Trace) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = self.write_text(trace, &mut text);
        text
    }

    fn write_text(&self, trace: &Trace, out: &mut String) -> std::fmt::Result {
        writeln!(out, "format    {}", trace.format)?;
        let longest = trace.facts.iter().map(|fact| fact.name.len()).max().unwrap_or(0);
        let width = longest.max(18) + 2;
        for fact in &trace.facts {
            writeln!(out, "          {:<width$}{}", fact.name, fact_text(fact))?;
        }
        writeln!(out, "clock     {}", super::heading_of_clock(trace))?;
        let span = trace.clock.nanoseconds(trace.span);
        let span = span.map_or_else(String::new, |ns| format!(" ({} s)", super::seconds(ns)));
        writeln!(out, "span      {} ticks{span}", trace.span)?;
        writeln!(out, "events    {}", trace.events)?;
        writeln!(out, "lost      {}", super::lost(&trace.losses))?;
        if trace.cpus > 1 {
            writeln!(out, "cores     {}", trace.cpus)?;
        }
        for remark in trace.diagnostics.iter() {
            writeln!(out, "{remark}")?;
        }
        self.write_events(trace, out)?;
        self.write_contexts(trace, out)?;
        write_objects(trace, out)
    }

    fn write_events(&self, trace: &Trace, out: &mut String) -> std::fmt::Result {
        writeln!(out, "\n{:>9}  {:>5}  EVENT", "COUNT", "ID")?;
        for (id, count) in self.ids() {
            writeln!(out, "{count:>9}  {id:>5}  {}", trace.schema.event(id).label)?;
        }
        Ok(())
    }

    fn write_contexts(&self, trace: &Trace, out: &mut String) -> std::fmt::Result {
        let width = super::key_width(trace);
        writeln!(out, "\n{:>9}  {:<width$}  {:<15}CONTEXT", "EVENTS", "KEY", "KIND")?;
        for (id, context) in trace.contexts.iter() {
            let (events, kind) = (self.events_of(id.index()), context.kind.as_str());
            let (key, name) = (&context.key_text, &context.name);
            writeln!(out, "{events:>9}  {key:<width$}  {kind:<15}{name}")?;
        }
        Ok(())
    }
}

fn write_objects(trace: &Trace, out: &mut String) -> std::fmt::Result {
    let digits = trace.payload.digits() + 2;
    writeln!(
        out,
        "\n{:<digits$}  {:<6}{:<16}{:<32}  PARAMETERS",
        "KEY", "ALIVE", "KIND", "OBJECT"
    )?;
    for (_, object) in trace.objects.iter() {
        let alive = match object.alive {
            Some(true) => "yes",
            Some(false) => "no",
            None => "?",
        };
        let mut details: Vec<_> =
            parameters(trace, object).map(|(name, value)| format!("{name}={value}")).collect();
        details.extend(object.priority.map(|priority| format!("priority={priority}")));
        let life = object.lifetime;
        details.extend(life.from.map(|ticks| format!("created={ticks}")));
        details.extend(life.until.map(|ticks| format!("deleted={ticks}")));
        let key = object_key_text(trace, object);
        let kind = kind_label(trace, object);
        let line =
            format!("{key}  {alive:<6}{kind:<16}{:<32}  {}", object.label, details.join(" "));
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

fn key_text(trace: &Trace, key: u64) -> String {
    format!("0x{key:0digits$X}", digits = trace.payload.digits())
}

/// The key as an argument gives it.
fn object_key_text(trace: &Trace, object: &Object) -> String {
    key_text(trace, object.key.wrapping_sub(trace.schema.key(Some(object.kind), 0)))
}

fn kind_label(trace: &Trace, object: &Object) -> String {
    let kind = trace.schema.object_kind(object.kind);
    kind.map_or_else(|| format!("type {}", object.kind), |kind| kind.label.clone())
}

/// Named parameters of an object; further ones that are not 0 by their position.
fn parameters<'a>(
    trace: &'a Trace,
    object: &'a Object,
) -> impl Iterator<Item = (String, String)> + 'a {
    let names = trace.schema.object_kind(object.kind).map(|kind| kind.parameters.as_slice());
    let names = names.unwrap_or_default();
    object.parameters.iter().enumerate().filter_map(move |(index, value)| {
        let name = match names.get(index) {
            Some(name) => name.clone(),
            None if *value == 0 => return None,
            None => format!("parameter{}", index + 1),
        };
        let is_address = name.ends_with("start");
        let value = if is_address { key_text(trace, *value) } else { value.to_string() };
        Some((name, value))
    })
}

fn fact_text(fact: &Fact) -> String {
    match fact.form {
        FactForm::Decimal => fact.value.to_string(),
        FactForm::Hexadecimal => format!("0x{:08X}", fact.value),
        FactForm::Text(text) => text.to_owned(),
    }
}

fn fact_json(fact: &Fact) -> Value {
    match fact.form {
        FactForm::Decimal => json!(fact.value),
        FactForm::Hexadecimal | FactForm::Text(_) => json!(fact_text(fact)),
    }
}

fn clock_json(trace: &Trace) -> Value {
    let clock = &trace.clock;
    let rate = clock.rate.map(|rate| {
        let (ticks, seconds) = rate.ratio();
        json!([ticks, seconds])
    });
    json!({
        "ticks_per_second": rate,
        "direction": clock.counter.direction.to_string(),
        "mask": format!("0x{:08X}", clock.counter.mask),
        "last": clock.counter.last,
        "first_stamp": clock.first_stamp,
    })
}

fn context_json(trace: &Trace, context: &Context, events: u64) -> Value {
    let object = context.object.and_then(|id| trace.objects.get(id));
    json!({
        "key": context.key_text,
        "name": context.name,
        "kind": context.kind.as_str(),
        "events": events,
        "priority": object.and_then(|object| object.priority),
    })
}

fn object_json(trace: &Trace, object: &Object) -> Value {
    let kind = trace.schema.object_kind(object.kind);
    let names = kind.map(|kind| kind.parameters.as_slice()).unwrap_or_default();
    let parameters: Map<_, _> = object
        .parameters
        .iter()
        .enumerate()
        .map(|(index, value)| {
            let unnamed = format!("parameter{}", index + 1);
            (names.get(index).cloned().unwrap_or(unnamed), json!(value))
        })
        .collect();
    json!({
        "key": object_key_text(trace, object),
        "kind": kind_label(trace, object),
        "type": object.kind,
        "name": object.label,
        "parameters": parameters,
        "priority": object.priority,
        "alive": object.alive,
        "created_ticks": object.lifetime.from,
        "deleted_ticks": object.lifetime.until,
    })
}

fn losses_json(trace: &Trace) -> Value {
    let by_cause: Map<_, _> = trace
        .losses
        .iter()
        .map(|(cause, count)| {
            let events = (count.unknown == 0).then_some(count.events);
            (cause.as_str().to_owned(), json!({"gaps": count.gaps, "events": events}))
        })
        .collect();
    let losses = &trace.losses;
    json!({"events": losses.events(), "damaged": losses.damaged(), "by_cause": by_cause})
}

fn diagnostics_json(trace: &Trace) -> Vec<Value> {
    let remarks = trace.diagnostics.iter().map(|remark| {
        json!({"severity": remark.severity.as_str(), "offset": remark.offset,
               "message": remark.message})
    });
    let more = trace.diagnostics.more();
    let rest = (more > 0).then(
        || json!({"severity": "note", "offset": null, "message": format!("{more} more remarks")}),
    );
    remarks.chain(rest).collect()
}
