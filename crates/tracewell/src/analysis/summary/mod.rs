//! A summary of the tracks of a trace of any size, from which each view is computed in a time that
//! depends on the view and not on the trace.
//!
//! | file | purpose |
//! |---|---|
//! | `row` | one row of states: all changes, encoded, and sums over more and more of them |
//! | `encoded` | the changes of a row as bytes |
//! | `sample` | a list of entries, of which it keeps a sample if there are too many |
//!
//! The changes of rows leave the builder of tracks while the trace is read, so the builder's limit
//! [`super::tracks::MAX_ENTRIES`] holds for what is pending, and not for the whole trace.
//!
//! [`Summary::tracks`] returns the tracks at a resolution: no two neighbouring states are shorter
//! than this number of ticks, except those that stand for a sum. Each sum over a row is exact at
//! every resolution: the states within a part are put in the order of their first occurrence, each
//! with all its time.

mod encoded;
mod row;
mod sample;

use std::ops::Range;

use self::row::SummaryRow;
use self::sample::Sample;
use super::scheduling::Wanted;
use super::tracks::{
    Arrow, Change, Mark, Occupant, Position, Settled, State, TrackBuilder, Tracks, WaitSpan,
};
use crate::model::{Batch, ContextId, Flow, Loss, MaybeContext, Sink, Trace};

/// Number of entries that the builder of tracks collects before they move into the summary.
const PENDING: u64 = 1 << 16;

/// Maximum number of arrows, of marks, and of the waits of each lock. If there are more, the summary
/// keeps a sample; [`Tracks::left_out`] counts the others.
pub const MAX_LIST: usize = 1 << 20;

/// A sink that builds a summary.
///
/// ```
/// use tracewell::analysis::summary::SummaryBuilder;
/// use tracewell::analysis::tracks::State;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/threadx/tiny.trx");
/// let mut builder = SummaryBuilder::default();
/// let trace = tracewell::open(path)?.read(&mut builder)?;
/// let summary = builder.finish(&trace);
/// let time = |resolution| {
///     let tracks = summary.tracks(0..trace.span, resolution);
///     let (_, row) = tracks.contexts().next().unwrap();
///     row.time(0..trace.span, trace.span, |state| matches!(state, State::Running(_)))
/// };
/// assert_eq!(time(0), time(trace.span / 10));
/// # Ok::<(), tracewell::input::InputError>(())
/// ```
#[derive(Debug)]
pub struct SummaryBuilder {
    tracks: TrackBuilder,
    parts: Parts,
}

impl Default for SummaryBuilder {
    fn default() -> Self {
        let wanted = Wanted { waits: true, ..Wanted::default() };
        Self { tracks: TrackBuilder::with_figures(wanted), parts: Parts::default() }
    }
}

impl SummaryBuilder {
    /// Returns the summary after all events. `trace` is the trace after the last event.
    pub fn finish(mut self, trace: &Trace) -> Summary {
        self.tracks.settle(&mut self.parts);
        let rest = self.tracks.finish(trace);
        // The last change of each row is left, because an event could have replaced it.
        for (number, row) in rest.cores.iter().enumerate() {
            self.parts.core(number, row.changes().iter().copied());
        }
        for (context, row) in rest.contexts() {
            self.parts.context(context, row.changes().iter().copied());
        }
        for (index, lock) in rest.locks.iter().enumerate() {
            self.parts.lock(index, lock.holder.changes().iter().copied());
            self.parts.waits(index, lock.waits.iter().copied());
        }
        Summary { rest, parts: self.parts }
    }
}

impl Sink for SummaryBuilder {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        self.tracks.events(trace, batch)?;
        if self.tracks.unsettled() >= PENDING {
            self.tracks.settle(&mut self.parts);
        }
        Flow::Continue(())
    }

    fn loss(&mut self, trace: &Trace, loss: &Loss) -> Flow {
        self.tracks.loss(trace, loss)
    }
}

/// The summary of a trace.
#[derive(Debug)]
pub struct Summary {
    /// The parts of tracks that do not become larger with the trace, and its jobs and gaps.
    rest: Tracks,
    parts: Parts,
}

