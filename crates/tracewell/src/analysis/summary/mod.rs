//! Summarises the tracks of a trace, whatever its size. The summary computes views without reading
//! the trace again. The time to compute the states of a row depends on the resolution and not on
//! the length of the trace.
//!
//! | file | purpose |
//! |---|---|
//! | `row` | one row of states: all changes, encoded, and sums over parts of the row |
//! | `level` | the levels of sums over parts of a row |
//! | `series` | entries without a length, and digests of parts of them |
//! | `objects` | machines, levels, spans and messages, and the events of traces without states |
//! | `tracks` | the tracks of a view |
//! | `view` | the part of a row that a view shows |
//! | `encoded` | the changes of a row as bytes |
//! | `pool` | memory or a file that stores the parts of rows that few views need |
//! | `sample` | a list that keeps only a sample of its entries if there are too many |
//! | `stored` | the summary as bytes |
//!
//! While the trace is read, the track builder already passes the changes of its rows to the
//! summary. So the builder's limit [`super::tracks::MAX_ENTRIES`] applies to pending entries and
//! not to the whole trace.
//!
//! [`Summary::tracks`] returns the tracks at a resolution, in ticks. It combines neighbouring short
//! states into parts of at most this length. States of the same class, such as all reasons for
//! waiting, occur in a part as one state with the sum of their times. The classes are in the order
//! of their first occurrence. So the time in a class is exact at every resolution. If a part has
//! several levels, the row shows the lowest, the highest and the last of them.

mod encoded;
mod level;
mod objects;
mod pool;
mod row;
mod sample;
mod series;
mod stored;
mod tracks;
mod view;

use std::fs::File;
use std::io;

use self::objects::Objects;
use self::pool::Pool;
pub(crate) use self::pool::checksum;
use self::row::SummaryRow;
use self::sample::Sample;
pub(crate) use self::sample::{Extent, distinct};
use super::machines;
use super::scheduling::{Figures, Position, Wanted};
use super::tracks::{
    Arrow, Change, EnteredSpan, Holder, Mark, Occupant, ServerTrack, Settled, State, TrackBuilder,
    Tracks, WaitSpan,
};
use crate::model::{Batch, ContextId, Flow, Loss, Sink, Stop, Trace};

/// Number of entries that the track builder collects before they are moved to the summary. They
/// fit into the processor's cache.
const PENDING: u64 = 1 << 13;

/// Maximum length of each of these lists: all arrows except messages, all messages, all marks, and
/// the waits of one lock. If there are more entries, the summary keeps a sample, and
/// [`Tracks::left_out`] counts the others.
pub const MAX_LIST: usize = 1 << 18;

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
///     let tracks = summary.tracks(0..trace.span, resolution).unwrap();
///     let (_, row) = tracks.contexts().next().unwrap();
///     row.time(0..trace.span, trace.span, |state| matches!(state, State::Running(_)))
/// };
/// assert_eq!(time(0), time(trace.span / 10));
/// # Ok::<(), tracewell::input::InputError>(())
/// ```
#[derive(Clone, Debug)]
pub struct SummaryBuilder {
    tracks: TrackBuilder,
    parts: Parts,
    /// Number of entries that the track builder collects before they are moved to the parts.
    pending: u64,
}

impl Default for SummaryBuilder {
    fn default() -> Self {
        let wanted = Wanted { waits: true, only_inverted: true, ..Wanted::default() };
        Self {
            tracks: TrackBuilder::with_figures(wanted).without_inversions(),
            parts: Parts::default(),
            pending: PENDING,
        }
    }
}

impl SummaryBuilder {
    /// Provides a file for the parts that few views need. When there are many of these parts, the
    /// summary moves them to the file. `opener` returns an empty file that can be read and written.
    /// If the file cannot be opened or written, these parts stay in memory, and the builder fails
    /// when they reach 256 MiB. Without this call, everything stays in memory.
    pub fn spill_to(&mut self, opener: impl FnOnce() -> io::Result<File> + Send + Sync + 'static) {
        self.parts.pool.spill_to(Box::new(opener));
    }

