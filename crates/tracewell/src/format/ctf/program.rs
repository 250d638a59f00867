//! The program of a layout: flat instructions that read the fields of a scope.
//!
//! [`compile`](super::compile) makes programs. A program reads the bytes of a packet, stores the
//! numbers to which later fields refer, and passes each field to an [`Output`]. It allocates no
//! memory.

use std::sync::Arc;

use tracewell_wire::ByteOrder;

use super::bits::{Form, ones, signed};
use super::classes::{Encoding, Integer, Role};
use super::fixed::{FixedField, FixedKind, FixedNumber, SlotNumber};
use super::position::{Bits, Fault, FaultKind, end_of_text};

/// Maximum number of array elements of zero bits in a packet. Each bit of the packet before an
/// element increases the limit for this element by 1. Such elements take time and memory, but
/// occupy no bytes of the file.
const MAX_EMPTY_ELEMENTS: u64 = 1 << 16;

/// The kind of a field that contains fields.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Shape {
    Structure,
    Array,
    /// One of several fields.
    Variant,
    /// A field that may be absent.
    Optional,
}

/// The destination of a field's value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// A slot of the event's row.
    Slot(u8),
    /// A member of the structure that the last slot of the row contains.
    Rest,
    /// A member of the enclosing structure.
    Member,
    /// A field without a name, in an array, a variant or an optional field.
    Element,
    /// The field has no destination. It is not an argument, because it describes the packet or the
    /// event.
    Hidden,
}

/// The description of a field for outputs.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) name: Arc<str>,
    pub(super) place: Place,
    /// The number's class, if the field is a number.
    pub(super) integer: Option<Arc<Integer>>,
}

/// Receives the fields that a program reads.
pub(super) trait Output {
    /// Receives a number. Signed numbers are extended to 64 bits.
    fn number(&mut self, field: &Field, value: u64);
    /// Receives a number with a fraction.
    fn float(&mut self, field: &Field, value: f64);
    /// Receives a string without its NUL.
    fn text(&mut self, field: &Field, text: &[u8], encoding: Encoding);
    /// Receives bytes.
    fn blob(&mut self, field: &Field, bytes: &[u8]);
    /// Begins a field that contains fields.
    fn open(&mut self, field: &Field, shape: Shape);
    /// Ends a field that contains fields.
    fn close(&mut self, shape: Shape);
    /// Receives the elements of an array of numbers.
    #[inline]
    fn numbers(&mut self, field: &Field, elements: Elements<'_>) {
        elements.for_each(|value| self.number(field, value));
    }
    /// Receives a run of numbers; the run begins at the start of `bytes`. `fields` contains the
    /// fields of these numbers, and `present` has a bit for each of their slots.
    #[inline]
    fn slots(&mut self, numbers: &[SlotNumber], fields: &[Field], present: u32, bytes: &[u8]) {
        let _ = present;
        for number in numbers {
            if let Some(field) = fields.get(number.field as usize) {
                self.number(field, number.number.read(bytes));
            }
        }
    }
}

/// An iterator over the numbers of an array.
#[derive(Clone, Debug)]
pub(super) struct Elements<'b> {
    number: FixedNumber,
    /// The bytes from the next element on. They can extend beyond the array.
    bytes: &'b [u8],
    /// Number of bytes of an element.
    step: usize,
    /// Number of elements that follow.
    rest: u64,
}

impl<'b> Elements<'b> {
    /// Takes the array that begins at the position of `bits`. The array contains `length` numbers,
    /// each with `step` bytes.
    #[inline]
    pub(super) fn take(
        length: u64,
        number: FixedNumber,
        step: u8,
        bits: &mut Bits<'b>,
    ) -> Result<Self, Fault> {
        let bytes = bits.bytes.get((bits.at / 8) as usize..).unwrap_or_default();
        bits.take(length.saturating_mul(u64::from(step)))?;
        Ok(Self { number, bytes, step: step.into(), rest: length })
    }
}

