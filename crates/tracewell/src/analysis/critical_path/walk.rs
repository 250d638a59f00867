//! Divides a response or a wait into parts.
//!
//! Each function divides an interval into consecutive parts, so the parts add up to the whole. If a
//! row has no state for some time, this time becomes a part with the state `Unknown`.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::intervals::Interval;
use super::{Activity, CriticalPath, Explained, Link, MAX_LINKS, MAX_PARTS, Part};
use crate::analysis::total::Total;
use crate::analysis::tracks::{Arrow, ArrowKind, Holder, Occupant, Position, Row, State, Tracks};
use crate::model::{ContextId, Meaning};

/// An interval in which a row has one state.
#[derive(Clone, Copy, Debug)]
struct Piece<S> {
    from: Position,
    until: u64,
    /// The event that ended the state, if the state ended within the divided time.
    ended: Option<Position>,
    /// The state; `None` if the row has none, such as before its first state.
    state: Option<S>,
}

/// A time to divide.
#[derive(Clone, Copy, Debug)]
struct Time {
    from: Position,
    until: u64,
}

impl<S> Piece<S> {
    const fn time(&self) -> Time {
        Time { from: self.from, until: self.until }
    }
}

/// Returns the explanation of a response or a wait.
pub(super) fn explain(tracks: &Tracks, interval: Interval) -> CriticalPath {
    let Interval { context, kind, from, until } = interval;
    let mut walk = Walk {
        tracks,
        wake_ups: HashMap::default(),
        mutexes: HashMap::default(),
        chain: Vec::new(),
        has_job: kind == Explained::Response,
        parts: Vec::new(),
        more: (0, 0),
    };
    for arrow in tracks.arrows.iter().filter(|arrow| arrow.kind == ArrowKind::WakeUp) {
        walk.wake_ups.insert((arrow.to_context, arrow.from), arrow);
    }
    for lock in tracks.locks.iter().filter(|lock| lock.is_mutex) {
        walk.mutexes.entry(lock.key).or_insert(&lock.holder);
    }
    walk.follow(context, Time { from, until: until.ticks });
    let Walk { parts, more, .. } = walk;
    CriticalPath { context, kind, from, until, parts, more, reasons: tracks.reasons.clone() }
}

/// The context for which another one waits, as in a [`Link`].
#[derive(Clone, Copy, Debug, Default)]
struct On {
    /// `None` if it is unknown.
    context: Option<ContextId>,
    woken: Option<Position>,
    since: Option<Position>,
}

struct Walk<'a> {
    tracks: &'a Tracks,
    /// The wake-ups. The key consists of the woken context and the event that wakes it.
    wake_ups: HashMap<(ContextId, Position), &'a Arrow, RandomState>,
    /// The holders of each mutex, by the key of the mutex.
    mutexes: HashMap<u64, &'a Row<Holder>, RandomState>,
    chain: Vec<Link>,
    /// True if the explained task has a job during the whole time. It is then ready even if its row
    /// still shows the state `Done` from an earlier job.
    has_job: bool,
    parts: Vec<Part>,
    more: (u64, u64),
}

