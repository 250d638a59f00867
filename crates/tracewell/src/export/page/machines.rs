//! Converts the tracks of state machines, and the levels of queues, pools and semaphores, to rows.
//!
//! | kind of row | state of a change | value |
//! |---|---|---|
//! | `machine` | 1 if the state is known, otherwise 0 | index into the names in `states` |
//! | `steps` | 1 during a step, otherwise 0 | 0 |
//! | `level` | 1 if the level is known, otherwise 0 | the level; `most` is the maximum |

use serde_json::json;

use super::rows::Rows;
use crate::analysis::tracks::{LevelTrack, MachineTrack, MachineTracks};
use crate::model::Trace;
use crate::report::key_text;

/// Adds the rows of all machines and levels. A row has only the last change in each part of
/// `resolution` ticks.
pub(super) fn put(trace: &Trace, tracks: &MachineTracks, resolution: u64, rows: &mut Rows) {
    for track in &tracks.machines {
        machine(trace, track, resolution, rows);
    }
    for track in &tracks.levels {
        level(trace, track, resolution, rows);
    }
}

fn machine(trace: &Trace, track: &MachineTrack, resolution: u64, rows: &mut Rows) {
    let MachineTrack { machine, states, row, steps } = track;
    let (name, key) = (machine.label(trace), key_text(trace, machine.key));
    let code = |state: Option<u32>| (u64::from(state.is_some()), u64::from(state.unwrap_or(0)));
    let changes = row.changes()[rows.first(row)..].iter();
    let changes = rows.thinned(changes.map(|change| (change.at, code(change.state))), resolution);
    let states: Vec<_> = states.iter().map(|state| state.label(trace)).collect();
    if changes.0 < changes.1 {
        let row = json!({ "name": name, "key": key, "states": states, "changes": changes });
        rows.add("machine", row);
    }
    // Leave out steps whose end the trace does not contain, because their length is unknown.
    let start = rows.range.start;
    let ended = steps.iter().filter_map(|step| Some((step.from, step.until?)));
    let ended = ended.filter(|(_, until)| until.ticks >= start);
    let changes = ended.flat_map(|(from, until)| [(from, (1, 0)), (until, (0, 0))]);
    let changes = rows.thinned(changes, resolution);
    if changes.0 < changes.1 {
        rows.add("steps", json!({ "name": name, "key": key, "changes": changes }));
    }
}

fn level(trace: &Trace, track: &LevelTrack, resolution: u64, rows: &mut Rows) {
    let LevelTrack { object, counts_free, row } = track;
    let most = row.changes().iter().filter_map(|change| change.state).max().unwrap_or(0);
    let code = |level: Option<u64>| (u64::from(level.is_some()), level.unwrap_or(0));
    let changes = row.changes()[rows.first(row)..].iter();
    let changes = rows.thinned(changes.map(|change| (change.at, code(change.state))), resolution);
    let unit = if *counts_free { "free items" } else { "items" };
    let (name, key) = (object.label(trace), key_text(trace, object.key));
    rows.add(
        "level",
        json!({ "name": name, "key": key, "unit": unit, "most": most, "changes": changes }),
    );
}
