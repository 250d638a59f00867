//! Which slot is the oldest, which slots are events, and what is missing.
//!
//! With c the slot that `buffer_current` points at: a ring that has not wrapped holds events in
//! slots 0..c, and no slot from c on is used, for a kernel clears all when tracing is enabled; one that has holds
//! them in c.. and then 0..c. Only a context word of 0 marks a slot unused.
//!
//! TraceX stops for good at the first unused slot. Here an unused slot between used ones is a damaged record, also
//! slot 0 and the one that `buffer_current` points at, and reading goes on behind it.
//!
//! A kernel records two RUNNING events when tracing is enabled. A ring whose next slot is slot 0 and which does not
//! begin with them has wrapped more than once.

use std::ops::Range;

use tracewell_wire::threadx::ids;

use super::slots::{Slots, Ticking};
use crate::model::{Diagnostics, LossCause, Severity};

/// A piece of the event list, in order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Piece {
    /// Slots that hold events (and perhaps damaged ones).
    Slots(Range<usize>),
    /// Events that are missing here; `slot` is where they were or would be.
    Gap {
        /// How many, where that can be known.
        events: Option<u64>,
        /// Why.
        cause: LossCause,
        /// Slot that tells.
        slot: usize,
    },
}

/// What decides the order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ring<'a> {
    /// The slots that are there.
    pub(super) slots: Slots<'a>,
    /// How many there should be.
    pub(super) expected: usize,
    /// The slot to be written next by the header (or by the user), if it is one.
    pub(super) current: Option<usize>,
    /// Offset of slot 0 in the source.
    pub(super) offset: u64,
}

/// How the events lie in the slots.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Order {
    /// There are none.
    Empty,
    /// As in the file, for want of a current slot.
    File,
    /// From slot 0 up to this one.
    Unwrapped(usize),
    /// From this slot to the end, and then from slot 0 up to it.
    Wrapped(usize),
}

impl Ring<'_> {
    /// How the events lie.
    pub(super) fn order(&self) -> Order {
        let there = self.slots.len();
        let Some(current) = self.current else { return Order::File };
        if self.used(current) || (current < there && self.used(self.expected - 1)) {
            return Order::Wrapped(current);
        }
        // The next slot to write may be damaged; more than half of what lies behind it is not.
        let behind = current.min(there)..there;
        let used = self.slots.count_used(behind.clone());
        if used > behind.len() / 2 {
            return Order::Wrapped(current);
        }
        if current == 0 && used == 0 && there > 0 {
            Order::Empty
        } else {
            Order::Unwrapped(current)
        }
    }

    /// The slots that may hold events, in the order of the file.
    pub(super) fn filled(&self, order: Order) -> Slots<'_> {
        match order {
            Order::Empty => self.slots.up_to(0),
            Order::Unwrapped(current) => self.slots.up_to(current),
            Order::File | Order::Wrapped(_) => self.slots,
        }
    }

    /// The event list in order of time.
    pub(super) fn pieces(&self, order: Order, diagnostics: &mut Diagnostics) -> Vec<Piece> {
        let there = self.slots.len();
        if there < self.expected && self.current.is_none_or(|current| !self.unused(current)) {
            let offset = self.offset_of(there);
            let message = format!(
                "the input ends inside the events: expected {} slots, found {there}",
                self.expected
            );
            diagnostics.add(Severity::Damage, offset, message);
        }
        if there == 0 && self.expected > 0 {
            return vec![Piece::Gap { events: None, cause: LossCause::Truncated, slot: 0 }];
        }
        match order {
            Order::Empty => Vec::new(),
            Order::File => self.file_order(diagnostics),
            Order::Wrapped(current) => self.wrapped(current),
            Order::Unwrapped(current) => self.unwrapped(current, diagnostics),
        }
    }

    /// Returns true if the events begin where tracing was enabled.
    pub(super) fn begins_with_tracing(&self, order: Order) -> bool {
        let running = |slot: usize| self.slots.id(slot) == Some(ids::RUNNING) && self.used(slot);
        matches!(order, Order::Unwrapped(_) | Order::Wrapped(0)) && running(0) && running(1)
    }

    /// Ticks from the oldest event to the newest, if the ring is full.
    pub(super) fn round(&self, order: Order, mut ticking: Ticking) -> Option<u64> {
        let Order::Wrapped(oldest) = order else { return None };
        for range in [oldest..self.slots.len(), 0..oldest] {
            self.slots.note(range, &mut ticking, &[], &mut |_, _| {});
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

    fn unwrapped(&self, current: usize, diagnostics: &mut Diagnostics) -> Vec<Piece> {
        let there = self.slots.len();
        let mut pieces = vec![Piece::Slots(0..current.min(there))];
        if current > there {
            // The next slot to write is among those cut off, so nobody can tell whether it was
            // used: at least the slots up to it are missing, perhaps a whole round.
            pieces.push(Piece::Gap { events: None, cause: LossCause::Truncated, slot: there });
        }
        let strays = self.slots.count_used(current.min(there)..there);
        if strays > 0 {
            let message = format!(
                "expected no events from slot {current} on, which is to be written next, found {strays}; \
                 they are not read"
            );
            diagnostics.add(Severity::Damage, self.offset_of(current), message);
            let events = Some(strays as u64);
            pieces.push(Piece::Gap { events, cause: LossCause::Damaged, slot: current });
        }
        pieces
    }

    fn wrapped(&self, current: usize) -> Vec<Piece> {
        let there = self.slots.len();
        let mut pieces = Vec::new();
        if current > 0 || !self.begins_with_tracing(Order::Wrapped(current)) {
            let cause = LossCause::Overwritten;
            pieces.push(Piece::Gap { events: None, cause, slot: current });
        }
        pieces.push(Piece::Slots(current..there));
        if there < self.expected {
            let events = Some((self.expected - there) as u64);
            pieces.push(Piece::Gap { events, cause: LossCause::Truncated, slot: there });
        }
        pieces.push(Piece::Slots(0..current));
        pieces.retain(|piece| *piece != Piece::Slots(0..0));
        pieces
    }

    fn file_order(&self, diagnostics: &mut Diagnostics) -> Vec<Piece> {
        let there = self.slots.len();
        // Unused slots at the end were never written.
        let end = (0..there).rev().find(|&slot| self.used(slot)).map_or(0, |last| last + 1);
        let mut message =
            "buffer_current points at no slot: events are given as they lie in the file".to_owned();
        if let Some(slot) = self.slots.only_backward_step(end) {
            message += &format!("; their stamps go back once, try -O oldest={slot}");
        }
        diagnostics.add(Severity::Damage, None, message);
        vec![Piece::Slots(0..end)]
    }
}
