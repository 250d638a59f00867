//! Losses: events that are missing from the trace, because they were not recorded or were lost
//! later.

use std::collections::BTreeMap;

/// The reason why events are missing.
///
/// ```
/// assert_eq!(tracewell::model::LossCause::BufferFull.as_str(), "buffer full");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LossCause {
    /// A ring wrapped: newer events overwrote older ones.
    Overwritten,
    /// The input ends before the end of its records.
    Truncated,
    /// A record exists but is not valid in its dialect.
    Damaged,
    /// The recorder dropped events because its buffer was full, and counted them.
    BufferFull,
    /// The sequence numbers of two successive records are not consecutive.
    Missing,
}

impl LossCause {
    /// All causes, in the order of their numbers.
    pub const ALL: [Self; 5] =
        [Self::Overwritten, Self::Truncated, Self::Damaged, Self::BufferFull, Self::Missing];

    /// Returns the word that the output shows.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Overwritten => "overwritten",
            Self::Truncated => "truncated",
            Self::Damaged => "damaged",
            Self::BufferFull => "buffer full",
            Self::Missing => "missing",
        }
    }
}

/// A gap between two events.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Loss {
    /// Number of the event that follows the gap.
    pub before: u64,
    /// Number of missing events, if known. The number is 0 if another loss already counts these
    /// events: in a stream with numbered records, a gap in the numbers includes the damaged
    /// records.
    pub events: Option<u64>,
    /// The reason why the events are missing.
    pub cause: LossCause,
    /// Offset in the source, in bytes.
    pub offset: u64,
}

/// The losses of a trace, summed by cause.
///
/// ```
/// use tracewell::model::{Loss, LossCause, Losses};
///
/// let mut losses = Losses::default();
/// losses.add(&Loss { before: 7, events: Some(3), cause: LossCause::BufferFull, offset: 100 });
/// assert_eq!(losses.events(), Some(3));
/// // Once the size of one gap is unknown, so is the sum.
/// losses.add(&Loss { before: 9, events: None, cause: LossCause::Damaged, offset: 160 });
/// assert_eq!((losses.events(), losses.damaged()), (None, 1));
/// // The damaged record also leaves a gap in the record numbers, at the same place.
/// losses.add(&Loss { before: 9, events: Some(0), cause: LossCause::Missing, offset: 160 });
/// assert_eq!(losses.places(), 2);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Losses {
    by_cause: BTreeMap<LossCause, LossCount>,
    /// Number of places at which events are missing.
    places: u64,
    /// Number of the event after the most recent loss.
    last: Option<u64>,
}

/// The losses that have the same cause.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LossCount {
    /// Number of gaps with this cause.
    pub gaps: u64,
    /// Total number of events that are missing in the gaps of known size.
    pub events: u64,
    /// Number of gaps of unknown size.
    pub unknown: u64,
}

impl Losses {
    /// Counts a loss under its cause.
    pub fn add(&mut self, loss: &Loss) {
        // A damaged record also leaves a gap in the record numbers. Both count as one place.
        if self.last.replace(loss.before) != Some(loss.before) {
            self.places += 1;
        }
        let count = self.by_cause.entry(loss.cause).or_default();
        count.gaps += 1;
        match loss.events {
            Some(events) => count.events = count.events.saturating_add(events),
            None => count.unknown += 1,
        }
    }

    /// Returns true if nothing was lost.
    pub fn is_empty(&self) -> bool {
        self.by_cause.is_empty()
    }

    /// Returns the number of places at which events are missing. Losses without an event between
    /// them count as one place.
    pub fn places(&self) -> u64 {
        self.places
    }

    /// Returns the counts by cause.
    pub fn iter(&self) -> impl Iterator<Item = (LossCause, LossCount)> + '_ {
        self.by_cause.iter().map(|(cause, count)| (*cause, *count))
    }

    /// Returns the number of missing events for all causes together, or `None` if the size of any
    /// gap is unknown.
    pub fn events(&self) -> Option<u64> {
        self.iter().try_fold(0_u64, |sum, (_, count)| {
            (count.unknown == 0).then(|| sum.saturating_add(count.events))
        })
    }

    /// Returns the number of invalid records.
    pub fn damaged(&self) -> u64 {
        let damaged = self.by_cause.get(&LossCause::Damaged);
        damaged.map_or(0, |count| count.events.max(count.gaps))
    }
}
