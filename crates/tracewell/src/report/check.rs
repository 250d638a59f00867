//! The verdict of [`crate::check`]: text for people, JSON for programs.
//!
//! Keys of the JSON object: `passed`, `events` (looked at), `steps` (met), `gaps` (places where events are missing),
//! `lost` (events missing, null where unknown), `failures[]`. Keys of a failure: `rule` (its name, null outside of named
//! rules), `kind` (`missing`, `unexpected`, `late`, `early`, `never`, `count`, `unanswered`, `lost`), `place` (`file`,
//! `line`, `column`, `text`), `message`, `since` (the event since which this was waited for, with its own `place`; null
//! for the start of the trace), `at` (the event at which it was clear; null for the end of the trace), `near` (`event`,
//! `why`), `context[]`. Keys of an event: `seq`, `ticks`, `time_ns`, `context`, `label`, `text`.

use serde_json::{Value, json};

use crate::check::{Failure, Line, Verdict};
use crate::source::{Finding, Source, Span};
use crate::text::counted;

/// The verdict as a JSON object; `source` is the text of the rules.
pub fn json(source: &Source, verdict: &Verdict) -> Value {
    json!({
        "passed": verdict.passed(),
        "events": verdict.events,
        "steps": verdict.steps,
        "gaps": verdict.gaps,
        "lost": verdict.lost,
        "failures": verdict.failures.iter().map(|f| failure_json(source, f)).collect::<Vec<_>>(),
    })
}

fn failure_json(source: &Source, failure: &Failure) -> Value {
    let since = failure.since.as_ref().map(|(line, span)| {
        let mut since = line_json(line);
        since["place"] = place_json(source, *span);
        since
    });
    let near = failure.near.as_ref();
    json!({
        "rule": failure.rule,
        "kind": failure.kind.as_str(),
        "place": place_json(source, failure.span),
        "message": failure.message,
        "since": since,
        "at": failure.at.as_ref().map(line_json),
        "near": near.map(|near| json!({ "event": line_json(&near.event), "why": near.why })),
        "context": failure.context.iter().map(line_json).collect::<Vec<_>>(),
    })
}

fn place_json(source: &Source, span: Span) -> Value {
    let position = source.position(span.start);
    json!({
        "file": source.name,
        "line": position.line,
        "column": position.column,
        "text": source.slice(span),
    })
}

fn line_json(line: &Line) -> Value {
    json!({
        "seq": line.seq,
        "ticks": line.ticks,
        "time_ns": line.time_ns,
        "context": line.context,
        "label": line.label,
        "text": line.text,
    })
}

/// The verdict as text.
pub fn text(source: &Source, verdict: &Verdict) -> String {
    failures(source, &verdict.failures) + &summary(verdict)
}

/// Failures as text, each with an empty line behind it.
pub fn failures(source: &Source, failures: &[Failure]) -> String {
    let mut lines = Vec::new();
    for failure in failures {
        failure_text(&mut lines, source, failure);
        lines.push(String::new());
    }
    lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect()
}

/// The last lines of a verdict as text: what is missing, and how many rules are not met.
pub fn summary(verdict: &Verdict) -> String {
    let mut lines = Vec::new();
    if verdict.gaps > 0 {
        let gaps = counted(verdict.gaps, "place");
        let lost = verdict.lost.map_or_else(String::new, |lost| format!(", {lost} in all"));
        lines.push(format!("events are missing in {gaps}{lost}: what was there was not checked"));
    }
    let looked = counted(verdict.events, "event");
    let steps = counted(verdict.steps, "step");
    lines.push(match verdict.failures.len() {
        0 => format!("passed: {steps} met in {looked}"),
        1 => format!("FAILED: {steps} met in {looked}"),
        failures => format!("FAILED in {failures} places: {steps} met in {looked}"),
    });
    lines.push(String::new());
    lines.join("\n")
}

fn failure_text(lines: &mut Vec<String>, source: &Source, failure: &Failure) {
    lines.push(Finding::error(failure.span, failure.message.clone()).show(source));
    if let Some(rule) = &failure.rule {
        lines.push(format!("  in rule \"{}\"", rule.escape_debug()));
    }
    match &failure.since {
        Some((line, span)) => {
            let place = source.position(span.start);
            let number = place.line;
            lines.push(format!("  waiting since event {}, line {number} of the rules:", line.seq));
            lines.push(shown(' ', line));
        }
        None if failure.at.is_none() => {
            lines.push("  waiting since the start of the trace".to_owned());
        }
        None => {}
    }
    if let Some(near) = &failure.near {
        lines.push(format!("  nearly event {}: {}", near.event.seq, near.why));
        lines.push(shown('~', &near.event));
    }
    let at = failure.at.as_ref().map(|line| line.seq);
    if !failure.context.is_empty() {
        let title = if at.is_some() { "  the events around it:" } else { "  what came instead:" };
        lines.push(title.to_owned());
    }
    let mark = |line: &Line| if Some(line.seq) == at { '>' } else { ' ' };
    lines.extend(failure.context.iter().map(|line| shown(mark(line), line)));
}

/// An event as a line with a mark before it.
fn shown(mark: char, line: &Line) -> String {
    let time = match line.time_ns {
        Some(ns) => format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000),
        None => line.ticks.to_string(),
    };
    let Line { seq, context, label, text, .. } = line;
    format!("  {mark} {seq:>6}  {time:>12}  {context:<12}  {label:<14}  {text}")
        .trim_end()
        .to_owned()
}
