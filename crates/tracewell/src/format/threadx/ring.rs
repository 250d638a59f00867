//! Finds the oldest slot of a ring, the slots that hold events, and the events that are missing.
//!
//! Let c be the slot that `buffer_current` points to. A ring that has not wrapped holds events in
//! slots 0..c. The slots from c on are unused, because a kernel clears all slots when tracing is
//! enabled. A ring that has wrapped holds its older events from slot c to the last slot, and its
//! newer events in slots 0..c. A slot is unused if its context word is 0.
//!
//! TraceX stops at the first unused slot. This decoder treats an unused slot between used slots as
//! a damaged record, even if it is slot 0 or slot c, and continues after this slot.
//!
//! A kernel records two RUNNING events when tracing is enabled. If c is 0 and the ring does not
//! begin with these two events, it has been filled more than once.

use std::ops::Range;

use tracewell_wire::threadx::ids;

use super::image::Image;
use super::slots::{Slots, Ticking};
use super::survey::Survey;
use crate::model::{Diagnostics, LossCause, Severity};

/// A section of the event list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum RingPart {
    /// Slots that hold events. Some of these slots may be damaged.
    Slots(Range<usize>),
    /// Events that are missing at this position.
    Gap {
        /// Number of missing events, if it is known.
        events: Option<u64>,
        /// The reason why the events are missing.
        cause: LossCause,
        /// Slot whose offset is reported as the position of the loss.
        slot: usize,
    },
}

/// A ring of event slots, and the facts that determine their order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ring<'a> {
    /// The slots that the input contains.
    pub(super) slots: Slots<'a>,
    /// Number of slots according to the header.
    pub(super) expected: usize,
    /// The slot to be written next, according to the header or the user. `None` if neither
    /// specifies a slot of the ring.
    pub(super) current: Option<usize>,
    /// Offset of slot 0 in the source.
    pub(super) offset: u64,
}

/// The order of the events in the slots.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Order {
    /// The order in the file. It applies to a ring whose current slot is unknown.
    File,
    /// From slot 0 up to the slot with this number.
    Unwrapped(usize),
    /// From the slot with this number to the end, and then from slot 0 up to that slot.
    Wrapped(usize),
}

impl<'a> Ring<'a> {
    /// `bytes` are the bytes of the image, and `offset` is their position in the source. `oldest`
    /// is the current slot according to the user.
    pub(super) fn new(image: &Image, bytes: &'a [u8], offset: u64, oldest: Option<usize>) -> Self {
        Self {
            slots: Slots::new(image.slots(bytes), image.layout),
            expected: image.event_slots,
            current: oldest.filter(|slot| *slot < image.event_slots).or(image.current_slot()),
            offset: offset + image.events as u64,
        }
    }

    /// Examines the timestamps, or only those of the first `events` slots.
    pub(super) fn survey(&self, order: Order, mask: u64, events: Option<usize>) -> Survey {
        let filled = self.filled(order);
        let surveyed = events.map_or(filled, |events| filled.up_to(events));
        Survey::walk(surveyed, mask, self.current)
    }

    /// Returns the order of the events.
    pub(super) fn order(&self) -> Order {
        let there = self.slots.len();
        let Some(current) = self.current else { return Order::File };
        // If the slot at the pointer or at the end of the ring is used, the ring has wrapped.
        if self.used(current) || self.used(self.expected - 1) {
            return Order::Wrapped(current);
        }
        // The slot to be written next looks unused, but it may be damaged. If most of the slots
        // after it are used, the ring has wrapped.
        let following = current.min(there)..there;
        if self.slots.count_used(following.clone()) > following.len() / 2 {
            Order::Wrapped(current)
        } else {
            Order::Unwrapped(current)
        }
    }

