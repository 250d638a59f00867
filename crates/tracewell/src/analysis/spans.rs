//! Figures of the spans of instrumented programs: for each name, the number of spans, their
//! durations, and the times in which threads were inside.
//!
//! The time from the beginning of a span to its end is its duration. A span is busy while at least
//! one thread is inside, and idle in the rest of its duration. A span is included in the
//! figures of times only after it has ended.
//!
//! Memory is bounded: there are at most `MAX_NAMES` names and `MAX_OPEN` open spans. Three kinds of
//! spans are counted but have no durations: spans beyond these limits, spans whose beginning is
//! missing, and spans that were open when events were lost.

use std::collections::{HashMap, HashSet};

use foldhash::fast::RandomState;

use super::{Distribution, Position, Range};
use crate::analysis::total::Total;
use crate::model::schema::SpanRole;
use crate::model::{Batch, Event, Flow, Loss, Sink, Trace};

/// Maximum number of different spans with a row of their own.
const MAX_NAMES: usize = 1 << 12;

/// Maximum number of spans in `Spans::open` and `Spans::cut` together.
const MAX_OPEN: usize = 1 << 16;

/// The spans of one call site.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SpanFigures {
    /// The name of the spans.
    pub name: String,
    /// The part of the program that begins these spans.
    pub target: String,
    /// Number of spans that began.
    pub begun: u64,
    /// Number of spans that had not ended at the end of the trace.
    pub open: u64,
    /// Number of spans without a duration, because events are missing or too many spans were open.
    pub cut: u64,
    /// Durations of the spans from beginning to end, in ticks.
    pub duration: Range,
    /// Busy times of the spans, in ticks: the parts of the durations in which at least one thread
    /// was in the span.
    pub busy: Range,
    /// The distribution of the durations, if requested.
    pub distribution: Option<Distribution>,
}

impl SpanFigures {
    /// Returns the ticks of the spans' idle parts, in which no thread was in the span.
    pub fn idle(&self) -> u64 {
        self.duration.sum().saturating_sub(self.busy.sum())
    }
}

/// The figures of all spans.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AllSpans {
    /// The spans of each call site, the longest total duration first.
    pub names: Vec<SpanFigures>,
    /// Number of span ends whose beginnings are not in the trace. While spans that exceed a limit
    /// are open, each end without a known beginning is attributed to one of these spans, and is not
    /// counted here.
    pub unknown: u64,
    /// Number of spans that exceed a limit. A span has no row if there are too many names, and no
    /// times if too many spans are open.
    pub more: u64,
}

/// An open span.
#[derive(Clone, Copy, Debug)]
struct Open {
    row: usize,
    from: u64,
    /// Number of entries into the span that have not been followed by an exit, and the tick of the
    /// first of these entries.
    entered: u64,
    since: u64,
    busy: u64,
}

/// A sink that measures spans. [`Spans::figures`] returns the results.
///
/// ```
/// use tracewell::analysis::spans::Spans;
/// use tracewell::input::{Input, Settings};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/threadx/tiny.trx").as_ref();
/// let mut spans = Spans::default();
/// Input::open(path, Settings::default())?.read(&mut spans)?;
/// // Kernels do not record spans.
/// assert!(spans.figures().names.is_empty());
/// # Ok::<(), tracewell::input::InputError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Spans {
    rows: Vec<SpanFigures>,
    /// The row of each event id that begins spans; `None` if there are too many rows.
    row_of: HashMap<u32, Option<usize>, RandomState>,
    open: HashMap<u64, Open, RandomState>,
    /// The spans that were open when events were lost. `SpanFigures::cut` counts them already.
    cut: HashSet<u64, RandomState>,
    unknown: u64,
    more: u64,
    /// Number of spans that exceeded a limit and have not ended.
    more_open: u64,
    wants_distributions: bool,
    wants_places: bool,
}

impl Sink for Spans {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        // Only event types that belong to call sites begin spans.
        if !trace.schema.has_call_sites() {
            return Flow::Continue(());
        }
        for row in batch.events() {
            let event = Event::new(trace, &row);
            let Some(role) = event.kind().instrumentation.span else { continue };
            if let Some(number) = event.argument(0) {
                self.take(role, number, event);
            }
        }
        Flow::Continue(())
    }

    fn loss(&mut self, _: &Trace, _: &Loss) -> Flow {
        // The missing events may include the end of a span, or an entry into it.
        for (number, open) in std::mem::take(&mut self.open) {
            self.rows[open.row].cut += 1;
            self.cut.insert(number);
        }
        Flow::Continue(())
    }
}

impl Spans {
    /// Also collects the durations of spans as distributions.
    #[must_use]
    pub fn with_distributions(self) -> Self {
        Self { wants_distributions: true, ..self }
    }

    /// Also stores where the longest durations of each bucket ended.
    #[must_use]
    pub fn with_places(self) -> Self {
        Self { wants_places: true, ..self }
    }

