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

    /// Returns the changes whose spans overlap the range, and the next change, which ends the last
    /// span.
    pub(super) fn shown<'r, S: Copy + PartialEq>(&self, row: &'r Row<S>) -> &'r [Change<S>] {
        let all = row.changes();
        let first = all.partition_point(|change| change.at.ticks <= self.range.start);
        let last = all.partition_point(|change| change.at.ticks <= self.range.end);
        // The change before the first one determines the state at the beginning of the range.
        &all[first.saturating_sub(1)..all.len().min(last + 1)]
    }

    /// Adds changes with their codes and values. Returns the index of the first change, and the
    /// index after the last.
    pub(super) fn put(
        &mut self,
        changes: impl IntoIterator<Item = (Position, (u64, u64))>,
    ) -> (usize, usize) {
        let start = self.changed;
        for (at, coded) in changes {
            self.change(at, coded);
        }
        (start, self.changed)
    }

    /// Adds the changes of the range ([`Self::shown`]), as [`Self::put`] does.
    pub(super) fn changes<S: Copy + PartialEq>(
        &mut self,
        row: &Row<S>,
        code: impl Fn(S) -> (u64, u64),
    ) -> (usize, usize) {
        self.put(self.shown(row).iter().map(|change| (change.at, code(change.state))))
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
