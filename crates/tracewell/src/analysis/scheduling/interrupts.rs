//! Measures the time in interrupts. A bracket is the time between the entry into an interrupt
//! handler and the exit from this handler. The total is the time in the outermost brackets. The
//! time of an interrupt source excludes the interrupts that are nested in its brackets.
//!
//! For windows of given lengths ([`WINDOWS`]), this module finds the maximum time in interrupts.
//! This is the longest time for which interrupts can delay a task in such a window.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::moments::Position;
use super::per::PerCore;
use super::step::Step;
use super::subject::Subject;
use super::windows::{WINDOWS, Windows};
use crate::analysis::Range;
use crate::analysis::key_slots::KeySlots;
use crate::analysis::measured::{Distributions, Measure};
use crate::analysis::total::{Total, total};
use crate::model::{Meaning, Trace};

/// Maximum nesting of interrupts. Deeper brackets are charged to the bracket that encloses them.
/// Only damaged traces nest deeper.
const MAX_DEPTH: usize = 64;

/// Time spent in interrupts.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Interrupts {
    /// Number of outermost brackets that began and ended in the trace.
    pub brackets: u64,
    /// Ticks in the outermost brackets, also in those that did not end.
    pub ticks: u64,
    /// Nanoseconds in these brackets; 0 if the clock's rate is unknown.
    pub nanoseconds: u64,
    /// For each window length in [`WINDOWS`], the maximum time in interrupts within such a window,
    /// in nanoseconds; `None` if the trace is shorter or the clock's rate is unknown.
    pub most_within: [Option<u64>; WINDOWS.len()],
    /// Ticks at which the first window with this maximum ends.
    pub most_within_until: [u64; WINDOWS.len()],
    /// The figures of each source, sorted by the number of the source. The source without a number
    /// comes first.
    pub sources: Vec<InterruptSource>,
}

/// Interrupts of one source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InterruptSource {
    /// Recorded number of the interrupt; `None` for the timer's interrupt, which has none.
    pub number: Option<u64>,
    /// Number of interrupts whose beginning and end are both in the trace.
    pub count: u64,
    /// Ticks in the interrupts of this source, excluding nested interrupts. This includes the time
    /// in interrupts that did not end.
    pub ticks: u64,
    /// Sum of the durations of the `count` interrupts, in ticks.
    pub ended_ticks: u64,
    /// Duration of the shortest interrupt, in ticks.
    pub min_ticks: u64,
    /// Duration of the longest interrupt, in ticks.
    pub max_ticks: u64,
    /// Time from the beginning of an interrupt to the beginning of the next one, in ticks.
    pub arrival_gap: Range,
    /// Like [`Interrupts::most_within`], but only for this source and excluding nested interrupts.
    pub most_within: [Option<u64>; WINDOWS.len()],
}

impl InterruptSource {
    /// Returns the mean duration in ticks, rounded down.
    pub fn mean_ticks(&self) -> u64 {
        self.ended_ticks.checked_div(self.count).unwrap_or(0)
    }
}

/// A bracket that has not ended.
#[derive(Clone, Debug)]
struct Bracket {
    /// Index of the source in `Brackets::sources`.
    source: usize,
    start: u64,
    /// Ticks of nested brackets.
    nested: u64,
    /// Tick at which the bracket began, or at which its last nested bracket ended.
    since: u64,
    /// Number of the bracket's ticks that lie before the range of the figures. This number includes
    /// nested brackets, and `net_before` excludes them.
    before: u64,
    net_before: u64,
}

/// The state of a source.
#[derive(Clone, Debug)]
struct Source {
    figures: InterruptSource,
    last_start: Option<u64>,
    windows: Windows,
}

/// Follows the brackets of all interrupts.
#[derive(Clone, Debug, Default)]
pub(super) struct Brackets {
    /// Open brackets per core, the outermost first.
    open: PerCore<Vec<Bracket>>,
    figures: Interrupts,
    /// The sources, in the order of their first interrupts.
    sources: Vec<Source>,
    slots: KeySlots<Option<u64>, usize>,
    by_number: HashMap<Option<u64>, usize, RandomState>,
    windows: Windows,
    unmatched: u64,
    /// The first tick of the range of the figures.
    from: u64,
    distributions: Distributions<Subject>,
}

impl Brackets {
    pub(super) fn distributions(&mut self) -> &mut Distributions<Subject> {
        &mut self.distributions
    }