    fn take(&mut self, role: SpanRole, number: u64, event: Event<'_>) {
        let ticks = event.ticks();
        match role {
            SpanRole::Begins => self.begin(number, event),
            SpanRole::Enters => {
                if let Some(open) = self.open.get_mut(&number) {
                    // Only the first thread inside begins a busy time.
                    open.since = if open.entered == 0 { ticks } else { open.since };
                    open.entered += 1;
                }
            }
            SpanRole::Leaves => {
                // The entry of a thread may be missing after a loss.
                if let Some(open) = self.open.get_mut(&number).filter(|open| open.entered > 0) {
                    open.entered -= 1;
                    if open.entered == 0 {
                        open.busy.charge(ticks.saturating_sub(open.since));
                    }
                }
            }
            SpanRole::Ends => match self.open.remove(&number) {
                Some(open) => {
                    let row = &mut self.rows[open.row];
                    let duration = ticks.saturating_sub(open.from);
                    row.duration.add(duration);
                    if self.wants_distributions {
                        let at = Position { ticks, seq: event.seq() };
                        let empty = match self.wants_places {
                            true => Distribution::with_places,
                            false => Distribution::default,
                        };
                        row.distribution.get_or_insert_with(empty).add(duration, at);
                    }
                    // A span can end while threads are inside. Their busy time ends here.
                    let last = if open.entered > 0 { ticks.saturating_sub(open.since) } else { 0 };
                    row.busy.add(open.busy.saturating_add(last));
                }
                // `SpanFigures::cut` already counts this span.
                None if self.cut.remove(&number) => {}
                // This is probably a span that began when too many were open.
                None if self.more_open > 0 => self.more_open -= 1,
                None => self.unknown += 1,
            },
            SpanRole::Inside | SpanRole::Records => {}
        }
    }

    fn begin(&mut self, number: u64, event: Event<'_>) {
        let span = event.trace.program_spans.get(number);
        // The end of the earlier span with the same id is missing.
        if let Some(earlier) = span.and_then(|span| span.replaces) {
            self.cut.remove(&earlier);
            if let Some(earlier) = self.open.remove(&earlier) {
                self.rows[earlier.row].cut += 1;
            }
        }
        let rows = &mut self.rows;
        let row = *self.row_of.entry(event.id()).or_insert_with(|| row(rows, event));
        let Some(row) = row else {
            self.more += 1;
            self.more_open += 1;
            return;
        };
        self.rows[row].begun += 1;
        let from = event.ticks();
        if self.open.len() + self.cut.len() >= MAX_OPEN {
            // The ends of the spans in this set may be lost, so make room for others.
            self.cut.clear();
        }
        if self.open.len() >= MAX_OPEN {
            self.more += 1;
            self.more_open += 1;
            self.rows[row].cut += 1;
            return;
        }
        self.open.insert(number, Open { row, from, entered: 0, since: from, busy: 0 });
    }

    /// Begins the range of the figures: forgets all figures so far. Spans that are open stay open
    /// and count as begun.
    pub fn begin_range(&mut self) {
        for row in &mut self.rows {
            *row = SpanFigures {
                name: std::mem::take(&mut row.name),
                target: std::mem::take(&mut row.target),
                ..SpanFigures::default()
            };
        }
        (self.unknown, self.more) = (0, 0);
        for open in self.open.values() {
            self.rows[open.row].begun += 1;
        }
    }

    /// Returns the figures after all events.
    pub fn figures(mut self) -> AllSpans {
        for open in self.open.values() {
            self.rows[open.row].open += 1;
        }
        self.rows.retain(|row| row.begun > 0);
        self.rows.sort_by_key(|row| std::cmp::Reverse(row.duration.sum()));
        AllSpans { names: self.rows, unknown: self.unknown, more: self.more }
    }
}