impl Summary {
    /// Returns the part of the tracks that overlaps a range of ticks. Rows contain the change
    /// before the range and the change after it, if there is one.
    ///
    /// `resolution` is a number of ticks: shorter states that follow each other are put together,
    /// as far as they are together not longer. With 0, the tracks are exact.
    pub fn tracks(&self, range: Range<u64>, resolution: u64) -> Tracks {
        let Self { rest, parts } = self;
        let locks = rest.locks.iter().enumerate().map(|(index, lock)| {
            let (mut lock, part) = (lock.clone(), parts.locks.get(index));
            if let Some(part) = part {
                lock.holder = part.holder.row(&range, resolution);
                let overlaps = |wait: &&WaitSpan| overlaps(&range, wait.from, wait.until);
                lock.waits = part.waits.list().iter().filter(overlaps).copied().collect();
            }
            lock
        });
        let within = |ticks: u64| (range.start..=range.end).contains(&ticks);
        let arrows = parts.arrows.list().iter();
        let arrows = arrows.filter(|arrow| overlaps(&range, arrow.from, Some(arrow.to)));
        let waits = parts.locks.iter().map(|lock| lock.waits.left_out()).sum::<u64>();
        Tracks {
            span: rest.span,
            cores: parts.cores.iter().map(|row| row.row(&range, resolution)).collect(),
            contexts: parts.contexts.iter().map(|row| row.row(&range, resolution)).collect(),
            jobs: rest.jobs.clone(),
            locks: locks.collect(),
            marks: parts.marks.list().iter().filter(|m| within(m.at.ticks)).copied().collect(),
            arrows: arrows.copied().collect(),
            gaps: rest.gaps.clone(),
            reasons: rest.reasons.clone(),
            left_out: rest.left_out + parts.marks.left_out() + parts.arrows.left_out() + waits,
            figures: rest.figures.clone(),
        }
    }

    /// Returns the number of changes in all rows.
    pub fn changes(&self) -> u64 {
        let Parts { cores, contexts, locks, .. } = &self.parts;
        let cores = cores.iter().map(SummaryRow::count);
        let contexts = contexts.iter().map(SummaryRow::count);
        cores.chain(contexts).chain(locks.iter().map(|lock| lock.holder.count())).sum()
    }
}

fn overlaps(range: &Range<u64>, from: Position, until: Option<Position>) -> bool {
    from.ticks <= range.end && until.is_none_or(|until| until.ticks >= range.start)
}

/// The parts of tracks that become larger with the trace.
#[derive(Debug, Default)]
struct Parts {
    cores: Vec<SummaryRow<Occupant>>,
    contexts: Vec<SummaryRow<State>>,
    locks: Vec<LockPart>,
    marks: Sample<Mark>,
    arrows: Sample<Arrow>,
}

#[derive(Debug, Default)]
struct LockPart {
    holder: SummaryRow<MaybeContext>,
    waits: Sample<WaitSpan>,
}

/// Returns the element with an index, and adds elements before it if necessary.
fn grown<T: Default>(list: &mut Vec<T>, index: usize) -> &mut T {
    if index >= list.len() {
        list.resize_with(index + 1, T::default);
    }
    &mut list[index]
}

impl Settled for Parts {
    fn core(&mut self, number: usize, changes: impl Iterator<Item = Change<Occupant>>) {
        grown(&mut self.cores, number).extend(changes);
    }

    fn context(&mut self, context: ContextId, changes: impl Iterator<Item = Change<State>>) {
        grown(&mut self.contexts, context.index()).extend(changes);
    }

    fn lock(&mut self, lock: usize, changes: impl Iterator<Item = Change<MaybeContext>>) {
        grown(&mut self.locks, lock).holder.extend(changes);
    }

    fn waits(&mut self, lock: usize, waits: impl Iterator<Item = WaitSpan>) {
        let list = &mut grown(&mut self.locks, lock).waits;
        waits.for_each(|wait| list.push(wait));
    }

    fn mark(&mut self, mark: Mark) {
        self.marks.push(mark);
    }

    fn arrow(&mut self, arrow: Arrow) {
        self.arrows.push(arrow);
    }
}
