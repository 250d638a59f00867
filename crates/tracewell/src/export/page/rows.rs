//! Stores the state changes and the waits of the page's rows as columns.

use std::ops::Range;

use serde_json::{Value, json};

use super::columns::{Column, Columns};
use crate::analysis::tracks::{Change, LockTrack, Position, Row};
use crate::model::ContextId;

/// Returns the context's number plus 1, or 0 if there is no context.
pub(super) fn maybe(context: Option<ContextId>) -> u64 {
    context.map_or(0, |context| u64::from(context.0) + 1)
}

/// Changes and waits of all rows, one row after the other.
#[derive(Default)]
pub(super) struct Rows {
    /// The shown ticks, including both ends.
    pub(super) range: Range<u64>,
    pub(super) list: Vec<Value>,
    changes: [Column; 4],
    changed: usize,
    waits: [Column; 6],
    waited: usize,
}

impl Rows {
    /// Returns an empty list of rows for a range of ticks, including both ends.
    pub(super) fn new(range: Range<u64>) -> Self {
        Self { range, ..Self::default() }
    }

    pub(super) fn add(&mut self, kind: &str, mut row: Value) {
        row["kind"] = json!(kind);
        self.list.push(row);
    }

    /// Adds the changes whose spans overlap the range, and the next change, which ends the last
    /// span. Returns the index of the first change, and the index after the last.
    pub(super) fn changes<S: Copy + PartialEq>(
        &mut self,
        row: &Row<S>,
        code: impl Fn(S) -> (u64, u64),
    ) -> (usize, usize) {
        let all = row.changes();
        let first = all.partition_point(|change| change.at.ticks <= self.range.start);
        let last = all.partition_point(|change| change.at.ticks <= self.range.end);
        // The change before the first one determines the state at the beginning of the range.
        let shown = &all[first.saturating_sub(1)..all.len().min(last + 1)];
        let start = self.changed;
        for Change { at, state } in shown {
            self.change(*at, code(*state));
        }
        (start, self.changed)
    }

    /// Adds changes, which must be in order of time. Divides the time into parts of `resolution`
    /// ticks, and adds only the last change in each part. Also adds the first change after the
    /// range, which ends the last span. Returns the index of the first change, and the index after
    /// the last.
    pub(super) fn thinned<C: Copy>(
        &mut self,
        mut changes: &[C],
        of: impl Fn(C) -> (Position, (u64, u64)),
        resolution: u64,
    ) -> (usize, usize) {
        let (start, until) = (self.changed, self.range.end);
        let up_to = |list: &[C], end: u64| leading(list, |change| of(*change).0.ticks <= end);
        while let Some(first) = changes.first() {
            let (at, code) = of(*first);
            if at.ticks > until {
                self.change(at, code);
                break;
            }
            let count = if resolution <= 1 {
                1
            } else {
                let end = (at.ticks - at.ticks % resolution).saturating_add(resolution - 1);
                up_to(changes, end).max(1)
            };
            let (at, code) = of(changes[count - 1]);
            if at.ticks > until {
                // The range ends within this part.
                changes = &changes[up_to(changes, until).max(1)..];
                continue;
            }
            self.change(at, code);
            changes = &changes[count..];
        }
        (start, self.changed)
    }

    /// Returns the index of the last change at or before the start of the range, or 0 if there is
    /// none.
    pub(super) fn first<S: Copy + PartialEq>(&self, row: &Row<S>) -> usize {
        let before = row.changes().partition_point(|change| change.at.ticks <= self.range.start);
        before.saturating_sub(1)
    }

    fn change(&mut self, at: Position, (state, value): (u64, u64)) {
        let [ticks, seq, states, values] = &mut self.changes;
        ticks.delta(at.ticks);
        seq.delta(at.seq);
        states.number(state);
        values.number(value);
        self.changed += 1;
    }

    pub(super) fn waits(&mut self, lock: &LockTrack) -> (usize, usize) {
        let start = self.waited;
        for wait in &lock.waits {
            if !overlaps(&self.range, wait.from, wait.until) {
                continue;
            }
            let [context, owner, from, from_seq, until, until_seq] = &mut self.waits;
            context.number(u64::from(wait.context.0));
            owner.number(maybe(wait.owner));
            put_span([from, from_seq, until, until_seq], wait.from, wait.until);
            self.waited += 1;
        }
        (start, self.waited)
    }

