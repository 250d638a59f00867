//! The program of a layout: flat instructions that read the fields of a scope.
//!
//! [`compile`](super::compile) makes programs. A program runs on the bytes of a packet, keeps the
//! numbers that later fields refer to, and passes each field to an [`Output`]. It allocates nothing.

use std::sync::Arc;

use tracewell_wire::ByteOrder;

use super::bits::{Form, ones, signed};
use super::classes::{Encoding, Integer, Role};

/// Maximum number of elements of an array whose elements have no bits.
const MAX_EMPTY_ELEMENTS: u64 = 1 << 16;

/// Maximum number of bytes of a variable-length number.
const MAX_LEB_BYTES: usize = 10;

/// A part of a packet: its bytes, the position in it, and its end. Positions are in bits from the
/// beginning of the packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bits<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: u64,
    pub(super) end: u64,
}

/// The reason why a field cannot be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FaultKind {
    /// The field extends beyond the end of the content.
    Beyond,
    /// A text has no NUL before the end of the content.
    Unterminated,
    /// The selector has this value, for which there is no option.
    NoOption(i128),
    /// The field that the length or the choice refers to was not read.
    NoReference,
    /// A variable-length number has more than 64 bits.
    TooLong,
    /// An array has too many elements without bits.
    TooMany,
    /// The layout is too large to be read.
    Layout,
}

/// A field that cannot be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Fault {
    /// Position in bits from the beginning of the packet.
    pub(super) at: u64,
    pub(super) kind: FaultKind,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.kind {
            FaultKind::Beyond => {
                f.write_str("found a field beyond the end of the packet's content")
            }
            FaultKind::Unterminated => f.write_str("found a text without an end"),
            FaultKind::NoOption(value) => {
                write!(f, "found {value}, which selects no option of a variant")
            }
            FaultKind::NoReference => {
                f.write_str("found a field that refers to a field that was not recorded")
            }
            FaultKind::TooLong => f.write_str("found a number of more than 64 bits"),
            FaultKind::TooMany => f.write_str("found an array with too many empty elements"),
            FaultKind::Layout => f.write_str("found an event whose layout is too large"),
        }
    }
}

/// The kind of a field that has fields in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Shape {
    Structure,
    Array,
    /// One of several fields.
    Variant,
    /// A field that may be absent.
    Optional,
}

/// A destination of a field's value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// A slot of the event's row.
    Slot(u8),
    /// A member of the structure in the last slot of the row.
    Rest,
    /// A member of the structure around it.
    Member,
    /// A field without a name, in an array, a variant or an optional field.
    Element,
    /// None: the field describes the packet, and is no argument.
    Hidden,
}

/// A field, for outputs.
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
    /// Receives a text without its end.
    fn text(&mut self, field: &Field, text: &[u8], encoding: Encoding);
    /// Receives bytes.
    fn blob(&mut self, field: &Field, bytes: &[u8]);
    /// Begins a field that has fields in it.
    fn open(&mut self, field: &Field, shape: Shape);
    /// Ends a field that has fields in it.
    fn close(&mut self, shape: Shape);
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
    /// Reads a number of 8, 16, 32 or 64 bits that begins with a byte.
    Bytes {
        field: u32,
        bits: u8,
        order: ByteOrder,
        is_signed: bool,
    },
    /// Reads a number of any length.
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
    /// Stores the last number in a register.
    Store {
        register: u32,
        is_signed: bool,
    },
    /// Notes what the last number, which has this number of bits, says about the packet or event.
    Role {
        role: Role,
        bits: u8,
    },
    /// Reads a text up to its NUL.
    Text {
        field: u32,
        encoding: Encoding,
    },
    /// Reads a text of this number of bytes.
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
    /// Repeats the instructions up to `end` for each element. `mask` is the alignment minus 1.
    Array {
        length: Count,
        mask: u64,
        end: u32,
    },
    /// Continues with the option that a register selects: one of the cases from `first` on. Without
    /// such an option, continues at `absent`.
    Choose {
        register: u32,
        first: u32,
        count: u32,
        absent: Option<u32>,
    },
    Jump {
        to: u32,
    },
}

/// The values of a selector that select an option, and the first instruction of the option.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Case {
    pub(super) low: i128,
    pub(super) high: i128,
    pub(super) to: u32,
}

/// The numbers that fields refer to, and those with a role.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    pub(super) registers: Vec<Option<i128>>,
    /// Value of the clock.
    pub(super) clock: u64,
    /// True if a number set the clock.
    pub(super) is_timed: bool,
    /// Id of the event's class.
    pub(super) event: u64,
    /// The numbers of the packet.
    pub(super) packet: PacketNumbers,
}

/// The numbers that a packet's header and context have. Each is `None` if they lack it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct PacketNumbers {
    pub(super) magic: Option<u64>,
    pub(super) class: Option<u64>,
    pub(super) instance: Option<u64>,
    pub(super) packet_size: Option<u64>,
    pub(super) content_size: Option<u64>,
    pub(super) begin: Option<u64>,
    pub(super) end: Option<u64>,
    /// The count of discarded events, with its number of bits.
    pub(super) discarded: Option<(u64, u8)>,
    /// The number of the packet, with its number of bits.
    pub(super) number: Option<(u64, u8)>,
    pub(super) cpu: Option<u64>,
}

