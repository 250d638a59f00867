//! Converts the tracks of state machines and spans, and the levels of queues, pools and semaphores,
//! to rows. The rows of servers are in [`super::servers`].
//!
//! | kind of row | state of a change | value |
//! |---|---|---|
//! | `machine` | 0 if the state is unknown, 1 if it is known, 2 if a thread is in no span | index into the names in `states` |
//! | `steps` | 1 during a step, otherwise 0 | 0 |
//! | `level` | 1 if the level is known, otherwise 0 | the level; `most` is the maximum |

use std::collections::HashMap;

use serde_json::{Value, json};

use super::rows::Rows;
use super::servers::ServerRow;
use crate::analysis::machines::Named;
use crate::analysis::tracks::{
    Change, EnteredSpan, LevelTrack, MachineTrack, Row, ServerTrack, SpanTrack, Tracks,
};
use crate::model::Trace;
use crate::report::key_text;

/// The names of machines, levels and spans, and the servers. They do not depend on the shown range.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct MachineNames {
    /// The members `name`, `key` and `states` of each machine.
    pub(super) machines: Vec<Value>,
    pub(super) spans: Vec<SpanNames>,
    /// The members `name`, `key` and `unit` of each level.
    pub(super) levels: Vec<Value>,
    /// The budgets of servers. They are not summarised, so the rows are here, too.
    pub(super) servers: Vec<ServerRow>,
}

/// The spans of a thread at one depth form a machine. The state of this machine is the span that
/// the thread is in, or `None` outside of all spans.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SpanNames {
    /// The members `name`, `key`, `states` and `group` of the row; `group` is the heading of the
    /// rows of spans.
    pub(super) members: Value,
    /// For each type of event that begins a span, the index of the span's name in `states`; the
    /// types are in ascending order.
    pub(super) indices: Vec<(Option<u32>, u32)>,
}

/// The heading of the rows of spans.
const SPANS: &str = "Spans";

impl MachineNames {
    /// Returns the names in tracks. `span_states` contains all spans of each element of
    /// [`Tracks::spans`]. `servers` are the exact tracks of servers.
    pub(super) fn new(
        trace: &Trace,
        tracks: &Tracks,
        span_states: &[Vec<EnteredSpan>],
        servers: &[ServerTrack],
    ) -> Self {
        let Tracks { machines, levels, spans, .. } = tracks;
        let spans = spans.iter().zip(span_states);
        Self {
            machines: machines.iter().map(|track| machine(trace, track)).collect(),
            spans: spans.map(|(track, states)| SpanNames::new(trace, track, states)).collect(),
            levels: levels.iter().map(|track| level(trace, track)).collect(),
            servers: servers.iter().map(|track| ServerRow::new(trace, track)).collect(),
        }
    }

    /// Adds the rows of machines, spans, levels and servers. `resolution` is that of the tracks.
    pub(super) fn show(&self, tracks: &Tracks, resolution: u64, rows: &mut Rows) {
        for (track, members) in tracks.machines.iter().zip(&self.machines) {
            show_machine(track, members, rows);
        }
        for (track, names) in tracks.spans.iter().zip(&self.spans) {
            names.show(&track.row, rows);
        }
        for (track, members) in tracks.levels.iter().zip(&self.levels) {
            let code = |level: Option<u64>| (u64::from(level.is_some()), level.unwrap_or(0));
            let mut row = members.clone();
            row["most"] = track.most.into();
            row["changes"] = json!(rows.changes(&track.row, code));
            rows.add("level", row);
        }
        self.servers.iter().for_each(|server| server.show(resolution, rows));
    }
}

/// Returns all spans of each element of [`Tracks::spans`]. The tracks must be exact.
pub(super) fn span_states(tracks: &Tracks) -> Vec<Vec<EnteredSpan>> {
    let states = |track: &SpanTrack| -> Vec<EnteredSpan> {
        track.row.changes().iter().filter_map(|change| change.state).collect()
    };
    tracks.spans.iter().map(states).collect()
}

fn members(trace: &Trace, named: &Named) -> Value {
    json!({ "name": named.label(trace), "key": key_text(trace, named.key) })
}

fn machine(trace: &Trace, track: &MachineTrack) -> Value {
    let mut members = members(trace, &track.machine);
    members["states"] = track.states.iter().map(|state| state.label(trace)).collect();
    members
}

fn level(trace: &Trace, track: &LevelTrack) -> Value {
    let mut members = members(trace, &track.object);
    members["name"] = track.label(trace).into();
    members["unit"] = if track.counts_free { "free items" } else { "items" }.into();
    members
}

fn show_machine(track: &MachineTrack, members: &Value, rows: &mut Rows) {
    let MachineTrack { row, steps, .. } = track;
    let code = |state: Option<u32>| state.map_or((0, 0), |state| (1, state.into()));
    if !row.changes().is_empty() {
        let mut machine = members.clone();
        machine["changes"] = json!(rows.changes(row, code));
        rows.add("machine", machine);
    }
    // Leave out steps without a recorded end, because their length is unknown.
    let ended = steps.iter().filter_map(|step| Some((step.from, step.until?)));
    let changes = ended.flat_map(|(from, until)| [(from, true), (until, false)]);
    let row = Row::of_states(changes.map(|(at, state)| Change { at, state }));
    if !row.changes().is_empty() {
        let changes = rows.changes(&row, |is_step| (u64::from(is_step), 0));
        let (name, key) = (&members["name"], &members["key"]);
        rows.add("steps", json!({ "name": name, "key": key, "changes": changes }));
    }
}

impl SpanNames {
    fn new(trace: &Trace, track: &SpanTrack, states: &[EnteredSpan]) -> Self {
        let SpanTrack { context, depth, .. } = track;
        let mut names: Vec<&str> = Vec::new();
        let mut index_of: HashMap<&str, u32> = HashMap::new();
        let mut indices: Vec<(Option<u32>, u32)> = Vec::new();
        for span in states {
            let name = span.name(trace);
            let index = *index_of.entry(name).or_insert_with(|| {
                names.push(name);
                names.len() as u32 - 1
            });
            let place = indices.binary_search_by_key(&span.begun_by, |(begun_by, _)| *begun_by);
            if let Err(place) = place {
                indices.insert(place, (span.begun_by, index));
            }
        }
        let thread = trace.contexts.get(*context);
        let name = thread.map_or("?", |thread| thread.name.as_str());
        let name = if *depth == 0 { name.to_owned() } else { format!("{name} ({})", depth + 1) };
        let key = format!("{}/{depth}", thread.map_or("", |thread| thread.key_text.as_str()));
        let members = json!({ "name": name, "key": key, "states": names, "group": SPANS });
        Self { members, indices }
    }

    fn index(&self, begun_by: Option<u32>) -> u32 {
        let place = self.indices.binary_search_by_key(&begun_by, |(begun_by, _)| *begun_by);
        place.map_or(0, |place| self.indices[place].1)
    }

    fn show(&self, row: &Row<Option<EnteredSpan>>, rows: &mut Rows) {
        // Successive spans with the same name are one.
        let named = row.changes().iter().map(|Change { at, state }| {
            let state = state.map(|span| self.index(span.begun_by));
            Change { at: *at, state }
        });
        let code = |index: Option<u32>| index.map_or((2, 0), |index| (1, index.into()));
        let mut members = self.members.clone();
        members["changes"] = json!(rows.changes(&Row::of_states(named), code));
        rows.add("machine", members);
    }
}
