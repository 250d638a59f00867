//! Rows of the things to which events refer, such as queues and machines.
//!
//! Events refer to the same few things again and again, and most keys have only one name in the
//! whole trace. So the row of a key is usually in the key's slot. The name must be looked up again
//! only after the objects have changed.

use super::Rows;
use super::sight::Named;
use crate::analysis::key_slots::KeySlots;
use crate::model::Objects;

/// One row per named thing, in the order in which the trace first mentions them.
#[derive(Clone, Debug)]
pub(super) struct NamedRows<T> {
    rows: Rows<Named, T>,
    /// Indices of rows by key. They are valid as long as no key has been renamed.
    slots: KeySlots<u64, Option<usize>>,
    /// For each row, the span in which the trace last mentioned the thing.
    spans: Vec<NameSpan>,
}

/// A time span in which a thing has a name, or in which it has none.
#[derive(Clone, Copy, Debug)]
struct NameSpan {
    is_named: bool,
    from: u64,
    until: u64,
    /// The span is valid only for objects of this kind, and only while `Objects::changes` returns
    /// `changes`.
    kind: Option<u32>,
    changes: u64,
}

impl NameSpan {
    /// A span that contains no time.
    const NONE: Self = Self { is_named: false, from: u64::MAX, until: 0, kind: None, changes: 0 };

    /// Returns true if the span contains a time and is still valid.
    #[inline(always)]
    fn contains(&self, kind: Option<u32>, ticks: u64, objects: &Objects) -> bool {
        let is_current = self.changes == objects.changes() && self.kind == kind;
        is_current && self.from <= ticks && ticks <= self.until
    }

    /// Returns the span that contains the latest mention of a thing.
    #[inline(never)]
    fn of(thing: Named, objects: &Objects) -> Self {
        let (kind, changes) = (thing.kind, objects.changes());
        let named = objects.named(thing.key, thing.ticks, kind);
        let (from, until) = (named.from, named.until);
        Self { is_named: named.object.is_some(), from, until, kind, changes }
    }
}

impl<T> Default for NamedRows<T> {
    fn default() -> Self {
        Self { rows: Rows::default(), slots: KeySlots::default(), spans: Vec::new() }
    }
}

impl<T> NamedRows<T> {
    /// Returns the row of a thing, or `None` if there are too many rows. `make` makes the row.
    /// `name` returns the field of a row that identifies the thing. If the thing has a name at the
    /// time of the event, the field gets this time. A later look-up then uses this time and finds
    /// the name.
    #[inline(always)]
    pub(super) fn get(
        &mut self,
        thing: Named,
        objects: &Objects,
        make: impl FnOnce() -> T,
        name: impl FnOnce(&mut T) -> &mut Named,
    ) -> Option<&mut T> {
        let Self { rows, slots, spans } = self;
        // After a renaming, a key can have several names, so the slot of the key is not unique.
        let index = match objects.have_renamed() {
            true => rows.index(thing, make)?,
            false => slots.get(thing.key, thing.key, || rows.index(thing, make))?,
        };
        let row = rows.list.get_mut(index)?;
        if index >= spans.len() {
            grow(spans, index);
        }
        let span = &mut spans[index];
        // Look up the name only if the time is outside the span of the last known name.
        if !span.contains(thing.kind, thing.ticks, objects) {
            *span = NameSpan::of(thing, objects);
        }
        if span.is_named {
            name(row).ticks = thing.ticks;
        }
        Some(row)
    }

    /// Like [`NamedRows::get`], but returns `None` if the thing has no row, or if it is not yet
    /// known whether the thing has a name at this time.
    #[inline(always)]
    pub(super) fn known(
        &mut self,
        key: u64,
        kind: Option<u32>,
        ticks: u64,
        objects: &Objects,
        name: impl FnOnce(&mut T) -> &mut Named,
    ) -> Option<&mut T> {
        let Self { rows, slots, spans } = self;
        let index = slots.known(key, key)?.filter(|_| !objects.have_renamed())?;
        let span = spans.get(index).filter(|span| span.contains(kind, ticks, objects))?;
        let row = rows.list.get_mut(index)?;
        if span.is_named {
            name(row).ticks = ticks;
        }
        Some(row)
    }

    /// Returns true if a thing has a row.
    pub(super) fn has(&self, thing: &Named) -> bool {
        self.rows.by_key.contains_key(thing)
    }

    /// Returns the number of rows.
    pub(super) fn len(&self) -> usize {
        self.rows.list.len()
    }

    /// Returns all rows as mutable references.
    pub(super) fn list_mut(&mut self) -> &mut [T] {
        &mut self.rows.list
    }

    /// Returns all rows.
    pub(super) fn finish(self) -> Vec<T> {
        self.rows.list
    }
}

/// Adds empty spans until the index is valid.
#[cold]
#[inline(never)]
fn grow(spans: &mut Vec<NameSpan>, index: usize) {
    spans.resize(index + 1, NameSpan::NONE);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::{Lifetime, Object};

    fn object(key: u64, kind: u32, label: u8, from: Option<u64>) -> Object {
        Object {
            key,
            kind,
            name: Vec::new(),
            label: label.to_string(),
            parameters: Vec::new(),
            priority: None,
            alive: None,
            lifetime: Lifetime { from, until: None },
            record: Vec::new(),
        }
    }

    proptest! {
        /// The plain implementation searches the table and the objects at each event.
        #[test]
        fn rows_and_names_agree_with_a_search_at_each_event(
            steps in prop::collection::vec((0..12_u8, 0..4_u64, 0..3_u32, 0..3_u8), 0..200),
            shared in any::<bool>(),
        ) {
            let (mut objects, mut rows) = (Objects::default(), NamedRows::<Named>::default());
            if shared {
                objects.share_names_among_kinds();
            }
            let mut plain = Rows::<Named, Named>::default();
            for (now, (step, key, kind, label)) in (0..).zip(steps) {
                match step {
                    0 => {
                        objects.add(object(key, kind, label, (label > 0).then_some(now)));
                    }
                    1 => {
                        let id = objects.at(key, now, Some(kind)).map(|(id, _)| id);
                        id.into_iter().for_each(|id| objects.end(id, now));
                    }
                    _ => {}
                }
                let kind = (kind > 0).then_some(kind);
                let renamed = objects.renamed(key, now, kind);
                let thing = Named { argument: key, key, kind, ticks: now, renamed };
                prop_assert_eq!(rows.has(&thing), plain.by_key.contains_key(&thing));
                let known = rows.known(key, kind, now, &objects, |row| row).copied();
                let row = rows.get(thing, &objects, || thing, |row| row).copied();
                let expected = plain.get(thing, || thing).map(|row| {
                    if objects.at(key, now, kind).is_some() {
                        row.ticks = now;
                    }
                    *row
                });
                let shown = |row: Option<Named>| row.map(|row| (row.key, row.renamed, row.ticks));
                prop_assert_eq!(shown(row), shown(expected));
                if known.is_some() {
                    prop_assert_eq!(shown(known), shown(expected));
                }
                prop_assert!(rows.has(&thing));
            }
            prop_assert_eq!(rows.len(), plain.list.len());
        }
    }
}
