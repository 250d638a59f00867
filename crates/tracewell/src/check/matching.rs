//! Whether an event is as a pattern says.
//!
//! What a pattern's name and fields are for an event id is worked out once for each shape and id; an
//! event of another name costs one look into a table.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;

use super::shapes::Shapes;
use super::syntax::{Comparison, Condition, Field, Item, Pattern, Property, Shape, Text, Wanted};
use crate::model::schema::{Argument, ArgumentKind};
use crate::model::{EventRef, Trace};
use crate::select::{self, is_event, like};
use crate::source::Span;
use crate::text::{Describer, TextBuffer};

/// Ids whose plans are remembered for each shape on average; a trace of nothing but different ids
/// must not fill memory.
const REMEMBERED: usize = 1 << 16;

/// Items of blocks that are remembered over all ids.
const MAX_BRANCHES: usize = 1 << 20;

/// An event with the trace that describes it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event<'a> {
    pub(super) trace: &'a Trace,
    pub(super) event: &'a EventRef<'a>,
}

/// Values that variables have.
pub(super) type Bindings = [Option<Value>];

/// The value of a field.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Value {
    /// As recorded; `None` for texts and lists.
    number: Option<i128>,
    /// The key of the object that it names.
    key: Option<u64>,
    /// As output shows it.
    pub(super) text: String,
}

impl Value {
    /// Whether two fields, perhaps of different events, say the same.
    fn same(&self, other: &Self) -> bool {
        match (self.key, other.key, self.number, other.number) {
            (Some(a), Some(b), ..) => a == b,
            (_, _, Some(a), Some(b)) => a == b,
            _ => self.text == other.text,
        }
    }
}

/// Why an event is not what a pattern says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Miss {
    /// It has another name.
    Name,
    /// It has the name, and a field that is not as the condition of these numbers, alternative and
    /// condition, says.
    Condition(usize, usize),
}

/// Where the fields of a shape are in events of an id.
#[derive(Clone, Debug)]
enum Place {
    Argument(usize),
    Property(Property),
    Nowhere,
}

/// Compares events with patterns.
#[derive(Debug)]
pub(super) struct Matcher<'r> {
    shapes: Arc<Shapes<'r>>,
    /// By shape and event id; `None` for events of other names.
    plans: HashMap<(u32, u32), Option<Arc<[Place]>>, RandomState>,
    /// The positions of a block's items by the shapes in them, by where the block begins in the rules.
    blocks: HashMap<u32, HashMap<u32, Vec<usize>, RandomState>, RandomState>,
    /// The items of a block that name an event id, by where the block begins in the rules and the id.
    branches: HashMap<(u32, u32), Arc<[usize]>, RandomState>,
    /// Items in `branches`.
    remembered: usize,
    describer: Describer,
    text: TextBuffer,
}

impl<'r> Matcher<'r> {
    pub(super) fn new(shapes: Arc<Shapes<'r>>) -> Self {
        let (describer, text) = (Describer::default(), TextBuffer::default());
        let (plans, blocks, branches) = Default::default();
        Self { shapes, plans, blocks, branches, remembered: 0, describer, text }
    }

    /// The items of a block with a pattern that names an event, by their positions. Of all others an event takes
    /// nothing.
    pub(super) fn named_items(
        &mut self,
        block: Span,
        items: &[Item],
        event: Event<'_>,
    ) -> Arc<[usize]> {
        let key = (block.start, event.event.id);
        if let Some(known) = self.branches.get(&key) {
            return Arc::clone(known);
        }
        let positions = self.blocks.entry(block.start).or_insert_with(|| positions(items));
        let shapes = self.shapes.naming(event.trace, event.event.id).into_iter();
        let named = shapes.filter_map(|shape| positions.get(&shape)).flatten();
        let mut named: Vec<usize> = named.copied().collect();
        named.sort_unstable();
        named.dedup();
        self.remembered += named.len() + 1;
        if self.remembered > MAX_BRANCHES {
            self.branches.clear();
            self.remembered = named.len() + 1;
        }
        let named: Arc<[usize]> = named.into();
        self.branches.insert(key, Arc::clone(&named));
        named
    }

    /// Whether an event is one of the alternatives. Variables without a value take theirs from the
    /// first that it is, and stay as they are where it is none.
    pub(super) fn matches(
        &mut self,
        pattern: &Pattern,
        event: Event<'_>,
        bindings: &mut Bindings,
    ) -> Result<(), Miss> {
        let mut miss = Miss::Name;
        for (number, alternative) in pattern.alternatives.iter().enumerate() {
            let Some(places) = self.places(alternative.shape, event) else { continue };
            let before = self.bound(&alternative.conditions, bindings);
            let failed = alternative
                .conditions
                .iter()
                .zip(places.iter())
                .position(|(condition, place)| !self.holds(condition, place, event, bindings));
            let Some(condition) = failed else { return Ok(()) };
            before.into_iter().for_each(|slot| bindings[slot] = None);
            miss = Miss::Condition(number, condition);
        }
        Err(miss)
    }

