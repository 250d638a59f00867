//! The budget of each server over time.

use super::{Position, Row};
use crate::analysis::scheduling::{Budget, Server, ServerState};
use crate::model::ContextId;

/// The budget of a server over time.
///
/// The track has the same moments as the figures of the [`Server`]. Over the whole trace, the time
/// in which the server serves a task is [`Server::supplied`] minus [`Self::corrected`]. The
/// intervals in [`Budget::Exhausted`] that end with a replenishment are
/// [`Server::without_budget`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ServerTrack {
    /// The key that events use for the server.
    pub key: u64,
    /// The task that the server serves at the end of the trace, if known.
    pub task: Option<ContextId>,
    /// The largest number of ticks that were used before an exhaustion. This is taken as the size
    /// of the full budget. `None` if the trace does not show it.
    pub size: Option<u64>,
    /// The state of the budget, and the times in which the server's task runs.
    pub row: Row<ServerState>,
    /// Ticks that [`Server::supplied`] contains in addition to the times of the row. An exhaustion
    /// can show that the server serves another task than assumed before. The figures then count
    /// the whole job of this task, and the row shows the task from the exhaustion on.
    pub corrected: i64,
}

/// The rows of servers so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Servers {
    rows: Vec<Row<ServerState>>,
    corrected: Vec<i64>,
    /// Number of changes in all rows.
    changes: u64,
    /// Number of changes that the rows lack.
    pub(super) left_out: u64,
}

/// Maximum number of changes in the rows of all servers. They stay in memory, even if the trace is
/// large.
const MAX_CHANGES: u64 = 1 << 20;

impl Servers {
    pub(super) fn change(&mut self, server: usize, state: ServerState, at: Position) {
        if server >= self.rows.len() {
            self.rows.resize_with(server + 1, Row::default);
        }
        let row = &mut self.rows[server];
        if self.changes >= MAX_CHANGES {
            self.left_out += 1;
            row.set(at, UNKNOWN);
            return;
        }
        // A budget that is being used changes by itself. So an equal number of used ticks at a
        // later event is another state.
        let is_longer = match state {
            ServerState { budget: Budget::Used(_), serving: 1.. } => row.push(at, state),
            _ => row.set(at, state),
        };
        self.changes += u64::from(is_longer);
    }

    pub(super) fn correct(&mut self, server: usize, ticks: i64) {
        if server >= self.corrected.len() {
            self.corrected.resize(server + 1, 0);
        }
        self.corrected[server] = self.corrected[server].saturating_add(ticks);
    }

    pub(super) fn gap(&mut self, from: Position) {
        for row in &mut self.rows {
            self.changes += u64::from(row.set(from, UNKNOWN));
        }
    }

    /// Returns the tracks of the servers that `figures` lists.
    pub(super) fn finish(self, figures: &[Server]) -> Vec<ServerTrack> {
        let Self { mut rows, mut corrected, .. } = self;
        rows.resize_with(figures.len(), Row::default);
        corrected.resize(figures.len(), 0);
        let rows = rows.into_iter().zip(corrected);
        let track = |(server, (row, corrected)): (&Server, (Row<ServerState>, i64))| {
            let Server { key, task, most_used: size, .. } = *server;
            ServerTrack { key, task, size, row, corrected }
        };
        figures.iter().zip(rows).map(track).collect()
    }
}

/// The state while events are missing.
const UNKNOWN: ServerState = ServerState { budget: Budget::Unknown, serving: 0 };

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_ends_with_an_unknown_state_if_there_are_too_many_changes() {
        let at = |ticks| Position { ticks, seq: ticks };
        let state = |used| ServerState { budget: Budget::Used(used), serving: 1 };
        let mut servers = Servers { changes: MAX_CHANGES - 1, ..Servers::default() };
        (1..4).for_each(|ticks| servers.change(0, state(ticks), at(ticks as u64)));
        let changes = servers.rows[0].changes().iter();
        let changes: Vec<_> = changes.map(|change| (change.at.ticks, change.state)).collect();
        assert_eq!(changes, [(1, state(1)), (2, UNKNOWN)]);
        assert_eq!(servers.left_out, 2);
    }
}
