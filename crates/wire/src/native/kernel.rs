//! Event types with which a kernel or an executor records what it does. Readers know their
//! meanings.
//!
//! The events are the same as in the compact stream for small targets
//! ([`crate::target::Described`]). Each event has a type of the family `kernel`. The first field of
//! the type is the core:
//!
//! ```text
//! kernel/queue_send(core:u64,queue:u64,messages:u64)
//! ```
//!
//! Cores have the numbers 0 to 31. A larger number means that the event comes from a thread that
//! does not act as a core of the kernel ([`OUTSIDE`]).
//!
//! The stream stores the name of a task or object as an event type without fields, in the family
//! `kernel.definition`. A stream never overwrites its event types, so names survive. The name of
//! the event type consists of numbers and the name of the task or object:
//!
//! ```text
//! kernel.definition/KIND NUMBER VALUE PRIORITY FLAGS NAME()
//! ```
//!
//! [`crate::target::definition`] describes the numbers. In the name, `%XX` is a byte in
//! hexadecimal. The first definition of a task or object applies from the beginning of the stream.
//! A later definition applies from the time of the first record of its event type.

use core::fmt::{self, Write};

use super::EventTypeText;
use crate::target::ids::{group, group_of};
use crate::target::{Definition, DefinitionKind, Described, MAX_CORES};

/// Family of the event types for a kernel's events.
pub const FAMILY: &str = "kernel";

/// Family of the event types for names.
pub const DEFINITION_FAMILY: &str = "kernel.definition";

/// First field of the event types for a kernel's events: the core.
pub const CORE_FIELD: &str = "core";

/// The core number in events of threads that do not act as cores of the kernel.
pub const OUTSIDE: u8 = 255;

/// Number of the family of the first group ([`group`]). The other groups have the following
/// numbers. Names and events without a group share one family, which has the first number after the
/// groups.
pub const FIRST_FAMILY: u16 = 48;

/// Maximum number of bytes of a name. Longer names are cut.
pub const MAX_NAME: usize = 140;

/// Returns the number of an event's family. This is the family's bit in a stream's family filter.
pub const fn family_of(id: u8) -> u16 {
    match group_of(id) {
        Some(group) => FIRST_FAMILY + group as u16,
        None => FIRST_FAMILY + group::APPLICATION as u16 + 1,
    }
}

/// Returns the core of an event, or `None` if its thread does not act as a core.
pub fn core_of(field: u64) -> Option<u8> {
    u8::try_from(field).ok().filter(|core| *core < MAX_CORES)
}

/// Writes the event type of an event.
///
/// ```
/// use tracewell_wire::native::EventTypeText;
/// use tracewell_wire::native::kernel::{event_of, write_event_type};
/// use tracewell_wire::target::{Described, ids};
///
/// let mut text = String::new();
/// write_event_type(Described::of(ids::RUNS).unwrap(), &mut text).unwrap();
/// assert_eq!(text, "kernel/run(core:u64,task:u64)");
/// assert_eq!(event_of(&EventTypeText::parse(&text).unwrap()).unwrap().id, ids::RUNS);
/// ```
///
/// # Errors
/// Returns an error if `out` returns one.
pub fn write_event_type(event: &Described, out: &mut impl Write) -> fmt::Result {
    write!(out, "{FAMILY}/{}({CORE_FIELD}:u64", event.name)?;
    for (name, kind) in event.arguments {
        write!(out, ",{name}:{}", kind.as_str())?;
    }
    out.write_char(')')
}

