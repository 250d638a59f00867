//! The kinds of times that analyses measure, and their collection as distributions.
//!
//! Each part of an analysis that measures times has its own [`Distributions`]. Distributions need
//! memory and time, so they are collected only if the caller requests them.

use std::collections::HashMap;
use std::hash::Hash;

use foldhash::fast::RandomState;

use super::distribution::Distribution;
use crate::model::Position;

/// Maximum number of distributions in one [`Distributions`] table. Traces of real systems need some
/// hundreds; only damaged traces need more.
const MAX_DISTRIBUTIONS: usize = 1 << 12;

/// Maximum number of distributions with places in one [`Distributions`] table, because places need
/// three times as much memory as the rest.
const MAX_PLACED: usize = 1 << 9;

/// Kind of a time. `docs/analysis.md` defines each kind.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Measure {
    /// Time from the release of a job to its completion.
    Response,
    /// Time from the release of a job until the scheduler first chooses the job's task.
    StartLatency,
    /// The time for which a task executes for one job.
    Execution,
    /// Time from one release of a task to the next release.
    Period,
    /// The difference between a release and its expected time, if the task's period is known.
    Jitter,
    /// Time from one completion of a task to the next completion.
    CompletionPeriod,
    /// Time from a missed deadline to the completion of the job.
    Lateness,
    /// Time from the event that makes a task ready until the task has the processor.
    WakeUp,
    /// Duration of a wait for an object, from the request until the task continues.
    Wait,
    /// Duration of a task's wait for a mutex. The waits of a task for different mutexes are in one
    /// distribution.
    MutexWait,
    /// The part of a wait for a mutex in which other tasks ran on behalf of the waiting task.
    Blocking,
    /// Time from the lock of a mutex to its unlock.
    Hold,
    /// Duration of an interrupt, excluding nested interrupts.
    Interrupt,
    /// Time from the beginning of an interrupt to the beginning of the next interrupt of the same
    /// source.
    InterruptGap,
    /// Time from one mark of a task to another mark.
    Passage,
    /// The time for which a task executes between one mark and another.
    PassageExecution,
    /// Time from the post of a message until the message is taken or dispatched.
    MessageWait,
    /// Time from the get or dispatch of a message to the end of the message's step.
    MessageStep,
    /// Time from the post of a message to the end of the message's step.
    MessageResponse,
    /// Time from the beginning of a span to its end.
    Span,
}

impl Measure {
    /// Returns the word that the output shows.
    ///
    /// ```
    /// assert_eq!(tracewell::analysis::Measure::StartLatency.name(), "start latency");
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            Self::Response => "response",
            Self::StartLatency => "start latency",
            Self::Execution => "execution",
            Self::Period => "period",
            Self::Jitter => "jitter",
            Self::CompletionPeriod => "completion period",
            Self::Lateness => "lateness",
            Self::WakeUp => "wake-up",
            Self::Wait => "wait",
            Self::MutexWait => "mutex wait",
            Self::Blocking => "blocking",
            Self::Hold => "hold",
            Self::Interrupt => "interrupt",
            Self::InterruptGap => "interrupt gap",
            Self::Passage => "passage",
            Self::PassageExecution => "passage execution",
            Self::MessageWait => "message wait",
            Self::MessageStep => "message step",
            Self::MessageResponse => "message response",
            Self::Span => "span",
        }
    }
}

/// The times of one kind that belong to one task, object, interrupt or flow of messages.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Measured<S> {
    /// The kind of the times.
    pub measure: Measure,
    /// The task, object, interrupt or flow.
    pub subject: S,
    /// The times in ticks, with the events at which the longest ones ended.
    pub times: Distribution,
}

/// The place of a distribution in a [`Distributions`]. If the place is known, further times are
/// added without a lookup. The default is an unknown place.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(in crate::analysis) struct Place {
    /// The value of `Distributions::round` for which `index` is valid; 0 if `index` is never valid.
    round: u32,
    index: u32,
}

/// The distributions of one part of an analysis, in the order in which their first times were
/// added.
#[derive(Clone, Debug)]
pub(in crate::analysis) struct Distributions<S> {
    wanted: bool,
    /// True if the distributions also store places.
    placed: bool,
    /// Number of the current range, counted from 1.
    round: u32,
    rows: Vec<Measured<S>>,
    by_subject: HashMap<(Measure, S), usize, RandomState>,
    /// Number of measured times that were not stored because of [`MAX_DISTRIBUTIONS`].
    more: u64,
}

