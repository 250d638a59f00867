//! Events in their order: where a run of the steps stands, and which of them an event is.
//!
//! A state mirrors the item that it belongs to. An event is offered to the items that may come now, in
//! the order written; the first that takes it has it, and nothing is ever tried again. An item that
//! may be left out is left when one behind it takes an event.

use super::matching::{Event, Matcher, Miss, Value};
use super::syntax::{Item, ItemKind, Limit, Pattern};
use super::verdict::Kept;
use crate::model::Clock;
use crate::select::Bound;
use crate::source::Span;

/// Where an item stands.
#[derive(Clone, Debug)]
pub(super) struct State {
    /// Ticks at which it could begin.
    since: u64,
    /// Ticks of the last event that it took, `since` before that.
    last: u64,
    /// Whether it has taken an event.
    touched: bool,
    kind: StateKind,
}

#[derive(Clone, Debug)]
enum StateKind {
    Event,
    /// Which item, and where that stands.
    Sequence(usize, Option<Box<State>>),
    /// `None` for branches that are done.
    AnyOrder(Vec<Option<State>>),
    Either(Option<(usize, Box<State>)>),
    /// Rounds done, and the one that is going on.
    Repeat(u64, Option<Box<State>>),
}

/// What became of an offer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Offer {
    /// The item did not take the event.
    No,
    /// It did and can take more.
    Taken,
    /// It did and is done.
    Done,
}

/// What the items of a rule share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) bindings: Vec<Option<Value>>,
    /// Ticks of the events that have names.
    pub(super) marks: Vec<Option<u64>>,
    /// Whether an event that was not taken came since the last one that was.
    pub(super) gap: bool,
    /// The first event since the last step with the name of an expected one.
    pub(super) near: Option<Near>,
    /// A step whose event came too early, and the ticks since when it was waited for.
    pub(super) early: Option<(Span, u64)>,
    /// The step that took the last event.
    pub(super) taken: Span,
}

/// An event that was nearly taken.
#[derive(Debug)]
pub(super) struct Near {
    pub(super) event: Kept,
    pub(super) why: String,
}

/// Why a run cannot go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Doom {
    /// Something else came where this was to come next.
    NotNext(Span),
    /// The time of this is over; since when it ran, in ticks, and how long.
    Late(Span, u64, Bound),
}

/// What decides whether a run can go on.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'a> {
    pub(super) shared: &'a Shared,
    pub(super) clock: &'a Clock,
    /// Ticks of the last event that was looked at.
    pub(super) now: u64,
    /// See [`Shared::gap`].
    pub(super) gap: bool,
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

/// An event on offer.
pub(super) struct Run<'a, 'r> {
    pub(super) shared: &'a mut Shared,
    pub(super) matcher: &'a mut Matcher<'r>,
    pub(super) event: Event<'a>,
}

impl State {
    pub(super) fn new(item: &Item, since: u64) -> Self {
        let first = |item| Some(Box::new(Self::new(item, since)));
        let kind = match &item.kind {
            ItemKind::Event(_) => StateKind::Event,
            ItemKind::Sequence(items) => StateKind::Sequence(0, items.first().and_then(first)),
            ItemKind::AnyOrder(items) => {
                StateKind::AnyOrder(items.iter().map(|item| Some(Self::new(item, since))).collect())
            }
            ItemKind::Either(_) => StateKind::Either(None),
            ItemKind::Repeat { .. } => StateKind::Repeat(0, None),
        };
        Self { since, last: since, touched: false, kind }
    }

