//! Converts the tracks of state machines and spans, and the levels of queues, pools and semaphores,
//! to rows. The rows of servers are in [`super::servers`].
//!
//! | kind of row | state of a change | value |
//! |---|---|---|
//! | `machine` | 0 if the state is unknown, 1 if it is known, 2 if a thread is in no span | index into the names in `states` |
//! | `steps` | 1 during a step, otherwise 0 | 0 |
//! | `level` | 1 if the level is known, otherwise 0 | the level; `most` is the maximum |

use std::collections::HashMap;
use std::ops::Range;

use serde_json::{Value, json};

use super::rows::Rows;
use super::servers::ServerRow;
use crate::analysis::machines::Named;
use crate::analysis::summary::distinct;
use crate::analysis::tracks::{
    Arrow, Change, LevelTrack, MachineTrack, MachineTracks, Row, ServerTrack, SpanTrack, StepSpan,
};
use crate::model::Trace;
use crate::report::key_text;

/// The rows of machines, levels and servers, and the messages.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct MachineRows {
    pub(super) machines: Vec<MachineRow>,
    pub(super) levels: Vec<LevelRow>,
    pub(super) servers: Vec<ServerRow>,
    pub(super) messages: Vec<Arrow>,
}

/// A state machine: the members `name`, `key` and `states` of its row, its changes of state, and
/// its steps. The spans of a thread at one depth also form a machine. The state of such a machine
/// is the span that the thread is in, or `None` outside of all spans. Its row also has the member
/// `group`, which is the heading for the rows of spans.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct MachineRow {
    pub(super) members: Value,
    pub(super) row: Row<Option<u32>>,
    pub(super) steps: Vec<StepSpan>,
}

/// A queue, a pool or a semaphore: its members `name`, `key`, `unit` and `most`, and its levels.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LevelRow {
    pub(super) members: Value,
    pub(super) row: Row<Option<u64>>,
}

impl MachineRows {
    pub(super) fn new(trace: &Trace, tracks: MachineTracks, servers: &[ServerTrack]) -> Self {
        let MachineTracks { machines, levels, messages, spans, .. } = tracks;
        let machines = machines.into_iter().map(|track| machine(trace, track));
        Self {
            machines: machines.chain(spans.iter().map(|track| spans_of(trace, track))).collect(),
            levels: levels.into_iter().map(|track| level(trace, track)).collect(),
            servers: servers.iter().map(|track| ServerRow::new(trace, track)).collect(),
            messages,
        }
    }

    /// Returns the messages that overlap a range of ticks and can be distinguished at a resolution.
    pub(super) fn messages(&self, range: &Range<u64>, resolution: u64) -> Vec<Arrow> {
        distinct(self.messages.iter(), range, resolution)
    }

    /// Adds the rows. The time is divided into parts of `resolution` ticks, and a row of a machine
    /// or a level contains only the last change in each part.
    pub(super) fn show(&self, resolution: u64, rows: &mut Rows) {
        self.machines.iter().for_each(|machine| machine.show(resolution, rows));
        self.levels.iter().for_each(|level| level.show(resolution, rows));
        self.servers.iter().for_each(|server| server.show(resolution, rows));
    }
}

fn members(trace: &Trace, named: &Named) -> Value {
    json!({ "name": named.label(trace), "key": key_text(trace, named.key) })
}

fn machine(trace: &Trace, track: MachineTrack) -> MachineRow {
    let MachineTrack { machine, states, row, steps } = track;
    let mut members = members(trace, &machine);
    members["states"] = states.iter().map(|state| state.label(trace)).collect();
    MachineRow { members, row, steps }
}

/// The heading of the rows of spans.
const SPANS: &str = "Spans";

/// Returns the spans of a thread at one depth.
fn spans_of(trace: &Trace, track: &SpanTrack) -> MachineRow {
    let SpanTrack { context, depth, row } = track;
    let mut names: Vec<&str> = Vec::new();
    let mut indices: HashMap<&str, u32> = HashMap::new();
    let changes = row.changes().iter().map(|change| {
        let index = change.state.map(|span| {
            let name = span.name(trace);
            *indices.entry(name).or_insert_with(|| {
                names.push(name);
                names.len() as u32 - 1
            })
        });
        Change { at: change.at, state: index }
    });
    let row = Row::of_states(changes);
    let thread = trace.contexts.get(*context);
    let name = thread.map_or("?", |thread| thread.name.as_str());
    let name = if *depth == 0 { name.to_owned() } else { format!("{name} ({})", depth + 1) };
    let key = format!("{}/{depth}", thread.map_or("", |thread| thread.key_text.as_str()));
    let members = json!({ "name": name, "key": key, "states": names, "group": SPANS });
    MachineRow { members, row, steps: Vec::new() }
}

fn level(trace: &Trace, track: LevelTrack) -> LevelRow {
    let mut members = members(trace, &track.object);
    members["name"] = track.label(trace).into();
    let LevelTrack { counts_free, row, .. } = track;
    members["unit"] = if counts_free { "free items" } else { "items" }.into();
    let levels = row.changes().iter().filter_map(|change| change.state);
    members["most"] = levels.max().unwrap_or(0).into();
    LevelRow { members, row }
}

impl MachineRow {
    fn show(&self, resolution: u64, rows: &mut Rows) {
        let Self { members, row, steps } = self;
        let no_state = if members["group"].is_null() { 0 } else { 2 };
        let code = |state: Option<u32>| state.map_or((no_state, 0), |state| (1, state.into()));
        let changes = &row.changes()[rows.first(row)..];
        let changes = rows.thinned(changes, |change| (change.at, code(change.state)), resolution);
        if changes.0 < changes.1 {
            rows.add("machine", with_changes(members.clone(), changes));
        }
        // Leave out steps without a recorded end, because their length is unknown.
        let start = rows.range.start;
        let ended = steps.iter().filter_map(|step| Some((step.from, step.until?)));
        let ended = ended.filter(|(_, until)| until.ticks >= start);
        let changes = ended.flat_map(|(from, until)| [(from, (1, 0)), (until, (0, 0))]);
        let changes = rows.thinned(&changes.collect::<Vec<_>>(), |change| change, resolution);
        if changes.0 < changes.1 {
            let members = json!({ "name": members["name"], "key": members["key"] });
            rows.add("steps", with_changes(members, changes));
        }
    }
}

impl LevelRow {
    fn show(&self, resolution: u64, rows: &mut Rows) {
        let Self { members, row } = self;
        let code = |level: Option<u64>| (u64::from(level.is_some()), level.unwrap_or(0));
        let changes = &row.changes()[rows.first(row)..];
        let changes = rows.thinned(changes, |change| (change.at, code(change.state)), resolution);
        rows.add("level", with_changes(members.clone(), changes));
    }
}

fn with_changes(mut members: Value, changes: (usize, usize)) -> Value {
    members["changes"] = json!(changes);
    members
}
