//! Offers an event to the items that may come next.

use super::limits::{is_longer, over, start_of};
use super::{Gap, Near, Shared, State, StateKind};
use crate::check::matching::{Matcher, Miss};
use crate::check::syntax::{Item, ItemKind, Pattern};
use crate::check::verdict::EventCopy;
use crate::model::Event;
use crate::source::Span;

/// The result of an offer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::check) enum Offer {
    /// The item does not accept the event.
    No,
    /// The item accepts the event and is not complete.
    Taken,
    /// The item accepts the event and is complete.
    Done,
}

/// An event that is offered to items.
pub(in crate::check) struct Run<'a, 'r> {
    pub(in crate::check) shared: &'a mut Shared,
    pub(in crate::check) matcher: &'a mut Matcher<'r>,
    pub(in crate::check) event: Event<'a>,
}

impl Run<'_, '_> {
    /// Offers the event to an item.
    pub(in crate::check) fn offer(&mut self, item: &Item, state: &mut State) -> Offer {
        let gap = self.shared.gap;
        let fresh = !state.touched;
        // If `...` precedes the item, any events may come before its first step, so clear the gap.
        // If the item rejects the event, the gap is restored below.
        if fresh && item.loose {
            self.shared.gap = Gap::Nothing;
        }
        // `next` applies only to the first event of an item.
        let before = if fresh && item.next { self.shared.gap } else { Gap::Nothing };
        let offer = if before == Gap::Rejected {
            Offer::No
        } else if self.is_over(item, state) {
            self.note_late(item);
            Offer::No
        } else {
            self.offer_inside(item, state)
        };
        match offer {
            Offer::No => self.shared.gap = gap,
            Offer::Taken | Offer::Done => {
                (state.touched, state.last) = (true, self.event.ticks());
                if let Gap::Missing(after) = before {
                    self.shared.unsure.get_or_insert(after);
                }
            }
        }
        offer
    }

    fn is_over(&self, item: &Item, state: &State) -> bool {
        let Event { trace, row } = self.event;
        over(item.within, state.since, self.shared, &trace.clock, row.ticks).is_some()
    }

    fn offer_inside(&mut self, item: &Item, state: &mut State) -> Offer {
        match (&item.kind, &mut state.kind) {
            (ItemKind::Event(pattern), StateKind::Event) => {
                self.offer_event(item, pattern, state.since)
            }
            (ItemKind::Sequence(items), StateKind::Sequence(at, child)) => {
                self.offer_sequence(items, at, child)
            }
            (ItemKind::AnyOrder(items), StateKind::AnyOrder(states, open)) => {
                self.offer_any_order((item.span, items), states, open)
            }
            (ItemKind::Either(items), StateKind::Either(chosen)) => {
                self.offer_either((item.span, items), chosen, state.since)
            }
            (ItemKind::Repeat { most, body, slots, .. }, StateKind::Repeat(rounds, round)) => {
                self.offer_repeat((*most, body, slots.clone()), rounds, round, state.last)
            }
            // The state and its item always have the same kind.
            _ => Offer::No,
        }
    }

    fn offer_event(&mut self, item: &Item, pattern: &Pattern, since: u64) -> Offer {
        match self.matcher.matches(pattern, self.event, &mut self.shared.bindings) {
            Ok(()) => {}
            Err(miss) => {
                self.note_near(pattern, miss);
                return Offer::No;
            }
        }
        let Event { trace, row } = self.event;
        if let Some(limit) = item.after {
            let since = start_of(limit, since, self.shared);
            // Report the step that is first in the text, even if other steps also reject the event.
            if !is_longer(&trace.clock, since, row.ticks, limit.bound, true) {
                self.shared.early.get_or_insert((item.span, since));
                return Offer::No;
            }
        }
        // Messages name the innermost of the items that accept the event.
        self.shared.taken = item.span;
        if let Some(mark) = item.mark.and_then(|mark| self.shared.marks.get_mut(mark)) {
            *mark = Some(row.ticks);
        }
        Offer::Done
    }

    fn offer_sequence(
        &mut self,
        items: &[Item],
        at: &mut usize,
        child: &mut Option<Box<State>>,
    ) -> Offer {
        let Some((item, state)) = items.get(*at).zip(child.as_deref_mut()) else {
            return Offer::No;
        };
        let offer = self.offer(item, state);
        let since = state.last;
        if offer != Offer::No {
            return self.moved(items, at, child, offer);
        }
        // The current item is unfinished, so no later item may accept the event.
        if !state.can_end(item) {
            return Offer::No;
        }
        // The current item may be complete. Try the items after it, up to and including the first
        // that is not optional.
        for (ahead, item) in items.iter().enumerate().skip(*at + 1) {
            let mut state = State::new(item, since);
            let offer = self.offer(item, &mut state);
            if offer != Offer::No {
                *at = ahead;
                *child = Some(Box::new(state));
                return self.moved(items, at, child, offer);
            }
            if !item.optional {
                break;
            }
        }
        Offer::No
    }

