//! Compiles layouts to programs.
//!
//! A register is allocated for each location to which a length or a choice refers. All programs of
//! a trace share the registers, so that a field of one scope can refer to a field of another scope.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use tracewell_wire::ByteOrder;

use super::bits::Form;
use super::classes::{
    Array, Choice, Class, Integer, IntegerKind, Length, Location, Scope, Structure,
};
use super::fixed::{FixedField, FixedKind, FixedNumber};
use super::position::{Fault, FaultKind};
use super::program::{Case, Count, Field, Op, Place, Program, Shape};

/// Maximum number of instructions of one program.
pub(super) const MAX_OPS: usize = 1 << 16;

/// Maximum total size ([`Program::size`]) of the programs for a trace's events. Without this limit,
/// a small text could declare programs that fill memory.
pub(super) const MAX_SIZE: usize = 1 << 21;

/// Maximum number of bits of fields that are read together.
const MAX_RUN: u32 = 1 << 20;

/// Maximum depth of nested fields.
const MAX_DEPTH: usize = 80;

/// The registers of the locations to which fields refer.
///
/// Each event has registers of its own for the fields in its payload and its specific context,
/// because other events have other fields at the same location. All events share the registers of
/// the other scopes.
#[derive(Debug, Default)]
pub(super) struct Registers {
    /// Number of registers before the first of these registers.
    before: usize,
    /// True if these are the registers of an event.
    of_event: bool,
    by_location: HashMap<Location, u32, RandomState>,
    /// Maps the scope and path of each field to its registers. A field has one register for each
    /// location that includes its path.
    by_field: HashMap<(Scope, Vec<u32>), Vec<u32>, RandomState>,
    /// The byte order of a number, and true if another number has another byte order.
    order: Option<ByteOrder>,
    is_mixed: bool,
}

impl Registers {
    /// Returns additional registers for the fields of an event.
    pub(super) fn of_event(&self) -> Self {
        Self { before: self.len(), of_event: true, ..Self::default() }
    }

    /// Adds the locations to which the fields of a structure refer. Skips the types in `visited`,
    /// because their locations are already added.
    pub(super) fn add(&mut self, structure: &Arc<Structure>, visited: &mut Visited) {
        if visited.insert(Arc::as_ptr(structure).addr()) {
            structure.members.iter().for_each(|member| self.add_of(&member.class, visited));
        }
    }

    fn add_of(&mut self, class: &Class, visited: &mut Visited) {
        match class {
            Class::Integer(integer) => self.order(integer.order),
            Class::Float(float) => self.order(float.order),
            Class::Variable(_) | Class::Text(_) => {}
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

    fn order(&mut self, order: ByteOrder) {
        self.is_mixed |= *self.order.get_or_insert(order) != order;
    }

    fn length(&mut self, length: &Length) {
        if let Length::Field(location) = length {
            self.location(location);
        }
    }

    fn location(&mut self, location: &Location) {
        let of_event = matches!(location.scope, Scope::SpecificContext | Scope::Payload);
        if of_event != self.of_event || self.by_location.contains_key(location) {
            return;
        }
        let register = self.len() as u32;
        self.by_location.insert(location.clone(), register);
        for path in &location.paths {
            self.by_field.entry((location.scope, path.clone())).or_default().push(register);
        }
    }

    /// Returns the number of registers.
    pub(super) fn len(&self) -> usize {
        self.before + self.by_location.len()
    }
}

/// Addresses of the types whose locations are already added.
pub(super) type Visited = std::collections::HashSet<usize, RandomState>;

/// The facts that a compiler knows about the byte at a position. If numbers in a byte have
/// different byte orders, the places of their bits in this byte are not defined.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Shared {
    /// The position in bits, modulo 8; `None` if it is not known.
    bit: Option<u64>,
    /// The byte order of the previous number; `None` if only the state knows it.
    order: Option<ByteOrder>,
}

impl Shared {
    /// The beginning of a byte.
    pub(super) const BYTE: Self = Self { bit: Some(0), order: None };
}

/// Compiles the scopes of one program in sequence.
#[derive(Debug)]
pub(super) struct Compiler<'r> {
    /// The registers that all events share.
    registers: &'r Registers,
    /// The registers of the event, if the program reads fields of one event.
    of_event: Option<&'r Registers>,
    program: Program,
    /// The scope of the current field, and the path to the field.
    path: (Scope, Vec<u32>),
    depth: usize,
    choices: usize,
    /// The position in bits, modulo a power of two.
    remainder: u64,
    divisor: u64,
    /// The known facts about the byte that may contain both the previous and the next number.
    shared: Shared,
    /// Index of the instruction that is the target of the latest jump. Numbers before this
    /// instruction must not be joined with numbers after it.
    barrier: usize,
}

