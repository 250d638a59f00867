//! Tracks of the spans of instrumented programs. They show the spans in which each thread is at any
//! time.
//!
//! A thread can enter a span within another span, so spans are nested. There is a track for each
//! depth. A thread can leave an outer span before an inner one. Then the outer track is empty, and
//! the inner span stays in its track.

use std::collections::BTreeMap;

use super::{EnteredSpan, Position, Row, Settled};
use crate::model::schema::SpanRole;
use crate::model::{Batch, ContextId, Event, Flow, Loss, Sink, Trace};

/// Maximum nesting depth of spans.
const MAX_DEPTH: usize = 64;

/// The spans of a thread at one depth.
#[derive(Clone, Debug)]
pub struct SpanTrack {
    /// The thread that entered the spans.
    pub context: ContextId,
    /// Number of spans that enclose each span of this track.
    pub depth: usize,
    /// The span in which the thread is; `None` if it is in no span of this depth.
    pub row: Row<Option<EnteredSpan>>,
}

/// A sink that builds the tracks of spans.
#[derive(Clone, Debug, Default)]
pub(super) struct SpanTrackBuilder {
    /// Maximum number of changes.
    max: u64,
    /// Number of changes since the beginning or since the builder last passed on changes.
    pub(super) changes: u64,
    /// Number of spans that the tracks lack.
    pub(super) left_out: u64,
    threads: BTreeMap<ContextId, Thread>,
    /// The last event so far.
    last: Option<Position>,
}

/// The spans of a thread.
#[derive(Clone, Debug, Default)]
struct Thread {
    rows: Vec<Row<Option<EnteredSpan>>>,
    /// The number of the current span at each depth. The last entry is never `None`.
    open: Vec<Option<u64>>,
}

impl Thread {
    /// Leaves a span that the thread entered. Does nothing if the trace does not show the entry.
    fn leave(&mut self, number: u64, at: Position) -> bool {
        let Some(depth) = self.open.iter().rposition(|open| *open == Some(number)) else {
            return false;
        };
        self.open[depth] = None;
        while self.open.last() == Some(&None) {
            self.open.pop();
        }
        self.rows[depth].set(at, None)
    }
}

impl SpanTrackBuilder {
    /// Creates a builder of tracks with at most `max` changes.
    pub(super) fn new(max: u64) -> Self {
        Self { max, ..Self::default() }
    }

    /// Passes on the settled changes of all rows; see [`Row::settle`]. The tracks can then have
    /// `max` further changes.
    pub(super) fn settle(&mut self, settled: &mut impl Settled) {
        for (context, thread) in &mut self.threads {
            for (depth, row) in thread.rows.iter_mut().enumerate() {
                row.settle(|changes| settled.span(*context, depth, changes));
            }
        }
        self.changes = 0;
    }

    /// Returns the tracks after all events, by thread and then by depth.
    pub(super) fn finish(self) -> Vec<SpanTrack> {
        let of_thread = |(context, thread): (ContextId, Thread)| {
            let rows = thread.rows.into_iter().enumerate();
            rows.map(move |(depth, row)| SpanTrack { context, depth, row })
        };
        self.threads.into_iter().flat_map(of_thread).collect()
    }

    fn enter(&mut self, context: ContextId, span: EnteredSpan, at: Position) {
        let thread = self.threads.entry(context).or_default();
        let depth = thread.open.len();
        if depth >= MAX_DEPTH || self.changes >= self.max {
            self.left_out += 1;
            return;
        }
        if depth == thread.rows.len() {
            thread.rows.push(Row::default());
        }
        thread.open.push(Some(span.number));
        self.changes += u64::from(thread.rows[depth].set(at, Some(span)));
    }
}

impl Sink for SpanTrackBuilder {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        // Most traces have no spans. Skip the loop over their events.
        if !trace.program_spans.are_recorded() {
            return Flow::Continue(());
        }
        for row in batch.events() {
            let event = Event::new(trace, &row);
            let at = Position { ticks: row.ticks, seq: row.seq };
            self.last = Some(at);
            let role = event.kind().instrumentation.span;
            let Some((role, number)) = role.zip(event.argument(0)) else { continue };
            match role {
                SpanRole::Enters => {
                    let span = trace.program_spans.get(number);
                    let begun_by = span.and_then(|span| span.begun_by);
                    self.enter(row.context, EnteredSpan { number, begun_by }, at);
                }
                SpanRole::Leaves => {
                    let thread = self.threads.get_mut(&row.context);
                    let left = thread.is_some_and(|thread| thread.leave(number, at));
                    self.changes += u64::from(left);
                }
                _ => {}
            }
        }
        Flow::Continue(())
    }

    fn loss(&mut self, _: &Trace, _: &Loss) -> Flow {
        // The missing events may include the exit from any of the spans.
        let Some(at) = self.last else { return Flow::Continue(()) };
        for thread in self.threads.values_mut() {
            for (depth, _) in thread.open.drain(..).enumerate() {
                self.changes += u64::from(thread.rows[depth].set(at, None));
            }
        }
        Flow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ticks: u64) -> Position {
        Position { ticks, seq: ticks }
    }

    /// Returns the changes of each track. A change consists of its tick and the number of the new
    /// span, or 0 if there is no new span.
    fn tracks(builder: SpanTrackBuilder) -> Vec<Vec<(u64, u64)>> {
        let changes = |track: SpanTrack| {
            let number = |span: Option<EnteredSpan>| span.map_or(0, |span| span.number);
            let changes = track.row.changes().iter();
            changes.map(|change| (change.at.ticks, number(change.state))).collect()
        };
        builder.finish().into_iter().map(changes).collect()
    }

    impl SpanTrackBuilder {
        fn enters(&mut self, number: u64, ticks: u64) {
            self.enter(ContextId(0), EnteredSpan { number, begun_by: None }, at(ticks));
        }

        fn leaves(&mut self, number: u64, ticks: u64) {
            self.threads.get_mut(&ContextId(0)).unwrap().leave(number, at(ticks));
        }
    }

    #[test]
    fn an_inner_span_stays_in_its_track_if_the_outer_one_is_left_first() {
        let mut builder = SpanTrackBuilder::new(100);
        builder.enters(1, 10);
        builder.enters(2, 20);
        builder.leaves(1, 30);
        builder.leaves(9, 35);
        builder.enters(3, 40);
        builder.leaves(3, 50);
        builder.leaves(2, 60);
        builder.enters(4, 70);
        let expected =
            [vec![(10, 1), (30, 0), (70, 4)], vec![(20, 2), (60, 0)], vec![(40, 3), (50, 0)]];
        assert_eq!(tracks(builder), expected);
    }

    #[test]
    fn spans_beyond_a_limit_are_counted() {
        let mut builder = SpanTrackBuilder::new(3);
        for number in 1..=4 {
            builder.enters(number, number);
        }
        assert_eq!(builder.left_out, 1);
        let mut deep = SpanTrackBuilder::new(1000);
        for number in 1..=MAX_DEPTH as u64 + 2 {
            deep.enters(number, number);
        }
        assert_eq!((deep.left_out, tracks(deep).len()), (2, MAX_DEPTH));
    }
}
