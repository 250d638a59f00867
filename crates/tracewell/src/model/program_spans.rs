//! The spans of instrumented programs: units of work with a name, a beginning and an end.
//!
//! The decoder adds spans while it reads, and events look up the name of a span by its number. A
//! program may begin millions of spans, so memory is bounded. The table keeps open spans up to a
//! limit, and the most recently ended spans. A span has no name if its beginning was not recorded
//! or was lost, or if the table removed the span.

use std::collections::{HashMap, VecDeque};

use foldhash::fast::RandomState;

use super::ContextId;
use super::schema::SpanRole;

/// Maximum number of open spans. If there are more, the oldest one is removed.
const MAX_OPEN: usize = 1 << 16;

/// Maximum number of ended spans. A batch has fewer events, so a span that ends within a batch is
/// still stored when the batch's events refer to it.
const MAX_ENDED: usize = 1 << 14;

/// A process, and the number of a span in this process.
type Key = (u32, u64);

/// A span of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProgramSpan {
    /// The number of the span in its process.
    pub number: u64,
    /// The id of the event type with which it began.
    pub begun_by: u32,
    /// Ticks of its beginning.
    pub from: u64,
    /// Ticks of its end; `None` if it is open.
    pub until: Option<u64>,
}

/// The open spans of a trace, and the spans that ended most recently.
///
/// ```
/// use tracewell::model::schema::SpanRole;
/// use tracewell::model::{ContextId, ProgramSpans};
///
/// let mut spans = ProgramSpans::default();
/// let thread = ContextId(0);
/// spans.set_process(thread, 42);
/// spans.begin(thread, 7, (100, 3));
/// spans.end(thread, 7, 200);
/// assert_eq!(spans.at(thread, 7, 99), None);
/// assert_eq!(spans.at(thread, 7, 150).unwrap().begun_by, 3);
/// // The number of an ended span names this span until another span has the number.
/// assert_eq!(spans.at(thread, 7, 201).unwrap().until, Some(200));
/// ```
#[derive(Debug, Default)]
pub struct ProgramSpans {
    /// The process of each context.
    processes: Vec<u32>,
    /// The role of each event id that begins or ends spans.
    roles: Vec<Option<SpanRole>>,
    /// For each number: the spans that have this number, with their serial numbers, in order of
    /// their beginnings. Only the last span of a list can be open.
    by_number: HashMap<Key, VecDeque<(u64, ProgramSpan)>, RandomState>,
    /// The keys and serial numbers of spans, in order of their beginnings. The entries of ended
    /// spans stay until the next clean-up.
    begun: VecDeque<(Key, u64)>,
    /// The keys and serial numbers of ended spans, in order of their ends.
    ended: VecDeque<(Key, u64)>,
    /// Number of spans that have begun: the serial number of the next one. Spans of one number can
    /// begin at the same tick.
    serial: u64,
    open: usize,
    /// Number of open spans that were removed.
    removed: u64,
}

impl ProgramSpans {
    /// Sets the process of a context. Numbers of spans are unique within a process.
    pub fn set_process(&mut self, context: ContextId, process: u32) {
        let index = context.index();
        if index >= self.processes.len() {
            self.processes.resize(index + 1, 0);
        }
        self.processes[index] = process;
    }

    /// Returns the process of a context, or 0 if it is unknown.
    pub fn process(&self, context: ContextId) -> u32 {
        self.processes.get(context.index()).copied().unwrap_or(0)
    }

    /// Declares that events of this id have a role in spans.
    pub fn declare(&mut self, id: u16, role: SpanRole) {
        let index = usize::from(id);
        if index >= self.roles.len() {
            self.roles.resize(index + 1, None);
        }
        self.roles[index] = matches!(role, SpanRole::Begins | SpanRole::Ends).then_some(role);
    }

    /// Returns the role of events that begin or end spans, or `None` for all other events.
    #[inline]
    pub fn role(&self, id: u16) -> Option<SpanRole> {
        self.roles.get(usize::from(id)).copied().flatten()
    }

    /// Begins a span at a tick, with an event that has the id `begun_by`. If a span with the same
    /// number is open, ends it.
    pub fn begin(&mut self, context: ContextId, number: u64, (from, begun_by): (u64, u32)) {
        self.end(context, number, from);
        let key = (self.process(context), number);
        let span = ProgramSpan { number, begun_by, from, until: None };
        self.by_number.entry(key).or_default().push_back((self.serial, span));
        self.begun.push_back((key, self.serial));
        self.serial += 1;
        self.open += 1;
        while self.open > MAX_OPEN {
            let Some((key, serial)) = self.begun.pop_front() else { break };
            if self.is_open(key, serial) {
                self.remove(key, serial);
                self.open -= 1;
                self.removed += 1;
            }
        }
        if self.begun.len() > 2 * MAX_OPEN {
            let mut begun = std::mem::take(&mut self.begun);
            begun.retain(|(key, serial)| self.is_open(*key, *serial));
            self.begun = begun;
        }
    }

    /// Ends an open span at a tick. Does nothing if no span with this number is open.
    pub fn end(&mut self, context: ContextId, number: u64, until: u64) {
        let key = (self.process(context), number);
        let last = self.by_number.get_mut(&key).and_then(VecDeque::back_mut);
        let Some((serial, span)) = last.filter(|(_, span)| span.until.is_none()) else {
            return;
        };
        span.until = Some(until);
        self.ended.push_back((key, *serial));
        self.open -= 1;
        if self.ended.len() > MAX_ENDED
            && let Some((key, serial)) = self.ended.pop_front()
        {
            self.remove(key, serial);
        }
    }

