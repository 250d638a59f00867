//! The figures of [`crate::analysis::scheduling`]: text for people, JSON for programs.
//!
//! What each figure is stands in docs/analysis.md.

mod json;
mod tables;
mod text;

pub use json::json;
pub use text::text;

use crate::model::{Processor, Trace};

fn kind_of(is_mutex: bool) -> &'static str {
    if is_mutex { "mutex" } else { "semaphore" }
}

/// What a trace would have to record for the execution of tasks to be known; `None` where it does.
fn needed(trace: &Trace) -> Option<&'static str> {
    match trace.processor {
        Processor::Switches => None,
        Processor::Recorders { needed } => Some(needed),
    }
}

/// The name of what has this key, where the trace tells it.
fn resource_name(trace: &Trace, key: u64) -> Option<&str> {
    // A number may be a context's key as well; resources are no contexts.
    let id = trace.objects.with_key(key).last().filter(|_| trace.contexts.find(key).is_none())?;
    trace.objects.get(*id).map(|object| object.label.as_str())
}
