//! Events and their types.
//!
//! The module holds `unsafe` code because exported names and C's pointers are that by nature, and because
//! only machine code can say where it was called from.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_int, c_void};
use std::mem::MaybeUninit;

use tracewell_posix::TypeNames;
use tracewell_wire::posix::EVENT_NAME_MAX;

use super::handles::{self, Handle};
use super::{INVALID, Number, guard, some};
use crate::boundary::{put_text, text};

/// Records an event: the event type, the data and their length.
///
/// The address of an event is that behind the call of this very function, which Rust cannot ask for. A
/// macro in the header could, but the standard lets programs take the function's address. So these
/// instructions hand the return address on as a fourth argument.
///
/// # Safety
/// * `data_ptr` is null or the start of `data_len` bytes.
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

/// Records an event, as on x86-64; the return address is in a register.
///
/// # Safety
/// * `data_ptr` is null or the start of `data_len` bytes.
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

/// Records an event; where it was generated is not known on this machine.
///
/// # Safety
/// * `data_ptr` is null or the start of `data_len` bytes.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posix_trace_event(
    event_id: u32,
    data_ptr: *const c_void,
    data_len: usize,
) {
    // SAFETY: the caller's bullet.
    unsafe { event_at(event_id, data_ptr, data_len, 0) }
}

/// # Safety
/// * `data` is null or the start of `length` bytes.
unsafe extern "C" fn event_at(id: u32, data: *const c_void, length: usize, address: usize) {
    // Nobody records more; what is behind need not be looked at.
    let short = length.min(tracewell_wire::posix::DATA_MAX);
    // SAFETY: the caller's bullet; null is asked for in there.
    let data = unsafe { crate::boundary::bytes(data.cast(), short) };
    tracewell_posix::record(id, data, data.len() < length, address);
}

/// Gives the id of an event type of this process.
///
/// # Safety
/// * `event_name` is null or a text with a null behind it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posix_trace_eventid_open(
    event_name: *const c_char,
    event_id: Option<&mut MaybeUninit<u32>>,
) -> c_int {
    guard(|| {
        // SAFETY: the caller's bullet.
        let name = unsafe { name(event_name) }?;
        some(event_id)?.write(tracewell_posix::define(name)?);
        Ok(())
    })
}

/// Gives the id of an event type of the processes that a stream traces.
///
/// # Safety
/// * `event_name` is null or a text with a null behind it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posix_trace_trid_eventid_open(
    trid: c_int,
    event_name: *const c_char,
    event: Option<&mut MaybeUninit<u32>>,
) -> c_int {
    guard(|| {
        // SAFETY: the caller's bullet.
        let name = unsafe { name(event_name) }?;
        let event = some(event)?;
        event.write(handles::find(trid)?.active()?.core().define(name)?);
        Ok(())
    })
}

/// # Safety
/// * `name` is null or a text with a null behind it that stays for `'a`.
unsafe fn name<'a>(name: *const c_char) -> Result<&'a [u8], Number> {
    if name.is_null() {
        return Err(INVALID);
    }
    // SAFETY: not null; the caller's bullet.
    Ok(unsafe { text(name) })
}

/// Whether two ids are the same event type.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_eventid_equal(_trid: c_int, event1: u32, event2: u32) -> c_int {
    (event1 == event2).into()
}

/// Gives the name of an event type: at most `TRACE_EVENT_NAME_MAX` bytes and a null.
///
/// # Safety
/// * `event_name` is null or has room for `TRACE_EVENT_NAME_MAX` + 1 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posix_trace_eventid_get_name(
    trid: c_int,
    event: u32,
    event_name: *mut c_char,
) -> c_int {
    guard(|| {
        let name = match handles::find(trid)? {
            Handle::Active(stream) => stream.core().name(event),
            Handle::Recorded(stream) => stream.name(event),
        };
        let name = name.filter(|name| name.len() <= EVENT_NAME_MAX).ok_or(INVALID)?;
        // SAFETY: the caller's bullet.
        unsafe { put_text(event_name, &name) }.ok_or(INVALID)
    })
}

/// Gives the next event type of a stream's list.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_eventtypelist_getnext_id(
    trid: c_int,
    event: Option<&mut MaybeUninit<u32>>,
    unavailable: Option<&mut MaybeUninit<c_int>>,
) -> c_int {
    guard(|| {
        let (event, unavailable) = (some(event)?, some(unavailable)?);
        let next = match handles::find(trid)? {
            Handle::Active(stream) => stream.core().next_type(),
            Handle::Recorded(stream) => stream.next_type(),
        };
        unavailable.write(next.is_none().into());
        if let Some(id) = next {
            event.write(id);
        }
        Ok(())
    })
}

/// Begins the list of a stream's event types again.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_eventtypelist_rewind(trid: c_int) -> c_int {
    guard(|| {
        match handles::find(trid)? {
            Handle::Active(stream) => stream.core().rewind_types(),
            Handle::Recorded(stream) => stream.rewind_types(),
        }
        Ok(())
    })
}