impl State {
    /// Returns the value of the clock for a stamp of `bits` bits. Assumes that a shorter stamp
    /// wrapped at most once since the last one.
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

/// A compiled layout.
#[derive(Clone, Debug, Default)]
pub(super) struct Program {
    pub(super) ops: Vec<Op>,
    pub(super) fields: Vec<Field>,
    pub(super) cases: Vec<Case>,
    /// Registers that a run may leave without a new value.
    pub(super) cleared: Vec<u32>,
}

impl Program {
    /// Reads the fields from the position of `bits` on, and moves the position after them.
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
                *register = None;
            }
        }
        self.part(0, self.ops.len(), bits, state, out)
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
                        *register = Some(value);
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
                    let (end, before) = (end as usize, bits.at);
                    for index in 0..length {
                        if index == MAX_EMPTY_ELEMENTS && bits.at == before {
                            return Err(bits.fault(FaultKind::TooMany));
                        }
                        self.part(next, end, bits, state, out)?;
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
            }
        }
        Ok(())
    }

    #[inline]
    fn put(&self, field: u32, put: impl FnOnce(&Field)) {
        if let Some(field) = self.fields.get(field as usize) {
            put(field);
        }
    }
}

fn register_of(register: u32, state: &State, bits: &Bits<'_>) -> Result<i128, Fault> {
    let value = state.registers.get(register as usize).copied().flatten();
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

/// Returns the number of bytes before the first NUL.
fn end_of_text(bytes: &[u8], encoding: Encoding) -> usize {
    let unit = unit(encoding);
    if unit == 1 {
        return bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    }
    let units = bytes.chunks_exact(unit).position(|unit| unit.iter().all(|byte| *byte == 0));
    units.map_or(bytes.len(), |units| units * unit)
}

/// Returns the number of bytes of a code unit.
const fn unit(encoding: Encoding) -> usize {
    match encoding {
        Encoding::Utf8 => 1,
        Encoding::Utf16(_) => 2,
        Encoding::Utf32(_) => 4,
    }
}

impl<'a> Bits<'a> {
    pub(super) const fn fault(&self, kind: FaultKind) -> Fault {
        Fault { at: self.at, kind }
    }

    #[inline]
    fn align(&mut self, mask: u64) -> Result<(), Fault> {
        let at = self.at.wrapping_add(mask) & !mask;
        if at > self.end {
            return Err(self.fault(FaultKind::Beyond));
        }
        self.at = at;
        Ok(())
    }

    /// Returns the position after a field of this number of bits.
    #[inline]
    fn after(&self, bits: u64) -> Result<u64, Fault> {
        match self.at.checked_add(bits) {
            Some(after) if after <= self.end => Ok(after),
            _ => Err(self.fault(FaultKind::Beyond)),
        }
    }

    #[inline]
    fn bytes(&mut self, bits: u8, order: ByteOrder) -> Result<u64, Fault> {
        let after = self.after(u64::from(bits))?;
        let rest = self.bytes.get((self.at / 8) as usize..).unwrap_or_default();
        let value = match bits {
            8 => rest.first().map(|byte| u64::from(*byte)),
            16 => rest.first_chunk().map(|bytes| u64::from(order.u16(*bytes))),
            32 => rest.first_chunk().map(|bytes| u64::from(order.u32(*bytes))),
            _ => rest.first_chunk().map(|bytes| order.u64(*bytes)),
        };
        let value = value.ok_or_else(|| self.fault(FaultKind::Beyond))?;
        self.at = after;
        Ok(value)
    }

    #[inline]
    fn number(&mut self, form: Form) -> Result<u64, Fault> {
        let after = self.after(u64::from(form.bits))?;
        let value = form.read(self.bytes, self.at);
        let value = value.ok_or_else(|| self.fault(FaultKind::Beyond))?;
        self.at = after;
        Ok(value)
    }

    /// Returns the bytes up to the end of the content.
    fn rest(&self) -> &'a [u8] {
        let (from, to) = ((self.at / 8) as usize, (self.end / 8) as usize);
        self.bytes.get(from..to.min(self.bytes.len())).unwrap_or_default()
    }

    fn take(&mut self, bytes: u64) -> Result<&'a [u8], Fault> {
        let taken = usize::try_from(bytes).ok().and_then(|bytes| self.rest().get(..bytes));
        let taken = taken.ok_or_else(|| self.fault(FaultKind::Beyond))?;
        self.at += 8 * bytes;
        Ok(taken)
    }

    fn text(&mut self, encoding: Encoding) -> Result<&'a [u8], Fault> {
        let rest = self.rest();
        let end = end_of_text(rest, encoding);
        let Some(text) = rest.get(..end).filter(|_| end + unit(encoding) <= rest.len()) else {
            return Err(self.fault(FaultKind::Unterminated));
        };
        self.at += 8 * (end + unit(encoding)) as u64;
        Ok(text)
    }

    fn variable(&mut self, is_signed: bool) -> Result<u64, Fault> {
        let rest = self.rest();
        let mut value = 0_u128;
        for (index, byte) in rest.iter().enumerate().take(MAX_LEB_BYTES) {
            value |= u128::from(byte & 0x7F) << (7 * index);
            if byte & 0x80 != 0 {
                continue;
            }
            let bits = 7 * (index + 1);
            let value = if is_signed {
                let unused = 128 - bits;
                let value = (value << unused).cast_signed() >> unused;
                i64::try_from(value).ok().map(i64::cast_unsigned)
            } else {
                u64::try_from(value).ok()
            };
            let value = value.ok_or_else(|| self.fault(FaultKind::TooLong))?;
            self.at += 8 * (index + 1) as u64;
            return Ok(value);
        }
        let is_long = rest.len() >= MAX_LEB_BYTES;
        Err(self.fault(if is_long { FaultKind::TooLong } else { FaultKind::Beyond }))
    }
}