impl<'r> Compiler<'r> {
    pub(super) fn new(registers: &'r Registers, of_event: Option<&'r Registers>) -> Self {
        let path = (Scope::PacketHeader, Vec::new());
        let program = Program::default();
        let (remainder, divisor) = (0, 1);
        Self {
            registers,
            of_event,
            program,
            path,
            depth: 0,
            choices: 0,
            remainder,
            divisor,
            shared: Shared::default(),
            barrier: 0,
        }
    }

    /// Sets the alignment in bits of the position at which the program begins, and what is known
    /// about the byte there.
    pub(super) fn begin_at(mut self, alignment: u64, shared: Shared) -> Self {
        self.divisor = alignment;
        self.shared = shared;
        self
    }

    /// Returns what is known about the byte at the end of the program.
    pub(super) fn shared(&self) -> Shared {
        self.shared
    }

    /// Returns the alignment in bits of the position after the program.
    pub(super) fn aligned(&self) -> u64 {
        match self.remainder {
            0 => self.divisor,
            remainder => remainder & remainder.wrapping_neg(),
        }
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
        let alignment = u64::from(alignment.max(1));
        let bit = self.shared.bit.map(|bit| bit.next_multiple_of(alignment) % 8);
        self.align_to(alignment);
        self.shared.bit = if alignment < 8 { bit } else { Some(0) };
    }

    fn align_to(&mut self, alignment: u64) {
        if alignment > self.divisor {
            self.program.ops.push(Op::Align { mask: alignment - 1 });
            (self.remainder, self.divisor) = (0, alignment);
            return;
        }
        let gap = self.remainder.wrapping_neg() & (alignment - 1);
        if gap == 0 {
            return;
        }
        self.advance(gap);
        match self.run() {
            Some(bits) if *bits < MAX_RUN => *bits += gap as u32,
            _ => self.program.ops.push(Op::Align { mask: alignment - 1 }),
        }
    }

    /// If the next number can share a byte with the previous number, adds a check that both have
    /// the same byte order. Most traces have only one byte order, and need no check.
    fn check_order(&mut self, order: ByteOrder) {
        let before = self.shared.order.replace(order);
        if self.registers.is_mixed && self.shared.bit != Some(0) && before != Some(order) {
            self.program.ops.push(Op::CheckOrder { before, order });
        }
    }

    /// Stores the byte order of the previous number for numbers that follow at a place where the
    /// compiler does not know it. This is necessary only within a byte.
    pub(super) fn keep_order(&mut self) {
        if let Some(order) = self.shared.order.filter(|_| self.shared.bit != Some(0))
            && self.registers.is_mixed
        {
            self.program.ops.push(Op::KeepOrder { order });
        }
    }

    /// Moves the known position by a number of bits.
    fn advance(&mut self, bits: u64) {
        self.shared.bit = self.shared.bit.map(|bit| (bit + bits % 8) % 8);
        self.remainder = self.remainder.wrapping_add(bits) & (self.divisor - 1);
    }

    /// Sets the alignment that is known at this position, which follows a field of unknown length
    /// or is the target of a jump. Fields before this position are not read together with fields
    /// after it.
    fn join(&mut self, aligned: u64) {
        self.shared = if aligned < 8 { Shared::default() } else { Shared::BYTE };
        (self.remainder, self.divisor) = (0, aligned);
        self.barrier = self.program.ops.len();
    }

    /// Several fields at fixed offsets form a run. Returns the length in bits of the run that ends
    /// at the position, or `None` if there is no such run.
    fn run(&mut self) -> Option<&mut u32> {
        match self.program.ops.get_mut(self.barrier..)?.last_mut()? {
            Op::Fixed { bits, .. } => Some(bits),
            _ => None,
        }
    }

