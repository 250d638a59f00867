//! Prints the figures of [`crate::analysis::scheduling`] as text for people or JSON for programs.
//!
//! docs/analysis.md defines each figure.

mod json;
pub(super) mod json_parts;
mod json_rows;
mod json_system;
mod json_tasks;
pub(super) mod load;
mod missing;
mod reason;
pub(super) mod tables;
pub(super) mod text;

pub use json::{HiddenRow, JobRows, LockRow, SchedulingFigures, WaitRows, WithoutEffect};
pub use json_parts::{ContextTicks, Durations, SplitRow};
pub use json_rows::{JobRow, MissedRow, WaitRow};
pub use json_system::{
    CoreRow, InterruptFigures, LossRow, SanityRow, ServerRow, SourceRow, StackRow, Windows,
};
pub use json_tasks::{
    Inversions, JobFigures, KindRequests, MarkName, PassageRow, Requests, TaskPassages, TaskRow,
    TimingRow,
};
pub(crate) use reason::{asked_object, resource_label};
pub(super) use text::head;
pub use text::text;

use std::borrow::Cow;

use crate::model::{Processor, Trace};

/// Returns the noun for a resource. If events record the type of the resource, this is the label of
/// the type. Otherwise, it is `mutex` or `semaphore`.
pub(crate) fn kind_of(trace: &Trace, is_mutex: bool, kind: Option<u32>) -> &str {
    match kind.and_then(|code| trace.schema.object_kind(code)) {
        Some(kind) => &kind.label,
        None if is_mutex => "mutex",
        None => SEMAPHORE,
    }
}

/// The noun for a resource of unknown type.
const SEMAPHORE: &str = "semaphore";

/// Returns the events that would show execution times; `None` if the trace already shows which task
/// runs.
fn needed(trace: &Trace) -> Option<&'static str> {
    match trace.processor {
        Processor::Switches => None,
        Processor::Recorders { needed } => Some(needed),
    }
}

/// Returns the name of the resource to which a key referred at a given time, or `None` if it is
/// unknown. If the trace has no object with this key, the key is used as the address of a symbol.
pub fn resource_name(
    trace: &Trace,
    key: u64,
    kind: Option<u32>,
    ticks: u64,
) -> Option<Cow<'_, str>> {
    // A number may also be the key of a context, which is not a resource.
    let is_context = || trace.contexts.find(key).is_some();
    match (trace.objects.at(key, ticks, kind), kind) {
        (Some((_, object)), Some(kind)) if object.kind != kind => None,
        (_, None) if is_context() => None,
        (Some((_, object)), _) => Some(object.label.as_str().into()),
        (None, _) => Some(trace.object_symbol(kind, key)?.to_string().into()),
    }
}
