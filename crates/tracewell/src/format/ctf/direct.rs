//! Reads events whose fields are numbers, texts and arrays of numbers, as in most events of LTTng.
//! Each field has a slot of its own.
//!
//! A [`DirectEvent`] is made from the program of an event. It writes the same row as this program.
//! It needs no descriptions of fields. It also needs no registers, because it finds the lengths of
//! arrays in the row. So it needs fewer instructions than the program. For events that contain only
//! numbers at fixed offsets, see `slots`.

use super::bits::Form;
use super::classes::Encoding;
use super::fixed::{FixedNumber, SlotNumber};
use super::position::{Bits, Fault};
use super::program::{Count, Elements, Op, Output, Place, Program, Shape};
use super::row::{Row, item};
use crate::model::values::ListItem;

/// The steps that fill the row of an event. They replace the program that reads all scopes of the
/// event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct DirectEvent(Vec<Step>);

/// Reads one or more fields. A `mask` is an alignment in bits minus 1.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Step {
    /// Rounds the position up.
    Align { mask: u64 },
    /// Reads a run of numbers. Together, the numbers have `bits` bits. `present` has a bit for each
    /// of their slots.
    Numbers { mask: u64, bits: u64, present: u32, numbers: Vec<SlotNumber> },
    /// Reads a text that ends with a NUL.
    Text { slot: u8 },
    /// Reads an array of numbers. Each number has `step` bytes and the same kind as `item`.
    Array {
        slot: u8,
        item: ListItem<'static>,
        mask: u64,
        length: Length,
        number: FixedNumber,
        step: u8,
    },
}

/// The number of elements of an array.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Length {
    Fixed(u64),
    /// The number in this slot, which was filled before.
    Slot(u8),
}

impl DirectEvent {
    /// Returns the steps of the event that a program reads, or `None` if the event needs the
    /// program.
    pub(super) fn new(program: &Program) -> Option<Self> {
        let slot_of = |field: u32| match program.fields.get(field as usize)?.place {
            Place::Slot(slot) => Some(slot),
            _ => None,
        };
        let mut steps = Vec::new();
        // The slot of the latest number, and the registers that contain numbers, each with the
        // number's slot.
        let (mut last, mut stored) = (None, Vec::new());
        let mut ops = program.ops.iter();
        while let Some(op) = ops.next() {
            steps.push(match *op {
                Op::Align { mask } => Step::Align { mask },
                Op::Slots { mask, first, count, bits, present } => {
                    let numbers = program.slots.get(first as usize..)?.get(..count as usize)?;
                    Step::Numbers { mask, bits: bits.into(), present, numbers: numbers.to_vec() }
                }
                Op::Bytes { field, bits, order, is_signed } => {
                    let slot = slot_of(field)?;
                    last = Some(slot);
                    let form = Form { bits, order, reversed: false };
                    let number = FixedNumber::new(form, 0, is_signed)?;
                    let numbers = vec![SlotNumber { number, slot, field }];
                    Step::Numbers { mask: 0, bits: bits.into(), present: 1 << slot, numbers }
                }
                Op::Store { register, .. } => {
                    stored.push((register, last?));
                    continue;
                }
                Op::Text { field, encoding: Encoding::Utf8 } => {
                    Step::Text { slot: slot_of(field)? }
                }
                Op::Open { field, shape: Shape::Array } => {
                    let (Some(array), Some(Op::Close { .. })) = (ops.next(), ops.next()) else {
                        return None;
                    };
                    let Op::Numbers { field: element, length, mask, number, step } = *array else {
                        return None;
                    };
                    let of_register =
                        |wanted| stored.iter().rev().find(|(register, _)| *register == wanted);
                    let length = match length {
                        Count::Fixed(length) => Length::Fixed(length),
                        Count::Register(register) => Length::Slot(of_register(register)?.1),
                    };
                    let element = program.fields.get(element as usize)?;
                    let item = item(element.integer.as_ref(), 0);
                    Step::Array { slot: slot_of(field)?, item, mask, length, number, step }
                }
                _ => return None,
            });
        }
        Some(Self(steps))
    }

