//! Channels of an AIX trace: `trcstart`, `trcon`, `trcoff`, `trcstop`, and the functions that drain
//! a channel.
//!
//! Unsafe: exported symbols and C buffers.
#![allow(unsafe_code)]

use core::ffi::{c_char, c_int, c_void};
use core::mem::MaybeUninit;

use tracewell_record::aix::{self, Counts, EventList, LogFull, Mode, Options};
use tracewell_wire::aix::HookId;

use super::{tw_aix, tw_aix_context, unknown, with, with_context};
use crate::boundary::{array, memory, non_null, put, text};
use crate::clock::truth;
use crate::code::{Code, TW_NOTHING, TW_OFF, TW_TOO_SMALL};

/// Two buffers: one is drained while the other is filled.
pub const TW_ALTERNATE: u8 = 0;
/// One buffer, in which new entries overwrite the oldest.
pub const TW_CIRCULAR: u8 = 1;
/// One buffer; the channel stops when it is full.
pub const TW_SINGLE: u8 = 2;

/// Only events in `ids` are recorded (`-j`).
pub const TW_ONLY: u8 = 1;
/// Events in `ids` are not recorded (`-k`).
pub const TW_EXCEPT: u8 = 2;

/// Flag of `tw_trcstop`: the call fails with TW_DRAINING until the log is complete.
pub const TW_SERIAL: u32 = 0x4000_0000;
/// Flag of `tw_trcstop`: the call discards entries that are not in the log yet.
pub const TW_DISCARDBUFS: u32 = 0x2000_0000;

const _: () = assert!(TW_SERIAL == aix::SERIAL && TW_DISCARDBUFS == aix::DISCARDBUFS);

/// Options of a channel. All zeros select the event trace with alternate buffers. The referenced
/// memory must stay valid until the channel is finished.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct tw_aix_options {
    /// The current wall-clock time in nanoseconds since 1970, UTC.
    pub wall_clock_ns: u64,
    /// Maximum size of the log in bytes; 0 for no limit.
    pub log_size: u64,
    /// The command shown in a report's header; null for none.
    pub command: *const c_char,
    /// 16-bit hook ids (0x1230 for hook 123); see `list`.
    pub ids: *const u16,
    /// Number of ids in `ids`.
    pub id_count: usize,
    /// The events to record: 0 for all, TW_ONLY for those in `ids`, TW_EXCEPT for all others.
    pub list: u8,
    /// TW_ALTERNATE, TW_CIRCULAR or TW_SINGLE.
    pub mode: u8,
    /// Number of a generic channel, 1 to 7; 0 for the event trace.
    pub generic: u8,
    /// 1 to start recording only when `tw_trcon` is called.
    pub deferred: u8,
    /// 1 to stop when the log is full; 0 to continue at its start.
    pub stop_at_log_size: u8,
    /// 1 if the log contains the entries of one CPU and accompanies a base log.
    pub per_cpu: u8,
}

/// Complete frames for the log, oldest first.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct tw_aix_chunk {
    /// The bytes of the frames.
    pub bytes: *const c_void,
    /// Number of bytes to write.
    pub length: usize,
    /// 1 if the log has reached its maximum size. In this case, truncate the log to its header
    /// before you write the bytes.
    pub starts_over: c_int,
}

/// Counts of a channel's entries since it was started.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct tw_aix_counts {
    /// Entries stored in a buffer.
    pub recorded: u64,
    /// Entries that were not stored because there was no space.
    pub missed: u64,
    /// Entries that were overwritten before they were drained.
    pub overwritten: u64,
    /// Entries that were discarded by `tw_trcstop`.
    pub discarded: u64,
    /// For a circular buffer, the number of times that it wrapped; for other buffers, the number of
    /// gaps. A gap is a series of consecutive missed entries.
    pub buffer_wraps: u64,
    /// Number of times that the log started over.
    pub log_wraps: u64,
}

impl tw_aix_options {
    /// # Safety
    /// * The command must be null or null-terminated, and `ids` must point to `id_count` numbers.
    ///   The command and the ids must stay valid until `tw_aix_finish`.
    unsafe fn options(&self) -> Result<Options<'static>, Code> {
        // SAFETY: guaranteed by the caller (see `# Safety`). A `HookId` is a transparent `u16`.
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
            // SAFETY: guaranteed by the caller (see `# Safety`).
            command: unsafe { text(self.command) },
        })
    }
}

/// Starts a channel in a buffer (`trcstart`) and stores its number: 0 for the event trace, 1 to 7
/// for a generic channel.
///
/// Ownership: the channel owns the buffer until `tw_aix_finish`; the memory that `options` refers
/// to must stay valid until then. Errors: TW_NULL, TW_NOT_INITIALISED, TW_INVALID, TW_NONE_FREE,
/// TW_TOO_SMALL. Safe in an interrupt if no other call on this trace can be in progress.
///
/// # Safety
/// * `buffer` must point to `size` bytes that are not used for anything else until `tw_aix_finish`.
/// * The command must be null or null-terminated, and `ids` must point to `id_count` numbers. The
///   command and the ids must stay valid until `tw_aix_finish`.
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
        // SAFETY: guaranteed by the caller (second point of `# Safety`).
        let options = unsafe { non_null(options)?.options()? };
        // SAFETY: guaranteed by the caller (first point of `# Safety`).
        let buffer = unsafe { memory(buffer.cast(), size)? };
        let number = trace.trcstart(context, buffer, options).map_err(|refused| refused.reason)?;
        put(channel, number);
        Ok(())
    })
}