    /// Returns the summary after all events. Call this after the last event of `trace`.
    pub fn finish(mut self, trace: &Trace) -> Summary {
        self.tracks.settle(&mut self.parts);
        self.parts.thin_out();
        Summary { rest: rest(self.tracks, trace), parts: self.parts }
    }

    /// Passes the summary of the events so far to `show`, and returns the result of `show`. The
    /// summary is as it would be if the trace ended here. `trace` is the trace after the last of
    /// these events.
    pub fn so_far<R>(&mut self, trace: &Trace, show: impl FnOnce(&Summary) -> R) -> R {
        self.tracks.settle(&mut self.parts);
        self.parts.thin_out();
        let rest = rest(self.tracks.clone(), trace);
        let summary = Summary { rest, parts: std::mem::take(&mut self.parts) };
        let result = show(&summary);
        self.parts = summary.parts;
        result
    }
}

/// Returns the tracks that a summary keeps besides its parts. A view shows one missed deadline of
/// each job, so a job that missed several is in the list for each of them.
fn rest(tracks: TrackBuilder, trace: &Trace) -> Tracks {
    let tracks = tracks.finish(trace);
    Tracks { jobs: tracks.jobs_with_each_miss(), misses: Vec::new(), ..tracks }
}

impl Sink for SummaryBuilder {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        self.tracks.events(trace, batch)?;
        if self.tracks.unsettled() >= self.pending {
            self.tracks.settle(&mut self.parts);
            Stop::on_error(self.parts.pool.check())?;
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
    /// The parts of tracks that do not grow with the trace, and the trace's jobs and gaps. It holds
    /// only the latest change of each row, because the next event could still replace this change.
    rest: Tracks,
    parts: Parts,
}

impl Summary {
    /// Returns the scheduling figures of the whole trace.
    pub fn figures(&self) -> &Figures {
        &self.rest.figures
    }

    /// Returns the budgets of all servers. [`Self::tracks`] does not return them, because they are
    /// not summarised.
    pub fn servers(&self) -> &[ServerTrack] {
        &self.rest.servers
    }

    /// Returns the figures of machines, messages and levels of the whole trace.
    pub fn machine_figures(&self) -> &machines::Figures {
        &self.rest.machine_figures
    }

    /// Returns the number of named things: mutexes and semaphores, reasons why contexts were
    /// blocked, machines and their states, levels, and spans.
    pub(crate) fn names(&self) -> usize {
        let Tracks { locks, reasons, machines, levels, spans, .. } = &self.rest;
        let states = machines.iter().map(|machine| 1 + machine.states.len());
        let spans = spans.iter().map(|track| 1 + self.parts.objects.span_states(track).len());
        let objects = states.chain(spans).sum::<usize>() + levels.len();
        locks.len() + reasons.len() + objects
    }

    /// Returns the spans of each element of [`Tracks::spans`]. Spans that begin with the same type
    /// of event are one element.
    pub(crate) fn span_states(&self) -> Vec<Vec<EnteredSpan>> {
        let spans = self.rest.spans.iter();
        spans.map(|track| self.parts.objects.span_states(track)).collect()
    }

    /// In a trace that shows no states of contexts, returns the contexts with the numbers of their
    /// events.
    pub(crate) fn recorded(&self) -> impl Iterator<Item = (ContextId, u64)> {
        let total = self.parts.objects.recorded.total();
        total.into_iter().map(|share| (ContextId(share.state), share.ticks))
    }

