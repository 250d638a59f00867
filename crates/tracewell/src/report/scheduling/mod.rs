//! The figures of [`crate::analysis::scheduling`]: text for people, JSON for programs.
//!
//! What each figure is stands in docs/analysis.md.

mod json;
mod json_tasks;
mod missing;
mod tables;
mod text;

pub use json::Document;
pub use text::text;

use crate::model::{Processor, Trace};

/// The word for what is asked for: the label of its type if events tell that.
fn kind_of(trace: &Trace, is_mutex: bool, kind: Option<u32>) -> &str {
    match kind.and_then(|code| trace.schema.object_kind(code)) {
        Some(kind) => &kind.label,
        None if is_mutex => "mutex",
        None => SEMAPHORE,
    }
}

/// The word for what is waited for if nothing tells more.
const SEMAPHORE: &str = "semaphore";

/// What a trace would have to record for the execution of tasks to be known; `None` where it does.
fn needed(trace: &Trace) -> Option<&'static str> {
    match trace.processor {
        Processor::Switches => None,
        Processor::Recorders { needed } => Some(needed),
    }
}

/// The name of what a key named at a time, if the trace tells it.
fn resource_name(trace: &Trace, key: u64, kind: Option<u32>, ticks: u64) -> Option<&str> {
    let (_, object) = trace.objects.at(key, ticks, kind)?;
    // A number may be a context's key as well; resources are no contexts.
    let fits = match kind {
        Some(kind) => object.kind == kind,
        None => trace.contexts.find(key).is_none(),
    };
    fits.then_some(object.label.as_str())
}
