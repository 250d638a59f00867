//! The transition from one dump of a run to the next: which events of the later dump are new, and
//! how many events are missing between the two dumps.
//!
//! Two dumps of one ring overlap if fewer events were recorded between them than the ring has
//! slots. If a slot has the same content in both dumps, its event is delivered only once. If the
//! target overwrote all slots between the dumps, the difference of the two pointers equals the
//! number of missing events modulo the number of slots. The difference is exact if the time between
//! the dumps was too short to fill the whole ring once more. The event rate of the dumps shows how
//! long this takes.

use std::hash::BuildHasher;
use std::ops::Range;

use foldhash::fast::FixedState;

use super::image::Image;
use super::ring::{Order, Ring, RingPart};
use super::slots::{Slots, Unwrapping};
use crate::model::{LossCause, Severity, Trace};

/// The facts about the previous dump that are needed for the next dump.
#[derive(Debug)]
pub(super) struct Dump {
    pub(super) image: Image,
    pub(super) current: Option<usize>,
    pub(super) state: Unwrapping,
    /// Ticks from the oldest to the newest event, or `None` if the ring was not full.
    pub(super) round: Option<u64>,
    /// A hash of each slot; the hash of an unused slot is 0. The list is empty if no dump can
    /// follow.
    pub(super) slots: Vec<u64>,
}

/// The transition from one dump to the next.
pub(super) struct Seam<'a> {
    pub(super) last: &'a Dump,
    pub(super) ring: &'a Ring<'a>,
    pub(super) order: Order,
    /// Ticks from the oldest to the newest event of the later dump.
    pub(super) round: Option<u64>,
}

impl Seam<'_> {
    /// Returns the missing events between the two dumps, and the new events of the later dump.
    /// `own` contains all events of the later dump.
    pub(super) fn parts(
        &self,
        image: &Image,
        own: Vec<RingPart>,
        trace: &mut Trace,
    ) -> Vec<RingPart> {
        let offset = self.ring.offset;
        // If the earlier dump had no events, `own` already contains the gap before the later dump.
        let same_ring = self.last.image.is_of_ring(image.layout, &image.header)
            && self.last.state.ticking().previous.is_some();
        let Some((before, current)) =
            self.last.current.zip(self.ring.current).filter(|_| same_ring)
        else {
            return own;
        };
        if let Some(new) = self.new_slots(before, current) {
            return new.into_iter().map(RingPart::Slots).collect();
        }
        if self.ring.begins_with_tracing(self.order) {
            let message = "tracing was enabled again between the previous dump and this one";
            trace.diagnostics.add(Severity::Note, offset, message);
            return own;
        }
        // The ring may have wrapped several times between the dumps. Each further wrap adds the
        // number of slots to the number of missing events.
        let slots = self.ring.expected;
        let missing = ((current + slots - before) % slots) as u64;
        let known = self.no_further_round(missing);
        // The gap between the dumps replaces the gap at the start of the later dump.
        let mut parts: Vec<_> = own.into_iter().skip_while(is_overwritten).collect();
        if !known {
            let message = format!(
                "{} between the previous dump and this one, and perhaps a multiple of {slots} more",
                crate::text::missing(missing, "event")
            );
            trace.diagnostics.add(Severity::Note, offset, message);
        }
        if missing > 0 || !known {
            let (events, cause) = (known.then_some(missing), LossCause::Overwritten);
            parts.insert(0, RingPart::Gap { events, cause, slot: current });
        }
        parts
    }

    /// Returns the slots written since the previous dump, if all other slots are unchanged.
    fn new_slots(&self, before: usize, current: usize) -> Option<Vec<Range<usize>>> {
        let slots = self.ring.slots;
        let new = match before <= current {
            true => [before..current, 0..0],
            false => [before..self.ring.expected, 0..current],
        };
        let kept = (0..slots.len()).filter(|slot| !new.iter().any(|new| new.contains(slot)));
        let pairs =
            kept.map(|slot| (self.last.slots.get(slot).copied().unwrap_or(0), sum(slots, slot)));
        // Unused slots prove nothing. If no slot is used in both dumps, the dumps may be unrelated.
        let mut compared = pairs.filter(|(before, now)| *before != 0 && *now != 0).peekable();
        compared.peek()?;
        let same = compared.all(|(before, now)| before == now);
        let new = new.into_iter().map(|range| range.start..range.end.min(slots.len()));
        same.then(|| new.filter(|range| !range.is_empty()).collect())
    }

    /// Returns true if the ring did not wrap again between the dumps. This function uses the higher
    /// event rate of the two dumps to estimate how many events were recorded between the dumps. The
    /// ring has not wrapped again if this number is less than `missing` plus half a ring.
    fn no_further_round(&self, missing: u64) -> bool {
        let rounds = [self.last.round, self.round];
        let Some(fastest) = rounds.into_iter().flatten().min() else { return false };
        let oldest = match self.order {
            Order::Wrapped(oldest) => oldest,
            _ => 0,
        };
        let ticking = self.last.state.ticking();
        let Some(first) = self.ring.slots.stamp(oldest) else { return false };
        let pause = u128::from(ticking.ticks_of(first).saturating_sub(ticking.ticks));
        let slots = self.ring.expected as u128;
        // In integers: pause / fastest < (missing + slots / 2) / slots.
        2 * pause * slots < u128::from(fastest) * (2 * u128::from(missing) + slots)
    }
}

fn is_overwritten(part: &RingPart) -> bool {
    matches!(part, RingPart::Gap { cause: LossCause::Overwritten, .. })
}

/// Returns a hash of each slot.
pub(super) fn sums(slots: Slots<'_>) -> Vec<u64> {
    (0..slots.len()).map(|slot| sum(slots, slot)).collect()
}

/// Returns a hash of a slot, or 0 if the slot is unused.
fn sum(slots: Slots<'_>, slot: usize) -> u64 {
    match slots.written_once(slot).filter(|_| slots.used(slot) == Some(true)) {
        Some(words) => FixedState::default().hash_one(words).max(1),
        None => 0,
    }
}
