//! The data structures for the rules of a file.

use super::figures::{Figure, Measure};
use super::thresholds::Threshold;
use crate::model::Trace;
use crate::select::expression::syntax::{Condition, Field, Text};
use crate::select::{Bound, SelectionError};
use crate::source::Span;

/// The rules of a file.
///
/// # Examples
///
/// ```
/// use tracewell::check::Rules;
/// use tracewell::source::Source;
///
/// let parsed = Rules::parse(&Source::new("my.rules", "SM_DCH(sig = ONE) within"));
/// assert!(parsed.rules.is_none());
/// assert!(parsed.findings[0].message.starts_with("expected a time such as 2 ms"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// The unnamed rule of the file, followed by the named rules.
    pub(super) rules: Vec<Rule>,
    /// The shapes. Each consists of an event name and the fields that conditions use. Patterns of
    /// the same shape share a plan for each event id.
    pub(super) shapes: Vec<Shape>,
    /// True if a limit is given in seconds.
    pub(super) timed: bool,
}

impl Rules {
    /// Checks that these rules can be applied to this trace.
    ///
    /// # Errors
    /// Returns an error if a rule has a time in seconds and the trace's clock has no known rate.
    pub fn check(&self, trace: &Trace) -> Result<(), SelectionError> {
        match self.timed && trace.clock.rate.is_none() {
            true => Err(SelectionError::NoRate),
            false => Ok(()),
        }
    }

    /// Returns true if there are thresholds.
    pub fn has_thresholds(&self) -> bool {
        self.rules.iter().any(|rule| !rule.thresholds.is_empty())
    }

    /// Returns the figures in thresholds that need an analysis: all except the number of missing
    /// events. If there are none, a check needs no [`Figures`](super::Figures).
    pub fn figures(&self) -> impl Iterator<Item = &Figure> {
        let thresholds = self.rules.iter().flat_map(|rule| &rule.thresholds);
        let figures = thresholds.map(|threshold| &threshold.figure);
        figures.filter(|figure| figure.measure != Measure::Lost)
    }
}

/// Events in order, and statements about the whole trace.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    /// The name; `None` for the rule that consists of the statements outside of named rules.
    pub(super) name: Option<String>,
    pub(super) steps: Item,
    pub(super) invariants: Vec<Invariant>,
    pub(super) thresholds: Vec<Threshold>,
    pub(super) ignored: Vec<Pattern>,
    pub(super) only: Vec<Pattern>,
    /// The span of `complete` if the rule has this word.
    pub(super) complete: Option<Span>,
    /// True if no event may follow the last step.
    pub(super) ends: bool,
    /// Number of variables in the steps.
    pub(super) slots: usize,
    /// Number of names given by `as`.
    pub(super) marks: usize,
}

impl Rule {
    /// Returns true if the rule has steps.
    pub(super) fn has_steps(&self) -> bool {
        !matches!(&self.steps.kind, ItemKind::Sequence(steps) if steps.is_empty())
    }

    /// Returns true if the rule has no requirements. Then every trace meets it.
    pub(super) fn is_empty(&self) -> bool {
        let has_statements = !self.invariants.is_empty() || !self.thresholds.is_empty();
        !self.has_steps() && !has_statements && self.complete.is_none()
    }
}

/// A step or a combination of steps.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) kind: ItemKind,
    pub(super) span: Span,
    /// True for `next`: the next event must begin the item.
    pub(super) next: bool,
    /// True if `...` precedes the item. Then any events may come first, even if the item contains
    /// `next`.
    pub(super) loose: bool,
    pub(super) within: Option<Limit>,
    pub(super) after: Option<Limit>,
    /// Index of the name given by `as`.
    pub(super) mark: Option<usize>,
    /// True if the item is optional.
    pub(super) optional: bool,
    /// The reasons why the item or a step in it may become impossible to complete.
    pub(super) risks: Risks,
}

/// The reasons why an item may become impossible to complete.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Risks {
    /// A time limit that can expire.
    pub(super) time: bool,
    /// A `next` that another event can violate.
    pub(super) gap: bool,
}

