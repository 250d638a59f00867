//! What interrupts took: outermost brackets for the whole, each source without what nested in it.
//!
//! The load of a time is the part of it that was spent in interrupts; the highest one over times of given
//! lengths ([`WINDOWS`]) says what a task can meet.

use super::execution::nanoseconds;
use super::per::PerCore;
use super::step::Step;
use super::windows::{WINDOWS, Windows};
use crate::analysis::Range;
use crate::model::{Meaning, OnBehalf, Running, Trace};

/// Brackets that are open at once beyond this are counted with the one around them: interrupts do
/// not nest that deep, damage does.
const DEEPEST: usize = 64;

/// Time spent in interrupts.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Interrupts {
    /// Outermost brackets that began and ended in the trace.
    pub brackets: u64,
    /// Ticks in them.
    pub ticks: u64,
    /// Nanoseconds in them; 0 where the clock's rate is not known.
    pub nanoseconds: u64,
    /// The most nanoseconds that a time of each length of [`WINDOWS`] holds; `None` where the trace is
    /// shorter or the clock's rate is not known.
    pub most_within: [Option<u64>; WINDOWS.len()],
    /// By source, in order of their numbers, the one without a number first.
    pub sources: Vec<InterruptSource>,
}

/// Interrupts of one source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InterruptSource {
    /// Number of the interrupt as recorded; `None` for an interrupt without one: a timer's.
    pub number: Option<u64>,
    /// How often it was served.
    pub count: u64,
    /// Ticks that it took, without interrupts that nested in it.
    pub ticks: u64,
    /// The shortest.
    pub min_ticks: u64,
    /// The longest.
    pub max_ticks: u64,
    /// From a beginning to the next one, in ticks.
    pub arrival_gap: Range,
    /// As for all interrupts together, without what nested in it.
    pub most_within: [Option<u64>; WINDOWS.len()],
}

impl InterruptSource {
    /// The mean of what one took, in ticks, rounded down.
    pub fn mean_ticks(&self) -> u64 {
        self.ticks.checked_div(self.count).unwrap_or(0)
    }
}

/// A bracket that is open.
#[derive(Debug)]
struct Bracket {
    number: Option<u64>,
    start: u64,
    /// Ticks of brackets within it.
    nested: u64,
    /// Ticks at which it went on after the last of those, or began.
    since: u64,
}

/// What is followed of a source.
#[derive(Debug)]
struct Source {
    figures: InterruptSource,
    last_start: Option<u64>,
    windows: Windows,
}

/// Follows the brackets of interrupts.
#[derive(Debug, Default)]
pub(super) struct Brackets {
    /// On each core, the outermost first.
    open: PerCore<Vec<Bracket>>,
    figures: Interrupts,
    sources: Vec<Source>,
    windows: Windows,
    unmatched: u64,
}

impl Brackets {
    pub(super) fn take(&mut self, trace: &Trace, step: &Step, before: &Running<OnBehalf>) {
        match step.meaning {
            Some(Meaning::InterruptEnter) => self.enter(trace, step, before),
            Some(Meaning::InterruptExit) => self.exit(trace, step),
            _ => {}
        }
    }

    fn enter(&mut self, trace: &Trace, step: &Step, before: &Running<OnBehalf>) {
        if !before.in_interrupt() {
            let open = self.open.at(step.cpu);
            self.unmatched += open.len() as u64;
            open.clear();
        }
        self.pause(trace, step);
        let source = self.source(step.value);
        if let Some(last) = source.last_start.replace(step.ticks) {
            source.figures.arrival_gap.add(step.ticks.saturating_sub(last));
        }
        let open = self.open.at(step.cpu);
        if open.len() < DEEPEST {
            let (number, start) = (step.value, step.ticks);
            open.push(Bracket { number, start, nested: 0, since: start });
        }
    }

    /// The innermost bracket of the core does not go on for now: what it took so far is its source's.
    fn pause(&mut self, trace: &Trace, step: &Step) {
        let Some(bracket) = self.open.at(step.cpu).last_mut() else { return };
        let (number, since) = (bracket.number, std::mem::replace(&mut bracket.since, step.ticks));
        add(&mut self.source(number).windows, trace, since, step.ticks);
    }

    fn exit(&mut self, trace: &Trace, step: &Step) {
        self.pause(trace, step);
        let Some(bracket) = self.open.at(step.cpu).pop() else {
            self.unmatched += 1;
            return;
        };
        let ticks = step.ticks.saturating_sub(bracket.start);
        self.source(bracket.number).figures.add(ticks.saturating_sub(bracket.nested));
        match self.open.at(step.cpu).last_mut() {
            Some(outer) => {
                outer.nested += ticks;
                outer.since = step.ticks;
            }
            None => {
                self.figures.brackets += 1;
                self.figures.ticks += ticks;
                self.figures.nanoseconds += nanoseconds(trace, bracket.start..step.ticks);
                add(&mut self.windows, trace, bracket.start, step.ticks);
            }
        }
    }

    fn source(&mut self, number: Option<u64>) -> &mut Source {
        let at = self.sources.binary_search_by_key(&number, |source| source.figures.number);
        let index = at.unwrap_or_else(|index| {
            self.sources.insert(index, Source::new(number));
            index
        });
        &mut self.sources[index]
    }

    /// Events are missing: what was open has no known end.
    pub(super) fn gap(&mut self) {
        self.open.all().for_each(Vec::clear);
        self.sources.iter_mut().for_each(|source| source.last_start = None);
    }

    /// Ends without a beginning, and beginnings without an end though nothing is missing.
    pub(super) fn unmatched(&self) -> u64 {
        self.unmatched
    }

    /// The answers, of a trace of so many nanoseconds. A source of which no interrupt ended has none.
    pub(super) fn finish(&mut self, span: u64) -> Interrupts {
        self.figures.most_within = self.windows.finish(span);
        let sources = std::mem::take(&mut self.sources).into_iter();
        let finished = sources.filter(|source| source.figures.count > 0).map(|mut source| {
            source.figures.most_within = source.windows.finish(span);
            source.figures
        });
        self.figures.sources = finished.collect();
        std::mem::take(&mut self.figures)
    }
}

impl Source {
    fn new(number: Option<u64>) -> Self {
        let figures = InterruptSource {
            number,
            count: 0,
            ticks: 0,
            min_ticks: 0,
            max_ticks: 0,
            arrival_gap: Range::default(),
            most_within: [None; WINDOWS.len()],
        };
        Self { figures, last_start: None, windows: Windows::default() }
    }
}

impl InterruptSource {
    fn add(&mut self, ticks: u64) {
        self.min_ticks = if self.count == 0 { ticks } else { self.min_ticks.min(ticks) };
        self.max_ticks = self.max_ticks.max(ticks);
        self.count += 1;
        self.ticks += ticks;
    }
}

/// Adds a stretch to windows, which go by time.
fn add(windows: &mut Windows, trace: &Trace, from: u64, to: u64) {
    let at = |ticks| trace.clock.nanoseconds(ticks);
    if let (Some(from), Some(to)) = (at(from), at(to)) {
        windows.add(from, to);
    }
}