    /// Begins a range at `from`: forgets the figures and keeps the open brackets.
    pub(super) fn restart(&mut self, from: u64) {
        for open in self.open.all() {
            let mut nested = 0;
            for bracket in open.iter_mut().rev() {
                bracket.before = from.saturating_sub(bracket.start);
                bracket.net_before = bracket.before.saturating_sub(total([bracket.nested, nested]));
                bracket.since = bracket.since.max(from);
                nested = bracket.before;
            }
        }
        for source in &mut self.sources {
            let last_start = source.last_start;
            *source = Source { last_start, ..Source::new(source.figures.number) };
        }
        (self.figures, self.windows) = Default::default();
        (self.unmatched, self.from) = (0, from);
    }

    /// Charges the open brackets of all cores up to `until`, and closes them.
    pub(super) fn close_all(&mut self, trace: &Trace, until: u64) {
        for cpu in (0..=u16::MAX).take(self.open.len()) {
            self.close(trace, cpu, until);
        }
    }

    /// Charges the open brackets of a core up to `until`, and closes them. The trace does not show
    /// their ends, so they are not counted, and their durations are unknown. Returns their number.
    #[inline]
    pub(super) fn close(&mut self, trace: &Trace, cpu: u16, until: u64) -> u64 {
        match self.open.get_mut(cpu) {
            Some(open) if !open.is_empty() => {
                let open = std::mem::take(open);
                self.charge_open(trace, &open, until);
                open.len() as u64
            }
            _ => 0,
        }
    }

    #[cold]
    #[inline(never)]
    fn charge_open(&mut self, trace: &Trace, open: &[Bracket], until: u64) {
        let end = Instant::of(trace, until);
        if let Some(innermost) = open.last() {
            let since = Instant::of(trace, innermost.since);
            add(&mut self.sources[innermost.source].windows, since, end);
        }
        let mut nested = 0;
        for bracket in open.iter().rev() {
            let whole = until.saturating_sub(bracket.start);
            let net = whole.saturating_sub(total([bracket.nested, nested, bracket.net_before]));
            self.sources[bracket.source].figures.ticks.charge(net);
            nested = whole;
        }
        if let Some(outermost) = open.first() {
            self.charge(self.start(trace, outermost.start), outermost.before, end);
        }
    }

    /// Handles an event that shows that a core serves no interrupt any more. If brackets are open,
    /// the events of their ends are missing.
    #[inline]
    pub(super) fn leave(&mut self, trace: &Trace, cpu: u16, at: u64) {
        self.unmatched += self.close(trace, cpu, at);
    }

    /// Charges an outermost bracket. `before` is the part of the bracket's ticks before the range.
    fn charge(&mut self, start: Instant, before: u64, end: Instant) {
        self.figures.ticks.charge(end.ticks.saturating_sub(start.ticks).saturating_sub(before));
        let ended = end.nanoseconds.unwrap_or(0);
        let spent = ended.saturating_sub(start.nanoseconds.unwrap_or(0));
        self.figures.nanoseconds.charge(spent);
        add(&mut self.windows, start, end);
    }

    pub(super) fn take(&mut self, trace: &Trace, step: &Step) {
        match step.meaning {
            Some(Meaning::InterruptEnter) => self.enter(trace, step),
            Some(Meaning::InterruptExit) => self.exit(trace, step),
            _ => {}
        }
    }

    fn enter(&mut self, trace: &Trace, step: &Step) {
        // The net time of the outer interrupt excludes the nested one.
        self.pause(trace, step);
        let source = self.source(step.value);
        let row = &mut self.sources[source];
        if let Some(last) = row.last_start.replace(step.ticks) {
            let gap = step.ticks.saturating_sub(last);
            row.figures.arrival_gap.add(gap);
            let (subject, at) = (Subject::Interrupt(step.value), Position::of(step));
            self.distributions.add(Measure::InterruptGap, subject, gap, at);
        }
        // A bracket that is nested too deeply is not opened, so its exit ends an enclosing bracket.
        let open = self.open.at(step.cpu);
        if open.len() < MAX_DEPTH {
            let (start, before, net_before) = (step.ticks, 0, 0);
            open.push(Bracket { source, start, nested: 0, since: start, before, net_before });
        }
    }

    /// Suspends the innermost bracket of the core, and charges the bracket's time so far to the
    /// bracket's source.
    #[inline]
    fn pause(&mut self, trace: &Trace, step: &Step) {
        let Some(bracket) = self.open.at(step.cpu).last_mut() else { return };
        let since = std::mem::replace(&mut bracket.since, step.ticks);
        let at = |ticks| Instant::of(trace, ticks);
        add(&mut self.sources[bracket.source].windows, at(since), at(step.ticks));
    }

    /// Returns the beginning of an outermost bracket. If the bracket began before the range,
    /// `nanoseconds` is the time at which the range begins.
    fn start(&self, trace: &Trace, ticks: u64) -> Instant {
        let start = ticks.max(self.from);
        Instant { ticks, nanoseconds: trace.clock.nanoseconds(start) }
    }

