//! Converts the budgets of servers to rows.
//!
//! A change of a row of the kind `server` has one of these states:
//!
//! | state | the budget | the server's task |
//! |---|---|---|
//! | 0 | unknown | does not run |
//! | 1 | a part is left | does not run |
//! | 2 | a part is left | runs, so the budget decreases by one tick per tick |
//! | 3 | exhausted | does not run |
//! | 4 | exhausted | runs |
//! | 5 | unknown | runs |
//!
//! In the states 1 and 2, the value is the number of used ticks at the time of the change, minus
//! the member `least`.

use serde_json::{Value, json};

use super::rows::Rows;
use crate::analysis::scheduling::{Budget, ServerState};
use crate::analysis::total::Total;
use crate::analysis::tracks::{Change, Position, Row, ServerTrack};
use crate::model::Trace;
use crate::report::key_text;
use crate::report::scheduling::resource_label;

/// A server: the members of its row and its states.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ServerRow {
    /// `name`, `key`, the served context as `task` or null, the size of the full budget in ticks as
    /// `size` or null, and the least and the largest number of used ticks as `least` and `most`.
    pub(super) members: Value,
    /// The smallest number of used ticks. At most 0; it is negative if reclaimed time was added.
    pub(super) least: i64,
    pub(super) row: Row<ServerState>,
}

impl ServerRow {
    pub(super) fn new(trace: &Trace, track: &ServerTrack) -> Self {
        let ServerTrack { key, task, size, row, .. } = track;
        let used = used(row, trace.span);
        let least = used.clone().min().unwrap_or(0).min(0);
        let members = json!({
            "name": resource_label(trace, *key, None),
            "key": key_text(trace, *key),
            "task": task.map(|task| task.0),
            "size": size,
            "least": least,
            "most": used.max().unwrap_or(0).max(0),
        });
        Self { members, least, row: row.clone() }
    }

    /// Adds the row. Neighbouring states are combined as long as their total length does not exceed
    /// `resolution` ticks. The time in each state stays exact.
    pub(super) fn show(&self, resolution: u64, rows: &mut Rows) {
        let Self { members, least, row } = self;
        let coded = |state| coded(state, *least);
        let changes = if resolution <= 1 {
            rows.changes(row, coded)
        } else {
            rows.put(combined(rows.shown(row), coded, resolution))
        };
        let mut members = members.clone();
        members["changes"] = json!(changes);
        rows.add("server", members);
    }
}

/// Returns the numbers of used ticks at the beginning and at the end of each state.
fn used(row: &Row<ServerState>, end: u64) -> impl Iterator<Item = i64> + Clone {
    let changes = row.changes();
    let ends = changes.iter().skip(1).map(|change| change.at.ticks).chain([end]);
    changes
        .iter()
        .zip(ends)
        .flat_map(|(change, end)| {
            let Budget::Used(used) = change.state.budget else { return [None, None] };
            let ticks = end.saturating_sub(change.at.ticks);
            let spent = ticks.saturating_mul(change.state.serving.into());
            [Some(used), Some(used.saturating_add_unsigned(spent))]
        })
        .flatten()
}

/// Returns the code of a state, and its value.
fn coded(state: ServerState, least: i64) -> (u64, u64) {
    let runs = state.serving > 0;
    match state.budget {
        Budget::Unknown => (if runs { 5 } else { 0 }, 0),
        Budget::Used(used) => {
            (1 + u64::from(runs), u64::try_from(used.saturating_sub(least)).unwrap_or(0))
        }
        Budget::Exhausted => (3 + u64::from(runs), 0),
    }
}

/// A change of a row as the page gets it: the position, the code and the value.
type Coded = (Position, (u64, u64));