    /// Returns the slots that may hold events, in file order.
    pub(super) fn filled(&self, order: Order) -> Slots<'_> {
        match order {
            Order::Unwrapped(current) => self.slots.up_to(current),
            Order::File | Order::Wrapped(_) => self.slots,
        }
    }

    /// Returns the event list in order of time. Reports missing and damaged slots.
    pub(super) fn parts(&self, order: Order, diagnostics: &mut Diagnostics) -> Vec<RingPart> {
        let there = self.slots.len();
        if there < self.expected && self.current.is_none_or(|current| !self.unused(current)) {
            let offset = self.offset_of(there);
            let message = format!(
                "the input ends inside the events: expected {} slots, found {there}",
                self.expected
            );
            diagnostics.add(Severity::Damage, offset, message);
        }
        // The input contains no event slot, so the number of missing events is unknown.
        if there == 0 && self.expected > 0 {
            return vec![RingPart::Gap { events: None, cause: LossCause::Truncated, slot: 0 }];
        }
        match order {
            Order::File => self.file_order(diagnostics),
            Order::Wrapped(current) => self.wrapped(current),
            Order::Unwrapped(current) => self.unwrapped(current, diagnostics),
        }
    }

    /// Returns true if the events begin with the two events that a kernel records when tracing is
    /// enabled.
    pub(super) fn begins_with_tracing(&self, order: Order) -> bool {
        matches!(order, Order::Unwrapped(_) | Order::Wrapped(0)) && are_of_tracing(self.slots)
    }

    /// Returns the ticks from the oldest event to the newest if the ring is full.
    pub(super) fn round(&self, order: Order, mut ticking: Ticking) -> Option<u64> {
        let Order::Wrapped(oldest) = order else { return None };
        for range in [oldest..self.slots.len(), 0..oldest] {
            self.slots.advance(range, &mut ticking);
        }
        Some(ticking.ticks)
    }

    fn used(&self, slot: usize) -> bool {
        self.slots.used(slot) == Some(true)
    }

    fn unused(&self, slot: usize) -> bool {
        self.slots.used(slot) == Some(false)
    }

    fn offset_of(&self, slot: usize) -> u64 {
        self.offset + (slot * self.slots.size()) as u64
    }

    fn unwrapped(&self, current: usize, diagnostics: &mut Diagnostics) -> Vec<RingPart> {
        let there = self.slots.len();
        let mut parts = vec![RingPart::Slots(0..current.min(there))];
        if current > there {
            // The input ends before the current slot, so it is unknown whether the ring had
            // wrapped. The events in the missing slots up to the current slot are lost. If the ring
            // had wrapped, the events in all later slots are lost, too.
            parts.push(RingPart::Gap { events: None, cause: LossCause::Truncated, slot: there });
        }
        let strays = self.slots.count_used(current.min(there)..there);
        if strays > 0 {
            let message = format!(
                "expected no events from slot {current} on, which is written next, found {strays}; \
                 they are ignored"
            );
            diagnostics.add(Severity::Damage, self.offset_of(current), message);
            let events = Some(strays as u64);
            parts.push(RingPart::Gap { events, cause: LossCause::Damaged, slot: current });
        }
        parts
    }

    fn wrapped(&self, current: usize) -> Vec<RingPart> {
        let there = self.slots.len();
        let mut parts = Vec::new();
        // Only a ring that begins with the events for the start of tracing has lost no events.
        if current > 0 || !self.begins_with_tracing(Order::Wrapped(current)) {
            let cause = LossCause::Overwritten;
            parts.push(RingPart::Gap { events: None, cause, slot: current });
        }
        parts.push(RingPart::Slots(current..there));
        if there < self.expected {
            let events = Some((self.expected - there) as u64);
            parts.push(RingPart::Gap { events, cause: LossCause::Truncated, slot: there });
        }
        parts.push(RingPart::Slots(0..current));
        parts.retain(|part| *part != RingPart::Slots(0..0));
        parts
    }

    fn file_order(&self, diagnostics: &mut Diagnostics) -> Vec<RingPart> {
        let there = self.slots.len();
        // Unused slots at the end were never written.
        let end = (0..there).rev().find(|&slot| self.used(slot)).map_or(0, |last| last + 1);
        let mut message =
            "buffer_current does not point to an event slot: events are listed in file order"
                .to_owned();
        if let Some(slot) = self.slots.only_backward_step(end) {
            message += &format!("; timestamps decrease once, try -O oldest={slot}");
        }
        diagnostics.add(Severity::Damage, None, message);
        vec![RingPart::Slots(0..end)]
    }
}

/// Returns true if the first two slots hold events such as those that a kernel records when tracing
/// is enabled.
pub(super) fn are_of_tracing(slots: Slots<'_>) -> bool {
    let is_running = |slot| slots.id(slot) == Some(ids::RUNNING) && slots.used(slot) == Some(true);
    is_running(0) && is_running(1)
}
