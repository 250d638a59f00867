//! Channels of an AIX trace: `trcstart`, `trcon`, `trcoff`, `trcstop`, and the way out.
//!
//! The module holds `unsafe` code because exported names and C's buffers are that by nature.
#![allow(unsafe_code)]

use core::ffi::{c_char, c_int, c_void};
use core::mem::MaybeUninit;

use tracewell_record::aix::{self, Counts, EventList, LogFull, Mode, Options};
use tracewell_wire::aix::HookId;

use super::{tw_aix, tw_aix_context, unknown, with, with_context};
use crate::boundary::{array, memory, put, some, text};
use crate::clock::truth;
use crate::code::{Code, TW_NOTHING, TW_OFF, TW_TOO_SMALL};

/// Two buffers, one of which is drained while the other fills.
pub const TW_ALTERNATE: u8 = 0;
/// One buffer, newest entries over oldest.
pub const TW_CIRCULAR: u8 = 1;
/// One buffer; the channel stops when it is full.
pub const TW_SINGLE: u8 = 2;

/// Events in `ids` are recorded, others are not (`-j`).
pub const TW_ONLY: u8 = 1;
/// Events in `ids` are not recorded, others are (`-k`).
pub const TW_EXCEPT: u8 = 2;

/// Flag of `tw_trcstop`: not done before the log is complete.
pub const TW_SERIAL: u32 = 0x4000_0000;
/// Flag of `tw_trcstop`: throw away what is not in the log yet.
pub const TW_DISCARDBUFS: u32 = 0x2000_0000;

const _: () = assert!(TW_SERIAL == aix::SERIAL && TW_DISCARDBUFS == aix::DISCARDBUFS);

/// What a channel is to be like; all 0 is the event trace with alternate buffers. What it points at
/// stays as long as the channel is not finished.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct tw_aix_options {
    /// Wall clock now, in nanoseconds since 1970, UTC.
    pub wall_clock_ns: u64,
    /// Bytes of the log; 0 for no limit.
    pub log_size: u64,
    /// The command, for the heading of a report; null for none.
    pub command: *const c_char,
    /// 16-bit hook ids (0x1230 for hook 123); see `list`.
    pub ids: *const u16,
    /// How many ids.
    pub id_count: usize,
    /// 0 for all events, TW_ONLY, TW_EXCEPT.
    pub list: u8,
    /// TW_ALTERNATE, TW_CIRCULAR or TW_SINGLE.
    pub mode: u8,
    /// 1 for a generic channel, 1 to 7; 0 for the event trace.
    pub generic: u8,
    /// 1 to record nothing before `tw_trcon`.
    pub deferred: u8,
    /// 1 to stop where the log is full; 0 to start it over.
    pub stop_at_log_size: u8,
    /// 1 for the log of one CPU beside a base log.
    pub per_cpu: u8,
}

/// Frames for the log, oldest first, none split.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct tw_aix_chunk {
    /// The frames.
    pub bytes: *const c_void,
    /// How many bytes.
    pub length: usize,
    /// 1 where the log has reached its size: cut it behind its header first.
    pub starts_over: c_int,
}

/// How many entries went where since the channel was started.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct tw_aix_counts {
    /// Stored in a buffer.
    pub recorded: u64,
    /// Not stored for want of room.
    pub missed: u64,
    /// Stored, and overwritten before anybody saw them.
    pub overwritten: u64,
    /// Stored, and thrown away at the stop.
    pub discarded: u64,
    /// Times that a circular buffer came round, or that entries began to be missed.
    pub buffer_wraps: u64,
    /// Times that the log started over.
    pub log_wraps: u64,
}