    /// Returns the number of changes in all rows.
    pub fn changes(&self) -> u64 {
        let Parts { cores, contexts, locks, objects, .. } = &self.parts;
        let rows = cores.iter().map(SummaryRow::count);
        let rows = rows.chain(contexts.iter().map(SummaryRow::count));
        let settled: u64 = rows.chain(locks.iter().map(|lock| lock.holder.count())).sum();
        let Tracks { cores, contexts, locks, machines, levels, spans, .. } = &self.rest;
        let last = cores.iter().map(|row| row.changes().len());
        let last = last.chain(contexts.iter().map(|row| row.changes().len()));
        let last = last.chain(machines.iter().map(|machine| machine.row.changes().len()));
        let last = last.chain(levels.iter().map(|level| level.row.changes().len()));
        let last = last.chain(spans.iter().map(|track| track.row.changes().len()));
        let last = last.chain(locks.iter().map(|lock| lock.holder.changes().len()));
        settled + objects.changes(&self.rest.places) + last.sum::<usize>() as u64
    }
}

/// Those parts of a track that grow with the length of the trace.
#[derive(Clone, Debug, Default)]
struct Parts {
    cores: Vec<SummaryRow<Occupant>>,
    contexts: Vec<SummaryRow<State>>,
    locks: Vec<LockPart>,
    marks: Sample<Mark>,
    arrows: Sample<Arrow>,
    objects: Objects,
    /// The records of all rows.
    pool: Pool,
}

impl Parts {
    /// Returns the number of marks, arrows and messages that the samples do not contain.
    fn left_out(&self) -> u64 {
        let Self { marks, arrows, objects, .. } = self;
        marks.left_out() + arrows.left_out() + objects.messages.left_out()
    }

    /// Thins out all samples, for views.
    fn thin_out(&mut self) {
        self.marks.thin_out();
        self.arrows.thin_out();
        self.objects.messages.thin_out();
        self.locks.iter_mut().for_each(|lock| lock.waits.thin_out());
    }
}

#[derive(Clone, Debug, Default)]
struct LockPart {
    holder: SummaryRow<Holder>,
    waits: Sample<WaitSpan>,
}

/// Returns the element with an index. If the list is too short, adds elements first.
fn grown<T: Default>(list: &mut Vec<T>, index: usize) -> &mut T {
    if index >= list.len() {
        list.resize_with(index + 1, T::default);
    }
    &mut list[index]
}

impl Settled for Parts {
    fn core(&mut self, number: usize, changes: &[Change<Occupant>]) {
        grown(&mut self.cores, number).extend(changes, &mut self.pool);
    }

    fn context(&mut self, context: ContextId, changes: &[Change<State>]) {
        grown(&mut self.contexts, context.index()).extend(changes, &mut self.pool);
    }

    fn lock(&mut self, lock: usize, changes: &[Change<Holder>]) {
        grown(&mut self.locks, lock).holder.extend(changes, &mut self.pool);
    }

    fn waits(&mut self, lock: usize, waits: impl Iterator<Item = WaitSpan>) {
        let list = &mut grown(&mut self.locks, lock).waits;
        waits.for_each(|wait| list.push(wait));
    }

    fn mark(&mut self, mark: Mark) {
        self.marks.push(mark);
    }

    #[inline]
    fn recorded(&mut self, context: ContextId, at: Position) {
        self.objects.recorded.push(at, context, &mut self.pool);
    }

    fn arrow(&mut self, arrow: Arrow) {
        self.arrows.push(arrow);
    }

    fn machine(&mut self, place: usize, changes: &[Change<Option<u32>>]) {
        self.objects.machine(place, changes, &mut self.pool);
    }

    fn step(&mut self, place: usize, from: Position, until: Position) {
        self.objects.step(place, from, until, &mut self.pool);
    }

    fn level(&mut self, place: usize, changes: &[Change<Option<u64>>]) {
        self.objects.level(place, changes, &mut self.pool);
    }

    fn span(&mut self, context: ContextId, depth: usize, changes: &[Change<Option<EnteredSpan>>]) {
        self.objects.span(context, depth, changes, &mut self.pool);
    }

    fn message(&mut self, message: Arrow) {
        self.objects.messages.push(message);
    }
}

#[cfg(test)]
mod tests {
    use std::mem::discriminant;

    use super::*;
    use crate::analysis::tracks::{LevelTrack, MachineTrack, Recorded, Row, SpanTrack, StepSpan};
    use crate::model::Columns;