/// Switches a channel on (`trcon`).
///
/// Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED; TW_OFF if the channel is not started or
/// has stopped. Safe in an interrupt if no other call on this trace can be in progress.
#[unsafe(no_mangle)]
pub extern "C" fn tw_trcon(
    trace: Option<&mut tw_aix>,
    context: Option<&tw_aix_context>,
    channel: u32,
) -> c_int {
    with_context(trace, context, |trace, context| Ok(trace.trcon(context, channel)?))
}

/// Switches a channel off (`trcoff`). `tw_trcon` switches it on again.
///
/// Ownership, errors and safety are as for `tw_trcon`.
#[unsafe(no_mangle)]
pub extern "C" fn tw_trcoff(
    trace: Option<&mut tw_aix>,
    context: Option<&tw_aix_context>,
    channel: u32,
) -> c_int {
    with_context(trace, context, |trace, context| Ok(trace.trcoff(context, channel)?))
}

/// Stops a channel permanently (`trcstop`). Entries in its buffers can still be drained. TW_SERIAL
/// or TW_DISCARDBUFS may be added to `channel`.
///
/// Ownership: the channel owns the buffer until `tw_aix_finish`. Errors: TW_NULL,
/// TW_NOT_INITIALISED; TW_OFF if the channel is not started; TW_INVALID if both flags are given.
/// With TW_SERIAL, the call fails with TW_DRAINING until everything is drained: drain, and call
/// again. Safe in an interrupt if no other call on this trace can be in progress.
#[unsafe(no_mangle)]
pub extern "C" fn tw_trcstop(
    trace: Option<&mut tw_aix>,
    context: Option<&tw_aix_context>,
    channel: u32,
) -> c_int {
    with_context(trace, context, |trace, context| Ok(trace.trcstop(context, channel)?))
}

/// Stores the header of a channel's log, and the length of this header.
///
/// Ownership: the caller keeps `buffer`. Errors: TW_NULL, TW_NOT_INITIALISED; TW_OFF if the channel
/// is not started; TW_TOO_SMALL if the header does not fit (1024 bytes suffice unless strings are
/// long). Safe in an interrupt if no other call on this trace can be in progress.
///
/// # Safety
/// * `buffer` must have space for `size` bytes.
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
        // SAFETY: guaranteed by the caller (see `# Safety`).
        let buffer = unsafe { memory(buffer.cast(), size)? };
        if header.length() > buffer.len() {
            return Err(Code(TW_TOO_SMALL));
        }
        put(length, header.write(buffer).ok_or(Code(TW_TOO_SMALL))?);
        Ok(())
    })
}

/// Stores the location of the next bytes for a channel's log: a full buffer or, if the channel has
/// stopped, the remaining bytes. Until `tw_aix_drained`, further calls store the same location.
/// Meanwhile, recording continues in the other buffer.
///
/// Ownership: the channel owns the bytes; read them before `tw_aix_drained`. Errors: TW_NULL,
/// TW_NOT_INITIALISED, TW_NOTHING. Safe in an interrupt if no other call on this trace can be in
/// progress.
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
        non_null(chunk)?.write(tw_aix_chunk { bytes, length, starts_over });
        Ok(())
    })
}

/// Releases the bytes that `tw_aix_waiting` returned, after they were written to the log.
///
/// Ownership: the recorder owns the bytes again. Errors: TW_NULL, TW_NOT_INITIALISED, TW_NOTHING.
/// Safe in an interrupt if no other call on this trace can be in progress.
#[unsafe(no_mangle)]
pub extern "C" fn tw_aix_drained(trace: Option<&mut tw_aix>, channel: u32) -> c_int {
    with(trace, |trace| trace.drained(channel).then_some(()).ok_or(Code(TW_NOTHING)))
}

/// Finishes a stopped and drained channel, and frees its number.
///
/// Ownership: the buffer belongs to the caller again. Errors: TW_NULL, TW_NOT_INITIALISED,
/// TW_RUNNING, TW_DRAINING; TW_OFF if the channel is not started. Safe in an interrupt if no other
/// call on this trace can be in progress.
#[unsafe(no_mangle)]
pub extern "C" fn tw_aix_finish(trace: Option<&mut tw_aix>, channel: u32) -> c_int {
    with(trace, |trace| Ok(trace.finish(channel).map(|_| ())?))
}

/// Stores the counts of a channel.
///
/// Ownership: the caller keeps `counts`. Errors: TW_NULL, TW_NOT_INITIALISED; TW_OFF if the channel
/// is not started. Safe in an interrupt if no other call on this trace can be in progress.
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
        non_null(counts)?.write(tw_aix_counts {
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
