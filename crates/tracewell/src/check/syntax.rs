//! What rules are, after their text was read.

use crate::model::Trace;
use crate::select::{Bound, SelectionError};
use crate::source::Span;

/// The rules of a file.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// The file's own first, then those that have names.
    pub(super) rules: Vec<Rule>,
    /// Names with the fields that are asked of them; patterns of the same shape share what is worked
    /// out for an event id.
    pub(super) shapes: Vec<Shape>,
    /// Whether a limit is given in seconds.
    pub(super) timed: bool,
}

impl Rules {
    /// Whether these rules can be applied to this trace.
    ///
    /// # Errors
    /// Where they have times and the trace's clock has no rate.
    pub fn check(&self, trace: &Trace) -> Result<(), SelectionError> {
        match self.timed && trace.clock.rate.is_none() {
            true => Err(SelectionError::NoRate),
            false => Ok(()),
        }
    }
}

/// Events in order, and what holds at any time.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    /// `None` for what stands in the file outside of all named rules.
    pub(super) name: Option<String>,
    pub(super) steps: Item,
    pub(super) invariants: Vec<Invariant>,
    pub(super) ignored: Vec<Pattern>,
    pub(super) only: Vec<Pattern>,
    /// Where it is said that nothing may be lost.
    pub(super) complete: Option<Span>,
    /// Whether nothing may follow the last step.
    pub(super) ends: bool,
    /// Variables of the steps.
    pub(super) slots: usize,
    /// Events that have names.
    pub(super) marks: usize,
}

impl Rule {
    /// Whether it has steps: where there are none, there is no order that could be wrong.
    pub(super) fn has_steps(&self) -> bool {
        !matches!(&self.steps.kind, ItemKind::Sequence(steps) if steps.is_empty())
    }

    /// Whether every trace meets it, for it asks for nothing.
    pub(super) fn is_empty(&self) -> bool {
        !self.has_steps() && self.invariants.is_empty() && self.complete.is_none()
    }
}

/// A step, or several as one.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) kind: ItemKind,
    pub(super) span: Span,
    /// Whether it must begin with the very next event.
    pub(super) next: bool,
    /// Whether `...` stands before it: anything may come first, whatever `next` says inside.
    pub(super) loose: bool,
    pub(super) within: Option<Limit>,
    pub(super) after: Option<Limit>,
    /// The name that the event's time is given.
    pub(super) mark: Option<usize>,
    /// Whether it may be left out.
    pub(super) optional: bool,
    /// What can make it impossible to complete, it or a step in it.
    pub(super) risks: Risks,
}

/// What can make an item impossible to complete.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Risks {
    /// A limit of time.
    pub(super) time: bool,
    /// An event that comes where another must come next.
    pub(super) gap: bool,
}

/// What an item is.
#[derive(Clone, Debug)]
pub(super) enum ItemKind {
    Event(Pattern),
    /// One after the other.
    Sequence(Vec<Item>),
    /// All of them, their events mixed in any way.
    AnyOrder(Vec<Item>),
    /// One of them: the first that takes an event.
    Either(Vec<Item>),
    Repeat {
        least: u64,
        most: u64,
        body: Box<Item>,
        /// Variables that are forgotten before each round.
        slots: std::ops::Range<usize>,
    },
}

/// A time since the step before, or since a named event.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limit {
    pub(super) bound: Bound,
    pub(super) of: Option<usize>,
}

/// What holds at any time.
#[derive(Clone, Debug)]
pub(super) struct Invariant {
    pub(super) kind: InvariantKind,
    pub(super) span: Span,
    /// Where it begins to hold; from the start of the trace if nothing is said.
    pub(super) from: Option<Pattern>,
    /// Where it ceases to hold.
    pub(super) until: Option<Pattern>,
    /// Variables of its patterns.
    pub(super) slots: usize,
}

