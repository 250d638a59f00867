//! Handles events whose arguments are a block of bytes: texts, and events of the application.

use tracewell_wire::number;
use tracewell_wire::target::{RecordedEvent, ids};

use crate::format::kernel::FIRST_USER;
use crate::model::Trace;
use crate::model::schema::ArgumentKind;
use crate::model::values::{HEAD, ListItem, MAX_SLOTS, place, put};

/// Writes the row of a text or an application event. Returns the id of the event, and the number of
/// arguments that the definition of the event does not describe. Returns `None` if the event is
/// neither of these, or if its number is too large.
pub(super) fn block(
    event: &RecordedEvent<'_>,
    trace: &Trace,
    row: &mut Vec<u8>,
) -> Option<(u32, u64)> {
    let (first, rest) = number::read(event.block)?;
    match event.id {
        ids::TEXT => {
            let text = place((HEAD + 2 * 8) as u32, rest.len() as u32);
            put(row, 0b11, &[first, text], rest);
            Some((u32::from(event.id), 0))
        }
        ids::USER => {
            let id = FIRST_USER + u32::try_from(first).ok().filter(|id| *id < 0xF000)?;
            Some((id, arguments(id, rest, trace, row)))
        }
        _ => None,
    }
}

/// Writes the arguments according to the definition of the event, or as a list. Returns the number
/// of arguments that the definition does not describe.
fn arguments(id: u32, mut bytes: &[u8], trace: &Trace, row: &mut Vec<u8>) -> u64 {
    let mut numbers = std::iter::from_fn(|| {
        let (stored, rest) = number::read(bytes)?;
        bytes = rest;
        Some(number::signed(stored))
    });
    if !trace.schema.defines(id) {
        let mut list = Vec::new();
        numbers.for_each(|number| ListItem::Signed(number, 0).write(&mut list));
        put(row, 1, &[place((HEAD + 8) as u32, list.len() as u32)], &list);
        return 0;
    }
    let mut slots = [0; MAX_SLOTS];
    let args = &trace.schema.event(id).args;
    let mut present = 0_u32;
    for (index, (argument, number)) in args.iter().zip(&mut numbers).take(MAX_SLOTS).enumerate() {
        // The recorder stores the 32 bits of each argument as a signed number.
        let is_signed = argument.kind == ArgumentKind::Signed;
        let mask = if is_signed { u64::MAX } else { u64::from(u32::MAX) };
        slots[index] = number.cast_unsigned() & mask;
        present |= 1 << index;
    }
    put(row, present, &slots[..args.len().min(MAX_SLOTS)], &[]);
    numbers.count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::values::list_items;
    use crate::model::{Clock, PayloadLayout};

    #[test]
    fn a_list_has_all_arguments_of_an_event_without_a_definition() {
        let payload = PayloadLayout::Values { digits: 8 };
        let trace = Trace::new("target", super::super::schema(), payload, Clock::of_64_bits(None));
        // The number of the event, and arguments from 0 to 39. A signed number is stored doubled.
        let bytes: Vec<_> = std::iter::once(7).chain((0..40).map(|value| 2 * value)).collect();
        let event = RecordedEvent {
            id: ids::USER,
            ticks: 0,
            arguments: [0; 2],
            block: &bytes,
            bytes: &bytes,
        };
        let mut row = Vec::new();
        assert_eq!(block(&event, &trace, &mut row), Some((0x1007, 0)));
        let values = list_items(&row[HEAD + 8..]).take(40);
        assert!(values.eq((0..40).map(|value| ListItem::Signed(value, 0))));
    }
}