    /// Whether an event has a name of the pattern: most events have not, and need no further look.
    pub(super) fn is_named(&mut self, pattern: &Pattern, event: Event<'_>) -> bool {
        let mut alternatives = pattern.alternatives.iter();
        alternatives.any(|alternative| self.places(alternative.shape, event).is_some())
    }

    /// The variables of conditions that have no value yet.
    fn bound(&self, conditions: &[Condition], bindings: &Bindings) -> Vec<usize> {
        let values = conditions.iter().flat_map(|condition| &condition.values);
        let slots = values.filter_map(|value| match value {
            Wanted::Variable(slot) => Some(*slot),
            _ => None,
        });
        slots.filter(|slot| bindings.get(*slot).is_some_and(Option::is_none)).collect()
    }

    /// Where the fields of a shape are in this event; `None` where it has another name.
    fn places(&mut self, shape: u32, event: Event<'_>) -> Option<Arc<[Place]>> {
        let id = event.event.id;
        let known = self.plans.get(&(shape, id));
        if let Some(places) = known {
            return places.clone();
        }
        if self.plans.len() > REMEMBERED {
            self.plans.clear();
        }
        let places = self.shapes.get(shape).and_then(|shape| plan(shape, event.trace, id));
        self.plans.insert((shape, id), places.clone());
        places
    }

    fn holds(
        &mut self,
        condition: &Condition,
        place: &Place,
        event: Event<'_>,
        bindings: &mut Bindings,
    ) -> bool {
        match place {
            Place::Nowhere => false,
            Place::Property(Property::Object) => self.any_object(condition, event, bindings),
            _ => {
                let value = self.value(place, event);
                value.is_some_and(|value| compares(condition, value, bindings))
            }
        }
    }

    fn any_object(
        &mut self,
        condition: &Condition,
        event: Event<'_>,
        bindings: &mut Bindings,
    ) -> bool {
        let args = &event.trace.schema.event(event.event.id).args;
        let objects = args.iter().enumerate();
        let mut objects = objects.filter(|(_, arg)| matches!(arg.kind, ArgumentKind::Object(_)));
        let mut compare = |(index, _): (usize, &Argument)| {
            let value = self.value(&Place::Argument(index), event);
            value.is_some_and(|value| compares(condition, value, bindings))
        };
        match condition.comparison {
            // None of them.
            Comparison::Different => objects.all(&mut compare),
            _ => objects.any(&mut compare),
        }
    }

    /// What a condition of a pattern found in an event, as output shows it; `None` where the event
    /// has no such field.
    pub(super) fn found(
        &mut self,
        pattern: &Pattern,
        (alternative, condition): (usize, usize),
        event: Event<'_>,
    ) -> Option<String> {
        let shape = pattern.alternatives.get(alternative)?.shape;
        let places = self.places(shape, event)?;
        Some(self.value(places.get(condition)?, event)?.text)
    }

    /// The field of a condition, as it is written.
    pub(super) fn field(
        &self,
        pattern: &Pattern,
        (alternative, condition): (usize, usize),
    ) -> String {
        let shape = pattern.alternatives.get(alternative).map(|pattern| pattern.shape);
        let shape = shape.and_then(|shape| self.shapes.get(shape));
        match shape.and_then(|shape| shape.fields.get(condition)) {
            Some(Field::Argument(name)) => name.clone(),
            Some(Field::Property(property)) => property_name(*property),
            None => String::new(),
        }
    }

    fn value(&mut self, place: &Place, event: Event<'_>) -> Option<Value> {
        match place {
            Place::Argument(index) => self.argument(*index, event),
            Place::Property(property) => Some(self.property(*property, event)),
            Place::Nowhere => None,
        }
    }

    /// The value of an argument.
    pub(super) fn argument(&mut self, index: usize, event: Event<'_>) -> Option<Value> {
        let Event { trace, event } = event;
        self.text.truncate(0);
        if !self.describer.put_value(&mut self.text, trace, event, index) {
            return None;
        }
        let text = String::from_utf8_lossy(self.text.as_bytes()).into_owned();
        let raw = trace.payload.argument(event.payload, index)?;
        let kind = trace.schema.event(event.id).args.get(index).map(|argument| argument.kind);
        let (number, key) = match kind.unwrap_or(ArgumentKind::Unnamed) {
            ArgumentKind::Text | ArgumentKind::Bytes | ArgumentKind::List | ArgumentKind::Float => {
                (None, None)
            }
            ArgumentKind::Signed if trace.payload.digits() == 8 => {
                (Some(i128::from(raw as u32 as i32)), None)
            }
            ArgumentKind::Signed => (Some(i128::from(raw.cast_signed())), None),
            ArgumentKind::Object(kind) => {
                (Some(i128::from(raw)), Some(trace.schema.key(kind, raw)))
            }
            _ => (Some(i128::from(raw)), None),
        };
        Some(Value { number, key, text })
    }

