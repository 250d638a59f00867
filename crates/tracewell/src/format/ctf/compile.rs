//! Compiles layouts to programs.
//!
//! A location that a length or a choice refers to gets a register. Registers are the same in all
//! programs of a trace, so that a field of one scope can refer to a field of another one.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;

use super::bits::Form;
use super::classes::{Choice, Class, Integer, IntegerKind, Length, Location, Scope, Structure};
use super::program::{Case, Count, Fault, FaultKind, Field, Op, Place, Program, Shape};

/// Maximum number of instructions of one program.
const MAX_OPS: usize = 1 << 16;

/// Maximum number of instructions of all programs of a trace, so that a small text cannot declare
/// programs that fill memory.
pub(super) const MAX_ALL_OPS: usize = 1 << 21;

/// Maximum depth of fields in fields.
const MAX_DEPTH: usize = 80;

/// The registers of the locations that fields refer to.
#[derive(Debug, Default)]
pub(super) struct Registers {
    by_location: HashMap<Location, u32, RandomState>,
    /// The registers of the locations that name a field.
    by_field: HashMap<(Scope, Vec<u32>), Vec<u32>, RandomState>,
}

impl Registers {
    /// Adds the locations to which the fields of a structure refer. `visited` has the structures
    /// whose locations were added, because many fields can share a structure.
    pub(super) fn add(&mut self, structure: &Arc<Structure>, visited: &mut Visited) {
        if visited.insert(Arc::as_ptr(structure).addr()) {
            structure.members.iter().for_each(|member| self.add_of(&member.class, visited));
        }
    }

    fn add_of(&mut self, class: &Class, visited: &mut Visited) {
        match class {
            Class::Integer(_) | Class::Variable(_) | Class::Float(_) | Class::Text(_) => {}
            Class::SizedText { length, .. } | Class::Blob { length, .. } => self.length(length),
            Class::Structure(structure) => self.add(structure, visited),
            Class::Array(array) => {
                if visited.insert(Arc::as_ptr(array).addr()) {
                    self.length(&array.length);
                    self.add_of(&array.element, visited);
                }
            }
            Class::Optional(choice) | Class::Variant(choice) => {
                if visited.insert(Arc::as_ptr(choice).addr()) {
                    self.location(&choice.selector);
                    choice.options.iter().for_each(|option| self.add_of(&option.class, visited));
                }
            }
        }
    }

    fn length(&mut self, length: &Length) {
        if let Length::Field(location) = length {
            self.location(location);
        }
    }

    fn location(&mut self, location: &Location) {
        if self.by_location.contains_key(location) {
            return;
        }
        let register = self.by_location.len() as u32;
        self.by_location.insert(location.clone(), register);
        for path in &location.paths {
            self.by_field.entry((location.scope, path.clone())).or_default().push(register);
        }
    }

    /// Returns the number of registers.
    pub(super) fn len(&self) -> usize {
        self.by_location.len()
    }
}

/// Addresses of structures whose locations are known.
pub(super) type Visited = std::collections::HashSet<usize, RandomState>;

/// Compiles the scopes of one program, one after the other.
#[derive(Debug)]
pub(super) struct Compiler<'r> {
    registers: &'r Registers,
    program: Program,
    /// The scope of the current field, and the way to it.
    path: (Scope, Vec<u32>),
    depth: usize,
    choices: usize,
}

impl<'r> Compiler<'r> {
    pub(super) fn new(registers: &'r Registers) -> Self {
        let path = (Scope::PacketHeader, Vec::new());
        Self { registers, program: Program::default(), path, depth: 0, choices: 0 }
    }

    /// Adds the fields of a scope. `place` returns the place of each member.
    ///
    /// # Errors
    /// Returns an error if the program becomes too large.
    pub(super) fn scope(
        &mut self,
        scope: Scope,
        structure: &Structure,
        mut place: impl FnMut(usize) -> Place,
    ) -> Result<(), Fault> {
        self.path = (scope, Vec::new());
        self.align(structure.alignment);
        for (index, member) in structure.members.iter().enumerate() {
            self.path.1.push(index as u32);
            self.class(&member.class, &member.name, place(index))?;
            self.path.1.pop();
        }
        Ok(())
    }

    /// Returns the program.
    pub(super) fn finish(self) -> Program {
        self.program
    }

    fn align(&mut self, alignment: u32) {
        if alignment > 1 {
            self.program.ops.push(Op::Align { mask: u64::from(alignment) - 1 });
        }
    }

    fn field(&mut self, name: &Arc<str>, place: Place, integer: Option<&Arc<Integer>>) -> u32 {
        let field = Field { name: name.clone(), place, integer: integer.cloned() };
        self.program.fields.push(field);
        (self.program.fields.len() - 1) as u32
    }

    fn class(&mut self, class: &Class, name: &Arc<str>, place: Place) -> Result<(), Fault> {
        if self.program.ops.len() >= MAX_OPS || self.depth >= MAX_DEPTH {
            return Err(Fault { at: 0, kind: FaultKind::Layout });
        }
        self.depth += 1;
        self.class_within(class, name, place)?;
        self.depth -= 1;
        Ok(())
    }

