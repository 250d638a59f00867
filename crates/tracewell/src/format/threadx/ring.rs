//! Which slot is the oldest, which slots are events, and what is missing.
//!
//! With c the slot that `buffer_current` points at: a ring that has not wrapped holds events in
//! slots 0..c, and slot c is unused; one that has holds them in c.. and then 0..c. Only a context
//! word of 0 marks a slot unused.
//!
//! TraceX stops for good at the first unused slot. Here an unused slot between used ones is one
//! damaged record, and reading goes on behind it; slot 0 unused still means an empty trace, for a
//! kernel clears all slots when tracing is enabled and fills this one first.

use std::ops::Range;

use super::slots::Slots;
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

impl Ring<'_> {
    /// The event list in order of time.
    pub(super) fn pieces(&self, diagnostics: &mut Diagnostics) -> Vec<Piece> {
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
        if !self.used(0) {
            if self.current.is_some_and(|current| current != 0) && there > 0 {
                let message =
                    "slot 0 is unused: nothing was recorded, though buffer_current says so";
                diagnostics.add(Severity::Warning, self.offset, message);
            }
            return Vec::new();
        }
        match self.current {
            None => self.file_order(diagnostics),
            Some(current) if self.wrapped_at(current) => self.wrapped(current),
            Some(current) => self.unwrapped(current),
        }
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

    /// The next slot to write holds an event already, or the very last slot does.
    fn wrapped_at(&self, current: usize) -> bool {
        self.used(current) || (current < self.slots.len() && self.used(self.expected - 1))
    }

    fn unwrapped(&self, current: usize) -> Vec<Piece> {
        let there = self.slots.len();
        let mut pieces = vec![Piece::Slots(0..current.min(there))];
        if current > there {
            // The next slot to write is among those cut off, so nobody can tell whether it was
            // used: at least the slots up to it are missing, perhaps a whole round.
            pieces.push(Piece::Gap { events: None, cause: LossCause::Truncated, slot: there });
        }
        pieces
    }

    fn wrapped(&self, current: usize) -> Vec<Piece> {
        let there = self.slots.len();
        let mut pieces = Vec::new();
        if current > 0 {
            // At slot 0 the ring may be exactly full for the first time.
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
        let end = (0..there).find(|&slot| self.unused(slot)).unwrap_or(there);
        let mut message =
            "buffer_current points at no slot: events are given as they lie in the file".to_owned();
        if let Some(slot) = self.slots.only_backward_step(end) {
            message += &format!("; their stamps go back once, try -O oldest={slot}");
        }
        diagnostics.add(Severity::Damage, None, message);
        vec![Piece::Slots(0..end)]
    }
}
