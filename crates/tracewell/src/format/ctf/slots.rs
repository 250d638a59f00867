//! Finds runs of numbers in programs. The numbers of a run have fixed offsets, and each number has
//! a slot of its own. Most fields of events are such numbers. A program checks the bounds of a run
//! once. `row` then stores the numbers in the run one after the other, without examining their
//! classes.
//!
//! [`of_events`] finds the runs in a program. The module `fixed` handles the other fields at fixed
//! offsets.

use tracewell_wire::ByteOrder;

use super::fixed::{FixedField, FixedKind, FixedNumber, SlotNumber};
use super::position::{Bits, Fault};
use super::program::{Op, Place, Program};
use crate::model::values;

/// A [`NearNumber`] begins within this number of bytes from the start of its event.
const REACH: usize = 64;

/// Number of bytes that are loaded to read the [`NearNumber`]s of an event. These bytes can extend
/// beyond the event.
const WINDOW: usize = REACH + 8;

/// An event whose program is one run that fills all slots of the row. Most events have this form.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct PlainEvent {
    /// The alignment in bits minus 1.
    mask: u64,
    /// Number of bits.
    bits: u64,
    /// The numbers in the order of their slots.
    numbers: Vec<FixedNumber>,
    /// The same numbers if all of them are little-endian and fit into one window; otherwise empty.
    near: Vec<NearNumber>,
    /// The first word of the row.
    head: u64,
}

/// A little-endian number near the start of an event. See [`FixedNumber`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct NearNumber {
    mask: u64,
    sign: u64,
    offset: u8,
    shift: u8,
}

impl NearNumber {
    /// Converts a number to this form. Returns `None` if the number is big-endian or too far from
    /// the start of the event.
    fn new(number: &FixedNumber) -> Option<Self> {
        let offset = u8::try_from(number.offset()).ok().filter(|at| usize::from(*at) < REACH)?;
        let (mask, sign, shift) = (number.mask(), number.sign(), number.shift());
        (number.order() == ByteOrder::Little).then_some(Self { mask, sign, offset, shift })
    }

    #[inline(always)]
    fn read(self, window: &[u8; WINDOW]) -> u64 {
        // The offset is less than `REACH`. The remainder makes this known to the compiler.
        let at = usize::from(self.offset) % REACH;
        let word = window.get(at..at + 8).and_then(|word| word.first_chunk()).unwrap_or(&[0; 8]);
        let value = u64::from_le_bytes(*word) >> (self.shift & 63) & self.mask;
        (value ^ self.sign).wrapping_sub(self.sign)
    }
}

impl PlainEvent {
    /// Returns the event that `program` reads, as a plain event with this number of slots, or
    /// `None` if the event is not plain.
    pub(super) fn new(program: &Program, slots: u8) -> Option<Self> {
        let [Op::Slots { mask, bits, .. }] = *program.ops.as_slice() else { return None };
        let mut numbers = program.slots.clone();
        numbers.sort_by_key(|number| number.slot);
        let is_whole = numbers.iter().map(|number| number.slot).eq(0..slots);
        let numbers: Vec<_> = numbers.into_iter().map(|number| number.number).collect();
        let near: Option<_> = numbers.iter().map(NearNumber::new).collect();
        let near = near.unwrap_or_default();
        let head = values::head(((1_u64 << slots) - 1) as u32, u32::from(slots));
        is_whole.then_some(Self { mask, bits: u64::from(bits), numbers, near, head })
    }

    /// Appends the row of an event to `out`, exactly as the program would.
    ///
    /// # Errors
    /// Returns an error if the event extends beyond the content of the packet. In this case, `out`
    /// does not change.
    #[inline(always)]
    pub(super) fn read(&self, bits: &mut Bits<'_>, out: &mut Vec<u8>) -> Result<(), Fault> {
        let at = bits.at.wrapping_add(self.mask) & !self.mask;
        let after = at.wrapping_add(self.bits);
        let window = bits.bytes.get((at / 8) as usize..).and_then(|rest| rest.first_chunk());
        let Some(window) = window.filter(|_| after <= bits.end) else {
            return self.read_any(bits, out);
        };
        match self.near.len() {
            1 => self.put::<1, 2>(window, out),
            2 => self.put::<2, 3>(window, out),
            3 => self.put::<3, 4>(window, out),
            4 => self.put::<4, 5>(window, out),
            5 => self.put::<5, 6>(window, out),
            6 => self.put::<6, 7>(window, out),
            7 => self.put::<7, 8>(window, out),
            8 => self.put::<8, 9>(window, out),
            _ => return self.read_any(bits, out),
        }
        bits.at = after;
        Ok(())
    }

    /// Appends the row of any plain event, at any position in the packet.
    #[inline(never)]
    fn read_any(&self, bits: &mut Bits<'_>, out: &mut Vec<u8>) -> Result<(), Fault> {
        let bytes = bits.run(self.mask, self.bits)?;
        out.extend_from_slice(&self.head.to_le_bytes());
        for number in &self.numbers {
            out.extend_from_slice(&number.read(bytes).to_le_bytes());
        }
        Ok(())
    }

