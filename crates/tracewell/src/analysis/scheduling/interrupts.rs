//! What interrupts took: outermost brackets for the whole, each source without what nested in it.

use super::execution::nanoseconds;
use super::step::Step;
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
}

/// A bracket that is open.
#[derive(Debug)]
struct Bracket {
    number: Option<u64>,
    start: u64,
    /// Ticks of brackets within it.
    nested: u64,
}

/// Follows the brackets of interrupts.
#[derive(Debug, Default)]
pub(super) struct Brackets {
    open: Vec<Bracket>,
    figures: Interrupts,
}

impl Brackets {
    pub(super) fn take(&mut self, trace: &Trace, step: &Step, before: &Running<OnBehalf>) {
        match step.meaning {
            Some(Meaning::InterruptEnter) => {
                if !before.in_interrupt() {
                    self.open.clear();
                }
                if self.open.len() < DEEPEST {
                    self.open.push(Bracket { number: step.value, start: step.ticks, nested: 0 });
                }
            }
            Some(Meaning::InterruptExit) => self.exit(trace, step),
            _ => {}
        }
    }

    fn exit(&mut self, trace: &Trace, step: &Step) {
        let Some(bracket) = self.open.pop() else { return };
        let ticks = step.ticks.saturating_sub(bracket.start);
        self.source(bracket.number, ticks.saturating_sub(bracket.nested));
        match self.open.last_mut() {
            Some(outer) => outer.nested += ticks,
            None => {
                self.figures.brackets += 1;
                self.figures.ticks += ticks;
                self.figures.nanoseconds += nanoseconds(trace, bracket.start..step.ticks);
            }
        }
    }

    fn source(&mut self, number: Option<u64>, ticks: u64) {
        let sources = &mut self.figures.sources;
        let at = sources.binary_search_by_key(&number, |source| source.number);
        let index = at.unwrap_or_else(|index| {
            let new =
                InterruptSource { number, count: 0, ticks: 0, min_ticks: ticks, max_ticks: ticks };
            sources.insert(index, new);
            index
        });
        if let Some(source) = sources.get_mut(index) {
            source.count += 1;
            source.ticks += ticks;
            source.min_ticks = source.min_ticks.min(ticks);
            source.max_ticks = source.max_ticks.max(ticks);
        }
    }

    /// Events are missing: what was open has no known end.
    pub(super) fn gap(&mut self) {
        self.open.clear();
    }

    pub(super) fn finish(&mut self) -> Interrupts {
        std::mem::take(&mut self.figures)
    }
}
