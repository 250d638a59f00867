//! A row of consecutive states, such as the activities of a core, the states of a context or the
//! holders of a mutex.

use std::ops::Range;

use crate::analysis::scheduling::Position;
use crate::analysis::total::total;

/// A change of a row's state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Change<S> {
    /// The event that changed the state.
    pub at: Position,
    /// The state from here on.
    pub state: S,
}

/// An interval with one state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span<S> {
    /// The event that began it.
    pub from: Position,
    /// The event that ended it; `None` if it lasts to the end of the trace.
    pub until: Option<Position>,
    /// Ticks at its end, which is `until` or the end of the trace.
    pub end: u64,
    /// The state during this time.
    pub state: S,
}

impl<S> Span<S> {
    /// Returns the length in ticks.
    pub const fn ticks(&self) -> u64 {
        self.end.saturating_sub(self.from.ticks)
    }
}

/// States in order of time. Before the first change, the state is unknown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row<S> {
    changes: Vec<Change<S>>,
}

impl<S> Default for Row<S> {
    fn default() -> Self {
        Self { changes: Vec::new() }
    }
}

impl<S: Copy + PartialEq> Row<S> {
    /// Returns all changes in order of time.
    pub fn changes(&self) -> &[Change<S>] {
        &self.changes
    }

    /// Returns the state after the last change.
    pub fn last(&self) -> Option<S> {
        self.changes.last().map(|change| change.state)
    }

    /// Returns the spans that overlap `ticks`, in order. `end` is the end of the trace in ticks.
    pub fn spans(&self, ticks: Range<u64>, end: u64) -> impl Iterator<Item = Span<S>> + '_ {
        // Include the span that began before the range and lasts into it.
        let first = self.changes.partition_point(|change| change.at.ticks <= ticks.start);
        let first = first.saturating_sub(1);
        (first..self.changes.len())
            .map(move |index| self.span(index, end))
            .skip_while(move |span| span.end < ticks.start)
            .take_while(move |span| span.from.ticks < ticks.end)
    }

    fn span(&self, index: usize, end: u64) -> Span<S> {
        let Change { at, state } = self.changes[index];
        let until = self.changes.get(index + 1).map(|next| next.at);
        Span { from: at, until, end: until.map_or(end.max(at.ticks), |until| until.ticks), state }
    }

    /// Returns the number of ticks in a range during which `of` returns true for the state.
    pub fn time(&self, ticks: Range<u64>, end: u64, of: impl Fn(S) -> bool) -> u64 {
        let within = |span: Span<S>| {
            span.end.min(ticks.end).saturating_sub(span.from.ticks.max(ticks.start))
        };
        total(self.spans(ticks.clone(), end).filter(|span| of(span.state)).map(within))
    }

    /// Creates a row of states in order of time. Successive equal states count as one.
    pub(crate) fn of_states(changes: impl Iterator<Item = Change<S>>) -> Self {
        let mut row = Self::default();
        for Change { at, state } in changes {
            row.set(at, state);
        }
        row
    }

    /// Creates a row of changes, which must be in order of time.
    pub(in crate::analysis) fn of(changes: Vec<Change<S>>) -> Self {
        Self { changes }
    }

    /// Passes all changes except the latest to `take`, and removes them. The latest stays, because
    /// `set` may still replace it. Returns the number of removed changes.
    pub(in crate::analysis) fn settle(&mut self, take: impl FnOnce(&[Change<S>])) -> usize {
        let settled = self.changes.len().saturating_sub(1);
        take(&self.changes[..settled]);
        self.changes.drain(..settled);
        settled
    }

    /// Adds a state. If one event sets several states, the row contains only the last one that it
    /// sets. Returns true if the row became longer.
    #[inline]
    pub(super) fn set(&mut self, at: Position, state: S) -> bool {
        match self.changes.last() {
            Some(last) if last.at == at => {
                self.replace(state);
                false
            }
            Some(last) if last.state == state => false,
            _ => {
                self.changes.push(Change { at, state });
                true
            }
        }
    }

    /// Adds a change, even if the state before it is the same. If the latest change has the same
    /// position, replaces it. Returns true if the row became longer.
    pub(super) fn push(&mut self, at: Position, state: S) -> bool {
        let before = self.changes.pop_if(|last| last.at == at);
        self.changes.push(Change { at, state });
        before.is_none()
    }

    /// Replaces the state of the latest change. If the state before it is the same, removes the
    /// change.
    fn replace(&mut self, state: S) {
        let Some(Change { at, .. }) = self.changes.pop() else { return };
        if self.last() != Some(state) {
            self.changes.push(Change { at, state });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ticks: u64) -> Position {
        Position { ticks, seq: ticks }
    }

    fn row(changes: &[(u64, char)]) -> Row<char> {
        let mut row = Row::default();
        for (ticks, state) in changes {
            row.set(at(*ticks), *state);
        }
        row
    }

    #[test]
    fn spans_are_those_that_overlap_the_range() {
        let row = row(&[(10, 'a'), (20, 'b'), (30, 'c')]);
        let states = |range| row.spans(range, 40).map(|span| span.state).collect::<String>();
        assert_eq!(states(0..10), "");
        assert_eq!(states(0..11), "a");
        assert_eq!(states(19..21), "ab");
        assert_eq!(states(30..40), "c");
        let last = row.spans(35..40, 40).next().unwrap();
        assert_eq!((last.from, last.until, last.ticks()), (at(30), None, 10));
    }

    #[test]
    fn the_last_state_of_an_event_counts_and_equal_states_are_one() {
        let mut row = row(&[(10, 'a')]);
        assert!(row.set(at(20), 'b'));
        assert!(!row.set(at(20), 'a'), "the event changed nothing after all");
        assert_eq!(row.changes().len(), 1);
        assert!(!row.set(at(30), 'a'));
        assert_eq!(row.time(0..100, 50, |state| state == 'a'), 40);
        assert_eq!(row.time(15..25, 50, |state| state == 'a'), 10);
    }
}
