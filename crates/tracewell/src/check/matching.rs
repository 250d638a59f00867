//! Compares events with patterns.
//!
//! A plan for each shape and event id contains the positions of the fields. Plans are cached, so an
//! event to which no pattern refers costs one table lookup.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;

use super::shapes::{Shapes, is_named};
use super::syntax::{Item, Pattern, Shape};
use crate::model::{Event, Trace};
use crate::select::expression::fields::{FieldPosition, Fields, Number, any_object};
use crate::select::expression::syntax::{Comparison, Condition, Field, Property, Text, Wanted};
use crate::source::Span;

/// Number of cached plans, over all shapes and ids, above which the cache is cleared. The limit
/// prevents a trace with many ids from filling the memory.
const REMEMBERED: usize = 1 << 16;

/// Maximum number of block items that are cached for all event ids together.
const MAX_BRANCHES: usize = 1 << 20;

/// The values of variables.
pub(super) type Bindings = [Option<Value>];

/// The value of a field.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Value {
    /// The recorded number; `None` for strings and lists.
    number: Option<i128>,
    /// The key of the object that the field refers to.
    key: Option<u64>,
    /// The text that output shows for the value.
    pub(super) text: String,
}

impl Value {
    /// Returns true if two fields, possibly of different events, have the same value.
    fn same(&self, other: &Self) -> bool {
        match (self.key, other.key, self.number, other.number) {
            (Some(a), Some(b), ..) => a == b,
            (_, _, Some(a), Some(b)) => a == b,
            _ => self.text == other.text,
        }
    }
}

/// The reason why an event does not match a pattern.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Miss {
    /// The event has another name.
    Name,
    /// The event has the name, but one of its fields does not meet a condition. Contains the index
    /// of the alternative and the index of the condition.
    Condition(usize, usize),
}

/// Compares events with patterns.
#[derive(Debug)]
pub(super) struct Matcher<'r> {
    shapes: Arc<Shapes<'r>>,
    /// Plans by shape and event id; `None` if the event does not have the shape's name.
    plans: HashMap<(u32, u32), Option<Arc<[FieldPosition]>>, RandomState>,
    /// For each block (by its position in the rules) and each shape, the items that contain the
    /// shape.
    blocks: HashMap<u32, HashMap<u32, Vec<usize>, RandomState>, RandomState>,
    /// For each block and event id, the items that refer to the event.
    branches: HashMap<(u32, u32), Arc<[usize]>, RandomState>,
    /// Number of items in `branches`.
    remembered: usize,
    fields: Fields,
}

impl<'r> Matcher<'r> {
    pub(super) fn new(shapes: Arc<Shapes<'r>>) -> Self {
        let (plans, blocks, branches) = Default::default();
        let fields = Fields::new(shapes.fields());
        Self { shapes, plans, blocks, branches, remembered: 0, fields }
    }

    /// Handles the next event, whether or not a pattern names it.
    #[inline]
    pub(super) fn follow(&mut self, event: Event<'_>) {
        self.fields.follow(event);
    }

    /// Returns the indices of those items of a block that refer to an event. No other item can
    /// accept the event.
    pub(super) fn named_items(
        &mut self,
        block: Span,
        items: &[Item],
        event: Event<'_>,
    ) -> Arc<[usize]> {
        let key = (block.start, event.id());
        if let Some(known) = self.branches.get(&key) {
            return Arc::clone(known);
        }
        let positions = self.blocks.entry(block.start).or_insert_with(|| positions(items));
        let shapes = self.shapes.naming(event.trace, event.id()).into_iter();
        let named = shapes.filter_map(|shape| positions.get(&shape)).flatten();
        let mut named: Vec<usize> = named.copied().collect();
        // Sort the items, because the event is offered to them in the order in which they are
        // written. Remove duplicates, because several shapes of an item can name the event.
        named.sort_unstable();
        named.dedup();
        self.remembered += named.len() + 1;
        // Clearing the whole cache is simpler than choosing entries to drop. Real traces never
        // reach the limit.
        if self.remembered > MAX_BRANCHES {
            self.branches.clear();
            self.remembered = named.len() + 1;
        }
        let named: Arc<[usize]> = named.into();
        self.branches.insert(key, Arc::clone(&named));
        named
    }

    /// Compares an event with the alternatives of a pattern. If an alternative matches, sets the
    /// variables of this alternative that have no value yet, and ignores later alternatives. If no
    /// alternative matches, variables do not change.
    pub(super) fn matches(
        &mut self,
        pattern: &Pattern,
        event: Event<'_>,
        bindings: &mut Bindings,
    ) -> Result<(), Miss> {
        let mut miss = Miss::Name;
        for (number, alternative) in pattern.alternatives.iter().enumerate() {
            let Some(positions) = self.positions(alternative.shape, event) else { continue };
            // An alternative that fails must not set variables for the next alternative.
            let before = self.bound(&alternative.conditions, bindings);
            let failed = alternative.conditions.iter().zip(positions.iter()).position(
                |(condition, place)| !self.holds(condition, place.clone(), event, bindings),
            );
            let Some(condition) = failed else { return Ok(()) };
            before.into_iter().for_each(|slot| bindings[slot] = None);
            // The last alternative with the right name explains the miss best.
            miss = Miss::Condition(number, condition);
        }
        Err(miss)
    }

