//! Sets of event types.
//!
//! Unsafe: exported symbols.
#![allow(unsafe_code)]

use std::ffi::c_int;
use std::mem::MaybeUninit;

use tracewell_posix::{EventSet, Fill};

use super::{INVALID, Number, guard, non_null};

/// Returns a set, or EINVAL if the pointer is null or the set was not initialised.
pub(super) fn marked(set: Option<&EventSet>) -> Result<&EventSet, Number> {
    non_null(set).and_then(|set| if set.is_marked() { Ok(set) } else { Err(INVALID) })
}

fn marked_mut(set: Option<&mut EventSet>) -> Result<&mut EventSet, Number> {
    non_null(set).and_then(|set| if set.is_marked() { Ok(set) } else { Err(INVALID) })
}

/// Initialises an empty set.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_eventset_empty(set: Option<&mut MaybeUninit<EventSet>>) -> c_int {
    guard(|| {
        non_null(set)?.write(EventSet::EMPTY);
        Ok(())
    })
}

/// Initialises a set with the system event types that belong to no process (1), with all system
/// event types (2), or with all event types (3).
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_eventset_fill(
    set: Option<&mut MaybeUninit<EventSet>>,
    what: c_int,
) -> c_int {
    guard(|| {
        let set = non_null(set)?;
        set.write(EventSet::filled(match what {
            1 => Fill::WithoutProcess,
            2 => Fill::System,
            3 => Fill::All,
            _ => return Err(INVALID),
        }));
        Ok(())
    })
}

/// Adds an event type.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_eventset_add(event_id: u32, set: Option<&mut EventSet>) -> c_int {
    guard(|| marked_mut(set)?.add(event_id).ok_or(INVALID))
}

/// Removes an event type.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_eventset_del(event_id: u32, set: Option<&mut EventSet>) -> c_int {
    guard(|| marked_mut(set)?.remove(event_id).ok_or(INVALID))
}

/// Stores 1 if an event type is a member of a set, and 0 otherwise.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_eventset_ismember(
    event_id: u32,
    set: Option<&EventSet>,
    ismember: Option<&mut MaybeUninit<c_int>>,
) -> c_int {
    guard(|| {
        let (set, ismember) = (marked(set)?, non_null(ismember)?);
        ismember.write(set.contains(event_id).ok_or(INVALID)?.into());
        Ok(())
    })
}