/// Returns the row of the event's call site. A call site has several event ids if the kinds of its
/// values differ from event to event.
fn row(rows: &mut Vec<SpanFigures>, event: Event<'_>) -> Option<usize> {
    let site = event.kind().instrumentation.site.as_ref()?;
    let is_same = |row: &SpanFigures| row.name == site.name && row.target == site.target;
    if let Some(known) = rows.iter().position(is_same) {
        return Some(known);
    }
    if rows.len() >= MAX_NAMES {
        return None;
    }
    let (name, target) = (site.name.clone(), site.target.clone());
    rows.push(SpanFigures { name, target, ..SpanFigures::default() });
    Some(rows.len() - 1)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::model::schema::{CallSite, Details, EventType, Instrumentation, Level, Schema};
    use crate::model::{Clock, ContextId, EventRef, LossCause, PayloadLayout, Priority};

    const MAX: u64 = MAX_OPEN as u64;

    /// The figures of spans, and a trace in which the event with id `n` begins spans named `n`.
    struct Spanned {
        trace: Trace,
        spans: Spans,
    }

    impl Spanned {
        fn new(names: u32) -> Self {
            let mut schema = Schema::empty();
            let types = Arc::make_mut(&mut schema);
            for id in 0..names {
                let name = id.to_string();
                let target = String::new();
                let site = CallSite { level: Level::Info, target, name, forwarded: None };
                types.define(EventType {
                    id,
                    name: id.to_string(),
                    label: String::new(),
                    family: String::new(),
                    filter: 0,
                    args: Vec::new(),
                    means: None,
                    details: Details::default(),
                    instrumentation: Instrumentation { site: Some(site), ..Default::default() },
                });
            }
            let payload = PayloadLayout::Fields(&[]);
            let trace = Trace::new("native", schema, payload, Clock::of_64_bits(None));
            Self { trace, spans: Spans::default() }
        }

        fn take(&mut self, role: SpanRole, id: u32, span: u64) {
            self.take_at(span, role, id, span);
        }

        /// Handles an event of a span whose id in the program is `span`.
        fn take_at(&mut self, ticks: u64, role: SpanRole, id: u32, span: u64) {
            let spans = &mut self.trace.program_spans;
            let number = match role {
                SpanRole::Begins => spans.begin(ContextId(0), span, id),
                SpanRole::Ends => spans.end(ContextId(0), span),
                _ => spans.number(ContextId(0), span),
            };
            let row = EventRef {
                seq: 0,
                ticks,
                cpu: 0,
                context: ContextId(0),
                id,
                priority: Priority::NONE,
                payload: &[],
                record: &[],
            };
            self.spans.take(role, number, Event::new(&self.trace, &row));
        }

        fn begin(&mut self, numbers: std::ops::Range<u64>) {
            numbers.for_each(|number| self.take(SpanRole::Begins, 0, number));
        }

        fn end(&mut self, numbers: std::ops::Range<u64>) {
            numbers.for_each(|number| self.take(SpanRole::Ends, 0, number));
        }

        fn lose(&mut self) {
            let loss = Loss { before: 1, events: None, cause: LossCause::BufferFull, offset: 0 };
            assert!(self.spans.loss(&self.trace, &loss).is_continue());
        }
    }

    #[test]
    fn a_span_is_busy_from_its_first_entry_to_its_last_leaving_or_its_end() {
        use SpanRole::{Begins, Ends, Enters, Leaves};
        let mut spanned = Spanned::new(1);
        // The span is busy from 12 to 25, with two threads inside, and from 30 to its end at 34.
        for (ticks, role) in [
            (10, Begins),
            (12, Enters),
            (15, Enters),
            (20, Leaves),
            (25, Leaves),
            (30, Enters),
            (34, Ends),
        ] {
            spanned.take_at(ticks, role, 0, 7);
        }
        // This span is never busy.
        spanned.take_at(40, Begins, 0, 8);
        spanned.take_at(50, Ends, 0, 8);
        let figures = spanned.spans.figures();
        let row = &figures.names[0];
        assert_eq!((row.duration.min, row.duration.max), (10, 24));
        assert_eq!((row.busy.min, row.busy.max), (0, 17));
        assert_eq!(row.idle(), 7 + 10);
    }

    #[test]
    fn a_span_beyond_a_limit_counts_once() {
        let mut many_open = Spanned::new(1);
        many_open.begin(0..MAX + 2);
        many_open.end(0..MAX + 3);
        let figures = many_open.spans.figures();
        assert_eq!((figures.more, figures.unknown), (2, 1));
        let row = &figures.names[0];
        assert_eq!((row.begun, row.cut, row.duration.count), (MAX + 2, 2, MAX));

        let mut many_names = Spanned::new(MAX_NAMES as u32 + 1);
        for id in 0..=MAX_NAMES as u32 {
            many_names.take(SpanRole::Begins, id, u64::from(id));
        }
        many_names.end(0..MAX_NAMES as u64 + 2);
        let figures = many_names.spans.figures();
        assert_eq!((figures.more, figures.unknown, figures.names.len()), (1, 1, MAX_NAMES));
    }

    #[test]
    fn a_loss_cuts_each_open_span_once_and_leaves_no_span_to_search() {
        let mut spanned = Spanned::new(1);
        spanned.begin(0..MAX);
        spanned.lose();
        assert!(spanned.spans.open.is_empty());
        spanned.lose();
        // One cut span ends. The others do not end: new spans replace them.
        spanned.end(0..1);
        spanned.begin(MAX..2 * MAX);
        assert_eq!((spanned.spans.open.len(), spanned.spans.cut.len()), (MAX_OPEN, 0));
        spanned.end(MAX..2 * MAX);
        let figures = spanned.spans.figures();
        let row = &figures.names[0];
        assert_eq!((row.begun, row.cut, row.duration.count), (2 * MAX, MAX, MAX));
        assert_eq!((figures.more, figures.unknown), (0, 0));
    }

    #[test]
    fn a_number_that_begins_again_beyond_the_limit_of_names_cuts_the_earlier_span() {
        let mut spanned = Spanned::new(MAX_NAMES as u32 + 1);
        for id in 0..=MAX_NAMES as u32 {
            spanned.take(SpanRole::Begins, id, 7);
        }
        spanned.end(7..8);
        let figures = spanned.spans.figures();
        assert!(figures.names.iter().all(|row| (row.cut, row.duration.count) == (1, 0)));
        assert_eq!((figures.more, figures.unknown), (1, 0));
    }
}