    /// Returns true if the pattern names the event. Most events fail this test, so no further test
    /// is needed for them.
    pub(super) fn is_named(&mut self, pattern: &Pattern, event: Event<'_>) -> bool {
        let mut alternatives = pattern.alternatives.iter();
        alternatives.any(|alternative| self.positions(alternative.shape, event).is_some())
    }

    /// Returns the variables that occur in the conditions and have no value.
    fn bound(&self, conditions: &[Condition], bindings: &Bindings) -> Vec<usize> {
        let values = conditions.iter().flat_map(|condition| &condition.values);
        let slots = values.filter_map(|value| match value {
            Wanted::Variable(slot) => Some(*slot),
            _ => None,
        });
        slots.filter(|slot| bindings.get(*slot).is_some_and(Option::is_none)).collect()
    }

    /// Returns the positions of a shape's fields in this event, or `None` if the event has another
    /// name.
    fn positions(&mut self, shape: u32, event: Event<'_>) -> Option<Arc<[FieldPosition]>> {
        let id = event.id();
        let known = self.plans.get(&(shape, id));
        if let Some(positions) = known {
            return positions.clone();
        }
        if self.plans.len() > REMEMBERED {
            self.plans.clear();
        }
        let positions = self.shapes.get(shape).and_then(|shape| plan(shape, event.trace, id));
        self.plans.insert((shape, id), positions.clone());
        positions
    }

    fn holds(
        &mut self,
        condition: &Condition,
        position: FieldPosition,
        event: Event<'_>,
        bindings: &mut Bindings,
    ) -> bool {
        // A condition has either one variable or a list of values without variables.
        let [Wanted::Variable(slot)] = condition.values[..] else {
            return self.fields.meet(condition, position, event);
        };
        let mut holds = |position| {
            let value = self.value(position, event);
            value.is_some_and(|value| {
                compares_to_variable(condition.comparison, slot, value, bindings)
            })
        };
        match position {
            FieldPosition::Property(Property::Object) => {
                any_object(condition, event, |index| holds(FieldPosition::Argument(index)))
            }
            _ => holds(position),
        }
    }

    /// Returns the text that output shows for the field that a condition tests, or `None` if the
    /// event lacks this field.
    pub(super) fn found(
        &mut self,
        pattern: &Pattern,
        (alternative, condition): (usize, usize),
        event: Event<'_>,
    ) -> Option<String> {
        let shape = pattern.alternatives.get(alternative)?.shape;
        let positions = self.positions(shape, event)?;
        Some(self.value(positions.get(condition)?.clone(), event)?.text)
    }

    /// Returns the names of a pattern in the form that rules use.
    pub(super) fn names(&self, pattern: &Pattern) -> String {
        let shapes = pattern.alternatives.iter().filter_map(|of| self.shapes.get(of.shape));
        let names = shapes.map(|shape| {
            let (Text::Like(name) | Text::Exactly(name)) = &shape.name;
            name.as_str()
        });
        names.collect::<Vec<_>>().join(" | ")
    }

    /// Returns the field of a condition in the form that rules use.
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

    fn value(&mut self, position: FieldPosition, event: Event<'_>) -> Option<Value> {
        let Number { number, key } = self.fields.number(&position, event)?;
        let text = self.fields.text(position, event)?.into_owned();
        Some(Value { number, key, text })
    }
}

pub(super) fn property_name(property: Property) -> String {
    let known = Property::ALL.iter().find(|(_, known)| *known == property);
    known.map_or_else(String::new, |(name, _)| format!("@{name}"))
}

/// Returns, for each shape, the indices of the items that contain it.
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

fn plan(shape: &Shape, trace: &Trace, id: u32) -> Option<Arc<[FieldPosition]>> {
    let position = |field: &Field| FieldPosition::of(field, trace, id);
    is_named(&shape.name, trace, id).then(|| shape.fields.iter().map(position).collect())
}

fn compares_to_variable(
    comparison: Comparison,
    slot: usize,
    found: Value,
    bindings: &mut Bindings,
) -> bool {
    let Some(binding) = bindings.get_mut(slot) else { return false };
    let Some(known) = binding else {
        // Only `=` sets a variable.
        let equal = comparison == Comparison::Equal;
        if equal {
            *binding = Some(found);
        }
        return equal;
    };
    match (comparison, found.number, known.number) {
        (Comparison::Equal, ..) => found.same(known),
        (Comparison::Different, ..) => !found.same(known),
        // Only numbers can be smaller or larger.
        (_, Some(found), Some(known)) => comparison.holds(found.cmp(&known)),
        _ => false,
    }
}