impl tw_aix_options {
    /// # Safety
    /// * the command is null or ends with a NUL; `ids` has `id_count` numbers; both stay.
    unsafe fn options(&self) -> Result<Options<'static>, Code> {
        // SAFETY: the bullet above. A `HookId` is a transparent `u16`.
        let ids = unsafe { array(self.ids.cast::<HookId>(), self.id_count)? };
        Ok(Options {
            generic: self.generic != 0,
            deferred: self.deferred != 0,
            mode: match self.mode {
                TW_ALTERNATE => Mode::Alternate,
                TW_CIRCULAR => Mode::Circular,
                TW_SINGLE => Mode::Single,
                _ => return unknown(),
            },
            events: match self.list {
                0 => EventList::All,
                TW_ONLY => EventList::Only(ids),
                TW_EXCEPT => EventList::Except(ids),
                _ => return unknown(),
            },
            log_size: (self.log_size != 0).then_some(self.log_size),
            log_full: if self.stop_at_log_size != 0 { LogFull::Stop } else { LogFull::Wrap },
            per_cpu: self.per_cpu != 0,
            wall_clock_ns: self.wall_clock_ns,
            // SAFETY: the bullet above.
            command: unsafe { text(self.command) },
        })
    }
}

/// Starts a channel in a buffer (`trcstart`) and stores its number: 0 for the event trace, 1 to 7 for
/// a generic one.
///
/// Ownership: the buffer is the channel's until `tw_aix_finish`; what `options` points at stays as
/// long. Errors: TW_NULL, TW_NOT_INITIALISED, TW_INVALID, TW_NONE_FREE, TW_TOO_SMALL. Safe in an
/// interrupt if no other call on this trace can be under way.
///
/// # Safety
/// * `buffer` has `size` bytes that nobody else uses until `tw_aix_finish`.
/// * the command is null or ends with a NUL; `ids` has `id_count` numbers; both stay until then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_trcstart(
    trace: Option<&mut tw_aix>,
    context: Option<&tw_aix_context>,
    buffer: *mut c_void,
    size: usize,
    options: Option<&tw_aix_options>,
    channel: Option<&mut MaybeUninit<u32>>,
) -> c_int {
    with_context(trace, context, |trace, context| {
        // SAFETY: the second bullet.
        let options = unsafe { some(options)?.options()? };
        // SAFETY: the first bullet.
        let buffer = unsafe { memory(buffer.cast(), size)? };
        let number = trace.trcstart(context, buffer, options).map_err(|refused| refused.reason)?;
        put(channel, number);
        Ok(())
    })
}

/// Switches a channel on (`trcon`).
///
/// Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_OFF where it is not started or has stopped.
/// Safe in an interrupt if no other call on this trace can be under way.
#[unsafe(no_mangle)]
pub extern "C" fn tw_trcon(
    trace: Option<&mut tw_aix>,
    context: Option<&tw_aix_context>,
    channel: u32,
) -> c_int {
    with_context(trace, context, |trace, context| Ok(trace.trcon(context, channel)?))
}

/// Switches a channel off; it can be switched on again (`trcoff`).
///
/// Ownership, errors and safety as `tw_trcon`.
#[unsafe(no_mangle)]
pub extern "C" fn tw_trcoff(
    trace: Option<&mut tw_aix>,
    context: Option<&tw_aix_context>,
    channel: u32,
) -> c_int {
    with_context(trace, context, |trace, context| Ok(trace.trcoff(context, channel)?))
}

/// Stops a channel for good (`trcstop`); what is in its buffers waits to be drained. `channel` may have
/// TW_SERIAL or TW_DISCARDBUFS.
///
/// Ownership: the buffer stays the channel's until `tw_aix_finish`. Errors: TW_NULL,
/// TW_NOT_INITIALISED, TW_OFF where it is not started, TW_INVALID for both flags, TW_DRAINING with
/// TW_SERIAL until all is drained: drain, and call again. Safe in an interrupt if no other call on this
/// trace can be under way.
#[unsafe(no_mangle)]
pub extern "C" fn tw_trcstop(
    trace: Option<&mut tw_aix>,
    context: Option<&tw_aix_context>,
    channel: u32,
) -> c_int {
    with_context(trace, context, |trace, context| Ok(trace.trcstop(context, channel)?))
}