    const TRACES: [&str; 6] = [
        "examples/scheduling.trx",
        "crates/tracewell/tests/fixtures/threadx/tiny.trx",
        "crates/tracewell/tests/fixtures/shark/b_cyclic.dat",
        "crates/tracewell/tests/fixtures/shark/cbs_server.dat",
        "crates/tracewell/tests/fixtures/rkh/ahsm-overrun.bin",
        "crates/tracewell/tests/fixtures/rkh/ahsm-a.bin",
    ];

    /// Divides each batch into small batches, and passes these to the builder.
    struct Small(SummaryBuilder);

    impl Sink for Small {
        fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
            for start in (0..batch.len()).step_by(7) {
                let rows = start..batch.len().min(start + 7);
                self.0.events(trace, &batch.part(rows, &mut Columns::default()))?;
            }
            Flow::Continue(())
        }

        fn loss(&mut self, trace: &Trace, loss: &Loss) -> Flow {
            self.0.loss(trace, loss)
        }
    }

    /// Returns the exact tracks of a trace, and a summary that receives parts of the tracks in
    /// every batch.
    fn both(name: &str) -> (Tracks, Summary) {
        let path = format!("{}/../../{name}", env!("CARGO_MANIFEST_DIR"));
        let mut exact = TrackBuilder::default();
        let trace = crate::open(&path).unwrap().read(&mut exact).unwrap();
        let mut small = Small(SummaryBuilder { pending: 0, ..SummaryBuilder::default() });
        crate::open(&path).unwrap().read(&mut small).unwrap();
        (exact.finish(&trace), small.0.finish(&trace))
    }

    fn states<S: Copy + PartialEq>(rows: &[Row<S>]) -> Vec<&[Change<S>]> {
        rows.iter().map(Row::changes).collect()
    }

    #[test]
    fn without_a_resolution_the_tracks_are_those_of_the_builder() {
        for (exact, summary) in TRACES.map(both) {
            let shown = summary.tracks(0..exact.span, 0).unwrap();
            assert_eq!(states(&shown.cores), states(&exact.cores));
            assert_eq!(states(&shown.contexts), states(&exact.contexts));
            assert_eq!(shown.locks.len(), exact.locks.len());
            for (shown, exact) in shown.locks.iter().zip(&exact.locks) {
                assert_eq!((shown.key, &shown.waits), (exact.key, &exact.waits));
                assert_eq!(shown.holder, exact.holder);
            }
            let recorded = |mark: &Mark| Recorded { at: mark.at, context: mark.context, count: 1 };
            if shown.recorded.is_empty() {
                assert_eq!(shown.marks, exact.marks);
            } else {
                assert_eq!(shown.recorded, exact.marks.iter().map(recorded).collect::<Vec<_>>());
            }
            assert_eq!(shown.arrows, exact.arrows);
            have_same_objects(&shown, &exact);
            assert_eq!((&shown.jobs, &shown.gaps), (&exact.jobs_with_each_miss(), &exact.gaps));
            assert_eq!((&shown.reasons, shown.left_out), (&exact.reasons, exact.left_out));
            let holders = exact.locks.iter().map(|lock| lock.holder.changes().len());
            let rows = states(&exact.cores).into_iter().map(<[_]>::len);
            let rows = rows.chain(states(&exact.contexts).into_iter().map(<[_]>::len));
            let machines = exact
                .machines
                .iter()
                .map(|track| track.row.changes().len() + 2 * ended(track).len());
            let levels = exact.levels.iter().map(|track| track.row.changes().len());
            let spans = exact.spans.iter().map(|track| track.row.changes().len());
            let all = rows.chain(holders).chain(machines).chain(levels).chain(spans);
            assert_eq!(summary.changes() as usize, all.sum::<usize>());
        }
    }

    /// Returns the steps of a machine whose ends are recorded.
    fn ended(track: &MachineTrack) -> Vec<StepSpan> {
        track.steps.iter().copied().filter(|step| step.until.is_some()).collect()
    }