/// Combines states that are not longer than `resolution` ticks with their neighbours, up to this
/// total length. A combined state occurs with the sum of its times: in the first half with its
/// smallest value, and in the second half with its largest value. The last change is never
/// combined, because it has no end.
fn combined(
    changes: &[Change<ServerState>],
    coded: impl Fn(ServerState) -> (u64, u64),
    resolution: u64,
) -> Vec<Coded> {
    let mut shown = Vec::new();
    let mut short = Short::default();
    for (index, Change { at, state }) in changes.iter().enumerate() {
        let (code, value) = coded(*state);
        let end = changes.get(index + 1).map(|next| next.at.ticks);
        let length = end.map_or(u64::MAX, |end| end.saturating_sub(at.ticks));
        if short.length.saturating_add(length) > resolution {
            short.show(&mut shown);
        }
        if length > resolution {
            shown.push((*at, (code, value)));
        } else {
            short.add(*at, code, value, length);
        }
    }
    shown
}

/// Short states that are to be combined.
#[derive(Default)]
struct Short {
    /// The beginning, and the event with which it begins.
    from: Option<Position>,
    length: u64,
    /// The codes in the order of their first occurrence.
    parts: Vec<ShortPart>,
}

/// The short states with one code: their total time, and their smallest and largest value.
struct ShortPart {
    code: u64,
    time: u64,
    least: u64,
    most: u64,
}

impl Short {
    fn add(&mut self, at: Position, code: u64, value: u64, length: u64) {
        self.from.get_or_insert(at);
        self.length.charge(length);
        match self.parts.iter_mut().find(|part| part.code == code) {
            Some(ShortPart { time, least, most, .. }) => {
                time.charge(length);
                (*least, *most) = (value.min(*least), value.max(*most));
            }
            None => self.parts.push(ShortPart { code, time: length, least: value, most: value }),
        }
    }

    /// Adds the combined states to `shown`, and removes them.
    fn show(&mut self, shown: &mut Vec<Coded>) {
        let Self { from, parts, .. } = std::mem::take(self);
        let Some(mut at) = from else { return };
        for ShortPart { code, time, least, most } in parts {
            let first = if least < most { time / 2 } else { 0 };
            for (value, time) in [(least, first), (most, time - first)] {
                if time > 0 {
                    shown.push((at, (code, value)));
                    at.ticks += time;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Number of codes.
    const CODES: usize = 6;

    fn state(code: usize, used: i64) -> ServerState {
        let (budget, serving) = match code {
            0 => (Budget::Unknown, 0),
            1 => (Budget::Used(used), 0),
            2 => (Budget::Used(used), 1),
            3 => (Budget::Exhausted, 0),
            4 => (Budget::Exhausted, 1),
            _ => (Budget::Unknown, 1),
        };
        ServerState { budget, serving }
    }

    /// Returns the time of each state up to the last change.
    fn times(changes: &[Coded]) -> [u64; CODES] {
        let mut times = [0; CODES];
        for pair in changes.windows(2) {
            times[pair[0].1.0 as usize] += pair[1].0.ticks - pair[0].0.ticks;
        }
        times
    }

    #[test]
    fn each_state_has_its_own_code() {
        for code in 0..CODES {
            let value = if code == 1 || code == 2 { 5 } else { 0 };
            assert_eq!(coded(state(code, 3), -2), (code as u64, value));
        }
    }

    proptest! {
        #[test]
        fn combined_states_keep_the_time_of_each_state(
            steps in prop::collection::vec((0..30_u64, 0..CODES, -9..9_i64), 1..60),
            resolution in 2..80_u64,
        ) {
            let mut ticks = 0;
            let changes: Vec<_> = (0..).zip(steps).map(|(seq, (step, code, used))| {
                ticks += step;
                Change { at: Position { ticks, seq }, state: state(code, used) }
            }).collect();
            let coded = |state| coded(state, -9);
            let exact: Vec<_> =
                changes.iter().map(|change| (change.at, coded(change.state))).collect();
            let shown = combined(&changes, coded, resolution);
            prop_assert_eq!(times(&shown), times(&exact));
            prop_assert_eq!(shown.last(), exact.last());
            let most = 4 * (ticks / resolution + 1) as usize * CODES + 1;
            prop_assert!(shown.len() <= most, "{} changes", shown.len());
        }
    }
}