    fn class_within(&mut self, class: &Class, name: &Arc<str>, place: Place) -> Result<(), Fault> {
        match class {
            Class::Integer(integer) => {
                self.align(integer.alignment);
                let field = self.field(name, place, Some(integer));
                let is_signed = integer.kind == IntegerKind::Signed;
                let Integer { bits, order, reversed, .. } = **integer;
                let is_whole = integer.alignment >= 8 && matches!(bits, 8 | 16 | 32 | 64);
                self.program.ops.push(if is_whole && !reversed {
                    Op::Bytes { field, bits, order, is_signed }
                } else {
                    Op::Bits { field, form: Form { bits, order, reversed }, is_signed }
                });
                self.after_number(integer, is_signed);
            }
            Class::Variable(integer) => {
                self.align(8);
                let field = self.field(name, place, Some(integer));
                let is_signed = integer.kind == IntegerKind::Signed;
                self.program.ops.push(Op::Variable { field, is_signed });
                self.after_number(integer, is_signed);
            }
            Class::Float(float) => {
                self.align(float.alignment);
                let field = self.field(name, place, None);
                let form = Form { bits: float.bits, order: float.order, reversed: float.reversed };
                self.program.ops.push(Op::Float { field, form });
            }
            Class::Text(encoding) => {
                self.align(8);
                let field = self.field(name, place, None);
                self.program.ops.push(Op::Text { field, encoding: *encoding });
            }
            Class::SizedText { length, encoding } => {
                self.align(8);
                let (field, length) = (self.field(name, place, None), self.count(length));
                self.program.ops.push(Op::SizedText { field, encoding: *encoding, length });
            }
            Class::Blob { length, .. } => {
                self.align(8);
                let (field, length) = (self.field(name, place, None), self.count(length));
                self.program.ops.push(Op::Blob { field, length });
            }
            Class::Structure(structure) => {
                self.align(structure.alignment);
                self.open(name, place, Shape::Structure);
                for (index, member) in structure.members.iter().enumerate() {
                    self.path.1.push(index as u32);
                    self.class(&member.class, &member.name, inner(place, Place::Member))?;
                    self.path.1.pop();
                }
                self.program.ops.push(Op::Close { shape: Shape::Structure });
            }
            Class::Array(array) => {
                self.open(name, place, Shape::Array);
                let (at, length) = (self.program.ops.len(), self.count(&array.length));
                let mask = u64::from(array.alignment.max(1)) - 1;
                self.program.ops.push(Op::Array { length, mask, end: 0 });
                // The fields of an element get a value with each element.
                self.class(&array.element, &Arc::from(""), inner(place, Place::Element))?;
                let end = self.program.ops.len() as u32;
                if let Some(Op::Array { end: known, .. }) = self.program.ops.get_mut(at) {
                    *known = end;
                }
                self.program.ops.push(Op::Close { shape: Shape::Array });
            }
            Class::Optional(choice) => {
                self.open(name, place, Shape::Optional);
                self.choice(choice, inner(place, Place::Element), true)?;
                self.program.ops.push(Op::Close { shape: Shape::Optional });
            }
            Class::Variant(choice) => {
                self.open(name, place, Shape::Variant);
                self.choice(choice, inner(place, Place::Member), false)?;
                self.program.ops.push(Op::Close { shape: Shape::Variant });
            }
        }
        Ok(())
    }

    fn open(&mut self, name: &Arc<str>, place: Place, shape: Shape) {
        let field = self.field(name, place, None);
        self.program.ops.push(Op::Open { field, shape });
    }

    /// Adds the instructions that keep a number for other fields and for the packet.
    fn after_number(&mut self, integer: &Integer, is_signed: bool) {
        for register in self.registers.by_field.get(&self.path).into_iter().flatten() {
            self.program.ops.push(Op::Store { register: *register, is_signed });
            if self.choices > 0 {
                self.program.cleared.push(*register);
            }
        }
        for role in &integer.roles {
            self.program.ops.push(Op::Role { role: *role, bits: integer.bits });
        }
    }

    fn count(&self, length: &Length) -> Count {
        match length {
            Length::Fixed(length) => Count::Fixed(*length),
            Length::Field(location) => Count::Register(self.register(location)),
        }
    }

    /// Returns the register of a location. All locations were added before.
    fn register(&self, location: &Location) -> u32 {
        self.registers.by_location.get(location).copied().unwrap_or(u32::MAX)
    }

    fn choice(&mut self, choice: &Choice, place: Place, is_optional: bool) -> Result<(), Fault> {
        let register = self.register(&choice.selector);
        let at = self.program.ops.len();
        self.program.ops.push(Op::Choose { register, first: 0, count: 0, absent: None });
        let (mut cases, mut jumps) = (Vec::new(), Vec::new());
        self.choices += 1;
        for (index, option) in choice.options.iter().enumerate() {
            let to = self.program.ops.len() as u32;
            cases.extend(option.values.iter().map(|(low, high)| Case {
                low: *low,
                high: *high,
                to,
            }));
            self.path.1.push(index as u32);
            self.class(&option.class, &option.name, place)?;
            self.path.1.pop();
            jumps.push(self.program.ops.len());
            self.program.ops.push(Op::Jump { to: 0 });
        }
        self.choices -= 1;
        let after = self.program.ops.len() as u32;
        for jump in jumps {
            if let Some(Op::Jump { to }) = self.program.ops.get_mut(jump) {
                *to = after;
            }
        }
        let first = self.program.cases.len() as u32;
        let count = cases.len() as u32;
        self.program.cases.extend(cases);
        let absent = is_optional.then_some(after);
        if let Some(op) = self.program.ops.get_mut(at) {
            *op = Op::Choose { register, first, count, absent };
        }
        Ok(())
    }
}

/// Returns the place of a field in a field at this place.
const fn inner(outer: Place, place: Place) -> Place {
    if matches!(outer, Place::Hidden) { Place::Hidden } else { place }
}