    /// Appends a row of `SLOTS` numbers, which has `WORDS` words. The compiler knows both numbers,
    /// so the row needs no loop.
    #[inline(always)]
    fn put<const SLOTS: usize, const WORDS: usize>(
        &self,
        window: &[u8; WINDOW],
        out: &mut Vec<u8>,
    ) {
        let Some(numbers) = self.near.first_chunk::<SLOTS>() else { return };
        let mut row = [self.head.to_le_bytes(); WORDS];
        let slots = row.split_first_mut().map(|(_, slots)| slots).unwrap_or_default();
        for (slot, number) in slots.iter_mut().zip(numbers) {
            *slot = number.read(window).to_le_bytes();
        }
        out.extend_from_slice(row.as_flattened());
    }
}

/// If all fields of a run are numbers that have slots, replaces the run by a run of
/// [`SlotNumber`]s.
pub(super) fn of_events(mut program: Program) -> Program {
    let Program { ops, fields, fixed, slots, .. } = &mut program;
    for op in ops {
        let Op::Fixed { mask, first, count, bits } = *op else { continue };
        let run = fixed.get(first as usize..).and_then(|rest| rest.get(..count as usize));
        let slot_of =
            |field: &FixedField| match (field.kind, fields.get(field.field as usize)?.place) {
                (FixedKind::Number(number), Place::Slot(slot)) if slot < 32 => {
                    Some(SlotNumber { number, slot, field: field.field })
                }
                _ => None,
            };
        let numbers: Option<Vec<_>> = run.unwrap_or_default().iter().map(slot_of).collect();
        if let Some(numbers) = numbers {
            let first = slots.len() as u32;
            let present = numbers.iter().fold(0, |present, number| present | 1 << number.slot);
            slots.extend(numbers);
            *op = Op::Slots { mask, first, count, bits, present };
        }
    }
    program
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::format::ctf::layout::{EventLayout, Layout, Programs};
    use crate::format::ctf::metadata;
    use crate::format::ctf::program::{NO_VALUE, State};
    use crate::format::ctf::row::Row;

    const METADATA: &str = "/* CTF 1.8 */ trace { major = 1; minor = 8; byte_order = be; };
        stream { event.context := struct { integer { size = 32; align = 8; signed = true; } tid; }; };
        event { name = e; id = 0; fields := struct {
            integer { size = 5; align = 1; signed = true; } a;
            integer { size = 11; align = 1; } b;
            integer { size = 16; align = 8; byte_order = le; } c;
            integer { size = 64; align = 8; signed = true; byte_order = le; } d;
            integer { size = 32; align = 8; } e;
        }; };";

    fn layout(programs: Programs) -> Layout {
        Layout::new(metadata::read(METADATA.as_bytes()).unwrap().metadata, programs).unwrap()
    }

    /// Runs the programs of an event. Returns the row of the event and the position after the
    /// event, or the fault.
    pub(in crate::format::ctf) fn run(
        layout: &Layout,
        bytes: &[u8],
    ) -> Result<(Vec<u8>, u64), Fault> {
        let event: &EventLayout = &layout.streams[0].events[0];
        let mut state = State { registers: vec![NO_VALUE; layout.registers], ..State::default() };
        let mut bits = Bits { bytes, at: 0, end: 8 * bytes.len() as u64 };
        let (mut out, mut rest) = (Vec::new(), Vec::new());
        let mut row = Row::begin(&mut out, event.slots, &mut rest);
        for program in event.programs.as_ref().unwrap() {
            program.run(&mut bits, &mut state, &mut row)?;
        }
        row.finish(event.has_rest);
        Ok((out, bits.at))
    }

    #[test]
    fn plain_events_are_those_that_their_programs_read() {
        let (by_scope, one) = (layout(Programs::ByScope), layout(Programs::One));
        let plain = one.streams[0].events[0].plain.as_ref().unwrap();
        assert_eq!(by_scope.streams[0].events[0].plain, None);
        let mut seed = 1_u64;
        for _ in 0..500 {
            let mut bytes = [0; 40];
            for byte in &mut bytes {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                *byte = (seed >> 56) as u8;
            }
            // The event has 20 bytes. The words that contain its last number can extend beyond
            // these bytes.
            for length in 0..bytes.len() {
                let bytes = &bytes[..length];
                let expected = run(&by_scope, bytes);
                assert_eq!(expected.is_ok(), length >= 20, "{length} bytes");
                let found = run(&one, bytes);
                assert_eq!(found.is_ok(), expected.is_ok(), "{length} bytes");
                let mut bits = Bits { bytes, at: 0, end: 8 * bytes.len() as u64 };
                let mut out = Vec::new();
                let read = plain.read(&mut bits, &mut out);
                match expected {
                    Ok(expected) => {
                        assert_eq!(found, Ok(expected.clone()));
                        assert_eq!((out, bits.at), expected);
                    }
                    Err(_) => assert!(read.is_err() && out.is_empty(), "{length} bytes"),
                }
            }
        }
    }
}
