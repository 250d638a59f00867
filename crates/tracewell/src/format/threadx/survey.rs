//! Which way a dump's clock counts, and where it wraps: neither is recorded.
//!
//! The rule is TraceX's but for ties. Walking the slots in file order, each masked stamp is compared
//! with the one before; more increases than decreases mean that the clock counts up, more decreases
//! that it counts down. The comparison is skipped at the first two slots of the file and at the first two
//! from `buffer_current` on. TraceX takes a tie (two events, a constant clock) for down; here the skipped steps
//! between neighbours decide it, and if they do not, the clock counts up. Unused slots are passed over.
//!
//! The walk ends as soon as the slots that are left cannot change the answer.

use std::ops::Range;

use super::slots::{Slots, Tally};
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
    /// Steps that TraceX does not compare though both events are neighbours in time: larger, smaller.
    beside: (usize, usize),
    /// Whether every stamp walked over is below 10^9.
    pub(super) nanoseconds: bool,
    /// The highest core number walked over, plus one.
    pub(super) cpus: u16,
    /// Whether a slot walked over is unused.
    pub(super) holes: bool,
    /// Used slots walked over.
    used: usize,
    /// The stamp of the first of them.
    first: u64,
}

impl Survey {
    /// Walks until both answers stand.
    pub(super) fn walk(slots: Slots<'_>, mask: u64, current: Option<usize>) -> Self {
        let mut survey =
            Self { nanoseconds: mask == u64::from(u32::MAX), cpus: 1, ..Self::default() };
        let mut previous = 0;
        for start in (0..slots.len()).step_by(BLOCK) {
            let end = (start + BLOCK).min(slots.len());
            survey.block(slots, start..end, mask, &mut previous, current);
            let left = slots.len() - end;
            if survey.increases.abs_diff(survey.decreases) > left && !survey.nanoseconds {
                break;
            }
        }
        survey
    }

    /// Adds a block of slots, of which some may be unused.
    fn block(
        &mut self,
        slots: Slots<'_>,
        range: Range<usize>,
        mask: u64,
        previous: &mut u64,
        current: Option<usize>,
    ) {
        let tally = slots.tally(range.clone(), mask, *previous);
        if !tally.unused {
            return self.add(slots, range, (mask, current), tally, previous);
        }
        self.holes = true;
        let used = |slot: &usize| slots.used(*slot) == Some(true);
        let mut rest = range;
        while let Some(start) = rest.clone().find(used) {
            let end = slots.first_unused(start..rest.end).unwrap_or(rest.end);
            let tally = slots.tally(start..end, mask, *previous);
            self.add(slots, start..end, (mask, current), tally, previous);
            rest.start = end;
        }
    }

    /// Adds a run of used slots.
    fn add(
        &mut self,
        slots: Slots<'_>,
        used: Range<usize>,
        (mask, current): (u64, Option<usize>),
        mut tally: Tally,
        previous: &mut u64,
    ) {
        let stamp = |slot: usize| slots.stamp(slot).unwrap_or(0) & mask;
        let oldest = current.unwrap_or(0);
        for slot in skipped(current).filter(|slot| used.contains(slot)) {
            let before = if slot == used.start { *previous } else { stamp(slot - 1) };
            let step = (usize::from(stamp(slot) > before), usize::from(stamp(slot) < before));
            tally.increases -= step.0;
            tally.decreases -= step.1;
            if slot > 0 && slot != oldest {
                self.beside = (self.beside.0 + step.0, self.beside.1 + step.1);
            }
        }
        if self.used == 0 {
            self.first = stamp(used.start);
        }
        self.used += used.len();
        *previous = tally.last;
        self.increases += tally.increases;
        self.decreases += tally.decreases;
        self.nanoseconds &= tally.largest < NANOSECONDS;
        self.cpus = self.cpus.max(u16::from(tally.core) + 1);
    }

    /// The direction of most steps. TraceX takes a tie for down; here the steps that it leaves out decide, and up is
    /// taken where they do not.
    fn direction(&self) -> Direction {
        let more = (self.increases, self.decreases);
        let all = (more.0 + self.beside.0, more.1 + self.beside.1);
        let (up, down) = if more.0 == more.1 { all } else { more };
        if down > up { Direction::Down } else { Direction::Up }
    }

    /// Whether there are several events and the clock stood still.
    fn stood_still(&self) -> bool {
        let steps = [self.increases, self.decreases, self.beside.0, self.beside.1];
        self.used > 1 && steps == [0; 4]
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
        if self.stood_still() && mask != 0 {
            let message = format!(
                "every time stamp is {}: the target's clock stood still, so that the order of events is known but \
                 no time between them",
                self.first
            );
            diagnostics.add(Severity::Warning, None, message);
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
