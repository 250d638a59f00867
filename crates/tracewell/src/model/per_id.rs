//! Facts about event ids that selections and analyses look up for each event. The schema is
//! searched once per id.

use std::sync::{Arc, Weak};

use crate::model::schema::Schema;

/// Only ids below this number have places in the table. The schema gives larger ids no entries of
/// their own.
const MAX_IDS: usize = 1 << 16;

/// A table by event id. An entry is made when its id first occurs, and made again after the schema
/// has changed.
#[derive(Clone, Debug)]
pub(crate) struct PerId<T> {
    /// The schema of the entries. Because the reference is weak, a decoder can change the schema
    /// without a copy. The changed schema has a different address.
    schema: Weak<Schema>,
    /// Index in `entries` by id; 0 if the id has no entry yet.
    index: Vec<u16>,
    /// The entries. The ids that do not fit into `index` share the first entry. Each lookup of one
    /// of these ids overwrites the first entry.
    entries: Vec<T>,
}

impl<T> Default for PerId<T> {
    fn default() -> Self {
        Self { schema: Weak::new(), index: Vec::new(), entries: Vec::new() }
    }
}

impl<T: Copy> PerId<T> {
    /// Returns the table of a schema. Callers get the table once per batch, because the schema
    /// changes only between batches.
    #[inline]
    pub(crate) fn of_schema<'a>(&'a mut self, schema: &'a Arc<Schema>) -> OfSchema<'a, T> {
        if self.schema.as_ptr() != Arc::as_ptr(schema) {
            self.schema = Arc::downgrade(schema);
            self.index.clear();
            self.entries.clear();
        }
        OfSchema { table: self, schema }
    }
}

/// A table whose entries belong to one schema.
#[derive(Debug)]
pub(crate) struct OfSchema<'a, T> {
    table: &'a mut PerId<T>,
    schema: &'a Schema,
}

impl<T: Copy> OfSchema<'_, T> {
    /// Returns true if the table has no entries, because the schema is new.
    pub(crate) fn is_empty(&self) -> bool {
        self.table.entries.is_empty()
    }

    /// Returns the entry of an id. If there is none, calls `make` to create it.
    #[inline(always)]
    pub(crate) fn get(&mut self, id: u32, make: impl FnOnce(&Schema, u32) -> T) -> &T {
        let index = match self.table.index.get(id as usize) {
            Some(index) if *index > 0 => *index,
            _ => self.add(id, make),
        };
        &self.table.entries[usize::from(index)]
    }

    /// Creates the entry for an id, and returns its index.
    #[cold]
    #[inline(never)]
    fn add(&mut self, id: u32, make: impl FnOnce(&Schema, u32) -> T) -> u16 {
        let PerId { index: indices, entries, .. } = &mut *self.table;
        let entry = make(self.schema, id);
        // Index 0 means that an id has no entry yet. The ids that do not fit into the table share
        // entry 0, and each of them overwrites it.
        if entries.is_empty() {
            entries.push(entry);
        }
        let place = id as usize;
        let Some(index) = u16::try_from(entries.len()).ok().filter(|_| place < MAX_IDS) else {
            entries[0] = entry;
            return 0;
        };
        if place >= indices.len() {
            indices.resize(place + 1, 0);
        }
        indices[place] = index;
        entries.push(entry);
        index
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::schema::EventType;

    const SCHEMA: &str = r#"
        [[event]]
        id = 52
        name = "LOCK"
        label = "lock"
        family = "locks"
        means = { is = "lock" }
    "#;

    #[test]
    fn entries_are_made_once_and_again_for_a_changed_schema() {
        let mut schema = Arc::new(Schema::parse(SCHEMA, "test").unwrap());
        let (mut table, mut made) = (PerId::default(), 0);
        let mut get = |schema: &Arc<Schema>, id| {
            *table.of_schema(schema).get(id, |schema, id| {
                made += 1;
                (schema.event(id).means.is_some(), made)
            })
        };
        let first = [52, 5000, 52, 5000].map(|id| get(&schema, id));
        assert_eq!(first, [(true, 1), (false, 2), (true, 1), (false, 2)]);
        let event = EventType { id: 5000, ..schema.event(52).clone() };
        Arc::make_mut(&mut schema).define(event);
        assert_eq!([5000, 52, 5000].map(|id| get(&schema, id)), [(true, 3), (true, 4), (true, 3)]);
        // If there is no room for an id's entry, the id is looked up at each event.
        assert_eq!([1 << 20, 1 << 20].map(|id| get(&schema, id)), [(false, 5), (false, 6)]);
    }
}
