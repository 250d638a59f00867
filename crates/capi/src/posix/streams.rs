//! Streams: creation, control, status, shutdown.
//!
//! Unsafe: exported symbols.
#![allow(unsafe_code)]

use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::sync::Arc;

use tracewell_posix::{Controller, EventSet, FilterChange, Status};

use super::attributes::{fill, trace_attr_t};
use super::handles::{self, Handle};
use super::sets::marked;
use super::{INVALID, Number, guard, non_null};

/// `struct posix_trace_status_info` of `trace.h`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct posix_trace_status_info {
    stream_status: c_int,
    stream_full_status: c_int,
    stream_overrun_status: c_int,
    stream_flush_status: c_int,
    stream_flush_error: c_int,
    log_overrun_status: c_int,
    log_full_status: c_int,
}

impl From<Status> for posix_trace_status_info {
    fn from(status: Status) -> Self {
        Self {
            stream_status: status.running.into(),
            stream_full_status: status.full.into(),
            stream_overrun_status: status.overrun.into(),
            stream_flush_status: status.flushing.into(),
            stream_flush_error: status.flush_error,
            log_overrun_status: status.log_overrun.into(),
            log_full_status: status.log_full.into(),
        }
    }
}

fn active(id: c_int) -> Result<Arc<Controller>, Number> {
    handles::find(id)?.active()
}

/// Creates a stream that traces a process; 0 traces the caller.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_create(
    pid: libc::pid_t,
    attr: Option<&trace_attr_t>,
    trid: Option<&mut MaybeUninit<c_int>>,
) -> c_int {
    guard(|| {
        let trid = non_null(trid)?;
        let attributes = attr.map(trace_attr_t::read).transpose()?.unwrap_or_default();
        let controller = Controller::create(pid, &attributes)?;
        trid.write(handles::add(Handle::Active(Arc::new(controller)))?);
        Ok(())
    })
}

/// Creates a stream with a log that is written to `file_desc`.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_create_withlog(
    pid: libc::pid_t,
    attr: Option<&trace_attr_t>,
    file_desc: c_int,
    trid: Option<&mut MaybeUninit<c_int>>,
) -> c_int {
    guard(|| {
        let trid = non_null(trid)?;
        let attributes = attr.map(trace_attr_t::read).transpose()?.unwrap_or_default();
        let controller = Controller::create_with_log(pid, &attributes, file_desc)?;
        trid.write(handles::add(Handle::Active(Arc::new(controller)))?);
        Ok(())
    })
}

/// Starts recording into a suspended stream.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_start(trid: c_int) -> c_int {
    guard(|| {
        active(trid)?.stream().start();
        Ok(())
    })
}

/// Stops recording, which suspends the stream.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_stop(trid: c_int) -> c_int {
    guard(|| {
        active(trid)?.stream().stop();
        Ok(())
    })
}

/// Removes all records from the stream and its log.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_clear(trid: c_int) -> c_int {
    guard(|| {
        active(trid)?.stream().clear();
        Ok(())
    })
}

/// Starts to write all present records to the log.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_flush(trid: c_int) -> c_int {
    guard(|| Ok(active(trid)?.flush()?))
}

/// Shuts a stream down.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_shutdown(trid: c_int) -> c_int {
    guard(|| Ok(handles::remove(trid, Handle::active)?.shutdown()?))
}

/// Stores the attributes of a stream.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_get_attr(
    trid: c_int,
    attr: Option<&mut MaybeUninit<trace_attr_t>>,
) -> c_int {
    guard(|| {
        let attr = non_null(attr)?;
        match handles::find(trid)? {
            Handle::Active(controller) => fill(attr, controller.stream().attributes()),
            Handle::Recorded(log) => fill(attr, log.attributes()),
        }
        Ok(())
    })
}

/// Stores the status of a stream, with the losses since the last call.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_get_status(
    trid: c_int,
    statusinfo: Option<&mut MaybeUninit<posix_trace_status_info>>,
) -> c_int {
    guard(|| {
        let to = non_null(statusinfo)?;
        let status = match handles::find(trid)? {
            Handle::Active(controller) => controller.take_status(),
            Handle::Recorded(log) => log.status(),
        };
        to.write(status.into());
        Ok(())
    })
}

/// Stores the set of event types that are not recorded.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_get_filter(
    trid: c_int,
    set: Option<&mut MaybeUninit<EventSet>>,
) -> c_int {
    guard(|| {
        let set = non_null(set)?;
        set.write(active(trid)?.stream().filter());
        Ok(())
    })
}

/// Changes the set of event types that are not recorded.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_set_filter(trid: c_int, set: Option<&EventSet>, how: c_int) -> c_int {
    guard(|| {
        let controller = active(trid)?;
        let change = match how {
            1 => FilterChange::Set,
            2 => FilterChange::Add,
            3 => FilterChange::Remove,
            _ => return Err(INVALID),
        };
        controller.stream().set_filter(marked(set)?, change);
        Ok(())
    })
}