/// Writes what the log of a channel begins with, and how many bytes that are.
///
/// Ownership: `buffer` is the caller's. Errors: TW_NULL, TW_NOT_INITIALISED, TW_OFF where the channel
/// is not started, TW_TOO_SMALL where it does not fit (1024 bytes do unless texts are long). Safe in an
/// interrupt if no other call on this trace can be under way.
///
/// # Safety
/// * `buffer` has `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_aix_header(
    trace: Option<&mut tw_aix>,
    channel: u32,
    buffer: *mut c_void,
    size: usize,
    length: Option<&mut MaybeUninit<usize>>,
) -> c_int {
    with(trace, |trace| {
        let header = trace.header(channel).ok_or(Code(TW_OFF))?;
        // SAFETY: the bullet above.
        let buffer = unsafe { memory(buffer.cast(), size)? };
        if header.length() > buffer.len() {
            return Err(Code(TW_TOO_SMALL));
        }
        put(length, header.write(buffer).ok_or(Code(TW_TOO_SMALL))?);
        Ok(())
    })
}

/// What the log of a channel gets next: a full buffer, or what is left when it has stopped. The same
/// until `tw_aix_drained`, while recording goes on elsewhere.
///
/// Ownership: the bytes are the channel's; read them before `tw_aix_drained`. Errors: TW_NULL,
/// TW_NOT_INITIALISED, TW_NOTHING. Safe in an interrupt if no other call on this trace can be under way.
#[unsafe(no_mangle)]
pub extern "C" fn tw_aix_waiting(
    trace: Option<&mut tw_aix>,
    channel: u32,
    chunk: Option<&mut MaybeUninit<tw_aix_chunk>>,
) -> c_int {
    with(trace, |trace| {
        let waiting = trace.waiting(channel).ok_or(Code(TW_NOTHING))?;
        let (bytes, length) = (waiting.bytes.as_ptr().cast(), waiting.bytes.len());
        let starts_over = truth(waiting.starts_over);
        some(chunk)?.write(tw_aix_chunk { bytes, length, starts_over });
        Ok(())
    })
}

/// Says that what `tw_aix_waiting` showed is in the log.
///
/// Ownership: its bytes are the recorder's again. Errors: TW_NULL, TW_NOT_INITIALISED, TW_NOTHING. Safe
/// in an interrupt if no other call on this trace can be under way.
#[unsafe(no_mangle)]
pub extern "C" fn tw_aix_drained(trace: Option<&mut tw_aix>, channel: u32) -> c_int {
    with(trace, |trace| trace.drained(channel).then_some(()).ok_or(Code(TW_NOTHING)))
}

/// Ends a stopped channel whose buffers are drained; its number is free.
///
/// Ownership: the buffer is the caller's again. Errors: TW_NULL, TW_NOT_INITIALISED, TW_OFF where it
/// is not started, TW_RUNNING, TW_DRAINING. Safe in an interrupt if no other call on this trace can be
/// under way.
#[unsafe(no_mangle)]
pub extern "C" fn tw_aix_finish(trace: Option<&mut tw_aix>, channel: u32) -> c_int {
    with(trace, |trace| Ok(trace.finish(channel).map(|_| ())?))
}

/// How many entries of a channel went where.
///
/// Ownership: `counts` is the caller's. Errors: TW_NULL, TW_NOT_INITIALISED, TW_OFF where it is not
/// started. Safe in an interrupt if no other call on this trace can be under way.
#[unsafe(no_mangle)]
pub extern "C" fn tw_aix_count(
    trace: Option<&mut tw_aix>,
    channel: u32,
    counts: Option<&mut MaybeUninit<tw_aix_counts>>,
) -> c_int {
    with(trace, |trace| {
        let found = trace.counts(channel).ok_or(Code(TW_OFF))?;
        let Counts { recorded, missed, overwritten, discarded, .. } = found;
        let Counts { buffer_wraps, log_wraps, .. } = found;
        some(counts)?.write(tw_aix_counts {
            recorded,
            missed,
            overwritten,
            discarded,
            buffer_wraps,
            log_wraps,
        });
        Ok(())
    })
}
