//! The tracks of machines, levels, spans and messages in a summary, and the numbers of events that
//! contexts recorded.
//!
//! States, steps and spans are rows of states, so a view shows the exact time in each of them.
//! Levels are series: a view shows the lowest, the highest and the last level of each part.

use std::io;
use std::ops::Range;

use super::encoded::{MAX_CHANGE, START, changes, put};
use super::grown;
use super::level::{Classed, Share, Sum};
use super::pool::Pool;
use super::row::{RowState, SummaryRow, bits};
use super::sample::Sample;
use super::series::{Entry, Part, Series};
use crate::analysis::stored::{Stored, stored_structs};
use crate::analysis::tracks::{
    Arrow, Change, EnteredSpan, LevelTrack, MachineTrack, Places, Position, Recorded, Row,
    SpanTrack, StepSpan,
};
use crate::model::ContextId;

/// The state of a machine, or the event type that began the span in which a thread is.
impl Classed for Option<u32> {
    fn class(self) -> u64 {
        self.map_or(0, |state| u64::from(state) + 1)
    }
}

impl RowState for Option<u32> {
    #[inline(always)]
    fn bits(self) -> u128 {
        bits(u8::from(self.is_some()), 0, self.unwrap_or(0))
    }
}

/// True during a step.
impl Classed for bool {
    fn class(self) -> u64 {
        u64::from(self)
    }
}

impl RowState for bool {
    #[inline(always)]
    fn bits(self) -> u128 {
        bits(u8::from(self), 0, 0)
    }
}

/// Spans that begin with the same type of event are one state.
impl Classed for Option<EnteredSpan> {
    fn class(self) -> u64 {
        self.map_or(0, |span| 1 + span.begun_by.class())
    }
}

impl RowState for Option<EnteredSpan> {
    #[inline(always)]
    fn bits(self) -> u128 {
        let begun_by = self.and_then(|span| span.begun_by);
        let variant = u8::from(self.is_some()) + u8::from(begun_by.is_some());
        bits(variant, 0, begun_by.unwrap_or(0))
    }
}

/// An event; the digest of several is the number of events of each context.
impl Entry for ContextId {
    type Digest = Vec<Share>;
    type Sum = Sum;

    #[inline]
    fn add(self, sum: &mut Sum) {
        sum.add(self.0, self.0, 1);
    }

    fn merge(digest: &Vec<Share>, sum: &mut Sum) {
        digest.iter().for_each(|share| sum.add(share.state, share.state, share.ticks));
    }

    fn drain(sum: &mut Sum) -> Vec<Share> {
        sum.drain().collect()
    }

    fn put(entries: &[(Position, Self)], out: &mut Vec<u8>) {
        let (mut last, mut length) = (START, out.len());
        out.resize(length + entries.len() * MAX_CHANGE, 0);
        for (at, context) in entries {
            length += put(&mut out[length..], last, *at, context.0);
            last = *at;
        }
        out.truncate(length);
    }

    fn take(bytes: &[u8]) -> impl Iterator<Item = (Position, Self)> {
        changes(bytes).map(|(at, context)| (at, Self(context)))
    }

    fn number(self) -> u32 {
        self.0
    }

    fn most(digest: &Vec<Share>) -> u32 {
        digest.iter().map(|share| share.state).max().unwrap_or(0)
    }
}

/// Several levels in succession. `None` is an unknown level.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Levels {
    /// The lowest and the highest known level.
    known: Option<(u64, u64)>,
    last: Option<u64>,
}

stored_structs! {
    Levels { known, last }
}

/// The level of a queue.
impl Entry for Option<u64> {
    type Digest = Levels;
    type Sum = Option<Levels>;

    fn add(self, sum: &mut Option<Levels>) {
        Self::merge(&Levels { known: self.map(|level| (level, level)), last: self }, sum);
    }

