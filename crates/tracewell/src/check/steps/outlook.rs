//! Determines whether an item may end here, whether it has become impossible, and which events it
//! expects.

use super::limits::over;
use super::{Shared, State, StateKind};
use crate::check::syntax::{Item, ItemKind, Pattern};
use crate::model::Clock;
use crate::select::Bound;
use crate::source::Span;

/// The reason why a run cannot continue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::check) enum DeadEnd {
    /// Another event occurred although this step had to be next.
    NotNext(Span),
    /// The time limit of this step has expired. Contains the start of the limit in ticks, and its
    /// length.
    Late(Span, u64, Bound),
}

/// The facts that decide whether a run can continue.
#[derive(Clone, Copy, Debug)]
pub(in crate::check) struct View<'a> {
    pub(in crate::check) shared: &'a Shared,
    pub(in crate::check) clock: &'a Clock,
    /// The tick of the latest event.
    pub(in crate::check) now: u64,
    /// True if an event was rejected after the most recently accepted one. Initialised from
    /// [`Shared::gap`]. Missing events do not count, because they make no step impossible.
    pub(in crate::check) gap: bool,
}

impl View<'_> {
    /// Returns true if past events may have made the item impossible.
    fn is_decisive(&self, item: &Item) -> bool {
        item.risks.time || (item.risks.gap && self.gap)
    }
}

/// If all items are impossible to complete, returns the reason for the first one. Otherwise,
/// returns `None`.
fn all(mut dead_ends: impl Iterator<Item = Option<DeadEnd>>) -> Option<DeadEnd> {
    let first = dead_ends.next()??;
    dead_ends.all(|dead_end| dead_end.is_some()).then_some(first)
}

/// Returns the reason why a block with these open branches cannot be completed.
fn dead_branch<'a>(
    open: impl Iterator<Item = (&'a Item, &'a State)> + Clone,
    view: View<'_>,
) -> Option<DeadEnd> {
    let mut must = open.clone().filter(|(item, state)| !state.can_end(item)).peekable();
    match must.peek() {
        // If a required branch is impossible, the whole block is impossible.
        Some(_) => must.find_map(|(item, state)| state.dead(item, view)),
        // If all open branches are optional, the block is impossible only if no branch can begin.
        None => all(open.map(|(item, state)| state.dead(item, view))),
    }
}

/// Maximum number of alternatives to the first expected event that a message counts.
pub(in crate::check) const MAX_EXPECTED: usize = 4;

impl State {
    /// Returns true if the item may end here.
    pub(in crate::check) fn can_end(&self, item: &Item) -> bool {
        match (&item.kind, &self.kind) {
            (ItemKind::Sequence(items), StateKind::Sequence(at, child)) => {
                // Everything after the current item must also be optional.
                let now = items.get(*at).zip(child.as_ref());
                now.is_none_or(|(item, child)| child.can_end(item))
                    && items.iter().skip(at + 1).all(|item| item.optional)
            }
            (ItemKind::AnyOrder(items), StateKind::AnyOrder(states, _)) => items
                .iter()
                .zip(states)
                .all(|(item, state)| state.as_ref().is_none_or(|state| state.can_end(item))),
            (ItemKind::Either(items), StateKind::Either(Some((chosen, state)))) => {
                items.get(*chosen).is_none_or(|item| state.can_end(item))
            }
            (ItemKind::Repeat { least, body, .. }, StateKind::Repeat(rounds, round)) => match round
            {
                // If the body may be empty, the missing repetitions need no events.
                Some(round) => round.can_end(body) && (rounds + 1 >= *least || body.optional),
                None => rounds >= least || body.optional,
            },
            _ => item.optional,
        }
    }

    /// Returns the reason why the item can no longer be completed. Returns `None` if the item can
    /// still be completed, or may end here.
    pub(in crate::check) fn dead_end(&self, item: &Item, view: View<'_>) -> Option<DeadEnd> {
        // Return early if the event cannot affect the result, because this is the usual case and
        // most rules are long.
        if !view.is_decisive(item) {
            return None;
        }
        if self.can_end(item) { None } else { self.dead(item, view) }
    }

