//! Makes the tracks of a view, on several threads.

use std::io;
use std::ops::Range;

use super::row::{RowState, SummaryRow};
use super::sample::distinct;
use super::{LockPart, Parts, Summary};
use crate::analysis::machines;
use crate::analysis::scheduling::Figures;
use crate::analysis::tracks::{
    Arrow, LevelTrack, LockTrack, MachineTrack, Mark, Occupant, Places, Position, Recorded, Row,
    SpanTrack, State, Tracks,
};
use crate::threads::{Threads, each_on_threads};

/// One thread per processor.
static THREADS: Threads = Threads::new(0);

/// Number of pieces that are not rows: marks, arrows, messages and numbers of events.
const OTHERS: usize = 4;

/// Returns the kind of a piece, and its number among the pieces of this kind. `counts` contains the
/// number of pieces of each kind.
fn place(mut number: usize, counts: &[usize]) -> (usize, usize) {
    for (kind, count) in counts.iter().enumerate() {
        match number.checked_sub(*count) {
            Some(rest) => number = rest,
            None => return (kind, number),
        }
    }
    (counts.len(), number)
}

/// A part of the tracks that one thread makes.
enum Piece {
    Core(Row<Occupant>),
    Context(Row<State>),
    Lock(LockTrack),
    Machine(MachineTrack),
    Level(LevelTrack),
    Span(SpanTrack),
    Marks(Vec<Mark>),
    Arrows(Vec<Arrow>),
    Messages(Vec<Arrow>),
    Recorded(Vec<Recorded>),
}

impl Summary {
    /// Returns the part of the tracks that overlaps a range of ticks. Rows also contain the last
    /// change before the range and the first change after the range, if they exist.
    ///
    /// `resolution` is a number of ticks. Neighbouring states are combined as long as their total
    /// length does not exceed it. Marks, arrows, jobs and waits that are not longer than
    /// `resolution` are thinned out. Within `resolution` ticks, each context keeps at most one
    /// mark, one arrow of each kind, one job that missed its deadline and one other job. Each lock
    /// keeps at most one wait. At resolution 0, the rows are exact. If a range ends before it
    /// begins, it is treated as a range of one tick at its beginning.
    ///
    /// The steps of a machine are rows of states, too: steps without a recorded end are missing. Of
    /// a span, the tracks contain only the type of event that began it; its number is 0. In a trace
    /// without states, [`Tracks::recorded`] contains the numbers of events within `resolution`
    /// ticks.
    ///
    /// The tracks contain neither figures (see [`Self::figures`]) nor budgets (see
    /// [`Self::servers`]) nor findings: a large trace has too many of these.
    ///
    /// # Errors
    /// Returns an error if the file of the summary cannot be read or is damaged.
    pub fn tracks(&self, range: Range<u64>, resolution: u64) -> io::Result<Tracks> {
        self.tracks_in_windows(range, resolution, 0)
    }

    /// Like [`Self::tracks`], but the time of each activity of a core is also exact within each
    /// window. Windows begin at multiples of `window` ticks. Windows that are shorter than
    /// `resolution` have no effect.
    ///
    /// # Errors
    /// Returns an error if the file of the summary cannot be read or is damaged.
    pub fn tracks_in_windows(
        &self,
        range: Range<u64>,
        resolution: u64,
        window: u64,
    ) -> io::Result<Tracks> {
        let window = if window < resolution { 0 } else { window };
        let range = range.start..range.end.max(range.start);
        let Self { rest, parts } = self;
        let gaps = rest.gaps.iter().filter(|gap| overlaps(&range, gap.from, gap.until));
        let waits = parts.locks.iter().map(|lock| lock.waits.left_out()).sum::<u64>();
        let mut tracks = Tracks {
            span: rest.span,
            cores: Vec::new(),
            contexts: Vec::new(),
            jobs: distinct(rest.jobs.iter(), &range, resolution),
            locks: Vec::new(),
            marks: Vec::new(),
            recorded: Vec::new(),
            arrows: Vec::new(),
            misses: Vec::new(),
            findings: Vec::new(),
            gaps: gaps.copied().collect(),
            reasons: rest.reasons.clone(),
            left_out: rest.left_out + parts.left_out() + waits,
            figures: Figures::default(),
            servers: Vec::new(),
            levels: Vec::new(),
            machines: Vec::new(),
            spans: Vec::new(),
            machine_figures: machines::Figures::default(),
            places: Places::default(),
        };
        for piece in self.pieces(&range, resolution, window) {
            match piece? {
                Piece::Core(row) => tracks.cores.push(row),
                Piece::Context(row) => tracks.contexts.push(row),
                Piece::Lock(lock) => tracks.locks.push(lock),
                Piece::Machine(machine) => tracks.machines.push(machine),
                Piece::Level(level) => tracks.levels.push(level),
                Piece::Span(spans) => tracks.spans.push(spans),
                Piece::Marks(marks) => tracks.marks = marks,
                Piece::Arrows(arrows) => tracks.arrows = arrows,
                Piece::Messages(mut messages) => {
                    tracks.arrows.append(&mut messages);
                    // The order of arrows and messages that end together stays the same.
                    tracks.arrows.sort_by_key(|arrow| arrow.to);
                }
                Piece::Recorded(recorded) => tracks.recorded = recorded,
            }
        }
        Ok(tracks)
    }

