//! The spans of instrumented programs: units of work with a name, a beginning and an end.
//!
//! Programs identify their spans by ids of up to 64 bits, which are unique among the open spans of
//! a process. This table gives the spans the numbers 1, 2, 3 and so on, in the order in which they
//! first occur in a trace. So people can read and type the numbers, and every JSON reader
//! represents them exactly. The decoder adds spans and replaces the ids in events by numbers.
//! [`Event::span_name`](super::Event::span_name) finds the name of a span by its number.
//!
//! A program may begin millions of spans, so memory is bounded. The table keeps open spans up to a
//! limit, and the most recently ended spans. A span has no name if its beginning was not recorded
//! or was lost, or if the table removed the span.

use std::collections::{HashMap, VecDeque};

use foldhash::fast::RandomState;

use super::ContextId;
use super::schema::SpanRole;

/// Maximum number of open spans. If there are more, the oldest one is removed. This limit is higher
/// than the limit of `analysis::spans`, which identifies open spans by their numbers.
const MAX_OPEN: usize = 1 << 17;

/// Maximum number of ended spans. The limit exceeds the number of events in a batch, so spans that
/// end within a batch are still known to all events of the batch.
const MAX_ENDED: usize = 1 << 14;

/// A process, and the id of a span in this process.
type Key = (u32, u64);

/// A span of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProgramSpan {
    /// The number of the span in the trace, from 1.
    pub number: u64,
    /// The id of the event type with which it began; `None` if the trace does not contain its
    /// beginning.
    pub begun_by: Option<u32>,
    /// Number of the span that had the same id and was still open when this span began. The end of
    /// that span is missing.
    pub replaces: Option<u64>,
    key: Key,
    is_open: bool,
}

/// The open spans of a trace, and the spans that ended most recently.
///
/// ```
/// use tracewell::model::{ContextId, ProgramSpans};
///
/// let mut spans = ProgramSpans::default();
/// let (thread, id) = (ContextId(0), 0x40_0000_0001);
/// spans.set_process(thread, 42);
/// assert_eq!(spans.begin(thread, id, 3), 1);
/// assert_eq!(spans.number(thread, id), 1);
/// spans.end(thread, id);
/// // The id of an ended span refers to this span until another span has the id.
/// assert_eq!(spans.number(thread, id), 1);
/// assert_eq!(spans.begin(thread, id, 4), 2);
/// assert_eq!(spans.get(1).unwrap().begun_by, Some(3));
/// ```
#[derive(Debug, Default)]
pub struct ProgramSpans {
    /// The process of each context.
    processes: Vec<u32>,
    /// The role of each event id that refers to spans.
    roles: Vec<Option<SpanRole>>,
    /// The number of the latest span with each key.
    numbers: HashMap<Key, u64, RandomState>,
    spans: HashMap<u64, ProgramSpan, RandomState>,
    /// Numbers of spans in increasing order. Numbers of ended spans stay until the next clean-up.
    begun: VecDeque<u64>,
    /// Numbers of ended spans, in order of their ends.
    ended: VecDeque<u64>,
    /// The largest span number used so far.
    last: u64,
    open: usize,
    /// Number of open spans that were removed.
    removed: u64,
}

impl ProgramSpans {
    /// Sets the process of a context. Ids of spans are unique within a process.
    pub fn set_process(&mut self, context: ContextId, process: u32) {
        let index = context.index();
        if index >= self.processes.len() {
            self.processes.resize(index + 1, 0);
        }
        self.processes[index] = process;
    }

    /// Declares that events of this id have a role in spans.
    pub fn declare(&mut self, id: u16, role: SpanRole) {
        let index = usize::from(id);
        if index >= self.roles.len() {
            self.roles.resize(index + 1, None);
        }
        self.roles[index] = Some(role);
    }

    /// Returns the role of events in spans, or `None` for events that refer to no span.
    #[inline]
    pub fn role(&self, id: u16) -> Option<SpanRole> {
        self.roles.get(usize::from(id)).copied().flatten()
    }

    /// Returns true if some event ids have roles in spans.
    pub fn are_recorded(&self) -> bool {
        !self.roles.is_empty()
    }

    /// Begins a span with an event of the type `begun_by`. If a span with the same id is open, ends
    /// it. Returns the number of the new span.
    pub fn begin(&mut self, context: ContextId, id: u64, begun_by: u32) -> u64 {
        let key = self.key(context, id);
        self.add(key, Some(begun_by))
    }

    /// Ends an open span. Returns its number.
    pub fn end(&mut self, context: ContextId, id: u64) -> u64 {
        let number = self.number(context, id);
        self.end_number(number);
        number
    }

    /// Returns the number of a span. If the table has no span with this id, adds a span without a
    /// beginning.
    pub fn number(&mut self, context: ContextId, id: u64) -> u64 {
        let key = self.key(context, id);
        match self.numbers.get(&key) {
            Some(number) => *number,
            None => self.add(key, None),
        }
    }

    /// Returns the span that has this number, or `None` if the table removed it.
    pub fn get(&self, number: u64) -> Option<&ProgramSpan> {
        self.spans.get(&number)
    }

    /// Returns the number of open spans that were removed because there were too many.
    pub const fn removed(&self) -> u64 {
        self.removed
    }

    fn key(&self, context: ContextId, id: u64) -> Key {
        (self.processes.get(context.index()).copied().unwrap_or(0), id)
    }