    fn merge(digest: &Levels, sum: &mut Option<Levels>) {
        let both = |(a, b): (u64, u64), (c, d): (u64, u64)| (a.min(c), b.max(d));
        let known = match (sum.and_then(|sum| sum.known), digest.known) {
            (Some(before), Some(now)) => Some(both(before, now)),
            (before, now) => before.or(now),
        };
        *sum = Some(Levels { known, last: digest.last });
    }

    fn drain(sum: &mut Option<Levels>) -> Levels {
        sum.take().unwrap_or(Levels { known: None, last: None })
    }

    fn put(entries: &[(Position, Self)], out: &mut Vec<u8>) {
        let mut last = START;
        for (at, level) in entries {
            at.ticks.wrapping_sub(last.ticks).put(out);
            at.seq.wrapping_sub(last.seq).put(out);
            level.put(out);
            last = *at;
        }
    }

    fn take(mut bytes: &[u8]) -> impl Iterator<Item = (Position, Self)> {
        let mut last = START;
        std::iter::from_fn(move || {
            let ticks = last.ticks.wrapping_add(Stored::take(&mut bytes)?);
            last = Position { ticks, seq: last.seq.wrapping_add(Stored::take(&mut bytes)?) };
            Some((last, Stored::take(&mut bytes)?))
        })
    }
}

/// Returns the levels of parts as a row. If a part has several levels, the row shows its lowest,
/// its highest and its last level one after the other.
fn level_row(parts: Vec<Part<Levels>>) -> Row<Option<u64>> {
    let changes = parts.into_iter().flat_map(|Part { from, last, digest }| {
        let middle = from.ticks + last.ticks.saturating_sub(from.ticks) / 2;
        let middle = Position { ticks: middle, seq: from.seq };
        let (least, most) = digest.known.unzip();
        let is_one = least == most && (least == digest.last || from == last);
        let shown = if is_one { [None, None] } else { [Some((from, least)), Some((middle, most))] };
        let at = if is_one { from } else { last };
        shown.into_iter().flatten().chain([(at, digest.last)])
    });
    let changes = changes.map(|(at, state)| Change { at, state });
    let mut list: Vec<Change<Option<u64>>> = Vec::new();
    for change in changes {
        if list.last().is_none_or(|before| before.state != change.state) {
            list.push(change);
        }
    }
    Row::of(list)
}

/// The parts of tracks of objects that grow with the length of the trace.
#[derive(Clone, Debug, Default)]
pub(super) struct Objects {
    /// The events of a trace that shows no states of contexts.
    pub(super) recorded: Series<ContextId>,
    pub(super) machines: Vec<MachinePart>,
    pub(super) levels: Vec<Series<Option<u64>>>,
    /// The spans of each thread, by depth.
    pub(super) spans: Vec<Vec<SummaryRow<Option<EnteredSpan>>>>,
    pub(super) messages: Sample<Arrow>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct MachinePart {
    states: SummaryRow<Option<u32>>,
    steps: SummaryRow<bool>,
}

stored_structs! {
    MachinePart { states, steps }
    EnteredSpan { number, begun_by }
    Places { machines, levels }
    MachineTrack { machine, states, row, steps }
    LevelTrack { object, owner, counts_free, row, most }
    SpanTrack { context, depth, row }
}

impl Objects {
    pub(super) fn machine(
        &mut self,
        place: usize,
        changes: &[Change<Option<u32>>],
        pool: &mut Pool,
    ) {
        grown(&mut self.machines, place).states.extend(changes, pool);
    }

    pub(super) fn step(&mut self, place: usize, from: Position, until: Position, pool: &mut Pool) {
        let changes = [Change { at: from, state: true }, Change { at: until, state: false }];
        grown(&mut self.machines, place).steps.extend(&changes, pool);
    }

    pub(super) fn level(&mut self, place: usize, changes: &[Change<Option<u64>>], pool: &mut Pool) {
        let series = grown(&mut self.levels, place);
        changes.iter().for_each(|change| series.push(change.at, change.state, pool));
    }

