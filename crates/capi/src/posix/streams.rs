//! Streams: made, controlled, asked how they stand, ended.
//!
//! The module holds `unsafe` code because exported names are that.
#![allow(unsafe_code)]

use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::sync::Arc;

use tracewell_posix::{EventSet, FilterChange, Status, Stream};

use super::attributes::{fill, trace_attr_t};
use super::handles::{self, Handle};
use super::sets::marked;
use super::{INVALID, Number, guard, some};

/// `struct posix_trace_status_info`.
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

fn active(id: c_int) -> Result<Arc<Stream>, Number> {
    handles::find(id)?.active()
}

/// Makes a stream that traces a process, 0 for the caller.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_create(
    pid: libc::pid_t,
    attr: Option<&trace_attr_t>,
    trid: Option<&mut MaybeUninit<c_int>>,
) -> c_int {
    guard(|| {
        let trid = some(trid)?;
        let attributes = attr.map(trace_attr_t::read).transpose()?.unwrap_or_default();
        let stream = Stream::create(pid, &attributes)?;
        trid.write(handles::add(Handle::Active(Arc::new(stream)))?);
        Ok(())
    })
}

/// Makes a stream with a log that is written to `file_desc`.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_create_withlog(
    pid: libc::pid_t,
    attr: Option<&trace_attr_t>,
    file_desc: c_int,
    trid: Option<&mut MaybeUninit<c_int>>,
) -> c_int {
    guard(|| {
        let trid = some(trid)?;
        let attributes = attr.map(trace_attr_t::read).transpose()?.unwrap_or_default();
        let stream = Stream::create_with_log(pid, &attributes, file_desc)?;
        trid.write(handles::add(Handle::Active(Arc::new(stream)))?);
        Ok(())
    })
}

/// Starts recording.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_start(trid: c_int) -> c_int {
    guard(|| {
        active(trid)?.core().start();
        Ok(())
    })
}

/// Stops recording.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_stop(trid: c_int) -> c_int {
    guard(|| {
        active(trid)?.core().stop();
        Ok(())
    })
}

/// Forgets all records.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_clear(trid: c_int) -> c_int {
    guard(|| {
        active(trid)?.core().clear();
        Ok(())
    })
}

/// Begins to write all present records to the log.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_flush(trid: c_int) -> c_int {
    guard(|| Ok(active(trid)?.flush()?))
}

/// Ends a stream.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_shutdown(trid: c_int) -> c_int {
    guard(|| Ok(handles::remove(trid, Handle::active)?.shutdown()?))
}

/// Gives the attributes of a stream.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_get_attr(
    trid: c_int,
    attr: Option<&mut MaybeUninit<trace_attr_t>>,
) -> c_int {
    guard(|| {
        let attr = some(attr)?;
        match handles::find(trid)? {
            Handle::Active(stream) => fill(attr, stream.core().attributes()),
            Handle::Recorded(stream) => fill(attr, stream.attributes()),
        }
        Ok(())
    })
}

/// Tells how a stream stands, and what was lost since this was asked last.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_get_status(
    trid: c_int,
    statusinfo: Option<&mut MaybeUninit<posix_trace_status_info>>,
) -> c_int {
    guard(|| {
        let to = some(statusinfo)?;
        let status = match handles::find(trid)? {
            Handle::Active(stream) => stream.take_status(),
            Handle::Recorded(stream) => stream.status(),
        };
        to.write(status.into());
        Ok(())
    })
}

/// Gives the set of events that are not recorded.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_get_filter(
    trid: c_int,
    set: Option<&mut MaybeUninit<EventSet>>,
) -> c_int {
    guard(|| {
        let set = some(set)?;
        set.write(active(trid)?.core().filter());
        Ok(())
    })
}

/// Changes the set of events that are not recorded.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_set_filter(trid: c_int, set: Option<&EventSet>, how: c_int) -> c_int {
    guard(|| {
        let stream = active(trid)?;
        let change = match how {
            1 => FilterChange::Set,
            2 => FilterChange::Add,
            3 => FilterChange::Remove,
            _ => return Err(INVALID),
        };
        stream.core().set_filter(marked(set)?, change);
        Ok(())
    })
}
