//! Events in their order: where a run of the steps stands, and which of them an event is.
//!
//! A state mirrors the item that it belongs to. An event is offered to the items that may come now, in
//! the order written; the first that takes it has it, and nothing is ever tried again. An item that
//! may be left out is left when one behind it takes an event.
//!
//! | file | what it holds |
//! |---|---|
//! | `offer` | offering an event to what may come now |
//! | `outlook` | what may still come: whether an item may end, why it never can, what is expected |
//! | `limits` | times that steps may take |

mod limits;
mod offer;
mod outlook;

use super::matching::Value;
use super::syntax::{Item, ItemKind};
use super::verdict::Kept;
use crate::source::Span;

pub(super) use self::limits::is_longer;
pub(super) use self::offer::{Offer, Run};
pub(super) use self::outlook::{Doom, MOST_EXPECTED, View};

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
    /// `None` for branches that are done, and how many are not.
    AnyOrder(Vec<Option<State>>, usize),
    Either(Option<(usize, Box<State>)>),
    /// Rounds done, and the one that is going on.
    Repeat(u64, Option<Box<State>>),
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
            gap: false,
            near: None,
            early: None,
            taken: Span::default(),
        }
    }
}
