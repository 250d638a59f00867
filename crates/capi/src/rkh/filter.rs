//! The functions of RKH's filters. `tracewell_rkh.h` wraps them in macros like the framework's.
//!
//! Unsafe: exported symbols.
#![allow(unsafe_code)]

use core::ffi::c_int;

use tracewell_record::rkh::Filter;

use super::{recorder, tw_rkh};
use crate::boundary::guard;
use crate::code::{Code, TW_INVALID};

/// The filter is on and suppresses records.
pub const TW_RKH_FILTER_ON: u8 = 0;
/// The filter is off and lets records pass.
pub const TW_RKH_FILTER_OFF: u8 = 1;
/// Selects all groups, events, active objects or signals.
pub const TW_RKH_ALL: u32 = u32::MAX;

fn filter(filter: u8) -> Result<Filter, Code> {
    match filter {
        TW_RKH_FILTER_ON => Ok(Filter::On),
        TW_RKH_FILTER_OFF => Ok(Filter::Off),
        _ => Err(Code(TW_INVALID)),
    }
}

/// Returns TW_INVALID if the filter does not exist, or its number does not fit into a byte.
fn done(done: Option<bool>) -> Result<(), Code> {
    done.filter(|done| *done).map(|_| ()).ok_or(Code(TW_INVALID))
}

/// Switches the filter of a group (`RKH_FILTER_ON_GROUP`, `RKH_FILTER_OFF_GROUP`), but not the
/// filters of its events. TW_RKH_ALL selects all groups.
///
/// Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED; TW_INVALID for an unknown group. Safe in
/// an interrupt if no other call can be in progress.
#[unsafe(no_mangle)]
pub extern "C" fn tw_rkh_filter_group(
    trace: Option<&mut tw_rkh>,
    group: u32,
    on_or_off: u8,
) -> c_int {
    guard(|| {
        let (filters, filter) = (recorder(trace)?.filters(), filter(on_or_off)?);
        if group == TW_RKH_ALL {
            filters.all_groups(filter);
            return Ok(());
        }
        done(u8::try_from(group).ok().map(|group| filters.group(group, filter)))
    })
}

/// Switches the filter of a group and those of all its events (`RKH_FILTER_ON_GROUP_ALL_EVENTS`,
/// `RKH_FILTER_OFF_GROUP_ALL_EVENTS`).
///
/// Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED; TW_INVALID for an unknown group. Safe in
/// an interrupt if no other call can be in progress.
#[unsafe(no_mangle)]
pub extern "C" fn tw_rkh_filter_group_all_events(
    trace: Option<&mut tw_rkh>,
    group: u8,
    on_or_off: u8,
) -> c_int {
    guard(|| {
        let (filters, filter) = (recorder(trace)?.filters(), filter(on_or_off)?);
        done(Some(filters.group_all_events(group, filter)))
    })
}

/// Switches the filter of an event (`RKH_FILTER_ON_EVENT`, `RKH_FILTER_OFF_EVENT`). Switching this
/// filter off also switches off the filter of the event's group. TW_RKH_ALL selects all groups and
/// events.
///
/// Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED; TW_INVALID for an unknown event. Safe in
/// an interrupt if no other call can be in progress.
#[unsafe(no_mangle)]
pub extern "C" fn tw_rkh_filter_event(
    trace: Option<&mut tw_rkh>,
    code: u32,
    on_or_off: u8,
) -> c_int {
    guard(|| {
        let (filters, filter) = (recorder(trace)?.filters(), filter(on_or_off)?);
        if code == TW_RKH_ALL {
            filters.all_events(filter);
            return Ok(());
        }
        done(u8::try_from(code).ok().map(|code| filters.code(code, filter)))
    })
}

/// Switches the filter of the active object with the given priority, 0 to 63 (`RKH_FILTER_ON_SMA`,
/// `RKH_FILTER_OFF_SMA`). TW_RKH_ALL selects all active objects.
///
/// Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED; TW_INVALID for a priority above 63. Safe
/// in an interrupt if no other call can be in progress.
#[unsafe(no_mangle)]
pub extern "C" fn tw_rkh_filter_object(
    trace: Option<&mut tw_rkh>,
    priority: u32,
    on_or_off: u8,
) -> c_int {
    guard(|| {
        let (filters, filter) = (recorder(trace)?.filters(), filter(on_or_off)?);
        if priority == TW_RKH_ALL {
            filters.all_objects(filter);
            return Ok(());
        }
        done(u8::try_from(priority).ok().map(|priority| filters.object(priority, filter)))
    })
}

/// Switches the filter of a signal (`RKH_FILTER_ON_SIGNAL`, `RKH_FILTER_OFF_SIGNAL`). TW_RKH_ALL
/// selects all signals.
///
/// Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED; TW_INVALID for a signal outside the table
/// passed to `tw_rkh_init`. Safe in an interrupt if no other call can be in progress.
#[unsafe(no_mangle)]
pub extern "C" fn tw_rkh_filter_signal(
    trace: Option<&mut tw_rkh>,
    signal: u32,
    on_or_off: u8,
) -> c_int {
    guard(|| {
        let (filters, filter) = (recorder(trace)?.filters(), filter(on_or_off)?);
        if signal == TW_RKH_ALL {
            filters.all_signals(filter);
            return Ok(());
        }
        done(Some(filters.signal(signal, filter)))
    })
}