    /// Makes the pieces that take most of the time. The pieces of a kind are in the order of their
    /// numbers.
    fn pieces(&self, range: &Range<u64>, resolution: u64, window: u64) -> Vec<io::Result<Piece>> {
        let Self { rest, parts } = self;
        let Parts { cores, contexts, locks, marks, arrows, objects, pool } = parts;
        let Tracks { machines, levels, spans, places, .. } = rest;
        let counts = [
            cores.len().max(rest.cores.len()),
            contexts.len().max(rest.contexts.len()),
            rest.locks.len(),
            machines.len(),
            levels.len(),
            spans.len(),
            OTHERS,
        ];
        let part = (range, resolution);
        let lock = |number: usize| {
            let (none, lock) = (LockPart::default(), &rest.locks[number]);
            let part = locks.get(number).unwrap_or(&none);
            let waits = part.waits.distinct(range, resolution, &lock.waits, pool)?;
            let LockTrack { key, kind, is_mutex, .. } = *lock;
            let holder = part.holder.row(range, resolution, lock.holder.changes().last(), pool)?;
            Ok(LockTrack { key, kind, is_mutex, holder, waits })
        };
        let piece = |number: usize| match place(number, &counts) {
            (0, core) => {
                self.row((cores, &rest.cores), core, range, (resolution, window)).map(Piece::Core)
            }
            (1, context) => {
                let rows = (&contexts[..], &rest.contexts[..]);
                self.row(rows, context, range, (resolution, 0)).map(Piece::Context)
            }
            (2, number) => lock(number).map(Piece::Lock),
            (3, number) => {
                let place = places.machines.get(number);
                objects.machine_in(&machines[number], place, part, pool).map(Piece::Machine)
            }
            (4, number) => {
                let place = places.levels.get(number);
                objects.level_in(&levels[number], place, part, pool).map(Piece::Level)
            }
            (5, number) => objects.span_in(&spans[number], part, pool).map(Piece::Span),
            (_, 0) => marks.distinct(range, resolution, &[], pool).map(Piece::Marks),
            (_, 1) => arrows.distinct(range, resolution, &[], pool).map(Piece::Arrows),
            (_, 2) => {
                let messages = objects.messages.distinct(range, resolution, &[], pool);
                messages.map(Piece::Messages)
            }
            _ => objects.recorded(range, resolution, pool).map(Piece::Recorded),
        };
        each_on_threads(counts.iter().sum::<usize>(), &THREADS, piece)
    }

    /// Makes the row with this number. `rows` contains the summary of each row, and `last` the
    /// latest change of each row.
    fn row<S: RowState>(
        &self,
        (rows, last): (&[SummaryRow<S>], &[Row<S>]),
        number: usize,
        range: &Range<u64>,
        (resolution, window): (u64, u64),
    ) -> io::Result<Row<S>> {
        let none = SummaryRow::default();
        let row = rows.get(number).unwrap_or(&none);
        let last = last.get(number).and_then(|row| row.changes().last());
        row.row_in_windows(range, resolution, window, last, &self.parts.pool)
    }
}

fn overlaps(range: &Range<u64>, from: Position, until: Option<Position>) -> bool {
    from.ticks <= range.end && until.is_none_or(|until| until.ticks >= range.start)
}
