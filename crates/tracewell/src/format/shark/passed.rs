//! Who ran in records of a group that need no close look, from the sets of what they are.

use super::marks::{Marks, below, last, parity, range};
use crate::model::{MaybeContext, Running};

/// Records of a group one after the other of which the sets tell everything. A choice within an
/// interrupt is taken to hold at once, for no row shows it before the interrupt's end.
pub(super) struct Passed {
    /// The first one behind them.
    pub(super) to: usize,
    /// Whether an interrupt is being served before them, and behind them.
    pub(super) served: bool,
    pub(super) is_open: bool,
    /// Where the bracket begins that is open behind them; `to` if none is.
    pub(super) open: usize,
    /// Those within interrupts, beginnings included, ends not.
    pub(super) inside: u64,
    pub(super) exits: u64,
    pub(super) chooses: u64,
    /// Those that say who runs next.
    pub(super) changes: u64,
}

impl Passed {
    /// Those from one on, up to one that `stops`, or to one by which interrupts nest or do not match.
    #[inline(always)]
    pub(super) fn new(
        running: &Running<MaybeContext>,
        marks: &Marks,
        from: usize,
        end: usize,
        stops: u64,
    ) -> Self {
        let served = running.in_interrupt();
        let rest = range(from, end);
        let around = if served { rest } else { 0 };
        let inside = (parity((marks.enters | marks.exits) & rest) ^ around) & rest;
        let stops = (stops | (marks.enters & !inside) | (marks.exits & inside)) & rest;
        let to = end.min(stops.trailing_zeros() as usize);

        let passed = range(from, to);
        let (inside, chooses) = (inside & passed, marks.chooses & passed);
        let (enters, exits) = (marks.enters & passed, marks.exits & passed);
        let was_chosen = served & (running.chosen != MaybeContext::NONE);
        let chosen_before = if was_chosen { range(from, from + 1) & passed } else { 0 };
        // Adding carries a choice within a bracket to the bracket's end, which then need not name
        // who continues.
        let decided = inside.wrapping_add((chooses & inside) | chosen_before) & !inside;
        let changes = chooses | (marks.continues & passed & !decided);
        let is_open = if passed == 0 { served } else { inside & !below(to - 1) != 0 };
        let open = match last(enters | exits) {
            _ if !is_open => to,
            Some(enter) => enter,
            None => from,
        };
        Self { to, served, is_open, open, inside, exits, chooses, changes }
    }

    /// Who runs by the first record, or when the bracket ends that is open before it.
    #[inline(always)]
    pub(super) fn now_at_first(&self, running: &Running<MaybeContext>) -> MaybeContext {
        let ends = self.served & (self.exits != 0);
        if ends & (running.chosen != MaybeContext::NONE) { running.chosen } else { running.now }
    }

    /// The last choice within the bracket that is open behind them.
    #[inline(always)]
    pub(super) fn last_choice(&self) -> Option<usize> {
        last(self.changes & !below(self.open))
    }

    /// Who is chosen within that bracket where no record says so.
    #[inline(always)]
    pub(super) fn chosen_at_last(&self, running: &Running<MaybeContext>) -> MaybeContext {
        let goes_on = self.served & (self.exits == 0);
        if goes_on { running.chosen } else { MaybeContext::NONE }
    }
}
