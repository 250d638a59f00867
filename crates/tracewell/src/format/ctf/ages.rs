//! Finds metadata of Zephyr that does not belong to the firmware that wrote a stream.
//!
//! Zephyr's streams contain neither packets nor the metadata, which users copy by hand from the
//! sources of Zephyr. The headers of events differ between the releases:
//!
//! | releases | stamp | id |
//! |---|---|---|
//! | up to 4.3 | 32 bits | 8 bits |
//! | from 4.4, December 2025 | 32 bits | 16 bits |
//! | from May 2026 | 64 bits | 16 bits |
//!
//! If the first events of a stream do not fit the declared header but fit another one, the metadata
//! belongs to another release of Zephyr. If they fit none of these headers, there is no warning,
//! because the ids may differ, too.

use super::classes::{Class, Role};
use super::layout::{Layout, StreamLayout};
use super::position::{Bits, FaultKind};
use super::program::Nothing;
use super::reader;

/// The sizes of the stamp and the id in an event header, in bits.
type Header = (u8, u8);

const AGES: [(Header, &str); 3] = [
    ((32, 8), "Zephyr up to 4.3"),
    ((32, 16), "Zephyr from 4.4 on, before May 2026"),
    ((64, 16), "Zephyr from May 2026 on"),
];

/// Number of events that are read.
const EVENTS: usize = 64;

/// Minimum number of events that must fit if a stream has fewer than [`EVENTS`] events.
const FEW: usize = 8;

/// Maximum plausible time between two events, in nanoseconds.
const MAX_STEP: u64 = 1_000_000_000;

/// Returns a warning if the first events of a stream show that the metadata belongs to another
/// release.
pub(super) fn warning(layout: &Layout, bytes: &[u8]) -> Option<String> {
    let (class, compiled) = layout.metadata.streams.first().zip(layout.streams.first())?;
    let is_bare = layout.metadata.packet_header.is_none() && class.packet_context.is_none();
    let mut names = class.events.iter().filter_map(|event| event.name.as_deref());
    if !is_bare || !names.any(|name| name == "thread_switched_in") {
        return None;
    }
    let members = &class.event_header.as_ref()?.members;
    let bits_of = |role| {
        members.iter().find_map(|member| match &member.class {
            Class::Integer(integer) if integer.roles.contains(&role) => Some(integer.bits),
            _ => None,
        })
    };
    let declared = (bits_of(Role::Time)?, bits_of(Role::EventClass)?);
    if fits(layout, compiled, declared, bytes) {
        return None;
    }
    let others = AGES.iter().filter(|(header, _)| *header != declared);
    let mut others = others.filter(|(header, _)| fits(layout, compiled, *header, bytes));
    let ((stamp, id), release) = others.next()?;
    let known = AGES.iter().find(|(header, _)| *header == declared);
    let of_metadata = known.map_or(String::new(), |(_, release)| format!(", as in {release}"));
    Some(format!(
        "the metadata does not belong to the firmware that wrote this stream: it declares events \
         with stamps of {} bits and ids of {} bits{of_metadata}, but the stream contains stamps of \
         {stamp} bits and ids of {id} bits, as in {release}; use the file \
         subsys/tracing/ctf/tsdl/metadata of the Zephyr that built the firmware",
        declared.0, declared.1
    ))
}

/// Returns true if the first events of a stream fit this header: all ids are declared, and time
/// advances in plausible steps.
fn fits(layout: &Layout, class: &StreamLayout, (stamp, id): Header, bytes: &[u8]) -> bool {
    let order = layout.metadata.byte_order;
    let mut bits = Bits { bytes, at: 0, end: 8 * bytes.len() as u64 };
    let mut state = reader::state(layout);
    let mut before = None;
    for count in 0..EVENTS {
        let header = bits.bytes(stamp, order).and_then(|now| Ok((now, bits.bytes(id, order)?)));
        let Ok((now, id)) = header else { return count >= FEW };
        let step = match before.replace(now) {
            None => 0,
            Some(before) if stamp == 32 => u64::from((now as u32).wrapping_sub(before as u32)),
            Some(before) => now.wrapping_sub(before),
        };
        let event = class.event(id).and_then(|index| class.events.get(index));
        let Some(Ok(programs)) = event.map(|event| &event.programs) else { return false };
        for program in programs {
            match program.run(&mut bits, &mut state, &mut Nothing) {
                Ok(()) => {}
                Err(fault) if fault.kind == FaultKind::Beyond => return count >= FEW,
                Err(_) => return false,
            }
        }
        if step >= MAX_STEP {
            return false;
        }
    }
    true
}