impl Iterator for Elements<'_> {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        self.rest = self.rest.checked_sub(1)?;
        let value = self.number.read(self.bytes);
        self.bytes = self.bytes.get(self.step..).unwrap_or_default();
        Some(value)
    }
}

/// An output that drops all fields.
#[derive(Debug)]
pub(super) struct Nothing;

impl Output for Nothing {
    fn number(&mut self, _: &Field, _: u64) {}
    fn float(&mut self, _: &Field, _: f64) {}
    fn text(&mut self, _: &Field, _: &[u8], _: Encoding) {}
    fn blob(&mut self, _: &Field, _: &[u8]) {}
    fn open(&mut self, _: &Field, _: Shape) {}
    fn close(&mut self, _: Shape) {}
}

/// A length, in elements or bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Count {
    Fixed(u64),
    Register(u32),
}

/// An instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Op {
    /// Rounds the position up. `mask` is the alignment in bits minus 1.
    Align {
        mask: u64,
    },
    /// Rounds the position up, as `Align` does, and then reads the fields at fixed offsets from it.
    /// The fields are `count` entries of `fixed`, beginning with `first`. Together, they have
    /// `bits` bits.
    Fixed {
        mask: u64,
        first: u32,
        count: u32,
        bits: u32,
    },
    /// Rounds the position up, as `Align` does, and then reads numbers at fixed offsets from it
    /// into their slots. The numbers are `count` entries of `slots`, beginning with `first`.
    /// Together, they have `bits` bits. `present` has a bit for each slot.
    Slots {
        mask: u64,
        first: u32,
        count: u32,
        bits: u32,
        present: u32,
    },
    /// Reads an array of numbers of whole bytes. `mask` is the alignment in bits minus 1.
    Numbers {
        field: u32,
        length: Count,
        mask: u64,
        number: FixedNumber,
        /// Number of bytes of a number.
        step: u8,
    },
    /// Reads a number of 8, 16, 32 or 64 bits that begins at a whole byte.
    Bytes {
        field: u32,
        bits: u8,
        order: ByteOrder,
        is_signed: bool,
    },
    /// Reads a number that is 1 to 64 bits long and can begin at any bit.
    Bits {
        field: u32,
        form: Form,
        is_signed: bool,
    },
    /// Reads a variable-length number.
    Variable {
        field: u32,
        is_signed: bool,
    },
    /// Reads a floating-point number of 32 or 64 bits.
    Float {
        field: u32,
        form: Form,
    },
    /// Stores the most recently read number in a register.
    Store {
        register: u32,
        is_signed: bool,
    },
    /// Applies one role of the most recently read number to the packet or event. The number has
    /// `bits` bits.
    Role {
        role: Role,
        bits: u8,
    },
    /// Reads a string that ends with a NUL.
    Text {
        field: u32,
        encoding: Encoding,
    },
    /// Reads a string in a field of this many bytes.
    SizedText {
        field: u32,
        encoding: Encoding,
        length: Count,
    },
    /// Reads bytes.
    Blob {
        field: u32,
        length: Count,
    },
    Open {
        field: u32,
        shape: Shape,
    },
    Close {
        shape: Shape,
    },
    /// Runs the instructions up to `end` for each element. `mask` is the alignment in bits minus 1.
    Array {
        length: Count,
        mask: u64,
        end: u32,
    },
    /// Continues with the option that a register selects: one of `count` cases from `first` on. If
    /// no case contains the value of the register, continues at `absent`, or fails if `absent` is
    /// `None`.
    Choose {
        register: u32,
        first: u32,
        count: u32,
        absent: Option<u32>,
    },
    Jump {
        to: u32,
    },
    /// Fails if the position is within a byte, and the previous number has another byte order than
    /// `order`. `before` is the byte order of the previous number; `None` if only the state knows
    /// it.
    CheckOrder {
        before: Option<ByteOrder>,
        order: ByteOrder,
    },
    /// Stores the byte order of the previous number in the state.
    KeepOrder {
        order: ByteOrder,
    },
}