    /// Asserts that the rows of machines, levels and spans are the same.
    fn have_same_objects(shown: &Tracks, exact: &Tracks) {
        assert_eq!(shown.machines.len(), exact.machines.len());
        for (shown, exact) in shown.machines.iter().zip(&exact.machines) {
            assert_eq!((&shown.row, ended(shown)), (&exact.row, ended(exact)));
            assert_eq!((shown.machine, &shown.states), (exact.machine, &exact.states));
        }
        assert_eq!(shown.levels.len(), exact.levels.len());
        for (shown, exact) in shown.levels.iter().zip(&exact.levels) {
            assert_eq!(
                (shown.object, &shown.row, shown.most),
                (exact.object, &exact.row, exact.most)
            );
        }
        assert_eq!(shown.spans.len(), exact.spans.len());
        for (shown, exact) in shown.spans.iter().zip(&exact.spans) {
            assert_eq!((shown.context, shown.depth), (exact.context, exact.depth));
            let begun = |track: &SpanTrack| -> Vec<_> {
                let changes = track.row.changes().iter();
                changes.map(|change| (change.at, change.state.map(|span| span.begun_by))).collect()
            };
            assert_eq!(begun(shown), begun(exact));
        }
    }

    #[test]
    fn objects_are_exact_at_every_resolution() {
        for (exact, summary) in TRACES.map(both) {
            let span = exact.span;
            for resolution in [1, span / 1000, span / 20, span] {
                let shown = summary.tracks(0..span, resolution).unwrap();
                for (shown, exact) in shown.machines.iter().zip(&exact.machines) {
                    have_same_times(&shown.row, &exact.row, span, |a, b| a == b);
                    let time = |track| -> u64 {
                        let steps = ended(track).into_iter();
                        steps.map(|step| step.until.unwrap().ticks - step.from.ticks).sum()
                    };
                    assert_eq!(time(shown), time(exact));
                }
                for (shown, exact) in shown.levels.iter().zip(&exact.levels) {
                    let known = |track: &LevelTrack| {
                        let levels = track.row.changes().iter().filter_map(|change| change.state);
                        (levels.clone().min(), levels.max(), track.row.last())
                    };
                    assert_eq!(known(shown), known(exact));
                }
                for (shown, exact) in shown.spans.iter().zip(&exact.spans) {
                    let is_same = |a: Option<EnteredSpan>, b: Option<EnteredSpan>| {
                        a.map(|span| span.begun_by) == b.map(|span| span.begun_by)
                    };
                    have_same_times(&shown.row, &exact.row, span, is_same);
                }
                let events: u64 = shown.recorded.iter().map(|recorded| recorded.count).sum();
                let all = if shown.recorded.is_empty() { 0 } else { exact.marks.len() };
                assert_eq!(events as usize, all);
                assert_eq!(summary.recorded().map(|(_, count)| count).sum::<u64>(), events);
            }
        }
    }

    /// Asserts that two rows have the same time in states of the same kind as each state.
    fn have_same_times<S: Copy + PartialEq + std::fmt::Debug>(
        shown: &Row<S>,
        exact: &Row<S>,
        span: u64,
        is_same: impl Fn(S, S) -> bool,
    ) {
        for Change { state, .. } in exact.changes().iter().copied() {
            let time = |row: &Row<S>| row.time(0..span, span, |other| is_same(other, state));
            assert_eq!(time(shown), time(exact), "{state:?}");
        }
    }

    #[test]
    fn the_time_of_each_state_is_exact_at_every_resolution() {
        let (exact, summary) = both(TRACES[0]);
        let span = exact.span;
        let are_variants = |a: State, b: State| discriminant(&a) == discriminant(&b);
        let do_same = |a: Occupant, b: Occupant| match (a, b) {
            (Occupant::Task { runs: a, .. }, Occupant::Task { runs: b, .. }) => a == b,
            _ => discriminant(&a) == discriminant(&b),
        };
        for resolution in [1, span / 1000, span / 20, span] {
            let shown = summary.tracks(0..span, resolution).unwrap();
            for (context, row) in exact.contexts() {
                have_same_times(shown.context(context).unwrap(), row, span, are_variants);
            }
            for (shown, exact) in shown.cores.iter().zip(&exact.cores) {
                have_same_times(shown, exact, span, do_same);
            }
            for (shown, exact) in shown.locks.iter().zip(&exact.locks) {
                have_same_times(&shown.holder, &exact.holder, span, |a, b| a == b);
            }
        }
    }