    pub(super) fn span(
        &mut self,
        context: ContextId,
        depth: usize,
        changes: &[Change<Option<EnteredSpan>>],
        pool: &mut Pool,
    ) {
        let row = grown(grown(&mut self.spans, context.index()), depth);
        // All spans have different numbers, so a row with numbers would have too many states.
        let unnumbered = changes.iter().map(|Change { at, state }| Change {
            at: *at,
            state: state.map(|EnteredSpan { begun_by, .. }| EnteredSpan { number: 0, begun_by }),
        });
        row.extend(&unnumbered.collect::<Vec<_>>(), pool);
    }

    /// Returns the number of changes in the rows of machines and levels at these places, and in the
    /// rows of spans.
    pub(super) fn changes(&self, places: &Places) -> u64 {
        let machines = places.machines.iter().filter_map(|place| self.machines.get(*place));
        let machines = machines.map(|part| part.states.count() + part.steps.count());
        let levels = places.levels.iter().filter_map(|place| self.levels.get(*place));
        let spans = self.spans.iter().flatten().map(SummaryRow::count);
        machines.chain(levels.map(Series::count)).chain(spans).sum()
    }

    /// Appends everything except the records to `out`, and the entries of samples to `further`.
    pub(super) fn put(&self, pool: &Pool, further: &mut Vec<u8>, out: &mut Vec<u8>) {
        let Self { recorded, machines, levels, spans, messages } = self;
        recorded.put(out);
        machines.put(out);
        levels.len().put(out);
        levels.iter().for_each(|series| series.put(out));
        spans.put(out);
        messages.put(pool, further, out);
    }

    /// Takes the parts. Returns `None` if the pool does not contain all of their records.
    pub(super) fn take(input: &mut &[u8], pool: &Pool) -> Option<Self> {
        let (recorded, machines) = (Series::take(input, pool)?, Vec::take(input)?);
        let mut levels = Vec::new();
        for _ in 0..usize::take(input)? {
            levels.push(Series::take(input, pool)?);
        }
        let (spans, messages) = (Vec::take(input)?, Sample::take(input, pool)?);
        let objects = Self { recorded, machines, levels, spans, messages };
        let Self { machines, spans, .. } = &objects;
        let are_in = machines.iter().all(|MachinePart { states, steps }: &MachinePart| {
            states.is_in(pool) && steps.is_in(pool)
        });
        let are_in = are_in && spans.iter().flatten().all(|row| row.is_in(pool));
        are_in.then_some(objects)
    }

    /// Returns the numbers of events in the parts of a range; see [`super::Summary::tracks`].
    pub(super) fn recorded(
        &self,
        range: &Range<u64>,
        resolution: u64,
        pool: &Pool,
    ) -> io::Result<Vec<Recorded>> {
        let parts = self.recorded.parts(range, resolution, &[], pool)?;
        let shown = parts
            .into_iter()
            .filter(|part| part.from.ticks <= range.end && part.last.ticks >= range.start);
        let all = shown.flat_map(|Part { from: at, digest, .. }| {
            let one = move |Share { state, ticks: count }| Recorded {
                at,
                context: ContextId(state),
                count,
            };
            digest.into_iter().map(one)
        });
        Ok(all.collect())
    }

    /// Returns a machine with its states and steps in a range. `rest` contains its name and its
    /// latest change.
    pub(super) fn machine_in(
        &self,
        rest: &MachineTrack,
        place: Option<&usize>,
        (range, resolution): (&Range<u64>, u64),
        pool: &Pool,
    ) -> io::Result<MachineTrack> {
        let none = MachinePart::default();
        let part = place.and_then(|place| self.machines.get(*place)).unwrap_or(&none);
        let row = part.states.row(range, resolution, rest.row.changes().last(), pool)?;
        let steps = part.steps.row(range, resolution, None, pool)?;
        let spans = steps.changes().iter().enumerate().filter(|(_, change)| change.state);
        let step = |(index, from): (usize, &Change<bool>)| {
            // The end of the first step after the range does not matter.
            let until = steps.changes().get(index + 1).unwrap_or(from);
            StepSpan { from: from.at, until: Some(until.at) }
        };
        let (machine, states) = (rest.machine, rest.states.clone());
        let steps = spans.map(step).collect();
        Ok(MachineTrack { machine, states, row, steps })
    }