    /// Returns the reason why further events cannot complete the item.
    fn dead(&self, item: &Item, mut view: View<'_>) -> Option<DeadEnd> {
        if !view.is_decisive(item) {
            return None;
        }
        // As in `offer`, `...` before an item allows a gap until the item has begun.
        view.gap &= self.touched || !item.loose;
        if item.next && view.gap && !self.touched {
            return Some(DeadEnd::NotNext(item.span));
        }
        if let Some((since, bound)) =
            over(item.within, self.since, view.shared, view.clock, view.now)
        {
            return Some(DeadEnd::Late(item.span, since, bound));
        }
        match (&item.kind, &self.kind) {
            (ItemKind::Sequence(items), StateKind::Sequence(at, Some(child))) => {
                child.dead_sequence(items.get(*at..)?, view)
            }
            (ItemKind::AnyOrder(items), StateKind::AnyOrder(states, _)) => {
                let branches = items.iter().zip(states);
                let open = branches.filter_map(|(item, state)| Some((item, state.as_ref()?)));
                dead_branch(open, view)
            }
            (ItemKind::Either(items), StateKind::Either(chosen)) => match chosen {
                Some((chosen, state)) => state.dead(items.get(*chosen)?, view),
                None => all(items.iter().map(|item| Self::new(item, self.since).dead(item, view))),
            },
            (ItemKind::Repeat { body, .. }, StateKind::Repeat(_, round)) => {
                let fresh = || Self::new(body, self.last).dead(body, view);
                match round {
                    Some(round) if round.can_end(body) => {
                        // The block can continue this repetition or begin a new one; the block is
                        // impossible only if both are impossible.
                        round.dead(body, view).and_then(|_| fresh())
                    }
                    Some(round) => round.dead(body, view),
                    None => fresh(),
                }
            }
            _ => None,
        }
    }

    /// Returns the reason why further events cannot complete a sequence whose first item has this
    /// state.
    fn dead_sequence(&self, items: &[Item], view: View<'_>) -> Option<DeadEnd> {
        let (now, ahead) = items.split_first()?;
        let mut dead_end = self.dead(now, view)?;
        // This item may end, so a later item can still accept an event.
        if self.can_end(now) {
            for item in ahead {
                dead_end = Self::new(item, self.last).dead(item, view)?;
                if !item.optional {
                    break;
                }
            }
        }
        Some(dead_end)
    }

    /// Collects the patterns that may come next, required patterns last.
    pub(in crate::check) fn expected<'i>(&self, item: &'i Item, out: &mut Vec<&'i Pattern>) {
        match (&item.kind, &self.kind) {
            (ItemKind::Event(pattern), StateKind::Event) => out.push(pattern),
            (ItemKind::Sequence(items), StateKind::Sequence(at, Some(child))) => {
                let mut ahead = items.iter().skip(*at);
                let Some(now) = ahead.next() else { return };
                child.expected(now, out);
                if !child.can_end(now) {
                    return;
                }
                for item in ahead {
                    Self::new(item, child.last).expected(item, out);
                    // Stop at a required item, because later items cannot come next. Also stop
                    // after one alternative too many.
                    if !item.optional || out.len() > MAX_EXPECTED + 1 {
                        break;
                    }
                }
            }
            (ItemKind::AnyOrder(items), StateKind::AnyOrder(states, _)) => {
                for (item, state) in items.iter().zip(states) {
                    state.iter().for_each(|state| state.expected(item, out));
                }
            }
            (ItemKind::Either(items), StateKind::Either(chosen)) => match chosen {
                Some((chosen, state)) => {
                    items.get(*chosen).into_iter().for_each(|item| state.expected(item, out));
                }
                None => {
                    items.iter().for_each(|item| Self::new(item, self.since).expected(item, out))
                }
            },
            (ItemKind::Repeat { body, .. }, StateKind::Repeat(_, round)) => match round {
                Some(round) => round.expected(body, out),
                None => Self::new(body, self.last).expected(body, out),
            },
            _ => {}
        }
    }
}