    /// Compares the summary after each batch with the summary of a trace that ends at this place.
    struct Halfway {
        builder: SummaryBuilder,
        batches: u64,
        compared: u64,
    }

    impl Sink for Halfway {
        fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
            for start in (0..batch.len()).step_by(97) {
                let rows = start..batch.len().min(start + 97);
                self.builder.events(trace, &batch.part(rows, &mut Columns::default()))?;
                self.batches += 1;
                let ended = self.builder.clone().finish(trace).tracks(0..trace.span, 50).unwrap();
                let so_far =
                    self.builder.so_far(trace, |so_far| so_far.tracks(0..trace.span, 50).unwrap());
                assert_eq!(states(&so_far.contexts), states(&ended.contexts));
                assert_eq!(states(&so_far.cores), states(&ended.cores));
                self.compared += states(&so_far.contexts).len() as u64;
            }
            Flow::Continue(())
        }

        fn loss(&mut self, trace: &Trace, loss: &Loss) -> Flow {
            self.builder.loss(trace, loss)
        }
    }

    #[test]
    fn a_summary_of_the_events_so_far_changes_nothing() {
        let path = format!("{}/../../{}", env!("CARGO_MANIFEST_DIR"), TRACES[0]);
        let builder = SummaryBuilder { pending: 0, ..SummaryBuilder::default() };
        let mut halfway = Halfway { builder, batches: 0, compared: 0 };
        let trace = crate::open(&path).unwrap().read(&mut halfway).unwrap();
        assert!(halfway.batches > 5 && halfway.compared > 20);
        let (exact, _) = both(TRACES[0]);
        let shown = halfway.builder.finish(&trace).tracks(0..exact.span, 0).unwrap();
        assert_eq!(states(&shown.contexts), states(&exact.contexts));
        assert_eq!((&shown.marks, &shown.arrows), (&exact.marks, &exact.arrows));
    }

    #[test]
    fn a_summary_fails_if_it_is_too_large_for_the_memory_and_has_no_file() {
        let path = format!("{}/../../{}", env!("CARGO_MANIFEST_DIR"), TRACES[0]);
        let read = |records: usize| {
            let mut builder = SummaryBuilder { pending: 0, ..SummaryBuilder::default() };
            builder.spill_to(|| Err(std::io::Error::other("no place")));
            builder.parts.pool.push(|out| out.resize(records, 0));
            crate::open(&path).unwrap().read(&mut builder).map(|trace| trace.events)
        };
        assert!(read(2 << 20).is_ok(), "there is room in memory");
        let message = read(3 << 20).unwrap_err().to_string();
        assert!(message.contains("needs a file") && message.ends_with("no place"), "{message}");
    }

    #[test]
    fn a_range_that_ends_before_it_begins_is_one_tick() {
        for (exact, summary) in TRACES.map(both) {
            for from in [exact.span / 2, exact.span, u64::MAX] {
                let (reversed, tick) =
                    (summary.tracks(from..0, 0).unwrap(), summary.tracks(from..from, 0).unwrap());
                assert_eq!(states(&reversed.contexts), states(&tick.contexts));
                assert_eq!((&reversed.marks, &reversed.arrows), (&tick.marks, &tick.arrows));
            }
        }
    }

    #[test]
    fn gaps_are_shown_at_every_resolution() {
        let (exact, summary) = both(TRACES[4]);
        assert!(!exact.gaps.is_empty());
        assert_eq!(summary.tracks(0..exact.span, exact.span).unwrap().gaps, exact.gaps);
    }
}