impl<S> Default for Distributions<S> {
    fn default() -> Self {
        let (rows, by_subject) = (Vec::new(), HashMap::default());
        Self { wanted: false, placed: false, round: 1, rows, by_subject, more: 0 }
    }
}

impl<S: Copy + Eq + Hash> Distributions<S> {
    /// Collects times from now on.
    pub(in crate::analysis) fn collect(&mut self) {
        self.wanted = true;
    }

    /// Also stores where the longest times of each bucket ended.
    pub(in crate::analysis) fn place(&mut self) {
        self.placed = true;
    }

    /// Returns true if times are collected.
    pub(in crate::analysis) fn are_wanted(&self) -> bool {
        self.wanted
    }

    /// Adds a time of `ticks` ticks. `at` is the position of the event that completed the
    /// measurement.
    #[inline]
    pub(in crate::analysis) fn add(
        &mut self,
        measure: Measure,
        subject: S,
        ticks: u64,
        at: Position,
    ) {
        if self.wanted {
            self.store(measure, subject, ticks, at);
        }
    }

    /// Adds a time like [`Distributions::add`]. All calls with the same `place` must have the same
    /// measure and the same subject.
    #[inline]
    pub(in crate::analysis) fn add_at(
        &mut self,
        place: &mut Place,
        measure: Measure,
        subject: S,
        ticks: u64,
        at: Position,
    ) {
        if !self.wanted {
            return;
        }
        // The round changes when the distributions are cleared, so older places are invalid.
        if place.round == self.round
            && let Some(row) = self.rows.get_mut(place.index as usize)
        {
            return row.times.add(ticks, at);
        }
        if let Some(index) = self.store(measure, subject, ticks, at) {
            *place = Place { round: self.round, index };
        }
    }

    /// Adds a time and returns the index of its distribution. Returns `None` if there are too many
    /// distributions.
    fn store(&mut self, measure: Measure, subject: S, ticks: u64, at: Position) -> Option<u32> {
        let next = self.rows.len();
        let index = match self.by_subject.get(&(measure, subject)) {
            Some(index) => *index,
            None if next >= MAX_DISTRIBUTIONS => {
                self.more += 1;
                return None;
            }
            None => {
                let placed = self.placed && next < MAX_PLACED;
                let times =
                    if placed { Distribution::with_places() } else { Distribution::default() };
                self.rows.push(Measured { measure, subject, times });
                self.by_subject.insert((measure, subject), next);
                next
            }
        };
        self.rows[index].times.add(ticks, at);
        u32::try_from(index).ok()
    }

    /// Begins a range: removes all times so far.
    pub(in crate::analysis) fn restart(&mut self) {
        let Self { wanted, placed, round, .. } = *self;
        *self = Self { wanted, placed, round: round + 1, ..Self::default() };
    }

    /// Returns the distributions, and the number of measured times that are in no distribution.
    pub(in crate::analysis) fn finish(&mut self) -> (Vec<Measured<S>>, u64) {
        let Self { rows, more, .. } = std::mem::take(self);
        (rows, more)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(distributions: &mut Distributions<usize>, subject: usize) {
        distributions.add(Measure::Wait, subject, 1, Position::default());
    }

    #[test]
    fn a_place_ends_with_its_range() {
        let mut distributions = Distributions::default();
        distributions.collect();
        let (mut first, mut second) = (Place::default(), Place::default());
        let mut at = Position::default();
        let mut add = |distributions: &mut Distributions<usize>, place: &mut Place, subject| {
            at.ticks += 1;
            distributions.add_at(place, Measure::Hold, subject, at.ticks, at);
        };
        add(&mut distributions, &mut first, 7);
        add(&mut distributions, &mut second, 8);
        add(&mut distributions, &mut first, 7);
        distributions.restart();
        add(&mut distributions, &mut second, 8);
        add(&mut distributions, &mut first, 7);
        add(&mut distributions, &mut second, 8);
        let (rows, _) = distributions.finish();
        let found: Vec<_> = rows.iter().map(|row| (row.subject, row.times.max())).collect();
        assert_eq!(found, [(8, Some(6)), (7, Some(5))]);
    }

    #[test]
    fn times_beyond_the_limit_are_counted() {
        let mut distributions = Distributions::default();
        add(&mut distributions, 0);
        distributions.collect();
        (0..MAX_DISTRIBUTIONS + 2).for_each(|subject| add(&mut distributions, subject));
        add(&mut distributions, 0);
        let (rows, more) = distributions.finish();
        assert_eq!((rows.len(), more), (MAX_DISTRIBUTIONS, 2));
        assert_eq!((rows[0].times.count(), rows[1].times.count()), (2, 1));
    }
}
