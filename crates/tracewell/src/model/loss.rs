//! Losses: events that were recorded, or should have been, and are not in the trace.

use std::collections::BTreeMap;

/// Why events are missing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LossCause {
    /// A ring went round: older events were overwritten by newer ones.
    Overwritten,
    /// The input ends before its records do.
    Truncated,
    /// A record is there but cannot be what the dialect allows.
    Damaged,
    /// The recorder had no room for them, and counted them.
    NoRoom,
    /// The numbers of the records before and after leave some out.
    Missing,
}

impl LossCause {
    /// The word for it in output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Overwritten => "overwritten",
            Self::Truncated => "truncated",
            Self::Damaged => "damaged",
            Self::NoRoom => "no room",
            Self::Missing => "missing",
        }
    }
}

/// A gap between two events.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Loss {
    /// Number of the event that follows the gap.
    pub before: u64,
    /// How many events are missing, where that can be known. 0 where another loss counts them: a
    /// damaged record of a stream whose records are numbered.
    pub events: Option<u64>,
    /// Why they are missing.
    pub cause: LossCause,
    /// Where in the source, in bytes.
    pub offset: u64,
}

/// All losses of a trace, summed up.
#[derive(Clone, Debug, Default)]
pub struct Losses {
    by_cause: BTreeMap<LossCause, LossCount>,
}

/// The losses of one cause.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LossCount {
    /// Number of gaps.
    pub gaps: u64,
    /// Missing events over the gaps whose size is known.
    pub events: u64,
    /// Number of gaps whose size is not known.
    pub unknown: u64,
}

impl Losses {
    /// Counts one loss.
    pub fn add(&mut self, loss: &Loss) {
        let count = self.by_cause.entry(loss.cause).or_default();
        count.gaps += 1;
        match loss.events {
            Some(events) => count.events = count.events.saturating_add(events),
            None => count.unknown += 1,
        }
    }

    /// Whether nothing was lost.
    pub fn is_empty(&self) -> bool {
        self.by_cause.is_empty()
    }

    /// The counts, by cause.
    pub fn iter(&self) -> impl Iterator<Item = (LossCause, LossCount)> + '_ {
        self.by_cause.iter().map(|(cause, count)| (*cause, *count))
    }

    /// Missing events over all causes; `None` where the size of a gap is not known.
    pub fn events(&self) -> Option<u64> {
        self.iter().try_fold(0_u64, |sum, (_, count)| {
            (count.unknown == 0).then(|| sum.saturating_add(count.events))
        })
    }

    /// Records that were there but could not be used.
    pub fn damaged(&self) -> u64 {
        let damaged = self.by_cause.get(&LossCause::Damaged);
        damaged.map_or(0, |count| count.events.max(count.gaps))
    }
}
