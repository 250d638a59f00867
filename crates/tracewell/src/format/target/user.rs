//! Handles events whose arguments are a block of bytes: texts, and events of the application.

use tracewell_wire::number;
use tracewell_wire::target::{RecordedEvent, ids};

use crate::format::kernel::FIRST_USER;
use crate::model::Trace;
use crate::model::schema::ArgumentKind;
use crate::model::values::{HEAD, ListItem, MAX_SLOTS, place, put};

/// Writes the row of a text or an application event, and returns the id of the event.
/// Returns `None` if the event is neither of these, or if its number is too large.
pub(super) fn block(event: &RecordedEvent<'_>, trace: &Trace, row: &mut Vec<u8>) -> Option<u32> {
    let (first, rest) = number::read(event.block)?;
    match event.id {
        ids::TEXT => {
            let text = place((HEAD + 2 * 8) as u32, rest.len() as u32);
            put(row, 0b11, &[first, text], rest);
            Some(u32::from(event.id))
        }
        ids::USER => {
            let id = FIRST_USER + u32::try_from(first).ok().filter(|id| *id < 0xF000)?;
            arguments(id, rest, trace, row);
            Some(id)
        }
        _ => None,
    }
}

/// Writes the arguments according to the definition of the event, or as a list.
fn arguments(id: u32, mut bytes: &[u8], trace: &Trace, row: &mut Vec<u8>) {
    let mut values = [0; MAX_SLOTS];
    let mut count = 0;
    while let Some((stored, rest)) = number::read(bytes).filter(|_| count < MAX_SLOTS) {
        values[count] = number::signed(stored).cast_unsigned();
        count += 1;
        bytes = rest;
    }
    if !trace.schema.defines(id) {
        let mut list = Vec::new();
        for value in &values[..count] {
            ListItem::Signed(value.cast_signed(), 0).write(&mut list);
        }
        return put(row, 1, &[place((HEAD + 8) as u32, list.len() as u32)], &list);
    }
    let args = &trace.schema.event(id).args;
    let slots = args.len().min(MAX_SLOTS);
    for (value, argument) in values.iter_mut().zip(args) {
        // The recorder stores the 32 bits of each argument as a signed number.
        if argument.kind != ArgumentKind::Signed {
            *value &= u64::from(u32::MAX);
        }
    }
    let present = (1_u64 << count.min(slots)) - 1;
    put(row, present as u32, &values[..slots], &[]);
}
