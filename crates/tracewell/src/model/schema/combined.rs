//! Adds entries to a schema: single entries, and the entries of other schemas.

use super::{ArgumentKind, EventType, Schema, TableId};

impl Schema {
    /// Adds an entry, for example for an event of the application. If a user's
    /// [`Extension`](super::Extension) has an entry for the event's name, that entry applies as
    /// well. Returns false if the id already has an entry or is above 65535.
    pub fn define(&mut self, event: EventType) -> bool {
        let event = if self.by_name.is_empty() { event } else { self.extended_by_name(event) };
        let has_call_site = event.instrumentation.site.is_some();
        let is_new = self.entries.push(event);
        self.has_call_sites |= is_new && has_call_site;
        is_new
    }

    /// Adds the events of another schema with `base` added to their ids. Both schemas must have the
    /// same tables and types of objects. The dialects of one system meet this condition.
    pub fn adopt(&mut self, other: &Self, base: u32) {
        for event in other.events() {
            self.define(EventType { id: event.id + base, ..event.clone() });
        }
        for (range, event) in &other.ranges {
            // A user's schema file may define ids up to the highest possible id, so the sum may
            // overflow.
            let Some(first) = range.start().checked_add(base) else { continue };
            let moved = EventType { id: event.id.saturating_add(base), ..event.clone() };
            self.ranges.push((first..=range.end().saturating_add(base), moved));
        }
    }

    /// Adds the events, tables and types of objects of another schema, with `base` added to the ids
    /// of events. The types of objects of this schema stay as they are. Does not add ranges of ids.
    pub fn include(&mut self, other: &Self, base: u32) {
        let first = self.tables.len();
        // A table id is a position in the list, so the ids of the added tables change.
        let moved = |table: TableId| {
            TableId(u16::try_from(first + usize::from(table.0)).unwrap_or(u16::MAX))
        };
        self.tables.extend(other.tables.iter().cloned());
        for kind in &other.kinds {
            if self.object_kind(kind.code).is_none() {
                self.kinds.push(kind.clone());
            }
        }
        for event in other.events() {
            let mut event = EventType { id: event.id + base, ..event.clone() };
            for argument in &mut event.args {
                argument.kind = match argument.kind {
                    ArgumentKind::Enum(table) => ArgumentKind::Enum(moved(table)),
                    ArgumentKind::Flags(table) => ArgumentKind::Flags(moved(table)),
                    kind => kind,
                };
            }
            self.define(event);
        }
    }
}