    /// Advances a sequence after one of its items has accepted the event.
    fn moved(
        &self,
        items: &[Item],
        at: &mut usize,
        child: &mut Option<Box<State>>,
        offer: Offer,
    ) -> Offer {
        if offer == Offer::Taken {
            return Offer::Taken;
        }
        *at += 1;
        let next = items.get(*at).map(|item| State::new(item, self.event.ticks()));
        *child = next.map(Box::new);
        if child.is_none() { Offer::Done } else { Offer::Taken }
    }

    fn offer_any_order(
        &mut self,
        (block, items): (Span, &[Item]),
        states: &mut [Option<State>],
        open: &mut usize,
    ) -> Offer {
        for branch in self.matcher.named_items(block, items, self.event).iter().copied() {
            let Some((item, state)) = items.get(branch).zip(states.get_mut(branch)) else {
                continue;
            };
            // A branch without a state is complete.
            let offer = state.as_mut().map_or(Offer::No, |branch| self.offer(item, branch));
            match offer {
                Offer::No => continue,
                Offer::Taken => return Offer::Taken,
                Offer::Done => (*state, *open) = (None, *open - 1),
            }
            return if *open == 0 { Offer::Done } else { Offer::Taken };
        }
        Offer::No
    }

    fn offer_either(
        &mut self,
        (block, items): (Span, &[Item]),
        chosen: &mut Option<(usize, Box<State>)>,
        since: u64,
    ) -> Offer {
        // The first accepted event selects the branch. No other branch is tried later, so no event
        // is examined twice.
        if let Some((index, state)) = chosen {
            return items.get(*index).map_or(Offer::No, |item| self.offer(item, state));
        }
        for index in self.matcher.named_items(block, items, self.event).iter().copied() {
            let Some(item) = items.get(index) else { continue };
            let mut state = State::new(item, since);
            let offer = self.offer(item, &mut state);
            if offer != Offer::No {
                *chosen = Some((index, Box::new(state)));
                return offer;
            }
        }
        Offer::No
    }

    fn offer_repeat(
        &mut self,
        (most, body, slots): (u64, &Item, std::ops::Range<usize>),
        rounds: &mut u64,
        round: &mut Option<Box<State>>,
        since: u64,
    ) -> Offer {
        let (mut done, mut begins) = (*rounds, since);
        if let Some(state) = round {
            let offer = self.offer(body, state);
            match offer {
                Offer::Taken => return Offer::Taken,
                Offer::Done => return self.round_done(most, rounds, round),
                // An unfinished repetition must continue. A repetition that may end is complete
                // when the next one begins.
                Offer::No if !state.can_end(body) => return Offer::No,
                Offer::No => (done, begins) = (*rounds + 1, state.last),
            }
        }
        if done >= most {
            return Offer::No;
        }
        // A new repetition clears the block's variables. If the event does not begin the
        // repetition, the variables are restored.
        let own = self.shared.bindings.get_mut(slots.clone()).unwrap_or_default();
        let before: Vec<_> = own.iter_mut().map(Option::take).collect();
        let mut state = State::new(body, begins);
        let offer = self.offer(body, &mut state);
        if offer == Offer::No {
            let own = self.shared.bindings.get_mut(slots).unwrap_or_default();
            own.clone_from_slice(&before);
            return Offer::No;
        }
        (*rounds, *round) = (done, Some(Box::new(state)));
        match offer {
            Offer::Done => self.round_done(most, rounds, round),
            _ => Offer::Taken,
        }
    }

    fn round_done(&self, most: u64, rounds: &mut u64, round: &mut Option<Box<State>>) -> Offer {
        *rounds += 1;
        *round = None;
        if *rounds >= most { Offer::Done } else { Offer::Taken }
    }

    fn note_near(&mut self, pattern: &Pattern, miss: Miss) {
        let Miss::Condition(alternative, condition) = miss else { return };
        // The first near miss explains a failure best, because the later ones follow from it.
        if self.shared.near.is_some() {
            return;
        }
        let place = (alternative, condition);
        let field = self.matcher.field(pattern, place);
        let why = match self.matcher.found(pattern, place, self.event) {
            Some(found) => format!("{field} is {found}"),
            None => format!("it has no {field}"),
        };
        self.shared.near = Some(Near { event: EventCopy::of(self.event.row), why });
    }

    fn note_late(&mut self, item: &Item) {
        let ItemKind::Event(pattern) = &item.kind else { return };
        if self.shared.near.is_some() {
            return;
        }
        let mut bindings = self.shared.bindings.clone();
        if self.matcher.matches(pattern, self.event, &mut bindings).is_ok() {
            let why = "too late".to_owned();
            self.shared.near = Some(Near { event: EventCopy::of(self.event.row), why });
        }
    }
}
