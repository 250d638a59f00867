//! Which way a dump's clock counts, and where it wraps: neither is recorded.
//!
//! The rule is TraceX's, exactly. Walking the slots in file order, each masked stamp is compared
//! with the one before; more increases than decreases mean that the clock counts up, anything else
//! (a tie, a constant clock) that it counts down. The comparison is skipped at the first two slots
//! of the file and at the first two from `buffer_current` on.
//!
//! The walk ends as soon as the slots that are left cannot change the answer.

use std::ops::Range;

use super::slots::Slots;
use crate::model::{Clock, Counter, Diagnostics, Direction, Rate, Severity};

/// What is known before the stamps are looked at.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Known {
    pub(super) rate: Option<Rate>,
    pub(super) direction: Option<Direction>,
    pub(super) modulus: Option<u64>,
}

/// Stamps of ThreadX's own Linux ports are the nanosecond part of the wall clock, though the mask
/// they declare says 2^32.
const NANOSECONDS: u64 = 1_000_000_000;

/// Counts of a walk over the stamps.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Survey {
    pub(super) increases: usize,
    pub(super) decreases: usize,
    /// Whether every stamp walked over is below 10^9.
    pub(super) nanoseconds: bool,
    /// The highest core number walked over, plus one.
    pub(super) cpus: u16,
}

impl Survey {
    /// Walks until both answers stand.
    pub(super) fn walk(slots: Slots<'_>, mask: u64, current: Option<usize>) -> Self {
        let mut survey =
            Self { nanoseconds: mask == u64::from(u32::MAX), cpus: 1, ..Self::default() };
        let mut previous = 0;
        for start in (0..slots.len()).step_by(BLOCK) {
            let end = (start + BLOCK).min(slots.len());
            if !survey.block(slots, start..end, mask, &mut previous, current) {
                break;
            }
            let left = slots.len() - end;
            if survey.increases.abs_diff(survey.decreases) > left && !survey.nanoseconds {
                break;
            }
        }
        survey
    }

    /// Adds a block of slots; false when it ended at an unused one.
    fn block(
        &mut self,
        slots: Slots<'_>,
        range: Range<usize>,
        mask: u64,
        previous: &mut u64,
        current: Option<usize>,
    ) -> bool {
        let mut tally = slots.tally(range.clone(), mask, *previous);
        let whole = !tally.unused;
        let mut used = range;
        if !whole {
            used.end = slots.first_unused(used.clone()).unwrap_or(used.end);
            tally = slots.tally(used.clone(), mask, *previous);
        }
        for slot in skipped(current).filter(|slot| used.contains(slot)) {
            let stamp = |slot: usize| slots.stamp(slot).unwrap_or(0) & mask;
            let before = slot.checked_sub(1).map_or(0, stamp);
            tally.increases -= usize::from(stamp(slot) > before);
            tally.decreases -= usize::from(stamp(slot) < before);
        }
        *previous = tally.last;
        self.increases += tally.increases;
        self.decreases += tally.decreases;
        self.nanoseconds &= tally.largest < NANOSECONDS;
        self.cpus = self.cpus.max(u16::from(tally.core) + 1);
        whole
    }

    fn direction(&self) -> Direction {
        if self.increases > self.decreases { Direction::Up } else { Direction::Down }
    }

    /// The clock, with remarks on what had to be guessed and looks wrong.
    pub(super) fn clock(&self, mask: u64, known: Known, diagnostics: &mut Diagnostics) -> Clock {
        let direction = known.direction.unwrap_or(self.direction());
        let mut counter = Counter::of_mask(mask, direction);
        let mut rate = known.rate;
        let detected = self.nanoseconds && direction == Direction::Up && self.decreases > 0;
        if let Some(modulus) = known.modulus {
            counter.last = modulus - 1;
        } else if detected {
            counter.last = NANOSECONDS - 1;
            rate = rate.or(Rate::new(NANOSECONDS, 1));
            let message = "every stamp is below 10^9 and the clock goes round: taken as nanoseconds \
                           of the second (-O modulus=4294967296 takes the mask instead)";
            diagnostics.add(Severity::Note, None, message);
        }
        let compared = self.increases + self.decreases;
        let fewer = self.increases.min(self.decreases);
        if known.direction.is_none() && fewer > 1 && fewer * 100 > compared {
            let message = format!(
                "the clock goes both ways: {} stamps are larger than the one before, {} smaller; \
                 taken as counting {direction}, times may be wrong",
                self.increases, self.decreases
            );
            diagnostics.add(Severity::Warning, None, message);
        }
        Clock::new(rate, counter)
    }
}

/// Slots whose stamps are not compared with the ones before, each once.
fn skipped(current: Option<usize>) -> impl Iterator<Item = usize> {
    let oldest = current.into_iter().flat_map(|slot| slot..slot + 2);
    (0..2).chain(oldest.filter(|slot| *slot >= 2))
}

/// Slots between two looks at whether the answer stands.
const BLOCK: usize = 4096;