    /// Returns the latest span with this number, in the process of a context, that began at or
    /// before a tick. Returns `None` if the table has no such span.
    pub fn at(&self, context: ContextId, number: u64, ticks: u64) -> Option<&ProgramSpan> {
        let spans = self.by_number.get(&(self.process(context), number))?;
        spans.iter().rev().map(|(_, span)| span).find(|span| span.from <= ticks)
    }

    /// Returns the number of open spans that were removed because there were too many.
    pub const fn removed(&self) -> u64 {
        self.removed
    }

    fn is_open(&self, key: Key, serial: u64) -> bool {
        let last = self.by_number.get(&key).and_then(VecDeque::back);
        last.is_some_and(|(last, span)| *last == serial && span.until.is_none())
    }

    /// Removes a span. An ended span must be the first one with its number, and an open span must
    /// be the last one.
    fn remove(&mut self, key: Key, serial: u64) {
        let Some(spans) = self.by_number.get_mut(&key) else { return };
        if let Ok(place) = spans.binary_search_by_key(&serial, |(serial, _)| *serial) {
            spans.remove(place);
        }
        if spans.is_empty() {
            self.by_number.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const THREAD: ContextId = ContextId(0);

    #[test]
    fn a_number_names_its_spans_in_turn_and_each_process_has_its_own() {
        let mut spans = ProgramSpans::default();
        let other = ContextId(5);
        spans.set_process(THREAD, 1);
        spans.set_process(other, 2);
        spans.begin(THREAD, 7, (10, 100));
        spans.begin(other, 7, (12, 200));
        spans.end(THREAD, 7, 15);
        spans.begin(THREAD, 7, (20, 101));
        let begun_by = |context, ticks| spans.at(context, 7, ticks).map(|span| span.begun_by);
        assert_eq!(
            [9, 10, 19, 20].map(|ticks| begun_by(THREAD, ticks)),
            [None, Some(100), Some(100), Some(101)]
        );
        assert_eq!([11, 99].map(|ticks| begun_by(other, ticks)), [None, Some(200)]);
    }

    #[test]
    fn a_number_that_begins_again_without_an_end_names_the_new_span() {
        let mut spans = ProgramSpans::default();
        spans.begin(THREAD, 7, (10, 100));
        spans.begin(THREAD, 7, (20, 101));
        assert_eq!(spans.at(THREAD, 7, 15).unwrap().until, Some(20));
        spans.end(THREAD, 7, 30);
        spans.end(THREAD, 7, 40);
        assert_eq!(spans.at(THREAD, 7, 50).unwrap().until, Some(30));
        assert_eq!(spans.open, 0);
    }

    #[test]
    fn memory_is_bounded_and_a_long_span_outlives_millions_of_short_ones() {
        let mut spans = ProgramSpans::default();
        spans.begin(THREAD, 1, (0, 9));
        for number in 2..600_000 {
            spans.begin(THREAD, number, (number, 3));
            spans.end(THREAD, number, number);
        }
        assert_eq!(spans.at(THREAD, 1, 700_000).unwrap().begun_by, 9);
        assert!(spans.at(THREAD, 599_999, 700_000).is_some());
        assert!(spans.at(THREAD, 2, 700_000).is_none());
        assert_eq!(spans.by_number.len(), MAX_ENDED + 1);
        assert!(spans.begun.len() <= 2 * MAX_OPEN && spans.removed() == 0);
        // Begin spans that never end, as if their ends were lost.
        for number in 1_000_000..1_000_000 + MAX_OPEN as u64 {
            spans.begin(THREAD, number, (number, 3));
        }
        assert_eq!((spans.open, spans.removed()), (MAX_OPEN, 1));
        assert!(spans.at(THREAD, 1, 2_000_000).is_none());
    }

    #[test]
    fn a_number_that_begins_many_times_in_a_tick_has_one_open_span() {
        let mut spans = ProgramSpans::default();
        for begun_by in 0..=2 * MAX_OPEN as u32 {
            spans.begin(THREAD, 7, (0, begun_by));
        }
        assert_eq!((spans.open, spans.begun.len(), spans.ended.len()), (1, 1, MAX_ENDED));
        assert_eq!(spans.by_number[&(0, 7)].len(), MAX_ENDED + 1);
        assert_eq!(spans.at(THREAD, 7, 0).unwrap().begun_by, 2 * MAX_OPEN as u32);
    }

    #[test]
    fn an_ended_span_is_not_removed_for_an_open_one_of_the_same_tick() {
        let mut spans = ProgramSpans::default();
        spans.begin(THREAD, 1, (0, 100));
        spans.end(THREAD, 1, 0);
        spans.begin(THREAD, 1, (0, 101));
        let others = 2..MAX_OPEN as u64 + 3;
        others.clone().for_each(|number| spans.begin(THREAD, number, (0, 3)));
        // The table has removed the open spans 1 and 2.
        assert_eq!((spans.open, spans.removed()), (MAX_OPEN, 2));
        assert_eq!(spans.at(THREAD, 1, 0).unwrap().begun_by, 100);
        others.for_each(|number| spans.end(THREAD, number, 1));
        assert_eq!(spans.open, 0);
    }
}