    /// Whether the item may end here.
    pub(super) fn can_end(&self, item: &Item) -> bool {
        match (&item.kind, &self.kind) {
            (ItemKind::Sequence(items), StateKind::Sequence(at, child)) => {
                let now = items.get(*at).zip(child.as_ref());
                now.is_none_or(|(item, child)| child.can_end(item))
                    && items.iter().skip(at + 1).all(|item| item.optional)
            }
            (ItemKind::AnyOrder(items), StateKind::AnyOrder(states)) => items
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
    pub(super) fn doom(&self, item: &Item, view: View<'_>) -> Option<Doom> {
        if self.can_end(item) { None } else { self.dead(item, view) }
    }

    /// Why no event that may come completes the item.
    fn dead(&self, item: &Item, mut view: View<'_>) -> Option<Doom> {
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
            (ItemKind::AnyOrder(items), StateKind::AnyOrder(states)) => {
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
    pub(super) fn expected<'i>(&self, item: &'i Item, out: &mut Vec<&'i Pattern>) {
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
            (ItemKind::AnyOrder(items), StateKind::AnyOrder(states)) => {
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

/// Expected events that are worth telling.
pub(super) const MOST_EXPECTED: usize = 4;

impl Run<'_, '_> {
    /// Offers the event to an item.
    pub(super) fn offer(&mut self, item: &Item, state: &mut State) -> Offer {
        let gap = self.shared.gap;
        let fresh = !state.touched;
        self.shared.gap &= !(fresh && item.loose);
        let offer = if fresh && item.next && self.shared.gap {
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
                (state.touched, state.last) = (true, self.event.event.ticks);
            }
        }
        offer
    }

    fn is_over(&self, item: &Item, state: &State) -> bool {
        let Event { trace, event } = self.event;
        over(item.within, state.since, self.shared, &trace.clock, event.ticks).is_some()
    }

    fn offer_inside(&mut self, item: &Item, state: &mut State) -> Offer {
        match (&item.kind, &mut state.kind) {
            (ItemKind::Event(pattern), StateKind::Event) => {
                self.offer_event(item, pattern, state.since)
            }
            (ItemKind::Sequence(items), StateKind::Sequence(at, child)) => {
                self.offer_sequence(items, at, child)
            }
            (ItemKind::AnyOrder(items), StateKind::AnyOrder(states)) => {
                self.offer_any_order(items, states)
            }
            (ItemKind::Either(items), StateKind::Either(chosen)) => {
                self.offer_either(items, chosen, state.since)
            }
            (ItemKind::Repeat { most, body, slots, .. }, StateKind::Repeat(rounds, round)) => {
                self.offer_repeat((*most, body, slots.clone()), rounds, round, state.last)
            }
            // A state is made from its item.
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
        let Event { trace, event } = self.event;
        if let Some(limit) = item.after {
            let since = start_of(limit, since, self.shared);
            if !is_longer(&trace.clock, since, event.ticks, limit.bound, true) {
                self.shared.early.get_or_insert((item.span, since));
                return Offer::No;
            }
        }
        self.shared.taken = item.span;
        if let Some(mark) = item.mark.and_then(|mark| self.shared.marks.get_mut(mark)) {
            *mark = Some(event.ticks);
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
        if !state.can_end(item) {
            return Offer::No;
        }
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

    /// An item of a sequence took the event: where it is done the next one begins.
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
        let next = items.get(*at).map(|item| State::new(item, self.event.event.ticks));
        *child = next.map(Box::new);
        if child.is_none() { Offer::Done } else { Offer::Taken }
    }

    fn offer_any_order(&mut self, items: &[Item], states: &mut [Option<State>]) -> Offer {
        let mut branches = items.iter().zip(states.iter_mut());
        let taken = branches.any(|(item, state)| {
            let offer = state.as_mut().map_or(Offer::No, |branch| self.offer(item, branch));
            if offer == Offer::Done {
                *state = None;
            }
            offer != Offer::No
        });
        match taken {
            false => Offer::No,
            true if states.iter().all(Option::is_none) => Offer::Done,
            true => Offer::Taken,
        }
    }

    fn offer_either(
        &mut self,
        items: &[Item],
        chosen: &mut Option<(usize, Box<State>)>,
        since: u64,
    ) -> Offer {
        if let Some((index, state)) = chosen {
            return items.get(*index).map_or(Offer::No, |item| self.offer(item, state));
        }
        for (index, item) in items.iter().enumerate() {
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
                Offer::No if !state.can_end(body) => return Offer::No,
                Offer::No => (done, begins) = (*rounds + 1, state.last),
            }
        }
        if done >= most {
            return Offer::No;
        }
        // The variables of the round before are forgotten, unless no new round begins.
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
        if self.shared.near.is_some() {
            return;
        }
        let place = (alternative, condition);
        let field = self.matcher.field(pattern, place);
        let why = match self.matcher.found(pattern, place, self.event) {
            Some(found) => format!("{field} is {found}"),
            None => format!("it has no {field}"),
        };
        self.shared.near = Some(Near { event: Kept::of(self.event.event), why });
    }

    fn note_late(&mut self, item: &Item) {
        let ItemKind::Event(pattern) = &item.kind else { return };
        if self.shared.near.is_some() {
            return;
        }
        let mut bindings = self.shared.bindings.clone();
        if self.matcher.matches(pattern, self.event, &mut bindings).is_ok() {
            let why = "it came too late".to_owned();
            self.shared.near = Some(Near { event: Kept::of(self.event.event), why });
        }
    }
}

impl Shared {
    pub(super) fn new(variables: usize, marks: usize) -> Self {
        Self {
            bindings: vec![None; variables],
            marks: vec![None; marks],
            gap: false,
            near: None,
            early: None,
            taken: Span::default(),
        }
    }
}

/// When a limit began to run.
fn start_of(limit: Limit, since: u64, shared: &Shared) -> u64 {
    let mark = limit.of.and_then(|mark| shared.marks.get(mark).copied().flatten());
    mark.unwrap_or(since)
}

/// Since when a limit ran that is over, and how long it was.
fn over(
    limit: Option<Limit>,
    since: u64,
    shared: &Shared,
    clock: &Clock,
    now: u64,
) -> Option<(u64, Bound)> {
    let limit = limit?;
    let since = start_of(limit, since, shared);
    is_longer(clock, since, now, limit.bound, false).then_some((since, limit.bound))
}

/// Whether a time is longer than a bound, or as long where that is enough.
pub(super) fn is_longer(clock: &Clock, since: u64, now: u64, bound: Bound, or_equal: bool) -> bool {
    let is = |took: u64, bound: u64| took > bound || (or_equal && took == bound);
    match bound {
        Bound::Ticks(ticks) => is(now.saturating_sub(since), ticks),
        Bound::Nanoseconds(ns) | Bound::WallClock(ns) => {
            let nanoseconds = |ticks| clock.nanoseconds(ticks);
            let took = nanoseconds(now).zip(nanoseconds(since));
            took.is_some_and(|(now, since)| is(now.saturating_sub(since), ns))
        }
    }
}
