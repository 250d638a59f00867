//! Infers the direction of a dump's clock and the value at which it wraps. Dumps contain neither
//! fact.
//!
//! This module follows the rule of TraceX, except for ties. TraceX compares each masked timestamp
//! with the previous timestamp in file order. If more timestamps increase than decrease, the clock
//! counts up, otherwise down. TraceX skips unused slots, the first two slots of the file, and two
//! slots from `buffer_current` on. In a tie, for example with two events or a constant clock,
//! TraceX assumes that the clock counts down. This module then also counts the steps that TraceX
//! skips, if the two events of a step are adjacent in time. If there is still a tie, this module
//! assumes that the clock counts up.
//!
//! The step to the oldest event never counts, because the event before it in the file is the newest
//! one. A damaged slot looks unused, so the oldest event can be in a slot after `buffer_current`.
//!
//! The loop ends as soon as the remaining slots cannot change the result. In a large dump, the loop
//! first counts blocks that are spread over the dump. If at least 99 of 100 steps of each block
//! have the same direction, the other slots are not counted.

use std::ops::Range;

use super::slots::{Slots, Tally};
use crate::model::{Clock, Counter, Diagnostics, Direction, Rate, Severity};

/// The user's options about the clock. These options override the facts inferred from timestamps.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ClockOptions {
    pub(super) rate: Option<Rate>,
    pub(super) direction: Option<Direction>,
    pub(super) modulus: Option<u64>,
}

/// Range of the timestamps of ThreadX's Linux ports. Their timestamps are the nanosecond part of
/// the wall clock, although the mask in the header allows 2^32 values.
const NANOSECONDS: u64 = 1_000_000_000;

/// The statistics of the timestamps examined so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Survey {
    pub(super) increases: usize,
    pub(super) decreases: usize,
    /// Number of increases and number of decreases that TraceX skips, although the two events of
    /// such a step are adjacent in time.
    beside: (usize, usize),
    /// True if all timestamps so far are below 10^9.
    pub(super) nanoseconds: bool,
    /// The highest core number so far, plus one.
    pub(super) cpus: u16,
    /// True if one of the examined slots is unused.
    pub(super) holes: bool,
    /// Number of used slots so far.
    used: usize,
    /// The timestamp of the first used slot.
    first: u64,
    /// Number of dumps that were added to this one.
    further: usize,
    /// True if too many steps of one of these dumps have the other direction.
    mixed: bool,
    /// True if the first timestamps of these dumps are not equal.
    differs: bool,
}

impl Survey {
    /// Examines slots until both direction and range are known.
    pub(super) fn walk(slots: Slots<'_>, mask: u64, current: Option<usize>) -> Self {
        let surveyed = Surveyed::new(slots, mask, current);
        if let Some(survey) = Self::sample(surveyed) {
            return survey;
        }
        let mut survey = Self::new(mask);
        // No timestamp precedes that of the first used slot, so it is compared with itself.
        let mut previous = surveyed.first_stamp(0..slots.len());
        for start in (0..slots.len()).step_by(BLOCK) {
            let end = (start + BLOCK).min(slots.len());
            survey.block(surveyed, start..end, &mut previous);
            let left = slots.len() - end;
            // The remaining slots cannot change the direction. However, if all timestamps so far
            // are below 10^9, one of the remaining timestamps may still decide the range.
            if survey.increases.abs_diff(survey.decreases) > left && !survey.nanoseconds {
                break;
            }
        }
        survey
    }

    fn new(mask: u64) -> Self {
        Self { nanoseconds: mask == u64::from(u32::MAX), cpus: 1, ..Self::default() }
    }

    /// Counts the steps in some blocks of a large dump. Returns `None` if the dump is small, or if
    /// these blocks do not determine both direction and range.
    fn sample(surveyed: Surveyed<'_>) -> Option<Self> {
        let Surveyed { slots, mask, .. } = surveyed;
        if slots.len() < 4 * SAMPLES * BLOCK {
            return None;
        }
        let mut survey = Self::new(mask);
        for sample in 0..SAMPLES {
            let start = (slots.len() - BLOCK) / (SAMPLES - 1) * sample;
            // If the slot before the block is unused, the first step of the block is not counted.
            let mut previous = surveyed.first_stamp(start.saturating_sub(1)..start + BLOCK);
            let mut block = Self::new(mask);
            block.block(surveyed, start..start + BLOCK, &mut previous);
            let up = block.increases > block.decreases;
            // If a block has no clear direction, or not the direction of the blocks before it,
            // count all slots.
            if !block.is_clear() || (sample > 0 && up != (survey.increases > survey.decreases)) {
                return None;
            }
            survey.increases += block.increases;
            survey.decreases += block.decreases;
            survey.nanoseconds &= block.nanoseconds;
            survey.cpus = survey.cpus.max(block.cpus);
            survey.holes |= block.holes;
            survey.used += block.used;
        }
        // A sample cannot confirm that all timestamps are below 10^9, so count all slots.
        (!survey.nanoseconds).then_some(survey)
    }

