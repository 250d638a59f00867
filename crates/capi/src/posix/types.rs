//! The functions that record events, and the functions for event types.
//!
//! Unsafe: exported symbols, C pointers, and machine code, because no Rust code can obtain the
//! return address.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_int, c_void};
use std::mem::MaybeUninit;

use tracewell_posix::TypeNames;
use tracewell_wire::posix::EVENT_NAME_MAX;

use super::handles::{self, Handle};
use super::{INVALID, Number, guard, non_null};
use crate::boundary::{put_text, text};

/// Records an event of the type `event_id`, with `data_len` bytes of data.
///
/// The address of an event is the return address of this function. Rust code cannot obtain that
/// address. A macro in the header could obtain it, but the standard lets programs take the
/// function's address. So these instructions pass the return address to Rust code as a fourth
/// argument.
///
/// # Safety
/// * `data_ptr` must be null or point to `data_len` bytes.
#[cfg(target_arch = "x86_64")]
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub unsafe extern "C" fn posix_trace_event(
    event_id: u32,
    data_ptr: *const c_void,
    data_len: usize,
) {
    core::arch::naked_asm!("endbr64", "mov rcx, [rsp]", "jmp {}", sym event_at)
}

/// Does the same as the function for x86-64. On AArch64, the return address is in a register.
///
/// # Safety
/// * `data_ptr` must be null or point to `data_len` bytes.
#[cfg(target_arch = "aarch64")]
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub unsafe extern "C" fn posix_trace_event(
    event_id: u32,
    data_ptr: *const c_void,
    data_len: usize,
) {
    core::arch::naked_asm!("hint #34", "mov x3, x30", "b {}", sym event_at)
}

/// Records an event with address 0. Only the functions for x86-64 and AArch64 obtain the return
/// address.
///
/// # Safety
/// * `data_ptr` must be null or point to `data_len` bytes.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posix_trace_event(
    event_id: u32,
    data_ptr: *const c_void,
    data_len: usize,
) {
    // SAFETY: guaranteed by the caller (see `# Safety`).
    unsafe { event_at(event_id, data_ptr, data_len, 0) }
}

/// # Safety
/// * `data` must be null or point to `length` bytes.
unsafe extern "C" fn event_at(id: u32, data: *const c_void, length: usize, address: usize) {
    // No stream records more bytes than this, so the rest of the data is ignored.
    let short = length.min(tracewell_wire::posix::DATA_MAX);
    // SAFETY: guaranteed by the caller (see `# Safety`); `bytes` checks for null.
    let data = unsafe { crate::boundary::bytes(data.cast(), short) };
    tracewell_posix::record(id, data, data.len() < length, address);
}

/// Stores the id of an event type of this process. Defines the type if its name is new.
///
/// # Safety
/// * `event_name` must be null or a null-terminated string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posix_trace_eventid_open(
    event_name: *const c_char,
    event_id: Option<&mut MaybeUninit<u32>>,
) -> c_int {
    guard(|| {
        // SAFETY: guaranteed by the caller (see `# Safety`).
        let name = unsafe { name(event_name) }?;
        non_null(event_id)?.write(tracewell_posix::define(name)?);
        Ok(())
    })
}

/// Stores the id of an event type of the traced processes. Defines the type if its name is new.
///
/// # Safety
/// * `event_name` must be null or a null-terminated string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posix_trace_trid_eventid_open(
    trid: c_int,
    event_name: *const c_char,
    event: Option<&mut MaybeUninit<u32>>,
) -> c_int {
    guard(|| {
        // SAFETY: guaranteed by the caller (see `# Safety`).
        let name = unsafe { name(event_name) }?;
        let event = non_null(event)?;
        event.write(handles::find(trid)?.active()?.stream().define(name)?);
        Ok(())
    })
}

/// # Safety
/// * `name` must be null or a null-terminated string that does not change during `'a`.
unsafe fn name<'a>(name: *const c_char) -> Result<&'a [u8], Number> {
    if name.is_null() {
        return Err(INVALID);
    }
    // SAFETY: not null; guaranteed by the caller (see `# Safety`).
    Ok(unsafe { text(name) })
}

/// Returns 1 if two ids are equal, and 0 otherwise.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_eventid_equal(_trid: c_int, event1: u32, event2: u32) -> c_int {
    (event1 == event2).into()
}

/// Stores the name of an event type: at most `TRACE_EVENT_NAME_MAX` bytes and a null.
///
/// # Safety
/// * `event_name` must be null or have space for `TRACE_EVENT_NAME_MAX` + 1 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posix_trace_eventid_get_name(
    trid: c_int,
    event: u32,
    event_name: *mut c_char,
) -> c_int {
    guard(|| {
        let name = match handles::find(trid)? {
            Handle::Active(controller) => controller.stream().name(event),
            Handle::Recorded(stream) => stream.name(event),
        };
        let name = name.filter(|name| name.len() <= EVENT_NAME_MAX).ok_or(INVALID)?;
        // SAFETY: guaranteed by the caller (see `# Safety`).
        unsafe { put_text(event_name, &name) }.ok_or(INVALID)
    })
}

/// Stores the next event type of a stream's list.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_eventtypelist_getnext_id(
    trid: c_int,
    event: Option<&mut MaybeUninit<u32>>,
    unavailable: Option<&mut MaybeUninit<c_int>>,
) -> c_int {
    guard(|| {
        let (event, unavailable) = (non_null(event)?, non_null(unavailable)?);
        let next = match handles::find(trid)? {
            Handle::Active(controller) => controller.stream().next_type(),
            Handle::Recorded(stream) => stream.next_type(),
        };
        unavailable.write(next.is_none().into());
        if let Some(id) = next {
            event.write(id);
        }
        Ok(())
    })
}

/// Restarts a stream's list of event types.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_eventtypelist_rewind(trid: c_int) -> c_int {
    guard(|| {
        match handles::find(trid)? {
            Handle::Active(controller) => controller.stream().rewind_types(),
            Handle::Recorded(stream) => stream.rewind_types(),
        }
        Ok(())
    })
}