    pub(super) fn finish(&mut self, columns: &mut Columns) {
        let [ticks, seq, state, value] = std::mem::take(&mut self.changes);
        columns.deltas("change.ticks", ticks);
        columns.deltas("change.seq", seq);
        columns.numbers("change.state", state);
        columns.numbers("change.value", value);
        let [context, owner, from, from_seq, until, until_seq] = std::mem::take(&mut self.waits);
        columns.numbers("wait.context", context);
        columns.numbers("wait.owner", owner);
        span(columns, "wait", [from, from_seq, until, until_seq]);
    }
}

/// Returns the number of elements at the beginning of the list for which `is_one` returns true.
/// `is_one` must return false for all later elements. The search is fast for small and for large
/// results.
fn leading<C>(list: &[C], is_one: impl Fn(&C) -> bool) -> usize {
    let mut most = 1;
    while list.get(most).is_some_and(&is_one) {
        most *= 2;
    }
    let near = &list[most / 2..list.len().min(most)];
    most / 2 + near.partition_point(is_one)
}

pub(super) fn overlaps(range: &Range<u64>, from: Position, until: Option<Position>) -> bool {
    from.ticks <= range.end && until.is_none_or(|until| until.ticks >= range.start)
}

/// Adds a span. The last column gets the sequence number of the end plus 1, or 0 if the span has no
/// end.
pub(super) fn put_span(columns: [&mut Column; 4], from: Position, until: Option<Position>) {
    let [from_ticks, from_seq, until_ticks, until_seq] = columns;
    from_ticks.delta(from.ticks);
    from_seq.delta(from.seq);
    until_ticks.delta(until.map_or(from.ticks, |until| until.ticks));
    until_seq.delta(until.map_or(0, |until| until.seq + 1));
}

pub(super) fn span(
    columns: &mut Columns,
    name: &str,
    [from, from_seq, until, until_seq]: [Column; 4],
) {
    columns.deltas(&format!("{name}.from"), from);
    columns.deltas(&format!("{name}.from_seq"), from_seq);
    columns.deltas(&format!("{name}.until"), until);
    columns.deltas(&format!("{name}.until_seq"), until_seq);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn change(ticks: u64) -> (Position, (u64, u64)) {
        (Position { ticks, seq: ticks }, (1, 0))
    }

    #[test]
    fn thinned_rows_contain_the_change_that_ends_their_last_span() {
        let mut rows = Rows::new(0..99);
        // The part that begins at 10 and the part that begins at 100 have two changes each. The
        // first change after 99 is the end.
        assert_eq!(rows.thinned(&[11, 12, 95, 101, 105], change, 10), (0, 3));
        assert_eq!(rows.thinned(&[11, 12, 95, 101, 105], change, 1), (3, 7));
    }

    proptest! {
        /// The plain implementation looks at each change and at the next one.
        #[test]
        fn thinned_rows_have_the_last_change_of_each_part(
            steps in prop::collection::vec(0..12_u64, 0..120),
            resolution in 0..40_u64,
            until in 0..400_u64,
        ) {
            let ticks: Vec<u64> = steps.iter().scan(0, |now, step| {
                *now += step;
                Some(*now)
            }).collect();
            let mut expected = Rows::new(0..until);
            for (index, at) in ticks.iter().enumerate() {
                let part = |at: &u64| at / resolution.max(1);
                let is_last = ticks.get(index + 1).is_none_or(|next| part(next) != part(at));
                if resolution <= 1 || is_last || *at > until {
                    let (at, code) = change(*at);
                    expected.change(at, code);
                }
                if *at > until {
                    break;
                }
            }
            let mut rows = Rows::new(0..until);
            prop_assert_eq!(rows.thinned(&ticks, change, resolution), (0, expected.changed));
            let content = |rows: &mut Rows| {
                let mut columns = Columns::default();
                rows.finish(&mut columns);
                columns.payload(json!({}), flate2::Compression::none()).unwrap()
            };
            prop_assert_eq!(content(&mut rows), content(&mut expected));
        }
    }
}
