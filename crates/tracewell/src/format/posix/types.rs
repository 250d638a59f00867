//! Defines the names of event types in the schema, and shows sets of event types as text.

use std::fmt::Write;
use std::sync::Arc;

use tracewell_wire::posix::{EventSet, FIRST_USER, LAST_USER, UNNAMED};

use crate::model::schema::{EventType, Schema};
use crate::model::{Severity, Trace};
use crate::text::shown;

/// Defines the name of a user event type, unless the user of Tracewell supplied a name for the same
/// id.
pub(super) fn define(trace: &mut Trace, id: u32, name: &[u8], offset: u64) {
    if !(FIRST_USER..=LAST_USER).contains(&id) {
        let message = format!("expected a user event type, found the name of id {id}");
        return trace.diagnostics.add(Severity::Damage, offset, message);
    }
    if trace.schema.defines(id) {
        return;
    }
    let name = shown(name).into_owned();
    let event = EventType { id, label: name.clone(), name, ..unnamed(&trace.schema) };
    Arc::make_mut(&mut trace.schema).define(event);
}

/// Defines a user event type whose name is unknown. Its arguments are the same as for all user
/// event types.
pub(super) fn define_unnamed(trace: &mut Trace, id: u32) {
    if (FIRST_USER..=LAST_USER).contains(&id) && !trace.schema.defines(id) {
        let name = format!("user_event_{id}");
        let event = EventType { id, label: name.clone(), name, ..unnamed(&trace.schema) };
        Arc::make_mut(&mut trace.schema).define(event);
    }
}

fn unnamed(schema: &Schema) -> EventType {
    schema.event(UNNAMED).clone()
}

/// Returns the members of a set as text: their names if these are known, otherwise ids and ranges
/// of ids.
pub(super) fn members(set: &EventSet, schema: &Schema) -> String {
    let words = set.words();
    let is_member = |id: u32| words[id as usize / 64] >> (id % 64) & 1 == 1;
    let mut text = String::new();
    let mut ids = (1..=LAST_USER).filter(|id| is_member(*id)).peekable();
    while let Some(first) = ids.next() {
        let separator = if text.is_empty() { "" } else { " " };
        let mut last = first;
        let named = schema.defines(first);
        // Only ids without a name are combined into a range.
        while let Some(next) = ids.next_if(|id| !named && *id == last + 1 && !schema.defines(*id)) {
            last = next;
        }
        // Writing to a String does not fail.
        let _ = match last {
            _ if named => write!(text, "{separator}{}", schema.event(first).name),
            last if last == first => write!(text, "{separator}{first}"),
            last => write!(text, "{separator}{first}-{last}"),
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use tracewell_wire::posix::Fill;

    use super::*;

    #[test]
    fn sets_are_shown_by_names_and_runs_of_ids() {
        let schema = crate::format::posix::schema();
        assert_eq!(members(&EventSet::EMPTY, &schema), "");
        let mut set = EventSet::EMPTY;
        for id in [2, 64, 70, 80, 81, LAST_USER] {
            set.add(id).unwrap();
        }
        let expected = "posix_trace_start posix_trace_unnamed_userevent 70 80-81 1088";
        assert_eq!(members(&set, &schema), expected);
        let all = members(&EventSet::filled(Fill::All), &schema);
        assert!(all.starts_with("posix_trace_error posix_trace_start "), "{all}");
        assert!(all.ends_with("posix_trace_unnamed_userevent 65-1088"), "{all}");
    }
}