    /// Adds a field of `length` bits that is read together with its neighbours. The argument of
    /// `kind` is the offset of the field in bits, and the result is the form of the field. Returns
    /// false if `kind` returns `None`, or if the offset is not fixed.
    fn fixed(
        &mut self,
        field: u32,
        length: u64,
        kind: impl FnOnce(u32) -> Option<FixedKind>,
    ) -> bool {
        if length > u64::from(MAX_RUN) {
            return false;
        }
        let at = self.run().map_or(0, |bits| *bits);
        let begins = at == 0 || at > MAX_RUN;
        if begins && self.aligned() < 8 {
            return false;
        }
        let at = if begins { 0 } else { at };
        let Some(kind) = kind(at) else { return false };
        let Program { ops, fixed, .. } = &mut self.program;
        fixed.push(FixedField { field, kind });
        if begins {
            let first = fixed.len() as u32 - 1;
            let mask = match ops.get(self.barrier..).and_then(|ops| ops.last()) {
                Some(Op::Align { mask }) => {
                    let mask = *mask;
                    ops.pop();
                    mask
                }
                _ => 0,
            };
            ops.push(Op::Fixed { mask, first, count: 1, bits: length as u32 });
        } else if let Some(Op::Fixed { count, bits, .. }) = ops.last_mut() {
            *count += 1;
            *bits += length as u32;
        }
        self.advance(length);
        true
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
                self.check_order(integer.order);
                let field = self.field(name, place, Some(integer));
                let is_signed = integer.kind == IntegerKind::Signed;
                let Integer { bits, order, reversed, .. } = **integer;
                let form = Form { bits, order, reversed };
                let kind = |at| FixedNumber::new(form, at, is_signed).map(FixedKind::Number);
                if !self.is_used(integer) && self.fixed(field, u64::from(bits), kind) {
                    return Ok(());
                }
                let is_whole = self.aligned() >= 8 && matches!(bits, 8 | 16 | 32 | 64);
                self.program.ops.push(if is_whole && !reversed {
                    Op::Bytes { field, bits, order, is_signed }
                } else {
                    Op::Bits { field, form, is_signed }
                });
                self.advance(u64::from(bits));
                self.after_number(integer, is_signed);
            }
            Class::Variable(integer) => {
                self.align(8);
                let field = self.field(name, place, Some(integer));
                let is_signed = integer.kind == IntegerKind::Signed;
                self.program.ops.push(Op::Variable { field, is_signed });
                self.join(8);
                self.after_number(integer, is_signed);
            }
            Class::Float(float) => {
                self.align(float.alignment);
                self.check_order(float.order);
                let field = self.field(name, place, None);
                let form = Form { bits: float.bits, order: float.order, reversed: float.reversed };
                self.program.ops.push(Op::Float { field, form });
                self.advance(u64::from(float.bits));
            }
            Class::Text(encoding) => {
                self.align(8);
                let field = self.field(name, place, None);
                self.program.ops.push(Op::Text { field, encoding: *encoding });
                self.join(8);
            }
            Class::SizedText { length, encoding } => {
                self.align(8);
                let (field, length) = (self.field(name, place, None), self.count(length));
                if let Count::Fixed(bytes) = length {
                    let encoding = *encoding;
                    let kind = |at| {
                        let offset = at / 8;
                        let length = bytes as u32;
                        Some(FixedKind::Text { offset, length, encoding })
                    };
                    if self.fixed(field, bytes.saturating_mul(8), kind) {
                        return Ok(());
                    }
                }
                self.program.ops.push(Op::SizedText { field, encoding: *encoding, length });
                self.join(8);
            }
            Class::Blob { length, .. } => {
                self.align(8);
                let (field, length) = (self.field(name, place, None), self.count(length));
                self.program.ops.push(Op::Blob { field, length });
                self.join(8);
            }
            Class::Structure(structure) => {
                self.align(structure.alignment);
                self.open(name, place, Shape::Structure);
                for (index, member) in structure.members.iter().enumerate() {
                    self.path.1.push(index as u32);
                    self.class(&member.class, &member.name, inner(place, Place::Member))?;
                    self.path.1.pop();
                }
                self.close(place, Shape::Structure);
            }
            Class::Array(array) => {
                self.open(name, place, Shape::Array);
                if let Some(number) = self.numbers(array, place) {
                    self.program.ops.push(number);
                    self.join(8);
                    self.close(place, Shape::Array);
                    return Ok(());
                }
                self.keep_order();
                let (at, length) = (self.program.ops.len(), self.count(&array.length));
                let mask = u64::from(array.alignment.max(1)) - 1;
                self.program.ops.push(Op::Array { length, mask, end: 0 });
                // The position of the first element can be aligned differently from the positions
                // of the others.
                self.join(1);
                self.class(&array.element, &Arc::from(""), inner(place, Place::Element))?;
                self.keep_order();
                let end = self.program.ops.len() as u32;
                if let Some(Op::Array { end: known, .. }) = self.program.ops.get_mut(at) {
                    *known = end;
                }
                self.join(1);
                self.close(place, Shape::Array);
            }
            Class::Optional(choice) => {
                self.open(name, place, Shape::Optional);
                self.choice(choice, inner(place, Place::Element), true)?;
                self.close(place, Shape::Optional);
            }
            Class::Variant(choice) => {
                self.open(name, place, Shape::Variant);
                self.choice(choice, inner(place, Place::Member), false)?;
                self.close(place, Shape::Variant);
            }
        }
        Ok(())
    }

    /// Returns the instruction for an array of numbers of whole bytes, or `None` for other arrays.
    fn numbers(&mut self, array: &Array, place: Place) -> Option<Op> {
        let Class::Integer(integer) = &array.element else { return None };
        let Integer { bits, order, reversed, alignment, .. } = **integer;
        let bits_of_step = u32::from(bits).next_multiple_of(alignment.max(8));
        if array.alignment < 8 || bits_of_step != u32::from(bits) || self.is_used(integer) {
            return None;
        }
        let form = Form { bits, order, reversed };
        let number = FixedNumber::new(form, 0, integer.kind == IntegerKind::Signed)?;
        let field = self.field(&Arc::from(""), inner(place, Place::Element), Some(integer));
        let (length, mask) = (self.count(&array.length), u64::from(array.alignment) - 1);
        Some(Op::Numbers { field, length, mask, number, step: bits / 8 })
    }

    fn open(&mut self, name: &Arc<str>, place: Place, shape: Shape) {
        // The fields that describe a packet are not passed to outputs.
        if place == Place::Hidden {
            return;
        }
        let field = self.field(name, place, None);
        self.program.ops.push(Op::Open { field, shape });
    }

    fn close(&mut self, place: Place, shape: Shape) {
        if place != Place::Hidden {
            self.program.ops.push(Op::Close { shape });
        }
    }

    /// Returns true if other fields refer to the current number, or if it has a role.
    fn is_used(&self, integer: &Integer) -> bool {
        !integer.roles.is_empty() || self.stored().next().is_some()
    }

    fn known(&self) -> impl Iterator<Item = &'r Registers> {
        std::iter::once(self.registers).chain(self.of_event)
    }

    /// Returns the registers that store the current number.
    fn stored(&self) -> impl Iterator<Item = u32> {
        let found = self.known().filter_map(|known| known.by_field.get(&self.path));
        found.flatten().copied()
    }

    /// Adds the instructions that apply the roles of a number, and those that store the number if
    /// other fields refer to it.
    fn after_number(&mut self, integer: &Integer, is_signed: bool) {
        let registers: Vec<_> = self.stored().collect();
        for register in registers {
            self.program.ops.push(Op::Store { register, is_signed });
            if self.choices > 0 {
                self.program.cleared.push(register);
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

    /// Returns the register of a location. The caller has added all locations.
    fn register(&self, location: &Location) -> u32 {
        let found = self.known().find_map(|known| known.by_location.get(location));
        found.copied().unwrap_or(u32::MAX)
    }

    fn choice(&mut self, choice: &Choice, place: Place, is_optional: bool) -> Result<(), Fault> {
        let register = self.register(&choice.selector);
        let before = self.shared;
        // Without an option, the next number follows the number before the choice.
        if is_optional {
            self.keep_order();
        }
        let mut bit = if is_optional { Some(before.bit) } else { None };
        let at = self.program.ops.len();
        self.program.ops.push(Op::Choose { register, first: 0, count: 0, absent: None });
        let (mut cases, mut jumps) = (Vec::new(), Vec::new());
        let aligned = self.aligned();
        let mut after_all = if is_optional { aligned } else { u64::MAX };
        self.choices += 1;
        for (index, option) in choice.options.iter().enumerate() {
            self.join(aligned);
            self.shared = before;
            let to = self.program.ops.len() as u32;
            cases.extend(option.values.iter().map(|(low, high)| Case {
                low: *low,
                high: *high,
                to,
            }));
            self.path.1.push(index as u32);
            self.class(&option.class, &option.name, place)?;
            self.path.1.pop();
            after_all = after_all.min(self.aligned());
            self.keep_order();
            bit = Some(self.shared.bit.filter(|own| bit.is_none_or(|other| other == Some(*own))));
            jumps.push(self.program.ops.len());
            self.program.ops.push(Op::Jump { to: 0 });
        }
        self.choices -= 1;
        self.join(if choice.options.is_empty() { 1 } else { after_all });
        self.shared = Shared { bit: bit.flatten(), order: None };
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

/// Returns `place`, or [`Place::Hidden`] if the enclosing field is hidden. `outer` is the place of
/// the enclosing field.
const fn inner(outer: Place, place: Place) -> Place {
    if matches!(outer, Place::Hidden) { Place::Hidden } else { place }
}