    /// Fills the row of an event, exactly as the program would.
    ///
    /// # Errors
    /// Returns an error if a field cannot be read.
    #[inline]
    pub(super) fn read(&self, bits: &mut Bits<'_>, row: &mut Row<'_>) -> Result<(), Fault> {
        for step in &self.0 {
            match step {
                Step::Align { mask } => bits.align(*mask)?,
                Step::Numbers { mask, bits: length, present, numbers } => {
                    let bytes = bits.run(*mask, *length)?;
                    row.slots(numbers, &[], *present, bytes);
                }
                Step::Text { slot } => row.put_bytes(*slot, bits.text(Encoding::Utf8)?),
                Step::Array { slot, item, mask, length, number, step } => {
                    bits.align(*mask)?;
                    let length = match length {
                        Length::Fixed(length) => *length,
                        // An earlier step has filled the slot.
                        Length::Slot(slot) => row.number_in(*slot).unwrap_or(0),
                    };
                    row.put_numbers(*slot, *item, Elements::take(length, *number, *step, bits)?);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::ctf::layout::{Layout, Programs};
    use crate::format::ctf::metadata;
    use crate::format::ctf::slots::tests::run;

    fn layout(fields: &str) -> Layout {
        let text = format!(
            "/* CTF 1.8 */ trace {{ major = 1; minor = 8; byte_order = le; }};
            typealias integer {{ size = 8; align = 8; }} := u8;
            typealias integer {{ size = 16; align = 16; byte_order = be; signed = true; }} := i16;
            typealias integer {{ size = 32; align = 32; base = 16; }} := u32;
            stream {{ event.context := struct {{ u8 count; }}; }};
            event {{ name = e; id = 0; fields := struct {{ {fields} }}; }};"
        );
        let metadata = metadata::read(text.as_bytes()).unwrap().metadata;
        Layout::new(metadata, Programs::One).unwrap()
    }

    #[test]
    fn direct_events_are_those_that_their_programs_read() {
        let layout = layout(
            "string text; u8 length; i16 numbers[length]; u32 x[2]; string empty; u32 y;
             u8 of_context[stream.event.context.count];",
        );
        let event = &layout.streams[0].events[0];
        let direct = event.direct.as_ref().unwrap();
        let (mut whole, mut truncated) = (0, 0);
        // `count` is a length in the context of the event. `text` follows the context, and `length`
        // follows the text.
        for (count, text, length) in
            [(3, "ab", 2), (0, "", 0), (1, "the valve", 255), (200, "a", 1), (1, "a", 100)]
        {
            let mut all = vec![count];
            all.extend(text.bytes().chain([0, length]));
            all.extend((1..40).map(|byte| byte * 5));
            all.extend([0; 40]);
            for size in 0..all.len() {
                let expected = run(&layout, &all[..size]);
                let mut bits = Bits { bytes: &all[..size], at: 0, end: 8 * size as u64 };
                let (mut out, mut rest) = (Vec::new(), Vec::new());
                let mut row = Row::begin(&mut out, event.slots, &mut rest);
                let found = direct.read(&mut bits, &mut row);
                let found = found.map(|()| row.finish(event.has_rest));
                assert_eq!(found.map(|()| (out, bits.at)), expected, "{text} {size}");
                whole += usize::from(expected.is_ok());
                truncated += usize::from(expected.is_err());
            }
        }
        assert!(whole > 20 && truncated > 100, "{whole} {truncated}");
    }

    #[test]
    fn other_events_need_their_programs() {
        for fields in [
            "struct { u8 x; } nested;",
            "integer { size = 3; align = 1; } length; u8 array[length];",
            "string texts[2];",
            "floating_point { exp_dig = 8; mant_dig = 24; align = 8; } number;",
        ] {
            assert_eq!(layout(fields).streams[0].events[0].direct, None, "{fields}");
        }
    }
}