impl Invariant {
    /// All its patterns.
    pub(super) fn patterns(&self) -> impl Iterator<Item = &Pattern> {
        let (first, second) = match &self.kind {
            InvariantKind::Never(pattern) | InvariantKind::Count { pattern, .. } => (pattern, None),
            InvariantKind::Whenever { trigger, answer, .. } => (trigger, Some(answer)),
        };
        [first].into_iter().chain(second).chain(&self.from).chain(&self.until)
    }
}

/// What kind of thing holds.
#[derive(Clone, Debug)]
pub(super) enum InvariantKind {
    Never(Pattern),
    Count {
        least: u64,
        most: u64,
        pattern: Pattern,
    },
    /// The first is followed by the second.
    Whenever {
        trigger: Pattern,
        answer: Pattern,
        within: Option<Limit>,
    },
}

/// An event, described; any of the alternatives will do.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    pub(super) alternatives: Vec<EventPattern>,
    pub(super) span: Span,
}

/// A name, and what its fields must be.
#[derive(Clone, Debug)]
pub(super) struct EventPattern {
    /// Position among the shapes; a condition's field has the condition's position there.
    pub(super) shape: u32,
    pub(super) conditions: Box<[Condition]>,
}

/// A name and fields of events.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Shape {
    pub(super) name: Text,
    pub(super) fields: Vec<Field>,
}

/// A text to compare with.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Text {
    /// With wildcards; case does not count.
    Like(String),
    /// As it is.
    Exactly(String),
}

impl Default for Text {
    fn default() -> Self {
        Self::Exactly(String::new())
    }
}

/// What a condition is about.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Field {
    Argument(String),
    Property(Property),
}

/// What every event has, whatever its arguments are.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Property {
    Name,
    Label,
    Family,
    Id,
    Context,
    Cpu,
    Priority,
    Ticks,
    /// All decoded arguments, as a report shows them.
    Text,
    /// Any argument that refers to an object.
    Object,
}

impl Property {
    pub(super) const ALL: [(&'static str, Self); 10] = [
        ("name", Self::Name),
        ("label", Self::Label),
        ("family", Self::Family),
        ("id", Self::Id),
        ("context", Self::Context),
        ("cpu", Self::Cpu),
        ("priority", Self::Priority),
        ("ticks", Self::Ticks),
        ("text", Self::Text),
        ("object", Self::Object),
    ];
}

/// A field compared with values.
#[derive(Clone, Debug)]
pub(super) struct Condition {
    pub(super) comparison: Comparison,
    /// Any of them, for `=`; none of them, for `!=`.
    pub(super) values: Vec<Wanted>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Comparison {
    Equal,
    Different,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    pub(super) fn holds(self, order: std::cmp::Ordering) -> bool {
        match self {
            Self::Equal => order.is_eq(),
            Self::Different => order.is_ne(),
            Self::Less => order.is_lt(),
            Self::LessOrEqual => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::GreaterOrEqual => order.is_ge(),
        }
    }
}

/// A value to compare with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Wanted {
    /// A number, and how it was written.
    Number(i128, String),
    Text(Text),
    /// A variable: takes the value where it has none yet.
    Variable(usize),
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
        kind.parts().iter().for_each(|part| risks.add(part.risks));
        Self { kind, span, next, loose, within, after, mark, optional, risks }
    }

    /// Notes what stands around the item: `next`, `within`.
    pub(super) fn decorate(&mut self, next: bool, within: Option<Limit>) {
        (self.next, self.within) = (self.next || next, within.or(self.within));
        self.risks.add(Risks { time: self.within.is_some(), gap: self.next });
    }

    /// Calls `note` for each pattern in it.
    pub(super) fn patterns<'i>(&'i self, note: &mut dyn FnMut(&'i Pattern)) {
        match &self.kind {
            ItemKind::Event(pattern) => note(pattern),
            kind => kind.parts().iter().for_each(|part| part.patterns(note)),
        }
    }
}

impl ItemKind {
    /// The items that it consists of.
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