/// Returns the kernel event that an event type describes. Returns `None` if the event type
/// describes no kernel event, or if its fields differ from those that [`write_event_type`] writes.
pub fn event_of(text: &EventTypeText<'_>) -> Option<&'static Described> {
    let event = Described::named(text.name).filter(|_| text.family == FAMILY)?;
    let mut fields = text.fields();
    fields.next().filter(|field| field.name == CORE_FIELD && !field.kind.is_long())?;
    let same = event.arguments.iter().all(|(name, kind)| {
        fields.next().is_some_and(|field| field.name == *name && field.kind == *kind)
    });
    (same && fields.next().is_none()).then_some(event)
}

/// Writes the event type that stores a name and the numbers of its `definition`.
///
/// # Errors
/// Returns an error if `out` returns one.
pub fn write_definition(definition: &Definition, name: &str, out: &mut impl Write) -> fmt::Result {
    let Definition { kind, number, value, priority, flags, .. } = *definition;
    write!(out, "{DEFINITION_FAMILY}/{} {number} {value} {priority} {flags} ", kind as u8)?;
    for byte in name.bytes().take(MAX_NAME) {
        match byte {
            b'%' | b'(' | 0..=0x1F | 0x7F.. => write!(out, "%{byte:02X}")?,
            _ => out.write_char(byte.into())?,
        }
    }
    out.write_str("()")
}

/// Returns the definition and the bytes of its name if [`write_definition`] wrote this event type,
/// otherwise `None`.
///
/// ```
/// use tracewell_wire::native::EventTypeText;
/// use tracewell_wire::native::kernel::{definition_of, write_definition};
/// use tracewell_wire::target::{Definition, DefinitionKind};
///
/// let task = Definition { priority: 5, ..Definition::new(DefinitionKind::Task, 3, b"") };
/// let mut text = String::new();
/// write_definition(&task, "motor (left)", &mut text).unwrap();
/// assert_eq!(text, "kernel.definition/2 3 0 5 0 motor %28left)()");
/// let text = EventTypeText::parse(&text).unwrap();
/// let (read, name) = definition_of(&text).unwrap();
/// assert_eq!((read, name.collect::<Vec<_>>()), (task, b"motor (left)".to_vec()));
/// ```
pub fn definition_of<'a>(
    text: &EventTypeText<'a>,
) -> Option<(Definition, impl Iterator<Item = u8> + use<'a>)> {
    if text.family != DEFINITION_FAMILY || text.fields().next().is_some() {
        return None;
    }
    // The name comes last, so it may contain spaces.
    let mut parts = text.name.splitn(6, ' ');
    let mut number = || parts.next()?.parse::<u32>().ok();
    let kind = DefinitionKind::of_code(u64::from(number()?))?;
    let mut definition = Definition::new(kind, number()?, b"");
    definition.value = number()?;
    definition.priority = u8::try_from(number()?).ok()?;
    definition.flags = u8::try_from(number()?).ok()?;
    let mut rest = parts.next()?.bytes();
    let name = core::iter::from_fn(move || match rest.next()? {
        // An invalid escape ends the name.
        b'%' => {
            let digit = |byte: u8| char::from(byte).to_digit(16);
            let (high, low) = (digit(rest.next()?)?, digit(rest.next()?)?);
            Some((high << 4 | low) as u8)
        }
        byte => Some(byte),
    });
    Some((definition, name))
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::string::String;
    use std::vec::Vec;

    use super::super::image::TYPE_TEXT;
    use super::*;

    #[test]
    fn a_core_has_a_number_below_the_maximum() {
        assert_eq!(core_of(0), Some(0));
        assert_eq!(core_of(u64::from(MAX_CORES) - 1), Some(MAX_CORES - 1));
        for field in [u64::from(MAX_CORES), 255, 256, u64::MAX] {
            assert_eq!(core_of(field), None, "{field}");
        }
    }

    #[test]
    fn each_event_has_an_event_type_that_is_read_back() {
        for event in Described::ALL {
            let mut text = String::new();
            write_event_type(event, &mut text).unwrap();
            let read = EventTypeText::parse(&text).unwrap();
            assert_eq!(event_of(&read), Some(event));
            let other = text.replace("core:", "cpu:");
            assert_eq!(event_of(&EventTypeText::parse(&other).unwrap()), None);
            let longer = text.replace("core:u64", "core:u64,more:u64");
            assert_eq!(event_of(&EventTypeText::parse(&longer).unwrap()), None);
        }
    }

    #[test]
    fn families_are_numbered_in_the_order_of_groups() {
        let families = [0x40, 0x47, 0x4A, 0x50, 0x5A, 0x5F, 0x48, 0x5C, 0x05].map(family_of);
        assert_eq!(families, [48, 49, 50, 51, 52, 53, 54, 55, 56]);
    }

    #[test]
    fn the_longest_name_fits_and_other_names_are_no_definitions() {
        let longest = u32::MAX;
        let definition = Definition {
            value: longest,
            priority: 255,
            flags: 255,
            ..Definition::new(DefinitionKind::Channel, longest, b"")
        };
        let mut text = String::new();
        write_definition(&definition, &"\n".repeat(300), &mut text).unwrap();
        assert!(text.len() <= TYPE_TEXT, "{}", text.len());
        let read = EventTypeText::parse(&text).unwrap();
        let (found, name) = definition_of(&read).unwrap();
        assert_eq!((found, name.count()), (definition, MAX_NAME));
        for other in
            ["x()", "2 3 0 5 0()", "99 3 0 5 0 x()", "2 3 0 256 0 x()", "2 3 0 5 0 x(a:u64)"]
        {
            let text = std::format!("{DEFINITION_FAMILY}/{other}");
            assert!(definition_of(&EventTypeText::parse(&text).unwrap()).is_none(), "{other}");
        }
        let cut = EventTypeText::parse("kernel.definition/2 3 0 5 0 ab%2()").unwrap();
        assert_eq!(definition_of(&cut).unwrap().1.collect::<Vec<_>>(), b"ab");
    }
}
