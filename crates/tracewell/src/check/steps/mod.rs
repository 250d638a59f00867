//! Matches events with steps in order: keeps the state of the steps, and finds the step that
//! accepts an event.
//!
//! Each state mirrors its item. An event is offered to the items that may come next. The items are
//! tried in the order in which they are written. The first item that accepts the event gets it.
//! This decision is final. An optional item ends when a later item accepts an event.
//!
//! |file | content |
//! |---|---|
//! |`offer` | offers an event to the items that may come next |
//! |`outlook` | tests if an item may end or has become impossible, and lists the events that it expects |
//! |`limits` | time limits of steps |

mod limits;
mod offer;
mod outlook;

use super::matching::Value;
use super::syntax::{Item, ItemKind};
use super::verdict::EventCopy;
use crate::source::Span;

pub(super) use self::limits::is_longer;
pub(super) use self::offer::{Offer, Run};
pub(super) use self::outlook::{DeadEnd, MAX_EXPECTED, View};

/// The state of an item.
#[derive(Clone, Debug)]
pub(super) struct State {
    /// The tick at which the item could begin.
    since: u64,
    /// The tick of the most recently accepted event; equal to `since` if no event was accepted.
    last: u64,
    /// True if the item has accepted an event.
    touched: bool,
    kind: StateKind,
}

#[derive(Clone, Debug)]
enum StateKind {
    Event,
    /// Index of the current item, and its state.
    Sequence(usize, Option<Box<State>>),
    /// The states of the branches (`None` for completed branches), and the number of open branches.
    AnyOrder(Vec<Option<State>>, usize),
    Either(Option<(usize, Box<State>)>),
    /// Number of completed repetitions, and the state of the current repetition.
    Repeat(u64, Option<Box<State>>),
}

/// The state that the items of a rule share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) bindings: Vec<Option<Value>>,
    /// Ticks of the events named by `as`.
    pub(super) marks: Vec<Option<u64>>,
    /// The gap after the most recently accepted event.
    pub(super) gap: Gap,
    /// The number of the event before missing events at a place where the rule allows no events.
    pub(super) unsure: Option<u64>,
    /// Among the events since the last step, the first one that has the name of an expected event.
    pub(super) near: Option<Near>,
    /// A step whose event occurred too early, and the tick from which the step's minimum time is
    /// counted.
    pub(super) early: Option<(Span, u64)>,
    /// The step that accepted the most recent event.
    pub(super) taken: Span,
}

/// A gap between the most recently accepted event and the current one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Gap {
    Nothing,
    /// Missing events, which no step could accept. Contains the number of the event before them.
    Missing(u64),
    /// An event that was rejected.
    Rejected,
}

/// An event that almost matched.
#[derive(Debug)]
pub(super) struct Near {
    pub(super) event: EventCopy,
    pub(super) why: String,
}

impl State {
    pub(super) fn new(item: &Item, since: u64) -> Self {
        let first = |item| Some(Box::new(Self::new(item, since)));
        let kind = match &item.kind {
            ItemKind::Event(_) => StateKind::Event,
            ItemKind::Sequence(items) => StateKind::Sequence(0, items.first().and_then(first)),
            ItemKind::AnyOrder(items) => {
                let branches = items.iter().map(|item| Some(Self::new(item, since)));
                StateKind::AnyOrder(branches.collect(), items.len())
            }
            ItemKind::Either(_) => StateKind::Either(None),
            ItemKind::Repeat { .. } => StateKind::Repeat(0, None),
        };
        Self { since, last: since, touched: false, kind }
    }
}

impl Shared {
    pub(super) fn new(variables: usize, marks: usize) -> Self {
        Self {
            bindings: vec![None; variables],
            marks: vec![None; marks],
            gap: Gap::Nothing,
            unsure: None,
            near: None,
            early: None,
            taken: Span::default(),
        }
    }
}
