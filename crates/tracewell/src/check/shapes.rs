//! Which shapes of the rules name an event id, found by name and not by a walk over all of them.
//!
//! What an event's fields have to be is not asked here: that is `matching`.

use super::matching::is_named;
use super::syntax::{Rules, Shape, Text};
use crate::model::Trace;
use crate::select::EventNames;

/// The shapes of all rules, by their names.
#[derive(Debug)]
pub(super) struct Shapes<'r> {
    list: &'r [Shape],
    names: EventNames,
}

impl<'r> Shapes<'r> {
    pub(super) fn new(rules: &'r Rules) -> Self {
        let mut names = EventNames::default();
        for (number, shape) in rules.shapes.iter().enumerate() {
            let (Text::Like(name) | Text::Exactly(name)) = &shape.name;
            names.add(name, number as u32);
        }
        Self { list: &rules.shapes, names }
    }

    /// The shape of this number.
    pub(super) fn get(&self, number: u32) -> Option<&'r Shape> {
        self.list.get(number as usize)
    }

    /// The numbers of the shapes that name an id, in order.
    pub(super) fn naming(&self, trace: &Trace, id: u32) -> Vec<u32> {
        let names = |number: &u32| self.get(*number).is_some_and(|s| is_named(&s.name, trace, id));
        let mut numbers: Vec<u32> = self.names.of(&trace.schema, id).filter(names).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }
}
