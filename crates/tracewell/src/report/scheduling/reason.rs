//! Names of resources, and of the objects for which contexts are blocked.

use std::borrow::Cow;

use super::resource_name;
use crate::analysis::tracks::Reason;
use crate::model::{Meaning, Trace};

/// Returns the name that a resource has at the end of the trace, or its key if it has no name.
pub(crate) fn resource_label(trace: &Trace, key: u64, kind: Option<u32>) -> String {
    let name = resource_name(trace, key, kind, trace.span);
    name.map_or_else(|| format!("{key:#x}"), Cow::into_owned)
}

/// Returns the noun for the object that a blocked context requested, and the object's name, or its
/// key if it has no name.
pub(crate) fn asked_object<'a>(
    trace: &'a Trace,
    reason: &Reason,
) -> (Option<&'a str>, Option<String>) {
    // The key of a system call is the id of its event, not an object.
    if let (Some(Meaning::Call), Some(id)) = (reason.request, reason.key) {
        let event = trace.schema.event(u32::try_from(id).unwrap_or(u32::MAX));
        let name = event.name.get(event.details.waits_in.unwrap_or(0)..);
        return (Some("system call"), name.map(str::to_owned));
    }
    let name = |key| {
        let known = resource_name(trace, key, reason.kind, trace.span);
        let any = || trace.objects.at(key, trace.span, None).map(|(_, o)| o.label.as_str().into());
        known.or_else(any)
    };
    let named = |key| name(key).map_or_else(|| format!("{key:#x}"), Cow::into_owned);
    let object = reason.key.and_then(|key| trace.objects.at(key, trace.span, reason.kind));
    let kind = object.and_then(|(_, object)| trace.schema.object_kind(object.kind));
    let noun = match reason.request {
        Some(Meaning::Lock) => Some("mutex"),
        Some(Meaning::Wait) => Some("semaphore"),
        Some(Meaning::Receive | Meaning::Send | Meaning::SendFirst) => Some("queue"),
        Some(Meaning::Allocate) => Some("memory"),
        _ => None,
    };
    (kind.map(|kind| kind.label.as_str()).or(noun), reason.key.map(named))
}
