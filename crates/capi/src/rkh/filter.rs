//! The verbs of RKH's filters, which `tracewell_rkh.h` gives the framework's shape.
//!
//! The module holds `unsafe` code because an exported name is one.
#![allow(unsafe_code)]

use core::ffi::c_int;

use tracewell_record::rkh::Filter;

use super::{recorder, tw_rkh};
use crate::boundary::guard;
use crate::code::{Code, TW_INVALID};

/// A filter is on: records are held back.
pub const TW_RKH_FILTER_ON: u8 = 0;
/// A filter is off: records pass.
pub const TW_RKH_FILTER_OFF: u8 = 1;
/// All groups, events, active objects or signals.
pub const TW_RKH_ALL: u32 = u32::MAX;

fn filter(filter: u8) -> Result<Filter, Code> {
    match filter {
        TW_RKH_FILTER_ON => Ok(Filter::On),
        TW_RKH_FILTER_OFF => Ok(Filter::Off),
        _ => Err(Code(TW_INVALID)),
    }
}

/// What a verb says that knows no number above 255.
fn done(done: Option<bool>) -> Result<(), Code> {
    done.filter(|done| *done).map(|_| ()).ok_or(Code(TW_INVALID))
}

/// A group's filter alone, or TW_RKH_ALL (`RKH_FILTER_ON_GROUP`, `RKH_FILTER_OFF_GROUP`).
///
/// Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_INVALID where there is no such group. Safe
/// in an interrupt if no other call can be under way.
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

/// A group's filter and those of all its events (`RKH_FILTER_ON_GROUP_ALL_EVENTS`,
/// `RKH_FILTER_OFF_GROUP_ALL_EVENTS`).
///
/// Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_INVALID where there is no such group. Safe
/// in an interrupt if no other call can be under way.
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

/// An event's filter; switching it off switches off that of its group as well. Or TW_RKH_ALL: those of
/// all groups and events (`RKH_FILTER_ON_EVENT`, `RKH_FILTER_OFF_EVENT`).
///
/// Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_INVALID where there is no such event. Safe
/// in an interrupt if no other call can be under way.
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

/// The filter of an active object, by its priority below 64, or TW_RKH_ALL (`RKH_FILTER_ON_SMA`,
/// `RKH_FILTER_OFF_SMA`).
///
/// Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_INVALID past the table. Safe in an interrupt
/// if no other call can be under way.
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

/// The filter of a signal, or TW_RKH_ALL (`RKH_FILTER_ON_SIGNAL`, `RKH_FILTER_OFF_SIGNAL`).
///
/// Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_INVALID past the table that
/// `tw_rkh_init` was given. Safe in an interrupt if no other call can be under way.
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