/// The kinds of items.
#[derive(Clone, Debug)]
pub(super) enum ItemKind {
    Event(Pattern),
    /// All items in order.
    Sequence(Vec<Item>),
    /// All items, whose events may be interleaved in any order.
    AnyOrder(Vec<Item>),
    /// One of the items: the first item that accepts an event.
    Either(Vec<Item>),
    Repeat {
        least: u64,
        most: u64,
        body: Box<Item>,
        /// Variables that are cleared before each repetition.
        slots: std::ops::Range<usize>,
    },
}

/// A time limit. It is counted from the previous step, or from an event named by `as`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limit {
    pub(super) bound: Bound,
    pub(super) of: Option<usize>,
}

/// A statement about the whole trace.
#[derive(Clone, Debug)]
pub(super) struct Invariant {
    pub(super) kind: InvariantKind,
    pub(super) span: Span,
    /// The event after which the statement applies; `None` for the start of the trace.
    pub(super) from: Option<Pattern>,
    /// The event that ends the range of the statement.
    pub(super) until: Option<Pattern>,
    /// Number of variables in the patterns.
    pub(super) slots: usize,
}

impl Invariant {
    /// Returns all patterns of the statement.
    pub(super) fn patterns(&self) -> impl Iterator<Item = &Pattern> {
        let (first, second) = match &self.kind {
            InvariantKind::Never(pattern) | InvariantKind::Count { pattern, .. } => (pattern, None),
            InvariantKind::Whenever { trigger, answer, .. } => (trigger, Some(answer)),
        };
        [first].into_iter().chain(second).chain(&self.from).chain(&self.until)
    }
}

/// The kind of a statement.
#[derive(Clone, Debug)]
pub(super) enum InvariantKind {
    Never(Pattern),
    Count {
        least: u64,
        most: u64,
        pattern: Pattern,
    },
    /// Each trigger must be followed by an answer.
    Whenever {
        trigger: Pattern,
        answer: Pattern,
        within: Option<Limit>,
        /// True for `each`: an event answers only the oldest waiting trigger that it matches. False
        /// for `whenever`: an event answers all waiting triggers that it matches.
        pairs: bool,
    },
}

/// Alternatives. An event must match one of them.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    pub(super) alternatives: Vec<EventPattern>,
    pub(super) span: Span,
}

/// A name, and conditions on fields.
#[derive(Clone, Debug)]
pub(super) struct EventPattern {
    /// Index of the shape. The shape contains the fields of the conditions in the same order.
    pub(super) shape: u32,
    pub(super) conditions: Box<[Condition]>,
}

/// The name of events, and some of their fields.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Shape {
    pub(super) name: Text,
    pub(super) fields: Vec<Field>,
}

impl Item {
    pub(super) fn new(kind: ItemKind, span: Span) -> Self {
        let optional = match &kind {
            ItemKind::Event(_) => false,
            ItemKind::Sequence(items) | ItemKind::AnyOrder(items) => {
                items.iter().all(|item| item.optional)
            }
            ItemKind::Either(items) => items.iter().any(|item| item.optional),
            ItemKind::Repeat { least, body, .. } => *least == 0 || body.optional,
        };
        let (next, loose, within, after, mark) = (false, false, None, None, None);
        let mut risks = Risks::default();
        // A block can become impossible for the same reasons as its steps.
        kind.parts().iter().for_each(|part| risks.add(part.risks));
        Self { kind, span, next, loose, within, after, mark, optional, risks }
    }

    /// Applies the modifiers `next` and `within` to the item.
    pub(super) fn decorate(&mut self, next: bool, within: Option<Limit>) {
        (self.next, self.within) = (self.next || next, within.or(self.within));
        self.risks.add(Risks { time: self.within.is_some(), gap: self.next });
    }

    /// Calls `note` for each pattern of the item.
    pub(super) fn patterns<'i>(&'i self, note: &mut dyn FnMut(&'i Pattern)) {
        match &self.kind {
            ItemKind::Event(pattern) => note(pattern),
            kind => kind.parts().iter().for_each(|part| part.patterns(note)),
        }
    }
}

impl ItemKind {
    /// Returns the items in this item.
    fn parts(&self) -> &[Item] {
        match self {
            Self::Event(_) => &[],
            Self::Sequence(items) | Self::AnyOrder(items) | Self::Either(items) => items,
            Self::Repeat { body, .. } => std::slice::from_ref(body),
        }
    }
}

impl Risks {
    fn add(&mut self, other: Self) {
        self.time |= other.time;
        self.gap |= other.gap;
    }
}