/// A case of a choice: a range of values, and the first instruction of the option for these values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Case {
    pub(super) low: i128,
    pub(super) high: i128,
    pub(super) to: u32,
}

/// The content of a register whose field was not read. No field can have this value.
pub(super) const NO_VALUE: i128 = i128::MIN;

/// The numbers to which fields refer, and the numbers with a role.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    /// The values of the registers; [`NO_VALUE`] if the field was not read.
    pub(super) registers: Vec<i128>,
    /// Value of the clock.
    pub(super) clock: u64,
    /// True if a field has set the clock since the caller cleared this flag.
    pub(super) is_timed: bool,
    /// Id of the event's class.
    pub(super) event: u64,
    /// Number of array elements in the packet so far that occupy no bits.
    pub(super) empty_elements: u64,
    /// The byte order of the previous number, if the position is within a byte and programs could
    /// not know the byte order when they were compiled.
    pub(super) order: Option<ByteOrder>,
    /// The numbers in the packet's header and context that have a role.
    pub(super) packet: PacketNumbers,
}

/// The numbers in a packet's header and context that have a role. A number is `None` if neither the
/// header nor the context contains it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct PacketNumbers {
    pub(super) magic: Option<u64>,
    pub(super) class: Option<u64>,
    pub(super) instance: Option<u64>,
    pub(super) packet_size: Option<u64>,
    pub(super) content_size: Option<u64>,
    pub(super) begin: Option<u64>,
    pub(super) end: Option<u64>,
    /// The count of discarded events, and the number of bits of this count.
    pub(super) discarded: Option<(u64, u8)>,
    /// The sequence number of the packet, and the number of bits of the sequence number.
    pub(super) number: Option<(u64, u8)>,
    pub(super) cpu: Option<u64>,
}

impl State {
    /// Returns the value of the clock for a stamp of `bits` bits. Assumes that a stamp of fewer
    /// than 64 bits has wrapped at most once since the previous stamp.
    pub(super) fn extended(&self, stamp: u64, bits: u8) -> u64 {
        if bits >= 64 {
            return stamp;
        }
        let mask = ones(bits);
        let wraps = if stamp < self.clock & mask { mask + 1 } else { 0 };
        (self.clock.wrapping_add(wraps) & !mask) | stamp
    }

    #[inline]
    fn apply(&mut self, role: Role, value: u64, bits: u8) {
        match role {
            Role::Time => {
                self.clock = self.extended(value, bits);
                self.is_timed = true;
            }
            Role::EventClass => self.event = value,
            _ => self.apply_of_packet(role, value, bits),
        }
    }

    fn apply_of_packet(&mut self, role: Role, value: u64, bits: u8) {
        let end = self.extended(value, bits);
        let packet = &mut self.packet;
        match role {
            Role::Magic => packet.magic = Some(value),
            Role::StreamClass => packet.class = Some(value),
            Role::StreamInstance => packet.instance = Some(value),
            Role::PacketSize => packet.packet_size = Some(value),
            Role::ContentSize => packet.content_size = Some(value),
            Role::EndTime => packet.end = Some(end),
            Role::Discarded => packet.discarded = Some((value, bits)),
            Role::PacketNumber => packet.number = Some((value, bits)),
            Role::Processor => packet.cpu = Some(value),
            Role::Time | Role::EventClass => {}
        }
    }
}

/// The compiled layout of one scope.
#[derive(Clone, Debug, Default)]
pub(super) struct Program {
    pub(super) ops: Vec<Op>,
    pub(super) fields: Vec<Field>,
    pub(super) cases: Vec<Case>,
    pub(super) fixed: Vec<FixedField>,
    pub(super) slots: Vec<SlotNumber>,
    /// Registers for fields in a choice. The program clears them first, because it stores only the
    /// fields of the selected option.
    pub(super) cleared: Vec<u32>,
}

impl Program {
    /// Returns the number of all entries: instructions, fields and others.
    pub(super) fn size(&self) -> usize {
        let fixed = self.fixed.len().max(self.slots.len());
        self.ops.len() + self.fields.len() + fixed + self.cases.len()
    }

