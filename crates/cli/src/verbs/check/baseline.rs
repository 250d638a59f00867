//! Reads the figures of earlier runs from a document that `check --json` wrote.

use std::path::Path;

use serde_json::Value;
use tracewell::check::{Baseline, Quantity};
use tracewell::select::Share;
use tracewell::text::shown_path;

use crate::outcome::Failure;
use crate::small_file;

/// Reads a baseline. A figure may be worse than in the baseline by at most `tolerance`.
pub(super) fn read(path: &Path, tolerance: Share) -> Result<Baseline, Failure> {
    let bytes = small_file::read(path)?;
    let wrong = |what: String| Failure::usage(format!("{}: {what}", shown_path(path)));
    let document: Value = serde_json::from_slice(&bytes).map_err(|error| {
        wrong(format!("expected a document that check --json wrote, found no JSON: {error}"))
    })?;
    let traces = document.get("traces").and_then(Value::as_array);
    // JSON of other verbs may also contain traces, but only `check` writes rules with each trace.
    let has_rules = |trace: &Value| trace.get("rules").is_some_and(Value::is_array);
    let Some(traces) = traces.filter(|traces| traces.iter().all(has_rules)) else {
        let expected = "expected a document that check --json wrote, with traces and their rules";
        return Err(wrong(expected.to_owned()));
    };
    let mut baseline = Baseline::new(tolerance.millionths);
    let rules = traces.iter().filter_map(|trace| trace.get("rules")?.as_array()).flatten();
    for threshold in rules.filter_map(|rule| rule.get("threshold")) {
        if let Some((figure, quantity)) = figure(threshold) {
            baseline.add(figure, quantity);
        }
    }
    // An empty baseline accepts every run, so it is probably a mistake.
    if baseline.is_empty() {
        let reason = "the document has no figures: the rules of its run had no thresholds, or the \
                      trace decided none";
        return Err(wrong(reason.to_owned()));
    }
    Ok(baseline)
}

/// Returns a figure with its value; `None` if the value was unknown.
fn figure(threshold: &Value) -> Option<(&str, Quantity)> {
    let value = threshold.get("value")?.as_u64()?;
    let quantity = match threshold.get("unit")?.as_str()? {
        "ticks" => Quantity::Ticks(value),
        "ns" => Quantity::Nanoseconds(value),
        "ppm" => Quantity::Share(value),
        "count" => Quantity::Count(value),
        _ => return None,
    };
    Some((threshold.get("figure")?.as_str()?, quantity))
}