    fn add(&mut self, key: Key, begun_by: Option<u32>) -> u64 {
        self.last += 1;
        let number = self.last;
        let earlier = self.numbers.insert(key, number);
        // An open span with this id ended without an event, since ids of open spans are unique.
        let replaces = earlier.filter(|earlier| self.end_number(*earlier));
        let span = ProgramSpan { number, begun_by, replaces, key, is_open: true };
        self.spans.insert(number, span);
        self.begun.push_back(number);
        self.open += 1;
        // `begun` also contains spans that have ended. They are skipped.
        while self.open > MAX_OPEN {
            let Some(oldest) = self.begun.pop_front() else { break };
            if self.is_open(oldest) {
                self.remove(oldest);
                self.open -= 1;
                self.removed += 1;
            }
        }
        // The loop above removes nothing while few spans are open, so the numbers of ended spans
        // collect in `begun`. Remove these numbers.
        if self.begun.len() > 2 * MAX_OPEN {
            let mut begun = std::mem::take(&mut self.begun);
            begun.retain(|number| self.is_open(*number));
            self.begun = begun;
        }
        number
    }

    /// Returns true if the span was open.
    fn end_number(&mut self, number: u64) -> bool {
        let span = self.spans.get_mut(&number);
        let Some(span) = span.filter(|span| span.is_open) else { return false };
        span.is_open = false;
        self.ended.push_back(number);
        self.open -= 1;
        if self.ended.len() > MAX_ENDED
            && let Some(oldest) = self.ended.pop_front()
        {
            self.remove(oldest);
        }
        true
    }

    fn is_open(&self, number: u64) -> bool {
        self.spans.get(&number).is_some_and(|span| span.is_open)
    }

    fn remove(&mut self, number: u64) {
        let Some(span) = self.spans.remove(&number) else { return };
        // A later span can have the same id.
        if self.numbers.get(&span.key) == Some(&number) {
            self.numbers.remove(&span.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const THREAD: ContextId = ContextId(0);

    fn begun_by(spans: &ProgramSpans, number: u64) -> Option<u32> {
        spans.get(number).unwrap().begun_by
    }

    #[test]
    fn spans_are_numbered_in_order_and_each_process_has_its_own_ids() {
        let mut spans = ProgramSpans::default();
        let (other, large) = (ContextId(5), 1_612_288_941_476_544_514);
        spans.set_process(THREAD, 1);
        spans.set_process(other, 2);
        assert_eq!(spans.begin(THREAD, large, 100), 1);
        assert_eq!(spans.begin(other, large, 200), 2);
        assert_eq!((spans.number(THREAD, large), spans.number(other, large)), (1, 2));
        assert_eq!(spans.end(THREAD, large), 1);
        assert_eq!(spans.begin(THREAD, large, 101), 3);
        assert_eq!([1, 2, 3].map(|number| begun_by(&spans, number)), [100, 200, 101].map(Some));
        assert_eq!(spans.get(3).unwrap().replaces, None);
        // A span without a recorded beginning has a number, but no name.
        assert_eq!((spans.number(other, 9), spans.number(other, 9)), (4, 4));
        assert_eq!(begun_by(&spans, 4), None);
    }

    #[test]
    fn an_id_that_begins_again_without_an_end_refers_to_the_new_span() {
        let mut spans = ProgramSpans::default();
        spans.begin(THREAD, 7, 100);
        assert_eq!(spans.begin(THREAD, 7, 101), 2);
        assert_eq!(spans.get(2).unwrap().replaces, Some(1));
        assert_eq!((spans.end(THREAD, 7), spans.end(THREAD, 7), spans.open), (2, 2, 0));
    }

    #[test]
    fn memory_is_bounded_and_a_long_span_outlives_millions_of_short_ones() {
        let mut spans = ProgramSpans::default();
        spans.begin(THREAD, 1, 9);
        for id in 2..600_000 {
            spans.begin(THREAD, id, 3);
            spans.end(THREAD, id);
        }
        assert_eq!((begun_by(&spans, 1), begun_by(&spans, 599_999)), (Some(9), Some(3)));
        assert!(spans.get(2).is_none());
        assert_eq!((spans.spans.len(), spans.numbers.len()), (MAX_ENDED + 1, MAX_ENDED + 1));
        assert!(spans.begun.len() <= 2 * MAX_OPEN && spans.removed() == 0);
        // These spans never end, as if their ends were lost.
        for id in 1_000_000..1_000_000 + MAX_OPEN as u64 {
            spans.number(THREAD, id);
        }
        assert_eq!((spans.open, spans.removed()), (MAX_OPEN, 1));
        assert!(spans.get(1).is_none());
    }

    #[test]
    fn an_id_that_begins_many_times_has_one_open_span() {
        let mut spans = ProgramSpans::default();
        for begun_by in 0..=2 * MAX_OPEN as u32 {
            spans.begin(THREAD, 7, begun_by);
        }
        assert_eq!((spans.open, spans.begun.len(), spans.ended.len()), (1, 1, MAX_ENDED));
        assert_eq!((spans.spans.len(), spans.numbers.len()), (MAX_ENDED + 1, 1));
        let last = spans.number(THREAD, 7);
        assert_eq!(begun_by(&spans, last), Some(2 * MAX_OPEN as u32));
    }

    #[test]
    fn an_ended_span_is_not_removed_for_an_open_one_with_the_same_id() {
        let mut spans = ProgramSpans::default();
        spans.begin(THREAD, 1, 100);
        spans.end(THREAD, 1);
        spans.begin(THREAD, 1, 101);
        let others = 2..MAX_OPEN as u64 + 3;
        for id in others.clone() {
            spans.begin(THREAD, id, 3);
        }
        // The table has removed the open spans with the ids 1 and 2.
        assert_eq!((spans.open, spans.removed()), (MAX_OPEN, 2));
        assert_eq!((begun_by(&spans, 1), spans.get(2)), (Some(100), None));
        for id in others {
            spans.end(THREAD, id);
        }
        assert_eq!(spans.open, 0);
    }
}