    /// Returns true if an instruction uses the value of a register.
    pub(super) fn reads(&self, register: u32) -> bool {
        self.ops.iter().any(|op| match op {
            Op::Numbers { length, .. }
            | Op::SizedText { length, .. }
            | Op::Blob { length, .. }
            | Op::Array { length, .. } => *length == Count::Register(register),
            Op::Choose { register: known, .. } => *known == register,
            _ => false,
        })
    }

    /// Reads the fields that begin at the position of `bits`, and moves the position past them.
    ///
    /// # Errors
    /// Returns an error if a field cannot be read.
    #[inline]
    pub(super) fn run(
        &self,
        bits: &mut Bits<'_>,
        state: &mut State,
        out: &mut impl Output,
    ) -> Result<(), Fault> {
        for register in &self.cleared {
            if let Some(register) = state.registers.get_mut(*register as usize) {
                *register = NO_VALUE;
            }
        }
        // Most programs begin with a run of numbers, and many contain no other instruction.
        let first = match self.ops.first() {
            Some(Op::Slots { mask, first, count, bits: length, present }) => {
                self.slots(*mask, (*first, *count), *length, *present, bits, out)?;
                1
            }
            _ => 0,
        };
        if first == self.ops.len() {
            return Ok(());
        }
        self.part(first, self.ops.len(), bits, state, out)
    }

    /// Reads a run of numbers into their slots.
    #[inline]
    fn slots(
        &self,
        mask: u64,
        (first, count): (u32, u32),
        length: u32,
        present: u32,
        bits: &mut Bits<'_>,
        out: &mut impl Output,
    ) -> Result<(), Fault> {
        let bytes = bits.run(mask, u64::from(length))?;
        let (first, count) = (first as usize, count as usize);
        let numbers = self.slots.get(first..first + count).unwrap_or_default();
        out.slots(numbers, &self.fields, present, bytes);
        Ok(())
    }

