//! Uses a table of names to find the shapes that cover an event id, without searching all shapes.
//!
//! `matching` compares the fields.

use super::syntax::{Rules, Shape};
use crate::model::Trace;
use crate::select::expression::syntax::{Field, Text};
use crate::select::{EventNames, is_event};

/// The shapes of all rules, by name.
#[derive(Debug)]
pub(super) struct Shapes<'r> {
    list: &'r [Shape],
    names: EventNames,
}

impl<'r> Shapes<'r> {
    pub(super) fn new(rules: &'r Rules) -> Self {
        let mut names = EventNames::default();
        for (number, shape) in rules.shapes.iter().enumerate() {
            // The index may return too many shapes. `is_named` tests each of them, including
            // wildcards and case.
            let (Text::Like(name) | Text::Exactly(name)) = &shape.name;
            names.add(name, number as u32);
        }
        Self { list: &rules.shapes, names }
    }

    /// Returns the shape with this index.
    pub(super) fn get(&self, number: u32) -> Option<&'r Shape> {
        self.list.get(number as usize)
    }

    /// Returns the fields of all shapes.
    pub(super) fn fields(&self) -> impl Iterator<Item = &'r Field> {
        self.list.iter().flat_map(|shape| &shape.fields)
    }

    /// Returns the indices of the shapes that cover an id, in order.
    pub(super) fn naming(&self, trace: &Trace, id: u32) -> Vec<u32> {
        let names = |number: &u32| self.get(*number).is_some_and(|s| is_named(&s.name, trace, id));
        let mut numbers: Vec<u32> = self.names.of(&trace.schema, id).filter(names).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }
}

/// Returns true if the name in a pattern is a name of an event id. Names in quotation marks are
/// compared literally. Other names are compared as in selections.
pub(super) fn is_named(name: &Text, trace: &Trace, id: u32) -> bool {
    match name {
        Text::Exactly(name) => {
            *name == trace.schema.event(id).name || trace.schema.is_called(id, name)
        }
        Text::Like(name) => is_event(name, &trace.schema, id),
    }
}