impl Walk<'_> {
    /// Divides a time according to the last context in the chain, and adds the parts.
    fn follow(&mut self, context: ContextId, time: Time) {
        let row = self.tracks.context(context);
        for piece in pieces(self.tracks, row, time) {
            match piece.state.unwrap_or(State::Unknown) {
                State::Running(_) => self.add(context, piece.time(), Activity::Runs),
                State::Interrupted | State::Preempted | State::Ready => {
                    self.delayed(context, piece);
                }
                // The job is released, but its task has not started yet and still counts as done.
                State::Done if self.has_job && self.chain.is_empty() => {
                    self.delayed(context, piece);
                }
                State::Blocked(reason) => self.blocked(context, piece, reason),
                state => self.add(context, piece.time(), Activity::In(state)),
            }
        }
    }

    /// Adds the parts of a time span in which a context could run. Each part shows the activity of
    /// the core.
    fn delayed(&mut self, context: ContextId, piece: Piece<State>) {
        let core = self.core(context, piece);
        for piece in pieces(self.tracks, core, piece.time()) {
            let activity = match piece.state {
                Some(Occupant::Interrupt { number, .. }) => Activity::Interrupt(number),
                Some(Occupant::Task { runs, .. }) if runs == context => Activity::Runs,
                Some(Occupant::Task { runs, .. }) => Activity::Delayed(runs),
                Some(Occupant::Idle | Occupant::Unknown) | None => Activity::Ready,
            };
            self.add(context, piece.time(), activity);
        }
    }

    /// Returns the core for which a context waited: the core that it got at the end of this time.
    /// If it got none, returns the core that it had before, or else the first core.
    fn core(&self, context: ContextId, piece: Piece<State>) -> Option<&Row<Occupant>> {
        let cores = &self.tracks.cores;
        let runs = |row: &&Row<Occupant>, at: Position| match at_position(row, at) {
            Some(Occupant::Task { runs, .. }) => runs == context,
            _ => false,
        };
        let at_end = piece.ended.and_then(|at| cores.iter().find(|row| runs(row, at)));
        // The context lost the core at the event at which this span of time begins, or earlier.
        let before = Position { seq: piece.from.seq.saturating_sub(1), ..piece.from };
        at_end.or_else(|| cores.iter().find(|row| runs(row, before))).or(cores.first())
    }

    /// Adds the parts of a time span in which a context is blocked for a given reason.
    fn blocked(&mut self, context: ContextId, piece: Piece<State>, reason: u32) {
        let why = self.tracks.reasons.get(reason as usize).copied().unwrap_or_default();
        let mutex = why.key.filter(|_| why.request == Some(Meaning::Lock));
        if let Some(holders) = mutex.and_then(|key| self.mutexes.get(&key).copied()) {
            for held in pieces(self.tracks, Some(holders), piece.time()) {
                match held.state {
                    // The holder has released the mutex, and the context has not run yet.
                    Some(Holder::Free) => {
                        let Piece { from, until, ended, .. } = held;
                        self.delayed(context, Piece { from, until, ended, state: piece.state });
                    }
                    // The context holds the mutex, so it lost the processor for another reason.
                    Some(Holder::Context(holder)) if holder == context => {
                        self.add(context, held.time(), Activity::In(State::Off));
                    }
                    Some(Holder::Context(holder)) => {
                        let on = On {
                            context: Some(holder),
                            woken: None,
                            since: since(holders, held.from),
                        };
                        self.depends(context, held.time(), reason, on);
                    }
                    Some(Holder::Unknown) | None => {
                        let on = On { context: why.holder, ..On::default() };
                        self.depends(context, held.time(), reason, on);
                    }
                }
            }
            return;
        }
        let arrow = piece.ended.and_then(|at| self.wake_ups.get(&(context, at)).copied());
        match arrow.map(|arrow| (arrow.from, arrow.from_context)) {
            Some((from, None)) => {
                let number = self.interrupt_at(from);
                self.add(context, piece.time(), Activity::WokenByInterrupt(number));
            }
            Some((from, by)) => {
                let on = On { context: by, woken: Some(from), since: None };
                self.depends(context, piece.time(), reason, on);
            }
            None => {
                let on = On { context: why.holder, ..On::default() };
                self.depends(context, piece.time(), reason, on);
            }
        }
    }

    /// Adds the parts of a time span in which a context waits for another one. If the chain is
    /// full, or if the other context is unknown or already in the chain, adds only one part, in
    /// which the first context is blocked.
    fn depends(
        &mut self,
        context: ContextId,
        time: Time,
        reason: u32,
        On { context: on, woken, since }: On,
    ) {
        // Contexts that wait for each other would lead to an endless chain.
        let is_new =
            |on: &ContextId| *on != context && self.chain.iter().all(|link| link.context != *on);
        match on.filter(|on| is_new(on) && self.chain.len() < MAX_LINKS) {
            Some(on) => {
                self.chain.push(Link { context, reason, on, woken, since });
                self.follow(on, time);
                self.chain.pop();
            }
            None => self.add(context, time, Activity::In(State::Blocked(reason))),
        }
    }

    /// Returns the interrupt number of the interrupt that recorded an event.
    fn interrupt_at(&self, at: Position) -> Option<u32> {
        self.tracks.cores.iter().find_map(|row| match at_position(row, at)? {
            Occupant::Interrupt { number, .. } => number,
            _ => None,
        })
    }

    /// Adds a part. If the previous part has the same context, activity and chain, extends it
    /// instead.
    fn add(&mut self, context: ContextId, time: Time, activity: Activity) {
        let Time { from, until } = time;
        if until <= from.ticks {
            return;
        }
        if let Some(last) = self.parts.last_mut()
            // After parts were left out, the last part is not adjacent to this one.
            && self.more.0 == 0
            && (last.until, last.context, last.activity) == (from.ticks, context, activity)
            && last.chain == self.chain
        {
            last.until = until;
            return;
        }
        if self.parts.len() >= MAX_PARTS {
            self.more.0 += 1;
            self.more.1.charge(until - from.ticks);
            return;
        }
        self.parts.push(Part { from, until, chain: self.chain.clone(), context, activity });
    }
}