    fn property(&mut self, property: Property, event: Event<'_>) -> Value {
        let Event { trace, event } = event;
        let schema = &trace.schema;
        let text = |text: &str| Value { text: text.to_owned(), ..Value::default() };
        let number = |number: u64| Value {
            number: Some(number.into()),
            key: None,
            text: number.to_string(),
        };
        match property {
            Property::Name => text(&schema.event(event.id).name),
            Property::Label => text(&schema.label(event.id)),
            Property::Family => text(&schema.event(event.id).family),
            Property::Id => number(event.id.into()),
            Property::Cpu => number(event.cpu.into()),
            Property::Ticks => number(event.ticks),
            Property::Priority => event.priority.map_or(text(""), |p| number(p.into())),
            Property::Context => {
                trace.contexts.get(event.context).map_or(text(""), |context| Value {
                    number: Some(context.key.into()),
                    key: Some(context.key),
                    text: context.name.clone(),
                })
            }
            Property::Text => self.arguments(trace, event),
            Property::Object => text(""),
        }
    }

    fn arguments(&mut self, trace: &Trace, event: &EventRef<'_>) -> Value {
        self.text.truncate(0);
        self.describer.put(&mut self.text, trace, event);
        let text = String::from_utf8_lossy(self.text.as_bytes()).into_owned();
        Value { text, ..Value::default() }
    }
}

pub(super) fn property_name(property: Property) -> String {
    let known = Property::ALL.iter().find(|(_, known)| *known == property);
    known.map_or_else(String::new, |(name, _)| format!("@{name}"))
}

/// The positions of items by the shapes of the patterns in them.
fn positions(items: &[Item]) -> HashMap<u32, Vec<usize>, RandomState> {
    let mut positions: HashMap<u32, Vec<usize>, RandomState> = HashMap::default();
    for (position, item) in items.iter().enumerate() {
        item.patterns(&mut |pattern| {
            for alternative in &pattern.alternatives {
                positions.entry(alternative.shape).or_default().push(position);
            }
        });
    }
    positions
}

/// Whether a pattern's name is one of an event id's: in quotation marks as it is, otherwise as in selections.
pub(super) fn is_named(name: &Text, trace: &Trace, id: u32) -> bool {
    match name {
        Text::Exactly(name) => {
            *name == trace.schema.event(id).name || trace.schema.is_called(id, name)
        }
        Text::Like(name) => is_event(name, &trace.schema, id),
    }
}

fn plan(shape: &Shape, trace: &Trace, id: u32) -> Option<Arc<[Place]>> {
    let args = &trace.schema.event(id).args;
    let place = |field: &Field| match field {
        Field::Property(property) => Place::Property(*property),
        Field::Argument(name) => {
            let position = select::argument(name, args);
            position.map_or(Place::Nowhere, Place::Argument)
        }
    };
    is_named(&shape.name, trace, id).then(|| shape.fields.iter().map(place).collect())
}

fn compares(condition: &Condition, found: Value, bindings: &mut Bindings) -> bool {
    if let [Wanted::Variable(slot)] = condition.values[..] {
        return compares_to_variable(condition.comparison, slot, found, bindings);
    }
    let is = |wanted: &Wanted, comparison: Comparison| match wanted {
        Wanted::Number(number, written) => match found.number {
            Some(value) => comparison.holds(value.cmp(number)),
            None => comparison.holds(found.text.as_str().cmp(written)),
        },
        Wanted::Text(Text::Like(pattern)) => comparison.holds(equality(like(pattern, &found.text))),
        Wanted::Text(Text::Exactly(text)) => comparison.holds(equality(*text == found.text)),
        Wanted::Variable(_) => false,
    };
    let wanted = &condition.values;
    match condition.comparison {
        Comparison::Different => wanted.iter().all(|wanted| is(wanted, Comparison::Different)),
        comparison => wanted.iter().any(|wanted| is(wanted, comparison)),
    }
}

fn equality(equal: bool) -> Ordering {
    if equal { Ordering::Equal } else { Ordering::Less }
}

fn compares_to_variable(
    comparison: Comparison,
    slot: usize,
    found: Value,
    bindings: &mut Bindings,
) -> bool {
    let Some(binding) = bindings.get_mut(slot) else { return false };
    let Some(known) = binding else {
        // Only equality gives a variable its value.
        let equal = comparison == Comparison::Equal;
        if equal {
            *binding = Some(found);
        }
        return equal;
    };
    match (comparison, found.number, known.number) {
        (Comparison::Equal, ..) => found.same(known),
        (Comparison::Different, ..) => !found.same(known),
        (_, Some(found), Some(known)) => comparison.holds(found.cmp(&known)),
        _ => false,
    }
}