    /// Returns true if at least 99 of 100 steps have the same direction.
    fn is_clear(&self) -> bool {
        let fewer = self.increases.min(self.decreases);
        self.increases != self.decreases && fewer * 100 <= self.increases + self.decreases
    }

    /// Adds a block of slots, some of which may be unused.
    fn block(&mut self, surveyed: Surveyed<'_>, range: Range<usize>, previous: &mut u64) {
        let Surveyed { slots, mask, .. } = surveyed;
        let tally = slots.tally(range.clone(), mask, *previous);
        if !tally.unused {
            return self.add(surveyed, range, tally, previous);
        }
        self.holes = true;
        // Unused slots have no timestamps, so count the runs between them.
        let mut rest = range;
        while let Some(start) = slots.first_used(rest.clone()) {
            let end = slots.first_unused(start..rest.end).unwrap_or(rest.end);
            let tally = slots.tally(start..end, mask, *previous);
            self.add(surveyed, start..end, tally, previous);
            rest.start = end;
        }
    }

    /// Adds a run of used slots.
    fn add(
        &mut self,
        surveyed: Surveyed<'_>,
        used: Range<usize>,
        mut tally: Tally,
        previous: &mut u64,
    ) {
        let stamp = |slot: usize| surveyed.stamp(slot);
        // `tally` includes the steps that do not count, so subtract them.
        for slot in surveyed.skipped().filter(|slot| used.contains(slot)) {
            let before = if slot == used.start { *previous } else { stamp(slot - 1) };
            let step = (usize::from(stamp(slot) > before), usize::from(stamp(slot) < before));
            tally.increases -= step.0;
            tally.decreases -= step.1;
            // At the oldest event, neighbours in the file are not neighbours in time.
            if surveyed.oldest != Some(slot) {
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

    /// Adds the statistics of a later dump of the same target.
    pub(super) fn with_dump(self, later: Self) -> Self {
        let first = if self.used == 0 { later.first } else { self.first };
        Self {
            increases: self.increases + later.increases,
            decreases: self.decreases + later.decreases,
            beside: (self.beside.0 + later.beside.0, self.beside.1 + later.beside.1),
            nanoseconds: self.nanoseconds && later.nanoseconds,
            cpus: self.cpus.max(later.cpus),
            holes: self.holes || later.holes,
            used: self.used + later.used,
            first,
            further: self.further + 1,
            mixed: self.is_mixed() || later.is_mixed(),
            differs: self.differs || (later.used > 0 && later.first != first),
        }
    }

    /// Returns the direction of most steps. The head comment of this file explains ties.
    fn direction(&self) -> Direction {
        let more = (self.increases, self.decreases);
        let all = (more.0 + self.beside.0, more.1 + self.beside.1);
        let (up, down) = if more.0 == more.1 { all } else { more };
        if down > up { Direction::Down } else { Direction::Up }
    }

    /// Returns true if there are several events, all with the same timestamp.
    fn stood_still(&self) -> bool {
        let steps = [self.increases, self.decreases, self.beside.0, self.beside.1];
        self.used > 1 && steps == [0; 4] && !self.differs
    }

    /// Returns true if too many steps have the other direction. In each dump, a few steps may have
    /// it: wraps, and the step to the oldest event. More than 1 in 100 are too many.
    fn is_mixed(&self) -> bool {
        let fewer = self.increases.min(self.decreases);
        let many = fewer > 1 + self.further && fewer * 100 > self.increases + self.decreases;
        self.mixed || many
    }

    /// Returns true if the counter seems to count nanoseconds within the second. Decreases show
    /// that it wraps below 10^9. If there are none, it may wrap at the mask.
    fn wraps_at_a_second(&self, direction: Direction) -> bool {
        self.nanoseconds && direction == Direction::Up && self.decreases > 0
    }

    /// Returns true if these timestamps contradict a clock that was inferred from earlier dumps.
    pub(super) fn contradicts(&self, counter: Counter, options: ClockOptions) -> bool {
        // A single step can be a wrap, so it does not show a direction.
        let shows_direction = self.increases.max(self.decreases) > 1 && !self.is_mixed();
        let reverse =
            options.direction.is_none() && shows_direction && self.direction() != counter.direction;
        let other_range = match counter.last == NANOSECONDS - 1 {
            true => !self.nanoseconds,
            false => self.wraps_at_a_second(counter.direction),
        };
        reverse || (options.modulus.is_none() && other_range)
    }

    /// Returns the clock. Adds diagnostics about inferred facts and implausible timestamps.
    pub(super) fn clock(
        &self,
        mask: u64,
        options: ClockOptions,
        diagnostics: &mut Diagnostics,
    ) -> Clock {
        let direction = options.direction.unwrap_or(self.direction());
        let mut counter = Counter::of_mask(mask, direction);
        let mut rate = options.rate;
        if let Some(modulus) = options.modulus {
            counter.last = modulus - 1;
        } else if self.wraps_at_a_second(direction) {
            counter.last = NANOSECONDS - 1;
            rate = rate.or(Rate::new(NANOSECONDS, 1));
            let message = "all timestamps are below 10^9 and wrap: assuming nanoseconds within the \
                           second (-O modulus=4294967296 uses the mask instead)";
            diagnostics.add(Severity::Note, None, message);
        }
        // A mask of 0 means that the target has no clock, which is no fault.
        if self.stood_still() && mask != 0 {
            let message = format!(
                "every timestamp is {}: the target's clock stood still, so the order of events is known, \
                 but not the time between them",
                self.first
            );
            diagnostics.add(Severity::Warning, None, message);
        }
        if options.direction.is_none() && self.is_mixed() {
            let message = format!(
                "timestamps run in both directions: {} increase, {} decrease; assuming a counter \
                 that counts {direction}, so times may be wrong",
                self.increases, self.decreases
            );
            diagnostics.add(Severity::Warning, None, message);
        }
        Clock::new(rate, counter)
    }
}

/// The slots of a dump, and the facts that determine which steps count.
#[derive(Clone, Copy, Debug)]
struct Surveyed<'a> {
    slots: Slots<'a>,
    mask: u64,
    current: Option<usize>,
    /// The slot of the oldest event in a ring that has wrapped. It is the current slot, unless that
    /// slot is damaged.
    oldest: Option<usize>,
}

impl<'a> Surveyed<'a> {
    fn new(slots: Slots<'a>, mask: u64, current: Option<usize>) -> Self {
        let oldest = current.and_then(|current| slots.first_used(current..slots.len()));
        Self { slots, mask, current, oldest }
    }

    /// Returns the masked timestamp of a slot.
    fn stamp(&self, slot: usize) -> u64 {
        self.slots.stamp(slot).unwrap_or(0) & self.mask
    }

    /// Returns the masked timestamp of the first used slot of a range, or 0 if there is none.
    fn first_stamp(&self, range: Range<usize>) -> u64 {
        self.slots.first_used(range).map_or(0, |slot| self.stamp(slot))
    }

    /// Returns the slots whose timestamps are not compared with the previous ones: those that
    /// TraceX skips, and that of the oldest event. Slot 0 is left out, because it has no previous
    /// slot. Each slot occurs once.
    fn skipped(&self) -> impl Iterator<Item = usize> {
        let by_tracex = self.current.map_or(0..0, |current| current..current + 2);
        let oldest = self.oldest.filter(|slot| !by_tracex.contains(slot));
        std::iter::once(1).chain(by_tracex.chain(oldest).filter(|slot| *slot >= 2))
    }
}

/// Number of slots after which the loop checks again whether the result is certain.
const BLOCK: usize = 4096;

/// Number of blocks of a large dump that are counted first.
const SAMPLES: usize = 16;

#[cfg(test)]
mod tests {
    use tracewell_wire::ByteOrder;
    use tracewell_wire::threadx::{Layout, Width};

    use super::*;

    const MASK: u64 = u32::MAX as u64;

    const LAYOUT: Layout = Layout { width: Width::Bits32, order: ByteOrder::Little, name_size: 32 };

    /// Returns slots that have these timestamps.
    fn bytes(stamps: impl Iterator<Item = u32>) -> Vec<u8> {
        let slot = |stamp: u32| [0x100, 0, 7, stamp, 0, 0, 0, 0].map(u32::to_le_bytes);
        stamps.flat_map(slot).flatten().collect()
    }

    fn sample(slots: Slots<'_>, current: Option<usize>) -> Option<Survey> {
        Survey::sample(Surveyed::new(slots, MASK, current))
    }

    /// Calls `check` with slots that have these timestamps.
    fn with_slots(stamps: impl Iterator<Item = u32>, check: impl FnOnce(Slots<'_>)) {
        check(Slots::new(&bytes(stamps), LAYOUT));
    }

    /// The decoder delivers the same events if it does not know of unused slots, but it then
    /// prepares a full batch for each run of used slots.
    #[test]
    fn unused_slots_are_noticed() {
        let mut bytes = bytes(0..5);
        let holes = |bytes: &[u8]| Survey::walk(Slots::new(bytes, LAYOUT), MASK, None).holes;
        assert!(!holes(&bytes));
        let size = LAYOUT.event_size();
        bytes[3 * size..4 * size].fill(0);
        assert!(holes(&bytes));
    }

    #[test]
    fn the_first_used_slot_and_the_slots_that_tracex_skips_are_no_steps() {
        let steps = |unused: usize, current, stamps: &[u32]| {
            let mut bytes = bytes(stamps.iter().copied());
            bytes[..unused * LAYOUT.event_size()].fill(0);
            let survey = Survey::walk(Slots::new(&bytes, LAYOUT), MASK, current);
            (survey.increases, survey.decreases, survey.beside)
        };
        assert_eq!(steps(0, None, &[5, 6, 7, 6, 8]), (2, 1, (1, 0)));
        assert_eq!(steps(1, None, &[0, 6, 7, 6, 8]), (2, 1, (0, 0)));
        assert_eq!(steps(2, None, &[0, 0, 7, 6, 8]), (1, 1, (0, 0)));
        assert_eq!(steps(0, Some(3), &[5, 4, 3, 1, 2, 3]), (1, 1, (1, 1)));
        assert_eq!(steps(0, Some(1), &[5, 4, 3, 2]), (0, 1, (0, 1)));
        assert_eq!(steps(0, Some(0), &[5, 4, 3, 2]), (0, 2, (0, 1)));
    }

    #[test]
    fn the_step_from_the_newest_event_to_the_oldest_does_not_count() {
        // The current slot, the number of unused slots from there on, and the timestamps.
        let steps = |current: usize, unused: usize, stamps: &[u32]| {
            let (mut bytes, size) = (bytes(stamps.iter().copied()), LAYOUT.event_size());
            bytes[current * size..][..unused * size].fill(0);
            let survey = Survey::walk(Slots::new(&bytes, LAYOUT), MASK, Some(current));
            (survey.increases, survey.decreases, survey.beside, survey.direction())
        };
        let down = Direction::Down;
        assert_eq!(steps(2, 0, &[30, 20, 50, 40]), (0, 0, (0, 2), down));
        assert_eq!(steps(2, 1, &[30, 20, 0, 40]), (0, 0, (0, 1), down));
        assert_eq!(steps(2, 2, &[30, 20, 0, 0, 40]), (0, 0, (0, 1), down));
        assert_eq!(steps(2, 2, &[30, 20, 0, 0, 40, 35]), (0, 1, (0, 1), down));
        assert_eq!(steps(1, 1, &[30, 0, 40, 35]), (0, 1, (0, 0), down));
        assert_eq!(steps(0, 2, &[0, 0, 40, 35]), (0, 1, (0, 0), down));
        // The unused slots continue in the next block.
        let (current, unused) = (BLOCK - 2, 5);
        let stamps: Vec<_> = (0..2 * BLOCK as u32)
            .map(|slot| (current as u32).wrapping_sub(slot) % (2 * BLOCK as u32))
            .collect();
        let expected = (0, 2 * BLOCK - unused - 3, (0, 1), down);
        assert_eq!(steps(current, unused, &stamps), expected);
    }

    #[test]
    fn a_direction_is_clear_if_1_step_in_100_is_different() {
        let warnings = |increases, decreases| {
            let survey = Survey { increases, decreases, used: 9, ..Survey::default() };
            let mut diagnostics = Diagnostics::default();
            survey.clock(MASK, ClockOptions::default(), &mut diagnostics);
            (survey.is_clear(), diagnostics.iter().count())
        };
        assert_eq!(warnings(0, 0), (false, 1), "the clock stood still");
        assert_eq!([warnings(198, 2), warnings(2, 198)], [(true, 0); 2]);
        assert_eq!([warnings(197, 2), warnings(2, 197)], [(false, 1); 2]);
        assert_eq!(warnings(2, 2), (false, 1));
        // A single step can be a wrap, or the step to the oldest event.
        assert_eq!([warnings(1, 1), warnings(50, 1), warnings(1, 50)], [(false, 0); 3]);
        assert_eq!(warnings(99, 1), (true, 0));
    }

    #[test]
    fn blocks_of_a_large_dump_decide_the_direction_only_without_doubt() {
        let slots = (4 * SAMPLES * BLOCK) as u32;
        let down = (0..slots).map(|slot| slot.wrapping_mul(20_011).wrapping_neg());
        with_slots(down.clone(), |slots| {
            let sample = sample(slots, Some(70_000)).unwrap();
            assert_eq!(sample.direction(), Direction::Down);
            // The blocks contain the slots 0 and 1, and the slots 70,000 and 70,001.
            assert_eq!(sample.increases + sample.decreases, SAMPLES * BLOCK - 4, "{sample:?}");
            assert_eq!((sample.holes, sample.cpus, sample.used), (false, 1, SAMPLES * BLOCK));
        });
        // One slot of the second block is unused, and one has the core number 5.
        let (mut edited, size) = (bytes(down.clone()), LAYOUT.event_size());
        let second = (slots as usize - BLOCK) / (SAMPLES - 1);
        edited[second * size..][..size].fill(0);
        edited[(second + 1) * size + 11] = 5;
        let counted = sample(Slots::new(&edited, LAYOUT), None).unwrap();
        assert_eq!((counted.holes, counted.cpus, counted.used), (true, 6, SAMPLES * BLOCK - 1));
        // The slots before the first used slots of two blocks are unused.
        for slot in [0, 1, second - 1] {
            edited[slot * size..][..size].fill(0);
        }
        let counted = sample(Slots::new(&edited, LAYOUT), None).unwrap();
        assert_eq!((counted.increases, counted.beside), (0, (0, 0)));
        with_slots(down.skip(1), |slots| {
            assert!(sample(slots, None).is_none(), "a dump with one slot fewer is small");
        });
        // In the last block, the timestamps run in the other direction.
        let turns = slots - 2 * BLOCK as u32;
        let turned = |slot: u32| slot.min(2 * turns - slot).wrapping_mul(16_000);
        with_slots((0..slots).map(turned), |slots| {
            assert!(sample(slots, None).is_none());
            assert_eq!(Survey::walk(slots, MASK, None).direction(), Direction::Up);
        });
        with_slots((0..slots).map(|slot| u32::MAX - turned(slot)), |slots| {
            assert!(sample(slots, None).is_none());
            assert_eq!(Survey::walk(slots, MASK, None).direction(), Direction::Down);
        });
        // The first block has as many steps up as the other slots have steps down. The step that
        // TraceX skips decides.
        let (first, up) = (u32::MAX / 2, BLOCK as u32 - 2);
        let tie = (0..up + BLOCK as u32).map(|slot| match slot {
            0 => first + 2,
            _ => first + slot.min(2 * BLOCK as u32 - 2 - slot),
        });
        with_slots(tie, |slots| {
            assert_eq!(Survey::walk(slots, MASK, None).direction(), Direction::Down);
        });
        // The loop may end only when the remaining slots cannot change the direction.
        let turn = BLOCK as u32;
        with_slots(
            (0..4 * turn).map(|slot| first + slot.min(2 * turn - slot.min(2 * turn))),
            |slots| {
                assert_eq!(Survey::walk(slots, MASK, None).direction(), Direction::Down);
            },
        );
        // These timestamps may be nanoseconds within a second. To confirm this, every slot must be
        // examined.
        with_slots((0..slots).map(|slot| slot * 3_000), |slots| {
            assert!(sample(slots, None).is_none());
            assert!(Survey::walk(slots, MASK, None).nanoseconds);
        });
        for (largest, nanoseconds) in [(NANOSECONDS - 1, true), (NANOSECONDS, false)] {
            with_slots([0, largest as u32].into_iter(), |slots| {
                assert_eq!(Survey::walk(slots, MASK, None).nanoseconds, nanoseconds, "{largest}");
            });
        }
    }
}