/// Finds the holder of a mutex at a position, and returns the event at which this holder got the
/// mutex.
fn since(holders: &Row<Holder>, at: Position) -> Option<Position> {
    let after = holders.changes().partition_point(|change| change.at <= at);
    Some(holders.changes().get(after.checked_sub(1)?)?.at)
}

/// Returns the state of a row after an event.
fn at_position<S: Copy + PartialEq>(row: &Row<S>, at: Position) -> Option<S> {
    let after = row.changes().partition_point(|change| change.at <= at);
    Some(row.changes().get(after.checked_sub(1)?)?.state)
}

/// Divides a time into intervals in which a row has a single state.
fn pieces<S: Copy + PartialEq>(tracks: &Tracks, row: Option<&Row<S>>, time: Time) -> Vec<Piece<S>> {
    let mut pieces = Vec::new();
    let mut at = time.from;
    let spans = row.into_iter().flat_map(|row| row.spans(time.from.ticks..time.until, tracks.span));
    for span in spans {
        if span.from.ticks > at.ticks {
            pieces.push(Piece { from: at, until: span.from.ticks, ended: None, state: None });
            at = span.from;
        }
        let until = span.end.min(time.until);
        if until > at.ticks {
            // If the state ends here, keep the number of the event that ended it.
            let ended = span.until.filter(|ended| ended.ticks == until);
            pieces.push(Piece { from: at, until, ended, state: Some(span.state) });
            at =
                span.until.filter(|_| span.end == until).unwrap_or(Position { ticks: until, ..at });
        }
    }
    if time.until > at.ticks {
        pieces.push(Piece { from: at, until: time.until, ended: None, state: None });
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::tracks::{Change, TrackBuilder};
    use crate::model::schema::Schema;
    use crate::model::{Clock, PayloadLayout, Trace};

    fn at(ticks: u64) -> Position {
        Position { ticks, seq: ticks }
    }

    fn row<S: Copy + PartialEq>(states: &[(u64, S)]) -> Row<S> {
        Row::of_states(states.iter().map(|(ticks, state)| Change { at: at(*ticks), state: *state }))
    }

    /// Returns the tracks of a trace of 100 ticks without events.
    fn empty() -> Tracks {
        let payload = PayloadLayout::Fields(&[]);
        let mut trace = Trace::new("test", Schema::empty(), payload, Clock::of_64_bits(None));
        trace.span = 100;
        TrackBuilder::default().finish(&trace)
    }

    #[test]
    fn a_preempted_task_that_gets_no_core_again_waits_for_its_last_core() {
        let [task, on_first, on_second] = [0, 1, 2].map(ContextId);
        let runs = |task: ContextId| Occupant::Task { runs: task, of: task.into() };
        let cores =
            vec![row(&[(0, runs(on_first))]), row(&[(10, runs(task)), (20, runs(on_second))])];
        let tracks = Tracks { cores, contexts: vec![row(&[(20, State::Preempted)])], ..empty() };
        let (kind, from, until) = (Explained::Response, at(20), at(50));
        let path = explain(&tracks, Interval { context: task, kind, from, until });
        let found: Vec<_> =
            path.parts.iter().map(|part| (part.from.ticks, part.until, part.activity)).collect();
        assert_eq!(found, [(20, 50, Activity::Delayed(on_second))]);
    }

    #[test]
    fn time_in_which_a_row_has_no_state_is_a_piece_of_its_own() {
        let tracks = empty();
        let row = row(&[(20, 'a'), (30, 'b')]);
        let found = |row: Option<&Row<char>>, from, until| -> Vec<_> {
            let pieces = pieces(&tracks, row, Time { from: at(from), until });
            let shown = |piece: Piece<char>| {
                let ended = piece.ended.map(|ended| ended.ticks);
                (piece.from.ticks, piece.until, piece.state, ended)
            };
            pieces.into_iter().map(shown).collect()
        };
        assert_eq!(found(None, 5, 15), [(5, 15, None, None)]);
        let row = Some(&row);
        assert_eq!(found(row, 5, 15), [(5, 15, None, None)]);
        assert_eq!(found(row, 10, 25), [(10, 20, None, None), (20, 25, Some('a'), None)]);
        let both = [(25, 30, Some('a'), Some(30)), (30, 40, Some('b'), None)];
        assert_eq!(found(row, 25, 40), both);
        assert_eq!(found(row, 25, 30), both[..1]);
        // The row ends with the trace.
        assert_eq!(found(row, 90, 120), [(90, 100, Some('b'), None), (100, 120, None, None)]);
        assert!(found(row, 25, 25).is_empty());
    }
}