    /// Runs the instructions from `from` up to `to`.
    fn part(
        &self,
        from: usize,
        to: usize,
        bits: &mut Bits<'_>,
        state: &mut State,
        out: &mut impl Output,
    ) -> Result<(), Fault> {
        let mut last = 0;
        let mut next = from;
        while next < to {
            let Some(op) = self.ops.get(next) else { break };
            next += 1;
            match *op {
                Op::Align { mask } => bits.align(mask)?,
                Op::Fixed { mask, first, count, bits: length } => {
                    let bytes = bits.run(mask, u64::from(length))?;
                    let (first, count) = (first as usize, count as usize);
                    let fields = self.fixed.get(first..first + count).unwrap_or_default();
                    fields.iter().for_each(|field| self.fixed(field, bytes, out));
                }
                Op::Slots { mask, first, count, bits: length, present } => {
                    self.slots(mask, (first, count), length, present, bits, out)?;
                }
                Op::Numbers { field, length, mask, number, step } => {
                    bits.align(mask)?;
                    let elements = Elements::take(count(length, state, bits)?, number, step, bits)?;
                    self.put(field, |field| out.numbers(field, elements));
                }
                Op::Bytes { field, bits: length, order, is_signed } => {
                    last = bits.bytes(length, order)?;
                    if is_signed {
                        last = signed(last, length);
                    }
                    self.put(field, |field| out.number(field, last));
                }
                Op::Bits { field, form, is_signed } => {
                    last = bits.number(form)?;
                    if is_signed {
                        last = signed(last, form.bits);
                    }
                    self.put(field, |field| out.number(field, last));
                }
                Op::Variable { field, is_signed } => {
                    last = bits.variable(is_signed)?;
                    self.put(field, |field| out.number(field, last));
                }
                Op::Float { field, form } => {
                    let value = bits.number(form)?;
                    let value = match form.bits {
                        32 => f64::from(f32::from_bits(value as u32)),
                        _ => f64::from_bits(value),
                    };
                    self.put(field, |field| out.float(field, value));
                }
                Op::Store { register, is_signed } => {
                    let value =
                        if is_signed { i128::from(last.cast_signed()) } else { i128::from(last) };
                    if let Some(register) = state.registers.get_mut(register as usize) {
                        *register = value;
                    }
                }
                Op::Role { role, bits } => state.apply(role, last, bits),
                Op::Text { field, encoding } => {
                    let text = bits.text(encoding)?;
                    self.put(field, |field| out.text(field, text, encoding));
                }
                Op::SizedText { field, encoding, length } => {
                    let bytes = bits.take(count(length, state, bits)?)?;
                    let text = bytes.get(..end_of_text(bytes, encoding)).unwrap_or(bytes);
                    self.put(field, |field| out.text(field, text, encoding));
                }
                Op::Blob { field, length } => {
                    let bytes = bits.take(count(length, state, bits)?)?;
                    self.put(field, |field| out.blob(field, bytes));
                }
                Op::Open { field, shape } => self.put(field, |field| out.open(field, shape)),
                Op::Close { shape } => out.close(shape),
                Op::Array { length, mask, end } => {
                    bits.align(mask)?;
                    let length = count(length, state, bits)?;
                    let end = end as usize;
                    for _ in 0..length {
                        let before = bits.at;
                        self.part(next, end, bits, state, out)?;
                        if bits.at == before {
                            state.empty_elements += 1;
                            if state.empty_elements > MAX_EMPTY_ELEMENTS + bits.at {
                                return Err(bits.fault(FaultKind::TooMany));
                            }
                        }
                    }
                    next = end;
                }
                Op::Choose { register, first, count, absent } => {
                    let value = register_of(register, state, bits)?;
                    let cases = self.cases.get(first as usize..).unwrap_or_default();
                    let mut cases = cases.iter().take(count as usize);
                    let chosen = cases.find(|case| case.low <= value && value <= case.high);
                    next = match (chosen, absent) {
                        (Some(case), _) => case.to as usize,
                        (None, Some(to)) => to as usize,
                        (None, None) => return Err(bits.fault(FaultKind::NoOption(value))),
                    };
                }
                Op::Jump { to } => next = to as usize,
                Op::CheckOrder { before, order } => {
                    let mut before = before.or(state.order).into_iter();
                    if !bits.at.is_multiple_of(8) && before.any(|before| before != order) {
                        return Err(bits.fault(FaultKind::Orders));
                    }
                }
                Op::KeepOrder { order } => state.order = Some(order),
            }
        }
        Ok(())
    }

    #[inline]
    fn fixed(&self, field: &FixedField, bytes: &[u8], out: &mut impl Output) {
        match field.kind {
            FixedKind::Number(number) => {
                self.put(field.field, |field| out.number(field, number.read(bytes)));
            }
            FixedKind::Text { offset, length, encoding } => {
                let (from, length) = (offset as usize, length as usize);
                let bytes = bytes.get(from..from + length).unwrap_or_default();
                let text = bytes.get(..end_of_text(bytes, encoding)).unwrap_or(bytes);
                self.put(field.field, |field| out.text(field, text, encoding));
            }
        }
    }

    #[inline]
    fn put(&self, field: u32, put: impl FnOnce(&Field)) {
        if let Some(field) = self.fields.get(field as usize) {
            put(field);
        }
    }
}

#[inline]
fn register_of(register: u32, state: &State, bits: &Bits<'_>) -> Result<i128, Fault> {
    let value = state.registers.get(register as usize).copied().filter(|value| *value != NO_VALUE);
    value.ok_or_else(|| bits.fault(FaultKind::NoReference))
}

#[inline]
fn count(count: Count, state: &State, bits: &Bits<'_>) -> Result<u64, Fault> {
    match count {
        Count::Fixed(count) => Ok(count),
        Count::Register(register) => {
            let value = register_of(register, state, bits)?;
            u64::try_from(value).map_err(|_| bits.fault(FaultKind::Beyond))
        }
    }
}
