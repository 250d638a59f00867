//! The table of definitions in the memory of a ring.

use tracewell_wire::target::definition::{DELETED, ENTRY, NAME};
use tracewell_wire::target::{Definition, DefinitionKind};

/// Maximum number of entries for one name.
const MAX_PARTS: usize = 8;

/// Returns the index of the first entry for which `is` is true.
fn find(table: &[u8], is: impl Fn(Option<Definition>) -> bool) -> Option<usize> {
    table.chunks_exact(ENTRY).position(|entry| is(Definition::read(entry)))
}

/// Stores a definition, with one entry for each 20 bytes of its name. Returns the lowest index of a
/// changed entry, or `None` if the table has no room for the whole name.
pub(super) fn define(table: &mut [u8], definition: Definition, name: &[u8]) -> Option<usize> {
    let parts = name.len().div_ceil(NAME).clamp(1, MAX_PARTS);
    let mut first = None;
    for (part, text) in (0..).zip(name.chunks(NAME).chain([&[][..]])).take(parts) {
        let same = |entry: Option<Definition>| {
            entry.is_some_and(|entry| {
                (entry.kind, entry.number, entry.part) == (definition.kind, definition.number, part)
            })
        };
        let is_deleted =
            |entry: Option<Definition>| entry.is_some_and(|entry| entry.flags & DELETED != 0);
        let index = find(table, same)
            .or_else(|| find(table, |entry| entry.is_none()))
            .or_else(|| find(table, is_deleted))?;
        let named = Definition::new(definition.kind, definition.number, text);
        let entry = Definition { part, name: named.name, ..definition };
        let to = table.get_mut(index * ENTRY..)?.first_chunk_mut()?;
        *to = entry.to_bytes();
        first = Some(first.map_or(index, |first: usize| first.min(index)));
    }
    // If the earlier name was longer, remove the entries of its further parts.
    for bytes in table.chunks_exact_mut(ENTRY) {
        let is_left = |entry: Definition| {
            (entry.kind, entry.number) == (definition.kind, definition.number)
                && usize::from(entry.part) >= parts
        };
        if Definition::read(bytes).is_some_and(is_left) {
            bytes.fill(0);
        }
    }
    first
}

/// Marks a definition as deleted. New definitions replace its entries when the table is full.
pub(super) fn remove(table: &mut [u8], kind: DefinitionKind, number: u32) {
    for bytes in table.chunks_exact_mut(ENTRY) {
        let entry = Definition::read(bytes);
        if entry.is_some_and(|entry| (entry.kind, entry.number) == (kind, number)) {
            bytes[2] |= DELETED;
        }
    }
}

/// Returns the number of entries up to and including the last used entry.
pub(super) fn used(table: &[u8]) -> usize {
    let last = table.chunks_exact(ENTRY).rposition(|entry| Definition::read(entry).is_some());
    last.map_or(0, |last| last + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shorter_name_replaces_all_parts_of_a_longer_one() {
        let mut table = [0; 4 * ENTRY];
        let mutex = Definition::new(DefinitionKind::Mutex, 1, b"");
        assert_eq!(define(&mut table, mutex, b"sensor measurements xyzuv"), Some(0));
        assert_eq!(used(&table), 2);
        assert_eq!(define(&mut table, mutex, b"sensor measurements!"), Some(0));
        assert_eq!(used(&table), 1);
    }
}