    /// Returns a level in a range. `rest` contains its name and its latest change.
    pub(super) fn level_in(
        &self,
        rest: &LevelTrack,
        place: Option<&usize>,
        (range, resolution): (&Range<u64>, u64),
        pool: &Pool,
    ) -> io::Result<LevelTrack> {
        let none = Series::default();
        let series = place.and_then(|place| self.levels.get(*place)).unwrap_or(&none);
        let last = rest.row.changes().last().map(|change| (change.at, change.state));
        let parts = series.parts(range, resolution, last.as_slice(), pool)?;
        let LevelTrack { object, owner, counts_free, most, .. } = *rest;
        Ok(LevelTrack { object, owner, counts_free, most, row: level_row(parts) })
    }

    /// Returns the spans of a thread at one depth in a range. `rest` contains the latest change.
    pub(super) fn span_in(
        &self,
        rest: &SpanTrack,
        (range, resolution): (&Range<u64>, u64),
        pool: &Pool,
    ) -> io::Result<SpanTrack> {
        let SpanTrack { context, depth, row } = rest;
        let none = SummaryRow::default();
        let part = self.spans_of(*context, *depth).unwrap_or(&none);
        let row = part.row(range, resolution, row.changes().last(), pool)?;
        Ok(SpanTrack { context: *context, depth: *depth, row })
    }

    fn spans_of(
        &self,
        context: ContextId,
        depth: usize,
    ) -> Option<&SummaryRow<Option<EnteredSpan>>> {
        self.spans.get(context.index()).and_then(|rows| rows.get(depth))
    }

    /// Returns all spans of a thread at one depth. Spans that begin with the same type of event are
    /// one element. `rest` contains the latest change.
    pub(super) fn span_states(&self, rest: &SpanTrack) -> Vec<EnteredSpan> {
        let row = self.spans_of(rest.context, rest.depth);
        let states = row.map_or(&[][..], |row| &row.states).iter().copied();
        let last = rest.row.changes().iter().map(|change| change.state);
        states.chain(last).flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ticks: u64) -> Position {
        Position { ticks, seq: ticks }
    }

    fn shown(levels: &[(u64, Option<u64>)], resolution: u64) -> Vec<(u64, Option<u64>)> {
        let (mut series, mut pool) = (Series::default(), Pool::default());
        levels.iter().for_each(|(ticks, level)| series.push(at(*ticks), *level, &mut pool));
        let row = level_row(series.parts(&(0..10_000), resolution, &[], &pool).unwrap());
        row.changes().iter().map(|change| (change.at.ticks, change.state)).collect()
    }

    #[test]
    fn a_peak_is_shown_at_every_resolution() {
        let levels = [(10, Some(3)), (12, Some(90)), (14, Some(4)), (5000, Some(7)), (5002, None)];
        assert_eq!(shown(&levels, 0), levels);
        let coarse = [(10, Some(3)), (12, Some(90)), (14, Some(4)), (5000, Some(7)), (5002, None)];
        assert_eq!(shown(&levels, 100), coarse);
        assert_eq!(shown(&levels, 9000), [(10, Some(3)), (2506, Some(90)), (5002, None)]);
        let many: Vec<_> =
            (0..5000).map(|i| (i, Some(if i == 777 { 60 } else { i % 5 }))).collect();
        for resolution in [1, 10, 1000, 9000] {
            let shown = shown(&many, resolution);
            assert!(shown.iter().any(|(_, level)| *level == Some(60)), "{resolution}");
            assert_eq!(shown.last().unwrap().1, Some(4));
            assert!(shown.len() as u64 <= 3 * (2 * 5000 / resolution.max(1) + 2));
        }
    }
}
