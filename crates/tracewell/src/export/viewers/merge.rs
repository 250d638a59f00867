//! Changes of all tracks in order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::analysis::scheduling::Position;

/// A source of changes in order of time.
type Source<'a, T> = Box<dyn Iterator<Item = (Position, T)> + 'a>;

/// Merges several sources. At equal positions, the changes of sources that were added earlier come
/// first.
pub(in crate::export) struct Merge<'a, T> {
    sources: Vec<(Option<T>, Source<'a, T>)>,
    /// For each source: the position of its next change, and the index of the source.
    next: BinaryHeap<Reverse<(Position, usize)>>,
}

impl<'a, T> Merge<'a, T> {
    pub(in crate::export) const fn new() -> Self {
        Self { sources: Vec::new(), next: BinaryHeap::new() }
    }

    /// Adds a source. The positions must not decrease.
    pub(in crate::export) fn add(&mut self, changes: impl Iterator<Item = (Position, T)> + 'a) {
        let index = self.sources.len();
        self.sources.push((None, Box::new(changes)));
        self.advance(index);
    }

    /// Adds changes in any order. Changes with equal positions keep their order.
    pub(super) fn add_unordered(&mut self, mut changes: Vec<(Position, T)>)
    where
        T: 'a,
    {
        changes.sort_by_key(|(at, _)| *at);
        self.add(changes.into_iter());
    }

    fn advance(&mut self, index: usize) {
        let (value, source) = &mut self.sources[index];
        if let Some((at, next)) = source.next() {
            *value = Some(next);
            self.next.push(Reverse((at, index)));
        }
    }

    /// Returns the next change, unless its position is after `limit`.
    pub(in crate::export) fn next_until(&mut self, limit: Position) -> Option<(Position, T)> {
        let Reverse((at, index)) = *self.next.peek().filter(|next| next.0.0 <= limit)?;
        self.next.pop();
        let value = self.sources[index].0.take();
        self.advance(index);
        value.map(|value| (at, value))
    }
}

/// A position after all events.
pub(super) const END: Position = Position { ticks: u64::MAX, seq: u64::MAX };

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ticks: u64) -> Position {
        Position { ticks, seq: ticks }
    }

    #[test]
    fn changes_come_in_order_of_time_and_then_of_sources() {
        let mut merge = Merge::new();
        merge.add_unordered(vec![(at(5), 'e'), (at(1), 'a'), (at(5), 'f')]);
        merge.add([(at(0), 'x'), (at(5), 'y'), (at(9), 'z')].into_iter());
        let mut first = String::new();
        while let Some((_, letter)) = merge.next_until(at(5)) {
            first.push(letter);
        }
        assert_eq!(first, "xaefy");
        assert_eq!(merge.next_until(END), Some((at(9), 'z')));
        assert_eq!(merge.next_until(END), None);
    }
}
