//! What may still come: whether an item may end here, why it can never be completed, what it expects.

use super::limits::over;
use super::{Shared, State, StateKind};
use crate::check::syntax::{Item, ItemKind, Pattern};
use crate::model::Clock;
use crate::select::Bound;
use crate::source::Span;

/// Why a run cannot go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::check) enum Doom {
    /// Something else came where this was to come next.
    NotNext(Span),
    /// The time of this is over; since when it ran, in ticks, and how long.
    Late(Span, u64, Bound),
}

/// What decides whether a run can go on.
#[derive(Clone, Copy, Debug)]
pub(in crate::check) struct View<'a> {
    pub(in crate::check) shared: &'a Shared,
    pub(in crate::check) clock: &'a Clock,
    /// Ticks of the last event that was looked at.
    pub(in crate::check) now: u64,
    /// See [`Shared::gap`].
    pub(in crate::check) gap: bool,
}

impl View<'_> {
    /// Whether what has come could have made it impossible to complete an item.
    fn is_decisive(&self, item: &Item) -> bool {
        item.risks.time || (item.risks.gap && self.gap)
    }
}

/// The first of these reasons, if all are there.
fn all(mut dooms: impl Iterator<Item = Option<Doom>>) -> Option<Doom> {
    let first = dooms.next()??;
    dooms.all(|doom| doom.is_some()).then_some(first)
}

/// Why branches of which all must be completed cannot be.
fn dead_branch<'a>(
    open: impl Iterator<Item = (&'a Item, &'a State)> + Clone,
    view: View<'_>,
) -> Option<Doom> {
    let mut must = open.clone().filter(|(item, state)| !state.can_end(item)).peekable();
    match must.peek() {
        Some(_) => must.find_map(|(item, state)| state.dead(item, view)),
        None => all(open.map(|(item, state)| state.dead(item, view))),
    }
}

/// Expected events that are worth telling.
pub(in crate::check) const MOST_EXPECTED: usize = 4;

impl State {
    /// Whether the item may end here.
    pub(in crate::check) fn can_end(&self, item: &Item) -> bool {
        match (&item.kind, &self.kind) {
            (ItemKind::Sequence(items), StateKind::Sequence(at, child)) => {
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
                Some(round) => round.can_end(body) && (rounds + 1 >= *least || body.optional),
                None => rounds >= least || body.optional,
            },
            _ => item.optional,
        }
    }

    /// Why the item cannot be completed any more; `None` while it can, or may end here.
    pub(in crate::check) fn doom(&self, item: &Item, view: View<'_>) -> Option<Doom> {
        // Most events decide nothing, and most rules are long.
        if !view.is_decisive(item) {
            return None;
        }
        if self.can_end(item) { None } else { self.dead(item, view) }
    }

    /// Why no event that may come completes the item.
    fn dead(&self, item: &Item, mut view: View<'_>) -> Option<Doom> {
        if !view.is_decisive(item) {
            return None;
        }
        view.gap &= self.touched || !item.loose;
        if item.next && view.gap && !self.touched {
            return Some(Doom::NotNext(item.span));
        }
        if let Some((since, bound)) =
            over(item.within, self.since, view.shared, view.clock, view.now)
        {
            return Some(Doom::Late(item.span, since, bound));
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
                        round.dead(body, view).and_then(|_| fresh())
                    }
                    Some(round) => round.dead(body, view),
                    None => fresh(),
                }
            }
            _ => None,
        }
    }

    /// The same of a sequence whose first item stands here.
    fn dead_sequence(&self, items: &[Item], view: View<'_>) -> Option<Doom> {
        let (now, ahead) = items.split_first()?;
        let mut doom = self.dead(now, view)?;
        if self.can_end(now) {
            for item in ahead {
                doom = Self::new(item, self.last).dead(item, view)?;
                if !item.optional {
                    break;
                }
            }
        }
        Some(doom)
    }

    /// The patterns that may come now, those that must behind those that may.
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
                    if !item.optional || out.len() > MOST_EXPECTED {
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