    fn exit(&mut self, trace: &Trace, step: &Step) {
        let Some(bracket) = self.open.at(step.cpu).pop() else {
            self.unmatched += 1;
            return;
        };
        let end = Instant::of(trace, step.ticks);
        let ticks = step.ticks.saturating_sub(bracket.start);
        let net = ticks.saturating_sub(bracket.nested);
        let since = Instant::of(trace, bracket.since);
        let source = &mut self.sources[bracket.source];
        add(&mut source.windows, since, end);
        source.figures.add(net);
        source.figures.ticks.charge(net.saturating_sub(bracket.net_before));
        let (subject, at) = (Subject::Interrupt(source.figures.number), Position::of(step));
        self.distributions.add(Measure::Interrupt, subject, net, at);
        match self.open.at(step.cpu).last_mut() {
            Some(outer) => {
                // The outer bracket excludes the whole nested bracket, and the next busy interval
                // of the outer one begins here.
                outer.nested.charge(ticks);
                outer.since = step.ticks;
            }
            None => {
                self.figures.brackets += 1;
                // Usually no nested bracket interrupted this bracket.
                let start = match bracket.since == bracket.start && bracket.start >= self.from {
                    true => since,
                    false => self.start(trace, bracket.start),
                };
                self.charge(start, bracket.before, end);
            }
        }
    }

    /// Returns the index of the source that has the given number.
    #[inline]
    fn source(&mut self, number: Option<u64>) -> usize {
        let Self { sources, slots, by_number, .. } = self;
        slots.get(number.unwrap_or(0), number, || {
            *by_number.entry(number).or_insert_with(|| {
                sources.push(Source::new(number));
                sources.len() - 1
            })
        })
    }

    /// Handles missing events after the tick `before`. After the gap, the ends of open brackets are
    /// unknown.
    pub(super) fn gap(&mut self, trace: &Trace, before: u64) {
        self.close_all(trace, before);
        // The time from the last interrupt before a gap to the first interrupt after the gap is not
        // an interval between arrivals.
        self.sources.iter_mut().for_each(|source| source.last_start = None);
    }

    /// Returns the number of ends without a beginning plus the number of beginnings without an end.
    /// A bracket that a gap, the end of the trace or the end of a core's recording interrupts is
    /// not counted.
    pub(super) fn unmatched(&self) -> u64 {
        self.unmatched
    }

    /// Returns the figures; the trace lasts `span` nanoseconds. Sources without any figure are
    /// omitted.
    pub(super) fn finish(&mut self, span: u64) -> Interrupts {
        self.figures.most_within = self.windows.finish(span);
        self.figures.most_within_until = self.windows.ends();
        let mut sources = std::mem::take(&mut self.sources);
        sources.sort_unstable_by_key(|source| source.figures.number);
        let sources = sources.into_iter();
        let seen = sources.filter(|source| source.figures.is_any());
        let seen = seen.map(|mut source| {
            source.figures.most_within = source.windows.finish(span);
            source.figures
        });
        self.figures.sources = seen.collect();
        std::mem::take(&mut self.figures)
    }
}

impl Source {
    fn new(number: Option<u64>) -> Self {
        let figures = InterruptSource {
            number,
            count: 0,
            ticks: 0,
            ended_ticks: 0,
            min_ticks: 0,
            max_ticks: 0,
            arrival_gap: Range::default(),
            most_within: [None; WINDOWS.len()],
        };
        Self { figures, last_start: None, windows: Windows::default() }
    }
}

impl InterruptSource {
    /// Returns true if any figure is known.
    fn is_any(&self) -> bool {
        self.ticks > 0 || self.count > 0 || self.arrival_gap.count > 0
    }

    fn add(&mut self, ticks: u64) {
        self.min_ticks = if self.count == 0 { ticks } else { self.min_ticks.min(ticks) };
        self.max_ticks = self.max_ticks.max(ticks);
        self.count += 1;
        self.ended_ticks.charge(ticks);
    }
}

/// A time in ticks, and in nanoseconds if the clock's rate is known.
#[derive(Clone, Copy, Debug)]
struct Instant {
    ticks: u64,
    nanoseconds: Option<u64>,
}

impl Instant {
    #[inline]
    fn of(trace: &Trace, ticks: u64) -> Self {
        Self { ticks, nanoseconds: trace.clock.nanoseconds(ticks) }
    }
}

/// Adds a busy interval to the windows.
#[inline]
fn add(windows: &mut Windows, from: Instant, to: Instant) {
    if let (Some(since), Some(end)) = (from.nanoseconds, to.nanoseconds) {
        windows.add(since, end, to.ticks);
    }
}
